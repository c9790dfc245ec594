//! The way to a state, looked for backwards through the levels.
//!
//! # The argument
//!   A state of level n + 1 is a successor of some state of level n, because that is how it was found. So the states of
//!   level n are expanded again until one has the wanted successor, and that one is wanted next, down to
//!   level 0. Several violations are looked for together. Where the order of a level is known (`levels`, I2)
//!   the first parent is taken, otherwise the one of least key: the path is a matter of the model alone.
//!
//! # Invariants
//!   I1 what is wanted lies in the level after the one that is expanded, so it has a parent there
//!
//! # Cost  every level above the violation expanded once more, and nothing kept per state while searching.

use super::bfs::Sighting;
use super::levels::{Levels, Units};
use super::{Found, team};
use spinor_model::successors::{Batch, Step, Successors};
use spinor_store::{StateId, Visited};
use std::collections::HashMap;
use std::sync::Mutex;

/// A state of a level, and its step to a wanted one.
struct Parent {
    key: Vec<u8>,
    step: Step,
    path: u32,
}

pub(super) fn find<S: Successors, V: Visited>(
    system: &S,
    store: &V,
    root: &[u8],
    levels: &Levels,
    mut seen: Vec<Sighting>,
    jobs: usize,
) -> Vec<Found> {
    // Backwards: the last step first.
    let mut steps: Vec<Vec<(Step, u32)>> = seen.iter().map(|s| s.last.into_iter().collect()).collect();
    let deepest = seen.iter().map(|s| s.level).max().unwrap_or(0);
    let lengths: Vec<usize> = seen.iter().map(|s| s.level + usize::from(s.last.is_some())).collect();
    let sit = || Seat { hand: store.hand(), batch: system.batch(), state: system.unpack(root) };
    let part = |me: usize, seat: &mut Seat<'_, S, V>, hunt: &Hunt| hunt.go(system, store, me, seat);
    team::gather(jobs, sit, part, |team| {
        let mut reader = levels.reader();
        let (mut ids, mut seat) = (Vec::new(), sit());
        for level in (0..deepest).rev() {
            let wanted = Wanted::new(seen.iter().filter(|s| s.level == level + 1).map(|s| &s.key[..]));
            reader.read(level, &mut ids);
            let n_threads = levels.n_threads(level, jobs);
            let units = levels.units(level, ids, n_threads);
            let best = Mutex::new(wanted.keys.iter().map(|_| None).collect());
            let mut hunt = Hunt { units, wanted, first: levels.is_ordered(level), best };
            if n_threads == 1 {
                hunt.go(system, store, 0, &mut seat);
            } else {
                hunt = team.share(n_threads, hunt, |hunt| hunt.go(system, store, 0, &mut seat));
            }
            let Hunt { units, wanted, best, .. } = hunt;
            ids = units.into_ids();
            let parents = best.into_inner().expect(CALM);
            for (sighting, steps) in seen.iter_mut().zip(&mut steps).filter(|(s, _)| s.level == level + 1) {
                let parent = parents[wanted.number(&sighting.key).expect("it is wanted")].as_ref().expect("I1");
                debug_assert_ne!(parent.key, sighting.key, "I1: a state lies in one level");
                steps.push((parent.step, parent.path));
                sighting.key.clone_from(&parent.key);
                sighting.level = level;
            }
        }
    });
    let found = seen.into_iter().zip(steps).zip(lengths).map(|((sighting, mut steps), length)| {
        assert_eq!((sighting.level, &sighting.key[..]), (0, root), "I1: level 0 is the initial state");
        assert_eq!(steps.len(), length, "a step for each level");
        steps.reverse();
        Found { kind: sighting.kind, steps, fault: sighting.fault }
    });
    found.collect()
}

/// Keys, numbered from 0.
struct Wanted {
    keys: Vec<Vec<u8>>,
    /// Where there are many.
    numbers: HashMap<Vec<u8>, usize>,
}

/// So few are found by looking at each.
const FEW: usize = 8;

impl Wanted {
    fn new<'k>(all: impl Iterator<Item = &'k [u8]>) -> Wanted {
        let mut keys: Vec<Vec<u8>> = all.map(<[u8]>::to_vec).collect();
        keys.sort();
        keys.dedup();
        let many = if keys.len() > FEW { &keys[..] } else { &[] };
        let numbers: HashMap<_, _> = many.iter().enumerate().map(|(n, key)| (key.clone(), n)).collect();
        debug_assert!(numbers.is_empty() || numbers.len() == keys.len(), "each key has its number");
        Wanted { keys, numbers }
    }

    fn number(&self, key: &[u8]) -> Option<usize> {
        if self.numbers.is_empty() { self.keys.iter().position(|k| k == key) } else { self.numbers.get(key).copied() }
    }
}

/// Who leads to the wanted keys.
struct Hunt {
    units: Units,
    wanted: Wanted,
    /// The first parent met is the right one.
    first: bool,
    /// Of each wanted key, of all threads that are through.
    best: Mutex<Vec<Option<Parent>>>,
}

/// What a thread works with.
struct Seat<'s, S: Successors, V: Visited + 's> {
    hand: V::Hand<'s>,
    batch: Batch,
    state: S::State,
}

const CALM: &str = "nothing panics while it is held";

impl Hunt {
    fn go<S: Successors, V: Visited>(&self, system: &S, store: &V, me: usize, seat: &mut Seat<'_, S, V>) {
        let mine = self.parents(system, store, me, seat);
        let mut best = self.best.lock().expect(CALM);
        for (best, mine) in best.iter_mut().zip(mine) {
            if let Some(parent) = mine
                && best.as_ref().is_none_or(|b| parent.key < b.key)
            {
                *best = Some(parent);
            }
        }
    }

    fn parents<S: Successors, V: Visited>(
        &self,
        system: &S,
        store: &V,
        me: usize,
        Seat { hand, batch, state }: &mut Seat<'_, S, V>,
    ) -> Vec<Option<Parent>> {
        let mut best: Vec<Option<Parent>> = self.wanted.keys.iter().map(|_| None).collect();
        let mut n_open = best.len();
        let (mut ids, mut key, mut steps): (Vec<StateId>, Vec<u8>, Vec<Step>) = Default::default();
        while self.units.take(me, &mut ids) {
            for &id in &ids {
                if self.first && n_open == 0 {
                    return best;
                }
                store.load(hand, id, &mut key);
                system.unpack_into(&key, state);
                batch.clear();
                system.expand(state, batch);
                if system.leaves_out(state) {
                    system.expand_rest(state, batch); // some of it may have been taken after all
                }
                for outcome in &batch.outcomes {
                    let Some(n) = batch.key(outcome).and_then(|k| self.wanted.number(k)) else { continue };
                    let better = match &best[n] {
                        Some(old) => !self.first && key < old.key,
                        None => true,
                    };
                    if better {
                        debug_assert!(n_open > 0 || best[n].is_some(), "who has a parent is not open");
                        n_open -= usize::from(best[n].is_none());
                        system.all_enabled(state, &mut steps);
                        let (step, path) = (steps[outcome.step as usize], outcome.path);
                        best[n] = Some(Parent { key: key.clone(), step, path });
                    }
                }
            }
        }
        debug_assert_eq!(n_open, best.iter().filter(|b| b.is_none()).count(), "who has no parent is open");
        best
    }
}
