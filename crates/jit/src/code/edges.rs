//! What becomes of a state when an edge is taken: the model's `work.rs` in native code.
//!
//! One function per proctype does any of its edges. A `d_step` is a walk through the blocks of its edges, and so is
//! an `atomic` as long as the next statement is the only one and always runs; other choices go back to the driver.
//! Whatever faults goes to the block `ask`: the interpreter does the step again and says what is wrong.

use super::chan::Chan;
use super::{Blame, Gen, Me, Mode};
use crate::ctx::{Code, Ctx, NOBODY, RECEIVER};
use crate::statics::Class;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value, types};
use cranelift_frontend::Variable;
use spinor_model::index::Idx;
use spinor_model::ir::{Edge, EdgeId, Effect, Expr, Guard, Loc, Pattern, Proctype, ProctypeId, Then};
use spinor_model::range::Range;
use std::collections::{BTreeMap, HashMap};
use std::mem::offset_of;

/// The blocks of one proctype's edges, and what they were called with.
struct Walk<'a> {
    t: &'a Proctype,
    edges: Vec<Block>,
    /// Locations inside a `d_step`: where its next edge is chosen.
    choices: BTreeMap<Loc, Block>,
    /// Who answers, [`NOBODY`] or [`RECEIVER`].
    partner: Variable,
    half: Value,
    message: Value,
    chan: Value,
    ask: Block,
}

impl Gen<'_, '_> {
    /// `(ctx, state, pid, frame, edge, partner, half, message, chan)`; for a receiver `half` is the number of fields.
    pub(super) fn apply(&mut self, t: ProctypeId, params: &[Value]) {
        let plan = self.plan();
        let proctype = &plan.system.proctypes[t];
        let &[_, _, pid, frame, edge, partner, half, message, chan] = params else { unreachable!("nine parameters") };
        self.me = Some(Me { t, pid, frame });
        let var = self.b.declare_var(types::I32);
        self.b.def_var(var, partner);
        let ask = self.cold();
        assert!(!proctype.edges.is_empty(), "V2: there is an end");
        let edges = self.switch_all(edge, proctype.edges.len());
        let mut walk = Walk { t: proctype, edges, choices: BTreeMap::new(), partner: var, half, message, chan, ask };
        for (id, _) in proctype.edges.enumerated() {
            self.edge(id, &mut walk);
        }
        // Choosing adds no further choices: the edges chosen from are written already.
        for (loc, block) in std::mem::take(&mut walk.choices) {
            self.choose(loc, block, &walk);
        }
        self.go(ask);
        let code = self.int(Code::ASK);
        self.b.ins().return_(&[code]);
    }

    fn edge(&mut self, id: EdgeId, walk: &mut Walk<'_>) {
        let edge = &walk.t.edges[id];
        let ask = walk.ask;
        self.go(walk.edges[id.index()]);
        let blame = Blame::Edge(self.edge_number(self.own().t, id));
        self.at = Some(blame);
        self.mark(offset_of!(Ctx, reached), blame);
        match edge.effects.first() {
            Some(Effect::Send { chan: e, sorted, args }) => {
                self.meet_guards(edge, walk.t, ask);
                let (done, id, chan) = (self.block(), self.number_if_asked(e, ask), self.chan(e, ask));
                self.by_class(chan, |g, class| {
                    if class.capacity == 0 {
                        return g.handshake(edge, class, e, args, walk);
                    }
                    g.send(chan, class, *sorted, id, args, ask);
                    g.jump(done);
                });
                self.go(done);
            }
            Some(Effect::Receive { chan: e, random, keep, args }) => {
                let (alone, half, done) = (self.block(), self.block(), self.block());
                let partner = self.b.use_var(walk.partner);
                let receives = self.compare(IntCC::Equal, partner, i64::from(RECEIVER as i32));
                self.branch(receives, half, alone);
                self.go(half);
                self.receive_half(args, walk);
                self.jump(done);
                self.go(alone);
                self.meet_guards(edge, walk.t, ask);
                let (id, chan) = (self.number_if_asked(e, ask), self.chan(e, ask));
                self.receive_alone(chan, (*random, *keep), id, args, ask, done);
                self.go(done);
            }
            first => {
                self.meet_guards(edge, walk.t, ask);
                if let Some(effect) = first {
                    self.effect(effect, ask);
                }
            }
        }
        for effect in edge.effects.iter().skip(1) {
            self.effect(effect, ask);
        }
        self.go_on(edge, walk);
        self.at = None;
    }

