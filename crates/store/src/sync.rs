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

/// For what another thread is doing at this moment and will soon have done.
#[cfg(not(all(loom, test)))]
pub fn wait_until(mut so: impl FnMut() -> bool) {
    let mut n_looks = 0;
    while !so() {
        n_looks += 1;
        if n_looks < 200 { std::hint::spin_loop() } else { std::thread::yield_now() }
    }
}

#[cfg(all(loom, test))]
pub fn wait_until(mut so: impl FnMut() -> bool) {
    while !so() {
        loom::thread::yield_now();
    }
}
