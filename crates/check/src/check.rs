//! From settings to a report: which properties there are, which search answers them.

use crate::claim::{Claim, Marking, Refused};
use crate::clock::{Clock, memory_bytes, peak_memory_bytes};
use crate::cycles::answer::{Answered, How, most_processes};
use crate::cycles::{self, Fairness};
use crate::observer::Observer;
use crate::plan::{self, Asking, Cell, Combination, OnTheFly};
use crate::progress::answer::{Account, Asked as Progressing};
use crate::progress::loops;
use crate::progress::meaning::{Meaning, Of, Progress};
use crate::reduce::{self, Proviso, Reduced, Reduction, Selector};
use crate::report::{Chosen, PropertyReport, Report, Stats, Unreached};
use crate::search::{Request, SAFETY, Searched, Stopped, Tally, bfs, dfs, order};
use crate::settings::{FairBy, MadeUp, Reduce, Search, Selection, Settings, Store};
use crate::symmetry::quotient::Quotient;
use crate::symmetry::{self, Way, unfold};
use crate::trace::{self, Trace};
use crate::verdict::{Kind, Verdict};
use spinor_ltl::{Automaton, Formula, Limits};
use spinor_model::diagnostic::Diagnostic;
use spinor_model::interp::Interp;
use spinor_model::ir::{Edge, Effect, Expr, Proctype, System};
use spinor_model::optimise::{Optimisations, Watched, optimise, unkept};
use spinor_model::successors::{EdgeSet, Successors};
use spinor_store::{Arena, Bitstate, Budget, Compact, Full, HashCompact, Hint, Visited};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Makes what runs a system: the interpreter, or something faster that gives the same keys.
pub trait Executors {
    type Exec: Successors + Send + 'static;
    /// The word for reports.
    fn word(&self) -> &'static str;
    /// One that looks at these expressions when it is asked to.
    fn executor(&self, system: Arc<System>, looked: &[Expr]) -> Self::Exec;
}

/// The interpreter itself.
pub struct Interpreted;

impl Executors for Interpreted {
    type Exec = Interp;
    fn word(&self) -> &'static str {
        "interp"
    }
    fn executor(&self, system: Arc<System>, looked: &[Expr]) -> Interp {
        Interp::looking(system, looked)
    }
}

/// Checks with the interpreter. Here the searches are made for it, once; who calls `check` makes them anew.
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
    let (search, store) = plan::choose(settings.search, settings.store);
    let (endless, fair_by) = plan::choose_endless(settings.search, settings.fair_by, settings.store);
    let progress = plan::choose_progress(settings.search, settings.fairness, settings.fair_by, settings.store);
    let of = settings.progress_of.as_ref().map(|of| Of::read(of, system));
    let of = of.transpose().map_err(|what| vec![Diagnostic::error("V0001", what)])?;
    let asks = |which: fn(Kind) -> bool| questions.iter().any(|q| which(q.kind));
    let chosen = Chosen {
        search: search.word(),
        endless: asks(|k| plan::is_endless(k) && k != Kind::NonProgress).then_some(endless.word()),
        progress: asks(|k| k == Kind::NonProgress).then_some((progress.word(), settings.progress.word())),
        por: "off", // until a search leaves something out
        proviso: None,
        por_from: 0,
        sym: "off",
        fair: settings.fairness.word(),
        fair_by: (settings.fairness == Fairness::Weak).then_some(fair_by.word()),
        store: store.word(),
        executor: executors.word(),
        jobs: settings.jobs,
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
    let asking = Asking {
        wanted: settings.reduce,
        plain: settings.plain,
        counts_all: settings.all_errors.is_some(),
        symmetric: false,
        fair: false,
        stutter_invariant: true,
        sees_steps: false,
        refusal: reduce::refusal(system).or(leaps_by_path(settings)),
    };
    let combination = |property| {
        let search = match property {
            Kind::NonProgress => progress,
            _ if plan::is_endless(property) => endless,
            _ => search,
        };
        let (reduction, fairness) = (plan::Reduction::None, settings.fairness);
        Combination { search, property, store, reduction, fairness, fair_by }
    };
    // What nobody asked for is used only where it says as much.
    let way =
        |property| match (settings.way(), plan::symmetric(combination(property)), plan::cell(combination(property))) {
            _ if property == Kind::NonProgress => Way::Off,
            (Way::Auto, Cell::Sound(_), Cell::Sound(_)) => Way::Auto,
            // Fairness in a quotient misses more than a lossy store does.
            (Way::Auto, Cell::OneWay(_), Cell::OneWay(_))
                if settings.fairness == Fairness::None || !plan::is_endless(property) =>
            {
                Way::Auto
            }
            (Way::Auto, ..) => Way::Off,
            (way, ..) => way,
        };
    let answer = |property| {
        let c = combination(property);
        let cell = if way(property).is_on() { plan::symmetric(c) } else { plan::cell(c) };
        match cell {
            Cell::Sound(_) | Cell::OneWay(_) => Ok(()),
            Cell::Refused(why) => Err(why.to_string()),
        }
    };
    let is_safety = |kind: &Kind| SAFETY.contains(kind);
    let kinds: Vec<Kind> = questions.iter().map(|q| q.kind).filter(|k| is_safety(k) && answer(*k).is_ok()).collect();
    let safety = (!kinds.is_empty()).then(|| {
        let way = if kinds.iter().all(|k| way(*k).is_on()) { settings.way() } else { Way::Off };
        let asked = Asked { interp, search, store, kinds, way, asking, settings };
        asked.safety(executors, observer, &mut report)
    });
    let runtime = questions.iter().any(|q| q.kind == Kind::RuntimeError);
    for question in questions {
        let kind = question.kind;
        let property = match (answer(kind), &safety) {
            (Ok(()), Some(safety)) if is_safety(&kind) => safety.property(question.name, kind),
            (Ok(()), _) => {
                let search = if kind == Kind::NonProgress { progress } else { endless };
                let way = way(kind);
                let endless = Endless { interp, search, store, fair_by, of, way, settings, started, runtime, asking };
                endless.property(question, executors, observer, &mut report)
            }
            (Err(because), _) => open(question.name, kind, because),
        };
        report.properties.push(property);
    }
    Ok(report)
}

