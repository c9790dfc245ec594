//! Why it happened, in sentences.
//!
//! Everything said here is read off the trace and the system: who wrote the values that an assertion read, whose
//! test had gone stale by the time it was used, what each process of a deadlock waits for and who could supply
//! it (`explain/deadlock.rs`). A sentence may leave something out; none may say what is not so.

mod deadlock;

use crate::trace::{Ending, Trace, TraceStep, process_name};
use deadlock::{left_over, stuck};
use spinor_model::fault::{Fault, FaultKind};
use spinor_model::interp::Interp;
use spinor_model::ir::{BinOp, Edge, EdgeId, Effect, Expr, Guard, Pid, Place, ProctypeId, Scope, System, Type};
use spinor_model::state::State;
use spinor_model::successors::Successors;
use std::collections::{BTreeMap, BTreeSet};

/// More writers, tests or options than this are left out.
const MOST: usize = 4;

/// What was violated, in one line.
pub fn what(interp: &Interp, trace: &Trace) -> String {
    let system = interp.system();
    match &trace.ending {
        Ending::Fault(Fault { kind, at: Some((_, proctype, edge)) }) => {
            format!("{kind}: {}", statement(system, *proctype, *edge))
        }
        Ending::Fault(Fault { kind, at: None }) => format!("{kind}, while the initial state was made"),
        Ending::Cycle if trace.cycle_start == Some(trace.steps.len()) => "a run that ends breaks it".to_string(),
        Ending::Cycle => "a run that repeats for ever breaks it".to_string(),
        Ending::Settled => "it is broken, however the run goes on".to_string(),
        Ending::Met { what, .. } => what.clone(),
        Ending::InvalidEnd => {
            let Some(state) = trace.last_state() else { return "invalid end state".to_string() };
            let stuck: Vec<String> = stuck(system, state).map(|p| process_name(system, state, p)).collect();
            match stuck.len() {
                0 if !left_over(interp, state).is_empty() => {
                    format!("invalid end state: {}", join(&left_over(interp, state)))
                }
                0 => "invalid end state: the trace assertion is not at its end".to_string(),
                _ => format!("invalid end state: {} cannot go on", join(&stuck)),
            }
        }
    }
}

/// The lines of the "why" text; never empty.
pub fn why(interp: &Interp, trace: &Trace) -> Vec<String> {
    let story = Story { interp, system: interp.system(), trace };
    let lines = match &trace.ending {
        Ending::InvalidEnd => story.deadlock(),
        Ending::Cycle => story.cycle(),
        Ending::Settled => story.settled(),
        Ending::Met { why, .. } => why.clone(),
        Ending::Fault(fault) => match (&fault.kind, fault.at) {
            (FaultKind::Assertion, Some((pid, proctype, edge))) => story.assertion(pid, proctype, edge),
            (kind, Some((pid, proctype, edge))) => story.fault(kind, pid, proctype, edge),
            (kind, None) => vec![format!("{kind}: an initial value could not be computed.")],
        },
    };
    debug_assert!(!lines.is_empty() && !lines.iter().any(String::is_empty), "something is said");
    lines
}

/// The text of an edge, as its author wrote it.
pub fn statement(system: &System, proctype: ProctypeId, edge: EdgeId) -> String {
    let span = system.proctypes[proctype].edges[edge].span;
    match system.sources.files.get(span.file) {
        Some(_) => system.sources.one_line(span),
        None => format!("{}.{edge}", system.proctypes[proctype].name),
    }
}

struct Story<'a> {
    interp: &'a Interp,
    system: &'a System,
    trace: &'a Trace,
}

/// A slot that somebody can write.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Cell {
    Global(usize),
    Local(Pid, usize),
}

/// What a process does in a cycle.
struct Part {
    pid: Pid,
    name: String,
    moves: bool,
    /// It has a part in handshakes of others, which are their moves.
    receives: bool,
    /// In how many of the states it is able to move.
    able: usize,
}

