//! What a reduction is worth, tried on some states.
//!
//! Short searches by levels, as `search/bfs.rs` does it, with nothing but a set of keys: from the initial state, and from
//! where random walks have led, because a model may begin unlike it goes on. Of two reductions the one is better that
//! knows fewer states when both have come equally deep. Nothing but time and memory depends on what comes of it.

use super::{Proviso, Reduced};
use spinor_model::successors::{Batch, Outcome, Successors};
use std::collections::HashMap;

/// States looked at from each place, and where the places are: so many steps away.
const MOST: usize = 1000;
const WALKS: [usize; 3] = [8, 40, 120];
/// Less of a difference, over all places, is none: levels look better where nothing is known yet than later on.
const LITTLE: f64 = 1.4;

/// How far one reduction came from each place.
#[derive(Clone, Debug)]
pub struct Reach {
    from: Vec<Levels>,
}

#[derive(Clone, Debug)]
struct Levels {
    /// How many states are known when a level is complete.
    known: Vec<usize>,
    /// There are no more.
    through: bool,
}

impl Reach {
    /// There are no more states than were looked at.
    pub fn through(&self) -> bool {
        self.from.first().is_none_or(|levels| levels.through)
    }

    /// Is it better than the other? If one has seen all states that is known, else it is guessed.
    pub fn beats(&self, other: &Reach) -> bool {
        let n = |reach: &Reach| reach.from.first().and_then(|levels| levels.known.last().copied()).unwrap_or(0);
        match (self.through(), other.through()) {
            (true, true) => n(self) < n(other),
            (true, false) => true,
            (false, true) => false,
            (false, false) => self.from.iter().zip(&other.from).map(|(a, b)| a.more_than(b)).sum::<f64>() < -LITTLE,
        }
    }
}

impl Levels {
    /// How many more states it has at the same depth: the logarithm of the ratio.
    fn more_than(&self, other: &Levels) -> f64 {
        let level = self.known.len().min(other.known.len()) - 1;
        (self.known[level] as f64 / other.known[level] as f64).ln()
    }
}

pub(super) fn reach<S: Successors + Send>(system: &Reduced<S>, starts: &[Vec<u8>]) -> Reach {
    let mut from = Vec::new();
    for start in starts {
        let levels = levels(system, start);
        let through = from.is_empty() && levels.through;
        from.push(levels);
        if through {
            break;
        }
    }
    Reach { from }
}

/// Where to look from: the initial state and the ends of walks.
pub(super) fn starts<S: Successors + Send>(system: &Reduced<S>) -> Vec<Vec<u8>> {
    let Ok(initial) = system.initial() else { return Vec::new() };
    let mut batch = system.batch();
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    let mut key = Vec::new();
    system.pack(&initial, &mut key);
    let mut state = initial;
    let mut out = vec![key.clone()];
    for length in WALKS {
        system.unpack_into(&out[0], &mut state);
        key.clone_from(&out[0]);
        for _ in 0..length {
            batch.clear();
            system.expand(&mut state, &mut batch);
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let there: Vec<&Outcome> = batch.outcomes.iter().filter(|o| o.key().is_some()).collect();
            let Some(next) = there.get((random % there.len().max(1) as u64) as usize) else { break };
            key.clear();
            key.extend_from_slice(batch.key(next).unwrap_or(&[]));
            system.unpack_into(&key, &mut state);
        }
        out.push(key.clone());
    }
    out
}

fn levels<S: Successors + Send>(system: &Reduced<S>, start: &[u8]) -> Levels {
    let (mut state, mut batch) = (system.unpack(start), system.batch());
    let by_levels = system.proviso() == Proviso::Levels;
    let mut met = Met { levels: HashMap::from([(print(start), 0)]), next: Vec::new() };
    let (mut level, mut known) = (vec![start.to_vec()], vec![1]);
    while !level.is_empty() && met.levels.len() < MOST {
        let depth = known.len() as u32;
        for key in &level {
            system.unpack_into(key, &mut state);
            batch.clear();
            system.expand(&mut state, &mut batch);
            let owed = by_levels && system.leaves_out(&state);
            if !met.take(&batch, depth) && owed {
                batch.clear();
                system.expand_rest(&mut state, &mut batch);
                met.take(&batch, depth);
            }
        }
        std::mem::swap(&mut level, &mut met.next);
        met.next.clear();
        known.push(met.levels.len());
    }
    Levels { known, through: level.is_empty() }
}

/// The states known so far, by a number each, with their levels.
struct Met {
    levels: HashMap<u64, u32>,
    next: Vec<Vec<u8>>,
}

impl Met {
    /// Does some successor lie in the next level?
    fn take(&mut self, batch: &Batch, depth: u32) -> bool {
        let mut later = false;
        for key in batch.outcomes.iter().filter_map(|o| batch.key(o)) {
            let next = &mut self.next;
            let level = *self.levels.entry(print(key)).or_insert_with(|| {
                next.push(key.to_vec());
                depth
            });
            later |= level == depth;
        }
        later
    }
}

/// A number for a key. Two keys with the same one would count once: nothing but time depends on it.
fn print(key: &[u8]) -> u64 {
    let mix = |sum: u64, word: u64| (sum.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let words = key.chunks(8).map(|c| c.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)));
    words.fold(key.len() as u64, mix)
}
