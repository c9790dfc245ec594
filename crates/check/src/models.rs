//! Small systems built by hand, with the texts they would have come from.

use spinor_model::index::{Idx, IndexVec};
use spinor_model::interp::Interp;
use spinor_model::ir::*;
use spinor_model::source::{FileId, Sources, Span};
use std::sync::Arc;

/// Puts a system together, statement by statement.
pub struct Builder {
    system: System,
    text: String,
    /// Where the next statement is looked for, so that equal texts are found one after the other.
    from: usize,
}

impl Builder {
    pub fn new(text: &str) -> Builder {
        let mut sources = Sources::default();
        sources.add_file("m.pml", text);
        let mut mtypes = IndexVec::new();
        mtypes.push(MtypeSet { name: "_unnamed_".to_string(), names: Vec::new() });
        let system = System { name: "m".to_string(), sources: Arc::new(sources), mtypes, ..System::default() };
        Builder { system, text: text.to_string(), from: 0 }
    }

    pub fn global(&mut self, name: &str, ty: Type, n: u32) -> Place {
        variable(&mut self.system.globals, Scope::Global, name, ty, n)
    }

    pub fn chan(&mut self, name: &str, capacity: u32) -> Expr {
        let place = self.global(name, Type::Chan, 1);
        let frame = &mut self.system.globals;
        frame.inits.push(Init::Chan { slot: place.slot, chan: frame.chans.len() as u32 });
        let (fields, span) = (vec![Type::Byte], Span::default());
        frame.chans.push(ChanDecl { name: name.to_string(), capacity, fields, span });
        Expr::Read(place)
    }

    /// Starts a proctype that runs `copies` times.
    pub fn proctype(&mut self, name: &str, copies: usize) -> ProctypeId {
        self.from = self.text.find(&format!("proctype {name}")).expect("the proctype is in the text");
        let mut locs = IndexVec::new();
        locs.push(Location::default());
        let id = self.system.proctypes.push(Proctype {
            name: name.to_string(),
            n_params: 0,
            frame: Frame::default(),
            locs,
            edges: IndexVec::new(),
            start: Loc(0),
            end: Loc(0),
            provided: None,
            priority: 1,
            deterministic: false,
            promises: Vec::new(),
            number: 0,
            span: Span::default(),
        });
        self.system.active.extend(std::iter::repeat_n(id, copies));
        id
    }

    pub fn local(&mut self, name: &str, ty: Type) -> Place {
        variable(&mut self.last().frame, Scope::Local, name, ty, 1)
    }

    /// One statement of the last proctype, between locations counted from 0.
    pub fn edge(&mut self, from: u32, to: u32, text: &str, guards: Vec<Guard>, effects: Vec<Effect>) {
        let at = self.from + self.text[self.from..].find(text).expect("the statement is in the text");
        self.from = at + 1;
        let span = FileId::new(0).span(at, at + text.len());
        self.plain_edge(Edge {
            from: Loc(from),
            to: Loc(to),
            guards,
            effects,
            then: Then::Yield,
            in_d_step: false,
            stmt: 0,
            span,
        });
    }

    fn plain_edge(&mut self, mut edge: Edge) {
        let t = self.last();
        while t.locs.len() <= edge.from.index().max(edge.to.index()) {
            t.locs.push(Location::default());
        }
        let (from, span) = (edge.from, edge.span);
        edge.stmt = t.edges.len() as u32 + 1;
        let id = t.edges.push(edge);
        if t.locs[from].edges.is_empty() {
            t.locs[from].span = span;
        }
        t.locs[from].edges.push(id);
    }

    /// The closing brace of the last proctype.
    pub fn end(&mut self, at: u32) {
        self.plain_edge(Edge {
            from: Loc(at),
            to: Loc(at),
            guards: vec![Guard::Youngest],
            effects: vec![Effect::End],
            then: Then::Yield,
            in_d_step: false,
            stmt: 0,
            span: Span::default(),
        });
        self.last().end = Loc(at);
    }

