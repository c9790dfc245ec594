use super::*;
use crate::observer::{Control, Observer, Progress, Silent};
use crate::oracle::Graph;
use crate::toy::{Grid, Toy};
use spinor_model::successors::{Batch, Successors};
use spinor_store::{Arena, Bitstate, Compact, HashCompact, StateId, Visited};

fn request(all_errors: Option<usize>) -> Request {
    Request { kinds: SAFETY.to_vec(), all_errors, ..Request::default() }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Way {
    Bfs,
    Dfs,
}
use Way::{Bfs, Dfs};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Store {
    Arena,
    /// With so few bits that most hashes are equal.
    Clash,
    Tree,
    /// An exact one that says it is not: depth-first keeps the keys of the path itself.
    Forgetful,
    /// Lossy ones, with so much room that nothing is lost in a toy.
    HashCompact,
    Bitstate,
}

const STORES: [Store; 6] =
    [Store::Arena, Store::Clash, Store::Tree, Store::Forgetful, Store::HashCompact, Store::Bitstate];

fn search<S: Successors>(way: Way, store: Store, system: &S, request: &Request) -> Searched {
    fn go<S: Successors, V: Visited>(way: Way, store: &V, system: &S, request: &Request) -> Searched {
        let searched = match way {
            Bfs => bfs::search(system, store, request, &mut Silent),
            Dfs => dfs::search(system, store, request, &mut Silent),
        };
        assert_eq!(searched.counters.stored, store.len());
        assert_eq!(request.budget.used(), store.bytes(), "what was not the store's was given back");
        searched
    }
    let arena = |bits| Arena::with_hash_bits(&request.budget, bits).expect("room for an empty store");
    match store {
        Store::Arena => go(way, &arena(64), system, request),
        Store::Clash => go(way, &arena(3), system, request),
        Store::Tree => {
            let hints = Box::new(|_: &[u8]| spinor_store::Hint::default());
            go(way, &Compact::new(&request.budget, hints).expect("room for an empty store"), system, request)
        }
        Store::HashCompact => go(way, &HashCompact::new(&request.budget).expect("room"), system, request),
        Store::Bitstate => go(way, &Bitstate::new(&request.budget, 1 << 16, 3).expect("room"), system, request),
        Store::Forgetful => go(way, &Forgetful(arena(64)), system, request),
    }
}

struct Forgetful(Arena);
impl Visited for Forgetful {
    type Hand<'s> = <Arena as Visited>::Hand<'s>;
    const EXACT: bool = false;
    fn hand(&self) -> Self::Hand<'_> {
        self.0.hand()
    }
    fn load(&self, _: &mut Self::Hand<'_>, _: StateId, _: &mut Vec<u8>) {
        panic!("a lossy store gives nothing back");
    }
    fn offer(
        &self,
        hand: &mut Self::Hand<'_>,
        bytes: &[u8],
        keys: &[std::ops::Range<usize>],
    ) -> Result<(), spinor_store::Full> {
        self.0.offer(hand, bytes, keys)
    }
    fn settle(
        &self,
        hand: &mut Self::Hand<'_>,
        bytes: &[u8],
        keys: &[std::ops::Range<usize>],
        out: &mut Vec<(StateId, bool)>,
    ) -> Result<(), spinor_store::Full> {
        self.0.settle(hand, bytes, keys, out)
    }
    fn rest(&self, hand: &mut Self::Hand<'_>) {
        self.0.rest(hand);
    }
    fn len(&self) -> u64 {
        self.0.len()
    }
    fn bytes(&self) -> u64 {
        self.0.bytes()
    }
    fn omission(&self) -> Option<f64> {
        Some(0.0)
    }
}

/// Everything that can be combined; `alone` at 0 makes the smallest toy a matter for all threads.
fn combinations() -> Vec<(Way, Store, usize, u64)> {
    let mut out = Vec::new();
    for (jobs, alone) in [(1, ALONE), (1, 0), (3, 0), (1, 24), (2, 24)] {
        for store in STORES {
            if matches!(store, Store::Arena | Store::Clash | Store::Tree) {
                out.push((Bfs, store, jobs, alone));
            }
            out.push((Dfs, store, jobs, alone));
        }
    }
    out
}

