//! Which slots a statement may write, and which hold one channel for ever.
//!
//! Everything here errs in one direction: a slot may be said to be written that never is, and no other way round. What a
//! slot is given when its frame is made, a value or an argument, is not written by a statement. Of a variable all slots are
//! written if one is: elements of an array can change places (`scalarset`).
//!
//! # Invariants
//!   W1 a slot changes by a statement only if it is said to be written (asked in check/tests/random_models.rs)

use crate::index::{Idx, IndexVec};
use crate::ir::{Expr, Frame, Init, Place, ProctypeId, Scope, System};

/// By slot: a statement may write it.
#[derive(Clone, Debug)]
pub struct Written {
    pub globals: Vec<bool>,
    pub locals: IndexVec<ProctypeId, Vec<bool>>,
}

impl Written {
    pub fn new(system: &System) -> Written {
        let none = |frame: &Frame| vec![false; frame.n_slots as usize];
        let mut written = Written {
            globals: none(&system.globals),
            locals: system.proctypes.iter().map(|t| none(&t.frame)).collect(),
        };
        let inside = system.proctypes.enumerated().map(|(id, t)| (Some(id), t));
        let outside = system.claims.iter().map(|t| (None, t));
        for (id, t) in inside.chain(outside) {
            let mut note = |place: &Place| {
                let (slots, frame) = match (place.scope, id) {
                    (Scope::Global, _) => (&mut written.globals, &system.globals),
                    (Scope::Local, Some(id)) => (&mut written.locals[id], &t.frame),
                    // A claim's own are nobody else's.
                    (Scope::Local, None) => return,
                };
                let var = &frame.vars[place.var];
                let from = var.slot as usize;
                slots[from..from + var.shape.n_slots() as usize].fill(true);
            };
            t.edges.iter().flat_map(|e| &e.effects).for_each(|effect| effect.each_write(&mut note));
        }
        written
    }
}

/// By slot: the channel of its own frame that it always holds, by its place among those of the frame.
#[derive(Clone, Debug)]
pub struct FixedChans {
    pub globals: Vec<Option<u32>>,
    pub locals: IndexVec<ProctypeId, Vec<Option<u32>>>,
}

impl FixedChans {
    pub fn new(system: &System) -> FixedChans {
        let written = Written::new(system);
        let fixed = |frame: &Frame, n_params: u32, written: &[bool]| {
            let mut out = vec![None; frame.n_slots as usize];
            for init in &frame.inits {
                match init {
                    Init::Chan { slot, chan } => out[*slot as usize] = Some(*chan),
                    Init::Value { slot, .. } => out[*slot as usize] = None,
                }
            }
            for (slot, chan) in out.iter_mut().enumerate() {
                *chan = chan.filter(|_| !written[slot] && slot >= n_params as usize);
            }
            debug_assert!(out.iter().flatten().all(|n| (*n as usize) < frame.chans.len()), "a channel of the frame");
            out
        };
        let locals = system.proctypes.enumerated().map(|(id, t)| fixed(&t.frame, t.n_params, &written.locals[id]));
        FixedChans { locals: locals.collect(), globals: fixed(&system.globals, 0, &written.globals) }
    }

    /// The one channel that an expression of this proctype names, with whose frame it is made; nothing if there may be others.
    pub fn named(&self, proctype: ProctypeId, e: &Expr) -> Option<(Scope, u32)> {
        let Expr::Read(place) = e else { return None };
        let slots = match place.scope {
            Scope::Global => &self.globals,
            Scope::Local if proctype.index() < self.locals.len() => &self.locals[proctype],
            Scope::Local => return None,
        };
        let chan = slots.get(place.slot as usize).copied().flatten().filter(|_| place.index.is_empty())?;
        Some((place.scope, chan))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{EdgeId, Effect};
    use crate::read::read;

    const FOUR: &str = "
globals
  var q: chan
  var r: chan
  var a: [3] byte
  chan c0 q: [1] of { byte }
  chan c1 r: [1] of { chan }
  init @q = chan c0
  init @r = chan c1
proctype A (t0) start l0 end l2
  var p: chan
  var own: chan
  chan c0 own: [1] of { byte }
  init %own = chan c0
  l0: e0
  e0: l0 -> l1 when channel do @r ? (%p)
  l1: e1
e1: l1 -> l2 when channel do %p ! (1), @a.1 = 1
  l2:
proctype B (t1) params 1 start l0 end l1
  var p: chan
  var q2: chan
  chan c0 q2: [1] of { byte }
  init %q2 = chan c0
  l0: e0
e0: l0 -> l1 do %q2 = %p
  l1:
";

    #[test]
    fn what_is_received_assigned_or_passed_is_not_fixed() {
        let system = read(FOUR).unwrap_or_else(|e| panic!("{e}"));
        let written = Written::new(&system);
        assert_eq!(written.globals, [false, false, true, true, true], "of an array all");
        let fixed = FixedChans::new(&system);
        assert_eq!(fixed.globals[..2], [Some(0), Some(1)]);
        assert_eq!(fixed.locals[ProctypeId(0)], [None, Some(0)]);
        assert_eq!(fixed.locals[ProctypeId(1)], [None, None]);
        let used = |t: u32, e: u32| match &system.proctypes[ProctypeId(t)].edges[EdgeId(e)].effects[0] {
            Effect::Send { chan, .. } | Effect::Receive { chan, .. } => fixed.named(ProctypeId(t), chan),
            other => panic!("{other:?}"),
        };
        assert_eq!(used(0, 0), Some((Scope::Global, 1)));
        assert_eq!(used(0, 1), None);
    }
}