/// What is told instead of a search where the text alone shows it (`progress/loops.rs`).
const READING: &str = "reading";

/// What the search for what a finite run can show is called where properties have names.
const SAFETY_SEARCH: &str = "safety";

impl Report {
    /// Decides which steps the search for a property leaves out, and takes note of it.
    fn reduces(&mut self, asking: Asking, property: &str) -> Option<Selector> {
        let (reduction, why) = plan::choose_reduction(asking);
        if let Some(why) = why {
            self.unreduced.push((property.to_string(), why.to_string()));
            if asking.wanted != Reduce::Auto {
                self.notes.push(format!("{property}: nothing was left out: {why}"));
            }
        }
        match reduction {
            plan::Reduction::None => None,
            plan::Reduction::By(selector) => Some(selector),
        }
    }
}

/// A property that stays open.
fn open(name: String, kind: Kind, because: String) -> PropertyReport {
    let verdict = Verdict::NothingFound { because };
    PropertyReport { name, kind, verdict, traces: Vec::new(), n_violations: 0, search: None, account: None }
}

/// The searches for runs that never end, one a property.
struct Endless<'a> {
    interp: &'a Interp,
    search: Search,
    store: Store,
    fair_by: FairBy,
    /// Whose progress counts.
    of: Option<Of>,
    way: Way,
    settings: &'a Settings,
    started: Instant,
    /// Run-time errors are asked about, too.
    runtime: bool,
    asking: Asking,
}

