//! Every model of the corpus answers its truth.
//!
//! `corpus/**/*.pml` or `*.cfsm` stands beside `*.expect`: one line `property verdict` each, for runs that never end also `property weak
//! verdict` and `property strong verdict`, then `stored` and `transitions` of the unreduced search for what a finite run
//! can show. Depth-first and breadth-first must agree with it, and so must the oracle, every search for cycles, and each of
//! them with steps left out.

use spinor_check::check::{Said, Stated, interpreted};
use spinor_check::claim::{Claim, Marking};
use spinor_check::cycles::Fairness;
use spinor_check::cycles::oracle::has_accepted_component;
use spinor_check::cycles::product::Product;
use spinor_check::observer::Silent;
use spinor_check::oracle::Graph;
use spinor_check::reduce::{AbleBy, Proviso, Repairs, Selector, UnlessBy};
use spinor_check::report::Report;
use spinor_check::settings::{FairBy, Reduce, Search, Selection, Settings, Store};
use spinor_check::trace::Ending;
use spinor_check::verdict::Kind;
use spinor_lang::{Model, NamedFormula, Options, load};
use spinor_model::fault::FaultKind;
use spinor_model::interp::{Interp, Micro};
use spinor_model::optimise::Optimisations;
use spinor_model::protocol::Protocol;
use spinor_model::successors::Successors;
use spinor_model::validate::validate;
use std::collections::BTreeMap;
use std::path::Path;

/// What the model says of its runs.
fn stated(model: &Model) -> Vec<Stated> {
    let of = |f: &NamedFormula| {
        let said = Said::Formula { formula: f.formula.clone(), props: f.props.clone() };
        Stated { name: f.name.clone(), said }
    };
    model.formulas.iter().map(of).collect()
}

/// Everything, and what is asked about though no label does.
fn all_of(expect: &str) -> Selection {
    let asked = ["accept", "progress"].into_iter().filter(|name| expect.contains(&format!("{name} ")));
    Selection::of(["all"].into_iter().chain(asked))
}

/// The names of the properties of a model that speak of runs that never end, or of the others.
fn names(interp: &Interp, stated: &[Stated], protocol: &Option<Protocol>, expect: &str, endless: bool) -> Vec<String> {
    let protocol = protocol.clone();
    let nothing = Settings { max_depth: Some(0), select: all_of(expect), protocol, ..Settings::default() };
    let report = interpreted(interp, stated, &nothing, &mut Silent).expect("all properties");
    report.properties.into_iter().filter(|p| p.kind.is_endless() == endless).map(|p| p.name).collect()
}

fn endless(interp: &Interp, stated: &[Stated], protocol: &Option<Protocol>, expect: &str) -> Selection {
    Selection::of(names(interp, stated, protocol, expect, true))
}

/// The verdicts, those about runs that never end for each fairness, and the counts of the search for the others.
fn lines(reports: &[Report; 3]) -> String {
    let mut out = String::new();
    for p in &reports[0].properties {
        out.push_str(&format!("{} {}\n", p.name, p.verdict.word()));
        for report in reports[1..].iter().filter(|_| p.kind.is_endless()) {
            let verdict = &report.property(&p.name).expect("the same property").verdict;
            out.push_str(&format!("{} {} {}\n", p.name, report.chosen.fair, verdict.word()));
        }
    }
    let stats = reports[0].searches[0];
    out.push_str(&format!("stored {}\ntransitions {}\n", stats.stored, stats.transitions));
    out
}

/// In two parts, which take turns on two cores.
#[test]
fn every_model_answers_its_truth_in_both_orders_and_by_the_oracle() {
    every_other_model(0);
}

#[test]
fn so_does_every_other_model() {
    every_other_model(1);
}

