//! How long a find-or-put takes and what a state costs, in a breadth-first search of a made-up system:
//! `cargo run --release -p spinor-store --example store_speed [n_processes] [n_locations] [n_frame_words] [store] [n_threads]`
//!
//! The system is `n_processes` processes of `n_locations` locations each, in frames of some words: a location, a
//! variable that follows it, and things that never change; and a few shared words, one of which depends on all
//! processes. Making a successor is a copy and three stores, so the time is the store's and the loop's.

use spinor_store::{Arena, Budget, Compact, Log, StateId, Visited};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Instant;

const SHARED: usize = 4;

#[derive(Clone, Copy)]
struct System {
    n_processes: usize,
    n_locations: u32,
    frame: usize,
}

impl System {
    fn initial(&self) -> Vec<u8> {
        let mut key = vec![0; (SHARED + self.n_processes * self.frame) * 4];
        for p in 0..self.n_processes {
            let at = (SHARED + p * self.frame + self.frame - 1) * 4;
            key[at] = p as u8;
        }
        key
    }

    /// Each process moves on by one location; every third location also writes a shared word.
    fn successors(&self, state: &[u8], bytes: &mut Vec<u8>, keys: &mut Vec<Range<usize>>) {
        for p in 0..self.n_processes {
            let frame = (SHARED + p * self.frame) * 4;
            let from = bytes.len();
            bytes.extend_from_slice(state);
            let key = &mut bytes[from..];
            let location = (u32::from(key[frame]) + 1) % self.n_locations;
            key[frame] = location as u8;
            key[frame + 4] = (location * location % 7) as u8;
            if location.is_multiple_of(3) {
                key[4] = (key[4] + 1) % 3;
            }
            keys.push(from..bytes.len());
        }
    }
}

/// States, transitions, seconds.
fn search<S: Visited>(system: System, store: &S, n_threads: usize, batch: usize) -> (u64, u64, f64) {
    let start = Instant::now();
    let budget = Budget::unlimited();
    let mut logs: Vec<Log> = (0..n_threads).map(|_| Log::new(&budget)).collect();
    let first = store.put(&mut store.hand(), &system.initial()).expect("room");
    logs[0].push(first.0).expect("room");
    let mut n_steps = 0;
    while logs.iter().any(|log| !log.is_empty()) {
        let chunks: Vec<(&Log, usize)> =
            logs.iter().flat_map(|log| (0..log.n_chunks()).map(move |i| (log, i))).collect();
        let next_chunk = AtomicUsize::new(0);
        let work = || {
            let mut out = Log::new(&budget);
            let mut hand = store.hand();
            let (mut ids, mut state, mut bytes, mut keys) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
            let mut answers: Vec<(StateId, bool)> = Vec::new();
            let mut n_steps = 0;
            while let Some((log, i)) = chunks.get(next_chunk.fetch_add(1, Relaxed)) {
                log.read_chunk(*i, &mut ids);
                for (n, id) in ids.iter().enumerate() {
                    store.load(&mut hand, *id, &mut state);
                    let from = keys.len();
                    system.successors(&state, &mut bytes, &mut keys);
                    store.offer(&mut hand, &bytes, &keys[from..]).expect("room");
                    if keys.len() >= batch || n + 1 == ids.len() {
                        store.settle(&mut hand, &bytes, &keys, &mut answers).expect("room");
                        n_steps += keys.len() as u64;
                        for (id, new) in &answers {
                            if *new {
                                out.push(*id).expect("room");
                            }
                        }
                        bytes.clear();
                        keys.clear();
                        store.rest(&mut hand);
                    }
                }
            }
            (out, n_steps)
        };
        let done: Vec<(Log, u64)> = if n_threads == 1 {
            vec![work()]
        } else {
            std::thread::scope(|scope| {
                let threads: Vec<_> = (0..n_threads).map(|_| scope.spawn(work)).collect();
                threads.into_iter().map(|t| t.join().expect("no panic")).collect()
            })
        };
        n_steps += done.iter().map(|(_, n)| n).sum::<u64>();
        logs = done.into_iter().map(|(log, _)| log).collect();
    }
    (store.len(), n_steps, start.elapsed().as_secs_f64())
}

fn report<S: Visited>(name: &str, system: System, n_threads: usize, store: &S) {
    let (n_states, n_steps, seconds) = search(system, store, n_threads, 24);
    let ns = seconds * 1e9 / n_steps as f64;
    let bytes = store.bytes() as f64 / n_states as f64;
    println!("{name:>12} {n_threads:>8} {n_states:>10} {n_steps:>11} {seconds:>8.2} {ns:>8.1} {bytes:>10.2}");
}

fn main() {
    let mut args = std::env::args().skip(1).take(3).map(|a| a.parse::<usize>().expect("a number"));
    let system = System {
        n_processes: args.next().unwrap_or(7),
        n_locations: args.next().unwrap_or(9) as u32,
        frame: args.next().unwrap_or(4),
    };
    println!("keys of {} words", system.initial().len() / 4);
    println!(
        "{:>12} {:>8} {:>10} {:>11} {:>8} {:>8} {:>10}",
        "store", "threads", "states", "steps", "seconds", "ns/step", "bytes/st."
    );
    let budget = &Budget::unlimited();
    let only: Option<&'static str> = std::env::args().nth(4).map(|name| &*name.leak());
    let threads: Vec<usize> = std::env::args().nth(5).map_or(vec![1, 2], |n| vec![n.parse().expect("a number")]);
    for n_threads in threads {
        let run = |name| only.is_none_or(|only| only == name);
        if run("compact") {
            let store = Compact::new(budget, Box::new(|_| spinor_store::Hint::default())).expect("room");
            report("compact", system, n_threads, &store);
            let (n_nodes, n_stashed) = store.inside();
            println!("{:>12} {n_nodes} inner nodes, {n_stashed} states in the stash", "");
        }
        if run("arena") {
            report("arena", system, n_threads, &Arena::new(budget).expect("room"));
        }
    }
}
