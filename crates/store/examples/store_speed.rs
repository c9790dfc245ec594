//! How long one find-or-put takes: `cargo run --release -p spinor-store --example store_speed [millions]`.

use spinor_store::{Arena, Visited, hash64};
use std::time::Instant;

fn main() {
    let millions: f64 = std::env::args().nth(1).and_then(|a| a.parse().ok()).unwrap_or(5.0);
    let n = (millions * 1e6) as u64;
    println!("{:>6} {:>12} {:>12} {:>14}", "batch", "ns per put", "ns per find", "bytes a state");
    for batch in [1u64, 16, 32] {
        let mut store = Arena::new();
        let put = pass(&mut store, n, batch, |i| i);
        assert_eq!(store.len() as u64, n);
        let find = pass(&mut store, n, batch, |i| hash64(&i.to_le_bytes()) % n);
        assert_eq!(store.len() as u64, n);
        println!("{batch:>6} {put:>12.1} {find:>12.1} {:>14.1}", store.bytes() as f64 / n as f64);
    }
}

/// Offers `n` keys of 40 bytes; returns nanoseconds a key, the making of the keys included.
fn pass(store: &mut Arena, n: u64, batch: u64, which: impl Fn(u64) -> u64) -> f64 {
    let mut bytes = Vec::new();
    let mut ranges = Vec::new();
    let mut out = Vec::new();
    let start = Instant::now();
    for from in (0..n).step_by(batch as usize) {
        bytes.clear();
        ranges.clear();
        for i in from..(from + batch).min(n) {
            let at = bytes.len();
            let w = which(i).to_le_bytes();
            for _ in 0..5 {
                bytes.extend_from_slice(&w);
            }
            ranges.push(at..at + 40);
        }
        store.find_or_put_all(&bytes, &ranges, &mut out);
    }
    start.elapsed().as_nanos() as f64 / n as f64
}