fn every_other_model(first: usize) {
    let mut wrong = String::new();
    let models = spinor_gen::corpus::models(&["pml", "cfsm"]);
    assert!(models.len() >= 100, "only {} models", models.len());
    for path in models.into_iter().skip(first).step_by(2) {
        let text = std::fs::read_to_string(&path).expect("a model");
        let expect = std::fs::read_to_string(path.with_extension("expect"))
            .unwrap_or_else(|_| panic!("{} has no .expect", path.display()));
        // Lines that begin with `by` are about progress: see `progress.rs`.
        let own = |l: &&str| !l.starts_with('#') && !l.starts_with("by ");
        let expect: String = expect.lines().filter(own).map(|l| format!("{l}\n")).collect();
        let name = path.file_name().expect("a name").to_string_lossy();
        let loaded = load(&name, &text, &Options::default(), &|p: &Path| std::fs::read(p));
        let Some(model) = loaded.model else { panic!("{name}: {:?}", loaded.diagnostics) };
        assert_eq!(validate(&model.system), Vec::<String>::new(), "{name}");
        let interp = Interp::new(model.system.clone());
        let stated = stated(&model);
        let protocol = model.protocol.clone();
        for search in [Search::Bfs, Search::Dfs] {
            let reports = Fairness::ALL.map(|fairness| {
                let select = if fairness == Fairness::None {
                    all_of(&expect)
                } else {
                    endless(&interp, &stated, &protocol, &expect)
                };
                let protocol = protocol.clone();
                let settings = Settings {
                    search,
                    fairness,
                    select,
                    all_errors: Some(1),
                    plain: true,
                    protocol,
                    ..Settings::default()
                };
                interpreted(&interp, &stated, &settings, &mut Silent).expect("all properties")
            });
            let found = lines(&reports);
            if found != expect {
                wrong.push_str(&format!("{name} {search:?}\nexpected:\n{expect}found:\n{found}\n"));
            }
        }
        wrong.push_str(&every_way(&name, &interp, &stated, &protocol, &expect));
        wrong.push_str(&every_reduction(&name, &interp, &stated, &protocol, &expect));
        let graph = Graph::build(&interp);
        let says = |property: &str| expect.contains(&format!("{property} violated\n"));
        for (property, kind) in
            [("assert", Kind::Assertion), ("deadlock", Kind::EndState), ("runtime", Kind::RuntimeError)]
        {
            let (n, shortest) = graph.violations(kind);
            if (n > 0) != says(property) {
                wrong.push_str(&format!(
                    "{name} {property}: the oracle finds {n}, the nearest after {shortest:?} steps\n"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Every search for runs that never end, with and without optimisation, in both stores.
fn every_way(name: &str, interp: &Interp, stated: &[Stated], protocol: &Option<Protocol>, expect: &str) -> String {
    let mut wrong = String::new();
    let select = endless(interp, stated, protocol, expect);
    for name_of in select.iter() {
        for fairness in Fairness::ALL {
            let Some(claim) = claim_of(name_of, stated) else { continue };
            let found = oracle(interp, &claim, fairness);
            let fair = if fairness == Fairness::None { "" } else { &format!(" {}", fairness.word()) };
            if found != expect.contains(&format!("{name_of}{fair} violated\n")) {
                wrong.push_str(&format!("{name} {fairness:?}: by the oracle, {name_of} is violated: {found}\n"));
            }
        }
    }
    for (search, fair_by) in WAYS {
        for fairness in Fairness::ALL {
            for (plain, store) in [(true, Store::Arena), (false, Store::Tree)] {
                let select = select.clone();
                let protocol = protocol.clone();
                let settings =
                    Settings { search, fair_by, fairness, plain, store, select, protocol, ..Settings::default() };
                let report = interpreted(interp, stated, &settings, &mut Silent).expect("all properties");
                for p in &report.properties {
                    let fair = if fairness == Fairness::None { "" } else { &format!(" {}", fairness.word()) };
                    let refused = p.search.is_none();
                    if !refused && !expect.contains(&format!("{}{fair} {}\n", p.name, p.verdict.word())) {
                        let said = p.verdict.word();
                        wrong.push_str(&format!("{name} {search:?} {fair_by:?} {fairness:?}: {} {said}\n", p.name));
                    }
                }
            }
        }
    }
    wrong
}

/// Every search with steps left out, by either selector and every proviso, with and without optimisation.
fn every_reduction(
    name: &str,
    interp: &Interp,
    stated: &[Stated],
    protocol: &Option<Protocol>,
    expect: &str,
) -> String {
    let mut wrong = String::new();
    let mut compare = |settings: Settings| {
        let report = interpreted(interp, stated, &settings, &mut Silent).expect("all properties");
        for p in report.properties.iter().filter(|p| p.search.is_some()) {
            let fair = match settings.fairness {
                Fairness::None => String::new(),
                fairness => format!(" {}", fairness.word()),
            };
            if !expect.contains(&format!("{}{fair} {}\n", p.name, p.verdict.word())) {
                let Settings { reduce, proviso, repairs, search, fair_by, optimise, .. } = &settings;
                let way = format!("{reduce:?} {proviso:?} {repairs:?} {search:?} {fair_by:?}{fair} {optimise:?}");
                wrong.push_str(&format!("{name} {way}: {} {}\n", p.name, p.verdict.word()));
            }
        }
    };
    let stored = expect.lines().find_map(|l| l.strip_prefix("stored ")?.parse().ok()).unwrap_or(0u64);
    let finite = Selection::of(names(interp, stated, protocol, expect, false));
    let endless = endless(interp, stated, protocol, expect);
    for reduce in [Selector::Stubborn, Selector::Ample, Selector::Leap, Selector::Lra].map(Reduce::By) {
        for optimise in [Optimisations::NONE, Optimisations::ALL] {
            // Large ones are here for their stores; once is enough.
            if stored > LARGE && (reduce, optimise) != (Reduce::By(Selector::Stubborn), Optimisations::ALL) {
                continue;
            }
            let leaps = reduce.leaps();
            let like = Settings { reduce, optimise, protocol: protocol.clone(), ..Settings::default() };
            for (search, proviso) in
                [(Search::Bfs, Proviso::Levels), (Search::Bfs, Proviso::Loops), (Search::Dfs, Proviso::Loops)]
            {
                compare(Settings { search, proviso, select: finite.clone(), ..like.clone() });
            }
            for (search, fair_by) in WAYS {
                // Leaps are refused with fairness, and then it is the whole graph once more.
                let fairnesses = Fairness::ALL.into_iter().filter(|f| *f == Fairness::None || !leaps);
                for fairness in fairnesses {
                    let jobs = 1 + usize::from(optimise == Optimisations::ALL);
                    compare(Settings { search, fair_by, fairness, jobs, select: endless.clone(), ..like.clone() });
                }
            }
            // The papers' ways.
            if leaps || stored > LARGE {
                continue;
            }
            for proviso in [Proviso::PathNumber, Proviso::PathBit] {
                compare(Settings { search: Search::Dfs, proviso, select: finite.clone(), ..like.clone() });
                for fairness in [Fairness::None, Fairness::Weak] {
                    let (search, select) = (Search::Ndfs, endless.clone());
                    compare(Settings { search, proviso, fairness, select, ..like.clone() });
                }
            }
            for unless in UnlessBy::ALL {
                let repairs = Repairs { unless, ..Repairs::default() };
                let (search, proviso) = (Search::Bfs, Proviso::Loops);
                compare(Settings { search, proviso, repairs, select: finite.clone(), ..like.clone() });
            }
            for able in AbleBy::ALL {
                for (search, fair_by) in [(Search::Ndfs, FairBy::Flags), (Search::Cndfs, FairBy::Copies)] {
                    let repairs = Repairs { able, ..Repairs::default() };
                    let (fairness, select) = (Fairness::Weak, endless.clone());
                    compare(Settings { search, fair_by, fairness, repairs, select, ..like.clone() });
                }
            }
        }
    }
    wrong
}

const LARGE: u64 = 20_000;

fn claim_of(name: &str, stated: &[Stated]) -> Option<Claim> {
    match (name, stated.iter().find(|s| s.name == name).map(|s| &s.said)) {
        (_, Some(Said::Formula { formula, props })) => {
            Some(Claim::against(formula, props, Marking::Generalised).expect("a small automaton"))
        }
        ("accept", _) => Some(Claim::accept_labels()),
        ("progress", _) => Some(Claim::without_progress(Marking::Generalised)),
        _ => None,
    }
}

fn oracle(interp: &Interp, claim: &Claim, fairness: Fairness) -> bool {
    let looking = Interp::looking(interp.shared_system().clone(), &claim.looked);
    has_accepted_component(&Product::new(&looking, claim, fairness), fairness)
}

const WAYS: [(Search, FairBy); 12] = [
    (Search::Scc, FairBy::Scc),
    (Search::Ndfs, FairBy::Flags),
    (Search::Ndfs, FairBy::Copies),
    (Search::NdfsSeed, FairBy::Flags),
    (Search::NdfsSeed, FairBy::Copies),
    (Search::NdfsProcess, FairBy::Copies),
    (Search::SccPar, FairBy::Scc),
    (Search::Cndfs, FairBy::Flags),
    (Search::Fifo, FairBy::Auto),
    (Search::FifoLevels, FairBy::Auto),
    (Search::Restarts, FairBy::Auto),
    (Search::NdfsNp, FairBy::Auto),
];

/// The fewest statements after which a violation of this kind shows, by the statements of every move.
fn fewest_statements(interp: &Interp, graph: &Graph, kind: Kind) -> Option<usize> {
    let states: Vec<_> = graph.nodes.iter().map(|node| interp.unpack(&node.key)).collect();
    let mut moves = Vec::new();
    for (n, node) in graph.nodes.iter().enumerate() {
        let mut paths = BTreeMap::new();
        for edge in &node.edges {
            let path = paths.entry(edge.step).or_insert(0);
            let statements = interp.path(&states[n], edge.step, *path);
            let of_kind = |m: &Micro| m.faults.iter().any(|f| Kind::of(&f.kind) == kind);
            moves.push((n, edge.to, statements.len(), statements.iter().position(of_kind)));
            *path += 1;
        }
    }
    let mut fewest: Vec<Option<usize>> = vec![None; graph.nodes.len()];
    if let Some(initial) = fewest.first_mut() {
        *initial = Some(0);
    }
    let mut found: Option<usize> = graph.start_fault.iter().any(|f| Kind::of(&f.kind) == kind).then_some(0);
    let lower = |old: &mut Option<usize>, new: usize| {
        let lower = old.is_none_or(|old| new < old);
        *old = if lower { Some(new) } else { *old };
        lower
    };
    let mut changes = true;
    while changes {
        changes = false;
        for (from, to, n, shows) in &moves {
            let Some(before) = fewest[*from] else { continue };
            to.iter().for_each(|to| changes |= lower(&mut fewest[*to], before + n));
            shows.iter().for_each(|at| _ = lower(&mut found, before + at + 1));
        }
    }
    for (node, fewest) in graph.nodes.iter().zip(fewest) {
        if kind == Kind::EndState && node.bad_end {
            lower(&mut found, fewest.expect("a node is reached"));
        }
    }
    found
}

#[test]
fn both_searches_agree_with_the_oracle_on_random_models() {
    let (mut n, mut n_longer) = (0, 0);
    for seed in 0..250 {
        let text = spinor_gen::generate(seed).text;
        let loaded = load("m.pml", &text, &Options::default(), &|p: &Path| std::fs::read(p));
        let model = loaded.model.unwrap_or_else(|| panic!("seed {seed}: {:?}", loaded.diagnostics));
        assert_eq!(validate(&model.system), Vec::<String>::new(), "seed {seed}");
        let interp = Interp::new(model.system);
        let select = Selection::of(names(&interp, &[], &None, "", false));
        let settings = |search| Settings {
            search,
            select: select.clone(),
            all_errors: Some(1),
            plain: true,
            ..Settings::default()
        };
        let answer = |search| interpreted(&interp, &[], &settings(search), &mut Silent).expect("an answer");
        let (bfs, dfs) = (answer(Search::Bfs), answer(Search::Dfs));
        if bfs.stats().stored > 3000 {
            continue; // the oracle is slow on purpose
        }
        n += 1;
        let graph = Graph::build(&interp);
        let edges: usize = graph.nodes.iter().map(|n| n.edges.iter().filter(|e| e.to.is_some()).count()).sum();
        let transitions = if graph.nodes.is_empty() { 0 } else { 1 + edges as u64 };
        for report in [&bfs, &dfs] {
            assert_eq!(report.stats().stored, graph.nodes.len() as u64, "seed {seed}");
            assert_eq!(report.stats().transitions, transitions, "seed {seed}");
            for property in &report.properties {
                let (violations, shortest) = graph.violations(property.kind);
                assert_eq!(property.verdict.word() == "violated", violations > 0, "seed {seed} {}", property.name);
                assert_eq!(property.n_violations, violations, "seed {seed} {}", property.name);
                if let (true, Some(trace)) = (std::ptr::eq(report, &bfs), property.traces.first()) {
                    let moves_are_statements = Some(trace.steps.len()) == shortest;
                    assert_eq!(trace.shortest, moves_are_statements, "seed {seed} {}", property.name);
                }
            }
        }
        if graph.nodes.len() > 500 {
            continue; // so are all statements of all moves
        }
        let mut fewest = BTreeMap::new();
        for search in [Search::Auto, Search::Dfs] {
            let settings = Settings { plain: search == Search::Dfs, all_errors: None, ..settings(search) };
            let report = interpreted(&interp, &[], &settings, &mut Silent).expect("an answer");
            for property in &report.properties {
                for trace in &property.traces {
                    let endless = matches!(&trace.ending, Ending::Fault(f) if f.kind == FaultKind::EndlessAtomic);
                    let what = format!("seed {seed} {} by {search:?}", property.name);
                    assert!(trace.shortest || endless, "{what}");
                    let made = || fewest_statements(&interp, &graph, property.kind);
                    let fewest = *fewest.entry(property.kind).or_insert_with(made);
                    assert!(Some(trace.steps.len()) == fewest || !trace.shortest, "{what}: {fewest:?}");
                    n_longer += usize::from(fewest > graph.violations(property.kind).1);
                }
            }
        }
    }
    assert!(n_longer > 20, "only {n_longer} shortest runs have moves of several statements");
    assert!(n > 150, "only {n} models were small enough");
}
