//! The meaning of a system, said in the plainest way.
//!
//! Everything else that runs a system is a guess about this file, checked against it.
//!
//! # The argument
//! A process at a location can take an edge when its guards hold, its `provided` clause holds, and, where the model
//! uses priorities, no process of higher priority can move. If no process can move, `timeout` becomes true and
//! everything is asked once more.
//!
//! * A send on a channel without slots needs a partner: another process whose location has a receive on that channel
//!   that matches the message. The two halves are one step, the sender's. The partner's other statements do not
//!   matter, except an escape (or earlier `d_step` option) that could take the same message: that goes first.
//! * After an edge marked `Atomic` the process keeps the floor for as long as it can move. After a handshake the floor
//!   is the receiver's to keep, never the sender's.
//! * After an edge marked `DStep` the process goes on at once, taking the first edge that can run, until the block is
//!   left; to be stuck there is a fault.
//!
//! Between the point where the floor is given back and the next such point lies one *outcome* of a step. Two runs of
//! the same chain that return to a state seen in it would go round for ever: that is a fault, not a hang.
//!
//! # Invariants
//!   M1 every slot written fits its type (state.rs, S1)
//!   M2 only what `moves` offers is done, and all of it can be: every step has an outcome, be it a fault
//!   M3 the same state gives the same steps in the same order, those of the youngest process first
//!
//! This file asks: who can move, and where a step leads. `work.rs` does: what becomes of a state when an edge is taken.

use crate::eval::Eval;
use crate::fault::{Fault, FaultKind};
use crate::happening::{Happened, Steps};
use crate::index::Idx;
use crate::ir::{
    ChanDecl, Edge, EdgeId, Effect, Expr, Guard, Loc, MAX_LIVE, Pid, Proctype, ProctypeId, System, Then, Type,
};
use crate::layout::Layout;
use crate::state::{self, ChanView, Packing, State};
use crate::successors::{Batch, Step, Successors};
use crate::work::Work;
use std::sync::Arc;

/// A system, ready to run.
#[derive(Clone, Debug)]
pub struct Interp {
    pub(crate) system: Arc<System>,
    pub(crate) packing: Arc<Packing>,
    /// The types of each proctype's parameter slots.
    pub(crate) params: Arc<Vec<Vec<Type>>>,
    pub(crate) has_promises: bool,
    /// What [`Successors::look`] looks at.
    pub(crate) looked: Arc<[Expr]>,
    looks_for_timeout: bool,
    /// What of it is about steps.
    pub(crate) steps: Option<Arc<Steps>>,
}

/// Who may move next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Floor {
    Anyone,
    /// This process, if it can: it is inside an `atomic`.
    Only(Pid),
}

impl Floor {
    /// Who has it alone.
    pub fn holder(self) -> Option<Pid> {
        match self {
            Floor::Anyone => None,
            Floor::Only(pid) => Some(pid),
        }
    }
}

/// What is worth knowing about statements besides the state they lead to.
#[derive(Clone, Debug, Default)]
pub struct Log {
    /// Faults after which the run goes on.
    pub faults: Vec<Fault>,
    /// In the order in which they were met, each once: a chain may take an edge a million times.
    pub reached: Vec<(ProctypeId, EdgeId)>,
    pub truncated: Vec<(ProctypeId, EdgeId)>,
    /// What `printf` and `printm` wrote, if it is wanted.
    pub output: Option<String>,
    /// Edges taken and messages passed, in order, if that is wanted.
    pub happened: Option<Vec<Happened>>,
}

/// One statement, handshake or `d_step` of an outcome.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Micro {
    pub step: Step,
    pub proctype: ProctypeId,
    /// After it; where it was stopped, if it ended in a fatal fault.
    pub state: State,
    pub faults: Vec<Fault>,
    pub output: String,
    pub then: Floor,
}

/// A chain longer than this is watched for a state that comes back.
pub(crate) const WATCH_FROM: usize = 64;

pub(crate) type Run<T> = Result<T, FaultKind>;

impl Interp {
    pub fn new(system: Arc<System>) -> Interp {
        Interp::looking(system, &[])
    }

