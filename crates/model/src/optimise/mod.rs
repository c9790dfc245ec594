//! Fewer states, the same verdicts.
//!
//! Three transformations of a system, each of which can be left out: [`liveness`] resets variables that nobody reads
//! again, [`unread`] takes variables that nobody reads out of the key, [`merge`] lets a process go on over locations
//! at which there is nothing to see. Each file argues for itself.
//!
//! Every number stays what it was: locations, edges, variables, slots, channels. An edge may get resets at its
//! end, a `Yield` may become an `Atomic`, a variable may become hidden, and nothing else happens. So a run of the
//! result is, statement by statement, a run of the original, and traces are replayed there.
//!
//! # Invariants
//!   O1 edges, locations and slots stay as they are, but for resets behind the effects of an edge, and a floor that is kept
//!   O2 who did it once has nothing left to do
//!   O3 a system that was well made still is
//!
//! What somebody outside looks at comes in as [`Watched`]; whoever looks from inside (remote references, labels,
//! `enabled`, promises, the trace assertion, `provided` clauses) is found here.

mod liveness;
mod merge;
mod unread;

pub use unread::unkept;

use crate::index::Idx;
use crate::ir::{Edge, Effect, Expr, Frame, Loc, Place, Proctype, ProctypeId, Scope, System, Then, Var};
use crate::validate::validate;
use std::sync::Arc;

/// Which of them to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Optimisations {
    /// Variables that are dead have one value.
    pub dead: bool,
    /// Local statements are done together with the one before.
    pub merge: bool,
    /// Variables that are never read are not in the key.
    pub unread: bool,
}

impl Optimisations {
    pub const ALL: Optimisations = Optimisations { dead: true, merge: true, unread: true };
    pub const NONE: Optimisations = Optimisations { dead: false, merge: false, unread: false };
}

impl Default for Optimisations {
    fn default() -> Self {
        Self::ALL
    }
}

/// What somebody outside the system looks at.
#[derive(Clone, Copy, Debug, Default)]
pub struct Watched<'a> {
    /// Propositions of the formulas being checked.
    pub exprs: &'a [Expr],
    /// Progress labels matter.
    pub progress: bool,
    /// Somebody may count steps: a claim that is not known to be closed under stuttering, a formula with `X`.
    pub counts_steps: bool,
    /// Parameters that are never assigned and name a channel or an element of an array are to keep their values, so that
    /// they tell processes apart.
    pub params: bool,
}

/// What was done.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Done {
    /// Resets appended to edges.
    pub resets: usize,
    /// Edges after which the process now keeps the floor.
    pub merged: usize,
    /// Variables taken out of the key: `x`, `P:x`.
    pub hidden: Vec<String>,
}

/// The same system with fewer states.
pub fn optimise(system: &System, which: Optimisations, watched: &Watched<'_>) -> (System, Done) {
    let mut out = system.clone();
    let mut done = Done::default();
    let asked = Asked::new(system, watched);
    // In this order: what is not read makes more of the rest dead, and writing it is nothing to see.
    if which.unread {
        done.hidden = unread::hide(&mut out, watched);
    }
    if which.dead {
        done.resets = liveness::reset(&mut out, &asked, watched.params);
    }
    if which.merge {
        done.merged = merge::merge(&mut out, &asked, watched);
    }
    debug_assert!(check_kept(system, &out), "O1");
    debug_assert!(check_done(system, &out, &done, &asked), "a reset, a floor or a hidden variable that nobody told of");
    debug_assert!(!validate(&out).into_iter().any(|rule| !validate(system).contains(&rule)), "O3");
    debug_assert!(is_large(system) || again(&out, which, watched) == Done::default(), "O2");
    (out, done)
}

/// What is left to do to the result.
fn again(result: &System, which: Optimisations, watched: &Watched<'_>) -> Done {
    let (mut out, mut done, asked) = (result.clone(), Done::default(), Asked::new(result, watched));
    if which.unread {
        done.hidden = unread::hide(&mut out, watched);
    }
    if which.dead {
        done.resets = liveness::reset(&mut out, &asked, watched.params);
    }
    if which.merge {
        done.merged = merge::merge(&mut out, &asked, watched);
    }
    done
}

/// Too large to be looked at twice.
fn is_large(system: &System) -> bool {
    system.proctypes.iter().any(|t| t.locs.len() * (1 + t.frame.n_slots as usize) > 1 << 12)
}