impl Endless<'_> {
    /// What breaks the property.
    fn claim(&self, about: &About<'_>) -> Result<Claim, String> {
        let marking = if plan::knows_components(self.search) { Marking::Generalised } else { Marking::States };
        match about {
            About::Itself => unreachable!("safety is not asked for here"),
            About::Accept => Ok(Claim::accept_labels()),
            About::Progress => Ok(Claim::without_progress(marking)), // not asked: see `Progressing`
            About::Claim(claim) => Claim::never(claim, self.interp.system()).map_err(|e| self.refusal(&e)),
            About::Stated(Said::Formula { formula, props }) => {
                Claim::against_within(formula, props, marking, self.limits()).map_err(|e| e.to_string())
            }
            About::Stated(Said::Automaton { automaton, looked }) => Ok(Claim::given(automaton, looked, marking)),
        }
    }

    /// There is progress in every loop, and nobody asked for a search.
    fn is_read_off(&self) -> bool {
        let Settings { search, reduce, plain, audit, progress, .. } = *self.settings;
        let asks = plain || audit || search != Search::Auto || reduce != Reduce::Auto;
        let system = self.interp.system();
        !asks && loops::all_pass(system, &Meaning::new(system, progress, self.of))
    }

    /// What a translation may take of what the user allows.
    fn limits(&self) -> Limits {
        let usual = Limits::default();
        let left = self.settings.max_memory.map_or(u64::MAX, |n| n.saturating_sub(memory_bytes()));
        Limits {
            bytes: usual.bytes.min(usize::try_from(left).unwrap_or(usize::MAX)),
            until: self.settings.max_time.and_then(|t| self.started.checked_add(t)),
            ..usual
        }
    }

    fn refusal(&self, e: &Refused) -> String {
        let sources = &self.interp.system().sources;
        match sources.files.get(e.span.file) {
            Some(_) => format!("{e}: line {}", sources.line(sources.surface(e.span))),
            None => e.to_string(),
        }
    }

    fn property<E: Executors>(
        &self,
        question: Question<'_>,
        executors: &E,
        observer: &mut dyn Observer,
        report: &mut Report,
    ) -> PropertyReport {
        let Question { name, kind, about, .. } = question;
        if matches!(about, About::Progress) && self.is_read_off() {
            report.chosen.progress = Some((READING, self.settings.progress.word()));
            let (verdict, traces) = (Verdict::Holds, Vec::new());
            return PropertyReport { name, kind, verdict, traces, n_violations: 0, search: None, account: None };
        }
        let claim = match self.claim(&about) {
            Ok(claim) => claim,
            Err(because) => return open(name, kind, because),
        };
        let settings = self.settings;
        let clock = Clock::start();
        let limit = settings.max_memory.map_or(u64::MAX, |n| n.saturating_sub(memory_bytes()));
        let request = cycles::Request {
            fairness: settings.fairness,
            max_depth: settings.max_depth,
            max_time: settings.max_time.map(|t| t.saturating_sub(self.started.elapsed())),
            budget: Budget::new(limit),
            jobs: settings.jobs.max(1),
        };
        let Endless { interp, search, store, fair_by, of, .. } = *self;
        let (optimise, shorten) = (settings.optimisations(), settings.shorten);
        let (progress, forced, audit) = (settings.progress, settings.reduce != Reduce::Auto, settings.audit);
        let (stutter_invariant, sees_steps) = (claim.stutter_invariant, claim.sees_steps);
        let is_progress = matches!(about, About::Progress);
        let reduces = !is_progress || Progressing::by_claim(search, progress) || plan::spares(search);
        let mut how = How { proviso: settings.proviso, repairs: settings.repairs };
        if is_progress {
            how = How::default();
        }
        let fly = OnTheFly {
            proviso: how.proviso,
            able_by: how.repairs.able,
            search,
            fairness: settings.fairness,
            jobs: settings.jobs,
            in_form: true,
            lossy: store.is_lossy(),
        };
        // Selections that depend on more than the state of the system.
        let form =
            (fly.is_wanted() && !settings.plain && settings.reduce != Reduce::Off).then(|| claim.in_stutter_form());
        let fly = OnTheFly { in_form: !matches!(form, Some(None)), ..fly };
        let refusal = self.asking.refusal.or((!reduces).then_some(LEAVES_NOTHING_OUT)).or(fly.refusal());
        let leaps = matches!(settings.reduce, Reduce::Lra | Reduce::Leap);
        let passed_by = is_progress && plan::spares(search) && leaps && progress == Progress::States;
        let refusal = refusal.or(passed_by.then_some(LEAPS_HIDE_PROGRESS));
        let claim = form.flatten().filter(|_| refusal.is_none()).unwrap_or(claim);
        let asking = Asking {
            counts_all: false,
            fair: settings.fairness != Fairness::None,
            stutter_invariant,
            sees_steps,
            refusal,
            ..self.asking
        };
        let (reduce, answered) = if is_progress {
            if !matches!(settings.way(), Way::Auto | Way::Off) {
                report.notes.push(format!("{name}: {NOT_SYMMETRIC}"));
            }
            let reduce = report.reduces(asking, &name);
            let asked = Progressing {
                interp,
                progress,
                of,
                search,
                store,
                table: table(settings, request.budget.limit()),
                fair_by,
                optimise,
                shorten,
                reduce,
                all_still: settings.all_still,
                forced,
                audit,
                request,
            };
            (reduce, asked.answer(executors, observer))
        } else {
            let (claim, reduce, symmetry) = (&claim, None, symmetry::Found::default());
            let asked = cycles::answer::Asked {
                interp,
                claim,
                search,
                store,
                table: table(settings, request.budget.limit()),
                fair_by,
                optimise,
                shorten,
                reduce,
                forced,
                audit,
                symmetry,
                how,
                request,
            };
            let symmetry = asked.symmetry(self.way);
            report.tell_symmetry(&symmetry);
            let reduce = report.reduces(Asking { symmetric: symmetry.canon.is_some(), ..asking }, &name);
            (reduce, cycles::answer::Asked { reduce, symmetry, ..asked }.answer(executors, observer))
        };
        let Answered { trace, searched, store_bytes, omission, faulty, reduced, note } = answered;
        report.notes.extend(note);
        match (reduced, reduce) {
            (true, Some(selector)) => {
                report.chosen.por = plan::Reduction::By(selector).word();
                if how.proviso.is_stack() {
                    report.chosen.proviso = Some(how.proviso().word());
                }
            }
            (false, Some(_)) => report.unreduced.push((name.clone(), NOT_WORTH.to_string())),
            _ => {}
        }
        if let (Some(trace), About::Stated(Said::Formula { formula, props })) = (&trace, &about) {
            cycles::answer::judge(self.interp, formula, props, trace);
        }
        if faulty && !self.runtime {
            let note = format!("met but not asked about: {}; runs that it ends are not judged", Kind::RuntimeError);
            if !report.notes.contains(&note) {
                report.notes.push(note);
            }
        }
        // The user knows the whole, not what is left of it.
        let stopped = searched.stopped.map(|why| match why {
            Stopped::Memory(n) => Stopped::Memory(settings.max_memory.unwrap_or(n)),
            Stopped::Time(t) => Stopped::Time(settings.max_time.unwrap_or(t)),
            why => why,
        });
        let counters = searched.counters;
        report.searches.push(Stats {
            search: self.search.word(),
            stored: counters.stored,
            // Threads that stop midway have stored states after moves that they did not count.
            matched: counters.transitions.saturating_sub(counters.stored),
            transitions: counters.transitions,
            atomic_steps: counters.atomic_steps,
            depth: counters.depth,
            complete: stopped.is_none() && trace.is_none() && omission.is_none(),
            cpu_seconds: clock.cpu_seconds(),
            wall_seconds: clock.wall_seconds(),
            peak_memory_bytes: peak_memory_bytes(),
            store_bytes,
            search_bytes: searched.bytes,
            omission,
        });
        let verdict = match (&trace, stopped) {
            (Some(trace), _) => Verdict::Violated { what: crate::explain::what(self.interp, trace) },
            (None, Some(stopped)) => Verdict::NothingFound { because: stopped.to_string() },
            (None, None) => omission.map_or(Verdict::Holds, |o| Verdict::NothingFound { because: missed(o) }),
        };
        let (n_violations, search) = (u64::from(trace.is_some()), Some(report.searches.len() - 1));
        let account = trace.as_ref().filter(|_| kind == Kind::NonProgress);
        let account = account.map(|trace| Account::of(interp, settings.progress, of, trace));
        PropertyReport { name, kind, verdict, traces: trace.into_iter().collect(), n_violations, search, account }
    }
}

