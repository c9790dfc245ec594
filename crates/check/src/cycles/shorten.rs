//! A shorter run of the same kind.
//!
//! # The argument
//!   Breadth-first from the start, the nearest state of the cycle that was found is met by a shortest way: from there the
//!   same cycle goes round, so the run is accepted and fair as it was. If the matter is ended instead, the nearest move
//!   that does so is looked for, and taken also where a cycle was found, if it is near enough.
//!   Then the cycle: breadth-first from its first state through pairs of a state and the marks met on the way, the
//!   first way back with all marks is the shortest cycle through that state. With fairness a shorter cycle may be
//!   less fair; it is taken if it is fair, too.
//!   Last, if there are few states altogether, all of them are tried as the first of a cycle, those near the start first:
//!   so in a small product the run is a shortest one (with fairness: of those whose cycle is shortest for its first
//!   state).
//!   The effort is bounded; what is not found within it stays as it was.

use super::lasso::replay;
use super::{Fairness, Lasso, Moves, Runs, Summary, all_marks};
use std::collections::{HashMap, HashSet};

/// States that are looked at for each of the two, and at least so many.
const MOST: usize = 100_000;
const LEAST: usize = 20_000;
/// So many times those that were visited until the run was found: what was found quickly is shown quickly.
const TIMES: u64 = 2;
/// A product with at most so many states is searched as a whole, by looking at so many moves.
const FEW: usize = 2_000;
const MOST_MOVES: usize = 1_000_000;

/// `visited` states were, until it was found.
pub fn shorten<R: Runs>(runs: &R, lasso: &Lasso, fairness: Fairness, visited: u64) -> Lasso {
    debug_assert_eq!(replay(runs, lasso, fairness), Ok(()), "what is shortened is a run");
    let short = shortened(runs, lasso, fairness, visited);
    debug_assert_eq!(replay(runs, &short, fairness), Ok(()), "what is shortened stays a run, and of the same kind");
    let length = |lasso: &Lasso| lasso.stem.len() + lasso.cycle.len();
    assert!(length(&short) <= length(lasso), "what is shortened is no longer than it was");
    short
}

fn shortened<R: Runs>(runs: &R, lasso: &Lasso, fairness: Fairness, visited: u64) -> Lasso {
    let most = usize::try_from(TIMES * visited).unwrap_or(MOST).clamp(LEAST, MOST);
    let mut walker = Walker { runs, desk: runs.desk(), moves: Moves::default(), most };
    if lasso.cycle.is_empty() {
        return walker.nearest_end(lasso.stem.len()).unwrap_or_else(|| lasso.clone());
    }
    let mut best = walker.nearest_entry(lasso).unwrap_or_else(|| lasso.clone());
    if best.cycle.is_empty() {
        return best;
    }
    if let Some(cycle) = walker.shorter_cycle(&best, fairness) {
        best.cycle = cycle;
    }
    walker.shortest(&best, fairness).unwrap_or(best)
}

struct Walker<'a, R: Runs> {
    runs: &'a R,
    desk: R::Desk,
    moves: Moves,
    /// States that may be looked at.
    most: usize,
}

/// States in the order they were met, each with the one before it and the move from there.
#[derive(Default)]
struct Tree {
    keys: Vec<Vec<u8>>,
    from: Vec<Option<(usize, u32)>>,
    known: HashMap<Vec<u8>, usize>,
}

impl Tree {
    /// Says whether it is new.
    fn put(&mut self, key: &[u8], from: Option<(usize, u32)>) -> bool {
        if self.known.contains_key(key) {
            return false;
        }
        debug_assert!(from.is_none_or(|(before, _)| before < self.keys.len()), "it is met from an earlier one");
        self.known.insert(key.to_vec(), self.keys.len());
        self.keys.push(key.to_vec());
        self.from.push(from);
        debug_assert_eq!(
            (self.known.len(), self.from.len()),
            (self.keys.len(), self.keys.len()),
            "each state has a place"
        );
        true
    }

    /// The number of the state it begins at, and the moves from there.
    fn path(&self, mut to: usize) -> (usize, Vec<u32>) {
        let mut moves = Vec::new();
        while let Some((before, nth)) = self.from[to] {
            moves.push(nth);
            to = before;
        }
        moves.reverse();
        (to, moves)
    }
}

/// The run to a state of the tree whose move of this number ends the matter.
fn ended(tree: &Tree, initial: &[usize], at: usize, nth: u32) -> Lasso {
    let (start, mut stem) = tree.path(at);
    stem.push(nth);
    Lasso { initial: initial[start], stem, cycle: Vec::new() }
}

