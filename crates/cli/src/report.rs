//! The answer for people.

use crate::front::Front;
use crate::screen::{Screen, bytes, grouped, pad, plural, printable, quoted, width};
use crate::table::Run;
use crate::wording;
use spinor_check::report::{PropertyReport, Report};
use spinor_check::trace::{Ending, Trace};
use spinor_check::verdict::{Kind, Verdict};
use spinor_model::interp::Interp;
use spinor_model::ir::{EdgeId, ProctypeId, System};
use std::fmt::Write as _;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Detail {
    Quiet,
    Normal,
    Verbose,
}

pub struct Human<'a> {
    pub front: &'a Front,
    pub interp: &'a Interp,
    pub report: &'a Report,
    pub screen: Screen,
    pub detail: Detail,
    /// `auto` was asked for, so what it came to is worth a word.
    pub auto: bool,
    /// The first trace that was saved, if any.
    pub saved: Option<String>,
    /// What the model was read with, ready for a shell: ` -DN=3`.
    pub macros: String,
}

/// The title of a violation ends, and its place begins, here.
const PLACE_AT: usize = 58;
/// Unreached statements listed without -v.
const MAX_UNREACHED: usize = 8;

impl Human<'_> {
    pub fn render(&self) -> String {
        let mut out = String::new();
        let (failed, rest): (Vec<_>, Vec<_>) = self.report.properties.iter().partition(|p| p.verdict.is_violated());
        for p in failed {
            self.violated(p, &mut out);
        }
        for p in rest {
            self.row(p, &mut out);
        }
        if self.detail != Detail::Quiet {
            self.remarks(&mut out);
            self.numbers(&mut out);
        }
        out
    }

    fn system(&self) -> &System {
        self.interp.system()
    }

    /// `ok    deadlock  no invalid end state`
    fn row(&self, p: &PropertyReport, out: &mut String) {
        let paint = self.screen.paint;
        let name = pad(&self.title_of_name(p), 8);
        let _ = match &p.verdict {
            Verdict::Holds => writeln!(out, "{}    {name}  {}", paint.good("ok"), holds(p.kind)),
            Verdict::NothingFound { because } => {
                writeln!(out, "{}     {name}  {}", paint.open("?"), printable(because))
            }
            Verdict::Violated { what } => writeln!(out, "{}  {name}  {}", paint.bad("FAIL"), printable(what)),
        };
    }

    fn title_of_name(&self, p: &PropertyReport) -> String {
        if p.kind != Kind::Ltl {
            return printable(&p.name);
        }
        let formula = self.front.model.iter().flat_map(|m| &m.formulas).find(|f| f.name == p.name);
        match formula {
            Some(f) => format!("ltl {}: {}", printable(&f.name), printable(&f.text)),
            None => format!("ltl {}", printable(&p.name)),
        }
    }

    fn violated(&self, p: &PropertyReport, out: &mut String) {
        for (n, trace) in p.traces.iter().enumerate() {
            self.violation(p, trace, out);
            if self.detail == Detail::Quiet {
                continue;
            }
            let length = plural(trace.steps.len(), "step");
            let shortest = if self.report.chosen.search == "bfs" && n == 0 { "shortest trace" } else { "trace" };
            let _ = writeln!(out, "      {shortest}, {length}\n");
            self.trace(trace, out);
            out.push('\n');
            if n + 1 == p.traces.len() {
                self.next(out);
                out.push('\n');
            }
        }
        if p.traces.is_empty() {
            self.row(p, out);
        }
        if p.n_violations > p.traces.len().max(1) as u64 && self.detail != Detail::Quiet {
            let _ = writeln!(out, "      {} violations in all, {} shown\n", grouped(p.n_violations), p.traces.len());
        }
    }

    /// `FAIL  assert(critical == 1)                               mutex.pml:10`
    fn violation(&self, p: &PropertyReport, trace: &Trace, out: &mut String) {
        let system = self.system();
        let (title, place) = match &trace.ending {
            Ending::InvalidEnd => (format!("{}: invalid end state", printable(&p.name)), String::new()),
            Ending::Fault(fault) => match fault.at {
                Some((_, t, e)) => {
                    let edge = wording::edge(system, t, e);
                    let text = printable(&system.sources.one_line(edge.span));
                    let title = match p.kind {
                        Kind::Assertion if text.starts_with("assert") => text,
                        Kind::Assertion => format!("assert: {text}"),
                        _ => format!("{}: {}", printable(&p.name), fault.kind),
                    };
                    (title, wording::place(system, edge.span))
                }
                None => (format!("{}: {} in the initial state", printable(&p.name), fault.kind), String::new()),
            },
        };
        let title_width = PLACE_AT - 8;
        let title = if place.is_empty() { title } else { pad(&title, title_width) + "  " };
        let _ = writeln!(out, "{}  {}{place}", self.screen.paint.bad("FAIL"), title);
    }

    fn trace(&self, trace: &Trace, out: &mut String) {
        if let Some(initial) = &trace.initial {
            let run = Run {
                interp: self.interp,
                initial,
                steps: &trace.steps,
                cycle_start: trace.cycle_start,
                ending: Some(&trace.ending),
                full: self.detail == Detail::Verbose,
            };
            out.push_str(&run.render(self.screen));
            out.push('\n');
        }
        out.push_str(&why(self.interp, trace, self.screen));
    }

    /// Only commands that exist, with words a shell reads back.
    fn next(&self, out: &mut String) {
        let model = format!("{}{}", quoted(&printable(&self.front.path)), self.macros);
        let _ = match &self.saved {
            Some(file) => writeln!(out, " next  spinor replay {model} {}", quoted(&printable(file))),
            None => writeln!(out, " next  spinor check {model} -o traces    (saves the trace, for `spinor replay`)"),
        };
    }

    fn remarks(&self, out: &mut String) {
        let paint = self.screen.paint;
        let system = self.system();
        for (t, e) in limited(&self.report.truncations, self.detail) {
            let _ = writeln!(out, "{}  a value loses bits at {}", paint.open("warning"), self.statement(*t, *e));
        }
        let hidden = self.report.truncations.len() - limited(&self.report.truncations, self.detail).len();
        if hidden > 0 {
            let _ = writeln!(out, "{}  … and at {hidden} more (-v shows them)", paint.open("warning"));
        }
        for note in &self.report.notes {
            let _ = writeln!(out, "note  {}", printable(note));
        }
        let unreached = self.report.unreached.as_deref().unwrap_or_default();
        if !unreached.is_empty() {
            let _ = writeln!(out, "unreached  {} in no run:", plural(unreached.len(), "statement"));
            let mut in_order = unreached.to_vec();
            in_order.sort_by_key(|u| (u.proctype, u.end, system.sources.surface(u.span)));
            for u in limited(&in_order, self.detail) {
                let name = &system.proctypes[u.proctype].name;
                let text =
                    if u.end { "end of the proctype".to_string() } else { printable(&system.sources.one_line(u.span)) };
                let _ = writeln!(out, "  {}  {}  {text}", wording::place(system, u.span), printable(name));
            }
            let hidden = unreached.len() - limited(unreached, self.detail).len();
            if hidden > 0 {
                let _ = writeln!(out, "  … and {hidden} more (-v shows them)");
            }
        }
    }

    fn statement(&self, t: ProctypeId, e: EdgeId) -> String {
        let system = self.system();
        let edge = wording::edge(system, t, e);
        format!("{}: {}", wording::place(system, edge.span), wording::statement(system, edge))
    }

    fn numbers(&self, out: &mut String) {
        let s = self.report.stats();
        let c = &self.report.chosen;
        let complete = if self.report.searches.is_empty() || s.complete { "" } else { ", not the whole space" };
        let mut line = format!(
            "{} stored, {} matched, {}, depth {}{complete}; {:.2} s, {}",
            plural(s.stored as usize, "state"),
            grouped(s.matched),
            plural(s.transitions as usize, "transition"),
            grouped(s.depth),
            s.wall_seconds,
            bytes(s.peak_memory_bytes),
        );
        if self.detail == Detail::Verbose {
            let _ = write!(
                line,
                "\n{} atomic steps; {:.2} s of processor time; the store holds {}",
                grouped(s.atomic_steps),
                s.cpu_seconds,
                bytes(s.store_bytes)
            );
        }
        let _ = writeln!(out, "{}", self.screen.paint.dim(&line));
        if self.auto || self.detail == Detail::Verbose {
            let text = format!(
                "{}search {}, reduction {}, symmetry {}, fairness {}, store {}, {}",
                if self.auto { "auto chose " } else { "" },
                c.search,
                c.por,
                c.sym,
                c.fair,
                c.store,
                plural(c.jobs as usize, "thread")
            );
            let _ = writeln!(out, "{}", self.screen.paint.dim(&text));
        }
    }
}

