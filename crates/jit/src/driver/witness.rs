//! What the driver says of a state held against the interpreter, and the context against the layout: for debug builds.
//!
//! The context is looked at whenever it has to fit. To ask the interpreter is slow, so that is done for some states.

use super::{Jit, JitState};
use crate::ctx::{Ctx, RawChan};
use spinor_model::fault::FaultKind;
use spinor_model::index::Idx;
use spinor_model::ir::{EdgeId, Pid, ProctypeId};
use spinor_model::layout::ChanLayout;
use spinor_model::optimise::unkept;
use spinor_model::state::State;
use spinor_model::successors::{Batch, Outcome, Step, Successors};

impl Jit {
    /// J1, by the layout.
    pub(super) fn check_fits(&self, ctx: &Ctx, types: &[u32], state: &[u8]) -> bool {
        let layout = self.interp.layout();
        let (mut n_chans, mut n_procs, mut end) = (0, 0, layout.globals.size);
        let mut are_there = |at: u32, chans: &[ChanLayout], classes: &[usize]| {
            let rows = &ctx.chans[n_chans + 1..n_chans + 1 + chans.len()];
            n_chans += chans.len();
            let is_there = |((row, chan), class): ((&RawChan, &ChanLayout), &usize)| {
                (row.at, row.class as usize) == (at + chan.len.at, *class)
            };
            chans.len() == classes.len() && rows.iter().zip(chans).zip(classes).all(is_there)
        };
        let globals = are_there(0, &layout.globals.chans, &self.statics.global_chans);
        let frames = layout.frames(state).all(|(at, t)| {
            let own = &layout.procs[t.index()];
            let fits = ctx.bases[n_procs] == at as u32 && types[n_procs] == t.index() as u32;
            (n_procs, end) = (n_procs + 1, at as u32 + own.size);
            fits && are_there(at as u32, &own.chans, &self.statics.local_chans[t.index()])
        });
        let counts = n_procs == types.len() && n_chans == ctx.n_chans as usize;
        globals && frames && counts && end == ctx.len && ctx.reshaped == 0
    }

    /// What the interpreter says is said of some states.
    pub(super) fn is_sample(state: &JitState) -> bool {
        state.bytes.iter().fold(0, |sum: u8, byte| sum.wrapping_mul(31).wrapping_add(*byte)).is_multiple_of(32)
    }

    /// The steps are the interpreter's.
    pub(super) fn check_steps(&self, state: &JitState, steps: &[Step]) -> bool {
        let mut own = Vec::new();
        self.interp.enabled(&mut self.interp.unpack(&state.bytes), &mut own);
        own == steps
    }

    /// The outcomes from one on are the interpreter's, which does the same as `fire` says; so are the faults, if they are
    /// heeded, and no edge that was taken is forgotten, nor one at which bits were lost.
    pub(super) fn check_outcomes(
        &self,
        state: &JitState,
        batch: &Batch,
        from: usize,
        fire: impl FnOnce(&mut State, &mut Batch),
    ) -> bool {
        let mut own = self.interp.batch();
        fire(&mut self.interp.unpack(&state.bytes), &mut own);
        let said = |o: &Outcome| (o.step, o.path, o.atomic_steps);
        let same = |(a, b): (&Outcome, &Outcome)| said(a) == said(b) && batch.key(a) == own.key(b);
        let heeds = state.ctx.heed_assertions != 0 && state.ctx.heed_promises != 0;
        let faults = batch.faults.iter().filter(|(n, _)| *n >= from).map(|(n, fault)| (n - from, fault));
        let system = self.interp.system();
        let means = |edge: &(ProctypeId, EdgeId)| !unkept(system, edge.0, edge.1);
        batch.outcomes.len() - from == own.outcomes.len()
            && batch.outcomes[from..].iter().zip(&own.outcomes).all(same)
            && (!heeds || faults.eq(own.faults.iter().map(|(n, fault)| (*n, fault))))
            && own.reached.iter().all(|(t, e)| batch.reached.has(t, e))
            && own.truncated.iter().filter(means).all(|(t, e)| batch.truncated.has(t, e))
    }

    /// The steps of one process are the interpreter's.
    pub(super) fn check_steps_of(&self, state: &JitState, pid: Pid, steps: &[Step]) -> bool {
        let mut own = Vec::new();
        self.interp.enabled_of(&mut self.interp.unpack(&state.bytes), pid, &mut own);
        own == steps
    }

    /// What is seen from outside is what the interpreter sees, or the fault is.
    pub(super) fn check_look(&self, state: &JitState, seen: Result<(), &FaultKind>, bits: &[u64]) -> bool {
        let mut own = Vec::new();
        let said = self.interp.look(&mut self.interp.unpack(&state.bytes), &mut own);
        said.as_ref().map(|()| &own[..]) == seen.map(|()| bits)
    }

    /// J1, of the state that is asked about, whatever was done in between.
    pub(super) fn fits(&self, state: &JitState) -> bool {
        self.check_fits(&state.ctx, &state.types, &state.bytes)
    }
}