    fn receive_alone(
        &mut self,
        chan: Chan,
        kind: (bool, bool),
        id: Option<Value>,
        args: &[Pattern],
        ask: Block,
        done: Block,
    ) {
        self.by_class(chan, |g, class| {
            g.receive(chan, class, kind, id, args, ask);
            g.jump(done);
        });
    }

    /// An edge after which anyone may move, that no process comes or goes by and nobody has to answer: most are such.
    pub(super) fn is_plain(&self, edge: &Edge) -> bool {
        let statics = &self.plan.statics;
        let waits = |chan: &Expr| match chan {
            Expr::Read(place) => match statics.fixed(self.plan.layout, place, self.me.map(|me| me.t)) {
                Some(fixed) => statics.classes[fixed.class].capacity == 0,
                None => statics.classes.iter().any(|c| c.capacity == 0),
            },
            _ => statics.classes.iter().any(|c| c.capacity == 0),
        };
        let plain = |effect: &Effect| match effect {
            Effect::Send { chan, .. } | Effect::Receive { chan, .. } => !waits(chan),
            Effect::Run { .. } | Effect::End => false,
            Effect::Assign { .. } | Effect::SetPriority { .. } | Effect::Event { .. } => true,
            Effect::Assert(_) | Effect::Print { .. } | Effect::PrintName(..) => true,
        };
        edge.then == Then::Yield && edge.effects.iter().all(plain)
    }

    /// Does a plain edge to the state at hand.
    pub(super) fn plain_edge(&mut self, t: &Proctype, id: EdgeId, ask: Block) {
        let edge = &t.edges[id];
        debug_assert!(self.is_plain(edge), "nobody comes or goes, and nobody answers");
        let blame = Blame::Edge(self.edge_number(self.own().t, id));
        self.at = Some(blame);
        self.mark(offset_of!(Ctx, reached), blame);
        self.meet_guards(edge, t, ask);
        match edge.effects.first() {
            Some(Effect::Send { chan: e, sorted, args }) => {
                let (done, id, chan) = (self.block(), self.number_if_asked(e, ask), self.chan(e, ask));
                self.by_class(chan, |g, class| {
                    g.send(chan, class, *sorted, id, args, ask);
                    g.jump(done);
                });
                self.go(done);
            }
            Some(Effect::Receive { chan: e, random, keep, args }) => {
                let (done, id, chan) = (self.block(), self.number_if_asked(e, ask), self.chan(e, ask));
                self.receive_alone(chan, (*random, *keep), id, args, ask, done);
                self.go(done);
            }
            Some(effect) => self.effect(effect, ask),
            None => {}
        }
        for effect in edge.effects.iter().skip(1) {
            self.effect(effect, ask);
        }
        let me = self.own();
        self.set_loc(me, edge.to);
        self.set_last(me);
        self.at = None;
    }

    /// A guard that faults was counted as holding; here it asks. And a process that steps has looked at channels.
    fn meet_guards(&mut self, edge: &Edge, t: &Proctype, ask: Block) {
        if let Some(clause) = &t.provided {
            self.meet_fault(clause, ask);
        }
        for guard in &edge.guards {
            if let Guard::Holds(e) = guard {
                self.meet_fault(e, ask);
            }
        }
        if self.plan.statics.has_promises {
            for (chan, sides) in looks(t, edge) {
                let (skip, rest) = (self.block(), self.block());
                let id = self.value(chan, skip);
                for send in sides {
                    self.pay_promise(*send, Some(id), ask);
                }
                self.jump(rest);
                self.go(skip);
                self.jump(rest);
                self.go(rest);
            }
        }
    }

    /// The sender moves, then the receiver takes the message and the floor. Ends the block.
    fn handshake(&mut self, edge: &Edge, class: &Class, chan: &Expr, args: &[Expr], walk: &Walk<'_>) {
        let ask = walk.ask;
        let plan = self.plan();
        let partner = self.b.use_var(walk.partner);
        let alone = self.compare(IntCC::Equal, partner, i64::from(NOBODY as i32));
        self.leave_if(alone, ask);
        if edge.in_d_step || args.len() != class.fields.len() {
            return self.jump(ask);
        }
        let id = self.value(chan, ask);
        assert_eq!(class.capacity, 0, "what has slots needs no partner");
        let message = self.message(args, &class.types, ask);
        let words = self.in_words(&message);
        self.pay_promise(true, Some(id), ask);
        self.tell_monitor_words(true, id, words, message.len(), ask);
        for effect in &edge.effects[1..] {
            self.effect(effect, ask);
        }
        let me = self.own();
        self.set_loc(me, edge.to);
        self.set_last(me);
        let frame = self.frame_of(partner);
        let t = self.proctype_of(frame);
        let blocks = self.switch_all(t, plan.system.proctypes.len());
        for (block, f) in blocks.into_iter().zip(&plan.functions.apply) {
            self.go(block);
            let receiver = self.int(RECEIVER as i32);
            let n = self.int(message.len() as i32);
            let call = [self.ctx, self.vec, partner, frame, walk.half, receiver, n, words, id];
            let code = self.call(*f, &call).expect("a result");
            self.b.ins().return_(&[code]);
        }
    }

