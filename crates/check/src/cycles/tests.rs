use super::toy::ToyRuns;
use super::{Fairness, Lasso, Moves, Runs, Summary, oracle, scc};
use spinor_store::{Arena, Budget, Compact, Hint, Visited};

const FAIRNESSES: [Fairness; 3] = [Fairness::None, Fairness::Weak, Fairness::Strong];

pub(super) fn seeds() -> std::ops::Range<u64> {
    let given = std::env::var("SPINOR_SEEDS").ok();
    let range = given.as_deref().and_then(|s| s.split_once("..")).map(|(a, b)| (a.parse(), b.parse()));
    match range {
        Some((Ok(from), Ok(to))) => from..to,
        _ => 0..20_000,
    }
}

/// Goes along the lasso: it is one, and the run is accepted and fair.
pub(super) fn replay<R: Runs>(runs: &R, lasso: &Lasso, fairness: Fairness) -> Result<(), String> {
    let mut moves = Moves::default();
    runs.initial(&mut moves);
    let mut at = moves.key(lasso.initial).to_vec();
    let mut step = |at: &mut Vec<u8>, nth: u32| {
        moves.clear();
        runs.moves(at, &mut moves);
        let m = moves.all.get(nth as usize).ok_or("there is no such move")?.clone();
        let able = moves.able;
        *at = moves.key(nth as usize).to_vec();
        Ok::<_, String>((m, able))
    };
    for nth in &lasso.stem {
        step(&mut at, *nth)?;
    }
    let start = at.clone();
    let mut sum: Option<Summary> = None;
    for nth in &lasso.cycle {
        let (m, able) = step(&mut at, *nth)?;
        let state = Summary::of_state(able);
        let sum = match &mut sum {
            Some(sum) => {
                sum.add(&state);
                sum
            }
            none => none.insert(state),
        };
        sum.add_move(m.marks, m.pid);
    }
    let sum = sum.ok_or("a cycle has moves")?;
    if at != start {
        return Err("the cycle does not close".into());
    }
    if !sum.is_accepted(runs.n_marks(), fairness) {
        return Err(format!("not accepted: {sum:?}"));
    }
    Ok(())
}

fn compare<V: Visited>(seed: u64, runs: &ToyRuns, store: &V, fairness: Fairness, truth: bool) {
    let searched = scc::search(runs, store, fairness).expect("unlimited");
    assert_eq!(searched.found.is_some(), truth, "seed {seed}, {fairness:?}: {runs:?}");
    match &searched.found {
        Some(lasso) => {
            replay(runs, lasso, fairness)
                .unwrap_or_else(|e| panic!("seed {seed}, {fairness:?}: {e}: {lasso:?} {runs:?}"));
        }
        None => assert_eq!((searched.stored, searched.transitions), oracle::size(runs), "seed {seed}"),
    }
}

#[test]
fn components_agree_with_every_set_of_states() {
    let mut n_found = [0; 3];
    let seeds = seeds();
    for seed in seeds.clone() {
        let runs = ToyRuns::random(seed, 7);
        let truths = FAIRNESSES.map(|fairness| oracle::has_accepted_run(&runs, fairness));
        assert!(truths[0] || !truths[1], "a fair violation is a violation: seed {seed}");
        assert!(truths[1] || !truths[2], "what is strongly fair is weakly fair: seed {seed}");
        for (n, (fairness, truth)) in FAIRNESSES.into_iter().zip(truths).enumerate() {
            let budget = Budget::unlimited();
            if seed % 2 == 0 {
                compare(seed, &runs, &Arena::new(&budget).expect("room"), fairness, truth);
            } else {
                let store = Compact::new(&budget, Box::new(|_| Hint::default())).expect("room");
                compare(seed, &runs, &store, fairness, truth);
            }
            n_found[n] += u64::from(truth);
        }
    }
    let n = seeds.end - seeds.start;
    assert!(n < 1000 || n_found.iter().all(|found| n / 20 < *found && *found < n * 19 / 20), "{n_found:?} of {n}");
}
