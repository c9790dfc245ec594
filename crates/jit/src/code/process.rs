//! Processes come, and are asked about as a whole.

use super::{Blame, Gen, Me};
use crate::ctx::{Ctx, RawChan};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value, types};
use spinor_model::index::Idx;
use spinor_model::ir::{Expr, Init, Location, MAX_LIVE, ProctypeId, Type};
use spinor_model::range::ANY;
use std::mem::offset_of;

impl Gen<'_, '_> {
    /// `(ctx, state, arguments, priority, mark)`: a new process; its number, or -1 if the interpreter must be asked.
    /// `mark` is the byte to set when an argument loses bits.
    pub(super) fn run(&mut self, t: ProctypeId, params: &[Value]) {
        let plan = self.plan();
        let &[_, _, args, priority, mark] = params else { unreachable!("five parameters") };
        assert_eq!(
            plan.layout.procs[t.index()].chans.len(),
            plan.statics.local_chans[t.index()].len(),
            "a row for each"
        );
        let proctype = &plan.system.proctypes[t];
        let layout = &plan.layout.procs[t.index()];
        let ask = self.cold();
        let pid = self.n_procs();
        let crowded = self.compare(IntCC::SignedGreaterThanOrEqual, pid, MAX_LIVE as i64);
        self.leave_if(crowded, ask);
        let n_chans = self.load_ctx(types::I32, offset_of!(Ctx, n_chans));
        let n_new = proctype.frame.chans.len() as i64;
        let many = self.compare(IntCC::SignedGreaterThan, n_chans, MAX_LIVE as i64 - n_new);
        self.leave_if(many, ask);
        let one = self.int(1);
        self.store_ctx(one, offset_of!(Ctx, reshaped));
        // The frame: zeros, then who it is.
        let base = self.load_ctx(types::I32, offset_of!(Ctx, len));
        let wide = self.wide(base);
        let frame = self.b.ins().iadd(self.vec, wide);
        self.zero_bytes(frame, layout.size);
        let which = self.int(t.index() as i32);
        self.store(frame, plan.layout.proctype, which);
        assert!(proctype.start.index() < proctype.locs.len(), "V2: there is a start");
        let start = self.int(proctype.start.index() as i32);
        self.store(frame, plan.layout.loc, start);
        self.store(frame, plan.layout.priority, priority);
        let end = self.b.ins().iadd_imm_s(base, i64::from(layout.size));
        self.store_ctx(end, offset_of!(Ctx, len));
        let n = self.b.ins().iadd_imm_s(pid, 1);
        self.store(self.vec, plan.layout.n_procs, n);
        let at = self.wide(pid);
        let at = self.b.ins().ishl_imm_u(at, 2);
        let at = self.b.ins().iadd(self.ctx, at);
        self.b.ins().store(super::plain(), base, at, offset_of!(Ctx, bases) as i32);
        // Its channels.
        let row = self.wide(n_chans);
        let row = self.b.ins().imul_imm_s(row, size_of::<RawChan>() as i64);
        let row = self.b.ins().iadd(self.ctx, row);
        for (k, (chan, class)) in layout.chans.iter().zip(&plan.statics.local_chans[t.index()]).enumerate() {
            let offset = (offset_of!(Ctx, chans) + (k + 1) * size_of::<RawChan>()) as i32;
            let at = self.b.ins().iadd_imm_s(base, i64::from(chan.len.at));
            self.b.ins().store(super::plain(), at, row, offset + offset_of!(RawChan, at) as i32);
            let class = self.int(*class as i32);
            self.b.ins().store(super::plain(), class, row, offset + offset_of!(RawChan, class) as i32);
        }
        let more = self.b.ins().iadd_imm_s(n_chans, n_new);
        self.store_ctx(more, offset_of!(Ctx, n_chans));
        // Its parameters and initial values.
        self.me = Some(Me { t, pid, frame });
        self.at = Some(Blame::Byte(mark));
        let mut types_of: Vec<Type> = Vec::new();
        for var in proctype.frame.vars.iter() {
            var.shape.leaves(&mut |_, ty| types_of.push(ty));
        }
        assert_eq!(types_of.len(), layout.slots.len(), "layout: a field for each slot");
        for (slot, ty) in types_of.iter().enumerate().take(proctype.n_params as usize) {
            let v = self.load_word(args, slot);
            let kept = self.keep(*ty, v, ANY);
            self.store(frame, layout.slots[slot], kept);
        }
        for init in &proctype.frame.inits {
            let (slot, v) = match init {
                Init::Value { slot, ty, value, .. } => {
                    let v = self.value(value, ask);
                    (*slot, self.fit(*ty, v))
                }
                Init::Chan { slot, chan } => (*slot, self.b.ins().iadd_imm_s(n_chans, i64::from(*chan) + 1)),
            };
            self.store(frame, layout.slots[slot as usize], v);
        }
        self.b.ins().return_(&[pid]);
        self.go(ask);
        let no = self.int(-1);
        self.b.ins().return_(&[no]);
    }

