use super::*;
use crate::observer::Silent;
use crate::oracle::Graph;
use crate::toy::Toy;
use crate::trace::legs;
use spinor_model::successors::{Batch, Successors};
use spinor_store::{Arena, Visited};

fn request(all_errors: Option<usize>) -> Request {
    Request { kinds: SAFETY.to_vec(), all_errors, ..Request::default() }
}

/// The legs of a violation, done again: each must be offered and lead to its key, the last one to the fault.
fn retrace(toy: &Toy, store: &Arena, found: &Found) {
    let Ok(mut state) = toy.initial() else {
        assert!(found.path.is_empty());
        return;
    };
    let mut steps = Vec::new();
    for leg in legs(toy, store, found) {
        toy.enabled(&state, &mut steps);
        assert!(steps.contains(&leg.step));
        let mut batch = Batch::default();
        toy.fire(&state, &[leg.step], &mut batch);
        let outcome = batch.outcomes.iter().find(|o| o.path == leg.path).expect("the path exists");
        match &leg.key {
            Some(key) => {
                assert_eq!(batch.key(outcome), Some(&key[..]));
                state = toy.unpack(key);
            }
            None => {
                let fault = found.fault.as_ref().expect("a last step has a fault");
                assert!(outcome.faults.contains(fault));
                return;
            }
        }
    }
    assert_eq!(found.kind, Kind::EndState);
    toy.enabled(&state, &mut steps);
    assert!(steps.is_empty() && !toy.may_end(&state));
}

/// Both searches against the oracle.
fn check(toy: &Toy, name: &str) {
    let graph = Graph::build(toy);
    for bits in [64, 3] {
        let store = || Arena::with_hash_bits(bits);
        let both = [
            ("bfs", bfs::search(toy, store(), &request(Some(0)), &mut Silent)),
            ("dfs", dfs::search(toy, store(), &request(Some(0)), &mut Silent)),
        ];
        for (which, s) in &both {
            let what = format!("{which} with {bits} bits on {name}");
            assert_eq!(s.stopped, None, "{what}");
            assert_eq!(s.counters.stored, graph.nodes.len() as u64, "{what}");
            assert_eq!(s.counters.transitions, graph.n_transitions() as u64, "{what}");
            assert_eq!(s.counters.atomic_steps, graph.n_atomic_steps(), "{what}");
            assert_eq!(s.counters.matched(), s.counters.transitions - s.store.len() as u64, "{what}");
            for kind in SAFETY {
                let (n, shortest) = graph.violations(kind);
                assert_eq!(s.tally.of(kind), n, "{what}: {kind}");
                let first = s.found.iter().find(|f| f.kind == kind);
                assert_eq!(first.is_some(), n > 0, "{what}: {kind}");
                if *which == "bfs" {
                    assert_eq!(first.map(Found::n_steps), shortest, "{what}: {kind}");
                }
            }
            s.found.iter().for_each(|f| retrace(toy, &s.store, f));
        }
        let deepest = graph.nodes.iter().map(|n| n.distance).max().unwrap_or(0) as u64;
        assert_eq!(both[0].1.counters.depth, deepest, "{name}");
        assert!(both[1].1.counters.depth >= deepest, "{name}");
        assert_eq!(both[0].1.reached, both[1].1.reached, "{name}");
    }
    first_of_each(toy, &graph, name);
    within_a_depth(toy, &graph, name);
}

/// Without all errors: one trace per kind that has any, and a partial search only if every kind was found.
fn first_of_each(toy: &Toy, graph: &Graph, name: &str) {
    for s in [
        bfs::search(toy, Arena::new(), &request(None), &mut Silent),
        dfs::search(toy, Arena::new(), &request(None), &mut Silent),
    ] {
        for kind in SAFETY {
            let n = s.found.iter().filter(|f| f.kind == kind).count();
            assert_eq!(n, usize::from(graph.violations(kind).0 > 0), "{name}: {kind}");
        }
        assert!(s.stopped.is_none() || s.stopped == Some(Stopped::Settled) && s.found.len() == SAFETY.len());
    }
}

