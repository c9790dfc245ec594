//! No cycle without progress, because every loop of every process passes a label: shown by reading the model, without a
//! search.
//!
//! # The argument
//!   Take a cycle of states, and of them one with the fewest processes. Who lives there lives all the way round, since only
//!   the process that came last can be taken away. One of them moves, whoever does so first, and comes back to where it
//!   stood: what it does on the way is a loop of its proctype.
//!   L1 where steps make progress, a statement at a label makes its step one of those, whatever else the step does
//!   L2 where states do, a statement that leads to a label makes progress if others may run after it, for they do so in a
//!      state in which the process stands there. Inside an `atomic` the state may be nobody's; and so may be the one after
//!      a send, if it hands the floor to a receiver who moves the process on by another handshake
//!   If no loop is left without such statements, there is no cycle without progress. The converse is not so: a loop may be
//!   one that is never taken, or not for ever. Then the states must be searched.
//!
//! # Owed
//!   O1 what is shown is so                        tests: random models against the whole graph
//!   O2 L2, both exceptions, whose labels count    tests: a model for each, wrong without it
//!
//! # Cost  the edges of a proctype once for each of its statements in a row: nothing beside a search.

use super::meaning::{Meaning, Progress};
use spinor_model::index::Idx;
use spinor_model::ir::{Edge, ProctypeId, System, Then};

/// The system as it was written.
pub fn all_pass(system: &System, meaning: &Meaning) -> bool {
    // Others of its proctype go round past labels that do not count.
    let of_one = meaning.of.is_some_and(|of| of.pid.is_some());
    let hands_over = system.has_rendezvous();
    let progress = |t: ProctypeId, edge: &Edge| match meaning.progress {
        Progress::Steps => meaning.marks(t, edge.from), // L1
        Progress::States => {
            let keeps = !hands_over || edge.send().is_none();
            keeps && edge.then == Then::Yield && meaning.marks(t, edge.to) // L2
        }
    };
    !of_one
        && system.proctypes.enumerated().all(|(t, proctype)| {
            let rest = proctype.edges.iter().filter(|edge| !edge.ends() && !progress(t, edge));
            let (n_locs, rest) = (proctype.locs.len(), rest.collect::<Vec<_>>());
            let has = has_loop(n_locs, rest.clone());
            debug_assert!(n_locs > MANY || has == comes_back(n_locs, &rest), "a loop comes back to where it began");
            !has
        })
}

/// As many locations are looked at again in debug builds.
const MANY: usize = 64;

/// The same, looked for from each location. For checks.
fn comes_back(n_locs: usize, edges: &[&Edge]) -> bool {
    (0..n_locs).any(|start| {
        let mut met = vec![false; n_locs];
        let mut todo = vec![start];
        while let Some(at) = todo.pop() {
            for edge in edges.iter().filter(|edge| edge.from.index() == at) {
                if !std::mem::replace(&mut met[edge.to.index()], true) {
                    todo.push(edge.to.index());
                }
            }
        }
        met[start]
    })
}

/// An edge that starts where no other leads is part of no loop, and need not be looked at any more.
fn has_loop(n_locs: usize, mut edges: Vec<&Edge>) -> bool {
    loop {
        let mut met = vec![false; n_locs];
        edges.iter().for_each(|edge| met[edge.to.index()] = true);
        let before = edges.len();
        edges.retain(|edge| met[edge.from.index()]);
        if edges.len() == before {
            return before > 0;
        }
    }
}
