//! The printed form of a system. [`crate::read`] reads it back.
//!
//! One line is one thing; `;` starts a comment. What follows from the lines before it is left out: the slot of a
//! variable, the size of a frame, a priority of 1, a number that is 0.
//!
//! ```text
//! system "mutex.pml"
//! uses last, timeout
//! mtype _unnamed_ { red, green }
//! record r0 Msg { kind: mtype:m0, body: [2] byte }
//!
//! globals
//!   var turn: byte
//!   hidden var m: r0
//!   var q: chan
//!   chan c0 q: [2] of { byte, mtype:m0 }
//!   init @turn = 1
//!   init @q = chan c0
//!
//! proctype worker (t0) params 1 start l0 end l2
//!   var n: byte
//!   provided @turn < 3
//!   xr @q
//!   l0: e1, e0 labels wait, end_idle is end number 4
//!     e1: l0 -> l1 when channel do @q ? (%n, ==2) then atomic stmt 1
//!     e0: l0 -> l0 when none of e1, @turn != 0 do @turn = @turn - 1, assert @turn < 9
//!   l1: e2
//!     e2: l1 -> l2 do run worker(%n + 1) priority 3, @m.body[%n] = new_pid stmt 3  ; "run worker(n+1)" mutex.pml:9
//!   l2: e3
//!     e3: l2 -> l2 when youngest do die
//!
//! active worker, worker
//! ```
//!
//! | written | means |
//! |---|---|
//! | `@x`, `%x`, `%3` | a global, a local, the local variable number 3 (its name is not its own, or no word) |
//! | `%x.f`, `%x.2`, `%x[e]` | a field; an element known beforehand; an element by an index that is checked |
//! | `%x{7 byte [e; 3; 2]}` | a place that follows no shape: slot, type, and `[index; length; stride]` |
//! | `@q ! (a, b)`, `@q !! (a, b)` | send, sorted send |
//! | `@q ? (%x, ==e, _)`, `@q ?? (…)`, `peek @q ? (…)` | receive, receive the first that matches, look without taking |
//! | `event @q ! (==e, _)`, `event @q ? (…)` | a send, a receive that a trace assertion allows |
//! | `can(@q ? (…))`, `can(@q ?? (…))` | could it be received? |
//! | `(a -> b : c)` | `b` if `a`, otherwise `c` |
//! | `at(worker[p], l3 name)`, `remote(worker[p], %x)` | where another process stands, what its variable holds |
//!
//! Where a thing came from is a comment, so a system read back has no sources and no spans.

use crate::index::Idx;
use crate::ir::{
    BinOp, Edge, EdgeId, Effect, Expr, Frame, Guard, Init, MtypeId, Operation, Pattern, Place, Probe, Proctype,
    ProctypeId, Record, Scope, Shape, System, Then, Type, UnOp, Uses, Var, VarId,
};
use crate::source::{Sources, Span};
use std::fmt::{self, Write};
use std::sync::Arc;

/// The whole system, as text that [`crate::read::read`] understands.
pub fn print(system: &System) -> String {
    let mut p = Printer { system, records: records(system), out: String::new() };
    p.system();
    p.out
}

/// One edge, as its line in the printed form, without indentation and without its end.
pub fn edge(system: &System, t: &Proctype, id: EdgeId) -> String {
    let mut p = Printer { system, records: Vec::new(), out: String::new() };
    p.edge(t, id, &t.edges[id]);
    p.out
}

/// An expression as the printed form writes it; `frame` is that of the process that evaluates.
pub fn expr(system: &System, frame: &Frame, e: &Expr) -> String {
    let mut p = Printer { system, records: Vec::new(), out: String::new() };
    p.expr(frame, e, 0);
    p.out
}

impl fmt::Display for System {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&print(self))
    }
}

struct Printer<'a> {
    system: &'a System,
    /// Every record once, after those it is made of.
    records: Vec<&'a Arc<Record>>,
    out: String,
}

/// Writing into a string does not fail.
macro_rules! w {
    ($p:expr, $($arg:tt)*) => { $p.out.write_fmt(format_args!($($arg)*)).expect("a string takes all") };
}

