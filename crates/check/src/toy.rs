//! Systems that are nothing but a graph, for tests of searches.

use spinor_model::fault::{Fault, FaultKind};
use spinor_model::index::Idx;
use spinor_model::ir::{EdgeId, Pid, ProctypeId};
use spinor_model::successors::{Batch, EdgeSet, Step, Successors};

/// Nodes are numbers; a step is an arc, with one outcome or several.
#[derive(Clone, Debug, Default)]
pub struct Toy {
    pub arcs: Vec<Arc>,
    /// Nodes at which a run may end.
    pub ends: Vec<u32>,
    pub no_start: bool,
    /// Keys are this much longer, so that their lengths differ.
    pub padding: usize,
}

#[derive(Clone, Debug)]
pub struct Arc {
    pub from: u32,
    pub pid: Pid,
    pub outcomes: Vec<ToyOutcome>,
}

#[derive(Clone, Debug)]
pub struct ToyOutcome {
    pub to: u32,
    pub faults: Vec<FaultKind>,
    pub atomic_steps: u32,
}

impl Toy {
    pub fn graph(arcs: &[(u32, u32)]) -> Toy {
        let arc = |&(from, to): &(u32, u32)| Arc {
            from,
            pid: 0,
            outcomes: vec![ToyOutcome { to, faults: Vec::new(), atomic_steps: 0 }],
        };
        Toy { arcs: arcs.iter().map(arc).collect(), ..Toy::default() }
    }

    /// The arc fails an assertion.
    pub fn asserting(mut self, arc: usize) -> Toy {
        self.arcs[arc].outcomes[0].faults.push(FaultKind::Assertion);
        self
    }

    pub fn owned(mut self, arc: usize, pid: Pid) -> Toy {
        self.arcs[arc].pid = pid;
        self
    }

    pub fn random(seed: u64) -> Toy {
        let mut rng = Rng(seed);
        let n = 1 + rng.below(40) as u32;
        let n_arcs = rng.below(3 * u64::from(n) + 2);
        let rare = 1 + rng.below(40);
        let mut toy = Toy { padding: rng.below(30) as usize, no_start: rng.below(50) == 0, ..Toy::default() };
        for _ in 0..n_arcs {
            let outcome = |rng: &mut Rng| {
                let mut faults = Vec::new();
                if rng.below(rare) == 0 {
                    faults.push(match rng.below(4) {
                        0 => FaultKind::DivisionByZero,
                        1 => FaultKind::Promise { send: true, owner: 0, look: false },
                        2 => FaultKind::TraceMismatch,
                        _ => FaultKind::Assertion,
                    });
                    if !faults[0].is_fatal() && rng.below(3) == 0 {
                        faults.push(FaultKind::NoChannel { value: 0 });
                    }
                }
                ToyOutcome { to: rng.below(u64::from(n)) as u32, faults, atomic_steps: rng.below(3) as u32 }
            };
            let n_outcomes = if rng.below(4) == 0 { 1 + rng.below(3) } else { 1 };
            toy.arcs.push(Arc {
                from: rng.below(u64::from(n)) as u32,
                pid: rng.below(3) as Pid,
                outcomes: (0..n_outcomes).map(|_| outcome(&mut rng)).collect(),
            });
        }
        toy.ends = (0..n).filter(|_| rng.below(2) == 0).collect();
        toy
    }
}

impl Successors for Toy {
    type State = u32;

    fn initial(&self) -> Result<u32, Fault> {
        if self.no_start { Err(Fault { kind: FaultKind::DivisionByZero, at: None }) } else { Ok(0) }
    }

    fn pack(&self, state: &u32, key: &mut Vec<u8>) {
        key.extend_from_slice(&state.to_le_bytes());
        key.resize(key.len() + *state as usize % (self.padding + 1), 7);
    }

    fn unpack(&self, key: &[u8]) -> u32 {
        u32::from_le_bytes(*key.first_chunk().expect("four bytes"))
    }

    fn batch(&self) -> Batch {
        let edges = EdgeSet::sized([self.arcs.len()].into_iter());
        Batch { reached: edges.clone(), truncated: edges, ..Batch::default() }
    }

