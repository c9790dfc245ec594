//! What the tables of a cast were made from, kept in debug builds, so that every state and every step is held against it.
//!
//! The tables may have too much and never too little; what they are made from is what would be too little first. What they
//! say of two steps is tried out with the steps that are there, one after the other.
//!
//! # Invariants
//!   I1 a process stands where it comes to by what it knows, and its slots have the values that it knows there (`known`)
//!   I2 whatever differs after a step is among what the step may change (`touch`); who moved stands where its chain may end
//!   I3 what is fixed is the same in all states of a cast, and so is where each channel's length lies (`statics`)
//!   I4 who takes a step may take it by what it knows (`known`, K2), and the halves of a handshake meet where one is offered
//!   I5 a step after which something looks different from outside is shut, or writes the part that sees it
//!   I6 of steps that do not disturb each other each can be taken after the other, and both orders lead to the same
//!   I7 what can be taken after a step, and could not before, is enabled by that step, or meets it
//!   I8 a step that leads somebody to a label is marked (`still`)

use super::{Cast, Told, has, signature};
use crate::reduce::known::Known;
use crate::reduce::statics::{MOST_SLOTS, Statics};
use crate::reduce::uses::{Atom, Touch};
use spinor_model::happening::is_about_steps;
use spinor_model::index::Idx;
use spinor_model::interp::Interp;
use spinor_model::ir::{EdgeId, Expr, Frame, Pid};
use spinor_model::state::State;
use spinor_model::successors::{Step, Successors};
use std::collections::BTreeSet;

#[derive(Debug)]
pub(super) struct Witness {
    /// By actor.
    pub known: Vec<Known>,
    /// By transition.
    pub touches: Vec<Touch>,
    /// By channel.
    pub lengths: Vec<Told>,
    /// Of the state that the cast was made from.
    pub signature: Vec<i32>,
    pub fixed: Vec<i32>,
}

/// The values of what is fixed: of the globals, and of each process.
pub(super) fn fixed(interp: &Interp, statics: &Statics, state: &State) -> Vec<i32> {
    let of = |values: &[i32], fixed: &[bool]| {
        debug_assert_eq!(values.len(), fixed.len(), "it is known of each slot whether it is fixed");
        values.iter().zip(fixed).filter(|(_, fixed)| **fixed).map(|(value, _)| *value).collect::<Vec<i32>>()
    };
    let mut out = of(state.globals(), &statics.fixed_globals);
    for pid in 0..state.n_procs() as Pid {
        out.extend(of(state.locals(interp.system(), pid), &statics.fixed_locals[state.proctype(pid).index()]));
    }
    out
}

/// The transitions of a step are two if it is a handshake.
fn halves(step: &Step) -> impl Iterator<Item = (Pid, EdgeId)> + Clone {
    [Some((step.pid, step.edge)), step.partner].into_iter().flatten()
}

/// What a step leads to, in some state, and whether a fault ends a path of it.
fn after(interp: &Interp, key: &[u8], step: &Step) -> (BTreeSet<Vec<u8>>, bool) {
    let mut batch = interp.batch();
    interp.fire(&mut interp.unpack(key), &[*step], &mut batch);
    let keys = batch.outcomes.iter().filter_map(|outcome| batch.key(outcome)).map(<[u8]>::to_vec).collect();
    (keys, batch.outcomes.iter().any(|outcome| outcome.key().is_none()))
}

/// What can be taken, without waiting for `timeout`.
fn offered(interp: &Interp, key: &[u8]) -> Vec<Step> {
    let mut steps = Vec::new();
    interp.enabled(&mut interp.unpack(key), &mut steps);
    steps.retain(|step| !step.timeout);
    steps
}

impl Cast {
    /// I3, of a state that fits.
    pub fn check_fixed(&self, interp: &Interp, statics: &Statics, key: &[u8]) -> bool {
        let Some(witness) = &self.witness else { return true };
        let state = interp.unpack(key);
        let told = |(chan, told): (u8, &Told)| {
            let chan = interp.chan(&state, chan).expect("as many channels as lengths");
            told.capacity == chan.decl.capacity as i32
                && (told.len.bytes == 0 || told.len.read(key) as usize == chan.messages.len())
        };
        signature(interp.layout(), statics, key) == witness.signature
            && fixed(interp, statics, &state) == witness.fixed
            && state.n_chans() == witness.lengths.len()
            && (1..).zip(&witness.lengths).all(told)
    }