    /// A loop over the live processes, oldest first: `body` gets the number, the frame and where to go on.
    fn each_process(&mut self, body: impl FnOnce(&mut Self, Value, Value, Block)) {
        let n = self.n_procs();
        let (next, pid) = self.join(types::I32);
        let (out, look, go_on) = (self.block(), self.block(), self.block());
        let zero = self.int(0);
        self.jump_with(next, zero);
        self.go(next);
        let more = self.b.ins().icmp(IntCC::SignedLessThan, pid, n);
        self.branch(more, look, out);
        self.go(look);
        let frame = self.frame_of(pid);
        body(self, pid, frame, go_on);
        self.go(go_on);
        let after = self.b.ins().iadd_imm_s(pid, 1);
        self.jump_with(next, after);
        self.go(out);
    }

    /// `(ctx, state, proctype)`: the oldest process of this type, or -1.
    pub(super) fn oldest(&mut self, params: &[Value]) {
        let wanted = params[2];
        self.each_process(|g, pid, frame, go_on| {
            let t = g.proctype_of(frame);
            let same = g.b.ins().icmp(IntCC::Equal, t, wanted);
            let found = g.block();
            g.branch(same, found, go_on);
            g.go(found);
            g.b.ins().return_(&[pid]);
        });
        let none = self.int(-1);
        self.b.ins().return_(&[none]);
    }

    /// `(ctx, state)`: the answer if nobody stands at such a location, and otherwise the other one.
    pub(super) fn nobody_at(&mut self, is: fn(&Location) -> bool, answer: i32) {
        let plan = self.plan();
        let found = self.block();
        self.each_process(|g, _, frame, go_on| {
            let t = g.proctype_of(frame);
            let loc = g.loc_of(frame);
            let blocks = g.switch_all(t, plan.system.proctypes.len());
            for (block, t) in blocks.into_iter().zip(plan.system.proctypes.iter()) {
                g.go(block);
                let marked: Vec<(usize, Block)> =
                    t.locs.enumerated().filter(|(_, l)| is(l)).map(|(l, _)| (l.index(), found)).collect();
                g.switch(loc, &marked, go_on);
            }
        });
        for (block, answer) in [(None, answer), (Some(found), 1 - answer)] {
            if let Some(block) = block {
                self.go(block);
            }
            let v = self.int(answer);
            self.b.ins().return_(&[v]);
        }
    }

    /// `(ctx, state, pid, send, chan)`: did another process promise to be the only one to do this?
    pub(super) fn promised(&mut self, params: &[Value]) {
        let plan = self.plan();
        let &[_, _, pid, send, chan] = params else { unreachable!("five parameters") };
        let broken = self.block();
        self.each_process(|g, owner, frame, go_on| {
            let own = g.b.ins().icmp(IntCC::Equal, owner, pid);
            g.leave_if(own, go_on);
            let t = g.proctype_of(frame);
            let blocks = g.switch_all(t, plan.system.proctypes.len());
            for (block, (t, proctype)) in blocks.into_iter().zip(plan.system.proctypes.enumerated()) {
                g.go(block);
                g.me = Some(Me { t, pid: owner, frame });
                for promise in &proctype.promises {
                    let next = g.block();
                    let other = g.compare(IntCC::NotEqual, send, i64::from(promise.send));
                    g.leave_if(other, next);
                    let id = g.value(&Expr::Read(promise.chan.clone()), next);
                    let same = g.b.ins().icmp(IntCC::Equal, id, chan);
                    g.branch(same, broken, next);
                    g.go(next);
                }
                g.jump(go_on);
            }
            g.me = None;
        });
        for (block, answer) in [(None, 0), (Some(broken), 1)] {
            if let Some(block) = block {
                self.go(block);
            }
            let v = self.int(answer);
            self.b.ins().return_(&[v]);
        }
    }
}
