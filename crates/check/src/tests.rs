//! Whole checks of small systems.

use crate::check::{Said, Stated, interpreted};
use crate::cycles::Fairness;
use crate::explain::{statement, why};
use crate::models;
use crate::observer::Silent;
use crate::oracle::Graph;
use crate::report::Report;
use crate::settings::{Search, Selection, Settings, Store};
use crate::trace::{Ending, Trace, replay};
use crate::verdict::{Kind, Verdict};
use spinor_ltl::{Formula, PropId};
use spinor_model::fault::FaultKind;
use spinor_model::interp::Interp;
use spinor_model::ir::Expr;

fn run(interp: &Interp, settings: &Settings) -> Report {
    interpreted(interp, &[], settings, &mut Silent).expect("a sensible request")
}

fn words(report: &Report) -> Vec<(&str, &'static str)> {
    report.properties.iter().map(|p| (p.name.as_str(), p.verdict.word())).collect()
}

fn trace<'r>(report: &'r Report, name: &str) -> &'r Trace {
    &report.property(name).expect("the property is there").traces[0]
}

/// `worker[1] !locked`
fn statements(interp: &Interp, trace: &Trace) -> Vec<String> {
    let system = interp.system();
    let say = |s: &crate::trace::TraceStep| {
        let text = statement(system, s.proctype, s.step.edge);
        format!("{}[{}] {text}", system.proctypes[s.proctype].name, s.step.pid)
    };
    trace.steps.iter().map(say).collect()
}

#[test]
fn the_broken_lock_fails_in_seven_steps_and_the_why_names_the_stale_test() {
    let interp = models::lock();
    let report = run(&interp, &Settings::default());
    assert_eq!(words(&report), [("assert", "violated"), ("deadlock", "holds"), ("runtime", "holds")]);
    let trace = trace(&report, "assert");
    assert_eq!(
        statements(&interp, trace),
        [
            "worker[1] !locked",
            "worker[0] !locked",
            "worker[1] locked = true",
            "worker[1] critical++",
            "worker[0] locked = true",
            "worker[0] critical++",
            "worker[1] assert(critical == 1)",
        ]
    );
    assert!(matches!(&trace.ending, Ending::Fault(f) if f.kind == FaultKind::Assertion));
    assert_eq!(
        why(&interp, trace),
        [
            "critical became 2: step 4 (worker[1]) and step 6 (worker[0]) wrote it.",
            "The asserted condition held until step 6 (worker[0]: critical++).",
            "worker[0] tested !locked at step 2; worker[1] set locked to true at step 3, before worker[0] used the \
             answer at step 5.",
        ]
    );
    assert_eq!(
        report.property("assert").and_then(|p| p.verdict.because()),
        Some("assertion violated: assert(critical == 1)")
    );
}

#[test]
fn counts_are_those_of_the_whole_graph() {
    for interp in
        [models::lock(), models::crossed(1), models::crossed(0), models::index(), models::pipe(), models::atomic()]
    {
        let graph = Graph::build(&interp);
        for search in [Search::Bfs, Search::Dfs] {
            let report = run(&interp, &Settings { search, all_errors: Some(0), plain: true, ..Settings::default() });
            let stats = report.stats();
            assert!(stats.complete);
            assert_eq!(stats.stored, graph.nodes.len() as u64);
            assert_eq!(stats.transitions, graph.n_transitions() as u64);
            assert_eq!(stats.matched, stats.transitions - stats.stored);
            for (name, kind) in
                [("assert", Kind::Assertion), ("deadlock", Kind::EndState), ("runtime", Kind::RuntimeError)]
            {
                let p = report.property(name).expect("a row");
                assert_eq!(p.n_violations, graph.violations(kind).0, "{name}");
                assert_eq!(p.verdict.is_violated(), p.n_violations > 0, "{name}");
                assert_eq!(p.traces.is_empty(), p.n_violations == 0, "{name}");
            }
        }
    }
}

#[test]
fn a_depth_first_trace_is_its_own_unless_it_is_shortened() {
    let interp = models::lock();
    let dfs = Settings { search: Search::Dfs, ..Settings::default() };
    assert_eq!(trace(&run(&interp, &dfs), "assert").steps.len(), 7);
    let long = run(&interp, &Settings { shorten: false, ..dfs });
    assert!(trace(&long, "assert").steps.len() > 7);
    assert_eq!(long.chosen.search, Some("dfs"));
}

