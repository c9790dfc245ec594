//! Every reduction of synthesised protocols says what their machines say: by each selector, on the fly and off-line. Random
//! models say the same off-line in every form; on the fly they are asked in `cli/tests/library/reduced.rs`.
//!
//! `SPINOR_SEEDS=A..B` asks about other seeds than usual, `SPINOR_MOST_STATES=N` only about those that have no more
//! states: there is time for many of them.

mod machines;

use machines::{agree, loaded, truth};
use spinor_check::check::{Said, Stated, interpreted};
use spinor_check::claim::{Claim, Marking};
use spinor_check::cycles::oracle::has_accepted_component;
use spinor_check::cycles::product::Product;
use spinor_check::cycles::{Fairness, Request, Runs, scc};
use spinor_check::observer::Silent;
use spinor_check::protocol::column;
use spinor_check::reduce::offline::{Built, Form};
use spinor_check::reduce::{Proviso, Reduced, Reduction, Selector, refusal};
use spinor_check::settings::{Reduce, Search, Selection, Settings, Store};
use spinor_check::verdict::Kind;
use spinor_gen::protocol::{Shape, synthesise};
use spinor_gen::question::{Draws, conditions, formula, seeds};
use spinor_model::interp::Interp;
use spinor_model::ir::{Expr, Loc, Place, Probe, Scope, System, Type};
use spinor_model::protocol::Protocol;
use spinor_model::successors::Successors;
use spinor_store::Arena;
use std::sync::Arc;

/// What a formula may look at: where a process stands, what a channel holds.
fn prop(system: &System, draws: &mut Draws) -> Expr {
    if draws.below(4) == 0 {
        let (var, v) = system.globals.vars.enumerated().nth(draws.below(system.globals.vars.len())).expect("a channel");
        let place = Place { scope: Scope::Global, var, slot: v.slot, ty: Type::Chan, index: Vec::new() };
        return Expr::Probe(Probe::Empty, Box::new(Expr::Read(place)));
    }
    let n = draws.below(system.proctypes.len());
    let (proctype, t) = system.proctypes.enumerated().nth(n).expect("a process");
    let loc = Loc(draws.below(t.locs.len() - 1) as u32);
    Expr::AtLabel { proctype, pid: None, loc, label: t.locs[loc].labels[0].clone() }
}

/// What a graph that was built says, in the order of the truth: deadlock, reception, overflow, transitions never executed.
fn built_says(built: &Built<'_, Interp>, system: &System, kinds: &[Kind]) -> ([bool; 3], u64) {
    let mut found = [false; 3];
    for key in built.keys() {
        let mut state = built.unpack(key);
        let mut steps = Vec::new();
        built.enabled(&mut state, &mut steps);
        found[0] |= steps.is_empty() && !built.may_end(&state);
        let mut bits = Vec::new();
        built.look(&mut state, &mut bits).expect("it has a value");
        for (n, kind) in kinds.iter().enumerate() {
            let row = match kind {
                Kind::Reception => 1,
                Kind::Overflow => 2,
                other => unreachable!("the truth does not know {other}"),
            };
            found[row] |= bits[0] >> n & 1 == 1;
        }
    }
    let all: u64 = system.proctypes.iter().map(|t| t.edges.len() as u64 - 1).sum();
    (found, all - built.reached.iter().count() as u64)
}

fn is_broken<R: Runs>(runs: &R) -> bool {
    let request = Request::new(Fairness::None);
    let store = Arena::new(&request.budget).expect("room for an empty store");
    scc::search(runs, &store, &request, &mut Silent).found.is_some()
}

/// Larger ones take too long for so many ways.
const MOST_STATES: usize = 600;

