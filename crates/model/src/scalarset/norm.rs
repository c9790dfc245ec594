//! Who is told apart by being named (A2 of the module).
//!
//! An expression is written down with the names of two processes exchanged. If it reads as before, up to the order
//! of operands that commute, it cannot tell the two apart. Operands that may fault keep their order: which of them is
//! looked at first matters then.

use super::born::Born;
use super::flow::{Flow, SlotNode, indices};
use super::{Break, first_of};
use crate::index::Idx;
use crate::ir::{BinOp, Edge, Effect, Expr, Guard, Pattern, Pid, Place, ProctypeId, UnOp};
use crate::range::Range;
use crate::source::Span;
use std::cell::Cell;

pub(super) struct Names<'f, 's> {
    flow: &'f Flow<'s>,
    born: &'f Born,
    looked: &'f [Expr],
}

/// A way to write: with these two exchanged.
struct Pen<'f, 's> {
    flow: &'f Flow<'s>,
    born: &'f Born,
    swap: (i32, i32),
    /// Whose variables are local.
    own: usize,
    /// Somebody was named.
    named: Cell<bool>,
}

impl<'f, 's> Names<'f, 's> {
    pub fn new(flow: &'f Flow<'s>, born: &'f Born, looked: &'f [Expr]) -> Self {
        Names { flow, born, looked }
    }

    /// What tells two processes apart.
    pub fn told_apart(&self, p: Pid, q: Pid) -> Option<Break> {
        let (p, q) = (i32::from(p), i32::from(q));
        let same = |own: usize, write: &dyn Fn(&Pen<'f, 's>) -> String| {
            let pen = |swap| Pen { flow: self.flow, born: self.born, swap, own, named: Cell::new(false) };
            let before = pen((0, 0));
            let text = write(&before);
            !before.named.get() || text == write(&pen((p, q)))
        };
        let told = |span: Span, what: &str| {
            let why = format!("{what} tells process {p} from process {q}");
            Some(Break { span, why })
        };
        for (id, t) in self.flow.system.proctypes.enumerated() {
            let own = 1 + id.index();
            if let Some(clause) = &t.provided
                && !same(own, &|pen| pen.truth(clause))
            {
                return told(t.span, "a `provided` clause");
            }
            for promise in &t.promises {
                if !same(own, &|pen| pen.place(&promise.chan)) {
                    return told(promise.span, "a promise");
                }
            }
            for edge in t.edges.iter().filter(|e| self.born.reaches(id, e.from)) {
                if !same(own, &|pen| pen.edge(edge, Some(id))) {
                    return told(edge.span, "a statement");
                }
            }
        }
        for edge in self.flow.system.monitor.iter().flat_map(|m| &m.graph.edges) {
            if !same(0, &|pen| pen.edge(edge, None)) {
                return told(edge.span, "the trace assertion");
            }
        }
        for e in self.looked {
            if !same(0, &|pen| pen.truth(e)) {
                return told(Span::default(), "the property");
            }
        }
        None
    }
}

impl Pen<'_, '_> {
    fn edge(&self, edge: &Edge, id: Option<ProctypeId>) -> String {
        let mut out = String::new();
        for guard in &edge.guards {
            if let Guard::Holds(e) = guard {
                out += &self.truth(e);
                out.push(';');
            }
        }
        for (n, effect) in edge.effects.iter().enumerate() {
            out += &match effect {
                Effect::Assign { to, value } => {
                    let dead = id.is_some_and(|id| self.flow.is_dead(edge, n, id));
                    let constant = dead && matches!(value, Expr::Const(_));
                    let offset = if constant { None } else { self.flow.offset(self.leaf(to).node) };
                    format!("{}={}", self.place(to), self.expr(value, offset))
                }
                Effect::Send { chan, args, .. } => {
                    let each = args.iter().enumerate().map(|(n, e)| self.expr(e, self.field(chan, n)));
                    format!("{}!{}", self.expr(chan, None), each.collect::<Vec<_>>().join(","))
                }
                Effect::Receive { chan, args, .. } | Effect::Event { chan, args, .. } => self.receive(chan, args),
                Effect::Assert(e) => self.truth(e),
                Effect::Print { args, .. } => args
                    .iter()
                    .filter(|e| Range::of(e).faults)
                    .map(|e| self.expr(e, None))
                    .collect::<Vec<_>>()
                    .join(","),
                Effect::Run { .. } | Effect::PrintName(..) | Effect::SetPriority { .. } | Effect::End => String::new(),
            };
            out.push(';');
        }
        out
    }

