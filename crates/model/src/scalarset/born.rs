//! Who is there, and from when on.
//!
//! # The argument
//!   Without `run` it is the processes of the initial state. Otherwise one of them makes the others, and is watched doing it
//!   alone: as long as a `run` lies ahead of it, it looks at nothing but its own variables, and puts nothing into them that
//!   it had to look at others for, so others make no difference to its way. Once no `run` lies ahead, everybody is there.
//!   Who is made has the number that it has where the maker is alone, unless somebody younger than the maker may have ended
//!   before: then nothing is known.

use super::{Break, reachable};
use crate::eval::Eval;
use crate::index::Idx;
use crate::interp::{Floor, Interp, Log};
use crate::ir::{Edge, Effect, Expr, Guard, Init, Loc, Pid, Place, Proctype, ProctypeId, Scope, System, Type};
use crate::range;
use crate::state::State;
use crate::successors::Successors;
use std::collections::BTreeSet;
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
    /// By number: it may die.
    mortal: Vec<bool>,
    /// What a slot of a frame (0 for the globals, else one more than the proctype) may hold before one of those edges is taken.
    pub first: BTreeSet<(usize, u32, i32)>,
    /// The same of slots that may hold whatever their type can.
    pub open: BTreeSet<(usize, u32)>,
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

    /// The process is there for ever: it never dies, or somebody younger does not.
    pub fn stays(&self, pid: usize) -> bool {
        self.mortal.iter().skip(pid).any(|mortal| !mortal)
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
    let (mut first, mut open) = (BTreeSet::new(), BTreeSet::new());
    first.extend((0..).zip(state.globals()).map(|(slot, value)| (0, slot, *value)));
    (0..state.n_procs() as Pid).for_each(|p| born_with(system, &state, p, &mut first));
    if let [maker] = makers[..] {
        let id = state.proctype(maker);
        let t = &system.proctypes[id];
        let ahead = |loc: Loc| {
            let there = reachable(t, loc);
            t.edges.iter().find(|e| there[e.from.index()] && runs(e))
        };
        // Somebody younger than the maker may end, or may do so as soon as others move.
        let mortal = |state: &State, p: Pid| ends(&system.proctypes[state.proctype(p)]);
        let mut gone = (maker + 1..state.n_procs() as Pid).any(|p| mortal(&state, p));
        let mut going = false;
        for _ in 0..MOST {
            if ahead(state.loc(maker)).is_none() {
                break;
            }
            let mut steps = Vec::new();
            interp.proc_moves(Eval::new(&interp, &state, Some(maker), false), &mut steps);
            let [step] = steps[..] else { break };
            let n_procs = state.n_procs() as Pid;
            let mut log = Log::default();
            let Ok(floor) = interp.apply(&mut state, step, &mut log) else { break };
            if step.partner.is_some() || state.n_procs() <= usize::from(maker) {
                break;
            }
            if gone && state.n_procs() > usize::from(n_procs) {
                let why = "processes are made while others can end".to_string();
                return Err(Break { span: t.edges[step.edge].span, why });
            }
            going |= (n_procs..state.n_procs() as Pid).any(|p| mortal(&state, p));
            gone |= going && floor == Floor::Anyone;
            (n_procs..state.n_procs() as Pid).for_each(|p| born_with(system, &state, p, &mut first));
            for effect in log.reached.iter().flat_map(|(_, edge)| &t.edges[*edge].effects) {
                effect.each_write(&mut |place| {
                    let (frame, values) = match place.scope {
                        Scope::Global => (0, state.globals()),
                        Scope::Local => (1 + id.index(), state.locals(system, maker)),
                    };
                    first.extend(place.slots().into_iter().flatten().map(|s| (frame, s, values[s as usize])));
                });
            }
        }
        let alive = state.n_procs() > usize::from(maker);
        let left = if alive { ahead(state.loc(maker)) } else { t.edges.iter().find(|e| runs(e)) };
        if let Some(edge) = left {
            return Err(makes(edge.span));
        }
        let after = reachable(t, state.loc(maker));
        for edge in t.edges.iter().filter(|e| locs[id.index()][e.from.index()] && !after[e.from.index()]) {
            if t.provided.is_some() || !looks_inside(edge) {
                return Err(makes(edge.span));
            }
            edge.effects.iter().for_each(|e| leaves_open(system, e, &mut open));
        }
        locs[id.index()].clone_from(&after);
        settled = Some((maker, after));
    }
    let procs: Vec<ProctypeId> = (0..state.n_procs() as Pid).map(|p| state.proctype(p)).collect();
    let links = system.proctypes.enumerated().flat_map(|(id, _)| links(system, &state, &procs, id)).collect();
    let mortal = procs.iter().map(|id| ends(&system.proctypes[*id])).collect();
    Ok(Born { procs, settled, links, locs, mortal, first, open })
}

