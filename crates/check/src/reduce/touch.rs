//! What a step of one process looks at and what it changes, without taking it.
//!
//! Everything here errs in one direction: it may report a touch that is not there, never the reverse.
//! It is said of a process, not of its proctype: its fixed slots have values (`statics`), and it knows
//! those of others where it stands (`known`), so that an element of an array and a channel are mostly the very one.
//!
//! That no change is forgotten is seen in debug builds, at every step (`cast/witness`, I2); what is looked at is not.
//!
//! # Invariants
//!   I1 a channel that a step waits for is one that it looks at
//!   I2 uses are of channels with slots, halves of handshakes are of channels without
//!   I3 whoever takes a step leaves its location
//!   I4 a process changes no variables but its own and the global ones, and nothing that is fixed (`statics`)
//!   I5 a step is one half of a handshake at most, and begins with it
//!
//! What expressions look at is in `exprs`. Where the approximations are:
//!   A1 an index that is neither fixed nor known may be any index
//!   A2 a channel that is neither may be any channel, or any that the array has which it is taken from
//!   A3 a step may take every edge of its chain, and may stop wherever it could (`statics`)
//!   A4 a process that is not there yet may do whatever its proctype can, at once
//!
//! # Who reads that something *cannot* happen
//!   What disturbs a step is asked only of steps that can be taken, so to make a step possible disturbs nobody. The exception
//!   is a step that needs something *not* to be possible: whatever makes that possible disturbs it. One list:
//!     `else`, `unless`, earlier options of a `d_step`   whatever the guards of those others look at; of handshakes, who
//!                                                         stands where it could answer (`repairs`)
//!     `D_proctype`                                        the same, of all options
//!     a chain that goes on if it can                      whatever the guards on its way look at
//!     `provided`                                          what it reads, as a guard of every edge
//!     `enabled()`, priorities                             everything: such a step is *wild*
//!     `_nr_pr`, remote references, labels                 who lives, the slot, the location
//!     `timeout`                                           nothing (see `mod`)
//!     `_last`                                             a model that reads it is not reduced (see `mod`)

mod exprs;

use super::statics::Statics;
use super::uses::{Actor, ActorId, Atom, Half, Touch, Use};
use super::without::{Condition, Without};
use exprs::{ASKED, Mode, VALUE, Wants};
use spinor_model::happening::may_do;
use spinor_model::index::{Idx, IndexVec};
use spinor_model::interp::Interp;
use spinor_model::ir::{Edge, EdgeId, Effect, Expr, Guard, Init, Loc, Monitor, Operation, Pattern, Proctype, System};
use spinor_model::state::State;

/// One who looks at the parts of a step. `me` is nobody for those who look from outside.
pub(super) struct Walk<'a> {
    pub system: &'a System,
    pub statics: &'a Statics,
    pub interp: &'a Interp,
    /// Any state of the cast: only what is fixed is read in it.
    pub state: &'a State,
    pub actors: &'a [Actor],
    /// By actor: the edges of its proctype with what it knows, none where it never takes them.
    pub edges: &'a [IndexVec<EdgeId, Option<Edge>>],
    pub me: Option<ActorId>,
    pub without: Without,
}