/// The steps of a violation, done again: each must be offered, the last one shows the fault.
fn retrace<S: Successors>(system: &S, found: &Found) {
    let Ok(mut state) = system.initial() else {
        assert!(found.steps.is_empty());
        return;
    };
    let mut steps = Vec::new();
    for (n, (step, path)) in found.steps.iter().enumerate() {
        system.enabled(&mut state, &mut steps);
        assert!(steps.contains(step));
        let mut batch = system.batch();
        system.fire(&mut state, &[*step], &mut batch);
        let outcome = batch.outcomes.iter().position(|o| o.path == *path).expect("the path exists");
        if let Some(fault) = &found.fault
            && n + 1 == found.steps.len()
        {
            assert!(batch.faults_of(outcome).any(|f| f == fault));
            return;
        }
        state = system.unpack(batch.key(&batch.outcomes[outcome]).expect("the path goes on"));
    }
    assert_eq!((found.kind, &found.fault), (Kind::EndState, &None));
    system.enabled(&mut state, &mut steps);
    assert!(steps.is_empty() && !system.may_end(&state));
}

/// Every search, store and number of threads against the oracle.
fn check(toy: &Toy, name: &str) {
    let graph = Graph::build(toy);
    let mut lengths = Vec::new();
    let deepest = graph.nodes.iter().map(|n| n.distance).max().unwrap_or(0) as u64;
    for (way, store, jobs, alone) in combinations() {
        let request = Request { jobs, alone, ..request(Some(0)) };
        let s = search(way, store, toy, &request);
        let what = format!("{way:?} with {store:?}, {jobs} threads from {alone} on, on {name}");
        assert_eq!(s.stopped, None, "{what}");
        assert_eq!(s.counters.stored, graph.nodes.len() as u64, "{what}");
        assert_eq!(s.counters.transitions, graph.n_transitions() as u64, "{what}");
        assert_eq!(s.counters.atomic_steps, graph.n_atomic_steps(), "{what}");
        let taken = graph.nodes.iter().flat_map(|n| &n.edges).map(|e| e.step.edge);
        assert!(taken.clone().all(|e| s.reached.has(ProctypeId(0), e)), "{what}");
        assert_eq!(s.reached.iter().count(), taken.collect::<BTreeSet<_>>().len(), "{what}");
        for kind in SAFETY {
            let (n, shortest) = graph.violations(kind);
            assert_eq!(s.tally.of(kind), n, "{what}: {kind}");
            let first = s.found.iter().find(|f| f.kind == kind);
            assert_eq!(first.is_some(), n > 0, "{what}: {kind}");
            if way == Bfs {
                assert_eq!(first.map(|f| f.steps.len()), shortest, "{what}: {kind}");
            }
        }
        s.found.iter().for_each(|f| retrace(toy, f));
        if way == Bfs {
            assert_eq!(s.counters.depth, deepest, "{what}");
            lengths.push((alone, s.found));
        } else {
            assert!(s.counters.depth >= deepest, "{what}");
        }
    }
    for (a, b) in lengths.iter().zip(&lengths[1..]) {
        assert!(a.0 != b.0 || a.1 == b.1, "{name}: a trace is a matter of the model alone");
    }
    first_of_each(toy, &graph, name);
    within_a_depth(toy, &graph, name);
}

/// Without all errors: one trace per kind that has any, and a partial search only if every kind was found.
fn first_of_each(toy: &Toy, graph: &Graph, name: &str) {
    for (way, store, jobs, alone) in combinations() {
        // Asked for all there are, and only for those that are there: then the search may stop before its end.
        let there: Vec<Kind> = SAFETY.into_iter().filter(|kind| graph.violations(*kind).0 > 0).collect();
        for kinds in [SAFETY.to_vec(), there] {
            let wanted = kinds.len();
            let s = search(way, store, toy, &Request { kinds, jobs, alone, ..request(None) });
            for kind in SAFETY {
                let found: Vec<&Found> = s.found.iter().filter(|f| f.kind == kind).collect();
                let (n, shortest) = graph.violations(kind);
                assert_eq!(found.len(), usize::from(n > 0), "{name}: {kind}");
                if way == Bfs {
                    assert_eq!(found.first().map(|f| f.steps.len()), shortest, "{name}: {kind}");
                }
            }
            assert!(s.stopped.is_none() || s.stopped == Some(Stopped::Settled) && s.found.len() == wanted, "{name}");
        }
    }
}

