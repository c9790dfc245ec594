use super::by_process::ByProcess;
use super::fair::{self, By, Fair, original};
use super::ndfs::{self, Nested, Refused, Target};
use super::tests::{components, replay, seeds};
use super::toy::{ToyMove, ToyRuns};
use super::{Fairness, Lasso, Pids, Request, Runs, lossy, oracle};
use crate::observer::Silent;
use crate::search::Stopped;
use crate::stores::WithBits;
use crate::toy::Rng;
use spinor_model::ir::Pid;
use spinor_store::{Arena, Bitstate, Budget, Compact, HashCompact, Hint, StateId, Visited};
use std::collections::BTreeSet;

const TARGETS: [Target; 2] = [Target::Seed, Target::Path];
/// Without fairness, and with.
const WAYS: [Option<By>; 3] = [None, Some(By::Flags), Some(By::Copies)];

pub(super) fn fairness_of(way: Option<By>) -> Fairness {
    if way.is_some() { Fairness::Weak } else { Fairness::None }
}

fn run<R: Runs, V: WithBits>(
    runs: &R,
    n_pids: u32,
    store: &V,
    target: Target,
    way: Option<By>,
) -> Result<Nested, Refused> {
    match way {
        None => nested(runs, store, target),
        Some(by) => {
            let fair = Fair::new(runs, n_pids, by);
            fair::search(&fair, store, target, &Request::new(Fairness::Weak), &mut Silent)
        }
    }
}

fn nested<R: Runs, V: WithBits>(runs: &R, store: &V, target: Target) -> Result<Nested, Refused> {
    ndfs::search(runs, store, target, &Request::new(Fairness::None), &mut Silent)
}

pub(super) fn arena() -> Arena {
    Arena::new(&Budget::unlimited()).expect("room")
}

/// A random graph with the mark at nodes, and a number of processes: those that are somewhere able to move, and
/// sometimes one that never is.
pub(super) fn random(seed: u64) -> (ToyRuns, u32) {
    let mut runs = ToyRuns::random(seed, 7);
    let mut rng = Rng(!seed);
    runs.n_marks = runs.n_marks.min(1);
    let rare = 2 + rng.below(5);
    let accepting = (0..7).filter(|_| rng.below(rare) == 0).fold(0u64, |all, node| all | 1 << node);
    for arc in &mut runs.arcs {
        arc.marks = if runs.n_marks == 1 { accepting >> arc.from & 1 } else { 0 };
    }
    let movers = runs.arcs.iter().map(|arc| Pids::of(arc.pid));
    let everybody = runs.able.iter().copied().chain(movers).fold(Pids::default(), Pids::union);
    let n_pids = everybody.iter().last().map_or(0, |pid| u32::from(pid) + 1);
    (runs, n_pids + rng.below(2) as u32)
}

/// Arcs (from, to, whose), who else is able to move, and the nodes with the mark. Runs begin at node 0.
pub(super) fn graph(arcs: &[(u32, u32, Option<Pid>)], able: &[(usize, Pid)], accepting: &[u32]) -> ToyRuns {
    let arc = |&(from, to, pid)| ToyMove { from, to, marks: u64::from(accepting.contains(&from)), pid };
    let n = arcs.iter().map(|arc| arc.0.max(arc.1) + 1).max().unwrap_or(1);
    let mut runs = ToyRuns {
        initial: vec![0],
        arcs: arcs.iter().map(arc).collect(),
        able: vec![Pids::default(); n as usize],
        n_marks: 1,
        ..ToyRuns::default()
    };
    able.iter().for_each(|(node, pid)| runs.able[*node].put(*pid));
    runs
}

/// All searches say so, and what they find is a run.
fn check(runs: &ToyRuns, n_pids: u32, way: Option<By>, truth: bool) {
    assert_eq!(oracle::has_accepted_run(runs, fairness_of(way)), truth, "{runs:?}");
    for target in TARGETS {
        let nested = run(runs, n_pids, &arena(), target, way).expect("one mark at states");
        assert_eq!(nested.searched.found.is_some(), truth, "{target:?} {way:?}: {runs:?}");
        if let Some(lasso) = &nested.searched.found {
            replay(runs, lasso, fairness_of(way)).unwrap_or_else(|e| panic!("{e}: {target:?} {way:?} {lasso:?}"));
        }
    }
}

fn run_lossy<V: Visited>(runs: &ToyRuns, n_pids: u32, store: &V, target: Target, way: Option<By>) -> Option<Lasso> {
    let request = Request::new(fairness_of(way));
    let nested = match way {
        None => lossy::search(runs, store, target, &request, &mut Silent),
        Some(by) => lossy::search_fair(&Fair::new(runs, n_pids, by), store, target, &request, &mut Silent),
    };
    nested.expect("one mark at states").searched.found
}

