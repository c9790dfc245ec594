use super::tests::{components, replay, seeds};
use super::toy::{ToyMove, ToyRuns};
use super::{Fairness, Moves, Part, Pids, Request, Runs, Searched, all_marks, oracle, union};
use crate::observer::{Control, Observer, Progress, Silent};
use crate::search::Stopped;
use crate::toy::Rng;
use spinor_model::ir::Pid;
use spinor_store::{Arena, Budget, Compact, Hint, Visited};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};

const FAIRNESSES: [Fairness; 3] = [Fairness::None, Fairness::Weak, Fairness::Strong];

fn arena() -> Arena {
    Arena::new(&Budget::unlimited()).expect("room")
}

pub(super) fn compact() -> Compact {
    Compact::new(&Budget::unlimited(), Box::new(|_| Hint::default())).expect("room")
}

/// Threads begin together, and give way to each other at some of the states.
pub(super) struct Together<'a, R> {
    runs: &'a R,
    start: Barrier,
    n_desks: AtomicUsize,
    jobs: usize,
}

impl<'a, R: Runs> Together<'a, R> {
    pub fn new(runs: &'a R, jobs: usize) -> Self {
        Together { runs, start: Barrier::new(jobs), n_desks: 0.into(), jobs }
    }
}

impl<R: Runs> Runs for Together<'_, R> {
    type Desk = (R::Desk, Rng);

    fn desk(&self) -> Self::Desk {
        if self.n_desks.fetch_add(1, SeqCst) < self.jobs {
            self.start.wait();
        }
        (self.runs.desk(), Rng(7))
    }

    fn n_marks(&self) -> u32 {
        self.runs.n_marks()
    }

    fn initial(&self, (desk, _): &mut Self::Desk, out: &mut Moves) {
        self.runs.initial(desk, out);
    }

    fn part(&self, key: &[u8]) -> Part {
        self.runs.part(key)
    }

    fn moves(&self, (desk, rng): &mut Self::Desk, key: &[u8], out: &mut Moves) {
        if self.jobs > 1 && rng.below(4) == 0 {
            std::thread::yield_now();
        }
        self.runs.moves(desk, key, out);
    }
}

/// With all threads from the first state on.
fn united<R: Runs, V: Visited>(runs: &R, store: &V, fairness: Fairness, jobs: usize) -> Searched {
    let request = Request { jobs, ..Request::new(fairness) };
    union::search_after(0, &Together::new(runs, jobs), store, &request, &mut Silent)
}

fn compare<R: Runs>(case: &str, runs: &R, fairness: Fairness, jobs: usize, tree: bool, truth: Option<(u64, u64)>) {
    let searched = match tree {
        true => united(runs, &compact(), fairness, jobs),
        false => united(runs, &arena(), fairness, jobs),
    };
    let case = || format!("{case}, {fairness:?}, {jobs} threads");
    assert_eq!(searched.stopped, None, "{}", case());
    assert_eq!(searched.found.is_none(), truth.is_some(), "{}", case());
    match &searched.found {
        Some(lasso) => replay(runs, lasso, fairness).unwrap_or_else(|e| panic!("{}: {e}: {lasso:?}", case())),
        None => assert_eq!(Some((searched.counters.stored, searched.counters.transitions)), truth, "{}", case()),
    }
}

#[test]
fn united_sets_agree_with_every_set_of_states() {
    let mut n_found = [0; 3];
    let seeds = seeds();
    for seed in seeds.clone() {
        let runs = ToyRuns::random(seed, 7);
        let case = format!("seed {seed}");
        for (n, fairness) in FAIRNESSES.into_iter().enumerate() {
            let truth = (!oracle::has_accepted_run(&runs, fairness)).then(|| oracle::size(&runs));
            n_found[n] += u64::from(truth.is_none());
            let parts = runs.clone().in_parts(seed);
            for (case, runs) in [(case.clone(), &runs), (format!("{case} in parts"), &parts)] {
                compare(&case, runs, fairness, 1, seed % 2 == 0, truth);
                if seed % 8 == 0 {
                    compare(&case, runs, fairness, 2, seed % 16 == 0, truth);
                }
                if seed % 32 == 0 {
                    compare(&case, runs, fairness, 4, seed % 64 == 0, truth);
                }
            }
        }
    }
    let n = seeds.end - seeds.start;
    assert!(n < 1000 || n_found.iter().all(|found| n / 20 < *found && *found < n * 19 / 20), "{n_found:?} of {n}");
}

