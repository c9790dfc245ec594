//! Threads that live as long as a search and meet between the parts of its work.
//!
//! # The argument
//!   The leader lays the work out, calls as many helpers as there is work for, does its own share and waits until
//!   nobody is busy. A helper waits to be called. Between two levels there are some microseconds, so who waits looks a
//!   few hundred times before it lets others run, and lets others run for a while before it sleeps: no core is kept for
//!   long from who may need it, and in a search of small levels, which calls nobody, the helpers sleep.
//!   The first call starts the threads. Those that cannot be started are not called; the others do their work.
//!
//! # Invariants
//!   I1 `busy` is the number of helpers that were called and have not come back; a helper that panics comes back
//!   I2 `work` is written only while nobody is busy
//!   I3 the threads are gone when `gather` returns or unwinds, each waited for: to let go of a thread that is just ending
//!      is a race that some C libraries lose

use super::thread;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize};
use std::sync::{PoisonError, RwLock};
use std::thread::{Scope, ScopedJoinHandle, Thread};

/// How often who waits looks before it lets others run, and how often it does that before it sleeps: some ten
/// microseconds each. To be woken costs more.
const LOOKS: u32 = 200;
const YIELDS: u32 = 40;

const WAIT: u8 = 0;
const WORK: u8 = 1;
const LEAVE: u8 = 2;

/// Runs `lead` with up to `jobs - 1` helpers. A helper makes its seat in its own thread when it is first called, and does
/// `part` of each work it is called for; it is given its number, from 1 on.
pub(crate) fn gather<W: Send + Sync, T, R>(
    jobs: usize,
    sit: impl Fn() -> T + Sync,
    part: impl Fn(usize, &mut T, &W) + Sync,
    lead: impl FnOnce(&mut Team<'_, '_, W>) -> R,
) -> R {
    let desk = Desk {
        work: RwLock::new(None),
        calls: (1..jobs).map(|_| Call(AtomicU8::new(WAIT))).collect(),
        busy: AtomicUsize::new(0),
        broken: AtomicBool::new(false),
        leader: std::thread::current(),
    };
    let help = |n: usize| {
        let mut seat = None;
        while desk.called(n) {
            let back = Back(&desk);
            let work = desk.work.read().unwrap_or_else(PoisonError::into_inner);
            part(n + 1, seat.get_or_insert_with(&sit), work.as_ref().expect("I2"));
            drop(work);
            drop(back);
        }
    };
    std::thread::scope(|scope| lead(&mut Team { scope, desk: &desk, help: &help, threads: Vec::new(), started: false }))
}

/// What the leader and the helpers share.
struct Desk<W> {
    work: RwLock<Option<W>>,
    /// One for each helper.
    calls: Vec<Call>,
    busy: AtomicUsize,
    /// A helper panicked.
    broken: AtomicBool,
    leader: Thread,
}

/// In a cache line of its own.
#[repr(align(128))]
struct Call(AtomicU8);

impl<W> Desk<W> {
    /// Waits for the next call; `false` if there will be none.
    fn called(&self, n: usize) -> bool {
        let call = &self.calls[n].0;
        wait_until(|| call.load(Acquire) != WAIT);
        // A call to leave is not taken back.
        call.compare_exchange(WORK, WAIT, Acquire, Relaxed).is_ok()
    }
}

/// A helper that is called; when dropped it has come back (I1).
struct Back<'a, W>(&'a Desk<W>);

impl<W> Drop for Back<'_, W> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.broken.store(true, Relaxed);
        }
        let before = self.0.busy.fetch_sub(1, Release);
        debug_assert!(before > 0, "I1");
        if before == 1 {
            self.0.leader.unpark();
        }
    }
}

fn wait_until(mut so: impl FnMut() -> bool) {
    for _ in 0..LOOKS {
        if so() {
            return;
        }
        std::hint::spin_loop();
    }
    for _ in 0..YIELDS {
        if so() {
            return;
        }
        std::thread::yield_now();
    }
    while !so() {
        std::thread::park();
    }
}

/// The helpers, as the leader sees them.
pub(crate) struct Team<'scope, 'env, W> {
    scope: &'scope Scope<'scope, 'env>,
    desk: &'scope Desk<W>,
    help: &'scope (dyn Fn(usize) + Sync),
    threads: Vec<ScopedJoinHandle<'scope, ()>>,
    started: bool,
}

