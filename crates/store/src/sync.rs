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

/// How often who waits looks before it lets others run, and how often it does that before it gives up: some ten
/// microseconds each.
const LOOKS: u32 = 200;
const YIELDS: u32 = 40;

/// For what another thread may do in the next few microseconds.
pub fn soon<R>(mut look: impl FnMut() -> Option<R>) -> Option<R> {
    for n in 0..LOOKS + YIELDS {
        let seen = look();
        if seen.is_some() {
            return seen;
        }
        if n < LOOKS { std::hint::spin_loop() } else { std::thread::yield_now() }
    }
    None
}

/// For what another thread is doing at this moment. If that takes longer, the other one may need this core.
#[cfg(not(all(loom, test)))]
pub fn wait_until(mut so: impl FnMut() -> bool) {
    if soon(|| so().then_some(())).is_none() {
        while !so() {
            std::thread::sleep(std::time::Duration::from_micros(20));
        }
    }
}

#[cfg(all(loom, test))]
pub fn wait_until(mut so: impl FnMut() -> bool) {
    while !so() {
        loom::thread::yield_now();
    }
}
