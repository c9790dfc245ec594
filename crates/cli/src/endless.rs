//! What is said about a run that breaks a formula: what was needed, and how its parts fare along the run.

use crate::front::Formula;
use crate::screen::{Screen, clip, pad, printable, width};
use spinor_check::cycles::answer::valuations;
use spinor_check::trace::{Ending, Trace};
use spinor_ltl::{Formula as Ltl, PropId, eval_lasso};
use spinor_model::interp::Interp;
use std::fmt::Write as _;

/// More parts of a formula than this are not shown; nor are longer texts of them.
const MAX_PARTS: usize = 8;
const CLIP_PART: usize = 40;

pub struct Broken<'a> {
    pub interp: &'a Interp,
    pub formula: &'a Formula,
    pub trace: &'a Trace,
}

impl Broken<'_> {
    fn prop(&self, p: PropId) -> String {
        printable(self.formula.says.get(p.0 as usize).map_or("", |text| text.as_str()))
    }

    fn text(&self, f: &Ltl) -> String {
        f.text(&|p| self.prop(p))
    }

    /// `needed: done at some time.  Found: a run that repeats for ever without it.`
    pub fn needed(&self) -> String {
        let text = |f: &Ltl| self.text(f);
        let ends = self.trace.cycle_start == Some(self.trace.steps.len());
        let run = if ends { "a run that ends" } else { "a run that repeats for ever" };
        let (needed, found) = match &self.formula.formula {
            Ltl::Eventually(p) => match &**p {
                Ltl::Always(p) => {
                    (format!("from some time on always {}", text(p)), format!("{run} and breaks it again and again"))
                }
                p => (format!("{} at some time", text(p)), format!("{run} without it")),
            },
            Ltl::Always(always) => match &**always {
                Ltl::Eventually(p) => (format!("{} again and again", text(p)), format!("{run} and has it no more")),
                Ltl::Implies(p, q) => match &**q {
                    Ltl::Eventually(q) => (
                        format!("whenever {}, at some later time {}", text(p), text(q)),
                        format!("{run} and does not answer one"),
                    ),
                    _ => (format!("{} always", text(always)), self.last()),
                },
                p => (format!("{} always", text(p)), self.last()),
            },
            _ => ("the formula on every run".to_string(), run.to_string()),
        };
        let found = if self.is_settled() { self.last() } else { found };
        format!("needed: {needed}.  Found: {found}.")
    }

    fn is_settled(&self) -> bool {
        self.trace.ending == Ending::Settled
    }

    fn last(&self) -> String {
        match self.trace.looks.last() {
            Some(0) => "it is broken at the start".to_string(),
            Some(n) if self.is_settled() => format!("it is broken after step {n}"),
            _ => "a run that breaks it".to_string(),
        }
    }

    /// The values of the formula and its parts, one column for each state that was looked at.
    pub fn values(&self, screen: Screen) -> String {
        let (stem, cycle) = valuations(self.interp, &self.formula.props, self.trace);
        let settled = cycle.is_empty();
        let states: Vec<_> = stem.iter().chain(&cycle).cloned().collect();
        let Some(last) = states.last().cloned() else { return String::new() };
        let n = states.len();
        let values = if settled {
            // However it goes on; only the propositions are shown then.
            eval_lasso(&self.formula.formula, &states, &[last])
        } else {
            eval_lasso(&self.formula.formula, &stem, &cycle)
        };
        let is_prop = |f: &Ltl| matches!(f, Ltl::Prop(_));
        let wanted = values.rows.iter().rev().filter(|(f, _)| !settled || is_prop(f));
        let rows: Vec<(String, &Vec<bool>)> =
            wanted.take(MAX_PARTS).map(|(f, v)| (clip(&self.text(f), CLIP_PART), v)).collect();
        let names = rows.iter().map(|(name, _)| width(name)).max().unwrap_or(0).max(8);
        let steps: Vec<String> = self.trace.looks.iter().take(n).map(|n| n.to_string()).collect();
        let column = steps.iter().map(|s| width(s)).max().unwrap_or(1) + 1;
        let repeats = if settled { "" } else { "  (repeats)" };
        let room = screen.width.saturating_sub(10 + names + 2 + width(repeats) + 2) / column;
        let from = n.saturating_sub(room.max(1));
        let dots = if from > 0 { "…" } else { " " };
        let mut out = String::new();
        let heads = steps[from..].iter().fold(String::new(), |line, s| line + &format!("{s:>column$}"));
        let _ = writeln!(out, " formula  {}  {dots}{heads}", pad("at step", names));
        for (n, (name, row)) in rows.iter().enumerate() {
            let cells = row[from..steps.len()]
                .iter()
                .fold(String::new(), |line, is| line + &format!("{:>column$}", if *is { "T" } else { "F" }));
            let repeats = if n == 0 { repeats } else { "" };
            let _ = writeln!(out, "          {}  {dots}{cells}{repeats}", pad(name, names));
        }
        out
    }
}