struct Question<'a> {
    name: String,
    kind: Kind,
    /// Part of `safety`.
    safe: bool,
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
    let mut add = |name: &str, kind, safe, about| out.push(Question { name: name.to_string(), kind, safe, about });
    // Machines assert nothing, and nothing they do can fail.
    if let Some(protocol) = &settings.protocol {
        add("deadlock", Kind::EndState, true, About::Itself);
        if !protocol.receptions.is_empty() {
            add("reception", Kind::Reception, true, About::Itself);
        }
        if !protocol.overflows.is_empty() {
            add("overflow", Kind::Overflow, true, About::Itself);
        }
        add("nonexecutable", Kind::NonExecutable, true, About::Itself);
    } else {
        add("assert", Kind::Assertion, true, About::Itself);
        add("deadlock", Kind::EndState, true, About::Itself);
        add("runtime", Kind::RuntimeError, true, About::Itself);
    }
    if system.monitor.is_some() {
        add("trace", Kind::Trace, true, About::Itself);
    }
    if system.proctypes.iter().any(|t| !t.promises.is_empty()) {
        add("promise", Kind::Promise, false, About::Itself);
    }
    let labelled =
        |label: fn(&spinor_model::ir::Location) -> bool| system.proctypes.iter().any(|t| t.locs.iter().any(label));
    if labelled(|l| l.accept) || select.names("accept") {
        add("accept", Kind::Acceptance, false, About::Accept);
    }
    if labelled(|l| l.progress) || select.names("progress") {
        add("progress", Kind::NonProgress, false, About::Progress);
    }
    for claim in &system.claims {
        let name = if claim.name.is_empty() { "claim" } else { &claim.name };
        add(name, Kind::Claim, false, About::Claim(claim));
    }
    for Stated { name, said } in stated {
        let kind = match said {
            Said::Formula { .. } => Kind::Ltl,
            Said::Automaton { .. } => Kind::Claim,
        };
        add(name, kind, false, About::Stated(said));
    }
    out
}

fn select<'a>(questions: Vec<Question<'a>>, select: &Selection) -> Result<Vec<Question<'a>>, Vec<Diagnostic>> {
    let asked = |q: &Question| select.has(&q.name, q.safe) || q.kind == Kind::Claim && select.names("claim");
    if let Selection::Names(names) = select {
        let known = |name: &String| {
            name == "all"
                || name == "safety"
                || questions.iter().any(|q| q.name == *name || q.kind == Kind::Claim && name == "claim")
        };
        let has: Vec<&str> = questions.iter().map(|q| q.name.as_str()).collect();
        let unknown = |name: &String| {
            Diagnostic::error("V0001", format!("the model has no property `{name}`"))
                .help(format!("it has {}; `safety` and `all` name several", has.join(", ")))
        };
        let errors: Vec<Diagnostic> = names.iter().filter(|n| !known(n)).map(unknown).collect();
        if !errors.is_empty() {
            return Err(errors);
        }
    }
    Ok(questions.into_iter().filter(asked).collect())
}

/// Leaps are a matter of the state alone.
fn leaps_by_path(settings: &Settings) -> Option<&'static str> {
    let leaps = matches!(settings.reduce, Reduce::Lra | Reduce::Leap);
    let path = matches!(settings.proviso, MadeUp::StackNumber | MadeUp::StackBit);
    (leaps && path).then_some("leaps do not depend on a path: --proviso loops or levels")
}

const LEAPS_HIDE_PROGRESS: &str =
    "states that make progress would be passed in the middle of a leap: --progress steps, or --por stubborn";

/// What the one search for safety came to.
struct Safety {
    traces: Vec<(Kind, Trace, String)>,
    tally: Tally,
    /// Why it stopped, or what its store may have missed.
    weak: Option<String>,
    counts_all: bool,
    /// Transitions of a protocol that were never taken.
    idle: Vec<String>,
    index: usize,
}