impl<'a> Walk<'a> {
    /// Of an edge as the first of a step, with its chain.
    pub fn edge(&self, id: EdgeId) -> Touch {
        let mut out = Touch::default();
        let (me, t) = self.own();
        let Some(edge) = &self.edges[me][id] else { return out };
        let first = edge;
        let loc = &t.locs[edge.from];
        if let Some(clause) = t.provided.as_ref().filter(|_| self.keeps(Condition::Provided)) {
            self.expr(clause, ASKED, &mut out);
        }
        for guard in &edge.guards {
            match guard {
                Guard::Holds(e) => self.expr(e, Mode { wants: Wants::Yes, guard: true }, &mut out),
                Guard::Youngest => {
                    out.youngest = true;
                    out.guards.insert(Atom::Population);
                }
                Guard::NoneOf(others) if self.keeps(Condition::Else) => {
                    self.known(others).for_each(|o| self.disabled(o, &mut out));
                }
                Guard::NoneOf(_) => {}
                Guard::Channel => self.first_channel(edge, &mut out),
            }
        }
        if t.deterministic && self.keeps(Condition::Deterministic) {
            self.known(&loc.edges).for_each(|o| self.disabled(o, &mut out));
        }
        self.watched(self.known(&loc.edges), &mut out);
        let skips = usize::from(edge.guards.contains(&Guard::Channel));
        if let Some(first) = edge.effects.first().filter(|_| skips == 1) {
            self.message(first, &mut out);
        }
        self.effects(&edge.effects[skips..], &mut out);
        self.operations(id, &mut out);
        // A handshake hands the floor to the receiver; the sender's chain ends there.
        let hands_over = out.sends.is_some() && out.chans.is_empty();
        let chain = &self.statics.chains[self.actors[me].proctype.index()][id.index()];
        let (inner, ends) =
            if hands_over { (&[][..], std::slice::from_ref(&edge.to)) } else { (&chain.inner[..], &chain.ends[..]) };
        for loc in inner {
            let edges = &t.locs[*loc].edges;
            self.watched(self.known(edges), &mut out);
            edges.iter().for_each(|e| self.operations(*e, &mut out));
            for edge in self.known(edges) {
                let sure = *loc == first.to && self.makes_sure(id, edge);
                if self.keeps(Condition::ChainGuards) && !sure {
                    self.disabled_inside(edge, &mut out);
                }
                let skips = usize::from(edge.guards.contains(&Guard::Channel));
                if let Some(first) = edge.effects.first().filter(|_| skips == 1 && self.keeps(Condition::ChainChannels))
                {
                    self.inner_channel(first, sure, &mut out);
                }
                if self.keeps(Condition::ChainEffects) {
                    self.effects(&edge.effects[skips..], &mut out);
                }
            }
        }
        self.moves(me, t, edge.from, inner, ends, &mut out);
        debug_assert!(self.check_uses(&out), "I1, I2");
        debug_assert!(out.writes.contains(&Atom::Location(me)), "I3");
        debug_assert!(out.writes.iter().all(|atom| self.may_write(me, atom, &out)), "I4");
        debug_assert!(out.sends.is_none() || out.takes.is_none(), "I5");
        debug_assert!(out.sends.is_none() && out.takes.is_none() || first.guards.contains(&Guard::Channel), "I5");
        out
    }

    /// I4
    fn may_write(&self, me: ActorId, atom: &Atom, touch: &Touch) -> bool {
        match *atom {
            Atom::Global(slot) => !self.statics.fixed_globals[slot as usize],
            Atom::Local(i, slot) => {
                i == me && !self.statics.fixed_locals[self.actors[i].proctype.index()][slot as usize]
            }
            Atom::Location(i) | Atom::At(i, _) | Atom::Progress(i) | Atom::Accept(i) => i == me,
            // Who dies, or is made.
            Atom::Alive(i) => i == me || self.actors[i].pid.is_none() && touch.runs.contains(&self.actors[i].proctype),
            Atom::Population | Atom::Monitor | Atom::Happened(_) => true,
            // Said of a step when all touches are there.
            Atom::Able(..) | Atom::Part(_) => false,
        }
    }

    /// I1 and I2.
    fn check_uses(&self, touch: &Touch) -> bool {
        let looks_at = |chan: u8| touch.chans.iter().any(|(c, _)| *c == chan);
        let is_half = |half: &Half| !half.chans.is_empty() && half.chans.iter().all(|c| self.capacity(*c) == 0);
        touch.waits.iter().all(|(c, _)| looks_at(*c))
            && touch.chans.iter().all(|(c, _)| self.capacity(*c) > 0)
            && touch.sends.iter().chain(&touch.takes).all(is_half)
    }

