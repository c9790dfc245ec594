//! The rules every system keeps. Front ends lower carefully; this file does not trust them.
//!
//!   V1  every location an edge names exists, and the edge is in the list of the location it leaves, once
//!   V2  `start` and `end` exist; the end's only edge is the process's death, which waits to be the youngest; there is
//!       no other death
//!   V3  `NoneOf` names edges of the same location, not the edge itself, and with each edge all that this one waits for
//!   V4  a channel guard goes with a first effect that sends or receives, and the other way round; a receive asks no
//!       condition besides, so that its half of a handshake depends on the message alone
//!   V5  a send or receive is never anything but the first effect of its edge
//!   V6  a place lies inside its variable whatever its indices are, and has the type of what is there
//!   V7  `run` gives as many arguments as the proctype has parameter slots
//!   V8  variables of a frame lie one after the other and fill it
//!   V9  `NewPid` is read only after a `run` of the same edge
//!   V10 outside a process (global initialisers, the monitor) nothing is local
//!   V11 an edge inside a `d_step` does not lead to a location from which no edge leaves
//!   V12 there are no more active processes than can live
//!   V13 mtype sets and remote references exist
//!   V14 the edges of a monitor have no effects but events and the death, and no other graph has events; an event
//!       assigns nothing
//!   V15 no part of a system asks what the next step does: that is for those who look from outside
//!   V16 edges that are visible exist

use crate::index::Idx;
use crate::ir::{
    Effect, Expr, Frame, Guard, Init, Loc, MAX_LIVE, Pattern, Place, Proctype, Scope, Shape, System, Then, Type,
};

/// Every rule that is broken, with where; empty for a system that is well made.
pub fn validate(system: &System) -> Vec<String> {
    let mut v = Validator { system, at: String::new(), broken: Vec::new() };
    v.at = "globals".into();
    v.frame(&system.globals, None);
    for t in system.proctypes.iter().chain(&system.claims) {
        v.proctype(t, Some(&t.frame));
        let events = t.edges.iter().flat_map(|e| &e.effects).any(|e| matches!(e, Effect::Event { .. }));
        v.rule(!events, "V14", "an event outside the monitor");
    }
    if let Some(m) = &system.monitor {
        v.proctype(&m.graph, None);
        let events = |e: &Effect| match e {
            Effect::Event { args, .. } => !args.iter().any(|a| matches!(a, Pattern::Bind(_))),
            other => *other == Effect::End,
        };
        v.rule(m.graph.edges.iter().flat_map(|e| &e.effects).all(events), "V14", "a monitor that does more than match");
    }
    v.at = "system".into();
    v.rule(system.active.len() <= MAX_LIVE, "V12", "too many active processes");
    v.rule(system.active.iter().all(|t| t.index() < system.proctypes.len()), "V12", "an active proctype is missing");
    let is_there = |(t, e): &(_, _)| system.proctypes.get(*t).is_some_and(|t| t.edges.get(*e).is_some());
    v.rule(system.visible.iter().all(is_there), "V16", "a visible edge is missing");
    v.broken
}

struct Validator<'a> {
    system: &'a System,
    at: String,
    broken: Vec<String>,
}

