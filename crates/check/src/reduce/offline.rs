//! A reduced graph that is built beforehand, depth-first, with the cycle condition about the path of the search.
//!
//! Source  [Schoot7]: POVAS off-line (definition 7.6, with C2 as it is printed) and leap sets off-line (definition 7.11).
//! Fits    any question that a graph can be asked when it is there; several formulas, if all that they look at is.
//!
//! # The argument
//!   A state is expanded when it is met, and stays on the path until all that comes after it was met. With `One`, a set of
//!   steps is enough (`stubborn`) and none of them leads to the path; if no set does that, all steps are taken. With
//!   `Leaps`, a proper leap that leads to the path is extended with each step of the rest (`leap`).
//!   Every cycle of the graph has an edge to a state that was on the path when the edge was made: the state of the cycle
//!   that is left last is met by one of the others' edges while it is on the path, itself included. So on every cycle there
//!   is a state that leaves nothing out, or a leap that is extended; the rest is as in `stubborn` and `leap`, where loops
//!   are closed by steps. Induction along the order in which states leave the path is [Schoot7]'s lemma 7.13.
//!
//! # Invariants
//!   I1 a node is on the path from when it is met until all its edges were followed
//!   I2 a key has one node, and a node's edges are made once
//!   I3 no cycle consists of edges that leave something out
//!
//! # Owed
//!   O1 verdicts = the oracle's                         tests: synthesised protocols, random models
//!   O2 the shapes of [Schoot7]'s example 7.3           tests: `corpus/cfsm/example_7_3.cfsm`
//!
//! # Cost  the whole graph in memory, edges and all: it is for comparison.

use super::leap::number;
use super::reduced::ends_a_run;
use super::{Proviso, Reduced};
use spinor_model::fault::{Fault, FaultKind};
use spinor_model::successors::{Batch, EdgeSet, Step, Successors};
use std::collections::HashMap;

/// What is built.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// Everything.
    Whole,
    /// The steps of one set: POVAS.
    One,
    /// Leaps: LRA.
    Leaps,
}

/// See the module.
pub struct Built<'a, S: Successors> {
    reduced: &'a Reduced<S>,
    names: HashMap<Vec<u8>, usize>,
    nodes: Vec<Node>,
    /// Edges of the system that were taken.
    pub reached: EdgeSet,
    /// Bytes of all keys.
    pub n_bytes: u64,
}

#[derive(Default)]
struct Node {
    key: Vec<u8>,
    steps: Vec<Step>,
    edges: Vec<Edge>,
    met: bool,
    on_path: bool,
}

struct Edge {
    /// Its place among the steps.
    step: u32,
    path: u32,
    atomic_steps: u32,
    /// Of the steps of its state some are neither taken beside it nor part of it.
    leaves_out: bool,
    /// None if a fault ends it.
    to: Option<usize>,
    faults: Vec<Fault>,
}