    /// I4, of the steps of a state of this cast.
    pub fn check_offered(&self, key: &[u8], steps: &[Step]) -> bool {
        let Some(witness) = self.witness.as_ref().filter(|_| self.without.is_nothing()) else { return true };
        let mut filled = Vec::new();
        self.fill(key, &mut filled);
        let may = |(pid, edge): (Pid, EdgeId)| {
            let touch = &witness.touches[self.transition(pid, edge) as usize];
            touch.writes.contains(&Atom::Location(usize::from(pid)))
        };
        let meets = |step: &Step, (pid, edge): (Pid, EdgeId)| {
            let (t, u) = (self.transition(step.pid, step.edge), self.transition(pid, edge));
            let halves = witness.touches[t as usize].sends.as_ref().zip(witness.touches[u as usize].takes.as_ref());
            halves.is_some_and(|(sends, takes)| sends.meets(takes))
                && self.flags[t as usize].half
                && self.flags[u as usize].half
                && has(self.enables(t, &filled), u)
                && has(self.enables(u, &filled), t)
        };
        let offers = |step: &Step| {
            let offers = &self.offers[usize::from(step.pid)];
            step.partner.is_none() || offers.is_empty() || self.offers(step.pid, key)
        };
        steps.iter().all(|step| halves(step).all(may) && step.partner.is_none_or(|partner| meets(step, partner)))
            && steps.iter().all(offers)
    }

    /// I6 and I7, of the steps of a state of this cast: every pair of them is tried out, so only some states are asked.
    pub fn check_pairs(&self, interp: &Interp, key: &[u8], steps: &[Step]) -> bool {
        let mut filled = Vec::new();
        self.fill(key, &mut filled);
        let before = interp.unpack(key);
        let transitions =
            |step: &Step| halves(step).map(|(pid, edge)| self.transition(pid, edge)).collect::<Vec<u32>>();
        let moves = |step: &Step, pid: Pid| halves(step).any(|(other, _)| other == pid);
        let disturb = |t: &Step, u: &Step| {
            let disturbs = |t: u32, u: u32| self.disturbs(t)[u as usize / 64] >> (u % 64) & 1 == 1;
            transitions(t).into_iter().any(|t| transitions(u).into_iter().any(|u| disturbs(t, u) || disturbs(u, t)))
        };
        let all: Vec<(BTreeSet<Vec<u8>>, bool)> = steps.iter().map(|step| after(interp, key, step)).collect();
        // What a step leads to behind another one; nothing if it cannot be taken there.
        let behind = |first: &BTreeSet<Vec<u8>>, step: &Step| {
            let mut keys = BTreeSet::new();
            for key in first {
                if !offered(interp, key).contains(step) {
                    return None;
                }
                keys.extend(after(interp, key, step).0);
            }
            Some(keys)
        };
        for (n, t) in steps.iter().enumerate() {
            for (m, u) in steps.iter().enumerate().skip(n + 1) {
                if halves(u).any(|(pid, _)| moves(t, pid)) || disturb(t, u) {
                    continue;
                }
                let (then_u, then_t) = (behind(&all[n].0, u), behind(&all[m].0, t));
                if then_u.is_none() || then_u != then_t {
                    return false; // I6
                }
            }
            let by = transitions(t);
            for key in &all[n].0 {
                let there = interp.unpack(key);
                let lives = |pid: Pid| {
                    usize::from(pid) < before.n_procs() && before.proctype(pid) == there.proctype(pid) && !moves(t, pid)
                };
                let enabled = |(pid, edge): (Pid, EdgeId)| {
                    let row = self.enables(self.transition(pid, edge), &filled);
                    by.iter().any(|t| has(row, *t))
                };
                let new = offered(interp, key).into_iter().filter(|u| !steps.contains(u));
                for u in new {
                    let mut stay = halves(&u).filter(|(pid, _)| lives(*pid)).peekable();
                    if stay.peek().is_some() && !stay.any(enabled) {
                        return false; // I7
                    }
                }
            }
        }
        true
    }

    /// I5, of a step in a state of this cast. What is said of steps is no matter of states, and that nothing can happen is
    /// told by everything that happens.
    pub fn check_seen(
        &self,
        interp: &Interp,
        looked: &[Vec<Expr>],
        parts: &[Vec<u32>],
        key: &[u8],
        step: &Step,
        after: &[u8],
    ) -> bool {
        let Some(witness) = self.witness.as_ref().filter(|_| self.without.is_nothing()) else { return true };
        let (before, after) = (interp.unpack(key), interp.unpack(after));
        let ts: Vec<u32> = halves(step).map(|(pid, edge)| self.transition(pid, edge)).collect();
        let differs = |e: &Expr| !is_about_steps(e) && interp.value(&before, None, e) != interp.value(&after, None, e);
        let is_shut = |phase: usize| ts.iter().any(|t| has(self.shut(phase as u32, false), *t));
        let writes = |n: usize| ts.iter().any(|t| witness.touches[*t as usize].writes.contains(&Atom::Part(n)));
        if parts.is_empty() {
            looked.iter().enumerate().all(|(phase, looked)| is_shut(phase) || !looked.iter().any(differs))
        } else {
            let sees = |part: &Vec<u32>| part.iter().any(|c| differs(&looked[0][*c as usize]));
            let wild = ts.iter().any(|t| witness.touches[*t as usize].wild);
            parts.iter().enumerate().all(|(n, part)| wild || writes(n) || !sees(part))
        }
    }