#[test]
fn processes_that_wait_for_each_other_are_named() {
    let interp = models::crossed(1);
    let report = run(&interp, &Settings::default());
    assert_eq!(words(&report), [("assert", "holds"), ("deadlock", "violated"), ("runtime", "holds")]);
    let trace = trace(&report, "deadlock");
    assert!(trace.steps.is_empty());
    assert_eq!(
        why(&interp, trace),
        [
            "A[0] waits at line 3 at p?x: p is empty; B[1] can still send to p.",
            "B[1] waits at line 4 at q?x: q is empty; A[0] can still send to q.",
            "C[2] waits at line 5 at go == 1: the condition is false (go is 0); no other process can still write go.",
            "A[0] and B[1] wait for each other.",
        ]
    );
    let what = report.property("deadlock").and_then(|p| p.verdict.because()).unwrap_or_default();
    assert_eq!(what, "invalid end state: A[0], B[1] and C[2] cannot go on");
    let interp = models::crossed(0);
    let report = run(&interp, &Settings::default());
    assert!(why(&interp, self::trace(&report, "deadlock"))[0].contains("nobody offers a message on p that fits"));
}

#[test]
fn a_bad_index_is_explained_by_who_wrote_it() {
    let interp = models::index();
    let report = run(&interp, &Settings::default());
    assert_eq!(words(&report), [("assert", "holds"), ("deadlock", "holds"), ("runtime", "violated")]);
    assert_eq!(
        why(&interp, trace(&report, "runtime")),
        ["P[0] at step 2, a[i] = 1: array index 2 is outside 0..1.", "i became 2 at step 1 (P[0]: i = 2).",]
    );
    let unreached = report.unreached.expect("a complete search");
    let texts: Vec<_> = unreached.iter().map(|u| (statement(interp.system(), u.proctype, u.edge), u.end)).collect();
    assert_eq!(texts, [("skip".to_string(), false), (String::new(), true)]);
}

#[test]
fn changes_name_variables_channels_and_locals() {
    let interp = models::pipe();
    // Nothing goes wrong here, so there is no trace: the changes are asked of three steps taken by hand.
    let report = run(&interp, &Settings::default());
    assert_eq!(words(&report), [("assert", "holds"), ("deadlock", "holds"), ("runtime", "holds")]);
    assert_eq!(report.truncations.len(), 1);
    let system = interp.system();
    let mut state = spinor_model::successors::Successors::initial(&interp).expect("a start");
    let mut told = Vec::new();
    for _ in 0..3 {
        let mut steps = Vec::new();
        interp.moves(&state, spinor_model::interp::Floor::Anyone, &mut steps);
        let before = state.clone();
        interp.apply(&mut state, steps[0], &mut spinor_model::interp::Log::default()).expect("no fault");
        for c in crate::trace::changes(&interp, &before, &state) {
            told.push(format!("{}: {} to {}", c.name, c.before.show(system), c.after.show(system)));
        }
    }
    assert_eq!(told, ["q: empty to [44]", "q: [44] to empty", "Q[1].x: 0 to 44", "q: empty to [2]"]);
}

#[test]
fn what_is_refused_is_said_and_not_held() {
    let interp = models::lock();
    let live = Formula::Always(Box::new(Formula::Eventually(Box::new(Formula::Prop(PropId(0))))));
    let said = Said::Formula { formula: live, props: vec![Expr::Const(1)] };
    let stated = [Stated { name: "live".to_string(), said }];
    let select = Selection::of(["progress", "live", "deadlock"]);
    let settings = Settings { select, ..Settings::default() };
    let answer = |settings: &Settings| interpreted(&interp, &stated, settings, &mut Silent).expect("sensible");
    let report = answer(&settings);
    assert_eq!(words(&report), [("deadlock", "holds"), ("progress", "violated"), ("live", "holds")]);
    // The assertion was not asked about, and nobody is told that it holds.
    assert!(report.notes.iter().any(|n| n.starts_with("met but not asked about") && n.ends_with("assertion")));
    let strong = Settings { search: Search::Ndfs, fairness: Fairness::Strong, ..settings };
    let report = answer(&strong);
    assert_eq!(words(&report), [("deadlock", "holds"), ("progress", "inconclusive"), ("live", "inconclusive")]);
    for p in &report.properties[1..] {
        assert!(p.verdict.because().is_some_and(|b| b.contains("--search scc")), "{p:?}");
        assert_eq!(p.search, None);
    }
}

#[test]
fn an_unknown_property_is_an_error_that_lists_the_known_ones() {
    let settings = Settings { select: Selection::of(["asert"]), ..Settings::default() };
    let errors = interpreted(&models::lock(), &[], &settings, &mut Silent).expect_err("no such property");
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0].code, "V0001");
    assert!(errors[0].help.as_deref().is_some_and(|h| h.contains("assert, deadlock, runtime")));
}

#[test]
fn a_limit_leaves_what_was_not_found_open() {
    let interp = models::lock();
    for search in [Search::Bfs, Search::Dfs] {
        let report = run(&interp, &Settings { search, max_depth: Some(3), ..Settings::default() });
        for p in &report.properties {
            assert!(matches!(&p.verdict, Verdict::NothingFound { because } if because.contains("depth 3")), "{p:?}");
        }
        assert!(report.unreached.is_none() && !report.stats().complete);
    }
    // A bound that the shortest trace fits into still finds it.
    let report = run(&interp, &Settings { max_depth: Some(7), ..Settings::default() });
    assert_eq!(words(&report)[..2], [("assert", "violated"), ("deadlock", "inconclusive")]);
}

