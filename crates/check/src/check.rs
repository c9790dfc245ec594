//! From settings to a report: which properties there are, which search answers them.

use crate::clock::{Clock, peak_memory_bytes};
use crate::counters::EdgeSet;
use crate::observer::Observer;
use crate::plan::{self, Cell, Combination};
use crate::report::{Chosen, PropertyReport, Report, Stats, Unreached};
use crate::search::{Found, Request, SAFETY, Searched, Stopped, bfs, dfs};
use crate::settings::{Search, Selection, Settings};
use crate::trace::{self, Trace};
use crate::verdict::{Kind, Verdict};
use spinor_model::diagnostic::Diagnostic;
use spinor_model::interp::Interp;
use spinor_model::ir::{Edge, Effect, System};
use spinor_store::Arena;
use std::collections::BTreeSet;

/// Checks what was selected. `formulas` are the names of the model's `ltl` properties, in order.
/// An error means that the request makes no sense for this model: a property it does not have.
pub fn check(
    interp: &Interp,
    formulas: &[String],
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<Report, Vec<Diagnostic>> {
    let system = interp.system();
    let questions = select(questions(system, formulas, &settings.select), &settings.select)?;
    let search = plan::choose(settings.search);
    let chosen = Chosen {
        search: search.word(),
        por: "off",
        sym: "off",
        fair: "none",
        store: "arena",
        jobs: 1,
        plain: settings.plain,
    };
    let mut report = Report {
        properties: Vec::new(),
        unreached: None,
        truncations: Vec::new(),
        notes: Vec::new(),
        searches: Vec::new(),
        chosen,
    };
    let kinds: Vec<Kind> = questions.iter().map(|q| q.kind).filter(|k| answer(search, *k).is_ok()).collect();
    let safety = (!kinds.is_empty()).then(|| {
        assert!(kinds.iter().all(|k| SAFETY.contains(k)), "the plan calls sound only what a search can do");
        safety(interp, search, kinds, settings, observer, &mut report)
    });
    for Question { name, kind, .. } in questions {
        let property = match (answer(search, kind), &safety) {
            (Ok(()), Some(safety)) => safety.property(name, kind),
            (Ok(()), None) => unreachable!("a sound property starts a search"),
            (Err(because), _) => {
                let verdict = Verdict::NothingFound { because: because.to_string() };
                PropertyReport { name, kind, verdict, traces: Vec::new(), n_violations: 0, search: None }
            }
        };
        report.properties.push(property);
    }
    Ok(report)
}

/// What the plan says about a property, asked of the only store, reduction and fairness there are.
fn answer(search: Search, property: Kind) -> Result<(), &'static str> {
    let combination = Combination {
        search,
        property,
        store: plan::StoreKind::Arena,
        reduction: plan::Reduction::None,
        fairness: plan::Fairness::None,
    };
    match plan::cell(combination) {
        Cell::Sound(_) => Ok(()),
        Cell::Refused(why) => Err(why),
    }
}

struct Question {
    name: String,
    kind: Kind,
    /// Part of `safety`.
    safe: bool,
}

/// The properties of a model, in the order of the report. Cycles can be asked about without labels, by name.
fn questions(system: &System, formulas: &[String], select: &Selection) -> Vec<Question> {
    let mut out = Vec::new();
    let mut add = |name: &str, kind, safe| out.push(Question { name: name.to_string(), kind, safe });
    add("assert", Kind::Assertion, true);
    add("deadlock", Kind::EndState, true);
    add("runtime", Kind::RuntimeError, true);
    if system.monitor.is_some() {
        add("trace", Kind::Trace, true);
    }
    if system.proctypes.iter().any(|t| !t.promises.is_empty()) {
        add("promise", Kind::Promise, false);
    }
    let labelled =
        |label: fn(&spinor_model::ir::Location) -> bool| system.proctypes.iter().any(|t| t.locs.iter().any(label));
    if labelled(|l| l.accept) || select.names("accept") {
        add("accept", Kind::Acceptance, false);
    }
    if labelled(|l| l.progress) || select.names("progress") {
        add("progress", Kind::NonProgress, false);
    }
    for claim in &system.claims {
        if !formulas.contains(&claim.name) {
            add(if claim.name.is_empty() { "claim" } else { &claim.name }, Kind::Claim, false);
        }
    }
    for formula in formulas {
        add(formula, Kind::Ltl, false);
    }
    out
}

