//! The static optimisations never change a verdict.
//!
//! Random models are searched plainly and with each optimisation alone and all together: the same faults at the same
//! statements, end states or none, no more states, and every run of the result is a run of the original. After that
//! come small models, each of which is answered wrongly if one condition of one optimisation is dropped.

use spinor_lang::{Options, load};
use spinor_model::fault::{Fault, FaultKind};
use spinor_model::interp::{Interp, Log};
use spinor_model::ir::{Pid, System};
use spinor_model::optimise::{Optimisations, Watched, optimise};
use spinor_model::print::print;
use spinor_model::read::read;
use spinor_model::successors::{Step, Successors};
use spinor_model::validate::validate;
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

const DEAD: Optimisations = Optimisations { dead: true, ..Optimisations::NONE };
const MERGE: Optimisations = Optimisations { merge: true, ..Optimisations::NONE };
const UNREAD: Optimisations = Optimisations { unread: true, ..Optimisations::NONE };

fn seeds() -> std::ops::Range<u64> {
    let number = |name: &str, default| std::env::var(name).ok().and_then(|s| s.parse().ok()).unwrap_or(default);
    number("SPINOR_FROM", 0)..number("SPINOR_TO", 1500)
}

fn loaded(name: &str, text: &str) -> System {
    let loaded = load(name, text, &Options::default(), &|_| Err(std::io::ErrorKind::NotFound.into()));
    let model = loaded.model.unwrap_or_else(|| panic!("{name} is refused: {:?}\n{text}", loaded.diagnostics));
    model.system.as_ref().clone()
}

/// What there is to find in a system: every fault with its place, and whether a run may end badly.
#[derive(Debug, PartialEq, Eq, Clone)]
struct Answer {
    faults: BTreeSet<String>,
    bad_end: bool,
    good_end: bool,
}

struct Seen {
    stored: usize,
    answer: Answer,
}

fn place(fault: &Fault) -> String {
    // An endless chain is noticed anywhere on its circle.
    match &fault.kind {
        kind @ (FaultKind::EndlessAtomic | FaultKind::EndlessDStep) => format!("{kind:?}"),
        kind => format!("{kind:?} at {:?}", fault.at.map(|(_, t, e)| (t, e))),
    }
}

/// Everything reachable, or `None` past a number of states.
fn explore(system: &System, most: usize) -> Option<Seen> {
    let interp = Interp::new(Arc::new(system.clone()));
    let mut answer = Answer { faults: BTreeSet::new(), bad_end: false, good_end: false };
    let mut key = Vec::new();
    match interp.initial() {
        Ok(state) => interp.pack(&state, &mut key),
        Err(fault) => {
            answer.faults.insert(place(&fault));
            return Some(Seen { stored: 0, answer });
        }
    }
    let mut seen = HashSet::from([key.clone()]);
    let mut todo = vec![key];
    let (mut steps, mut batch) = (Vec::new(), interp.batch());
    while let Some(key) = todo.pop() {
        let mut state = interp.unpack(&key);
        interp.enabled(&mut state, &mut steps);
        if steps.is_empty() {
            let good = interp.may_end(&state);
            answer.bad_end |= !good;
            answer.good_end |= good;
        }
        batch.clear();
        interp.fire(&mut state, &steps, &mut batch);
        answer.faults.extend(batch.faults.iter().map(|(_, f)| place(f)));
        for outcome in &batch.outcomes {
            if let Some(key) = batch.key(outcome)
                && seen.insert(key.to_vec())
            {
                todo.push(key.to_vec());
            }
        }
        if seen.len() > most {
            return None;
        }
    }
    Some(Seen { stored: seen.len(), answer })
}

/// Runs the result at random and the original along with it, statement by statement.
fn follow(original: &System, result: &System, seed: u64) {
    let ours = Interp::new(Arc::new(result.clone()));
    let plain = Interp::new(Arc::new(original.clone()));
    let (Ok(mut state), Ok(mut beside)) = (ours.initial(), plain.initial()) else { return };
    let mut random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut draw = |n: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        ((random >> 11) % n as u64) as usize
    };
    for _ in 0..60 {
        let mut steps: Vec<Step> = Vec::new();
        ours.enabled(&mut state, &mut steps);
        if steps.is_empty() {
            assert_eq!(ours.may_end(&state), plain.may_end(&beside));
            return;
        }
        let step = steps[draw(steps.len())];
        let mut batch = ours.batch();
        ours.fire(&mut state, &[step], &mut batch);
        let outcome = &batch.outcomes[draw(batch.outcomes.len())];
        for micro in ours.path(&state, step, outcome.path) {
            let mut log = Log::default();
            let fatal = plain.apply(&mut beside, micro.step, &mut log).err();
            let faults: Vec<Fault> = log.faults.into_iter().chain(fatal.clone()).collect();
            let endless = |f: &Fault| matches!(f.kind, FaultKind::EndlessAtomic);
            let theirs: Vec<Fault> = micro.faults.into_iter().filter(|f| !endless(f)).collect();
            assert_eq!(faults, theirs, "a statement has other faults in the original");
            if fatal.is_some() {
                return;
            }
            let stand = |s: &spinor_model::state::State| {
                (0..s.n_procs() as Pid).map(|p| (s.proctype(p), s.loc(p))).collect::<Vec<_>>()
            };
            assert_eq!(stand(&beside), stand(&micro.state), "a process stands elsewhere in the original");
        }
        match batch.key(outcome) {
            Some(key) => state = ours.unpack(key),
            None => return,
        }
    }
}

#[test]
fn verdicts_of_random_models_stay_and_states_do_not_grow() {
    let (mut plain_sum, mut all_sum, mut searched) = (0, 0, 0);
    for seed in seeds() {
        let disputed = seed % 3 == 2;
        let options = spinor_gen::Options { disputed, ..spinor_gen::Options::default() };
        let text = spinor_gen::generate_with(seed, &options).text;
        let system = loaded(&format!("seed {seed}"), &text);
        let Some(plain) = explore(&system, 20_000) else { continue };
        for (name, which) in [("dead", DEAD), ("merge", MERGE), ("unread", UNREAD), ("all", Optimisations::ALL)] {
            let (result, _) = optimise(&system, which, &Watched::default());
            let broken = validate(&result);
            assert!(broken.is_empty(), "seed {seed}, {name}: {broken:?}\n{text}");
            let seen = explore(&result, 20_000)
                .unwrap_or_else(|| panic!("seed {seed}, {name}: more states than {}\n{text}", plain.stored));
            assert_eq!(seen.answer, plain.answer, "seed {seed}, {name}\n{text}");
            assert!(
                seen.stored <= plain.stored,
                "seed {seed}, {name}: {} states instead of {}\n{text}",
                seen.stored,
                plain.stored
            );
            follow(&system, &result, seed);
            if which == Optimisations::ALL {
                all_sum += seen.stored;
            }
        }
        let (all, _) = optimise(&system, Optimisations::ALL, &Watched::default());
        assert!(read(&print(&all)).is_ok(), "seed {seed}: cannot be printed and read");
        plain_sum += plain.stored;
        searched += 1;
    }
    println!("{searched} models, {plain_sum} states plainly, {all_sum} with all optimisations");
    assert!(all_sum < plain_sum * 9 / 10 || searched < 100, "nothing is gained: {all_sum} of {plain_sum}");
}