impl Safety {
    fn property(&self, name: String, kind: Kind) -> PropertyReport {
        if kind == Kind::NonExecutable {
            return self.nonexecutable(name);
        }
        let found: Vec<_> = self.traces.iter().filter(|(k, ..)| *k == kind).collect();
        let verdict = match (found.first(), &self.weak) {
            (Some((_, _, what)), _) => Verdict::Violated { what: what.clone() },
            (None, Some(because)) => Verdict::NothingFound { because: because.clone() },
            (None, None) => {
                assert_eq!(self.tally.of(kind), 0, "what was met and asked for has a trace");
                Verdict::Holds
            }
        };
        let n = self.tally.of(kind);
        PropertyReport {
            name,
            kind,
            verdict,
            traces: found.into_iter().map(|(_, trace, _)| trace.clone()).collect(),
            n_violations: if self.counts_all { n } else { n.min(1) },
            search: Some(self.index),
            account: None,
        }
    }
}

impl Safety {
    /// No run shows a transition that is never taken: the search as a whole does.
    fn nonexecutable(&self, name: String) -> PropertyReport {
        let verdict = match (&self.weak, self.idle.len()) {
            (Some(because), _) => Verdict::NothingFound { because: because.clone() },
            (None, 0) => Verdict::Holds,
            (None, n) => {
                let shown = self.idle[..n.min(MOST_IDLE)].join("; ");
                let more = if n > MOST_IDLE { format!("; and {} more", n - MOST_IDLE) } else { String::new() };
                let are = if n == 1 { "transition is" } else { "transitions are" };
                Verdict::Violated { what: format!("{n} {are} executed in no reachable state: {shown}{more}") }
            }
        };
        let n_violations = if verdict.is_violated() { self.idle.len() as u64 } else { 0 };
        let (kind, search) = (Kind::NonExecutable, Some(self.index));
        PropertyReport { name, kind, verdict, traces: Vec::new(), n_violations, search, account: None }
    }
}

/// Transitions named one by one.
const MOST_IDLE: usize = 6;

/// One search, and what is asked of it.
struct Asked<'a> {
    interp: &'a Interp,
    search: Search,
    store: Store,
    kinds: Vec<Kind>,
    way: Way,
    asking: Asking,
    settings: &'a Settings,
}

/// A search, and what its store has to say.
struct Ran {
    searched: Searched,
    store_bytes: u64,
    omission: Option<f64>,
}

