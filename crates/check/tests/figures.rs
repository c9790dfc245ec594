//! The papers' ways of leaving out steps beside ours: each answers as the whole graph does, and each of its conditions is
//! needed.
//!
//! | here | there |
//! |---|---|
//! | stack with remembered selections | [HPY96] 5.2, `cycles/ndfs.rs` |
//! | rendez-vous × unless | [Bosnacki-POR] 4, `reduce/repairs.rs` |
//! | rendez-vous × weak fairness | [Bosnacki-POR] 5.3, the same |
//!
//! Random systems: `SPINOR_SEEDS=0..1000000` for more, `SPINOR_WAYS=n` for so many ways of each.

mod systems;

use spinor_check::check::interpreted;
use spinor_check::claim::{Claim, Marking};
use spinor_check::cycles::fair::{self, By, Fair};
use spinor_check::cycles::ndfs::{self, Nested, Nesting, Target};
use spinor_check::cycles::oracle::{has_accepted_component, size};
use spinor_check::cycles::product::Product;
use spinor_check::cycles::{self, Fairness};
use spinor_check::observer::Silent;
use spinor_check::oracle::Graph;
use spinor_check::reduce::without::Condition;
use spinor_check::reduce::{AbleBy, Proviso, Reduced, Reduction, Repairs, Selector, UnlessBy};
use spinor_check::search::{Request, dfs};
use spinor_check::settings::{Reduce, Search, Selection, Settings};
use spinor_check::verdict::Kind;
use spinor_gen::question::seeds;
use spinor_lang::{Model, Options, load};
use spinor_model::interp::Interp;
use spinor_model::ir::{Expr, System};
use spinor_store::{Arena, Budget};
use std::path::Path;
use std::sync::Arc;
use systems::Question;

const SELECTORS: [Selector; 2] = [Selector::Ample, Selector::Stubborn];

/// One way of leaving out steps.
#[derive(Clone, Copy, Debug)]
struct Way {
    selector: Selector,
    repairs: Repairs,
    without: Option<Condition>,
    by: By,
    /// What is seen is kept in order, part by part, instead of being in no selection.
    parts: bool,
}

fn way(unless: UnlessBy, able: AbleBy) -> Way {
    let repairs = Repairs { unless, able };
    Way { selector: Selector::Ample, repairs, without: None, by: By::Flags, parts: false }
}

impl Way {
    fn reduced(&self, system: &Arc<System>, looked: &[Expr], fair: bool, proviso: Proviso) -> Reduced<Interp> {
        let reduction = Reduction::new(system.clone(), self.selector, looked, fair).repaired(self.repairs);
        let reduction = match self.without {
            Some(condition) => reduction.without(condition),
            None => reduction,
        };
        Reduced::new(Arc::new(Interp::looking(system.clone(), looked)), Arc::new(reduction), proviso)
    }

    /// Is there a violation in the graph of selections that depend on the state, and on who is waited for?
    fn asks(&self, system: &Arc<System>, question: &Question) -> bool {
        match question {
            Question::Finite(kind) => {
                Graph::build(&self.reduced(system, &[], false, Proviso::Loops)).violations(*kind).0 > 0
            }
            Question::Endless(claim, fairness) => {
                let fair = *fairness != Fairness::None;
                let reduced = if self.parts {
                    let reduction = Reduction::new(system.clone(), self.selector, &claim.looked, fair);
                    let exec = Arc::new(Interp::looking(system.clone(), &claim.looked));
                    Reduced::new(exec, Arc::new(reduction.in_parts(&claim.parts)), Proviso::Loops)
                } else {
                    self.reduced(system, &claim.looked, fair, Proviso::Loops)
                };
                let product = Product::new(&reduced, claim, *fairness);
                let eager = self.repairs.able == AbleBy::Defaults;
                if eager || self.repairs.able == AbleBy::Dynamic {
                    assert_eq!(*fairness, Fairness::Weak, "somebody is waited for");
                    let fair = Fair::new(&product, system.most_processes(), self.by).telling(true, eager);
                    return has_accepted_component(&fair, Fairness::None);
                }
                has_accepted_component(&product, *fairness)
            }
        }
    }

