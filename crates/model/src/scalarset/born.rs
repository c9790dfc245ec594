//! Who is there, and from when on.
//!
//! # The argument
//!   Without `run` it is the processes of the initial state. Otherwise one of them makes the others, and is watched doing it
//!   alone: as long as a `run` lies ahead of it, it looks at nothing but its own variables, so others make no difference
//!   to its way. Once no `run` lies ahead, everybody is there.

use super::{Break, reachable};
use crate::eval::Eval;
use crate::index::Idx;
use crate::interp::{Interp, Log};
use crate::ir::{Edge, Effect, Expr, Guard, Loc, Pid, Place, ProctypeId, Scope, System};
use crate::state::State;
use crate::successors::Successors;
use std::sync::Arc;

pub(super) struct Born {
    /// By number.
    pub procs: Vec<ProctypeId>,
    /// Where the process that made the others stands once all are there.
    pub settled: Option<(Pid, Vec<bool>)>,
    /// Local slots that are born with the number of the process, minus a constant.
    pub links: Vec<Link>,
    /// By proctype: the locations whose edges count.
    pub locs: Vec<Vec<bool>>,
}

pub(super) struct Link {
    pub proctype: ProctypeId,
    pub slot: usize,
    pub offset: i32,
}

/// Statements that the maker may take.
const MOST: usize = 10_000;

impl Born {
    pub fn reaches(&self, proctype: ProctypeId, loc: Loc) -> bool {
        self.locs[proctype.index()][loc.index()]
    }
}

pub(super) fn born(system: &System) -> Result<Born, Break> {
    let runs = |e: &Edge| e.effects.iter().any(|e| matches!(e, Effect::Run { .. }));
    let interp = Interp::new(Arc::new(system.clone()));
    let Ok(mut state) = interp.initial() else {
        return Err(Break { span: Default::default(), why: "the initial state cannot be made".to_string() });
    };
    let mut locs: Vec<Vec<bool>> = system.proctypes.iter().map(|t| reachable(t, t.start)).collect();
    let mut settled = None;
    let makers: Vec<Pid> =
        (0..state.n_procs() as Pid).filter(|p| system.proctypes[state.proctype(*p)].edges.iter().any(runs)).collect();
    let made = |id: ProctypeId| {
        let effects = system.proctypes.iter().flat_map(|t| &t.edges).flat_map(|e| &e.effects);
        effects.clone().any(|e| matches!(e, Effect::Run { proctype, .. } if *proctype == id))
    };
    let makes = |span| Break { span, why: "processes are made while others run".to_string() };
    for (id, t) in system.proctypes.enumerated() {
        if let Some(edge) = t.edges.iter().find(|e| runs(e))
            && (made(id) || makers.len() != 1)
        {
            return Err(makes(edge.span));
        }
    }
    if let [maker] = makers[..] {
        let id = state.proctype(maker);
        let t = &system.proctypes[id];
        let ahead = |loc: Loc| {
            let there = reachable(t, loc);
            t.edges.iter().find(|e| there[e.from.index()] && runs(e))
        };
        for _ in 0..MOST {
            if ahead(state.loc(maker)).is_none() {
                break;
            }
            let mut steps = Vec::new();
            interp.proc_moves(Eval::new(&interp, &state, Some(maker), false), &mut steps);
            let [step] = steps[..] else { break };
            if step.partner.is_some() || interp.apply(&mut state, step, &mut Log::default()).is_err() {
                break;
            }
            if state.n_procs() <= usize::from(maker) {
                break;
            }
        }
        let alive = state.n_procs() > usize::from(maker);
        let open = if alive { ahead(state.loc(maker)) } else { t.edges.iter().find(|e| runs(e)) };
        if let Some(edge) = open {
            return Err(makes(edge.span));
        }
        let after = reachable(t, state.loc(maker));
        for edge in t.edges.iter().filter(|e| locs[id.index()][e.from.index()] && !after[e.from.index()]) {
            if t.provided.is_some() || !looks_inside(edge) {
                return Err(makes(edge.span));
            }
        }
        locs[id.index()].clone_from(&after);
        settled = Some((maker, after));
    }
    let procs: Vec<ProctypeId> = (0..state.n_procs() as Pid).map(|p| state.proctype(p)).collect();
    let links = system.proctypes.enumerated().flat_map(|(id, _)| links(system, &state, &procs, id)).collect();
    Ok(Born { procs, settled, links, locs })
}

/// Whether an edge can run is the process's own business.
fn looks_inside(edge: &Edge) -> bool {
    let own = |e: &Expr| {
        let mut own = true;
        e.each_part(&mut |e| {
            own &= match e {
                Expr::Read(Place { scope, .. }) => *scope == Scope::Local,
                Expr::Const(_) | Expr::Unary(..) | Expr::Binary(..) | Expr::Cond(..) | Expr::Pid => true,
                _ => false,
            }
        });
        own
    };
    edge.guards.iter().all(|g| match g {
        Guard::Holds(e) => own(e),
        Guard::NoneOf(_) => true, // those are edges of the same location
        Guard::Channel | Guard::Youngest => false,
    })
}

fn links(system: &System, state: &State, procs: &[ProctypeId], id: ProctypeId) -> Vec<Link> {
    let pids: Vec<Pid> = (0..procs.len()).filter(|p| procs[*p] == id).map(|p| p as Pid).collect();
    if pids.len() < 2 {
        return Vec::new();
    }
    let offset = |pid: &Pid, slot: usize| i32::from(*pid) - state.locals(system, *pid)[slot];
    let n = system.proctypes[id].frame.n_slots as usize;
    let linked = (0..n).filter(|s| pids.iter().all(|p| offset(p, *s) == offset(&pids[0], *s)));
    linked.map(|slot| Link { proctype: id, slot, offset: offset(&pids[0], slot) }).collect()
}
