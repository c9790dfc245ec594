//! One line on the terminal while a search takes its time.

use crate::screen::{bytes, clip, grouped, note};
use signal_hook::consts::{SIGINT, SIGTERM};
use spinor_check::observer::{Control, Observer, Progress};
use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

pub struct Ticker {
    /// Nobody wants a progress line in a file.
    terminal: bool,
    shown: bool,
    interrupted: Option<Arc<AtomicBool>>,
}

/// A flag that the first Ctrl-C sets; the second one ends the program. `None` where there are no signals.
fn ctrl_c() -> Option<Arc<AtomicBool>> {
    static FLAG: OnceLock<Option<Arc<AtomicBool>>> = OnceLock::new();
    let make = || {
        let flag = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            // In this order: the second handler sees what the first one of an earlier signal did.
            let status = 128 + signal;
            signal_hook::flag::register_conditional_shutdown(signal, status, flag.clone()).ok()?;
            signal_hook::flag::register(signal, flag.clone()).ok()?;
        }
        Some(flag)
    };
    FLAG.get_or_init(make).clone()
}

/// Short runs need no news.
const PATIENCE: Duration = Duration::from_secs(1);

/// A line that wraps cannot be taken back.
const ONE_LINE: usize = 79;

impl Ticker {
    pub fn new(wanted: bool) -> Ticker {
        Ticker { terminal: wanted && std::io::stderr().is_terminal(), shown: false, interrupted: ctrl_c() }
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
        match &self.interrupted {
            Some(flag) if flag.load(Relaxed) => Control::Stop,
            _ => Control::Continue,
        }
    }
}
