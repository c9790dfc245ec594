//! What a reduction is worth, tried on the first states.
//!
//! A short search by levels, as `search/bfs.rs` does it, with nothing but a set of keys. Of two reductions that have seen
//! as many states the one that has come deeper leaves out more; one that is through is better than one that is not.
//! Nothing but time and memory depends on what comes of it.

use super::{Proviso, Reduced};
use spinor_model::successors::{Batch, Successors};
use std::cmp::Reverse;
use std::collections::HashSet;

/// States looked at.
const MOST: usize = 1000;

/// The larger, the better.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Reach {
    /// There are no more states.
    pub through: bool,
    fewer: Reverse<usize>,
    depth: usize,
}

pub(super) fn reach<S: Successors + Send>(system: &Reduced<S>) -> Reach {
    let Ok(initial) = system.initial() else { return Reach { through: true, fewer: Reverse(0), depth: 0 } };
    let mut key = Vec::new();
    system.pack(&initial, &mut key);
    let mut known: HashSet<Vec<u8>> = HashSet::from([key.clone()]);
    let (mut state, mut batch, mut level, mut depth) = (initial, system.batch(), vec![key], 0);
    while !level.is_empty() && known.len() < MOST {
        let mut next: HashSet<Vec<u8>> = HashSet::new();
        for key in &level {
            system.unpack_into(key, &mut state);
            batch.clear();
            system.expand(&mut state, &mut batch);
            let owed = system.proviso() == Proviso::Levels && system.leaves_out(&state);
            let later = take(&batch, &mut known, &mut next);
            if owed && !later {
                batch.clear();
                system.expand_rest(&mut state, &mut batch);
                take(&batch, &mut known, &mut next);
            }
        }
        level = next.into_iter().collect();
        level.sort_unstable();
        depth += usize::from(!level.is_empty());
    }
    let through = level.is_empty();
    // States beyond the last whole level tell how wide it is, not how good the reduction.
    Reach { through, fewer: Reverse(if through { known.len() } else { 0 }), depth }
}

/// Does some successor lie in the next level?
fn take(batch: &Batch, known: &mut HashSet<Vec<u8>>, next: &mut HashSet<Vec<u8>>) -> bool {
    let mut later = false;
    for key in batch.outcomes.iter().filter_map(|o| batch.key(o)) {
        if known.insert(key.to_vec()) {
            next.insert(key.to_vec());
        }
        later |= next.contains(key);
    }
    later
}
