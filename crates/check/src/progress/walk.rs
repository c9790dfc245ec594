//! What the depth-first searches have in common: one thread's hand, and the moves of a state.

use super::{Ground, Out, Which};
use crate::cycles::{Pulse, Request};
use crate::observer::Observer;
use crate::search::Halt;
use spinor_store::{StateId, Visited};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

pub(crate) struct Walk<'a, G: Ground, V: Visited + 'a> {
    pub ground: &'a G,
    pub store: &'a V,
    pub pulse: Pulse<'a>,
    hand: V::Hand<'a>,
    desk: G::Desk,
    key: Vec<u8>,
    pub out: Out,
    /// The states after the moves asked for last, and whether they are new.
    pub after: Vec<(StateId, bool)>,
}

impl<'a, G: Ground, V: Visited> Walk<'a, G, V> {
    pub fn new(ground: &'a G, store: &'a V, request: &Request, observer: &'a mut dyn Observer) -> Self {
        assert!(V::EXACT, "a state is expanded from its name");
        Walk {
            ground,
            store,
            pulse: Pulse::new(request, observer),
            hand: store.hand(),
            desk: ground.desk(),
            key: Vec::new(),
            out: ground.out(),
            after: Vec::new(),
        }
    }

    /// The state where runs begin.
    pub fn initial(&mut self) -> Result<Option<StateId>, Halt> {
        let mut key = Vec::new();
        if !self.ground.initial(&mut self.desk, &mut key) {
            return Ok(None);
        }
        self.pulse.counters.transitions += 1;
        let put = self.store.put(&mut self.hand, &key);
        let (id, _) = put.map_err(|full| self.pulse.full(full))?;
        self.store.rest(&mut self.hand);
        Ok(Some(id))
    }

    pub fn key(&mut self, id: StateId) -> Vec<u8> {
        let mut key = Vec::new();
        self.store.load(&mut self.hand, id, &mut key);
        key
    }

    /// A state will be brought soon.
    pub fn soon(&mut self, id: StateId) {
        self.store.soon(&mut self.hand, id);
    }

    /// Brings a state. Whether it is a progress state.
    pub fn bring(&mut self, id: StateId) -> bool {
        self.store.load(&mut self.hand, id, &mut self.key);
        self.ground.bring(&mut self.desk, &self.key)
    }

    /// The moves of the state that was brought last, into `out` and `after`.
    pub fn moves(&mut self, which: Which) -> Result<(), Halt> {
        self.out.clear();
        self.ground.moves(&mut self.desk, which, &mut self.out);
        let Out { batch, keys, .. } = &self.out;
        let put = (|| {
            self.store.offer(&mut self.hand, &batch.keys, keys)?;
            self.store.settle(&mut self.hand, &batch.keys, keys, &mut self.after)
        })();
        put.map_err(|full| self.pulse.full(full))?;
        self.store.rest(&mut self.hand);
        Ok(())
    }

    /// Once for each state that gets a frame.
    pub fn count(&mut self, depth: usize) -> Result<(), Halt> {
        self.pulse.counters.transitions += self.after.len() as u64;
        self.pulse.counters.depth = self.pulse.counters.depth.max(depth as u64);
        self.pulse.again()
    }

    /// A shortest way by moves without progress, both ends included; past the first one no progress state is left.
    pub fn way(&mut self, from: StateId, to: StateId) -> Result<Vec<StateId>, Halt> {
        let mut parents: HashMap<StateId, StateId> = HashMap::from([(from, from)]);
        let mut queue = vec![from];
        let mut next = 0;
        while next < queue.len() && !parents.contains_key(&to) {
            let id = queue[next];
            next += 1;
            if self.bring(id) && id != from {
                continue;
            }
            self.moves(Which::Still)?;
            for (after, _) in std::mem::take(&mut self.after) {
                if let Entry::Vacant(place) = parents.entry(after) {
                    place.insert(id);
                    queue.push(after);
                }
            }
            self.pulse.again()?;
        }
        let mut way = vec![to];
        while way[way.len() - 1] != from {
            way.push(parents[&way[way.len() - 1]]);
        }
        way.reverse();
        Ok(way)
    }
}
