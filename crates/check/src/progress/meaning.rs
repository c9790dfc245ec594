//! What makes progress.
//!
//! # Two meanings
//!   **States** (SPIN's): a state in which some process stands at a progress label is a progress state. Whoever looks does so
//!   where others may run, so a label inside an `atomic` counts only if the process has to wait there, and one inside a
//!   `d_step` never does.
//!   **Steps** ([FaragoSchmitt] 2.4): a progress label marks the statement behind it, and a step that does such a
//!   statement makes progress. A step may be a whole `atomic` or `d_step`, or a handshake: it makes progress if any
//!   statement that it does, of either partner, is marked.
//!   In both, labels of some processes only may count.
//!
//! # How a step is known
//!   Most steps are one statement, and where its process stands says all. For the others there is a static answer that is
//!   right if it says no (`may_pass`), and where it does not, the interpreter walks the step's path and sees what it does.
//!   The locations from which a step may make progress get the progress labels of the system that is searched, so that `np_`
//!   tells in one look whether a state has such steps at all, and so that no optimisation lets a process pass there
//!   unseen.

use crate::reduce::commute::Commute;
use crate::reduce::still::{HowMany, Still};
use spinor_model::happening::Happened;
use spinor_model::index::Idx;
use spinor_model::interp::{Interp, Log};
use spinor_model::ir::{BinOp, Edge, Effect, Expr, Loc, Pid, ProctypeId, System, Then, UnOp};
use spinor_model::state::State;
use spinor_model::successors::Step;
use std::sync::Arc;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Progress {
    #[default]
    States,
    Steps,
}

impl Progress {
    pub const ALL: [Progress; 2] = [Progress::States, Progress::Steps];

    pub fn word(self) -> &'static str {
        match self {
            Progress::States => "states",
            Progress::Steps => "steps",
        }
    }
}

/// Whose progress counts: every process's of a type, or that of one of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Of {
    pub proctype: ProctypeId,
    pub pid: Option<Pid>,
}

impl Of {
    /// `P` or `P[2]`. Says what is wrong with it.
    pub fn read(text: &str, system: &System) -> Result<Of, String> {
        let (name, pid) = match text.split_once('[') {
            None => (text, None),
            Some((name, rest)) => {
                let number = rest.strip_suffix(']').and_then(|n| n.parse::<Pid>().ok());
                (
                    name,
                    Some(number.ok_or_else(|| format!("`{text}` is not a proctype, nor one with a process number"))?),
                )
            }
        };
        let found = system.proctypes.enumerated().find(|(_, t)| t.name == name);
        let (proctype, _) = found.ok_or_else(|| format!("the model has no proctype `{name}`"))?;
        // Who is made at run time may get any number.
        let made = |e: &Effect| matches!(e, Effect::Run { proctype: made, .. } if *made == proctype);
        let is_made = system.proctypes.iter().flat_map(|t| &t.edges).flat_map(|e| &e.effects).any(made);
        if let Some(pid) = pid.filter(|pid| !is_made && system.active.get(usize::from(*pid)) != Some(&proctype)) {
            let numbers = system.active.iter().enumerate().filter(|(_, t)| **t == proctype);
            let numbers: Vec<String> = numbers.map(|(n, _)| n.to_string()).collect();
            let has = if numbers.is_empty() { "none ever runs".to_string() } else { numbers.join(", ") };
            return Err(format!("there is no process {pid} of proctype `{name}`: {has}"));
        }
        Ok(Of { proctype, pid })
    }
}

/// See the module: a system and what counts in it.
#[derive(Clone, Debug)]
pub struct Meaning {
    pub progress: Progress,
    pub of: Option<Of>,
    /// By proctype and location: the labels that count.
    labels: Vec<Vec<bool>>,
    /// A process that has the floor there may do a marked statement before it gives it back.
    passes: Vec<Vec<bool>>,
}

