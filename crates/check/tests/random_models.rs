//! What the interpreter promises to searches, asked of random models in every state (up to a limit).
//!
//! | label | said in | asked here |
//! |---|---|---|
//! | S3 | model/state.rs | a key unpacked and packed again is the same key |
//! | M2 | model/interp.rs | every step that is offered has an outcome |
//! | M3 | model/interp.rs | asked twice, a state offers the same steps |
//! | - | model/read.rs | the printed form read back is a system with the same state space |
//! | W1 | model/written.rs | a statement changes no slot that is not said to be written |

use spinor_lang::{Options, load};
use spinor_model::interp::{Interp, Log};
use spinor_model::ir::{Pid, System};
use spinor_model::print::print;
use spinor_model::read::read;
use spinor_model::state::State;
use spinor_model::successors::{Step, Successors};
use spinor_model::validate::validate;
use spinor_model::written::Written;
use std::collections::HashSet;
use std::sync::Arc;

const SEEDS: u64 = 200;
const MOST_STATES: usize = 2_000;

/// What a search would count, the faults included.
#[derive(Debug, Default, PartialEq)]
struct Counts {
    states: usize,
    transitions: usize,
    atomic_steps: u32,
    faults: usize,
    ends: usize,
}

fn lowered(name: &str, text: &str) -> System {
    let loaded = load(name, text, &Options::default(), &|_| Err(std::io::ErrorKind::NotFound.into()));
    let model = loaded.model.unwrap_or_else(|| panic!("{name} is refused: {:?}\n{text}", loaded.diagnostics));
    let broken = validate(&model.system);
    assert!(broken.is_empty(), "{name}: {broken:?}\n{text}");
    model.system.as_ref().clone()
}

/// Breadth first; `look` sees every state and its steps.
fn explore(system: &System, mut look: impl FnMut(&Interp, &State, &[Step])) -> Counts {
    let interp = Interp::new(Arc::new(system.clone()));
    let mut counts = Counts::default();
    let Ok(initial) = interp.initial() else { return counts };
    let mut key = Vec::new();
    interp.pack(&initial, &mut key);
    let mut seen = HashSet::from([key.clone()]);
    let mut level = vec![key];
    while !level.is_empty() && counts.states < MOST_STATES {
        let mut next = Vec::new();
        for key in level {
            let mut state = interp.unpack(&key);
            let mut again = Vec::new();
            interp.pack(&state, &mut again);
            assert_eq!(key, again, "S3");
            let (mut steps, mut twice) = (Vec::new(), Vec::new());
            interp.enabled(&mut state, &mut steps);
            interp.enabled(&mut state, &mut twice);
            assert_eq!(steps, twice, "M3");
            look(&interp, &state, &steps);
            counts.states += 1;
            counts.ends += usize::from(steps.is_empty() && interp.may_end(&state));
            let mut batch = interp.batch();
            interp.fire(&mut state, &steps, &mut batch);
            for (n, step) in steps.iter().enumerate() {
                let n_outcomes = batch.outcomes.iter().filter(|o| o.step as usize == n).count();
                assert!(n_outcomes > 0, "M2: {step:?} has no outcome");
            }
            for (n, outcome) in batch.outcomes.iter().enumerate() {
                counts.atomic_steps += outcome.atomic_steps;
                counts.faults += batch.faults_of(n).count();
                match batch.key(outcome) {
                    Some(key) => {
                        counts.transitions += 1;
                        if seen.insert(key.to_vec()) {
                            next.push(key.to_vec());
                        }
                    }
                    None => assert!(batch.faults_of(n).count() > 0, "M2: an outcome is a state or a fault"),
                }
            }
        }
        level = next;
    }
    counts
}

#[test]
fn steps_are_stable_and_can_be_done_and_the_printed_form_means_the_same() {
    for seed in 0..SEEDS {
        let text = spinor_gen::generate_own(seed).text;
        let system = lowered(&format!("seed {seed}"), &text);
        let counts = explore(&system, |_, _, _| {});
        let again = read(&print(&system)).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        assert_eq!(explore(&again, |_, _, _| {}), counts, "seed {seed}: the printed form means something else\n{text}");
    }
}

