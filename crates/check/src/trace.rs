//! What we show: the statements of a run, each replayed by the interpreter before anyone sees it.
//!
//! # The argument
//!   A search remembers for a violation the steps on the way to it, each with the number of its outcome: *legs*.
//!   It may have searched an optimised system, in which several statements are one step and variables that nobody
//!   reads are reset. So each leg is expanded into its statements by the interpreter of the system that was
//!   searched, and these are done one by one by the interpreter of the model as it was written: what the trace
//!   shows is what really happens. It ends at the statement that shows the fault.
//!   [`replay`] then trusts none of this: it starts at the initial state and does the statements again.
//!
//! # Invariants (a breach is our bug)
//!   T1 every leg is offered, and has such an outcome, in the system that was searched
//!   T2 every statement is offered where it is taken
//!   T3 it leads to the state that the trace shows, with the same faults
//!   T4 the last statement shows the fault, or the last state is an invalid end
//!   T5 what repeats ends in the searched system where it begins, and can be done a second time as the model was written
//!   T6 the formula is false on the states that were looked at (`cycles/answer`, `judge`)

use crate::search::Found;
use crate::verdict::Kind;
use spinor_model::fault::{Fault, FaultKind};
use spinor_model::interp::{Floor, Interp, Log, Micro};
use spinor_model::ir::{Pid, ProctypeId, System, Type};
use spinor_model::state::State;
use spinor_model::successors::{Step, Successors};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Debug)]
pub struct Trace {
    /// `None` if making the initial state already failed.
    pub initial: Option<State>,
    /// One entry per statement or handshake; a `d_step` is one.
    pub steps: Vec<TraceStep>,
    /// Of a lasso: the step at which the part that repeats begins. If no step comes after it, the run has ended and stays
    /// where it is.
    pub cycle_start: Option<usize>,
    /// Of a run that breaks a formula or a claim: after how many steps the states lie that were looked at, in order.
    pub looks: Vec<usize>,
    pub ending: Ending,
    /// No run of fewer steps shows a violation of this kind.
    pub shortest: bool,
}

#[derive(Clone, Debug)]
pub struct TraceStep {
    pub step: Step,
    pub proctype: ProctypeId,
    /// After the step. After a fatal fault: as far as the step came.
    pub state: State,
    pub faults: Vec<Fault>,
    /// What `printf` wrote.
    pub output: String,
    /// Who goes on without letting others in, if it can: the step was inside an `atomic`.
    pub floor: Option<Pid>,
}

impl TraceStep {
    /// Does a step. Without a floor the run cannot go on.
    pub fn take(interp: &Interp, state: &mut State, step: Step) -> (TraceStep, Option<Floor>) {
        let proctype = state.proctype(step.pid);
        let mut log = Log { output: Some(String::new()), ..Log::default() };
        let result = interp.apply(state, step, &mut log);
        let mut faults = log.faults;
        let floor = result.as_ref().ok().copied();
        faults.extend(result.err());
        let (state, output) = (state.clone(), log.output.unwrap_or_default());
        let holder = floor.and_then(Floor::holder);
        (TraceStep { step, proctype, state, faults, output, floor: holder }, floor)
    }