impl Validator<'_> {
    fn rule(&mut self, holds: bool, rule: &str, what: &str) {
        if !holds {
            self.broken.push(format!("{rule} {}: {what}", self.at));
        }
    }

    fn frame(&mut self, frame: &Frame, local: Option<&Frame>) {
        let mut slot = 0u64;
        for var in frame.vars.iter() {
            self.rule(u64::from(var.slot) == slot, "V8", "a gap between variables");
            slot += var.shape.n_slots();
            self.shape(&var.shape);
        }
        for c in &frame.chans {
            c.fields.iter().for_each(|ty| self.ty(*ty));
        }
        self.rule(slot == u64::from(frame.n_slots), "V8", "the variables do not fill the frame");
        for init in &frame.inits {
            match init {
                Init::Value { slot, ty, value, .. } => {
                    self.rule(frame_type(frame, *slot) == Some(*ty), "V6", "an initialiser of another type");
                    self.expr(value, local, false);
                }
                Init::Chan { slot, chan } => {
                    self.rule(frame_type(frame, *slot) == Some(Type::Chan), "V6", "a channel in another variable");
                    self.rule((*chan as usize) < frame.chans.len(), "V6", "a channel that is not declared");
                }
            }
        }
    }

    fn shape(&mut self, shape: &Shape) {
        match shape {
            Shape::Scalar(ty) => self.ty(*ty),
            Shape::Array(_, of) => self.shape(of),
            Shape::Record(r) => r.fields.iter().for_each(|(_, s)| self.shape(s)),
        }
    }

    fn ty(&mut self, ty: Type) {
        if let Type::Mtype(set) = ty {
            self.rule(set.index() < self.system.mtypes.len(), "V13", "no such mtype set");
        }
    }

    /// `local`: the frame that the edges may read; a monitor's edges have none.
    fn proctype(&mut self, t: &Proctype, local: Option<&Frame>) {
        self.at = t.name.clone();
        self.frame(&t.frame, Some(&t.frame));
        self.rule(t.start.index() < t.locs.len() && t.end.index() < t.locs.len(), "V2", "start or end is missing");
        if let Some(e) = &t.provided {
            self.expr(e, local, false);
        }
        for promise in &t.promises {
            promise.chan.each_expr(&mut |e| self.expr(e, local, false));
            self.place(&promise.chan, local);
        }
        if let Some(end) = t.locs.get(t.end) {
            let dies = match &end.edges[..] {
                [e] => t.edges.get(*e).is_some_and(|e| e.effects == [Effect::End] && e.guards == [Guard::Youngest]),
                _ => false,
            };
            self.rule(dies, "V2", "the end does not end");
        }
        for (loc, l) in t.locs.enumerated() {
            for e in &l.edges {
                self.rule(
                    t.edges.get(*e).is_some_and(|e| e.from == loc),
                    "V1",
                    "an edge listed where it does not leave",
                );
            }
        }
        for (id, edge) in t.edges.enumerated() {
            self.at = format!("{} {id}", t.name);
            let from = t.locs.get(edge.from);
            self.rule(from.is_some_and(|l| l.edges.iter().filter(|e| **e == id).count() == 1), "V1", "not listed once");
            self.rule(edge.to.index() < t.locs.len(), "V1", "leads nowhere");
            if edge.then == Then::DStep {
                self.rule(edge.in_d_step, "V11", "goes on inside a d_step without being in one");
                self.rule(
                    t.locs.get(edge.to).is_some_and(|l| !l.edges.is_empty()),
                    "V11",
                    "a d_step leads to a dead end",
                );
            }
            let io = |e: &Effect| matches!(e, Effect::Send { .. } | Effect::Receive { .. });
            let guarded = edge.guards.contains(&Guard::Channel);
            self.rule(guarded == edge.effects.first().is_some_and(io), "V4", "channel guard and effect do not agree");
            self.rule(!edge.effects.iter().skip(1).any(io), "V5", "a send or receive that is not first");
            let asks = edge.guards.iter().any(|g| matches!(g, Guard::Holds(_)));
            self.rule(edge.receive().is_none() || !asks, "V4", "a receive that also asks a condition");
            let dies = edge.effects.contains(&Effect::End);
            self.rule(!dies || edge.from == t.end, "V2", "a death elsewhere than at the end");
            for guard in &edge.guards {
                match guard {
                    Guard::Holds(e) => self.expr(e, local, false),
                    Guard::NoneOf(others) => {
                        let here = others.iter().all(|o| t.edges.get(*o).is_some_and(|o| o.from == edge.from));
                        self.rule(here, "V3", "waits for an edge of another location");
                        self.rule(!others.contains(&id), "V3", "waits for itself");
                        let closed = others.iter().filter_map(|o| t.edges.get(*o)).all(|o| {
                            o.guards.iter().all(|g| match g {
                                Guard::NoneOf(further) => further.iter().all(|f| others.contains(f)),
                                _ => true,
                            })
                        });
                        self.rule(closed, "V3", "does not wait for what another waits for");
                    }
                    Guard::Channel | Guard::Youngest => {}
                }
            }
            let mut ran = false;
            for effect in &edge.effects {
                self.effect(effect, local, ran);
                ran |= matches!(effect, Effect::Run { .. });
            }
        }
    }

    fn effect(&mut self, effect: &Effect, local: Option<&Frame>, ran: bool) {
        effect.each_expr(&mut |e| self.expr(e, local, ran));
        match effect {
            Effect::Assign { to, .. } => self.place(to, local),
            Effect::Receive { args, .. } => self.bound(args, local),
            Effect::Run { proctype, args, .. } => {
                let params = self.system.proctypes.get(*proctype).map(|t| t.n_params as usize);
                self.rule(params == Some(args.len()), "V7", "wrong number of arguments");
            }
            Effect::PrintName(_, set) => {
                self.rule(set.index() < self.system.mtypes.len(), "V13", "no such mtype set");
            }
            Effect::Send { .. }
            | Effect::Event { .. }
            | Effect::Assert(_)
            | Effect::Print { .. }
            | Effect::SetPriority { .. }
            | Effect::End => {}
        }
    }

    fn bound(&mut self, args: &[Pattern], local: Option<&Frame>) {
        for arg in args {
            if let Pattern::Bind(place) = arg {
                self.place(place, local);
            }
        }
    }

    /// The place itself; its indices are checked as expressions.
    fn place(&mut self, p: &Place, local: Option<&Frame>) {
        let frame = match p.scope {
            Scope::Global => Some(&self.system.globals),
            Scope::Local => local,
        };
        self.rule(frame.is_some(), "V10", "something local outside a process");
        self.inside(p, frame);
    }

    fn inside(&mut self, p: &Place, frame: Option<&Frame>) {
        let ok = frame.and_then(|f| f.vars.get(p.var)).is_some_and(|v| {
            let last = u64::from(p.slot)
                + p.index.iter().map(|s| u64::from(s.len.saturating_sub(1)) * u64::from(s.stride)).sum::<u64>();
            u64::from(p.slot) >= u64::from(v.slot)
                && last < u64::from(v.slot) + v.shape.n_slots()
                && slot_type(&v.shape, u64::from(p.slot - v.slot)) == Some(p.ty)
        });
        self.rule(ok, "V6", "a place outside its variable, or of another type");
    }

    fn expr(&mut self, e: &Expr, local: Option<&Frame>, ran: bool) {
        match e {
            Expr::Pid => self.rule(local.is_some(), "V10", "_pid outside a process"),
            Expr::NewPid => self.rule(ran, "V9", "NewPid without run"),
            Expr::Read(place) => self.place(place, local),
            Expr::Poll { args, .. } => self.bound(args, local),
            Expr::Happens(_) => self.rule(false, "V15", "a system that asks about its next step"),
            Expr::AtLabel { proctype, loc, .. } => {
                let known = self.system.proctypes.get(*proctype).is_some_and(|t| *loc < Loc::new(t.locs.len()));
                self.rule(known, "V13", "a label that does not exist");
            }
            Expr::Remote { proctype, place, .. } => {
                self.rule(place.scope == Scope::Local, "V10", "a remote reference to a global");
                match self.system.proctypes.get(*proctype) {
                    Some(t) => self.inside(place, Some(&t.frame)),
                    None => self.rule(false, "V13", "a proctype that does not exist"),
                }
            }
            _ => {}
        }
        e.each_child(&mut |child| self.expr(child, local, ran));
    }
}

