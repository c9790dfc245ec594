//! What a statement looks at and what it changes, without running it.
//!
//! Everything here errs in one direction: it may report an access that is not there, never the reverse. What is
//! left out is really not looked at, in any state; what is reported may not be.
//!
//! Where the approximations are:
//!   A1 an index that is no constant may be any index
//!   A2 a channel variable that is ever assigned, received or passed may name any channel
//!   A3 a send that may be a rendez-vous may meet every receive, of any process, on a channel that may be the same
//!   A4 `timeout`, `enabled()` and priorities look at everything that lets any process move
//!   A5 the right side of `&&`, `||` and a choice counts as read, also where it is skipped
//!   A6 a `d_step` may take every edge inside it
//!
//! # Invariants
//!   F1 what a guard or an expression looks at is no change, and what an effect changes in a channel is one
//!   F2 seen from another process, nothing is a process's own
//!   F3 a set of slots is written down in one way: ranges in order that neither meet nor touch
//!
//! The process's own location is in no read: an edge is asked about where it leaves. It is in the writes, for those
//! who look at other processes' locations.

use crate::index::Idx;
use crate::ir::{
    ChanDecl, Edge, EdgeId, Effect, Expr, Frame, Guard, Init, Pattern, Place, Probe, Proctype, ProctypeId, Scope,
    System, Then, Type,
};
use std::collections::{BTreeMap, BTreeSet};

/// Parts of the state.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Footprint {
    pub globals: Slots,
    /// Of the process itself.
    pub locals: Slots,
    /// Of some process of this type, which may be the process itself.
    pub remotes: BTreeMap<ProctypeId, Slots>,
    pub chans: Vec<ChanUse>,
    /// Where processes of these types stand.
    pub locations: BTreeSet<ProctypeId>,
    /// Which processes live; what is made or lost with them (variables, channels, places in the order) included.
    pub population: bool,
    pub priorities: bool,
    /// `_last`
    pub last: bool,
    /// Where the trace assertion stands.
    pub monitor: bool,
    /// Whatever lets some process move: every part of the state may matter.
    pub everything: bool,
}

/// How a statement meets a channel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChanUse {
    pub name: ChanName,
    pub access: Access,
    /// The expression that names it, and in whose words: `None` for the process itself.
    pub chan: Expr,
    pub whose: Option<ProctypeId>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub enum ChanName {
    /// The channel made with the globals, by its place among them.
    Global(u32),
    /// A channel made with the process itself.
    Own(u32),
    /// A channel made with some process of this type.
    Of(ProctypeId, u32),
    /// A2
    Any,
}

/// What of a channel is read (first five) or written (last four).
///
/// Two accesses can be looked at together with the state: a send appends behind whatever a receive takes, as long
/// as there is a message; it disturbs `Head` only on an empty channel, `Room` only when it takes the last place.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub enum Access {
    /// Is there room for one more?
    Room,
    /// Is there a message?
    Presence,
    /// How many messages are there?
    Length,
    /// Is there a message, and what is the first one?
    Head,
    /// All messages, and how many.
    Contents,
    /// One more at the end.
    Append,
    /// One more, anywhere.
    Insert,
    /// The first is taken.
    TakeHead,
    /// One is taken, from anywhere.
    TakeAny,
}

impl Access {
    pub fn writes(self) -> bool {
        self >= Access::Append
    }
}

/// What an edge looks at and changes when it is taken: alone, as a handshake, or as a whole `d_step`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct EdgeFacts {
    /// What decides whether it can be taken: its guards, `provided`, priorities.
    pub guards: Footprint,
    /// That, and what its effects look at.
    pub reads: Footprint,
    pub writes: Footprint,
}

/// What a guard of this edge looks at. (A channel guard is about the edge's first effect.)
pub fn guard_reads(system: &System, proctype: ProctypeId, edge: &Edge, guard: &Guard) -> Footprint {
    Facts::new(system).guard_reads(proctype, edge, guard)
}

pub fn effect_reads(system: &System, proctype: ProctypeId, effect: &Effect) -> Footprint {
    Facts::new(system).effect_reads(proctype, effect)
}

/// What an effect changes in its own process and around it; a rendez-vous send changes nothing by itself.
pub fn effect_writes(system: &System, proctype: ProctypeId, effect: &Effect) -> Footprint {
    Facts::new(system).effect_writes(proctype, effect)
}

pub fn edge(system: &System, proctype: ProctypeId, edge: EdgeId) -> EdgeFacts {
    Facts::new(system).edge(proctype, edge)
}

