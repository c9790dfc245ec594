//! Atomics, or those of a schedule explorer.

#[cfg(all(loom, test))]
pub use loom::sync::atomic::{AtomicU32, AtomicU64};
#[cfg(not(all(loom, test)))]
pub use std::sync::atomic::{AtomicU32, AtomicU64};

pub use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

/// On a cache line of its own, so that writing it does not slow the readers of its neighbours.
#[derive(Debug)]
#[repr(align(64))]
pub struct Apart<T>(pub T);