    /// One that can be asked which of these expressions are true.
    pub fn looking(system: Arc<System>, looked: &[Expr]) -> Interp {
        let packing = Arc::new(Packing::new(&system));
        let has_promises = system.proctypes.iter().any(|t| !t.promises.is_empty());
        let params = system.proctypes.iter().map(|t| {
            let mut types: Vec<Type> = Vec::new();
            for var in t.frame.vars.iter().take_while(|v| v.slot < t.n_params) {
                var.shape.leaves(&mut |_, ty| types.push(ty));
            }
            types
        });
        let params: Arc<Vec<Vec<Type>>> = Arc::new(params.collect());
        let each = system.proctypes.iter().zip(params.iter());
        assert!(each.into_iter().all(|(t, own)| own.len() == t.n_params as usize), "a parameter is a whole variable");
        let mut looks_for_timeout = false;
        looked.iter().for_each(|e| e.each_part(&mut |e| looks_for_timeout |= *e == Expr::Timeout));
        let steps = Steps::new(&system, looked).map(Arc::new);
        Interp { system, packing, params, has_promises, looked: looked.into(), looks_for_timeout, steps }
    }

    #[inline]
    pub fn system(&self) -> &System {
        &self.system
    }

    #[inline]
    pub fn layout(&self) -> &Layout {
        &self.packing.layout
    }

    pub fn shared_system(&self) -> &Arc<System> {
        &self.system
    }

    /// A channel by its number, if it is alive.
    pub fn chan<'a>(&'a self, state: &'a State, id: u8) -> Option<ChanView<'a>> {
        if id == 0 || id as usize > state.n_chans() {
            return None;
        }
        let chan = state.chan(id);
        let decl = state::decl(&self.system, state, chan);
        let n = decl.fields.len();
        let messages = (0..state.chan_len(chan)).map(|i| state.message(chan, n, i)).collect();
        Some(ChanView { id, decl, owner: chan.owner, messages })
    }

    /// The value of an expression, for explanations and formulas.
    pub fn value(&self, state: &State, pid: Option<Pid>, e: &Expr) -> Result<i32, FaultKind> {
        Eval::new(self, state, pid, false).value(e)
    }

    /// The statements that can run now, one by one. A process that holds the floor and is stuck gives it up.
    pub fn moves(&self, state: &State, floor: Floor, out: &mut Vec<Step>) {
        out.clear();
        if let Floor::Only(pid) = floor {
            self.floor_moves(state, pid, out);
            if !out.is_empty() {
                return;
            }
        }
        self.all_moves(state, false, out);
        if out.is_empty() && self.system.uses.timeout {
            self.all_moves(state, true, out);
        }
        debug_assert!(out.is_sorted_by(|a, b| a.pid >= b.pid), "M3");
        debug_assert!((1..out.len()).all(|n| !out[..n].contains(&out[n])), "a step is offered once");
        debug_assert!(out.iter().all(|s| s.timeout == out[0].timeout), "`timeout` is true for all or for nobody");
        debug_assert!(out.first().is_none_or(|s| !s.timeout || self.system.uses.timeout), "nobody waits in vain");
        debug_assert!(out.iter().all(|s| self.check_step(state, s)), "M2");
    }

    /// Its process stands where the step begins, its partner where it can answer.
    fn check_step(&self, state: &State, step: &Step) -> bool {
        let n = state.n_procs();
        let edge = |pid: Pid, edge| &self.proctype_of(state, pid).edges[edge];
        let stands = |pid: Pid, e| usize::from(pid) < n && edge(pid, e).from == state.loc(pid);
        stands(step.pid, step.edge)
            && step.partner.is_none_or(|(pid, half)| {
                pid != step.pid
                    && stands(pid, half)
                    && edge(pid, half).receive().is_some()
                    && edge(step.pid, step.edge).send().is_some()
            })
    }

    fn floor_moves(&self, state: &State, pid: Pid, out: &mut Vec<Step>) {
        if self.system.uses.priorities && self.outranked(state, pid, false) {
            return;
        }
        self.proc_moves(Eval::new(self, state, Some(pid), false), out);
        debug_assert!(out.iter().all(|s| s.pid == pid && !s.timeout), "only who has the floor moves, without waiting");
    }

