//! Expressions: the model's `eval.rs`, instruction by instruction.

use super::{Blame, Gen, plain};
use crate::ctx::Ctx;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value, types};
use spinor_model::index::Idx;
use spinor_model::ir::{BinOp, Expr, IndexStep, Place, ProctypeId, Scope, Type, UnOp};
use spinor_model::layout::{Field, FrameLayout};
use spinor_model::range::{ANY, Range, index_faults, values};
use std::mem::offset_of;

/// As in the model: a circle of `enabled()` has no meaning.
const MAX_ENABLED_DEPTH: i64 = 8;

/// Where a value is.
pub(super) struct At {
    pub base: Value,
    pub field: Field,
}

impl Gen<'_, '_> {
    /// The value, 32 bits.
    pub(super) fn value(&mut self, e: &Expr, fault: Block) -> Value {
        match e {
            Expr::Const(n) => self.int(*n),
            Expr::Read(place) => {
                let at = self.place(place, None, fault);
                self.load(at.base, at.field)
            }
            Expr::Unary(UnOp::Neg, a) => {
                let a = self.value(a, fault);
                self.b.ins().ineg(a)
            }
            Expr::Unary(UnOp::BitNot, a) => {
                let a = self.value(a, fault);
                self.b.ins().bnot(a)
            }
            Expr::Binary(op, a, b) if !is_truth(*op) => {
                let a = self.value(a, fault);
                let b = self.value(b, fault);
                self.binary(*op, a, b, fault)
            }
            Expr::Cond(c, a, b) => {
                let c = self.truth(c, fault);
                let (yes, no) = (self.block(), self.block());
                let (done, result) = self.join(types::I32);
                self.branch(c, yes, no);
                for (block, e) in [(yes, a), (no, b)] {
                    self.go(block);
                    let v = self.value(e, fault);
                    self.jump_with(done, v);
                }
                self.go(done);
                result
            }
            Expr::Probe(probe, chan) => self.probe(*probe, chan, fault),
            Expr::Pid => self.own().pid,
            Expr::NrPr => self.n_procs(),
            Expr::Last => {
                let field = self.plan.layout.last;
                self.load(self.vec, field)
            }
            Expr::Timeout => self.load_ctx(types::I32, offset_of!(Ctx, timeout)),
            Expr::NewPid => self.load_ctx(types::I32, offset_of!(Ctx, new_pid)),
            Expr::NonProgress => {
                let args = [self.ctx, self.vec];
                self.call(self.plan.functions.non_progress, &args).expect("a result")
            }
            Expr::Accepting => {
                let args = [self.ctx, self.vec];
                self.call(self.plan.functions.accepting, &args).expect("a result")
            }
            // In a state nothing happens; what a step does the interpreter says.
            Expr::Happens(_) => self.int(0),
            Expr::Enabled(pid) => self.enabled(pid, fault),
            Expr::PcValue(pid) => {
                let pid = self.value(pid, fault);
                self.if_live(pid, |g, frame| g.pc_value(frame))
            }
            Expr::GetPriority(pid) => {
                let pid = self.value(pid, fault);
                let field = self.plan.layout.priority;
                assert!(field.bytes > 0, "who asks for priorities uses them");
                self.if_live(pid, |g, frame| g.load(frame, field))
            }
            Expr::AtLabel { proctype, pid, loc, .. } => {
                assert!(loc.index() < self.plan.system.proctypes[*proctype].locs.len(), "V13: the label is there");
                let loc = loc.index() as i64;
                self.remote(*proctype, pid.as_deref(), fault, |g, frame| {
                    let here = g.loc_of(frame);
                    let same = g.compare(IntCC::Equal, here, loc);
                    g.b.ins().uextend(types::I32, same)
                })
            }
            Expr::Remote { proctype, pid, place } => {
                let t = *proctype;
                self.remote(t, pid.as_deref(), fault, |g, frame| {
                    let at = g.place(place, Some((t, frame)), fault);
                    g.load(at.base, at.field)
                })
            }
            Expr::Unary(UnOp::Not, _) | Expr::Binary(..) | Expr::Poll { .. } => {
                let v = self.truth(e, fault);
                self.b.ins().uextend(types::I32, v)
            }
        }
    }

