//! Logical errors of protocols: receptions that nobody specified, sends that find no room, transitions that are never
//! executed.
//!
//! A protocol is a system of a certain form: each process is a machine whose transitions send, receive or do neither, and each
//! channel leads from one process to another. What goes wrong is read off a state alone:
//!
//! - **reception**, on the channels J: a channel to process i has m as its first message, and i, where it stands, has
//!   receives, none of which takes m from that channel, and nothing else. In the strict form it is enough that i has
//!   no receive that takes m there, whatever else it has.
//! - **overflow**, on the channels K: process i, where it stands, has a send on a channel that is full.
//! - **nonexecutable**: a transition that is taken in no reachable state. No run shows that; the whole search does.
//!
//! Deadlock needs nothing new: nobody can move, and not everybody stands in a final state with all channels empty
//! (`Uses::drained`).
//!
//! # The argument
//!   The first two are expressions over the system ([`column`]), at which whatever executes the system looks in
//!   every state that is stored, so every engine and both executors can ask them. A trace that comes of it is judged again, from
//!   the edges that leave the locations of its last state and from the messages in the channels ([`flaw`]): what
//!   is shown was found in two ways.

use crate::trace::{Ending, Trace};
use crate::verdict::Kind;
use spinor_model::index::Idx;
use spinor_model::interp::Interp;
use spinor_model::ir::{
    BinOp, Edge, EdgeId, Expr, Loc, Pattern, Pid, Place, Probe, ProctypeId, Scope, System, Type, UnOp,
};
use spinor_model::protocol::{Channel, Protocol};
use spinor_model::state::State;

/// Of questions that are about no channel ([`asked`]).
const NO_CHANNEL: &str = "no channel is asked about";

/// What is wrong in a state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Flaw {
    pub kind: Kind,
    pub channel: usize,
    /// In one line.
    pub what: String,
}

/// What to look at in every state for a property of this kind; nothing if it cannot be violated.
pub fn column(protocol: &Protocol, system: &System, kind: Kind) -> Option<Expr> {
    let mut cases = Vec::new();
    for n in asked(protocol, kind) {
        let (channel, owner) = (&protocol.channels[*n], owner(protocol, *n, kind));
        let t = &system.proctypes[owner];
        for (loc, l) in t.locs.enumerated() {
            let edges = || l.edges.iter().map(|e| &t.edges[*e]);
            if loc == t.end {
                continue;
            }
            let here = at(system, owner, loc);
            match kind {
                Kind::Overflow => {
                    if edges().any(|e| e.send().is_some_and(|(c, _)| is(c, channel))) {
                        cases.push(both(here, Expr::Probe(Probe::Full, Box::new(read(channel)))));
                    }
                }
                Kind::Reception => {
                    if !protocol.strict && !only_receives(edges()) {
                        continue;
                    }
                    let takes = edges().filter_map(Edge::receive).filter(|(c, _)| is(c, channel));
                    let taken = any(takes.map(|(c, args)| poll(c, args)).collect());
                    let waits = Expr::Probe(Probe::Nempty, Box::new(read(channel)));
                    let stuck = match taken {
                        Some(taken) => both(waits, Expr::Unary(UnOp::Not, Box::new(taken))),
                        None => waits,
                    };
                    cases.push(both(here, stuck));
                }
                Kind::NonExecutable | Kind::EndState => unreachable!("{NO_CHANNEL}"),
                Kind::Assertion | Kind::RuntimeError | Kind::Trace | Kind::Promise => unreachable!("{NO_CHANNEL}"),
                Kind::Acceptance | Kind::NonProgress | Kind::Claim | Kind::Ltl => unreachable!("{NO_CHANNEL}"),
            }
        }
    }
    any(cases)
}

fn asked(protocol: &Protocol, kind: Kind) -> &[usize] {
    match kind {
        Kind::Reception => &protocol.receptions,
        Kind::Overflow => &protocol.overflows,
        // Of the whole search, not of a state; and what is no question about protocols.
        Kind::NonExecutable | Kind::EndState => &[],
        Kind::Assertion | Kind::RuntimeError | Kind::Trace | Kind::Promise => &[],
        Kind::Acceptance | Kind::NonProgress | Kind::Claim | Kind::Ltl => &[],
    }
}

