//! Whether to go on: asked by every thread, decided by any.

use super::{Halt, Stopped, stopped_by};
use crate::observer::{Control, Observer, Progress};
use spinor_store::{Budget, Full};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// What the threads of a search tell each other.
pub(crate) struct Signals {
    stop: Apart<AtomicBool>,
    why: Mutex<Option<Stopped>>,
    started: Instant,
    max_time: Option<Duration>,
    budget: Arc<Budget>,
    done: Apart<Done>,
}

/// In a cache line of its own: what is read all the time is not beside what is written now and then.
#[repr(align(128))]
struct Apart<T>(T);

/// Of all threads, as far as they have said so.
#[derive(Default)]
struct Done {
    stored: AtomicU64,
    transitions: AtomicU64,
    expanded: AtomicU64,
    depth: AtomicU64,
}

/// What a thread has done since it last said so.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct News {
    pub stored: u64,
    pub transitions: u64,
    pub expanded: u64,
}

impl Signals {
    pub fn new(max_time: Option<Duration>, budget: &Arc<Budget>) -> Signals {
        Signals {
            stop: Apart(AtomicBool::new(false)),
            why: Mutex::new(None),
            started: Instant::now(),
            max_time,
            budget: budget.clone(),
            done: Apart(Done::default()),
        }
    }

    /// The first reason counts.
    pub fn stop(&self, why: Stopped) -> Halt {
        let mut first = self.why.lock().expect("nothing panics while it is held");
        debug_assert!(first.is_some() || !self.stop.0.load(Relaxed), "who stops the others says why before");
        first.get_or_insert(why);
        self.stop.0.store(true, Relaxed);
        Halt
    }

    pub fn full(&self, full: Full) -> Halt {
        self.stop(stopped_by(full, &self.budget))
    }

    pub fn why(&self) -> Option<Stopped> {
        *self.why.lock().expect("nothing panics while it is held")
    }

    /// Cheap: for every batch.
    #[inline]
    pub fn go_on(&self) -> Result<(), Halt> {
        if self.stop.0.load(Relaxed) { Err(Halt) } else { Ok(()) }
    }

    /// Looks at the clock: for every few batches.
    pub fn look(&self, news: &mut News) -> Result<(), Halt> {
        let News { stored, transitions, expanded } = std::mem::take(news);
        self.done.0.transitions.fetch_add(transitions, Relaxed);
        self.done.0.stored.fetch_add(stored, Relaxed);
        self.done.0.expanded.fetch_add(expanded, Relaxed);
        if let Some(t) = self.max_time
            && self.started.elapsed() >= t
        {
            return Err(self.stop(Stopped::Time(t)));
        }
        self.go_on()
    }

    pub fn at_depth(&self, depth: u64) {
        self.done.0.depth.fetch_max(depth, Relaxed);
    }
}

/// The observer, and when it was told last; only the thread that started the search has it.
pub(crate) struct Watch<'a> {
    observer: &'a mut dyn Observer,
    told: Duration,
}

const TELL: Duration = Duration::from_millis(100);

impl<'a> Watch<'a> {
    pub fn new(observer: &'a mut dyn Observer) -> Self {
        Watch { observer, told: Duration::ZERO }
    }

    /// Several times a second. `frontier` as in [`Progress`]; known and not expanded, if nothing is given.
    pub fn tell(&mut self, signals: &Signals, frontier: Option<u64>) -> Result<(), Halt> {
        let elapsed = signals.started.elapsed();
        if elapsed < self.told + TELL {
            return Ok(());
        }
        self.told = elapsed;
        let done = &signals.done.0;
        let (stored, expanded) = (done.stored.load(Relaxed), done.expanded.load(Relaxed));
        let progress = Progress {
            stored,
            transitions: done.transitions.load(Relaxed),
            depth: done.depth.load(Relaxed),
            frontier: frontier.unwrap_or(stored.saturating_sub(expanded)),
            bytes: signals.budget.used(),
            elapsed,
        };
        match self.observer.progress(&progress) {
            Control::Continue => Ok(()),
            Control::Stop => Err(signals.stop(Stopped::Interrupted)),
        }
    }
}