    /// The same by nested search with selections by its path, or depth-first.
    fn by_path(&self, system: &Arc<System>, question: &Question, way: Nesting) -> bool {
        match question {
            Question::Finite(kind) => {
                let reduced = self.reduced(system, &[], false, Proviso::PathNumber);
                let request = Request { kinds: vec![*kind], proviso: way.proviso, ..Request::default() };
                let store = Arena::new(&request.budget).expect("room for an empty store");
                !dfs::search(&reduced, &store, &request, &mut Silent).found.is_empty()
            }
            Question::Endless(claim, fairness) => {
                let found = self.nested(system, claim, *fairness, way).searched.found;
                if let Some(lasso) = found.as_ref().filter(|_| !way.forgets) {
                    systems::replay(system, claim, *fairness, lasso);
                }
                found.is_some()
            }
        }
    }

    fn nested(&self, system: &Arc<System>, claim: &Claim, fairness: Fairness, way: Nesting) -> Nested {
        let reduced = self.reduced(system, &claim.looked, fairness != Fairness::None, way.proviso);
        let product = Product::new(&reduced, claim, fairness);
        let request = cycles::Request::new(Fairness::None);
        let store = Arena::new(&Budget::unlimited()).expect("room for an empty store");
        let nested = if fairness == Fairness::None {
            ndfs::search_with(&product, &store, way, &request, &mut Silent)
        } else {
            let fair = Fair::new(&product, system.most_processes(), self.by);
            fair::search_with(&fair, &store, way, &request, &mut Silent)
        };
        nested.expect("one mark, at states")
    }
}

const BY_PATH: [Proviso; 2] = [Proviso::PathNumber, Proviso::PathBit];

fn nesting(proviso: Proviso) -> Nesting {
    Nesting { proviso, ..Nesting::to(Target::Path) }
}

/// The answer of the whole graph.
fn truth(system: &Arc<System>, question: &Question) -> bool {
    match question {
        Question::Finite(kind) => Graph::build(&Interp::new(system.clone())).violations(*kind).0 > 0,
        Question::Endless(claim, fairness) => {
            let interp = Interp::looking(system.clone(), &claim.looked);
            has_accepted_component(&Product::new(&interp, claim, *fairness), *fairness)
        }
    }
}

fn corpus(name: &str) -> Model {
    let path = spinor_gen::corpus::folder().join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{name}: {e}"));
    load(name, &text, &Options::default(), &|p: &Path| std::fs::read(p)).model.expect("a model")
}

/// Against a formula of a model, in stutter form.
fn against(model: &Model, fairness: Fairness) -> Question {
    let f = &model.formulas[0];
    let claim = Claim::against(&f.formula, &f.props, Marking::States).expect("a small automaton");
    Question::Endless(Box::new(claim.in_stutter_form().expect("no `X`")), fairness)
}