impl Story<'_> {
    // ---- runs that never end

    fn settled(&self) -> Vec<String> {
        vec![format!(
            "After step {} the violation is certain: nothing that comes later can mend it.",
            self.trace.looks.last().copied().unwrap_or(0)
        )]
    }

    /// Who moves in the cycle and who could, and what fairness would say to it.
    fn cycle(&self) -> Vec<String> {
        let start = self.trace.cycle_start.unwrap_or(0);
        if start == self.trace.steps.len() {
            return vec!["The run has ended, and its last state counts as if it were repeated for ever.".to_string()];
        }
        // All states in which somebody else may be next, also those that the search passed in one step.
        let steps = &self.trace.steps;
        let looked: BTreeSet<usize> = self.trace.looks.iter().copied().collect();
        let anybody = |n: &usize| *n == start || looked.contains(n) || steps[n - 1].floor.is_none();
        let looks: Vec<usize> = (start..steps.len()).filter(anybody).collect();
        let mut parts: Vec<Part> = Vec::new();
        for n in &looks {
            let Some(state) = self.trace.before(*n) else { continue };
            let mut steps = Vec::new();
            self.interp.enabled(&mut state.clone(), &mut steps);
            for pid in 0..state.n_procs() as Pid {
                let name = process_name(self.system, state, pid);
                let part = match parts.iter_mut().position(|p| p.pid == pid && p.name == name) {
                    Some(at) => &mut parts[at],
                    None => {
                        parts.push(Part { pid, name, moves: false, receives: false, able: 0 });
                        parts.last_mut().expect("just pushed")
                    }
                };
                part.able += usize::from(steps.iter().any(|s| s.pid == pid));
            }
        }
        for step in &self.trace.steps[start..] {
            parts.iter_mut().filter(|p| p.pid == step.step.pid).for_each(|p| p.moves = true);
            let partner = step.step.partner.map(|(pid, _)| pid);
            parts.iter_mut().filter(|p| partner == Some(p.pid)).for_each(|p| p.receives = true);
        }
        parts.sort_by_key(|p| p.pid);
        debug_assert!(parts.iter().any(|p| p.moves), "somebody moves in a cycle");
        debug_assert!(parts.iter().all(|p| p.able <= looks.len()), "who is able to move is so in some of the states");
        let names = |parts: Vec<&Part>| join(&parts.iter().map(|p| p.name.clone()).collect::<Vec<_>>());
        let movers: Vec<&Part> = parts.iter().filter(|p| p.moves).collect();
        let mut lines =
            vec![format!("{} {} in the cycle.", names(movers.clone()), verb(movers.len(), "moves", "move"))];
        let receivers: Vec<&Part> = parts.iter().filter(|p| !p.moves && p.receives).collect();
        if !receivers.is_empty() {
            let verb = verb(receivers.len(), "receives", "receive");
            lines.push(format!("{} {verb} there, which is the move of who sends.", names(receivers)));
        }
        for part in parts.iter().filter(|p| !p.moves && p.able > 0) {
            let all = looks.len();
            let itself = if part.receives { " by itself" } else { "" };
            lines.push(if part.able == all {
                format!("{} is able to move{itself} all the time and never does.", part.name)
            } else {
                format!("{} is able to move{itself} in {} of {all} states and never does.", part.name, part.able)
            });
        }
        let stand: Vec<&Part> = parts.iter().filter(|p| !p.moves && !p.receives && p.able == 0).collect();
        if !stand.is_empty() {
            lines.push(format!("{} {} not able to move there.", names(stand.clone()), verb(stand.len(), "is", "are")));
        }
        let waits = |all: bool| parts.iter().any(|p| !p.moves && p.able > 0 && (!all || p.able == looks.len()));
        lines.push(
            match (waits(true), waits(false)) {
                (true, _) => "Weak fairness would exclude this run, and so would strong fairness.",
                (false, true) => {
                    "Weak fairness keeps this run: nobody is able to move all the time and never does. \
                                  Strong fairness would exclude it."
                }
                (false, false) => "The run is fair, weakly and strongly: who never moves is never able to.",
            }
            .to_string(),
        );
        lines
    }

    // ---- assertions and other faults

    fn assertion(&self, pid: Pid, proctype: ProctypeId, edge: EdgeId) -> Vec<String> {
        let mut lines = Vec::new();
        let edge = &self.system.proctypes[proctype].edges[edge];
        let Some(state) = self.trace.last_state() else { return vec!["The assertion is false.".to_string()] };
        let asserted = edge.effects.iter().find_map(|e| match e {
            Effect::Assert(e) if self.interp.value(state, Some(pid), e) == Ok(0) => Some(e),
            _ => None,
        });
        let Some(asserted) = asserted else {
            return vec![format!("The assertion failed in step {}.", self.trace.steps.len())];
        };
        let cells = self.cells(state, pid, asserted);
        for cell in cells.iter().take(MOST) {
            lines.extend(self.origin(state, *cell));
        }
        lines.extend(self.broken_at(pid, proctype, asserted));
        let mut involved: BTreeSet<Pid> =
            cells.iter().flat_map(|c| self.writers(*c)).map(|n| self.step(n).step.pid).collect();
        involved.insert(pid);
        lines.extend(self.stale_tests(&involved));
        if lines.is_empty() {
            lines.push("The assertion reads no variable: it is false in every state.".to_string());
        }
        lines
    }

    /// `critical became 2: step 4 (worker[1]) and step 6 (worker[0]) wrote it.`
    fn origin(&self, state: &State, cell: Cell) -> Option<String> {
        let (name, value) = self.show(state, cell)?;
        let writers = self.writers(cell);
        // For each process its last write, in the order of the trace.
        let mut last: BTreeMap<Pid, usize> = BTreeMap::new();
        for n in writers {
            last.insert(self.step(n).step.pid, n);
        }
        let mut last: Vec<usize> = last.into_values().collect();
        last.sort();
        let after = last.last().map_or(self.trace.initial.as_ref(), |n| self.trace.before(*n));
        let left = after.and_then(|after| self.read(after, cell));
        debug_assert_eq!(left, self.read(state, cell), "who wrote it last left it as it is");
        let from = last.len().saturating_sub(MOST);
        Some(match &last[from..] {
            [] => format!("{name} is {value}, as at the start: no step wrote it."),
            [n] => format!("{name} became {value} at step {n} ({}: {}).", self.who(*n), self.text(*n)),
            several => {
                let several: Vec<String> = several.iter().map(|n| format!("step {n} ({})", self.who(*n))).collect();
                format!("{name} became {value}: {} wrote it.", join(&several))
            }
        })
    }

    /// The step after which the asserted expression was no longer true.
    fn broken_at(&self, pid: Pid, proctype: ProctypeId, asserted: &Expr) -> Option<String> {
        let held = |n: &usize| {
            self.trace.before(*n).is_some_and(|s| {
                (pid as usize) < s.n_procs()
                    && s.proctype(pid) == proctype
                    && self.interp.value(s, Some(pid), asserted).is_ok_and(|v| v != 0)
            })
        };
        let n = (self.born(pid)..self.trace.steps.len()).rev().find(held)? + 1;
        Some(format!("The asserted condition held until step {n} ({}: {}).", self.who(n), self.text(n)))
    }

    /// A process tested something; before it acted on the answer, another process made the answer wrong.
    fn stale_tests(&self, involved: &BTreeSet<Pid>) -> Vec<String> {
        let mut lines = Vec::new();
        for n in 1..=self.trace.steps.len() {
            let pid = self.step(n).step.pid;
            if !involved.contains(&pid) {
                continue;
            }
            let Some(before) = self.trace.before(n - 1) else { continue };
            let edge = &self.system.proctypes[self.step(n).proctype].edges[self.step(n).step.edge];
            // What it does next, if it does anything; whoever has its number later is somebody else.
            let is_there = |m: &usize| self.trace.before(*m - 1).is_some_and(|s| (pid as usize) < s.n_procs());
            let mut later = (n + 1..=self.trace.steps.len()).take_while(is_there);
            let Some(used) = later.find(|m| self.step(*m).step.pid == pid) else { continue };
            let Some(at_use) = self.trace.before(used - 1) else { continue };
            for guard in &edge.guards {
                let Guard::Holds(test) = guard else { continue };
                if self.interp.value(at_use, Some(pid), test) != Ok(0) {
                    continue;
                }
                for cell in self.cells(before, pid, test) {
                    let spoilt = (n + 1..used).rev().find(|m| self.changes(*m, cell) && self.step(*m).step.pid != pid);
                    if let Some(m) = spoilt
                        && let Some((name, value)) = self.show(at_use, cell)
                    {
                        let (tester, other, test) = (self.who(n), self.who(m), self.text(n));
                        lines.push(format!(
                            "{tester} tested {test} at step {n}; {other} set {name} to {value} at step {m}, \
                             before {tester} used the answer at step {used}."
                        ));
                    }
                }
            }
        }
        // The latest are the nearest to the failure.
        let from = lines.len().saturating_sub(MOST);
        lines.split_off(from)
    }

    fn fault(&self, kind: &FaultKind, pid: Pid, proctype: ProctypeId, edge_id: EdgeId) -> Vec<String> {
        let n = self.trace.steps.len();
        let edge = &self.system.proctypes[proctype].edges[edge_id];
        let name = &self.system.proctypes[proctype].name;
        let mut lines =
            vec![format!("{name}[{pid}] at step {n}, {}: {kind}.", statement(self.system, proctype, edge_id))];
        let Some(before) = n.checked_sub(1).and_then(|n| self.trace.before(n)) else { return lines };
        // Before it failed, the step may have written what it read then.
        let Some(state) = self.trace.last_state() else { return lines };
        if pid as usize >= before.n_procs().min(state.n_procs()) {
            return lines;
        }
        if let FaultKind::Promise { send, owner, .. } = kind
            && (*owner as usize) < before.n_procs()
        {
            let owner = process_name(self.system, before, *owner);
            let does = if *send { "send to" } else { "receive from" };
            lines.push(format!("{owner} declared that nobody else would {does} this channel."));
        }
        let mut culprits: Vec<&Expr> = Vec::new();
        edge.each_expr(&mut |e| {
            e.each_part(&mut |e| match (kind, e) {
                (FaultKind::IndexOutOfBounds { .. }, Expr::Read(p)) => p.each_expr(&mut |i| culprits.push(i)),
                (FaultKind::DivisionByZero, Expr::Binary(BinOp::Div | BinOp::Rem, _, by)) => culprits.push(by),
                (FaultKind::NoChannel { .. }, Expr::Read(p)) if p.ty == Type::Chan => culprits.push(e),
                _ => {}
            });
        });
        if let FaultKind::IndexOutOfBounds { .. } = kind {
            written(edge).iter().for_each(|p| p.each_expr(&mut |i| culprits.push(i)));
        }
        let cells: BTreeSet<Cell> = culprits.into_iter().flat_map(|e| self.cells(state, pid, e)).collect();
        for cell in cells.into_iter().take(MOST) {
            lines.extend(self.origin(state, cell));
        }
        lines
    }

    // ---- words

    fn step(&self, n: usize) -> &TraceStep {
        &self.trace.steps[n - 1]
    }

    /// `worker[1]`
    fn who(&self, n: usize) -> String {
        let step = self.step(n);
        format!("{}[{}]", self.system.proctypes[step.proctype].name, step.step.pid)
    }

    fn text(&self, n: usize) -> String {
        statement(self.system, self.step(n).proctype, self.step(n).step.edge)
    }

    fn line(&self, span: spinor_model::source::Span) -> String {
        self.system.sources.told(span).map_or(String::new(), |place| format!(" at {place}"))
    }

    fn nobody_or(&self, state: &State, who: &BTreeSet<Pid>) -> String {
        match who.is_empty() {
            true => "no other process".to_string(),
            false => join(&who.iter().map(|p| process_name(self.system, state, *p)).collect::<Vec<_>>()),
        }
    }

    /// `: x is 0, y is 2`
    fn values(&self, state: &State, pid: Pid, e: &Expr) -> String {
        let cells = self.cells(state, pid, e);
        let shown: Vec<String> = cells
            .iter()
            .take(MOST)
            .filter_map(|c| self.show(state, *c))
            .map(|(name, value)| format!("{name} is {value}"))
            .collect();
        if shown.is_empty() { String::new() } else { format!(" ({})", shown.join(", ")) }
    }

    fn show(&self, state: &State, cell: Cell) -> Option<(String, String)> {
        let value = self.read(state, cell)?;
        let (prefix, names, slot) = match cell {
            Cell::Global(slot) => (String::new(), self.system.globals.slot_names(), slot),
            Cell::Local(pid, slot) => {
                let frame = &self.system.proctypes[state.proctype(pid)].frame;
                (format!("{}.", process_name(self.system, state, pid)), frame.slot_names(), slot)
            }
        };
        let (name, ty) = names.get(slot)?;
        Some((format!("{prefix}{name}"), self.system.show(*ty, value)))
    }

    // ---- who reads and writes what

    fn read(&self, state: &State, cell: Cell) -> Option<i32> {
        match cell {
            Cell::Global(slot) => state.globals().get(slot).copied(),
            Cell::Local(pid, _) if pid as usize >= state.n_procs() => None,
            Cell::Local(pid, slot) => state.locals(self.system, pid).get(slot).copied(),
        }
    }

    /// The slots an expression reads, in the order it names them.
    fn cells(&self, state: &State, pid: Pid, e: &Expr) -> Vec<Cell> {
        let mut out = Vec::new();
        each_place(e, &mut |place, whose| {
            let owner = match whose {
                None => Some(pid),
                Some((proctype, None)) => (0..state.n_procs() as Pid).find(|p| state.proctype(*p) == proctype),
                Some((_, Some(e))) => self.interp.value(state, Some(pid), e).ok().and_then(|p| u8::try_from(p).ok()),
            };
            if let Some(cell) = owner.and_then(|owner| self.cell(state, pid, owner, place))
                && !out.contains(&cell)
            {
                out.push(cell);
            }
        });
        out
    }

    fn cell(&self, state: &State, pid: Pid, owner: Pid, place: &Place) -> Option<Cell> {
        let mut slot = place.slot as usize;
        for step in &place.index {
            let i = u32::try_from(self.interp.value(state, Some(pid), &step.value).ok()?).ok()?;
            slot += if i < step.len { (i * step.stride) as usize } else { return None };
        }
        let cell = match place.scope {
            Scope::Global => Cell::Global(slot),
            Scope::Local => Cell::Local(owner, slot),
        };
        self.read(state, cell).map(|_| cell)
    }

    /// After how many steps the process was there that has this number in the end: others may have had it before.
    fn born(&self, pid: Pid) -> usize {
        let is_there = |n: &usize| self.trace.before(*n).is_some_and(|s| (pid as usize) < s.n_procs());
        (0..=self.trace.steps.len()).rev().take_while(is_there).last().unwrap_or(0)
    }

    /// The numbers of the steps that wrote a cell, whether or not it changed.
    fn writers(&self, cell: Cell) -> Vec<usize> {
        let first = match cell {
            Cell::Global(_) => 1,
            Cell::Local(pid, _) => self.born(pid).max(1),
        };
        (first..=self.trace.steps.len()).filter(|n| self.changes(*n, cell) || self.assigns(*n, cell)).collect()
    }

    fn changes(&self, n: usize, cell: Cell) -> bool {
        let (Some(before), Some(after)) = (self.trace.before(n - 1), self.trace.before(n)) else { return false };
        self.read(before, cell) != self.read(after, cell)
    }

    fn assigns(&self, n: usize, cell: Cell) -> bool {
        let Some(before) = self.trace.before(n - 1) else { return false };
        let step = self.step(n);
        if step.faults.iter().any(|f| f.kind.is_fatal()) {
            return false; // it did not come to that
        }
        let own = (step.step.pid, step.step.edge);
        [Some(own), step.step.partner].into_iter().flatten().any(|(pid, edge)| {
            let edge = &self.system.proctypes[before.proctype(pid)].edges[edge];
            written(edge).iter().any(|p| self.cell(before, pid, pid, p) == Some(cell))
        })
    }
}

