//! The static optimisations never change a verdict.
//!
//! Random models are searched plainly and with each optimisation alone and all together: the same faults at the same
//! statements, end states or none, no more states, and every run of the result is a run of the original. After that
//! come small models, each of which is answered wrongly if one condition of one optimisation is dropped.

use spinor_gen::question::seeds;
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
    for seed in seeds(0..1500) {
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

/// The answer to a small model, which no optimisation changes, as the words of its faults and `end` for a bad end.
fn answer(text: &str) -> Vec<String> {
    let system = loaded("a model", text);
    let plain = explore(&system, 20_000).expect("a small model");
    for which in [DEAD, MERGE, UNREAD, Optimisations::ALL] {
        let (result, done) = optimise(&system, which, &Watched::default());
        assert_eq!(validate(&result), [""; 0], "{which:?}\n{text}");
        let seen = explore(&result, 20_000).expect("no more states");
        assert_eq!(seen.answer, plain.answer, "{which:?} {done:?}\n{text}\n{}", print(&result));
        assert!(seen.stored <= plain.stored, "{which:?}\n{text}");
        (0..20).for_each(|seed| follow(&system, &result, seed));
    }
    let faults = plain.answer.faults.iter();
    let mut words: Vec<String> = faults.map(|f| f.split([' ', '{']).next().unwrap_or_default().to_string()).collect();
    words.dedup();
    words.extend(plain.answer.bad_end.then(|| "end".to_string()));
    words
}

/// States stored plainly and with one optimisation.
fn states(text: &str, which: Optimisations) -> (usize, usize) {
    let system = loaded("a model", text);
    let stored = |s: &System| explore(s, 100_000).expect("a small model").stored;
    (stored(&system), stored(&optimise(&system, which, &Watched::default()).0))
}

const NOTHING: [&str; 0] = [];

#[test]
fn a_variable_that_another_process_reads_is_live() {
    let run = |body: &str| {
        answer(&format!(
            "active proctype P() {{ byte x; byte a[3]; {body} L: skip; end: false }}
             active proctype Q() {{ end: P@L; assert(P:x != 1); assert(P:a[1] != 1) }}"
        ))
    };
    assert_eq!(run("x = 1;"), ["Assertion"]);
    assert_eq!(run("a[1] = 1;"), ["Assertion"]);
    assert_eq!(run("a[2] = 1;"), NOTHING);
}

#[test]
fn an_element_chosen_by_a_variable_overwrites_nothing_and_reads_everything() {
    let run = |body: &str| answer(&format!("active proctype P() {{ byte a[3]; byte i = 1; {body} }}"));
    assert_eq!(run("a[0] = 1; a[i] = 2; assert(a[0] == 1 && a[1] == 2)"), NOTHING);
    assert_eq!(run("a[0] = 1; a[1] = 2; a[0] = a[i]; assert(a[0] == 2)"), NOTHING);
    assert_eq!(run("a[2] = 1; if :: i = 2 :: i = 0 fi; assert(a[i] == 1)"), ["Assertion"]);
}

#[test]
fn what_a_channel_statement_compares_or_sends_is_live() {
    for capacity in ["0", "1"] {
        assert_eq!(
            answer(&format!(
                "chan c = [{capacity}] of {{ byte, byte }};
                 active proctype P() {{ byte x; byte a[2]; x = 1; c!x,2; a[x] = 3; assert(a[1] == 3) }}
                 active proctype Q() {{ byte y, z; y = 1; c?eval(y),z; assert(z == 2) }}"
            )),
            NOTHING
        );
        // The index is bound by the same receive.
        assert_eq!(
            answer(&format!(
                "chan c = [{capacity}] of {{ byte, byte }};
                 active proctype P() {{ c!1,2 }}
                 active proctype Q() {{ byte i; byte a[2]; c?i,a[i]; assert(a[1] == 2) }}"
            )),
            NOTHING
        );
    }
}

#[test]
fn a_value_that_decides_about_a_fault_is_live_and_read() {
    for last in ["printf(\"%d\", a[i])", "b[i] = 1", "printf(\"%d\", 3 / (i - 5))", "i = a[i]"] {
        let text = format!(
            "byte g; active proctype P() {{ byte a[5]; byte b[5]; byte i; if :: i = 5 :: i = 1 fi; g = g + 1; {last} }}"
        );
        assert_eq!(answer(&text).len(), 1, "{last}");
        // The same with a global index.
        let text = text.replace("byte i; if", "if").replace("byte g;", "byte g; byte i;");
        assert_eq!(answer(&text).len(), 1, "{last}");
    }
}

#[test]
fn a_value_read_through_another_variable_is_read() {
    let text = "byte a, b, c, d; active proctype P() { if :: a = 1 :: a = 2 fi; b = a; c = b; d = c; assert(c != 2) }";
    assert_eq!(answer(text), ["Assertion"]);
    let (_, done) = optimise(&loaded("a model", text), UNREAD, &Watched::default());
    assert_eq!(done.hidden, ["d"]);
}

#[test]
fn a_counter_that_nobody_reads_leaves_the_key() {
    let (plain, ours) =
        states("unsigned n : 4, m : 4; active proctype P() { do :: n++ :: n = m + n; m = n od }", UNREAD);
    assert!(plain > 100 && ours < 5, "{ours} of {plain}");
}

/// Whether an element is there depends on the index alone; whether a quotient is, on the divisor.
#[test]
fn what_decides_about_a_fault_is_read_and_nothing_else() {
    let hidden = |text: &str| optimise(&loaded("a model", text), UNREAD, &Watched::default()).1.hidden;
    let text = "bit a[2]; byte i; active proctype P() { do :: a[i]++ :: i < 3 -> i = i + 1 od }";
    assert_eq!(hidden(text), ["a"]);
    assert_eq!(answer(text), ["IndexOutOfBounds"]);
    let text = "bit a[2]; byte i; active proctype P() { do :: a[0] = 1 - a[i] :: i < 3 -> i = i + 1 od }";
    assert_eq!(hidden(text), ["a"]);
    assert_eq!(answer(text), ["IndexOutOfBounds"]);
    let text = "byte a[2], n; active proctype P() { do :: n = n / a[n & 1] :: a[0] = a[0] + 1 od }";
    assert_eq!(hidden(text), Vec::<String>::new());
    let text = "byte a[2], i, n; active proctype P() { do :: n = (n && a[i]) :: n = 1 :: i = i + 1 od }";
    assert_eq!(hidden(text), Vec::<String>::new(), "it decides whether the other side is looked at");
}

#[test]
fn whoever_watches_reads() {
    let system = loaded("a model", "byte g; active proctype P() { byte x; g = 1; L: x = 1; x = 2 }");
    let place = |scope, frame: &spinor_model::ir::Frame, n: u32| spinor_model::ir::Place {
        scope,
        var: spinor_model::ir::VarId(n),
        slot: frame.vars[spinor_model::ir::VarId(n)].slot,
        ty: spinor_model::ir::Type::Byte,
        index: Vec::new(),
    };
    use spinor_model::ir::{Expr, Loc, ProctypeId, Scope};
    let t = ProctypeId(0);
    let frame = &system.proctypes[t].frame;
    let g = Expr::Read(place(Scope::Global, &system.globals, 0));
    let x = Expr::Remote { proctype: t, pid: None, place: place(Scope::Local, frame, 0) };
    let done = |exprs: &[Expr]| optimise(&system, Optimisations::ALL, &Watched { exprs, ..Watched::default() }).1;
    assert_eq!(done(&[]).hidden, ["g", "P:x"]);
    assert_eq!(done(&[g]).hidden, ["P:x"]);
    let seen = done(&[x]);
    assert_eq!((seen.hidden, seen.resets), (vec!["g".to_string()], 0));
    let label = system.proctypes[t].locs.enumerated().find(|(_, l)| l.labels.contains(&"L".to_string()));
    let loc = label.map_or(Loc(0), |(l, _)| l);
    let at = Expr::AtLabel { proctype: t, pid: None, loc, label: "L".into() };
    assert!(done(&[at]).merged < done(&[]).merged);
}

#[test]
fn counted_steps_are_not_merged_and_marks_are_kept() {
    let text = "byte a; active proctype P() { byte x; a = 1; progress: x = 1; accept: x = 2; a = 2; x = 3; skip }";
    let system = loaded("a model", text);
    let merged = |w: Watched<'_>| optimise(&system, MERGE, &w).1.merged;
    let all = merged(Watched::default());
    assert_eq!(merged(Watched { counts_steps: true, ..Watched::default() }), 0);
    assert!(merged(Watched { progress: true, ..Watched::default() }) < all);
    assert!(merged(Watched { exprs: &[spinor_model::ir::Expr::Accepting], ..Watched::default() }) < all);
}

#[test]
fn a_label_that_is_asked_for_is_seen() {
    let run = |p: &str, q: &str| {
        answer(&format!(
            "byte a, b; active proctype P() {{ byte x; {p}; end: false }}
             active proctype Q() {{ end: {q}; assert(false) }}"
        ))
    };
    // It stands there; it is not there yet; it is there no longer.
    assert_eq!(run("a = 1; L: x = 1", "P@L"), ["Assertion"]);
    assert_eq!(run("a = 1; x = 1; L: b = 1", "(a == 1 && b == 0 && !P@L)"), ["Assertion"]);
    assert_eq!(run("b = 1; L: x = 1; a = 1", "(b == 1 && a == 0 && !P@L)"), ["Assertion"]);
    assert_eq!(run("L: x = 1; a = 1", "(a == 0 && !P@L)"), ["Assertion"]);
}

#[test]
fn a_variable_that_another_process_reads_is_seen() {
    let found = answer(
        "byte a; active proctype P() { byte x; a = 1; x = 1; end: false }
         active proctype Q() { end: (a == 1 && P:x == 0); assert(false) }",
    );
    assert_eq!(found, ["Assertion"]);
}

#[test]
fn a_process_that_cannot_go_on_by_itself_stays() {
    for (x, end) in [(1, NOTHING.to_vec()), (2, vec!["end"])] {
        let found = answer(&format!(
            "byte a; active proctype P() {{ byte x = {x}; a = 1; x == 1; a = 2 }} active proctype Q() {{ a >= 1; a = 3 }}"
        ));
        assert_eq!(found, end);
    }
}

#[test]
fn others_may_run_between_two_things_they_see() {
    let run = |p: &str| {
        answer(&format!(
            "byte a, b; active proctype P() {{ byte x, y; {p} }}
             active proctype Q() {{ end: (a == 1 && b == 0); assert(false) }}"
        ))
    };
    for p in [
        "a = 1; b = 1",
        "a = 1; x = 1; b = 1",
        "a = 1; x = 1; y = 1; b = 1",
        "atomic { a = 1; x = 1 }; b = 1",
        "a = 1; atomic { x = 1; b = 1 }",
        "a = 1; x = 1; atomic { y = 1; b = 1 }",
        "a = 1; x = 1; d_step { y = 1; b = 1 }",
        "d_step { a = 1; x = 1 }; y = 1; b = 1",
        "x = 1; a = 1; if :: x = 2 :: x = 3 fi; b = 1",
    ] {
        assert_eq!(run(p), ["Assertion"], "{p}");
    }
    assert_eq!(run("x = 1; atomic { a = 1; y = 1; b = 1 }"), NOTHING);
}

#[test]
fn a_fatal_fault_does_not_hide_what_others_would_do() {
    for fault in ["x = 1 / y", "z[x] = 1", "x = z[x]", "assert(1 / y)"] {
        assert_eq!(
            answer(&format!(
                "byte a; active proctype P() {{ byte x = 9, y; byte z[2]; a = 1; {fault} }}
                 active proctype Q() {{ end: a == 1; assert(false) }}"
            ))
            .len(),
            2,
            "{fault}"
        );
    }
}

#[test]
fn a_choice_of_a_d_proctype_does_not_hide_what_others_would_do() {
    let found = answer(
        "byte a; active D_proctype P() { byte x; a = 1; if :: x = 1 :: x = 2 fi }
         active proctype Q() { end: a == 1; assert(false) }",
    );
    assert_eq!(found, ["Assertion", "Nondeterminism"]);
}

#[test]
fn a_sender_may_find_no_partner() {
    for p in ["if :: c?x :: a = 1; x = 2; c?x fi", "a = 1; if :: c?x :: x = 2; x = 3; c?x fi"] {
        let found = answer(&format!(
            "byte a; chan c = [0] of {{ byte }};
             active proctype P() {{ byte x; {p}; end: false }}
             active proctype Q() {{ end1: a == 1; if :: c!1 :: else -> assert(false) fi; end: false }}"
        ));
        assert_eq!(found, ["Assertion", "end"], "{p}");
    }
}

#[test]
fn a_partner_that_is_not_there_yet_makes_no_second_choice() {
    let found = answer(
        "byte a; chan c = [0] of { byte };
         active proctype P() { byte x; a = 1; x = 2; c?x; end: false }
         active D_proctype Q() { if :: c!1 :: a == 1 -> assert(false) fi; end: false }",
    );
    assert_eq!(found, ["Assertion", "Nondeterminism", "end"]);
}

#[test]
fn choices_that_make_no_difference_do_not_multiply() {
    let choices = "if :: x = 1 :: x = 2 fi; if :: skip :: x = 3 fi; ".repeat(20);
    assert_eq!(answer(&format!("byte a; active proctype P() {{ byte x; a = 1; {choices} assert(x > 0) }}")), NOTHING);
}

#[test]
fn whoever_asks_where_a_process_stands_or_who_moved_last_finds_out() {
    for q in ["(a == 1 && enabled(0))", "(a == 1 && pc_value(0) == 2)", "(b == 1 && _last == 0)"] {
        let found = answer(&format!(
            "byte a, b; active proctype P() {{ byte x; a = 1; x = 1; end: false }}
             active proctype R() {{ a == 1; b = 1; end: false }}
             active proctype Q() {{ end: {q}; assert(false) }}"
        ));
        assert_eq!(found, ["Assertion"], "{q}");
    }
}

#[test]
fn a_process_that_is_not_allowed_to_go_on_stays() {
    assert_eq!(
        answer(
            "byte a; bool go = 1;
             active proctype P() provided (go) { byte x; a = 1; x = 1; end: false }
             active proctype Q() { a == 1; go = 0 }"
        ),
        ["end"]
    );
}

#[test]
fn loops_of_local_statements_do_not_become_endless() {
    for body in
        ["do :: x = 1; x = 2 od", "do :: x < 3 -> x++ :: else -> x = 0 od", "L: x = 1; atomic { x = 2; x = 3 }; goto L"]
    {
        assert_eq!(answer(&format!("active proctype P() {{ byte x; {body} }}")), NOTHING, "{body}");
    }
}

#[test]
fn a_send_resets_what_was_sent_also_in_a_handshake() {
    for capacity in [0, 1] {
        let text = format!(
            "chan c = [{capacity}] of {{ byte }};
             active proctype P() {{ byte x; do :: select(x : 1 .. 9); c!x od }}
             active proctype Q() {{ do :: c?_ od }}"
        );
        let (plain, ours) = states(&text, DEAD);
        assert!(ours + 9 == plain, "{ours} of {plain}");
    }
}