/// The same questions, for who asks many of them.
pub struct Facts<'a> {
    system: &'a System,
    /// Per frame, the globals first: slots that hold the same channel for ever.
    fixed: Vec<BTreeMap<u32, u32>>,
    any_rendezvous: bool,
    any_buffer: bool,
    /// Channels come and go with processes.
    local_chans: bool,
}

impl<'a> Facts<'a> {
    pub fn new(system: &'a System) -> Self {
        let frames = || std::iter::once(&system.globals).chain(system.proctypes.iter().map(|t| &t.frame));
        let decls = || frames().flat_map(|f| &f.chans);
        Facts {
            system,
            fixed: fixed_channels(system),
            any_rendezvous: decls().any(|c| c.capacity == 0),
            any_buffer: decls().any(|c| c.capacity > 0),
            local_chans: system.proctypes.iter().any(|t| !t.frame.chans.is_empty()),
        }
    }

    /// Which channel an expression of this proctype names.
    pub fn chan_name(&self, proctype: ProctypeId, e: &Expr) -> ChanName {
        let Expr::Read(place) = e else { return ChanName::Any };
        let frame = match place.scope {
            Scope::Global => 0,
            Scope::Local => proctype.index() + 1,
        };
        let fixed = self.fixed.get(frame).and_then(|f| f.get(&place.slot)).filter(|_| place.index.is_empty());
        debug_assert!(fixed.is_none() || place.ty == Type::Chan, "V6: a channel is in a variable for channels");
        match (fixed, place.scope) {
            (Some(n), Scope::Global) => ChanName::Global(*n),
            (Some(n), Scope::Local) => ChanName::Own(*n),
            (None, _) => ChanName::Any,
        }
    }

    pub fn guard_reads(&self, proctype: ProctypeId, edge: &Edge, guard: &Guard) -> Footprint {
        let mut out = Footprint::default();
        self.guard(proctype, edge, guard, &mut BTreeSet::new(), &mut out);
        debug_assert!(out.chans.iter().all(|u| !u.access.writes()), "F1");
        out
    }

    pub fn effect_reads(&self, proctype: ProctypeId, effect: &Effect) -> Footprint {
        let mut out = Footprint::default();
        effect.each_expr(&mut |e| self.expr(proctype, e, &mut out));
        match effect {
            Effect::Send { chan, sorted, .. } => {
                self.chan(proctype, chan, sorted.then_some(Access::Contents), &mut out);
                self.watchers(&mut out);
            }
            Effect::Receive { chan, random, .. } => {
                let access = if *random { Access::Contents } else { Access::Head };
                self.chan(proctype, chan, Some(access), &mut out);
                self.watchers(&mut out);
            }
            Effect::Run { proctype: new, .. } => {
                out.population = true;
                if let Some(t) = self.system.proctypes.get(*new) {
                    // The new process's own variables are nobody's yet.
                    let mut made = Footprint::default();
                    for init in &t.frame.inits {
                        if let Init::Value { value, .. } = init {
                            self.expr(*new, value, &mut made);
                        }
                    }
                    made.locals = Slots::default();
                    out.add(&self.lifted(made, *new));
                }
            }
            Effect::SetPriority { .. } | Effect::End => out.population = true,
            Effect::Assign { .. }
            | Effect::Assert(_)
            | Effect::Print { .. }
            | Effect::PrintName(..)
            | Effect::Event { .. } => {}
        }
        debug_assert!(out.chans.iter().all(|u| !u.access.writes()), "F1");
        out
    }

    pub fn effect_writes(&self, proctype: ProctypeId, effect: &Effect) -> Footprint {
        let mut out = Footprint::default();
        match effect {
            Effect::Assign { to, .. } => out.place(to),
            Effect::Send { chan, sorted, .. } => {
                let access = if *sorted { Access::Insert } else { Access::Append };
                self.write_chan(proctype, chan, access, &mut out);
                out.monitor = self.system.monitor.is_some();
            }
            Effect::Receive { chan, random, keep, args } => {
                if !keep {
                    let access = if *random { Access::TakeAny } else { Access::TakeHead };
                    self.write_chan(proctype, chan, access, &mut out);
                }
                for arg in args {
                    if let Pattern::Bind(place) = arg {
                        out.place(place);
                    }
                }
                out.monitor = self.system.monitor.is_some();
            }
            Effect::Run { .. } | Effect::End => out.population = true,
            Effect::SetPriority { .. } => out.priorities = true,
            Effect::Assert(_) | Effect::Print { .. } | Effect::PrintName(..) | Effect::Event { .. } => {}
        }
        debug_assert!(out.chans.iter().all(|u| u.access.writes()) && !out.everything, "F1");
        debug_assert!(
            out.remotes.is_empty() && out.chans.iter().all(|u| u.whose.is_none()),
            "F2: nobody else is changed"
        );
        out
    }