/// Breadth-first to a depth finds exactly what lies within it.
fn within_a_depth(toy: &Toy, graph: &Graph, name: &str) {
    for (max, jobs) in [(0, 1), (1, 2), (2, 1), (3, 2)] {
        let request = Request { max_depth: Some(max), jobs, alone: 0, ..request(Some(0)) };
        let s = search(Bfs, Store::Arena, toy, &request);
        let near = graph.nodes.iter().filter(|n| n.distance <= max as usize);
        assert_eq!(s.counters.stored, near.count() as u64, "{name} to depth {max}");
        for kind in SAFETY {
            let within = graph.violations(kind).1.is_some_and(|d| d <= max as usize);
            assert_eq!(s.found.iter().any(|f| f.kind == kind), within, "{name} to depth {max}: {kind}");
        }
        let cut = graph.nodes.iter().any(|n| n.distance == max as usize && !n.edges.is_empty());
        assert_eq!(s.stopped, cut.then_some(Stopped::Depth(max)), "{name} to depth {max}");
        let d = search(Dfs, Store::Arena, toy, &request);
        assert!(d.counters.depth <= u64::from(max));
        assert!(d.found.iter().all(|f| f.steps.len() <= max as usize));
    }
}

#[test]
fn every_search_store_and_number_of_threads_agrees_with_the_oracle_on_random_systems() {
    for seed in 0..1000 {
        check(&Toy::random(seed), &format!("seed {seed}"));
    }
}

#[test]
fn a_single_state_without_steps_is_one_transition_deep_zero() {
    let toy = Toy { ends: vec![0], ..Toy::default() };
    let s = search(Bfs, Store::Arena, &toy, &request(None));
    assert_eq!(s.counters, Counters { stored: 1, transitions: 1, atomic_steps: 0, depth: 0 });
    assert!(s.found.is_empty());
    check(&toy, "one state");
}

#[test]
fn a_long_path_needs_no_thread_stack() {
    let arcs: Vec<(u32, u32)> = (0..3000).map(|n| (n, n + 1)).collect();
    let toy = Toy::graph(&arcs).asserting(2999);
    let s = search(Dfs, Store::Arena, &toy, &request(Some(0)));
    assert_eq!((s.counters.depth, s.found.len()), (3000, 2));
    s.found.iter().for_each(|f| retrace(&toy, f));
}

#[test]
fn one_trace_is_kept_per_place_and_no_more_than_asked() {
    // The same arc fails from one node; two more arcs fail elsewhere.
    let mut toy = Toy::graph(&[(0, 1), (0, 2), (1, 3), (2, 3), (3, 0)]).asserting(2).asserting(3).asserting(4);
    let again = toy.arcs[4].outcomes[0].clone();
    toy.arcs[4].outcomes.push(again);
    let count = |n| {
        let s = search(Bfs, Store::Arena, &toy, &request(Some(n)));
        (s.tally.of(Kind::Assertion), s.found.len())
    };
    assert_eq!(count(0), (4, 3));
    assert_eq!(count(2), (4, 2));
}

struct StopAtOnce(u32);
impl Observer for StopAtOnce {
    fn progress(&mut self, p: &Progress) -> Control {
        assert!(p.stored > 0 && p.transitions >= p.stored && p.bytes > 0);
        self.0 += 1;
        Control::Stop
    }
}

/// A counter, which stops badly.
struct Chain(u64);

/// One that never ends: only limits stop it.
const ENDLESS: Chain = Chain(u64::MAX);

impl Successors for Chain {
    type State = u64;
    fn initial(&self) -> Result<u64, Fault> {
        Ok(0)
    }
    fn pack(&self, state: &u64, key: &mut Vec<u8>) {
        key.extend_from_slice(&state.to_le_bytes());
    }
    fn unpack(&self, key: &[u8]) -> u64 {
        u64::from_le_bytes(*key.first_chunk().expect("eight bytes"))
    }
    fn batch(&self) -> Batch {
        Batch::default()
    }
    fn enabled(&self, state: &mut u64, steps: &mut Vec<Step>) {
        steps.clear();
        if *state < self.0 {
            steps.push(Step { pid: 0, edge: EdgeId(0), partner: None, timeout: false });
        }
    }
    fn fire(&self, state: &mut u64, steps: &[Step], batch: &mut Batch) {
        for n in 0..steps.len() as u32 {
            let at = batch.keys.len();
            self.pack(&(*state + 1), &mut batch.keys);
            batch.push(n, 0, 0, Some(at));
        }
    }
    fn may_end(&self, _: &u64) -> bool {
        false
    }
}