    fn all_moves(&self, state: &State, timeout: bool, out: &mut Vec<Step>) {
        for pid in (0..state.n_procs() as Pid).rev() {
            self.proc_moves(Eval::new(self, state, Some(pid), timeout), out);
        }
        if self.system.uses.priorities {
            let (top, none) = (out.iter().map(|s| state.priority(s.pid)).max(), out.is_empty());
            out.retain(|s| Some(state.priority(s.pid)) == top);
            debug_assert_eq!(out.is_empty(), none, "somebody has the highest priority");
            debug_assert!(out.iter().all(|s| !self.outranked(state, s.pid, timeout)), "nobody moves who is outranked");
        }
    }

    /// Can a process of higher priority move?
    fn outranked(&self, state: &State, pid: Pid, timeout: bool) -> bool {
        (0..state.n_procs() as Pid)
            .any(|p| state.priority(p) > state.priority(pid) && self.can_move(Eval::new(self, state, Some(p), timeout)))
    }

    pub(crate) fn can_move(&self, eval: Eval<'_>) -> bool {
        let mut steps = Vec::new();
        self.proc_moves(eval, &mut steps);
        !steps.is_empty()
    }

    pub(crate) fn proctype_of(&self, state: &State, pid: Pid) -> &Proctype {
        &self.system.proctypes[state.proctype(pid)]
    }

    pub(crate) fn accepting(&self, state: &State) -> bool {
        (0..state.n_procs() as Pid).any(|p| self.proctype_of(state, p).locs[state.loc(p)].accept)
    }

    pub(crate) fn non_progress(&self, state: &State) -> bool {
        (0..state.n_procs() as Pid).all(|p| !self.proctype_of(state, p).locs[state.loc(p)].progress)
    }

    /// `provided`; a clause that faults lets the process through, so that the fault is met.
    pub(crate) fn is_provided(&self, eval: Eval<'_>) -> bool {
        match &self.proctype_of(eval.state, eval.own()).provided {
            Some(clause) => eval.value(clause) != Ok(0),
            None => true,
        }
    }

    /// Appends the steps of one process.
    pub(crate) fn proc_moves(&self, eval: Eval<'_>, out: &mut Vec<Step>) {
        if !self.is_provided(eval) {
            return;
        }
        let pid = eval.own();
        let t = self.proctype_of(eval.state, pid);
        let before = out.len();
        for &edge in &t.locs[eval.state.loc(pid)].edges {
            let step = Step { pid, edge, partner: None, timeout: eval.timeout };
            match self.readiness(eval, t, edge) {
                Ready::No => {}
                Ready::Yes => out.push(step),
                Ready::With(partners) => out.extend(partners.into_iter().map(|p| Step { partner: Some(p), ..step })),
            }
        }
        let place = |s: &Step| t.locs[eval.state.loc(pid)].edges.iter().position(|e| *e == s.edge);
        debug_assert!(out[before..].is_sorted_by_key(place), "M3: edges in the order of their location");
    }

    /// Whether an edge can run. A guard that faults counts as holding: firing it meets the fault.
    pub(crate) fn readiness(&self, eval: Eval<'_>, t: &Proctype, edge: EdgeId) -> Ready {
        for guard in &t.edges[edge].guards {
            if let Guard::NoneOf(others) = guard
                && others.iter().any(|o| self.is_ready_alone(eval, t, *o))
            {
                debug_assert!(self.check_first(eval, t, others), "V3: of those that are ready one waits for none");
                return Ready::No;
            }
        }
        self.readiness_alone(eval, t, edge)
    }

    /// Of edges some of which are ready as far as their own guards go, one is ready with all its guards.
    fn check_first(&self, eval: Eval<'_>, t: &Proctype, others: &[EdgeId]) -> bool {
        let is_ready = |o: &EdgeId| !matches!(self.readiness(eval, t, *o), Ready::No);
        let waits = |o: &EdgeId| t.edges[*o].guards.iter().any(|g| matches!(g, Guard::NoneOf(_)));
        others.len() > 4 || !others.iter().any(waits) || others.iter().any(is_ready)
    }

    pub(crate) fn is_ready_alone(&self, eval: Eval<'_>, t: &Proctype, edge: EdgeId) -> bool {
        !matches!(self.readiness_alone(eval, t, edge), Ready::No)
    }

