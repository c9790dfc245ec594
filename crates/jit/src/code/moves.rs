//! Which steps a process can take, and who answers a rendez-vous.

use super::{Gen, Me, Mode, plain};
use crate::ctx::{Code, Ctx, NOBODY, ROUNDS, RawStep};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value, types};
use spinor_model::index::Idx;
use spinor_model::ir::{EdgeId, Effect, Expr, Guard, Loc, Pattern, Proctype, ProctypeId};
use spinor_model::layout::GRAIN;
use std::collections::HashMap;
use std::mem::offset_of;

impl Gen<'_, '_> {
    /// `(ctx, state, pid, frame)`
    pub(super) fn moves(&mut self, t: ProctypeId, mode: Mode, params: &[Value]) {
        let plan = self.plan();
        let proctype = &plan.system.proctypes[t];
        self.me = Some(Me { t, pid: params[2], frame: params[3] });
        let out = self.block();
        if let Some(clause) = &proctype.provided {
            let on = self.block();
            let holds = self.truth(clause, on);
            self.branch(holds, on, out);
            self.go(on);
        }
        let loc = self.loc_of(params[3]);
        let blocks = self.switch_all(loc, proctype.locs.len());
        for (block, (loc, location)) in blocks.into_iter().zip(proctype.locs.enumerated()) {
            self.go(block);
            let mut known = HashMap::new();
            for edge in &location.edges {
                debug_assert_eq!(proctype.edges[*edge].from, loc, "V1");
                self.ready(proctype, *edge, mode, &mut known);
            }
            debug_assert!(location.edges.iter().all(|edge| known.contains_key(edge)), "every edge is asked about");
            self.jump(out);
        }
        self.go(out);
        self.b.ins().return_(&[]);
    }

    /// `(ctx, state)`: lists the steps of all processes, youngest first, and does them if asked to.
    pub(super) fn all_moves(&mut self, mode: Mode, params: &[Value]) {
        let plan = self.plan();
        let (next, before) = self.join(types::I32);
        let (body, done, out) = (self.block(), self.block(), self.block());
        let n = self.n_procs();
        self.jump_with(next, n);
        self.go(next);
        self.branch(before, body, out);
        self.go(body);
        let pid = self.b.ins().iadd_imm_s(before, -1);
        let frame = self.frame_of(pid);
        let t = self.proctype_of(frame);
        let blocks = self.switch_all(t, plan.system.proctypes.len());
        let functions = if mode == Mode::Do { &plan.functions.expand } else { &plan.functions.moves };
        for (block, f) in blocks.into_iter().zip(functions) {
            self.go(block);
            self.call(*f, &[params[0], params[1], pid, frame]);
            self.jump(done);
        }
        self.go(done);
        self.jump_with(next, pid);
        self.go(out);
        self.b.ins().return_(&[]);
    }

    /// Whether an edge can run, eight bits; lists or does its steps if asked to. `known` keeps what was found out about the
    /// edges of the location. An edge that waits in vain is noted as not ready, whatever its own guards say: who asks
    /// about it asks about those it waited for as well (validator, V3).
    pub(super) fn ready(
        &mut self,
        t: &Proctype,
        edge: EdgeId,
        mode: Mode,
        known: &mut HashMap<EdgeId, Value>,
    ) -> Value {
        let mut blocked = None;
        for guard in &t.edges[edge].guards {
            if let Guard::NoneOf(others) = guard {
                for other in others {
                    let other = match known.get(other) {
                        Some(v) => *v,
                        None => {
                            let v = self.ready_alone(t, *other, Mode::Ask);
                            known.insert(*other, v);
                            v
                        }
                    };
                    blocked = Some(match blocked {
                        None => other,
                        Some(b) => self.b.ins().bor(b, other),
                    });
                }
            }
        }
        let result = match blocked {
            None => self.ready_alone(t, edge, mode),
            Some(blocked) => {
                let free = self.block();
                let (done, result) = self.join(types::I8);
                let no = self.b.ins().iconst(types::I8, 0);
                self.b.ins().brif(blocked, done, &[no.into()], free, &[]);
                self.go(free);
                let v = self.ready_alone(t, edge, mode);
                self.jump_with(done, v);
                self.go(done);
                result
            }
        };
        known.insert(edge, result);
        result
    }