/// What was done is what is told; and no reset is of a slot that others read.
fn check_done(before: &System, after: &System, done: &Done, asked: &Asked) -> bool {
    let edges = |s: &System| s.proctypes.iter().flat_map(|t| &t.edges).cloned().collect::<Vec<Edge>>();
    let n_effects = |edges: &[Edge]| edges.iter().map(|e| e.effects.len()).sum::<usize>();
    let n_kept = |edges: &[Edge]| edges.iter().filter(|e| e.then == Then::Atomic).count();
    let frames = |s: &System| s.proctypes.iter().map(|t| &t.frame).chain([&s.globals]).cloned().collect::<Vec<_>>();
    let n_hidden = |s: &System| frames(s).iter().flat_map(|f| &f.vars).filter(|v| v.hidden).count();
    let (old, new) = (edges(before), edges(after));
    let resets = before.proctypes.iter().zip(after.proctypes.iter()).zip(&asked.slots).all(|((a, b), asked)| {
        let added = |(a, b): (&Edge, &Edge)| b.effects[a.effects.len()..].iter().all(|e| is_reset(b, e, asked));
        a.edges.iter().zip(b.edges.iter()).all(added)
    });
    n_effects(&new) == n_effects(&old) + done.resets
        && n_kept(&new) == n_kept(&old) + done.merged
        && n_hidden(after) == n_hidden(before) + done.hidden.len()
        && resets
}

/// A variable of the process itself, which nobody else reads, is given a constant that it can hold, where states are kept.
fn is_reset(edge: &Edge, effect: &Effect, asked: &Bits) -> bool {
    let Effect::Assign { to, value: Expr::Const(n) } = effect else { return false };
    let own = to.scope == Scope::Local && to.index.is_empty() && !asked.has(to.slot as usize);
    own && to.ty.fit(*n) == *n && edge.then != Then::DStep
}

/// The same of a system that is shared; itself, if nothing is wanted.
pub fn optimised(system: &Arc<System>, which: Optimisations, watched: &Watched<'_>) -> Arc<System> {
    match which {
        Optimisations::NONE => system.clone(),
        _ => Arc::new(optimise(system, which, watched).0),
    }
}

/// O1
fn check_kept(before: &System, after: &System) -> bool {
    let edge = |(a, b): (&Edge, &Edge)| {
        let begins = b.effects.starts_with(&a.effects) && (a.from, a.to, &a.guards) == (b.from, b.to, &b.guards);
        begins && (a.then == b.then || (a.then, b.then) == (Then::Yield, Then::Atomic))
    };
    let frame = |a: &Frame, b: &Frame| {
        let var = |(a, b): (&Var, &Var)| *b == Var { hidden: b.hidden, ..a.clone() } && (b.hidden || !a.hidden);
        let same = (a.n_slots, &a.inits, &a.chans) == (b.n_slots, &b.inits, &b.chans) && a.vars.len() == b.vars.len();
        same && a.vars.iter().zip(b.vars.iter()).all(var)
    };
    let proctype = |(a, b): (&Proctype, &Proctype)| {
        let same = a.edges.len() == b.edges.len() && frame(&a.frame, &b.frame) && a.locs == b.locs;
        let whole = Proctype { edges: a.edges.clone(), frame: a.frame.clone(), ..b.clone() };
        same && *a == whole && a.edges.iter().zip(b.edges.iter()).all(edge)
    };
    let whole = System { proctypes: before.proctypes.clone(), globals: before.globals.clone(), ..after.clone() };
    *before == whole
        && frame(&before.globals, &after.globals)
        && before.proctypes.len() == after.proctypes.len()
        && before.proctypes.iter().zip(after.proctypes.iter()).all(proctype)
}

/// By proctype, location and slot: whether the value may still be read (`liveness`, L1 to L3).
pub fn live(system: &System, watched: &Watched<'_>) -> Vec<Vec<Vec<bool>>> {
    liveness::live(system, &Asked::new(system, watched))
}

/// What is looked at from outside the process it belongs to.
#[derive(Debug, Default)]
struct Asked {
    /// Per proctype, the slots that remote references read.
    slots: Vec<Bits>,
    /// Per proctype, the locations whose labels are asked for.
    locs: Vec<Bits>,
    enabled: bool,
    pc_value: bool,
    np: bool,
    accept: bool,
    last: bool,
    /// Whoever watches reads `timeout`.
    timeout: bool,
}

