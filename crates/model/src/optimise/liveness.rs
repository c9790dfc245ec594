//! Variables of a process that it will not read again rest at one value.
//!
//! Source  the classic backward analysis of live variables, over slots; SPIN does it for scalars only (`-o1`).
//!
//! # The argument
//!   L1 A slot is live at a location if some path of edges from there reads it before it is certainly overwritten.
//!      What an edge reads: its guards, the channel it names, the values it compares, sends or computes with, indices.
//!      All edges of a location count, so whoever asks what the process could do now (a partner's send, an
//!      `else`, an escape, `timeout`, `enabled`, priorities) looks at slots that are live here.
//!   L2 Others read a process's slots by remote references only, and through its `provided` clause and its promises, which
//!      are looked at wherever it stands. Such slots are live everywhere.
//!   L3 So relate two states that differ in slots that are not live where their process stands: the same steps are enabled,
//!      with the same faults, and they lead to related states. Giving such a slot a value goes from a state to a
//!      related one, and all verdicts (assertions, end states, run-time errors, trace assertions, promises, formulas and
//!      claims, accepting cycles and those without progress) are about runs of the quotient.
//!   L4 A value computed only to be assigned to a slot that is not live is not read, if computing it can neither fault
//!      nor lose bits. Nor is one that is only printed, if it cannot fault: what is printed is shown in replays, which are
//!      runs of the original.
//!
//! The value a slot rests at is its initial value if that is a constant, else zero. Where to reset: on every edge after
//! which a slot may have another value and is not live. "May have another value" is a second analysis, forwards (Z).
//! Both together give a slot one value at each location where it is not live, so that a state of the result is a function
//! of a state of the original, and there are never more of them. To keep it a function where processes come back
//! to where they started, slots born with some other value (parameters) count as read there. Inside a `d_step`, where no
//! state is kept, nothing is reset until the end.
//!
//! # Where the approximations are
//!   A1 an index that is no constant reads all elements and overwrites none
//!   A2 a path of edges may be impossible
//!   A3 variables with many slots are left alone, for the time their resets would take
//!   A1 and A2 only keep a value that could go.
//!
//! Not done: globals (another process may read them at any time), and messages (a send is left as it is).

use super::{Asked, Bits, each_slot, only_slot};
use crate::index::Idx;
use crate::ir::{
    Edge, EdgeId, Effect, Expr, Frame, Guard, Init, Loc, Pattern, Place, Proctype, Scope, System, Then, Type, VarId,
};
use crate::range::{Range, effect_faults, index_faults};

/// A3
const MAX_SLOTS: u64 = 256;
/// Proctypes with more locations times slots than this are left alone.
const MAX_WORK: usize = 1 << 28;

/// Appends the resets; returns how many.
pub(super) fn reset(system: &mut System, asked: &Asked, params: bool) -> usize {
    let hidden: Vec<bool> = system.globals.vars.iter().map(|v| v.hidden).collect();
    let mut n = 0;
    for (t, asked) in system.proctypes.iter_mut().zip(&asked.slots) {
        if t.locs.len().saturating_mul(t.frame.n_slots as usize) > MAX_WORK {
            continue;
        }
        let slots = slots_of(&t.frame);
        let analysis = Analysis::new(t, asked, &hidden, params);
        let rest = analysis.rest.clone();
        debug_assert!(
            slots.iter().zip(&rest).all(|((_, ty), rest)| ty.fit(*rest) == *rest),
            "a slot can hold where it rests"
        );
        for (edge, dead) in analysis.resets() {
            for slot in dead.iter() {
                let (var, ty) = slots[slot];
                let to = Place { scope: Scope::Local, var, slot: slot as u32, ty, index: Vec::new() };
                t.edges[edge].effects.push(Effect::Assign { to, value: Expr::Const(rest[slot]) });
                n += 1;
            }
        }
    }
    n
}

