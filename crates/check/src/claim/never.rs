//! A `never` claim, read as an automaton.
//!
//! # The argument
//!   A claim changes nothing, so from a location where it waits for the system's next step only the state decides where
//!   it can go: the statements up to the next such location are one transition, and its guard is the condition of
//!   all of them together. The states of the automaton are the locations where the claim waits; those inside an `atomic` or a
//!   `d_step` are none. A claim that is stuck inside an `atomic` has no transition, like one that is stuck elsewhere: the
//!   run is dropped.
//!   What can be reached inside an `atomic` is a least fixed point over conditions, not a list of paths, so a
//!   loop in it does no harm.
//!
//!   A claim that comes to its closing brace, to an `end` label, or to an assertion that fails has found a violation at
//!   once. One state, which all such transitions lead to, stands for that.
//!
//!   A run is also a violation if it passes accept labels for ever: those of the claim, and those of processes. Where the
//!   system has such labels, a transition that leaves a state without one is taken twice, with the mark
//!   where some process stands at a label, and without it elsewhere.
//!
//! # Invariants
//!   I1 state 0 is the one where the matter is settled
//!
//! # Cost  two binary decision diagrams for each edge that can be reached from a waiting location, once for each such location.

use super::Claim;
use spinor_ltl::{Automaton, Guard as Condition, Guards, Marks, PropId, StateId, Transition};
use spinor_model::ir::{EdgeId, Effect, Expr, Guard, Loc, Proctype, System, Then, UnOp};
use spinor_model::source::Span;
use std::collections::HashMap;
use std::fmt;

/// Why a graph is no claim that can be checked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refused {
    pub span: Span,
    pub why: &'static str,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.why)
    }
}

/// The state of I1.
const SETTLED: StateId = StateId(0);

pub(super) fn read(claim: &Proctype, system: &System) -> Result<Claim, Refused> {
    let labelled = system.proctypes.iter().any(|t| t.locs.iter().any(|l| l.accept));
    let mut reader = Reader {
        claim,
        guards: Guards::new(),
        looked: Vec::new(),
        can_run: HashMap::new(),
        states: vec![vec![Transition { target: SETTLED, marks: Marks::all(1), guard: Condition::TRUE }]],
        numbers: HashMap::new(),
        waiting: Vec::new(),
    };
    let at_label = if labelled { Some(reader.holds(&Expr::Accepting)) } else { None };
    let initial = reader.arrive(claim.start);
    while let Some(loc) = reader.waiting.pop() {
        let onward = reader.onward(loc)?;
        let state = reader.numbers[&loc].idx();
        reader.states[state] = reader.marked(onward, claim.locs[loc].accept, at_label);
    }
    let Reader { guards, looked, states, numbers, .. } = reader;
    debug_assert!(matches!(&states[SETTLED.idx()][..], [only] if only.target == SETTLED), "I1");
    assert_eq!(states.len(), numbers.len() + 1, "I1: a state for each location where the claim waits, and one more");
    let there = |t: &Transition| t.target.idx() < states.len() && t.guard != Condition::FALSE;
    assert!(states.iter().flatten().all(there), "a transition can be taken, and leads to a state");
    let props = (0..looked.len() as u32).map(PropId).collect();
    let automaton = Automaton { props, guards, initial: vec![initial], states, n_marks: 1 };
    Ok(Claim::new(automaton, looked, true, false).found_invariant())
}

struct Reader<'a> {
    claim: &'a Proctype,
    guards: Guards,
    looked: Vec<Expr>,
    can_run: HashMap<EdgeId, Condition>,
    states: Vec<Vec<Transition>>,
    numbers: HashMap<Loc, StateId>,
    /// States whose transitions are still to be made.
    waiting: Vec<Loc>,
}

/// Where the claim goes on before the system moves, and how.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Inside {
    loc: Loc,
    /// The first edge that can run is the one.
    d_step: bool,
}