    /// Whether the value is not zero: eight bits, 0 or 1.
    pub(super) fn truth(&mut self, e: &Expr, fault: Block) -> Value {
        match e {
            Expr::Unary(UnOp::Not, a) => {
                let a = self.truth(a, fault);
                self.compare(IntCC::Equal, a, 0)
            }
            Expr::Binary(op @ (BinOp::And | BinOp::Or), a, b) => {
                let a = self.truth(a, fault);
                if !Range::of(b).faults && is_cheap(b) {
                    let b = self.truth(b, fault);
                    return if *op == BinOp::And { self.b.ins().band(a, b) } else { self.b.ins().bor(a, b) };
                }
                let right = self.block();
                let (done, result) = self.join(types::I8);
                let known = [a.into()];
                if *op == BinOp::And {
                    self.b.ins().brif(a, right, &[], done, &known);
                } else {
                    self.b.ins().brif(a, done, &known, right, &[]);
                }
                self.go(right);
                let b = self.truth(b, fault);
                self.jump_with(done, b);
                self.go(done);
                result
            }
            Expr::Binary(op, a, b) if is_truth(*op) => {
                let a = self.value(a, fault);
                let b = self.value(b, fault);
                let cc = match op {
                    BinOp::Eq => IntCC::Equal,
                    BinOp::Ne => IntCC::NotEqual,
                    BinOp::Lt => IntCC::SignedLessThan,
                    BinOp::Le => IntCC::SignedLessThanOrEqual,
                    BinOp::Gt => IntCC::SignedGreaterThan,
                    _ => IntCC::SignedGreaterThanOrEqual,
                };
                self.b.ins().icmp(cc, a, b)
            }
            Expr::Poll { chan, random, args } => self.poll(chan, *random, args, fault),
            _ => {
                let v = self.value(e, fault);
                self.compare(IntCC::NotEqual, v, 0)
            }
        }
    }

    fn binary(&mut self, op: BinOp, a: Value, b: Value, fault: Block) -> Value {
        match op {
            BinOp::BitOr => self.b.ins().bor(a, b),
            BinOp::BitXor => self.b.ins().bxor(a, b),
            BinOp::BitAnd => self.b.ins().band(a, b),
            BinOp::Shl => self.b.ins().ishl(a, b),
            BinOp::Shr => self.b.ins().sshr(a, b),
            BinOp::Add => self.b.ins().iadd(a, b),
            BinOp::Sub => self.b.ins().isub(a, b),
            BinOp::Mul => self.b.ins().imul(a, b),
            BinOp::Div | BinOp::Rem => {
                let zero = self.compare(IntCC::Equal, b, 0);
                self.leave_if(zero, fault);
                // The smallest number divided by -1 wraps; the machine would trap.
                let minus = self.compare(IntCC::Equal, b, -1);
                let one = self.int(1);
                let safe = self.b.ins().select(minus, one, b);
                if op == BinOp::Div {
                    let quotient = self.b.ins().sdiv(a, safe);
                    let negated = self.b.ins().ineg(a);
                    self.b.ins().select(minus, negated, quotient)
                } else {
                    self.b.ins().srem(a, safe)
                }
            }
            _ => unreachable!("truth values are made elsewhere"),
        }
    }

    /// Where a place is: in its own frame, or in the frame of the process that a remote reference names.
    pub(super) fn place(&mut self, place: &Place, whose: Option<(ProctypeId, Value)>, fault: Block) -> At {
        let plan = self.plan();
        let (layout, mut base): (&FrameLayout, Value) = match (whose, place.scope) {
            (Some((t, frame)), _) => (&plan.layout.procs[t.index()], frame),
            (None, Scope::Global) => (&plan.layout.globals, self.vec),
            (None, Scope::Local) => {
                let me = self.own();
                (&plan.layout.procs[me.t.index()], me.frame)
            }
        };
        let field = layout.slots[place.slot as usize];
        assert!(holds(field, place.ty), "a place is of the type of what is there: {place:?}");
        for step in &place.index {
            debug_assert!(evenly(layout, place, step), "layout L3: {place:?}");
            let index = self.index(step, fault);
            if step.len > 1 && field.bytes > 0 {
                let stride = layout.slots[(place.slot + step.stride) as usize].at - field.at;
                let wide = self.wide(index);
                let distance = self.b.ins().imul_imm_s(wide, i64::from(stride));
                base = self.b.ins().iadd(base, distance);
            }
        }
        At { base, field }
    }

