//! What the reduction knows of a system before it meets a state.
//!
//! # Fixed slots
//!   A slot that no edge writes keeps the value it was made with: for ever if it is a global one, for the life of its
//!   process if it is a local one. So an index or a channel that is computed from such slots, `_pid` and constants is the
//!   same whenever the process looks at it, and the table of a cast (`cast`) has the value instead of the expression.
//!
//! # Chains
//!   A step goes on until the floor is given back: over the locations inside a `d_step`, and inside an `atomic` as far as
//!   the process can. Wherever it could stop, it may stop: at a location inside an `atomic` it may be blocked. A process
//!   that dies is nowhere afterwards, though its last edge leads back to where it was.
//!
//! # Loops
//!   A cycle of states takes some process round a cycle of its control graph: the oldest that moves in it lives all
//!   the while, because who makes a process is older than it. So if every cycle of every control graph has an edge that
//!   *closes* it, and a state with a closing step in its selection is expanded in full, every cycle of the reduced graph
//!   passes a state that is expanded in full. This is the cycle condition, settled before the search: the reduced
//!   graph is a function of the states alone, the same for every search, every number of threads, and every automaton
//!   beside the system. (Static reduction: [KLMPY98].)
//!   Which edges close is a matter of taste; those are taken that a selection would seldom have anyway.
//!   Not every process needs them (`rounds`).
//!
//! # Invariants
//!   I1 no edge writes what is fixed, and what tells processes apart is fixed
//!   I2 a chain has whatever the edges lead to that it goes on by, and nobody stands inside of a `d_step`
//!   I3 nodes have the same component exactly if each leads to the other

use spinor_ltl::Components;
use spinor_model::index::Idx;
use spinor_model::ir::{
    Edge, EdgeId, Effect, Expr, Guard, Init, Loc, Operation, Proctype, ProctypeId, Scope, System, Then,
};
use spinor_model::layout::{Field, Layout};
use spinor_model::written::Written;
use std::collections::BTreeSet;

/// Arrays longer than this are one thing.
pub(super) const MOST_SLOTS: u64 = 64;
/// Fixed slots of a process that differ from process to process; with more of them the rest count as written.
const MOST_FIXED: usize = 16;

pub(super) struct Statics {
    /// By slot.
    pub fixed_globals: Vec<bool>,
    /// By proctype and slot.
    pub fixed_locals: Vec<Vec<bool>>,
    /// By proctype: fixed slots that its processes may have different values in.
    pub told_by: Vec<Vec<Field>>,
    /// By proctype and edge.
    pub chains: Vec<Vec<Chain>>,
    pub closes: Vec<Vec<bool>>,
    /// By proctype: how unlikely it is that a selection has a step that closes.
    pub seldom: Vec<u32>,
    /// By proctype: its processes may make others again and again.
    pub makes: Vec<bool>,
    /// Locations that somebody asks about: by a label, or because a message could be handed over there.
    pub asked: BTreeSet<(ProctypeId, Loc)>,
    /// What is named by those who look from outside.
    pub operations: Vec<Operation>,
}

/// Where a step may lead.
#[derive(Clone, Debug, Default)]
pub(super) struct Chain {
    /// Locations at which the process goes on at once, if it can.
    pub inner: Vec<Loc>,
    /// Locations where it may be afterwards.
    pub ends: Vec<Loc>,
}

