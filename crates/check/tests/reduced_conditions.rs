//! Every condition of the reduction is needed: without it, some small model gets a wrong answer.
//!
//! `conditions/*.pml` are the models. The name of a file begins with the condition (`Else.pml`, `Else_unless.pml`), and its first line
//! says what is asked: `/* assert */`, `/* deadlock */`, `/* runtime */`, `/* trace */`, `/* promise */`, `/* progress steps */`,
//! `/* progress states */`, a formula of the model with its fairness, `/* p weak */`, or `/* automaton p */` for the one at the
//! end of the file, about the propositions of a formula. Protocols are asked for `reception` or `overflow`. With all conditions the answer is the one of the whole graph; without this one
//! it is not.

use spinor_check::claim::{Claim, Marking};
use spinor_check::cycles::Fairness;
use spinor_check::cycles::oracle::has_accepted_component;
use spinor_check::cycles::product::Product;
use spinor_check::observer::Silent;
use spinor_check::oracle::Graph;
use spinor_check::progress::meaning::{Meaning, Progress};
use spinor_check::progress::system::Grounds;
use spinor_check::protocol;
use spinor_check::reduce::still::HowMany;
use spinor_check::reduce::without::{Condition, Without};
use spinor_check::reduce::{Proviso, Reduced, Reduction, Selector};
use spinor_check::search::{Request, bfs};
use spinor_check::verdict::Kind;
use spinor_lang::{Model, Options, load};
use spinor_model::interp::Interp;
use spinor_model::ir::{Expr, System};
use spinor_model::protocol::Protocol;
use spinor_model::successors::Successors;
use spinor_store::Arena;
use std::path::Path;
use std::sync::Arc;

/// What is asked of a model.
enum Question {
    Finite(Kind),
    /// A state that must not be met, and how it is looked at.
    Met(Protocol, Kind, Expr),
    Endless(Box<Claim>, Fairness),
    Progress(Meaning, Expr),
}

const SELECTORS: [Selector; 5] = Selector::ALL;
/// Of leaps, and of what protocols are asked.
const LEAPS: [Condition; 7] = [
    Condition::Extension,
    Condition::OneSeen,
    Condition::OneMade,
    Condition::Still,
    Condition::Visibility,
    Condition::Reception,
    Condition::Overflow,
];

impl Question {
    fn read(text: &str, model: &Model) -> Question {
        let line = text.lines().next().unwrap_or_default();
        let words: Vec<&str> = line.trim_matches(['/', '*', ' ']).split(' ').collect();
        let kind = match words[0] {
            "assert" => Kind::Assertion,
            "deadlock" => Kind::EndState,
            "runtime" => Kind::RuntimeError,
            "trace" => Kind::Trace,
            "promise" => Kind::Promise,
            "automaton" => {
                let hoa =
                    text.find("HOA: v1").map(|at| spinor_ltl::from_hoa(text[at..].trim_end().trim_end_matches("*/")));
                let automaton = hoa.expect("an automaton").expect("one that can be read").automaton;
                let formula = model.formulas.iter().find(|f| f.name == words[1]).expect("a formula of the model");
                let looked: Vec<Expr> = automaton.props.iter().map(|p| formula.props[p.0 as usize].clone()).collect();
                let claim = Claim::given(&automaton, &looked, Marking::Generalised);
                return Question::Endless(Box::new(claim), Fairness::None);
            }
            "progress" => {
                let by = if words[1] == "steps" { Progress::Steps } else { Progress::States };
                let meaning = Meaning::new(&model.system, by, None);
                let still = meaning.still(&model.system);
                return Question::Progress(meaning, still);
            }
            "reception" => return Question::met(model, Kind::Reception),
            "overflow" => return Question::met(model, Kind::Overflow),
            name => {
                let formula = model.formulas.iter().find(|f| f.name == name).expect("a formula of the model");
                let claim = Claim::against(&formula.formula, &formula.props, Marking::Generalised);
                let fair = |f: &&Fairness| words.get(1).is_some_and(|w| f.word() == *w);
                let fairness = Fairness::ALL.iter().find(fair).copied().unwrap_or(Fairness::None);
                return Question::Endless(Box::new(claim.expect("a small automaton")), fairness);
            }
        };
        Question::Finite(kind)
    }

