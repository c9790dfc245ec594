//! A run as a table: a column per process, a column per variable that changes.
//!
//! Only what changes is shown; `·` stands for "as before". Where the columns do not fit the screen, the same rows are
//! told one below the other. Long stretches of one process, and steps that several take again and again, are folded into one
//! row with what they came to.

use crate::screen::{Paint, Screen, clip, grouped, pad, plural, printable, width};
use crate::stream::Stream;
use crate::wording;
use spinor_check::trace::{Change, Ending, TraceStep, Value, changes, values};
use spinor_model::interp::Interp;
use spinor_model::ir::{Pid, ProctypeId};
use spinor_model::state::State;
use std::fmt::Write as _;

/// What to show.
#[derive(Clone, Copy)]
pub struct Run<'a> {
    pub interp: &'a Interp,
    pub initial: &'a State,
    pub steps: &'a [TraceStep],
    pub cycle_start: Option<usize>,
    /// `None`: the run just stops.
    pub ending: Option<&'a Ending>,
    /// Every step, and what was printed.
    pub full: bool,
}

/// A stretch of one process longer than this is folded,
const FOLD_FROM: usize = 9;
/// so that this many of its steps remain at either end.
const FOLD_KEEP: usize = 3;
/// What several processes do again and again is folded if it is no longer than this,
const LONGEST_ROUND: usize = 64;
/// and done so often: the first and the last round remain.
const LEAST_ROUNDS: usize = 4;
/// Of the rows that remain, no more than this many at either end.
const MAX_ROWS: usize = 200;
/// Longer statements are cut in a column layout.
const CLIPS: [usize; 2] = [40, 24];
const CLIP_VALUE: usize = 30;

/// `from..to` of the steps, as one row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Row {
    One(usize),
    Folded {
        from: usize,
        to: usize,
    },
    /// So many steps, again and again.
    Rounds {
        from: usize,
        to: usize,
        round: usize,
    },
    LeftOut {
        from: usize,
        to: usize,
    },
}

impl Row {
    fn range(self) -> std::ops::Range<usize> {
        match self {
            Row::One(i) => i..i + 1,
            Row::Folded { from, to } | Row::Rounds { from, to, .. } | Row::LeftOut { from, to } => from..to,
        }
    }
}

/// What is told of steps that are folded.
fn steps(row: Row) -> String {
    let n = row.range().len();
    match row {
        Row::Rounds { round, .. } => format!("… {} × {round} steps", grouped((n / round) as u64)),
        Row::One(_) | Row::Folded { .. } | Row::LeftOut { .. } => format!("… {} steps", grouped(n as u64)),
    }
}

/// What changed, without the variables that a new process starts with at zero.
pub fn told_changes(interp: &Interp, before: &State, after: &State) -> Vec<Change> {
    let mut list = changes(interp, before, after);
    list.retain(|c| c.before != Value::Absent || !matches!(c.after, Value::Number { value: 0, .. }));
    list
}

/// A process of the run; numbers are used again after a death, so the proctype belongs to the name.
type Process = (Pid, ProctypeId);

impl<'a> Run<'a> {
    pub fn render(&self, screen: Screen) -> String {
        let rows = self.rows();
        let told: Vec<(Row, Vec<Change>)> = rows.iter().map(|r| (*r, self.changes(*r))).collect();
        let (all, movers) = self.processes();
        for (processes, clip_at) in [(&all, CLIPS[0]), (&movers, CLIPS[0]), (&movers, CLIPS[1])] {
            let grid = self.grid(&told, processes, clip_at);
            if grid.width() <= screen.width {
                return grid.render(screen.paint);
            }
        }
        self.narrow(&told, screen)
    }

