//! One line on the terminal while a search takes its time.

use crate::screen::{bytes, grouped, note};
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
            note(&format!(
                "\r\x1b[K{} states, {} transitions, depth {}, {} to do, {}/s, {}, {} s",
                grouped(p.stored),
                grouped(p.transitions),
                grouped(p.depth),
                grouped(p.frontier),
                grouped(rate as u64),
                bytes(p.bytes),
                p.elapsed.as_secs()
            ));
            self.shown = true;
        }
        Control::Continue
    }
}
