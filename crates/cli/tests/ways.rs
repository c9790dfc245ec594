//! However a model is run, it answers the same: executors, threads, stores and optimisations, through the binary, on
//! every model of the corpus.

use spinor::json::Json;
use spinor_gen::corpus;
use std::path::Path;
use std::process::Command;

/// The exit code, and the document without what differs from run to run: times, memory, and `but`.
fn answer(model: &Path, options: &[&str], but: &[&str]) -> (i32, Json) {
    let run = Command::new(env!("CARGO_BIN_EXE_spinor"))
        .arg("check")
        .arg(model)
        .args(["--format", "json", "-q"])
        .args(options)
        .output()
        .expect("spinor starts");
    let place = format!("{} {options:?}", model.display());
    let code = run.status.code().unwrap_or_else(|| panic!("{place}: no exit code"));
    assert!([0, 1, 3].contains(&code), "{place}: {code}\n{}", String::from_utf8_lossy(&run.stderr));
    let text = String::from_utf8(run.stdout).expect("text");
    let mut doc = Json::parse(&text).unwrap_or_else(|e| panic!("{place}: {e}"));
    strip(&mut doc, but);
    (code, doc)
}

fn strip(doc: &mut Json, but: &[&str]) {
    match doc {
        Json::Object(fields) => {
            fields.retain(|(k, _)| !k.ends_with("_seconds") && !k.ends_with("_bytes") && !but.contains(&k.as_str()));
            fields.iter_mut().for_each(|(_, v)| strip(v, but));
        }
        Json::List(items) => items.iter_mut().for_each(|v| strip(v, but)),
        _ => {}
    }
}

/// Every model, each way the same as the first; `always` is said every time.
fn same(always: &[&str], ways: &[&[&str]], but: &[&str]) {
    let models = corpus::models(&["pml"]);
    assert!(models.len() >= 95, "only {} models", models.len());
    for model in models {
        let answers = ways.iter().map(|way| answer(&model, &[always, *way].concat(), but));
        let answers: Vec<_> = answers.collect();
        for (way, other) in ways.iter().zip(&answers).skip(1) {
            assert_eq!(answers[0].0, other.0, "{}: exit codes of {:?} and {way:?}", model.display(), ways[0]);
            // The documents can be long.
            assert!(answers[0].1 == other.1, "{}: {:?} and {way:?} with {always:?}", model.display(), ways[0]);
        }
    }
}

fn number(doc: &Json, key: &str) -> i64 {
    doc.get("stats").and_then(|s| s.get(key)).and_then(Json::as_int).unwrap_or_else(|| panic!("no {key}"))
}

/// `name verdict`, a line each.
fn verdicts(doc: &Json) -> String {
    let text = |p: &Json, key: &str| p.get(key).and_then(Json::as_str).expect("text").to_string();
    let properties = doc.get("properties").and_then(Json::as_list).expect("a list");
    properties.iter().map(|p| format!("{} {}\n", text(p, "name"), text(p, "verdict"))).collect()
}

const EXECUTORS: [&[&str]; 2] = [&[], &["--executor", "interp"]];

#[test]
fn native_code_and_the_interpreter_answer_alike_breadth_first() {
    same(&["-j", "1"], &EXECUTORS, &["executor"]);
}

#[test]
fn native_code_and_the_interpreter_answer_alike_depth_first() {
    same(&["-j", "1", "--search", "dfs", "--all-errors"], &EXECUTORS, &["executor"]);
}

#[test]
fn native_code_and_the_interpreter_answer_alike_on_the_plain_system() {
    same(&["-j", "1", "--plain", "--all-errors"], &EXECUTORS, &["executor"]);
}

#[test]
fn the_number_of_threads_changes_nothing_breadth_first() {
    same(&[], &[&["-j", "1"], &["-j", "2"]], &["jobs"]);
}

#[test]
fn without_any_optimisation_is_plain() {
    same(
        &["-j", "1", "--all-errors"],
        &[&["--plain"], &["--no-dead", "--no-merge", "--no-unread", "--por", "off"]],
        &["plain"],
    );
}