    fn receive(&self, chan: &Expr, args: &[Pattern]) -> String {
        let each = args.iter().enumerate().map(|(n, arg)| match arg {
            Pattern::Bind(place) => self.place(place),
            Pattern::Equal(e) => format!("={}", self.expr(e, self.field(chan, n))),
            Pattern::Any => "_".to_string(),
        });
        format!("{}?{}", self.expr(chan, None), each.collect::<Vec<_>>().join(","))
    }

    /// The offset of a field of the messages of a channel.
    fn field(&self, chan: &Expr, n: usize) -> Option<i32> {
        let holder = match chan {
            Expr::Read(place) => self.leaf(place).node,
            Expr::Remote { proctype, place, .. } => self.flow.leaf(1 + proctype.index(), place).node,
            Expr::Cond(_, a, b) => return self.field(a, n).or(self.field(b, n)),
            _ => return None,
        };
        self.flow.offset(self.flow.field_of(holder, n)?)
    }

    fn leaf(&self, place: &Place) -> &SlotNode {
        self.flow.leaf(self.own, place)
    }

    /// A constant, which may be the name of a process.
    fn constant(&self, c: i32, offset: Option<i32>) -> String {
        let Some(offset) = offset else { return c.to_string() };
        self.named.set(true);
        let (p, q) = self.swap;
        let name = match c.wrapping_add(offset) {
            n if n == p => q,
            n if n == q => p,
            n => n,
        };
        format!("#{name}")
    }

    fn place(&self, place: &Place) -> String {
        self.slot(self.leaf(place), place)
    }

    fn slot(&self, slot: &SlotNode, place: &Place) -> String {
        let mut out = format!("v{}", slot.node);
        for (dim, index) in indices(slot, place) {
            let offset = self.flow.offset(dim.node);
            let index = match index {
                Some(e) => self.expr(e, offset),
                None => self.constant(dim.index as i32, offset),
            };
            out += &format!("[{index}]");
        }
        out
    }

    /// If the value of an expression is the number of a process: minus this.
    fn offset(&self, e: &Expr) -> Option<i32> {
        match e {
            Expr::Read(place) => self.flow.offset(self.leaf(place).node),
            Expr::Remote { proctype, place, .. } => self.flow.offset(self.flow.leaf(1 + proctype.index(), place).node),
            Expr::Pid | Expr::Last | Expr::NewPid => Some(0),
            Expr::Binary(BinOp::Add, a, b) => match (&**a, &**b) {
                (e, Expr::Const(c)) | (Expr::Const(c), e) => Some(self.offset(e)?.wrapping_sub(*c)),
                _ => None,
            },
            Expr::Binary(BinOp::Sub, a, b) => match &**b {
                Expr::Const(c) => Some(self.offset(a)?.wrapping_add(*c)),
                _ => None,
            },
            Expr::Cond(_, a, b) => self.offset(a).or(self.offset(b)),
            _ => None,
        }
    }

    fn truth(&self, e: &Expr) -> String {
        match self.offset(e) {
            Some(offset) => format!("({}!={})", self.expr(e, None), self.constant(0, Some(offset))),
            None => self.expr(e, None),
        }
    }

    fn which(&self, proctype: ProctypeId, pid: Option<&Expr>) -> String {
        match pid {
            Some(e) => self.expr(e, Some(0)),
            None => self.constant(first_of(self.born, proctype), Some(0)),
        }
    }