#[test]
fn limits_and_the_observer_stop_a_search() {
    let short = Duration::from_millis(20);
    for way in [Bfs, Dfs] {
        for (jobs, alone) in [(1, ALONE), (2, ALONE), (2, 0), (5, 0)] {
            let deep = Request { jobs, alone, ..request(None) };
            let timed = Request { max_time: Some(short), ..deep.clone() };
            assert_eq!(search(way, Store::Arena, &ENDLESS, &timed).stopped, Some(Stopped::Time(short)));
            let wide = Grid::new(9, 10);
            assert_eq!(search(way, Store::Arena, &wide, &timed).stopped, Some(Stopped::Time(short)));
            for limit in [1 << 18, 1 << 20, 1 << 22] {
                let small = Request { budget: Budget::new(limit), ..deep.clone() };
                assert_eq!(search(way, Store::Arena, &ENDLESS, &small).stopped, Some(Stopped::Memory(limit)));
                assert_eq!(search(way, Store::Arena, &wide, &small).stopped, Some(Stopped::Memory(limit)));
            }
            let mut observer = StopAtOnce(0);
            let store = Arena::new(&deep.budget).expect("room");
            let stopped = match way {
                Bfs => bfs::search(&wide, &store, &deep, &mut observer).stopped,
                Dfs => dfs::search(&wide, &store, &deep, &mut observer).stopped,
            };
            assert_eq!((stopped, observer.0), (Some(Stopped::Interrupted), 1));
        }
    }
}

#[test]
fn what_was_found_before_a_limit_is_kept() {
    let grid = Grid { fails_at: Some(3), ..Grid::new(9, 10) };
    for (way, jobs) in [(Bfs, 1), (Bfs, 2), (Dfs, 1), (Dfs, 2)] {
        let s = search(way, Store::Arena, &grid, &Request { jobs, budget: Budget::new(1 << 22), ..request(None) });
        assert_eq!(s.stopped, Some(Stopped::Memory(1 << 22)));
        assert_eq!(s.found.len(), 1);
        retrace(&grid, &s.found[0]);
    }
}

#[test]
fn threads_change_no_count_and_no_shortest_trace() {
    let grid = Grid { fails_at: Some(20), ends_at: Some(25), ..Grid::new(5, 8) };
    let alone = search(Bfs, Store::Arena, &grid, &request(Some(3)));
    assert_eq!(alone.stopped, None);
    assert_eq!(alone.found.iter().map(|f| f.steps.len()).min(), Some(20));
    for n in 0..100 {
        let request = Request { jobs: 2 + n % 2, alone: 100, ..request(Some(3)) };
        let s = search(Bfs, Store::Arena, &grid, &request);
        assert_eq!((s.counters, s.tally, s.stopped), (alone.counters, alone.tally, None));
        assert_eq!(s.found.len(), alone.found.len());
        let lengths = |s: &Searched| s.found.iter().map(|f| (f.kind, f.steps.len())).collect::<Vec<_>>();
        assert_eq!(lengths(&s), lengths(&alone));
        s.found.iter().for_each(|f| retrace(&grid, f));
        let d = search(Dfs, Store::Arena, &grid, &request);
        let Counters { stored, transitions, atomic_steps, .. } = alone.counters;
        assert_eq!((d.counters.stored, d.counters.transitions), (stored, transitions));
        assert_eq!((d.counters.atomic_steps, d.tally, d.stopped), (atomic_steps, alone.tally, None));
        d.found.iter().for_each(|f| retrace(&grid, f));
    }
}

#[test]
fn the_same_trace_is_shown_for_any_number_of_threads() {
    let grid = Grid { fails_at: Some(20), ..Grid::new(5, 8) };
    let asked = || Request { kinds: vec![Kind::Assertion], alone: 100, ..request(None) };
    let searched = |jobs| search(Bfs, Store::Arena, &grid, &Request { jobs, ..asked() });
    let found = |jobs| searched(jobs).found;
    let one = found(1);
    assert_eq!(
        (one.len(), searched(2).stopped),
        (1, Some(Stopped::Settled)),
        "the search stops at what it was asked for"
    );
    (0..10).for_each(|n| assert_eq!(found(2 + n % 3), one));
}