impl<'a> Printer<'a> {
    fn system(&mut self) {
        let s = self.system;
        w!(self, "system {}\n", quoted(&s.name));
        let Uses { last, priorities, timeout, drained } = s.uses;
        let uses = [("last", last), ("priorities", priorities), ("timeout", timeout), ("drained", drained)];
        let uses: Vec<&str> = uses.iter().filter(|u| u.1).map(|u| u.0).collect();
        if !uses.is_empty() {
            w!(self, "uses {}\n", uses.join(", "));
        }
        for set in s.mtypes.iter() {
            w!(self, "mtype {} {{{}{} }}\n", name(&set.name), space(&set.names), names(&set.names));
        }
        for n in 0..self.records.len() {
            let r = self.records[n];
            w!(self, "record r{n} {} {{", name(&r.name));
            for (i, (field, shape)) in r.fields.iter().enumerate() {
                w!(self, "{} {}: ", if i == 0 { "" } else { "," }, name(field));
                self.shape(shape);
            }
            w!(self, " }}\n");
        }
        w!(self, "\nglobals\n");
        self.frame(&s.globals, Scope::Global);
        for (id, t) in s.proctypes.enumerated() {
            w!(self, "\nproctype {} ({id})", name(&t.name));
            self.proctype(t, id.0);
        }
        for t in &s.claims {
            w!(self, "\nclaim {}", name(&t.name));
            self.proctype(t, 0);
        }
        if let Some(m) = &s.monitor {
            w!(self, "\n{} {}", if m.negated { "notrace" } else { "trace" }, name(&m.graph.name));
            self.proctype(&m.graph, 0);
        }
        for (word, list) in [("active", &s.active), ("symmetric", &s.symmetric)] {
            if !list.is_empty() {
                let names: Vec<String> = list.iter().map(|t| self.proctype_name(*t)).collect();
                w!(self, "\n{word} {}\n", names.join(", "));
            }
        }
        if !s.visible.is_empty() {
            let edges: Vec<String> = s.visible.iter().map(|(t, e)| format!("{} {e}", self.proctype_name(*t))).collect();
            w!(self, "\nvisible {}\n", edges.join(", "));
        }
    }

    fn frame(&mut self, frame: &'a Frame, scope: Scope) {
        let mut slot = 0u64;
        for var in frame.vars.iter() {
            w!(self, "  {}var {}: ", if var.hidden { "hidden " } else { "" }, name(&var.name));
            self.shape(&var.shape);
            if u64::from(var.slot) != slot {
                w!(self, " slot {}", var.slot);
            }
            slot = u64::from(var.slot) + slots(&var.shape);
            w!(self, "\n");
        }
        if slot != u64::from(frame.n_slots) {
            w!(self, "  slots {}\n", frame.n_slots);
        }
        for (n, c) in frame.chans.iter().enumerate() {
            w!(self, "  chan c{n} {}: [{}] of {{", name(&c.name), c.capacity);
            for (i, ty) in c.fields.iter().enumerate() {
                w!(self, "{} ", if i == 0 { "" } else { "," });
                self.ty(*ty);
            }
            w!(self, " }}\n");
        }
        for init in &frame.inits {
            let (slot, ty) = match init {
                Init::Value { slot, ty, .. } => (*slot, *ty),
                Init::Chan { slot, .. } => (*slot, Type::Chan),
            };
            let holds = |v: &Var| v.slot <= slot && u64::from(slot - v.slot) < slots(&v.shape);
            let var = frame.vars.enumerated().find(|(_, v)| holds(v)).map_or(VarId(0), |(id, _)| id);
            w!(self, "  init ");
            self.place(frame, frame, &Place { scope, var, slot, ty, index: vec![] });
            match init {
                Init::Value { value, .. } => {
                    w!(self, " = ");
                    self.expr(frame, value, 0);
                }
                Init::Chan { chan, .. } => w!(self, " = chan c{chan}"),
            }
            w!(self, "\n");
        }
    }

