//! Variables that nobody reads are left out of the key.
//!
//! # The argument
//!   A variable is *read* when its value can reach a guard, a channel, an assertion, a new process, the choice of a
//!   slot, or anybody outside; when it decides whether an evaluation faults; or when it is used to compute a
//!   variable that is read. What remains is written and perhaps printed. Relate two states that differ in such
//!   variables only: the same steps are enabled in both, each leads to related states, and with the same faults. So the
//!   quotient has the runs of the original, and every kind of verdict is the same: assertions, end states, run-time
//!   errors, trace assertions, promises, and whatever a formula or a claim says about them.
//!   `x = x + 1` does not make x read: its value goes nowhere but into x.
//!
//! # Where the approximations are
//!   Whole variables only; one element that is read makes its array read. A read in an edge that can never run counts.
//!   Both only keep a variable that could go.
//!
//! What the user loses: where a variable that is not read overflows, the note about lost bits may be missing, because
//! the overflow need not happen any more. Prints show such variables only in replays, on the original. Nor is there
//! a note where the overflow is one of a value that nobody kept ([`unkept`]): it may not happen in the original.

use super::{Watched, everywhere};
use crate::index::Idx;
use crate::ir::{BinOp, EdgeId, Effect, Expr, Guard, Init, Pattern, Place, Proctype, ProctypeId, Scope, System};
use crate::range::{Range, effect_faults, index_faults};
use std::collections::BTreeSet;

/// A frame (0 for the globals, else one more than the proctype) and a variable of it.
type Name = (usize, usize);

/// Hides them; returns their names.
pub(super) fn hide(system: &mut System, watched: &Watched<'_>) -> Vec<String> {
    let read = read(system, watched);
    debug_assert!(check_read(system, watched, &read), "what decides anything is read");
    let mut names = Vec::new();
    let globals = std::iter::once(("", &mut system.globals));
    let locals = system.proctypes.iter_mut().map(|t| (t.name.as_str(), &mut t.frame));
    for (n, (owner, frame)) in globals.chain(locals).enumerate() {
        for (v, var) in frame.vars.iter_mut().enumerate() {
            if !var.hidden && !read.contains(&(n, v)) {
                var.hidden = true;
                names.push(if n == 0 { var.name.clone() } else { format!("{owner}:{}", var.name) });
            }
        }
    }
    names
}

/// Does the edge compute with a variable that is left out of the key? From one state to the next its value is
/// lost, so what the edge computes need not be what it computes in the original, and bits that it loses mean nothing.
pub fn unkept(system: &System, proctype: ProctypeId, edge: EdgeId) -> bool {
    let hidden = |t: &Proctype, e: &Expr| {
        let mut found = false;
        e.each_part(&mut |e| {
            if let Expr::Read(place) = e {
                let frame = if place.scope == Scope::Global { &system.globals } else { &t.frame };
                found |= frame.vars[place.var].hidden;
            }
        });
        found
    };
    let t = &system.proctypes[proctype];
    t.edges[edge].effects.iter().any(|effect| match effect {
        Effect::Assign { value, .. } => hidden(t, value),
        Effect::Run { proctype, .. } => {
            let new = &system.proctypes[*proctype];
            new.frame.inits.iter().any(|init| matches!(init, Init::Value { value, .. } if hidden(new, value)))
        }
        _ => false,
    })
}

/// A flow of values into a variable: what is read for it, if the variable is.
struct Flow {
    into: Name,
    from: BTreeSet<Name>,
}

struct Reads {
    read: BTreeSet<Name>,
    flows: Vec<Flow>,
}

fn read(system: &System, watched: &Watched<'_>) -> BTreeSet<Name> {
    let mut reads = Reads { read: BTreeSet::new(), flows: Vec::new() };
    reads.inits(0, &system.globals.inits, &system.globals);
    for (n, t) in system.proctypes.iter().enumerate() {
        reads.inits(n + 1, &t.frame.inits, &t.frame);
        reads.graph(n + 1, t);
        t.promises.iter().for_each(|p| reads.whole(n + 1, &Expr::Read(p.chan.clone())));
    }
    // Nothing outside a process is local, so the frame does not matter there.
    if let Some(monitor) = &system.monitor {
        monitor.graph.each_expr(&mut |e| reads.whole(usize::MAX, e));
    }
    watched.exprs.iter().for_each(|e| reads.whole(usize::MAX, e));
    // Remote references are reads wherever they stand, also in prints: rare, and their process may be missing.
    everywhere(system, watched, &mut |e| {
        e.each_part(&mut |e| {
            if let Expr::Remote { proctype, place, .. } = e {
                reads.read.insert((proctype.index() + 1, place.var.index()));
            }
        });
    });
    let Reads { mut read, mut flows } = reads;
    loop {
        let before = flows.len();
        flows.retain(|flow| {
            let reached = read.contains(&flow.into);
            if reached {
                read.extend(&flow.from);
            }
            !reached
        });
        if flows.len() == before {
            debug_assert!(flows.iter().all(|flow| !read.contains(&flow.into)), "what is left flows to nobody");
            return read;
        }
    }
}