    pub fn edge(&self, proctype: ProctypeId, edge: EdgeId) -> EdgeFacts {
        let t = &self.system.proctypes[proctype];
        let mut guards = Footprint { everything: self.system.uses.priorities, ..Footprint::default() };
        for guard in &t.edges[edge].guards {
            self.guard(proctype, &t.edges[edge], guard, &mut BTreeSet::new(), &mut guards);
        }
        if let Some(clause) = &t.provided {
            self.expr(proctype, clause, &mut guards);
        }
        let mut out = EdgeFacts { guards: guards.clone(), reads: guards, writes: Footprint::default() };
        self.taken(proctype, edge, &mut out);
        if let Some((chan, _)) = t.edges[edge].send()
            && self.may_be(proctype, chan, |c| c.capacity == 0, self.any_rendezvous)
        {
            let name = self.chan_name(proctype, chan);
            for (other, half) in self.partners(name) {
                let mut there = EdgeFacts::default();
                self.taken(other, half, &mut there);
                out.reads.add(&self.lifted(there.reads, other));
                out.writes.add(&self.lifted(there.writes, other));
            }
        }
        out.writes.last = self.system.uses.last;
        debug_assert!(out.guards.chans.iter().chain(&out.reads.chans).all(|u| !u.access.writes()), "F1");
        debug_assert!(out.writes.chans.iter().all(|u| u.access.writes()), "F1");
        debug_assert!(out.reads.covers(&out.guards), "what decides is looked at");
        debug_assert!(out.writes.locations.contains(&proctype), "who is taken moves");
        out
    }

    /// The effects of an edge and, if it is inside a `d_step`, of all that may follow in it.
    fn taken(&self, proctype: ProctypeId, first: EdgeId, out: &mut EdgeFacts) {
        let t = &self.system.proctypes[proctype];
        out.writes.locations.insert(proctype);
        let mut seen = BTreeSet::from([first]);
        let mut todo = vec![first];
        while let Some(id) = todo.pop() {
            let edge = &t.edges[id];
            for effect in &edge.effects {
                out.reads.add(&self.effect_reads(proctype, effect));
                out.writes.add(&self.effect_writes(proctype, effect));
            }
            if t.deterministic {
                // Whether the statement is the only one is asked as well.
                self.guards_of(t, proctype, &t.locs[edge.from].edges, &mut out.reads);
            }
            if edge.then == Then::DStep {
                let next = &t.locs[edge.to].edges;
                self.guards_of(t, proctype, next, &mut out.reads);
                todo.extend(next.iter().filter(|e| seen.insert(**e)));
            }
        }
    }

    fn guards_of(&self, t: &Proctype, proctype: ProctypeId, edges: &[EdgeId], out: &mut Footprint) {
        for edge in edges.iter().map(|e| &t.edges[*e]) {
            edge.guards.iter().for_each(|g| self.guard(proctype, edge, g, &mut BTreeSet::new(), out));
        }
    }

    fn guard(
        &self,
        proctype: ProctypeId,
        edge: &Edge,
        guard: &Guard,
        seen: &mut BTreeSet<EdgeId>,
        out: &mut Footprint,
    ) {
        match guard {
            Guard::Holds(e) => self.expr(proctype, e, out),
            Guard::Youngest => out.population = true,
            Guard::NoneOf(others) => {
                let t = &self.system.proctypes[proctype];
                for other in others.iter().filter(|o| o.index() < t.edges.len()) {
                    if seen.insert(*other) {
                        let other = &t.edges[*other];
                        other.guards.iter().for_each(|g| self.guard(proctype, other, g, seen, out));
                    }
                }
            }
            Guard::Channel => match edge.effects.first() {
                Some(Effect::Send { chan, args, .. }) => self.send_guard(proctype, chan, args, out),
                Some(Effect::Receive { chan, random, args, .. }) => {
                    // On a rendez-vous channel a receive never starts; then nothing is read but which channel it is.
                    let buffered = self.may_be(proctype, chan, |c| c.capacity > 0, self.any_buffer);
                    let access = if *random { Access::Contents } else { Access::Head };
                    self.expr(proctype, chan, out);
                    self.chan(proctype, chan, buffered.then_some(access), out);
                    if buffered {
                        self.patterns(proctype, args, out);
                    }
                }
                None => {}
                Some(Effect::Assign { .. } | Effect::Run { .. } | Effect::SetPriority { .. }) => {}
                Some(Effect::Assert(_) | Effect::Print { .. } | Effect::PrintName(..)) => {}
                Some(Effect::Event { .. } | Effect::End) => {}
            },
        }
    }