    fn before(&self, i: usize) -> &'a State {
        if i == 0 { self.initial } else { &self.steps[i - 1].state }
    }

    /// What a row changed in sum.
    fn changes(&self, row: Row) -> Vec<Change> {
        let range = row.range();
        told_changes(self.interp, self.before(range.start), self.before(range.end))
    }

    fn rows(&self) -> Vec<Row> {
        if self.full {
            return (0..self.steps.len()).map(Row::One).collect();
        }
        let (mut rows, mut told, mut i) = (Vec::new(), 0, 0);
        while i < self.steps.len() {
            let Some((round, n)) = self.rounds(i) else {
                i += 1;
                continue;
            };
            let (from, to) = (i + round, i + (n - 1) * round);
            self.folded(told..from, &mut rows);
            rows.push(Row::Rounds { from, to, round });
            (told, i) = (to, to + round);
        }
        self.folded(told..self.steps.len(), &mut rows);
        if rows.len() > 2 * MAX_ROWS + 1 {
            let end = rows.len() - MAX_ROWS;
            let (from, to) = (rows[MAX_ROWS].range().start, rows[end].range().start);
            rows.splice(MAX_ROWS..end, [Row::LeftOut { from, to }]);
        }
        rows
    }

    /// Nothing went wrong there, and what comes after it is not the cycle.
    fn may_fold(&self, i: usize) -> bool {
        self.steps[i].faults.is_empty() && self.cycle_start != Some(i + 1)
    }

    /// How many steps from here on several processes take again and again, and how often: of all that are possible where most
    /// is folded.
    fn rounds(&self, i: usize) -> Option<(usize, usize)> {
        let same = |a: usize, b: usize| {
            (self.steps[a].step, self.steps[a].proctype) == (self.steps[b].step, self.steps[b].proctype)
                && self.may_fold(a)
                && self.may_fold(b)
        };
        let several = |round: usize| self.steps[i..i + round].iter().any(|s| s.step.pid != self.steps[i].step.pid);
        let of = |round: usize| {
            (round, (i..self.steps.len() - round).take_while(|a| same(*a, a + round)).count() / round + 1)
        };
        let longest = LONGEST_ROUND.min((self.steps.len() - i) / LEAST_ROUNDS);
        let all = (2..=longest).filter(|round| several(*round)).map(of).filter(|(_, n)| *n >= LEAST_ROUNDS);
        all.max_by_key(|(round, n)| (round * (n - 2), std::cmp::Reverse(*round)))
    }

    /// Rows of these steps, long stretches of one process as one of them.
    fn folded(&self, range: std::ops::Range<usize>, rows: &mut Vec<Row>) {
        let mut i = range.start;
        while i < range.end {
            let alone = |s: &TraceStep| s.step.pid == self.steps[i].step.pid && s.step.partner.is_none();
            let quiet = |s: &TraceStep| s.faults.is_empty();
            let n = self.steps[i..range.end].iter().take_while(|s| alone(s) && quiet(s)).count();
            // A cycle begins at a row of its own.
            let n = match self.cycle_start {
                Some(c) if i < c => n.min(c - i),
                _ => n,
            };
            if n >= FOLD_FROM {
                rows.extend((i..i + FOLD_KEEP).map(Row::One));
                rows.push(Row::Folded { from: i + FOLD_KEEP, to: i + n - FOLD_KEEP });
                rows.extend((i + n - FOLD_KEEP..i + n).map(Row::One));
            } else {
                rows.extend((i..i + n.max(1)).map(Row::One));
            }
            i += n.max(1);
        }
    }

    /// Who moves in these steps, first who moves first.
    fn moving(&self, range: std::ops::Range<usize>) -> Vec<Process> {
        let mut out = Vec::new();
        for i in range {
            let step = &self.steps[i];
            let partner = step.step.partner.map(|(pid, _)| (pid, self.before(i).proctype(pid)));
            for process in std::iter::once((step.step.pid, step.proctype)).chain(partner) {
                if !out.contains(&process) {
                    out.push(process);
                }
            }
        }
        out
    }

    /// Everybody who was ever there, and those who moved.
    fn processes(&self) -> (Vec<Process>, Vec<Process>) {
        let mut all: Vec<Process> = Vec::new();
        for i in 0..=self.steps.len() {
            let state = self.before(i);
            for pid in 0..state.n_procs() as Pid {
                let process = (pid, state.proctype(pid));
                if !all.contains(&process) {
                    all.push(process);
                }
            }
        }
        let mut movers = self.moving(0..self.steps.len());
        all.sort();
        movers.sort();
        (all, movers)
    }

    /// The next step belongs to the same atomic. Where one waits in the middle of it others go on, and it is none any more.
    fn goes_on(&self, i: usize) -> bool {
        self.steps.get(i + 1).is_some_and(|next| self.steps[i].goes_on(next))
    }

    /// `12  x = 1` of a step's own process, and of its partner.
    fn cells(&self, i: usize) -> Vec<(Process, String, String)> {
        let system = self.interp.system();
        let step = &self.steps[i];
        let edge = wording::edge(system, step.proctype, step.step.edge);
        let mut text = wording::statement(system, edge);
        let line = wording::line(system, edge.span);
        let Some((pid, half)) = step.step.partner else {
            // Statements of one atomic are held together by a bracket.
            let bracket = match (i > 0 && self.goes_on(i - 1), self.goes_on(i)) {
                (false, false) => "",
                (false, true) => "┌ ",
                (true, true) => "│ ",
                (true, false) => "└ ",
            };
            text.insert_str(0, bracket);
            return vec![((step.step.pid, step.proctype), line, text)];
        };
        let proctype = self.before(i).proctype(pid);
        let other = wording::edge(system, proctype, half);
        vec![
            ((step.step.pid, step.proctype), line, format!("{text} →")),
            ((pid, proctype), wording::line(system, other.span), format!("→ {}", wording::statement(system, other))),
        ]
    }

    fn marks(&self, i: usize) -> Option<String> {
        let step = &self.steps[i];
        if step.faults.is_empty() {
            return None;
        }
        let texts: Vec<String> = step.faults.iter().map(|f| wording::fault(self.interp, step, f)).collect();
        Some(format!("✗ {}", printable(&texts.join("; "))))
    }

    /// The names of what changes: globals, channels, locals, in the order they are declared where that is known.
    fn changing(&self, told: &[(Row, Vec<Change>)]) -> Vec<(String, Value)> {
        let initial = values(self.interp, self.initial);
        let mut out: Vec<(usize, String, Value)> = Vec::new();
        for (_, changes) in told {
            for c in changes {
                if !out.iter().any(|(_, name, _)| *name == c.name) {
                    let found = initial.iter().position(|(name, _)| *name == c.name);
                    let value = found.map_or(Value::Absent, |i| initial[i].1.clone());
                    out.push((found.unwrap_or(initial.len()), c.name.clone(), value));
                }
            }
        }
        out.sort_by_key(|(rank, ..)| *rank);
        out.into_iter().map(|(_, name, value)| (name, value)).collect()
    }

    fn grid(&self, told: &[(Row, Vec<Change>)], processes: &[Process], clip_at: usize) -> Grid {
        let system = self.interp.system();
        let variables = self.changing(told);
        let column = |p: &Process| processes.iter().position(|q| q == p);
        let n = processes.len();
        let mut grid =
            Grid { header: Vec::new(), n_processes: n, lines: Vec::new(), loops: self.cycle_start.is_some() };
        grid.header.extend(processes.iter().map(|p| wording::process(system, p.1, p.0)));
        grid.header.extend(variables.iter().map(|(name, _)| printable(name)));

        // Line numbers stand right-aligned.
        let one = |row: &Row| matches!(row, Row::One(_)).then_some(row.range().start);
        let lines = told.iter().filter_map(|(row, _)| one(row)).flat_map(|i| self.cells(i));
        let digits = lines.map(|(_, line, _)| width(&line)).max().unwrap_or(0);

        let mut start = Line { label: "0".to_string(), ..Line::empty(n) };
        for (c, (pid, proctype)) in processes.iter().enumerate() {
            if (*pid as usize) < self.initial.n_procs() && self.initial.proctype(*pid) == *proctype {
                start.cells[c] = "(start)".to_string();
            }
        }
        start
            .cells
            .extend(variables.iter().map(|(_, v)| clip(&wording::shown(self.interp, self.initial, v), CLIP_VALUE)));
        grid.lines.push(start);

        for (row, changes) in told {
            let mut line = Line { gutter: self.gutter(*row), ..Line::empty(n) };
            match *row {
                Row::One(i) => {
                    line.label = (i + 1).to_string();
                    for (process, number, text) in self.cells(i) {
                        if let Some(c) = column(&process) {
                            line.cells[c] = format!("{number:>w$}  {}", clip(&text, clip_at), w = digits);
                        }
                    }
                    line.mark = self.marks(i);
                }
                Row::Folded { .. } | Row::Rounds { .. } => {
                    line.label = "…".to_string();
                    for (nth, process) in self.moving(row.range()).iter().enumerate() {
                        if let Some(c) = column(process) {
                            let text = if nth == 0 { steps(*row) } else { "…".to_string() };
                            line.cells[c] = format!("{:w$}  {text}", "", w = digits);
                        }
                    }
                }
                Row::LeftOut { from, to } => {
                    line.label = "…".to_string();
                    line.note = Some(format!("{} left out (-v shows them)", plural(to - from, "step")));
                }
            }
            let after = self.before(row.range().end);
            line.changes(&variables, changes, |c| wording::change(self.interp, after, c));
            grid.lines.push(line);
            if let (Row::One(i), true) = (*row, self.full) {
                for text in self.printed(i) {
                    grid.lines.push(Line { note: Some(format!("prints  {text}")), ..Line::empty(n) });
                }
            }
        }
        if let Some(line) = self.last_line(processes, digits) {
            grid.lines.push(line);
        }
        grid
    }

    fn printed(&self, i: usize) -> Vec<String> {
        printable(&self.steps[i].output).lines().map(str::to_string).collect()
    }

    fn gutter(&self, row: Row) -> &'static str {
        let Some(start) = self.cycle_start else { return "" };
        let range = row.range();
        // What is left out may hide where the cycle begins.
        if range.end <= start {
            "    "
        } else if range.start <= start && range.end == self.steps.len() {
            " └─>"
        } else if range.start <= start {
            " ┌─>"
        } else if range.end == self.steps.len() {
            " └──"
        } else {
            " │  "
        }
    }

    /// Where everybody stands when nobody can move; or the fault that prevented a start.
    fn last_line(&self, processes: &[Process], digits: usize) -> Option<Line> {
        match self.ending? {
            Ending::Fault(_) => None,
            Ending::Cycle | Ending::Settled | Ending::Met { .. } => None,
            Ending::InvalidEnd => {
                let system = self.interp.system();
                let state = self.before(self.steps.len());
                let mut line = Line { label: "✗".to_string(), ..Line::empty(processes.len()) };
                for (c, (pid, proctype)) in processes.iter().enumerate() {
                    if (*pid as usize) >= state.n_procs() || state.proctype(*pid) != *proctype {
                        continue;
                    }
                    let t = &system.proctypes[*proctype];
                    let at = &t.locs[state.loc(*pid)];
                    line.cells[c] = if state.loc(*pid) == t.end {
                        "(ended)".to_string()
                    } else {
                        let word = if at.end { "(may end here)" } else { "(blocked)" };
                        format!("{:>w$}  {word}", wording::line(system, at.span), w = digits)
                    };
                }
                line.mark = Some("no process can move".to_string());
                Some(line)
            }
        }
    }

    /// One step a line, changes at its end, or below it where there is no room.
    fn narrow(&self, told: &[(Row, Vec<Change>)], screen: Screen) -> String {
        let system = self.interp.system();
        let stream = Stream::new(system, screen);
        let mut out = stream.header();
        for (row, changes) in told {
            let after = self.before(row.range().end);
            let change = |c| wording::change(self.interp, after, c);
            let changes: Vec<String> =
                changes.iter().map(|c| format!("{}: {}", printable(&c.name), change(c))).collect();
            let gutter = self.gutter(*row);
            match *row {
                Row::One(i) => {
                    let cells = self.cells(i);
                    let cells: Vec<_> = cells
                        .into_iter()
                        .map(|(p, line, text)| (wording::process(system, p.1, p.0), line, text))
                        .collect();
                    out.push_str(&stream.row(gutter, &(i + 1).to_string(), &cells, &changes, self.marks(i).as_deref()));
                    if self.full {
                        for text in self.printed(i) {
                            let _ = writeln!(out, "{gutter}       prints  {text}");
                        }
                    }
                }
                Row::Folded { .. } | Row::Rounds { .. } => {
                    let moving = self.moving(row.range());
                    let cell = |(nth, (pid, proctype)): (usize, &Process)| {
                        let text = if nth == 0 { steps(*row) } else { "…".to_string() };
                        (wording::process(system, *proctype, *pid), String::new(), text)
                    };
                    let cells: Vec<_> = moving.iter().enumerate().map(cell).collect();
                    out.push_str(&stream.row(gutter, "…", &cells, &changes, None));
                }
                Row::LeftOut { from, to } => {
                    let _ = writeln!(out, "{gutter}    …  {} left out (-v shows them)", plural(to - from, "step"));
                }
            }
        }
        if matches!(self.ending, Some(Ending::InvalidEnd)) {
            let _ = writeln!(out, "    {}", screen.paint.bad("✗  no process can move"));
        }
        out
    }
}

