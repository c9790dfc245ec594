//! `for` and `select`: loops that are written short and numbered as if they were written out.

use super::elements::{Builder, El, Item, Jump, Kind, Trivial};
use crate::ast::{self, Seq, VarRef};
use spinor_model::diagnostic::Diagnostic;
use spinor_model::ir::{BinOp, Effect, Expr, Guard, Pattern, Place, Probe};
use spinor_model::source::Span;

/// A `for`.
pub(super) struct Loop<'a> {
    pub var: Place,
    pub from: Expr,
    /// Holds while there is another round.
    pub test: Expr,
    /// Channel operations before the body.
    pub each: Vec<Effect>,
    pub body: &'a Seq,
    pub span: Span,
    /// Where its steps are shown: the first, the test, the next, the last.
    pub at: [Span; 4],
}

impl Builder<'_> {
    /// `i = from; do :: test -> each; body; i++ :: else -> break od`
    pub fn for_loop(&mut self, l: Loop<'_>) -> Vec<Item> {
        let set = |value| Effect::Assign { to: l.var.clone(), value };
        let [first, again, next, otherwise_at] = l.at;
        let start = self.add_stmt(vec![], vec![set(l.from)], Trivial::No, first);
        self.breaks.push(vec![]);
        let test = self.add_stmt(vec![Guard::Holds(l.test)], vec![], Trivial::No, again);
        let mut last = test;
        for effect in l.each {
            let el = self.add_stmt(vec![Guard::Channel], vec![effect], Trivial::No, again);
            self.list[last].next = Some(el);
            last = el;
        }
        let items = self.scoped(l.body);
        let up = Expr::Binary(BinOp::Add, Box::new(Expr::Read(l.var.clone())), Box::new(Expr::Const(1)));
        let step = self.add_stmt(vec![], vec![set(up)], Trivial::No, next);
        self.link(&items, step);
        self.list[last].next = Some(items.first().map_or(step, |i| i.entry));
        let otherwise = self.add_stmt(vec![], vec![], Trivial::Else, otherwise_at);
        let leave = self.add_jump(otherwise_at);
        self.list[otherwise].next = Some(leave);
        let head = self.add(Kind::Head(vec![test, otherwise]), l.span);
        let join = self.add_join(l.span);
        let exit = self.add(Kind::Jump(Jump::Exit), l.span);
        self.list[step].next = Some(head);
        self.list[join].next = Some(head);
        self.list[leave].next = Some(exit);
        for b in self.breaks.pop().expect("the loop's own") {
            self.list[b].next = Some(exit);
        }
        self.list[start].next = Some(head);
        vec![Item { entry: start, exits: vec![start] }, Item { entry: head, exits: vec![exit] }]
    }

    pub fn for_in(&mut self, var: &VarRef, over: &VarRef, body: &Seq, span: Span) -> Vec<Item> {
        let from = Expr::Const(0);
        if let Some(len) = self.lower.array_len(over) {
            let Some(place) = self.lower.place(var) else { return self.nothing(span) };
            let test = at_most(&place, Expr::Const(len as i32 - 1));
            return self.for_loop(Loop { var: place, from, test, each: vec![], body, span, at: [var.span; 4] });
        }
        // Over a channel: every message goes round once.
        let chan = self.lower.chan(over);
        let counter = self.lower.loop_counter(span);
        let fields = self.lower.places(var);
        if let Some((types, decl)) = self.lower.known_fields(over)
            && types.len() != fields.len()
        {
            self.lower.report(
                Diagnostic::error("P0307", "the loop variable does not have the fields of the channel")
                    .at(var.span, format!("{} value(s)", fields.len()))
                    .label(decl, format!("{} field(s)", types.len())),
            );
        }
        let len = Expr::Probe(Probe::Len, Box::new(chan.clone()));
        let test = Expr::Binary(BinOp::Lt, Box::new(Expr::Read(counter.clone())), Box::new(len));
        let args = fields.iter().cloned().map(Pattern::Bind).collect();
        let values = fields.into_iter().map(Expr::Read).collect();
        let each = vec![
            Effect::Receive { chan: chan.clone(), random: false, keep: false, args },
            Effect::Send { chan, sorted: false, args: values },
        ];
        self.for_loop(Loop { var: counter, from, test, each, body, span, at: [var.span; 4] })
    }

    pub fn select(&mut self, var: &VarRef, from: &ast::Expr, to: &ast::Expr, literal: bool, span: Span) -> Vec<Item> {
        let Some(place) = self.lower.place(var) else { return self.nothing(span) };
        let (from, to) = (self.lower.expr(from), self.lower.expr(to));
        // SPIN writes out the values of literal bounds while it reads the text, but not inside an inline.
        let written_out = literal && self.inlines == 0;
        if written_out
            && let (Expr::Const(a), Expr::Const(b)) = (&from, &to)
            && *a <= *b
            && i64::from(*b) - i64::from(*a) <= 32
        {
            let options: Vec<El> = (*a..=*b)
                .map(|n| {
                    let effect = Effect::Assign { to: place.clone(), value: Expr::Const(n) };
                    self.add_stmt(vec![], vec![effect], Trivial::No, span)
                })
                .collect();
            let head = self.add(Kind::Head(options.clone()), span);
            let join = self.add_join(span);
            for o in options {
                self.list[o].next = Some(join);
            }
            return vec![Item { entry: head, exits: vec![join] }];
        }
        let assign = |value| Effect::Assign { to: place.clone(), value };
        let read = || Box::new(Expr::Read(place.clone()));
        let start = self.add_stmt(vec![], vec![assign(from)], Trivial::No, span);
        let below = Guard::Holds(Expr::Binary(BinOp::Lt, read(), Box::new(to)));
        let test = self.add_stmt(vec![below], vec![], Trivial::No, span);
        let up = Expr::Binary(BinOp::Add, read(), Box::new(Expr::Const(1)));
        let step = self.add_stmt(vec![], vec![assign(up)], Trivial::No, span);
        let leave = self.add_jump(span);
        let order = if written_out { vec![test, leave] } else { vec![leave, test] };
        let head = self.add(Kind::Head(order), span);
        let join = self.add_join(span);
        let exit = self.add(Kind::Jump(Jump::Exit), span);
        self.list[start].next = Some(head);
        self.list[test].next = Some(step);
        self.list[step].next = Some(head);
        self.list[join].next = Some(head);
        self.list[leave].next = Some(exit);
        vec![Item { entry: start, exits: vec![start] }, Item { entry: head, exits: vec![exit] }]
    }
}

pub(super) fn at_most(var: &Place, bound: Expr) -> Expr {
    Expr::Binary(BinOp::Le, Box::new(Expr::Read(var.clone())), Box::new(bound))
}