    fn send_guard(&self, proctype: ProctypeId, chan: &Expr, args: &[Expr], out: &mut Footprint) {
        let buffered = self.may_be(proctype, chan, |c| c.capacity > 0, self.any_buffer);
        self.expr(proctype, chan, out);
        self.chan(proctype, chan, buffered.then_some(Access::Room), out);
        if !self.may_be(proctype, chan, |c| c.capacity == 0, self.any_rendezvous) {
            return;
        }
        // Who could take the message: where the others stand, and what they wait for.
        args.iter().for_each(|e| self.expr(proctype, e, out));
        out.population = true;
        for (other, half) in self.partners(self.chan_name(proctype, chan)) {
            let t = &self.system.proctypes[other];
            let mut there = Footprint::default();
            there.locations.insert(other);
            if let Some(clause) = &t.provided {
                self.expr(other, clause, &mut there);
            }
            if let Some((chan, args)) = t.edges[half].receive() {
                self.expr(other, chan, &mut there);
                self.patterns(other, args, &mut there);
            }
            out.add(&self.lifted(there, other));
        }
    }

    /// A3: receives that could be the other half of a handshake on this channel. A name of the sender's own is never
    /// the same as a name of the receiver's own.
    fn partners(&self, name: ChanName) -> impl Iterator<Item = (ProctypeId, EdgeId)> + '_ {
        let takes = |edge: &Edge| matches!(edge.effects.first(), Some(Effect::Receive { keep: false, .. }));
        self.system
            .proctypes
            .enumerated()
            .flat_map(move |(t, p)| p.edges.enumerated().filter(move |(_, e)| takes(e)).map(move |(id, e)| (t, id, e)))
            .filter(move |(t, _, e)| match (name, e.receive().map(|(c, _)| self.chan_name(*t, c))) {
                (ChanName::Any, _) | (_, Some(ChanName::Any)) => true,
                (ChanName::Global(a), Some(ChanName::Global(b))) => a == b,
                _ => false,
            })
            .map(|(t, id, _)| (t, id))
    }

    /// Could the channel be of this kind? `any` says whether there is one at all.
    fn may_be(&self, proctype: ProctypeId, chan: &Expr, kind: impl Fn(&ChanDecl) -> bool, any: bool) -> bool {
        let decl = match self.chan_name(proctype, chan) {
            ChanName::Global(n) => self.system.globals.chans.get(n as usize),
            ChanName::Own(n) => self.system.proctypes[proctype].frame.chans.get(n as usize),
            ChanName::Of(..) | ChanName::Any => None,
        };
        decl.map_or(any, kind)
    }

    /// The channel itself; the variables that say which it is are read as any expression.
    fn chan(&self, proctype: ProctypeId, chan: &Expr, access: Option<Access>, out: &mut Footprint) {
        let name = self.chan_name(proctype, chan);
        // Whether there is such a channel, and whose it is, changes with the processes.
        out.population |= name == ChanName::Any && self.local_chans;
        if let Some(access) = access {
            out.chan_use(ChanUse { name, access, chan: chan.clone(), whose: None });
        }
    }

    fn write_chan(&self, proctype: ProctypeId, chan: &Expr, access: Access, out: &mut Footprint) {
        if self.may_be(proctype, chan, |c| c.capacity > 0, self.any_buffer) {
            let name = self.chan_name(proctype, chan);
            out.chan_use(ChanUse { name, access, chan: chan.clone(), whose: None });
        }
    }

    /// Promises and the trace assertion look at every message that passes.
    fn watchers(&self, out: &mut Footprint) {
        for (id, t) in self.system.proctypes.enumerated() {
            for promise in &t.promises {
                let mut there = Footprint { population: true, ..Footprint::default() };
                self.expr(id, &Expr::Read(promise.chan.clone()), &mut there);
                out.add(&self.lifted(there, id));
            }
        }
        if let Some(monitor) = &self.system.monitor {
            out.monitor = true;
            let outside = ProctypeId::new(self.system.proctypes.len());
            for edge in &monitor.graph.edges {
                edge.each_expr(&mut |e| self.expr(outside, e, out));
            }
        }
    }

    /// The values a receive compares with.
    fn patterns(&self, proctype: ProctypeId, args: &[Pattern], out: &mut Footprint) {
        for arg in args {
            if let Pattern::Equal(e) = arg {
                self.expr(proctype, e, out);
            }
        }
    }

    fn expr(&self, proctype: ProctypeId, e: &Expr, out: &mut Footprint) {
        match e {
            Expr::Const(_) | Expr::Pid | Expr::NewPid | Expr::Unary(..) | Expr::Binary(..) | Expr::Cond(..) => {}
            Expr::Read(place) => out.place(place),
            Expr::Probe(probe, chan) => {
                let access = match probe {
                    Probe::Len => Access::Length,
                    Probe::Full | Probe::Nfull => Access::Room,
                    Probe::Empty | Probe::Nempty => Access::Presence,
                };
                self.chan(proctype, chan, Some(access), out);
            }
            Expr::Poll { chan, random, .. } => {
                let access = if *random { Access::Contents } else { Access::Head };
                self.chan(proctype, chan, Some(access), out);
            }
            Expr::NrPr => out.population = true,
            Expr::Last => out.last = true,
            Expr::Timeout | Expr::Enabled(_) => out.everything = true,
            Expr::NonProgress | Expr::Accepting | Expr::PcValue(_) => {
                out.population = true;
                out.locations.extend(self.system.proctypes.ids());
            }
            Expr::GetPriority(_) => {
                out.population = true;
                out.priorities = true;
            }
            Expr::AtLabel { proctype: there, .. } => {
                out.population = true;
                out.locations.insert(*there);
            }
            Expr::Remote { proctype: there, place, .. } => {
                out.population = true;
                out.remotes.entry(*there).or_default().add_place(place);
            }
            // What is asked is about a step, and steps change anything.
            Expr::Happens(_) => out.everything = true,
        }
        e.each_child(&mut |child| self.expr(proctype, child, out));
    }

    /// The footprint of a process of this type, as seen from another.
    fn lifted(&self, mut f: Footprint, of: ProctypeId) -> Footprint {
        let locals = std::mem::take(&mut f.locals);
        if !locals.is_empty() {
            f.remotes.entry(of).or_default().add(&locals);
        }
        for u in &mut f.chans {
            u.whose.get_or_insert(of);
            if let ChanName::Own(n) = u.name {
                u.name = ChanName::Of(of, n);
            }
        }
        let is_own = |u: &ChanUse| u.whose.is_none() || matches!(u.name, ChanName::Own(_));
        debug_assert!(f.locals.is_empty() && !f.chans.iter().any(is_own), "F2");
        debug_assert!(locals.is_empty() || f.remotes[&of].covers(&locals), "F2: what was its own is still looked at");
        f
    }
}

