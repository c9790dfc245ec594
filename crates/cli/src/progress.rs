//! One line on the terminal while a search takes its time.

use crate::screen::{bytes, clip, grouped, note};
use spinor_check::observer::{Control, Observer, Progress};
use std::io::IsTerminal;
use std::time::Duration;

pub struct Ticker {
    /// Nobody wants a progress line in a file.
    terminal: bool,
    shown: bool,
}

/// Short runs need no news.
const PATIENCE: Duration = Duration::from_secs(1);

/// A line that wraps cannot be taken back.
const ONE_LINE: usize = 79;

impl Ticker {
    pub fn new(wanted: bool) -> Ticker {
        Ticker { terminal: wanted && std::io::stderr().is_terminal(), shown: false }
    }

    pub fn clear(&mut self) {
        if std::mem::take(&mut self.shown) {
            note("\r\x1b[K");
        }
    }
}

impl Observer for Ticker {
    fn progress(&mut self, p: &Progress) -> Control {
        if self.terminal && p.elapsed >= PATIENCE {
            let rate = p.stored as f64 / p.elapsed.as_secs_f64();
            let line = format!(
                "{} s: {} states, {} to do, depth {}, {}/s, {}",
                p.elapsed.as_secs(),
                grouped(p.stored),
                grouped(p.frontier),
                grouped(p.depth),
                grouped(rate as u64),
                bytes(p.bytes)
            );
            note(&format!("\r\x1b[K{}", clip(&line, ONE_LINE)));
            self.shown = true;
        }
        Control::Continue
    }
}