    fn met(model: &Model, kind: Kind) -> Question {
        let protocol = Protocol { strict: false, ..model.protocol.clone().expect("a protocol") };
        let column = protocol::column(&protocol, &model.system, kind).expect("it can go wrong");
        Question::Met(protocol, kind, column)
    }

    fn looked(&self) -> &[Expr] {
        match self {
            Question::Finite(_) => &[],
            Question::Met(_, _, column) => std::slice::from_ref(column),
            Question::Endless(claim, _) => &claim.looked,
            Question::Progress(_, still) => std::slice::from_ref(still),
        }
    }

    /// Leaps may be asked, too.
    fn is_for_leaps(&self) -> bool {
        let passes_by = |meaning: &Meaning| meaning.progress == Progress::States;
        !self.is_fair() && !matches!(self, Question::Progress(meaning, _) if passes_by(meaning))
    }

    fn is_fair(&self) -> bool {
        matches!(self, Question::Endless(_, Fairness::Weak | Fairness::Strong))
    }

    /// Is the property violated? Of progress also after how little of it, one more than that.
    fn ask<S: Successors>(&self, system: &S, interp: &Interp) -> u64 {
        let violated = match self {
            Question::Finite(kind) => Graph::build(system).violations(*kind).0 > 0,
            Question::Met(..) => Graph::build(system).nodes.iter().any(|node| {
                let mut bits = Vec::new();
                system.look(&mut system.unpack(&node.key), &mut bits).expect("it has a value");
                bits[0] & 1 == 1
            }),
            Question::Endless(claim, fairness) => {
                has_accepted_component(&Product::new(system, claim, *fairness), *fairness)
            }
            Question::Progress(meaning, _) => {
                let ground = Grounds::new(system, interp, meaning);
                return spinor_check::progress::oracle::Graph::new(&ground).level().map_or(0, |level| level + 1);
            }
        };
        u64::from(violated)
    }

    /// The system in which it is asked: labels say where steps may make progress.
    fn system(&self, model: &Model) -> Arc<System> {
        match self {
            Question::Progress(meaning, _) => meaning.relabelled(&model.system),
            _ => model.system.clone(),
        }
    }

    fn reduction(&self, system: &Arc<System>, selector: Selector) -> (Reduction, Proviso) {
        match self {
            Question::Progress(meaning, _) => {
                let still = meaning.spared(system, HowMany::One);
                (Reduction::for_progress(system.clone(), selector, still), Proviso::None)
            }
            Question::Met(protocol, kind, _) => {
                (Reduction::new(system.clone(), selector, &[], false).minding(protocol, &[*kind]), Proviso::Loops)
            }
            _ => (Reduction::new(system.clone(), selector, self.looked(), self.is_fair()), Proviso::Loops),
        }
    }

    /// The same question, of a reduction with phases.
    fn phased(&self, without: Without) -> (Question, Vec<Vec<u32>>) {
        match self {
            Question::Finite(kind) => (Question::Finite(*kind), vec![vec![]]),
            Question::Met(protocol, kind, column) => {
                (Question::Met(protocol.clone(), *kind, column.clone()), vec![vec![]])
            }
            Question::Progress(meaning, still) => (Question::Progress(meaning.clone(), still.clone()), vec![vec![]]),
            Question::Endless(claim, fairness) => {
                let mut claim = claim.clone();
                let phases = claim.tell_phases_without(without);
                (Question::Endless(claim, *fairness), phases)
            }
        }
    }
}

