//! The oracle of protocols: it knows the machines as they were drawn, not their text and not the system they become. A global
//! state is the machines' states and lists of messages. It finds deadlocks, receptions that are not specified, overflows and
//! transitions that are never executed by trying everything, and counts states and transitions on the way.

use spinor_check::report::Report;
use spinor_gen::protocol::Does;
use spinor_lang::{Options, load};
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::path::Path;

/// A machine's state each, and what each channel holds, first message first.
pub type Global = (Vec<usize>, Vec<VecDeque<(usize, u8)>>);

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Truth {
    pub states: u64,
    pub transitions: u64,
    /// How far the nearest one is.
    pub deadlock: Option<u64>,
    pub reception: Option<u64>,
    pub strict: Option<u64>,
    pub overflow: Option<u64>,
    pub never_executed: u64,
}

/// Nothing of a protocol with more states than that.
pub fn truth(p: &spinor_gen::protocol::Protocol, most: usize) -> Option<Truth> {
    let mut out = Truth::default();
    let first: Global = (vec![0; p.machines.len()], vec![VecDeque::new(); p.channels.len()]);
    let mut distance = HashMap::from([(first.clone(), 0u64)]);
    let mut todo = VecDeque::from([first]);
    let mut executed: BTreeSet<(usize, usize, usize)> = BTreeSet::new();
    out.transitions = 1;
    while let Some(state) = todo.pop_front() {
        if distance.len() > most {
            return None;
        }
        let depth = distance[&state];
        let (at, holds) = &state;
        let mut can_move = false;
        for (i, machine) in p.machines.iter().enumerate() {
            let moves = &machine.states[at[i]].moves;
            for (n, m) in moves.iter().enumerate() {
                let mut next = state.clone();
                match m.does {
                    Does::Internal => {}
                    Does::Send { channel, message, value } => {
                        if holds[channel].len() == p.channels[channel].capacity {
                            out.overflow.get_or_insert(depth);
                            continue;
                        }
                        next.1[channel].push_back((message, value));
                    }
                    Does::Receive { channel, message, value } => match holds[channel].front() {
                        Some((first, v)) if *first == message && value.is_none_or(|value| value == *v) => {
                            next.1[channel].pop_front();
                        }
                        _ => continue,
                    },
                }
                can_move = true;
                executed.insert((i, at[i], n));
                next.0[i] = m.to;
                out.transitions += 1;
                if !distance.contains_key(&next) {
                    distance.insert(next.clone(), depth + 1);
                    todo.push_back(next);
                }
            }
            for (c, channel) in p.channels.iter().enumerate().filter(|(_, c)| c.to == i) {
                let _ = channel;
                let Some((first, v)) = holds[c].front() else { continue };
                let takes = moves.iter().any(|m| {
                    matches!(m.does, Does::Receive { channel, message, value }
                        if channel == c && message == *first && value.is_none_or(|value| value == *v))
                });
                if takes {
                    continue;
                }
                out.strict.get_or_insert(depth);
                if !moves.is_empty() && moves.iter().all(|m| matches!(m.does, Does::Receive { .. })) {
                    out.reception.get_or_insert(depth);
                }
            }
        }
        let fine =
            p.machines.iter().zip(at).all(|(m, s)| m.states[*s].is_final) && holds.iter().all(VecDeque::is_empty);
        if !can_move && !fine {
            out.deadlock.get_or_insert(depth);
        }
    }
    out.states = distance.len() as u64;
    let all = p.machines.iter().flat_map(|m| &m.states).map(|s| s.moves.len()).sum::<usize>();
    out.never_executed = (all - executed.len()) as u64;
    Some(out)
}

/// The report says what is true, with a shortest trace where the search is one that finds it.
pub fn agree(report: &Report, truth: &Truth, strict: bool, counts: bool, text: &str, way: &str) {
    let reception = if strict { truth.strict } else { truth.reception };
    for (name, nearest) in [("deadlock", truth.deadlock), ("reception", reception), ("overflow", truth.overflow)] {
        let Some(p) = report.property(name) else { continue };
        assert_eq!(p.verdict.is_violated(), nearest.is_some(), "{way}: {name} {:?}\n{text}", p.verdict);
        if let (Some(nearest), true) = (nearest, counts) {
            assert_eq!(p.traces[0].steps.len() as u64, nearest, "{way}: {name}\n{text}");
        }
    }
    let p = report.property("nonexecutable").expect("it is asked");
    assert_eq!(p.n_violations, truth.never_executed, "{way}\n{text}");
    assert_eq!(p.verdict.is_violated(), truth.never_executed > 0, "{way}\n{text}");
    if counts {
        let stats = report.stats();
        assert_eq!((stats.stored, stats.transitions), (truth.states, truth.transitions), "{way}\n{text}");
    }
}

pub fn loaded(name: &str, text: &str) -> spinor_lang::Model {
    let loaded = load(name, text, &Options::default(), &|p: &Path| std::fs::read(p));
    loaded.model.unwrap_or_else(|| panic!("{text}\n{:?}", loaded.diagnostics))
}
