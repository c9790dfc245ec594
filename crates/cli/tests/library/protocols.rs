//! Synthesised protocols: what every engine says of them is what their description says (`check/tests/machines`).
//!
//! `SPINOR_SEEDS=A..B` asks about other seeds than usual.

#[path = "../../../check/tests/machines/mod.rs"]
mod machines;

use machines::{agree, loaded, truth};
use spinor::native::natively;
use spinor_check::check::interpreted;
use spinor_check::observer::Silent;
use spinor_check::settings::{Search, Settings, Store};
use spinor_gen::protocol::{Shape, synthesise};
use spinor_gen::question::seeds;
use spinor_model::interp::Interp;
use spinor_model::protocol::Protocol;
use spinor_model::validate::validate;
use std::path::Path;

const MOST_STATES: usize = 4_000;

#[test]
fn every_way_of_checking_says_what_the_machines_say() {
    let (mut n, mut large, mut states) = (0, 0, 0);
    let mut found = [0; 5];
    for seed in seeds(0..if cfg!(debug_assertions) { 400 } else { 2_500 }) {
        let drawn = synthesise(seed, &Shape::small(seed));
        let text = drawn.text();
        let Some(truth) = truth(&drawn, MOST_STATES) else {
            large += 1;
            continue;
        };
        n += 1;
        states += truth.states;
        let nearest = [truth.deadlock, truth.reception, truth.strict, truth.overflow];
        nearest.iter().zip(&mut found).for_each(|(nearest, n)| *n += u64::from(nearest.is_some()));
        found[4] += u64::from(truth.never_executed > 0);

        let model = loaded("p.cfsm", &text);
        assert_eq!(validate(&model.system), Vec::<String>::new(), "{text}");
        let protocol = model.protocol.as_ref().expect("a protocol");
        let interp = Interp::new(model.system.clone());
        // Each seed asks in some ways; together they are all.
        let strict = seed % 2 == 1;
        let set = |search, store, plain, jobs| Settings {
            search,
            store,
            plain,
            jobs,
            protocol: Some(Protocol { strict, ..protocol.clone() }),
            ..Settings::default()
        };
        let plain = set(Search::Bfs, Store::Arena, true, 1);
        let report = interpreted(&interp, &[], &plain, &mut Silent).expect("an answer");
        agree(&report, &truth, strict, true, &text, "interpreted, arena");
        let ways = [
            set(Search::Bfs, Store::Tree, true, 1),
            set(Search::Dfs, Store::Tree, true, 1),
            set(Search::Bfs, Store::Tree, false, 2),
            set(Search::Dfs, Store::Arena, false, 1),
        ];
        let settings = &ways[seed as usize % ways.len()];
        let way = format!("seed {seed}, native, {:?} {:?} {}", settings.search, settings.store, settings.plain);
        let report = natively(&interp, &[], settings, &mut Silent).expect("an answer");
        agree(&report, &truth, strict, settings.plain, &text, &way);

        // The same in Promela, as far as Promela can ask.
        if seed % 4 == 0 {
            let promela = model.promela.as_ref().expect("a protocol");
            let model = loaded("p.pml", promela);
            let settings = Settings { plain: true, all_errors: Some(1), ..Settings::default() };
            let report = interpreted(&Interp::new(model.system), &[], &settings, &mut Silent).expect("an answer");
            let stats = report.stats();
            assert_eq!((stats.stored, stats.transitions), (truth.states, truth.transitions), "{promela}");
        }
    }
    let [deadlock, reception, strict, overflow, never] = found;
    println!(
        "{n} protocols, {states} states ({large} too large): {deadlock} deadlock, {reception} have receptions that are \
         not specified ({strict} strictly), {overflow} overflow, {never} have transitions that are never executed"
    );
    assert!(large * 4 < n, "{large} of {n} are too large");
    for found in found {
        assert!(found > 0 && found < n, "{found} of {n}: one answer never comes, and none was compared");
    }
}

fn spinor(args: &[&str]) -> (i32, String, String) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let out = std::process::Command::new(env!("CARGO_BIN_EXE_spinor")).args(args).current_dir(root).output();
    let out = out.expect("spinor runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (out.status.code().unwrap_or(-1), text(&out.stdout), text(&out.stderr))
}