#[test]
fn without_a_condition_some_answer_is_wrong() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conditions");
    let mut files: Vec<_> = std::fs::read_dir(folder).expect("the models").flatten().map(|f| f.path()).collect();
    files.sort();
    let mut shown = Vec::new();
    let mut wrong = String::new();
    for path in files {
        let text = std::fs::read_to_string(&path).expect("a model");
        let name = path.file_stem().expect("a name").to_string_lossy();
        let of = Condition::ALL.into_iter().find(|c| format!("{c:?}") == name.split('_').next().unwrap_or_default());
        let Some(condition) = of else { panic!("{name} is for no condition") };
        let file = path.file_name().expect("a name").to_string_lossy();
        let loaded = load(&file, &text, &Options::default(), &|p: &Path| std::fs::read(p));
        let Some(model) = loaded.model else { panic!("{name}: {:?}", loaded.diagnostics) };
        let question = Question::read(&text, &model);
        let system = question.system(&model);
        let interp = Arc::new(Interp::looking(system.clone(), question.looked()));
        let ask = |selector, without: Option<Condition>| {
            let (question, phases) = question.phased(without.map_or(Without::default(), Without::one));
            let (reduction, proviso) = question.reduction(&system, selector);
            let reduction = without.into_iter().fold(reduction, Reduction::without);
            let reduction = match &question {
                Question::Endless(claim, _) if question.is_fair() || without == Some(Condition::Added) => {
                    reduction.in_parts(&claim.parts)
                }
                _ => reduction.phased(&phases),
            };
            let reduction = reduction.audited_if(without.is_none());
            question.ask(&Reduced::new(interp.clone(), Arc::new(reduction), proviso), &interp)
        };
        let truth = question.ask(&*interp, &interp);
        let mut matters = false;
        for selector in SELECTORS.into_iter().filter(|s| !s.leaps() || question.is_for_leaps()) {
            if ask(selector, None) != truth {
                wrong.push_str(&format!("{name} {selector:?}: the answer is wrong\n"));
            }
            // A leap of steps that have to do with each other is none.
            if !selector.leaps() || LEAPS.contains(&condition) {
                matters |= ask(selector, Some(condition)) != truth;
            }
        }
        if matters {
            shown.push(condition);
        } else {
            wrong.push_str(&format!("{name}: right without it (violated: {truth})\n"));
        }
    }
    for condition in Condition::ALL {
        if !shown.contains(&condition) {
            wrong.push_str(&format!("{condition:?}: no model\n"));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// A selection is a matter of the state alone: it is the same on a desk that had other states before.
#[test]
fn a_selection_does_not_depend_on_what_was_selected_before() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conditions");
    let mut n_hasty = 0;
    for path in std::fs::read_dir(folder).expect("the models").flatten().map(|f| f.path()) {
        let text = std::fs::read_to_string(&path).expect("a model");
        let file = path.file_name().expect("a name").to_string_lossy();
        let model = load(&file, &text, &Options::default(), &|p: &Path| std::fs::read(p)).model.expect("a model");
        let question = Question::read(&text, &model);
        let system = question.system(&model);
        let interp = Arc::new(Interp::looking(system.clone(), question.looked()));
        for selector in SELECTORS.into_iter().filter(|s| !s.leaps()) {
            let (reduction, proviso) = question.reduction(&system, selector);
            let reduced = Reduced::new(interp.clone(), Arc::new(reduction), proviso);
            let Ok(mut used) = reduced.initial() else { continue };
            let (mut batch, mut offered) = (reduced.batch(), Vec::new());
            for node in &Graph::build(&reduced).nodes {
                reduced.unpack_into(&node.key, &mut used);
                let mut fresh = reduced.unpack(&node.key);
                batch.clear();
                let n_steps = reduced.expand(&mut used, &mut batch);
                let left_out = reduced.leaves_out(&used);
                let keys: Vec<Vec<u8>> =
                    batch.outcomes.iter().filter_map(|o| batch.key(o)).map(<[u8]>::to_vec).collect();
                batch.clear();
                assert_eq!(reduced.expand(&mut fresh, &mut batch), n_steps, "{file} {selector:?}");
                let again: Vec<Vec<u8>> =
                    batch.outcomes.iter().filter_map(|o| batch.key(o)).map(<[u8]>::to_vec).collect();
                assert_eq!(again, keys, "{file} {selector:?}");
                interp.enabled(&mut interp.unpack(&node.key), &mut offered);
                let (mut steps, mut rest) = (Vec::new(), Vec::new());
                reduced.enabled(&mut used, &mut steps);
                reduced.all_enabled(&mut used, &mut rest);
                assert!(rest.starts_with(&steps), "{file} {selector:?}");
                rest.sort();
                offered.sort();
                assert_eq!(rest, offered, "{file} {selector:?}: all steps");
                n_hasty += usize::from(left_out && n_steps == 1);
            }
        }
    }
    assert!(n_hasty > 20, "nobody is in haste here");
}

/// The proviso of breadth-first search by its levels: without it, what is left out may be left out for ever.
#[test]
fn without_the_proviso_of_the_levels_some_answer_is_wrong() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conditions/Cycle.pml");
    let text = std::fs::read_to_string(path).expect("a model");
    let loaded = load("Cycle.pml", &text, &Options::default(), &|p: &Path| std::fs::read(p));
    let system = loaded.model.expect("a model").system;
    for selector in [Selector::Ample, Selector::Stubborn] {
        for (proviso, violated) in [(Proviso::Levels, true), (Proviso::None, false)] {
            let reduction = Arc::new(Reduction::new(system.clone(), selector, &[], false));
            let reduced = Reduced::new(Arc::new(Interp::new(system.clone())), reduction, Proviso::Levels);
            let request = Request { kinds: vec![Kind::Assertion], proviso, ..Request::default() };
            let store = Arena::new(&request.budget).expect("room for an empty store");
            let searched = bfs::search(&reduced, &store, &request, &mut Silent);
            assert_eq!(!searched.found.is_empty(), violated, "{selector:?} {proviso:?}");
        }
    }
}

