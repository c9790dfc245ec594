//! Progress out, cancellation in.

use std::time::Duration;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress {
    pub stored: u64,
    pub transitions: u64,
    pub depth: u64,
    /// States known and not expanded yet; depth-first, the length of the path.
    pub frontier: u64,
    /// Bytes of the store and of what the search keeps beside it.
    pub bytes: u64,
    pub elapsed: Duration,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Control {
    Continue,
    /// The user has seen enough; what was not found stays open.
    Stop,
}

/// Called several times a second, from the thread that searches.
pub trait Observer {
    fn progress(&mut self, progress: &Progress) -> Control;
}

/// Watches nothing and never stops.
pub struct Silent;

impl Observer for Silent {
    fn progress(&mut self, _: &Progress) -> Control {
        Control::Continue
    }
}
