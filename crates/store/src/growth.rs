//! Tables that many threads use and any of them may grow.
//!
//! # The argument
//!   There are some doors to the tables, each with a lock. A hand goes in by one door, taking its lock shared, and
//!   stays in until it rests; whoever finds a table full goes out, takes all locks alone, one after the other
//!   and always in the same order, and grows. That everybody rests now and then, and before waiting for each
//!   other, is the callers' promise. Hands use different doors (while there are enough), so that going in and
//!   out writes no memory that another thread writes.
//!
//! # Invariants
//!   I1 behind every door is the same table, except while a thread has all locks; then only that thread has it

use crate::sync::Apart;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, RwLock, RwLockReadGuard};

const N_DOORS: usize = 32;

type Door<T> = Apart<RwLock<Option<Arc<T>>>>;

/// See the module.
#[derive(Debug)]
pub struct Growing<T> {
    doors: Vec<Door<T>>,
    /// For the next hand.
    next: AtomicUsize,
}

impl<T> Growing<T> {
    pub fn new(tables: T) -> Self {
        let tables = Arc::new(tables);
        let doors = (0..N_DOORS).map(|_| Apart(RwLock::new(Some(tables.clone())))).collect();
        Growing { doors, next: AtomicUsize::new(0) }
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

impl<T> Hold<'_, T> {
    #[inline]
    pub fn get(&mut self) -> &T {
        let (of, door) = (self.of, self.door);
        let held = self.held.get_or_insert_with(|| of.doors[door].0.read().expect("no panic inside"));
        held.as_deref().expect("I1")
    }

    /// With no other thread at the tables. Another may have grown them before this one's turn came.
    #[cold]
    pub fn alone<R>(&mut self, work: impl FnOnce(&mut T) -> R) -> R {
        self.held = None;
        let mut doors: Vec<_> =
            self.of.doors.iter().map(|Apart(door)| door.write().expect("no panic inside")).collect();
        let mut tables = doors[0].take().expect("I1");
        doors.iter_mut().for_each(|door| drop(door.take()));
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

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::Barrier;

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