impl Asked<'_> {
    fn safety<E: Executors>(&self, executors: &E, observer: &mut dyn Observer, report: &mut Report) -> Safety {
        let Asked { interp, settings, .. } = *self;
        let clock = Clock::start();
        let protocol = settings.protocol.as_ref();
        let columns = protocol.into_iter().flat_map(|p| {
            let column = |kind: &Kind| Some((*kind, p.column(interp.system(), *kind)?));
            self.kinds.iter().filter_map(column)
        });
        let (looked_kinds, looked): (Vec<Kind>, Vec<Expr>) = columns.unzip();
        let optimised = |params: bool| {
            let watched = Watched { exprs: &looked, params, ..Watched::default() };
            optimised(interp.shared_system(), settings.optimisations(), &watched)
        };
        let symmetry = match self.way(report) {
            Way::Off => symmetry::Found::default(),
            way => symmetry::find(&optimised(false), &looked, way),
        };
        report.tell_symmetry(&symmetry);
        let fly = OnTheFly {
            proviso: settings.proviso,
            able_by: settings.repairs.able,
            search: self.search,
            fairness: Fairness::None,
            jobs: settings.jobs,
            in_form: true,
            lossy: false, // of one path, on which the keys are
        };
        let refusal = self.asking.refusal.or(fly.refusal());
        let asking = Asking { symmetric: symmetry.canon.is_some(), refusal, ..self.asking };
        let reduce = report.reduces(asking, SAFETY_SEARCH);
        let system = optimised(reduce.is_some());
        let replayed = Interp::new(system.clone());
        let exec = Arc::new(executors.executor(system.clone(), &looked));
        let reduced = reduce.and_then(|by| self.reduced(&exec, system, by, &looked, report));
        let quotient = symmetry.canon.clone().map(|canon| Arc::new(Quotient { system: exec.clone(), canon }));
        // A violation of the quotient has to be found again in the system, and a leap is several steps of it.
        let like = |r: &Arc<Reduced<E::Exec>>| r.of(Arc::new(replayed.clone()));
        let steps = reduced.as_ref().map(like);
        let real = |found: &crate::search::Found| match (&symmetry.canon, &steps) {
            (Some(canon), _) => unfold::violation(&replayed, canon, found),
            (None, Some(steps)) => steps.shown_violation(found),
            (None, None) => found.clone(),
        };
        // What the program holds by now, native code and all, is not the search's to spend.
        let limit = settings.max_memory.map_or(u64::MAX, |n| n.saturating_sub(memory_bytes()));
        let request = Request {
            kinds: self.kinds.clone(),
            looked: looked_kinds,
            all_errors: settings.all_errors,
            max_depth: settings.max_depth,
            max_time: settings.max_time,
            budget: Budget::new(limit),
            jobs: settings.jobs.max(1),
            makes_up: reduced.as_ref().is_some_and(|r| r.proviso() == Proviso::Levels),
            late: report.chosen.por_from,
            by_path: reduced.as_ref().map(|r| r.proviso()).filter(|p| p.is_path()).map(|p| p == Proviso::PathBit),
            ..Request::default()
        };
        let Ran { searched, store_bytes, omission } = {
            let table = table(settings, limit);
            match (&quotient, &reduced) {
                (Some(quotient), None) => {
                    run(quotient, Quotient::learn, self.search, self.store, table, &request, observer)
                }
                (None, Some(reduced)) => run(reduced, order::learn, self.search, self.store, table, &request, observer),
                (None, None) => run(&exec, order::learn, self.search, self.store, table, &request, observer),
                (Some(_), Some(_)) => unreachable!("the plan refuses it"),
            }
        };
        let (cpu_seconds, wall_seconds) = (clock.cpu_seconds(), clock.wall_seconds());
        let Searched { found, tally, counters, reached, truncated, stopped, bytes } = searched;
        // The user knows the whole, not what is left of it.
        let stopped = stopped.map(|why| match why {
            Stopped::Memory(n) => Stopped::Memory(settings.max_memory.unwrap_or(n)),
            why => why,
        });
        let built = |f: &crate::search::Found| {
            let found = real(f);
            (f.kind, trace::build(interp, &replayed, &found), found.steps.len())
        };
        let mut traces: Vec<(Kind, Trace, usize)> = found.iter().map(built).collect();
        let tell = |trace: &mut Trace| protocol.into_iter().for_each(|p| p.tell(interp, trace));
        traces.iter_mut().for_each(|(_, trace, _)| tell(trace));
        let early = matches!(stopped, Some(Stopped::Interrupted | Stopped::Time(_)));
        // Breadth-first the first one of a kind is a shortest one, unless steps were left out.
        let exact = self.search == Search::Bfs && reduced.is_none();
        let mut told = BTreeSet::new();
        traces.iter_mut().for_each(|(kind, trace, _)| trace.shortest |= exact && told.insert(*kind));
        if !exact && settings.shorten && settings.all_errors.is_none() && !early {
            for (kind, trace, n_steps) in &mut traces {
                let effort = limit.min(SHORTEN_AT_LEAST.max(SHORTEN_TIMES * bytes));
                let spent = Duration::from_secs_f64(clock.wall_seconds());
                let max_time = settings.max_time.map(|t| t.saturating_sub(spent));
                let like = Request { budget: Budget::new(effort), max_time, ..request.clone() };
                let (shorter, shortest) = match &quotient {
                    Some(quotient) => shorten(quotient, *kind, *n_steps, &like, observer),
                    None => shorten(&exec, *kind, *n_steps, &like, observer),
                };
                if let Some(found) = shorter {
                    // It was searched for where nothing is left out.
                    let found = if quotient.is_some() { real(&found) } else { found };
                    *trace = trace::build(interp, &replayed, &found);
                    tell(trace);
                }
                trace.shortest |= shortest;
            }
        }
        report.searches.push(Stats {
            search: self.search.word(),
            stored: counters.stored,
            matched: counters.matched(),
            transitions: counters.transitions,
            atomic_steps: counters.atomic_steps,
            depth: counters.depth,
            complete: stopped.is_none() && omission.is_none(),
            cpu_seconds,
            wall_seconds,
            peak_memory_bytes: peak_memory_bytes(),
            store_bytes,
            search_bytes: bytes,
            omission,
        });
        // Without a proviso steps may be left out for ever, and what they do was not seen.
        let sees_all = reduced.as_ref().is_none_or(|r| r.proviso() != Proviso::None);
        if stopped.is_none() && omission.is_none() && counters.stored > 0 && sees_all {
            report.unreached = Some(unreached(interp.system(), &reached));
        }
        let mut idle = Vec::new();
        if protocol.is_some() {
            // Machines have no end that they could come to.
            report.unreached.iter_mut().for_each(|list| list.retain(|u| !u.end));
            let none = unreached(interp.system(), &reached).into_iter().filter(|u| !u.end);
            idle.extend(none.map(|u| crate::protocol::named(interp.system(), u.proctype, u.edge)));
        }
        report.truncations = truncated.iter().filter(|(t, e)| !unkept(replayed.system(), *t, *e)).collect();
        report.notes.extend(reduced.and_then(|r| r.reduction().audit_note()));
        if let Some(stopped) = stopped {
            report.notes.push(format!("{stopped}: the numbers cover only a part of the states"));
            report.advice = self.advice(stopped);
        }
        for kind in SAFETY {
            if tally.of(kind) > 0 && !request.kinds.contains(&kind) {
                report.notes.push(format!("met but not asked about: {kind}"));
            }
        }
        let told = traces.into_iter().map(|(kind, trace, _)| {
            let what = crate::explain::what(interp, &trace);
            (kind, trace, what)
        });
        Safety {
            traces: told.collect(),
            tally,
            weak: stopped.map(|s| s.to_string()).or(omission.map(missed)),
            counts_all: settings.all_errors.is_some(),
            idle,
            index: report.searches.len() - 1,
        }
    }

    /// The symmetry that is wanted, unless all violations are: a state would count for all its images.
    fn way(&self, report: &mut Report) -> Way {
        let way = self.way;
        if way == Way::Off || self.settings.all_errors.is_none() {
            return way;
        }
        report
            .notes
            .push("no symmetry is used: all violations are to be counted, and one would stand for several".into());
        Way::Off
    }

    /// The system with fewer steps, if it is worth while. It is judged on random walks, unless somebody wants it.
    fn reduced<S: Successors + Send>(
        &self,
        exec: &Arc<S>,
        system: Arc<System>,
        selector: Selector,
        looked: &[Expr],
        report: &mut Report,
    ) -> Option<Arc<Reduced<S>>> {
        // What is looked at in the states of a protocol is known before (`reduce`, J and K).
        let reduction = match &self.settings.protocol {
            Some(protocol) => Reduction::new(system, selector, &[], false).minding(protocol, &self.kinds),
            None => Reduction::new(system, selector, looked, false),
        };
        let reduction = reduction.repaired(self.settings.repairs);
        let reduction = Arc::new(reduction.audited_if(self.settings.audit));
        let by = |proviso| Reduced::new(exec.clone(), reduction.clone(), proviso);
        let forced = self.settings.reduce != Reduce::Auto;
        if self.settings.all_errors.is_some() {
            report.notes.push("violations are counted where steps are left out: there may be more".to_string());
        }
        let chosen = match self.settings.proviso {
            // States without steps are found whatever else is left out.
            _ if self.kinds == [Kind::EndState] => by(Proviso::None),
            MadeUp::Levels if self.search == Search::Bfs => by(Proviso::Levels),
            MadeUp::StackNumber => by(Proviso::PathNumber),
            MadeUp::StackBit => by(Proviso::PathBit),
            // Levels leave more out of some systems and less of others, and nobody knows beforehand of which; loops are the
            // same for any number of threads.
            MadeUp::Loops | MadeUp::Levels => by(Proviso::Loops),
        };
        // One process alone has no one to be left out.
        let saves = match forced {
            true => 1.0,
            false if most_processes(self.interp.system()) > 1 => chosen.saves(),
            false => 0.0,
        };
        let chosen = Some(chosen).filter(|_| saves > WORTH);
        match &chosen {
            Some(chosen) => {
                let may_wait = self.search == Search::Bfs && chosen.proviso() != Proviso::Levels && !selector.leaps();
                if saves < WORTH_AT_ONCE && may_wait && !self.settings.audit {
                    report.chosen.por_from = MANY;
                }
                report.chosen.por = plan::Reduction::By(selector).word();
                report.chosen.proviso = Some(chosen.proviso().word());
            }
            None => {
                report.unreduced.push((SAFETY_SEARCH.to_string(), NOT_WORTH.to_string()));
            }
        }
        chosen.map(Arc::new)
    }

    /// What would get further than this search did, and at what price.
    fn advice(&self, stopped: Stopped) -> Vec<String> {
        let mut out: Vec<&str> = Vec::new();
        let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
        match stopped {
            Stopped::Depth(_) => out.push("a larger --depth, or none: it costs memory as the states do"),
            Stopped::Time(_) => {
                out.push("a longer --time");
                if self.settings.jobs < cores {
                    out.push("-j: more threads search faster");
                }
                if self.settings.plain {
                    out.push("without --plain there are fewer states");
                }
            }
            Stopped::Memory(_) | Stopped::Numbers => {
                if self.settings.plain {
                    out.push("without --plain there are fewer states");
                }
                out.push("more --memory");
                match self.store {
                    Store::Arena => out.push("--store tree: a fraction of the memory, exact as well"),
                    Store::Auto | Store::Tree => {
                        if self.search == Search::Dfs {
                            out.push("--search bfs: it keeps no path");
                        }
                        out.push("--store hashcompact: 8 bytes a state; may miss states, and says how likely that is");
                    }
                    Store::HashCompact => {
                        out.push("--store bitstate: some bits a state, in a table of fixed size; misses more states");
                    }
                    Store::Bitstate => {}
                }
            }
            Stopped::Interrupted | Stopped::Settled | Stopped::Blind | Stopped::OneWay => {}
        }
        if !out.is_empty() {
            out.push("a smaller model: fewer processes, shorter channels");
        }
        out.into_iter().map(String::from).collect()
    }
}