    /// `number` is what the number is if nothing is said about it.
    fn proctype(&mut self, t: &'a Proctype, number: u32) {
        if t.n_params > 0 {
            w!(self, " params {}", t.n_params);
        }
        if t.priority != 1 {
            w!(self, " priority {}", t.priority);
        }
        if t.deterministic {
            w!(self, " deterministic");
        }
        if t.number != number {
            w!(self, " number {}", t.number);
        }
        w!(self, " start {} end {}\n", t.start, t.end);
        self.frame(&t.frame, Scope::Local);
        if let Some(e) = &t.provided {
            w!(self, "  provided ");
            self.expr(&t.frame, e, 0);
            w!(self, "\n");
        }
        for promise in &t.promises {
            w!(self, "  {} ", if promise.send { "xs" } else { "xr" });
            self.place(&t.frame, &t.frame, &promise.chan);
            w!(self, "\n");
        }
        let mut shown = vec![false; t.edges.len()];
        for (id, loc) in t.locs.enumerated() {
            w!(self, "  {id}:{}", ids(&loc.edges));
            if !loc.labels.is_empty() {
                w!(self, " labels {}", names(&loc.labels));
            }
            let flags = [("end", loc.end), ("accept", loc.accept), ("progress", loc.progress)];
            let flags: Vec<&str> = flags.iter().filter(|f| f.1).map(|f| f.0).collect();
            if !flags.is_empty() {
                w!(self, " is {}", flags.join(", "));
            }
            if loc.number != 0 {
                w!(self, " number {}", loc.number);
            }
            w!(self, "\n");
            for &e in &loc.edges {
                match t.edges.get(e) {
                    Some(edge) if edge.from == id && !shown[e.index()] => {
                        shown[e.index()] = true;
                        self.edge_line(t, e, edge);
                    }
                    _ => {}
                }
            }
        }
        for (id, edge) in t.edges.enumerated().filter(|(id, _)| !shown[id.index()]) {
            self.edge_line(t, id, edge);
        }
    }

    fn edge_line(&mut self, t: &'a Proctype, id: EdgeId, edge: &'a Edge) {
        w!(self, "    ");
        self.edge(t, id, edge);
        if let Some(comment) = origin(&self.system.sources, edge.span) {
            w!(self, "  ; {comment}");
        }
        w!(self, "\n");
    }

    fn edge(&mut self, t: &Proctype, id: EdgeId, edge: &Edge) {
        w!(self, "{id}: {} -> {}", edge.from, edge.to);
        for (n, guard) in edge.guards.iter().enumerate() {
            w!(self, "{} ", if n == 0 { " when" } else { "," });
            match guard {
                Guard::Holds(e) => self.expr(&t.frame, e, 0),
                Guard::Channel => w!(self, "channel"),
                Guard::NoneOf(others) => w!(self, "none of{}", ids(others)),
                Guard::Youngest => w!(self, "youngest"),
            }
        }
        for (n, effect) in edge.effects.iter().enumerate() {
            w!(self, "{} ", if n == 0 { " do" } else { "," });
            self.effect(&t.frame, effect);
        }
        match edge.then {
            Then::Yield => {}
            Then::Atomic => w!(self, " then atomic"),
            Then::DStep => w!(self, " then d_step"),
        }
        if edge.in_d_step && edge.then != Then::DStep {
            w!(self, " ends d_step");
        }
        if edge.stmt != 0 {
            w!(self, " stmt {}", edge.stmt);
        }
    }

    fn effect(&mut self, frame: &Frame, effect: &Effect) {
        match effect {
            Effect::Assign { to, value } => {
                self.place(frame, frame, to);
                w!(self, " = ");
                self.expr(frame, value, 0);
            }
            Effect::Send { chan, sorted, args } => {
                self.expr(frame, chan, ATOM);
                w!(self, " {} ", if *sorted { "!!" } else { "!" });
                self.args(frame, args);
            }
            Effect::Receive { chan, random, keep, args } => {
                w!(self, "{}", if *keep { "peek " } else { "" });
                self.receive(frame, chan, *random, args);
            }
            Effect::Run { proctype, args, priority } => {
                w!(self, "run {}", self.proctype_name(*proctype));
                self.args(frame, args);
                if *priority != 1 {
                    w!(self, " priority {priority}");
                }
            }
            Effect::Assert(e) => {
                w!(self, "assert ");
                self.expr(frame, e, 0);
            }
            Effect::Print { format, args } => {
                w!(self, "print {} ", quoted(format));
                self.args(frame, args);
            }
            Effect::PrintName(e, set) => {
                w!(self, "printm {set} ");
                self.expr(frame, e, 0);
            }
            Effect::SetPriority { pid, value } => {
                w!(self, "set_priority(");
                self.expr(frame, pid, 0);
                w!(self, ", ");
                self.expr(frame, value, 0);
                w!(self, ")");
            }
            Effect::Event { send, chan, args } => {
                w!(self, "event ");
                self.expr(frame, chan, ATOM);
                w!(self, " {} ", if *send { "!" } else { "?" });
                self.patterns(frame, args);
            }
            Effect::End => w!(self, "die"),
        }
    }

