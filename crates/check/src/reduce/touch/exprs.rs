//! What the expressions of a step look at, and which values of theirs are known: A1 and A2 of [`super`].

use super::Walk;
use crate::reduce::statics::MOST_SLOTS;
use crate::reduce::uses::{ActorId, Atom, Touch, Use};
use crate::reduce::without::Condition;
use spinor_model::index::Idx;
use spinor_model::ir::{BinOp, Expr, Frame, Pattern, Pid, Place, Probe, ProctypeId, Scope, UnOp};
use std::collections::BTreeSet;

/// Whether a condition wants something or its opposite.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Wants {
    Yes,
    No,
    Value,
}

/// How an expression is met.
#[derive(Clone, Copy)]
pub(super) struct Mode {
    pub(super) wants: Wants,
    /// It decides whether the step can be taken.
    pub(super) guard: bool,
}

pub(super) const VALUE: Mode = Mode { wants: Wants::Value, guard: false };
pub(super) const ASKED: Mode = Mode { wants: Wants::Value, guard: true };

impl<'a> Walk<'a> {
    pub(super) fn patterns(&self, args: &[Pattern], mode: Mode, out: &mut Touch) {
        for arg in args {
            match arg {
                Pattern::Equal(e) => self.expr(e, mode, out),
                Pattern::Bind(place) => place.each_expr(&mut |e| self.expr(e, VALUE, out)),
                Pattern::Any => {}
            }
        }
    }

    pub(super) fn expr(&self, e: &Expr, mode: Mode, out: &mut Touch) {
        let value = Mode { wants: Wants::Value, ..mode };
        match e {
            Expr::Const(_) | Expr::Pid | Expr::NewPid | Expr::Timeout => {}
            Expr::Read(place) => {
                self.read(place, mode.guard, out);
                place.each_expr(&mut |e| self.expr(e, value, out));
            }
            Expr::Unary(UnOp::Not, a) => {
                let wants = match mode.wants {
                    Wants::Yes => Wants::No,
                    Wants::No => Wants::Yes,
                    Wants::Value => Wants::Value,
                };
                self.expr(a, Mode { wants, ..mode }, out);
            }
            Expr::Binary(BinOp::And | BinOp::Or, a, b) => {
                self.expr(a, mode, out);
                self.expr(b, mode, out);
            }
            Expr::Cond(c, a, b) => {
                self.expr(c, value, out);
                self.expr(a, mode, out);
                self.expr(b, mode, out);
            }
            Expr::Unary(_, a) => self.expr(a, value, out),
            Expr::Binary(_, a, b) => {
                self.expr(a, value, out);
                self.expr(b, value, out);
            }
            Expr::Probe(probe, chan) => {
                self.expr(chan, value, out);
                let how = match (probe, mode.wants) {
                    (Probe::Nfull, Wants::Yes) | (Probe::Full, Wants::No) => Use::NeedsRoom,
                    (Probe::Nempty, Wants::Yes) | (Probe::Empty, Wants::No) => Use::NeedsMessage,
                    _ => Use::Look,
                };
                self.asked_of(chan, how, mode, out);
            }
            Expr::Poll { chan, random, args } => {
                self.expr(chan, value, out);
                self.patterns(args, value, out);
                let how = match (random, mode.wants) {
                    (false, Wants::Yes) => Use::NeedsHead,
                    (true, Wants::Yes) => Use::NeedsAny,
                    _ => Use::Look,
                };
                self.asked_of(chan, how, mode, out);
            }
            Expr::NrPr if self.keeps(Condition::NrPr) => self.note(Atom::Population, mode, out),
            Expr::NrPr => {}
            Expr::Last | Expr::Enabled(_) | Expr::GetPriority(_) => out.wild |= self.keeps(Condition::Wild),
            Expr::PcValue(pid) => {
                self.expr(pid, value, out);
                self.note(Atom::Population, mode, out);
                (0..self.actors.len()).for_each(|i| self.note(Atom::Location(i), mode, out));
            }
            Expr::NonProgress => {
                self.note(Atom::Population, mode, out);
                (0..self.actors.len()).for_each(|i| self.note(Atom::Progress(i), mode, out));
            }
            Expr::Accepting => {
                self.note(Atom::Population, mode, out);
                (0..self.actors.len()).for_each(|i| self.note(Atom::Accept(i), mode, out));
            }
            Expr::AtLabel { proctype, pid, loc, .. } => {
                pid.iter().for_each(|e| self.expr(e, value, out));
                for i in self.named(*proctype, pid.as_deref()).filter(|_| self.keeps(Condition::Label)) {
                    self.note(Atom::Alive(i), mode, out);
                    self.note(Atom::At(i, *loc), mode, out);
                }
            }
            Expr::Remote { proctype, pid, place } => {
                pid.iter().for_each(|e| self.expr(e, value, out));
                place.each_expr(&mut |e| self.expr(e, value, out));
                let frame = &self.system.proctypes[*proctype].frame;
                for i in self.named(*proctype, pid.as_deref()).filter(|_| self.keeps(Condition::Remote)) {
                    self.note(Atom::Alive(i), mode, out);
                    self.slots(frame, place, &mut |slot| self.note(Atom::Local(i, slot), mode, out));
                }
            }
            Expr::Happens(operation) => {
                operation.each_expr(&mut |e| self.expr(e, value, out));
                let n = self.statics.operations.iter().position(|o| *o == **operation);
                debug_assert!(n.is_some(), "who names an operation was known before (`statics`)");
                n.into_iter().for_each(|n| self.note(Atom::Happened(n), mode, out));
            }
        }
    }