    pub fn last(&mut self) -> &mut Proctype {
        let id = self.system.proctypes.ids().last().expect("a proctype was started");
        &mut self.system.proctypes[id]
    }

    pub fn done(self) -> Interp {
        Interp::new(Arc::new(self.system))
    }
}

fn variable(frame: &mut Frame, scope: Scope, name: &str, ty: Type, n: u32) -> Place {
    let slot = frame.n_slots;
    let shape = if n == 1 { Shape::Scalar(ty) } else { Shape::Array(n, Box::new(Shape::Scalar(ty))) };
    frame.n_slots += n;
    let var = frame.vars.push(Var { name: name.to_string(), shape, slot, hidden: false, span: Span::default() });
    Place { scope, var, slot, ty, index: Vec::new() }
}

pub fn read(place: &Place) -> Expr {
    Expr::Read(place.clone())
}

pub fn set(to: &Place, value: Expr) -> Effect {
    Effect::Assign { to: to.clone(), value }
}

pub fn plus(place: &Place, n: i32) -> Effect {
    set(place, Expr::Binary(BinOp::Add, Box::new(read(place)), Box::new(Expr::Const(n))))
}

pub fn equal(place: &Place, n: i32) -> Expr {
    Expr::Binary(BinOp::Eq, Box::new(read(place)), Box::new(Expr::Const(n)))
}

pub fn send(chan: &Expr, value: Expr) -> Effect {
    Effect::Send { chan: chan.clone(), sorted: false, args: vec![value] }
}

pub fn receive(chan: &Expr, to: &Place) -> Effect {
    Effect::Receive { chan: chan.clone(), random: false, keep: false, args: vec![Pattern::Bind(to.clone())] }
}

const LOCK: &str = include_str!("../../../corpus/mutex.pml");

/// Two processes and a lock that is tested and set in two steps.
pub fn lock() -> Interp {
    let mut b = Builder::new(LOCK);
    let locked = b.global("locked", Type::Bool, 1);
    let critical = b.global("critical", Type::Byte, 1);
    b.proctype("worker", 2);
    let free = Expr::Unary(UnOp::Not, Box::new(read(&locked)));
    b.edge(0, 1, "!locked", vec![Guard::Holds(free)], vec![]);
    b.edge(1, 2, "locked = true", vec![], vec![set(&locked, Expr::Const(1))]);
    b.edge(2, 3, "critical++", vec![], vec![plus(&critical, 1)]);
    b.edge(3, 4, "assert(critical == 1)", vec![], vec![Effect::Assert(equal(&critical, 1))]);
    b.edge(4, 5, "critical--", vec![], vec![plus(&critical, -1)]);
    b.edge(5, 0, "locked = false", vec![], vec![set(&locked, Expr::Const(0))]);
    b.end(6);
    b.done()
}

const CROSSED: &str = "chan p = [1] of { byte }; chan q = [1] of { byte };
byte go;
active proctype A() { byte x; p?x; q!1 }
active proctype B() { byte x; q?x; p!1 }
active proctype C() { go == 1 }
";

/// Each of two processes wants the other to send first; a third waits for what nobody does.
pub fn crossed(capacity: u32) -> Interp {
    let mut b = Builder::new(CROSSED);
    let p = b.chan("p", capacity);
    let q = b.chan("q", capacity);
    let go = b.global("go", Type::Byte, 1);
    for (name, first, get, second, put) in [("A", &p, "p?x", &q, "q!1"), ("B", &q, "q?x", &p, "p!1")] {
        b.proctype(name, 1);
        let x = b.local("x", Type::Byte);
        b.edge(0, 1, get, vec![Guard::Channel], vec![receive(first, &x)]);
        b.edge(1, 2, put, vec![Guard::Channel], vec![send(second, Expr::Const(1))]);
        b.end(2);
    }
    b.proctype("C", 1);
    b.edge(0, 1, "go == 1", vec![Guard::Holds(equal(&go, 1))], vec![]);
    b.end(1);
    b.done()
}

