use super::fair::{By, Fair};
use super::ndfs::{self, Nested, Refused, Target};
use super::ndfs_tests::{arena, fairness_of, graph, random, whole};
use super::tests::{replay, seeds};
use super::union_tests::{Counters, Shared, Stops, Together, blind, compact, far, nowhere};
use super::{Fairness, Moves, Request, Runs, cndfs, oracle};
use crate::observer::Silent;
use crate::search::Stopped;
use crate::toy::Rng;
use spinor_store::{Budget, Compact, Hint, Visited};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

/// With all threads from the first state on.
fn nested<R: Runs, V: Visited>(
    runs: &R,
    n_pids: u32,
    store: &V,
    way: Option<By>,
    jobs: usize,
) -> Result<Nested, Refused> {
    let request = Request { jobs, ..Request::new(fairness_of(way)) };
    match way {
        None => cndfs::search_after(0, &Together::new(runs, jobs), store, &request, &mut Silent),
        Some(by) => {
            let fair = Fair::new(runs, n_pids, by);
            if jobs == 1 {
                return cndfs::search_fair(&fair, store, &request, &mut Silent);
            }
            let mut nested = cndfs::search_after(0, &Together::new(&fair, jobs), store, &request, &mut Silent)?;
            nested.searched.found = nested.searched.found.map(|lasso| fair.project(&lasso));
            Ok(nested)
        }
    }
}

fn compare<R: Runs>(case: &str, runs: &R, n_pids: u32, way: Option<By>, jobs: usize, truth: Option<(u64, u64)>) {
    let case = || format!("{case}, {way:?}, {n_pids} pids, {jobs} threads");
    let searched = match jobs % 2 {
        0 => nested(runs, n_pids, &compact(), way, jobs),
        _ => nested(runs, n_pids, &arena(), way, jobs),
    };
    let Nested { searched, second } = searched.unwrap_or_else(|e| panic!("{e}: {}", case()));
    assert_eq!(searched.stopped, None, "{}", case());
    assert_eq!(searched.found.is_none(), truth.is_some(), "{}", case());
    match &searched.found {
        Some(lasso) => {
            replay(runs, lasso, fairness_of(way)).unwrap_or_else(|e| panic!("{}: {e}: {lasso:?}", case()));
        }
        None => {
            let counters = searched.counters;
            assert_eq!(Some((counters.stored, counters.transitions)), truth, "{}", case());
            assert!(jobs > 1 || second <= counters.transitions, "{}", case());
        }
    }
}

#[test]
fn nested_searches_of_threads_agree_with_every_set_of_states() {
    for seed in seeds() {
        let (runs, n_pids) = random(seed);
        let case = format!("seed {seed}");
        for way in [None, Some(By::Flags), Some(By::Copies)] {
            let truth = !oracle::has_accepted_run(&runs, fairness_of(way));
            let size = || match way {
                None => oracle::size(&runs),
                Some(by) => whole(&Fair::new(&runs, n_pids, by)).expect("no accepted run"),
            };
            let truth = truth.then(size);
            // Fairness unfolds the states, and knows no parts.
            let parts = way.is_none().then(|| (format!("{case} in parts"), runs.clone().in_parts(seed)));
            for (case, runs) in [(case.clone(), runs.clone())].into_iter().chain(parts) {
                compare(&case, &runs, n_pids, way, 1, truth);
                if seed % 8 == 0 {
                    compare(&case, &runs, n_pids, way, 2, truth);
                }
                if seed % 32 == 0 {
                    compare(&case, &runs, n_pids, way, 4, truth);
                }
            }
        }
    }
}

/// Counters of which some only go up: many components, and states with the mark that are on no cycle.
struct Partly {
    turning: usize,
    rising: usize,
    modulus: u8,
    seed: u64,
    /// The mark may be at states that are on a cycle.
    anywhere: bool,
}

impl Runs for Partly {
    type Desk = ();
    fn desk(&self) {}

    fn n_marks(&self) -> u32 {
        1
    }

    fn initial(&self, _: &mut (), out: &mut Moves) {
        out.push(&vec![0; self.turning + self.rising], 0, None);
    }

    fn moves(&self, _: &mut (), key: &[u8], out: &mut Moves) {
        let n = key.iter().fold(self.seed, |n, digit| n * 31 + u64::from(*digit));
        // Nothing turns where one of the rising ones is odd.
        let still = key[self.turning..].iter().any(|digit| digit % 2 == 1);
        let rare = if self.anywhere { 40 } else { 3 };
        let marks = u64::from((still || self.anywhere) && Rng(n).below(rare) == 0);
        for at in 0..key.len() {
            let last = key[at] + 1 == self.modulus;
            if at < self.turning && !still || at >= self.turning && !last {
                let mut to = key.to_vec();
                to[at] = if last { 0 } else { to[at] + 1 };
                out.push(&to, marks, None);
            }
        }
    }
}

#[test]
fn nested_searches_of_threads_agree_with_one_thread_on_larger_graphs() {
    let (mut n_found, mut n_second) = (0, 0);
    let n = (seeds().end - seeds().start) / 100;
    for seed in seeds().start..seeds().start + n {
        let (turning, rising) = ((seed % 3) as usize, 2 + (seed % 2) as usize);
        let runs = Partly { turning, rising, modulus: 4, seed, anywhere: seed % 2 == 0 };
        let request = Request::new(Fairness::None);
        let alone = ndfs::search(&runs, &arena(), Target::Path, &request, &mut Silent).expect("marks at states");
        n_second += alone.second;
        let counters = alone.searched.counters;
        n_found += u64::from(alone.searched.found.is_some());
        let truth = alone.searched.found.is_none().then_some((counters.stored, counters.transitions));
        for jobs in [1, 2, 3, 4] {
            compare(&format!("seed {seed}"), &runs, 0, None, jobs, truth);
        }
    }
    assert!(n < 200 || n_found > n / 20 && n_found < n / 2 && n_second > 10_000, "{n_found} {n_second}");
}