/// With hashes that do not meet all is found; in a table of a few bits what is found is there.
#[test]
fn nested_search_beside_a_lossy_store_finds_what_is_there() {
    let (mut n_there, mut n_missed) = (0, 0);
    for seed in seeds() {
        let (runs, n_pids) = random(seed);
        for way in WAYS {
            let truth = oracle::has_accepted_run(&runs, fairness_of(way));
            for target in TARGETS {
                let budget = Budget::unlimited();
                let hashes = HashCompact::new(&budget).expect("room");
                let tiny = Bitstate::new(&budget, 8, 2).expect("room");
                let whole = run_lossy(&runs, n_pids, &hashes, target, way);
                let part = run_lossy(&runs, n_pids, &tiny, target, way);
                assert_eq!(whole.is_some(), truth, "seed {seed}, {target:?}, {way:?}: {runs:?}");
                for lasso in whole.iter().chain(&part) {
                    let case = || format!("seed {seed}, {target:?}, {way:?}: {lasso:?} {runs:?}");
                    replay(&runs, lasso, fairness_of(way)).unwrap_or_else(|e| panic!("{e}: {}", case()));
                }
                n_there += u32::from(truth);
                n_missed += u32::from(truth && part.is_none());
            }
        }
    }
    println!("{n_there} are there, and a tiny table misses {n_missed}");
    assert!(n_missed > 0 && n_there > 2 * n_missed, "{n_missed} of {n_there}");
}

#[test]
fn nested_search_agrees_with_every_set_of_states() {
    let mut n_found = [0; 2];
    let seeds = seeds();
    for seed in seeds.clone() {
        let (runs, n_pids) = random(seed);
        let truths = [Fairness::None, Fairness::Weak].map(|fairness| oracle::has_accepted_run(&runs, fairness));
        for way in WAYS {
            let truth = truths[usize::from(way.is_some())];
            let searched = TARGETS.map(|target| {
                let case = || format!("seed {seed}, {target:?}, {way:?}, {n_pids} pids: {runs:?}");
                let nested = if seed % 4 == 3 {
                    let store = Compact::new(&Budget::unlimited(), Box::new(|_| Hint::default())).expect("room");
                    run(&runs, n_pids, &store, target, way)
                } else {
                    run(&runs, n_pids, &arena(), target, way)
                };
                let nested = nested.unwrap_or_else(|e| panic!("{e}: {}", case()));
                assert_eq!(nested.searched.found.is_some(), truth, "{}", case());
                if let Some(lasso) = &nested.searched.found {
                    replay(&runs, lasso, fairness_of(way)).unwrap_or_else(|e| panic!("{e}: {lasso:?} {}", case()));
                }
                nested
            });
            if !truth {
                // Both went everywhere, with the same second searches.
                let [size, other] =
                    searched.map(|n| (n.searched.counters.stored, n.searched.counters.transitions, n.second));
                assert_eq!(size, other, "seed {seed}, {way:?}");
                assert!(size.2 <= size.1, "seed {seed}, {way:?}: a state is visited twice at most");
                let whole = match way {
                    None => oracle::size(&runs),
                    Some(by) => whole(&Fair::new(&runs, n_pids, by)).expect("no accepted run"),
                };
                assert_eq!((size.0, size.1), whole, "seed {seed}, {way:?}");
            } else if let Some(by) = way {
                assert_eq!(whole(&Fair::new(&runs, n_pids, by)), None, "seed {seed}, {by:?}: {runs:?}");
            }
        }
        n_found.iter_mut().zip(truths).for_each(|(n, truth)| *n += u64::from(truth));
    }
    let n = seeds.end - seeds.start;
    assert!(n < 1000 || n_found.iter().all(|found| n / 20 < *found && *found < n * 19 / 20), "{n_found:?} of {n}");
}

/// The second search from 2 passes the path at 0 and comes to 4, where the first has not been. The move from there ends the
/// matter, so it is no part of a cycle.
#[test]
fn what_ends_the_matter_may_be_met_by_the_second_search_first() {
    let mut runs =
        graph(&[(0, 1, None), (0, 4, None), (1, 3, None), (1, 2, None), (3, 0, None), (2, 1, None)], &[], &[2]);
    runs.ends.push(runs.arcs.len());
    runs.arcs.push(ToyMove { from: 4, to: 2, marks: 0, pid: None });
    check(&runs, 0, None, true);
    let found = nested(&runs, &arena(), Target::Seed).expect("one mark at states").searched.found;
    assert_eq!(found, Some(Lasso { initial: 0, stem: vec![0, 1, 0, 0, 0, 1, 0], cycle: vec![] }));
}