const LEAVES_NOTHING_OUT: &str =
    "of the searches for cycles without progress, only those by levels of it and by a claim about states can do it";
const NOT_SYMMETRIC: &str = "no symmetry is used: cycles without progress are not searched with it yet";
const NOT_WORTH: &str = "its steps have too much to do with each other for it to be worth while";
/// The part of the steps that must be left out for a reduction to be worth its time.
pub(crate) const WORTH: f64 = 0.15;
/// The same while states are few: to store one that a cache holds takes less time than to think about what to leave out.
const WORTH_AT_ONCE: f64 = 1.0 / 3.0;
const MANY: u64 = 1 << 15;

/// Says of a lossy store what its silence is worth.
fn missed(omission: f64) -> String {
    let bound = if omission < 1.0 {
        format!("with a probability of at most {}", brief(omission))
    } else {
        format!("about {} of them, at most", brief(omission))
    };
    format!("the store may have taken states for others and missed what lies behind them: {bound}")
}

fn brief(x: f64) -> String {
    if x == 0.0 || (0.001..1e6).contains(&x) { format!("{x:.3}") } else { format!("{x:.1e}") }
}

/// The system that is searched. Its steps are those of the model, statement by statement.
fn optimised(system: &Arc<System>, wanted: Optimisations, watched: &Watched<'_>) -> Arc<System> {
    match wanted {
        Optimisations::NONE => system.clone(),
        _ => Arc::new(optimise(system, wanted, watched).0),
    }
}