impl<W: Send + Sync> Team<'_, '_, W> {
    /// Lets up to `n` threads work, of which `mine` is the leader's part, and waits for all. Gives the work back.
    pub fn share(&mut self, n: usize, work: W, mine: impl FnOnce(&W)) -> W {
        if !self.started {
            self.started = true;
            let help = self.help;
            let start = |n| thread().spawn_scoped(self.scope, move || help(n)).ok();
            self.threads = (0..self.desk.calls.len()).map_while(start).collect();
        }
        let Desk { work: laid, calls, busy, broken, .. } = self.desk;
        debug_assert_eq!(busy.load(Acquire), 0, "I2");
        debug_assert!(n > 0, "the leader has a part in everything");
        debug_assert!(n <= calls.len() + 1, "no more are asked for than there can be");
        debug_assert!(laid.read().is_ok_and(|work| work.is_none()), "I2: what was laid before was given back");
        *laid.write().unwrap_or_else(PoisonError::into_inner) = Some(work);
        let called = &self.threads[..self.threads.len().min(n - 1)];
        busy.store(called.len(), Relaxed);
        for (call, thread) in calls.iter().zip(called) {
            call.0.store(WORK, Release);
            thread.thread().unpark();
        }
        mine(laid.read().unwrap_or_else(PoisonError::into_inner).as_ref().expect("I2"));
        wait_until(|| busy.load(Acquire) == 0);
        if broken.load(Relaxed) {
            self.end().map_or_else(|panic| std::panic::resume_unwind(panic), |()| unreachable!("somebody panicked"));
        }
        debug_assert!(calls.iter().all(|call| call.0.load(Relaxed) == WAIT), "I1: who came back was called once");
        laid.write().unwrap_or_else(PoisonError::into_inner).take().expect("I2")
    }
}

impl<W> Team<'_, '_, W> {
    /// I3. Says what a helper panicked with.
    fn end(&mut self) -> std::thread::Result<()> {
        for (call, thread) in self.desk.calls.iter().zip(&self.threads) {
            call.0.store(LEAVE, Release);
            thread.thread().unpark();
        }
        let (n_threads, mut n_ended) = (self.threads.len(), 0);
        let join = |thread: ScopedJoinHandle<'_, ()>| {
            n_ended += 1;
            thread.join()
        };
        let ended = self.threads.drain(..).map(join).fold(Ok(()), Result::and);
        assert_eq!(n_ended, n_threads, "I3");
        // A call to leave may come before a call to work is seen, if the leader panics.
        debug_assert!(std::thread::panicking() || self.desk.busy.load(Acquire) == 0, "I1");
        ended
    }
}

impl<W> Drop for Team<'_, '_, W> {
    fn drop(&mut self) {
        // Who was called came back, or the leader panics: then one panic is enough.
        let _ = self.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::AtomicU64;

    /// A work is how much there is to do; a part is one of it.
    type Work = AtomicU64;

    fn part(_: usize, done: &mut u64, work: &Work) {
        while work.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)).is_ok() {
            *done += 1;
        }
    }

    #[test]
    fn everything_is_done_when_the_work_is_given_back() {
        for jobs in [1, 2, 3, 8] {
            let total = AtomicU64::new(0);
            let count = |me: usize, done: &mut u64, work: &Work| {
                let before = *done;
                part(me, done, work);
                total.fetch_add(*done - before, Relaxed);
            };
            gather(
                jobs,
                || 0,
                count,
                |team| {
                    let mut mine = 0;
                    for round in 0..3000 {
                        let n_threads = 1 + round as usize % jobs;
                        let work = team.share(n_threads, AtomicU64::new(round % 7), |work| count(0, &mut mine, work));
                        assert_eq!(work.into_inner(), 0);
                        assert_eq!(total.swap(0, Relaxed), round % 7);
                        assert!(team.threads.len() < jobs);
                        if round == 2000 {
                            // Long enough for everybody to fall asleep.
                            std::thread::sleep(std::time::Duration::from_millis(20));
                        }
                    }
                },
            );
        }
    }

    /// Who is called are the first helpers, each once and with its own number and seat.
    #[test]
    fn as_many_are_called_as_were_asked_for() {
        let called: Vec<AtomicU64> = (0..6).map(|_| AtomicU64::new(0)).collect();
        let note = |me: usize, rounds: &mut u64, (): &()| {
            *rounds += 1;
            called[me].store(*rounds, Relaxed);
        };
        gather(
            6,
            || 0,
            note,
            |team| {
                for n_threads in [2, 4, 4, 6] {
                    team.share(n_threads, (), |()| {});
                }
            },
        );
        assert_eq!(called.iter().map(|n| n.load(Relaxed)).collect::<Vec<_>>(), [0, 4, 3, 3, 1, 1]);
    }

    /// Whoever panics, where ever, nobody waits for ever, and the leader learns with what.
    #[test]
    fn a_panic_is_the_leaders() {
        for breaks in 0..5 {
            for in_seat in [true, false] {
                let n_seats = AtomicU64::new(0);
                let sit = || assert!(n_seats.fetch_add(1, Relaxed) != breaks || !in_seat, "as it should");
                let part = |me: usize, (): &mut (), round: &u64| {
                    assert!(in_seat || me as u64 != breaks || *round < 3, "as it should");
                };
                let rounds = AtomicU64::new(0);
                let lead = |team: &mut Team<'_, '_, u64>| {
                    sit();
                    for round in 0..10 {
                        team.share(5, round, |round| part(0, &mut (), round));
                        rounds.store(round, Relaxed);
                    }
                };
                let panic = catch_unwind(AssertUnwindSafe(|| gather(5, sit, part, lead))).expect_err("it panics");
                assert_eq!(panic.downcast_ref::<&str>(), Some(&"as it should"));
                assert!(rounds.into_inner() < 4);
            }
        }
    }
}