struct Grid {
    header: Vec<String>,
    n_processes: usize,
    lines: Vec<Line>,
    loops: bool,
}

#[derive(Default)]
struct Line {
    gutter: &'static str,
    label: String,
    /// Of processes, then of variables.
    cells: Vec<String>,
    /// Instead of the variables' cells if there are none, else after them.
    mark: Option<String>,
    /// Instead of all cells.
    note: Option<String>,
}

impl Line {
    fn empty(n_processes: usize) -> Line {
        Line { cells: vec![String::new(); n_processes], ..Line::default() }
    }

    fn changes(&mut self, variables: &[(String, Value)], changes: &[Change], show: impl Fn(&Change) -> String) {
        if self.note.is_some() || changes.is_empty() && self.mark.is_some() {
            return;
        }
        self.cells.extend(variables.iter().map(|(name, _)| match changes.iter().find(|c| c.name == *name) {
            Some(c) => clip(&show(c), CLIP_VALUE),
            None => "·".to_string(),
        }));
    }
}

impl Grid {
    fn widths(&self) -> Vec<usize> {
        let mut widths: Vec<usize> = self.header.iter().map(|h| width(h)).collect();
        for line in &self.lines {
            for (w, cell) in widths.iter_mut().zip(&line.cells) {
                *w = (*w).max(width(cell));
            }
        }
        widths
    }