    fn enabled(&self, state: &mut u32, steps: &mut Vec<Step>) {
        steps.clear();
        for pid in (0..3).rev() {
            let own = self.arcs.iter().enumerate().filter(|(_, a)| a.from == *state && a.pid == pid);
            steps.extend(own.map(|(n, _)| Step { pid, edge: EdgeId::new(n), partner: None, timeout: false }));
        }
    }

    fn fire(&self, state: &mut u32, steps: &[Step], batch: &mut Batch) {
        for (n, step) in steps.iter().enumerate() {
            let arc = &self.arcs[step.edge.index()];
            assert_eq!(arc.from, *state, "a step is fired where it is enabled");
            batch.reached.put(ProctypeId(0), step.edge);
            for (path, o) in arc.outcomes.iter().enumerate() {
                let fault =
                    |kind: &FaultKind| Fault { kind: kind.clone(), at: Some((step.pid, ProctypeId(0), step.edge)) };
                let outcome = batch.outcomes.len();
                batch.faults.extend(o.faults.iter().map(|kind| (outcome, fault(kind))));
                let at = (!o.faults.iter().any(FaultKind::is_fatal)).then_some(batch.keys.len());
                if at.is_some() {
                    self.pack(&o.to, &mut batch.keys);
                }
                batch.push(n as u32, path as u32, o.atomic_steps, at);
            }
        }
    }

    fn may_end(&self, state: &u32) -> bool {
        self.ends.contains(state)
    }
}

/// Counters that turn, each by itself: many states, wide levels, and counts that are known.
#[derive(Clone, Debug)]
pub struct Grid {
    pub n_counters: usize,
    pub modulus: u8,
    /// A step fails an assertion if it makes the sum of all counters this.
    pub fails_at: Option<u32>,
    /// No step leads on from this sum.
    pub ends_at: Option<u32>,
}

impl Grid {
    pub fn new(n_counters: usize, modulus: u8) -> Grid {
        Grid { n_counters, modulus, fails_at: None, ends_at: None }
    }

    pub fn n_states(&self) -> u64 {
        u64::from(self.modulus).pow(self.n_counters as u32)
    }

    fn sum(state: &[u8]) -> u32 {
        state.iter().map(|d| u32::from(*d)).sum()
    }
}

impl Successors for Grid {
    type State = Vec<u8>;

    fn initial(&self) -> Result<Vec<u8>, Fault> {
        Ok(vec![0; self.n_counters])
    }

    fn pack(&self, state: &Vec<u8>, key: &mut Vec<u8>) {
        key.extend_from_slice(state);
        key.resize(key.len().next_multiple_of(4), 0);
    }

    fn unpack(&self, key: &[u8]) -> Vec<u8> {
        key[..self.n_counters].to_vec()
    }

    fn unpack_into(&self, key: &[u8], state: &mut Vec<u8>) {
        state.copy_from_slice(&key[..self.n_counters]);
    }

    fn batch(&self) -> Batch {
        let edges = EdgeSet::sized([self.n_counters].into_iter());
        Batch { reached: edges.clone(), truncated: edges, ..Batch::default() }
    }

    fn enabled(&self, state: &mut Vec<u8>, steps: &mut Vec<Step>) {
        steps.clear();
        if self.ends_at != Some(Grid::sum(state)) {
            let step = |n| Step { pid: n as Pid, edge: EdgeId::new(n), partner: None, timeout: false };
            steps.extend((0..self.n_counters).rev().map(step));
        }
    }

    fn fire(&self, state: &mut Vec<u8>, steps: &[Step], batch: &mut Batch) {
        for (n, step) in steps.iter().enumerate() {
            let counter = step.edge.index();
            let before = state[counter];
            state[counter] = (before + 1) % self.modulus;
            batch.reached.put(ProctypeId(0), step.edge);
            if self.fails_at == Some(Grid::sum(state)) {
                let at = Some((step.pid, ProctypeId(0), step.edge));
                batch.faults.push((batch.outcomes.len(), Fault { kind: FaultKind::Assertion, at }));
            }
            let at = batch.keys.len();
            self.pack(state, &mut batch.keys);
            batch.push(n as u32, 0, 0, Some(at));
            state[counter] = before;
        }
    }

    fn may_end(&self, _: &Vec<u8>) -> bool {
        false
    }
}

/// A small generator of numbers that repeats for a seed.
pub struct Rng(pub u64);

impl Rng {
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % n
    }
}