    fn note(&self, atom: Atom, mode: Mode, out: &mut Touch) {
        if mode.guard {
            out.guards.insert(atom)
        } else {
            out.reads.insert(atom)
        };
    }

    fn asked_of(&self, chan: &Expr, how: Use, mode: Mode, out: &mut Touch) {
        for c in self.channels(chan, out, mode.guard) {
            if self.capacity(c) > 0 {
                out.chans.insert((c, how));
                if mode.guard {
                    out.waits.insert((c, how));
                }
            }
        }
    }

    /// Processes that a remote reference may mean. One that is named by a fixed number may be followed by another of that
    /// number, which is not there yet.
    fn named(&self, proctype: ProctypeId, pid: Option<&Expr>) -> impl Iterator<Item = ActorId> + 'a {
        let pid = pid.and_then(|e| self.fixed(e));
        let actors = self.actors;
        (0..actors.len()).filter(move |i| {
            let actor = actors[*i];
            actor.proctype == proctype && (pid.is_none() || actor.pid.is_none() || actor.pid.map(i32::from) == pid)
        })
    }

    fn read(&self, place: &Place, guard: bool, out: &mut Touch) {
        let mode = Mode { wants: Wants::Value, guard };
        match (place.scope, self.me) {
            (Scope::Global, _) => {
                self.slots(&self.system.globals, place, &mut |s| self.note(Atom::Global(s), mode, out))
            }
            (Scope::Local, Some(me)) => {
                let frame = &self.system.proctypes[self.actors[me].proctype].frame;
                self.slots(frame, place, &mut |s| self.note(Atom::Local(me, s), mode, out));
            }
            (Scope::Local, None) => {}
        }
    }

    pub(super) fn write(&self, place: &Place, out: &mut Touch) {
        place.each_expr(&mut |e| self.expr(e, VALUE, out));
        match place.scope {
            Scope::Global => self.slots(&self.system.globals, place, &mut |s| {
                out.writes.insert(Atom::Global(s));
            }),
            Scope::Local => {
                let (me, t) = self.own();
                self.slots(&t.frame, place, &mut |s| {
                    out.writes.insert(Atom::Local(me, s));
                });
            }
        }
    }

    /// A1. Variables that nobody reads are in no key, and are left out.
    fn slots(&self, frame: &Frame, place: &Place, f: &mut dyn FnMut(u32)) {
        let var = &frame.vars[place.var];
        if var.hidden {
            return;
        }
        if var.shape.n_slots() > MOST_SLOTS {
            return f(var.slot);
        }
        let mut slots = vec![place.slot];
        for step in &place.index {
            let indices = match self.fixed(&step.value) {
                Some(i) if i >= 0 && (i as u32) < step.len => i as u32..i as u32 + 1,
                // Outside of the array is a fault, and touches nothing.
                Some(_) => return,
                None => 0..step.len,
            };
            slots = slots.iter().flat_map(|s| indices.clone().map(move |i| s + i * step.stride)).collect();
        }
        let range = var.slot..var.slot + var.shape.n_slots() as u32;
        debug_assert!(slots.iter().all(|slot| range.contains(slot)), "A1: an element is one of its array");
        debug_assert!(slots.is_sorted_by(|a, b| a < b), "A1: each element once");
        slots.into_iter().for_each(f);
    }

    /// The value of an expression that has the same whenever the process looks.
    pub(in super::super) fn fixed(&self, e: &Expr) -> Option<i32> {
        let pid = self.me.and_then(|me| self.actors[me].pid);
        self.is_fixed(e, pid).then(|| self.interp.value(self.state, pid, e).ok()).flatten()
    }

    fn is_fixed(&self, e: &Expr, pid: Option<Pid>) -> bool {
        match e {
            Expr::Const(_) => true,
            Expr::Pid => pid.is_some(),
            Expr::Read(place) => {
                let (fixed, frame) = match (place.scope, pid, self.me) {
                    (Scope::Global, ..) => (&self.statics.fixed_globals, &self.system.globals),
                    (Scope::Local, Some(_), Some(me)) => {
                        let t = self.actors[me].proctype;
                        (&self.statics.fixed_locals[t.index()], &self.system.proctypes[t].frame)
                    }
                    _ => return false,
                };
                let var = &frame.vars[place.var];
                let slots = var.slot as usize..var.slot as usize + var.shape.n_slots() as usize;
                !var.hidden
                    && fixed[slots].iter().all(|f| *f)
                    && place.index.iter().all(|i| self.is_fixed(&i.value, pid))
            }
            Expr::Unary(_, a) => self.is_fixed(a, pid),
            Expr::Binary(_, a, b) => self.is_fixed(a, pid) && self.is_fixed(b, pid),
            Expr::Cond(a, b, c) => self.is_fixed(a, pid) && self.is_fixed(b, pid) && self.is_fixed(c, pid),
            _ => false,
        }
    }

    /// A2. Channels come and go with the process that has them.
    pub(super) fn channels(&self, e: &Expr, out: &mut Touch, guard: bool) -> Vec<u8> {
        let n = self.state.n_chans() as i32;
        let mut found: BTreeSet<u8> = BTreeSet::new();
        let mut known = true;
        match (self.fixed(e), e) {
            (Some(c), _) => found.extend((1..=n).contains(&c).then_some(c as u8)),
            (None, Expr::Read(place)) if place.scope == Scope::Global && self.all_fixed(place) => {
                self.slots(&self.system.globals, place, &mut |slot| {
                    let c = self.state.globals()[slot as usize];
                    found.extend((1..=n).contains(&c).then_some(c as u8));
                });
            }
            _ => {
                known = false;
                found.extend((1..=n).map(|c| c as u8));
            }
        }
        let mode = Mode { wants: Wants::Value, guard };
        // A channel that is not there yet can be asked for by a number that is not fixed.
        let goes = self.keeps(Condition::ChannelsGo);
        if goes && !known && self.system.proctypes.iter().any(|t| !t.frame.chans.is_empty()) {
            self.note(Atom::Population, mode, out);
        }
        debug_assert!(self.fixed(e).is_none() || found.len() <= 1, "A2: what is fixed is one channel or none");
        let owners = found.iter().filter_map(|c| self.interp.chan(self.state, *c)?.owner);
        for owner in owners.map(ActorId::from).filter(|owner| goes && Some(*owner) != self.me) {
            self.note(Atom::Alive(owner), mode, out);
        }
        found.into_iter().collect()
    }

    fn all_fixed(&self, place: &Place) -> bool {
        let var = &self.system.globals.vars[place.var];
        let from = var.slot as usize;
        let n = var.shape.n_slots();
        n <= MOST_SLOTS && !var.hidden && self.statics.fixed_globals[from..from + n as usize].iter().all(|f| *f)
    }

    pub(in super::super) fn capacity(&self, chan: u8) -> u32 {
        self.interp.chan(self.state, chan).map_or(1, |c| c.decl.capacity)
    }
}