    fn receive_half(&mut self, args: &[Pattern], walk: &Walk<'_>) {
        let ask = walk.ask;
        let odd = self.compare(IntCC::NotEqual, walk.half, args.len() as i64);
        self.leave_if(odd, ask);
        self.pay_promise(false, Some(walk.chan), ask);
        // What the trace compares with is what was there before.
        self.tell_monitor_words(false, walk.chan, walk.message, args.len(), ask);
        let message: Vec<Value> = (0..args.len()).map(|n| self.load_word(walk.message, n)).collect();
        self.bind(args, &message, &[], ask);
    }

    fn effect(&mut self, effect: &Effect, ask: Block) {
        match effect {
            Effect::Assign { to, value } => {
                let v = self.value(value, ask);
                self.assign(to, v, Range::of(value).bounds(), ask);
            }
            Effect::Run { proctype, args, priority } => {
                let values: Vec<Value> = args.iter().map(|e| self.value(e, ask)).collect();
                let words = self.in_words(&values);
                let priority = self.int(i32::from(*priority));
                let Some(Blame::Edge(n)) = self.at else { unreachable!("an edge is to blame") };
                let marks = self.load_ctx(types::I64, offset_of!(Ctx, truncated));
                let byte = self.ptr(marks, i64::from(n));
                let call = [self.ctx, self.vec, words, priority, byte];
                let pid = self.call(self.plan.functions.run[proctype.index()], &call).expect("a result");
                let failed = self.compare(IntCC::SignedLessThan, pid, 0);
                self.leave_if(failed, ask);
                self.store_ctx(pid, offset_of!(Ctx, new_pid));
            }
            Effect::Assert(e) => {
                let holds = self.truth(e, ask);
                let (fine, fails) = (self.block(), self.cold());
                self.branch(holds, fine, fails);
                self.go(fails);
                let heeded = self.load_ctx(types::I32, offset_of!(Ctx, heed_assertions));
                self.branch(heeded, ask, fine);
                self.go(fine);
            }
            Effect::Print { args, .. } => args.iter().for_each(|e| self.meet_fault(e, ask)),
            Effect::PrintName(e, _) => self.meet_fault(e, ask),
            Effect::SetPriority { pid, value } => {
                let pid = self.value(pid, ask);
                let value = self.value(value, ask);
                let below = self.b.ins().iadd_imm_s(value, -1);
                let limit = self.int(255);
                let outside = self.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, below, limit);
                self.leave_if(outside, ask);
                let live = self.is_live(pid);
                let (yes, rest) = (self.block(), self.block());
                self.branch(live, yes, rest);
                self.go(yes);
                let frame = self.frame_of(pid);
                let field = self.plan.layout.priority;
                assert!(field.bytes > 0, "who sets priorities uses them");
                self.store(frame, field, value);
                self.jump(rest);
                self.go(rest);
            }
            Effect::End => {}
            Effect::Send { .. } | Effect::Receive { .. } | Effect::Event { .. } => {
                unreachable!("validator rules V5 and V14: {effect:?}")
            }
        }
    }

    fn set_loc(&mut self, me: Me, loc: Loc) {
        assert!(loc.index() < self.plan.system.proctypes[me.t].locs.len(), "V1: it goes where there is something");
        let n = self.int(loc.index() as i32);
        let field = self.plan.layout.loc;
        self.store(me.frame, field, n);
    }

    fn set_last(&mut self, me: Me) {
        let field = self.plan.layout.last;
        self.store(self.vec, field, me.pid);
    }

    /// The process has done an edge: it moves on, and runs a `d_step` to its end. Ends the block.
    fn go_on(&mut self, edge: &Edge, walk: &mut Walk<'_>) {
        let me = self.own();
        if edge.ends() {
            assert_eq!((edge.from, edge.effects.len()), (walk.t.end, 1), "V2: a death is at the end, and nothing else");
            self.set_last(me);
            self.die(me);
            let code = self.int(Code::YIELDS);
            self.b.ins().return_(&[code]);
            return;
        }
        self.set_loc(me, edge.to);
        match edge.then {
            Then::Yield => {
                self.set_last(me);
                let code = self.int(Code::YIELDS);
                self.b.ins().return_(&[code]);
            }
            Then::Atomic => {
                self.set_last(me);
                if let Some(next) = self.silent(walk.t, edge.to) {
                    self.add_ctx(offset_of!(Ctx, atomic_steps), 1);
                    let zero = self.int(0);
                    self.store_ctx(zero, offset_of!(Ctx, timeout));
                    self.another_round(walk.ask);
                    self.walk_to(next, walk);
                } else {
                    self.store_ctx(me.pid, offset_of!(Ctx, floor));
                    let code = self.int(Code::KEEPS_FLOOR);
                    self.b.ins().return_(&[code]);
                }
            }
            Then::DStep => {
                let block = match walk.choices.get(&edge.to) {
                    Some(block) => *block,
                    None => {
                        let block = self.block();
                        walk.choices.insert(edge.to, block);
                        block
                    }
                };
                self.jump(block);
            }
        }
    }

    fn another_round(&mut self, ask: Block) {
        let left = self.add_ctx(offset_of!(Ctx, rounds), -1);
        let none = self.compare(IntCC::SignedLessThan, left, 0);
        self.leave_if(none, ask);
    }

    fn walk_to(&mut self, next: EdgeId, walk: &Walk<'_>) {
        let nobody = self.int(NOBODY as i32);
        self.b.def_var(walk.partner, nobody);
        self.jump(walk.edges[next.index()]);
    }

    /// Inside a `d_step`: the first edge that can run.
    fn choose(&mut self, loc: Loc, block: Block, walk: &Walk<'_>) {
        self.go(block);
        self.another_round(walk.ask);
        let mut known = HashMap::new();
        for &edge in &walk.t.locs[loc].edges {
            assert!(
                walk.t.edges[edge].from == loc && !walk.t.edges[edge].ends(),
                "V1, V2: nobody ends inside a d_step"
            );
            let ready = self.ready(walk.t, edge, Mode::Ask, &mut known);
            let (yes, no) = (self.block(), self.block());
            self.branch(ready, yes, no);
            self.go(yes);
            self.walk_to(edge, walk);
            self.go(no);
        }
        self.jump(walk.ask);
    }

    /// The only statement at a location, if it always runs and nobody could be first.
    fn silent(&self, t: &Proctype, loc: Loc) -> Option<EdgeId> {
        let [next] = t.locs[loc].edges[..] else { return None };
        assert_eq!(t.edges[next].from, loc, "V1");
        let free = t.edges[next].guards.is_empty() && t.provided.is_none() && !self.plan.system.uses.priorities;
        free.then_some(next)
    }

    /// The youngest process is gone, and its channels with it.
    fn die(&mut self, me: Me) {
        let plan = self.plan();
        let len = self.b.ins().isub(me.frame, self.vec);
        let len = self.b.ins().ireduce(types::I32, len);
        self.store_ctx(len, offset_of!(Ctx, len));
        let field = plan.layout.n_procs;
        self.store(self.vec, field, me.pid);
        let chans = plan.system.proctypes[me.t].frame.chans.len();
        assert_eq!(chans, plan.statics.local_chans[me.t.index()].len(), "as many go as came");
        self.add_ctx(offset_of!(Ctx, n_chans), -(chans as i64));
        let one = self.int(1);
        self.store_ctx(one, offset_of!(Ctx, reshaped));
    }
}

/// The channels that a process has looked at when it takes this edge, and the sides that this tells about.
fn looks<'e>(t: &'e Proctype, taken: &'e Edge) -> Vec<(&'e Expr, &'static [bool])> {
    let mut out = Vec::new();
    let mut look = |e: &'e Expr| out.extend(e.sides());
    for edge in &t.locs[taken.from].edges {
        for guard in &t.edges[*edge].guards {
            if let Guard::Holds(e) = guard {
                e.each_part(&mut look);
            }
        }
    }
    for effect in &taken.effects {
        effect.each_expr(&mut |e| e.each_part(&mut look));
    }
    out
}