/// The search with the store: the only place where both are chosen.
fn run<S: Successors + Send + 'static>(
    system: &Arc<S>,
    learn: fn(&S, &[u8]) -> Hint,
    search: Search,
    store: Store,
    table: u64,
    request: &Request,
    observer: &mut dyn Observer,
) -> Ran {
    let budget = &request.budget;
    match store {
        Store::Auto | Store::Tree => {
            let walked = system.clone();
            let hints = Box::new(move |key: &[u8]| learn(&walked, key));
            with(Compact::new(budget, hints), &**system, search, request, observer)
        }
        Store::Arena => with(Arena::new(budget), &**system, search, request, observer),
        Store::HashCompact => with(HashCompact::new(budget), &**system, search, request, observer),
        Store::Bitstate => with(Bitstate::new(budget, table, HASHES), &**system, search, request, observer),
    }
}

/// Bits a state in a bitstate table, as in SPIN.
pub(crate) const HASHES: u32 = 3;
/// Bytes of a bitstate table if nobody says.
const TABLE: u64 = 256 << 20;

fn table(settings: &Settings, limit: u64) -> u64 {
    settings.table.unwrap_or(TABLE).min(limit / 4 * 3)
}

fn with<S: Successors, V: Visited>(
    store: Result<V, Full>,
    system: &S,
    search: Search,
    request: &Request,
    observer: &mut dyn Observer,
) -> Ran {
    let store = match store {
        Ok(store) => store,
        Err(full) => return Ran { searched: Searched::none(system, full, request), store_bytes: 0, omission: None },
    };
    let searched = match search {
        Search::Dfs => dfs::search(system, &store, request, observer),
        _ => bfs::search(system, &store, request, observer),
    };
    Ran { searched, store_bytes: store.bytes(), omission: store.omission() }
}

/// What a shorter trace may cost, in bytes: some times what the trace itself did, so that a quick find stays
/// quick. Past that the trace is shown as it was found.
const SHORTEN_TIMES: u64 = 4;
const SHORTEN_AT_LEAST: u64 = 32 << 20;

/// A shortest violation, if there is one of fewer steps, and whether there is none that is shorter than the one at hand
/// then. Its search is not part of the statistics.
fn shorten<S: Successors + Send + 'static>(
    system: &Arc<S>,
    kind: Kind,
    n_steps: usize,
    like: &Request,
    observer: &mut dyn Observer,
) -> (Option<crate::search::Found>, bool) {
    let Some(most) = n_steps.checked_sub(1).and_then(|n| u32::try_from(n).ok()) else { return (None, n_steps == 0) };
    let request = Request { kinds: vec![kind], max_depth: Some(most), makes_up: false, ..like.clone() };
    let (search, store) = plan::choose(Search::Bfs, Store::Auto);
    let searched = run(system, order::learn, search, store, TABLE, &request, observer).searched;
    let found = searched.found.into_iter().next();
    let all = matches!(searched.stopped, None | Some(Stopped::Depth(_)));
    let shortest = found.is_some() || all;
    (found, shortest)
}

/// Statements none of whose edges was taken.
fn unreached(system: &System, reached: &EdgeSet) -> Vec<Unreached> {
    let mut out = Vec::new();
    for (proctype, t) in system.proctypes.enumerated() {
        // An edge may stand at several locations, and all edges of a d_step have one number: both tell a statement.
        let statement = |e: &Edge| (e.stmt, e.span);
        let taken = t.edges.enumerated().filter(|(e, _)| reached.has(proctype, *e));
        let done: BTreeSet<_> = taken.map(|(_, edge)| statement(edge)).collect();
        let mut told = BTreeSet::new();
        for (id, edge) in t.edges.enumerated() {
            if !done.contains(&statement(edge)) && told.insert(statement(edge)) {
                let end = matches!(edge.effects.last(), Some(Effect::End));
                out.push(Unreached { proctype, edge: id, span: edge.span, end });
            }
        }
    }
    out
}