    /// Whether an edge can run as far as its own guards go. For an edge waited for that is enough: what it waits for in
    /// turn is waited for as well (validator, V3), and the first of all that are ready waits for none.
    fn readiness_alone(&self, eval: Eval<'_>, t: &Proctype, edge: EdgeId) -> Ready {
        let edge = &t.edges[edge];
        let mut ready = Ready::Yes;
        for guard in &edge.guards {
            let holds = match guard {
                Guard::Holds(e) => eval.value(e) != Ok(0),
                Guard::Youngest => eval.own() as usize + 1 == eval.state.n_procs(),
                Guard::NoneOf(_) => true,
                Guard::Channel => {
                    match self.channel_readiness(eval, edge) {
                        Ok(Ready::No) => return Ready::No,
                        Ok(Ready::Yes) | Err(_) => {}
                        Ok(with) => ready = with,
                    }
                    true
                }
            };
            if !holds {
                return Ready::No;
            }
        }
        ready
    }

    pub(crate) fn channel_readiness(&self, eval: Eval<'_>, edge: &Edge) -> Run<Ready> {
        let yes_if = |b| Ok(if b { Ready::Yes } else { Ready::No });
        match &edge.effects[0] {
            Effect::Send { chan: e, args, .. } => {
                let (chan, decl) = eval.chan(e)?;
                if decl.capacity > 0 {
                    return yes_if(eval.state.chan_len(chan) < decl.capacity as usize);
                }
                if edge.in_d_step {
                    return Err(FaultKind::RendezvousInDStep);
                }
                let message = self.message(eval, decl, args)?;
                debug_assert_eq!(eval.state.chan_len(chan), 0, "a channel without slots holds nothing");
                let partners = self.partners(eval, eval.value(e)?, &message);
                debug_assert!(partners.is_sorted_by(|a, b| a.0 >= b.0), "M3");
                Ok(if partners.is_empty() { Ready::No } else { Ready::With(partners) })
            }
            Effect::Receive { chan: e, random, keep, args } => {
                let (chan, decl) = eval.chan(e)?;
                if decl.capacity == 0 {
                    // A receive never starts a handshake; to look without taking is a mistake.
                    return if *keep { Err(FaultKind::PolledRendezvous) } else { Ok(Ready::No) };
                }
                yes_if(eval.find_message(chan, decl.fields.len(), *random, args)?.is_some())
            }
            other => unreachable!("validator rule V4: {other:?} has no channel guard"),
        }
    }

    /// The fields of a message as the channel keeps them.
    pub(crate) fn message(&self, eval: Eval<'_>, decl: &ChanDecl, args: &[Expr]) -> Run<Vec<i32>> {
        if args.len() != decl.fields.len() {
            return Err(FaultKind::WrongArity { given: args.len(), fields: decl.fields.len() });
        }
        args.iter().zip(&decl.fields).map(|(e, ty)| Ok(ty.fit(eval.value(e)?))).collect()
    }

    /// Who can take this message from a rendez-vous channel: youngest first.
    fn partners(&self, sender: Eval<'_>, chan: i32, message: &[i32]) -> Vec<(Pid, EdgeId)> {
        let mut out = Vec::new();
        for pid in (0..sender.state.n_procs() as Pid).rev().filter(|p| *p != sender.own()) {
            let eval = Eval { pid: Some(pid), ..sender };
            let t = self.proctype_of(eval.state, pid);
            let edges = &t.locs[eval.state.loc(pid)].edges;
            if !edges.iter().any(|e| t.edges[*e].receive().is_some()) || !self.is_provided(eval) {
                continue;
            }
            let takes = |edge: EdgeId| self.takes(eval, &t.edges[edge], chan, message);
            for &edge in edges.iter().filter(|e| takes(**e)) {
                let preempted = t.edges[edge].guards.iter().any(|g| match g {
                    Guard::NoneOf(others) => others.iter().any(|e| takes(*e)),
                    _ => false,
                });
                if !preempted {
                    debug_assert!(pid != sender.own(), "nobody answers himself");
                    out.push((pid, edge));
                }
            }
        }
        out
    }

    /// A receive whose number of fields is wrong takes the message, so that the fault is met.
    fn takes(&self, eval: Eval<'_>, edge: &Edge, chan: i32, message: &[i32]) -> bool {
        match &edge.effects.first() {
            Some(Effect::Receive { chan: e, keep: false, args, .. }) => {
                eval.value(e) == Ok(chan) && (args.len() != message.len() || eval.matches(args, message) != Ok(false))
            }
            _ => false,
        }
    }

