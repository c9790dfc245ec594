//! The way to a state, looked for backwards through the levels.
//!
//! # The argument
//!   A state of level n + 1 is a successor of some state of level n, because that is how it was found. So the states of
//!   level n are expanded again until one has the wanted successor, and that one is wanted next, down to
//!   level 0. Several violations are looked for together. Where the order of a level is known (`levels`, I2)
//!   the first parent is taken, otherwise the one of least key: the path is a matter of the model alone.
//!
//! # Cost  every level above the violation expanded once more, and nothing kept per state while searching.

use super::bfs::Sighting;
use super::levels::{Levels, Units};
use super::{Found, thread};
use spinor_model::successors::{Batch, Step, Successors};
use spinor_store::{StateId, Visited};
use std::collections::HashMap;

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
    let mut reader = levels.reader();
    let mut ids = Vec::new();
    let mut seat = None;
    for level in (0..deepest).rev() {
        let wanted = Wanted::new(seen.iter().filter(|s| s.level == level + 1).map(|s| &s.key[..]));
        reader.read(level, &mut ids);
        let alone = jobs == 1 || levels.is_small(level);
        let units = levels.units(level, &ids, if alone { 1 } else { jobs });
        let hunt = Hunt { system, store, units, wanted: &wanted, first: levels.is_ordered(level) };
        let parents = if alone {
            let (hand, batch) = seat.get_or_insert_with(|| (store.hand(), system.batch()));
            hunt.go(0, hand, batch)
        } else {
            seat = None;
            hunt.go_together(jobs)
        };
        for (sighting, steps) in seen.iter_mut().zip(&mut steps).filter(|(s, _)| s.level == level + 1) {
            let parent = parents[wanted.number(&sighting.key).expect("it is wanted")]
                .as_ref()
                .expect("a state of a level has a parent in the last");
            steps.push((parent.step, parent.path));
            sighting.key.clone_from(&parent.key);
            sighting.level = level;
        }
    }
    let found = seen.into_iter().zip(steps).map(|(sighting, mut steps)| {
        assert_eq!((sighting.level, &sighting.key[..]), (0, root), "level 0 is the initial state");
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
        let numbers = many.iter().enumerate().map(|(n, key)| (key.clone(), n)).collect();
        Wanted { keys, numbers }
    }

    fn number(&self, key: &[u8]) -> Option<usize> {
        if self.numbers.is_empty() { self.keys.iter().position(|k| k == key) } else { self.numbers.get(key).copied() }
    }
}

/// Who leads to the wanted keys.
struct Hunt<'a, 's, S, V> {
    system: &'a S,
    store: &'s V,
    units: Units<'a>,
    wanted: &'a Wanted,
    /// The first parent met is the right one.
    first: bool,
}

impl<'s, S: Successors, V: Visited> Hunt<'_, 's, S, V> {
    fn go_together(&self, jobs: usize) -> Vec<Option<Parent>> {
        let parts: Vec<Vec<Option<Parent>>> = std::thread::scope(|scope| {
            let work = |me: usize| self.go(me, &mut self.store.hand(), &mut self.system.batch());
            let start = |me: usize| thread().spawn_scoped(scope, move || work(me)).ok();
            let threads: Vec<_> = (1..jobs).filter_map(start).collect();
            let mine = work(0);
            let theirs = threads.into_iter().map(|t| t.join().expect("a thread that looks for parents"));
            theirs.chain([mine]).collect()
        });
        let mut best: Vec<Option<Parent>> = self.none();
        for (n, parent) in parts.into_iter().flat_map(|part| part.into_iter().enumerate()) {
            if let Some(parent) = parent
                && best[n].as_ref().is_none_or(|b| parent.key < b.key)
            {
                best[n] = Some(parent);
            }
        }
        best
    }

    fn none(&self) -> Vec<Option<Parent>> {
        self.wanted.keys.iter().map(|_| None).collect()
    }

    fn go(&self, me: usize, hand: &mut V::Hand<'s>, batch: &mut Batch) -> Vec<Option<Parent>> {
        let mut best = self.none();
        let mut n_open = best.len();
        let (mut ids, mut key, mut steps): (Vec<StateId>, Vec<u8>, Vec<Step>) = Default::default();
        let mut state = None;
        while self.units.take(me, &mut ids) {
            for &id in &ids {
                if self.first && n_open == 0 {
                    return best;
                }
                self.store.load(hand, id, &mut key);
                let state = match &mut state {
                    Some(state) => {
                        self.system.unpack_into(&key, state);
                        state
                    }
                    none => none.insert(self.system.unpack(&key)),
                };
                batch.clear();
                self.system.expand(state, batch);
                for outcome in &batch.outcomes {
                    let Some(n) = batch.key(outcome).and_then(|k| self.wanted.number(k)) else { continue };
                    let better = match &best[n] {
                        Some(old) => !self.first && key < old.key,
                        None => true,
                    };
                    if better {
                        n_open -= usize::from(best[n].is_none());
                        self.system.enabled(state, &mut steps);
                        let (step, path) = (steps[outcome.step as usize], outcome.path);
                        best[n] = Some(Parent { key: key.clone(), step, path });
                    }
                }
            }
            self.store.rest(hand);
        }
        best
    }
}
