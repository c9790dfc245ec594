//! One line on the terminal while a search takes its time.

use crate::screen::{bytes, clip, grouped, note};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use spinor_check::observer::{Control, Observer, Progress};
use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

pub struct Ticker {
    /// Nobody wants a progress line in a file.
    terminal: bool,
    shown: bool,
    interrupted: Option<Arc<AtomicBool>>,
}

/// A flag that the first Ctrl-C sets; another one, a while later, ends the program. `None` where there are no signals.
fn ctrl_c() -> Option<Arc<AtomicBool>> {
    static FLAG: OnceLock<Option<Arc<AtomicBool>>> = OnceLock::new();
    let make = || {
        let flag = Arc::new(AtomicBool::new(false));
        let mut signals = Signals::new([SIGINT, SIGTERM]).ok()?;
        let told = flag.clone();
        std::thread::spawn(move || {
            let mut first: Option<Instant> = None;
            for signal in signals.forever() {
                told.store(true, Relaxed);
                match first {
                    Some(first) if first.elapsed() >= ONE_CALL => signal_hook::low_level::exit(128 + signal),
                    Some(_) => {}
                    None => {
                        first = Some(Instant::now());
                        std::thread::spawn(|| {
                            std::thread::sleep(SLOW);
                            note("it stops after the step that it is at; another Ctrl-C ends the program at once\n");
                        });
                    }
                }
            }
        });
        Some(flag)
    };
    FLAG.get_or_init(make).clone()
}

/// Signals that come closer together are one: `timeout` tells the program, and then its group.
const ONE_CALL: Duration = Duration::from_millis(500);

/// A long `atomic` or `d_step` is one step, and asks nobody.
const SLOW: Duration = Duration::from_secs(2);

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
