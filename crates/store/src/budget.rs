//! How much memory a run may hold, and how much it holds.
//!
//! Stores, logs and stacks ask before they grow; what is refused is not allocated, so the sum never passes the
//! limit. An [`Account`] is one holder's share and gives it back when dropped.
//!
//! # Invariants
//!   I1 `used <= limit`, but for what was charged by `charge_anyway`
//!   I2 `used` is the sum over all accounts of what they hold

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// No room for another state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Full {
    /// The memory budget is spent, or the system gave no more.
    Memory,
    /// The store's numbers ran out.
    Numbers,
}

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Full::Memory => "the memory budget is spent",
            Full::Numbers => "the store's numbers ran out",
        })
    }
}

impl std::error::Error for Full {}

/// See the module.
#[derive(Debug)]
pub struct Budget {
    limit: u64,
    used: AtomicU64,
}

impl Budget {
    pub fn new(limit: u64) -> Arc<Budget> {
        Arc::new(Budget { limit, used: AtomicU64::new(0) })
    }

    pub fn unlimited() -> Arc<Budget> {
        Budget::new(u64::MAX)
    }

    pub fn limit(&self) -> u64 {
        self.limit
    }

    pub fn used(&self) -> u64 {
        self.used.load(Relaxed)
    }

    pub fn charge(&self, bytes: u64) -> Result<(), Full> {
        let fits = |used: u64| used.checked_add(bytes).filter(|&sum| sum <= self.limit); // I1
        let before = self.used.fetch_update(Relaxed, Relaxed, fits).map_err(|_| Full::Memory)?;
        debug_assert!(before + bytes <= self.limit, "I1");
        Ok(())
    }

    pub fn release(&self, bytes: u64) {
        let before = self.used.fetch_sub(bytes, Relaxed);
        assert!(before >= bytes, "I2");
    }

    pub fn account(self: &Arc<Self>) -> Account {
        Account { budget: self.clone(), held: AtomicU64::new(0) }
    }
}

/// What one holder has charged. Threads may share one.
#[derive(Debug)]
pub struct Account {
    budget: Arc<Budget>,
    held: AtomicU64,
}

impl Account {
    pub fn charge(&self, bytes: u64) -> Result<(), Full> {
        self.budget.charge(bytes)?;
        self.held.fetch_add(bytes, Relaxed);
        Ok(())
    }

    /// For a few bytes that cannot be refused.
    pub fn charge_anyway(&self, bytes: u64) {
        self.budget.used.fetch_add(bytes, Relaxed);
        self.held.fetch_add(bytes, Relaxed);
    }

    pub fn release(&self, bytes: u64) {
        let before = self.held.fetch_sub(bytes, Relaxed);
        assert!(before >= bytes, "I2");
        self.budget.release(bytes);
    }

    pub fn held(&self) -> u64 {
        self.held.load(Relaxed)
    }
}

impl Drop for Account {
    fn drop(&mut self) {
        self.budget.release(self.held());
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn what_would_pass_the_limit_is_refused_and_what_is_dropped_comes_back() {
        let budget = Budget::new(100);
        let a = budget.account();
        let b = budget.account();
        assert_eq!(a.charge(60), Ok(()));
        assert_eq!(b.charge(41), Err(Full::Memory));
        assert_eq!(b.charge(40), Ok(()));
        assert_eq!(b.charge(u64::MAX), Err(Full::Memory));
        a.release(10);
        assert_eq!((budget.used(), a.held(), b.held()), (90, 50, 40));
        drop(a);
        assert_eq!(budget.used(), 40);
    }
}
