//! What happens in a step, for those who look from outside.
//!
//! # What it means
//!   A run is s0 a0 s1 a1 …: states, and between them the steps that lead from one to the next. Whoever looks from outside
//!   looks at pairs (s, a): at a state, and at the step by which it is left. An expression without [`Expr::Happens`] is
//!   about s alone. `Happens` is true of a pair if the operation is among what a does, and everything that the
//!   operation names (which channel, which process) is evaluated in s.
//!
//!   | the step is | what it does |
//!   |---|---|
//!   | a statement | takes its edge; sends or receives, if it does |
//!   | a handshake | both: the sender takes its edge and sends, the partner takes its edge and receives |
//!   | a `d_step`, an `atomic` up to where others may run again | all that its statements do |
//!   | no step: the run has ended and stays | nothing |
//!
//!   To copy a message out of a channel (`q?<x>`) or to look for one (`q?[x]`) is not to receive it. A send into a channel
//!   that loses nothing is one event, whatever the receiver makes of it later.
//!   An operation that happens twice in a step happens in it: positions of a run are steps, and are not counted within.
//!   So nobody may make one step of two where steps are looked at (`optimise`, `counts_steps`).
//!
//! # How it is found
//!   Which statements a step consists of is known to the interpreter alone, once a chain may branch: it does the
//!   step again and takes notes. That is slow, so it is asked only about steps that may do something that is named.
//!
//! # Invariants
//!   H1 a step that is not asked about does nothing that is named: its edge hands the floor back, and is none of those that
//!      may do it; if it is a handshake, both edges are like that

use crate::eval::Eval;
use crate::fault::FaultKind;
use crate::index::Idx;
use crate::interp::{Interp, Log};
use crate::ir::{Edge, EdgeId, Effect, Expr, Operation, Pattern, Pid, Proctype, ProctypeId, System, Then};
use crate::state::State;
use crate::successors::{Batch, Step, Successors};

/// One thing that happens in a step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Happened {
    Took { pid: Pid, proctype: ProctypeId, edge: EdgeId },
    Passed { pid: Pid, proctype: ProctypeId, send: bool, chan: u8, message: Vec<i32> },
}

/// Whether an expression is about steps.
pub fn is_about_steps(e: &Expr) -> bool {
    let mut found = false;
    e.each_part(&mut |e| found |= matches!(e, Expr::Happens(_)));
    found
}

/// Is it among what happened? A channel or a process that cannot be named in this state does nothing.
pub(crate) fn is_done(eval: &Eval<'_>, operation: &Operation) -> bool {
    let by = |t: ProctypeId, pid: &Option<Expr>, who: (ProctypeId, Pid)| {
        t == who.0 && pid.as_ref().is_none_or(|e| eval.value(e) == Ok(i32::from(who.1)))
    };
    let edge_of = |t: ProctypeId, edge: EdgeId| &eval.interp.system().proctypes[t].edges[edge];
    eval.happened.iter().any(|happened| match (operation, happened) {
        (
            Operation::Passes { by: whose, send, chan, args },
            Happened::Passed { pid, proctype, send: sent, chan: through, message },
        ) => {
            send == sent
                && whose.as_ref().is_none_or(|(t, p)| by(*t, p, (*proctype, *pid)))
                && eval.value(chan) == Ok(i32::from(*through))
                && eval.matches(args, message) == Ok(true)
        }
        (Operation::Leaves { proctype: t, pid: p, loc, .. }, Happened::Took { pid, proctype, edge }) => {
            by(*t, p, (*proctype, *pid)) && edge_of(*proctype, *edge).from == *loc
        }
        (Operation::Takes { proctype: t, edges, .. }, Happened::Took { proctype, edge, .. }) => {
            t == proctype && edges.contains(edge)
        }
        _ => false,
    })
}

/// What of that which is looked at is about steps, and which steps it may be about.
#[derive(Clone, Debug)]
pub(crate) struct Steps {
    /// By their place among what is looked at.
    columns: Vec<usize>,
    /// By proctype and edge: a step that begins with it has to be asked about (H1).
    asked: Vec<Vec<bool>>,
}