#[test]
fn every_reduction_says_what_the_machines_say() {
    let (mut n, mut n_formulas, mut n_violated, mut n_leaps) = (0, 0, 0, 0);
    let mut stored = [0u64; 6];
    let most = std::env::var("SPINOR_MOST_STATES").ok().and_then(|n| n.parse().ok()).unwrap_or(MOST_STATES);
    for seed in seeds(0..if cfg!(debug_assertions) { 60 } else { 1_000 }) {
        let drawn = synthesise(seed, &Shape::small(seed));
        let Some(truth) = truth(&drawn, most) else { continue };
        let text = drawn.text();
        n += 1;
        let mut draws = Draws(seed);
        let model = loaded("p.cfsm", &text);
        let system = &model.system;
        let strict = seed % 2 == 1;
        let mut protocol = Protocol { strict, ..model.protocol.clone().expect("a protocol") };
        // With all channels asked about, with some, with none.
        match draws.below(3) {
            0 => {}
            1 => {
                protocol.overflows.clear();
                if draws.below(2) == 0 {
                    protocol.receptions.clear();
                }
            }
            _ => protocol.receptions.clear(),
        }
        let interp = Interp::new(system.clone());
        let mut stated = Vec::new();
        for name in ["f", "g"] {
            let props: Vec<Expr> = (0..1 + draws.below(2)).map(|_| prop(system, &mut draws)).collect();
            let size = 2 + draws.below(5);
            let formula = formula(&mut draws, props.len(), size, false);
            stated.push(Stated { name: name.into(), said: Said::Formula { formula, props } });
        }
        let claims: Vec<Claim> = stated
            .iter()
            .map(|s| match &s.said {
                Said::Formula { formula, props } => {
                    Claim::against(formula, props, Marking::Generalised).expect("a small automaton")
                }
                Said::Automaton { .. } => unreachable!("formulas are stated"),
            })
            .collect();
        let truly = |claim: &Claim| {
            let exec = Interp::looking(system.clone(), &claim.looked);
            let product = Product::new(&exec, claim, Fairness::None);
            // The oracle is slow where there are many states.
            if truth.states < 100 { has_accepted_component(&product, Fairness::None) } else { is_broken(&product) }
        };
        let verdicts: Vec<bool> = claims.iter().map(truly).collect();
        n_formulas += verdicts.len();
        n_violated += verdicts.iter().filter(|v| **v).count();

        // On the fly: the commands' way, with each selector.
        let reductions = Selector::ALL.map(Reduce::By);
        for (which, reduce) in reductions.into_iter().enumerate() {
            let searches =
                [(Search::Bfs, Proviso::Levels), (Search::Bfs, Proviso::Loops), (Search::Dfs, Proviso::Loops)];
            let (search, proviso) = searches[draws.below(3)];
            let settings = Settings {
                reduce,
                search,
                proviso,
                plain: false,
                jobs: 1 + draws.below(2),
                // The other one looks at some states before it begins, which takes longer than these searches.
                store: if draws.below(8) == 0 { Store::Tree } else { Store::Arena },
                protocol: Some(protocol.clone()),
                ..Settings::default()
            };
            let way = format!(
                "seed {seed} {reduce:?} {search:?} {proviso:?} {:?} {:?}",
                protocol.receptions, protocol.overflows
            );
            println!("{way}"); // where a panic came from
            let run = |stated: &[Stated], settings: &Settings| {
                interpreted(&interp, stated, settings, &mut Silent).expect("an answer")
            };
            let finite = Settings { select: Selection::safety(), ..settings.clone() };
            agree(&run(&[], &finite), &truth, strict, false, &text, &way);
            let ends = Settings { select: Selection::of(["deadlock"]), ..settings.clone() };
            let report = run(&[], &ends);
            assert_eq!(report.properties[0].verdict.is_violated(), truth.deadlock.is_some(), "{way} ends\n{text}");
            let search = [Search::Scc, Search::Ndfs, Search::SccPar, Search::Cndfs][draws.below(4)];
            let names = Selection::of(["f", "g"]);
            let endless = Settings { search, select: names, ..settings.clone() };
            let report = run(&stated, &endless);
            for (p, broken) in report.properties.iter().zip(&verdicts) {
                assert_eq!(p.verdict.is_violated(), *broken, "{way} {search:?} {}\n{text}\n{stated:?}", p.name);
            }
            if truth.deadlock.is_none() {
                let report = run(&[], &ends);
                stored[which] += report.stats().stored;
            }
        }
        if truth.deadlock.is_none() {
            stored[5] += truth.states;
        }

        // Off-line: the graph first, with all that is asked of it.
        let (kinds, columns): (Vec<Kind>, Vec<Expr>) =
            Kind::flaws().filter_map(|k| Some((k, column(&protocol, system, k)?))).unzip();
        let union: Vec<Expr> = claims.iter().flat_map(|c| c.looked.clone()).collect();
        for selector in [Selector::Lra, Selector::Leap] {
            let make = |looked: &[Expr]| Reduction::new(system.clone(), selector, looked, false);
            let errors = Arc::new(make(&[]).minding(&protocol, &kinds));
            let errors = Reduced::new(Arc::new(Interp::looking(system.clone(), &columns)), errors, Proviso::Always);
            let runs = Arc::new(make(&union));
            for form in [Form::Whole, Form::One, Form::Leaps] {
                let way = format!("seed {seed} off-line {selector:?} {form:?}");
                let built = Built::new(&errors, form).expect("it begins");
                n_leaps += built.n_leaps();
                let reception = if strict { truth.strict } else { truth.reception };
                let right = [
                    truth.deadlock.is_some(),
                    reception.is_some() && !protocol.receptions.is_empty(),
                    truth.overflow.is_some() && !protocol.overflows.is_empty(),
                ];
                assert_eq!(built_says(&built, system, &kinds), (right, truth.never_executed), "{way}\n{text}");
                assert!(form != Form::Whole || built.n_states() as u64 == truth.states, "{way}\n{text}");
                // What is looked at is what the formula's columns are, over a graph for all of them.
                for (claim, broken) in claims.iter().zip(&verdicts) {
                    let exec = Arc::new(Interp::looking(system.clone(), &claim.looked));
                    let runs = Reduced::new(exec, runs.clone(), Proviso::Always);
                    let built = Built::new(&runs, form).expect("it begins");
                    let product = Product::new(&built, claim, Fairness::None);
                    assert_eq!(is_broken(&product), *broken, "{way}\n{text}\n{stated:?}");
                }
            }
            // The form that looks at no path, and the one that looks at loops.
            for proviso in [Proviso::Always, Proviso::Loops] {
                for (claim, broken) in claims.iter().zip(&verdicts) {
                    let exec = Arc::new(Interp::looking(system.clone(), &claim.looked));
                    let reduced = Reduced::new(exec, runs.clone(), proviso);
                    let product = Product::new(&reduced, claim, Fairness::None);
                    let found = is_broken(&product);
                    assert_eq!(found, *broken, "seed {seed} {selector:?} {proviso:?}\n{text}\n{stated:?}");
                }
            }
        }
    }
    println!(
        "{n} protocols, {n_formulas} formulas, {n_violated} violated, {n_leaps} leaps; states without a deadlock, by \
         povas, ample, stubborn, lra, leap and in all: {stored:?}"
    );
    assert!(n_violated * 10 > n_formulas && n_violated < n_formulas && n_leaps > n, "{n_violated} of {n_formulas}");
}

