//! What finite runs show, by one search: from the kinds that are asked about to their rows of the report.

use super::{Executors, of_the_whole};
use crate::clock::cores;
use crate::observer::Observer;
use crate::plan::{Asking, Combination};
use crate::protocol;
use crate::report::{PropertyReport, Report, Stats, Unreached};
use crate::search::answer::{Answered, Asked};
use crate::search::{Searched, Stopped, Tally};
use crate::settings::{Search, Settings, Store};
use crate::stores::missed;
use crate::symmetry::Way;
use crate::trace::Trace;
use crate::verdict::{Kind, SAFETY, Verdict};
use spinor_model::interp::Interp;
use spinor_model::ir::{Edge, System};
use spinor_model::successors::EdgeSet;
use std::collections::BTreeSet;

/// What the search for what a finite run can show is called where properties have names.
pub(super) const SAFETY_SEARCH: &str = "safety";

/// What the one search for safety came to.
pub(super) struct Safety {
    /// Each with what it shows.
    traces: Vec<(Kind, Trace, String)>,
    tally: Tally,
    /// Why it stopped, or what its store may have missed.
    weak: Option<String>,
    counts_all: bool,
    /// Transitions of a protocol that were never taken.
    idle: Vec<String>,
    index: usize,
}

/// The search for safety.
pub(super) struct Finite<'a> {
    pub interp: &'a Interp,
    pub kinds: Vec<Kind>,
    pub way: Way,
    pub settings: &'a Settings,
    pub asking: Asking,
}

impl Finite<'_> {
    pub fn safety<E: Executors>(&self, executors: &E, observer: &mut dyn Observer, report: &mut Report) -> Safety {
        let Finite { interp, settings, .. } = *self;
        let Combination { search, store, .. } = self.asking.combination;
        assert!(
            !self.kinds.is_empty() && !self.kinds.iter().any(|k| k.is_endless()),
            "these are what finite runs show"
        );
        let asked = Asked::new(interp, &self.kinds, settings, (search, store), self.way);
        report.tell_symmetry(&asked.symmetry);
        let asking = Asking { symmetric: asked.symmetry.canon.is_some(), ..self.asking };
        let reduce = report.reduces(asking, SAFETY_SEARCH);
        let answered = asked.reducing(reduce).answer(executors, observer);
        let Answered { traces, searched, kept: (store_bytes, omission), left_out, sees_all, truncations, .. } =
            answered;
        let Searched { tally, counters, reached, stopped, bytes, .. } = searched;
        report.tell_worth(SAFETY_SEARCH, reduce, &left_out);
        assert!(counters.transitions >= counters.stored, "a state is stored when a transition leads to it");
        let stopped = stopped.map(|why| of_the_whole(why, settings));
        report.searches.push(Stats {
            complete: stopped.is_none() && omission.is_none(),
            store_bytes,
            search_bytes: bytes,
            omission,
            left_out,
            ..Stats::measured(search, &counters, answered.seconds)
        });
        assert!(sees_all || !self.kinds.contains(&Kind::NonExecutable), "what is left out for ever may be executed");
        let shown = |(kind, trace): &(Kind, Trace)| self.kinds.contains(kind) && trace.cycle_start.is_none();
        assert!(traces.iter().all(shown), "what is shown is a finite run, and was asked for");
        let never = unreached(interp.system(), &reached);
        let mut idle = Vec::new();
        if settings.protocol.is_some() {
            // Machines have no end that they could come to.
            let none = never.iter().filter(|u| !u.end);
            idle.extend(none.map(|u| protocol::named(interp.system(), u.proctype, u.edge)));
        }
        if stopped.is_none() && omission.is_none() && counters.stored > 0 && sees_all {
            let counts = |u: &Unreached| settings.protocol.is_none() || !u.end;
            report.unreached = Some(never.into_iter().filter(counts).collect());
        }
        report.truncations = truncations;
        if settings.all_errors.is_some() && left_out.leaves_steps() {
            report.notes.push("violations are counted where steps are left out: there may be more".to_string());
        }
        report.notes.extend(answered.note);
        if let Some(stopped) = stopped {
            report.notes.push(format!("{stopped}: the numbers cover only a part of the states"));
            report.advice = self.advice(stopped);
        }
        for kind in SAFETY {
            if tally.of(kind) > 0 && !self.kinds.contains(&kind) {
                report.notes.push(format!("met but not asked about: {kind}"));
            }
        }
        let told = traces.into_iter().map(|(kind, trace)| {
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