impl<'a, S: Successors + Send> Built<'a, S> {
    /// The graph of a system that leaps always (`Proviso::Always`); its sets are what is chosen from.
    pub fn new(reduced: &'a Reduced<S>, form: Form) -> Result<Built<'a, S>, Fault> {
        assert!(reduced.reduction.selector().leaps() && reduced.proviso == Proviso::Always, "it knows all leaps");
        let initial = reduced.initial()?;
        let mut batch = reduced.batch();
        let mut built =
            Built { reduced, names: HashMap::new(), nodes: Vec::new(), reached: batch.reached.clone(), n_bytes: 0 };
        let mut key = Vec::new();
        reduced.pack(&initial, &mut key);
        built.name(&key);
        let mut state = initial;
        // A node, and how many of its edges were followed.
        let mut path: Vec<(usize, usize)> = Vec::new();
        let mut next = Some(0);
        loop {
            if let Some(node) = next.take() {
                assert!(!std::mem::replace(&mut built.nodes[node].met, true), "I2");
                built.nodes[node].on_path = true;
                built.meet(&mut state, node, form, &mut batch);
                path.push((node, 0));
            }
            let Some((node, followed)) = path.last_mut() else { break };
            match built.nodes[*node].edges.get(*followed) {
                Some(edge) => {
                    *followed += 1;
                    next = edge.to.filter(|to| !built.nodes[*to].met);
                }
                None => {
                    debug_assert!(built.nodes[*node].on_path, "I1");
                    built.nodes[*node].on_path = false;
                    path.pop();
                }
            }
        }
        debug_assert!(built.nodes.iter().all(|node| node.met && !node.on_path), "I1");
        debug_assert_eq!(built.names.len(), built.nodes.len(), "I2");
        debug_assert!(built.names.iter().all(|(key, name)| built.nodes[*name].key == *key), "I2");
        debug_assert!(built.closes_cycles(), "I3");
        debug_assert_eq!(built.n_bytes, built.keys().map(|key| key.len() as u64).sum::<u64>(), "bytes of all keys");
        built.reached.join(&batch.reached);
        Ok(built)
    }

    /// I3: nodes without a way onwards that leaves something out are taken away, again and again, and none is left.
    fn closes_cycles(&self) -> bool {
        let to = |node: &Node| {
            node.edges.iter().filter(|edge| edge.leaves_out).filter_map(|edge| edge.to).collect::<Vec<_>>()
        };
        let next: Vec<Vec<usize>> = self.nodes.iter().map(to).collect();
        let mut n_left: Vec<usize> = next.iter().map(Vec::len).collect();
        let mut before: Vec<Vec<usize>> = vec![Vec::new(); next.len()];
        next.iter().enumerate().for_each(|(node, to)| to.iter().for_each(|to| before[*to].push(node)));
        let mut todo: Vec<usize> = (0..next.len()).filter(|node| n_left[*node] == 0).collect();
        let mut n_gone = 0;
        while let Some(node) = todo.pop() {
            n_gone += 1;
            for from in &before[node] {
                n_left[*from] -= 1;
                todo.extend((n_left[*from] == 0).then_some(*from));
            }
        }
        n_gone == next.len()
    }

    fn name(&mut self, key: &[u8]) -> usize {
        if let Some(name) = self.names.get(key) {
            return *name;
        }
        let name = self.nodes.len();
        self.names.insert(key.to_vec(), name);
        self.n_bytes += key.len() as u64;
        self.nodes.push(Node { key: key.to_vec(), ..Node::default() });
        name
    }

    fn meet(&mut self, state: &mut super::State<S::State>, node: usize, form: Form, batch: &mut Batch) {
        let reduced = self.reduced;
        reduced.unpack_into(&self.nodes[node].key, state);
        reduced.system.enabled(&mut state.own, &mut state.offered);
        state.leaps.clear();
        if form != Form::Whole {
            state.flight.clear();
            let fits = state.desk.fits(&state.key);
            reduced.reduction.disjoint_sets(&mut state.desk, (&state.key, fits), &state.offered, &mut state.leaps);
            state.ready = true;
        }
        if !state.leaps.is_empty() && reduced.minds_faults() && reduced.is_ended(state) {
            state.leaps.clear();
        }
        match form {
            Form::Leaps if !state.leaps.is_empty() => self.leaps(state, node, batch),
            Form::Whole | Form::One | Form::Leaps => self.one(state, node, batch),
        }
    }

    /// The first set of which no step leads to the path; if there is none, everything.
    fn one(&mut self, state: &mut super::State<S::State>, node: usize, batch: &mut Batch) {
        let mut sets: Vec<Vec<Step>> = state.leaps.sets().map(<[Step]>::to_vec).collect();
        sets.sort_by_key(|set| set[0].pid); // as the paper goes through them
        sets.push(state.offered.clone());
        let n = sets.len();
        for (nth, steps) in sets.into_iter().enumerate() {
            batch.clear();
            self.reduced.system.fire(&mut state.own, &steps, batch);
            let keys = batch.outcomes.iter().filter_map(|o| batch.key(o));
            let closes = keys.clone().any(|key| self.is_on_path(key));
            if nth + 1 == n || !closes && !ends_a_run(&batch.outcomes) {
                let leaves_out = vec![steps.len() < state.offered.len(); steps.len()];
                self.take(node, steps, &leaves_out, batch);
                return;
            }
        }
    }

    fn leaps(&mut self, state: &mut super::State<S::State>, node: usize, batch: &mut Batch) {
        let (mut calls, mut taken, n_rest) = (Vec::new(), Vec::new(), state.leaps.rest().len());
        let mut leaves_out = Vec::new();
        state.leaps.calls(|_| false, &mut calls);
        let n_proper = calls.len();
        batch.clear();
        for (n, call) in calls.iter().enumerate() {
            let from = batch.outcomes.len();
            self.reduced.leap(state, n, taken.len() as u32, batch).expect("no fault ends it");
            taken.push(*call);
            let of = taken.len() - 1;
            let closes = batch.outcomes[from..].iter().filter_map(|o| batch.key(o)).any(|key| self.is_on_path(key));
            for number in (0..n_rest).filter(|_| closes).map(|r| n_proper + n * n_rest + r) {
                self.reduced.leap(state, number, taken.len() as u32, batch).expect("no fault ends it");
                taken.push(Step { edge: index(number), partner: Some((call.pid, index(number))), ..*call });
            }
            leaves_out.resize(taken.len(), false);
            leaves_out[of] = !closes && n_rest > 0;
        }
        self.take(node, taken, &leaves_out, batch);
    }

    fn is_on_path(&self, key: &[u8]) -> bool {
        self.names.get(key).is_some_and(|name| self.nodes[*name].on_path)
    }

    fn take(&mut self, node: usize, steps: Vec<Step>, leaves_out: &[bool], batch: &Batch) {
        let mut edges = Vec::with_capacity(batch.outcomes.len());
        for (n, outcome) in batch.outcomes.iter().enumerate() {
            let to = batch.key(outcome).map(|key| self.name(key));
            let faults = batch.faults_of(n).cloned().collect();
            let (step, path, atomic_steps) = (outcome.step, outcome.path, outcome.atomic_steps);
            edges.push(Edge { step, path, atomic_steps, leaves_out: leaves_out[step as usize], to, faults });
        }
        debug_assert_eq!(leaves_out.len(), steps.len(), "of each step it is said whether it leaves something out");
        let mut leading = edges.iter().map(|edge| edge.step).collect::<Vec<u32>>();
        leading.dedup();
        debug_assert!(leading.iter().copied().eq(0..steps.len() as u32), "every step leads somewhere, in their order");
        debug_assert!(edges.iter().all(|edge| (edge.step as usize) < steps.len()), "an edge is some step's");
        debug_assert!(self.nodes[node].edges.is_empty(), "I2");
        self.nodes[node].steps = steps;
        self.nodes[node].edges = edges;
    }

    pub fn n_states(&self) -> usize {
        self.nodes.len()
    }

    pub fn n_transitions(&self) -> usize {
        self.nodes.iter().flat_map(|n| &n.edges).filter(|e| e.to.is_some()).count()
    }

    /// How many of the steps of its states are leaps.
    pub fn n_leaps(&self) -> usize {
        self.nodes.iter().flat_map(|n| &n.steps).filter(|s| number(**s).is_some()).count()
    }

    /// The keys of all states.
    pub fn keys(&self) -> impl Iterator<Item = &[u8]> {
        self.nodes.iter().map(|n| &n.key[..])
    }
}

fn index(n: usize) -> spinor_model::ir::EdgeId {
    spinor_model::index::Idx::new(n)
}

/// A state of a graph that was built.
#[derive(Clone)]
pub struct At<T> {
    node: usize,
    own: T,
}

/// What was built is a system again, so whatever searches one can search it.
impl<S: Successors + Send> Successors for Built<'_, S> {
    type State = At<S::State>;