/// [Bosnacki-SYM] figure 1: the first process goes first, so its cycle is the one that is found.
#[test]
fn by_process_the_first_one_goes_first() {
    let runs = graph(&[(0, 1, Some(1)), (1, 0, Some(1)), (0, 2, Some(0)), (2, 0, Some(0))], &[], &[0]);
    let found = |searched: Nested| searched.searched.found.expect("two cycles");
    let last = found(nested(&runs, &arena(), Target::Seed).expect("one mark at states"));
    assert_eq!(last.cycle, [0, 0]);
    let ordered = ByProcess(&runs);
    let first = ordered.project(&found(nested(&ordered, &arena(), Target::Seed).expect("one mark at states")));
    assert_eq!(first, Lasso { initial: 0, stem: vec![], cycle: vec![1, 0] });
    for seed in 0..2000 {
        let (runs, _) = random(seed);
        let ordered = ByProcess(&runs);
        let nested = nested(&ordered, &arena(), Target::Seed).expect("one mark at states");
        assert_eq!(nested.searched.found.is_some(), oracle::has_accepted_run(&runs, Fairness::None), "seed {seed}");
        if let Some(lasso) = nested.searched.found {
            replay(&runs, &ordered.project(&lasso), Fairness::None).unwrap_or_else(|e| panic!("{e}: seed {seed}"));
        }
    }
}

/// D1 to D4 of `fair`: as printed, [Bosnacki-POR] figures 4 and 5 find runs that are not fair.
#[test]
fn flags_as_they_are_printed_find_runs_that_are_not_fair() {
    let mut n_false = 0;
    for seed in seeds() {
        let (runs, n_pids) = random(seed);
        let truth = oracle::has_accepted_run(&runs, Fairness::Weak);
        let nested = run(&runs, n_pids, &arena(), Target::Path, Some(By::Printed)).expect("one mark at states");
        n_false += u32::from(!truth && nested.searched.found.is_some());
    }
    println!("as printed {n_false} are found that are not there");
    assert!(n_false > 0, "D1 to D4 are not needed");
}

/// What components say: nothing if there is an accepted run, states and moves if not.
pub(super) fn whole<R: Runs>(runs: &R) -> Option<(u64, u64)> {
    let searched = components(runs, &arena(), Fairness::None);
    searched.found.is_none().then_some((searched.counters.stored, searched.counters.transitions))
}

#[test]
fn the_states_below_are_the_stored_keys_without_their_ends() {
    let mut n_whole = 0;
    for seed in 0..2000 {
        let (runs, n_pids) = random(seed);
        for by in [By::Flags, By::Copies] {
            let store = arena();
            let nested = run(&runs, n_pids, &store, Target::Path, Some(by)).expect("one mark at states");
            if nested.searched.found.is_some() {
                continue;
            }
            n_whole += 1;
            let (mut hand, mut key, mut below) = (store.hand(), Vec::new(), BTreeSet::new());
            for id in 0..store.len() {
                store.load(&mut hand, StateId(id), &mut key);
                below.insert(original(&key).to_vec());
            }
            let n_states = oracle::size(&runs).0;
            assert_eq!(below.len() as u64, n_states, "seed {seed}, {by:?}");
            let most = u64::from(n_pids) + if by == By::Flags { 2 } else { 1 };
            assert!(store.len() <= n_states * most, "seed {seed}, {by:?}: {} of {n_states}", store.len());
        }
    }
    assert!(n_whole > 1000, "{n_whole}");
}

/// [HPY96] 5.1, D2: figure 4 as it is printed goes on through node 0 and looks at its two moves as well.
#[test]
fn the_second_search_stops_at_the_path() {
    let runs = graph(&[(0, 1, None), (0, 2, None), (1, 0, None), (2, 2, None)], &[], &[1]);
    let by_path = nested(&runs, &arena(), Target::Path).expect("one mark at states");
    assert_eq!(by_path.searched.found, Some(Lasso { initial: 0, stem: vec![], cycle: vec![0, 0] }));
    assert_eq!((by_path.searched.counters.stored, by_path.searched.counters.transitions, by_path.second), (2, 4, 1));
    let by_seed = nested(&runs, &arena(), Target::Seed).expect("one mark at states");
    assert_eq!(by_seed.searched.found, Some(Lasso { initial: 0, stem: vec![0], cycle: vec![0, 0] }));
    assert_eq!((by_seed.searched.counters.stored, by_seed.searched.counters.transitions, by_seed.second), (2, 4, 3));
}