impl Meaning {
    pub fn new(system: &System, progress: Progress, of: Option<Of>) -> Meaning {
        let counts = |id: ProctypeId| of.is_none_or(|of| of.proctype == id);
        let labels: Vec<Vec<bool>> = system
            .proctypes
            .enumerated()
            .map(|(id, t)| t.locs.iter().map(|l| counts(id) && l.progress).collect())
            .collect();
        let mut meaning = Meaning { progress, of, labels, passes: Vec::new() };
        if progress == Progress::Steps {
            meaning.passes = meaning.closure(system);
        }
        meaning
    }

    /// The same in an optimised form of the system.
    pub fn on(&self, system: &System) -> Meaning {
        let mut meaning = self.clone();
        let as_many = |(t, labels): (usize, &Vec<bool>)| {
            system.proctypes.get(ProctypeId::new(t)).is_some_and(|t| t.locs.len() == labels.len())
        };
        assert!(self.labels.iter().enumerate().all(as_many), "locations keep their numbers");
        if self.progress == Progress::Steps {
            meaning.passes = self.closure(system);
        }
        meaning
    }

    /// The least set that has the labels and is closed under keeping the floor.
    fn closure(&self, system: &System) -> Vec<Vec<bool>> {
        let mut passes = self.labels.clone();
        loop {
            let handed = handed(system, &self.labels, &passes);
            let mut more = false;
            for (t, proctype) in system.proctypes.iter().enumerate() {
                for edge in &proctype.edges {
                    let on = edge.then != Then::Yield && passes[t][edge.to.index()] || handed && edge.send().is_some();
                    if on && !passes[t][edge.from.index()] {
                        passes[t][edge.from.index()] = true;
                        more = true;
                    }
                }
            }
            if !more {
                let has = |(t, labels): (usize, &Vec<bool>)| labels.iter().zip(&passes[t]).all(|(at, on)| *on || !at);
                debug_assert!(self.labels.iter().enumerate().all(has), "the set has the labels");
                return passes;
            }
        }
    }

    /// The system that is searched, before it is optimised: its progress labels say where to look.
    pub fn relabelled(&self, system: &Arc<System>) -> Arc<System> {
        let whole = self.of.is_none() && self.progress == Progress::States;
        if whole {
            return system.clone();
        }
        let mut out = System::clone(system);
        let handed = self.progress == Progress::Steps && handed(system, &self.labels, &self.passes);
        for (t, proctype) in out.proctypes.iter_mut().enumerate() {
            let mut at = self.labels[t].clone();
            for edge in &proctype.edges {
                at[edge.from.index()] |= self.progress == Progress::Steps && self.may_pass(t, edge, handed);
            }
            proctype.locs.iter_mut().zip(at).for_each(|(loc, at)| loc.progress = at);
        }
        Arc::new(out)
    }

    /// Past its first statement, the step may come to a marked one.
    fn may_pass(&self, t: usize, edge: &Edge, handed: bool) -> bool {
        edge.then != Then::Yield && self.passes[t][edge.to.index()] || handed && edge.send().is_some()
    }

    /// True in states without progress; of steps, in those that have no step that could make progress. To be asked of the
    /// relabelled system.
    pub fn still(&self, system: &System) -> Expr {
        let (Some(Of { proctype, pid: Some(pid) }), Progress::States) = (self.of, self.progress) else {
            return Expr::NonProgress;
        };
        let at = |(loc, _): (usize, &bool)| Expr::AtLabel {
            proctype,
            pid: Some(Box::new(Expr::Const(i32::from(pid)))),
            loc: Loc::new(loc),
            label: system.proctypes[proctype].locs[Loc::new(loc)].labels.first().cloned().unwrap_or_default(),
        };
        let all = self.labels[proctype.index()].iter().enumerate().filter(|(_, is)| **is).map(at);
        let any = all.reduce(|a, b| Expr::Binary(BinOp::Or, Box::new(a), Box::new(b)));
        any.map_or(Expr::Const(1), |any| Expr::Unary(UnOp::Not, Box::new(any)))
    }

    /// What a reduction of the system that is searched must keep to, where steps make progress with so many that make none.
    pub fn spared(&self, system: &System, still: HowMany) -> Still {
        match self.progress {
            Progress::States => Still::states(self.labels.clone()),
            Progress::Steps => {
                let makes = |t: usize, e: &Edge| self.labels[t][e.from.index()] || self.may_pass(t, e, false);
                let types = system.proctypes.iter().enumerate();
                Still::steps(types.map(|(t, p)| p.edges.iter().map(|e| makes(t, e)).collect()).collect(), still)
            }
        }
    }