impl Reader<'_> {
    /// The state for a location where the claim waits.
    fn arrive(&mut self, loc: Loc) -> StateId {
        if self.settles(loc) {
            return SETTLED;
        }
        *self.numbers.entry(loc).or_insert_with(|| {
            self.waiting.push(loc);
            self.states.push(Vec::new());
            StateId(self.states.len() as u32 - 1)
        })
    }

    fn settles(&self, loc: Loc) -> bool {
        loc == self.claim.end || self.claim.locs[loc].end
    }

    /// Where the claim can be when the system moves next, in the order in which that is found, and when.
    fn onward(&mut self, from: Loc) -> Result<Vec<(StateId, Condition)>, Refused> {
        let claim = self.claim;
        let mut onward: Vec<(StateId, Condition)> = Vec::new();
        let first = Inside { loc: from, d_step: false };
        let mut reached = HashMap::from([(first, Condition::TRUE)]);
        let mut todo = vec![(first, Condition::TRUE)];
        while let Some((inside, when)) = todo.pop() {
            let mut left = when;
            for id in &claim.locs[inside.loc].edges {
                let edge = &claim.edges[*id];
                let can_run = self.can_run(*id)?;
                let mut taken = self.guards.and(if inside.d_step { left } else { when }, can_run);
                left = self.guards.minus(left, can_run);
                for effect in &edge.effects {
                    match effect {
                        Effect::Assert(e) => {
                            let passed = self.holds(e);
                            let failed = self.guards.minus(taken, passed);
                            self.add(&mut onward, SETTLED, failed);
                            taken = self.guards.and(taken, passed);
                        }
                        Effect::Print { .. } | Effect::PrintName(..) => {}
                        _ => return Err(Refused { span: edge.span, why: "a never claim changes nothing" }),
                    }
                }
                // Labels inside a d_step mark nothing: nobody sees the claim there.
                if edge.then == Then::Yield || edge.then == Then::Atomic && self.settles(edge.to) {
                    if taken != Condition::FALSE {
                        let state = self.arrive(edge.to);
                        self.add(&mut onward, state, taken);
                    }
                    continue;
                }
                let next = Inside { loc: edge.to, d_step: edge.then == Then::DStep };
                let known = reached.entry(next).or_insert(Condition::FALSE);
                let new = self.guards.minus(taken, *known);
                if new != Condition::FALSE {
                    *known = self.guards.or(*known, new);
                    todo.push((next, new));
                }
            }
            if inside.d_step && left != Condition::FALSE {
                let span = claim.locs[inside.loc].span;
                return Err(Refused { span, why: "a d_step in a never claim must not block" });
            }
        }
        Ok(onward)
    }

    fn add(&mut self, onward: &mut Vec<(StateId, Condition)>, to: StateId, when: Condition) {
        if when == Condition::FALSE {
            return;
        }
        match onward.iter_mut().find(|(state, _)| *state == to) {
            Some((_, other)) => *other = self.guards.or(*other, when),
            None => onward.push((to, when)),
        }
    }

    /// The transitions of a state. Those of an accepting one have the mark; others have it where `at_label` holds.
    fn marked(
        &mut self,
        onward: Vec<(StateId, Condition)>,
        accepting: bool,
        at_label: Option<Condition>,
    ) -> Vec<Transition> {
        let mut out = Vec::new();
        for (target, guard) in onward {
            let at = at_label.unwrap_or(Condition::FALSE);
            let with = if accepting { guard } else { self.guards.and(guard, at) };
            let without = self.guards.minus(guard, with);
            debug_assert_eq!(self.guards.or(with, without), guard, "with the mark or without it, nothing is lost");
            for (marks, guard) in [(Marks::all(1), with), (Marks::NONE, without)] {
                if guard != Condition::FALSE {
                    out.push(Transition { target, marks, guard });
                }
            }
        }
        out
    }

    fn can_run(&mut self, id: EdgeId) -> Result<Condition, Refused> {
        if let Some(known) = self.can_run.get(&id) {
            return Ok(*known);
        }
        let edge = &self.claim.edges[id];
        let mut all = Condition::TRUE;
        for guard in &edge.guards {
            match guard {
                Guard::Holds(e) => {
                    let holds = self.holds(e);
                    all = self.guards.and(all, holds);
                }
                Guard::NoneOf(others) => {
                    for other in others {
                        let can_run = self.can_run(*other)?;
                        all = self.guards.minus(all, can_run);
                    }
                }
                Guard::Channel | Guard::Youngest => {
                    return Err(Refused { span: edge.span, why: "a never claim only looks" });
                }
            }
        }
        self.can_run.insert(id, all);
        Ok(all)
    }

    /// A negation needs no column of its own; anything else is looked at as a whole, because a part of it may not have a value where the
    /// whole has.
    fn holds(&mut self, e: &Expr) -> Condition {
        match e {
            Expr::Const(0) => Condition::FALSE,
            Expr::Const(_) => Condition::TRUE,
            Expr::Unary(UnOp::Not, e) => {
                let holds = self.holds(e);
                self.guards.not(holds)
            }
            e => {
                let known = self.looked.iter().position(|other| other == e);
                let column = known.unwrap_or_else(|| {
                    self.looked.push(e.clone());
                    self.looked.len() - 1
                });
                self.guards.column(column as u32)
            }
        }
    }
}