impl<R: Runs> Walker<'_, R> {
    fn expand(&mut self, key: &[u8]) {
        self.moves.clear();
        self.runs.moves(&mut self.desk, key, &mut self.moves);
    }

    fn start(&mut self) -> (Tree, Vec<usize>) {
        let mut start = Moves::default();
        self.runs.initial(&mut self.desk, &mut start);
        let mut tree = Tree::default();
        // Which of the initial states is the n-th of the tree.
        let initial = (0..start.all.len()).filter(|n| tree.put(start.key(*n), None)).collect();
        (tree, initial)
    }

    /// The keys on a run: before the cycle, and in it.
    fn keys(&mut self, lasso: &Lasso) -> Vec<Vec<u8>> {
        let mut start = Moves::default();
        self.runs.initial(&mut self.desk, &mut start);
        let mut keys = vec![start.key(lasso.initial).to_vec()];
        for nth in lasso.stem.iter().chain(&lasso.cycle) {
            let at = keys[keys.len() - 1].clone();
            self.expand(&at);
            keys.push(self.moves.key(*nth as usize).to_vec());
        }
        assert!(lasso.cycle.is_empty() || keys.last() == keys.get(lasso.stem.len()), "a cycle closes");
        keys
    }

    fn nearest_end(&mut self, n_moves: usize) -> Option<Lasso> {
        let (mut tree, initial) = self.start();
        let mut at = 0;
        while at < tree.keys.len().min(self.most) {
            let key = tree.keys[at].clone();
            self.expand(&key);
            if let Some(nth) = self.moves.ends {
                let lasso = ended(&tree, &initial, at, nth);
                return (lasso.stem.len() < n_moves).then_some(lasso);
            }
            for n in 0..self.moves.all.len() {
                tree.put(self.moves.key(n), Some((at, n as u32)));
            }
            at += 1;
        }
        None
    }

    fn nearest_entry(&mut self, lasso: &Lasso) -> Option<Lasso> {
        let keys = self.keys(lasso);
        let places: HashMap<&[u8], usize> =
            (lasso.stem.len()..keys.len() - 1).rev().map(|n| (&keys[n][..], n - lasso.stem.len())).collect();
        let (mut tree, initial) = self.start();
        let mut at = 0;
        while at < tree.keys.len().min(self.most) {
            if let Some(turn) = places.get(&tree.keys[at][..]) {
                let (start, stem) = tree.path(at);
                let mut cycle = lasso.cycle.clone();
                cycle.rotate_left(*turn);
                return Some(Lasso { initial: initial[start], stem, cycle });
            }
            let key = tree.keys[at].clone();
            self.expand(&key);
            if let Some(nth) = self.moves.ends {
                return Some(ended(&tree, &initial, at, nth));
            }
            for n in 0..self.moves.all.len() {
                tree.put(self.moves.key(n), Some((at, n as u32)));
            }
            at += 1;
        }
        None
    }

    fn shorter_cycle(&mut self, lasso: &Lasso, fairness: Fairness) -> Option<Vec<u32>> {
        let keys = self.keys(lasso);
        let first = &keys[lasso.stem.len()];
        let all = all_marks(self.runs.n_marks());
        // A key here has the marks met so far behind it.
        let with = |key: &[u8], marks: u64| [key, &marks.to_le_bytes()].concat();
        let mut tree = Tree::default();
        tree.put(&with(first, 0), None);
        let mut at = 0;
        while at < tree.keys.len().min(self.most) {
            let pair = tree.keys[at].clone();
            let (key, marks) = pair.split_at(pair.len() - 8);
            let marks = u64::from_le_bytes(*marks.first_chunk().expect("eight bytes"));
            self.expand(key);
            let moves = self.moves.clone();
            for n in (0..moves.all.len()).filter(|n| moves.ends != Some(*n as u32)) {
                let met = (marks | moves.all[n].marks) & all;
                if met == all && moves.key(n) == &first[..] {
                    let (_, mut cycle) = tree.path(at);
                    cycle.push(n as u32);
                    let shorter = cycle.len() < lasso.cycle.len() && self.is_fair(first, &cycle, fairness);
                    return shorter.then_some(cycle);
                }
                tree.put(&with(moves.key(n), met), Some((at, n as u32)));
            }
            at += 1;
        }
        None
    }

    /// A shorter run than this one, if the whole product is small.
    fn shortest(&mut self, than: &Lasso, fairness: Fairness) -> Option<Lasso> {
        let (mut tree, initial) = self.start();
        let mut moves: Vec<Vec<(usize, u64)>> = Vec::new();
        while moves.len() < tree.keys.len() {
            if tree.keys.len() > FEW {
                return None;
            }
            let at = moves.len();
            let key = tree.keys[at].clone();
            self.expand(&key);
            if let Some(nth) = self.moves.ends {
                let lasso = ended(&tree, &initial, at, nth);
                return (lasso.stem.len() < than.stem.len() + than.cycle.len()).then_some(lasso);
            }
            let to = (0..self.moves.all.len()).map(|n| {
                tree.put(self.moves.key(n), Some((at, n as u32)));
                (tree.known[self.moves.key(n)], self.moves.all[n].marks)
            });
            moves.push(to.collect());
        }
        debug_assert!(moves.iter().flatten().all(|(to, _)| *to < moves.len()), "all states were looked at");
        let all = all_marks(self.runs.n_marks());
        let (mut best, mut length, mut effort) = (None, than.stem.len() + than.cycle.len(), 0);
        for first in 0..moves.len() {
            let (start, stem) = tree.path(first);
            if stem.len() + 1 >= length {
                break; // those that follow are no nearer
            }
            // Breadth-first through states and marks met: the place before, the number of the move, the length.
            let mut known: HashSet<(usize, u64)> = HashSet::from([(first, 0)]);
            let mut queue: Vec<(usize, u64, usize, u32, usize)> = vec![(first, 0, 0, 0, 0)];
            let mut next = 0;
            'cycles: while next < queue.len() {
                let (at, marks, _, _, depth) = queue[next];
                if stem.len() + depth + 1 >= length || effort > MOST_MOVES {
                    break;
                }
                for (nth, (to, with)) in moves[at].iter().enumerate() {
                    effort += 1;
                    let met = (marks | with) & all;
                    if *to == first && met == all {
                        let (mut cycle, mut back) = (vec![nth as u32], next);
                        while back > 0 {
                            cycle.push(queue[back].3);
                            back = queue[back].2;
                        }
                        cycle.reverse();
                        debug_assert_eq!(cycle.len(), depth + 1, "the way back is as long as the way there");
                        if self.is_fair(&tree.keys[first].clone(), &cycle, fairness) {
                            debug_assert!(stem.len() + cycle.len() < length, "only what is shorter is taken");
                            length = stem.len() + cycle.len();
                            best = Some(Lasso { initial: initial[start], stem: stem.clone(), cycle });
                        }
                        break 'cycles;
                    }
                    if known.insert((*to, met)) {
                        queue.push((*to, met, next, nth as u32, depth + 1));
                    }
                }
                next += 1;
            }
        }
        best
    }

    fn is_fair(&mut self, first: &[u8], cycle: &[u32], fairness: Fairness) -> bool {
        let (mut at, mut sum) = (first.to_vec(), Summary::nothing());
        for nth in cycle {
            self.expand(&at);
            sum.add(&Summary::of_state(self.moves.able));
            let m = &self.moves.all[*nth as usize];
            sum.add_move(m.marks, m.pid);
            at = self.moves.key(*nth as usize).to_vec();
        }
        !cycle.is_empty() && sum.is_accepted(self.runs.n_marks(), fairness)
    }
}