    fn receive(&mut self, frame: &Frame, chan: &Expr, random: bool, args: &[Pattern]) {
        self.expr(frame, chan, ATOM);
        w!(self, " {} ", if random { "??" } else { "?" });
        self.patterns(frame, args);
    }

    fn patterns(&mut self, frame: &Frame, args: &[Pattern]) {
        w!(self, "(");
        for (n, arg) in args.iter().enumerate() {
            w!(self, "{}", if n == 0 { "" } else { ", " });
            match arg {
                Pattern::Bind(place) => self.place(frame, frame, place),
                Pattern::Equal(e) => {
                    w!(self, "==");
                    self.expr(frame, e, 0);
                }
                Pattern::Any => w!(self, "_"),
            }
        }
        w!(self, ")");
    }

    fn args(&mut self, frame: &Frame, args: &[Expr]) {
        w!(self, "(");
        for (n, e) in args.iter().enumerate() {
            w!(self, "{}", if n == 0 { "" } else { ", " });
            self.expr(frame, e, 0);
        }
        w!(self, ")");
    }

    /// In parentheses if it binds less tightly than `level`.
    fn expr(&mut self, frame: &Frame, e: &Expr, level: u8) {
        let own = match e {
            Expr::Binary(op, ..) => precedence(*op),
            Expr::Unary(..) => ATOM - 1,
            Expr::Const(n) if *n < 0 => ATOM - 1,
            _ => ATOM,
        };
        if own < level {
            w!(self, "(");
            self.expr(frame, e, 0);
            w!(self, ")");
            return;
        }
        match e {
            Expr::Const(n) => w!(self, "{n}"),
            Expr::Read(place) => self.place(frame, frame, place),
            Expr::Unary(op, a) => {
                w!(self, "{}", unary(*op));
                // `-5` is a number, `-(5)` an operation.
                if matches!(**a, Expr::Const(_)) {
                    w!(self, "(");
                    self.expr(frame, a, 0);
                    w!(self, ")");
                } else {
                    self.expr(frame, a, ATOM);
                }
            }
            Expr::Binary(op, a, b) => {
                self.expr(frame, a, own);
                w!(self, " {} ", symbol(*op));
                self.expr(frame, b, own + 1);
            }
            Expr::Cond(c, a, b) => {
                w!(self, "(");
                self.expr(frame, c, 0);
                w!(self, " -> ");
                self.expr(frame, a, 0);
                w!(self, " : ");
                self.expr(frame, b, 0);
                w!(self, ")");
            }
            Expr::Probe(probe, chan) => self.call(frame, probe_name(*probe), chan),
            Expr::Poll { chan, random, args } => {
                w!(self, "can(");
                self.receive(frame, chan, *random, args);
                w!(self, ")");
            }
            Expr::Pid => w!(self, "_pid"),
            Expr::NrPr => w!(self, "_nr_pr"),
            Expr::Last => w!(self, "_last"),
            Expr::Timeout => w!(self, "timeout"),
            Expr::NonProgress => w!(self, "np_"),
            Expr::Accepting => w!(self, "accept_"),
            Expr::NewPid => w!(self, "new_pid"),
            Expr::Enabled(e) => self.call(frame, "enabled", e),
            Expr::PcValue(e) => self.call(frame, "pc_value", e),
            Expr::GetPriority(e) => self.call(frame, "get_priority", e),
            Expr::AtLabel { proctype, pid, loc, label } => {
                self.remote(frame, "at", *proctype, pid.as_deref());
                w!(self, "{loc} {})", name(label));
            }
            Expr::Remote { proctype, pid, place } => {
                self.remote(frame, "remote", *proctype, pid.as_deref());
                // The variable is the other's, the indices are the reader's.
                let empty = Frame::default();
                let system = self.system;
                self.place(frame, system.proctypes.get(*proctype).map_or(&empty, |t| &t.frame), place);
                w!(self, ")");
            }
            Expr::Happens(operation) => self.happens(frame, operation),
        }
    }

