use super::oracle::Graph;
use super::restarts::{self, Form};
use super::toy::ToyGround;
use super::{Ground, Searched, fifo, levels, nested};
use crate::cycles::{Fairness, Request};
use crate::observer::Silent;
use spinor_gen::question::seeds;
use spinor_store::{Arena, Bitstate, Budget, Compact, HashCompact, Hint};

fn request(jobs: usize) -> Request {
    Request { jobs, ..Request::new(Fairness::None) }
}

fn arena() -> Arena {
    Arena::new(&Budget::unlimited()).expect("unlimited")
}

fn by_levels<G: Ground>(ground: &G, jobs: usize) -> Searched {
    // Every layer is shared.
    let alone = if jobs > 1 { 0 } else { levels::ALONE };
    levels::search_from(ground, &arena(), &request(jobs), alone, &mut Silent)
}

fn by_fifo<G: Ground>(ground: &G) -> Searched {
    fifo::search(ground, &arena(), &request(1), &mut Silent)
}

/// What the searches must say about a graph: the level of a cycle, and of the counts as many as they have.
fn agrees<G: Ground>(ground: &G, jobs: &[usize], told: &str) -> Option<u64> {
    let graph = Graph::new(ground);
    let level = graph.level();
    let exact = |searched: &Searched, name: &str| {
        assert_eq!(searched.found.as_ref().map(|f| f.level), level, "{told}: {name}");
        searched.found.iter().for_each(|found| graph.judge(found));
        if level.is_none() {
            assert_eq!(searched.counters.stored, graph.len() as u64, "{told}: {name}");
            assert_eq!(searched.counters.transitions, 1 + graph.n_moves() as u64, "{told}: {name}");
        }
    };
    for jobs in jobs {
        exact(&by_levels(ground, *jobs), &format!("levels by {jobs}"));
    }
    exact(&by_fifo(ground), "fifo");
    let nested = nested::search(ground, &arena(), &request(1), &mut Silent);
    assert_eq!(nested.found.is_some(), level.is_some(), "{told}: nested");
    nested.found.iter().for_each(|found| graph.judge(found));
    let restarts = restarts::search(ground, &arena(), &request(1), &mut Silent);
    assert_eq!(restarts.found.is_some(), level.is_some(), "{told}: restarts");
    restarts.found.iter().for_each(|found| graph.judge(found));
    level
}

/// How many random graphs.
fn n_graphs() -> u64 {
    let seeds = seeds(0..4000);
    seeds.end - seeds.start
}

#[test]
fn the_searches_agree_with_the_oracle_on_random_graphs() {
    let (mut n_cycles, mut n_deep, mut n_over, mut n_missed) = (0, 0, 0, 0);
    let n = n_graphs();
    for seed in 0..n {
        let ground = ToyGround::random(seed, 4 + seed % 20);
        // Threads cost more than such a graph.
        let jobs: &[usize] = if seed % 40 == 0 { &[1, 2, 3] } else { &[1] };
        let level = agrees(&ground, jobs, &format!("seed {seed}"));
        n_cycles += u64::from(level.is_some());
        n_deep += u64::from(level > Some(0));
        let (_, limit) = restarts::search_as(&ground, &arena(), Form::Repaired, &request(1), &mut Silent);
        n_over += u64::from(level.is_some_and(|level| limit > level));
        // Without the false alarms of the printed form, its rounds are the paper's.
        let rounds = || restarts::search_as(&ground, &arena(), Form::Printed, &request(1), &mut Silent).0;
        n_missed += u64::from(ground.by_steps && level.is_some() && rounds().found.is_none());
    }
    println!(
        "{n} graphs: {n_cycles} with a cycle, {n_deep} after progress; restarts went too deep {n_over} times, missed {n_missed}"
    );
    assert!(n_cycles > n / 4 && n_cycles < n * 9 / 10 && n_deep > n / 40, "{n_cycles} {n_deep}");
    assert!(n_over > 0, "restarts never go too deep");
}

