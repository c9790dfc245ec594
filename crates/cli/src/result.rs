//! The answer as JSON. The names are a promise: fields are added, never renamed.

use crate::diagnostics::{self, place_fields};
use crate::front::Front;
use crate::json::Json;
use crate::wording;
use spinor_check::report::{LeftOut, PropertyReport, Report, Stats};
use spinor_check::trace::{Ending, Trace, TraceStep, Value, changes};
use spinor_model::interp::Interp;
use spinor_model::ir::{Edge, EdgeId, Pid, ProctypeId, System, Type};
use spinor_model::state::State;

const SCHEMA_VERSION: i64 = 1;

/// What every document begins with.
fn head(path: &str, sha256: Json) -> Vec<(String, Json)> {
    let model = Json::object([("path", Json::text(path)), ("sha256", sha256)]);
    vec![
        ("schema_version".to_string(), Json::Int(SCHEMA_VERSION)),
        ("spinor".to_string(), Json::text(env!("CARGO_PKG_VERSION"))),
        ("model".to_string(), model),
    ]
}

pub fn of_report(front: &Front, interp: &Interp, report: &Report) -> Json {
    let system = interp.system();
    let (c, whole) = (&report.chosen, report.stats());
    let options = [
        ("search", c.search.map_or(Json::Null, Json::text)),
        ("endless", c.endless.map_or(Json::Null, Json::text)),
        ("progress_search", c.progress.map_or(Json::Null, |(word, _)| Json::text(word))),
        ("progress", c.progress.map_or(Json::Null, |(_, word)| Json::text(word))),
    ]
    .into_iter()
    .chain(left_out(&whole.left_out))
    .chain([
        ("fair", Json::text(c.fair)),
        ("fair_by", c.fair_by.map_or(Json::Null, Json::text)),
        ("store", Json::text(c.store)),
        ("executor", Json::text(c.executor)),
        ("jobs", Json::count(c.jobs as u64)),
        ("plain", Json::Bool(c.plain)),
        ("dead", Json::Bool(c.optimise.dead)),
        ("merge", Json::Bool(c.optimise.merge)),
        ("unread", Json::Bool(c.optimise.unread)),
    ]);
    let unreached = wording::unreached(system, report).into_iter().map(|u| {
        let span = system.sources.surface(u.span);
        let mut fields = vec![("proctype".to_string(), Json::text(&system.proctypes[u.proctype].name))];
        fields.extend(place_fields(&system.sources, span));
        fields.push(("end".to_string(), Json::Bool(u.end)));
        Json::Object(fields)
    });
    let truncations = report.truncations.iter().map(|(t, e)| {
        let edge = wording::edge(system, *t, *e);
        let mut fields = vec![("proctype".to_string(), Json::text(&system.proctypes[*t].name))];
        fields.push(("statement".to_string(), Json::text(system.sources.one_line(edge.span))));
        fields.extend(place_fields(&system.sources, system.sources.surface(edge.span)));
        Json::Object(fields)
    });
    let mut doc = head(&front.path, Json::text(&front.sha256));
    doc.extend(
        [
            ("options", Json::object(options)),
            ("properties", Json::List(report.properties.iter().map(|p| property(interp, report, p)).collect())),
            ("unreached", Json::List(unreached.collect())),
            ("truncations", Json::List(truncations.collect())),
            ("notes", Json::List(report.notes.iter().map(Json::text).collect())),
            ("advice", Json::List(report.advice.iter().map(Json::text).collect())),
            ("stats", stats(&whole)),
            ("diagnostics", diagnostics::to_json(&front.sources, &front.diagnostics)),
        ]
        .map(|(k, v)| (k.to_string(), v)),
    );
    Json::Object(doc)
}

/// A model that was not checked: what was said about it instead. The fields are those of a result, with nothing in them.
pub fn of_diagnostics(front: &Front, diagnostics: Json) -> Json {
    unchecked(head(&front.path, Json::text(&front.sha256)), diagnostics)
}

fn unchecked(mut doc: Vec<(String, Json)>, diagnostics: Json) -> Json {
    let nothing = || Json::List(Vec::new());
    let fields = [
        ("options", Json::Null),
        ("properties", nothing()),
        ("unreached", nothing()),
        ("truncations", nothing()),
        ("notes", nothing()),
        ("advice", nothing()),
        ("stats", Json::Null),
        ("diagnostics", diagnostics),
    ];
    doc.extend(fields.map(|(k, v)| (k.to_string(), v)));
    Json::Object(doc)
}

/// A file that could not be read is not a model, and a program that asked for JSON still gets some.
pub fn of_unreadable(path: &str, message: &str) -> Json {
    let said = Json::object([
        ("code", Json::Null),
        ("severity", Json::text("error")),
        ("message", Json::text(message)),
        ("primary", Json::Null),
        ("labels", Json::List(Vec::new())),
        ("help", Json::Null),
        ("fix", Json::Null),
        ("spin", Json::Null),
        ("notes", Json::List(Vec::new())),
    ]);
    unchecked(head(path, Json::Null), Json::List(vec![said]))
}

/// One saved trace, complete enough to be replayed.
pub fn of_trace(front: &Front, interp: &Interp, property: &PropertyReport, trace: &Trace) -> Json {
    let mut doc = head(&front.path, Json::text(&front.sha256));
    doc.push(("property".to_string(), Json::text(&property.name)));
    doc.push(("kind".to_string(), Json::text(property.kind.word())));
    doc.push(("because".to_string(), property.verdict.because().map_or(Json::Null, Json::text)));
    if let Json::Object(fields) = trace_json(interp, trace) {
        doc.extend(fields);
    }
    Json::Object(doc)
}

