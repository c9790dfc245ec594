//! Small systems built by hand, for tests.

use spinor_check::trace::TraceStep;
use spinor_model::index::Idx;
use spinor_model::interp::{Floor, Interp};
use spinor_model::ir::{
    BinOp, ChanDecl, Edge, Effect, Expr, Frame, Guard, Init, Loc, Location, Pattern, Place, Proctype, ProctypeId,
    Scope, Shape, System, Then, Type, UnOp, Var, VarId,
};
use spinor_model::source::{FileId, Sources};
use spinor_model::state::State;
use spinor_model::successors::Successors;
use std::sync::Arc;

/// A proctype in the making: straight lines and loops of edges, each named by its text in the source.
struct Maker<'a> {
    text: &'a str,
    file: FileId,
    proctype: Proctype,
}

impl Maker<'_> {
    fn edge(&mut self, (from, to): (usize, usize), text: &str, stmt: u32, guards: Vec<Guard>, effects: Vec<Effect>) {
        let at = self.text.find(text).unwrap_or_else(|| panic!("`{text}` is not in the source"));
        let span = self.file.span(at, at + text.len());
        while self.proctype.locs.len() <= from.max(to) {
            self.proctype.locs.push(Location::default());
        }
        let edge = Edge {
            from: Loc::new(from),
            to: Loc::new(to),
            guards,
            effects,
            then: Then::Yield,
            in_d_step: false,
            stmt,
            span,
        };
        let id = self.proctype.edges.push(edge);
        self.proctype.locs[Loc::new(from)].edges.push(id);
        self.proctype.locs[Loc::new(from)].span = span;
    }

    fn end(&mut self, from: usize, stmt: u32) {
        self.edge((from, from), "}", stmt, vec![Guard::Youngest], vec![Effect::End]);
        self.proctype.end = Loc::new(from);
    }
}

fn proctype(name: &str, number: u32) -> Proctype {
    Proctype {
        name: name.to_string(),
        n_params: 0,
        frame: Frame::default(),
        locs: Default::default(),
        edges: Default::default(),
        start: Loc::new(0),
        end: Loc::new(usize::from(u16::MAX)),
        provided: None,
        priority: 1,
        deterministic: false,
        promises: Vec::new(),
        number,
        span: Default::default(),
    }
}

fn global(n: u32, ty: Type) -> Place {
    Place { scope: Scope::Global, var: VarId::new(n as usize), slot: n, ty, index: Vec::new() }
}

fn frame(vars: &[(&str, Type)]) -> Frame {
    let mut frame = Frame { n_slots: vars.len() as u32, ..Frame::default() };
    for (slot, (name, ty)) in vars.iter().enumerate() {
        frame.vars.push(Var {
            name: name.to_string(),
            shape: Shape::Scalar(*ty),
            slot: slot as u32,
            hidden: false,
            span: Default::default(),
        });
    }
    frame
}

pub const LOCK: &str = "bool locked;
byte critical;

active [2] proctype worker()
{
do
:: !locked ->
locked = true;
critical++;
assert(critical == 1);
critical--; locked = false
od
}
";

/// Two workers and a lock that does not lock.
pub fn lock() -> Interp {
    let mut sources = Sources::default();
    let file = sources.add_file("mutex.pml", LOCK);
    let mut m = Maker { text: LOCK, file, proctype: proctype("worker", 0) };
    let locked = || global(0, Type::Bool);
    let critical = || global(1, Type::Byte);
    let read = |p: Place| Box::new(Expr::Read(p));
    let set = |to: Place, value: Expr| vec![Effect::Assign { to, value }];
    let step = |op| Expr::Binary(op, read(critical()), Box::new(Expr::Const(1)));
    m.edge((0, 1), "!locked", 0, vec![Guard::Holds(Expr::Unary(UnOp::Not, read(locked())))], vec![]);
    m.edge((1, 2), "locked = true", 1, vec![], set(locked(), Expr::Const(1)));
    m.edge((2, 3), "critical++", 2, vec![], set(critical(), step(BinOp::Add)));
    m.edge((3, 4), "assert(critical == 1)", 3, vec![], vec![Effect::Assert(step(BinOp::Eq))]);
    m.edge((4, 5), "critical--", 4, vec![], set(critical(), step(BinOp::Sub)));
    m.edge((5, 0), "locked = false", 5, vec![], set(locked(), Expr::Const(0)));
    let t = m.proctype;
    Interp::new(Arc::new(System {
        name: "mutex.pml".to_string(),
        sources: Arc::new(sources),
        globals: frame(&[("locked", Type::Bool), ("critical", Type::Byte)]),
        proctypes: [t].into_iter().collect(),
        active: vec![ProctypeId::new(0); 2],
        ..System::default()
    }))
}