#[test]
fn a_statement_changes_only_slots_that_are_said_to_be_written() {
    let (mut n_changes, mut n_still) = (0, 0);
    for seed in 0..SEEDS {
        let text = spinor_gen::generate_own(seed).text;
        let system = lowered(&format!("seed {seed}"), &text);
        let written = Written::new(&system);
        n_still += written.globals.iter().chain(written.locals.iter().flatten()).filter(|w| !**w).count();
        explore(&system, |interp, before, steps| {
            for &step in steps {
                let mut after = before.clone();
                if interp.apply(&mut after, step, &mut Log::default()).is_err() {
                    continue;
                }
                let mut compare = |a: &[i32], b: &[i32], written: &[bool], whose: &str| {
                    for slot in (0..a.len()).filter(|slot| a[*slot] != b[*slot]) {
                        n_changes += 1;
                        assert!(written[slot], "W1: seed {seed}: slot {slot} of {whose} by {step:?}\n{text}");
                    }
                };
                compare(before.globals(), after.globals(), &written.globals, "the globals");
                for pid in 0..before.n_procs().min(after.n_procs()) as Pid {
                    let (t, whose) = (before.proctype(pid), format!("process {pid}"));
                    compare(before.locals(&system, pid), after.locals(&system, pid), &written.locals[t], &whose);
                }
            }
        });
    }
    assert!(n_changes > 20_000 && n_still > 500, "{n_changes} changes, {n_still} slots that nobody writes");
}

/// The faults of a model, wherever they happen, each once.
fn faults(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    explore(&lowered("a model", text), |interp, state, steps| {
        let mut batch = interp.batch();
        interp.fire(&mut state.clone(), steps, &mut batch);
        out.extend(batch.faults.iter().map(|(_, f)| format!("{:?}", f.kind)));
        for (n, step) in steps.iter().enumerate() {
            for (at, outcome) in batch.outcomes.iter().enumerate().filter(|(_, o)| o.step as usize == n) {
                // Listening to what is printed changes nothing.
                let shown = interp.path(state, *step, outcome.path);
                let shown: Vec<_> = shown.into_iter().flat_map(|m| m.faults).collect();
                assert!(shown.iter().eq(batch.faults_of(at)));
            }
        }
    });
    out.sort();
    out.dedup();
    out
}

#[test]
fn an_argument_of_a_print_faults_whether_or_not_anybody_listens() {
    let fault = ["IndexOutOfBounds { index: 5, len: 2 }"];
    assert_eq!(faults("byte a[2], i = 5; active proctype P() { printf(\"%d\", a[i]); assert(false) }"), fault);
    // So a hidden variable that may make it fault is part of the state.
    let print =
        |stmt| format!("hidden byte h; byte a[2], n; active proctype P() {{ if :: h = 1 :: h = 5 fi; n = 1; {stmt} }}");
    assert_eq!(faults(&print("printm(a[h])")), fault);
    assert_eq!(faults(&print("printf(\"%d\", a[h])")), fault);
    assert_eq!(faults(&print("printf(\"%d\", h)")), [""; 0]);
}

#[test]
fn a_trace_assertion_compares_constants_and_eval_and_lets_the_rest_pass() {
    let run = |body: &str, trace: &str| {
        faults(&format!(
            "chan q = [1] of {{ byte, byte }}; byte x = 7; hidden byte h;
             active proctype P() {{ byte y = 1; {body} L: skip }} trace {{ {trace} }}"
        ))
    };
    let mismatch = ["TraceMismatch"];
    let both = "q!1,2; q?_,y;";
    assert_eq!(run(both, "q!1,_; q?1,_"), [""; 0]);
    assert_eq!(run(both, "q!1,x; q?x,h"), [""; 0]);
    assert_eq!(run(both, "q!x+1,2; q?eval(x/7),eval(x-5)"), [""; 0]);
    assert_eq!(run(both, "q!1,3; q?_,_"), mismatch);
    assert_eq!(run(both, "q!_,_; q?_,3"), mismatch);
    assert_eq!(run(both, "q!_,_; q?eval(x),_"), mismatch);
    // To look at a message is no event.
    assert_eq!(run("q!1,2; q?<_,y>; q?_,_;", "q!_,_; q?_,_"), [""; 0]);
    // What is compared may be another process's.
    assert_eq!(run(both, "q!_,_; q?eval(P:y),eval(P@L)"), mismatch);
    assert_eq!(run("q!1,0; q?_,_;", "q!_,_; q?eval(P:y),eval(P@L)"), [""; 0]);
    // A hidden variable that is compared is part of the state.
    assert_eq!(run("if :: h = 1 :: h = 5 fi; x = 1; q!1,0; q?_,_;", "q!_,_; q?eval(h),_"), mismatch);
}

#[test]
fn a_trace_assertion_has_no_values_of_its_own() {
    for trace in ["q!1; q?eval(_pid)", "byte y; q!1; q?eval(y)", "{ assert(x); q!1 } unless { q?_ }", "x = 1; q!1"] {
        let text = format!("chan q = [1] of {{ byte }}; byte x; init {{ q!1; q?_ }} trace {{ {trace} }}");
        let loaded = load("a model", &text, &Options::default(), &|_| Err(std::io::ErrorKind::NotFound.into()));
        assert!(loaded.model.is_none(), "{trace}");
        assert_eq!(loaded.diagnostics[0].code, "P0332", "{trace}");
    }
}