/// The places an edge writes.
fn written(edge: &Edge) -> Vec<&Place> {
    let mut out = Vec::new();
    edge.effects.iter().for_each(|effect| effect.each_write(&mut |place| out.push(place)));
    out
}

/// Whose local a remote reference names: the proctype, and the process if it is named.
type Whose<'e> = Option<(ProctypeId, Option<&'e Expr>)>;

/// Every place an expression reads, its indices' places after it.
fn each_place<'e>(e: &'e Expr, f: &mut dyn FnMut(&'e Place, Whose<'e>)) {
    e.each_part(&mut |e| match e {
        Expr::Read(place) => f(place, None),
        Expr::Remote { proctype, pid, place } => f(place, Some((*proctype, pid.as_deref()))),
        _ => {}
    });
}

fn verb(n: usize, one: &'static str, more: &'static str) -> &'static str {
    if n == 1 { one } else { more }
}

/// `a`, `a and b`, `a, b and c`
fn join(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::interpreted;
    use crate::observer::Silent;
    use crate::settings::Settings;
    use spinor_lang::{Options, load};
    use std::path::Path;

    /// Why the first property that is violated is.
    fn reasons(text: &str) -> Vec<String> {
        let (interp, trace) = shown(text);
        why(&interp, &trace)
    }

    fn shown(text: &str) -> (Interp, Trace) {
        let loaded = load("m.pml", text, &Options::default(), &|p: &Path| std::fs::read(p));
        let model = loaded.model.unwrap_or_else(|| panic!("{text}\n{:?}", loaded.diagnostics));
        let interp = Interp::new(model.system.clone());
        let report = interpreted(&interp, &[], &Settings::default(), &mut Silent).expect("a sensible request");
        let violated = report.properties.iter().find(|p| p.verdict.is_violated()).expect("something is violated");
        let trace = violated.traces[0].clone();
        (interp, trace)
    }

    #[test]
    fn variables_of_one_name_in_two_blocks_are_two() {
        let (interp, trace) = shown("active proctype P() { { byte x; x = 2 }; { byte x; x = 7; assert(x == 8) } }");
        let changes: Vec<usize> = (0..trace.steps.len()).map(|n| trace.changes(&interp, n).len()).collect();
        assert_eq!(changes, [0, 1, 0, 1, 0]);
    }

    #[test]
    fn what_the_failing_step_wrote_before_it_failed_is_what_it_read() {
        let lines = reasons("int a[3], i; active proctype P() { i = 2; d_step { i = 5; a[i] = 1 } }");
        assert_eq!(lines[1..], ["i became 5 at step 2 (P[0]: i = 5)."]);
    }

    /// Q is gone when S gets its number.
    #[test]
    fn who_had_the_number_before_wrote_nothing_of_this_process() {
        let lines = reasons(
            "byte done; proctype Q(byte v) { byte x; x = v; done++ } proctype S() { byte y; assert(y == 1) }
             active proctype P() { run Q(1); done == 1; _nr_pr == 1; run S() }",
        );
        assert_eq!(lines, ["S[1].y became 0 at step 7 (P[0]: run S())."]);
    }
}