/// The same of leaps, where what is left out waits beside a loop.
#[test]
fn without_the_proviso_of_the_levels_leaps_go_on_for_ever() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conditions/Extension.pml");
    let text = std::fs::read_to_string(path).expect("a model");
    let loaded = load("Extension.pml", &text, &Options::default(), &|p: &Path| std::fs::read(p));
    let system = loaded.model.expect("a model").system;
    for (proviso, violated) in [(Proviso::Levels, true), (Proviso::None, false)] {
        let reduction = Arc::new(Reduction::new(system.clone(), Selector::Leap, &[], false));
        let reduced = Reduced::new(Arc::new(Interp::new(system.clone())), reduction, Proviso::Levels);
        let request = Request { kinds: vec![Kind::Assertion], proviso, ..Request::default() };
        let store = Arena::new(&request.budget).expect("room for an empty store");
        let searched = bfs::search(&reduced, &store, &request, &mut Silent);
        assert_eq!(!searched.found.is_empty(), violated, "{proviso:?}");
    }
}

/// By the conditions it can be seen that each kind of leap has its use: where nothing is looked at, steps of processes that
/// have nothing to do with each other are one.
#[test]
fn a_leap_is_one_edge_and_shows_its_steps() {
    let text = "bit a, b, c; active proctype p() { a = 1 } active proctype q() { b = 1 } active proctype r() { c = 1 }";
    let loaded = load("m.pml", text, &Options::default(), &|p: &Path| std::fs::read(p));
    let system = loaded.model.expect("a model").system;
    let reduction = Arc::new(Reduction::new(system.clone(), Selector::Leap, &[], false));
    let reduced = Reduced::new(Arc::new(Interp::new(system.clone())), reduction, Proviso::Loops);
    let graph = Graph::build(&reduced);
    assert_eq!(Graph::build(&Interp::new(system)).nodes.len(), 8 + 7, "15 where they go one by one and die in order");
    assert_eq!(graph.nodes[0].edges.len(), 1);
    let (shown, after) = reduced.shown(&graph.nodes[0].key, graph.nodes[0].edges[0].step, 0);
    let pids: Vec<u8> = shown.iter().map(|s| s.step.pid).collect();
    assert_eq!(pids, [2, 1, 0]);
    assert_eq!(after.as_deref(), Some(&graph.nodes[1].key[..]));
}
