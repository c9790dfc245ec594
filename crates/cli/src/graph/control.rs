//! Proctypes, never claims and trace assertions: a node for each location, an edge for each statement.

use super::shape::{Cluster, Kind, Node, WIDE, lines};
use crate::wording;
use spinor_model::index::Idx;
use spinor_model::ir::{Edge, Loc, Proctype, System, Then};

/// The line of each location; of several on one line `7.1`, `7.2` and so on, in the order of the text.
pub fn places(system: &System, t: &Proctype) -> Vec<String> {
    let mut out: Vec<String> = t.locs.iter().map(|l| wording::line(system, l.span)).collect();
    out[t.end.index()] = "end".to_string();
    let mut order: Vec<usize> = (0..out.len()).collect();
    order.sort_by_key(|&n| {
        let l = &t.locs[Loc::new(n)];
        (system.sources.surface(l.span), l.number)
    });
    let plain = out.clone();
    for (at, &n) in order.iter().enumerate() {
        let same = |list: &[usize]| list.iter().filter(|&&m| plain[m] == plain[n]).count();
        if same(&order) > 1 {
            out[n] = format!("{}.{}", plain[n], same(&order[..at]) + 1);
        }
    }
    out
}

pub fn cluster(system: &System, t: &Proctype, title: String) -> Cluster {
    let mut out = Cluster { title, ..Cluster::default() };
    let places = places(system, t);
    let mut numbers = vec![0; places.len()];
    for (loc, l) in t.locs.enumerated() {
        // A loop without an end has a closing brace behind it all the same.
        let entered = |e: &Edge| e.to == loc && !e.ends();
        if loc == t.end && loc != t.start && l.labels.is_empty() && !t.edges.iter().any(entered) {
            continue;
        }
        let mut text = lines(&l.labels.join(", "), WIDE);
        let place = &places[loc.index()];
        text.push(if loc == t.end { place.clone() } else { format!("line {place}") });
        numbers[loc.index()] = out.node(Node {
            end: l.end || loc == t.end,
            accept: l.accept,
            progress: l.progress,
            inside: t.edges.iter().any(|e| e.to == loc && e.then != Then::Yield),
            ..Node::new(text)
        });
    }
    // A process that has ended disappears: there is nowhere to draw that to.
    for edge in t.edges.iter().filter(|e| !e.ends()) {
        let (from, to) = (numbers[edge.from.index()], numbers[edge.to.index()]);
        let kind = match edge {
            e if e.in_d_step || e.then == Then::DStep => Kind::DStep,
            // The last statement gives the floor away: it is part of what the ones before it began.
            e if e.then == Then::Atomic || out.nodes[from].inside => Kind::Atomic,
            _ => Kind::Plain,
        };
        out.edge(from, to, &wording::written(system, edge), kind);
    }
    out.enter(numbers[t.start.index()]);
    out
}