/// [HPY96] 5.2: the first search leaves node 1 without a second search, and does not follow the move from node 2
/// back to it. The second search has to, and with a reduction it would have to find the same moves there.
#[test]
fn the_second_search_goes_back_to_what_the_first_had_left() {
    let runs = graph(&[(0, 1, None), (1, 0, None), (0, 2, None), (2, 1, None)], &[], &[2]);
    for way in WAYS {
        check(&runs, 0, way, true);
    }
    let nested = nested(&runs, &arena(), Target::Path).expect("one mark at states");
    assert_eq!(nested.searched.found, Some(Lasso { initial: 0, stem: vec![], cycle: vec![1, 0, 0] }));
    assert_eq!(nested.second, 2);
}

/// Second searches share their bits: node 3 is looked at once, though two seeds reach it.
#[test]
fn a_state_is_visited_by_one_second_search() {
    let runs = graph(&[(0, 1, None), (0, 2, None), (1, 3, None), (2, 3, None), (3, 4, None)], &[], &[1, 2]);
    for target in TARGETS {
        let nested = nested(&runs, &arena(), target).expect("one mark at states");
        assert!(nested.searched.found.is_none());
        assert_eq!((nested.searched.counters.stored, nested.searched.counters.transitions, nested.second), (5, 6, 3));
    }
}

/// Process 0 moves into node 2 once, which ends a lap there; afterwards it is able to move and never does.
#[test]
fn a_lap_that_ends_at_a_state_does_not_end_at_its_other_copies() {
    let runs = graph(&[(0, 1, Some(1)), (1, 2, Some(0)), (2, 2, Some(1))], &[(2, 0)], &[0, 1, 2]);
    for way in WAYS {
        check(&runs, 2, way, way.is_none());
    }
}

/// D5 of `fair`: the automaton alone moves on from an accepting state, once.
#[test]
fn nobody_runs_by_default_moves_alone() {
    for n_pids in 0..4 {
        let moves_on = graph(&[(0, 1, None)], &[], &[0]);
        let goes_round = graph(&[(0, 1, None), (1, 0, None)], &[], &[0]);
        for way in WAYS {
            check(&moves_on, n_pids, way, false);
            check(&goes_round, n_pids, way, true);
        }
    }
}

/// One that is not able anywhere is not waited for; one that is able everywhere and does not move is, in vain.
#[test]
fn dead_processes_are_not_waited_for() {
    let alone = [(0, 0, Some(1))];
    for way in WAYS {
        check(&graph(&alone, &[], &[0]), 4, way, true);
        check(&graph(&alone, &[(0, 3)], &[0]), 4, way, way.is_none());
    }
}

/// The last pid there can be: the component has room for all of them.
#[test]
fn there_may_be_as_many_processes_as_there_are_pids() {
    let arcs: Vec<_> = (0..=Pid::MAX).map(|pid| (u32::from(pid), (u32::from(pid) + 1) % 256, Some(pid))).collect();
    let runs = graph(&arcs, &[], &[7]);
    for by in [By::Flags, By::Copies] {
        for target in TARGETS {
            let nested = run(&runs, 256, &arena(), target, Some(by)).expect("one mark at states");
            let lasso = nested.searched.found.expect("all move");
            replay(&runs, &lasso, Fairness::Weak).expect("a fair run");
        }
    }
}

#[test]
fn marks_that_are_not_at_states_are_refused() {
    let mut some = graph(&[(0, 0, Some(0)), (0, 1, Some(0)), (1, 0, Some(0))], &[], &[0]);
    some.arcs[1].marks = 0;
    let mut many = some.clone();
    many.n_marks = 2;
    for target in TARGETS {
        for way in WAYS {
            assert_eq!(run(&some, 1, &arena(), target, way).err(), Some(Refused::AtMoves));
            assert_eq!(run(&many, 1, &arena(), target, way).err(), Some(Refused::ManyMarks(2)));
        }
    }
}

#[test]
fn a_full_store_is_told() {
    let runs = graph(&[(0, 0, None)], &[], &[0]);
    let budget = Budget::new(arena().bytes());
    let store = Arena::new(&budget).expect("as much as an empty one needs");
    for target in TARGETS {
        let request = Request { budget: budget.clone(), ..Request::new(Fairness::None) };
        let nested = ndfs::search(&runs, &store, target, &request, &mut Silent).expect("one mark at states");
        assert_eq!(nested.searched.stopped, Some(Stopped::Memory(budget.limit())));
        assert_eq!(nested.searched.found, None);
    }
}
