//! Which places hold process numbers (A1 of the module).
//!
//! Every scalar, every dimension of an array and every field of a message is a *node*; all elements of an array are one.
//! Values that flow from one to another, or are compared, unite them. The value of a node plus its *offset* is the number
//! of a process, if it has anything to do with one at all; offsets of united nodes differ by what was added on the
//! way. Channels that may be the same have the same fields.
//!
//! May find that numbers flow where they never do, and that something is done to them that never is; not the reverse.

use super::born::{Born, Link};
use super::{Break, first_of};
use crate::index::Idx;
use crate::ir::{
    BinOp, Edge, Effect, Expr, Frame, Guard, Init, Pattern, Pid, Place, Proctype, ProctypeId, Scope, Shape, System,
    Type, UnOp,
};
use crate::range::Range;
use crate::source::Span;
use std::collections::BTreeSet;

/// `_pid`, and whatever else is the number of a process without more ado.
const PID: usize = 0;

pub(super) struct Flow<'s> {
    pub system: &'s System,
    pub born: &'s Born,
    live: &'s [Vec<Vec<bool>>],
    /// The globals', then those of the proctypes.
    pub frames: Vec<FrameNodes>,
    /// Nodes point to nodes whose offset is less by so much.
    parent: Vec<(usize, i32)>,
    /// What the messages of a channel consist of, if the node holds channels.
    fields: Vec<Vec<usize>>,
    /// The types of a node's values, and where they were declared.
    types: Vec<(usize, Type, Span, String)>,
    chans: Vec<usize>,
    misused: Vec<(usize, Span, &'static str)>,
    /// A node is compared with a constant, or becomes one.
    consts: Vec<(usize, i32, Span)>,
    /// Messages with these fields are sorted.
    sorted: Vec<(usize, Span)>,
    /// What breaks it in any case.
    stops: Vec<Break>,
    /// A channel is taken for something else.
    odd_chans: Vec<Span>,
    /// Whose variables are local, and where the statement is.
    own: usize,
    at: Span,
}

#[derive(Default)]
pub(super) struct FrameNodes {
    pub slots: Vec<SlotNode>,
    /// The fields of each channel.
    pub chans: Vec<Vec<usize>>,
}

#[derive(Clone)]
pub(super) struct SlotNode {
    pub node: usize,
    pub dims: Vec<DimNode>,
}

#[derive(Clone, Copy)]
pub(super) struct DimNode {
    pub node: usize,
    pub index: u32,
    pub len: u32,
    pub stride: u32,
}

/// What an expression is.
#[derive(Clone, Copy)]
enum Is {
    Const(i32),
    /// The value of a node plus so much.
    Node(usize, i32),
    /// No number of a process.
    Plain,
}

