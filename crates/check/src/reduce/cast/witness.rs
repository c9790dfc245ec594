//! What the tables of a cast were made from, kept in debug builds, so that every state and every step is held against it.
//!
//! The tables may have too much and never too little; what they are made from is what would be too little first.
//!
//! # Invariants
//!   I1 a process stands where it comes to by what it knows, and its slots have the values that it knows there (`known`)
//!   I2 whatever differs after a step is among what the step may change (`touch`)

use super::Cast;
use crate::reduce::known::Known;
use crate::reduce::statics::{MOST_SLOTS, Statics};
use crate::reduce::uses::{Atom, Touch};
use spinor_model::index::Idx;
use spinor_model::interp::Interp;
use spinor_model::ir::{Frame, Pid};
use spinor_model::state::State;
use spinor_model::successors::{Step, Successors};

#[derive(Debug)]
pub(super) struct Witness {
    /// By actor.
    pub known: Vec<Known>,
    /// By transition.
    pub touches: Vec<Touch>,
}

impl Cast {
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
        let halves = [Some((step.pid, step.edge)), step.partner];
        let touches: Vec<&Touch> = halves
            .iter()
            .flatten()
            .map(|(pid, edge)| &witness.touches[self.transition(*pid, *edge) as usize])
            .collect();
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
