//! A system beside a claim: the runs of the system that the claim's automaton accepts.
//!
//! # The argument
//!   The automaton moves first: it looks at a state and chooses a transition whose guard holds there, then the system takes
//!   a step. So a run of the product is a run of the system together with a run of the automaton that reads its
//!   states, and a mark of the product is the automaton's. Where the automaton has no transition the run is dropped.
//!   A run of the system that ends is continued by staying where it is for ever, if the claim wants it so: the automaton
//!   moves alone. A step that a fault ends leads nowhere; faults are another property's business.
//!   A transition to a state of the automaton that settles the matter ends it, whatever the system does next.
//!   A claim that sees steps reads a state together with the step by which it is left, so it chooses its transition when the
//!   step is known: for each outcome those are possible whose guards hold in the state and of what that outcome does. The
//!   two are synchronised on operations ([Schoot7], after example 7.2). What stays does nothing. A transition that settles
//!   the matter is taken together with its step, which is part of what is shown.
//!   A cycle of the product is one of the automaton, if only its states are looked at: so it lies in one component of
//!   the automaton, and has no marks but those of the transitions inside it. Components are the parts.
//!
//! # Invariants
//!   I1 a key of the product is the system's key, and behind it the automaton's state in one grain
//!   I2 what is looked up is what the automaton says
//!   I3 a part that is barren has no marks that are all, or no transition inside
//!   I4 the step that a move is leads where the move does
//!
//! # Cost
//!   What the automaton can do is looked up by its state and by what is true, if few things are looked at.

use super::{Fairness, Lasso, Move, Moves, Part, Runs};
use crate::claim::Claim;
use spinor_ltl::{Automaton, Components, StateId, Transition};
use spinor_model::ir::Pid;
use spinor_model::layout::GRAIN;
use spinor_model::successors::{Batch, Outcome, Step, Successors, Wish};
use std::ops::Range;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

/// See the module. The system must have been made to look at the claim's propositions.
pub struct Product<'a, S> {
    system: &'a S,
    claim: &'a Claim,
    /// Fairness matters, so moves have owners.
    owned: bool,
    /// By state of the automaton.
    parts: Vec<Part>,
    /// By state and valuation, if there are few: where the transitions lie that can be taken.
    rows: Vec<(u32, u32)>,
    transitions: Vec<Transition>,
    /// Some run was ended by a fault.
    faulty: AtomicBool,
}

/// I3, by going round: from a transition inside a part there is a way back to where it began, and of a barren part the marks
/// of these are not all.
fn are_closed(automaton: &Automaton, parts: &[Part]) -> bool {
    let reaches = |from: usize, to: usize| {
        let (mut seen, mut todo) = (vec![false; parts.len()], vec![from]);
        while let Some(at) = todo.pop() {
            if !std::mem::replace(&mut seen[at], true) {
                todo.extend(automaton.states[at].iter().map(|t| t.target.idx()));
            }
        }
        seen[to]
    };
    let few = parts.len() < 32;
    (0..parts.len()).filter(|_| few).all(|at| {
        let inside = automaton.states[at].iter().filter(|t| reaches(t.target.idx(), at));
        inside.clone().all(|t| parts[t.target.idx()] == parts[at])
            && !(parts[at].barren && inside.clone().any(|t| t.marks.0 == automaton.all_marks().0))
    })
}

/// There are no more rows than this.
const MOST_ROWS: usize = 1 << 14;

/// One thread's.
pub struct Desk<S: Successors> {
    state: Option<S::State>,
    owners: Vec<Pid>,
    batch: Batch,
    bits: Vec<u64>,
    /// What the automaton can do here, if there are no rows.
    enabled: Vec<Transition>,
    /// For a claim that sees steps: the steps, what is true for each outcome, and of each move the outcome that it is.
    steps: Vec<Step>,
    by_outcome: Vec<u64>,
    taken: Vec<Option<u32>>,
}