    /// An index that lies inside its array.
    pub(super) fn index(&mut self, step: &IndexStep, fault: Block) -> Value {
        let index = self.value(&step.value, fault);
        let (low, high) = Range::of(&step.value).bounds();
        if low < 0 || high >= i64::from(step.len) {
            let len = self.int(step.len as i32);
            let outside = self.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, index, len);
            self.leave_if(outside, fault);
        }
        index
    }

    /// What a slot of this type keeps of the value.
    pub(super) fn fit(&mut self, ty: Type, value: Value) -> Value {
        match ty {
            Type::Int => value,
            Type::Short => {
                let low = self.b.ins().ireduce(types::I16, value);
                self.b.ins().sextend(types::I32, low)
            }
            _ => self.b.ins().band_imm_s(value, (1i64 << ty.bits()) - 1),
        }
    }

    /// Keeps what fits; bits lost are noted. `bounds` are what is known of the value.
    pub(super) fn keep(&mut self, ty: Type, value: Value, bounds: (i64, i64)) -> Value {
        let (low, high) = values(ty);
        assert!(bounds.0 <= bounds.1 && bounds.0 >= ANY.0 && bounds.1 <= ANY.1, "bounds of a value of 32 bits");
        if bounds.0 >= low && bounds.1 <= high {
            return value;
        }
        let kept = self.fit(ty, value);
        if let Some(blame) = self.at {
            self.note_if_different(value, kept, blame);
        }
        kept
    }

    fn note_if_different(&mut self, value: Value, kept: Value, blame: Blame) {
        let lost = self.b.ins().icmp(IntCC::NotEqual, value, kept);
        let (note, rest) = (self.cold(), self.block());
        self.branch(lost, note, rest);
        self.go(note);
        self.mark(offset_of!(Ctx, truncated), blame);
        self.jump(rest);
        self.go(rest);
    }

    pub(super) fn assign(&mut self, place: &Place, value: Value, bounds: (i64, i64), fault: Block) {
        let at = self.place(place, None, fault);
        let kept = self.keep(place.ty, value, bounds);
        self.store(at.base, at.field, kept);
    }

    /// The value for a live process, 0 for others.
    fn if_live(&mut self, pid: Value, then: impl FnOnce(&mut Self, Value) -> Value) -> Value {
        let live = self.is_live(pid);
        let yes = self.block();
        let (done, result) = self.join(types::I32);
        let zero = self.int(0);
        self.b.ins().brif(live, yes, &[], done, &[zero.into()]);
        self.go(yes);
        let frame = self.frame_of(pid);
        let v = then(self, frame);
        self.jump_with(done, v);
        self.go(done);
        result
    }

    fn remote(
        &mut self,
        t: ProctypeId,
        pid: Option<&Expr>,
        fault: Block,
        then: impl FnOnce(&mut Self, Value) -> Value,
    ) -> Value {
        assert!(t.index() < self.plan.system.proctypes.len(), "V13: the proctype is there");
        let zero = self.int(0);
        let (done, result) = self.join(types::I32);
        let yes = self.block();
        let pid = match pid {
            Some(e) => {
                let pid = self.value(e, fault);
                let live = self.is_live(pid);
                let lives = self.block();
                self.b.ins().brif(live, lives, &[], done, &[zero.into()]);
                self.go(lives);
                let frame = self.frame_of(pid);
                let type_there = self.proctype_of(frame);
                let same = self.compare(IntCC::Equal, type_there, t.index() as i64);
                self.b.ins().brif(same, yes, &[], done, &[zero.into()]);
                pid
            }
            None => {
                let which = self.int(t.index() as i32);
                let args = [self.ctx, self.vec, which];
                let pid = self.call(self.plan.functions.oldest, &args).expect("a result");
                let found = self.compare(IntCC::SignedGreaterThanOrEqual, pid, 0);
                self.b.ins().brif(found, yes, &[], done, &[zero.into()]);
                pid
            }
        };
        self.go(yes);
        let frame = self.frame_of(pid);
        let v = then(self, frame);
        self.jump_with(done, v);
        self.go(done);
        result
    }

    /// SPIN's number of the control state.
    fn pc_value(&mut self, frame: Value) -> Value {
        let plan = self.plan();
        let t = self.proctype_of(frame);
        let loc = self.loc_of(frame);
        let (done, result) = self.join(types::I32);
        let types = self.switch_all(t, plan.system.proctypes.len());
        for (block, t) in types.into_iter().zip(plan.system.proctypes.iter()) {
            self.go(block);
            let locs = self.switch_all(loc, t.locs.len());
            for (block, l) in locs.into_iter().zip(t.locs.iter()) {
                self.go(block);
                let n = self.int(l.number as i32);
                self.jump_with(done, n);
            }
        }
        self.go(done);
        result
    }

    fn enabled(&mut self, pid: &Expr, fault: Block) -> Value {
        let pid = self.value(pid, fault);
        if let Some(me) = self.me {
            let own = self.b.ins().icmp(IntCC::Equal, pid, me.pid);
            self.leave_if(own, fault);
        }
        let depth = self.load_ctx(types::I32, offset_of!(Ctx, depth));
        let deep = self.compare(IntCC::SignedGreaterThanOrEqual, depth, MAX_ENABLED_DEPTH);
        self.leave_if(deep, fault);
        self.if_live(pid, |g, _| {
            let deeper = g.b.ins().iadd_imm_s(depth, 1);
            g.store_ctx(deeper, offset_of!(Ctx, depth));
            let args = [g.ctx, g.vec, pid];
            let can = g.call(g.plan.functions.can_move, &args).expect("a result");
            g.store_ctx(depth, offset_of!(Ctx, depth));
            can
        })
    }

    /// `(ctx, state, words)`: which of the expressions looked at are true, a bit each in 64-bit words; 0, or 1 if the
    /// interpreter must say what is wrong with one.
    pub(super) fn look(&mut self, params: &[Value]) {
        let plan = self.plan();
        let fault = self.cold();
        for (n, some) in plan.looked.chunks(64).enumerate() {
            let mut word = self.b.ins().iconst(types::I64, 0);
            for (bit, e) in some.iter().enumerate() {
                let truth = self.truth(e, fault);
                let truth = self.wide(truth);
                let truth = self.b.ins().ishl_imm_u(truth, bit as i64);
                word = self.b.ins().bor(word, truth);
            }
            self.b.ins().store(plain(), word, params[2], (8 * n) as i32);
        }
        let fine = self.int(0);
        self.b.ins().return_(&[fine]);
        self.go(fault);
        let wrong = self.int(1);
        self.b.ins().return_(&[wrong]);
    }

    /// The value, for nothing but its faults.
    pub(super) fn meet_fault(&mut self, e: &Expr, fault: Block) {
        if Range::of(e).faults {
            self.value(e, fault);
        } else {
            let mut faults = false;
            e.each_part(&mut |e| faults |= matches!(e, Expr::Read(place) if index_faults(place)));
            debug_assert!(!faults, "range R1: what has a part that faults may fault: {e:?}");
        }
    }

    pub(super) fn load_word(&mut self, base: Value, n: usize) -> Value {
        self.b.ins().load(types::I32, plain(), base, (4 * n) as i32)
    }

    pub(super) fn store_word(&mut self, value: Value, base: Value, n: usize) {
        assert_eq!(self.type_of(value), types::I32, "a word is no wider, or what is behind it is lost");
        self.b.ins().store(plain(), value, base, (4 * n) as i32);
    }
}

