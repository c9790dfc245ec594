//! What a process knows of its own variables: the edges of its proctype, with values in the place of variables that can
//! have no other where the process stands.
//!
//! A slot that somebody writes is not fixed (`statics`), and still has mostly one value where it is an index: `byte left =
//! _pid` is a variable because the last of them has it set to 0 before it begins. So the fork that each philosopher takes
//! is the very one for `touch`, and not any fork.
//!
//! # The argument
//!   Values flow along the edges of a process from where it starts (constant propagation), so that the following holds in
//!   every state: a slot that has a value at a location has it whenever the process stands there.
//!   K1 where it starts, a slot has what it was made with, if that is computed from what is fixed, from `_pid` and constants
//!   K2 over an edge that cannot be taken nothing flows: a guard of it is never true, or it waits until none of some others
//!      can be taken and one of them always can. (Half of a handshake does not wait for all of them.)
//!   K3 an edge changes what it writes: to what is assigned, if that can be computed, and else to what is not known. Nobody
//!      else writes a local variable, and what a partner sends is written by an edge of the receiver. Of a receive the
//!      fields are bound one after the other, so the index of one may be what another one was bound to (`q?i,a[i]`)
//!   K4 where ways with different values meet, nothing is known
//!   An edge that cannot be taken, or begins where the process never comes to, touches nothing.
//!
//!   In debug builds every state is held against it where steps are selected (`cast/witness`, I1).
//!
//! # Owed
//!   O1 K1                    tests: none but random models
//!   O2 K2 (waits), K3, K4    tests: `conditions/Known*.pml`, a wrong answer without each; random models

use super::touch::Walk;
use super::uses::Actor;
use super::without::Condition;
use spinor_model::index::{Idx, IndexVec};
use spinor_model::ir::{Edge, EdgeId, Effect, Expr, Guard, Init, Pattern, Place, Proctype, Scope};

/// By slot: the value, if it can have no other.
type Values = Vec<Option<i32>>;

/// Proctypes with more slots times locations are left as they are.
const MOST_WORK: usize = 1 << 16;

/// The edges of a process, as it knows them; none for those that it never takes.
pub(super) type Edges = IndexVec<EdgeId, Option<Edge>>;

/// By location: what it knows there; nothing where it never stands. Nothing at all if it is not known.
pub(super) type Known = Option<Vec<Option<Values>>>;

pub(super) fn edges(walk: &Walk<'_>) -> (Edges, Known) {
    let (_, t) = walk.own();
    let is_large = t.frame.n_slots as usize * t.locs.len() > MOST_WORK;
    let Some(first) = start(walk).filter(|_| !is_large) else {
        return (t.edges.iter().cloned().map(Some).collect(), None);
    };
    let mut at: Vec<Option<Values>> = vec![None; t.locs.len()];
    at[t.start.index()] = Some(first);
    let mut todo = vec![t.start];
    while let Some(loc) = todo.pop() {
        for edge in t.locs[loc].edges.iter().map(|e| &t.edges[*e]) {
            let mut values = at[loc.index()].clone().expect("values have come here");
            let known = with_values(walk, edge, &mut values);
            if !can_be_taken(walk, t, &known, at[loc.index()].as_ref().expect("as above")) {
                continue; // K2
            }
            let there = &mut at[edge.to.index()];
            let before = there.clone();
            match there {
                None => *there = Some(values),
                Some(there) => meet(walk, there, &values),
            }
            let knew = |(now, before): (&Option<i32>, &Option<i32>)| now.is_none() || now == before;
            debug_assert!(
                there.iter().flatten().zip(before.iter().flatten()).all(knew),
                "K4: the more ways lead somewhere, the less is known there"
            );
            if *there != before {
                todo.push(edge.to);
            }
        }
    }
    debug_assert!(t.edges.iter().all(|edge| is_settled(walk, t, edge, &at)), "K4: nothing more flows");
    let known = |edge: &Edge| {
        let here = at[edge.from.index()].as_ref()?;
        let known = with_values(walk, edge, &mut here.clone());
        debug_assert_eq!(
            (known.from, known.to, known.then, known.effects.len()),
            (edge.from, edge.to, edge.then, edge.effects.len()),
            "an edge with values leads where it led"
        );
        debug_assert_eq!(with_values(walk, &known, &mut here.clone()), known, "what is known changes no more");
        can_be_taken(walk, t, &known, here).then_some(known)
    };
    (t.edges.iter().map(known).collect(), Some(at))
}

/// K1. None for a process that is not there yet, whose number nobody knows.
fn start(walk: &Walk<'_>) -> Option<Values> {
    let (me, t) = walk.own();
    walk.actors[me].pid?;
    let mut values = vec![Some(0); t.frame.n_slots as usize];
    values[..t.n_params as usize].fill(None);
    for init in &t.frame.inits {
        match init {
            Init::Value { slot, ty, value, .. } => values[*slot as usize] = walk.fixed(value).map(|v| ty.fit(v)),
            Init::Chan { slot, .. } => values[*slot as usize] = None,
        }
    }
    debug_assert_eq!(values.len(), t.frame.n_slots as usize, "a value for each slot");
    debug_assert!(has_still(walk, &values), "K1: who starts with what is fixed has it still");
    Some(values)
}

