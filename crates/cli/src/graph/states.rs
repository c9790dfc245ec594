//! Every state that can be reached, as the interpreter gives them for the model as it was written.
//!
//! A node says where the processes stand and which variables differ from the initial state; an edge says who moved and
//! by which statements. An `atomic` is one edge, as nobody sees what lies between.

use super::control;
use super::shape::{Cluster, Kind, NARROW, Node, lines};
use crate::screen::printable;
use crate::table::told_changes;
use crate::wording;
use spinor_model::fault::Fault;
use spinor_model::index::Idx;
use spinor_model::interp::{Interp, Micro};
use spinor_model::ir::Pid;
use spinor_model::state::State;
use spinor_model::successors::Successors;
use std::collections::HashMap;

/// Why there is no drawing.
pub enum Undrawn {
    TooMany,
    /// There is no initial state.
    Fault(Fault),
}

pub fn cluster(interp: &Interp, max_states: usize, title: String) -> Result<Cluster, Undrawn> {
    let mut out = Cluster { title, near: true, ..Cluster::default() };
    let initial = interp.initial().map_err(Undrawn::Fault)?;
    let system = interp.system();
    let places: Vec<Vec<String>> = system.proctypes.iter().map(|t| control::places(system, t)).collect();
    let mut keys: Vec<Vec<u8>> = Vec::new();
    let mut numbers: HashMap<Vec<u8>, usize> = HashMap::new();
    let mut number = |key: Vec<u8>, keys: &mut Vec<Vec<u8>>| -> Result<usize, Undrawn> {
        if let Some(&n) = numbers.get(&key) {
            return Ok(n);
        }
        if keys.len() >= max_states {
            return Err(Undrawn::TooMany);
        }
        numbers.insert(key.clone(), keys.len());
        keys.push(key);
        Ok(keys.len() - 1)
    };
    let mut first = Vec::new();
    interp.pack(&initial, &mut first);
    number(first, &mut keys)?;

    // The places of faults are numbered after the states, when it is known how many those are.
    let mut edges: Vec<(usize, Target, String, Kind)> = Vec::new();
    let mut faults: Vec<String> = Vec::new();
    let mut steps = Vec::new();
    let mut batch = interp.batch();
    let mut at = 0;
    while at < keys.len() {
        let mut state = interp.unpack(&keys[at]);
        interp.enabled(&mut state, &mut steps);
        batch.clear();
        interp.fire(&mut state, &steps, &mut batch);
        let stuck = steps.is_empty();
        let ends = stuck && interp.may_end(&state);
        out.node(Node { end: ends, wrong: stuck && !ends, ..Node::new(describe(interp, &places, &initial, &state)) });
        for (n, outcome) in batch.outcomes.iter().enumerate() {
            let path = interp.path(&state, steps[outcome.step as usize], outcome.path);
            let mut text = statements(interp, &state, &path);
            let mut kind = if path.len() > 1 { Kind::Atomic } else { Kind::Plain };
            let wrong: Vec<String> = batch.faults_of(n).map(|f| f.kind.to_string()).collect();
            if !wrong.is_empty() {
                kind = Kind::Wrong;
            }
            let target = match batch.key(outcome) {
                Some(key) => {
                    for what in &wrong {
                        text.push_str(&format!(" ✗ {what}"));
                    }
                    Target::State(number(key.to_vec(), &mut keys)?)
                }
                None => {
                    let what = wrong.last().cloned().unwrap_or_default();
                    let known = faults.iter().position(|f| *f == what);
                    Target::Fault(known.unwrap_or_else(|| {
                        faults.push(what);
                        faults.len() - 1
                    }))
                }
            };
            edges.push((at, target, text, kind));
        }
        at += 1;
    }
    let n_states = out.nodes.len();
    for what in &faults {
        out.node(Node { wrong: true, ..Node::new(lines(&format!("✗ {what}"), NARROW)) });
    }
    for (from, target, text, kind) in edges {
        let to = match target {
            Target::State(n) => n,
            Target::Fault(n) => n_states + n,
        };
        out.edge(from, to, &text, kind);
    }
    out.enter(0);
    Ok(out)
}

enum Target {
    State(usize),
    Fault(usize),
}

/// Where everybody stands, and what is no longer as it was at first.
fn describe(interp: &Interp, places: &[Vec<String>], initial: &State, state: &State) -> Vec<String> {
    let system = interp.system();
    let place = |pid: Pid| {
        let (proctype, loc) = (state.proctype(pid), state.loc(pid));
        let labels = &system.proctypes[proctype].locs[loc].labels;
        let at = labels.first().unwrap_or(&places[proctype.index()][loc.index()]);
        format!("{}@{at}", wording::process(system, proctype, pid))
    };
    let places: Vec<String> = (0..state.n_procs() as Pid).map(place).collect();
    let mut text = lines(&places.join(" "), NARROW);
    if text.is_empty() {
        text.push("no process".to_string());
    }
    // Who is not there any more has said so in the first line.
    let values: Vec<String> = told_changes(interp, initial, state)
        .iter()
        .map(|c| format!("{}={}", printable(&c.name), wording::shown(interp, state, &c.after)))
        .collect();
    text.extend(lines(&values.join(" "), NARROW));
    text
}

/// `worker[1]: locked = true`, with the partner of a handshake, and all statements of an `atomic`.
fn statements(interp: &Interp, state: &State, path: &[Micro]) -> String {
    let system = interp.system();
    let mut text = String::new();
    let mut mover = None;
    let mut before = state;
    for micro in path {
        let process = wording::process(system, micro.proctype, micro.step.pid);
        let statement = wording::statement(system, wording::edge(system, micro.proctype, micro.step.edge));
        if mover != Some(micro.step.pid) {
            text.push_str(&format!("{}{process}: ", if text.is_empty() { "" } else { "; " }));
        } else {
            text.push_str("; ");
        }
        mover = Some(micro.step.pid);
        text.push_str(&statement);
        if let Some((pid, edge)) = micro.step.partner {
            let proctype = before.proctype(pid);
            let half = wording::statement(system, wording::edge(system, proctype, edge));
            text.push_str(&format!(" → {}: {half}", wording::process(system, proctype, pid)));
        }
        if micro.step.timeout {
            text.push_str(" (timeout)");
        }
        before = &micro.state;
    }
    text
}