/// Which edges are taken, and whether there is a state without steps where no run may end.
fn finite(built: &Built<'_, Interp>, system: &System) -> (Vec<bool>, bool) {
    let edges = system.proctypes.enumerated().flat_map(|(p, t)| t.edges.ids().map(move |e| (p, e)));
    let taken = edges.map(|(p, e)| built.reached.has(p, e)).collect();
    let dead = built.keys().any(|key| {
        let (mut state, mut steps) = (built.unpack(key), Vec::new());
        built.enabled(&mut state, &mut steps);
        steps.is_empty() && !built.may_end(&state)
    });
    (taken, dead)
}

/// Off-line, random models say the same in all forms: end states, what is executed, formulas.
#[test]
fn off_line_random_models_say_what_the_whole_says() {
    let (mut n, mut n_violated, mut n_dead, mut n_leaps, mut stored) = (0, 0, 0, 0, [0; 3]);
    for seed in seeds(0..if cfg!(debug_assertions) { 80 } else { 1_000 }) {
        println!("seed {seed}"); // where a panic came from
        let text = spinor_gen::generate_own(seed).text;
        let system = loaded("m.pml", &text).system;
        if refusal(&system).is_some() {
            continue;
        }
        let interp = Interp::new(system.clone());
        let size = Settings { select: Selection::safety(), plain: true, store: Store::Arena, ..Settings::default() };
        let size = Settings { all_errors: Some(1), max_depth: Some(2_000), ..size };
        let size = interpreted(&interp, &[], &size, &mut Silent).expect("an answer");
        if !(3..=MOST_STATES as u64).contains(&size.stats().stored) || !size.stats().complete {
            continue;
        }
        n += 1;
        let mut draws = Draws(seed);
        let claims: Vec<Claim> = (0..2)
            .map(|_| {
                let all = conditions(&system, &mut draws);
                let props: Vec<Expr> = (0..1 + draws.below(2)).map(|_| all[draws.below(all.len())].clone()).collect();
                let size = 2 + draws.below(5);
                let formula = formula(&mut draws, props.len(), size, false);
                Claim::against(&formula, &props, Marking::Generalised).expect("a small automaton")
            })
            .collect();
        let exec = |looked: &[Expr]| Arc::new(Interp::looking(system.clone(), looked));
        let broken = |claim: &Claim| is_broken(&Product::new(&*exec(&claim.looked), claim, Fairness::None));
        let verdicts: Vec<bool> = claims.iter().map(broken).collect();
        n_violated += verdicts.iter().filter(|v| **v).count();
        let union: Vec<Expr> = claims.iter().flat_map(|c| c.looked.clone()).collect();
        let mut whole = None;
        for selector in [Selector::Lra, Selector::Leap] {
            let make = |looked: &[Expr]| Arc::new(Reduction::new(system.clone(), selector, looked, false));
            let ends = Reduced::new(exec(&[]), make(&[]), Proviso::Always);
            let runs = make(&union);
            for (which, form) in [Form::Whole, Form::One, Form::Leaps].into_iter().enumerate() {
                let way = format!("seed {seed} {selector:?} {form:?}");
                let built = Built::new(&ends, form).expect("it begins");
                (stored[which], n_leaps) = (stored[which] + built.n_states(), n_leaps + built.n_leaps());
                let said = finite(&built, &system);
                let truth = whole.get_or_insert_with(|| said.clone());
                n_dead += usize::from(said.1);
                assert_eq!(said, *truth, "{way}\n{text}");
                for (claim, broken) in claims.iter().zip(&verdicts) {
                    let runs = Reduced::new(exec(&claim.looked), runs.clone(), Proviso::Always);
                    let built = Built::new(&runs, form).expect("it begins");
                    let found = is_broken(&Product::new(&built, claim, Fairness::None));
                    assert_eq!(found, *broken, "{way} {:?}\n{text}", claim.looked);
                }
            }
        }
    }
    println!(
        "{n} models, {n_violated} of {} formulas violated, {n_dead} dead, {n_leaps} leaps, {stored:?} states",
        2 * n
    );
    assert!(n > 20 && n_violated > 5 && n_leaps > n && stored[1] < stored[0] && stored[2] < stored[0], "{stored:?}");
}

