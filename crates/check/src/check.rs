//! From settings to a report: which properties there are, which search answers them.
//!
//! | file | is |
//! |---|---|
//! | this | the questions, the plan for each, the report |
//! | `safety` | one search for all that finite runs show |
//! | `endless` | one search for each property of runs that never end |

mod endless;
mod safety;

use crate::cycles::Fairness;
pub use crate::executors::{Executors, Interpreted};
use crate::observer::Observer;
use crate::plan::{self, Asking, Cell, Choice};
use crate::progress::meaning::{Of, Progress};
use crate::reduce::still::HowMany;
use crate::reduce::{AbleBy, Selector};
use crate::report::{Chosen, LeftOut, PropertyReport, Report};
use crate::search::Stopped;
use crate::settings::{FairBy, Reduce, Selection, Settings};
use crate::symmetry::Way;
use crate::trace::{Ending, Trace};
use crate::verdict::{Kind, Verdict};
use endless::{Endless, READING};
use safety::{Finite, SAFETY_SEARCH};
use spinor_ltl::{Automaton, Formula};
use spinor_model::diagnostic::Diagnostic;
use spinor_model::interp::Interp;
use spinor_model::ir::{Expr, Proctype, System};
use std::time::Instant;

/// Checks with the interpreter. Compiled once, in this crate: whoever calls the generic `check` compiles all searches
/// again.
pub fn interpreted(
    interp: &Interp,
    stated: &[Stated],
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<Report, Vec<Diagnostic>> {
    check(interp, stated, settings, &Interpreted, observer)
}

/// A property that somebody states about a system.
#[derive(Clone, Debug)]
pub struct Stated {
    pub name: String,
    pub said: Said,
}

#[derive(Clone, Debug)]
pub enum Said {
    /// It is true of every run; `props` is what its propositions say.
    Formula { formula: Formula, props: Vec<Expr> },
    /// It accepts no run; `looked` is what the columns of its guards stand for.
    Automaton { automaton: Automaton, looked: Vec<Expr> },
}

/// Checks what was selected. `stated` are the properties that the system does not have in itself, in order.
/// An error means that the request makes no sense for this model: a property it does not have.
pub fn check<E: Executors>(
    interp: &Interp,
    stated: &[Stated],
    settings: &Settings,
    executors: &E,
    observer: &mut dyn Observer,
) -> Result<Report, Vec<Diagnostic>> {
    let started = Instant::now();
    let system = interp.system();
    let questions = select(questions(system, stated, settings), &settings.select)?;
    let choice = Choice::of(settings);
    let of = settings.progress_of.as_ref().map(|of| Of::read(of, system));
    let of = of.transpose().map_err(|what| vec![Diagnostic::error("V0001", what)])?;
    let asks = |which: fn(Kind) -> bool| questions.iter().any(|q| which(q.kind));
    let finite = asks(|k| !k.is_endless()).then_some(choice.finite);
    let endless = asks(|k| k.is_endless() && k != Kind::NonProgress).then_some(choice.endless);
    let progress = asks(|k| k == Kind::NonProgress).then_some(choice.progress);
    let any_shares = [finite, endless, progress].into_iter().flatten().any(plan::uses_threads);
    let chosen = Chosen {
        search: finite.map(|s| s.word()),
        endless: endless.map(|s| s.word()),
        progress: progress.map(|search| (search.word(), settings.progress.word())),
        fair: settings.fairness.word(),
        fair_by: (settings.fairness == Fairness::Weak).then_some(choice.fair_by.word()),
        store: choice.store.word(),
        executor: executors.word(),
        jobs: if any_shares { settings.jobs } else { 1 },
        plain: settings.plain,
        optimise: settings.optimisations(),
    };
    let mut report = Report {
        properties: Vec::new(),
        unreached: None,
        truncations: Vec::new(),
        notes: Vec::new(),
        advice: Vec::new(),
        unreduced: Vec::new(),
        searches: Vec::new(),
        chosen,
    };
    report.notes.extend(idle(settings, progress.is_some()));
    let counts_all = settings.all_errors.is_some();
    let asking = |property: Kind| Asking {
        combination: choice.combination(property),
        wanted: settings.reduce,
        by_name: settings.forces_reduction() || settings.shapes_reduction(),
        plain: settings.plain,
        counts_all: counts_all && !property.is_endless(),
        symmetric: false,
        stutter_invariant: true,
        sees_steps: false,
        refusal: plan::refuses_reduction(settings, system, choice.combination(property)),
    };
    let symmetry = |kind| plan::choose_symmetry(choice.combination(kind), settings.way(), counts_all);
    let answer = |property| {
        let c = choice.combination(property);
        let cell = if symmetry(property).0.is_on() { plan::symmetric(c) } else { plan::cell(c) };
        match cell {
            Cell::Sound(_) | Cell::OneWay(_) => Ok(()),
            Cell::Refused(why) => Err(why.to_string()),
        }
    };
    let kinds = questions.iter().map(|q| q.kind).filter(|k| !k.is_endless() && answer(*k).is_ok());
    let kinds: Vec<Kind> = kinds.collect();
    let safety = (!kinds.is_empty()).then(|| {
        let is_on = kinds.iter().all(|k| symmetry(*k).0.is_on());
        let (way, why) = symmetry(kinds[0]);
        report.tell_unsymmetric(SAFETY_SEARCH, why);
        let way = if is_on { way } else { Way::Off };
        // What is left out is the same to all of them.
        let asking = asking(kinds[0]);
        let finite = Finite { interp, kinds, way, settings, asking };
        finite.safety(executors, observer, &mut report)
    });
    let n_questions = questions.len();
    let runtime = questions.iter().any(|q| q.kind == Kind::RuntimeError);
    for question in questions {
        let kind = question.kind;
        let property = match (answer(kind), &safety) {
            (Ok(()), Some(safety)) if !kind.is_endless() => safety.property(question.name, kind),
            (Ok(()), _) => {
                let ((way, why), asking) = (symmetry(kind), asking(kind));
                report.tell_unsymmetric(&question.name, why);
                let endless = Endless { interp, of, way, settings, started, runtime, asking };
                endless.property(question, executors, observer, &mut report)
            }
            (Err(because), _) => open(question.name, kind, because),
        };
        let is_sound = matches!(plan::cell(choice.combination(kind)), Cell::Sound(_));
        // What the text alone shows needs no search.
        let is_searched = property.search.is_some();
        assert!(is_sound || !is_searched || property.verdict != Verdict::Holds, "what nobody argued for does not hold");
        report.properties.push(property);
    }
    assert_eq!(report.properties.len(), n_questions, "each question has its answer");
    report.check();
    Ok(report)
}

impl Report {
    /// What each verdict promises (`verdict.rs`).
    fn check(&self) {
        for PropertyReport { kind, verdict, traces, n_violations, search, account, .. } in &self.properties {
            let search = search.map(|n| &self.searches[n]);
            let (shows, n_traces) = (*kind != Kind::NonExecutable, traces.len() as u64);
            match verdict {
                Verdict::Holds => {
                    let is_read = || *kind == Kind::NonProgress && self.chosen.progress.is_some_and(|p| p.0 == READING);
                    let is_known = search.map_or_else(is_read, |search| search.complete);
                    assert!(is_known, "only a complete search of an exact store says that a property holds");
                }
                Verdict::Violated { what } => {
                    assert!(shows != traces.is_empty() && !what.is_empty(), "what is violated is shown");
                    assert!(*n_violations >= n_traces.max(1), "what is shown is counted");
                }
                Verdict::NothingFound { because } => assert!(!because.is_empty(), "why nothing is known is said"),
            }
            let is_violated = verdict.is_violated();
            assert!(is_violated || traces.is_empty() && *n_violations == 0, "what was met is a violation");
            assert!(is_violated || account.is_none(), "of a run that is shown there is something to say");
            let is_endless = |trace: &Trace| matches!(trace.ending, Ending::Cycle | Ending::Settled);
            assert!(traces.iter().all(|t| is_endless(t) == kind.is_endless()), "a run that ends is finite");
        }
    }

    /// Decides which steps the search for a property leaves out, and takes note of it.
    fn reduces(&mut self, asking: Asking, property: &str) -> Option<Selector> {
        let (reduction, why) = plan::choose_reduction(asking);
        if let Some(why) = why {
            self.unreduced.push((property.to_string(), why.to_string()));
            if asking.by_name {
                self.notes.push(format!("{property}: nothing was left out: {why}"));
            }
        }
        reduction
    }

    /// Takes note of it if nothing was left out in the end.
    fn tell_worth(&mut self, property: &str, reduce: Option<Selector>, left_out: &LeftOut) {
        assert!(reduce.is_some() || !left_out.leaves_steps(), "only what was decided is left out");
        if reduce.is_some() && !left_out.leaves_steps() {
            let why = "its steps have too much to do with each other for it to be worth while";
            self.unreduced.push((property.to_string(), why.to_string()));
        }
    }
}

/// What was asked for and has nothing to be about.
fn idle(settings: &Settings, asks_progress: bool) -> Vec<String> {
    let Settings { fairness, fair_by, still, progress, plain, reduce, repairs, .. } = *settings;
    let mut out = Vec::new();
    if fair_by != FairBy::Auto && fairness != Fairness::Weak {
        out.push("--fair-by has no effect: it is about weak fairness, and nobody asked for that (--fair weak)");
    }
    if repairs.able != AbleBy::Guards && fairness == Fairness::None {
        out.push("--able-by has no effect: it is about fairness, and nobody asked for that (--fair)");
    }
    if still != HowMany::One && !(asks_progress && progress == Progress::Steps) {
        out.push("--still has no effect: it is about steps that make progress (-p progress --progress steps)");
    }
    if settings.shapes_reduction() && (plain || reduce == Reduce::Off) {
        out.push(if plain {
            "how steps are to be left out makes no difference: --plain leaves none out"
        } else {
            "how steps are to be left out makes no difference: --por off leaves none out"
        });
    }
    out.into_iter().map(String::from).collect()
}

/// A property that stays open.
fn open(name: String, kind: Kind, because: String) -> PropertyReport {
    PropertyReport::new(name, kind, Verdict::NothingFound { because })
}

/// The user knows the whole, not what is left of it.
fn of_the_whole(stopped: Stopped, settings: &Settings) -> Stopped {
    match stopped {
        Stopped::Memory(n) => Stopped::Memory(settings.max_memory.unwrap_or(n)),
        Stopped::Time(t) => Stopped::Time(settings.max_time.unwrap_or(t)),
        why => why,
    }
}

struct Question<'a> {
    name: String,
    kind: Kind,
    about: About<'a>,
}

