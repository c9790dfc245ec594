//! Saved runs: SPIN's `.trail` rows, our JSON, and the way back from either to a run.
//!
//! A row `d:p:s` says that process `p` did the statement numbered `s`; `d` only counts. A handshake is two rows, the
//! send and then the receive; a `d_step` is one. Rows with a negative first number are remarks:
//!
//! | row | meaning |
//! |---|---|
//! | `-2:N:-2` | a claim runs along: process 0 is the claim, and everybody's number is one higher |
//! | `-4:-4:-4` | statements were merged: a row may stand for several statements of one process |
//! | `-1:-1:-1` | the part that repeats begins with the next row |
//!
//! We write one row per statement, which SPIN replays without a remark. When reading a merged trail, statements
//! nobody mentions are filled in where the process has no other choice.

use crate::json::Json;
use crate::screen::clip;
use crate::wording;
use spinor_check::trace::{Ending, TraceStep};
use spinor_model::interp::{Floor, Interp};
use spinor_model::ir::{Pid, System};
use spinor_model::state::State;
use spinor_model::successors::{Step, Successors};
use std::fmt::Write as _;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Row {
    /// Where it stands, from 1: a line of the file, or a number in the list of steps.
    pub number: usize,
    pub pid: i64,
    pub stmt: i64,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Trail {
    pub rows: Vec<Row>,
    pub merged: bool,
    /// Index into `rows`.
    pub cycle_start: Option<usize>,
    /// What a row is called in messages: `line` of a trail, `step` of our JSON.
    pub unit: &'static str,
}

/// A run made again.
pub struct Replayed {
    pub initial: State,
    pub steps: Vec<TraceStep>,
    pub cycle_start: Option<usize>,
    /// `None`: nothing is wrong with the state it ends in.
    pub ending: Option<Ending>,
    /// Statements filled in that no row mentions.
    pub n_filled: usize,
}

/// SPIN's text of a run.
pub fn write(system: &System, initial: &State, steps: &[TraceStep], cycle_start: Option<usize>) -> String {
    let mut out = String::new();
    let mut depth = 0;
    for (i, step) in steps.iter().enumerate() {
        if cycle_start == Some(i) {
            out.push_str("-1:-1:-1\n");
        }
        let mut row = |pid: Pid, stmt: u32| {
            depth += 1;
            let _ = writeln!(out, "{depth}:{pid}:{stmt}");
        };
        row(step.step.pid, wording::edge(system, step.proctype, step.step.edge).stmt);
        if let Some((pid, half)) = step.step.partner {
            let before = if i == 0 { initial } else { &steps[i - 1].state };
            row(pid, wording::edge(system, before.proctype(pid), half).stmt);
        }
    }
    out
}

/// Of a line that is wrong, so much is shown.
const SHOWN: usize = 60;

/// Reads a `.trail`. The message names the line that is wrong.
pub fn read(text: &str) -> Result<Trail, String> {
    let mut trail = Trail { unit: "line", ..Trail::default() };
    let mut claim = false;
    for (number, line) in text.lines().enumerate().map(|(i, l)| (i + 1, l.trim())) {
        if line.is_empty() {
            continue;
        }
        let parts: Option<Vec<i64>> = line.split(':').map(|part| part.trim().parse().ok()).collect();
        let Some([depth, pid, stmt]) = parts.as_deref() else {
            let shown = clip(line, SHOWN);
            return Err(format!("line {number} of the trail, `{shown}`, is not of the form `depth:process:statement`"));
        };
        match depth {
            -1 => trail.cycle_start = Some(trail.rows.len()),
            -2 => claim = true,
            -4 => trail.merged = true,
            ..0 => {
                return Err(format!(
                    "line {number} of the trail, `{line}`: a trail of a permuted search cannot be replayed"
                ));
            }
            // The claim's own moves change nothing.
            _ if claim && *pid == 0 => {}
            _ => trail.rows.push(Row { number, pid: pid - i64::from(claim), stmt: *stmt }),
        }
    }
    Ok(trail)
}

/// Reads the steps of our JSON.
pub fn read_json(trace: &Json) -> Result<Trail, String> {
    let steps = trace.get("steps").and_then(Json::as_list).ok_or("it has no list of `steps`")?;
    let mut trail = Trail { unit: "step", ..Trail::default() };
    let cycle = trace.get("cycle_start").and_then(Json::as_int);
    for (i, step) in steps.iter().enumerate() {
        let mut push = |half: &Json| {
            let number =
                |key: &str| half.get(key).and_then(Json::as_int).ok_or(format!("step {} has no number `{key}`", i + 1));
            trail.rows.push(Row { number: i + 1, pid: number("pid")?, stmt: number("stmt")? });
            Ok::<(), String>(())
        };
        if cycle == Some(i as i64) {
            trail.cycle_start = Some(i);
        }
        push(step)?;
        if let Some(partner @ Json::Object(_)) = step.get("partner") {
            push(partner)?;
        }
    }
    // The cycle was given as a step; rows are counted here.
    if let Some(step) = trail.cycle_start {
        trail.cycle_start = trail.rows.iter().position(|r| r.number == step + 1);
    }
    Ok(trail)
}

/// Makes the run that the rows name. The message names the row that does not fit.
pub fn replay(interp: &Interp, trail: &Trail) -> Result<Replayed, String> {
    let initial = interp.initial().map_err(|f| format!("the initial state cannot be made: {}", f.kind))?;
    let mut run = Rerun { interp, state: initial.clone(), floor: Floor::Anyone, steps: Vec::new(), over: false };
    let mut cycle_start = None;
    let mut n_filled = 0;
    let mut rows = trail.rows.iter().enumerate().peekable();
    while let Some((i, row)) = rows.next() {
        if trail.cycle_start == Some(i) {
            cycle_start = Some(run.steps.len());
        }
        let next = rows.peek().map(|(_, r)| **r);
        let mut step = run.find(*row, next);
        // A merged trail leaves out what has no alternative.
        let mut n_here = 0;
        while step.is_none() && trail.merged && !run.over && n_here < MAX_FILLED {
            let Some(only) = run.only_choice(row.pid) else { break };
            run.take(only);
            n_here += 1;
            step = run.find(*row, next);
        }
        n_filled += n_here;
        let Some(step) = step else { return Err(run.misfit(trail, *row)) };
        if step.partner.is_some() {
            rows.next();
        }
        run.take(step);
    }
    if trail.merged && run.ending().is_none() {
        n_filled += run.finish_last_row();
    }
    let ending = run.ending();
    Ok(Replayed { initial, steps: run.steps, cycle_start, ending, n_filled })
}

/// No merged row stands for more statements than this.
const MAX_FILLED: usize = 1000;

struct Rerun<'a> {
    interp: &'a Interp,
    state: State,
    floor: Floor,
    steps: Vec<TraceStep>,
    /// A fatal fault ended it.
    over: bool,
}

