//! What finite runs show, by one search: from the kinds that are asked about to their rows of the report.

use super::{Executors, NOT_WORTH, memory_left, of_the_whole};
use crate::clock::{Clock, cores};
use crate::cycles::Fairness;
use crate::observer::{Control, Observer, Progress};
use crate::plan::{self, Asking, Combination, OnTheFly};
use crate::reduce::{Proviso, Reduced, Reduction, Selector};
use crate::report::{LeftOut, PropertyReport, Report, Stats, Unreached};
use crate::search::fewest::{self, Fewest};
use crate::search::{Request, Searched, Stopped, Tally, bfs, dfs, order};
use crate::settings::{Search, Settings, Store};
use crate::stores::{self, Kept, TABLE, Use, WithBits, missed, table};
use crate::symmetry::quotient::Quotient;
use crate::symmetry::{self, Way, unfold};
use crate::trace::{self, Ending, Trace};
use crate::verdict::{Kind, SAFETY, Verdict};
use spinor_model::fault::FaultKind;
use spinor_model::interp::Interp;
use spinor_model::ir::{Edge, Expr, System};
use spinor_model::optimise::{Watched, optimised, unkept};
use spinor_model::successors::{EdgeSet, Successors};
use spinor_store::{Budget, Hint};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

/// What the search for what a finite run can show is called where properties have names.
pub(super) const SAFETY_SEARCH: &str = "safety";

/// What the one search for safety came to.
pub(super) struct Safety {
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
    pub fn property(&self, name: String, kind: Kind) -> PropertyReport {
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
            traces: found.into_iter().map(|(_, trace, _)| trace.clone()).collect(),
            n_violations: if self.counts_all { n } else { n.min(1) },
            search: Some(self.index),
            ..PropertyReport::new(name, kind, verdict)
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
        let report = PropertyReport::new(name, Kind::NonExecutable, verdict);
        PropertyReport { n_violations, search: Some(self.index), ..report }
    }
}

/// Transitions named one by one.
const MOST_IDLE: usize = 6;

/// One search, and what is asked of it.
pub(super) struct Asked<'a> {
    pub interp: &'a Interp,
    pub kinds: Vec<Kind>,
    pub way: Way,
    pub asking: Asking,
    pub settings: &'a Settings,
}