impl Statics {
    pub fn new(system: &System, layout: &Layout, looked: &[Expr]) -> Statics {
        let written = Written::new(system);
        let fixed = |written: &[bool]| -> Vec<bool> { written.iter().map(|w| !w).collect() };
        let fixed_globals = fixed(&written.globals);
        let mut fixed_locals: Vec<Vec<bool>> = written.locals.iter().map(|w| fixed(w)).collect();
        let mut told_by = Vec::new();
        for ((t, frame), fixed) in system.proctypes.iter().zip(&layout.procs).zip(&mut fixed_locals) {
            let said = |slot: u32| {
                let same = |i: &Init| matches!(i, Init::Value { slot: s, value, .. } if *s == slot && !is_const(value));
                let chan = |i: &Init| matches!(i, Init::Chan { slot: s, .. } if *s == slot);
                slot < t.n_params || t.frame.inits.iter().any(|i| same(i) || chan(i))
            };
            let mut fields = Vec::new();
            for slot in (0..t.frame.n_slots).filter(|s| said(*s)) {
                if !fixed[slot as usize] {
                    continue;
                }
                let field = frame.slots[slot as usize];
                if fields.len() < MOST_FIXED && field.bytes > 0 {
                    fields.push(field);
                } else {
                    fixed[slot as usize] = false;
                }
            }
            debug_assert!(fields.len() <= MOST_FIXED, "I1");
            told_by.push(fields);
        }
        let chains: Vec<Vec<Chain>> =
            system.proctypes.iter().map(|t| t.edges.iter().map(|e| chain(t, e)).collect()).collect();
        let mut asked = BTreeSet::new();
        let mut label = |e: &Expr| {
            if let Expr::AtLabel { proctype, loc, .. } = e {
                asked.insert((*proctype, *loc));
            }
        };
        looked.iter().for_each(|e| e.each_part(&mut label));
        system.proctypes.iter().for_each(|t| t.each_expr(&mut |e| e.each_part(&mut label)));
        for (id, t) in system.proctypes.enumerated().filter(|_| system.has_rendezvous()) {
            asked.extend(t.edges.iter().filter(|e| e.receive().is_some()).map(|e| (id, e.from)));
        }
        let mut operations = Vec::new();
        let mut name = |e: &Expr| {
            if let Expr::Happens(operation) = e
                && !operations.contains(&**operation)
            {
                operations.push((**operation).clone());
            }
        };
        looked.iter().for_each(|e| e.each_part(&mut name));
        let closes: Vec<Vec<bool>> =
            system.proctypes.iter().zip(&chains).map(|(t, chains)| closing(t, chains)).collect();
        let least = |(t, (closes, chains)): (&Proctype, (&Vec<bool>, &Vec<Chain>))| {
            let edges = t.edges.ids().filter(|e| closes[e.index()]);
            edges.map(|e| weight(t, e, &chains[e.index()])).min().unwrap_or(0)
        };
        let seldom = system.proctypes.iter().zip(closes.iter().zip(&chains)).map(least).collect();
        let makes = system.proctypes.iter().map(makes).collect();
        debug_assert!(
            system
                .proctypes
                .iter()
                .zip(&fixed_locals)
                .all(|(t, fixed)| { t.edges.iter().all(|e| keeps_fixed(e, fixed, &fixed_globals)) }),
            "I1"
        );
        debug_assert!(
            layout.procs.iter().zip(&fixed_locals).zip(&told_by).all(|((frame, fixed), told_by)| {
                let is_fixed = |f: &Field| frame.slots.iter().zip(fixed).any(|(field, fixed)| *fixed && field == f);
                told_by.iter().all(is_fixed)
            }),
            "I1"
        );
        debug_assert!(
            system.proctypes.iter().zip(&chains).all(|(t, chains)| t
                .edges
                .iter()
                .zip(chains)
                .all(|(e, c)| c.is_whole(t, e))),
            "I2"
        );
        debug_assert!(
            asked.iter().all(|(t, loc)| loc.index() < system.proctypes[*t].locs.len()),
            "somebody can stand there"
        );
        Statics { fixed_globals, fixed_locals, told_by, chains, closes, seldom, makes, asked, operations }
    }
}

/// It writes none of these slots of its process, and none of these global ones.
fn keeps_fixed(edge: &Edge, fixed: &[bool], globals: &[bool]) -> bool {
    let mut keeps = true;
    for effect in &edge.effects {
        effect.each_write(&mut |place| {
            let of = if place.scope == Scope::Global { globals } else { fixed };
            keeps &= !of[place.slot as usize];
        });
    }
    keeps
}