const HANDSHAKE: &str = "chan c = [0] of { byte };
byte x;
active proctype sender() { c!3 }
active proctype receiver() { c?x; x = x + 1 }
";

/// One message by rendez-vous, then the receiver counts.
pub fn handshake() -> Interp {
    let mut sources = Sources::default();
    let file = sources.add_file("hand.pml", HANDSHAKE);
    let chan = || Expr::Read(global(0, Type::Chan));
    let x = || global(1, Type::Byte);
    let mut sender = Maker { text: HANDSHAKE, file, proctype: proctype("sender", 0) };
    let send = Effect::Send { chan: chan(), sorted: false, args: vec![Expr::Const(3)] };
    sender.edge((0, 1), "c!3", 0, vec![Guard::Channel], vec![send]);
    sender.end(1, 1);
    let mut receiver = Maker { text: HANDSHAKE, file, proctype: proctype("receiver", 1) };
    let receive = Effect::Receive { chan: chan(), random: false, keep: false, args: vec![Pattern::Bind(x())] };
    receiver.edge((0, 1), "c?x", 2, vec![Guard::Channel], vec![receive]);
    let value = Expr::Binary(BinOp::Add, Box::new(Expr::Read(x())), Box::new(Expr::Const(1)));
    receiver.edge((1, 2), "x = x + 1", 3, vec![], vec![Effect::Assign { to: x(), value }]);
    receiver.end(2, 4);
    let mut globals = frame(&[("c", Type::Chan), ("x", Type::Byte)]);
    globals.inits.push(Init::Chan { slot: 0, chan: 0 });
    globals.chans.push(ChanDecl {
        name: "c".to_string(),
        capacity: 0,
        fields: vec![Type::Byte],
        span: Default::default(),
    });
    Interp::new(Arc::new(System {
        name: "hand.pml".to_string(),
        sources: Arc::new(sources),
        globals,
        proctypes: [sender.proctype, receiver.proctype].into_iter().collect(),
        active: vec![ProctypeId::new(0), ProctypeId::new(1)],
        ..System::default()
    }))
}

/// The run that always takes the first move offered, at most `n` of them.
pub fn first_moves(interp: &Interp, n: usize) -> (State, Vec<TraceStep>) {
    let picks: Vec<Option<u8>> = vec![None; n];
    moves_of(interp, &picks)
}

/// The run that takes the first move of the processes named, or the first of all.
pub fn moves_of(interp: &Interp, pids: &[Option<u8>]) -> (State, Vec<TraceStep>) {
    let initial = interp.initial().unwrap_or_else(|f| panic!("{f:?}"));
    let (mut state, mut floor) = (initial.clone(), Floor::Anyone);
    let mut steps = Vec::new();
    for pid in pids {
        let mut moves = Vec::new();
        interp.moves(&state, floor, &mut moves);
        let Some(step) = moves.into_iter().find(|s| pid.is_none_or(|p| p == s.pid)) else { break };
        let (taken, then) = crate::trail::take(interp, &mut state, step);
        steps.push(taken);
        match then {
            Some(then) => floor = then,
            None => break,
        }
    }
    (initial, steps)
}