    /// For people: no system has it in its text, and it is not read back.
    fn happens(&mut self, frame: &Frame, operation: &Operation) {
        w!(self, "happens(");
        let (whose, pid) = match operation {
            Operation::Passes { by, .. } => {
                (by.as_ref().map(|(t, _)| *t), by.as_ref().and_then(|(_, pid)| pid.as_ref()))
            }
            Operation::Leaves { proctype, pid, .. } => (Some(*proctype), pid.as_ref()),
            Operation::Takes { proctype, .. } => (Some(*proctype), None),
        };
        if let Some(t) = whose {
            w!(self, "{}", self.proctype_name(t));
        }
        if let Some(pid) = pid {
            w!(self, "[");
            self.expr(frame, pid, 0);
            w!(self, "]");
        }
        match operation {
            Operation::Passes { by, send, chan, args } => {
                w!(self, "{}", if by.is_some() { ": " } else { "" });
                self.expr(frame, chan, 0);
                w!(self, "{}", if *send { "!" } else { "?" });
                for (n, arg) in args.iter().enumerate() {
                    w!(self, "{}", if n > 0 { "," } else { "" });
                    match arg {
                        Pattern::Equal(e) => self.expr(frame, e, 0),
                        Pattern::Bind(_) | Pattern::Any => w!(self, "_"),
                    }
                }
            }
            Operation::Leaves { label, .. } => w!(self, "@{}", name(label)),
            Operation::Takes { name: called, .. } => w!(self, ": {}", name(called)),
        }
        w!(self, ")");
    }

    fn call(&mut self, frame: &Frame, what: &str, e: &Expr) {
        w!(self, "{what}(");
        self.expr(frame, e, 0);
        w!(self, ")");
    }

    fn remote(&mut self, frame: &Frame, what: &str, proctype: ProctypeId, pid: Option<&Expr>) {
        w!(self, "{what}({}", self.proctype_name(proctype));
        if let Some(e) = pid {
            w!(self, "[");
            self.expr(frame, e, 0);
            w!(self, "]");
        }
        w!(self, ", ");
    }

    /// `of` is the frame a local place lies in, `frame` that of its indices.
    fn place(&mut self, frame: &Frame, of: &Frame, place: &Place) {
        let (sigil, of) = match place.scope {
            Scope::Global => ('@', &self.system.globals),
            Scope::Local => ('%', of),
        };
        let mut own_name = None;
        if let Some(var) = of.vars.get(place.var)
            && is_word(&var.name)
            && of.vars.iter().filter(|v| v.name == var.name).count() == 1
        {
            own_name = Some(&var.name);
        }
        match own_name {
            Some(name) => w!(self, "{sigil}{name}"),
            None => w!(self, "{sigil}{}", place.var.0),
        }
        match of.vars.get(place.var).and_then(|var| path(var, place)) {
            Some(path) => {
                for step in path {
                    match step {
                        PathStep::Field(name) => w!(self, ".{name}"),
                        PathStep::Element(n) => w!(self, ".{n}"),
                        PathStep::Index(e) => {
                            w!(self, "[");
                            self.expr(frame, e, 0);
                            w!(self, "]");
                        }
                    }
                }
            }
            None => {
                w!(self, "{{{} ", place.slot);
                self.ty(place.ty);
                for step in &place.index {
                    w!(self, " [");
                    self.expr(frame, &step.value, 0);
                    w!(self, "; {}; {}]", step.len, step.stride);
                }
                w!(self, "}}");
            }
        }
    }

    fn proctype_name(&self, id: ProctypeId) -> String {
        match self.system.proctypes.get(id) {
            Some(t)
                if is_word(&t.name)
                    && !is_id(&t.name, 't')
                    && self.system.proctypes.iter().filter(|o| o.name == t.name).count() == 1 =>
            {
                t.name.clone()
            }
            _ => id.to_string(),
        }
    }

    fn ty(&mut self, ty: Type) {
        w!(self, "{}", TypeName(ty));
    }

