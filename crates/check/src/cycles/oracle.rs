//! Whether there is an accepted run, by looking at every set of states.
//!
//! What a run passes infinitely often is a set of states, each of which reaches each inside the set, by at least one
//! move. The more moves of the set it passes, the better for acceptance and fairness, so the run that passes all of them
//! decides. There are two to the power of the number of states sets: this is for graphs of a dozen states.

use super::{Fairness, Moves, Runs, Summary};
use std::collections::{BTreeMap, BTreeSet};

struct Graph {
    /// From, to, marks, owner.
    moves: Vec<(usize, usize, super::Move)>,
    able: Vec<super::Pids>,
    /// Some move ends the matter.
    ends: bool,
    /// In some state what is looked at has no value. Nobody goes on from there.
    blind: bool,
}

pub fn has_accepted_run<R: Runs>(runs: &R, fairness: Fairness) -> bool {
    let graph = build(runs);
    if graph.ends {
        return true;
    }
    let n = graph.able.len();
    assert!(n <= 16, "{n} states are too many for this");
    (1u32..1 << n).any(|set| {
        let inside = |n: usize| set >> n & 1 == 1;
        let moves: Vec<_> = graph.moves.iter().filter(|(from, to, _)| inside(*from) && inside(*to)).collect();
        let members: Vec<usize> = (0..n).filter(|n| inside(*n)).collect();
        let connected = members.iter().all(|from| {
            // Everything that can be reached by at least one move.
            let mut reached = 0u32;
            loop {
                let next = moves.iter().filter(|(a, ..)| a == from || reached >> a & 1 == 1);
                let more = next.fold(reached, |reached, (_, b, _)| reached | 1 << b);
                if more == reached {
                    break reached == set;
                }
                reached = more;
            }
        });
        let mut sum = Summary::nothing();
        members.iter().for_each(|n| sum.add(&Summary::of_state(graph.able[*n])));
        moves.iter().for_each(|(_, _, m)| sum.add_move(m.marks, m.pid));
        connected && sum.is_accepted(runs.n_marks(), fairness)
    })
}

/// The same for graphs of some thousands of states: everything that each state reaches is written down, and states that
/// reach each other are a component.
pub fn has_accepted_component<R: Runs>(runs: &R, fairness: Fairness) -> bool {
    let graph = build(runs);
    let all: Vec<usize> = (0..graph.able.len()).collect();
    graph.ends || graph.accepts_inside(&all, runs.n_marks(), fairness)
}

/// Whether a state can be reached in which what is looked at has no value. What is accepted all the same is accepted
/// without such a state.
pub fn is_somewhere_blind<R: Runs>(runs: &R) -> bool {
    build(runs).blind
}

impl Graph {
    /// By moves inside a set of states: whether a component of it is accepted, or, with strong fairness, a part of one.
    fn accepts_inside(&self, set: &[usize], n_marks: u32, fairness: Fairness) -> bool {
        let mut next: BTreeMap<usize, Vec<usize>> = set.iter().map(|n| (*n, Vec::new())).collect();
        for (from, to, _) in &self.moves {
            if next.contains_key(to)
                && let Some(list) = next.get_mut(from)
            {
                list.push(*to);
            }
        }
        let reach = |from: usize| {
            let (mut seen, mut todo) = (BTreeSet::new(), vec![from]);
            while let Some(n) = todo.pop() {
                todo.extend(next[&n].iter().copied().filter(|to| seen.insert(*to)));
            }
            seen
        };
        let reached: BTreeMap<usize, BTreeSet<usize>> = set.iter().map(|n| (*n, reach(*n))).collect();
        let mut left: BTreeSet<usize> = set.iter().copied().collect();
        while let Some(n) = left.pop_first() {
            if !reached[&n].contains(&n) {
                continue; // it never comes back
            }
            let part: Vec<usize> = reached[&n].iter().copied().filter(|to| reached[to].contains(&n)).collect();
            left.retain(|n| !part.contains(n));
            let inside = |n: &usize| part.binary_search(n).is_ok();
            let mut sum = Summary::nothing();
            part.iter().for_each(|n| sum.add(&Summary::of_state(self.able[*n])));
            let moves = self.moves.iter().filter(|(from, to, _)| inside(from) && inside(to));
            moves.for_each(|(_, _, m)| sum.add_move(m.marks, m.pid));
            if sum.is_accepted(n_marks, fairness) {
                return true;
            }
            // A part that stays away from where somebody is able to move who never does may still be fair.
            let idle = sum.somewhere.without(sum.moved);
            let rest: Vec<usize> = part.iter().copied().filter(|n| self.able[*n].both(idle).is_empty()).collect();
            if fairness == Fairness::Strong && rest.len() < part.len() && self.accepts_inside(&rest, n_marks, fairness)
            {
                return true;
            }
        }
        false
    }
}

/// How many states can be reached, and how many moves they have; each initial state counts as a move.
pub fn size<R: Runs>(runs: &R) -> (u64, u64) {
    let graph = build(runs);
    let mut start = Moves::default();
    runs.initial(&mut runs.desk(), &mut start);
    (graph.able.len() as u64, (graph.moves.len() + start.all.len()) as u64)
}

fn build<R: Runs>(runs: &R) -> Graph {
    let mut graph = Graph { moves: Vec::new(), able: Vec::new(), ends: false, blind: false };
    let mut desk = runs.desk();
    let mut numbers: BTreeMap<Vec<u8>, usize> = BTreeMap::new();
    let mut keys: Vec<Vec<u8>> = Vec::new();
    let mut number = |key: &[u8], keys: &mut Vec<Vec<u8>>| {
        *numbers.entry(key.to_vec()).or_insert_with(|| {
            keys.push(key.to_vec());
            keys.len() - 1
        })
    };
    let mut moves = Moves::default();
    runs.initial(&mut desk, &mut moves);
    for n in 0..moves.all.len() {
        number(moves.key(n), &mut keys);
    }
    while graph.able.len() < keys.len() {
        let from = graph.able.len();
        moves.clear();
        runs.moves(&mut desk, &keys[from], &mut moves);
        graph.ends |= moves.ends.is_some();
        graph.blind |= moves.blind;
        graph.able.push(moves.able);
        for n in 0..moves.all.len() {
            let to = number(moves.key(n), &mut keys);
            graph.moves.push((from, to, moves.all[n].clone()));
        }
    }
    graph
}
