//! Tables that many threads use and any of them may grow.
//!
//! # The argument
//!   There are some doors to the tables, each with a lock. A hand goes in by one door, taking its lock shared, and
//!   stays in until it rests; whoever finds a table full goes out, takes all locks alone, one after the other
//!   and always in the same order, and grows. That everybody rests now and then, and before waiting for each
//!   other, is the callers' promise. Hands use different doors (while there are enough), so that going in and
//!   out writes no memory that another thread writes.
//!
//!   What growth has to do it may leave to the threads that come in afterwards: each helps before it does anything
//!   else, and so does who grows next, so the tables are complete whenever they are used. Who finds a table full while
//!   another thread is about to grow it need not do it again: it waits for the doors to open, and helps.
//!
//!   Most growth takes some microseconds, and to be woken takes more. So nobody sleeps at once: who wants to be alone
//!   says so first and looks at each door for a while, and who sees that stays outside and looks for a while too.
//!
//! # Invariants
//!   I1 behind every door is the same table, except while a thread has all locks; then only that thread has it

use crate::sync::{Apart, soon, wait_until};
use std::sync::atomic::Ordering::{Acquire, Release};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError};

const N_DOORS: usize = 32;

type Door<T> = Apart<RwLock<Option<Arc<T>>>>;

/// Tables that grow.
pub trait Grows {
    /// Does a share of what growth has left to do, and comes back when all of it is done.
    fn help(&self) {}
}

/// See the module.
#[derive(Debug)]
pub struct Growing<T> {
    doors: Vec<Door<T>>,
    /// For the next hand.
    next: AtomicUsize,
    /// Locked by who grows, from before the first door is locked until all are open.
    turn: Mutex<()>,
    /// How often somebody's turn was over.
    n_turns: AtomicUsize,
    /// Whether it is somebody's turn. A hint to others: it is the locks that keep them out.
    closing: Apart<AtomicBool>,
}

impl<T: Grows> Growing<T> {
    pub fn new(tables: T) -> Self {
        let tables = Arc::new(tables);
        let doors = (0..N_DOORS).map(|_| Apart(RwLock::new(Some(tables.clone())))).collect();
        Growing {
            doors,
            next: AtomicUsize::new(0),
            turn: Mutex::new(()),
            n_turns: AtomicUsize::new(0),
            closing: Apart(AtomicBool::new(false)),
        }
    }

    pub fn hold(&self) -> Hold<'_, T> {
        let door = self.next.fetch_add(1, Relaxed) % N_DOORS;
        Hold { of: self, door, held: None }
    }
}

/// One thread's way to the tables.
#[derive(Debug)]
pub struct Hold<'s, T> {
    of: &'s Growing<T>,
    door: usize,
    held: Option<RwLockReadGuard<'s, Option<Arc<T>>>>,
}

/// Somebody's turn to grow.
struct Turn<'s> {
    guard: Option<MutexGuard<'s, ()>>,
    n_turns: &'s AtomicUsize,
    closing: &'s AtomicBool,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.closing.store(false, Release);
        // In this order: who could not have the turn waits for the number to change.
        self.guard = None;
        self.n_turns.fetch_add(1, Release);
    }
}