fn property(interp: &Interp, report: &Report, p: &PropertyReport) -> Json {
    let stats = p.search.and_then(|i| report.searches.get(i)).map_or(Json::Null, stats);
    Json::object([
        ("name", Json::text(&p.name)),
        ("kind", Json::text(p.kind.word())),
        ("verdict", Json::text(p.verdict.word())),
        ("because", p.verdict.because().map_or(Json::Null, Json::text)),
        ("violations", Json::count(p.n_violations)),
        ("traces", Json::List(p.traces.iter().map(|t| trace_json(interp, t)).collect())),
        ("progress_before", p.account.as_ref().map_or(Json::Null, |a| Json::count(a.before as u64))),
        ("stats", stats),
    ])
}

fn trace_json(interp: &Interp, trace: &Trace) -> Json {
    let step = |(i, s): (usize, &TraceStep)| {
        let before = trace.before(i);
        step_json(interp, before, s)
    };
    let ending = match trace.ending {
        Ending::Fault(_) => "fault",
        Ending::InvalidEnd => "invalid-end",
        Ending::Cycle => "cycle",
        Ending::Settled => "settled",
        Ending::Met { .. } => "state",
    };
    Json::object([
        ("steps", Json::List(trace.steps.iter().enumerate().map(step).collect())),
        ("cycle_start", trace.cycle_start.map_or(Json::Null, |n| Json::count(n as u64))),
        ("ending", Json::text(ending)),
        ("looks", Json::List(trace.looks.iter().map(|n| Json::count(*n as u64)).collect())),
    ])
}

fn step_json(interp: &Interp, before: Option<&State>, s: &TraceStep) -> Json {
    let system = interp.system();
    let mut fields = half(system, s.step.pid, s.proctype, s.step.edge);
    let changed = before.map(|b| changes(interp, b, &s.state)).unwrap_or_default();
    let changed = changed
        .into_iter()
        .map(|c| (c.name, Json::List(vec![value(system, &c.before), value(system, &c.after)])))
        .collect();
    fields.push(("changes".to_string(), Json::Object(changed)));
    if let (Some((pid, edge)), Some(before)) = (s.step.partner, before) {
        fields.push(("partner".to_string(), Json::Object(half(system, pid, before.proctype(pid), edge))));
    }
    if s.floor.is_some() {
        fields.push(("atomic".to_string(), Json::Bool(true)));
    }
    if !s.output.is_empty() {
        fields.push(("printed".to_string(), Json::text(&s.output)));
    }
    if !s.faults.is_empty() {
        let faults = s.faults.iter().map(|f| Json::text(f.kind.to_string())).collect();
        fields.push(("faults".to_string(), Json::List(faults)));
    }
    Json::Object(fields)
}

/// One process's part of a step. `stmt` is the number that trails use.
fn half(system: &System, pid: Pid, proctype: ProctypeId, edge: EdgeId) -> Vec<(String, Json)> {
    let edge: &Edge = wording::edge(system, proctype, edge);
    let mut fields = vec![
        ("pid".to_string(), Json::Int(i64::from(pid))),
        ("proctype".to_string(), Json::text(&system.proctypes[proctype].name)),
        ("statement".to_string(), Json::text(wording::statement(system, edge))),
    ];
    fields.extend(place_fields(&system.sources, system.sources.surface(edge.span)));
    fields.push(("stmt".to_string(), Json::Int(i64::from(edge.stmt))));
    fields
}

/// Numbers as numbers, truth as truth, mtypes by name, channels as lists of messages, nothing as null.
fn value(system: &System, v: &Value) -> Json {
    match v {
        Value::Absent => Json::Null,
        Value::Number { ty, value } => scalar(system, *ty, *value),
        Value::Messages { fields, messages } => {
            let message =
                |m: &Vec<i32>| Json::List(m.iter().zip(fields).map(|(v, ty)| scalar(system, *ty, *v)).collect());
            Json::List(messages.iter().map(message).collect())
        }
    }
}

fn scalar(system: &System, ty: Type, value: i32) -> Json {
    match ty {
        Type::Bool => Json::Bool(value != 0),
        Type::Mtype(_) if value != 0 => Json::text(system.show(ty, value)),
        _ => Json::Int(i64::from(value)),
    }
}

fn left_out(l: &LeftOut) -> [(&'static str, Json); 4] {
    [
        ("por", Json::text(l.por)),
        ("proviso", l.proviso.map_or(Json::Null, Json::text)),
        ("por_from", Json::count(l.por_from)),
        ("sym", Json::text(l.sym)),
    ]
}

fn stats(s: &Stats) -> Json {
    let fields = [
        ("search", Json::text(s.search)),
        ("stored", Json::count(s.stored)),
        ("matched", Json::count(s.matched)),
        ("transitions", Json::count(s.transitions)),
        ("atomic_steps", Json::count(s.atomic_steps)),
        ("depth", Json::count(s.depth)),
        ("complete", Json::Bool(s.complete)),
        ("cpu_seconds", Json::Real(s.cpu_seconds)),
        ("wall_seconds", Json::Real(s.wall_seconds)),
        ("peak_memory_bytes", Json::count(s.peak_memory_bytes)),
        ("store_bytes", Json::count(s.store_bytes)),
        ("search_bytes", Json::count(s.search_bytes)),
        ("omission_bound", s.omission.map_or(Json::Null, Json::Real)),
    ]
    .into_iter()
    .chain(left_out(&s.left_out));
    Json::object(fields)
}