/// What a question is about.
#[derive(Clone, Copy)]
enum About<'a> {
    /// What the kind says: one search answers all of these.
    Itself,
    Accept,
    Progress,
    Claim(&'a Proctype),
    Stated(&'a Said),
}

/// The properties of a model, in the order of the report. Cycles can be asked about without labels, by name.
fn questions<'a>(system: &'a System, stated: &'a [Stated], settings: &Settings) -> Vec<Question<'a>> {
    let select = &settings.select;
    let mut out = Vec::new();
    let mut add = |name: &str, kind, about| out.push(Question { name: name.to_string(), kind, about });
    // Machines assert nothing, and nothing they do can fail.
    if let Some(protocol) = &settings.protocol {
        add("deadlock", Kind::EndState, About::Itself);
        if !protocol.receptions.is_empty() {
            add("reception", Kind::Reception, About::Itself);
        }
        if !protocol.overflows.is_empty() {
            add("overflow", Kind::Overflow, About::Itself);
        }
        add("nonexecutable", Kind::NonExecutable, About::Itself);
    } else {
        add("assert", Kind::Assertion, About::Itself);
        add("deadlock", Kind::EndState, About::Itself);
        add("runtime", Kind::RuntimeError, About::Itself);
    }
    if system.monitor.is_some() {
        add("trace", Kind::Trace, About::Itself);
    }
    if system.proctypes.iter().any(|t| !t.promises.is_empty()) {
        add("promise", Kind::Promise, About::Itself);
    }
    let labelled =
        |label: fn(&spinor_model::ir::Location) -> bool| system.proctypes.iter().any(|t| t.locs.iter().any(label));
    if labelled(|l| l.accept) || select.names("accept") {
        add("accept", Kind::Acceptance, About::Accept);
    }
    if labelled(|l| l.progress) || select.names("progress") {
        add("progress", Kind::NonProgress, About::Progress);
    }
    for claim in &system.claims {
        let name = if claim.name.is_empty() { "claim" } else { &claim.name };
        add(name, Kind::Claim, About::Claim(claim));
    }
    for Stated { name, said } in stated {
        let kind = match said {
            Said::Formula { .. } => Kind::Ltl,
            Said::Automaton { .. } => Kind::Claim,
        };
        add(name, kind, About::Stated(said));
    }
    out
}

fn select<'a>(questions: Vec<Question<'a>>, select: &Selection) -> Result<Vec<Question<'a>>, Vec<Diagnostic>> {
    let is_claim = |q: &Question| q.kind == Kind::Claim;
    let asked = |q: &Question| select.has(&q.name, q.kind) || is_claim(q) && select.names("claim");
    let known = |name: &str| {
        let named = |q: &Question| q.name == name || is_claim(q) && name == "claim";
        name == "all" || name == "safety" || questions.iter().any(named)
    };
    let has: Vec<&str> = questions.iter().map(|q| q.name.as_str()).collect();
    let unknown = |name: &str| {
        Diagnostic::error("V0001", format!("the model has no property `{name}`"))
            .help(format!("it has {}; `safety` and `all` name several", has.join(", ")))
    };
    let errors: Vec<Diagnostic> = select.iter().filter(|n| !known(n)).map(unknown).collect();
    if !errors.is_empty() {
        return Err(errors);
    }
    Ok(questions.into_iter().filter(asked).collect())
}