    /// Those of these edges that the process may take.
    fn known(&self, ids: &'a [EdgeId]) -> impl Iterator<Item = &'a Edge> {
        let edges = &self.edges[self.own().0];
        ids.iter().filter_map(|e| edges[*e].as_ref())
    }

    /// What an edge may do that is named.
    fn operations(&self, id: EdgeId, out: &mut Touch) {
        let (me, t) = self.own();
        let Some(edge) = &self.edges[me][id] else { return };
        let proctype = self.actors[me].proctype;
        let nobody = Walk { me: None, ..*self };
        for (n, operation) in self.statics.operations.iter().enumerate() {
            let there = match operation {
                Operation::Passes { chan, .. } => nobody.fixed(chan).is_none_or(|named| {
                    self.traffic(edge).iter().any(|(_, chans)| chans.iter().any(|c| i32::from(*c) == named))
                }),
                _ => true,
            };
            if there && may_do(self.system, proctype, t, id, operation) && self.keeps(Condition::Operation) {
                out.writes.insert(Atom::Happened(n));
            }
        }
    }

    /// What an edge sends and receives: whether it sends, and the channels that it may be about.
    pub fn traffic(&self, edge: &Edge) -> Vec<(bool, Vec<u8>)> {
        let about = |chan: &Expr| self.channels(chan, &mut Touch::default(), false);
        let of = |effect: &Effect| match effect {
            Effect::Send { chan, .. } => Some((true, about(chan))),
            Effect::Receive { chan, keep: false, .. } => Some((false, about(chan))),
            Effect::Receive { keep: true, .. } => None,
            Effect::Assign { .. }
            | Effect::Run { .. }
            | Effect::Assert(_)
            | Effect::Print { .. }
            | Effect::PrintName(..) => None,
            Effect::SetPriority { .. } | Effect::Event { .. } | Effect::End => None,
        };
        edge.effects.iter().filter_map(of).collect()
    }

    /// What decides whether the process can move from a location.
    pub fn able(&self, loc: Loc) -> Touch {
        let (_, t) = self.own();
        let mut out = Touch::default();
        if let Some(clause) = &t.provided {
            self.expr(clause, ASKED, &mut out);
        }
        self.known(&t.locs[loc].edges).for_each(|e| self.disabled(e, &mut out));
        debug_assert!(out.writes.is_empty() && self.check_uses(&out), "who is asked changes nothing; I1, I2");
        debug_assert!(out.chans.iter().all(|(_, how)| !how.writes()), "who is asked uses no channel");
        out
    }

    /// Of those who look from outside.
    pub fn looked(&self, exprs: &[Expr]) -> Touch {
        let mut out = Touch::default();
        for e in exprs {
            self.expr(e, VALUE, &mut out);
            // Who is asked from outside whether nothing can happen is told by everything that happens.
            e.each_part(&mut |e| out.wild |= *e == Expr::Timeout);
        }
        debug_assert!(out.writes.is_empty() && out.guards.is_empty() && self.check_uses(&out), "who looks only looks");
        debug_assert!(out.waits.is_empty() && out.answers.is_empty(), "who looks waits for nothing");
        out
    }

    fn keeps(&self, condition: Condition) -> bool {
        self.without.keeps(condition)
    }

    pub fn own(&self) -> (ActorId, &'a Proctype) {
        let me = self.me.expect("a process takes steps");
        debug_assert!(self.actors[me].pid.is_none_or(|pid| usize::from(pid) == me), "scene I1");
        (me, &self.system.proctypes[self.actors[me].proctype])
    }

    /// The process leaves a location and may come to others.
    fn moves(&self, me: ActorId, t: &Proctype, from: Loc, inner: &[Loc], ends: &[Loc], out: &mut Touch) {
        out.writes.insert(Atom::Location(me));
        let all = || [&from].into_iter().chain(inner).chain(ends);
        let proctype = self.actors[me].proctype;
        if ends.iter().any(|end| *end != from) || !inner.is_empty() {
            out.writes
                .extend(all().filter(|l| self.statics.asked.contains(&(proctype, **l))).map(|l| Atom::At(me, *l)));
        }
        let differs = |of: fn(&Proctype, Loc) -> bool| all().any(|l| of(t, *l) != of(t, from));
        if differs(|t, l| t.locs[l].progress) {
            out.writes.insert(Atom::Progress(me));
        }
        if differs(|t, l| t.locs[l].accept) {
            out.writes.insert(Atom::Accept(me));
        }
    }

    /// The send or receive that a step begins with: whether it can happen.
    fn first_channel(&self, edge: &Edge, out: &mut Touch) {
        match &edge.effects[0] {
            Effect::Send { chan, sorted, args } => {
                self.expr(chan, ASKED, out);
                let chans = self.channels(chan, out, true);
                let (slots, none): (Vec<u8>, Vec<u8>) = chans.into_iter().partition(|c| self.capacity(*c) > 0);
                let how = if *sorted { Use::Insert } else { Use::Send };
                out.waits.extend(slots.iter().map(|c| (*c, how)));
                out.chans.extend(slots.iter().map(|c| (*c, how)));
                if !none.is_empty() {
                    args.iter().for_each(|e| self.expr(e, ASKED, out));
                    let fields = args.iter().enumerate().map(|(n, e)| self.field(&none, n, self.fixed(e)?)).collect();
                    out.sends = Some(Half { chans: none, fields });
                }
            }
            Effect::Receive { chan, random, keep, args } => {
                self.expr(chan, ASKED, out);
                self.patterns(args, ASKED, out);
                let chans = self.channels(chan, out, true);
                let (slots, none): (Vec<u8>, Vec<u8>) = chans.into_iter().partition(|c| self.capacity(*c) > 0);
                let how = match (random, keep) {
                    (false, false) => Use::Take,
                    (true, false) => Use::TakeAny,
                    (false, true) => Use::Copy,
                    (true, true) => Use::CopyAny,
                };
                // Whatever is first will do, if nothing is compared: only a message can be missing.
                let fussy = args.iter().any(|a| matches!(a, Pattern::Equal(_)));
                let waits = if fussy { how } else { Use::NeedsMessage };
                out.waits.extend(slots.iter().map(|c| (*c, waits)));
                out.chans.extend(slots.iter().map(|c| (*c, how)));
                if !none.is_empty() && !keep {
                    let known = |a: &Pattern| match a {
                        Pattern::Equal(e) => self.fixed(e),
                        Pattern::Bind(_) | Pattern::Any => None,
                    };
                    out.takes = Some(Half { chans: none, fields: args.iter().map(known).collect() });
                }
            }
            Effect::Assign { .. }
            | Effect::Run { .. }
            | Effect::Assert(_)
            | Effect::Print { .. }
            | Effect::PrintName(..) => {}
            Effect::SetPriority { .. } | Effect::Event { .. } | Effect::End => {}
        }
    }

    /// A field of a message that is sent through one of these channels, if it is the same in all of them.
    fn field(&self, chans: &[u8], n: usize, value: i32) -> Option<i32> {
        if !self.keeps(Condition::Fit) {
            return Some(value);
        }
        let fitted = |c: &u8| Some(self.interp.chan(self.state, *c)?.decl.fields.get(n)?.fit(value));
        let mut all = chans.iter().map(fitted);
        let first = all.next()??;
        all.all(|f| f == Some(first)).then_some(first)
    }

    /// What else a send or receive does.
    fn message(&self, effect: &Effect, out: &mut Touch) {
        match effect {
            Effect::Send { chan, args, .. } => {
                args.iter().for_each(|e| self.expr(e, VALUE, out));
                self.passed(chan, true, out);
            }
            Effect::Receive { chan, args, keep, .. } => {
                self.bind(args, out);
                self.patterns(args, VALUE, out);
                if !keep {
                    self.passed(chan, false, out);
                } else {
                    self.promised(chan, &[false], out);
                }
            }
            Effect::Assign { .. }
            | Effect::Run { .. }
            | Effect::Assert(_)
            | Effect::Print { .. }
            | Effect::PrintName(..) => {}
            Effect::SetPriority { .. } | Effect::Event { .. } | Effect::End => {}
        }
    }

    /// The first edge of a step asks for room in a channel, or for a message, and this one, which alone follows it, and only
    /// once, sends there or takes whatever comes. Nobody moves in between: it can happen.
    fn makes_sure(&self, id: EdgeId, next: &Edge) -> bool {
        let (me, t) = self.own();
        let Some(edge) = &self.edges[me][id] else { return false };
        let [only] = t.locs[edge.to].edges[..] else { return false };
        let chain = &self.statics.chains[self.actors[me].proctype.index()][only.index()];
        if chain.inner.contains(&edge.to) {
            return false;
        }
        let Some((probe, chan)) = next.possible_if() else { return false };
        let used = self.fixed(chan).filter(|c| u8::try_from(*c).is_ok_and(|c| self.capacity(c) > 0));
        let asks = |e: &Expr| match e {
            Expr::Probe(p, chan) => *p == probe && self.fixed(chan) == used || !self.keeps(Condition::Sure),
            _ => false,
        };
        let asked = |g: &Guard| matches!(g, Guard::Holds(e) if e.conjuncts().into_iter().any(asks));
        // What the step itself does before must not take the room again.
        used.is_some()
            && edge.guards.iter().any(asked)
            && edge.effects.iter().all(|e| !matches!(e, Effect::Send { .. } | Effect::Receive { .. }))
    }

    /// A send or receive on the way: it may be that it cannot happen, and then the step ends before it.
    fn inner_channel(&self, effect: &Effect, sure: bool, out: &mut Touch) {
        let (chan, how) = match effect {
            Effect::Send { chan, sorted, .. } => (chan, if *sorted { Use::Insert } else { Use::Send }),
            Effect::Receive { chan, keep: true, .. } => (chan, Use::Look),
            Effect::Receive { chan, random, .. } => (chan, if *random { Use::TakeAny } else { Use::Take }),
            Effect::Assign { .. }
            | Effect::Run { .. }
            | Effect::Assert(_)
            | Effect::Print { .. }
            | Effect::PrintName(..) => return,
            Effect::SetPriority { .. } | Effect::Event { .. } | Effect::End => return,
        };
        self.expr(chan, VALUE, out);
        for c in self.channels(chan, out, false) {
            if self.capacity(c) > 0 {
                out.chans.insert((c, how));
                if !sure {
                    out.chans.insert((c, Use::Look));
                }
            } else {
                // Others move along, and may go on in chains of their own.
                out.wild |= matches!(effect, Effect::Send { .. }) && self.keeps(Condition::ChainHandshake);
            }
        }
        self.message(effect, out);
    }

    fn effects(&self, effects: &[Effect], out: &mut Touch) {
        for effect in effects {
            match effect {
                Effect::Assign { to, value } => {
                    self.expr(value, VALUE, out);
                    self.write(to, out);
                }
                Effect::Run { proctype, args, .. } => {
                    args.iter().for_each(|e| self.expr(e, VALUE, out));
                    let made = |(_, a): &(ActorId, &Actor)| a.pid.is_none() && a.proctype == *proctype;
                    self.population(self.actors.iter().enumerate().filter(made).map(|(i, _)| i), out);
                    out.runs.insert(*proctype);
                    // Its own variables are nobody's yet.
                    let made = Walk { me: None, ..*self };
                    for init in &self.system.proctypes[*proctype].frame.inits {
                        if let Init::Value { value, .. } = init
                            && self.keeps(Condition::RunReads)
                        {
                            made.expr(value, VALUE, out);
                        }
                    }
                }
                Effect::Assert(e) | Effect::PrintName(e, _) => self.expr(e, VALUE, out),
                Effect::Print { args, .. } => args.iter().for_each(|e| self.expr(e, VALUE, out)),
                Effect::SetPriority { .. } => out.wild = true,
                Effect::End => self.population(self.me.into_iter(), out),
                Effect::Send { .. } | Effect::Receive { .. } => self.inner_channel(effect, false, out),
                Effect::Event { .. } => {}
            }
        }
    }

    /// These are made, or die.
    fn population(&self, who: impl Iterator<Item = ActorId> + Clone, out: &mut Touch) {
        debug_assert!(who.clone().count() == 1, "one is made or dies, of each proctype one that is not there yet");
        out.reads.insert(Atom::Population);
        if self.keeps(Condition::Population) {
            out.writes.insert(Atom::Population);
            out.writes.extend(who.map(Atom::Alive));
        }
    }

    fn bind(&self, args: &[Pattern], out: &mut Touch) {
        for arg in args {
            if let Pattern::Bind(place) = arg {
                self.write(place, out);
            }
        }
    }

    /// That none of the guards of another edge lets it happen: whatever they look at counts.
    fn disabled(&self, edge: &Edge, out: &mut Touch) {
        let mut there = Touch::default();
        self.asks(edge, &mut there);
        out.guards.extend(&there.guards);
        out.guards.extend(&there.reads);
        out.answers.extend(&there.answers);
        out.waits.extend(there.waits.iter().map(|(c, _)| (*c, Use::Look)));
        out.chans.extend(there.waits.iter().chain(&there.chans).map(|(c, _)| (*c, Use::Look)));
        out.wild |= there.wild;
    }

    /// The same on the way.
    fn disabled_inside(&self, edge: &Edge, out: &mut Touch) {
        let mut there = Touch::default();
        self.asks(edge, &mut there);
        out.reads.extend(&there.guards);
        out.reads.extend(&there.reads);
        out.reads.extend(&there.answers);
        out.chans.extend(there.waits.iter().chain(&there.chans).map(|(c, _)| (*c, Use::Look)));
        out.wild |= there.wild;
    }

    /// What the guards of an edge look at, handshakes included.
    fn asks(&self, edge: &Edge, out: &mut Touch) {
        for guard in &edge.guards {
            match guard {
                Guard::Holds(e) => self.expr(e, ASKED, out),
                Guard::Youngest => {
                    out.guards.insert(Atom::Population);
                }
                // What those wait for is asked of them, too (validator, V3).
                Guard::NoneOf(_) => {}
                Guard::Channel => {
                    let mut there = Touch::default();
                    self.first_channel(edge, &mut there);
                    out.guards.extend(&there.guards);
                    out.guards.extend(&there.reads);
                    out.waits.extend(&there.waits);
                    out.wild |= there.wild;
                    if let Some(half) = there.sends.as_ref().filter(|_| self.keeps(Condition::Answered)) {
                        self.answered(half, out);
                    }
                }
            }
        }
    }

    /// Who could take a message that is handed over: whether the others stand where they can, and what they wait for.
    fn answered(&self, half: &Half, out: &mut Touch) {
        out.answers.insert(Atom::Population);
        for (i, actor) in self.actors.iter().enumerate().filter(|(i, _)| Some(*i) != self.me) {
            let other = Walk { me: Some(i), ..*self };
            let t = &self.system.proctypes[actor.proctype];
            for edge in self.edges[i].iter().flatten().filter(|e| e.receive().is_some()) {
                let mut there = Touch::default();
                other.first_channel(edge, &mut there);
                if there.takes.as_ref().is_some_and(|takes| takes.meets(half)) {
                    if let Some(clause) = &t.provided {
                        other.expr(clause, ASKED, &mut there);
                    }
                    out.answers.insert(Atom::At(i, edge.from));
                    out.answers.extend(&there.guards);
                    out.waits.extend(&there.waits);
                    out.chans.extend(&there.chans);
                    out.wild |= there.wild;
                }
            }
        }
    }

    /// A message passes: the trace assertion looks, and those who have promised.
    fn passed(&self, chan: &Expr, send: bool, out: &mut Touch) {
        if let Some(monitor) =
            self.system.monitor.as_ref().filter(|m| self.keeps(Condition::Monitor) && self.is_event(m, chan, send))
        {
            out.reads.insert(Atom::Monitor);
            out.writes.insert(Atom::Monitor);
            let nobody = Walk { me: None, ..*self };
            monitor.graph.edges.iter().for_each(|edge| edge.each_expr(&mut |e| nobody.expr(e, VALUE, out)));
        }
        self.promised(chan, &[send], out);
    }

    /// May the message be one that the trace assertion is about? It names channels that are made with the globals, whose
    /// numbers are never those of others; messages through channels that it does not name leave it where it is.
    fn is_event(&self, monitor: &Monitor, chan: &Expr, send: bool) -> bool {
        let nobody = Walk { me: None, ..*self };
        let mine = self.channels(chan, &mut Touch::default(), false);
        let fixed = self.fixed(chan).is_some();
        let named = |edge: &Edge| match edge.effects.first() {
            Some(Effect::Event { send: s, chan, .. }) if *s == send => match nobody.fixed(chan) {
                Some(named) if fixed || self.keeps(Condition::Named) => mine.iter().any(|c| i32::from(*c) == named),
                Some(_) => false,
                None => true,
            },
            _ => false,
        };
        monitor.graph.edges.iter().any(named)
    }

    /// Channels that are asked about are watched like those that are used.
    fn watched<'e>(&self, edges: impl Iterator<Item = &'e Edge>, out: &mut Touch) {
        if self.system.proctypes.iter().all(|t| t.promises.is_empty()) {
            return;
        }
        let mut look = |e: &Expr| {
            let Some((chan, sides)) = e.sides() else { return };
            if self.keeps(Condition::Watched) {
                self.expr(chan, VALUE, out); // which channel that is
            }
            self.promised(chan, sides, out);
        };
        edges.for_each(|edge| edge.each_expr(&mut |e| e.each_part(&mut look)));
    }

    /// Who has promised to be the only one to send, or to receive.
    fn promised(&self, chan: &Expr, sends: &[bool], out: &mut Touch) {
        let others =
            self.actors.iter().enumerate().filter(|(i, _)| Some(*i) != self.me && self.keeps(Condition::Promise));
        for (i, actor) in others {
            let promises = &self.system.proctypes[actor.proctype].promises;
            for promise in promises.iter().filter(|p| sends.contains(&p.send)) {
                let other = Walk { me: Some(i), ..*self };
                let named = Expr::Read(promise.chan.clone());
                let (mine, theirs) = (self.fixed(chan), other.fixed(&named));
                if mine.is_none() || theirs.is_none() || mine == theirs {
                    out.reads.insert(Atom::Alive(i));
                    other.expr(&named, VALUE, out);
                }
            }
        }
    }
}