#[test]
fn all_threads_are_given_something_to_do() {
    for jobs in [2, 4] {
        for barren in [false, true] {
            let runs = Shared::new(barren, jobs);
            let request = Request { jobs, ..Request::new(Fairness::None) };
            let nested = cndfs::search_after(0, &runs, &compact(), &request, &mut Silent).expect("marks at states");
            let searched = nested.searched;
            assert!(searched.found.is_none() && searched.stopped.is_none());
            assert_eq!((searched.counters.stored, searched.counters.transitions), (1296, 1 + 4 * 1296));
            assert_eq!(runs.n_there.load(SeqCst), jobs, "{barren}");
        }
    }
}

#[test]
fn a_move_that_ends_the_matter_and_a_mark_far_away_are_found() {
    let ends = |key: &[u8], out: &mut Moves| out.ends = far(key).then_some(2);
    let mark = |key: &[u8], out: &mut Moves| out.all.iter_mut().for_each(|m| m.marks = u64::from(far(key)));
    for at in [ends, mark as fn(&[u8], &mut Moves)] {
        let runs = Counters { n: 5, modulus: 8, at };
        for jobs in [1, 2, 4] {
            let searched = nested(&runs, 0, &compact(), None, jobs).expect("marks at states").searched;
            replay(&runs, &searched.found.expect("it is there"), Fairness::None).expect("a run");
        }
    }
}

#[test]
fn marks_that_are_not_at_states_are_refused() {
    let mut some = graph(&[(0, 0, Some(0)), (0, 1, Some(0)), (1, 0, Some(0))], &[], &[0]);
    some.arcs[1].marks = 0;
    let mut many = some.clone();
    many.n_marks = 2;
    for jobs in [1, 2] {
        for way in [None, Some(By::Flags), Some(By::Copies)] {
            assert_eq!(nested(&some, 1, &arena(), way, jobs).err(), Some(Refused::AtMoves));
            assert_eq!(nested(&many, 1, &arena(), way, jobs).err(), Some(Refused::ManyMarks(2)));
        }
    }
}

#[test]
fn all_threads_stop_at_limits_and_where_one_cannot_look() {
    let stopped = |runs: &Counters, request: &Request, stops: bool| {
        let store = Compact::new(&request.budget, Box::new(|_| Hint::default())).expect("room");
        let nested = if stops {
            cndfs::search(runs, &store, request, &mut Stops)
        } else {
            cndfs::search(runs, &store, request, &mut Silent)
        };
        let searched = nested.expect("marks at states").searched;
        assert_eq!(searched.found, None);
        searched.stopped
    };
    // Too many states to see.
    let runs = Counters { n: 40, modulus: 3, at: nowhere };
    for jobs in [1, 2] {
        let request = Request { jobs, ..Request::new(Fairness::None) };
        assert_eq!(stopped(&Counters { n: 5, modulus: 8, at: blind }, &request, false), Some(Stopped::Blind));
        assert_eq!(stopped(&runs, &request, true), Some(Stopped::Interrupted));
        let limit = Duration::from_millis(50);
        let timed = Request { max_time: Some(limit), ..request.clone() };
        assert_eq!(stopped(&runs, &timed, false), Some(Stopped::Time(limit)));
        let tight = Request { budget: Budget::new(3 << 20), ..request.clone() };
        assert_eq!(stopped(&runs, &tight, false), Some(Stopped::Memory(3 << 20)));
        let shallow = Request { max_depth: Some(4), ..request };
        assert_eq!(stopped(&runs, &shallow, false), Some(Stopped::Depth(4)));
    }
}

#[test]
fn with_a_limit_of_depth_nobody_waits_for_ever() {
    for seed in 0..1000 {
        let runs = Partly { turning: 1, rising: 2, modulus: 4, seed, anywhere: seed % 4 == 0 };
        let depth = 1 + (seed % 7) as u32;
        for jobs in [1, 2] {
            let request = Request { jobs, max_depth: Some(depth), ..Request::new(Fairness::None) };
            let nested = cndfs::search_after(0, &runs, &arena(), &request, &mut Silent).expect("marks at states");
            match &nested.searched.found {
                Some(lasso) => replay(&runs, lasso, Fairness::None).unwrap_or_else(|e| panic!("seed {seed}: {e}")),
                None => assert_eq!(nested.searched.stopped, Some(Stopped::Depth(depth))),
            }
        }
    }
}

/// More states than the others could ever see.
#[test]
fn a_panic_in_one_thread_ends_all() {
    static ONCE: AtomicBool = AtomicBool::new(false);
    let panics = |key: &[u8], _: &mut Moves| {
        let here = key.iter().filter(|digit| **digit == 2).count() == 3;
        assert!(!here || ONCE.swap(true, SeqCst), "as it should");
    };
    let runs = Counters { n: 40, modulus: 3, at: panics };
    for jobs in [1, 2, 4] {
        ONCE.store(false, SeqCst);
        let search = || nested(&runs, 0, &compact(), None, jobs).map(drop);
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(search)).expect_err("it panics");
    }
}