impl Asked<'_> {
    pub fn safety<E: Executors>(&self, executors: &E, observer: &mut dyn Observer, report: &mut Report) -> Safety {
        let Asked { interp, settings, .. } = *self;
        let Combination { search, store, .. } = self.asking.combination;
        let clock = Clock::start();
        let protocol = settings.protocol.as_ref();
        let columns = protocol.into_iter().flat_map(|p| {
            let column = |kind: &Kind| Some((*kind, p.column(interp.system(), *kind)?));
            self.kinds.iter().filter_map(column)
        });
        let (looked_kinds, looked): (Vec<Kind>, Vec<Expr>) = columns.unzip();
        let searched_as = |params: bool| {
            let watched = Watched { exprs: &looked, params, ..Watched::default() };
            optimised(interp.shared_system(), settings.optimisations(), &watched)
        };
        let symmetry = match self.way {
            Way::Off => symmetry::Found::default(),
            way => symmetry::find(&searched_as(false), &looked, way),
        };
        report.tell_symmetry(&symmetry);
        let fly = OnTheFly {
            proviso: settings.proviso,
            able_by: settings.repairs.able,
            search,
            fairness: Fairness::None,
            jobs: settings.jobs,
            in_form: true,
            lossy: false, // no obstacle here: depth-first search has the keys of its path
        };
        let refusal = self.asking.refusal.or(fly.refusal());
        let asking = Asking { symmetric: symmetry.canon.is_some(), refusal, ..self.asking };
        let reduce = report.reduces(asking, SAFETY_SEARCH);
        let system = searched_as(reduce.is_some());
        let replayed = Interp::new(system.clone());
        let exec = Arc::new(executors.executor(system.clone(), &looked));
        let reduced = reduce.and_then(|by| self.reduced(&exec, system, by, &looked, report));
        let (reduced, por_from) = reduced.unzip();
        let por_from = por_from.unwrap_or(0);
        let left_out = match (&reduced, &symmetry.canon) {
            (Some(reduced), _) => LeftOut { por_from, ..LeftOut::steps(reduced) },
            (None, Some(canon)) => LeftOut::states(canon.way()),
            (None, None) => LeftOut::default(),
        };
        let quotient = symmetry.canon.clone().map(|canon| Arc::new(Quotient { system: exec.clone(), canon }));
        // A violation of the quotient has to be found again in the system, and a leap is several steps of it.
        let like = |r: &Arc<Reduced<E::Exec>>| r.of(Arc::new(replayed.clone()));
        let steps = reduced.as_ref().map(like);
        let real = |found: &crate::search::Found| match (&symmetry.canon, &steps) {
            (Some(canon), _) => unfold::violation(&replayed, canon, found),
            (None, Some(steps)) => steps.shown_violation(found),
            (None, None) => found.clone(),
        };
        let limit = memory_left(settings);
        let request = Request {
            kinds: self.kinds.clone(),
            looked: looked_kinds,
            all_errors: settings.all_errors,
            max_depth: settings.max_depth,
            max_time: settings.max_time,
            budget: Budget::new(limit),
            jobs: settings.jobs.max(1),
            proviso: reduced.as_ref().map_or(Proviso::None, |r| r.proviso()),
            late: por_from,
            ..Request::default()
        };
        let (searched, (store_bytes, omission)) = {
            let table = table(settings, limit);
            match (&quotient, &reduced) {
                (Some(quotient), None) => run(quotient, Quotient::learn, search, store, table, &request, observer),
                (None, Some(reduced)) => run(reduced, order::learn, search, store, table, &request, observer),
                (None, None) => run(&exec, order::learn, search, store, table, &request, observer),
                (Some(_), Some(_)) => unreachable!("the plan refuses it"),
            }
        };
        let seconds = clock.seconds();
        let Searched { found, tally, counters, reached, truncated, stopped, bytes } = searched;
        assert!(counters.transitions >= counters.stored, "a state is stored when a transition leads to it");
        let stopped = stopped.map(|why| of_the_whole(why, settings));
        let built = |f: &crate::search::Found| {
            let found = real(f);
            (f.kind, trace::build(interp, &replayed, &found), found.steps.len())
        };
        let mut traces: Vec<(Kind, Trace, usize)> = found.iter().map(built).collect();
        let tell = |trace: &mut Trace| protocol.into_iter().for_each(|p| p.tell(interp, trace));
        traces.iter_mut().for_each(|(_, trace, _)| tell(trace));
        let early = matches!(stopped, Some(Stopped::Interrupted | Stopped::Time(_)));
        // Breadth-first the first one of a kind has the fewest moves, unless steps were left out.
        let exact = search == Search::Bfs && reduced.is_none();
        let mut told = BTreeSet::new();
        for (kind, trace, n_moves) in &mut traces {
            let mut fewest = exact && told.insert(*kind);
            let may_shorten = settings.shorten && settings.all_errors.is_none() && !early;
            if may_shorten && !exact {
                let effort = limit.min(SHORTEN_AT_LEAST.max(SHORTEN_TIMES * bytes));
                let spent = Duration::from_secs_f64(clock.wall_seconds());
                let max_time = settings.max_time.map(|t| t.saturating_sub(spent));
                let like = Request { budget: Budget::new(effort), max_time, ..request.clone() };
                let (shorter, all) = match &quotient {
                    Some(quotient) => shorten(quotient, *kind, *n_moves, &like, observer),
                    None => shorten(&exec, *kind, *n_moves, &like, observer),
                };
                if let Some(found) = shorter {
                    // It was searched for where nothing is left out.
                    let found = if quotient.is_some() { real(&found) } else { found };
                    (*trace, *n_moves) = (trace::build(interp, &replayed, &found), found.steps.len());
                    tell(trace);
                }
                fewest = all;
            }
            // A move may be several statements.
            trace.shortest |= fewest && *n_moves == trace.steps.len();
            if may_shorten && !trace.shortest && by_statements(trace) {
                let goes_on = &mut |stored: usize| {
                    let elapsed = Duration::from_secs_f64(clock.wall_seconds());
                    let (stored, depth) = (stored as u64, trace.steps.len() as u64);
                    let at = Progress { stored, transitions: stored, depth, frontier: 0, bytes, elapsed };
                    settings.max_time.is_none_or(|most| elapsed < most) && observer.progress(&at) == Control::Continue
                };
                match fewest::fewest(interp, *kind, trace.steps.len() - 1, goes_on) {
                    Fewest::Found(steps) => {
                        *trace = Trace { shortest: true, ..trace::of_statements(interp, steps, *kind) }
                    }
                    Fewest::None => trace.shortest = true,
                    Fewest::Unknown => {}
                }
            }
        }
        report.searches.push(Stats {
            complete: stopped.is_none() && omission.is_none(),
            store_bytes,
            search_bytes: bytes,
            omission,
            left_out,
            ..Stats::measured(search, &counters, seconds)
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

    /// The system with fewer steps, if it is worth while, and from how many states on. It is judged on random walks, unless
    /// somebody wants it.
    fn reduced<S: Successors + Send>(
        &self,
        exec: &Arc<S>,
        system: Arc<System>,
        selector: Selector,
        looked: &[Expr],
        report: &mut Report,
    ) -> Option<(Arc<Reduced<S>>, u64)> {
        let search = self.asking.combination.search;
        // What is looked at in the states of a protocol is known before (`reduce`, J and K).
        let reduction = match &self.settings.protocol {
            Some(protocol) => Reduction::new(system, selector, &[], false).minding(protocol, &self.kinds),
            None => Reduction::new(system, selector, looked, false),
        };
        let reduction = reduction.repaired(self.settings.repairs);
        let reduction = Arc::new(reduction.audited_if(self.settings.audit));
        if self.settings.all_errors.is_some() {
            report.notes.push("violations are counted where steps are left out: there may be more".to_string());
        }
        // States without steps are found whatever else is left out.
        let ends_only = self.kinds == [Kind::EndState];
        let wanted = self.settings.proviso;
        let proviso = if ends_only { Proviso::None } else { plan::choose_proviso(wanted, search) };
        let chosen = Reduced::new(exec.clone(), reduction, proviso);
        let Some(saves) = chosen.worth(self.settings.forces_reduction()) else {
            report.unreduced.push((SAFETY_SEARCH.to_string(), NOT_WORTH.to_string()));
            return None;
        };
        let may_wait = search == Search::Bfs && chosen.proviso().may_begin_late() && !selector.leaps();
        let waits = saves < WORTH_AT_ONCE && may_wait && !self.settings.audit;
        Some((Arc::new(chosen), if waits { MANY } else { 0 }))
    }

    /// What would get further than this search did, and at what price.
    fn advice(&self, stopped: Stopped) -> Vec<String> {
        let mut out: Vec<&str> = Vec::new();
        let Combination { search, store, .. } = self.asking.combination;
        match stopped {
            Stopped::Depth(_) => out.push("a larger --depth, or none: it costs memory as the states do"),
            Stopped::Time(_) => {
                out.push("a longer --time");
                if self.settings.jobs < cores() {
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
                match store {
                    Store::Arena => out.push("--store tree: a fraction of the memory, exact as well"),
                    Store::Auto | Store::Tree => {
                        if search == Search::Dfs {
                            out.push("--search bfs: it keeps no path");
                        }
                        out.push(
                            "--store hashcompact: 11 to 21 bytes a state; may miss states, and says how likely that is",
                        );
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

/// The share of the steps that must be left out for a reduction to begin at once. Below it the first levels are searched
/// whole, while they are small: to store a state that a cache holds takes less time than to select steps.
const WORTH_AT_ONCE: f64 = 1.0 / 3.0;
const MANY: u64 = 1 << 15;

/// The search with the store.
fn run<S: Successors + Send + 'static>(
    system: &Arc<S>,
    learn: fn(&S, &[u8]) -> Hint,
    search: Search,
    store: Store,
    table: u64,
    request: &Request,
    observer: &mut dyn Observer,
) -> (Searched, Kept) {
    let walked = system.clone();
    let hints = Box::new(move |key: &[u8]| learn(&walked, key));
    let user = Searching { system: &**system, search, request, observer };
    let ran = stores::open(store, table, &request.budget, hints, user);
    ran.unwrap_or_else(|full| (Searched::none(&**system, full, request), (0, None)))
}

struct Searching<'a, S> {
    system: &'a S,
    search: Search,
    request: &'a Request,
    observer: &'a mut dyn Observer,
}

impl<S: Successors> Use for Searching<'_, S> {
    type Out = Searched;
    fn with<V: WithBits>(self, store: &V) -> Searched {
        let Searching { system, search, request, observer } = self;
        match search {
            Search::Dfs => dfs::search(system, store, request, observer),
            Search::Bfs => bfs::search(system, store, request, observer),
            _ => unreachable!("no search of states"),
        }
    }
}

/// What a trace with fewer moves may cost, in bytes: some times what the trace itself did, so that a quick find stays
/// quick. Past that the trace is shown as it was found.
const SHORTEN_TIMES: u64 = 4;
const SHORTEN_AT_LEAST: u64 = 32 << 20;

/// It is one of its statements that shows it, or that nothing comes after the last one.
fn by_statements(trace: &Trace) -> bool {
    match &trace.ending {
        Ending::Fault(fault) => fault.kind != FaultKind::EndlessAtomic,
        Ending::InvalidEnd => true,
        Ending::Met { .. } => false,
        Ending::Cycle | Ending::Settled => unreachable!("no finite run"),
    }
}

/// A violation with the fewest moves, if there is one with fewer than these, and whether there is none with fewer than the
/// one at hand then. Its search is not part of the statistics.
fn shorten<S: Successors + Send + 'static>(
    system: &Arc<S>,
    kind: Kind,
    n_moves: usize,
    like: &Request,
    observer: &mut dyn Observer,
) -> (Option<crate::search::Found>, bool) {
    let Some(most) = n_moves.checked_sub(1).and_then(|n| u32::try_from(n).ok()) else { return (None, n_moves == 0) };
    let request = Request { kinds: vec![kind], max_depth: Some(most), proviso: Proviso::None, ..like.clone() };
    let (search, store) = plan::choose(Search::Bfs, Store::Auto);
    let (searched, _) = run(system, order::learn, search, store, TABLE, &request, observer);
    let found = searched.found.into_iter().next();
    let all = matches!(searched.stopped, None | Some(Stopped::Depth(_)));
    let fewest = found.is_some() || all;
    (found, fewest)
}

/// Statements none of whose edges was taken.
fn unreached(system: &System, reached: &EdgeSet) -> Vec<Unreached> {
    let mut out = Vec::new();
    for (proctype, t) in system.proctypes.enumerated() {
        // A statement may have several edges, and all edges of a d_step have one number: both tell a statement.
        let statement = |e: &Edge| (e.stmt, e.span);
        let taken = t.edges.enumerated().filter(|(e, _)| reached.has(proctype, *e));
        let done: BTreeSet<_> = taken.map(|(_, edge)| statement(edge)).collect();
        let mut told = BTreeSet::new();
        for (id, edge) in t.edges.enumerated() {
            if !done.contains(&statement(edge)) && told.insert(statement(edge)) {
                let end = edge.ends();
                out.push(Unreached { proctype, edge: id, span: edge.span, end });
            }
        }
    }
    out
}