impl Steps {
    pub fn new(system: &System, looked: &[Expr]) -> Option<Steps> {
        let columns: Vec<usize> = (0..looked.len()).filter(|n| is_about_steps(&looked[*n])).collect();
        let mut operations: Vec<&Operation> = Vec::new();
        looked.iter().for_each(|e| {
            e.each_part(&mut |e| {
                if let Expr::Happens(operation) = e {
                    operations.push(operation);
                }
            });
        });
        let asked = |(id, t): (ProctypeId, &Proctype)| {
            let named = |e: EdgeId| operations.iter().any(|o| may_do(system, id, t, e, o));
            t.edges.ids().map(|e| t.edges[e].then != Then::Yield || named(e)).collect()
        };
        let asked = || system.proctypes.enumerated().map(asked).collect();
        (!columns.is_empty()).then(|| Steps { columns, asked: asked() })
    }

    fn asks(&self, step: &Step, proctype: &dyn Fn(Pid) -> ProctypeId) -> bool {
        let asked = |pid: Pid, edge: EdgeId| self.asked[proctype(pid).index()][edge.index()];
        asked(step.pid, step.edge) || step.partner.is_some_and(|(pid, edge)| asked(pid, edge))
    }
}

/// Whether an edge may do this by itself. It may say yes where it does not, never the reverse.
pub fn may_do(system: &System, id: ProctypeId, t: &Proctype, edge: EdgeId, operation: &Operation) -> bool {
    match operation {
        Operation::Leaves { proctype, loc, .. } => *proctype == id && t.edges[edge].from == *loc,
        Operation::Takes { proctype, edges, .. } => *proctype == id && edges.contains(&edge),
        Operation::Passes { by, send, args, .. } => {
            by.as_ref().is_none_or(|(t, _)| *t == id) && may_pass(system, &t.edges[edge], *send, args)
        }
    }
}

fn may_pass(system: &System, edge: &Edge, send: bool, args: &[Pattern]) -> bool {
    let constant = |e: &Expr| if let Expr::Const(n) = e { Some(*n) } else { None };
    let wanted = |arg: &Pattern| if let Pattern::Equal(e) = arg { constant(e) } else { None };
    // Two constants are different also in the channel, if it keeps as many bits as they have.
    let differ = |n: usize, a: i32, b: i32| {
        let frames = system.proctypes.iter().map(|t| &t.frame).chain([&system.globals]);
        let mut kept = frames.flat_map(|f| &f.chans).filter_map(|c| c.fields.get(n));
        a != b && (0..256).contains(&a) && (0..256).contains(&b) && kept.all(|ty| ty.bits() >= 8)
    };
    let fits = |said: &dyn Fn(usize) -> Option<i32>| {
        let known = |(n, arg): (usize, &Pattern)| Some((n, wanted(arg)?, said(n)?));
        !args.iter().enumerate().filter_map(known).any(|(n, a, b)| differ(n, a, b))
    };
    match edge.effects.first() {
        Some(Effect::Send { args: sent, .. }) if send => fits(&|n| sent.get(n).and_then(constant)),
        Some(Effect::Receive { args: taken, keep: false, .. }) if !send => fits(&|n| taken.get(n).and_then(wanted)),
        Some(Effect::Send { .. } | Effect::Receive { .. }) | None => false,
        Some(Effect::Assign { .. } | Effect::Run { .. } | Effect::SetPriority { .. }) => false,
        Some(Effect::Assert(_) | Effect::Print { .. } | Effect::PrintName(..)) => false,
        Some(Effect::Event { .. } | Effect::End) => false,
    }
}