/// What is fixed in a process is now what it was made with.
fn has_still(walk: &Walk<'_>, values: &Values) -> bool {
    let (me, _) = walk.own();
    let Actor { proctype, pid: Some(pid) } = walk.actors[me] else { return true };
    let fixed = walk.statics.fixed_locals[proctype.index()].iter();
    let is_kept = walk.interp.layout().procs[proctype.index()].slots.iter().map(|field| field.bytes > 0);
    let now = walk.state.locals(walk.system, pid);
    let mut all = values.iter().zip(now).zip(fixed.zip(is_kept));
    all.all(|((value, now), (fixed, is_kept))| !fixed || !is_kept || value.is_none_or(|value| value == *now))
}

/// The edge with values in the place of variables. The values become those after it.
fn with_values(walk: &Walk<'_>, edge: &Edge, values: &mut Values) -> Edge {
    let (_, t) = walk.own();
    let mut known = edge.clone();
    known.guards.iter_mut().for_each(|guard| {
        if let Guard::Holds(e) = guard {
            put_values(e, t, values);
        }
    });
    for effect in &mut known.effects {
        // What a receive binds to may name, in its indices, what it has bound before.
        if let Effect::Receive { chan, args, .. } = effect {
            put_values(chan, t, values);
            args.iter_mut().for_each(|arg| match arg {
                Pattern::Equal(e) => put_values(e, t, values),
                Pattern::Bind(_) | Pattern::Any => {}
            });
            if walk.without.keeps(Condition::KnownBinds) {
                forget_written(walk, t, effect, values);
            }
        }
        effect.each_expr_mut(&mut |e| put_values(e, t, values));
        // K3
        if let Effect::Assign { to, value } = &*effect
            && only_slot(to).is_some()
        {
            if to.scope == Scope::Local {
                values[to.slot as usize] = walk.fixed(value).map(|v| to.ty.fit(v));
            }
        } else {
            forget_written(walk, t, effect, values);
        }
    }
    known
}

/// K3, of what is not known afterwards.
fn forget_written(walk: &Walk<'_>, t: &Proctype, effect: &Effect, values: &mut Values) {
    if !walk.without.keeps(Condition::KnownWrites) {
        return;
    }
    effect.each_write(&mut |place| {
        if place.scope == Scope::Local {
            let var = &t.frame.vars[place.var];
            let from = var.slot as usize;
            values[from..from + var.shape.n_slots() as usize].fill(None);
        }
    });
}

fn put_values(e: &mut Expr, t: &Proctype, values: &Values) {
    e.each_part_mut(&mut |e| {
        if let Expr::Read(place) = e
            && place.scope == Scope::Local
            && !t.frame.vars[place.var].hidden
            && let Some(value) = only_slot(place).and_then(|slot| values[slot])
        {
            *e = Expr::Const(value);
        }
    });
}

/// The slot of a place without indices.
fn only_slot(place: &Place) -> Option<usize> {
    place.index.is_empty().then_some(place.slot as usize)
}

/// K2, of an edge that has values already.
fn can_be_taken(walk: &Walk<'_>, t: &Proctype, known: &Edge, here: &Values) -> bool {
    let value = |guard: &Guard| match guard {
        Guard::Holds(e) => walk.fixed(e),
        _ => None,
    };
    let always = |e: &EdgeId| {
        let other = with_values(walk, &t.edges[*e], &mut here.clone());
        other.guards.iter().all(|g| value(g).is_some_and(|v| v != 0)) || !walk.without.keeps(Condition::KnownWaits)
    };
    let half = known.guards.contains(&Guard::Channel);
    known.guards.iter().all(|guard| match guard {
        Guard::NoneOf(others) => half || !others.iter().any(always),
        guard => value(guard) != Some(0),
    })
}

/// What is known before an edge that can be taken, and what it does, is what is known after it.
fn is_settled(walk: &Walk<'_>, t: &Proctype, edge: &Edge, at: &[Option<Values>]) -> bool {
    let Some(here) = &at[edge.from.index()] else { return true };
    let mut values = here.clone();
    let known = with_values(walk, edge, &mut values);
    let agrees = |(knows, is): (&Option<i32>, &Option<i32>)| knows.is_none() || knows == is;
    !can_be_taken(walk, t, &known, here)
        || !walk.without.keeps(Condition::KnownMeets)
        || at[edge.to.index()].as_ref().is_some_and(|there| there.iter().zip(&values).all(agrees))
}

/// K4
fn meet(walk: &Walk<'_>, there: &mut Values, values: &Values) {
    if walk.without.keeps(Condition::KnownMeets) {
        there.iter_mut().zip(values).filter(|(a, b)| a != b).for_each(|(a, _)| *a = None);
    }
}