/// Slots that are read to find a channel or an element of an array.
fn naming(t: &Proctype) -> Bits {
    let mut out = Bits::new(t.frame.n_slots as usize);
    let mut place = |place: &Place| place.index.iter().for_each(|i| uses(&i.value, &mut out));
    let mut index = |e: &Expr| {
        if let Expr::Read(p) = e {
            place(p);
        }
    };
    t.each_expr(&mut |e| e.each_part(&mut index));
    for effect in t.edges.iter().flat_map(|e| &e.effects) {
        effect.each_write(&mut place);
    }
    let mut chan = |e: &Expr| {
        if let Some(chan) = e.channel() {
            uses(chan, &mut out);
        }
    };
    t.each_expr(&mut |e| e.each_part(&mut chan));
    for effect in t.edges.iter().flat_map(|e| &e.effects) {
        match effect {
            Effect::Send { chan, .. } | Effect::Receive { chan, .. } => uses(chan, &mut out),
            Effect::Assign { .. } | Effect::Run { .. } | Effect::SetPriority { .. } => {}
            Effect::Assert(_) | Effect::Print { .. } | Effect::PrintName(..) => {}
            Effect::Event { .. } | Effect::End => {}
        }
    }
    out
}

/// By proctype, location and slot: what is live.
pub(super) fn live(system: &System, asked: &Asked) -> Vec<Vec<Vec<bool>>> {
    let hidden: Vec<bool> = system.globals.vars.iter().map(|v| v.hidden).collect();
    let of = |(t, asked): (&Proctype, &Bits)| {
        let n = t.frame.n_slots as usize;
        if t.locs.len().saturating_mul(n) > MAX_WORK {
            return vec![vec![true; n]; t.locs.len()];
        }
        let analysis = Analysis::new(t, asked, &hidden, false);
        let live = analysis.live();
        debug_assert!(analysis.check_live(&live), "L1: nothing more becomes live");
        live.iter().map(|l| (0..n).map(|s| l.has(s)).collect()).collect()
    };
    system.proctypes.iter().zip(&asked.slots).map(of).collect()
}

/// The variable and type of every slot.
fn slots_of(frame: &Frame) -> Vec<(VarId, Type)> {
    let mut out = Vec::new();
    for (id, var) in frame.vars.enumerated() {
        var.shape.leaves(&mut |_, ty| out.push((id, ty)));
    }
    out
}

struct Analysis<'a> {
    t: &'a Proctype,
    hidden_globals: &'a [bool],
    /// L2
    always: Bits,
    /// Of hidden variables: nobody reads them.
    hidden: Bits,
    /// Not worth a reset, or too many.
    kept: Bits,
    /// What a slot is reset to.
    rest: Vec<i32>,
    /// What may have another value when the process is made.
    born: Bits,
}

