//! Machines into a system. A machine is a proctype with one process, a state a location with its name as its label, a
//! transition an edge. A channel is a global variable that holds a channel of a message name and as many bytes as its
//! longest message has data.
//!
//! Nobody dies: `end` is there because a proctype has one, and nothing leads to it. A run may end where every process stands in
//! a final state and every channel is empty ([`Uses::drained`]).

use super::names::{Chan, Does, Local, Machine, Machines, Sees, Stated};
use super::tree::Compare;
use crate::lower::NamedFormula;
use spinor_model::index::{Idx, IndexVec};
use spinor_model::ir::{
    BinOp, ChanDecl, Edge, EdgeId, Effect, Expr, Frame, Guard, Init, Loc, Location, MtypeId, MtypeSet, Operation,
    Pattern, Place, Probe, Proctype, ProctypeId, Scope, Shape, System, Then, Type, Uses, Var, VarId,
};
use spinor_model::protocol::{Channel, Protocol};
use spinor_model::source::Sources;
use std::sync::Arc;

pub fn lower(name: &str, machines: &Machines, sources: Arc<Sources>) -> (System, Vec<NamedFormula>) {
    let mut mtypes = IndexVec::new();
    mtypes.push(MtypeSet { name: "_unnamed_".to_string(), names: machines.messages.clone() });
    let mut proctypes = IndexVec::new();
    let mut next_stmt = 1;
    for (n, machine) in machines.processes.iter().enumerate() {
        proctypes.push(proctype(n, machine, &mut next_stmt));
    }
    let formulas = machines.formulas.iter().map(|f| formula(machines, f, &sources)).collect();
    let mut visible = Vec::new();
    for (n, machine) in machines.processes.iter().enumerate() {
        let moves = machine.states.iter().flat_map(|s| &s.transitions).enumerate();
        visible.extend(moves.filter(|(_, m)| m.visible).map(|(e, _)| (ProctypeId::new(n), EdgeId::new(e))));
    }
    let system = System {
        name: name.to_string(),
        sources,
        mtypes,
        globals: globals(&machines.channels),
        active: (0..machines.processes.len()).map(ProctypeId::new).collect(),
        symmetric: Vec::new(),
        visible,
        proctypes,
        claims: Vec::new(),
        monitor: None,
        uses: Uses { drained: true, ..Uses::default() },
    };
    (system, formulas)
}

/// What the system does not say.
pub fn protocol(machines: &Machines) -> Protocol {
    let channel = |(n, c): (usize, &Chan)| Channel {
        name: c.name.clone(),
        var: VarId::new(n),
        from: ProctypeId::new(c.from),
        to: ProctypeId::new(c.to),
    };
    Protocol {
        channels: machines.channels.iter().enumerate().map(channel).collect(),
        receptions: machines.receptions.clone(),
        strict: machines.strict,
        overflows: machines.overflows.clone(),
    }
}

fn globals(channels: &[Chan]) -> Frame {
    let mut frame = Frame { n_slots: channels.len() as u32, ..Frame::default() };
    for (n, c) in channels.iter().enumerate() {
        let slot = n as u32;
        let shape = Shape::Scalar(Type::Chan);
        frame.vars.push(Var { name: c.name.clone(), shape, slot, hidden: false, span: c.span });
        frame.inits.push(Init::Chan { slot, chan: slot });
        let mut fields = vec![Type::Mtype(MtypeId(0))];
        fields.resize(1 + c.n_fields, Type::Byte);
        frame.chans.push(ChanDecl { name: c.name.clone(), capacity: c.capacity, fields, span: c.span });
    }
    frame
}