impl<'a, S: Successors> Product<'a, S> {
    pub fn new(system: &'a S, claim: &'a Claim, fairness: Fairness) -> Self {
        let automaton = &claim.automaton;
        let target = |at: usize, nth: usize| automaton.states[at].get(nth).map(|t| t.target.idx());
        let components = Components::new(automaton.n_states(), 0..automaton.n_states(), target);
        let mut inside: Vec<Option<u64>> = vec![None; components.n];
        for (at, t) in automaton.states.iter().enumerate().flat_map(|(at, ts)| ts.iter().map(move |t| (at, t))) {
            if components.of[at] == components.of[t.target.idx()] {
                *inside[components.of[at] as usize].get_or_insert(0) |= t.marks.0;
            }
        }
        let part =
            |number: &u32| Part { number: *number, barren: inside[*number as usize] != Some(automaton.all_marks().0) };
        let parts: Vec<Part> = components.of.iter().map(part).collect();
        debug_assert!(are_closed(automaton, &parts), "I3");
        let n_columns = claim.looked.len();
        let few = n_columns < 32 && automaton.n_states() << n_columns <= MOST_ROWS;
        let (mut rows, mut transitions) = (Vec::new(), Vec::new());
        for at in (0..automaton.n_states() as u32).filter(|_| few) {
            for bits in 0..1u64 << n_columns {
                let from = transitions.len() as u32;
                transitions.extend(automaton.enabled(StateId(at), &[bits]));
                rows.push((from, transitions.len() as u32));
            }
        }
        assert!(!few || rows.len() == automaton.n_states() << n_columns, "a row for each state and each valuation");
        Product {
            system,
            claim,
            owned: fairness != Fairness::None,
            parts,
            rows,
            transitions,
            faulty: AtomicBool::new(false),
        }
    }

    pub fn system(&self) -> &'a S {
        self.system
    }

    /// Whether a run was met that a fault ends. What it would have been accepted for nobody knows.
    pub fn is_faulty(&self) -> bool {
        self.faulty.load(Relaxed)
    }

    /// The key of the system's state, and the automaton's state, in a key of the product.
    pub fn split(key: &[u8]) -> (&[u8], StateId) {
        let (own, at) = key.split_at(key.len() - GRAIN);
        debug_assert!(at[4..].iter().all(|byte| *byte == 0), "I1");
        (own, StateId(u32::from_le_bytes(*at.first_chunk().expect("I1"))))
    }

    /// How many moves before the cycle are steps of the system: the one that ends the matter is the automaton's alone, unless
    /// that looks at steps.
    pub fn n_steps(&self, lasso: &Lasso) -> usize {
        let alone = lasso.cycle.is_empty() && !self.claim.sees_steps;
        if alone { lasso.stem.len().saturating_sub(1) } else { lasso.stem.len() }
    }

    /// The steps of the system that a move is, with their outcomes: several if it is a leap, none if the system stays.
    pub fn steps(&self, key: &[u8], nth: u32) -> Vec<(Step, u32)> {
        let shown = |(step, path)| self.system.steps_of(Self::split(key).0, step, path);
        self.step(key, nth).map_or_else(Vec::new, shown)
    }

    fn step(&self, key: &[u8], nth: u32) -> Option<(Step, u32)> {
        let (own, at) = Self::split(key);
        if self.claim.sees_steps {
            let (mut desk, mut moves) = (self.desk(), Moves::default());
            self.moves(&mut desk, key, &mut moves);
            let outcome = desk.batch.outcomes[desk.taken[nth as usize]? as usize];
            return Some((desk.steps[outcome.step as usize], outcome.path));
        }
        let mut state = self.system.unpack(own);
        self.system.minds(&mut state, self.claim.phase(at));
        let (mut steps, mut batch) = (Vec::new(), self.system.batch());
        self.system.enabled(&mut state, &mut steps);
        self.system.fire(&mut state, &steps, &mut batch);
        let there: Vec<_> = batch.outcomes.iter().filter(|o| o.key().is_some()).collect();
        let outcome = there.get((nth as usize).checked_rem(there.len())?)?;
        debug_assert!(self.leads(key, nth, batch.key(outcome)), "I4");
        Some((steps[outcome.step as usize], outcome.path))
    }
}