impl Chain {
    /// I2
    fn is_whole(&self, t: &Proctype, first: &Edge) -> bool {
        let further = self.inner.iter().flat_map(|loc| &t.locs[*loc].edges).map(|e| &t.edges[*e]);
        let mut edges = further.chain([first]).filter(|edge| !edge.ends());
        self.inner.is_sorted_by(|a, b| a < b)
            && self.ends.is_sorted_by(|a, b| a < b)
            && edges.all(|edge| {
                (edge.then == Then::DStep || self.ends.contains(&edge.to))
                    && (edge.then == Then::Yield || self.inner.contains(&edge.to))
            })
    }
}

fn is_const(e: &Expr) -> bool {
    matches!(e, Expr::Const(_))
}

fn chain(t: &Proctype, first: &Edge) -> Chain {
    let (mut inner, mut ends) = (BTreeSet::new(), BTreeSet::new());
    let mut todo = vec![first];
    while let Some(edge) = todo.pop() {
        if edge.ends() {
            continue; // who dies is nowhere
        }
        if edge.then != Then::DStep {
            ends.insert(edge.to);
        }
        if edge.then != Then::Yield && inner.insert(edge.to) {
            todo.extend(t.locs[edge.to].edges.iter().map(|e| &t.edges[*e]));
        }
    }
    debug_assert!(first.ends() || !ends.is_empty() || !inner.is_empty(), "a step leads somewhere");
    debug_assert!(first.then != Then::Yield || inner.is_empty(), "who gives the floor back goes no further");
    Chain { inner: inner.into_iter().collect(), ends: ends.into_iter().collect() }
}

/// Does some loop make processes?
fn makes(t: &Proctype) -> bool {
    let component = components(t.locs.len(), &|at, out: &mut Vec<usize>| {
        out.extend(t.locs[Loc::new(at)].edges.iter().map(|e| t.edges[*e].to.index()));
    });
    let runs = |e: &Edge| e.effects.iter().any(|e| matches!(e, Effect::Run { .. }));
    t.edges.iter().any(|e| runs(e) && component[e.from.index()] == component[e.to.index()])
}

/// Edges such that without their steps a process never comes back to where it was.
fn closing(t: &Proctype, chains: &[Chain]) -> Vec<bool> {
    let mut closes = vec![false; t.edges.len()];
    loop {
        let next = |loc: Loc| {
            let edges = t.locs[loc].edges.iter().filter(|e| !closes[e.index()]);
            edges.flat_map(|e| chains[e.index()].ends.iter().map(|end| (*e, *end)))
        };
        let component = components(t.locs.len(), &|at, out: &mut Vec<usize>| {
            out.extend(next(Loc::new(at)).map(|(_, end)| end.index()));
        });
        // The location whose steps round the loop are least wanted, of each component that has a loop.
        let mut worst: Vec<Option<(u32, Loc, Vec<EdgeId>)>> = vec![None; t.locs.len()];
        for loc in t.locs.ids() {
            let of = component[loc.index()];
            let round: BTreeSet<EdgeId> =
                next(loc).filter(|(_, end)| component[end.index()] == of).map(|(e, _)| e).collect();
            if round.is_empty() {
                continue;
            }
            let weight = round.iter().map(|e| weight(t, *e, &chains[e.index()])).min().unwrap_or(0);
            if worst[of].as_ref().is_none_or(|(most, ..)| weight > *most) {
                worst[of] = Some((weight, loc, round.into_iter().collect()));
            }
        }
        let mut done = true;
        for (_, _, edges) in worst.into_iter().flatten() {
            done = false;
            edges.iter().for_each(|e| closes[e.index()] = true);
        }
        if done {
            debug_assert!(is_cut(t, chains, &closes), "Loops");
            return closes;
        }
    }
}

