//! Which transitions have to do with one, found by what each touches.

use super::super::{MOST_TOLD, Set, Told};
use super::scene::Scene;
use crate::reduce::uses::{ActorId, Atom, Filled, Half, Touch, USES, Use};
use crate::reduce::without::{Condition, Without};
use std::collections::{BTreeMap, BTreeSet};

/// Who touches what.
pub(super) struct Index {
    readers: BTreeMap<Atom, Set>,
    writers: BTreeMap<Atom, Set>,
    users: BTreeMap<(u8, Use), Set>,
    wild: Set,
    all: Set,
    youngest: Set,
    /// By process.
    pub own: Vec<Set>,
    owner: Vec<ActorId>,
    without: Without,
}

impl Index {
    pub fn new(scene: &Scene, without: Without) -> Index {
        let Scene { touches, owner, .. } = scene;
        let empty = || Set::new(owner.len());
        let mut index = Index {
            readers: BTreeMap::new(),
            writers: BTreeMap::new(),
            users: BTreeMap::new(),
            wild: empty(),
            all: empty(),
            youngest: empty(),
            own: vec![empty(); owner.last().map_or(0, |o| o + 1)],
            owner: owner.clone(),
            without,
        };
        for (t, touch) in touches.iter().enumerate() {
            let n = t as u32;
            for atom in touch.guards.iter().chain(&touch.reads) {
                index.readers.entry(*atom).or_insert_with(empty).put(n);
            }
            for atom in &touch.writes {
                index.writers.entry(*atom).or_insert_with(empty).put(n);
            }
            for u in &touch.chans {
                index.users.entry(*u).or_insert_with(empty).put(n);
            }
            if touch.wild {
                index.wild.put(n);
            }
            if touch.youngest {
                index.youngest.put(n);
            }
            index.all.put(n);
            index.own[owner[t]].put(n);
        }
        let mutual = |a: Use| USES.into_iter().all(|b| a.disturbs(b, without) == b.disturbs(a, without));
        debug_assert!(USES.into_iter().all(mutual), "to disturb is mutual");
        index
    }

    /// Has a row transitions of those that live, and of nobody else?
    pub fn is_live(&self, row: &Set, n_live: usize) -> bool {
        let mut left = row.clone();
        self.own.iter().take(n_live).for_each(|own| left.remove(own));
        left.take().is_none()
    }

    pub fn disturbed(&self, t: usize, touch: &Touch) -> Set {
        let mut out = Set::new(self.owner.len());
        if touch.wild {
            out.add(&self.all);
        } else {
            let mut with = |set: Option<&Set>| set.iter().for_each(|s| out.add(s));
            for atom in &touch.writes {
                with(self.readers.get(atom));
                with(self.writers.get(atom));
            }
            for atom in touch.guards.iter().chain(&touch.reads) {
                with(self.writers.get(atom));
            }
            for (c, how) in &touch.chans {
                for other in USES.into_iter().filter(|o| how.disturbs(*o, self.without)) {
                    with(self.users.get(&(*c, other)));
                }
            }
            out.add(&self.wild);
            if touch.youngest {
                // Only one process is the youngest.
                out.remove(&self.youngest);
            }
        }
        out.remove(&self.own[self.owner[t]]);
        out
    }

    /// What lets a transition happen that cannot, while channels are filled like this.
    ///   What it waits for in a channel is never spoilt by more of it (`Use`). So what is there now is not what is missing,
    ///   and need not come again: room in a channel that is not full, a message in one that is not empty. And of a channel
    ///   that is empty the first message comes by a send, of another one by a receive that uncovers it.
    pub fn enabling(&self, touch: &Touch, filled: &BTreeMap<u8, Filled>) -> Set {
        let mut out = self.wild.clone();
        if touch.wild {
            return self.all.clone();
        }
        // Which channel it is may change, too.
        let renamed = self.without.keeps(Condition::Renamed) || !filled.values().any(|f| *f == Filled::Empty);
        for atom in touch.guards.iter().chain(&touch.answers).filter(|_| renamed) {
            if let Some(set) = self.writers.get(atom) {
                out.add(set);
            }
        }
        for (c, waiting) in &touch.waits {
            let filled = filled.get(c).copied();
            for how in USES.into_iter().filter(|u| u.enables(*waiting, filled, self.without)) {
                if let Some(set) = self.users.get(&(*c, how)) {
                    out.add(set);
                }
            }
        }
        out
    }

    pub fn meeting(&self, t: usize, touch: &Touch, touches: &[Touch]) -> Set {
        let mut out = Set::new(self.owner.len());
        for (u, other) in touches.iter().enumerate().filter(|(u, _)| self.owner[*u] != self.owner[t]) {
            let meets = |a: &Option<Half>, b: &Option<Half>| {
                let both = a.as_ref().zip(b.as_ref());
                debug_assert!(both.is_none_or(|(a, b)| a.meets(b) == b.meets(a)), "to meet is mutual");
                both.is_some_and(|(a, b)| a.meets(b))
            };
            if meets(&touch.sends, &other.takes) || meets(&touch.takes, &other.sends) {
                out.put(u as u32);
            }
        }
        out
    }
}

/// The channels a transition waits for, as far as it matters how they are filled.
pub(super) fn told(touch: &Touch, lengths: &[Told]) -> Vec<(u8, Told)> {
    let chans: BTreeSet<u8> = touch.waits.iter().filter(|(_, how)| how.depends()).map(|(chan, _)| *chan).collect();
    let told = |chan: &u8| Some((*chan, *lengths.get(usize::from(*chan).checked_sub(1)?)?));
    let known = |(_, told): &(u8, Told)| told.len.bytes > 0 && told.capacity > 0;
    if touch.wild { Vec::new() } else { chans.iter().filter_map(told).filter(known).take(MOST_TOLD).collect() }
}

/// All of them, as they are numbered by [`Told::filled`], the first channel before the second.
pub(super) fn ways_to_fill(told: &[(u8, Told)]) -> Vec<BTreeMap<u8, Filled>> {
    let mut out = vec![BTreeMap::new()];
    for (chan, _) in told {
        let with = |way: &BTreeMap<u8, Filled>, filled| {
            let mut way = way.clone();
            way.insert(*chan, filled);
            way
        };
        out = out.iter().flat_map(|way| Filled::ALL.map(|filled| with(way, filled))).collect();
    }
    debug_assert!(out.iter().all(|way| way.len() == told.len()), "of each channel it is said how it is filled");
    debug_assert!(
        out.iter().enumerate().all(|(n, way)| told.iter().fold(0, |n, (chan, _)| 3 * n + way[chan] as usize) == n),
        "ways are numbered as `Cast::enables` does"
    );
    out
}
