//! Channels: which one an expression names, what it holds, sending and receiving.
//!
//! The code for a channel depends on its class only (capacity and fields). Where the model fixes which channel is
//! meant, the class is known and the place a constant; elsewhere the number is looked up and its class decides.

use super::{Gen, plain};
use crate::ctx::Ctx;
use crate::statics::Class;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value, types};
use spinor_model::ir::{Expr, Pattern, Probe, Scope, Type};
use spinor_model::layout::Field;
use spinor_model::range::{ANY, Range, values};
use std::mem::offset_of;

/// A channel that lives.
#[derive(Clone, Copy)]
pub(super) struct Chan {
    /// Its first byte.
    at: Value,
    class: Which,
}

#[derive(Clone, Copy)]
enum Which {
    Known(usize),
    Among(Value),
}

impl Class {
    fn len(&self) -> Field {
        Field { at: 0, bytes: self.len_bytes, signed: false }
    }
}

impl Gen<'_, '_> {
    /// The live channel an expression names.
    pub(super) fn chan(&mut self, e: &Expr, fault: Block) -> Chan {
        let plan = self.plan();
        if let Expr::Read(place) = e
            && let Some(fixed) = plan.statics.fixed(plan.layout, place, self.me.map(|me| me.t))
        {
            assert!(
                place.index.len() <= 1 && fixed.class < plan.statics.classes.len(),
                "one index, of channels of one class"
            );
            let mut base = match place.scope {
                Scope::Global => self.vec,
                Scope::Local => self.own().frame,
            };
            for step in &place.index {
                let index = self.index(step, fault);
                let wide = self.wide(index);
                let distance = self.b.ins().imul_imm_s(wide, i64::from(fixed.stride));
                base = self.b.ins().iadd(base, distance);
            }
            return Chan { at: self.ptr(base, i64::from(fixed.at)), class: Which::Known(fixed.class) };
        }
        let id = self.value(e, fault);
        let before = self.b.ins().iadd_imm_s(id, -1);
        let n = self.load_ctx(types::I32, offset_of!(Ctx, n_chans));
        let none = self.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, before, n);
        self.leave_if(none, fault);
        let (at, class) = self.chan_row(id);
        let class = if plan.statics.classes.len() == 1 { Which::Known(0) } else { Which::Among(class) };
        Chan { at, class }
    }

    /// Code for each class the channel may have; every body ends its block. Afterwards there is no current block.
    pub(super) fn by_class(&mut self, chan: Chan, mut body: impl FnMut(&mut Self, &Class)) {
        let plan = self.plan();
        match chan.class {
            Which::Known(n) => body(self, &plan.statics.classes[n]),
            Which::Among(class) => {
                let blocks = self.switch_all(class, plan.statics.classes.len());
                for (block, class) in blocks.into_iter().zip(&plan.statics.classes) {
                    self.go(block);
                    body(self, class);
                }
            }
        }
    }

    pub(super) fn probe(&mut self, probe: Probe, e: &Expr, fault: Block) -> Value {
        let chan = self.chan(e, fault);
        let (done, result) = self.join(types::I32);
        self.by_class(chan, |g, class| {
            let len = g.load(chan.at, class.len());
            let capacity = i64::from(class.capacity);
            let v = match probe {
                Probe::Len => len,
                // A rendez-vous channel is never full: a send waits for a partner, not for room.
                Probe::Full if capacity == 0 => g.int(0),
                Probe::Nfull if capacity == 0 => g.int(1),
                Probe::Empty => g.whether(IntCC::Equal, len, 0),
                Probe::Nempty => g.whether(IntCC::NotEqual, len, 0),
                Probe::Full => g.whether(IntCC::SignedGreaterThanOrEqual, len, capacity),
                Probe::Nfull => g.whether(IntCC::SignedLessThan, len, capacity),
            };
            g.jump_with(done, v);
        });
        self.go(done);
        result
    }

    /// Whether the receive could happen: eight bits.
    pub(super) fn poll(&mut self, e: &Expr, random: bool, args: &[Pattern], fault: Block) -> Value {
        let chan = self.chan(e, fault);
        let (done, result) = self.join(types::I8);
        self.by_class(chan, |g, class| {
            // Fields left out at the end match anything.
            if class.capacity == 0 || args.len() > class.fields.len() {
                return g.jump(fault);
            }
            let (found, _) = g.join(types::I32);
            let none = g.block();
            g.first_match(chan, class, random, args, found, none, fault);
            for (block, n) in [(found, 1), (none, 0)] {
                g.go(block);
                let v = g.b.ins().iconst(types::I8, n);
                g.jump_with(done, v);
            }
        });
        self.go(done);
        result
    }

    /// Jumps to `found` with the position of the message a receive would take, or to `none`.
    #[expect(clippy::too_many_arguments, reason = "what a receive is, and the three places it may lead to")]
    fn first_match(
        &mut self,
        chan: Chan,
        class: &Class,
        random: bool,
        args: &[Pattern],
        found: Block,
        none: Block,
        fault: Block,
    ) {
        let len = self.load(chan.at, class.len());
        let zero = self.int(0);
        if !random {
            let empty = self.compare(IntCC::Equal, len, 0);
            self.leave_if(empty, none);
            self.matches(args, class, chan.at, none, fault);
            return self.jump_with(found, zero);
        }
        let (next, i) = self.join(types::I32);
        self.jump_with(next, zero);
        self.go(next);
        let end = self.b.ins().icmp(IntCC::SignedGreaterThanOrEqual, i, len);
        self.leave_if(end, none);
        let message = self.message_at(chan, class, i);
        let no = self.block();
        self.matches(args, class, message, no, fault);
        self.jump_with(found, i);
        self.go(no);
        let i = self.b.ins().iadd_imm_s(i, 1);
        self.jump_with(next, i);
    }

    /// The channel's start moved on to its `i`-th message, so that the fields of the first are those of this one.
    fn message_at(&mut self, chan: Chan, class: &Class, i: Value) -> Value {
        let wide = self.wide(i);
        let distance = self.b.ins().imul_imm_s(wide, i64::from(class.stride));
        self.b.ins().iadd(chan.at, distance)
    }

    fn matches(&mut self, args: &[Pattern], class: &Class, message: Value, no: Block, fault: Block) {
        assert!(args.len() <= class.fields.len(), "a pattern is of a field");
        for (arg, field) in args.iter().zip(&class.fields) {
            if let Pattern::Equal(e) = arg {
                let v = self.value(e, fault);
                let there = self.load(message, *field);
                let differs = self.b.ins().icmp(IntCC::NotEqual, v, there);
                self.leave_if(differs, no);
            }
        }
    }

    /// The same for a message that lies in words.
    pub(super) fn matches_words(&mut self, args: &[Pattern], message: Value, no: Block, fault: Block) {
        for (n, arg) in args.iter().enumerate() {
            if let Pattern::Equal(e) = arg {
                let v = self.value(e, fault);
                let there = self.load_word(message, n);
                let differs = self.b.ins().icmp(IntCC::NotEqual, v, there);
                self.leave_if(differs, no);
            }
        }
    }

    /// Jumps to `yes` or `no`; a receive never starts a handshake.
    pub(super) fn receive_ready(
        &mut self,
        chan: &Expr,
        random: bool,
        keep: bool,
        args: &[Pattern],
        yes: Block,
        no: Block,
    ) {
        let chan = self.chan(chan, yes);
        self.by_class(chan, |g, class| {
            if class.capacity == 0 {
                return g.jump(if keep { yes } else { no });
            }
            if args.len() != class.fields.len() {
                return g.jump(yes);
            }
            let (found, _) = g.join(types::I32);
            g.first_match(chan, class, random, args, found, no, yes);
            g.go(found);
            g.jump(yes);
        });
    }

    /// Jumps to `yes` if there is room or the attempt faults, to `no` if not; a rendez-vous is left to `handshake`.
    pub(super) fn send_ready(
        &mut self,
        chan: &Expr,
        yes: Block,
        no: Block,
        mut handshake: impl FnMut(&mut Self, &Class),
    ) {
        let chan = self.chan(chan, yes);
        self.by_class(chan, |g, class| {
            if class.capacity == 0 {
                return handshake(g, class);
            }
            let len = g.load(chan.at, class.len());
            let room = g.compare(IntCC::SignedLessThan, len, i64::from(class.capacity));
            g.branch(room, yes, no);
        });
    }

    /// The fields of a message as the channel keeps them, with bounds of each.
    pub(super) fn message(&mut self, args: &[Expr], types: &[Type], fault: Block) -> Vec<Value> {
        assert_eq!(args.len(), types.len(), "each field is given a value");
        let keep = |g: &mut Self, (e, ty): (&Expr, &Type)| {
            let v = g.value(e, fault);
            g.keep(*ty, v, Range::of(e).bounds())
        };
        args.iter().zip(types).map(|pair| keep(self, pair)).collect()
    }

    /// The fields laid into words of the function's own.
    pub(super) fn in_words(&mut self, message: &[Value]) -> Value {
        let words = self.stack(4 * message.len());
        for (n, v) in message.iter().enumerate() {
            self.store_word(*v, words, n);
        }
        words
    }

    /// A buffered send. The current block goes on after it.
    pub(super) fn send(
        &mut self,
        chan: Chan,
        class: &Class,
        sorted: bool,
        id: Option<Value>,
        args: &[Expr],
        ask: Block,
    ) {
        if args.len() != class.fields.len() {
            let dead = self.block();
            self.jump(ask);
            return self.go(dead);
        }
        assert!(class.capacity > 0, "what has no slots keeps no message");
        let message = self.message(args, &class.types, ask);
        self.pay_promise(true, id, ask);
        let len = self.load(chan.at, class.len());
        let at = if sorted {
            let i = self.sorted_position(chan, class, len, &message);
            self.make_room(chan, class, len, i);
            self.message_at(chan, class, i)
        } else if class.capacity == 1 {
            chan.at
        } else {
            self.message_at(chan, class, len)
        };
        for (v, field) in message.iter().zip(&class.fields) {
            self.store(at, *field, *v);
        }
        let longer = self.b.ins().iadd_imm_s(len, 1);
        self.store(chan.at, class.len(), longer);
        self.tell_monitor(true, id, &message, ask);
    }

    /// Before the first message that is larger, field by field; what is there already is not sorted.
    fn sorted_position(&mut self, chan: Chan, class: &Class, len: Value, message: &[Value]) -> Value {
        let (next, i) = self.join(types::I32);
        let (done, result) = self.join(types::I32);
        let zero = self.int(0);
        self.jump_with(next, zero);
        self.go(next);
        let end = self.b.ins().icmp(IntCC::SignedGreaterThanOrEqual, i, len);
        let look = self.block();
        self.b.ins().brif(end, done, &[len.into()], look, &[]);
        self.go(look);
        let there = self.message_at(chan, class, i);
        let not_larger = self.block();
        for (v, field) in message.iter().zip(&class.fields) {
            let f = self.load(there, *field);
            let larger = self.b.ins().icmp(IntCC::SignedGreaterThan, f, *v);
            let rest = self.block();
            self.b.ins().brif(larger, done, &[i.into()], rest, &[]);
            self.go(rest);
            let smaller = self.b.ins().icmp(IntCC::SignedLessThan, f, *v);
            self.leave_if(smaller, not_larger);
        }
        self.jump(not_larger);
        self.go(not_larger);
        let i = self.b.ins().iadd_imm_s(i, 1);
        self.jump_with(next, i);
        self.go(done);
        result
    }

    /// Moves the messages from the `i`-th on up by one.
    fn make_room(&mut self, chan: Chan, class: &Class, len: Value, i: Value) {
        if class.stride == 0 || class.capacity < 2 {
            return;
        }
        let (first, unit) = messages(class);
        let stride = i64::from(class.stride);
        let (from, to) = (self.wide(i), self.wide(len));
        let from = self.b.ins().imul_imm_s(from, stride);
        let to = self.b.ins().imul_imm_s(to, stride);
        let (next, at) = self.join(types::I64);
        let (done, body) = (self.block(), self.block());
        self.jump_with(next, to);
        self.go(next);
        let end = self.b.ins().icmp(IntCC::SignedLessThanOrEqual, at, from);
        self.branch(end, done, body);
        self.go(body);
        let at = self.b.ins().iadd_imm_s(at, -i64::from(unit));
        let here = self.b.ins().iadd(chan.at, at);
        let v = self.load(here, Field { at: first, bytes: unit, signed: false });
        self.store(here, Field { at: first + class.stride, bytes: unit, signed: false }, v);
        self.jump_with(next, at);
        self.go(done);
    }

    /// A buffered receive. The current block goes on after it.
    pub(super) fn receive(
        &mut self,
        chan: Chan,
        class: &Class,
        (random, keep): (bool, bool),
        id: Option<Value>,
        args: &[Pattern],
        ask: Block,
    ) {
        if class.capacity == 0 || args.len() != class.fields.len() {
            let dead = self.block();
            self.jump(ask);
            return self.go(dead);
        }
        let (found, i) = self.join(types::I32);
        self.first_match(chan, class, random, args, found, ask, ask);
        self.go(found);
        let at = if random { self.message_at(chan, class, i) } else { chan.at };
        let wanted = |n: usize| self_needs(args, n);
        let monitored = self.plan.system.monitor.is_some();
        let mut message = Vec::new();
        for (n, field) in class.fields.iter().enumerate() {
            let v = if monitored || wanted(n) { self.load(at, *field) } else { self.int(0) };
            message.push(v);
        }
        self.pay_promise(false, id, ask);
        if !keep {
            self.remove(chan, class, random.then_some(i));
            // A copy leaves the message where it is: no event.
            self.tell_monitor(false, id, &message, ask);
        }
        self.bind(args, &message, &class.types, ask);
    }

    pub(super) fn bind(&mut self, args: &[Pattern], message: &[Value], types: &[Type], ask: Block) {
        assert_eq!(args.len(), message.len(), "each field meets its pattern");
        for (n, (arg, v)) in args.iter().zip(message).enumerate() {
            if let Pattern::Bind(place) = arg {
                let bounds = types.get(n).map_or(ANY, |ty| values(*ty));
                self.assign(place, *v, bounds, ask);
            }
        }
    }

    /// Takes the `i`-th message out, the first by default; the others close up, and zeros come in at the end (S2).
    fn remove(&mut self, chan: Chan, class: &Class, i: Option<Value>) {
        assert!(class.capacity > 0, "what has no slots keeps no message");
        let (first, unit) = messages(class);
        let (stride, last) = (class.stride, class.stride * (class.capacity - 1));
        let word = |at: u32| Field { at, bytes: unit, signed: false };
        let len = self.load(chan.at, class.len());
        let shorter = self.b.ins().iadd_imm_s(len, -1);
        self.store(chan.at, class.len(), shorter);
        if stride == 0 {
            return;
        }
        if i.is_none() && last / u32::from(unit) <= 16 {
            for at in (0..last).step_by(usize::from(unit)) {
                let v = self.load(chan.at, word(first + stride + at));
                self.store(chan.at, word(first + at), v);
            }
        } else {
            let from = match i {
                Some(i) => {
                    let wide = self.wide(i);
                    self.b.ins().imul_imm_s(wide, i64::from(stride))
                }
                None => self.b.ins().iconst(types::I64, 0),
            };
            let (next, at) = self.join(types::I64);
            let (done, body) = (self.block(), self.block());
            self.jump_with(next, from);
            self.go(next);
            let end = self.compare(IntCC::SignedGreaterThanOrEqual, at, i64::from(last));
            self.branch(end, done, body);
            self.go(body);
            let here = self.b.ins().iadd(chan.at, at);
            let v = self.load(here, word(first + stride));
            self.store(here, word(first), v);
            let at = self.b.ins().iadd_imm_s(at, i64::from(unit));
            self.jump_with(next, at);
            self.go(done);
        }
        let zero = self.int(0);
        for at in (0..stride).step_by(usize::from(unit)) {
            self.store(chan.at, word(first + last + at), zero);
        }
    }

    /// Asks if another process promised to be the only one to do this.
    pub(super) fn pay_promise(&mut self, send: bool, id: Option<Value>, ask: Block) {
        if let Some(id) = id.filter(|_| self.plan.statics.has_promises) {
            let me = self.own();
            let (look, rest) = (self.block(), self.block());
            let heeded = self.load_ctx(types::I32, offset_of!(Ctx, heed_promises));
            self.branch(heeded, look, rest);
            self.go(look);
            let send = self.int(i32::from(send));
            let args = [self.ctx, self.vec, me.pid, send, id];
            let broken = self.call(self.plan.functions.promised, &args).expect("a result");
            self.branch(broken, ask, rest);
            self.go(rest);
        }
    }

    /// The trace assertion moves along.
    pub(super) fn tell_monitor(&mut self, send: bool, id: Option<Value>, message: &[Value], ask: Block) {
        if let Some(id) = id.filter(|_| self.plan.system.monitor.is_some()) {
            let words = self.in_words(message);
            self.tell_monitor_words(send, id, words, message.len(), ask);
        }
    }

    pub(super) fn tell_monitor_words(&mut self, send: bool, id: Value, words: Value, n: usize, ask: Block) {
        if self.plan.system.monitor.is_some() {
            let n = self.int(n as i32);
            let args = [self.ctx, self.vec, id, words, n];
            let wrong = self.call(self.plan.functions.event[usize::from(send)], &args).expect("a result");
            self.leave_if(wrong, ask);
        }
    }

    /// Whether the channel's number itself is needed.
    pub(super) fn number_if_asked(&mut self, e: &Expr, fault: Block) -> Option<Value> {
        let asked = self.plan.statics.has_promises || self.plan.system.monitor.is_some();
        asked.then(|| self.value(e, fault))
    }

    pub(super) fn zero_bytes(&mut self, base: Value, size: u32) {
        assert!(size.is_multiple_of(4), "layout L1: it is zeroed in pieces of four");
        let zero = self.b.ins().iconst(types::I64, 0);
        if size <= 256 {
            let zero4 = self.int(0);
            let mut at = 0;
            while at + 8 <= size {
                self.b.ins().store(plain(), zero, base, at as i32);
                at += 8;
            }
            if at < size {
                self.b.ins().store(plain(), zero4, base, at as i32);
            }
            return;
        }
        let (next, at) = self.join(types::I64);
        let (done, body) = (self.block(), self.block());
        self.jump_with(next, zero);
        self.go(next);
        let end = self.compare(IntCC::SignedGreaterThanOrEqual, at, i64::from(size));
        self.branch(end, done, body);
        self.go(body);
        let here = self.b.ins().iadd(base, at);
        let zero4 = self.int(0);
        self.b.ins().store(plain(), zero4, here, 0);
        let at = self.b.ins().iadd_imm_s(at, 4);
        self.jump_with(next, at);
        self.go(done);
    }
}

/// Is the field bound to a variable?
fn self_needs(args: &[Pattern], n: usize) -> bool {
    matches!(args.get(n), Some(Pattern::Bind(_)))
}

/// Where the first message begins, and the largest piece in which messages can be moved.
fn messages(class: &Class) -> (u32, u8) {
    let first = class.fields.first().map_or(0, |f| f.at);
    let unit = [4u32, 2, 1].into_iter().find(|u| class.stride.is_multiple_of(*u)).expect("one divides all");
    let inside = |f: &Field| f.at >= first && f.at + u32::from(f.bytes) <= first + class.stride;
    assert!(class.fields.iter().all(inside), "a message is moved whole");
    (first, unit as u8)
}
