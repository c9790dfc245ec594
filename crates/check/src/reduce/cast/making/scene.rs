//! Those who take part in a cast, and what each of their transitions touches.
//!
//! # Invariants
//!   I1 those that live come first, in the order of their numbers; then one of each proctype that may yet be made
//!   I2 transitions are numbered actor by actor, those of an actor by its edges
//!   I3 what is looked at, and asked of, is of an actor that there is, and of a location that is known to be asked about

use super::super::{MOST_LOCS, MOST_TRANSITIONS, Told};
use super::{Making, is_seen};
use crate::reduce::known::{self, Edges, Known};
use crate::reduce::repairs::{AbleBy, UnlessBy};
use crate::reduce::rounds;
use crate::reduce::statics::Statics;
use crate::reduce::touch::Walk;
use crate::reduce::uses::{Actor, ActorId, Atom, Touch};
use crate::reduce::without::Condition;
use spinor_model::index::Idx;
use spinor_model::ir::{EdgeId, Effect, Expr, Pid, ProctypeId, System};
use spinor_model::layout::Field;
use spinor_model::state::State;
use std::collections::BTreeSet;
use std::ops::Range;

pub(super) struct Scene {
    pub actors: Vec<Actor>,
    pub n_live: usize,
    /// By actor: its first transition.
    pub first: Vec<u32>,
    /// By transition.
    pub owner: Vec<ActorId>,
    pub touches: Vec<Touch>,
    /// Handshakes whose being possible is looked at by somebody.
    pub answers: BTreeSet<Atom>,
    /// By process and location: one of its own handshakes may become possible there.
    pub offers: Vec<Vec<bool>>,
    /// By phase: what is looked at from outside.
    pub seen: Vec<Touch>,
    /// By channel: where the key tells how many messages it has.
    pub lengths: Vec<Told>,
    /// By process: whether its loops are closed.
    pub closed: Vec<bool>,
    /// By actor: what it knows.
    pub known: Vec<Known>,
}

impl Scene {
    /// None if it is too large.
    pub fn new(making: &Making, state: &State) -> Option<Scene> {
        let system = making.system;
        let n_live = state.n_procs();
        let live = (0..n_live as Pid).map(|pid| Actor { proctype: state.proctype(pid), pid: Some(pid) });
        let mut actors: Vec<Actor> = live.collect();
        let unborn = unborn(system, &actors);
        actors.extend(unborn.iter().map(|t| Actor { proctype: *t, pid: None }));
        let mut first = Vec::new();
        let mut owner = Vec::new();
        for (i, actor) in actors.iter().enumerate() {
            first.push(owner.len() as u32);
            owner.resize(owner.len() + system.proctypes[actor.proctype].edges.len(), i);
        }
        let has_many = |actor: &Actor| system.proctypes[actor.proctype].locs.len() > MOST_LOCS;
        if owner.len() > MOST_TRANSITIONS || actors.iter().any(has_many) {
            return None;
        }
        let Making { statics, interp, without, .. } = *making;
        let nobody = Walk { system, statics, interp, state, actors: &actors, edges: &[], me: None, without };
        let known = (0..actors.len()).map(|i| known::edges(&Walk { me: Some(i), ..nobody }));
        let (edges, known): (Vec<Edges>, Vec<Known>) = known.unzip();
        let walk = Walk { edges: &edges, ..nobody };
        let mut touches = Vec::with_capacity(owner.len());
        for (i, actor) in actors.iter().enumerate() {
            let walk = Walk { me: Some(i), ..walk };
            touches.extend(system.proctypes[actor.proctype].edges.ids().map(|e| walk.edge(e)));
        }
        let mut answers: BTreeSet<Atom> = touches.iter().flat_map(|t| t.answers.iter().copied()).collect();
        if making.repairs.unless == UnlessBy::Guards {
            touches.iter_mut().for_each(|t| t.guards.extend(t.answers.iter().copied()));
        }
        let mut offers = vec![Vec::new(); n_live];
        if making.fair && without.keeps(Condition::Fairness) {
            offers = changes_who_is_able(making, &walk, n_live, &owner, &mut touches, &mut answers);
        }
        if without.keeps(Condition::Part) {
            changes_parts(making, &walk, &mut touches);
        }
        let looked = if making.parts.is_empty() { making.looked } else { &[] };
        let seen: Vec<Touch> = looked.iter().map(|looked| walk.looked(looked)).collect();
        let (lengths, closed) = (lengths(&walk, n_live), rounds::closed(&walk, statics, n_live));
        debug_assert!(
            actors.iter().enumerate().all(|(i, a)| a.pid.map(usize::from) == (i < n_live).then_some(i)),
            "I1"
        );
        debug_assert!(first.is_sorted() && owner.is_sorted(), "I2");
        debug_assert_eq!((touches.len(), closed.len(), offers.len()), (owner.len(), n_live, n_live), "one for each");
        debug_assert!(seen.iter().all(|s| !s.youngest && s.writes.is_empty()), "who looks changes nothing");
        debug_assert_eq!(seen.len(), if making.parts.is_empty() { making.looked.len() } else { 0 }, "phases or parts");
        debug_assert_eq!(lengths.len(), state.n_chans(), "a length for each channel");
        let n_locs = |i: usize| system.proctypes[actors[i].proctype].locs.len();
        debug_assert!(
            offers.iter().enumerate().all(|(i, offers)| offers.is_empty() || offers.len() == n_locs(i)),
            "it is known of each location whether something is offered there"
        );
        debug_assert!(
            seen.iter().all(|s| s.is_within(&seen[0])),
            "whoever looks in a later phase looks at nothing new (`mod`, *Phases*)"
        );
        let all = touches.iter().chain(&seen);
        debug_assert!(all.flat_map(Touch::atoms).all(|atom| is_known(statics, &actors, system, atom)), "I3");
        let is_made = |t: &ProctypeId| actors[n_live..].iter().any(|actor| actor.proctype == *t);
        debug_assert!(touches.iter().flat_map(|touch| &touch.runs).all(is_made), "I1: whoever may be made");
        Some(Scene { actors, n_live, first, owner, touches, answers, offers, seen, lengths, closed, known })
    }