fn proctype(n: usize, machine: &Machine, next_stmt: &mut u32) -> Proctype {
    let mut locs: IndexVec<Loc, Location> = IndexVec::new();
    let mut edges = IndexVec::new();
    for (from, Local { name, span, is_final, transitions }) in machine.states.iter().enumerate() {
        let mut leaving = Vec::new();
        for m in transitions {
            let (guards, effects) = match &m.does {
                Does::Send { chan, message, data } => {
                    let data = data.iter().map(|d| Expr::Const(*d as i32));
                    let args = std::iter::once(name_of(*message)).chain(data).collect();
                    (vec![Guard::Channel], vec![Effect::Send { chan: read(*chan), sorted: false, args }])
                }
                Does::Receive { chan, message, data } => {
                    let (chan, args) = (read(*chan), patterns(*message, data));
                    (vec![Guard::Channel], vec![Effect::Receive { chan, random: false, keep: false, args }])
                }
                Does::Internal(_) => (vec![], vec![]),
            };
            let (from, to, stmt) = (Loc::new(from), Loc::new(m.to), *next_stmt);
            *next_stmt += 1;
            let edge = Edge { from, to, guards, effects, then: Then::Yield, in_d_step: false, stmt, span: m.span };
            leaving.push(edges.push(edge));
        }
        let labels = vec![name.clone()];
        let number = from as u32 + 1;
        locs.push(Location {
            edges: leaving,
            labels,
            end: *is_final,
            accept: false,
            progress: false,
            number,
            span: *span,
        });
    }
    let end = Loc::new(locs.len());
    let (guards, effects) = (vec![Guard::Youngest], vec![Effect::End]);
    let death = edges.push(Edge {
        from: end,
        to: end,
        guards,
        effects,
        then: Then::Yield,
        in_d_step: false,
        stmt: *next_stmt,
        span: machine.span,
    });
    *next_stmt += 1;
    locs.push(Location { edges: vec![death], number: end.0 + 1, span: machine.span, ..Location::default() });
    Proctype {
        name: machine.name.clone(),
        n_params: 0,
        frame: Frame::default(),
        locs,
        edges,
        start: Loc::new(machine.initial),
        end,
        provided: None,
        priority: 1,
        deterministic: false,
        promises: vec![],
        number: n as u32,
        span: machine.span,
    }
}

/// The channel that a global variable holds.
fn read(chan: usize) -> Expr {
    Expr::Read(Place { scope: Scope::Global, var: VarId::new(chan), slot: chan as u32, ty: Type::Chan, index: vec![] })
}

fn name_of(message: usize) -> Expr {
    Expr::Const(message as i32 + 1)
}

fn patterns(message: usize, data: &[Option<u32>]) -> Vec<Pattern> {
    let data = data.iter().map(|d| d.map_or(Pattern::Any, |d| Pattern::Equal(Expr::Const(d as i32))));
    std::iter::once(Pattern::Equal(name_of(message))).chain(data).collect()
}

fn formula(machines: &Machines, f: &Stated, sources: &Sources) -> NamedFormula {
    NamedFormula {
        name: f.name.clone(),
        formula: f.formula.clone(),
        props: f.props.iter().map(|p| sees(machines, p)).collect(),
        says: f.says.iter().map(|span| sources.one_line(*span)).collect(),
        text: sources.one_line(f.text),
        span: f.span,
    }
}

fn sees(machines: &Machines, sees: &Sees) -> Expr {
    let poll = |chan: usize, random: bool, message: usize, data: &[Option<u32>]| Expr::Poll {
        chan: Box::new(read(chan)),
        random,
        args: patterns(message, data),
    };
    match sees {
        Sees::At { process, state } => Expr::AtLabel {
            proctype: ProctypeId::new(*process),
            pid: None,
            loc: Loc::new(*state),
            label: machines.processes[*process].states[*state].name.clone(),
        },
        Sees::Empty(c) => Expr::Probe(Probe::Empty, Box::new(read(*c))),
        Sees::Full(c) => Expr::Probe(Probe::Full, Box::new(read(*c))),
        Sees::Head { chan, message, data } => poll(*chan, false, *message, data),
        Sees::Holds { chan, message, data } => poll(*chan, true, *message, data),
        Sees::Passes { send, chan, message, data } => Expr::Happens(Box::new(Operation::Passes {
            by: None, // a channel has one process that sends and one that receives
            send: *send,
            chan: read(*chan),
            args: patterns(*message, data),
        })),
        Sees::Takes { process, transitions, name } => Expr::Happens(Box::new(Operation::Takes {
            proctype: ProctypeId::new(*process),
            edges: transitions.iter().map(|n| EdgeId::new(*n)).collect(),
            name: name.clone(),
        })),
        Sees::Length(c, op, n) => {
            let op = match op {
                Compare::Eq => BinOp::Eq,
                Compare::Ne => BinOp::Ne,
                Compare::Lt => BinOp::Lt,
                Compare::Le => BinOp::Le,
                Compare::Gt => BinOp::Gt,
                Compare::Ge => BinOp::Ge,
            };
            let length = Expr::Probe(Probe::Len, Box::new(read(*c)));
            let n = i32::try_from(*n).unwrap_or(i32::MAX);
            Expr::Binary(op, Box::new(length), Box::new(Expr::Const(n)))
        }
    }
}