/// Each repair answers right, and without one of its conditions it does not: by the papers' models, and by those that the
/// papers' own words get wrong.
#[test]
fn each_part_of_a_repair_is_needed() {
    use {AbleBy as A, Condition as C, UnlessBy as U};
    let weak = |m: &Model| against(m, Fairness::Weak);
    let assertion = |_: &Model| Question::Finite(Kind::Assertion);
    type Asked<'a> = &'a dyn Fn(&Model) -> Question;
    let rows: [(&str, Asked, U, A, C); 12] = [
        ("regressions/R01_unless_rendezvous.pml", &assertion, U::Guards, A::Guards, C::Answered),
        ("regressions/R20_unless_paper.pml", &assertion, U::Static, A::Guards, C::Followed),
        ("regressions/R20_unless_paper.pml", &assertion, U::Dynamic, A::Guards, C::Minded),
        ("figures/unless_later.pml", &assertion, U::Dynamic, A::Guards, C::Coming),
        ("figures/unless_two_servers.pml", &assertion, U::Dynamic, A::Guards, C::Coming),
        ("figures/unless_two_servers.pml", &assertion, U::Static, A::Guards, C::Followed),
        ("figures/fair_two_servers.pml", &weak, U::Guards, A::Guards, C::Fairness),
        ("figures/fair_two_servers.pml", &weak, U::Guards, A::Static, C::Followed),
        ("figures/fair_two_servers.pml", &weak, U::Guards, A::Dynamic, C::Offered),
        ("figures/fair_two_servers.pml", &weak, U::Guards, A::Defaults, C::Offered),
        ("figures/fair_two_servers.pml", &weak, U::Guards, A::Dynamic, C::Waited),
        ("figures/fair_two_servers.pml", &weak, U::Guards, A::Defaults, C::Waited),
    ];
    let mut wrong = String::new();
    for (name, question, unless, able, condition) in rows {
        let model = corpus(name);
        let question = question(&model);
        let right = truth(&model.system, &question);
        let mut matters = false;
        for selector in SELECTORS {
            for by in [By::Flags, By::Copies] {
                let way = Way { selector, by, ..way(unless, able) };
                if way.asks(&model.system, &question) != right {
                    wrong.push_str(&format!("{name} {way:?}: the answer is wrong\n"));
                }
                matters |= Way { without: Some(condition), ..way }.asks(&model.system, &question) != right;
            }
        }
        if !matters {
            wrong.push_str(&format!("{name}, {unless:?}, {able:?}: right without {condition:?}\n"));
        }
    }
    for condition in Condition::FIGURES {
        if rows.iter().all(|row| row.4 != condition) {
            wrong.push_str(&format!("{condition:?}: no model\n"));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// All ways, all repairs, on every model of the figures.
#[test]
fn the_figures_answer_their_truth_in_every_way() {
    for name in ["unless_later", "unless_two_servers", "fair_two_servers", "hpy_figure_3", "hpy_section_5_2"] {
        let model = corpus(&format!("figures/{name}.pml"));
        let mut questions = vec![Question::Finite(Kind::Assertion), Question::Finite(Kind::EndState)];
        if !model.formulas.is_empty() {
            questions.extend([Fairness::None, Fairness::Weak].map(|f| against(&model, f)));
        }
        if name.starts_with("hpy") {
            let accept = || Box::new(Claim::accept_labels());
            questions.extend([Fairness::None, Fairness::Weak].map(|f| Question::Endless(accept(), f)));
        }
        for question in &questions {
            assert_eq!(wrong_ways(&model.system, question, 0, usize::MAX).1, "", "{name}");
        }
    }
}

/// [Schoot7], section 7.3.4: a formula that looks at everything, but in parts, lets its steps change places.
#[test]
fn what_different_parts_see_is_in_no_order() {
    let model = corpus("figures/schoot_7_3_4.pml");
    let question = against(&model, Fairness::Weak);
    let Question::Endless(claim, _) = &question else { unreachable!("a formula") };
    assert_eq!(claim.parts.len(), 4, "one for each station");
    let looking = || Arc::new(Interp::looking(model.system.clone(), &claim.looked));
    let size = |parts: &[Vec<u32>]| {
        let reduction = Reduction::new(model.system.clone(), Selector::Stubborn, &claim.looked, true).in_parts(parts);
        Graph::build(&Reduced::new(looking(), Arc::new(reduction), Proviso::Loops)).nodes.len()
    };
    let all = Graph::build(&*looking()).nodes.len();
    let [one, apart] = [size(&[(0..4).collect()]), size(&claim.parts)];
    assert!(apart < one && one < all, "{apart} states, {one} in one part, {all} in all");
    assert_eq!(wrong_ways(&model.system, &question, 0, usize::MAX).1, "");
}

/// Every way that the plan accepts for a question, and the memory if it goes by the path.
fn ways(question: &Question) -> Vec<(Way, Option<Proviso>)> {
    let fairness = match question {
        Question::Finite(_) => Fairness::None,
        Question::Endless(_, fairness) => *fairness,
    };
    let mut out = Vec::new();
    for selector in SELECTORS {
        for unless in UnlessBy::ALL {
            for able in AbleBy::ALL {
                for by in [By::Flags, By::Copies] {
                    let way = Way { selector, by, ..way(unless, able) };
                    let waits = matches!(able, AbleBy::Dynamic | AbleBy::Defaults);
                    if fairness == Fairness::Weak || !waits && by == By::Flags {
                        out.push((way, None));
                    }
                    let nested = fairness == Fairness::None && by == By::Flags || fairness == Fairness::Weak;
                    let provisos = BY_PATH.into_iter().filter(|_| nested && !waits);
                    out.extend(provisos.map(|proviso| (way, Some(proviso))));
                }
            }
        }
    }
    out
}

/// The answer of the whole graph, and what answers otherwise; of so many ways, beginning somewhere.
fn wrong_ways(system: &Arc<System>, question: &Question, from: usize, n: usize) -> (bool, String) {
    let right = truth(system, question);
    let ways = ways(question);
    let mut wrong = String::new();
    let fair = matches!(question, Question::Endless(_, Fairness::Weak | Fairness::Strong));
    let parts = |selector| (Way { selector, parts: true, ..way(UnlessBy::Guards, AbleBy::Guards) }, None);
    let parts: Vec<_> = SELECTORS.into_iter().filter(|_| fair).map(parts).collect();
    for (way, proviso) in ways.iter().cycle().skip(from % ways.len()).take(n.min(ways.len())).chain(&parts) {
        let answer = match proviso {
            None => way.asks(system, question),
            Some(proviso) => way.by_path(system, question, nesting(*proviso)),
        };
        if answer != right {
            wrong.push_str(&format!("{way:?} {proviso:?}, not {right}\n"));
        }
    }
    (right, wrong)
}

/// Figure 3: the second search goes on through the path, chooses another selection there, and misses the cycle.
#[test]
fn a_second_search_that_passes_the_path_and_chooses_anew_misses_a_cycle() {
    let accept = Question::Endless(Box::new(Claim::accept_labels()), Fairness::None);
    let ample = way(UnlessBy::Guards, AbleBy::Guards);
    let system = corpus("figures/hpy_figure_3.pml").system;
    assert!(truth(&system, &accept));
    let anew = Nesting { target: Target::Seed, proviso: Proviso::PathNumber, forgets: true };
    assert!(!ample.by_path(&system, &accept, anew));
    for proviso in BY_PATH {
        assert!(ample.by_path(&system, &accept, nesting(proviso)), "{proviso:?}");
    }
}

/// Section 5.2: without memory the second search goes where the first has not been, though it stops at the path. (No
/// system is known whose answer becomes wrong by that: see `cycles/ndfs.rs`.)
#[test]
fn a_second_search_that_chooses_anew_leaves_the_graph_of_the_first() {
    let ample = way(UnlessBy::Guards, AbleBy::Guards);
    let system = corpus("figures/hpy_section_5_2.pml").system;
    let accept = Claim::accept_labels();
    let second = |way| ample.nested(&system, &accept, Fairness::None, way).second;
    for proviso in BY_PATH {
        let anew = Nesting { forgets: true, ..nesting(proviso) };
        assert!(second(nesting(proviso)) < second(anew), "{proviso:?}");
    }
}

/// Without the proviso something is left out for ever.
#[test]
fn without_the_path_some_answer_is_wrong() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conditions/Cycle.pml");
    let text = std::fs::read_to_string(path).expect("a model");
    let system = load("Cycle.pml", &text, &Options::default(), &|p: &Path| std::fs::read(p)).model.expect("one").system;
    let question = Question::Finite(Kind::Assertion);
    for selector in SELECTORS {
        let way = Way { selector, ..way(UnlessBy::Guards, AbleBy::Guards) };
        for proviso in BY_PATH {
            assert!(way.by_path(&system, &question, nesting(proviso)), "{selector:?}");
        }
        assert!(!way.by_path(&system, &question, nesting(Proviso::None)), "{selector:?}");
    }
}

/// R04: an automaton that counts repetitions is misled by selections on the fly, and its stutter form is not.
#[test]
fn an_automaton_that_counts_is_misled() {
    let model = corpus("regressions/R04_parity_claim.pml");
    let claim = Claim::never(&model.system.claims[0], &model.system).expect("a claim");
    let ample = way(UnlessBy::Guards, AbleBy::Guards);
    let ask = |claim: Claim| {
        let question = Question::Endless(Box::new(claim), Fairness::None);
        assert!(truth(&model.system, &question));
        BY_PATH.map(|proviso| ample.by_path(&model.system, &question, nesting(proviso)))
    };
    assert_eq!(ask(claim.in_stutter_form().expect("it is stutter invariant")), [true; 2]);
    assert!(ask(claim).contains(&false), "R04 is found by the automaton as it is");
}

/// What cannot be done on the fly is not done, with the reason; what is asked is answered all the same.
#[test]
fn what_cannot_be_on_the_fly_is_refused_with_the_reason() {
    let system = corpus("figures/hpy_figure_3.pml").system;
    let interp = Interp::new(system);
    let select = Selection::of(["accept"]);
    let (stack, ample) = (Proviso::PathBit, Reduce::By(Selector::Ample));
    let waits = Repairs { able: AbleBy::Defaults, ..Repairs::default() };
    let guards = Repairs::default();
    let weak = Fairness::Weak;
    let rows = [
        (Search::Ndfs, stack, ample, guards, Fairness::None, None),
        (Search::Ndfs, stack, ample, guards, weak, None),
        (Search::Ndfs, stack, Reduce::Off, guards, weak, None),
        (Search::Ndfs, Proviso::Loops, ample, waits, weak, None),
        (Search::Cndfs, Proviso::Loops, ample, waits, weak, None),
        (Search::Ndfs, Proviso::Loops, Reduce::Off, waits, weak, None),
        (Search::NdfsSeed, stack, ample, guards, weak, Some("no selection yet")),
        (Search::Scc, stack, ample, guards, Fairness::None, Some("one of nested search")),
        (Search::Scc, Proviso::Loops, ample, waits, weak, Some("nobody is waited for")),
        (Search::Ndfs, stack, ample, waits, weak, Some("a default move may lead back")),
    ];
    for (search, proviso, reduce, repairs, fairness, why) in rows {
        let like = Settings { select: select.clone(), ..Settings::default() };
        let settings = Settings { search, proviso, reduce, repairs, fairness, ..like };
        let report = interpreted(&interp, &[], &settings, &mut Silent).expect("a property");
        assert_eq!(report.properties[0].verdict.word(), "violated", "{settings:?}");
        let told: Vec<&str> = report.unreduced.iter().map(|(_, why)| why.as_str()).collect();
        match why {
            None => assert!(told.is_empty(), "{settings:?}: {told:?}"),
            Some(why) => assert!(told.iter().any(|t| t.contains(why)), "{settings:?}: {told:?}"),
        }
    }
}

/// Random systems, some of the ways for each.
#[test]
fn random_systems_answer_as_the_whole_graph_does() {
    let ways: u64 = std::env::var("SPINOR_WAYS").ok().and_then(|n| n.parse().ok()).unwrap_or(8);
    let mut tally = systems::Tally::new();
    let (seeds, mut n, mut n_violated) = (seeds(0..1000), 0, 0);
    for seed in seeds.clone() {
        let Some((text, system, question)) = tally.system(seed) else { continue };
        let (violated, wrong) = wrong_ways(&system, &question, seed.wrapping_mul(7) as usize, ways as usize);
        assert_eq!(wrong, "", "seed {seed}, {question:?}\n{text}");
        n += 1;
        n_violated += usize::from(violated);
    }
    println!("{tally}{n_violated} of {n} violated");
    // Who asks for a few seeds may meet one kind only.
    let n_seeds = seeds.count();
    assert!(n_seeds < 100 || n > n_seeds * 3 / 4, "{n} systems from {n_seeds} seeds");
    assert!(n_seeds < 100 || (n / 4..n * 3 / 4).contains(&n_violated), "{n_violated} of {n} violated");
}

/// States that remain, for the book.
#[test]
fn the_table_of_the_book_is_true() {
    let mut table =
        String::from("\n| model | all | guards | static | dynamic | defaults |\n|---|---|---|---|---|---|\n");
    for name in ["unless_two_servers", "unless_clerks"] {
        let system = corpus(&format!("figures/{name}.pml")).system;
        let all = Graph::build(&Interp::new(system.clone())).nodes.len();
        let left = |unless| {
            let reduced = way(unless, AbleBy::Guards).reduced(&system, &[], false, Proviso::Loops);
            Graph::build(&reduced).nodes.len().to_string()
        };
        let [guards, fixed, dynamic] = UnlessBy::ALL.map(left);
        table += &format!("| `{name}` | {all} | {guards} | {fixed} | {dynamic} | |\n");
    }
    for name in ["fair_two_servers", "fair_clerks"] {
        let model = corpus(&format!("figures/{name}.pml"));
        let Question::Endless(claim, _) = against(&model, Fairness::Weak) else { unreachable!("a formula") };
        let n = model.system.most_processes();
        let interp = Interp::looking(model.system.clone(), &claim.looked);
        let all = size(&Fair::new(&Product::new(&interp, &claim, Fairness::Weak), n, By::Flags)).0;
        let left = |able: AbleBy| {
            let reduced = way(UnlessBy::Guards, able).reduced(&model.system, &claim.looked, true, Proviso::Loops);
            let product = Product::new(&reduced, &claim, Fairness::Weak);
            let fair = Fair::new(&product, n, By::Flags);
            let waits = matches!(able, AbleBy::Dynamic | AbleBy::Defaults);
            size(&fair.telling(waits, able == AbleBy::Defaults)).0.to_string()
        };
        let left = AbleBy::ALL.map(left);
        table += &format!("| `{name}`, weak fairness by flags | {all} | {} |\n", left.join(" | "));
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../book/src/reduction.md");
    let page = std::fs::read_to_string(&path).expect("the page");
    let (before, rest) = page.split_once("<!-- repairs -->\n").expect("a place for the table");
    let (old, after) = rest.split_once("\n<!-- end of repairs -->").expect("its end");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        let page = format!("{before}<!-- repairs -->\n{table}\n<!-- end of repairs -->{after}");
        std::fs::write(&path, page).expect("the page can be written");
    } else {
        assert_eq!(old, table, "the page is out of date: run the tests with UPDATE_EXPECT=1");
    }
}