impl<'s> Flow<'s> {
    pub fn new(system: &'s System, born: &'s Born, live: &'s [Vec<Vec<bool>>]) -> Flow<'s> {
        let mut flow = Flow {
            system,
            born,
            live,
            frames: Vec::new(),
            parent: Vec::new(),
            fields: Vec::new(),
            types: Vec::new(),
            chans: Vec::new(),
            misused: Vec::new(),
            consts: Vec::new(),
            sorted: Vec::new(),
            stops: Vec::new(),
            odd_chans: Vec::new(),
            own: 0,
            at: Span::default(),
        };
        assert_eq!(flow.fresh(), PID);
        let frames = std::iter::once(&system.globals).chain(system.proctypes.iter().map(|t| &t.frame));
        for frame in frames {
            let nodes = flow.frame(frame);
            flow.frames.push(nodes);
        }
        flow
    }

    fn fresh(&mut self) -> usize {
        let node = self.parent.len();
        self.parent.push((node, 0));
        self.fields.push(Vec::new());
        node
    }

    fn typed(&mut self, ty: Type, span: Span, name: &str) -> usize {
        let node = self.fresh();
        self.types.push((node, ty, span, name.to_string()));
        if ty == Type::Chan {
            self.chans.push(node);
        }
        node
    }

    fn frame(&mut self, frame: &Frame) -> FrameNodes {
        let mut nodes = FrameNodes::default();
        for var in &frame.vars {
            self.shape(&var.shape, var.span, &var.name, &mut Vec::new(), &mut nodes.slots);
        }
        for decl in &frame.chans {
            let fields = decl.fields.iter().map(|ty| self.typed(*ty, decl.span, &decl.name)).collect();
            nodes.chans.push(fields);
        }
        for init in &frame.inits {
            if let Init::Chan { slot, chan } = init {
                let holder = nodes.slots[*slot as usize].node;
                for (n, field) in nodes.chans[*chan as usize].iter().enumerate() {
                    let there = self.field(holder, n);
                    self.unite(there, 0, *field, 0);
                }
            }
        }
        nodes
    }

    fn shape(&mut self, shape: &Shape, span: Span, name: &str, dims: &mut Vec<DimNode>, out: &mut Vec<SlotNode>) {
        match shape {
            Shape::Scalar(ty) => {
                let node = self.typed(*ty, span, name);
                out.push(SlotNode { node, dims: dims.clone() });
            }
            Shape::Array(len, of) => {
                let node = self.fresh();
                let (first, stride) = (out.len(), of.n_slots() as u32);
                let depth = dims.len();
                dims.push(DimNode { node, index: 0, len: *len, stride });
                self.shape(of, span, name, dims, out);
                dims.pop();
                let element = out[first..].to_vec();
                for index in 1..*len {
                    for slot in &element {
                        let mut slot = slot.clone();
                        slot.dims[depth].index = index;
                        out.push(slot);
                    }
                }
            }
            Shape::Record(r) => {
                for (field, shape) in &r.fields {
                    self.shape(shape, span, &format!("{name}.{field}"), dims, out);
                }
            }
        }
    }

    /// The node at the end, and how much less its offset is.
    fn root(&self, mut node: usize) -> (usize, i32) {
        let mut sum = 0;
        while self.parent[node].0 != node {
            sum += self.parent[node].1;
            node = self.parent[node].0;
        }
        (node, sum)
    }

    /// If the node's values are process numbers: minus this.
    pub fn offset(&self, node: usize) -> Option<i32> {
        let ((a, of), (pid, zero)) = (self.root(node), self.root(PID));
        (a == pid).then_some(of - zero)
    }

    /// The value of `a` plus `add_a` is that of `b` plus `add_b`.
    fn unite(&mut self, a: usize, add_a: i32, b: usize, add_b: i32) {
        let ((ra, wa), (rb, wb)) = (self.root(a), self.root(b));
        let more = wa - add_a - wb + add_b;
        if ra == rb {
            if more != 0 {
                self.misused.push((ra, self.at, ARITHMETIC));
            }
            return;
        }
        self.parent[rb] = (ra, more);
        // No node is made here, so this comes to an end also where a channel is a field of its own messages.
        let theirs = std::mem::take(&mut self.fields[rb]);
        for (n, field) in theirs.into_iter().enumerate() {
            let (root, _) = self.root(ra);
            match self.fields[root].get(n).copied() {
                Some(mine) => self.unite(mine, 0, field, 0),
                None => {
                    debug_assert_eq!(self.fields[root].len(), n, "fields before it are there");
                    self.fields[root].push(field);
                }
            }
        }
    }

    /// What a channel that the node holds has in this field of its messages.
    fn field(&mut self, node: usize, n: usize) -> usize {
        let (root, _) = self.root(node);
        while self.fields[root].len() <= n {
            let fresh = self.fresh();
            self.fields[root].push(fresh);
        }
        self.fields[root][n]
    }

    pub fn field_of(&self, node: usize, n: usize) -> Option<usize> {
        self.fields[self.root(node).0].get(n).copied()
    }

    /// The slot is born with the number of its process.
    pub fn link(&mut self, link: &Link) {
        let slot = self.frames[1 + link.proctype.index()].slots[link.slot].clone();
        if slot.dims.is_empty() && !self.chans.contains(&slot.node) {
            self.unite(PID, 0, slot.node, link.offset);
        }
    }

    pub fn system(&mut self, looked: &[Expr]) {
        for (id, t) in self.system.proctypes.enumerated() {
            self.own = 1 + id.index();
            self.proctype(t, Some(id));
        }
        if let Some(monitor) = &self.system.monitor {
            self.own = 0;
            self.proctype(&monitor.graph, None);
        }
        self.at = Span::default();
        for e in looked {
            self.truth(e);
        }
    }

    fn proctype(&mut self, t: &'s Proctype, id: Option<ProctypeId>) {
        self.at = t.span;
        if let Some(clause) = &t.provided {
            self.truth(clause);
        }
        for promise in &t.promises {
            self.at = promise.span;
            self.place(self.own, &promise.chan);
        }
        for edge in &t.edges {
            if id.is_some_and(|id| !self.born.reaches(id, edge.from)) {
                continue;
            }
            self.at = edge.span;
            for guard in &edge.guards {
                if let Guard::Holds(e) = guard {
                    self.truth(e);
                }
            }
            for (n, effect) in edge.effects.iter().enumerate() {
                let dead = id.is_some_and(|id| is_dead(edge, n, self.live, id));
                self.effect(effect, dead);
            }
        }
    }

    fn effect(&mut self, effect: &Effect, dead: bool) {
        match effect {
            Effect::Assign { to, value } => {
                let value = self.expr(value);
                let to = self.place(self.own, to);
                if !(dead && matches!(value, Is::Const(_))) {
                    self.equal(to, value);
                }
            }
            Effect::Send { chan, sorted, args } => {
                let chan = self.chan(chan);
                for (n, arg) in args.iter().enumerate() {
                    let field = self.field(chan, n);
                    let arg = self.expr(arg);
                    self.equal(Is::Node(field, 0), arg);
                    if *sorted {
                        self.sorted.push((field, self.at));
                    }
                }
            }
            Effect::Receive { chan, args, .. } | Effect::Event { chan, args, .. } => {
                let chan = self.chan(chan);
                self.patterns(chan, args);
            }
            Effect::Run { .. } => self.stop("processes are made while others run"),
            Effect::Assert(e) => self.truth(e),
            Effect::Print { args, .. } => {
                for arg in args.iter().filter(|e| Range::of(e).faults) {
                    self.expr(arg);
                }
            }
            Effect::PrintName(e, _) => {
                self.expr(e);
            }
            Effect::SetPriority { pid, value } => {
                self.number(pid);
                self.expr(value);
            }
            Effect::End => {}
        }
    }

    fn patterns(&mut self, chan: usize, args: &[Pattern]) {
        for (n, arg) in args.iter().enumerate() {
            let field = Is::Node(self.field(chan, n), 0);
            match arg {
                Pattern::Bind(place) => {
                    let place = self.place(self.own, place);
                    self.equal(place, field);
                }
                Pattern::Equal(e) => {
                    let e = self.expr(e);
                    self.equal(e, field);
                }
                Pattern::Any => {}
            }
        }
    }

    fn stop(&mut self, why: &str) {
        self.stops.push(Break { span: self.at, why: why.to_string() });
    }

    fn chan(&mut self, e: &Expr) -> usize {
        match self.expr(e) {
            Is::Node(node, 0) => {
                if !self.is_chan(node) {
                    self.odd_chans.push(self.at);
                }
                node
            }
            _ => {
                self.odd_chans.push(self.at);
                self.fresh()
            }
        }
    }

    fn is_chan(&self, node: usize) -> bool {
        let (root, _) = self.root(node);
        self.chans.iter().any(|c| self.root(*c).0 == root)
    }

    fn place(&mut self, frame: usize, place: &Place) -> Is {
        let frame = if place.scope == Scope::Global { 0 } else { frame };
        let slot = self.frames[frame].slots[place.slot as usize].clone();
        for (dim, index) in indices(&slot, place) {
            let index = match index {
                Some(e) => self.expr(e),
                None => Is::Const(dim.index as i32),
            };
            self.equal(Is::Node(dim.node, 0), index);
        }
        Is::Node(slot.node, 0)
    }

    /// Two things are equal, or may be.
    fn equal(&mut self, a: Is, b: Is) {
        match (a, b) {
            (Is::Node(a, x), Is::Node(b, y)) => self.unite(a, x, b, y),
            (Is::Node(a, x), Is::Const(c)) | (Is::Const(c), Is::Node(a, x)) => {
                self.consts.push((a, c.wrapping_sub(x), self.at));
            }
            (Is::Node(a, _), Is::Plain) | (Is::Plain, Is::Node(a, _)) => {
                self.misused.push((a, self.at, "a process number is taken for another kind of value"));
            }
            _ => {}
        }
    }

    fn misuse(&mut self, e: Is, why: &'static str) {
        if let Is::Node(node, _) = e {
            self.misused.push((node, self.at, why));
        }
    }

    fn truth(&mut self, e: &Expr) {
        let e = self.expr(e);
        self.equal(e, Is::Const(0));
    }

    /// The number of a process.
    fn number(&mut self, e: &Expr) {
        let e = self.expr(e);
        self.equal(Is::Node(PID, 0), e);
    }

    fn expr(&mut self, e: &Expr) -> Is {
        match e {
            Expr::Const(c) => Is::Const(*c),
            Expr::Read(place) => self.place(self.own, place),
            Expr::Unary(UnOp::Not, a) => {
                self.truth(a);
                Is::Plain
            }
            Expr::Unary(op, a) => match (op, self.expr(a)) {
                (UnOp::Neg, Is::Const(c)) => Is::Const(c.wrapping_neg()),
                (_, a) => {
                    self.misuse(a, ARITHMETIC);
                    Is::Plain
                }
            },
            Expr::Binary(BinOp::And | BinOp::Or, a, b) => {
                self.truth(a);
                self.truth(b);
                Is::Plain
            }
            Expr::Binary(op, a, b) => {
                let (a, b) = (self.expr(a), self.expr(b));
                match (op, a, b) {
                    (BinOp::Eq | BinOp::Ne, ..) => self.equal(a, b),
                    (BinOp::Add, Is::Node(n, x), Is::Const(c)) | (BinOp::Add, Is::Const(c), Is::Node(n, x)) => {
                        return Is::Node(n, x.wrapping_add(c));
                    }
                    (BinOp::Sub, Is::Node(n, x), Is::Const(c)) => return Is::Node(n, x.wrapping_sub(c)),
                    (BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge, ..) => {
                        self.misuse(a, "process numbers are ordered");
                        self.misuse(b, "process numbers are ordered");
                    }
                    _ => {
                        self.misuse(a, ARITHMETIC);
                        self.misuse(b, ARITHMETIC);
                    }
                }
                Is::Plain
            }
            Expr::Cond(c, a, b) => {
                self.truth(c);
                let either = Is::Node(self.fresh(), 0);
                for e in [a, b] {
                    let e = self.expr(e);
                    self.equal(either, e);
                }
                either
            }
            Expr::Probe(_, chan) => {
                self.chan(chan);
                Is::Plain
            }
            Expr::Poll { chan, args, .. } => {
                let chan = self.chan(chan);
                self.patterns(chan, args);
                Is::Plain
            }
            Expr::Pid | Expr::Last | Expr::NewPid => Is::Node(PID, 0),
            Expr::NrPr => {
                self.stop("`_nr_pr` counts processes");
                Is::Plain
            }
            Expr::Timeout | Expr::NonProgress | Expr::Accepting => Is::Plain,
            Expr::Happens(_) => {
                self.stop("an operation is named, and who does it is not followed from name to name");
                Is::Plain
            }
            Expr::Enabled(pid) | Expr::PcValue(pid) | Expr::GetPriority(pid) => {
                self.number(pid);
                Is::Plain
            }
            Expr::AtLabel { proctype, pid, .. } => {
                self.which(*proctype, pid.as_deref());
                Is::Plain
            }
            Expr::Remote { proctype, pid, place } => {
                self.which(*proctype, pid.as_deref());
                // Its indices are evaluated by whoever looks.
                let frame = 1 + proctype.index();
                let slot = self.frames[frame].slots[place.slot as usize].clone();
                for (dim, index) in indices(&slot, place) {
                    let index = index.map_or(Is::Const(dim.index as i32), |e| self.expr(e));
                    self.equal(Is::Node(dim.node, 0), index);
                }
                // There may be no such process: then it is zero.
                self.consts.push((slot.node, 0, self.at));
                Is::Node(slot.node, 0)
            }
        }
    }

    fn which(&mut self, proctype: ProctypeId, pid: Option<&Expr>) {
        match pid {
            Some(pid) => self.number(pid),
            None => self.equal(Is::Node(PID, 0), Is::Const(first_of(self.born, proctype))),
        }
    }

    /// What breaks the symmetry of these processes, whatever is named.
    pub fn breaks(&self, members: &[Pid], n_procs: usize, own_chans: bool) -> Vec<Break> {
        let mut out = self.stops.clone();
        let mut add = |span: Span, why: String| out.push(Break { span, why });
        for (node, span, why) in &self.misused {
            if self.offset(*node).is_some() {
                add(*span, (*why).to_string());
            }
        }
        let is_member = |pid: i32| members.iter().any(|p| i32::from(*p) == pid);
        for (field, span) in &self.sorted {
            if self.offset(*field).is_some() || self.is_chan(*field) {
                add(*span, "process numbers are sorted".to_string());
            }
        }
        for (node, ty, span, name) in &self.types {
            let Some(offset) = self.offset(*node) else { continue };
            let fits = |pid: i32| ty.fit(pid - offset) == pid - offset && pid >= offset;
            let small = ty.bits() < 8;
            if !members.iter().all(|p| fits(i32::from(*p))) || small && !(0..n_procs as i32).all(fits) {
                add(*span, format!("`{name}` is too small for the numbers of all processes")); // I1
            }
            for (other, c, at) in &self.consts {
                let Some(shift) = self.offset(*other) else { continue };
                let pid = c.wrapping_add(shift);
                if small && !is_member(pid) && ty.fit(pid - offset) != pid - offset {
                    add(*at, format!("{c} does not fit `{name}`")); // I1
                }
            }
        }
        self.cut(&is_member, &mut add);
        for (node, c, span) in &self.consts {
            let Some(offset) = self.offset(*node) else { continue };
            // Beyond, it could become somebody's number when it is cut to a byte.
            if !(-100..256).contains(&c.wrapping_add(offset)) {
                add(*span, format!("{c} is no process number"));
            }
        }
        let mut moves_chans = own_chans;
        for slot in self.frames.iter().flat_map(|f| &f.slots) {
            for dim in &slot.dims {
                let Some(offset) = self.offset(dim.node) else { continue };
                let inside = |p: &Pid| (0..dim.len as i32).contains(&(i32::from(*p) - offset));
                let ty = self.types.iter().find(|(n, ..)| *n == slot.node);
                moves_chans |= self.is_chan(slot.node);
                if let (false, Some((_, _, span, name))) = (members.iter().all(inside), ty) {
                    add(*span, format!("`{name}` has no element for some processes")); // I2
                }
            }
        }
        if moves_chans {
            let why = "a channel is used as a number".to_string();
            self.odd_chans.iter().for_each(|span| add(*span, why.clone()));
            let chan_roots: Vec<usize> = self.chans.iter().map(|c| self.root(*c).0).collect();
            let is_chan = |node: usize| chan_roots.contains(&self.root(node).0);
            self.misused.iter().filter(|(n, ..)| is_chan(*n)).for_each(|(_, span, _)| add(*span, why.clone()));
            for (_, c, span) in self.consts.iter().filter(|(n, c, _)| is_chan(*n) && *c != 0) {
                add(*span, format!("{why}: {c}"));
            }
            for (_, ty, span, _) in self.types.iter().filter(|(n, ty, ..)| is_chan(*n) && *ty != Type::Chan) {
                add(*span, format!("{why} ({ty:?})"));
            }
        }
        out
    }

    /// Numbers that are nobody's and become somebody's where bits are lost (I1): constants of statements, and what is there at
    /// first.
    fn cut(&self, is_member: &dyn Fn(i32) -> bool, add: &mut dyn FnMut(Span, String)) {
        let frames = std::iter::once(&self.system.globals).chain(self.system.proctypes.iter().map(|t| &t.frame));
        let mut todo: Vec<i32> = Vec::new();
        for (n, (nodes, frame)) in self.frames.iter().zip(frames).enumerate() {
            for (slot, (at, (name, ty))) in (0..).zip(nodes.slots.iter().zip(frame.slot_names())) {
                let Some(offset) = self.offset(at.node) else { continue };
                match self.born.first(n, slot, ty) {
                    Some(held) => todo.extend(held.into_iter().map(|v| v.wrapping_add(offset))),
                    None => {
                        let span = frame.vars.iter().rfind(|v| v.slot <= slot).map_or_else(Span::default, |v| v.span);
                        add(span, format!("`{name}` may begin with a value that is no process number"));
                    }
                }
            }
        }
        todo.extend(self.consts.iter().filter_map(|(node, c, _)| Some(c.wrapping_add(self.offset(*node)?))));
        todo.sort_unstable();
        todo.dedup();
        let mut seen: BTreeSet<i32> = todo.iter().copied().collect();
        while let Some(number) = todo.pop() {
            for (node, ty, span, name) in &self.types {
                let Some(offset) = self.offset(*node) else { continue };
                let value = number.wrapping_sub(offset);
                let kept = ty.fit(value).wrapping_add(offset);
                if kept == number || is_member(number) {
                    continue;
                }
                if is_member(kept) {
                    add(*span, format!("{value} does not fit `{name}`"));
                } else if seen.insert(kept) {
                    todo.push(kept);
                }
            }
        }
    }

    // For `norm`, which asks again once everything is known.

    pub fn leaf(&self, frame: usize, place: &Place) -> &SlotNode {
        let frame = if place.scope == Scope::Global { 0 } else { frame };
        &self.frames[frame].slots[place.slot as usize]
    }

    pub fn is_dead(&self, edge: &Edge, n: usize, id: ProctypeId) -> bool {
        is_dead(edge, n, self.live, id)
    }
}

const ARITHMETIC: &str = "a process number is used in arithmetic";

/// The dimensions of a slot, with the index if it is computed.
pub(super) fn indices<'e>(slot: &SlotNode, place: &'e Place) -> Vec<(DimNode, Option<&'e Expr>)> {
    let mut steps = place.index.iter().peekable();
    let each = slot.dims.iter().map(|dim| {
        let step = steps.next_if(|s| s.stride == dim.stride && s.len == dim.len);
        (*dim, step.map(|s| &s.value))
    });
    let all = each.collect();
    assert!(steps.next().is_none(), "an index belongs to a dimension");
    all
}

/// Effect `n` of an edge gives a variable a value that nobody reads.
fn is_dead(edge: &Edge, n: usize, live: &[Vec<Vec<bool>>], id: ProctypeId) -> bool {
    let Effect::Assign { to, .. } = &edge.effects[n] else { return false };
    let reads = |effect: &Effect| {
        let mut reads = false;
        effect.each_expr(&mut |e| {
            e.each_part(&mut |e| {
                reads |= matches!(e, Expr::Read(p) if p.scope == Scope::Local && p.var == to.var);
            });
        });
        reads
    };
    to.scope == Scope::Local
        && to.index.is_empty()
        && !live[id.index()][edge.to.index()][to.slot as usize]
        && !edge.effects[n + 1..].iter().any(reads)
}