impl<'a> Analysis<'a> {
    fn new(t: &'a Proctype, asked: &Bits, hidden_globals: &'a [bool], params: bool) -> Analysis<'a> {
        let n = t.frame.n_slots as usize;
        let (always, hidden, kept, rest, born) = (asked.clone(), Bits::new(n), Bits::new(n), vec![0; n], Bits::new(n));
        let mut a = Analysis { t, hidden_globals, always, hidden, kept, rest, born };
        t.provided.iter().for_each(|e| uses(e, &mut a.always));
        t.promises.iter().for_each(|p| uses(&Expr::Read(p.chan.clone()), &mut a.always));
        let mut written = Bits::new(n);
        for effect in t.edges.iter().flat_map(|e| &e.effects) {
            each_local_write(effect, &mut |place| each_slot(place, &mut |s| written.put(s)));
        }
        let named = if params { naming(t) } else { Bits::new(n) };
        (0..t.n_params as usize).filter(|s| !named.has(*s)).for_each(|s| written.put(s));
        for var in &t.frame.vars {
            let slots = var.slot as usize..(u64::from(var.slot) + var.shape.n_slots()) as usize;
            for slot in slots {
                if var.hidden {
                    a.hidden.put(slot);
                }
                // What is never written says nothing that the location does not.
                if var.hidden || var.shape.n_slots() > MAX_SLOTS || !written.has(slot) {
                    a.kept.put(slot);
                }
            }
        }
        debug_assert_eq!(a.hidden.clone().without(&a.kept), Bits::new(n), "nobody resets what has no place in the key");
        (0..t.n_params as usize).for_each(|s| a.born.put(s));
        for init in &t.frame.inits {
            match init {
                Init::Value { slot, ty, value: Expr::Const(n), .. } if !a.born.has(*slot as usize) => {
                    a.rest[*slot as usize] = ty.fit(*n);
                }
                Init::Value { slot, .. } | Init::Chan { slot, .. } => a.born.put(*slot as usize),
            }
        }
        a
    }

    /// The slots to be reset on each edge.
    fn resets(&self) -> Vec<(EdgeId, Bits)> {
        let mut keep = self.live();
        debug_assert!(self.check_live(&keep), "L1: nothing more becomes live");
        keep.iter_mut().for_each(|l| {
            l.add(&self.kept);
        });
        // Z, with the resets done.
        let n = self.t.frame.n_slots as usize;
        let mut moved: Vec<Option<Bits>> = vec![None; self.t.locs.len()];
        moved[self.t.start.index()] = Some(self.born.clone());
        let mut todo = vec![self.t.start];
        let mut out = vec![Bits::new(n); self.t.edges.len()];
        while let Some(loc) = todo.pop() {
            for id in &self.t.locs[loc].edges {
                let edge = &self.t.edges[*id];
                let mut after = moved[loc.index()].clone().expect("a location on the list was reached");
                edge.effects.iter().for_each(|e| self.moved(e, &mut after));
                if edge.then != Then::DStep && !edge.effects.contains(&Effect::End) {
                    out[id.index()] = after.clone().without(&keep[edge.to.index()]);
                    after = after.without(&out[id.index()]);
                }
                let there = &mut moved[edge.to.index()];
                let grew = match there {
                    Some(there) => there.add(&after),
                    None => {
                        *there = Some(after);
                        true
                    }
                };
                if grew {
                    todo.push(edge.to);
                }
            }
        }
        debug_assert!(self.check_rest(&keep, &moved, &out), "Z");
        out.into_iter().enumerate().map(|(n, dead)| (EdgeId::new(n), dead)).collect()
    }

    /// Z, of the whole: where states are kept, what may have another value than the one it rests at is live, or kept for
    /// another reason; only where a process starts, and never comes back to, it may have what it was born with. And
    /// nothing more moves.
    fn check_rest(&self, keep: &[Bits], moved: &[Option<Bits>], resets: &[Bits]) -> bool {
        let t = self.t;
        let has = |all: &Bits, some: &Bits| !all.clone().add(some);
        let inside = |loc: Loc| t.edges.iter().any(|e| e.to == loc && e.then == Then::DStep);
        let back = |loc: Loc| t.edges.iter().any(|e| e.to == loc);
        let rests = t.locs.ids().filter(|loc| !inside(*loc) && (*loc != t.start || back(*loc))).all(|loc| {
            let n = loc.index();
            moved[n].as_ref().is_none_or(|moved| has(&keep[n], moved))
        });
        let settled = t.edges.enumerated().all(|(id, e)| {
            let Some(mut after) = moved[e.from.index()].clone() else { return true };
            e.effects.iter().for_each(|effect| self.moved(effect, &mut after));
            let dead = &resets[id.index()];
            let there = moved[e.to.index()].as_ref();
            there.is_some_and(|there| has(there, &after.clone().without(dead)) && has(&after, dead))
        });
        rests && settled
    }

    /// L1, per location.
    fn live(&self) -> Vec<Bits> {
        let t = self.t;
        let mut live = vec![self.always.clone(); t.locs.len()];
        if t.edges.iter().any(|e| e.to == t.start) {
            live[t.start.index()].add(&self.born);
        }
        let mut into: Vec<Vec<Loc>> = vec![Vec::new(); t.locs.len()];
        t.edges.iter().for_each(|e| into[e.to.index()].push(e.from));
        let mut waiting = vec![true; t.locs.len()];
        let mut todo: Vec<Loc> = t.locs.ids().collect();
        while let Some(loc) = todo.pop() {
            waiting[loc.index()] = false;
            let mut here = live[loc.index()].clone();
            for id in &t.locs[loc].edges {
                let edge = &t.edges[*id];
                let mut before = live[edge.to.index()].clone();
                self.before(edge, &mut before);
                here.add(&before);
            }
            if live[loc.index()].add(&here) {
                for from in &into[loc.index()] {
                    if !std::mem::replace(&mut waiting[from.index()], true) {
                        todo.push(*from);
                    }
                }
            }
        }
        live
    }

    /// L1, of the whole: what is read, or live behind an edge and not overwritten, is live before it; so is what others read.
    fn check_live(&self, live: &[Bits]) -> bool {
        let has = |all: &Bits, some: &Bits| !all.clone().add(some);
        let before = |edge: &Edge| {
            let mut before = live[edge.to.index()].clone();
            self.before(edge, &mut before);
            has(&live[edge.from.index()], &before)
        };
        live.iter().all(|here| has(here, &self.always)) && self.t.edges.iter().all(before)
    }

    /// From what is live after an edge to what is live before it.
    fn before(&self, edge: &Edge, live: &mut Bits) {
        for effect in edge.effects.iter().rev() {
            match effect {
                Effect::Assign { to, value } => {
                    let r = Range::of(value);
                    let silent = !r.faults && r.fits(to.ty) && !index_faults(to);
                    if silent && !self.is_live(to, live) {
                        continue; // L4
                    }
                    self.overwritten(to, live);
                    uses(value, live);
                    to.each_expr(&mut |e| uses(e, live));
                }
                Effect::Receive { args, .. } => {
                    args.iter().for_each(|a| {
                        if let Pattern::Bind(place) = a {
                            self.overwritten(place, live);
                        }
                    });
                    effect.each_expr(&mut |e| uses(e, live));
                }
                Effect::Print { .. } | Effect::PrintName(..) if !effect_faults(effect) => {} // L4
                _ => effect.each_expr(&mut |e| uses(e, live)),
            }
        }
        for guard in &edge.guards {
            if let Guard::Holds(e) = guard {
                uses(e, live);
            }
        }
    }

    fn is_live(&self, place: &Place, live: &Bits) -> bool {
        match place.scope {
            Scope::Global => !self.hidden_globals[place.var.index()],
            Scope::Local => {
                let mut any = false;
                each_slot(place, &mut |s| any |= live.has(s) && !self.hidden.has(s));
                any
            }
        }
    }

    /// Z, over one effect.
    fn moved(&self, effect: &Effect, moved: &mut Bits) {
        let value = match effect {
            Effect::Assign { to, value: Expr::Const(n) } => Some(to.ty.fit(*n)),
            _ => None,
        };
        each_local_write(effect, &mut |place| match only_slot(place) {
            Some(slot) if value == Some(self.rest[slot]) => moved.take(slot),
            _ => each_slot(place, &mut |s| {
                if value != Some(self.rest[s]) {
                    moved.put(s);
                }
            }),
        });
    }

    fn overwritten(&self, place: &Place, live: &mut Bits) {
        if let (Scope::Local, Some(slot)) = (place.scope, only_slot(place))
            && !self.always.has(slot)
        {
            live.take(slot);
        }
    }
}

/// The local slots an expression may read.
fn uses(e: &Expr, out: &mut Bits) {
    e.each_part(&mut |e| {
        if let Expr::Read(place @ Place { scope: Scope::Local, .. }) = e {
            each_slot(place, &mut |s| out.put(s));
        }
    });
}

/// The local places an effect may write.
fn each_local_write<'e>(effect: &'e Effect, f: &mut dyn FnMut(&'e Place)) {
    effect.each_write(&mut |place| {
        if place.scope == Scope::Local {
            f(place);
        }
    });
}