/// [Schoot7], examples 7.3, 7.7 and 7.18: everything, one process at a time, leaps. In this example the state of the
/// automaton is told by the state of the system, so the products are as large as the graphs. The whole has the 12 states of two
/// processes that run beside each other; of the others the text tells which sets are chosen, and that leaps are one state
/// and one transition fewer.
#[test]
fn example_7_3_has_the_papers_shapes() {
    let path = spinor_gen::corpus::folder().join("cfsm/example_7_3.cfsm");
    let model = loaded("example_7_3.cfsm", &std::fs::read_to_string(path).expect("a protocol"));
    let formula = &model.formulas[0];
    let claim = Claim::against(&formula.formula, &formula.props, Marking::Generalised).expect("a small automaton");
    let exec = Arc::new(Interp::looking(model.system.clone(), &claim.looked));
    for selector in [Selector::Lra, Selector::Leap] {
        let reduction = Arc::new(Reduction::new(model.system.clone(), selector, &claim.looked, false));
        let reduced = Reduced::new(exec.clone(), reduction, Proviso::Always);
        for (form, states, transitions) in [(Form::Whole, 12, 20), (Form::One, 10, 13), (Form::Leaps, 9, 12)] {
            let built = Built::new(&reduced, form).expect("it begins");
            assert_eq!((built.n_states(), built.n_transitions()), (states, transitions), "{selector:?} {form:?}");
            let product = Product::new(&built, &claim, Fairness::None);
            assert!(has_accepted_component(&product, Fairness::None), "w happens, and d does not");
        }
    }
}
