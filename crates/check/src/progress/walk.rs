//! What the depth-first searches have in common: one thread's hand, the moves of a state, and the run that was found.
//!
//! # Lossy stores
//!   They say of a key whether it is new and give it 64 bits of hash for a name, but nothing can be loaded. So the keys that a
//!   search still needs are kept here: of states that wait or are on the path, until it lets go of them, and of those where
//!   progress is made, for good, for the run that is shown is put together from them. A state taken for another is missed;
//!   what closes a cycle is on the path, which is real.

use super::{At, Found, Ground, Out, Which};
use crate::cycles::{Pulse, Request};
use crate::observer::Observer;
use crate::reduce::commute::{Name, Sleep};
use crate::search::Halt;
use spinor_store::{Account, Full, StateId, Visited};
use std::collections::HashMap;
use std::collections::hash_map;

/// Progress to be followed, or followed already.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    /// A progress state, or a state whose steps make progress.
    pub id: StateId,
    /// Whose search laid it here, and at which state that began.
    pub parent: u32,
    pub from: StateId,
}

pub(crate) struct Walk<'a, G: Ground, V: Visited + 'a> {
    pub ground: &'a G,
    pub store: &'a V,
    pub pulse: Pulse<'a>,
    /// The only one at work: nobody waits for it to rest.
    hand: V::Hand<'a>,
    desk: G::Desk,
    key: Vec<u8>,
    pub out: Out,
    /// The states after the moves asked for last, and whether they are new.
    pub after: Vec<(StateId, bool)>,
    kept: Kept,
}

/// The keys that a lossy store does not have.
struct Kept {
    /// With each, whether it stays.
    keys: HashMap<StateId, (Box<[u8]>, bool)>,
    /// Whether states that are not new are kept as well.
    all: bool,
    account: Account,
}

/// What an entry costs beside the key.
const ENTRY: u64 = 64;

impl Kept {
    fn put(&mut self, id: StateId, key: &[u8]) -> Result<(), Full> {
        if let hash_map::Entry::Vacant(place) = self.keys.entry(id) {
            self.account.charge(ENTRY + key.len() as u64)?;
            place.insert((key.into(), false));
        }
        Ok(())
    }
}

/// Of a lossy store; one bit less, so that it is a name of no special meaning.
fn name(StateId(hash): StateId) -> StateId {
    StateId(hash >> 1)
}

