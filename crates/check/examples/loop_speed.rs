//! What a search costs beside its system: `cargo run --release -p spinor-check --example loop_speed [counters] [modulus]`
//!
//! The system is some counters that turn, each by itself, so a successor is a copy and one store, and what is
//! measured is the loop and the store.

use spinor_check::clock::Clock;
use spinor_check::observer::Silent;
use spinor_check::search::{Request, Searched, bfs, dfs};
use spinor_model::fault::Fault;
use spinor_model::index::Idx;
use spinor_model::ir::EdgeId;
use spinor_model::successors::{Batch, Step, Successors};
use spinor_store::{Arena, Compact, Visited};

struct Counters {
    n: usize,
    modulus: u8,
}

impl Successors for Counters {
    type State = Vec<u8>;

    fn initial(&self) -> Result<Vec<u8>, Fault> {
        Ok(vec![0; 4 * self.n])
    }

    fn pack(&self, state: &Vec<u8>, key: &mut Vec<u8>) {
        key.extend_from_slice(state);
    }

    fn unpack(&self, key: &[u8]) -> Vec<u8> {
        key.to_vec()
    }

    fn unpack_into(&self, key: &[u8], state: &mut Vec<u8>) {
        state.clear();
        state.extend_from_slice(key);
    }

    fn batch(&self) -> Batch {
        Batch::default()
    }

    fn enabled(&self, _: &mut Vec<u8>, steps: &mut Vec<Step>) {
        steps.clear();
        steps.extend((0..self.n).map(|n| Step { pid: 0, edge: EdgeId::new(n), partner: None, timeout: false }));
    }

    fn fire(&self, state: &mut Vec<u8>, steps: &[Step], batch: &mut Batch) {
        for (n, step) in steps.iter().enumerate() {
            let from = batch.keys.len();
            batch.keys.extend_from_slice(state);
            let digit = &mut batch.keys[from + 4 * step.edge.index()];
            *digit = if *digit + 1 == self.modulus { 0 } else { *digit + 1 };
            batch.push(n as u32, 0, 0, Some(from));
        }
    }

    fn may_end(&self, _: &Vec<u8>) -> bool {
        true
    }
}

fn say(what: &str, jobs: usize, go: impl Fn(&Request) -> Searched) {
    let clock = Clock::start();
    let s = go(&Request { jobs, ..Request::default() });
    let seconds = clock.cpu_seconds();
    let (states, transitions) = (s.counters.stored, s.counters.transitions);
    let (ns, bytes) = (seconds * 1e9 / transitions as f64, s.bytes as f64 / states as f64);
    println!(
        "{what:<12} {jobs} threads  {states:>10} states  {transitions:>11} transitions  {seconds:>6.2} s of processor time  {ns:>6.1} ns each  {bytes:>5.1} bytes a state"
    );
}

fn both<V: Visited>(name: &str, system: &Counters, store: impl Fn(&Request) -> V) {
    for jobs in [1, 2] {
        say(&format!("bfs {name}"), jobs, |r| bfs::search(system, &store(r), r, &mut Silent));
        say(&format!("dfs {name}"), jobs, |r| dfs::search(system, &store(r), r, &mut Silent));
    }
}

fn main() {
    let number = |n, default| std::env::args().nth(n).and_then(|a| a.parse().ok()).unwrap_or(default);
    let system = Counters { n: number(1, 7), modulus: number(2, 8) as u8 };
    both("arena", &system, |r| Arena::new(&r.budget).expect("room"));
    both("tree", &system, |r| Compact::new(&r.budget, Box::new(|_| spinor_store::Hint::default())).expect("room"));
}