    /// As far as its own guards go. A guard that faults holds.
    fn ready_alone(&mut self, t: &Proctype, edge: EdgeId, mode: Mode) -> Value {
        let e = &t.edges[edge];
        let n_waits = e.guards.iter().filter(|g| matches!(g, Guard::Channel)).count();
        debug_assert!(n_waits == usize::from(e.send().is_some() || e.receive().is_some()), "V4: {:?}", e.guards);
        let (done, result) = self.join(types::I8);
        let (yes, no) = (self.block(), self.block());
        for guard in &e.guards {
            match guard {
                Guard::Holds(condition) => {
                    let on = self.block();
                    let holds = self.truth(condition, on);
                    self.branch(holds, on, no);
                    self.go(on);
                }
                Guard::Youngest => {
                    let pid = self.own().pid;
                    let next = self.b.ins().iadd_imm_s(pid, 1);
                    let n = self.n_procs();
                    let younger = self.b.ins().icmp(IntCC::NotEqual, next, n);
                    self.leave_if(younger, no);
                }
                Guard::NoneOf(_) | Guard::Channel => {}
            }
        }
        // The channel last: it may push.
        if e.guards.contains(&Guard::Channel) {
            match &e.effects[0] {
                Effect::Send { chan, args, .. } => self.send_ready(chan, yes, no, |g, class| {
                    if e.in_d_step || args.len() != class.fields.len() {
                        return g.jump(yes);
                    }
                    // Bits lost are noted when the message is sent.
                    let at = g.at.take();
                    let message = g.message(args, &class.types, yes);
                    g.at = at;
                    let words = g.in_words(&message);
                    let id = g.value(chan, yes);
                    let pid = g.own().pid;
                    let edge = g.int(if mode == Mode::Ask { NOBODY as i32 } else { edge.index() as i32 });
                    let n = g.int(message.len() as i32);
                    let call = [g.ctx, g.vec, pid, edge, id, words, n];
                    let before = g.load_ctx(types::I32, offset_of!(Ctx, n_steps));
                    let count = g.call(g.plan.functions.partners, &call).expect("a result");
                    if mode == Mode::Do {
                        g.emit_from(before);
                    }
                    assert!(class.capacity == 0 && message.len() == class.fields.len(), "a handshake is whole");
                    let some = g.compare(IntCC::NotEqual, count, 0);
                    g.jump_with(done, some);
                }),
                Effect::Receive { chan, random, keep, args } => {
                    self.receive_ready(chan, *random, *keep, args, yes, no);
                }
                other => unreachable!("validator rule V4: {other:?} has no channel guard"),
            }
        } else {
            self.jump(yes);
        }
        self.go(yes);
        if mode == Mode::Do && self.is_plain(e) {
            self.emit_plain(t, edge);
        } else if mode != Mode::Ask {
            let me = self.own();
            let edge = self.int(edge.index() as i32);
            let nobody = self.int(NOBODY as i32);
            let n = self.load_ctx(types::I32, offset_of!(Ctx, n_steps));
            self.push(me.pid, edge, nobody, nobody);
            if mode == Mode::Do {
                let args = [self.ctx, self.vec, me.pid, me.frame, n];
                self.call(self.plan.functions.emit[me.t.index()], &args);
            }
        }
        let one = self.b.ins().iconst(types::I8, 1);
        self.jump_with(done, one);
        self.go(no);
        let zero = self.b.ins().iconst(types::I8, 0);
        self.jump_with(done, zero);
        self.go(done);
        result
    }