#[test]
fn a_grid_has_as_many_states_as_it_should() {
    let grid = Grid::new(4, 9);
    for (way, jobs) in [(Bfs, 1), (Bfs, 2), (Dfs, 1), (Dfs, 2)] {
        let s = search(way, Store::Arena, &grid, &Request { jobs, ..request(None) });
        assert_eq!(s.counters.stored, grid.n_states());
        assert_eq!(s.counters.transitions, 1 + 4 * grid.n_states());
        assert_eq!(s.reached.iter().count(), 4);
    }
}

#[test]
fn a_million_levels_are_no_burden() {
    let chain = Chain(1_000_000);
    for jobs in [1, 2] {
        let started = std::time::Instant::now();
        let s = search(Bfs, Store::Arena, &chain, &Request { jobs, ..request(None) });
        assert_eq!((s.counters.stored, s.counters.depth), (1_000_001, 1_000_000));
        assert_eq!(s.found[0].steps.len(), 1_000_000);
        assert!(s.bytes < 64 << 20, "{}", s.bytes);
        println!("{:?}", started.elapsed());
        assert!(started.elapsed() < Duration::from_secs(20));
    }
}

/// A tree of two successors each, in which somebody trips over a state.
struct Tree {
    n: u64,
    trips_at: Option<u64>,
}

impl Successors for Tree {
    type State = u64;
    fn initial(&self) -> Result<u64, Fault> {
        Ok(0)
    }
    fn pack(&self, state: &u64, key: &mut Vec<u8>) {
        key.extend_from_slice(&state.to_le_bytes());
    }
    fn unpack(&self, key: &[u8]) -> u64 {
        u64::from_le_bytes(*key.first_chunk().expect("eight bytes"))
    }
    fn batch(&self) -> Batch {
        Batch::default()
    }
    fn enabled(&self, state: &mut u64, steps: &mut Vec<Step>) {
        assert_ne!(Some(*state), self.trips_at, "here it trips");
        steps.clear();
        let step = |n| Step { pid: n, edge: EdgeId(0), partner: None, timeout: false };
        steps.extend((0..2).map(step).filter(|step| 2 * *state + u64::from(step.pid) + 1 < self.n));
    }
    fn fire(&self, state: &mut u64, steps: &[Step], batch: &mut Batch) {
        for (n, step) in steps.iter().enumerate() {
            let at = batch.keys.len();
            self.pack(&(2 * *state + u64::from(step.pid) + 1), &mut batch.keys);
            batch.push(n as u32, 0, 0, Some(at));
        }
    }
    fn may_end(&self, _: &u64) -> bool {
        true
    }
}

#[test]
fn who_panics_keeps_nobody_waiting() {
    for (trips_at, jobs) in [(0, 1), (0, 4), (700, 1), (700, 2), (1_000, 4), (5_000, 4), (19_999, 3)] {
        let tree = Tree { n: 20_000, trips_at: Some(trips_at) };
        let request = Request { jobs, alone: 64, ..request(None) };
        for store in [Store::Arena, Store::Tree] {
            let go = std::panic::AssertUnwindSafe(|| search(Bfs, store, &tree, &request));
            let panic = std::panic::catch_unwind(go).expect_err("it trips");
            assert!(panic.downcast_ref::<String>().is_some_and(|said| said.contains("here it trips")));
        }
    }
    let tree = Tree { n: 20_000, trips_at: None };
    let s = search(Bfs, Store::Tree, &tree, &Request { jobs: 3, alone: 64, ..request(None) });
    assert_eq!((s.counters.stored, s.counters.depth, s.stopped), (20_000, 14, None));
}

#[test]
fn many_threads_and_tiny_levels() {
    let chain = Chain(3_000);
    let grid = Grid { fails_at: Some(9), ends_at: Some(12), ..Grid::new(3, 5) };
    let alone = search(Bfs, Store::Tree, &grid, &Request { alone: 0, ..request(Some(0)) });
    for jobs in [2, 7, 16] {
        let s = search(Bfs, Store::Arena, &chain, &Request { jobs, alone: 0, ..request(None) });
        assert_eq!((s.counters.stored, s.counters.depth, s.found[0].steps.len()), (3_001, 3_000, 3_000));
        for _ in 0..20 {
            let s = search(Bfs, Store::Tree, &grid, &Request { jobs, alone: 0, ..request(Some(0)) });
            assert_eq!((s.counters, s.tally, s.stopped), (alone.counters, alone.tally, None));
            assert_eq!(s.found, alone.found);
        }
    }
}
