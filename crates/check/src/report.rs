//! What a check answers: one row per property, and what was measured.

use crate::clock::peak_memory_bytes;
use crate::counters::Counters;
use crate::progress::answer::Account;
use crate::reduce::Reduced;
use crate::settings::Search;
use crate::symmetry::Way;
use crate::trace::Trace;
use crate::verdict::{Kind, Verdict};
use spinor_model::ir::{EdgeId, ProctypeId};
use spinor_model::optimise::Optimisations;
use spinor_model::source::Span;

#[derive(Clone, Debug)]
pub struct Report {
    pub properties: Vec<PropertyReport>,
    /// Statements that no run executes; `None` unless the search was complete.
    pub unreached: Option<Vec<Unreached>>,
    /// Edges at which a value lost bits, each once, in order.
    pub truncations: Vec<(ProctypeId, EdgeId)>,
    /// What a reader of the numbers should know: a partial search, a fault that nobody asked about.
    pub notes: Vec<String>,
    /// After a limit was met: what would help, and what it costs.
    pub advice: Vec<String>,
    /// Searches that left nothing out though they might have, and why.
    pub unreduced: Vec<(String, String)>,
    /// One entry per search that ran.
    pub searches: Vec<Stats>,
    pub chosen: Chosen,
}

#[derive(Clone, Debug)]
pub struct PropertyReport {
    /// `assert`, `deadlock` and the like (`check.rs`, `questions`), or the name of a claim or formula
    pub name: String,
    pub kind: Kind,
    pub verdict: Verdict,
    /// Not empty iff a run violates it (that a transition is never executed, no run shows). Shortest first under breadth-first search.
    pub traces: Vec<Trace>,
    /// Violations met: 0 or 1 unless all errors were asked for. May exceed the number of traces.
    pub n_violations: u64,
    /// Which of [`Report::searches`] answered it.
    pub search: Option<usize>,
    /// Of a cycle without progress: where there was some.
    pub account: Option<Account>,
}

impl PropertyReport {
    /// Of a property that no run is shown for.
    pub fn new(name: String, kind: Kind, verdict: Verdict) -> PropertyReport {
        PropertyReport { name, kind, verdict, traces: Vec::new(), n_violations: 0, search: None, account: None }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unreached {
    pub proctype: ProctypeId,
    /// The first edge of the statement.
    pub edge: EdgeId,
    pub span: Span,
    /// The statement is the death of the process (SPIN's `-end-`).
    pub end: bool,
}

/// `stored`, `matched`, `transitions` and `atomic_steps` mean what SPIN's report means by them.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Stats {
    /// Which search it was.
    pub search: &'static str,
    pub stored: u64,
    pub matched: u64,
    pub transitions: u64,
    pub atomic_steps: u64,
    pub depth: u64,
    /// The whole space was seen. Otherwise the counts say how far the search came.
    pub complete: bool,
    pub cpu_seconds: f64,
    pub wall_seconds: f64,
    /// Of the whole program, at its highest.
    pub peak_memory_bytes: u64,
    /// Of the states alone.
    pub store_bytes: u64,
    /// Of all that the search kept: states, levels, stacks.
    pub search_bytes: u64,
    /// Of a lossy store, a bound of the chance that some state was taken for another; above 1, of how many were.
    pub omission: Option<f64>,
    pub left_out: LeftOut,
}

/// By which steps or states a search had less to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LeftOut {
    pub por: &'static str,
    /// Who sees to it that no step is left out for ever.
    pub proviso: Option<&'static str>,
    /// How many states were stored before a step was left out; 0 if that was done from the beginning.
    pub por_from: u64,
    pub sym: &'static str,
}

impl Default for LeftOut {
    fn default() -> LeftOut {
        LeftOut { por: "off", proviso: None, por_from: 0, sym: "off" }
    }
}

impl LeftOut {
    pub(crate) fn steps<S>(reduced: &Reduced<S>) -> LeftOut {
        let (por, proviso) = (reduced.reduction().selector().word(), Some(reduced.proviso().word()));
        LeftOut { por, proviso, ..LeftOut::default() }
    }

    pub(crate) fn states(way: Way) -> LeftOut {
        LeftOut { sym: way.word(), ..LeftOut::default() }
    }

    pub(crate) fn leaves_steps(&self) -> bool {
        self.por != LeftOut::default().por
    }

    /// Of several searches: what the first one did that did anything.
    fn or(self, other: LeftOut) -> LeftOut {
        let steps = if self.leaves_steps() { self } else { other };
        let states = if self.sym == LeftOut::default().sym { other } else { self };
        LeftOut { sym: states.sym, ..steps }
    }
}

impl Stats {
    /// What was counted, and the time and memory that it took; the rest is to be filled in.
    pub(crate) fn measured(search: Search, counters: &Counters, (cpu_seconds, wall_seconds): (f64, f64)) -> Stats {
        Stats {
            search: search.word(),
            stored: counters.stored,
            matched: counters.matched(),
            transitions: counters.transitions,
            atomic_steps: counters.atomic_steps,
            depth: counters.depth,
            cpu_seconds,
            wall_seconds,
            peak_memory_bytes: peak_memory_bytes(),
            ..Stats::default()
        }
    }
}

/// What the settings came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Chosen {
    /// For what finite runs show, if there was a question about that.
    pub search: Option<&'static str>,
    /// For runs that never end, if there was a question about them.
    pub endless: Option<&'static str>,
    /// For cycles without progress, if they were asked about; and what makes progress.
    pub progress: Option<(&'static str, &'static str)>,
    pub fair: &'static str,
    pub fair_by: Option<&'static str>,
    pub store: &'static str,
    pub executor: &'static str,
    /// Threads that may search, in the search of which there are most.
    pub jobs: usize,
    pub plain: bool,
    pub optimise: Optimisations,
}

impl Report {
    /// Why a search uses no symmetry, though one was asked for.
    pub fn tell_unsymmetric(&mut self, property: &str, why: Option<&str>) {
        self.notes.extend(why.map(|why| format!("{property}: no symmetry is used: {why}")));
    }

    /// What there is to say about the symmetry that a search looked for.
    pub fn tell_symmetry(&mut self, found: &crate::symmetry::Symmetry) {
        for note in &found.notes {
            if !self.notes.contains(note) {
                self.notes.push(note.clone());
            }
        }
    }

    /// The sum over the searches that ran; depth and memory are the largest.
    pub fn stats(&self) -> Stats {
        let mut sum = Stats { complete: true, ..Stats::default() };
        for s in &self.searches {
            sum.stored += s.stored;
            sum.matched += s.matched;
            sum.transitions += s.transitions;
            sum.atomic_steps += s.atomic_steps;
            sum.depth = sum.depth.max(s.depth);
            sum.complete &= s.complete;
            sum.cpu_seconds += s.cpu_seconds;
            sum.wall_seconds += s.wall_seconds;
            sum.peak_memory_bytes = sum.peak_memory_bytes.max(s.peak_memory_bytes);
            sum.store_bytes = sum.store_bytes.max(s.store_bytes);
            sum.search_bytes = sum.search_bytes.max(s.search_bytes);
            sum.omission = [sum.omission, s.omission].into_iter().flatten().reduce(f64::max);
            sum.left_out = sum.left_out.or(s.left_out);
        }
        sum
    }

    pub fn property(&self, name: &str) -> Option<&PropertyReport> {
        self.properties.iter().find(|p| p.name == name)
    }
}