impl<'a, G: Ground, V: Visited> Walk<'a, G, V> {
    pub fn new(ground: &'a G, store: &'a V, request: &Request, observer: &'a mut dyn Observer) -> Self {
        Walk {
            ground,
            store,
            pulse: Pulse::new(request, observer),
            hand: store.hand(),
            desk: ground.desk(),
            key: Vec::new(),
            out: ground.out(),
            after: Vec::new(),
            kept: Kept { keys: HashMap::new(), all: false, account: request.budget.account() },
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
        let (mut id, _) = put.map_err(|full| self.pulse.full(full))?;
        self.store.rest(&mut self.hand);
        if !V::EXACT {
            id = name(id);
            self.kept.put(id, &key).map_err(|full| self.pulse.full(full))?;
        }
        Ok(Some(id))
    }

    pub fn key(&mut self, id: StateId) -> Vec<u8> {
        let mut key = Vec::new();
        self.load(id, &mut key);
        key
    }

    #[inline]
    fn load(&mut self, id: StateId, key: &mut Vec<u8>) {
        if V::EXACT {
            self.store.load(&mut self.hand, id, key);
        } else {
            key.clear();
            key.extend_from_slice(&self.kept.keys[&id].0);
        }
    }

    /// The state will be asked for again, at any time.
    pub fn keep(&mut self, id: StateId) {
        if !V::EXACT {
            self.kept.keys.get_mut(&id).expect("it waits, or is on the path").1 = true;
        }
    }

    /// The state neither waits nor is on the path any more.
    #[inline]
    pub fn let_go(&mut self, id: StateId) {
        if !V::EXACT
            && let hash_map::Entry::Occupied(place) = self.kept.keys.entry(id)
            && !place.get().1
        {
            let (key, _) = place.remove();
            self.kept.account.release(ENTRY + key.len() as u64);
        }
    }

    /// A state will be brought soon.
    pub fn soon(&mut self, id: StateId) {
        if V::EXACT {
            self.store.soon(&mut self.hand, id);
        }
    }

    /// Brings a state. Whether it is a progress state.
    pub fn bring(&mut self, id: StateId) -> bool {
        let mut key = std::mem::take(&mut self.key);
        self.load(id, &mut key);
        self.key = key;
        let progress = self.ground.bring(&mut self.desk, &self.key);
        debug_assert!(!progress || !self.ground.by_steps(), "where steps make progress no state does");
        progress
    }

    /// The moves of the state that was brought last, into `out` and `after`.
    pub fn moves(&mut self, which: Which) -> Result<(), Halt> {
        self.out.clear();
        self.ground.moves(&mut self.desk, which, &mut self.out);
        let n_told = if which == Which::All { self.out.keys.len() } else { 0 };
        debug_assert_eq!(self.out.made.len(), n_told, "who wants all is told of each, and nobody else of any");
        debug_assert!(!self.out.more || self.ground.by_steps(), "where states make progress no step does");
        debug_assert!(which != Which::Progress || self.out.more != self.out.keys.is_empty(), "there are more, or none");
        self.put_all()
    }

    /// The same of those without progress that are awake (`Ground::awake`).
    pub fn awake(&mut self, by: Name, sleep: &mut Sleep) -> Result<(), Halt> {
        self.out.clear();
        self.ground.awake(&mut self.desk, by, sleep, &mut self.out);
        self.put_all()
    }

    fn put_all(&mut self) -> Result<(), Halt> {
        let Out { batch, keys, .. } = &self.out;
        let put = (|| {
            self.store.offer(&mut self.hand, &batch.keys, keys)?;
            self.store.settle(&mut self.hand, &batch.keys, keys, &mut self.after)?;
            debug_assert_eq!(self.after.len(), keys.len(), "a state after each move");
            if !V::EXACT {
                for ((id, new), range) in self.after.iter_mut().zip(keys) {
                    *id = name(*id);
                    if *new || self.kept.all {
                        self.kept.put(*id, &batch.keys[range.clone()])?;
                    }
                }
            }
            Ok(())
        })();
        put.map_err(|full| self.pulse.full(full))
    }

    /// The keys after all moves without progress of the state that was brought last. For checks.
    pub fn all_moves(&mut self) -> Vec<Vec<u8>> {
        self.out.clear();
        self.ground.moves(&mut self.desk, Which::Still, &mut self.out);
        (0..self.out.keys.len()).map(|n| self.out.key(n).to_vec()).collect()
    }

    /// The name of a key that is in the store; it is put there if it is not. For checks.
    pub fn known(&mut self, key: &[u8]) -> Option<StateId> {
        let put = self.store.put(&mut self.hand, key);
        put.ok().filter(|(_, new)| !new).map(|(id, _)| id)
    }

    /// Once for each state that gets a frame.
    pub fn count(&mut self, depth: usize) -> Result<(), Halt> {
        self.pulse.counters.transitions += self.after.len() as u64 + self.out.n_asleep;
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
                if let hash_map::Entry::Vacant(place) = parents.entry(after) {
                    place.insert(id);
                    queue.push(after);
                }
            }
            self.pulse.again()?;
        }
        assert!(parents.contains_key(&to), "no progress is made between two entries");
        let mut way = vec![to];
        while way[way.len() - 1] != from {
            way.push(parents[&way[way.len() - 1]]);
        }
        way.reverse();
        debug_assert!(way.len() <= parents.len(), "a shortest way comes to each state once");
        Ok(way)
    }

    /// The whole run to a cycle that a search met on its path, from the given place on; it began with an entry.
    /// [FaragoSchmitt] 2.2: the entries are a tree, and between two of them no progress is made.
    pub fn run(&mut self, entries: &[Entry], entry: u32, path: &[StateId], at: usize) -> Result<Found, Halt> {
        self.kept.all = true;
        let by_steps = self.ground.by_steps();
        let mut chain = vec![entry];
        while let Some(&last) = chain.last().filter(|last| **last > 0) {
            let Entry { parent, .. } = entries[last as usize];
            assert!(parent < last, "an entry is laid by the search of an earlier one");
            chain.push(parent);
        }
        chain.reverse();
        debug_assert_eq!(chain.first(), Some(&0), "the tree of entries has one root");
        let mut ids: Vec<(StateId, bool)> = Vec::new();
        for (nth, n) in chain[1..].iter().enumerate() {
            let Entry { id, from, .. } = entries[*n as usize];
            let way = self.way(from, id)?;
            debug_assert!(way.first() == Some(&from) && way.last() == Some(&id), "both ends are included");
            // A progress state ends one way and begins the next; by steps, the next begins at the state after the step.
            let n_new = if by_steps { way.len() } else { way.len() - 1 };
            let after_step = |at: usize| by_steps && at == 0 && nth > 0;
            ids.extend(way[..n_new].iter().enumerate().map(|(at, id)| (*id, after_step(at))));
        }
        let level = chain.len() as u64 - 1;
        ids.extend(path.iter().enumerate().map(|(nth, id)| (*id, by_steps && nth == 0 && level > 0)));
        assert!(at < path.len(), "a cycle has moves");
        let n_stem = ids.len() - (path.len() - at);
        let n_made = (1..=n_stem).filter(|n| ids[*n].1 || self.bring(ids[*n].0)).count() as u64;
        assert_eq!(n_made, level, "between the entries no progress is made, and at each of them some is");
        assert!(!ids[n_stem..].iter().any(|(id, _)| self.bring(*id)), "the cycle makes no progress");
        let all: Vec<At> = ids.into_iter().map(|(id, made)| At { key: self.key(id), made }).collect();
        let (stem, cycle) = all.split_at(n_stem);
        debug_assert!(cycle.iter().skip(1).all(|at| !at.made), "the cycle makes no progress");
        Ok(Found { stem: stem.to_vec(), cycle: cycle.to_vec(), level })
    }
}