impl<S: Successors> Product<'_, S> {
    /// I4
    fn leads(&self, key: &[u8], nth: u32, to: Option<&[u8]>) -> bool {
        let mut moves = Moves::default();
        self.moves(&mut self.desk(), key, &mut moves);
        moves.ends != Some(nth) && to == Some(Self::split(moves.key(nth as usize)).0)
    }

    /// What the automaton can do where this is true; `some` is there for the list if there are no rows.
    #[inline]
    fn transitions<'t>(&'t self, at: StateId, bits: &[u64], some: &'t mut Vec<Transition>) -> &'t [Transition] {
        if self.rows.is_empty() {
            some.clear();
            some.extend(self.claim.automaton.enabled(at, bits));
            return some;
        }
        debug_assert!(bits.iter().all(|bits| bits >> self.claim.looked.len() == 0), "a bit for each that is looked at");
        let row = at.idx() << self.claim.looked.len() | bits.first().map_or(0, |bits| *bits as usize);
        let (from, to) = self.rows[row];
        debug_assert!(self.check_row(at, bits, from as usize..to as usize), "I2");
        &self.transitions[from as usize..to as usize]
    }

    /// I2
    fn check_row(&self, at: StateId, bits: &[u64], row: Range<usize>) -> bool {
        let bits = bits.first().copied().unwrap_or(0);
        self.claim.automaton.enabled(at, &[bits]).eq(&self.transitions[row])
    }

    /// The moves where the automaton sees steps. The state is unpacked, and has been looked at.
    fn synchronised(&self, desk: &mut Desk<S>, key: &[u8], wish: Wish, out: &mut Moves) {
        let (own, at) = Self::split(key);
        let Desk { state, owners, batch, bits, enabled, steps, by_outcome, taken } = desk;
        let state = state.as_mut().expect("it is unpacked");
        batch.clear();
        taken.clear();
        self.system.wish(state, wish);
        self.system.enabled(state, steps);
        if self.owned {
            self.system.expand_owned(state, batch, owners);
            owners.iter().for_each(|pid| out.able.put(*pid));
        } else {
            self.system.fire(state, steps, batch);
        }
        out.left_out = self.system.leaves_out(state);
        if self.system.happens(state, bits, (steps, batch), by_outcome).is_err() {
            out.blind = true;
            return;
        }
        debug_assert!(!self.owned || owners.len() >= steps.len(), "each step is somebody's");
        debug_assert_eq!(by_outcome.len(), batch.outcomes.len() * bits.len(), "what is true for each outcome");
        let stays = (steps.is_empty() && self.claim.stutters).then_some(None);
        let outcomes = batch.outcomes.iter().enumerate().map(Some);
        let n_words = bits.len();
        for outcome in outcomes.chain(stays) {
            let (bits, to, pid) = match outcome {
                None => (&bits[..], own, None),
                Some((n, outcome)) => {
                    let Some(to) = batch.key(outcome) else {
                        self.faulty.store(true, Relaxed);
                        continue;
                    };
                    let pid = self.owned.then(|| owners[outcome.step as usize]);
                    (&by_outcome[n * n_words..(n + 1) * n_words], to, pid)
                }
            };
            let n = outcome.map(|(n, _): (usize, &Outcome)| n as u32);
            for t in self.transitions(at, bits, enabled) {
                taken.push(n);
                if self.claim.settles(t.target) {
                    out.ends = Some(out.all.len() as u32);
                    push(to, t.target, out, t.marks.0, pid);
                    return;
                }
                push(to, t.target, out, t.marks.0, pid);
            }
        }
    }
}