fn frame_type(frame: &Frame, slot: u32) -> Option<Type> {
    let var = frame.vars.iter().find(|v| v.slot <= slot && u64::from(slot - v.slot) < v.shape.n_slots())?;
    let ty = slot_type(&var.shape, u64::from(slot - var.slot));
    debug_assert!(var.shape.n_slots() > 64 || ty == listed_type(&var.shape, slot - var.slot), "a slot has one type");
    ty
}

fn listed_type(shape: &Shape, slot: u32) -> Option<Type> {
    let mut types = Vec::new();
    shape.leaves(&mut |_, ty| types.push(ty));
    assert_eq!(types.len() as u64, shape.n_slots(), "a slot for each leaf");
    types.get(slot as usize).copied()
}

/// The type of one slot of a shape, without listing all of them.
fn slot_type(shape: &Shape, slot: u64) -> Option<Type> {
    match shape {
        Shape::Scalar(ty) => (slot == 0).then_some(*ty),
        Shape::Array(n, of) => (slot < u64::from(*n) * of.n_slots()).then(|| slot_type(of, slot % of.n_slots()))?,
        Shape::Record(r) => {
            let mut at = slot;
            for (_, s) in &r.fields {
                if at < s.n_slots() {
                    return slot_type(s, at);
                }
                at -= s.n_slots();
            }
            None
        }
    }
}