/// Some hundred nodes, in clusters that lead on to later ones, marks so rare that about half of the graphs have no
/// accepted run. Clusters are parts, if wanted.
fn large(seed: u64, in_parts: bool) -> ToyRuns {
    let mut rng = Rng(seed);
    let n = 50 + rng.below(400);
    let (n_marks, n_pids) = (rng.below(3) as u32, 2 + rng.below(3));
    let (size, back) = (1 + rng.below(40), rng.below(4));
    let n_arcs = n + rng.below(2 * n);
    let rare = 1 + rng.below(n_arcs);
    let mut arcs = Vec::new();
    let arc = |from: u64, to: u64, rng: &mut Rng| {
        let marks = (0..n_marks).filter(|_| rng.below(rare) == 0).fold(0, |marks, m| marks | 1 << m);
        ToyMove { from: from as u32, to: to as u32, marks, pid: Some(rng.below(n_pids) as Pid) }
    };
    for to in 1..n {
        let from = to - 1 - rng.below(to.min(5));
        arcs.push(arc(from, to, &mut rng));
    }
    for _ in 0..n_arcs {
        let from = rng.below(n);
        // Back inside a cluster, or on.
        let to = if rng.below(4) < back { from - rng.below(from % size + 1) } else { from + rng.below(n - from) };
        if to != from || rng.below(8) == 0 {
            arcs.push(arc(from, to, &mut rng));
        }
    }
    let able = (0..n).map(|_| {
        let mut able = Pids::default();
        (0..n_pids).filter(|_| rng.below(3) == 0).for_each(|pid| able.put(pid as Pid));
        able
    });
    let able = able.collect();
    let part = |node: u64| {
        let here = |at: u32| u64::from(at) / size == node / size;
        let inside = arcs.iter().filter(|arc| here(arc.from) && here(arc.to)).map(|arc| arc.marks);
        Part { number: (node / size) as u32, barren: inside.reduce(|a, b| a | b) != Some(all_marks(n_marks)) }
    };
    let parts = if in_parts { (0..n).map(part).collect() } else { Vec::new() };
    ToyRuns { initial: vec![0, (n / 2) as u32], able, arcs, n_marks, ends: Vec::new(), parts }
}

#[test]
fn united_sets_agree_with_components_on_larger_graphs() {
    let mut n_found = [0; 3];
    let n = (seeds().end - seeds().start) / 50;
    for seed in seeds().start..seeds().start + n {
        let runs = Quick::new(large(seed, false));
        let parts = Quick::new(large(seed, true));
        for (f, fairness) in FAIRNESSES.into_iter().enumerate() {
            let alone = components(&runs, &arena(), fairness);
            let truth = alone.found.is_none().then_some((alone.counters.stored, alone.counters.transitions));
            n_found[f] += u64::from(truth.is_none());
            for jobs in [1, 2, 4] {
                compare(&format!("seed {seed}"), &runs, fairness, jobs, seed % 2 == 0, truth);
                compare(&format!("seed {seed} in parts"), &parts, fairness, jobs, seed % 2 == 1, truth);
            }
        }
    }
    assert!(n < 200 || n_found.iter().all(|found| n / 20 < *found && *found < n * 19 / 20), "{n_found:?} of {n}");
}

/// A graph whose moves are not looked for in a list of all.
struct Quick {
    toy: ToyRuns,
    arcs: Vec<Vec<ToyMove>>,
}

impl Quick {
    fn new(toy: ToyRuns) -> Quick {
        let mut arcs = vec![Vec::new(); toy.able.len()];
        toy.arcs.iter().for_each(|arc| arcs[arc.from as usize].push(arc.clone()));
        Quick { toy, arcs }
    }
}