#[test]
fn what_makes_no_sense_is_refused_with_a_reason() {
    let model = "corpus/cfsm/handshake.cfsm";
    for (args, says) in [
        (vec!["check", model, "--receptions", "nosuch"], "no channel `nosuch`; it has ab, ba"),
        (vec!["check", "corpus/mutex.pml", "--overflows", "all"], "about the channels of a protocol"),
        (vec!["check", model, "-DN=3"], "a protocol has no macros"),
        (vec!["check", model, "-p", "assert"], "it has deadlock, reception, overflow, nonexecutable, answered"),
        (vec!["check", model, "--overflows", "none", "-p", "overflow"], "the model has no property `overflow`"),
        (vec!["export", "corpus/mutex.pml"], "is no protocol"),
        (vec!["check", model, "--ltl", "client@nowhere"], "no state of `client` `nowhere`"),
    ] {
        let (code, _, err) = spinor(&args);
        assert_eq!(code, 2, "{args:?}: {err}");
        assert!(err.contains(says), "{args:?}: {err}");
    }
}

/// What must be kept in its order is not left out: with every transition visible all states are there.
#[test]
fn a_visible_transition_is_kept_in_its_order() {
    let text = |mark: &str| {
        format!(
            "process p {{ state 0 {{ a -> 1{mark} }} state 1 {{ b -> 2{mark} }} state 2 final }}\n\
             process q {{ state 0 {{ v -> 1{mark} }} state 1 {{ w -> 2{mark} }} state 2 final }}\n"
        )
    };
    let folder = std::env::temp_dir().join(format!("spinor-visible-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let stored = |mark: &str, por: &str| {
        let file = folder.join("m.cfsm");
        std::fs::write(&file, text(mark)).expect("a file");
        let file = file.to_string_lossy().into_owned();
        let (code, out, err) = spinor(&["check", &file, "-p", "nonexecutable", "--por", por, "-j", "1"]);
        assert_eq!(code, 0, "{out}{err}");
        let line = out.lines().find(|l| l.contains("states stored")).expect("a line of counts");
        line.split(' ').next().and_then(|n| n.parse::<u32>().ok()).expect("a number")
    };
    for por in ["ample", "stubborn", "leap"] {
        assert!(stored("", por) < stored("", "off"), "{por}");
        assert_eq!(stored(" visible", por), stored("", "off"), "{por}");
    }
    std::fs::remove_dir_all(folder).expect("it was made above");
}

/// Whoever does what the last line says is asked the same question.
#[test]
fn the_next_command_asks_the_same() {
    let (code, out, _) = spinor(&["check", "corpus/cfsm/abp.cfsm", "--strict-receptions", "--overflows", "none"]);
    let next = " next  spinor check corpus/cfsm/abp.cfsm --overflows none --strict-receptions -o traces";
    assert!(code == 1 && out.contains(next), "{out}");
}

#[test]
fn every_command_takes_a_protocol() {
    let model = "corpus/cfsm/abp.cfsm";
    let (code, out, _) = spinor(&["check", "-q", model, "--ltl", "[] len(in_line) <= 1"]);
    assert!(code == 1 && out.contains("ok    ltl ltl_2: [] len(in_line) <= 1"), "{out}");
    let (code, out, err) = spinor(&["sim", model, "--seed", "1", "--steps", "20"]);
    assert!(code == 0 && out.contains("-data(0)"), "{out}{err}");
    let (code, out, err) = spinor(&["graph", model, "--to", "mermaid"]);
    assert!(code == 0 && out.contains("proctype receiver") && out.contains("wait0"), "{out}{err}");
    assert_eq!(spinor(&["lint", model]).0, 0);
    // A lossy store says nothing about transitions that are never executed.
    let (code, out, _) =
        spinor(&["check", "-q", model, "-p", "nonexecutable", "--store", "bitstate", "--memory", "64M"]);
    assert!(code == 3 && out.contains("--store tree"), "{out}");
}
