pub(super) use super::lasso::replay;
use super::product::Product;
use super::toy::ToyRuns;
use super::{Fairness, Moves, Request, Runs, Searched, oracle, scc};
use crate::claim::{Claim, Marking};
use crate::observer::Silent;
use crate::toy::{Rng, Toy};
use spinor_ltl::{Formula, PropId, Valuation, eval_lasso};
use spinor_model::fault::FaultKind;
use spinor_model::ir::Expr;
use spinor_model::successors::{Batch, Step, Successors};
use spinor_store::{Arena, Budget, Compact, Hint, Visited};
use std::collections::HashMap;

const FAIRNESSES: [Fairness; 3] = [Fairness::None, Fairness::Weak, Fairness::Strong];

pub(super) fn seeds() -> std::ops::Range<u64> {
    spinor_gen::question::seeds(0..20_000)
}

pub(super) fn components<R: Runs, V: Visited>(runs: &R, store: &V, fairness: Fairness) -> Searched {
    scc::search(runs, store, &Request::new(fairness), &mut Silent)
}

fn compare<V: Visited>(seed: u64, runs: &ToyRuns, store: &V, fairness: Fairness, truth: bool) {
    let searched = components(runs, store, fairness);
    assert_eq!(searched.stopped, None);
    assert_eq!(searched.found.is_some(), truth, "seed {seed}, {fairness:?}: {runs:?}");
    match &searched.found {
        Some(lasso) => {
            replay(runs, lasso, fairness)
                .unwrap_or_else(|e| panic!("seed {seed}, {fairness:?}: {e}: {lasso:?} {runs:?}"));
        }
        None => {
            let counted = (searched.counters.stored, searched.counters.transitions);
            assert_eq!(counted, oracle::size(runs), "seed {seed}");
        }
    }
}

#[test]
fn components_agree_with_every_set_of_states() {
    let mut n_found = [0; 3];
    let seeds = seeds();
    for seed in seeds.clone() {
        let runs = ToyRuns::random(seed, 7);
        let truths = FAIRNESSES.map(|fairness| oracle::has_accepted_run(&runs, fairness));
        let by_components = FAIRNESSES.map(|fairness| oracle::has_accepted_component(&runs, fairness));
        assert_eq!(truths, by_components, "the oracles: seed {seed}");
        assert!(truths[0] || !truths[1], "a fair violation is a violation: seed {seed}");
        assert!(truths[1] || !truths[2], "what is strongly fair is weakly fair: seed {seed}");
        for (n, (fairness, truth)) in FAIRNESSES.into_iter().zip(truths).enumerate() {
            let budget = Budget::unlimited();
            let parts = runs.clone().in_parts(seed);
            if seed % 2 == 0 {
                compare(seed, &runs, &Arena::new(&budget).expect("room"), fairness, truth);
                let store = Compact::new(&budget, Box::new(|_| Hint::default())).expect("room");
                compare(seed, &parts, &store, fairness, truth);
            } else {
                compare(seed, &parts, &Arena::new(&budget).expect("room"), fairness, truth);
                let store = Compact::new(&budget, Box::new(|_| Hint::default())).expect("room");
                compare(seed, &runs, &store, fairness, truth);
            }
            n_found[n] += u64::from(truth);
        }
    }
    let n = seeds.end - seeds.start;
    assert!(n < 1000 || n_found.iter().all(|found| n / 20 < *found && *found < n * 19 / 20), "{n_found:?} of {n}");
}

const N_PROPS: u32 = 3;

/// What is true at a node is a matter of its number alone.
fn holds(node: u32, prop: PropId) -> bool {
    (node.wrapping_mul(0x9e37_79b9) >> (29 + prop.0)) & 1 == 1
}

fn valuation(node: u32) -> Valuation {
    Valuation::new((0..N_PROPS).map(PropId).filter(|prop| holds(node, *prop)))
}

/// A graph at which is looked: the constant `n` stands for proposition `n`.
struct Looking<'a> {
    toy: &'a Toy,
    looked: Vec<PropId>,
}

impl Successors for Looking<'_> {
    type State = u32;

    fn initial(&self) -> Result<u32, spinor_model::fault::Fault> {
        self.toy.initial()
    }

    fn pack(&self, state: &u32, key: &mut Vec<u8>) {
        self.toy.pack(state, key);
    }

    fn unpack(&self, key: &[u8]) -> u32 {
        self.toy.unpack(key)
    }

    fn batch(&self) -> Batch {
        self.toy.batch()
    }

    fn enabled(&self, state: &mut u32, steps: &mut Vec<Step>) {
        self.toy.enabled(state, steps);
    }

    fn fire(&self, state: &mut u32, steps: &[Step], batch: &mut Batch) {
        self.toy.fire(state, steps, batch);
    }

    fn look(&self, state: &mut u32, bits: &mut Vec<u64>) -> Result<(), FaultKind> {
        *bits = vec![0];
        self.looked.iter().enumerate().for_each(|(n, prop)| bits[0] |= u64::from(holds(*state, *prop)) << n);
        Ok(())
    }

    fn may_end(&self, state: &u32) -> bool {
        self.toy.may_end(state)
    }
}