    fn initial(&self) -> Result<At<S::State>, Fault> {
        Ok(At { node: 0, own: self.reduced.system.initial()? })
    }

    fn pack(&self, state: &Self::State, key: &mut Vec<u8>) {
        key.extend_from_slice(&self.nodes[state.node].key);
    }

    fn unpack(&self, key: &[u8]) -> Self::State {
        At { node: self.names[key], own: self.reduced.system.unpack(key) }
    }

    fn batch(&self) -> Batch {
        self.reduced.batch()
    }

    fn enabled(&self, state: &mut Self::State, steps: &mut Vec<Step>) {
        steps.clone_from(&self.nodes[state.node].steps);
    }

    fn fire(&self, state: &mut Self::State, steps: &[Step], batch: &mut Batch) {
        let node = &self.nodes[state.node];
        for (n, step) in steps.iter().enumerate() {
            let of = node.steps.iter().position(|s| s == step).expect("a step of the state") as u32;
            for edge in node.edges.iter().filter(|e| e.step == of) {
                let (outcome, from) = (batch.outcomes.len(), batch.keys.len());
                let from = edge.to.map(|to| {
                    batch.keys.extend_from_slice(&self.nodes[to].key);
                    from
                });
                batch.push(n as u32, edge.path, edge.atomic_steps, from);
                batch.faults.extend(edge.faults.iter().map(|fault| (outcome, fault.clone())));
            }
        }
    }

    fn look(&self, state: &mut Self::State, bits: &mut Vec<u64>) -> Result<(), FaultKind> {
        self.reduced.system.look(&mut state.own, bits)
    }

    fn happens(
        &self,
        state: &mut Self::State,
        _: &[u64],
        (steps, batch): (&[Step], &Batch),
        bits: &mut Vec<u64>,
    ) -> Result<(), FaultKind> {
        bits.clear();
        let key = &self.nodes[state.node].key;
        let mut all = batch.outcomes.iter();
        all.try_for_each(|o| self.reduced.happens_last(key, steps[o.step as usize], o.path, bits))
    }

    fn may_end(&self, state: &Self::State) -> bool {
        self.reduced.system.may_end(&state.own)
    }
}