    /// Does one statement, one handshake, or a `d_step` whole. The step must be one of `moves`.
    pub fn apply(&self, state: &mut State, step: Step, log: &mut Log) -> Result<Floor, Fault> {
        debug_assert!(self.offers(state, step), "M2: {step:?}");
        let n_faults = log.faults.len();
        let mut work = Work::new(self, state, log, step.timeout);
        match work.step(step) {
            Ok(floor) => {
                debug_assert!(log.faults[n_faults..].iter().all(|f| !f.kind.is_fatal()), "a fatal fault ends the run");
                debug_assert!(
                    floor.holder().is_none_or(|pid| usize::from(pid) < state.n_procs()),
                    "who has the floor lives"
                );
                debug_assert!(self.check_state(state), "M1: {step:?}");
                Ok(floor)
            }
            Err(kind) => {
                debug_assert!(kind.is_fatal(), "what does not end the run is in the log: {kind:?}");
                debug_assert!(work.at.is_some_and(|(_, t, e)| self.blames(t, e)), "some statement is to blame");
                Err(Fault { kind, at: work.at })
            }
        }
    }

    fn blames(&self, proctype: ProctypeId, edge: EdgeId) -> bool {
        self.system.proctypes.get(proctype).is_some_and(|t| t.edges.get(edge).is_some())
    }

    /// Everybody stands somewhere, everything has its place, and every value fits.
    fn check_state(&self, state: &State) -> bool {
        let stands = |p: Pid| state.loc(p).index() < self.proctype_of(state, p).locs.len();
        let ranks = |p: Pid| (0..=255).contains(&state.priority(p));
        let n_stands = self.system.monitor.as_ref().map_or(0, |m| m.graph.locs.len());
        (0..state.n_procs() as Pid).all(|p| stands(p) && ranks(p))
            && state.n_procs() <= MAX_LIVE
            && state.n_chans() <= MAX_LIVE
            && state.monitor() <= n_stands
            && self.packing.check(&self.system, state)
    }

    /// Of a step that was taken: who had no part in it is where he was, with what he had, and who had moved on.
    fn check_parts(&self, before: &State, after: &State, step: Step) -> bool {
        let edge = |pid: Pid, edge: EdgeId| &self.proctype_of(before, pid).edges[edge];
        let (mover, half) = step.partner.unwrap_or((step.pid, step.edge));
        let ends = edge(mover, half).ends();
        let others = 0..before.n_procs().min(after.n_procs()) as Pid;
        let stays = |p: Pid| {
            let same = before.proctype(p) == after.proctype(p);
            let ranks = before.priority(p) == after.priority(p) || self.system.uses.priorities;
            let part = p == step.pid || p == mover;
            let idle =
                || before.loc(p) == after.loc(p) && before.locals(&self.system, p) == after.locals(&self.system, p);
            same && ranks && (part || idle())
        };
        let moved = |p: Pid, e: &Edge| e.then == Then::DStep || after.loc(p) == e.to;
        others.into_iter().all(stays)
            && (ends || moved(mover, edge(mover, half)))
            && (mover == step.pid || moved(step.pid, edge(step.pid, step.edge)))
            && after.n_procs() >= before.n_procs() - usize::from(ends)
            && after.last() == i32::from(mover)
            && (self.system.monitor.is_some() || before.monitor() == after.monitor())
    }

    fn offers(&self, state: &State, step: Step) -> bool {
        let mut steps = Vec::new();
        self.proc_moves(Eval::new(self, state, Some(step.pid), step.timeout), &mut steps);
        steps.contains(&step)
    }