    pub fn live(&self) -> &[Actor] {
        &self.actors[..self.n_live]
    }

    pub fn transition(&self, actor: ActorId, edge: EdgeId) -> u32 {
        let t = self.first[actor] + edge.index() as u32;
        debug_assert_eq!(self.owner[t as usize], actor, "I2");
        t
    }

    /// All of an actor.
    pub fn transitions(&self, actor: ActorId) -> Range<u32> {
        let end = self.first.get(actor + 1).map_or(self.owner.len(), |next| *next as usize);
        self.first[actor]..end as u32
    }
}

/// I3
fn is_known(statics: &Statics, actors: &[Actor], system: &System, atom: &Atom) -> bool {
    let of = |i: ActorId| actors.get(i).map(|actor| (actor.proctype, &system.proctypes[actor.proctype]));
    match *atom {
        Atom::Global(slot) => slot < system.globals.n_slots,
        Atom::Local(i, slot) => of(i).is_some_and(|(_, t)| slot < t.frame.n_slots),
        Atom::Location(i) | Atom::Progress(i) | Atom::Accept(i) | Atom::Alive(i) => i < actors.len(),
        // Nobody writes it of another one.
        Atom::At(i, loc) => of(i).is_some_and(|(t, _)| statics.asked.contains(&(t, loc))),
        Atom::Able(i, loc) => of(i).is_some_and(|(_, t)| loc.index() < t.locs.len()),
        Atom::Happened(n) => n < statics.operations.len(),
        Atom::Population | Atom::Monitor | Atom::Part(_) => true,
    }
}

/// With weak fairness it is seen whether a process can move from where it stands (F): that is an atom of its own, which
/// whoever changes it writes. What is offered comes back.
fn changes_who_is_able(
    making: &Making,
    walk: &Walk<'_>,
    n_live: usize,
    owner: &[ActorId],
    touches: &mut [Touch],
    answers: &mut BTreeSet<Atom>,
) -> Vec<Vec<bool>> {
    let mut offers = vec![Vec::new(); n_live];
    for (i, actor) in walk.actors.iter().enumerate() {
        let walk = Walk { me: Some(i), ..*walk };
        for loc in making.system.proctypes[actor.proctype].locs.ids() {
            let mut able = walk.able(loc);
            if i < n_live {
                offers[i].push(!able.answers.is_empty());
            }
            if making.repairs.able == AbleBy::Guards {
                able.guards.append(&mut able.answers);
            } else {
                answers.append(&mut able.answers);
            }
            for (touch, _) in touches.iter_mut().zip(owner).filter(|(_, owner)| **owner != i) {
                if touch.changes(&able) {
                    touch.writes.insert(Atom::Able(i, loc)); // F
                }
            }
        }
    }
    let mine =
        |(touch, owner): (&Touch, &ActorId)| touch.writes.iter().any(|a| matches!(a, Atom::Able(i, _) if i == owner));
    debug_assert!(!touches.iter().zip(owner).any(mine), "F is about third ones");
    offers
}

/// What is kept in order instead of being seen (S): each part is an atom.
fn changes_parts(making: &Making, walk: &Walk<'_>, touches: &mut [Touch]) {
    for (n, part) in making.parts.iter().enumerate() {
        let looked: Vec<Expr> = part.iter().map(|c| making.looked[0][*c as usize].clone()).collect();
        let seen = walk.looked(&looked);
        for touch in touches.iter_mut().filter(|touch| is_seen(touch, &seen)) {
            touch.writes.insert(Atom::Part(n)); // S
        }
    }
}

/// By channel: where the key tells how many messages it has.
fn lengths(walk: &Walk<'_>, n_live: usize) -> Vec<Told> {
    let layout = walk.interp.layout();
    let mut out: Vec<Field> = layout.globals.chans.iter().map(|c| c.len).collect();
    let mut at = layout.globals.size;
    for actor in &walk.actors[..n_live] {
        let frame = &layout.procs[actor.proctype.index()];
        out.extend(frame.chans.iter().map(|c| c.len.after(at)));
        at += frame.size;
    }
    debug_assert!(out.len() < 256, "channels are numbered by bytes");
    let capacity = |n: usize| walk.capacity(n as u8 + 1) as i32;
    out.iter().enumerate().map(|(n, len)| Told { len: *len, capacity: capacity(n) }).collect()
}

/// Proctypes of which processes may yet be made.
fn unborn(system: &System, actors: &[Actor]) -> Vec<ProctypeId> {
    let mut found: BTreeSet<ProctypeId> = BTreeSet::new();
    let mut todo: Vec<ProctypeId> = actors.iter().map(|a| a.proctype).collect();
    while let Some(t) = todo.pop() {
        for effect in system.proctypes[t].edges.iter().flat_map(|e| &e.effects) {
            if let Effect::Run { proctype, .. } = effect
                && found.insert(*proctype)
            {
                todo.push(*proctype);
            }
        }
    }
    found.into_iter().collect()
}