#[test]
fn optimisations_change_no_verdict_and_only_remove_states() {
    for model in corpus::models(&["pml"]) {
        let place = model.display();
        let (code, plain) = answer(&model, &["--plain", "--all-errors"], &[]);
        let ways: [&[&str]; 4] =
            [&[], &["--no-merge", "--no-unread"], &["--no-dead", "--no-unread"], &["--no-dead", "--no-merge"]];
        for way in ways {
            let (other, doc) = answer(&model, &[way, &["--all-errors", "--por", "off"]].concat(), &[]);
            assert_eq!(verdicts(&doc), verdicts(&plain), "{place} {way:?}");
            assert_eq!(other, code, "{place} {way:?}");
            assert!(number(&doc, "stored") <= number(&plain, "stored"), "{place} {way:?}");
            let lost = |doc: &Json| doc.get("truncations").and_then(Json::as_list).expect("a list").to_vec();
            assert!(lost(&doc).iter().all(|t| lost(&plain).contains(t)), "{place} {way:?}: a note about nothing");
        }
    }
}

/// A reduction that leaves out little begins late: where depends on the states alone, and what is found behind is found from
/// the beginning.
#[test]
fn a_reduction_that_begins_late_is_the_same_for_all() {
    let bench = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/models/two_phase_commit.pml");
    let late = "active proctype late() {
        atomic { n_aborted == N && crashes == K && len(votes) == 0 && decision == aborted -> assert(false) }
    }\n";
    let text = std::fs::read_to_string(bench).expect("a model of the bench") + late;
    let model = std::env::temp_dir().join(format!("spinor-late-{}.pml", std::process::id()));
    std::fs::write(&model, text).expect("a file");
    let ask = |options: &[&str]| answer(&model, &[&["-DN=3", "-DK=1", "-p", "safety"], options].concat(), &["jobs"]).1;
    let (one, two, off) = (ask(&["-j", "1"]), ask(&["-j", "2"]), ask(&["-j", "1", "--por", "off"]));
    std::fs::remove_file(&model).expect("it is there");
    assert!(one == two, "the number of threads changes nothing");
    assert_eq!(verdicts(&one), verdicts(&off));
    let from =
        |doc: &Json| doc.get("options").and_then(|o| o.get("por_from")).and_then(Json::as_int).expect("a number");
    assert_eq!(from(&off), 0);
    assert!((1..number(&one, "stored")).contains(&from(&one)), "it began");
    assert!(number(&one, "stored") < number(&off, "stored"), "and left out something");
    let lengths = |doc: &Json| -> Vec<usize> {
        let all = doc.get("properties").and_then(Json::as_list).expect("a list").iter();
        let traces = all.flat_map(|p| p.get("traces").and_then(Json::as_list).expect("a list"));
        traces.map(|t| t.get("steps").and_then(Json::as_list).expect("a list").len()).collect()
    };
    assert_eq!(lengths(&one), lengths(&off), "and what is shown is as short as without");
}

/// What becomes of hashes that collide is tested where they can be made weak: in the exact stores by
/// `weak_hashes_change_nothing_but_the_speed` and `it_agrees_with_a_map` (store: compact.rs, arena.rs), in the lossy ones
/// by `with_few_bits_the_bound_is_above_what_is_omitted` and `the_estimate_is_near_what_is_omitted` (hash_compact.rs,
/// bitstate.rs), and in whole searches by the store `Clash` (check: search/tests.rs).
#[test]
fn every_store_counts_256_and_257_and_65536_parts() {
    for model in corpus::family("compression", &["pml"]) {
        let place = model.display();
        let expect = std::fs::read_to_string(model.with_extension("expect")).expect("its truth");
        let ask = |options: &[&str]| answer(&model, &[options, &["--all-errors=1"]].concat(), &[]);
        for store in ["tree", "arena"] {
            for jobs in ["1", "2"] {
                for search in ["bfs", "dfs"] {
                    for plain in [&["--plain"][..], &[]] {
                        let way = [&["--store", store, "-j", jobs, "--search", search, "--no-shorten"], plain].concat();
                        let (_, doc) = ask(&way);
                        let counts = ["stored", "transitions"].map(|k| format!("{k} {}\n", number(&doc, k))).concat();
                        let found = verdicts(&doc) + &counts;
                        assert!(expect.ends_with(&found), "{place} {way:?}: {found}");
                    }
                }
            }
        }
        for store in ["hashcompact", "bitstate"] {
            for jobs in ["1", "2"] {
                let (code, doc) = ask(&["--store", store, "-j", jobs, "--no-shorten"]);
                assert!([1, 3].contains(&code), "{place} {store}: {code}");
                assert!(!verdicts(&doc).contains("holds"), "{place} {store}: {}", verdicts(&doc));
                let stored = format!("stored {}\n", number(&doc, "stored"));
                assert!(expect.contains(&stored), "{place} {store}: {stored}");
            }
        }
    }
}