/// Breadth-first to a depth finds exactly what lies within it.
fn within_a_depth(toy: &Toy, graph: &Graph, name: &str) {
    for max in 0..4 {
        let request = Request { max_depth: Some(max), ..request(Some(0)) };
        let s = bfs::search(toy, Arena::new(), &request, &mut Silent);
        let near = graph.nodes.iter().filter(|n| n.distance <= max as usize);
        assert_eq!(s.counters.stored, near.count() as u64, "{name} to depth {max}");
        for kind in SAFETY {
            let within = graph.violations(kind).1.is_some_and(|d| d <= max as usize);
            assert_eq!(s.found.iter().any(|f| f.kind == kind), within, "{name} to depth {max}: {kind}");
        }
        let cut = graph.nodes.iter().any(|n| n.distance == max as usize && !n.edges.is_empty());
        assert_eq!(s.stopped, cut.then_some(Stopped::Depth(max)), "{name} to depth {max}");
        let d = dfs::search(toy, Arena::new(), &request, &mut Silent);
        assert!(d.counters.depth <= u64::from(max));
        assert!(d.found.iter().all(|f| f.n_steps() <= max as usize));
    }
}

#[test]
fn depth_first_breadth_first_and_the_oracle_agree_on_random_systems() {
    for seed in 0..3000 {
        check(&Toy::random(seed), &format!("seed {seed}"));
    }
}

#[test]
fn a_single_state_without_steps_is_one_transition_deep_zero() {
    let toy = Toy { ends: vec![0], ..Toy::default() };
    let s = bfs::search(&toy, Arena::new(), &request(None), &mut Silent);
    assert_eq!(s.counters, Counters { stored: 1, transitions: 1, atomic_steps: 0, depth: 0 });
    assert!(s.found.is_empty());
    check(&toy, "one state");
}

#[test]
fn a_long_path_needs_no_thread_stack() {
    let arcs: Vec<(u32, u32)> = (0..3000).map(|n| (n, n + 1)).collect();
    let toy = Toy::graph(&arcs).asserting(2999);
    let s = dfs::search(&toy, Arena::new(), &request(Some(0)), &mut Silent);
    assert_eq!((s.counters.depth, s.found.len()), (3000, 2));
    s.found.iter().for_each(|f| retrace(&toy, &s.store, f));
}

#[test]
fn one_trace_is_kept_per_place_and_no_more_than_asked() {
    // The same arc fails from one node; two more arcs fail elsewhere.
    let mut toy = Toy::graph(&[(0, 1), (0, 2), (1, 3), (2, 3), (3, 0)]).asserting(2).asserting(3).asserting(4);
    let again = toy.arcs[4].outcomes[0].clone();
    toy.arcs[4].outcomes.push(again);
    let count = |n| {
        let s = bfs::search(&toy, Arena::new(), &request(Some(n)), &mut Silent);
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

/// A counter that never ends: only limits stop it.
struct Endless;
impl Successors for Endless {
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
    fn enabled(&self, _: &u64, steps: &mut Vec<Step>) {
        steps.clear();
        steps.push(Step { pid: 0, edge: EdgeId(0), partner: None, timeout: false });
    }
    fn fire(&self, state: &u64, steps: &[Step], batch: &mut Batch) {
        for n in 0..steps.len() as u32 {
            let at = batch.keys.len();
            self.pack(&(state + 1), &mut batch.keys);
            let key = Some(at..batch.keys.len());
            batch.outcomes.push(spinor_model::successors::Outcome { step: n, key, ..Default::default() });
        }
    }
    fn may_end(&self, _: &u64) -> bool {
        true
    }
}

#[test]
fn limits_and_the_observer_stop_a_search() {
    let short = Duration::from_millis(20);
    let timed = Request { max_time: Some(short), ..request(None) };
    let small = Request { max_memory: Some(1 << 20), ..request(None) };
    assert_eq!(bfs::search(&Endless, Arena::new(), &timed, &mut Silent).stopped, Some(Stopped::Time(short)));
    assert_eq!(dfs::search(&Endless, Arena::new(), &timed, &mut Silent).stopped, Some(Stopped::Time(short)));
    assert_eq!(bfs::search(&Endless, Arena::new(), &small, &mut Silent).stopped, Some(Stopped::Memory(1 << 20)));
    assert_eq!(dfs::search(&Endless, Arena::new(), &small, &mut Silent).stopped, Some(Stopped::Memory(1 << 20)));
    let mut observer = StopAtOnce(0);
    assert_eq!(bfs::search(&Endless, Arena::new(), &request(None), &mut observer).stopped, Some(Stopped::Interrupted));
    assert_eq!(dfs::search(&Endless, Arena::new(), &request(None), &mut observer).stopped, Some(Stopped::Interrupted));
    assert_eq!(observer.0, 2);
}
