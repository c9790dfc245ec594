//! Who is there, and from when on.
//!
//! # The argument
//!   Without `run` it is the processes of the initial state. Otherwise one of them makes the others, and is watched doing it
//!   alone: as long as a `run` lies ahead of it, it looks at nothing but its own variables, so others make no difference
//!   to its way. Once no `run` lies ahead, everybody is there.
//!   But where others can move in between, the youngest may end, and who is made next has its number. So who has a number
//!   is *sure* only below those who could end then.
//!
//! # Invariants
//!   I1 the locations that count are closed: no edge from one of them leads to one that does not
//!   I2 who makes the others is none of those who can be made, and makes none where it stands in the end

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
    /// Of so many numbers it is sure whose they are, and why of no more.
    pub sure: usize,
    pub unsure: Option<Break>,
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

    /// How a process can end, if it can.
    pub fn end<'s>(&self, system: &'s System, proctype: ProctypeId) -> Option<&'s Edge> {
        let end = |e: &&Edge| e.effects.contains(&Effect::End) && self.reaches(proctype, e.from);
        system.proctypes[proctype].edges.iter().find(end)
    }

    /// Once all are there, this one is for good: it never ends, or somebody younger does not.
    pub fn stays(&self, system: &System, pid: usize) -> bool {
        (pid..self.sure).any(|p| self.end(system, self.procs[p]).is_none())
    }

    /// I1, I2
    fn check(&self, system: &System) {
        for (id, t) in system.proctypes.enumerated() {
            assert_eq!(self.locs[id.index()].len(), t.locs.len(), "I1");
            let stays_inside = |e: &Edge| !self.reaches(id, e.from) || self.reaches(id, e.to);
            assert!(t.edges.iter().all(stays_inside), "I1");
            let makes =
                |e: &Edge| self.reaches(id, e.from) && e.effects.iter().any(|e| matches!(e, Effect::Run { .. }));
            let is_there = self.procs.contains(&id);
            assert!(!is_there || !t.edges.iter().any(makes), "I2");
        }
        if let Some((maker, locs)) = &self.settled {
            assert!(self.sure > usize::from(*maker), "I2: who makes the others is there until they are");
            assert_eq!(*locs, self.locs[self.procs[usize::from(*maker)].index()], "I2");
        }
        assert!(self.unsure.is_none() || self.settled.is_some(), "who is there from the start has its number");
        assert_eq!(self.unsure.is_some(), self.sure < self.procs.len(), "why no more are sure is told");
        let is_of_all = |link: &Link| (0..self.procs.len()).filter(|p| self.procs[*p] == link.proctype).count() > 1;
        assert!(self.links.iter().all(is_of_all), "a number that only one is born with says nothing");
    }
}

pub(super) fn born(system: &System) -> Result<Born, Break> {
    let runs = |e: &Edge| e.effects.iter().any(|e| matches!(e, Effect::Run { .. }));
    let interp = Interp::new(Arc::new(system.clone()));
    let Ok(mut state) = interp.initial() else {
        return Err(Break { span: Default::default(), why: "the initial state cannot be made".to_string() });
    };
    let reached: Vec<Vec<bool>> = system.proctypes.iter().map(|t| reachable(t, t.start)).collect();
    let mut locs = reached.clone();
    let (mut settled, mut sure, mut unsure) = (None, usize::MAX, None);
    let can_end = |id: ProctypeId| {
        let edges = &system.proctypes[id].edges;
        edges.iter().find(|e| e.effects.contains(&Effect::End) && reached[id.index()][e.from.index()])
    };
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
        let mut others_move = true;
        for _ in 0..MOST {
            if ahead(state.loc(maker)).is_none() {
                break;
            }
            // Who is younger than all who stay, and than the one that makes them, may be gone before the next one is made.
            let may_end = |p: &Pid| *p != maker && can_end(state.proctype(*p)).is_some();
            let gone = (0..state.n_procs() as Pid).rev().take_while(may_end).last();
            if let Some(first) = gone.filter(|first| others_move && usize::from(*first) < sure) {
                sure = usize::from(first);
                let t = &system.proctypes[state.proctype(first)];
                let why = format!("`{}` can end before all processes are made", t.name);
                unsure = Some(Break { span: t.span, why });
            }
            let mut steps = Vec::new();
            interp.proc_moves(Eval::new(&interp, &state, Some(maker), false), &mut steps);
            let [step] = steps[..] else { break };
            if step.partner.is_some() {
                break;
            }
            let Ok(floor) = interp.apply(&mut state, step, &mut Log::default()) else { break };
            others_move = floor.holder() != Some(maker);
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
        let is_within = after.iter().zip(&locs[id.index()]).all(|(after, before)| *before || !after);
        assert!(is_within, "what lies ahead did so from the start");
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
    let born = Born { sure: sure.min(procs.len()), procs, unsure, settled, links, locs };
    born.check(system);
    Ok(born)
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