/// Larger ones, in the store that names states by what they are, with more work for each thread.
#[test]
fn threads_and_stores_make_no_difference() {
    for seed in 0..n_graphs() / 100 {
        let ground = ToyGround::random(1 << 40 | seed, 300);
        let graph = Graph::new(&ground);
        for jobs in [1, 2, 4] {
            let budget = Budget::unlimited();
            let store = Compact::new(&budget, Box::new(|_| Hint::default())).expect("unlimited");
            let alone = if jobs == 1 { levels::ALONE } else { 0 };
            let searched = levels::search_from(&ground, &store, &request(jobs), alone, &mut Silent);
            assert_eq!(searched.found.as_ref().map(|f| f.level), graph.level(), "seed {seed}");
            searched.found.iter().for_each(|found| graph.judge(found));
        }
    }
}

/// What a lossy store lets a search find is there; and if it misses no state, all is found.
#[test]
fn lossy_stores_miss_some_and_make_up_nothing() {
    let (mut n_cycles, mut n_missed) = (0, 0);
    for seed in 0..n_graphs() / 10 {
        let ground = ToyGround::random(1 << 41 | seed, 60);
        let graph = Graph::new(&ground);
        let budget = Budget::unlimited();
        let hashes = HashCompact::new(&budget).expect("unlimited");
        let searched = fifo::search(&ground, &hashes, &request(1), &mut Silent);
        assert_eq!(searched.found.as_ref().map(|f| f.level), graph.level(), "seed {seed}");
        searched.found.iter().for_each(|found| graph.judge(found));
        let tiny = Bitstate::new(&budget, 8, 2).expect("unlimited");
        let searched = fifo::search(&ground, &tiny, &request(1), &mut Silent);
        searched.found.iter().for_each(|found| graph.judge(found));
        n_cycles += u32::from(graph.level().is_some());
        n_missed += u32::from(graph.level().is_some() && searched.found.is_none());
    }
    assert!(n_missed > 0 && n_missed < n_cycles, "{n_missed} of {n_cycles}");
}

/// What lies too deep is not entered, and is no part of the path for those who meet it there.
#[test]
fn a_bound_on_the_path_makes_up_nothing() {
    let (mut n_found, mut n_cut) = (0, 0);
    for seed in 0..n_graphs() / 4 {
        let ground = ToyGround::random(1 << 42 | seed, 30);
        let graph = Graph::new(&ground);
        let bounded = Request { max_depth: Some(1 + (seed % 6) as u32), ..request(1) };
        let searched = fifo::search(&ground, &arena(), &bounded, &mut Silent);
        searched.found.iter().for_each(|found| graph.judge(found));
        assert!(searched.found.is_some() || searched.stopped.is_some() || graph.level().is_none(), "seed {seed}");
        n_found += u32::from(searched.found.is_some());
        n_cut += u32::from(searched.stopped.is_some());
    }
    assert!(n_found > 50 && n_cut > 50, "{n_found} {n_cut}");
}

/// Where every state on the path but a first one that makes progress closes a cycle. Printed, the listing spares any.
#[test]
fn the_listing_of_the_queue_as_printed_misses_cycles_through_the_initial_state() {
    let missed = |ground: &ToyGround| {
        let printed = fifo::search_as(ground, &arena(), Form::Printed, &request(1), &mut Silent);
        printed.found.is_none() && Graph::new(ground).level().is_some()
    };
    assert!(missed(&ToyGround::states(&[(0, 1), (1, 0)], &[])));
    let all = (0..3000).map(|seed| ToyGround::random(seed, 12)).filter(|g| !g.by_steps);
    let n = all.filter(missed).count();
    assert!(n > 50, "{n}");
}