    /// I1, of a state of this cast.
    pub fn check_known(&self, interp: &Interp, key: &[u8]) -> bool {
        let Some(witness) = self.witness.as_ref().filter(|_| self.without.is_nothing()) else { return true };
        let (layout, state) = (interp.layout(), interp.unpack(key));
        layout.frames(key).zip(&witness.known).enumerate().all(|(pid, ((_, t), known))| {
            let Some(known) = known else { return true };
            let Some(values) = &known[state.loc(pid as Pid).index()] else { return false };
            let slots = layout.procs[t.index()].slots.iter().zip(state.locals(interp.system(), pid as Pid));
            slots.zip(values).all(|((field, is), knows)| field.bytes == 0 || knows.is_none_or(|knows| knows == *is))
        })
    }

    /// I2, of a step in a state of this cast.
    pub fn check_step(&self, interp: &Interp, statics: &Statics, key: &[u8], step: &Step, after: &[u8]) -> bool {
        let Some(witness) = self.witness.as_ref().filter(|_| self.without.is_nothing()) else { return true };
        let touch = |(pid, edge): (Pid, EdgeId)| &witness.touches[self.transition(pid, edge) as usize];
        let touches: Vec<&Touch> = halves(step).map(touch).collect();
        if touches.iter().any(|touch| touch.wild) {
            return true;
        }
        let writes = |atom: Atom| touches.iter().any(|touch| touch.writes.contains(&atom));
        let (system, layout) = (interp.system(), interp.layout());
        let (before, after) = (interp.unpack(key), interp.unpack(after));
        let globals = changed(&system.globals, before.globals(), after.globals());
        if !globals.into_iter().all(|slot| writes(Atom::Global(slot))) {
            return false;
        }
        let n_chans = before.n_chans().min(after.n_chans()) as u8;
        let messages = |state: &State, c: u8| -> Vec<Vec<i32>> {
            interp.chan(state, c).map_or_else(Vec::new, |chan| chan.messages.iter().map(|m| m.to_vec()).collect())
        };
        let uses = |c: u8| touches.iter().any(|touch| touch.chans.iter().any(|(chan, how)| *chan == c && how.writes()));
        if !(1..=n_chans).all(|c| messages(&before, c) == messages(&after, c) || uses(c)) {
            return false;
        }
        if before.monitor() != after.monitor() && !writes(Atom::Monitor) {
            return false;
        }
        // Who dies is nowhere. The sender of a handshake goes no further.
        let came = |(pid, edge): (Pid, EdgeId)| {
            let t = before.proctype(pid);
            let chain = &statics.chains[t.index()][edge.index()];
            let hands_over = step.partner.is_some() && pid == step.pid;
            let only = || after.loc(pid) == system.proctypes[t].edges[edge].to;
            let lives = usize::from(pid) < after.n_procs() && after.proctype(pid) == t;
            !lives || if hands_over { only() } else { chain.ends.contains(&after.loc(pid)) }
        };
        if !halves(step).all(came) {
            return false;
        }
        let marked = || halves(step).any(|(pid, edge)| self.flags[self.transition(pid, edge) as usize].marked);
        let at_label = |(pid, _): (Pid, EdgeId)| {
            let lives = usize::from(pid) < after.n_procs() && after.proctype(pid) == before.proctype(pid);
            lives && self.labels.get(usize::from(pid)).is_some_and(|labels| labels[after.loc(pid).index()])
        };
        assert!(!halves(step).any(at_label) || marked(), "I8");
        if before.n_procs() != after.n_procs() {
            return writes(Atom::Population);
        }
        (0..before.n_procs() as Pid).all(|pid| {
            let t = before.proctype(pid);
            if t != after.proctype(pid) {
                return writes(Atom::Population); // one has died, and one was made
            }
            let of = |state: &State| state.locals(system, pid).to_vec();
            let differ = changed(&system.proctypes[t].frame, &of(&before), &of(&after));
            let in_key = |slot: &u32| layout.procs[t.index()].slots[*slot as usize].bytes > 0;
            let me = usize::from(pid);
            let (from, to) = (before.loc(pid), after.loc(pid));
            let locs = &system.proctypes[t].locs;
            let asked = |loc| from == to || !statics.asked.contains(&(t, loc)) || writes(Atom::At(me, loc));
            differ.into_iter().filter(in_key).all(|slot| writes(Atom::Local(me, slot)))
                && (from == to || writes(Atom::Location(me)))
                && asked(from)
                && asked(to)
                && (locs[from].progress == locs[to].progress || writes(Atom::Progress(me)))
                && (locs[from].accept == locs[to].accept || writes(Atom::Accept(me)))
        })
    }
}

/// The slots that differ, by the names that `touch` gives them: a long array is one thing.
fn changed(frame: &Frame, before: &[i32], after: &[i32]) -> Vec<u32> {
    let mut out = Vec::new();
    for var in frame.vars.iter().filter(|var| !var.hidden) {
        let slots = var.slot..var.slot + var.shape.n_slots() as u32;
        let differ = slots.filter(|slot| before[*slot as usize] != after[*slot as usize]);
        match var.shape.n_slots() > MOST_SLOTS {
            true => out.extend(differ.map(|_| var.slot).next()),
            false => out.extend(differ),
        }
    }
    out
}
