//! Native code and the interpreter agree: on every reachable state (up to a limit) the same steps in the same order,
//! and the same outcomes with the same keys, faults and counts; in the end the same edges reached and the same edges
//! that lost bits.
//!
//! More seeds: `SPINOR_SEEDS=0..5000 cargo test -p spinor-jit --test same`.

use spinor_jit::Jit;
use spinor_lang::{Options, load};
use spinor_model::interp::Interp;
use spinor_model::ir::System;
use spinor_model::successors::{Batch, Successors};
use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

const MOST_STATES: usize = 3_000;

fn lowered(name: &str, text: &str) -> Option<Arc<System>> {
    load(name, text, &Options::default(), &|_| Err(std::io::ErrorKind::NotFound.into())).model.map(|m| m.system)
}

/// Breadth first through both at once. Returns how many states were seen.
fn compare(name: &str, system: &Arc<System>) -> usize {
    let (interp, jit) = (Interp::new(system.clone()), Jit::new(system.clone()));
    let initial = match (interp.initial(), jit.initial()) {
        (Ok(ours), Ok(theirs)) => {
            let (mut a, mut b) = (Vec::new(), Vec::new());
            interp.pack(&ours, &mut a);
            jit.pack(&theirs, &mut b);
            assert_eq!(a, b, "{name}: the initial state");
            a
        }
        (Err(ours), Err(theirs)) => {
            assert_eq!(ours, theirs, "{name}");
            return 0;
        }
        (ours, theirs) => panic!("{name}: {:?} against {:?}", ours.is_ok(), theirs.is_ok()),
    };
    let mut seen = HashSet::from([initial.clone()]);
    let mut queue = vec![initial.clone()];
    let (mut ours, mut theirs) = (interp.unpack(&initial), jit.unpack(&initial));
    let (mut ours_steps, mut their_steps) = (Vec::new(), Vec::new());
    let (mut our_batch, mut their_batch) = (interp.batch(), jit.batch());
    let mut at = 0;
    while at < queue.len() && at < MOST_STATES {
        let key = queue[at].clone();
        at += 1;
        interp.unpack_into(&key, &mut ours);
        jit.unpack_into(&key, &mut theirs);
        interp.enabled(&mut ours, &mut ours_steps);
        jit.enabled(&mut theirs, &mut their_steps);
        assert_eq!(ours_steps, their_steps, "{name}: state {at}");
        if ours_steps.is_empty() {
            assert_eq!(interp.may_end(&ours), jit.may_end(&theirs), "{name}: state {at}");
        }
        our_batch.clear();
        their_batch.clear();
        interp.fire(&mut ours, &ours_steps, &mut our_batch);
        jit.fire(&mut theirs, &their_steps, &mut their_batch);
        assert_eq!(our_batch.outcomes.len(), their_batch.outcomes.len(), "{name}: state {at}");
        for (ours, theirs) in our_batch.outcomes.iter().zip(&their_batch.outcomes) {
            let step = ours_steps[ours.step as usize];
            assert_eq!((ours.step, ours.path), (theirs.step, theirs.path), "{name}: state {at}, {step:?}");
            assert_eq!(our_batch.key(ours), their_batch.key(theirs), "{name}: state {at}, {step:?}");
            assert_eq!(ours.atomic_steps, theirs.atomic_steps, "{name}: state {at}, {step:?}");
        }
        assert_eq!(our_batch.faults, their_batch.faults, "{name}: state {at}");
        // All at once is the same.
        let mut at_once = jit.batch();
        assert_eq!(jit.expand(&mut theirs, &mut at_once), ours_steps.len(), "{name}: state {at}, at once");
        let outcomes = |batch: &Batch| -> Vec<_> {
            let all = batch.outcomes.iter();
            all.map(|o| (o.step, o.path, o.atomic_steps, batch.key(o).map(<[u8]>::to_vec))).collect()
        };
        assert_eq!(outcomes(&our_batch), outcomes(&at_once), "{name}: state {at}, at once");
        assert_eq!(our_batch.faults, at_once.faults, "{name}: state {at}, at once");
        for outcome in &our_batch.outcomes {
            if let Some(key) = our_batch.key(outcome)
                && seen.insert(key.to_vec())
            {
                queue.push(key.to_vec());
            }
        }
    }
    assert_eq!(our_batch.reached, their_batch.reached, "{name}");
    assert_eq!(our_batch.truncated, their_batch.truncated, "{name}");
    at
}

fn seeds() -> std::ops::Range<u64> {
    let given = std::env::var("SPINOR_SEEDS").ok();
    let range = given.as_deref().and_then(|s| s.split_once("..")).map(|(a, b)| (a.parse(), b.parse()));
    match range {
        Some((Ok(from), Ok(to))) => from..to,
        _ => 0..250,
    }
}

#[test]
fn on_random_models() {
    let mut states = 0;
    for seed in seeds() {
        for disputed in [false, true] {
            let options = spinor_gen::Options { disputed, ..spinor_gen::Options::default() };
            let text = spinor_gen::generate_with(seed, &options).text;
            let name = format!("seed {seed}, disputed {disputed}");
            let system = lowered(&name, &text).unwrap_or_else(|| panic!("{name} is refused"));
            states += compare(&name, &system);
        }
    }
    assert!(states > 10_000, "{states}");
}

#[test]
fn on_the_corpus() {
    let mut models = 0;
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "pml") {
                let name = path.file_name().unwrap().to_string_lossy().into_owned();
                if let Some(system) = lowered(&name, &std::fs::read_to_string(&path).unwrap()) {
                    compare(&name, &system);
                    models += 1;
                }
            }
        }
    }
    assert!(models > 80, "{models}");
}

#[test]
fn where_there_is_no_channel_and_no_process() {
    let no_channel = "chan q; active proctype P() { q ! 1; q ? _; assert(len(q) == 0) }";
    compare("no channel", &lowered("no channel", no_channel).expect("a model"));
    let nobody = "int x; proctype P() { do :: enabled(0) :: pc_value(1) == 3 od }";
    let mut system = lowered("nobody", nobody).expect("a model").as_ref().clone();
    compare("nobody", &Arc::new(system.clone()));
    system.proctypes = Default::default();
    compare("nothing", &Arc::new(system));
}