    fn push(&mut self, pid: Value, edge: Value, partner: Value, half: Value) {
        let n = self.load_ctx(types::I32, offset_of!(Ctx, n_steps));
        let max = self.load_ctx(types::I32, offset_of!(Ctx, max_steps));
        let (full, fits, done) = (self.cold(), self.block(), self.block());
        let room = self.b.ins().icmp(IntCC::UnsignedLessThan, n, max);
        self.branch(room, fits, full);
        self.go(full);
        let one = self.int(1);
        self.store_ctx(one, offset_of!(Ctx, overflow));
        self.jump(done);
        self.go(fits);
        let steps = self.load_ctx(types::I64, offset_of!(Ctx, steps));
        let wide = self.wide(n);
        let at = self.b.ins().imul_imm_s(wide, size_of::<RawStep>() as i64);
        let at = self.b.ins().iadd(steps, at);
        for (value, offset) in [
            (pid, offset_of!(RawStep, pid)),
            (edge, offset_of!(RawStep, edge)),
            (partner, offset_of!(RawStep, partner)),
            (half, offset_of!(RawStep, half)),
        ] {
            self.b.ins().store(plain(), value, at, offset as i32);
        }
        let more = self.b.ins().iadd_imm_s(n, 1);
        self.store_ctx(more, offset_of!(Ctx, n_steps));
        self.jump(done);
        self.go(done);
    }

