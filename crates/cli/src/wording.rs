//! How steps, processes and faults are put into words, the same in tables, streams and JSON.

use crate::screen::printable;
use spinor_check::report::{Report, Unreached};
use spinor_check::trace::{Change, TraceStep, Value, chan_name};
use spinor_model::fault::{Fault, FaultKind};
use spinor_model::index::Idx;
use spinor_model::interp::Interp;
use spinor_model::ir::{Edge, EdgeId, Effect, Expr, Pattern, Pid, Place, ProctypeId, Scope, System, Then, Type};
use spinor_model::source::Span;
use spinor_model::state::State;

/// What a step does, on one line; a `d_step` is done whole.
pub fn statement(system: &System, edge: &Edge) -> String {
    if edge.then == Then::DStep {
        return format!("d_step {{ {} … }}", printable(&system.sources.one_line(edge.span)));
    }
    written(system, edge)
}

/// What the author wrote for one edge, on one line.
pub fn written(system: &System, edge: &Edge) -> String {
    if edge.ends() {
        return "(ends)".to_string();
    }
    let text = printable(&system.sources.one_line(edge.span));
    // The step out of a loop does nothing; the text it stands for is the whole loop.
    let word = ["do", "if", "for"].into_iter().find(|w| text.split([' ', ':', '(']).next() == Some(w));
    match word {
        Some(word) if edge.guards.is_empty() && edge.effects.is_empty() => format!("(leaves the {word})"),
        _ => text,
    }
}

/// What no run executes, in the order of the text; the end of a proctype after its statements.
pub fn unreached(system: &System, report: &Report) -> Vec<Unreached> {
    let mut list = report.unreached.clone().unwrap_or_default();
    list.sort_by_key(|u| (u.proctype, u.end, system.sources.surface(u.span)));
    list
}

/// `7`, or `inc.pml:7` for a statement of another file than the model's own.
pub fn line(system: &System, span: Span) -> String {
    system.sources.line_in_file(span).map_or("?".to_string(), |line| printable(&line))
}

/// `mutex.pml:10`
pub fn place(system: &System, span: Span) -> String {
    let span = system.sources.surface(span);
    if span.file.index() >= system.sources.files.len() {
        return String::new();
    }
    format!("{}:{}", printable(system.sources.file_name(span)), system.sources.line(span))
}

pub fn edge(system: &System, proctype: ProctypeId, edge: EdgeId) -> &Edge {
    &system.proctypes[proctype].edges[edge]
}

/// `worker[1]`
pub fn process(system: &System, proctype: ProctypeId, pid: Pid) -> String {
    format!("{}[{pid}]", system.proctypes[proctype].name)
}

/// `false → true`, seen from the state after it.
pub fn change(interp: &Interp, after: &State, c: &Change) -> String {
    format!("{} → {}", shown(interp, after, &c.before), shown(interp, after, &c.after))
}

/// A value; which channel a variable means is told by the channel's name.
pub fn shown(interp: &Interp, state: &State, value: &Value) -> String {
    printable(&match value {
        Value::Number { ty: Type::Chan, value: 0 } => "none".to_string(),
        Value::Number { ty: Type::Chan, value } => match u8::try_from(*value) {
            Ok(id) => chan_name(interp, state, id),
            Err(_) => value.to_string(),
        },
        _ => value.show(interp.system()),
    })
}

/// What went wrong in a step; of a failed assertion, the values it looked at.
pub fn fault(interp: &Interp, step: &TraceStep, fault: &Fault) -> String {
    if fault.kind == FaultKind::Assertion
        && let Some((pid, proctype, id)) = fault.at
        && edge(interp.system(), proctype, id).then != Then::DStep
        && (pid as usize) < step.state.n_procs()
        && step.state.proctype(pid) == proctype
    {
        let looked_at = values_read(interp, &step.state, pid, edge(interp.system(), proctype, id));
        if !looked_at.is_empty() {
            return looked_at.iter().map(|(n, v)| format!("{n} is {v}")).collect::<Vec<_>>().join(", ");
        }
    }
    fault.kind.to_string()
}

/// The variables an assertion reads, each once, and what they hold.
fn values_read(interp: &Interp, state: &State, pid: Pid, edge: &Edge) -> Vec<(String, String)> {
    let mut places = Vec::new();
    for effect in &edge.effects {
        if let Effect::Assert(e) = effect {
            reads(e, &mut places);
        }
    }
    let mut out: Vec<(String, String)> = Vec::new();
    for place in places {
        let Ok(value) = interp.value(state, Some(pid), &Expr::Read(place.clone())) else { continue };
        let Some(name) = place_name(interp, state, pid, place) else { continue };
        let value = interp.system().show(place.ty, value);
        if !out.iter().any(|(n, _)| *n == name) {
            out.push((name, value));
        }
    }
    out.truncate(4);
    out
}

/// `a[2]`, with the index that counts now.
fn place_name(interp: &Interp, state: &State, pid: Pid, place: &Place) -> Option<String> {
    let mut slot = place.slot;
    for step in &place.index {
        let i = interp.value(state, Some(pid), &step.value).ok()?;
        slot += u32::try_from(i).ok()? * step.stride;
    }
    let system = interp.system();
    let frame = match place.scope {
        Scope::Global => &system.globals,
        Scope::Local => &system.proctypes[state.proctype(pid)].frame,
    };
    frame.slot_names().into_iter().nth(slot as usize).map(|(name, _)| name)
}

fn reads<'a>(e: &'a Expr, out: &mut Vec<&'a Place>) {
    match e {
        Expr::Read(place) => {
            out.push(place);
            place.index.iter().for_each(|i| reads(&i.value, out));
        }
        Expr::Unary(_, a) | Expr::Probe(_, a) | Expr::Enabled(a) | Expr::PcValue(a) | Expr::GetPriority(a) => {
            reads(a, out);
        }
        Expr::Binary(_, a, b) => {
            reads(a, out);
            reads(b, out);
        }
        Expr::Cond(a, b, c) => [a, b, c].into_iter().for_each(|e| reads(e, out)),
        Expr::Poll { args, .. } => args.iter().for_each(|p| match p {
            Pattern::Equal(e) => reads(e, out),
            Pattern::Bind(_) | Pattern::Any => {}
        }),
        // Names of other processes' variables and labels are part of the text already.
        _ => {}
    }
}
