//! Every search, store and number of threads gives the same answer for random models, optimised or not.
//!
//! What is found in the optimised system is replayed in the model as it was written (`trace::build` panics if it
//! cannot be), and the model's own graph, made by the oracle, has the last word.

use spinor_check::observer::Silent;
use spinor_check::oracle::Graph;
use spinor_check::search::{Request, Searched, bfs, dfs};
use spinor_check::trace;
use spinor_check::verdict::SAFETY;
use spinor_lang::{Options, load};
use spinor_model::interp::Interp;
use spinor_model::ir::System;
use spinor_model::optimise::{Optimisations, Watched, optimise};
use spinor_store::{Arena, Budget, Compact, HashCompact};
use std::sync::Arc;

const SEEDS: u64 = 300;
const MOST_STATES: u64 = 3_000;

fn lowered(name: &str, text: &str) -> Arc<System> {
    let loaded = load(name, text, &Options::default(), &|_| Err(std::io::ErrorKind::NotFound.into()));
    loaded.model.unwrap_or_else(|| panic!("{name} is refused: {:?}\n{text}", loaded.diagnostics)).system
}

fn tree(budget: &Arc<Budget>) -> Compact {
    Compact::new(budget, Box::new(|_| spinor_store::Hint::default())).expect("room")
}

/// Each way to search, with its name.
fn searches(system: &Interp) -> Vec<(String, Searched)> {
    let mut out = Vec::new();
    for (jobs, alone) in [(1, 2048), (2, 0)] {
        let request = || Request { kinds: SAFETY.to_vec(), all_errors: Some(1), jobs, alone, ..Request::default() };
        let r = request();
        let arena = || Arena::new(&r.budget).expect("room");
        out.push((format!("bfs arena {jobs}"), bfs::search(system, &arena(), &r, &mut Silent)));
        out.push((format!("bfs tree {jobs}"), bfs::search(system, &tree(&r.budget), &r, &mut Silent)));
        out.push((format!("dfs arena {jobs}"), dfs::search(system, &arena(), &r, &mut Silent)));
        out.push((format!("dfs tree {jobs}"), dfs::search(system, &tree(&r.budget), &r, &mut Silent)));
        let hashes = HashCompact::new(&r.budget).expect("room");
        out.push((format!("dfs hashcompact {jobs}"), dfs::search(system, &hashes, &r, &mut Silent)));
    }
    out
}

#[test]
fn all_searches_agree_on_random_models_optimised_or_not() {
    let (mut n_models, mut n_traces) = (0, 0);
    for seed in 0..SEEDS {
        let text = spinor_gen::generate_own(seed).text;
        let name = format!("seed {seed}");
        let system = lowered(&name, &text);
        let plain = Interp::new(system.clone());
        let request = Request { max_depth: Some(400), budget: Budget::new(8 << 20), ..Request::default() };
        let size = bfs::search(&plain, &Arena::new(&request.budget).expect("room"), &request, &mut Silent);
        if size.stopped.is_some() || size.counters.stored > MOST_STATES {
            continue; // the oracle is slow on purpose
        }
        n_models += 1;
        let truth = Graph::build(&plain);
        for which in [Optimisations::NONE, Optimisations::ALL] {
            let searched = Interp::new(Arc::new(optimise(&system, which, &Watched::default()).0));
            let graph = Graph::build(&searched);
            for (how, s) in searches(&searched) {
                let what = format!("{name}, {which:?}, {how}\n{text}");
                assert_eq!(s.stopped, None, "{what}");
                assert_eq!(s.counters.stored, graph.nodes.len() as u64, "{what}");
                assert_eq!(s.counters.transitions, graph.n_transitions() as u64, "{what}");
                assert_eq!(s.counters.atomic_steps, graph.n_atomic_steps(), "{what}");
                for kind in SAFETY {
                    let (n, shortest) = graph.violations(kind);
                    assert_eq!(s.tally.of(kind), n, "{what}: {kind}");
                    assert_eq!(n > 0, truth.violations(kind).0 > 0, "{what}: {kind}");
                    let found = s.found.iter().find(|f| f.kind == kind);
                    assert_eq!(found.is_some(), n > 0, "{what}: {kind}");
                    if how.starts_with("bfs") {
                        assert_eq!(found.map(|f| f.steps.len()), shortest, "{what}: {kind}");
                    }
                    if let Some(found) = found {
                        trace::build(&plain, &searched, found);
                        n_traces += 1;
                    }
                }
            }
        }
    }
    assert!(n_models > 100 && n_traces > 1000, "only {n_models} models and {n_traces} traces");
}