    /// The next step belongs to the same `atomic`. Where that has to wait, others go on, or by a timeout the same one.
    pub fn goes_on(&self, next: &TraceStep) -> bool {
        self.floor == Some(next.step.pid) && !next.step.timeout
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ending {
    /// In the last step, or while the initial state was made.
    Fault(Fault),
    /// Nobody can move, and somebody should not stop here.
    InvalidEnd,
    /// It repeats for ever.
    Cycle,
    /// Whatever comes, the property is broken already.
    Settled,
    /// The last state is one that must not be: what is wrong there, and how it came about.
    Met { kind: Kind, what: String, why: Vec<String> },
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    /// `x`, `a[1]`, `worker[0].i`, `q`
    pub name: String,
    pub before: Value,
    pub after: Value,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    /// The process it belongs to was not there yet.
    Absent,
    Number {
        ty: Type,
        value: i32,
    },
    /// What a channel holds, oldest message first.
    Messages {
        fields: Vec<Type>,
        messages: Vec<Vec<i32>>,
    },
}

impl Value {
    /// How people read it: `true`, `3`, `ACK`, `[ACK,1] [ACK,0]`, `-` for nothing.
    pub fn show(&self, system: &System) -> String {
        match self {
            Value::Absent => "-".to_string(),
            Value::Number { ty, value } => system.show(*ty, *value),
            Value::Messages { fields, messages } => {
                let show = |m: &Vec<i32>| {
                    let fields: Vec<String> = m.iter().zip(fields).map(|(&v, &ty)| system.show(ty, v)).collect();
                    format!("[{}]", fields.join(","))
                };
                if messages.is_empty() {
                    "empty".to_string()
                } else {
                    messages.iter().map(show).collect::<Vec<_>>().join(" ")
                }
            }
        }
    }
}

impl Trace {
    /// The state before step `i`.
    pub fn before(&self, i: usize) -> Option<&State> {
        if i == 0 { self.initial.as_ref() } else { self.steps.get(i - 1).map(|s| &s.state) }
    }

    pub fn last_state(&self) -> Option<&State> {
        self.before(self.steps.len())
    }

    /// What step `i` changed: globals, then channels, then locals by process. Variables of a process that the
    /// step created are [`Value::Absent`] before it.
    pub fn changes(&self, interp: &Interp, i: usize) -> Vec<Change> {
        let (Some(before), Some(after)) = (self.before(i), self.before(i + 1)) else { return Vec::new() };
        changes(interp, before, after)
    }
}

/// Variables and channels whose values differ between two states.
pub fn changes(interp: &Interp, before: &State, after: &State) -> Vec<Change> {
    let old: BTreeMap<(String, usize), Value> = numbered(values(interp, before)).into_iter().collect();
    let change = |(name, after): ((String, usize), Value)| {
        let before = old.get(&name).cloned().unwrap_or(Value::Absent);
        (before != after).then_some(Change { name: name.0, before, after })
    };
    numbered(values(interp, after)).into_iter().filter_map(change).collect()
}

/// Variables of two blocks side by side may bear one name: each is the so-many-th of it.
fn numbered(values: Vec<(String, Value)>) -> Vec<((String, usize), Value)> {
    let mut met: BTreeMap<String, usize> = BTreeMap::new();
    let number = |(name, value): (String, Value)| {
        let nth = met.entry(name.clone()).and_modify(|nth| *nth += 1).or_default();
        ((name, *nth), value)
    };
    values.into_iter().map(number).collect()
}

/// Every variable and channel of a state by name. Rendez-vous channels hold nothing and are left out.
pub fn values(interp: &Interp, state: &State) -> Vec<(String, Value)> {
    let system = interp.system();
    let number = |(name, ty): (String, Type), value: i32| (name, Value::Number { ty, value });
    let names = system.globals.slot_names();
    let mut out: Vec<(String, Value)> = names.into_iter().zip(state.globals()).map(|(n, v)| number(n, *v)).collect();
    for id in 1..=state.n_chans() {
        let Some(chan) = interp.chan(state, id as u8) else { continue };
        if chan.decl.capacity > 0 {
            let messages = chan.messages.iter().map(|m| m.to_vec()).collect();
            let fields = chan.decl.fields.clone();
            out.push((chan_name(interp, state, id as u8), Value::Messages { fields, messages }));
        }
    }
    for pid in 0..state.n_procs() as Pid {
        let prefix = process_name(system, state, pid);
        let names = system.proctypes[state.proctype(pid)].frame.slot_names();
        for ((name, ty), value) in names.into_iter().zip(state.locals(system, pid)) {
            out.push(number((format!("{prefix}.{name}"), ty), *value));
        }
    }
    // The variable that holds a channel has the channel's name: what the channel holds is what people look for.
    let channels: Vec<String> =
        out.iter().filter(|(_, v)| matches!(v, Value::Messages { .. })).map(|(n, _)| n.clone()).collect();
    out.retain(|(name, v)| !matches!(v, Value::Number { ty: Type::Chan, .. }) || !channels.contains(name));
    out
}

/// `worker[1]`
pub fn process_name(system: &System, state: &State, pid: Pid) -> String {
    format!("{}[{pid}]", system.proctypes[state.proctype(pid)].name)
}

/// `q`, or `P[1].q` if a process made it.
pub fn chan_name(interp: &Interp, state: &State, id: u8) -> String {
    match interp.chan(state, id) {
        Some(c) => match c.owner {
            Some(pid) => format!("{}.{}", process_name(interp.system(), state, pid), c.decl.name),
            None => c.decl.name.clone(),
        },
        None => format!("channel {id}"),
    }
}

/// The trace of a violation, replayed. `searched` is what the search saw, `plain` the model as it was written;
/// they may be the same.
pub fn build(plain: &Interp, searched: &Interp, found: &Found) -> Trace {
    let ending = match &found.fault {
        Some(fault) => Ending::Fault(fault.clone()),
        None if found.kind == Kind::EndState => Ending::InvalidEnd,
        // Whoever knows the condition judges it (`protocol.rs`).
        None => Ending::Met { kind: found.kind, what: String::new(), why: Vec::new() },
    };
    let trace = match (plain.initial(), searched.initial()) {
        (Ok(initial), Ok(start)) => finite(plain, initial, &legs(searched, start, found), ending),
        _ => Trace { initial: None, steps: Vec::new(), cycle_start: None, looks: Vec::new(), ending, shortest: true },
    };
    replay(plain, &trace);
    trace
}

/// The trace of these statements, replayed. They end in an invalid end, or the last one shows a fault of this kind.
pub fn of_statements(plain: &Interp, steps: Vec<Step>, kind: Kind) -> Trace {
    let initial = plain.initial().expect("T1: a run begins");
    let mut trace = finite(plain, initial, &Seen { steps, round: None }, Ending::InvalidEnd);
    if kind != Kind::EndState {
        let shown = trace.steps.last().and_then(|last| last.faults.iter().find(|f| Kind::of(&f.kind) == kind));
        trace.ending = Ending::Fault(shown.expect("T4: the last statement shows the fault").clone());
    }
    replay(plain, &trace);
    trace
}

fn finite(plain: &Interp, initial: State, seen: &Seen, ending: Ending) -> Trace {
    let steps = statements(plain, &initial, seen);
    assert!(steps.len() >= seen.steps.len(), "T1: each statement is a step");
    Trace { initial: Some(initial), steps, cycle_start: None, looks: Vec::new(), ending, shortest: false }
}

/// A run that never ends, by its steps and their outcomes, or one that has broken its property for good.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EndlessRun {
    pub stem: Vec<(Step, u32)>,
    /// What repeats; `None` if it does not matter what comes. With no steps, the run has ended and stays.
    pub cycle: Option<Vec<(Step, u32)>>,
}

/// The trace of such a run, replayed.
pub fn build_endless(plain: &Interp, searched: &Interp, run: &EndlessRun) -> Trace {
    let initial = plain.initial().expect("T1: a run begins");
    let mut state = searched.initial().expect("T1: a run begins");
    let (mut micros, mut looks, mut before) = (Vec::new(), vec![0], None);
    for (n, &(step, path)) in run.stem.iter().chain(run.cycle.iter().flatten()).enumerate() {
        if n == run.stem.len() {
            before = Some((micros.len(), key(searched, &state)));
        }
        state = leg(searched, state, n, step, path, &mut micros);
        assert!(looks.last().is_some_and(|last| *last < micros.len()), "T1: a leg has a statement at least");
        looks.push(micros.len());
    }
    let mut cycle_start = None;
    if run.cycle.is_some() {
        let (start, key_before) = before.unwrap_or_else(|| (micros.len(), key(searched, &state)));
        assert_eq!(key(searched, &state), key_before, "T5: the cycle does not close");
        assert!(looks.contains(&start), "T5: what repeats begins at a state that was looked at");
        cycle_start = Some(start);
    }
    let steps = statements(plain, &initial, &Seen { steps: micros.iter().map(|m| m.step).collect(), round: None });
    let ending = if cycle_start.is_some() { Ending::Cycle } else { Ending::Settled };
    let trace = Trace { initial: Some(initial), steps, cycle_start, looks, ending, shortest: false };
    replay(plain, &trace);
    trace
}

/// What the search saw, statement by statement.
struct Seen {
    steps: Vec<Step>,
    /// Of a fault that shows only in that a chain goes round: the statements that do, over and over, and the fault.
    round: Option<(std::ops::Range<usize>, Fault)>,
}

/// The statements of all legs. The last one ends where it shows the fault.
fn legs(searched: &Interp, mut state: State, found: &Found) -> Seen {
    let mut micros: Vec<Micro> = Vec::new();
    let mut last_from = 0;
    for (n, &(step, path)) in found.steps.iter().enumerate() {
        last_from = micros.len();
        state = leg(searched, state, n, step, path, &mut micros);
    }
    let steps = |micros: &[Micro]| micros.iter().map(|m| m.step).collect();
    let Some(fault) = &found.fault else { return Seen { steps: steps(&micros), round: None } };
    let shows = micros[last_from..].iter().position(|m| m.faults.contains(fault)).expect("T1: the fault shows");
    micros.truncate(last_from + shows + 1);
    let round = (fault.kind == FaultKind::EndlessAtomic).then(|| {
        let keys: Vec<Vec<u8>> = micros[last_from..].iter().map(|m| key(searched, &m.state)).collect();
        let before = keys[..shows].iter().rposition(|k| *k == keys[shows]).expect("T1: the chain goes round");
        (last_from + before + 1..micros.len(), fault.clone())
    });
    Seen { steps: steps(&micros), round }
}

/// Appends the statements of leg `n`; the state after it.
fn leg(searched: &Interp, mut state: State, n: usize, step: Step, path: u32, micros: &mut Vec<Micro>) -> State {
    let mut offered = Vec::new();
    searched.enabled(&mut state, &mut offered);
    assert!(offered.contains(&step), "T1: leg {n}, {step:?}, is not offered");
    let leg = searched.path(&state, step, path);
    // Between legs only what the key keeps is known.
    let last = leg.last().unwrap_or_else(|| panic!("T1: leg {n}, {step:?}, has no outcome {path}"));
    let after = searched.unpack(&key(searched, &last.state));
    micros.extend(leg);
    after
}

/// A counter that nobody reads may have to come round before a state comes back.
const MOST_ROUND: usize = 1 << 20;

/// Does the statements one by one, as the model was written.
fn statements(plain: &Interp, initial: &State, seen: &Seen) -> Vec<TraceStep> {
    let mut steps: Vec<TraceStep> = Vec::new();
    let mut state = initial.clone();
    let mut go = |step: Step, steps: &mut Vec<TraceStep>| steps.push(TraceStep::take(plain, &mut state, step).0);
    seen.steps.iter().for_each(|step| go(*step, &mut steps));
    if let Some((round, fault)) = &seen.round {
        // What went round in the system that was searched goes on here until it has, too.
        let mut keys: BTreeSet<Vec<u8>> =
            steps.iter().rev().skip(1).take_while(|s| s.floor.is_some()).map(|s| key(plain, &s.state)).collect();
        for n in round.clone().cycle() {
            let after = key(plain, &steps[steps.len() - 1].state);
            if !keys.insert(after) || steps.len() > MOST_ROUND {
                break;
            }
            go(seen.steps[n], &mut steps);
        }
        steps.last_mut().expect("a chain that goes round has statements").faults.push(fault.clone());
    }
    steps
}

/// Does the trace again, statement by statement. Panics if anything is otherwise than the trace says.
pub fn replay(interp: &Interp, trace: &Trace) {
    let Some(initial) = &trace.initial else {
        let failed = interp.initial().err();
        assert_eq!(failed.map(Ending::Fault).as_ref(), Some(&trace.ending), "T4: the initial state fails otherwise");
        return;
    };
    assert!(trace.looks.is_sorted() && trace.looks.last() <= Some(&trace.steps.len()), "T5: looks are along the run");
    assert_eq!(trace.cycle_start.is_some(), trace.ending == Ending::Cycle, "T5: what repeats begins somewhere");
    let mut state = interp.initial().expect("T3: the initial state can be made");
    assert_eq!(key(interp, &state), key(interp, initial), "T3: the initial state");
    let mut floor = Floor::Anyone;
    let mut offered = Vec::new();
    let mut shown: Vec<Fault> = Vec::new();
    // The keys met since somebody took the floor.
    let mut chain: Vec<Vec<u8>> = Vec::new();
    for (n, step) in trace.steps.iter().enumerate() {
        let n = n + 1;
        interp.moves(&state, floor, &mut offered);
        assert!(offered.contains(&step.step), "T2: step {n}, {:?}, is not offered", step.step);
        assert_eq!(state.proctype(step.step.pid), step.proctype, "T3: step {n}");
        let mut log = Log::default();
        let result = interp.apply(&mut state, step.step, &mut log);
        shown = log.faults;
        match result {
            Ok(then) => floor = then,
            Err(fault) => {
                assert_eq!(n, trace.steps.len(), "T3: step {n} fails, and the trace goes on");
                shown.push(fault);
            }
        }
        let after = key(interp, &state);
        assert_eq!(after, key(interp, &step.state), "T3: step {n} leads elsewhere");
        // Only the whole chain shows that it goes round, so this fault is not the statement's own.
        let round = step.faults.last().filter(|f| f.kind == FaultKind::EndlessAtomic);
        if let Some(fault) = round {
            assert!(chain.contains(&after), "T4: the atomic does not come back to a state");
            shown.push(fault.clone());
        }
        assert_eq!(shown, step.faults, "T3: step {n} has other faults");
        let fails = shown.iter().any(|f| f.kind.is_fatal() && f.kind != FaultKind::EndlessAtomic);
        assert!(fails || floor.holder() == step.floor, "T3: step {n} leaves the floor to somebody else");
        if floor == Floor::Anyone {
            chain.clear();
        }
        chain.push(after);
    }
    match &trace.ending {
        Ending::Fault(fault) => assert!(shown.contains(fault), "T4: {fault:?} does not show"),
        Ending::InvalidEnd => {
            interp.moves(&state, floor, &mut offered);
            assert!(offered.is_empty() && !interp.may_end(&state), "T4: the run need not end here");
        }
        Ending::Settled | Ending::Met { .. } => {}
        Ending::Cycle => {
            let start = trace.cycle_start.expect("T5: a cycle begins somewhere");
            if start == trace.steps.len() {
                interp.moves(&state, floor, &mut offered);
                assert!(offered.is_empty(), "T5: somebody can move where the run is to stay");
            }
            for step in &trace.steps[start..] {
                interp.moves(&state, floor, &mut offered);
                assert!(offered.contains(&step.step), "T5: {:?} is not offered the second time", step.step);
                floor = interp.apply(&mut state, step.step, &mut Log::default()).expect("T5: nothing fails");
            }
        }
    }
}

fn key(interp: &Interp, state: &State) -> Vec<u8> {
    let mut key = Vec::new();
    interp.pack(state, &mut key);
    key
}