#[test]
fn a_search_that_has_found_all_it_wants_stops_and_says_so() {
    let select = Selection::of(["assert"]);
    let report = run(&models::lock(), &Settings { select, ..Settings::default() });
    assert!(!report.stats().complete);
    assert!(report.unreached.is_none());
    assert!(report.notes[0].contains("only a part"));
}

#[test]
fn a_trace_stops_inside_an_atomic_at_the_assertion() {
    let interp = models::atomic();
    let report = run(&interp, &Settings { all_errors: Some(10), ..Settings::default() });
    let p = report.property("assert").expect("a row");
    assert_eq!(p.traces.len(), 1, "one place, one trace");
    let trace = &p.traces[0];
    assert_eq!(statements(&interp, trace), ["P[0] x = 1", "P[0] assert(x == 0)"]);
    assert!(trace.steps[0].floor.is_some());
    assert_eq!(trace.changes(&interp, 0).len(), 1);
    assert_eq!(why(&interp, trace)[0], "x became 1 at step 1 (P[0]: x = 1).");
}

#[test]
fn a_broken_promise_is_found_when_asked_for_and_mentioned_when_not() {
    let interp = models::pipe_promised(true);
    let report = run(&interp, &Settings::default());
    assert_eq!(words(&report)[3], ("promise", "violated"));
    let why = why(&interp, trace(&report, "promise"));
    assert_eq!(why[1], "P[0] declared that nobody else would receive from this channel.");
    let safety = run(&interp, &Settings { select: Selection::safety(), ..Settings::default() });
    assert_eq!(words(&safety), [("assert", "holds"), ("deadlock", "holds"), ("runtime", "holds")]);
    assert!(safety.notes.iter().any(|n| n.contains("promise")), "{:?}", safety.notes);
}

#[test]
#[should_panic(expected = "T2")]
fn a_statement_that_was_not_offered_does_not_replay() {
    let interp = models::lock();
    let mut trace = trace(&run(&interp, &Settings::default()), "assert").clone();
    trace.steps.swap(2, 6);
    replay(&interp, &trace);
}

#[test]
#[should_panic(expected = "T3")]
fn a_state_that_does_not_follow_does_not_replay() {
    let interp = models::lock();
    let mut trace = trace(&run(&interp, &Settings::default()), "assert").clone();
    trace.steps[3].state = trace.steps[2].state.clone();
    replay(&interp, &trace);
}

#[test]
#[should_panic(expected = "T4")]
fn a_trace_without_its_fault_does_not_replay() {
    let interp = models::lock();
    let mut trace = trace(&run(&interp, &Settings::default()), "assert").clone();
    trace.steps.pop();
    replay(&interp, &trace);
}

#[test]
fn an_atomic_that_never_ends_is_a_fault_whose_trace_replays() {
    let report = run(&models::round(), &Settings::default());
    let trace = trace(&report, "runtime");
    assert!(matches!(&trace.ending, Ending::Fault(f) if f.kind == FaultKind::EndlessAtomic));
    assert!(trace.steps.iter().all(|s| s.floor.is_some()));
}

#[test]
fn a_lossy_store_finds_what_is_there_and_never_says_that_anything_holds() {
    let interp = models::lock();
    for store in [Store::HashCompact, Store::Bitstate] {
        for all_errors in [None, Some(3)] {
            let report = run(&interp, &Settings { store, all_errors, ..Settings::default() });
            assert_eq!((report.chosen.search, report.chosen.store), (Some("dfs"), store.word()));
            assert_eq!(
                words(&report),
                [("assert", "violated"), ("deadlock", "inconclusive"), ("runtime", "inconclusive")]
            );
            let because = report.property("deadlock").and_then(|p| p.verdict.because()).unwrap_or_default();
            assert!(because.contains("the store may have taken states for others"), "{because}");
            assert!(!report.stats().complete && report.unreached.is_none());
            assert!(report.stats().omission.is_some());
        }
        let refused = run(&interp, &Settings { store, search: Search::Bfs, ..Settings::default() });
        for p in &refused.properties {
            assert!(p.verdict.because().is_some_and(|b| b.contains("--search dfs")), "{p:?}");
        }
        assert!(refused.searches.is_empty());
    }
}

#[test]
fn a_limit_names_what_would_help() {
    let advice = |settings: &Settings| run(&models::lock(), settings).advice.join("; ");
    let tiny = Settings { max_memory: Some(1000), ..Settings::default() };
    assert!(advice(&tiny).contains("more --memory; --store hashcompact: 11 to 21 bytes a state"));
    assert!(advice(&Settings { store: Store::Arena, ..tiny.clone() }).contains("--store tree"));
    assert!(advice(&Settings { store: Store::HashCompact, ..tiny }).contains("--store bitstate"));
    assert!(advice(&Settings { max_depth: Some(2), ..Settings::default() }).contains("--depth"));
    assert_eq!(advice(&Settings::default()), "");
}