    fn shape(&mut self, shape: &Shape) {
        match shape {
            Shape::Scalar(ty) => self.ty(*ty),
            Shape::Array(n, of) => {
                w!(self, "[{n}] ");
                self.shape(of);
            }
            Shape::Record(r) => {
                let n = self.records.iter().position(|o| same(o, r)).expect("every record was listed");
                w!(self, "r{n}");
            }
        }
    }
}

/// How a place is reached from its variable by following the shape.
enum PathStep<'a> {
    Field(&'a str),
    Element(u64),
    Index(&'a Expr),
}

/// `None` if the place does not follow the shape; the bare slot says it then.
fn path<'a>(var: &'a Var, place: &'a Place) -> Option<Vec<PathStep<'a>>> {
    let mut at = u64::from(place.slot.checked_sub(var.slot)?);
    let mut steps = place.index.iter();
    let mut shape = &var.shape;
    let mut out = Vec::new();
    loop {
        match shape {
            Shape::Scalar(ty) => return (at == 0 && *ty == place.ty && steps.next().is_none()).then_some(out),
            Shape::Array(n, of) => {
                let size = slots(of);
                match steps.as_slice().first() {
                    Some(step) if step.len == *n && u64::from(step.stride) == size => {
                        out.push(PathStep::Index(&step.value));
                        steps.next();
                    }
                    _ => {
                        let i = at.checked_div(size)?;
                        if i >= u64::from(*n) {
                            return None;
                        }
                        out.push(PathStep::Element(i));
                        at %= size;
                    }
                }
                shape = of;
            }
            Shape::Record(r) => {
                let mut before = 0u64;
                let holds = |size: u64, before: u64| at >= before && at - before < size;
                let (field, of) = r.fields.iter().find(|(_, s)| {
                    let size = slots(s);
                    let here = holds(size, before);
                    if !here {
                        before = before.saturating_add(size);
                    }
                    here
                })?;
                if !is_word(field) || r.fields.iter().filter(|f| f.0 == *field).count() > 1 {
                    return None;
                }
                at -= before;
                out.push(PathStep::Field(field));
                shape = of;
            }
        }
    }
}

/// Like `Shape::n_slots`, for shapes nobody has checked yet.
pub(crate) fn slots(shape: &Shape) -> u64 {
    match shape {
        Shape::Scalar(_) => 1,
        Shape::Array(n, of) => u64::from(*n).saturating_mul(slots(of)),
        Shape::Record(r) => r.fields.iter().fold(0u64, |sum, f| sum.saturating_add(slots(&f.1))),
    }
}

/// All the records of the system's frames, each after those inside it.
fn records(system: &System) -> Vec<&Arc<Record>> {
    fn visit<'a>(shape: &'a Shape, out: &mut Vec<&'a Arc<Record>>) {
        match shape {
            Shape::Scalar(_) => {}
            Shape::Array(_, of) => visit(of, out),
            Shape::Record(r) if out.iter().any(|o| same(o, r)) => {}
            Shape::Record(r) => {
                r.fields.iter().for_each(|(_, s)| visit(s, out));
                out.push(r);
            }
        }
    }
    let graphs = system.proctypes.iter().chain(&system.claims).chain(system.monitor.as_ref().map(|m| &m.graph));
    let mut out = Vec::new();
    for frame in std::iter::once(&system.globals).chain(graphs.map(|t| &t.frame)) {
        frame.vars.iter().for_each(|v| visit(&v.shape, &mut out));
    }
    out
}

fn same(a: &Arc<Record>, b: &Arc<Record>) -> bool {
    Arc::ptr_eq(a, b) || a == b
}

/// `"critical++" mutex.pml:9`, if there is a text to point at.
fn origin(sources: &Sources, span: Span) -> Option<String> {
    sources.files.get(span.file)?;
    let surface = sources.surface(span);
    let file = sources.file_name(surface);
    let file = if file.contains(char::is_control) { quoted(file) } else { file.to_string() };
    Some(format!("{} {file}:{}", quoted(&sources.one_line(span)), sources.line(span)))
}

struct TypeName(Type);