    /// Explores one step to the points where the floor is given back, depth first, and hands each to `found`.
    /// `found` returns false to stop.
    pub(crate) fn chains(&self, state: &State, step: Step, log: &mut Log, found: &mut impl FnMut(Chain<'_>) -> bool) {
        let mut links: Vec<Link> = Vec::new();
        let mut atomic_steps = 0;
        let mut watched: (usize, Vec<u8>) = (0, Vec::new());
        let mut todo = vec![step];
        loop {
            // Take the next statement from the innermost open choice.
            let Some(step) = (match links.last_mut() {
                Some(link) => link.todo.pop(),
                None => todo.pop(),
            }) else {
                if links.pop().is_none() {
                    return;
                }
                if links.len() <= watched.0 {
                    watched = (0, Vec::new()); // the path that led to the watched state has been left
                }
                continue;
            };
            let mut after = links.last().map_or(state, |l| &l.after).clone();
            let n_faults = log.faults.len();
            let result = self.apply(&mut after, step, log);
            debug_assert!(
                result.is_err() || self.check_parts(links.last().map_or(state, |l| &l.after), &after, step),
                "a step changes who takes part in it: {step:?}"
            );
            let faults = log.faults.split_off(n_faults);
            let output = log.output.as_mut().map(std::mem::take).unwrap_or_default();
            let happened = log.happened.as_mut().map(std::mem::take).unwrap_or_default();
            let mut todo = Vec::new();
            let mut fatal = None;
            let mut then = Floor::Anyone;
            match result {
                Ok(floor @ Floor::Only(pid)) => {
                    debug_assert_eq!(pid, step.partner.map_or(step.pid, |(p, _)| p), "the floor is who moved last's");
                    atomic_steps += 1;
                    then = floor;
                    self.floor_moves(&after, pid, &mut todo);
                    todo.reverse();
                    if links.len() >= WATCH_FROM && !todo.is_empty() {
                        let mut key = Vec::new();
                        self.packing.pack(&after, &mut key);
                        if key == watched.1 {
                            let at = Some((step.pid, after.proctype(step.pid), step.edge));
                            fatal = Some(Fault { kind: FaultKind::EndlessAtomic, at });
                            todo.clear();
                        } else if links.len() >= 2 * watched.0 {
                            watched = (links.len(), key);
                        }
                    }
                }
                Ok(Floor::Anyone) => {}
                Err(fault) => fatal = Some(fault),
            }
            let endless = matches!(&fatal, Some(Fault { kind: FaultKind::EndlessAtomic, .. }));
            let stays = todo.is_empty();
            debug_assert!(stays || fatal.is_none(), "a fault that ends the run ends the chain");
            debug_assert!(
                stays || then.holder().is_some_and(|pid| todo.iter().all(|s| s.pid == pid)),
                "who keeps the floor moves"
            );
            links.push(Link { step, after, todo, faults, output, happened, then });
            if stays {
                let steps = std::mem::take(&mut atomic_steps);
                if !found(Chain { links: &links, fatal, atomic_steps: steps }) || endless {
                    return;
                }
            }
        }
    }

    /// Who looks from outside.
    pub(crate) fn outside<'a>(&'a self, state: &'a State) -> Eval<'a> {
        let mut steps = Vec::new();
        if self.looks_for_timeout {
            self.all_moves(state, false, &mut steps);
        }
        Eval::new(self, state, None, self.looks_for_timeout && steps.is_empty())
    }

    /// The statements of one outcome of a step, with the state after each.
    pub fn path(&self, state: &State, step: Step, path: u32) -> Vec<Micro> {
        let mut out = Vec::new();
        let mut n = 0;
        let mut log = Log { output: Some(String::new()), ..Log::default() };
        self.chains(state, step, &mut log, &mut |chain| {
            if n < path {
                n += 1;
                return true;
            }
            let mut before = state;
            debug_assert_eq!(chain.links.first().map(|link| link.step), Some(step), "a chain begins with its step");
            for link in chain.links {
                out.push(Micro {
                    step: link.step,
                    proctype: before.proctype(link.step.pid),
                    state: link.after.clone(),
                    faults: link.faults.clone(),
                    output: link.output.clone(),
                    then: link.then,
                });
                before = &link.after;
            }
            if let (Some(fault), Some(last)) = (chain.fatal, out.last_mut()) {
                last.faults.push(fault);
            }
            false
        });
        debug_assert!(!out.is_empty(), "the step has no such path");
        out
    }
}

/// Whether an edge can run.
pub(crate) enum Ready {
    No,
    Yes,
    /// In a handshake, with any of these.
    With(Vec<(Pid, EdgeId)>),
}

/// A statement of a chain, and the choices after it that are still to be tried, last first.
pub(crate) struct Link {
    step: Step,
    after: State,
    todo: Vec<Step>,
    faults: Vec<Fault>,
    output: String,
    pub happened: Vec<Happened>,
    then: Floor,
}

pub(crate) struct Chain<'a> {
    pub links: &'a [Link],
    fatal: Option<Fault>,
    /// Statements since the last chain was handed over, after which the floor was kept.
    atomic_steps: u32,
}

