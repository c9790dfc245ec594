//! The trace assertion moves along with what is sent and received.

use super::Gen;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value, types};
use spinor_model::index::Idx;
use spinor_model::ir::{Edge, Effect, Expr, Pattern};

impl Gen<'_, '_> {
    /// `(ctx, state, chan, message, n)`: 0, or 1 if the interpreter must say what is wrong.
    pub(super) fn event(&mut self, send: bool, params: &[Value]) {
        let plan = self.plan();
        let &[_, _, chan, message, n_fields] = params else { unreachable!("five parameters") };
        let (fine, wrong) = (self.block(), self.cold());
        if let Some(monitor) = &plan.system.monitor {
            let graph = &monitor.graph;
            let field = plan.layout.monitor;
            let at = self.load(self.vec, field);
            let disarmed = self.compare(IntCC::SignedGreaterThanOrEqual, at, graph.locs.len() as i64);
            self.leave_if(disarmed, fine);
            // Is any edge about this channel?
            let named = self.block();
            let mut seen: Vec<&Expr> = Vec::new();
            for (e, _) in graph.edges.iter().filter_map(|e| about(e, send)) {
                if !seen.contains(&e) {
                    seen.push(e);
                    let next = self.block();
                    let id = self.value(e, next);
                    let same = self.b.ins().icmp(IntCC::Equal, id, chan);
                    self.branch(same, named, next);
                    self.go(next);
                }
            }
            self.jump(fine);
            self.go(named);
            let moved = self.block();
            let to = self.b.append_block_param(moved, types::I32);
            assert!(
                1 << (8 * u32::from(field.bytes)) > graph.locs.len() as u64,
                "one past its locations it is disarmed"
            );
            let locs = self.switch_all(at, graph.locs.len());
            for (block, loc) in locs.into_iter().zip(graph.locs.iter()) {
                self.go(block);
                let count = self.b.declare_var(types::I32);
                let target = self.b.declare_var(types::I32);
                let zero = self.int(0);
                self.b.def_var(count, zero);
                let nowhere = self.int(graph.locs.len() as i32);
                self.b.def_var(target, nowhere);
                for edge in loc.edges.iter().map(|e| &graph.edges[*e]) {
                    let Some((e, args)) = about(edge, send) else { continue };
                    assert!(seen.contains(&e), "who can go on was asked whether the channel is named");
                    let next = self.block();
                    self.fits(e, args, chan, (message, n_fields), next);
                    let n = self.b.use_var(count);
                    let n = self.b.ins().iadd_imm_s(n, 1);
                    self.b.def_var(count, n);
                    assert!(edge.to.index() < graph.locs.len(), "V1: a trace that goes on is not disarmed");
                    let to = self.int(edge.to.index() as i32);
                    self.b.def_var(target, to);
                    self.jump(next);
                    self.go(next);
                }
                let n = self.b.use_var(count);
                let several = self.compare(IntCC::SignedGreaterThan, n, 1);
                self.leave_if(several, wrong);
                if !monitor.negated {
                    let none = self.compare(IntCC::Equal, n, 0);
                    self.leave_if(none, wrong);
                }
                let to = self.b.use_var(target);
                self.jump_with(moved, to);
            }
            self.go(moved);
            self.store(self.vec, field, to);
            if monitor.negated {
                let ended = self.compare(IntCC::Equal, to, graph.end.index() as i64);
                self.leave_if(ended, wrong);
            }
        }
        self.jump(fine);
        for (block, answer) in [(fine, 0), (wrong, 1)] {
            self.go(block);
            let v = self.int(answer);
            self.b.ins().return_(&[v]);
        }
    }

    /// Goes on if the message fits this edge, else to `no`.
    fn fits(&mut self, e: &Expr, args: &[Pattern], chan: Value, (message, n): (Value, Value), no: Block) {
        let id = self.value(e, no);
        let other = self.b.ins().icmp(IntCC::NotEqual, id, chan);
        self.leave_if(other, no);
        // Patterns beyond the message's fields match anything.
        let all = self.block();
        for (i, arg) in args.iter().enumerate() {
            let end = self.compare(IntCC::SignedLessThanOrEqual, n, i as i64);
            self.leave_if(end, all);
            if let Pattern::Equal(e) = arg {
                let v = self.value(e, no);
                let there = self.load_word(message, i);
                let differs = self.b.ins().icmp(IntCC::NotEqual, v, there);
                self.leave_if(differs, no);
            }
        }
        self.jump(all);
        self.go(all);
    }
}

/// The channel and the message that an edge waits for.
fn about(edge: &Edge, send: bool) -> Option<(&Expr, &[Pattern])> {
    match edge.effects.first() {
        Some(Effect::Event { send: s, chan, args }) if *s == send => Some((chan, args)),
        _ => None,
    }
}