impl Interp {
    /// `Successors::happens`, for those who run the same system otherwise. `one` is what is true if no step is taken;
    /// `state` is made only if some step has to be done again.
    pub fn happens_with(
        &self,
        one: &[u64],
        proctype: &dyn Fn(Pid) -> ProctypeId,
        state: &dyn Fn() -> State,
        (steps, batch): (&[Step], &Batch),
        bits: &mut Vec<u64>,
    ) -> Result<(), FaultKind> {
        bits.clear();
        let about = self.steps.as_ref().filter(|about| steps.iter().any(|s| about.asks(s, proctype)));
        let Some(about) = about else {
            batch.outcomes.iter().for_each(|_| bits.extend_from_slice(one));
            return Ok(());
        };
        let state = state();
        let eval = self.outside(&state);
        debug_assert!(batch.outcomes.iter().all(|o| (o.step as usize) < steps.len()), "the batch is of these steps");
        debug_assert!(about.columns.iter().all(|n| n / 64 < one.len()), "a bit for each that is looked at");
        let mut log = Log { happened: Some(Vec::new()), ..Log::default() };
        // What each path of a step does.
        let (mut of, mut paths) = (None, Vec::new());
        for outcome in &batch.outcomes {
            let (step, from) = (&steps[outcome.step as usize], bits.len());
            bits.extend_from_slice(one);
            if !about.asks(step, proctype) {
                debug_assert!(self.check_silent(about, &state, *step, one), "H1: {step:?}");
                continue;
            }
            if of != Some(outcome.step) {
                of = Some(outcome.step);
                paths.clear();
                self.chains(&state, *step, &mut log, &mut |chain| {
                    paths.push(chain.links.iter().flat_map(|l| l.happened.iter().cloned()).collect::<Vec<_>>());
                    true
                });
                log.reached.clear();
                log.truncated.clear();
                let n = batch.outcomes.iter().filter(|o| o.step == outcome.step).count();
                debug_assert_eq!(n, paths.len(), "a step does the same things again");
            }
            let eval = Eval { happened: &paths[outcome.path as usize], ..eval };
            for &n in &about.columns {
                let is = eval.value(&self.looked[n])? != 0;
                let word = &mut bits[from + n / 64];
                *word = *word & !(1 << (n % 64)) | u64::from(is) << (n % 64);
            }
        }
        debug_assert_eq!(bits.len(), batch.outcomes.len() * one.len(), "each outcome has its bits");
        Ok(())
    }

    /// H1: done again with open eyes, the step changes nothing of what is looked at.
    fn check_silent(&self, about: &Steps, state: &State, step: Step, one: &[u64]) -> bool {
        let mut log = Log { happened: Some(Vec::new()), ..Log::default() };
        let mut silent = true;
        self.chains(state, step, &mut log, &mut |chain| {
            let happened: Vec<Happened> = chain.links.iter().flat_map(|l| l.happened.iter().cloned()).collect();
            let eval = Eval { happened: &happened, ..self.outside(state) };
            let said = |n: usize| one[n / 64] >> (n % 64) & 1 == 1;
            silent &=
                about.columns.iter().all(|n| eval.value(&self.looked[*n]).map(|value| value != 0) == Ok(said(*n)));
            silent
        });
        silent
    }

    /// Which of the expressions that this was made to look at are true in a state that is left by these statements, done
    /// one after the other. None of them: no step is taken.
    pub fn happens_by(&self, state: &State, statements: &[Step], bits: &mut Vec<u64>) -> Result<(), FaultKind> {
        let mut log = Log { happened: Some(Vec::new()), ..Log::default() };
        let mut at = state.clone();
        for step in statements.iter().filter(|_| self.steps.is_some()) {
            // What a fault ends has happened as far as it came.
            if self.apply(&mut at, *step, &mut log).is_err() {
                break;
            }
        }
        bits.clear();
        bits.resize(self.looked.len().div_ceil(64), 0);
        let happened = log.happened.unwrap_or_default();
        let eval = Eval { happened: &happened, ..self.outside(state) };
        for (n, e) in self.looked.iter().enumerate() {
            bits[n / 64] |= u64::from(eval.value(e)? != 0) << (n % 64);
        }
        debug_assert!(
            !happened.is_empty() || self.check_nothing(state, bits),
            "where nothing happens a state is looked at"
        );
        Ok(())
    }

    /// These bits are what is seen of a state alone.
    fn check_nothing(&self, state: &State, bits: &[u64]) -> bool {
        let mut seen = Vec::new();
        self.look(&mut state.clone(), &mut seen).is_ok() && seen == bits
    }
}