/// A field of a hidden variable has no bytes.
fn holds(field: Field, ty: Type) -> bool {
    let (low, _) = values(ty);
    let bits = 8 * u32::from(field.bytes);
    bits == 0 || u32::from(ty.bits()) <= bits && field.signed == (low < 0)
}

/// The elements that an index may name are as far apart as the first two.
fn evenly(layout: &FrameLayout, place: &Place, step: &IndexStep) -> bool {
    let at = |i: u32| layout.slots[(place.slot + i * step.stride) as usize];
    let far = |i: u32| Field { at: at(0).at + i * (at(1.min(step.len - 1)).at - at(0).at), ..at(0) };
    step.len == 0 || at(0).bytes == 0 || (0..step.len.min(64)).chain([step.len - 1]).all(|i| at(i) == far(i))
}

fn is_truth(op: BinOp) -> bool {
    matches!(op, BinOp::Or | BinOp::And | BinOp::Eq | BinOp::Ne | BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge)
}

/// Sooner computed than jumped over.
fn is_cheap(e: &Expr) -> bool {
    match e {
        Expr::Const(_) | Expr::Pid => true,
        Expr::Read(place) => place.index.is_empty(),
        Expr::Unary(_, a) => is_cheap(a),
        Expr::Binary(op, a, b) => !matches!(op, BinOp::Div | BinOp::Rem) && is_cheap(a) && is_cheap(b),
        _ => false,
    }
}