impl Runs for Quick {
    type Desk = ();
    fn desk(&self) {}

    fn n_marks(&self) -> u32 {
        self.toy.n_marks
    }

    fn initial(&self, _: &mut (), out: &mut Moves) {
        self.toy.initial(&mut (), out);
    }

    fn part(&self, key: &[u8]) -> Part {
        self.toy.part(key)
    }

    fn moves(&self, _: &mut (), key: &[u8], out: &mut Moves) {
        let node = u32::from_le_bytes(*key.first_chunk().expect("four bytes")) as usize;
        out.able = self.toy.able[node];
        for arc in &self.arcs[node] {
            out.push(&arc.to.to_le_bytes(), arc.marks, arc.pid);
            out.able = out.able.union(Pids::of(arc.pid));
        }
    }
}

/// Counters that turn, each by itself: one component, without the mark. At some state one may be told to do more.
pub(super) struct Counters {
    pub n: usize,
    pub modulus: u8,
    pub at: fn(&[u8], &mut Moves),
}

impl Runs for Counters {
    type Desk = ();
    fn desk(&self) {}

    fn n_marks(&self) -> u32 {
        1
    }

    fn initial(&self, _: &mut (), out: &mut Moves) {
        out.push(&vec![0; self.n], 0, None);
    }

    fn moves(&self, _: &mut (), key: &[u8], out: &mut Moves) {
        for n in 0..self.n {
            let mut to = key.to_vec();
            to[n] = (to[n] + 1) % self.modulus;
            out.push(&to, 0, None);
        }
        (self.at)(key, out);
    }
}

pub(super) fn nowhere(_: &[u8], _: &mut Moves) {}

pub(super) fn far(key: &[u8]) -> bool {
    key.iter().all(|digit| *digit == 5)
}

/// What is far away cannot be looked at.
pub(super) fn blind(key: &[u8], out: &mut Moves) {
    if far(key) {
        out.clear();
        out.blind = true;
    }
}

#[test]
fn one_large_component_is_counted_once() {
    let runs = Counters { n: 5, modulus: 8, at: nowhere };
    for jobs in [1, 2, 4] {
        let searched = united(&runs, &compact(), Fairness::None, jobs);
        assert!(searched.found.is_none() && searched.stopped.is_none());
        assert_eq!((searched.counters.stored, searched.counters.transitions), (1 << 15, 1 + 5 * (1 << 15)));
        // Called late, the others still find something to do.
        let request = Request { jobs, ..Request::new(Fairness::None) };
        let later = union::search(&runs, &compact(), &request, &mut Silent);
        assert_eq!(later.counters.transitions, searched.counters.transitions);
    }
}

#[test]
fn a_move_that_ends_the_matter_and_a_mark_far_away_are_found() {
    let ends = |key: &[u8], out: &mut Moves| out.ends = far(key).then_some(2);
    let mark = |key: &[u8], out: &mut Moves| out.all[1].marks = u64::from(far(key));
    for at in [ends, mark as fn(&[u8], &mut Moves)] {
        let runs = Counters { n: 5, modulus: 8, at };
        for jobs in [1, 2, 4] {
            let searched = united(&runs, &compact(), Fairness::None, jobs);
            replay(&runs, &searched.found.expect("it is there"), Fairness::None).expect("a run");
        }
    }
}

#[test]
fn all_threads_stop_where_one_cannot_look() {
    let runs = Counters { n: 5, modulus: 8, at: blind };
    for jobs in [1, 2, 4] {
        let searched = united(&runs, &compact(), Fairness::None, jobs);
        assert_eq!((searched.stopped, searched.found), (Some(Stopped::Blind), None));
    }
}

/// Counters, at which threads take their time until all of them are there.
pub(super) struct Shared {
    pub counters: Counters,
    pub barren: bool,
    pub jobs: usize,
    pub n_there: AtomicUsize,
}

impl Shared {
    pub fn new(barren: bool, jobs: usize) -> Shared {
        let counters = Counters { n: 4, modulus: 6, at: nowhere };
        Shared { counters, barren, jobs, n_there: 0.into() }
    }
}