    /// Lists a step that is one plain edge, and does it to a copy of the state. The context stays as it is.
    fn emit_plain(&mut self, t: &Proctype, edge: EdgeId) {
        let (me, vec) = (self.own(), self.vec);
        let (full, ask, done) = (self.cold(), self.cold(), self.block());
        let n = self.load_ctx(types::I32, offset_of!(Ctx, n_steps));
        let max = self.load_ctx(types::I32, offset_of!(Ctx, max_steps));
        let none = self.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, n, max);
        self.leave_if(none, full);
        let asleep = self.load_ctx(types::I64, offset_of!(Ctx, asleep));
        let (named, sleeps, awake) = (self.cold(), self.cold(), self.block());
        self.branch(asleep, named, awake);
        self.go(named);
        let number = self.int(edge.index() as i32);
        let is_asleep = self.is_asleep(asleep, me.pid, number);
        self.branch(is_asleep, sleeps, awake);
        self.go(sleeps);
        let code = self.int(Code::SLEEPS);
        let zero = self.int(0);
        let nobody = self.int(NOBODY as i32);
        let slept = [
            (code, offset_of!(RawStep, code)),
            (zero, offset_of!(RawStep, len)),
            (me.pid, offset_of!(RawStep, pid)),
            (number, offset_of!(RawStep, edge)),
            (nobody, offset_of!(RawStep, partner)),
        ];
        self.finish_step(n, &slept);
        self.jump(done);
        self.go(awake);
        let copy = self.load_ctx(types::I64, offset_of!(Ctx, out));
        let last = self.load_ctx(types::I64, offset_of!(Ctx, out_last));
        let short = self.b.ins().icmp(IntCC::UnsignedGreaterThan, copy, last);
        self.leave_if(short, full);
        let len = self.load_ctx(types::I64, offset_of!(Ctx, padded));
        self.copy_grains(copy, len);
        let distance = self.b.ins().isub(copy, vec);
        self.vec = copy;
        self.me = Some(Me { frame: self.b.ins().iadd(me.frame, distance), ..me });
        self.plain_edge(t, edge, ask);
        (self.me, self.vec) = (Some(me), vec);
        let after = self.b.ins().iadd(copy, len);
        self.store_ctx(after, offset_of!(Ctx, out));
        let len = self.b.ins().ireduce(types::I32, len);
        // Not sooner: whoever looks for steps of others on the way does so where this one will stand.
        let zero = self.int(0);
        let yields = self.int(Code::YIELDS);
        let number = self.int(edge.index() as i32);
        let nobody = self.int(NOBODY as i32);
        let came = [
            (yields, offset_of!(RawStep, code)),
            (len, offset_of!(RawStep, len)),
            (zero, offset_of!(RawStep, atomic_steps)),
            (me.pid, offset_of!(RawStep, pid)),
            (number, offset_of!(RawStep, edge)),
            (nobody, offset_of!(RawStep, partner)),
        ];
        self.finish_step(n, &came);
        self.jump(done);
        self.go(ask);
        let code = self.int(Code::ASK);
        let edge = self.int(edge.index() as i32);
        let nobody = self.int(NOBODY as i32);
        let asked = [
            (code, offset_of!(RawStep, code)),
            (me.pid, offset_of!(RawStep, pid)),
            (edge, offset_of!(RawStep, edge)),
            (nobody, offset_of!(RawStep, partner)),
            (nobody, offset_of!(RawStep, half)),
        ];
        self.finish_step(n, &asked);
        self.jump(done);
        self.go(full);
        let one = self.int(1);
        self.store_ctx(one, offset_of!(Ctx, overflow));
        self.jump(done);
        self.go(done);
    }

    /// Whether a step of this process alone is asleep, where some are.
    fn is_asleep(&mut self, asleep: Value, pid: Value, edge: Value) -> Value {
        let wide = self.wide(pid);
        let at = self.b.ins().ishl_imm_u(wide, 2);
        let at = self.b.ins().iadd(self.ctx, at);
        let first = self.b.ins().load(types::I32, plain(), at, offset_of!(Ctx, firsts) as i32);
        let number = self.b.ins().iadd(first, edge);
        let number = self.wide(number);
        let word = self.b.ins().ushr_imm_u(number, 6);
        let (done, bit) = self.join(types::I64);
        let inside = self.block();
        let n_words = self.load_ctx(types::I64, offset_of!(Ctx, n_asleep));
        let is_inside = self.b.ins().icmp(IntCC::UnsignedLessThan, word, n_words);
        let zero = self.b.ins().iconst(types::I64, 0);
        self.b.ins().brif(is_inside, inside, &[], done, &[zero.into()]);
        self.go(inside);
        let at = self.b.ins().ishl_imm_u(word, 3);
        let at = self.b.ins().iadd(asleep, at);
        let word = self.b.ins().load(types::I64, plain(), at, 0);
        let low = self.b.ins().band_imm_u(number, 63);
        let word = self.b.ins().ushr(word, low);
        let set = self.b.ins().band_imm_u(word, 1);
        self.jump_with(done, set);
        self.go(done);
        bit
    }

    /// Fills in the next step of the list.
    fn finish_step(&mut self, n: Value, parts: &[(Value, usize)]) {
        self.fill_in(n, parts);
        let next = self.b.ins().iadd_imm_s(n, 1);
        self.store_ctx(next, offset_of!(Ctx, n_steps));
    }

    fn fill_in(&mut self, n: Value, parts: &[(Value, usize)]) {
        let steps = self.load_ctx(types::I64, offset_of!(Ctx, steps));
        let nth = self.wide(n);
        let at = self.b.ins().imul_imm_s(nth, size_of::<RawStep>() as i64);
        let at = self.b.ins().iadd(steps, at);
        for (value, offset) in parts {
            self.b.ins().store(plain(), *value, at, *offset as i32);
        }
    }

    /// From the state at hand; `len` are whole grains, one at least.
    fn copy_grains(&mut self, to: Value, len: Value) {
        assert_eq!(types::I8X16.bytes() as usize, GRAIN, "a grain is what one load takes");
        let zero = self.b.ins().iconst(types::I64, 0);
        let (next, at) = self.join(types::I64);
        let copied = self.block();
        self.jump_with(next, zero);
        self.go(next);
        let from = self.b.ins().iadd(self.vec, at);
        let there = self.b.ins().iadd(to, at);
        let grain = self.b.ins().load(types::I8X16, plain(), from, 0);
        self.b.ins().store(plain(), grain, there, 0);
        let at = self.b.ins().iadd_imm_s(at, GRAIN as i64);
        let more = self.b.ins().icmp(IntCC::UnsignedLessThan, at, len);
        self.b.ins().brif(more, next, &[at.into()], copied, &[]);
        self.go(copied);
    }

    /// Does the steps of this process that were listed from number `from` on.
    fn emit_from(&mut self, from: Value) {
        let me = self.own();
        let (next, n) = self.join(types::I32);
        let (body, done) = (self.block(), self.block());
        self.jump_with(next, from);
        self.go(next);
        let end = self.load_ctx(types::I32, offset_of!(Ctx, n_steps));
        let more = self.b.ins().icmp(IntCC::UnsignedLessThan, n, end);
        self.branch(more, body, done);
        self.go(body);
        let args = [self.ctx, self.vec, me.pid, me.frame, n];
        self.call(self.plan.functions.emit[me.t.index()], &args);
        let n = self.b.ins().iadd_imm_s(n, 1);
        self.jump_with(next, n);
        self.go(done);
    }

    /// `(ctx, state, pid, frame, n)`: does the `n`-th listed step, one of this process, to a copy of the state. The
    /// copy stays unless the interpreter must be asked. The context fits the state again
    /// afterwards: rows of a process that came lie beyond those that count, and one that went leaves its rows behind.
    pub(super) fn emit(&mut self, t: ProctypeId, params: &[Value]) {
        let &[ctx, vec, pid, frame, n] = params else { unreachable!("five parameters") };
        let (out, full) = (self.block(), self.cold());
        // A step that found no room in the list is not there.
        let listed = self.load_ctx(types::I32, offset_of!(Ctx, n_steps));
        let missing = self.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, n, listed);
        self.leave_if(missing, out);
        let steps = self.load_ctx(types::I64, offset_of!(Ctx, steps));
        let nth = self.wide(n);
        let nth = self.b.ins().imul_imm_s(nth, size_of::<RawStep>() as i64);
        let step = self.b.ins().iadd(steps, nth);
        let [edge, partner, half] =
            [offset_of!(RawStep, edge), offset_of!(RawStep, partner), offset_of!(RawStep, half)]
                .map(|at| self.b.ins().load(types::I32, plain(), step, at as i32));
        let asleep = self.load_ctx(types::I64, offset_of!(Ctx, asleep));
        let (named, alone, sleeps, awake) = (self.cold(), self.cold(), self.cold(), self.block());
        self.branch(asleep, named, awake);
        self.go(named);
        let is_alone = self.compare(IntCC::Equal, partner, i64::from(NOBODY as i32));
        self.branch(is_alone, alone, awake);
        self.go(alone);
        let is_asleep = self.is_asleep(asleep, pid, edge);
        self.branch(is_asleep, sleeps, awake);
        self.go(sleeps);
        let code = self.int(Code::SLEEPS);
        let nothing = self.int(0);
        self.fill_in(n, &[(code, offset_of!(RawStep, code)), (nothing, offset_of!(RawStep, len))]);
        self.jump(out);
        self.go(awake);
        let copy = self.load_ctx(types::I64, offset_of!(Ctx, out));
        let last = self.load_ctx(types::I64, offset_of!(Ctx, out_last));
        let short = self.b.ins().icmp(IntCC::UnsignedGreaterThan, copy, last);
        self.leave_if(short, full);
        let len = self.load_ctx(types::I32, offset_of!(Ctx, len));
        let padded = self.load_ctx(types::I64, offset_of!(Ctx, padded));
        self.copy_grains(copy, padded);
        let zero = self.b.ins().iconst(types::I64, 0);
        let n_chans = self.load_ctx(types::I32, offset_of!(Ctx, n_chans));
        let timeout = self.load_ctx(types::I32, offset_of!(Ctx, timeout));
        let none = self.int(0);
        self.store_ctx(none, offset_of!(Ctx, atomic_steps));
        let rounds = self.int(ROUNDS);
        self.store_ctx(rounds, offset_of!(Ctx, rounds));
        let distance = self.b.ins().isub(frame, vec);
        let there = self.b.ins().iadd(copy, distance);
        let call = [ctx, copy, pid, there, edge, partner, half, zero, none];
        let code = self.call(self.plan.functions.apply[t.index()], &call).expect("a result");
        let new_len = self.load_ctx(types::I32, offset_of!(Ctx, len));
        self.store_ctx(len, offset_of!(Ctx, len));
        self.store_ctx(n_chans, offset_of!(Ctx, n_chans));
        self.store_ctx(timeout, offset_of!(Ctx, timeout));
        self.store_ctx(none, offset_of!(Ctx, reshaped));
        self.b.ins().store(plain(), code, step, offset_of!(RawStep, code) as i32);
        let unknown = self.compare(IntCC::Equal, code, i64::from(Code::ASK));
        let keep = self.block();
        self.branch(unknown, out, keep);
        self.go(keep);
        // Zeros up to the end of the grain. If nothing came or went, they are there.
        let (fill, filled) = (self.cold(), self.block());
        let other = self.b.ins().icmp(IntCC::NotEqual, new_len, len);
        self.branch(other, fill, filled);
        self.go(fill);
        let wide = self.wide(new_len);
        let behind = self.b.ins().iadd(copy, wide);
        assert!(GRAIN <= 16 && GRAIN.is_multiple_of(8), "what is between two grains is less than two words of eight");
        self.b.ins().store(plain(), zero, behind, 0);
        self.b.ins().store(plain(), zero, behind, 8);
        self.jump(filled);
        self.go(filled);
        let padded = self.b.ins().iadd_imm_s(new_len, GRAIN as i64 - 1);
        let padded = self.b.ins().band_imm_s(padded, -(GRAIN as i64));
        self.b.ins().store(plain(), padded, step, offset_of!(RawStep, len) as i32);
        let kept = self.load_ctx(types::I32, offset_of!(Ctx, atomic_steps));
        self.b.ins().store(plain(), kept, step, offset_of!(RawStep, atomic_steps) as i32);
        let wide = self.wide(padded);
        let after = self.b.ins().iadd(copy, wide);
        self.store_ctx(after, offset_of!(Ctx, out));
        self.jump(out);
        self.go(full);
        let one = self.int(1);
        self.store_ctx(one, offset_of!(Ctx, overflow));
        self.jump(out);
        self.go(out);
        self.b.ins().return_(&[]);
    }

    /// `(ctx, state, sender, edge, chan, message, n)`: how many can take the message, youngest first; pushes the
    /// handshakes unless the edge is [`NOBODY`].
    pub(super) fn partners(&mut self, params: &[Value]) {
        let plan = self.plan();
        let &[ctx, vec, sender, edge, chan, message, n] = params else { unreachable!("seven parameters") };
        let zero = self.int(0);
        let count = self.b.declare_var(types::I32);
        self.b.def_var(count, zero);
        let all = self.n_procs();
        let (next, pid) = self.join(types::I32);
        let (out, body, go_on) = (self.block(), self.block(), self.block());
        let last = self.b.ins().iadd_imm_s(all, -1);
        self.jump_with(next, last);
        self.go(next);
        let end = self.compare(IntCC::SignedLessThan, pid, 0);
        self.branch(end, out, body);
        self.go(body);
        let own = self.b.ins().icmp(IntCC::Equal, pid, sender);
        self.leave_if(own, go_on);
        let frame = self.frame_of(pid);
        let t = self.proctype_of(frame);
        let takers: Vec<(usize, Block)> = plan
            .system
            .proctypes
            .enumerated()
            .filter(|(_, t)| t.edges.iter().any(takes_messages))
            .map(|(t, _)| (t.index(), self.block()))
            .collect();
        self.switch(t, &takers, go_on);
        for (t, block) in takers {
            self.go(block);
            let args = [ctx, vec, pid, frame, chan, message, n, sender, edge];
            let more = self.call(plan.functions.takes[t], &args).expect("a result");
            let sum = self.b.use_var(count);
            let sum = self.b.ins().iadd(sum, more);
            self.b.def_var(count, sum);
            self.jump(go_on);
        }
        self.go(go_on);
        let before = self.b.ins().iadd_imm_s(pid, -1);
        self.jump_with(next, before);
        self.go(out);
        let sum = self.b.use_var(count);
        self.b.ins().return_(&[sum]);
    }

    /// `(ctx, state, pid, frame, chan, message, n, sender, edge)`: in how many ways this process can take the message.
    pub(super) fn takes(&mut self, t: ProctypeId, params: &[Value]) {
        let plan = self.plan();
        let proctype = &plan.system.proctypes[t];
        let &[_, _, pid, frame, chan, message, n, sender, edge] = params else { unreachable!("nine parameters") };
        self.me = Some(Me { t, pid, frame });
        let count = self.b.declare_var(types::I32);
        let zero = self.int(0);
        self.b.def_var(count, zero);
        let out = self.block();
        let loc = self.loc_of(frame);
        let here = |l: &Loc| proctype.locs[*l].edges.iter().any(|e| takes_messages(&proctype.edges[*e]));
        let waiting: Vec<(usize, Block)> =
            proctype.locs.ids().filter(here).map(|l| (l.index(), self.block())).collect();
        self.switch(loc, &waiting, out);
        for (l, block) in waiting {
            self.go(block);
            if let Some(clause) = &proctype.provided {
                let on = self.block();
                let holds = self.truth(clause, on);
                self.branch(holds, on, out);
                self.go(on);
            }
            let mut known: HashMap<EdgeId, Value> = HashMap::new();
            let edges = &proctype.locs[Loc::new(l)].edges;
            for e in edges {
                if let Some((to, args)) = taker(&proctype.edges[*e]) {
                    let v = self.takes_edge(to, args, chan, message, n);
                    known.insert(*e, v);
                }
            }
            for e in edges {
                let Some(&takes) = known.get(e) else { continue };
                let mut can = takes;
                for guard in &proctype.edges[*e].guards {
                    if let Guard::NoneOf(others) = guard {
                        let here = |o: &EdgeId| known.contains_key(o) || !takes_messages(&proctype.edges[*o]);
                        debug_assert!(others.iter().all(here), "V3: who goes first is asked about");
                        for other in others.iter().filter_map(|o| known.get(o)) {
                            let free = self.compare(IntCC::Equal, *other, 0);
                            can = self.b.ins().band(can, free);
                        }
                    }
                }
                let (yes, push, rest) = (self.block(), self.block(), self.block());
                self.branch(can, yes, rest);
                self.go(yes);
                let sum = self.b.use_var(count);
                let sum = self.b.ins().iadd_imm_s(sum, 1);
                self.b.def_var(count, sum);
                let only_count = self.compare(IntCC::Equal, edge, i64::from(NOBODY as i32));
                self.branch(only_count, rest, push);
                self.go(push);
                let half = self.int(e.index() as i32);
                self.push(sender, edge, pid, half);
                self.jump(rest);
                self.go(rest);
            }
            self.jump(out);
        }
        self.go(out);
        let sum = self.b.use_var(count);
        self.b.ins().return_(&[sum]);
    }

    /// A receive whose number of fields is wrong takes the message, so that the fault is met.
    fn takes_edge(&mut self, to: &Expr, args: &[Pattern], chan: Value, message: Value, n: Value) -> Value {
        let (done, result) = self.join(types::I8);
        let (yes, no) = (self.block(), self.block());
        let there = self.value(to, no);
        let other = self.b.ins().icmp(IntCC::NotEqual, there, chan);
        self.leave_if(other, no);
        let odd = self.compare(IntCC::NotEqual, n, args.len() as i64);
        self.leave_if(odd, yes);
        self.matches_words(args, message, no, yes);
        self.jump(yes);
        for (block, v) in [(yes, 1), (no, 0)] {
            self.go(block);
            let v = self.b.ins().iconst(types::I8, v);
            self.jump_with(done, v);
        }
        self.go(done);
        result
    }

    /// `(ctx, state, pid)`: has this process a step? Leaves the list of steps as it was.
    pub(super) fn can_move(&mut self, params: &[Value]) {
        let plan = self.plan();
        let before = self.load_ctx(types::I32, offset_of!(Ctx, n_steps));
        let frame = self.frame_of(params[2]);
        let t = self.proctype_of(frame);
        let done = self.block();
        let blocks = self.switch_all(t, plan.system.proctypes.len());
        for (block, f) in blocks.into_iter().zip(&plan.functions.moves) {
            self.go(block);
            let args = [params[0], params[1], params[2], frame];
            self.call(*f, &args);
            self.jump(done);
        }
        self.go(done);
        let after = self.load_ctx(types::I32, offset_of!(Ctx, n_steps));
        self.store_ctx(before, offset_of!(Ctx, n_steps));
        let can = self.b.ins().icmp(IntCC::NotEqual, after, before);
        let can = self.b.ins().uextend(types::I32, can);
        self.b.ins().return_(&[can]);
    }
}

/// The half of a handshake that this edge can be.
fn taker(edge: &spinor_model::ir::Edge) -> Option<(&Expr, &[Pattern])> {
    match edge.effects.first() {
        Some(Effect::Receive { chan, keep: false, args, .. }) => Some((chan, args)),
        _ => None,
    }
}

fn takes_messages(edge: &spinor_model::ir::Edge) -> bool {
    taker(edge).is_some()
}