/// Slots that are given a channel when their frame is made and never anything else.
fn fixed_channels(system: &System) -> Vec<BTreeMap<u32, u32>> {
    let mut frames: Vec<&Frame> = vec![&system.globals];
    frames.extend(system.proctypes.iter().map(|t| &t.frame));
    let mut written: Vec<Slots> = vec![Slots::default(); frames.len()];
    let mut fixed: Vec<BTreeMap<u32, u32>> = vec![BTreeMap::new(); frames.len()];
    for (n, frame) in frames.iter().enumerate() {
        for init in &frame.inits {
            match init {
                Init::Value { slot, .. } => written[n].insert(*slot, *slot + 1),
                Init::Chan { slot, chan } => {
                    if fixed[n].insert(*slot, *chan).is_some() {
                        written[n].insert(*slot, *slot + 1);
                    }
                }
            }
        }
    }
    for (n, t) in system.proctypes.iter().enumerate() {
        written[n + 1].insert(0, t.n_params);
    }
    let outside = system.claims.iter().map(|t| (None, t));
    let inside = system.proctypes.iter().enumerate().map(|(n, t)| (Some(n + 1), t));
    for (own, t) in inside.chain(outside) {
        let mut assigned = |place: &Place| match (place.scope, own) {
            (Scope::Global, _) => written[0].add_place(place),
            (Scope::Local, Some(own)) => written[own].add_place(place),
            (Scope::Local, None) => {}
        };
        for effect in t.edges.iter().flat_map(|e| &e.effects) {
            effect.each_write(&mut assigned);
        }
    }
    for (fixed, written) in fixed.iter_mut().zip(&written) {
        fixed.retain(|slot, _| !written.contains(*slot));
    }
    let is_there = |(frame, fixed): (&&Frame, &BTreeMap<u32, u32>)| {
        fixed.iter().all(|(slot, chan)| *slot < frame.n_slots && (*chan as usize) < frame.chans.len())
    };
    debug_assert!(frames.iter().zip(&fixed).all(is_there), "V6: a fixed channel is one of its frame");
    fixed
}