/// A cycle whose only progress state is the one it closes at is none.
#[test]
fn the_listing_with_counters_as_printed_gives_false_alarms() {
    let alarm = |ground: &ToyGround| {
        let (printed, _) = restarts::search_as(ground, &arena(), Form::Printed, &request(1), &mut Silent);
        printed.found.is_some() && Graph::new(ground).level().is_none()
    };
    assert!(alarm(&ToyGround::states(&[(0, 1), (1, 0)], &[0])));
    let n = (0..3000).map(|seed| ToyGround::random(seed, 12)).filter(alarm).count();
    assert!(n > 50, "{n}");
}

/// [FaragoSchmitt] figure 3: 1 and 2 are reached by paths 1 and 2 before path 3 comes to the cycle at 9.
#[test]
fn restarts_may_go_deeper_than_they_must() {
    let (ground, least) = figure_3();
    assert_eq!(agrees(&ground, &[1, 2], "figure 3"), Some(least));
    let (restarts, limit) = restarts::search_as(&ground, &arena(), Form::Repaired, &request(1), &mut Silent);
    assert!(restarts.found.is_some() && limit > least);
}

/// Path 1 leads to s2 = 4 with three progresses, path 2 to s2 with one and on to s1 = 6 with two, path 3 to s1 with one.
/// One more lies between s1 and the cycle. If two are allowed, path 2 blocks path 3 at s1; if three are, path 1
/// blocks path 2 at s2.
fn figure_3() -> (ToyGround, u64) {
    let arcs = [
        (0, 1, true),
        (1, 2, true),
        (2, 3, true),
        (3, 4, false), // path 1 to s2 with three
        (0, 4, true),  // path 2 to s2 with one
        (4, 5, true),
        (5, 6, false), // and on to s1 with two
        (0, 6, true),  // path 3 to s1 with one
        (6, 7, false),
        (7, 8, true),
        (8, 8, false), // the cycle, one more after s1
    ];
    (ToyGround::steps(&arcs), 2)
}

#[test]
fn small_graphs() {
    let found = |ground: &ToyGround| agrees(ground, &[1, 2], &format!("{ground:?}"));
    // Nothing, an end, a loop.
    assert_eq!(found(&ToyGround::states(&[], &[])), None);
    assert_eq!(found(&ToyGround::states(&[(0, 1)], &[])), None);
    assert_eq!(found(&ToyGround::states(&[(0, 0)], &[])), Some(0));
    assert_eq!(found(&ToyGround::states(&[(0, 0)], &[0])), None);
    assert_eq!(found(&ToyGround::steps(&[(0, 0, true)])), None);
    // A cycle of progress states only; progress only on the arc that closes.
    assert_eq!(found(&ToyGround::states(&[(0, 1), (1, 2), (2, 1)], &[1, 2])), None);
    assert_eq!(found(&ToyGround::steps(&[(0, 1, false), (1, 2, false), (2, 0, true)])), None);
    // The same state after a step that makes progress and after one that does not.
    assert_eq!(found(&ToyGround::steps(&[(0, 1, true), (0, 1, false), (1, 1, false)])), Some(0));
    assert_eq!(found(&ToyGround::steps(&[(0, 1, true), (0, 2, false), (2, 1, false), (1, 1, false)])), Some(0));
    // Figure 2: path 1 comes to 3 through the progress state 2 before path 2 closes the cycle.
    assert_eq!(found(&ToyGround::states(&[(0, 1), (1, 2), (2, 3), (1, 3), (3, 1)], &[2])), Some(0));
    // Figure 6: what is found need not contain the first state of a cycle that is met.
    assert_eq!(found(&ToyGround::states(&[(0, 1), (1, 2), (2, 3), (3, 2), (3, 1)], &[])), Some(0));
    // Branches of different lengths that meet look like cycles and are none.
    assert_eq!(found(&ToyGround::states(&[(0, 1), (1, 2), (2, 3), (0, 3), (3, 4), (4, 5)], &[])), None);
}
