//! The answer for people.

use crate::args::Expect;
use crate::exit::Exit;
use crate::front::Front;
use crate::screen::{Paint, Screen, bytes, grouped, pad, plural, printable, quoted, width};
use crate::table::Run;
use crate::wording;
use spinor_check::progress::answer::Account;
use spinor_check::progress::meaning::Progress;
use spinor_check::report::{LeftOut, PropertyReport, Report, Unreached};
use spinor_check::trace::{Ending, Trace};
use spinor_check::verdict::{Kind, Verdict};
use spinor_model::interp::Interp;
use spinor_model::ir::{EdgeId, Loc, ProctypeId, System};
use std::fmt::Write as _;
use std::path::PathBuf;

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
    /// The files that were written, the first trace first.
    pub saved: &'a [PathBuf],
    pub expect: Option<Expect>,
    pub exit: Exit,
    /// What the model was read with, ready for a shell: ` -DN=3`.
    pub macros: String,
    /// What the command line says about runs, in the same form.
    pub stated: String,
}

/// The title of a violation ends, and its place begins, here.
const PLACE_AT: usize = 58;
/// Unreached statements listed without -v.
const MAX_UNREACHED: usize = 8;

impl Human<'_> {
    pub fn render(&self) -> String {
        let mut out = String::new();
        let (failed, rest): (Vec<_>, Vec<_>) = self.report.properties.iter().partition(|p| p.verdict.is_violated());
        for p in &failed {
            self.violated(p, &mut out);
        }
        if !failed.is_empty() && self.detail != Detail::Quiet {
            self.next(&mut out);
            out.push('\n');
        }
        // What stays open for the same reason is told together.
        for group in rest.chunk_by(|a, b| a.verdict == b.verdict && a.verdict != Verdict::Holds) {
            self.rows(group, &mut out);
        }
        if self.detail != Detail::Quiet {
            self.remarks(&mut out);
            for file in self.saved {
                let _ = writeln!(out, "saved  {}", quoted(&printable(&file.to_string_lossy())));
            }
            self.numbers(&mut out);
            self.summary(&mut out);
        }
        out
    }

    fn system(&self) -> &System {
        self.interp.system()
    }

    /// `ok    deadlock  no invalid end state`; several that stay open share the line that says why.
    fn rows(&self, group: &[&PropertyReport], out: &mut String) {
        let paint = self.screen.paint;
        for p in group {
            let name = pad(&self.title_of_name(p), 8);
            let (sign, said) = match &p.verdict {
                Verdict::Holds => (paint.good("ok") + "    ", holds(p).to_string()),
                Verdict::NothingFound { because } => (paint.open("?") + "     ", printable(because)),
                Verdict::Violated { what } => (paint.bad("FAIL") + "  ", printable(what)),
            };
            let fits = 6 + width(&name) + 2 + width(&said) <= self.screen.width;
            let _ = if group.len() == 1 && fits {
                writeln!(out, "{sign}{name}  {said}")
            } else if std::ptr::eq(*p, group[group.len() - 1]) {
                writeln!(out, "{sign}{}\n      {said}", name.trim_end())
            } else {
                writeln!(out, "{sign}{}", name.trim_end())
            };
        }
    }

    fn title_of_name(&self, p: &PropertyReport) -> String {
        if p.kind != Kind::Ltl {
            return printable(&p.name);
        }
        match self.formula_of(p) {
            Some(f) => format!("ltl {}: {}", printable(&f.name), printable(&f.text)),
            None => format!("ltl {}", printable(&p.name)),
        }
    }

    fn formula_of(&self, p: &PropertyReport) -> Option<&crate::front::Formula> {
        let formulas = self.front.model.iter().flat_map(|m| &m.formulas);
        formulas.into_iter().find(|f| p.kind == Kind::Ltl && f.name == p.name)
    }

    /// Where a property is written.
    fn place_of(&self, p: &PropertyReport) -> String {
        let is = |name: &str| p.kind == Kind::Claim && (name == p.name || name.is_empty() && p.name == "claim");
        let claim = || self.system().claims.iter().find(|c| is(&c.name)).map(|c| c.span);
        let span = self.formula_of(p).map(|f| f.span).or_else(claim);
        span.map_or(String::new(), |span| wording::place(self.system(), span))
    }

    fn violated(&self, p: &PropertyReport, out: &mut String) {
        for trace in &p.traces {
            self.violation(p, trace, out);
            if self.detail == Detail::Quiet {
                continue;
            }
            let broken =
                self.formula_of(p).map(|formula| crate::endless::Broken { interp: self.interp, formula, trace });
            if let Some(broken) = &broken {
                let _ = writeln!(out, "      {}", broken.needed());
            }
            if let Some(account) = &p.account {
                self.account(account, out);
            }
            let length = plural(trace.steps.len(), "step");
            let shortest = if trace.shortest { "shortest trace" } else { "trace" };
            let _ = writeln!(out, "      {shortest}, {length}\n");
            self.trace(trace, broken.as_ref(), out);
            out.push('\n');
        }
        if p.traces.is_empty() {
            self.rows(&[p], out);
        }
        if p.n_violations > p.traces.len().max(1) as u64
            && p.kind != Kind::NonExecutable
            && self.detail != Detail::Quiet
        {
            let which = match p.kind {
                Kind::EndState | Kind::Reception | Kind::Overflow => "--all-errors=N keeps N",
                _ => "one for each place",
            };
            let (all, n) = (grouped(p.n_violations), p.traces.len());
            let _ = writeln!(out, "      {all} violations in all, {n} shown ({which})\n");
        }
    }

    /// `FAIL  assert(critical == 1)                               mutex.pml:10`
    fn violation(&self, p: &PropertyReport, trace: &Trace, out: &mut String) {
        let system = self.system();
        let (title, place) = match &trace.ending {
            Ending::InvalidEnd => (format!("{}: invalid end state", printable(&p.name)), String::new()),
            Ending::Met { what, .. } => (format!("{}: {}", printable(&p.name), printable(what)), String::new()),
            Ending::Cycle | Ending::Settled => (self.title_of_name(p), self.place_of(p)),
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

    /// How much progress there was before the cycle, and where there would be some.
    fn account(&self, account: &Account, out: &mut String) {
        let system = self.system();
        let one = match account.progress {
            Progress::States => "progress state",
            Progress::Steps => "step that makes progress",
        };
        let many = match account.progress {
            Progress::States => "progress states",
            Progress::Steps => "steps that make progress",
        };
        let before = match account.before {
            0 => format!("there is no {one}"),
            1 => format!("there is 1 {one}"),
            n => format!("there are {} {many}", grouped(n as u64)),
        };
        let _ = writeln!(out, "      before the cycle {before}");
        let names = |at: &[(ProctypeId, Loc)]| {
            let name = |(t, l): &(ProctypeId, Loc)| {
                let (proctype, loc) = (&system.proctypes[*t], &system.proctypes[*t].locs[*l]);
                let labels = loc.labels.iter().filter(|l| l.starts_with("progress")).map(|l| printable(l));
                let labels = labels.collect::<Vec<_>>().join(", ");
                format!("{}:{labels} ({})", printable(&proctype.name), wording::place(system, loc.span))
            };
            at.iter().map(name).collect::<Vec<_>>().join(", ")
        };
        for (word, at) in [("outside", &account.outside), ("inside, not counted,", &account.inside)] {
            if !at.is_empty() {
                let _ = writeln!(out, "      {word} it: {}", names(at));
            }
        }
    }

    fn trace(&self, trace: &Trace, broken: Option<&crate::endless::Broken<'_>>, out: &mut String) {
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
        if let Some(broken) = broken {
            out.push_str(&broken.values(self.screen));
        }
        out.push_str(&why(self.interp, trace, self.screen));
    }

    /// Only commands that exist, with words a shell reads back.
    fn next(&self, out: &mut String) {
        let model = format!("{}{}", quoted(&printable(&self.front.path)), self.macros);
        let _ = match self.saved.first() {
            Some(file) => writeln!(out, " next  spinor replay {model} {}", quoted(&printable(&file.to_string_lossy()))),
            None => writeln!(
                out,
                " next  spinor check {model}{} -o traces    (saves the trace, for `spinor replay`)",
                self.stated
            ),
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
        for (n, text) in self.report.advice.iter().enumerate() {
            let _ = writeln!(out, "{}{}", if n == 0 { "help  " } else { "      " }, printable(text));
        }
        // Servers loop for ever: that their ends are not reached is worth a line, not one each.
        let (ends, unreached): (Vec<Unreached>, Vec<Unreached>) =
            wording::unreached(system, self.report).into_iter().partition(|u| u.end);
        // A protocol's row has said it.
        let told = self.report.properties.iter().any(|p| p.kind == Kind::NonExecutable && p.verdict.is_violated());
        if !unreached.is_empty() && (!told || self.detail == Detail::Verbose) {
            let _ = writeln!(out, "unreached  {} in no run:", plural(unreached.len(), "statement"));
            for u in limited(&unreached, self.detail) {
                let name = printable(&system.proctypes[u.proctype].name);
                let text = wording::statement(system, wording::edge(system, u.proctype, u.edge));
                let _ = writeln!(out, "  {}  {name}  {text}", wording::place(system, u.span));
            }
            let hidden = unreached.len() - limited(&unreached, self.detail).len();
            if hidden > 0 {
                let _ = writeln!(out, "  … and {hidden} more (-v shows them)");
            }
        }
        if !ends.is_empty() {
            let names: Vec<String> = ends.iter().map(|u| printable(&system.proctypes[u.proctype].name)).collect();
            for (i, line) in wrapped(&names.join(", "), self.screen.width - 22).iter().enumerate() {
                let _ = writeln!(out, "{}{}", if i == 0 { "unreached  the end of " } else { "         " }, line);
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
        let mut line = format!(
            "{} stored, {} matched, {}, depth {}; {:.2} s, {}",
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
                "\n{} atomic steps; {:.2} s of processor time; the store holds {}, the whole search {}",
                grouped(s.atomic_steps),
                s.cpu_seconds,
                bytes(s.store_bytes),
                bytes(s.search_bytes)
            );
        }
        if !self.report.searches.is_empty() {
            let _ = writeln!(out, "{}", self.screen.paint.dim(&line));
        }
        if self.auto || self.detail == Detail::Verbose {
            let progress = c.progress.map(|(word, _)| format!("{word} for progress"));
            let searches = [c.search.map(String::from), c.endless.map(String::from), progress];
            let text = format!(
                "{}search {}, reduction {}, symmetry {}, fairness {}, store {}, {}, {}",
                if self.auto { "auto chose " } else { "" },
                searches.into_iter().flatten().collect::<Vec<_>>().join(" and "),
                self.left_out(steps_left_out),
                self.left_out(|l| l.sym.to_string()),
                c.fair,
                c.store,
                c.executor,
                plural(c.jobs, "thread")
            );
            let _ = writeln!(out, "{}", self.screen.paint.dim(&text));
        }
        if self.detail == Detail::Verbose {
            for (property, why) in &self.report.unreduced {
                let text = format!("{property}: nothing was left out: {why}");
                let _ = writeln!(out, "{}", self.screen.paint.dim(&text));
            }
        }
    }

    /// Of all searches: what each did, if it did anything.
    fn left_out(&self, word: impl Fn(&LeftOut) -> String) -> String {
        let nothing = word(&LeftOut::default());
        let mut words: Vec<String> = self.report.searches.iter().map(|s| word(&s.left_out)).collect();
        words.retain(|word| *word != nothing);
        words.dedup();
        if words.is_empty() { nothing } else { words.join(" and ") }
    }

    /// The whole answer in one line, and the status that scripts see.
    fn summary(&self, out: &mut String) {
        let properties = &self.report.properties;
        let all = match properties.len() {
            1 => "1 property".to_string(),
            n => format!("{n} properties"),
        };
        let violated = properties.iter().filter(|p| p.verdict.is_violated()).count();
        let open = properties.iter().filter(|p| matches!(p.verdict, Verdict::NothingFound { .. })).count();
        let s = self.report.stats();
        let (mut text, paint): (String, fn(Paint, &str) -> String) = match (violated, open) {
            (0, 0) if self.report.searches.is_empty() => ("no errors: the text shows it".to_string(), Paint::good),
            (0, 0) => (format!("no errors: {}, all explored", plural(s.stored as usize, "state")), Paint::good),
            (0, _) => (format!("no errors so far, but {open} of {all} not decided"), Paint::open),
            (_, 0) => (format!("{violated} of {all} violated"), Paint::bad),
            _ => (format!("{violated} of {all} violated, {open} not decided"), Paint::bad),
        };
        match (self.expect, violated) {
            (Some(Expect::Fail), 0) if open == 0 => text.push_str("; a violation was expected"),
            (Some(Expect::Fail), 1..) => text.push_str(", as expected"),
            _ => {}
        }
        if self.exit != Exit::Fine {
            let _ = write!(text, " (exit status {})", self.exit.code());
        }
        let _ = writeln!(out, "{}", paint(self.screen.paint, &text));
    }
}

fn steps_left_out(l: &LeftOut) -> String {
    let by = l.proviso.map_or(String::new(), |by| format!(" by {by}"));
    let from = match l.por_from {
        0 => String::new(),
        n => format!(" from {} on", plural(n as usize, "state")),
    };
    format!("{}{by}{from}", l.por)
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
fn holds(property: &PropertyReport) -> &'static str {
    match property.kind {
        Kind::Assertion => "no assertion fails",
        Kind::EndState => "no invalid end state",
        Kind::RuntimeError => "no run-time error",
        Kind::Trace => "every run fits the trace assertion",
        Kind::Promise => "every xr and xs is kept",
        Kind::Acceptance => "no acceptance cycle",
        Kind::NonProgress if property.search.is_none() => {
            "no cycle without progress: every loop passes a progress label"
        }
        Kind::NonProgress => "no cycle without progress",
        Kind::Claim => "the claim is never matched",
        Kind::Ltl => "every run satisfies it",
        Kind::Reception => "no message arrives unexpected",
        Kind::Overflow => "no send finds its channel full",
        Kind::NonExecutable => "every transition is executed in some state",
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
