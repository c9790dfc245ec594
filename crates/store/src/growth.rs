//! Tables that many threads use and any of them may grow.
//!
//! # The argument
//!   The tables are behind one lock. A hand holds it shared from its first use on, so that using costs nothing;
//!   whoever finds a table full gives its hold up, says that it waits, takes the lock alone and grows. The
//!   others give theirs up when they rest, and wait at their next use. That everybody rests now and then, and
//!   before waiting for each other, is the callers' promise.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{RwLock, RwLockReadGuard};

/// See the module.
#[derive(Debug)]
pub struct Growing<T> {
    tables: RwLock<T>,
    /// How many threads wait to be alone.
    waiting: AtomicU32,
}

impl<T> Growing<T> {
    pub fn new(tables: T) -> Self {
        Growing { tables: RwLock::new(tables), waiting: AtomicU32::new(0) }
    }

    pub fn hold(&self) -> Hold<'_, T> {
        Hold { of: self, held: None }
    }
}

/// One thread's hold on the tables.
#[derive(Debug)]
pub struct Hold<'s, T> {
    of: &'s Growing<T>,
    held: Option<RwLockReadGuard<'s, T>>,
}

impl<T> Hold<'_, T> {
    #[inline]
    pub fn get(&mut self) -> &T {
        self.held.get_or_insert_with(|| self.of.tables.read().expect("no panic inside"))
    }

    /// With no other thread at the tables. Another may have grown them before this one's turn came.
    #[cold]
    pub fn alone<R>(&mut self, work: impl FnOnce(&mut T) -> R) -> R {
        self.held = None;
        self.of.waiting.fetch_add(1, Relaxed);
        let mut tables = self.of.tables.write().expect("no panic inside");
        self.of.waiting.fetch_sub(1, Relaxed);
        work(&mut tables)
    }

    #[inline]
    pub fn rest(&mut self) {
        if self.of.waiting.load(Relaxed) > 0 {
            self.held = None;
        }
    }
}