    /// `offset`: a constant is the number of a process minus this.
    fn expr(&self, e: &Expr, offset: Option<i32>) -> String {
        match e {
            Expr::Const(c) => self.constant(*c, offset),
            Expr::Unary(UnOp::Neg, a) if offset.is_some() && matches!(**a, Expr::Const(_)) => {
                let Expr::Const(c) = **a else { unreachable!("looked at above") };
                self.constant(c.wrapping_neg(), offset)
            }
            Expr::Read(place) => self.place(place),
            Expr::Unary(UnOp::Not, a) => format!("!{}", self.truth(a)),
            Expr::Unary(op, a) => format!("{op:?}({})", self.expr(a, None)),
            Expr::Binary(op @ (BinOp::And | BinOp::Or), ..) => self.many(*op, e, &|e| self.truth(e)),
            Expr::Binary(op @ (BinOp::Eq | BinOp::Ne), a, b) => {
                let offset = self.offset(a).or(self.offset(b));
                let mut sides = [self.expr(a, offset), self.expr(b, offset)];
                if !Range::of(a).faults && !Range::of(b).faults {
                    sides.sort();
                }
                format!("({}{op:?}{})", sides[0], sides[1])
            }
            Expr::Binary(BinOp::Add, a, b) if is_const(a) != is_const(b) => {
                let (e, c) = if is_const(b) { (a, b) } else { (b, a) };
                let Expr::Const(c) = **c else { unreachable!("looked at above") };
                let offset = offset.or(self.offset(e).map(|k| k.wrapping_sub(c)));
                format!("({}+{c})", self.expr(e, offset.map(|k| k.wrapping_add(c))))
            }
            Expr::Binary(BinOp::Sub, a, b) if !is_const(a) && is_const(b) => {
                let Expr::Const(c) = **b else { unreachable!("looked at above") };
                let offset = offset.or(self.offset(e));
                format!("({}-{c})", self.expr(a, offset.map(|k| k.wrapping_sub(c))))
            }
            Expr::Binary(op @ (BinOp::Add | BinOp::Mul | BinOp::BitAnd | BinOp::BitOr | BinOp::BitXor), ..) => {
                self.many(*op, e, &|e| self.expr(e, None))
            }
            Expr::Binary(op, a, b) => format!("({}{op:?}{})", self.expr(a, None), self.expr(b, None)),
            Expr::Cond(c, a, b) => {
                let offset = offset.or(self.offset(e));
                format!("({}->{}:{})", self.truth(c), self.expr(a, offset), self.expr(b, offset))
            }
            Expr::Probe(probe, chan) => format!("{probe:?}({})", self.expr(chan, None)),
            Expr::Poll { chan, random, args } => format!("poll{random}({})", self.receive(chan, args)),
            Expr::Pid => "_pid".to_string(),
            Expr::Last => "_last".to_string(),
            Expr::NewPid => "new".to_string(),
            // Operations stop the search for symmetry before (`flow`).
            Expr::NrPr | Expr::Timeout | Expr::NonProgress | Expr::Accepting | Expr::Happens(_) => format!("{e:?}"),
            Expr::Enabled(pid) => format!("enabled({})", self.expr(pid, Some(0))),
            Expr::PcValue(pid) => format!("pc({})", self.expr(pid, Some(0))),
            Expr::GetPriority(pid) => format!("priority({})", self.expr(pid, Some(0))),
            Expr::AtLabel { proctype, pid, loc, .. } => {
                format!("t{}[{}]@{loc:?}", proctype.index(), self.which(*proctype, pid.as_deref()))
            }
            Expr::Remote { proctype, pid, place } => {
                let slot = self.flow.leaf(1 + proctype.index(), place);
                // Where there is no such process the value is zero, which may be somebody's number.
                let meant = match pid.as_deref() {
                    Some(Expr::Const(p)) => usize::try_from(*p).ok(),
                    Some(_) => None,
                    None => self.born.procs.iter().position(|t| t == proctype),
                };
                let there = meant.is_some_and(|p| self.born.procs.get(p) == Some(proctype) && self.born.stays(p));
                let zero = self.flow.offset(slot.node).filter(|_| !there).map(|k| self.constant(0, Some(k)));
                let which = self.which(*proctype, pid.as_deref());
                format!("t{}[{which}]:{}{}", proctype.index(), self.slot(slot, place), zero.unwrap_or_default())
            }
        }
    }

    /// The operands of an operator that may be put in any order, in one.
    fn many(&self, op: BinOp, e: &Expr, write: &dyn Fn(&Expr) -> String) -> String {
        let mut all = Vec::new();
        let mut todo = vec![e];
        while let Some(e) = todo.pop() {
            match e {
                Expr::Binary(o, a, b) if *o == op => todo.extend([&**b, &**a]),
                e => all.push(e),
            }
        }
        let faults = all.iter().any(|e| Range::of(e).faults);
        let mut texts: Vec<String> = all.into_iter().map(write).collect();
        if !faults {
            texts.sort();
        }
        format!("{op:?}({})", texts.join(","))
    }
}

fn is_const(e: &Expr) -> bool {
    matches!(e, Expr::Const(_))
}