/// Whose error it is.
fn owner(protocol: &Protocol, channel: usize, kind: Kind) -> ProctypeId {
    match kind {
        Kind::Overflow => protocol.channels[channel].from,
        Kind::Reception => protocol.channels[channel].to,
        Kind::NonExecutable | Kind::EndState => unreachable!("{NO_CHANNEL}"),
        Kind::Assertion | Kind::RuntimeError | Kind::Trace | Kind::Promise => unreachable!("{NO_CHANNEL}"),
        Kind::Acceptance | Kind::NonProgress | Kind::Claim | Kind::Ltl => unreachable!("{NO_CHANNEL}"),
    }
}

/// What is wrong in a state, from its edges and messages.
pub fn flaw(protocol: &Protocol, interp: &Interp, state: &State, kind: Kind) -> Option<Flaw> {
    let system = interp.system();
    asked(protocol, kind).iter().find_map(|&n| {
        let (channel, owner) = (&protocol.channels[n], owner(protocol, n, kind));
        let pid = (0..state.n_procs() as Pid).find(|p| state.proctype(*p) == owner)?;
        let view = interp.chan(state, state.globals()[channel.var.index()] as u8)?;
        let t = &system.proctypes[owner];
        let l = &t.locs[state.loc(pid)];
        let edges = || l.edges.iter().map(|e| &t.edges[*e]);
        let process = |t: ProctypeId| system.proctypes[t].name.as_str();
        let place = format!("{} in `{}`", t.name, l.labels.first().map_or("", String::as_str));
        let what = match kind {
            Kind::Overflow => {
                let send = edges().find(|e| e.send().is_some_and(|(c, _)| is(c, channel)))?;
                let (has, room) = (view.messages.len(), view.decl.capacity as usize);
                if has < room {
                    return None;
                }
                let (name, to) = (&channel.name, process(channel.to));
                format!("{place} has {}, but {name} to {to} is full ({has} of {room})", op(system, send))
            }
            Kind::Reception => {
                let first = view.messages.first()?;
                let takes =
                    |e: &Edge| e.receive().is_some_and(|(c, args)| is(c, channel) && args.iter().zip(*first).all(fits));
                if edges().any(takes) || !protocol.strict && !only_receives(edges()) {
                    return None;
                }
                let has: Vec<String> = edges().map(|e| op(system, e)).collect();
                let has = if has.is_empty() { "no transition".to_string() } else { has.join(", ") };
                let (name, from) = (&channel.name, process(channel.from));
                let message = shown(system, first, &view.decl.fields);
                format!("{place} has {has}, but {message} is first in {name} from {from}")
            }
            Kind::NonExecutable | Kind::EndState => unreachable!("{NO_CHANNEL}"),
            Kind::Assertion | Kind::RuntimeError | Kind::Trace | Kind::Promise => unreachable!("{NO_CHANNEL}"),
            Kind::Acceptance | Kind::NonProgress | Kind::Claim | Kind::Ltl => unreachable!("{NO_CHANNEL}"),
        };
        Some(Flaw { kind, channel: n, what })
    })
}

/// Says of a trace that ends in such a state what is wrong there, and how it came about. Panics if nothing is.
pub fn tell(protocol: &Protocol, interp: &Interp, trace: &mut Trace) {
    let Ending::Met { kind, .. } = trace.ending else { return };
    let state = trace.last_state().expect("T4: such a state was reached");
    let flaw = flaw(protocol, interp, state, kind).expect("T4: nothing is wrong in the last state");
    let column = column(protocol, interp.system(), kind).expect("T4: who asks looks at something");
    let looked = interp.value(state, None, &column);
    assert!(looked.is_ok_and(|value| value != 0), "T4: what was looked at is what is wrong");
    let why = why(protocol, interp, trace, &flaw);
    trace.ending = Ending::Met { kind, what: flaw.what, why };
}