impl<T: Grows> Hold<'_, T> {
    #[inline]
    pub fn get(&mut self) -> &T {
        if self.held.is_none() {
            let Growing { doors, closing: Apart(closing), .. } = self.of;
            if closing.load(Relaxed) {
                soon(|| (!closing.load(Acquire)).then_some(()));
            }
            let held = doors[self.door].0.read().expect("no panic inside");
            held.as_deref().expect("I1").help();
            self.held = Some(held);
        }
        self.held.as_ref().and_then(|held| held.as_deref()).expect("I1")
    }

    /// With no other thread at the tables. Another may have grown them before this one's turn came.
    #[cold]
    pub fn alone<R>(&mut self, work: impl FnOnce(&mut T) -> R) -> R {
        self.held = None;
        let guard = self.of.turn.lock().expect("no panic inside");
        self.take_turn(guard, work)
    }

    /// The same, unless another thread is growing the tables: then this waits until it has, and there is no answer.
    #[cold]
    pub fn alone_or_after<R>(&mut self, work: impl FnOnce(&mut T) -> R) -> Option<R> {
        self.held = None;
        let Growing { turn, n_turns, .. } = self.of;
        let before = n_turns.load(Acquire);
        match turn.try_lock() {
            Ok(guard) => Some(self.take_turn(guard, work)),
            Err(TryLockError::Poisoned(_)) => panic!("who was alone panicked"),
            Err(TryLockError::WouldBlock) => {
                wait_until(|| n_turns.load(Acquire) != before);
                None
            }
        }
    }

    fn take_turn<R>(&self, guard: MutexGuard<'_, ()>, work: impl FnOnce(&mut T) -> R) -> R {
        let Growing { doors, n_turns, closing: Apart(closing), .. } = self.of;
        closing.store(true, Relaxed);
        let _turn = Turn { guard: Some(guard), n_turns, closing };
        let mut doors: Vec<_> = doors.iter().map(|Apart(door)| close(door)).collect();
        let mut tables = doors[0].take().expect("I1");
        doors.iter_mut().for_each(|door| drop(door.take()));
        tables.help();
        let result = work(Arc::get_mut(&mut tables).expect("I1"));
        doors.iter_mut().for_each(|door| **door = Some(tables.clone()));
        result
    }

    /// Lets others be alone, until the next use.
    #[inline]
    pub fn rest(&mut self) {
        self.held = None;
    }
}

fn close<T>(door: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    soon(|| door.try_write().ok()).unwrap_or_else(|| door.write().expect("no panic inside"))
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::Barrier;

    impl Grows for Vec<i32> {}
    impl Grows for u64 {}

    #[test]
    fn a_thread_that_rests_and_waits_does_not_stop_one_that_grows() {
        let growing = Growing::new(vec![0]);
        let barrier = Barrier::new(2);
        std::thread::scope(|scope| {
            let other = scope.spawn(|| {
                let mut hold = growing.hold();
                assert_eq!(hold.get().len(), 1);
                barrier.wait();
                hold.rest();
                barrier.wait();
                assert_eq!(hold.get().len(), 2);
            });
            let mut hold = growing.hold();
            hold.get();
            barrier.wait();
            hold.alone(|table| table.push(1));
            assert_eq!(hold.get().len(), 2);
            hold.rest();
            barrier.wait();
            other.join().expect("no panic");
        });
    }

    /// Who is too late does not grow again, and finds everything done.
    #[test]
    fn one_thread_grows_and_the_others_help() {
        struct Table {
            full: usize,
            open: AtomicUsize,
        }
        impl Grows for Table {
            fn help(&self) {
                while self.open.fetch_update(Relaxed, Relaxed, |open| open.checked_sub(1)).is_ok() {}
            }
        }
        const ROUNDS: usize = 300;
        let growing = Growing::new(Table { full: 0, open: AtomicUsize::new(0) });
        let mut hold = growing.hold();
        hold.alone(|table| table.open.store(2, Relaxed));
        hold.alone(|table| table.open.store(1 - table.open.load(Relaxed), Relaxed));
        assert_eq!(hold.get().open.load(Relaxed), 0);
        hold.rest();
        let n_grown = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    let mut hold = growing.hold();
                    for round in 0..ROUNDS {
                        while hold.get().full <= round {
                            hold.alone_or_after(|table| {
                                assert_eq!(table.open.load(Relaxed), 0, "done before anybody is alone");
                                if table.full <= round {
                                    n_grown.fetch_add(1, Relaxed);
                                    table.full += 1;
                                    table.open.store(1, Relaxed);
                                }
                            });
                        }
                        assert_eq!(hold.get().open.load(Relaxed), 0);
                        hold.rest();
                    }
                });
            }
        });
        assert_eq!(n_grown.into_inner(), ROUNDS);
    }

    #[test]
    fn every_growth_counts_with_more_threads_than_doors() {
        let growing = Growing::new(0u64);
        std::thread::scope(|scope| {
            let others = (0..N_DOORS + 8).map(|_| {
                scope.spawn(|| {
                    let mut hold = growing.hold();
                    for _ in 0..20 {
                        let before = *hold.get();
                        hold.alone(|n| *n += 1);
                        assert!(*hold.get() > before);
                        hold.rest();
                    }
                })
            });
            others.collect::<Vec<_>>().into_iter().for_each(|other| other.join().expect("no panic"));
        });
        assert_eq!(*growing.hold().get(), (N_DOORS as u64 + 8) * 20);
    }
}