/// Locations that no step that is left leads on from are taken away, again and again: nothing stays.
fn is_cut(t: &Proctype, chains: &[Chain], closes: &[bool]) -> bool {
    let mut left: BTreeSet<Loc> = t.locs.ids().collect();
    loop {
        let stays = |e: &EdgeId| !closes[e.index()] && chains[e.index()].ends.iter().any(|end| left.contains(end));
        let ends: Vec<Loc> = left.iter().copied().filter(|loc| !t.locs[*loc].edges.iter().any(stays)).collect();
        if ends.is_empty() {
            return left.is_empty();
        }
        ends.iter().for_each(|loc| {
            left.remove(loc);
        });
    }
}

/// How unlikely it is that a selection has a step of this edge: the more others may have to do with it.
fn weight(t: &Proctype, edge: EdgeId, chain: &Chain) -> u32 {
    let of = |edge: &Edge| {
        let mut most = 0;
        for guard in &edge.guards {
            most = most.max(match guard {
                Guard::Holds(e) => reads_others(e),
                Guard::NoneOf(_) | Guard::Youngest => 1,
                Guard::Channel => 2,
            });
        }
        for effect in &edge.effects {
            effect.each_expr(&mut |e| most = most.max(reads_others(e)));
            effect.each_write(&mut |place| {
                if place.scope == Scope::Global {
                    most = 4;
                }
            });
            if matches!(effect, Effect::Run { .. } | Effect::End) {
                most = most.max(3);
            }
        }
        most
    };
    let inner = chain.inner.iter().flat_map(|l| &t.locs[*l].edges);
    inner.chain([&edge]).map(|e| of(&t.edges[*e])).max().unwrap_or(0)
}

fn reads_others(e: &Expr) -> u32 {
    let mut most = 0;
    e.each_part(&mut |e| {
        let here = match e {
            Expr::Read(place) if place.scope == Scope::Global && place.ty != spinor_model::ir::Type::Chan => 3,
            Expr::Probe(..) | Expr::Poll { .. } => 2,
            Expr::NrPr | Expr::Enabled(_) | Expr::Remote { .. } | Expr::AtLabel { .. } | Expr::PcValue(_) => 4,
            _ => 0,
        };
        most = most.max(here);
    });
    most
}

/// The component of each node, by a number below `n`.
pub(super) fn components(n: usize, next: &dyn Fn(usize, &mut Vec<usize>)) -> Vec<usize> {
    let mut after = vec![Vec::new(); n];
    (0..n).for_each(|at| next(at, &mut after[at]));
    let of = Components::new(n, 0..n, |at, nth| after[at].get(nth).copied()).of;
    let of: Vec<usize> = of.into_iter().map(|of| of as usize).collect();
    debug_assert!(n > 64 || is_mutual(n, next, &of), "I3");
    of
}

/// I3, of a small graph.
fn is_mutual(n: usize, next: &dyn Fn(usize, &mut Vec<usize>), of: &[usize]) -> bool {
    // By node: what it leads to, itself included.
    let mut leads: Vec<u64> = (0..n).map(|node| 1 << node).collect();
    let mut todo = Vec::new();
    for (node, leads) in leads.iter_mut().enumerate() {
        todo.clear();
        next(node, &mut todo);
        todo.iter().for_each(|to| *leads |= 1 << to);
    }
    for via in 0..n {
        let further = leads[via];
        leads.iter_mut().filter(|leads| **leads >> via & 1 == 1).for_each(|leads| *leads |= further);
    }
    let both = |a: usize, b: usize| leads[a] >> b & leads[b] >> a & 1 == 1;
    (0..n).all(|a| (0..n).all(|b| both(a, b) == (of[a] == of[b])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_are_those_of_a_small_graph() {
        // 0 -> 1 <-> 2 -> 3, 3 -> 3
        let next = |at: usize, out: &mut Vec<usize>| {
            out.extend(match at {
                0 => vec![1],
                1 => vec![2],
                2 => vec![1, 3],
                _ => vec![3],
            })
        };
        let of = components(4, &next);
        assert_eq!(of[1], of[2]);
        assert!(of[0] != of[1] && of[3] != of[1] && of[0] != of[3]);
    }
}