/// How the messages came into the channel.
pub fn why(protocol: &Protocol, interp: &Interp, trace: &Trace, flaw: &Flaw) -> Vec<String> {
    let system = interp.system();
    let channel = &protocol.channels[flaw.channel];
    let mut waiting: std::collections::VecDeque<usize> = Default::default();
    for (n, step) in trace.steps.iter().enumerate() {
        let edge = &system.proctypes[step.proctype].edges[step.step.edge];
        if edge.send().is_some_and(|(c, _)| is(c, channel)) {
            waiting.push_back(n + 1);
        } else if edge.receive().is_some_and(|(c, _)| is(c, channel)) {
            waiting.pop_front();
        }
    }
    let state = trace.last_state().expect("T4: such a state was reached");
    let has = interp.chan(state, state.globals()[channel.var.index()] as u8).map(|view| view.messages.len());
    debug_assert_eq!(has, Some(waiting.len()), "what is in the channel was sent, and not received");
    let steps: Vec<String> = waiting.iter().map(usize::to_string).collect();
    let from = &system.proctypes[channel.from].name;
    let mut out = vec![format!("{}.", flaw.what)];
    out.extend(match (flaw.kind, &steps[..]) {
        (_, []) => None,
        (Kind::Reception, [first, ..]) => Some(format!("{from} sent it at step {first}, and it waits since.")),
        (_, [one]) => Some(format!("The message in it was sent at step {one}.")),
        (_, all) => Some(format!("The messages in it were sent at the steps {}.", all.join(", "))),
    });
    out
}

/// A machine that can only wait for messages here.
fn only_receives<'a>(mut edges: impl Iterator<Item = &'a Edge>) -> bool {
    let Some(first) = edges.next() else { return false };
    first.receive().is_some() && edges.all(|e| e.receive().is_some())
}

fn fits((pattern, value): (&Pattern, &i32)) -> bool {
    match pattern {
        Pattern::Equal(Expr::Const(n)) => n == value,
        _ => true,
    }
}

/// Does this expression name the channel?
fn is(e: &Expr, channel: &Channel) -> bool {
    matches!(e, Expr::Read(place) if place.scope == Scope::Global && place.var == channel.var)
}

fn read(channel: &Channel) -> Expr {
    let (var, slot) = (channel.var, channel.var.0);
    Expr::Read(Place { scope: Scope::Global, var, slot, ty: Type::Chan, index: vec![] })
}

fn poll(chan: &Expr, args: &[Pattern]) -> Expr {
    Expr::Poll { chan: Box::new(chan.clone()), random: false, args: args.to_vec() }
}

/// The process of a machine stands here.
fn at(system: &System, proctype: ProctypeId, loc: Loc) -> Expr {
    let label = system.proctypes[proctype].locs[loc].labels.first().cloned().unwrap_or_default();
    Expr::AtLabel { proctype, pid: None, loc, label }
}

fn both(a: Expr, b: Expr) -> Expr {
    Expr::Binary(BinOp::And, Box::new(a), Box::new(b))
}

/// One of them, as a tree that is not deep.
fn any(mut cases: Vec<Expr>) -> Option<Expr> {
    match cases.len() {
        0 | 1 => cases.pop(),
        n => {
            let right = any(cases.split_off(n / 2));
            let (a, b) = any(cases).zip(right)?;
            Some(Expr::Binary(BinOp::Or, Box::new(a), Box::new(b)))
        }
    }
}

/// ``p in `s`: -m -> t (line 4)``
pub fn named(system: &System, proctype: ProctypeId, edge: EdgeId) -> String {
    let t = &system.proctypes[proctype];
    let edge = &t.edges[edge];
    let from = t.locs[edge.from].labels.first().map_or("", String::as_str);
    match system.sources.files.get(edge.span.file) {
        Some(_) => {
            let (text, line) = (system.sources.one_line(edge.span), system.sources.line(edge.span));
            format!("{} in `{from}`: {text} (line {line})", t.name)
        }
        None => format!("{} in `{from}`: {}", t.name, op(system, edge)),
    }
}

/// `-m(1)`: a transition without where it leads.
pub fn op(system: &System, edge: &Edge) -> String {
    match system.sources.files.get(edge.span.file) {
        Some(_) => {
            let text = system.sources.one_line(edge.span);
            text.split("->").next().unwrap_or(&text).trim().to_string()
        }
        None => format!("statement {}", edge.stmt),
    }
}

/// `m`, `m(1,0)`; a message that carries no data may lie in a channel that has room for some.
fn shown(system: &System, message: &[i32], fields: &[Type]) -> String {
    let mut values = message.iter().zip(fields).map(|(v, ty)| system.show(*ty, *v));
    let name = values.next().unwrap_or_default();
    let data: Vec<String> = values.collect();
    if data.is_empty() { name } else { format!("{name}({})", data.join(",")) }
}