impl fmt::Display for TypeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Type::Bit => write!(f, "bit"),
            Type::Bool => write!(f, "bool"),
            Type::Byte => write!(f, "byte"),
            Type::Pid => write!(f, "pid"),
            Type::Short => write!(f, "short"),
            Type::Int => write!(f, "int"),
            Type::Unsigned(bits) => write!(f, "unsigned:{bits}"),
            Type::Mtype(MtypeId(set)) => write!(f, "mtype:m{set}"),
            Type::Chan => write!(f, "chan"),
        }
    }
}

/// What is never put in parentheses.
pub(crate) const ATOM: u8 = 12;

/// C's order, loosest first.
pub(crate) fn precedence(op: BinOp) -> u8 {
    match op {
        BinOp::Or => 1,
        BinOp::And => 2,
        BinOp::BitOr => 3,
        BinOp::BitXor => 4,
        BinOp::BitAnd => 5,
        BinOp::Eq | BinOp::Ne => 6,
        BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge => 7,
        BinOp::Shl | BinOp::Shr => 8,
        BinOp::Add | BinOp::Sub => 9,
        BinOp::Mul | BinOp::Div | BinOp::Rem => 10,
    }
}

pub(crate) const BINARY: [BinOp; 18] = [
    BinOp::Or,
    BinOp::And,
    BinOp::BitOr,
    BinOp::BitXor,
    BinOp::BitAnd,
    BinOp::Eq,
    BinOp::Ne,
    BinOp::Lt,
    BinOp::Le,
    BinOp::Gt,
    BinOp::Ge,
    BinOp::Shl,
    BinOp::Shr,
    BinOp::Add,
    BinOp::Sub,
    BinOp::Mul,
    BinOp::Div,
    BinOp::Rem,
];

/// How an operator is written, here and in Promela.
pub fn symbol(op: BinOp) -> &'static str {
    match op {
        BinOp::Or => "||",
        BinOp::And => "&&",
        BinOp::BitOr => "|",
        BinOp::BitXor => "^",
        BinOp::BitAnd => "&",
        BinOp::Eq => "==",
        BinOp::Ne => "!=",
        BinOp::Lt => "<",
        BinOp::Le => "<=",
        BinOp::Gt => ">",
        BinOp::Ge => ">=",
        BinOp::Shl => "<<",
        BinOp::Shr => ">>",
        BinOp::Add => "+",
        BinOp::Sub => "-",
        BinOp::Mul => "*",
        BinOp::Div => "/",
        BinOp::Rem => "%",
    }
}

fn unary(op: UnOp) -> &'static str {
    match op {
        UnOp::Not => "!",
        UnOp::Neg => "-",
        UnOp::BitNot => "~",
    }
}

pub(crate) const PROBES: [Probe; 5] = [Probe::Len, Probe::Full, Probe::Nfull, Probe::Empty, Probe::Nempty];

pub(crate) fn probe_name(probe: Probe) -> &'static str {
    match probe {
        Probe::Len => "len",
        Probe::Full => "full",
        Probe::Nfull => "nfull",
        Probe::Empty => "empty",
        Probe::Nempty => "nempty",
    }
}

/// ` e0, e2`, or nothing.
fn ids(edges: &[EdgeId]) -> String {
    let mut out = String::new();
    for (n, e) in edges.iter().enumerate() {
        out.push_str(if n == 0 { " " } else { ", " });
        out.push_str(&e.to_string());
    }
    out
}

fn space(all: &[String]) -> &'static str {
    if all.is_empty() { "" } else { " " }
}

fn names(all: &[String]) -> String {
    let all: Vec<String> = all.iter().map(|n| name(n)).collect();
    all.join(", ")
}

/// As it is if it is a word, otherwise in quotes.
fn name(s: &str) -> String {
    if is_word(s) { s.to_string() } else { quoted(s) }
}

pub(crate) fn is_word(s: &str) -> bool {
    let mut bytes = s.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// `t12` is proctype 12, whatever it is called.
pub(crate) fn is_id(s: &str, prefix: char) -> bool {
    s.strip_prefix(prefix).is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
}

fn quoted(s: &str) -> String {
    let mut out = String::from("\"");
    for c in s.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if c.is_control() || c == '\u{2028}' || c == '\u{2029}' => {
                out.push_str(&format!("\\u{{{:x}}}", u32::from(c)));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