impl Runs for Shared {
    /// Whether this thread has seen a state.
    type Desk = bool;

    fn desk(&self) -> bool {
        false
    }

    fn n_marks(&self) -> u32 {
        1
    }

    fn initial(&self, _: &mut bool, out: &mut Moves) {
        self.counters.initial(&mut (), out);
    }

    fn part(&self, _: &[u8]) -> Part {
        Part { number: 0, barren: self.barren }
    }

    fn moves(&self, seen: &mut bool, key: &[u8], out: &mut Moves) {
        if !std::mem::replace(seen, true) {
            self.n_there.fetch_add(1, SeqCst);
        }
        // Not for ever: who waits here keeps the others from the store.
        if self.n_there.load(SeqCst) < self.jobs {
            std::thread::sleep(Duration::from_millis(5));
        }
        self.counters.moves(&mut (), key, out);
    }
}

#[test]
fn all_threads_are_given_something_to_do() {
    for jobs in [2, 4] {
        for barren in [false, true] {
            let runs = Shared::new(barren, jobs);
            let request = Request { jobs, ..Request::new(Fairness::None) };
            let searched = union::search_after(0, &runs, &compact(), &request, &mut Silent);
            assert!(searched.found.is_none() && searched.stopped.is_none());
            assert_eq!((searched.counters.stored, searched.counters.transitions), (1296, 1 + 4 * 1296));
            assert_eq!(runs.n_there.load(SeqCst), jobs, "{barren}");
        }
    }
}

pub(super) struct Stops;

impl Observer for Stops {
    fn progress(&mut self, _: &Progress) -> Control {
        Control::Stop
    }
}

#[test]
fn all_threads_stop_at_limits() {
    // Too many states to see.
    let runs = Counters { n: 40, modulus: 3, at: nowhere };
    for jobs in [1, 2] {
        let request = Request { jobs, ..Request::new(Fairness::None) };
        let start = Instant::now();
        let searched = union::search(&runs, &compact(), &request, &mut Stops);
        assert_eq!(searched.stopped, Some(Stopped::Interrupted));
        let limit = Duration::from_millis(50);
        let timed = Request { max_time: Some(limit), ..request.clone() };
        assert_eq!(union::search(&runs, &compact(), &timed, &mut Silent).stopped, Some(Stopped::Time(limit)));
        assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
        let budget = Budget::new(3 << 20);
        let store = Compact::new(&budget, Box::new(|_| Hint::default())).expect("room");
        let tight = Request { budget: budget.clone(), ..request.clone() };
        assert_eq!(union::search(&runs, &store, &tight, &mut Silent).stopped, Some(Stopped::Memory(3 << 20)));
        let shallow = Request { max_depth: Some(4), ..request };
        let searched = union::search(&runs, &compact(), &shallow, &mut Silent);
        assert_eq!(searched.stopped, Some(Stopped::Depth(4)));
    }
}

#[test]
fn with_a_limit_of_depth_what_is_found_is_a_run() {
    let mut n_found = 0;
    for seed in 0..2000 {
        let mut runs = ToyRuns::random(seed, 7);
        if seed % 2 == 0 {
            runs = runs.in_parts(seed);
        }
        for fairness in FAIRNESSES {
            let truth = oracle::has_accepted_run(&runs, fairness);
            for jobs in [1, 2] {
                let depth = (seed % 5) as u32;
                let request = Request { jobs, max_depth: Some(depth), ..Request::new(fairness) };
                let searched = union::search_after(0, &runs, &arena(), &request, &mut Silent);
                if let Some(lasso) = &searched.found {
                    n_found += 1;
                    replay(&runs, lasso, fairness).unwrap_or_else(|e| panic!("seed {seed}: {e}: {lasso:?}"));
                }
                assert!(searched.found.is_some() == truth || searched.stopped == Some(Stopped::Depth(depth)));
            }
        }
    }
    assert!(n_found > 1000);
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
        let search = || united(&runs, &compact(), Fairness::None, jobs);
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(search)).expect_err("it panics");
    }
}