    /// Columns of the step's number.
    fn label_width(&self) -> usize {
        self.lines.iter().map(|l| width(&l.label)).max().unwrap_or(0).max(5)
    }

    fn gutter_width(&self) -> usize {
        if self.loops { 4 } else { 0 }
    }

    fn margin(&self) -> usize {
        self.gutter_width() + self.label_width() + 2
    }

    fn width(&self) -> usize {
        let widths = self.widths();
        let columns: usize = self.margin() + widths.iter().map(|w| w + 2).sum::<usize>();
        let after_processes: usize = self.margin() + widths[..self.n_processes].iter().map(|w| w + 2).sum::<usize>();
        let marks = self.lines.iter().filter_map(|l| {
            let at = if l.cells.len() > self.n_processes { columns } else { after_processes };
            l.mark.as_ref().map(|m| at + width(m))
        });
        marks.max().unwrap_or(0).max(columns.saturating_sub(2))
    }

    fn render(&self, paint: Paint) -> String {
        let widths = self.widths();
        let (gutter, label) = (self.gutter_width(), self.label_width());
        let mut out = String::new();
        let mut head = format!("{:gutter$}{:>label$}  ", "", "step");
        for (h, w) in self.header.iter().zip(&widths) {
            head.push_str(&pad(h, w + 2));
        }
        out.push_str(&paint.bold(head.trim_end()));
        out.push('\n');
        for line in &self.lines {
            let mut text = format!("{}{:>label$}  ", pad(line.gutter, gutter), line.label);
            match &line.note {
                Some(note) => text.push_str(&paint.dim(note)),
                None => {
                    for (cell, w) in line.cells.iter().zip(&widths) {
                        let padded = pad(cell, w + 2);
                        text.push_str(&if cell == "·" { paint.dim(&padded) } else { padded });
                    }
                }
            }
            if let Some(mark) = &line.mark {
                text.push_str(&paint.bad(mark));
            }
            out.push_str(text.trim_end());
            out.push('\n');
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    fn show(interp: &Interp, run: &(State, Vec<TraceStep>), ending: Option<&Ending>, width: usize) -> String {
        let run = Run { interp, initial: &run.0, steps: &run.1, cycle_start: None, ending, full: false };
        run.render(Screen { paint: Paint::OFF, paint_errors: Paint::OFF, width })
    }

    /// Worker 1, then 0, 1, 1, 0, 0, 1: both are inside.
    fn both_inside() -> (Interp, (State, Vec<TraceStep>)) {
        let interp = samples::lock();
        let run = samples::moves_of(&interp, &[1, 0, 1, 1, 0, 0, 1].map(Some));
        (interp, run)
    }

    #[test]
    fn a_column_per_process_and_per_variable_that_changes() {
        let (interp, run) = both_inside();
        let expected = "\
\x20step  worker[0]          worker[1]                  locked        critical
    0  (start)            (start)                    false         0
    1                      7  !locked                ·             ·
    2   7  !locked                                   ·             ·
    3                      8  locked = true          false → true  ·
    4                      9  critical++             ·             0 → 1
    5   8  locked = true                             ·             ·
    6   9  critical++                                ·             1 → 2
    7                     10  assert(critical == 1)  ✗ critical is 2
";
        assert_eq!(show(&interp, &run, None, 100), expected);
    }

    #[test]
    fn a_narrow_screen_gets_one_step_a_line() {
        let (interp, run) = both_inside();
        let text = show(&interp, &run, None, 60);
        assert!(text.starts_with(" step  process"), "{text}");
        assert!(text.contains("locked: false → true"), "{text}");
        assert!(text.contains("✗ critical is 2"), "{text}");
        assert!(text.lines().all(|l| width(l) <= 60), "{text}");
    }

    #[test]
    fn a_handshake_is_one_row_with_both_halves() {
        let interp = samples::handshake();
        let run = samples::first_moves(&interp, 1);
        let text = show(&interp, &run, None, 100);
        let row = text.lines().find(|l| l.contains("c!3")).unwrap_or_else(|| panic!("{text}"));
        assert!(row.contains("3  c!3 →") && row.contains("4  → c?x") && row.contains("0 → 3"), "{row}");
    }

    #[test]
    fn a_long_stretch_of_one_process_is_folded_with_what_it_came_to() {
        let interp = samples::lock();
        let run = samples::moves_of(&interp, &[Some(0); 40]);
        let text = show(&interp, &run, None, 100);
        assert!(text.contains("… 34 steps"), "{text}");
        assert_eq!(text.lines().count(), 1 + 1 + 3 + 1 + 3);
        let full = Run { interp: &interp, initial: &run.0, steps: &run.1, cycle_start: None, ending: None, full: true };
        let full = full.render(Screen { paint: Paint::OFF, paint_errors: Paint::OFF, width: 100 });
        assert_eq!(full.lines().count(), 42);
    }

    /// Worker 1 goes round once, then both of them in turn; the steps of the last row are as many as are shown above it.
    #[test]
    fn what_several_do_again_and_again_is_folded_between_the_first_round_and_the_last() {
        let interp = samples::lock();
        let picks = [vec![1; 6], [vec![0; 6], vec![1; 6]].concat().repeat(20), vec![0; 2]].concat();
        let run = samples::moves_of(&interp, &picks.into_iter().map(Some).collect::<Vec<_>>());
        let text = show(&interp, &run, None, 100);
        assert!(text.contains("    …") && text.contains("… 18 × 12 steps"), "{text}");
        let labels = |text: &str| -> Vec<String> {
            text.lines()
                .map(|l| l.chars().take(5).collect::<String>().trim().to_string())
                .filter(|l| l != "step")
                .collect()
        };
        let expected = (0..=12).map(|n| n.to_string()).chain(["…".to_string()]);
        let expected: Vec<String> = expected.chain((229..=248).map(|n| n.to_string())).collect();
        assert_eq!(labels(&text), expected, "{text}");
        // What is a cycle from the second round on keeps its beginning.
        let screen = Screen { paint: Paint::OFF, paint_errors: Paint::OFF, width: 100 };
        let (initial, steps) = (&run.0, &run.1);
        for start in [5, 6, 7, 17, 100, 240] {
            let lasso = Run { interp: &interp, initial, steps, cycle_start: Some(start), ending: None, full: false };
            let rows = lasso.rows();
            assert!(rows.iter().any(|row| row.range().start == start), "{start}");
            let shown: Vec<usize> = rows.iter().flat_map(|row| row.range()).collect();
            assert_eq!(shown, (0..steps.len()).collect::<Vec<_>>(), "each step is in one row");
            assert!(lasso.render(screen).lines().count() < 70);
        }
    }

    #[test]
    fn a_lasso_is_drawn_as_a_loop() {
        let interp = samples::lock();
        let run = samples::moves_of(&interp, &[Some(0); 6]);
        let lasso =
            Run { interp: &interp, initial: &run.0, steps: &run.1, cycle_start: Some(2), ending: None, full: false };
        let text = lasso.render(Screen { paint: Paint::OFF, paint_errors: Paint::OFF, width: 100 });
        let starts: Vec<String> = text.lines().map(|l| l.chars().take(4).collect()).collect();
        assert_eq!(starts, ["    ", "    ", "    ", "    ", " ┌─>", " │  ", " │  ", " └──"], "{text}");
    }

    #[test]
    fn an_invalid_end_shows_where_everybody_stands() {
        let (interp, run) = both_inside();
        let text = show(&interp, &run, Some(&Ending::InvalidEnd), 120);
        assert!(text.contains("    ✗") && text.contains("(blocked)") && text.contains("no process can move"), "{text}");
    }

    #[test]
    fn a_very_long_trace_shows_its_two_ends() {
        let interp = samples::lock();
        let mut picks = Vec::new();
        // Nothing comes three times in a row here (Thue and Morse).
        for n in 0..600u16 {
            picks.extend([Some((n.count_ones() % 2) as u8); 6]);
        }
        let run = samples::moves_of(&interp, &picks);
        let text = show(&interp, &run, None, 100);
        assert!(text.contains("left out (-v shows them)"), "{text}");
        let (initial, steps, cycle_start) = (&run.0, &run.1, Some(1_000));
        let lasso = Run { interp: &interp, initial, steps, cycle_start, ending: None, full: false };
        let drawn = lasso.render(Screen { paint: Paint::OFF, paint_errors: Paint::OFF, width: 100 });
        let begins: Vec<&str> = drawn.lines().filter(|l| l.starts_with(" ┌─>")).collect();
        assert!(matches!(begins[..], [row] if row.contains("left out")), "{drawn}");
        assert!(text.lines().count() < 2 * MAX_ROWS + 10);
    }
}
