//! The run of the fewest statements that shows a violation.
//!
//! A search counts moves: all that an `atomic` does before others can is one, and so are statements that are taken
//! together. A run of fewer moves may have more statements than another one, and people read statements. So this one goes
//! statement by statement, breadth-first, in the model as it was written; who has the floor is a part of its states.
//! It is the interpreter's, and gives up early: it is there to shorten what is short. How early is a matter of the model,
//! so the same run is shown every time, unless somebody stops it.
//!
//! # Owed
//!   O1 no run has fewer statements      tests: `library/corpus.rs`, against runs without an `atomic` and all runs of it

use super::is_packed;
use crate::verdict::Kind;
use spinor_model::interp::{Floor, Interp, Log};
use spinor_model::successors::{Step, Successors};
use std::collections::{HashMap, HashSet};

/// States that are looked at, at most, and what their keys have in bytes.
const MOST: usize = 100_000;
const MOST_BYTES: usize = 8 << 20;
/// States between two questions whether to go on.
const LOOK: usize = 64;

/// What came of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fewest {
    /// By these statements. No run has fewer.
    Found(Vec<Step>),
    /// No run has fewer statements than were allowed.
    None,
    /// There were too many states, or it was stopped.
    Unknown,
}

struct Node {
    /// The node before, and the statement from there.
    from: Option<(usize, Step)>,
    floor: Floor,
    key: Vec<u8>,
}

/// A violation of this kind by at most so many statements. An `atomic` that never ends is none: no statement shows it.
/// `goes_on` is told how many states there are.
pub fn fewest(interp: &Interp, kind: Kind, most: usize, goes_on: &mut dyn FnMut(usize) -> bool) -> Fewest {
    let Ok(initial) = interp.initial() else { return Fewest::None };
    let (mut nodes, mut known, mut bytes) = (Vec::new(), HashMap::new(), 0);
    // An `atomic` that never ends is a run-time error, and not looked for: then fewer statements may show that one.
    let mut kept: Vec<(usize, usize)> = Vec::new();
    let mut enter = |nodes: &mut Vec<Node>, state: &_, floor: Floor, from: Option<(usize, Step)>| {
        let mut key = Vec::new();
        interp.pack(state, &mut key);
        let to = *known.entry((key.clone(), floor.holder())).or_insert(nodes.len());
        let keeps =
            |(from, step): &(usize, Step)| floor.holder().is_some() && nodes[*from].floor == Floor::Only(step.pid);
        if let Some((from, _)) = from.filter(keeps).filter(|_| kind == Kind::RuntimeError) {
            kept.push((from, to));
        }
        debug_assert!(
            to == nodes.len() || nodes[to].key == key && nodes[to].floor.holder() == floor.holder(),
            "a node is known by its key and floor"
        );
        if to == nodes.len() {
            bytes += key.len();
            nodes.push(Node { from, floor, key });
        }
        bytes <= MOST_BYTES && nodes.len() <= MOST
    };
    enter(&mut nodes, &initial, Floor::Anyone, None);
    let (mut offered, mut next) = (Vec::new(), 0);
    for n_steps in 0..=most {
        let level = next..nodes.len();
        for n in level.clone() {
            let state = interp.unpack(&nodes[n].key);
            debug_assert!(!n.is_multiple_of(LOOK) || is_packed(interp, &state, &nodes[n].key), "a state has one key");
            interp.moves(&state, nodes[n].floor, &mut offered);
            if offered.is_empty() && kind == Kind::EndState && !interp.may_end(&state) {
                let way = way_to(&nodes, n);
                assert_eq!(way.len(), n_steps, "a level is a number of statements");
                assert!(n_steps <= most, "no more statements than were allowed");
                return Fewest::Found(way);
            }
            for &step in offered.iter().filter(|_| n_steps < most) {
                let (mut after, mut log) = (state.clone(), Log::default());
                let result = interp.apply(&mut after, step, &mut log);
                if log.faults.iter().chain(result.as_ref().err()).any(|fault| Kind::of(&fault.kind) == kind) {
                    let mut way = way_to(&nodes, n);
                    way.push(step);
                    assert_eq!(way.len(), n_steps + 1, "a level is a number of statements");
                    assert!(way.len() <= most, "no more statements than were allowed");
                    return if goes_round(kept) { Fewest::Unknown } else { Fewest::Found(way) };
                }
                if let Ok(floor) = result
                    && !enter(&mut nodes, &after, floor, Some((n, step)))
                {
                    return Fewest::Unknown;
                }
            }
            if n % LOOK == 0 && !goes_on(nodes.len()) {
                return Fewest::Unknown;
            }
        }
        next = level.end;
    }
    if goes_round(kept) { Fewest::Unknown } else { Fewest::None }
}

/// Some of these ways come back to where they begin: what nothing leads to is taken away, again and again.
fn goes_round(mut ways: Vec<(usize, usize)>) -> bool {
    loop {
        let reached: HashSet<usize> = ways.iter().map(|(_, to)| *to).collect();
        let before = ways.len();
        ways.retain(|(from, _)| reached.contains(from));
        if ways.is_empty() || ways.len() == before {
            return !ways.is_empty();
        }
    }
}

fn way_to(nodes: &[Node], mut n: usize) -> Vec<Step> {
    let mut way = Vec::new();
    while let Some((before, step)) = nodes[n].from {
        assert!(before < n, "a node is behind the one it was met from");
        way.push(step);
        n = before;
    }
    way.reverse();
    way
}