/// What is in a guard, names a channel, is asserted, sent or compared with, and what somebody outside looks at is read.
fn check_read(system: &System, watched: &Watched<'_>, read: &BTreeSet<Name>) -> bool {
    let reads = |frame: usize, e: &Expr| {
        let mut found = BTreeSet::new();
        names(frame, e, &mut found);
        found.is_subset(read)
    };
    let effect = |n: usize, effect: &Effect| {
        let shown = matches!(effect, Effect::Assign { .. } | Effect::Print { .. } | Effect::PrintName(..));
        let mut all = true;
        let bound = |arg: &Pattern| matches!(arg, Pattern::Bind(_));
        match effect {
            Effect::Receive { chan, args, .. } => {
                all &= reads(n, chan);
                let compared = args.iter().filter(|arg| !bound(arg));
                compared.for_each(|arg| arg.each_expr(&mut |e| all &= reads(n, e)));
            }
            effect if !shown => effect.each_expr(&mut |e| all &= reads(n, e)),
            _ => {}
        }
        all
    };
    let proctype = |(n, t): (usize, &Proctype)| {
        let guards = t.edges.iter().flat_map(|e| &e.guards);
        let mut holds = guards.filter_map(|g| if let Guard::Holds(e) = g { Some(e) } else { None });
        holds.all(|e| reads(n + 1, e))
            && t.edges.iter().flat_map(|e| &e.effects).all(|e| effect(n + 1, e))
            && t.provided.iter().all(|e| reads(n + 1, e))
    };
    system.proctypes.iter().enumerate().all(proctype) && watched.exprs.iter().all(|e| reads(usize::MAX, e))
}

impl Reads {
    fn inits(&mut self, frame: usize, inits: &[Init], vars: &crate::ir::Frame) {
        for init in inits {
            let Init::Value { slot, value, .. } = init else { continue };
            let var = vars.vars.iter().rposition(|v| v.slot <= *slot).expect("V6: an initialiser has a variable");
            self.flow(frame, (frame, var), value);
        }
    }

    fn graph(&mut self, frame: usize, t: &Proctype) {
        t.provided.iter().for_each(|e| self.whole(frame, e));
        for edge in &t.edges {
            for guard in &edge.guards {
                if let crate::ir::Guard::Holds(e) = guard {
                    self.whole(frame, e);
                }
            }
            edge.effects.iter().for_each(|e| self.effect(frame, e));
        }
    }

    fn effect(&mut self, frame: usize, effect: &Effect) {
        match effect {
            Effect::Assign { to, value } => {
                self.index(frame, to);
                self.flow(frame, name(frame, to), value);
            }
            // The message is as good as read; where it is put is not.
            Effect::Receive { chan, args, .. } => {
                self.whole(frame, chan);
                for arg in args {
                    match arg {
                        Pattern::Bind(place) => self.index(frame, place),
                        Pattern::Equal(e) => self.whole(frame, e),
                        Pattern::Any => {}
                    }
                }
            }
            Effect::Print { .. } | Effect::PrintName(..) if !effect_faults(effect) => {}
            other => other.each_expr(&mut |e| self.whole(frame, e)),
        }
    }

    /// The index of a place that is written: it matters if it may be outside, or if the variable is read.
    fn index(&mut self, frame: usize, place: &Place) {
        let faults = index_faults(place);
        let into = name(frame, place);
        place.each_expr(&mut |e| if faults { self.whole(frame, e) } else { self.flow(frame, into, e) });
    }

    fn flow(&mut self, frame: usize, into: Name, value: &Expr) {
        let mut from = BTreeSet::new();
        self.parts(frame, value, &mut from);
        self.flows.push(Flow { into, from });
    }

    /// What decides whether an evaluation faults is read; the rest is what its value depends on.
    fn parts(&mut self, frame: usize, e: &Expr, from: &mut BTreeSet<Name>) {
        match e {
            e if !Range::of(e).faults => names(frame, e, from),
            // An element that is not there is a matter of the index alone.
            Expr::Read(place) => {
                place.each_expr(&mut |e| self.whole(frame, e));
                from.insert(name(frame, place));
            }
            Expr::Unary(_, a) => self.parts(frame, a, from),
            // Both sides of these are evaluated, whatever their values are.
            Expr::Binary(op, a, b) if !matches!(op, BinOp::And | BinOp::Or | BinOp::Div | BinOp::Rem) => {
                self.parts(frame, a, from);
                self.parts(frame, b, from);
            }
            e => self.whole(frame, e),
        }
    }

    /// Everything in the expression is read.
    fn whole(&mut self, frame: usize, e: &Expr) {
        names(frame, e, &mut self.read);
    }
}

fn name(frame: usize, place: &Place) -> Name {
    match place.scope {
        Scope::Global => (0, place.var.index()),
        Scope::Local => (frame, place.var.index()),
    }
}

fn names(frame: usize, e: &Expr, out: &mut BTreeSet<Name>) {
    e.each_part(&mut |e| {
        if let Expr::Read(place) = e {
            out.insert(name(frame, place));
        }
    });
}