#[cfg(test)]
mod tests {
    use super::super::oracle;
    use super::super::tests::{components, replay};
    use super::super::toy::ToyRuns;
    use super::*;
    use spinor_store::{Arena, Budget};

    /// The length of a shortest lasso, by trying all paths up to a length.
    fn least(runs: &ToyRuns, most: usize) -> Option<usize> {
        let mut start = Moves::default();
        runs.initial(&mut (), &mut start);
        let node = |key: &[u8]| u32::from_le_bytes(*key.first_chunk().expect("four bytes"));
        let mut paths: Vec<Vec<(u32, u64)>> = (0..start.all.len()).map(|n| vec![(node(start.key(n)), 0)]).collect();
        let all = all_marks(runs.n_marks);
        for length in 1..=most {
            let mut longer = Vec::new();
            for path in &paths {
                let at = path[path.len() - 1].0;
                for arc in runs.arcs.iter().filter(|arc| arc.from == at) {
                    // It closes where the node was before, and the marks since then are all.
                    let mut marks = arc.marks;
                    for n in (0..path.len()).rev() {
                        if path[n].0 == arc.to && marks & all == all {
                            return Some(length);
                        }
                        marks |= path[n].1;
                    }
                    let mut path = path.clone();
                    path.push((arc.to, arc.marks));
                    longer.push(path);
                }
            }
            paths = longer;
        }
        None
    }

    #[test]
    fn what_is_shortened_is_a_run_and_a_shortest_one() {
        let (mut n, mut n_least) = (0, 0);
        for seed in 0..4000 {
            let runs = ToyRuns::random(seed, 6);
            for fairness in Fairness::ALL {
                let store = Arena::new(&Budget::unlimited()).expect("room");
                let Some(lasso) = components(&runs, &store, fairness).found else { continue };
                let short = shorten(&runs, &lasso, fairness, 1000);
                replay(&runs, &short, fairness).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
                let length = short.stem.len() + short.cycle.len();
                assert!(length <= lasso.stem.len() + lasso.cycle.len(), "seed {seed}");
                n += 1;
                assert!(!lasso.cycle.is_empty() || short.cycle.is_empty(), "seed {seed}");
                if fairness == Fairness::None && runs.ends.is_empty() && length <= 6 && runs.arcs.len() <= 9 {
                    assert_eq!(least(&runs, length), Some(length), "seed {seed}: {short:?} {runs:?}");
                    n_least += 1;
                }
            }
            assert!(oracle::size(&runs).0 <= 6);
        }
        assert!(n > 1000 && n_least > 300, "{n} {n_least}");
    }
}