fn random_formula(rng: &mut Rng, size: u64) -> Formula {
    if size <= 1 {
        return Formula::Prop(PropId(rng.below(u64::from(N_PROPS)) as u32));
    }
    let left = 1 + rng.below(size - 1);
    match rng.below(9) {
        0 => Formula::Not(Box::new(random_formula(rng, size - 1))),
        1 => Formula::Next(Box::new(random_formula(rng, size - 1))),
        2 => Formula::Always(Box::new(random_formula(rng, size - 1))),
        3 => Formula::Eventually(Box::new(random_formula(rng, size - 1))),
        op => {
            let a = Box::new(random_formula(rng, left));
            let b = Box::new(random_formula(rng, (size - left).max(1)));
            match op {
                4 => Formula::And(a, b),
                5 => Formula::Or(a, b),
                6 => Formula::Until(a, b),
                7 => Formula::WeakUntil(a, b),
                _ => Formula::Release(a, b),
            }
        }
    }
}

/// A run of the graph at random, continued by staying if it ends, until it comes back somewhere.
fn random_lasso(toy: &Toy, rng: &mut Rng) -> (Vec<u32>, Vec<u32>) {
    let (mut nodes, mut seen) = (Vec::new(), HashMap::new());
    let mut at = toy.initial().expect("it starts");
    loop {
        if let Some(from) = seen.insert(at, nodes.len())
            && rng.below(2) == 0
        {
            let cycle = nodes.split_off(from);
            return (nodes, cycle);
        }
        nodes.push(at);
        let (mut steps, mut batch) = (Vec::new(), toy.batch());
        toy.enabled(&mut at, &mut steps);
        toy.fire(&mut at, &steps, &mut batch);
        let next: Vec<u32> = batch.outcomes.iter().filter_map(|o| batch.key(o)).map(|key| toy.unpack(key)).collect();
        if next.is_empty() && !steps.is_empty() {
            // A fault ends the run: it is none that goes on for ever.
            (nodes, seen, at) = (Vec::new(), HashMap::new(), toy.initial().expect("it starts"));
            if rng.below(20) == 0 {
                return (Vec::new(), Vec::new());
            }
            continue;
        }
        if !next.is_empty() {
            at = next[rng.below(next.len() as u64) as usize];
        }
    }
}

/// What is found breaks the formula, by direct evaluation; where nothing is found, no run at random breaks it.
#[test]
fn formulas_are_broken_by_what_is_found_and_by_nothing_else() {
    let (mut n_found, mut n_held, mut n_settled) = (0, 0, 0);
    let seeds = seeds();
    for seed in seeds.start..seeds.start + (seeds.end - seeds.start) / 10 {
        let mut rng = Rng(seed);
        let toy = Toy { no_start: false, ..Toy::random(seed) };
        let size = 1 + rng.below(9);
        let formula = random_formula(&mut rng, size);
        let props: Vec<Expr> = (0..N_PROPS as i32).map(Expr::Const).collect();
        let marking = if seed % 3 == 0 { Marking::States } else { Marking::Generalised };
        let claim = Claim::against(&formula, &props, marking).expect("a small automaton");
        let looked = claim.looked.iter().map(|e| if let Expr::Const(n) = e { PropId(*n as u32) } else { PropId(99) });
        let looking = Looking { toy: &toy, looked: looked.collect() };
        let product = Product::new(&looking, &claim, Fairness::None);
        let store = Arena::new(&Budget::unlimited()).expect("room");
        let searched = components(&product, &store, Fairness::None);
        let broken_by = |stem: &[u32], cycle: &[u32]| {
            let values = |nodes: &[u32]| nodes.iter().map(|n| valuation(*n)).collect::<Vec<_>>();
            !eval_lasso(&formula, &values(stem), &values(cycle)).holds()
        };
        if let Some(lasso) = searched.found {
            n_found += 1;
            replay(&product, &lasso, Fairness::None).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
            let mut moves = Moves::default();
            let mut desk = product.desk();
            product.initial(&mut desk, &mut moves);
            let mut key = moves.key(lasso.initial).to_vec();
            let mut walk = |numbers: &[u32]| -> Vec<u32> {
                let step = |nth: &u32| {
                    let node = toy.unpack(&key[..key.len() - 16]);
                    moves.clear();
                    product.moves(&mut desk, &key, &mut moves);
                    key = moves.key(*nth as usize).to_vec();
                    node
                };
                numbers.iter().map(step).collect()
            };
            let (stem, mut cycle) = (walk(&lasso.stem), walk(&lasso.cycle));
            if cycle.is_empty() {
                // Whatever comes, so also this.
                cycle = vec![rng.below(8) as u32];
                n_settled += 1;
            }
            assert!(broken_by(&stem, &cycle), "seed {seed}: {formula} holds on {stem:?} {cycle:?}");
        } else {
            n_held += 1;
            for _ in 0..20 {
                let (stem, cycle) = random_lasso(&toy, &mut rng);
                assert!(cycle.is_empty() || !broken_by(&stem, &cycle), "seed {seed}: {formula} on {stem:?} {cycle:?}");
            }
        }
    }
    assert!(n_found > 100 && n_held > 100 && n_settled > 50, "{n_found} found, {n_held} held, {n_settled} settled");
}