fn select(questions: Vec<Question>, select: &Selection) -> Result<Vec<Question>, Vec<Diagnostic>> {
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

/// What the one search for safety came to.
struct Safety {
    traces: Vec<(Kind, Trace, String)>,
    tally: crate::search::Tally,
    stopped: Option<Stopped>,
    counts_all: bool,
    index: usize,
}

impl Safety {
    fn property(&self, name: String, kind: Kind) -> PropertyReport {
        let found: Vec<_> = self.traces.iter().filter(|(k, ..)| *k == kind).collect();
        let verdict = match (found.first(), self.stopped) {
            (Some((_, _, what)), _) => Verdict::Violated { what: what.clone() },
            (None, Some(stopped)) => {
                assert_ne!(stopped, Stopped::Settled, "settled means that everything asked for was found");
                Verdict::NothingFound { because: stopped.to_string() }
            }
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
        }
    }
}

fn safety(
    interp: &Interp,
    search: Search,
    kinds: Vec<Kind>,
    settings: &Settings,
    observer: &mut dyn Observer,
    report: &mut Report,
) -> Safety {
    let system = interp.system();
    let clock = Clock::start();
    let request = Request {
        kinds,
        all_errors: settings.all_errors,
        max_depth: settings.max_depth,
        max_time: settings.max_time,
        max_memory: settings.max_memory,
    };
    let searched = match search {
        Search::Dfs => dfs::search(interp, Arena::new(), &request, observer),
        Search::Bfs | Search::Auto => bfs::search(interp, Arena::new(), &request, observer),
    };
    let Searched { store, found, tally, counters, reached, truncated, stopped, bytes } = searched;
    report.searches.push(Stats {
        stored: counters.stored,
        matched: counters.matched(),
        transitions: counters.transitions,
        atomic_steps: counters.atomic_steps,
        depth: counters.depth,
        complete: stopped.is_none(),
        cpu_seconds: clock.cpu_seconds(),
        wall_seconds: clock.wall_seconds(),
        peak_memory_bytes: peak_memory_bytes(),
        store_bytes: bytes,
    });
    if stopped.is_none() && counters.stored > 0 {
        report.unreached = Some(unreached(system, &reached));
    }
    report.truncations = truncated.iter().collect();
    if let Some(stopped) = stopped {
        report.notes.push(format!("{stopped}: the numbers cover only a part of the states"));
    }
    for kind in SAFETY {
        let n = tally.of(kind);
        if n > 0 && !request.kinds.contains(&kind) {
            report.notes.push(format!("met but not asked about: {n} × {kind}"));
        }
    }
    let mut traces: Vec<(Kind, Trace, usize)> =
        found.iter().map(|f| (f.kind, trace::build(interp, &store, f), f.n_steps())).collect();
    drop(store);
    if search == Search::Dfs && settings.shorten && settings.all_errors.is_none() {
        for (kind, trace, n_steps) in &mut traces {
            let effort = request.max_memory.unwrap_or(u64::MAX).min(SHORTEN_AT_LEAST.max(SHORTEN_TIMES * bytes));
            let like = Request { max_memory: Some(effort), ..request.clone() };
            if let Some(shorter) = shorten(interp, *kind, *n_steps, &like, observer) {
                *trace = shorter;
            }
        }
    }
    let told = traces.into_iter().map(|(kind, trace, _)| {
        let what = crate::explain::what(interp, &trace);
        (kind, trace, what)
    });
    let counts_all = settings.all_errors.is_some();
    Safety { traces: told.collect(), tally, stopped, counts_all, index: report.searches.len() - 1 }
}

/// What a shorter trace may cost, in bytes of states: some times what the trace itself did, so that a quick find
/// stays quick. Past that the trace is shown as it was found.
const SHORTEN_TIMES: u64 = 4;
const SHORTEN_AT_LEAST: u64 = 32 << 20;

/// A shortest trace, if there is one of fewer steps. Its search is not part of the statistics.
fn shorten(interp: &Interp, kind: Kind, n_steps: usize, like: &Request, observer: &mut dyn Observer) -> Option<Trace> {
    let max_depth = Some(u32::try_from(n_steps.checked_sub(1)?).ok()?);
    let request = Request { kinds: vec![kind], max_depth, ..like.clone() };
    let searched = bfs::search(interp, Arena::new(), &request, observer);
    let found: &Found = searched.found.first()?;
    Some(trace::build(interp, &searched.store, found))
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