impl Footprint {
    pub fn add(&mut self, other: &Footprint) {
        self.globals.add(&other.globals);
        self.locals.add(&other.locals);
        for (t, slots) in &other.remotes {
            self.remotes.entry(*t).or_default().add(slots);
        }
        other.chans.iter().for_each(|u| self.chan_use(u.clone()));
        self.locations.extend(&other.locations);
        self.population |= other.population;
        self.priorities |= other.priorities;
        self.last |= other.last;
        self.monitor |= other.monitor;
        self.everything |= other.everything;
        debug_assert!(self.covers(other), "what is added is there");
    }

    /// Nothing of the other is missing here.
    fn covers(&self, other: &Footprint) -> bool {
        let remote = |(t, slots): (&ProctypeId, &Slots)| self.remotes.get(t).is_some_and(|own| own.covers(slots));
        let flags = |f: &Footprint| [f.population, f.priorities, f.last, f.monitor, f.everything];
        self.globals.covers(&other.globals)
            && self.locals.covers(&other.locals)
            && other.remotes.iter().all(remote)
            && other.chans.iter().all(|u| self.chans.contains(u))
            && self.locations.is_superset(&other.locations)
            && flags(self).into_iter().zip(flags(other)).all(|(own, theirs)| own || !theirs)
    }

    pub fn is_empty(&self) -> bool {
        *self == Footprint::default()
    }

    fn chan_use(&mut self, u: ChanUse) {
        if !self.chans.contains(&u) {
            self.chans.push(u);
        }
    }

    fn place(&mut self, place: &Place) {
        match place.scope {
            Scope::Global => self.globals.add_place(place),
            Scope::Local => self.locals.add_place(place),
        }
    }
}

/// A set of slots of one frame, as ranges that neither meet nor touch, in order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Slots {
    ranges: Vec<(u32, u32)>,
}

impl Slots {
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    pub fn contains(&self, slot: u32) -> bool {
        let n = self.ranges.partition_point(|r| r.1 <= slot);
        self.ranges.get(n).is_some_and(|r| r.0 <= slot)
    }

    /// Do they have a slot in common?
    pub fn meets(&self, other: &Slots) -> bool {
        let meets = |one: &Slots, other: &Slots| {
            one.ranges.iter().any(|a| {
                let n = other.ranges.partition_point(|b| b.1 <= a.0);
                other.ranges.get(n).is_some_and(|b| b.0 < a.1)
            })
        };
        let they = meets(self, other);
        debug_assert_eq!(they, meets(other, self), "F3: who meets is met");
        they
    }

    /// Is each of its slots in this set?
    fn covers(&self, other: &Slots) -> bool {
        let within = |r: &(u32, u32)| self.ranges.iter().any(|own| own.0 <= r.0 && r.1 <= own.1);
        other.ranges.iter().all(within)
    }

    /// The slots as half-open ranges.
    pub fn ranges(&self) -> &[(u32, u32)] {
        &self.ranges
    }

    fn add(&mut self, other: &Slots) {
        other.ranges.iter().for_each(|r| self.insert(r.0, r.1));
    }

    fn insert(&mut self, mut lo: u32, mut hi: u32) {
        if lo >= hi {
            return;
        }
        let first = self.ranges.partition_point(|r| r.1 < lo);
        let last = self.ranges.partition_point(|r| r.0 <= hi);
        if first < last {
            lo = lo.min(self.ranges[first].0);
            hi = hi.max(self.ranges[last - 1].1);
        }
        self.ranges.splice(first..last, [(lo, hi)]);
        debug_assert!(self.ranges.is_sorted_by(|a, b| a.1 < b.0) && self.ranges.iter().all(|r| r.0 < r.1), "F3");
        debug_assert!(self.contains(lo) && self.contains(hi - 1), "what is put in is there");
    }

    /// A1
    fn add_place(&mut self, place: &Place) {
        place.slots().into_iter().for_each(|r| self.insert(r.start, r.end));
    }
}

#[cfg(test)]
#[path = "../tests/support/random.rs"]
mod random;

#[cfg(test)]
mod tests;