impl Asked {
    fn new(system: &System, watched: &Watched<'_>) -> Asked {
        let mut asked = Asked {
            slots: system.proctypes.iter().map(|t| Bits::new(t.frame.n_slots as usize)).collect(),
            locs: system.proctypes.iter().map(|t| Bits::new(t.locs.len())).collect(),
            ..Asked::default()
        };
        everywhere(system, watched, &mut |e| e.each_part(&mut |e| asked.part(e)));
        let mut timeout = |e: &Expr| e.each_part(&mut |e| asked.timeout |= *e == Expr::Timeout);
        watched.exprs.iter().for_each(&mut timeout);
        let last = |all: &Bits| all.iter().last().map_or(0, |n| n + 1);
        let inside = |(n, t): (usize, &Proctype)| {
            last(&asked.slots[n]) <= t.frame.n_slots as usize && last(&asked.locs[n]) <= t.locs.len()
        };
        debug_assert!(system.proctypes.iter().enumerate().all(inside), "V6, V13: what is asked for is there");
        asked
    }

    fn part(&mut self, e: &Expr) {
        match e {
            Expr::Remote { proctype, place, .. } => {
                let slots = &mut self.slots[proctype.index()];
                each_slot(place, &mut |slot| slots.put(slot));
            }
            Expr::AtLabel { proctype, loc, .. } => self.locs[proctype.index()].put(loc.index()),
            Expr::Enabled(_) => self.enabled = true,
            Expr::PcValue(_) => self.pc_value = true,
            Expr::NonProgress => self.np = true,
            Expr::Accepting => self.accept = true,
            Expr::Last => self.last = true,
            _ => {}
        }
    }

    fn at(&self, proctype: ProctypeId, loc: Loc) -> bool {
        self.locs[proctype.index()].has(loc.index())
    }
}

/// Every outermost expression that is ever evaluated.
fn everywhere<'e>(system: &'e System, watched: &Watched<'e>, f: &mut dyn FnMut(&'e Expr)) {
    for init in &system.globals.inits {
        if let crate::ir::Init::Value { value, .. } = init {
            f(value);
        }
    }
    let monitor = system.monitor.iter().map(|m| &m.graph);
    for t in system.proctypes.iter().chain(monitor) {
        t.each_expr(f);
        t.promises.iter().for_each(|p| p.chan.each_expr(f));
    }
    watched.exprs.iter().for_each(f);
}

fn each_slot(place: &Place, f: &mut dyn FnMut(usize)) {
    let slots = place.slots();
    debug_assert!(
        only_slot(place).is_none_or(|slot| slots.iter().cloned().flatten().eq([slot as u32])),
        "a slot is said in one way"
    );
    slots.into_iter().flatten().for_each(|slot| f(slot as usize));
}

/// The one slot a place is, whatever the state.
fn only_slot(place: &Place) -> Option<usize> {
    let mut slot = place.slot as usize;
    for step in &place.index {
        match step.value {
            Expr::Const(i) if i >= 0 && (i as u32) < step.len => slot += i as usize * step.stride as usize,
            _ => return None,
        }
    }
    Some(slot)
}

/// A set of small numbers.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Bits(Vec<u64>);

impl Bits {
    fn new(n: usize) -> Bits {
        Bits(vec![0; n.div_ceil(64)])
    }

    fn from_fn(n: usize, f: impl Fn(usize) -> bool) -> Bits {
        let mut out = Bits::new(n);
        (0..n).filter(|i| f(*i)).for_each(|i| out.put(i));
        out
    }

    fn has(&self, n: usize) -> bool {
        self.0[n / 64] >> (n % 64) & 1 == 1
    }

    fn put(&mut self, n: usize) {
        self.0[n / 64] |= 1 << (n % 64);
    }

    fn take(&mut self, n: usize) {
        self.0[n / 64] &= !(1 << (n % 64));
    }

    /// Did anything come in?
    fn add(&mut self, other: &Bits) -> bool {
        debug_assert_eq!(self.0.len(), other.0.len(), "sets of the same things");
        let mut grew = false;
        for (a, b) in self.0.iter_mut().zip(&other.0) {
            grew |= *b & !*a != 0;
            *a |= b;
        }
        grew
    }

    fn without(mut self, other: &Bits) -> Bits {
        debug_assert_eq!(self.0.len(), other.0.len(), "sets of the same things");
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a &= !b);
        self
    }

    fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.0.len() * 64).filter(|n| self.has(*n))
    }
}

#[cfg(test)]
mod tests;