impl Rerun<'_> {
    fn moves(&self) -> Vec<Step> {
        let mut out = Vec::new();
        if !self.over {
            self.interp.moves(&self.state, self.floor, &mut out);
        }
        out
    }

    fn ending(&self) -> Option<Ending> {
        match self.steps.last().and_then(|s| s.faults.last()) {
            Some(fault) => Some(Ending::Fault(fault.clone())),
            None if self.moves().is_empty() && !self.interp.may_end(&self.state) => Some(Ending::InvalidEnd),
            None => None,
        }
    }

    /// The last row of a merged trail may stand for the statement that fails, further on. If what the process has
    /// no choice about leads to a fault, that was it; if not, nothing is added.
    fn finish_last_row(&mut self) -> usize {
        let Some(pid) = self.steps.last().map(|s| i64::from(s.step.pid)) else { return 0 };
        let (state, floor, n) = (self.state.clone(), self.floor, self.steps.len());
        for filled in 1..=MAX_FILLED {
            let Some(only) = self.only_choice(pid) else { break };
            self.take(only);
            if self.steps.last().is_some_and(|s| !s.faults.is_empty()) {
                return filled;
            }
        }
        (self.state, self.floor, self.over) = (state, floor, false);
        self.steps.truncate(n);
        0
    }

    fn stmt(&self, pid: Pid, edge: spinor_model::ir::EdgeId) -> i64 {
        i64::from(wording::edge(self.interp.system(), self.state.proctype(pid), edge).stmt)
    }

    /// The move a row names; of a handshake the next row names the other half.
    fn find(&self, row: Row, next: Option<Row>) -> Option<Step> {
        let fits = |row: Row, pid: Pid, edge| row.pid == i64::from(pid) && row.stmt == self.stmt(pid, edge);
        self.moves().into_iter().find(|step| {
            fits(row, step.pid, step.edge)
                && match step.partner {
                    Some((pid, half)) => next.is_some_and(|next| fits(next, pid, half)),
                    None => true,
                }
        })
    }

    /// The one thing the process in question can do: who holds the floor, or else the process of the row.
    fn only_choice(&self, pid: i64) -> Option<Step> {
        let pid = match self.floor {
            Floor::Only(pid) => i64::from(pid),
            Floor::Anyone => pid,
        };
        let mut own = self.moves().into_iter().filter(|s| i64::from(s.pid) == pid);
        match (own.next(), own.next()) {
            (Some(step), None) if step.partner.is_none() => Some(step),
            _ => None,
        }
    }

    fn take(&mut self, step: Step) {
        let proctype = self.state.proctype(step.pid);
        let (taken, floor) = TraceStep::take(self.interp, &mut self.state, step);
        self.over = floor.is_none();
        self.floor = floor.unwrap_or(Floor::Anyone);
        debug_assert_eq!(taken.proctype, proctype);
        self.steps.push(taken);
    }

    fn misfit(&self, trail: &Trail, row: Row) -> String {
        let system = self.interp.system();
        let at = format!("{} {} of the trace (process {}, statement {})", trail.unit, row.number, row.pid, row.stmt);
        if self.over {
            return format!("{at} comes after a step that cannot be completed");
        }
        let Some(pid) = Pid::try_from(row.pid).ok().filter(|p| (*p as usize) < self.state.n_procs()) else {
            return format!("{at}: there is no such process here");
        };
        let t = self.state.proctype(pid);
        let name = wording::process(system, t, pid);
        let here = wording::line(system, system.proctypes[t].locs[self.state.loc(pid)].span);
        let edges = &system.proctypes[t].edges;
        match edges.iter().find(|e| i64::from(e.stmt) == row.stmt) {
            Some(e) => {
                let what = format!("`{}` at line {}", wording::statement(system, e), wording::line(system, e.span));
                format!("{at} does not fit the model: {name} stands at line {here} and cannot do {what} now")
            }
            None => format!("{at} does not fit the model: {name} has no such statement"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    fn rows_of(text: &str) -> Vec<(i64, i64)> {
        read(text).unwrap().rows.iter().map(|r| (r.pid, r.stmt)).collect()
    }

    #[test]
    fn rows_are_read_and_remarks_understood() {
        let trail = read("-4:-4:-4\n1:0:3\n-1:-1:-1\n2:1:4\n").unwrap();
        assert!(trail.merged);
        assert_eq!(trail.cycle_start, Some(1));
        assert_eq!(rows_of("-2:3:-2\n1:0:9\n2:2:4\n"), [(1, 4)]);
        assert!(read("1:2\n").unwrap_err().contains("line 1"));
        assert!(read("1:2:3\n1:x:3\n").unwrap_err().contains("line 2"));
        assert!(read("-5:1:1\n").unwrap_err().contains("permuted"));
        assert!(read("").unwrap().rows.is_empty());
    }

    #[test]
    fn a_run_written_and_read_is_the_same_run() {
        let interp = samples::handshake();
        let run = samples::first_moves(&interp, 4);
        let text = write(interp.system(), &run.0, &run.1, None);
        assert_eq!(text, "1:0:0\n2:1:2\n3:1:3\n4:1:4\n5:0:1\n");
        let again = replay(&interp, &read(&text).unwrap()).unwrap_or_else(|e| panic!("{e}"));
        let steps = |s: &[TraceStep]| s.iter().map(|s| s.step).collect::<Vec<_>>();
        assert_eq!(steps(&again.steps), steps(&run.1));
        assert_eq!(again.ending, None);
    }

    #[test]
    fn a_row_that_does_not_fit_is_named() {
        let interp = samples::handshake();
        let wrong = |text: &str| match replay(&interp, &read(text).unwrap()) {
            Ok(_) => panic!("{text} fits"),
            Err(message) => message,
        };
        assert!(wrong("1:7:0\n").contains("line 1 of the trace (process 7, statement 0): there is no such process"));
        assert!(wrong("1:0:0\n2:1:2\n3:0:0\n").contains("line 3 of the trace"));
        assert!(wrong("1:0:0\n").contains("cannot do `c!3`"), "half a handshake is not a step");
    }

    #[test]
    fn a_merged_trail_may_leave_out_what_has_no_alternative() {
        let interp = samples::handshake();
        let run = replay(&interp, &read("-4:-4:-4\n1:0:0\n2:1:2\n3:1:4\n4:0:1\n").unwrap());
        assert_eq!(run.unwrap_or_else(|e| panic!("{e}")).n_filled, 1);
        assert!(replay(&interp, &read("1:0:0\n2:1:2\n3:1:4\n4:0:1\n").unwrap()).is_err(), "only if it says so");
    }
}