const INDEX: &str = "byte a[2]; byte i;
active proctype P() { i = 2; a[i] = 1; skip }
";

/// An array index one too high, and a statement that is never reached.
pub fn index() -> Interp {
    let mut b = Builder::new(INDEX);
    let mut a = b.global("a", Type::Byte, 2);
    let i = b.global("i", Type::Byte, 1);
    a.index.push(IndexStep { value: read(&i), len: 2, stride: 1 });
    b.proctype("P", 1);
    b.edge(0, 1, "i = 2", vec![], vec![set(&i, Expr::Const(2))]);
    b.edge(1, 2, "a[i] = 1", vec![], vec![set(&a, Expr::Const(1))]);
    b.edge(2, 3, "skip", vec![], vec![]);
    b.end(3);
    b.done()
}

const PIPE: &str = "chan q = [2] of { byte };
active proctype P() { q!300; q!2 }
active proctype Q() { byte x; q?x; q?x; x == 2 }
";

/// Two messages through a channel; the first one loses bits.
pub fn pipe() -> Interp {
    pipe_promised(false)
}

/// The same; if `xr`, the sender claims to be the only receiver.
pub fn pipe_promised(xr: bool) -> Interp {
    let mut b = Builder::new(PIPE);
    let q = b.chan("q", 2);
    b.proctype("P", 1);
    b.edge(0, 1, "q!300", vec![Guard::Channel], vec![send(&q, Expr::Const(300))]);
    b.edge(1, 2, "q!2", vec![Guard::Channel], vec![send(&q, Expr::Const(2))]);
    b.end(2);
    if let (true, Expr::Read(chan)) = (xr, &q) {
        b.last().promises.push(Promise { send: false, chan: chan.clone(), span: Span::default() });
    }
    b.proctype("Q", 1);
    let x = b.local("x", Type::Byte);
    b.edge(0, 1, "q?x", vec![Guard::Channel], vec![receive(&q, &x)]);
    b.edge(1, 2, "q?x", vec![Guard::Channel], vec![receive(&q, &x)]);
    b.edge(2, 3, "x == 2", vec![Guard::Holds(equal(&x, 2))], vec![]);
    b.end(3);
    b.done()
}

const ATOMIC: &str = "byte x;
active proctype P() { atomic { x = 1; assert(x == 0); if :: x = 2 :: x = 3 fi } }
active proctype Q() { x = 0 }
";

/// An assertion in the middle of an atomic that branches behind it.
pub fn atomic() -> Interp {
    let mut b = Builder::new(ATOMIC);
    let x = b.global("x", Type::Byte, 1);
    b.proctype("P", 1);
    b.edge(0, 1, "x = 1", vec![], vec![set(&x, Expr::Const(1))]);
    b.edge(1, 2, "assert(x == 0)", vec![], vec![Effect::Assert(equal(&x, 0))]);
    b.edge(2, 3, "x = 2", vec![], vec![set(&x, Expr::Const(2))]);
    b.edge(2, 3, "x = 3", vec![], vec![set(&x, Expr::Const(3))]);
    for edge in b.last().edges.iter_mut().take(2) {
        edge.then = Then::Atomic;
    }
    b.end(3);
    b.proctype("Q", 1);
    b.edge(0, 1, "x = 0", vec![], vec![set(&x, Expr::Const(0))]);
    b.end(1);
    b.done()
}

const ROUND: &str = "byte x;
active proctype P() { atomic { do :: x = 1 :: x = 0 od } }
";

/// An atomic that goes round for ever.
pub fn round() -> Interp {
    let mut b = Builder::new(ROUND);
    let x = b.global("x", Type::Byte, 1);
    b.proctype("P", 1);
    b.edge(0, 0, "x = 1", vec![], vec![set(&x, Expr::Const(1))]);
    b.edge(0, 0, "x = 0", vec![], vec![set(&x, Expr::Const(0))]);
    for edge in b.last().edges.iter_mut() {
        edge.then = Then::Atomic;
    }
    b.end(1);
    b.done()
}
