//! What may yet be taken: from a location on, and before a transition.

use super::super::Set;
use super::scene::Scene;
use crate::reduce::uses::{Actor, Touch};
use crate::reduce::without::{Condition, Without};
use spinor_model::index::Idx;
use spinor_model::ir::{Loc, ProctypeId, System};
use std::collections::{BTreeMap, BTreeSet};

/// By process and location: the transitions that may be taken from there on, by the process and those it makes.
pub(super) struct Reach(Vec<Vec<Set>>);

impl Reach {
    pub fn new(system: &System, scene: &Scene) -> Reach {
        let unborn = of_unborn(scene);
        let of = |(i, actor): (usize, &Actor)| {
            if i < scene.n_live {
                of_live(system, scene, i, &unborn)
            } else {
                vec![unborn[&actor.proctype].clone(); system.proctypes[actor.proctype].locs.len()]
            }
        };
        Reach(scene.actors.iter().enumerate().map(of).collect())
    }

    /// By transition: what is it, or comes before it: transitions of its process from which it is come to, and those that
    /// lead to making its process.
    pub fn leads(&self, system: &System, scene: &Scene, without: Without) -> Vec<Set> {
        let none = Set::new(scene.touches.len());
        let mut leads = vec![none.clone(); scene.touches.len()];
        for (i, actor) in scene.live().iter().enumerate() {
            for (e, edge) in system.proctypes[actor.proctype].edges.enumerated() {
                let c = scene.transition(i, e);
                let mut comes = none.clone();
                if without.keeps(Condition::Later) {
                    comes.add(&self.0[i][edge.to.index()]);
                    self.of_made(&scene.touches[c as usize].runs, scene).for_each(|r| comes.add(r));
                }
                comes.put(c);
                while let Some(t) = comes.take() {
                    leads[t as usize].put(c);
                }
            }
        }
        debug_assert!(is_transitive(&leads), "what leads to what leads to it");
        leads
    }

    /// By process and location: whether it stands there, or may come to where it goes on only while nobody answers.
    pub fn minds(&self, system: &System, scene: &Scene, without: Without) -> Vec<Vec<bool>> {
        let mut minding = Set::new(scene.touches.len());
        let minds = |(_, touch): &(u32, &Touch)| !touch.answers.is_empty();
        (0..).zip(&scene.touches).filter(minds).for_each(|(t, _)| minding.put(t));
        let at = |(i, actor): (usize, &Actor)| {
            let locs = &system.proctypes[actor.proctype].locs;
            let here = |loc: Loc| locs[loc].edges.iter().any(|e| minding.has(scene.transition(i, *e)));
            let comes = |loc: Loc| minding.meets(&self.0[i][loc.index()]);
            let coming = without.keeps(Condition::Coming);
            locs.ids().map(|loc| here(loc) || coming && comes(loc)).collect()
        };
        let minds: Vec<Vec<bool>> = scene.live().iter().enumerate().map(at).collect();
        debug_assert!(
            scene.live().iter().zip(&minds).all(|(actor, minds)| {
                let mut edges = system.proctypes[actor.proctype].edges.iter();
                edges.all(|e| minds[e.from.index()] || !minds[e.to.index()] || !without.keeps(Condition::Coming))
            }),
            "who may come to where it minds does so on the way"
        );
        minds
    }

    /// What those do that a transition makes.
    fn of_made<'r>(&'r self, runs: &'r BTreeSet<ProctypeId>, scene: &'r Scene) -> impl Iterator<Item = &'r Set> {
        let made = |(i, a): (usize, &Actor)| (i >= scene.n_live && runs.contains(&a.proctype)).then_some(&self.0[i][0]);
        scene.actors.iter().enumerate().filter_map(made)
    }
}

/// What leads to one that leads to another one leads to that, in small casts.
fn is_transitive(leads: &[Set]) -> bool {
    let all = || 0..leads.len().min(256);
    all().all(|t| all().all(|c| !leads[t].has(c as u32) || leads[c].is_within(&leads[t])))
}

/// Whoever is not there yet may do anything that its proctype can, and so may those it makes.
fn of_unborn(scene: &Scene) -> BTreeMap<ProctypeId, Set> {
    let unborn = || scene.actors.iter().enumerate().skip(scene.n_live).map(|(i, actor)| (i, actor.proctype));
    let mut out: BTreeMap<ProctypeId, Set> = BTreeMap::new();
    for (i, t) in unborn() {
        let mut all = Set::new(scene.touches.len());
        scene.transitions(i).for_each(|t| all.put(t));
        assert!(out.insert(t, all).is_none(), "one of each proctype that is not there yet");
    }
    loop {
        let mut grew = false;
        for (i, t) in unborn() {
            let runs: BTreeSet<ProctypeId> =
                scene.transitions(i).flat_map(|t| scene.touches[t as usize].runs.iter().copied()).collect();
            let mut mine = out[&t].clone();
            runs.iter().for_each(|r| mine.add(&out[r]));
            grew |= mine != out[&t];
            out.insert(t, mine);
        }
        if !grew {
            let mine = |(i, t): (usize, ProctypeId)| scene.transitions(i).all(|c| out[&t].has(c));
            debug_assert!(unborn().all(mine), "A4: whatever its proctype can");
            return out;
        }
    }
}

/// By location of a process that lives.
fn of_live(system: &System, scene: &Scene, i: usize, unborn: &BTreeMap<ProctypeId, Set>) -> Vec<Set> {
    let t = &system.proctypes[scene.actors[i].proctype];
    let mut sets = vec![Set::new(scene.touches.len()); t.locs.len()];
    loop {
        let mut grew = false;
        for loc in t.locs.ids() {
            let mut here = sets[loc.index()].clone();
            for e in &t.locs[loc].edges {
                let c = scene.transition(i, *e);
                here.put(c);
                here.add(&sets[t.edges[*e].to.index()]);
                scene.touches[c as usize].runs.iter().for_each(|r| here.add(&unborn[r]));
            }
            grew |= here != sets[loc.index()];
            sets[loc.index()] = here;
        }
        if !grew {
            break;
        }
    }
    debug_assert!(
        t.edges.iter().all(|e| sets[e.to.index()].is_within(&sets[e.from.index()])),
        "what may be taken from where an edge leads may be taken from where it begins"
    );
    sets
}