impl Successors for Interp {
    type State = State;

    fn initial(&self) -> Result<State, Fault> {
        let mut state = State::empty(&self.system);
        let mut log = Log::default();
        let mut work = Work::new(self, &mut state, &mut log, false);
        let made = (|| {
            if self.system.globals.chans.len() > MAX_LIVE {
                return Err(FaultKind::TooManyChannels);
            }
            work.initialise(&self.system.globals, None, 1)?;
            for &proctype in &self.system.active {
                work.run(proctype, &[], self.system.proctypes[proctype].priority)?;
            }
            if let Some(monitor) = &self.system.monitor {
                work.state.set_monitor(monitor.graph.start.index());
            }
            Ok(())
        })();
        match made {
            Ok(()) => {
                debug_assert_eq!(
                    state.n_procs(),
                    self.system.active.len(),
                    "those that are active live, and nobody else"
                );
                debug_assert!(self.check_state(&state), "M1");
                Ok(state)
            }
            Err(kind) => Err(Fault { kind, at: None }),
        }
    }

    fn pack(&self, state: &State, key: &mut Vec<u8>) {
        let start = key.len();
        self.packing.pack(state, key);
        debug_assert!(self.packing.is_kept(&self.system, state, &key[start..]), "S3");
    }

    fn unpack(&self, key: &[u8]) -> State {
        let state = self.packing.unpack(&self.system, key);
        debug_assert!(self.check_state(&state), "S1, S2");
        state
    }

    fn batch(&self) -> Batch {
        Batch::new(&self.system)
    }

    fn enabled(&self, state: &mut State, steps: &mut Vec<Step>) {
        self.moves(state, Floor::Anyone, steps);
    }

    fn fire(&self, state: &mut State, steps: &[Step], batch: &mut Batch) {
        let mut log = Log::default();
        for (n, step) in steps.iter().enumerate() {
            let mut path = 0;
            let mut found = |chain: Chain<'_>| {
                let outcome = batch.outcomes.len();
                let faults = chain.links.iter().flat_map(|l| &l.faults).cloned();
                batch.faults.extend(faults.chain(chain.fatal.clone()).map(|f| (outcome, f)));
                let key = chain.fatal.is_none().then_some(batch.keys.len());
                if key.is_some() {
                    self.pack(&chain.links.last().expect("a chain has a link").after, &mut batch.keys);
                }
                batch.push(n as u32, path, chain.atomic_steps, key);
                path += 1;
                true
            };
            self.chains(state, *step, &mut log, &mut found);
            debug_assert!(path > 0, "M2");
            debug_assert!(batch.outcomes.last().is_some_and(|o| (o.step, o.path + 1) == (n as u32, path)), "in order");
        }
        for (proctype, edge) in log.reached {
            batch.reached.put(proctype, edge);
        }
        for (proctype, edge) in log.truncated {
            batch.truncated.put(proctype, edge);
        }
    }

    fn look(&self, state: &mut State, bits: &mut Vec<u64>) -> Result<(), FaultKind> {
        bits.clear();
        bits.resize(self.looked.len().div_ceil(64), 0);
        let eval = self.outside(state);
        for (n, e) in self.looked.iter().enumerate() {
            bits[n / 64] |= u64::from(eval.value(e)? != 0) << (n % 64);
        }
        Ok(())
    }

    fn happens(
        &self,
        state: &mut State,
        one: &[u64],
        fired: (&[Step], &Batch),
        bits: &mut Vec<u64>,
    ) -> Result<(), FaultKind> {
        let state = &*state;
        self.happens_with(one, &|pid| state.proctype(pid), &|| state.clone(), fired, bits)
    }

    fn may_end(&self, state: &State) -> bool {
        let at_end = |p| {
            let t = self.proctype_of(state, p);
            state.loc(p) == t.end || t.locs[state.loc(p)].end
        };
        let trace_done = match &self.system.monitor {
            Some(m) if !m.negated => {
                let loc = Loc::new(state.monitor());
                loc == m.graph.end || m.graph.locs[loc].end
            }
            _ => true,
        };
        let empty = |id: usize| state.chan_len(state.chan(id as u8)) == 0;
        let drained = !self.system.uses.drained || (1..=state.n_chans()).all(empty);
        trace_done && drained && (0..state.n_procs() as Pid).all(at_end)
    }
}