/// The "why" lines under a trace.
pub fn why(interp: &Interp, trace: &Trace, screen: Screen) -> String {
    let mut out = String::new();
    let mut label = " why   ";
    for line in spinor_check::explain::why(interp, trace) {
        for part in wrapped(&printable(&line), screen.width.saturating_sub(width(label))) {
            let _ = writeln!(out, "{label}{part}");
            label = "       ";
        }
    }
    out
}

/// Lines of at most `max` columns, broken between words; what hangs over is indented by two.
fn wrapped(text: &str, max: usize) -> Vec<String> {
    let max = max.max(20);
    let indent: String = text.chars().take_while(|c| *c == ' ').collect();
    let mut out = Vec::new();
    let mut line = indent.clone();
    for word in text.split(' ').filter(|w| !w.is_empty()) {
        if line.trim().is_empty() {
            line.push_str(word);
        } else if width(&line) + 1 + width(word) > max {
            out.push(std::mem::replace(&mut line, format!("{indent}  {word}")));
        } else {
            line.push(' ');
            line.push_str(word);
        }
    }
    out.push(line);
    out
}

fn limited<T>(list: &[T], detail: Detail) -> &[T] {
    if detail == Detail::Verbose { list } else { &list[..list.len().min(MAX_UNREACHED)] }
}

/// What it means that a property of this kind holds.
fn holds(kind: Kind) -> &'static str {
    match kind {
        Kind::Assertion => "no assertion fails",
        Kind::EndState => "no invalid end state",
        Kind::RuntimeError => "no run-time error",
        Kind::Trace => "every run fits the trace assertion",
        Kind::Promise => "every xr and xs is kept",
        Kind::Acceptance => "no acceptance cycle",
        Kind::NonProgress => "no non-progress cycle",
        Kind::Claim => "the claim is never matched",
        Kind::Ltl => "every run satisfies it",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_sentences_are_broken_between_words() {
        assert_eq!(wrapped("one two three", 40), ["one two three"]);
        assert_eq!(wrapped("one two three four five", 20), ["one two three four", "  five"]);
        assert_eq!(wrapped("", 20), [""]);
    }
}