#[inline]
fn push(own: &[u8], at: StateId, out: &mut Moves, marks: u64, pid: Option<Pid>) {
    let from = out.keys.len();
    let mut grain = [0; GRAIN];
    grain[..4].copy_from_slice(&at.0.to_le_bytes());
    out.keys.reserve(own.len() + GRAIN);
    out.keys.extend_from_slice(own);
    out.keys.extend_from_slice(&grain); // I1
    out.all.push(Move { to: from..out.keys.len(), marks, pid });
}

impl<S: Successors> Runs for Product<'_, S> {
    type Desk = Desk<S>;

    fn desk(&self) -> Desk<S> {
        let batch = self.system.batch();
        Desk {
            state: None,
            owners: Vec::new(),
            batch,
            bits: Vec::new(),
            enabled: Vec::new(),
            steps: Vec::new(),
            by_outcome: Vec::new(),
            taken: Vec::new(),
        }
    }

    fn n_marks(&self) -> u32 {
        self.claim.automaton.n_marks
    }

    fn initial(&self, _: &mut Desk<S>, out: &mut Moves) {
        let Ok(state) = self.system.initial() else {
            self.faulty.store(true, Relaxed);
            return;
        };
        let mut key = Vec::new();
        self.system.pack(&state, &mut key);
        for at in &self.claim.automaton.initial {
            push(&key, *at, out, 0, None);
        }
    }

    #[inline]
    fn part(&self, key: &[u8]) -> Part {
        self.parts[Self::split(key).1.idx()]
    }

    /// For each transition of the automaton, in order, all outcomes of the system, in order. A transition that ends the
    /// matter is the last one, and one move: the system need not do anything more. If steps are seen, for each
    /// outcome all transitions.
    fn moves(&self, desk: &mut Desk<S>, key: &[u8], out: &mut Moves) {
        self.moves_as(desk, key, Wish::default(), out);
    }

    fn moves_as(&self, desk: &mut Desk<S>, key: &[u8], wish: Wish, out: &mut Moves) {
        let (own, at) = Self::split(key);
        let Desk { state, owners, batch, bits, enabled, .. } = desk;
        let state = match state {
            Some(state) => {
                self.system.unpack_into(own, state);
                state
            }
            none => {
                let state = none.insert(self.system.unpack(own));
                self.system.heed(state, false, false);
                state
            }
        };
        self.system.minds(state, self.claim.phase(at));
        if self.system.look(state, bits).is_err() {
            out.blind = true;
            return;
        }
        if self.claim.sees_steps {
            return self.synchronised(desk, key, wish, out);
        }
        let enabled = self.transitions(at, bits, enabled);
        // One that blocks the automaton needs no steps.
        if enabled.is_empty() {
            return;
        }
        batch.clear();
        self.system.wish(state, wish);
        let n_steps = if self.owned {
            let n_steps = self.system.expand_owned(state, batch, owners);
            owners.iter().for_each(|pid| out.able.put(*pid));
            n_steps
        } else {
            self.system.expand(state, batch)
        };
        debug_assert!(!self.owned || owners.len() >= n_steps, "each step is somebody's");
        debug_assert!(n_steps > 0 || batch.outcomes.is_empty(), "what has no steps has no outcomes");
        out.left_out = self.system.leaves_out(state);
        for t in enabled {
            if self.claim.settles(t.target) {
                out.ends = Some(out.all.len() as u32);
                push(own, t.target, out, t.marks.0, None);
                return;
            }
            if n_steps == 0 && self.claim.stutters {
                push(own, t.target, out, t.marks.0, None);
            }
            for outcome in &batch.outcomes {
                if let Some(to) = batch.key(outcome) {
                    let pid = self.owned.then(|| owners[outcome.step as usize]);
                    push(to, t.target, out, t.marks.0, pid);
                } else {
                    self.faulty.store(true, Relaxed);
                }
            }
        }
    }
}
