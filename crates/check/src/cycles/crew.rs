//! Several threads at one search.
//!
//! # The argument
//!   The calling thread begins alone, and calls the others once it has seen so many states that they are worth it. A
//!   thread that must stop says why (`Signals`), and the others see it at their next state. One that panics says
//!   so as well, before it is gone, so that nobody waits for it; the panic goes on in the calling thread when all are home.

use super::{Moves, Request, Searched};
use crate::counters::Counters;
use crate::observer::Observer;
use crate::search::watch::{News, Signals, Watch};
use crate::search::{Halt, Stopped, thread};
use spinor_store::Full;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

/// A thread is a bit of a word.
const MOST: usize = 64;
/// To start a thread costs as much as some hundred states.
pub const ALONE: u64 = 1 << 11;
/// Looking at the clock costs as much as some states do.
const BEATS: u64 = 256;
/// A hand that does not rest keeps the others from growing what it holds.
const REST: u64 = 32;

/// What all threads of a search know of each other.
pub struct Crew {
    pub signals: Signals,
    pub jobs: usize,
    max_depth: u64,
    /// One has panicked.
    broken: AtomicBool,
}

/// Says that its thread panics.
struct Guard<'c>(&'c Crew);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.broken.store(true, SeqCst);
            self.0.signals.stop(Stopped::Interrupted);
        }
    }
}

impl Crew {
    pub fn new(request: &Request) -> Crew {
        Crew {
            signals: Signals::new(request.max_time, &request.budget),
            jobs: request.jobs.clamp(1, MOST),
            max_depth: request.max_depth.map_or(u64::MAX, u64::from),
            broken: AtomicBool::new(false),
        }
    }

    /// The first thread's work, which calls the others by its pace; then what all have to say, in order.
    pub fn work<'c, T: Send>(
        &'c self,
        alone: u64,
        observer: &mut dyn Observer,
        work: impl Fn(usize, Pace<'c, '_>) -> T + Sync,
    ) -> Vec<T> {
        let work = &work;
        std::thread::scope(|scope| {
            let _guard = Guard(self);
            let mut threads = Vec::new();
            let mut call = || {
                let one = |n| {
                    let work = move || {
                        let _guard = Guard(self);
                        work(n, Pace::new(self, None))
                    };
                    thread().spawn_scoped(scope, work).ok()
                };
                threads.extend((1..self.jobs).filter_map(one));
            };
            if alone == 0 {
                call();
            }
            let call: Option<&mut dyn FnMut()> = if alone == 0 { None } else { Some(&mut call) };
            let mut all = vec![work(0, Pace::new(self, Some(Lead { watch: Watch::new(observer), alone, call })))];
            all.extend(threads.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic))));
            assert!(all.len() <= self.jobs, "the others are called once");
            all
        })
    }

    /// What lies too deep is not looked at.
    pub fn has_limit(&self) -> bool {
        self.max_depth < u64::MAX
    }

    /// A thread waits for another, for longer than that takes if all is well. Says whether to go on with waiting.
    #[cold]
    pub fn patience(&self) {
        assert!(!self.broken.load(SeqCst), "another thread panicked");
        std::thread::yield_now();
    }

    /// The threads are done. What stopped them, if it was not that one had an answer for all.
    pub fn why(&self) -> Option<Stopped> {
        self.signals.why().filter(|why| *why != Stopped::Settled)
    }
}

/// The first thread talks to the observer and calls the others.
struct Lead<'w> {
    watch: Watch<'w>,
    alone: u64,
    call: Option<&'w mut dyn FnMut()>,
}

/// Whether to go on, for one thread.
pub struct Pace<'c, 'w> {
    pub crew: &'c Crew,
    lead: Option<Lead<'w>>,
    pub counters: Counters,
    told: Counters,
    beats: u64,
    /// A state was not expanded because it was too deep.
    pub cut: bool,
}

impl<'c, 'w> Pace<'c, 'w> {
    fn new(crew: &'c Crew, lead: Option<Lead<'w>>) -> Self {
        Pace { crew, lead, counters: Counters::default(), told: Counters::default(), beats: 0, cut: false }
    }

    /// Once for some states that were expanded. `depth` is their place on the path, from 0. Whether it is time to rest.
    #[inline]
    pub fn beat(&mut self, n: u32, depth: u64, moves: &Moves) -> Result<bool, Halt> {
        self.counters.depth = self.counters.depth.max(depth);
        if moves.blind {
            return Err(self.crew.signals.stop(Stopped::Blind));
        }
        let before = self.beats;
        self.beats += u64::from(n);
        self.crew.signals.go_on()?;
        if before / BEATS != self.beats / BEATS {
            self.look()?;
        }
        Ok(before / REST != self.beats / REST)
    }

    /// Looks at the clock and tells the observer.
    #[cold]
    pub fn look(&mut self) -> Result<(), Halt> {
        let (now, told) = (self.counters, self.told);
        self.told = now;
        let stored = now.stored - told.stored;
        let mut news = News { stored, transitions: now.transitions - told.transitions, expanded: stored };
        let signals = &self.crew.signals;
        signals.at_depth(now.depth);
        signals.look(&mut news)?;
        let Some(lead) = &mut self.lead else { return Ok(()) };
        if self.beats >= lead.alone
            && let Some(call) = lead.call.take()
        {
            call();
        }
        lead.watch.tell(signals, Some(now.depth))
    }

    #[cold]
    pub fn full(&self, full: Full) -> Halt {
        self.crew.signals.full(full)
    }

    /// The state at this place of the path is not expanded.
    pub fn too_deep(&self, depth: u64) -> bool {
        depth > self.crew.max_depth
    }
}

/// Puts together what the threads have seen.
pub fn searched(crew: &Crew, all: &[(Counters, bool)], request: &Request) -> Searched {
    let mut counters = Counters::default();
    all.iter().for_each(|(one, _)| counters.add(one));
    let cut = all.iter().any(|(_, cut)| *cut).then_some(Stopped::Depth(crew.max_depth as u32));
    assert!(cut.is_none() || crew.has_limit(), "only who has a limit is cut");
    Searched { found: None, counters, stopped: crew.why().or(cut), bytes: request.budget.used() }
}