/// Whether an edge can run is the process's own business, and so is what it puts into its own variables.
fn looks_inside(edge: &Edge) -> bool {
    let guards = edge.guards.iter().all(|g| match g {
        Guard::Holds(e) => is_own(e),
        Guard::NoneOf(_) => true, // those are edges of the same location
        Guard::Channel | Guard::Youngest => false,
    });
    guards
        && edge.effects.iter().all(|effect| match effect {
            Effect::Assign { to, value } => {
                let mut own = is_own(value);
                to.each_expr(&mut |e| own &= is_own(e));
                own || to.scope == Scope::Global
            }
            Effect::Send { .. } | Effect::Receive { .. } => false,
            Effect::Run { .. } | Effect::SetPriority { .. } | Effect::Event { .. } | Effect::End => true,
            Effect::Assert(_) | Effect::Print { .. } | Effect::PrintName(..) => true,
        })
}

/// Nobody else has to do with its value. (Who is made has a number that is known.)
fn is_own(e: &Expr) -> bool {
    let mut own = true;
    e.each_part(&mut |e| {
        own &= match e {
            Expr::Read(Place { scope, .. }) => *scope == Scope::Local,
            Expr::Const(_) | Expr::Unary(..) | Expr::Binary(..) | Expr::Cond(..) => true,
            Expr::Pid | Expr::NewPid => true,
            _ => false,
        }
    });
    own
}

/// Whether a process of the proctype may die.
fn ends(t: &Proctype) -> bool {
    let there = reachable(t, t.start);
    t.edges.iter().any(|e| there[e.from.index()] && e.effects.contains(&Effect::End))
}

/// What the variables of a process hold that has just been made.
fn born_with(system: &System, state: &State, pid: Pid, out: &mut BTreeSet<(usize, u32, i32)>) {
    let frame = 1 + state.proctype(pid).index();
    out.extend((0..).zip(state.locals(system, pid)).map(|(slot, value)| (frame, slot, *value)));
}

/// What the maker puts where others look, if it depends on others.
fn leaves_open(system: &System, effect: &Effect, out: &mut BTreeSet<(usize, u32)>) {
    match effect {
        Effect::Assign { to, value } if to.scope == Scope::Global => {
            let mut own = is_own(value);
            to.each_expr(&mut |e| own &= is_own(e));
            if !own {
                out.extend(to.slots().into_iter().flatten().map(|slot| (0, slot)));
            }
        }
        Effect::Run { proctype, args, .. } => {
            let frame = 1 + proctype.index();
            out.extend((0..).zip(args).filter(|(_, e)| !is_own(e)).map(|(slot, _)| (frame, slot)));
            for init in &system.proctypes[*proctype].frame.inits {
                if let Init::Value { slot, value, .. } = init
                    && !is_own(value)
                {
                    out.insert((frame, *slot));
                }
            }
        }
        _ => {}
    }
}

impl Born {
    /// What a slot of this type may hold first; nothing if that is too much to say.
    pub fn first(&self, frame: usize, slot: u32, ty: Type) -> Option<BTreeSet<i32>> {
        if !self.open.contains(&(frame, slot)) {
            let held = self.first.range((frame, slot, i32::MIN)..=(frame, slot, i32::MAX));
            return Some(held.map(|(.., value)| *value).collect());
        }
        let (lo, hi) = range::values(ty);
        (hi - lo < 1 << 8).then(|| (lo as i32..=hi as i32).collect())
    }
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