    /// Which steps lead to the same in both orders, if it is states that make progress.
    pub fn commute(&self, system: &Arc<System>) -> Option<Commute> {
        let new = || Commute::new(system, Still::states(self.labels.clone()));
        (self.progress == Progress::States).then(new).flatten()
    }

    /// A label there counts, at least for some of its processes.
    pub fn marks(&self, proctype: ProctypeId, loc: Loc) -> bool {
        self.labels[proctype.index()][loc.index()]
    }

    /// A statement of this process at this location is marked.
    pub fn counts(&self, pid: Pid, proctype: ProctypeId, loc: Loc) -> bool {
        self.marks(proctype, loc) && self.of.is_none_or(|of| of.pid.is_none_or(|own| own == pid))
    }

    /// Whether an outcome of a step makes progress; `interp` is of the system that is searched.
    pub fn made(&self, interp: &Interp, state: &State, step: Step, path: u32) -> bool {
        let system = interp.system();
        let at = |state: &State, pid: Pid| self.counts(pid, state.proctype(pid), state.loc(pid));
        if at(state, step.pid) || step.partner.is_some_and(|(pid, _)| at(state, pid)) {
            debug_assert!(self.walked(interp, state, step, path), "the first statement is marked");
            return true;
        }
        let t = state.proctype(step.pid);
        let edge = &system.proctypes[t].edges[step.edge];
        let goes_on = |pid: Pid, edge: &Edge| {
            edge.then != Then::Yield && self.passes[state.proctype(pid).index()][edge.to.index()]
        };
        let partner = step.partner.map(|(pid, e)| (pid, &system.proctypes[state.proctype(pid)].edges[e]));
        if !goes_on(step.pid, edge) && !partner.is_some_and(|(pid, edge)| goes_on(pid, edge)) {
            debug_assert!(
                !self.walked(interp, state, step, path),
                "no marked statement follows while it has the floor"
            );
            return false;
        }
        self.walked(interp, state, step, path)
    }

    /// The same by doing it, statement by statement.
    pub fn walked(&self, interp: &Interp, state: &State, step: Step, path: u32) -> bool {
        let mut before = state.clone();
        for micro in interp.path(state, step, path) {
            if passed(interp, &before, micro.step).any(|(pid, t, loc)| self.counts(pid, t, loc)) {
                return true;
            }
            before = micro.state;
        }
        false
    }
}

/// Where the statements stand that are done at once, and whose each is: of a handshake, or of a `d_step` that begins with
/// one, not all are the sender's.
pub fn passed(interp: &Interp, before: &State, step: Step) -> impl Iterator<Item = (Pid, ProctypeId, Loc)> {
    let mut log = Log { happened: Some(Vec::new()), ..Log::default() };
    // A fault ends the path, and the outcome leads nowhere.
    let _ = interp.apply(&mut before.clone(), step, &mut log);
    log.happened.into_iter().flatten().filter_map(|happened| match happened {
        Happened::Took { pid, proctype, edge } => {
            Some((pid, proctype, interp.system().proctypes[proctype].edges[edge].from))
        }
        Happened::Passed { .. } => None,
    })
}

/// A handshake may be marked by its receiver, or lead to a marked statement of the receiver's.
fn handed(system: &System, labels: &[Vec<bool>], passes: &[Vec<bool>]) -> bool {
    let frames = system.proctypes.iter().map(|t| &t.frame).chain([&system.globals]);
    let rendezvous = frames.flat_map(|f| &f.chans).any(|c| c.capacity == 0);
    let edges = system.proctypes.iter().enumerate().flat_map(|(t, p)| p.edges.iter().map(move |e| (t, e)));
    let receives = |e: &Edge| matches!(e.effects.first(), Some(Effect::Receive { .. }));
    rendezvous
        && edges
            .filter(|(_, e)| receives(e))
            .any(|(t, e)| labels[t][e.from.index()] || e.then != Then::Yield && passes[t][e.to.index()])
}
