//! What becomes of a state when an edge is taken: the half of the meaning that changes things (see [`crate::interp`]).
//!
//! Guards were asked before. A guard that could not be computed let its edge through; here the fault comes to light.
//! Faults that end the run are errors; those after which it goes on are in the log.

use crate::eval::{self, Eval};
use crate::fault::{Fault, FaultKind};
use crate::happening::Happened;
use crate::index::Idx;
use crate::interp::{Floor, Interp, Log, Ready, Run, WATCH_FROM};
use crate::ir::{
    Edge, EdgeId, Effect, Expr, Frame, Guard, Init, Loc, MAX_LIVE, Pattern, Pid, Place, Proctype, ProctypeId, Scope,
    Then, Type,
};
use crate::range;
use crate::state::State;
use crate::successors::Step;

/// A state being changed.
pub(crate) struct Work<'a, 'i> {
    interp: &'i Interp,
    pub state: &'a mut State,
    log: &'a mut Log,
    /// Whom to blame.
    pub at: Option<(Pid, ProctypeId, EdgeId)>,
    timeout: bool,
    new_pid: i32,
}

impl<'a, 'i> Work<'a, 'i> {
    pub fn new(interp: &'i Interp, state: &'a mut State, log: &'a mut Log, timeout: bool) -> Self {
        Work { interp, state, log, at: None, timeout, new_pid: 0 }
    }

    fn eval(&self, pid: Option<Pid>) -> Eval<'_> {
        Eval { new_pid: self.new_pid, ..Eval::new(self.interp, self.state, pid, self.timeout) }
    }

    fn blame(&mut self, pid: Pid, edge: EdgeId) -> &'i Proctype {
        let proctype = self.state.proctype(pid);
        self.at = Some((pid, proctype, edge));
        meet(&mut self.log.reached, (proctype, edge));
        self.note(|| Happened::Took { pid, proctype, edge });
        &self.interp.system.proctypes[proctype]
    }

    pub fn step(&mut self, step: Step) -> Run<Floor> {
        let pid = step.pid;
        let t = self.blame(pid, step.edge);
        let edge = &t.edges[step.edge];
        debug_assert_eq!(edge.from, self.state.loc(pid), "M2");
        self.meet_faults_of_guards(pid, t, step.edge)?;
        self.meet_nondeterminism(step)?;
        self.looks(pid, t, step.edge);
        let Some((receiver, half)) = step.partner else {
            self.effects(pid, &edge.effects)?;
            return self.go_on(pid, t, edge);
        };
        // A handshake: the sender moves, then the receiver takes the message and the floor.
        let (chan, args) = edge.send().expect("a partner answers a send");
        let eval = self.eval(Some(pid));
        let id = eval.value(chan)? as u8;
        let (_, decl) = eval.chan(chan)?;
        let message = self.interp.message(eval, decl, args)?;
        debug_assert_eq!((decl.capacity, message.len()), (0, decl.fields.len()), "what has slots needs no partner");
        self.note_lost_bits(pid, args, &message)?;
        self.promised(pid, true, id, false);
        self.event(pid, true, id, &message)?;
        self.effects(pid, &edge.effects[1..])?;
        debug_assert!(!edge.ends() && usize::from(receiver) < self.state.n_procs(), "a send is nobody's death");
        self.state.set_loc(pid, edge.to);
        self.state.set_last(pid);
        let t = self.blame(receiver, half);
        let edge = &t.edges[half];
        debug_assert!(receiver != pid && edge.from == self.state.loc(receiver), "M2");
        let Some(Effect::Receive { args, .. }) = edge.effects.first() else {
            unreachable!("a partner's edge is a receive")
        };
        if args.len() != message.len() {
            return Err(FaultKind::WrongArity { given: args.len(), fields: message.len() });
        }
        self.promised(receiver, false, id, false);
        self.event(receiver, false, id, &message)?; // what the trace compares with is what was there before
        self.bind(receiver, args, &message)?;
        self.effects(receiver, &edge.effects[1..])?;
        self.go_on(receiver, t, edge)
    }

    /// A guard that faults was counted as holding; here the fault comes to light.
    fn meet_faults_of_guards(&self, pid: Pid, t: &Proctype, edge: EdgeId) -> Run<()> {
        let eval = self.eval(Some(pid));
        if let Some(clause) = &t.provided {
            eval.value(clause)?;
        }
        let edge = &t.edges[edge];
        for guard in &edge.guards {
            match guard {
                Guard::Holds(e) => {
                    eval.value(e)?;
                }
                Guard::Channel => {
                    self.interp.channel_readiness(eval, edge)?;
                }
                Guard::NoneOf(_) | Guard::Youngest => {}
            }
        }
        Ok(())
    }

    /// A `D_proctype` has one statement that can run, and one that takes a message offered to it. Several partners for
    /// one send are one statement, and a `d_step` chooses by itself.
    fn meet_nondeterminism(&self, step: Step) -> Run<()> {
        let eval = self.eval(Some(step.pid));
        let mut steps = Vec::new();
        if self.interp.proctype_of(self.state, step.pid).deterministic {
            self.interp.proc_moves(eval, &mut steps);
        }
        let mut ways: Vec<EdgeId> = steps.iter().map(|s| s.edge).collect();
        if ways.iter().all(|e| *e == ways[0])
            && let Some((receiver, _)) = step.partner
            && self.interp.proctype_of(self.state, receiver).deterministic
        {
            self.interp.proc_moves(eval, &mut steps);
            let halves = steps.iter().filter(|s| s.edge == step.edge).filter_map(|s| s.partner);
            ways = halves.filter(|(pid, _)| *pid == receiver).map(|(_, edge)| edge).collect();
        }
        if ways.iter().any(|e| *e != ways[0]) { Err(FaultKind::Nondeterminism) } else { Ok(()) }
    }

    /// The process has done an edge: it moves on, and runs a `d_step` to its end.
    fn go_on(&mut self, pid: Pid, t: &'i Proctype, mut edge: &'i Edge) -> Run<Floor> {
        if edge.ends() {
            debug_assert_eq!(usize::from(pid) + 1, self.state.n_procs(), "only the youngest ends");
            debug_assert!(
                edge.from == t.end && edge.effects == [Effect::End],
                "V2: a death is at the end, and nothing else"
            );
            let n_chans = self.state.n_chans();
            self.state.set_last(pid);
            self.state.pop_proc();
            debug_assert_eq!(
                self.state.n_chans() + t.frame.chans.len(),
                n_chans,
                "its channels go with it, and no others"
            );
            return Ok(Floor::Anyone);
        }
        let mut watch = Watch::default();
        loop {
            debug_assert_eq!(edge.from, self.state.loc(pid), "M2");
            self.state.set_loc(pid, edge.to);
            // A d_step is one step: inside it, `_last` is still who moved before.
            match edge.then {
                Then::Yield => {
                    self.state.set_last(pid);
                    return Ok(Floor::Anyone);
                }
                Then::Atomic => {
                    self.state.set_last(pid);
                    return Ok(Floor::Only(pid));
                }
                Then::DStep => {}
            }
            if watch.seen_before(self.interp, self.state) {
                return Err(FaultKind::EndlessDStep);
            }
            let eval = self.eval(Some(pid));
            let ready = |e: &&EdgeId| !matches!(self.interp.readiness(eval, t, **e), Ready::No);
            let next = t.locs[edge.to].edges.iter().find(ready);
            let Some(&next) = next else {
                // To blame is the statement that cannot run.
                self.at = t.locs[edge.to].edges.first().map(|first| (pid, self.state.proctype(pid), *first));
                return Err(FaultKind::DStepBlocks);
            };
            debug_assert!(!t.edges[next].ends(), "validator: nobody ends inside a d_step");
            self.blame(pid, next);
            self.meet_faults_of_guards(pid, t, next)?;
            self.looks(pid, t, next);
            edge = &t.edges[next];
            self.effects(pid, &edge.effects)?;
        }
    }

    fn effects(&mut self, pid: Pid, effects: &'i [Effect]) -> Run<()> {
        effects.iter().try_for_each(|e| {
            let done = self.effect(pid, e);
            debug_assert!(done.is_ok() || may_fail(e), "range R1: {done:?} of {e:?}");
            done
        })
    }

    fn effect(&mut self, pid: Pid, effect: &'i Effect) -> Run<()> {
        match effect {
            Effect::Assign { to, value } => {
                let value = self.eval(Some(pid)).value(value)?;
                self.assign(pid, to, value)
            }
            Effect::Send { chan: e, sorted, args } => {
                let eval = self.eval(Some(pid));
                let (chan, decl) = eval.chan(e)?;
                let id = eval.value(e)? as u8;
                let n = decl.fields.len();
                let message = self.interp.message(eval, decl, args)?;
                let len = self.state.chan_len(chan);
                debug_assert!(len < decl.capacity as usize, "M2");
                let in_order = |s: &State| (0..s.chan_len(chan)).is_sorted_by_key(|i| s.message(chan, n, i));
                let was_in_order = *sorted && cfg!(debug_assertions) && in_order(self.state);
                let at = if *sorted {
                    // Before the first that is larger, field by field; what is there already is not sorted.
                    (0..len).find(|i| self.state.message(chan, n, *i) > &message[..]).unwrap_or(len)
                } else {
                    len
                };
                self.note_lost_bits(pid, args, &message)?;
                self.promised(pid, true, id, false);
                self.state.insert_message(chan, at, &message);
                debug_assert_eq!(self.state.chan_len(chan), len + 1, "one more");
                debug_assert_eq!(self.state.message(chan, n, at), message, "which is there");
                debug_assert!(!was_in_order || in_order(self.state), "what is sorted stays sorted");
                self.event(pid, true, id, &message)
            }
            Effect::Receive { chan: e, random, keep, args } => {
                let eval = self.eval(Some(pid));
                let (chan, decl) = eval.chan(e)?;
                let id = eval.value(e)? as u8;
                let n = decl.fields.len();
                let at = eval.find_message(chan, n, *random, args)?.expect("M2: a message that matches");
                let message = self.state.message(chan, n, at).to_vec();
                debug_assert!(*random || at == 0, "without `??` only the first can be received");
                debug_assert_eq!(message.len(), args.len(), "a message that matches has as many fields");
                self.promised(pid, false, id, false);
                if !keep {
                    let len = self.state.chan_len(chan);
                    self.state.remove_message(chan, n, at);
                    debug_assert_eq!(self.state.chan_len(chan) + 1, len, "one less");
                }
                // A copy leaves the message where it is: no event.
                if !keep {
                    self.event(pid, false, id, &message)?;
                }
                self.bind(pid, args, &message)
            }
            Effect::Run { proctype, args, priority } => {
                let eval = self.eval(Some(pid));
                let values: Vec<i32> = args.iter().map(|e| eval.value(e)).collect::<Run<_>>()?;
                debug_assert_eq!(values.len(), self.interp.params[proctype.index()].len(), "validator rule V7");
                self.new_pid = i32::from(self.run(*proctype, &values, *priority)?);
                Ok(())
            }
            Effect::Assert(e) => {
                if self.eval(Some(pid)).value(e)? == 0 {
                    self.log.faults.push(Fault { kind: FaultKind::Assertion, at: self.at });
                }
                Ok(())
            }
            Effect::Print { format, args } => {
                // Also when nobody listens: an argument may fault.
                let eval = self.eval(Some(pid));
                let values: Vec<i32> = args.iter().map(|e| eval.value(e)).collect::<Run<_>>()?;
                if self.log.output.is_some() {
                    let names: Vec<_> = args.iter().map(eval::mtype_of).collect();
                    self.write(&eval::format(self.interp, format, &values, &names));
                }
                Ok(())
            }
            Effect::PrintName(e, set) => {
                let value = self.eval(Some(pid)).value(e)?;
                self.write(&self.interp.system.show(Type::Mtype(*set), value));
                Ok(())
            }
            Effect::SetPriority { pid: whom, value } => {
                let eval = self.eval(Some(pid));
                let (whom, value) = (eval.value(whom)?, eval.value(value)?);
                let whom = eval.live(whom);
                if !(1..=255).contains(&value) {
                    return Err(FaultKind::PriorityOutOfRange { value });
                }
                // A process that is not there has no priority to change.
                if let Some(whom) = whom {
                    self.state.set_priority(whom, value);
                }
                Ok(())
            }
            Effect::Event { .. } => unreachable!("validator rule V14: a process has no events"),
            Effect::End => Ok(()),
        }
    }

    fn write(&mut self, text: &str) {
        if let Some(out) = &mut self.log.output {
            out.push_str(text);
        }
    }

    fn assign(&mut self, pid: Pid, to: &Place, value: i32) -> Run<()> {
        let slot = self.eval(Some(pid)).slot(to)?;
        let whose = match to.scope {
            Scope::Global => None,
            Scope::Local => Some(pid),
        };
        self.store(whose, slot, to.ty, value);
        Ok(())
    }

    /// Keeps what fits (M1), in a slot of a process or of the globals.
    fn store(&mut self, whose: Option<Pid>, slot: usize, ty: Type, value: i32) {
        let kept = ty.fit(value);
        debug_assert_eq!(ty.fit(kept), kept, "M1");
        let (lo, hi) = range::values(ty);
        debug_assert!((lo..=hi).contains(&kept.into()), "range R1: {kept} in {ty:?}");
        debug_assert_eq!(
            kept == value,
            (lo..=hi).contains(&value.into()),
            "bits are lost of what is out of range only"
        );
        if kept != value {
            self.note_truncated();
        }
        match whose {
            None => self.state.set_global(slot, kept),
            Some(pid) => self.state.set_local(pid, slot, kept),
        }
    }

    /// Bits were lost at the edge being taken; at an initial value there is none.
    fn note_truncated(&mut self) {
        if let Some((_, proctype, edge)) = self.at {
            meet(&mut self.log.truncated, (proctype, edge));
        }
    }

    /// Did the message lose bits on its way into the channel?
    fn note_lost_bits(&mut self, pid: Pid, args: &[Expr], message: &[i32]) -> Run<()> {
        let eval = self.eval(Some(pid));
        for (e, kept) in args.iter().zip(message) {
            if eval.value(e)? != *kept {
                self.note_truncated();
                break;
            }
        }
        Ok(())
    }

    fn bind(&mut self, pid: Pid, args: &[Pattern], message: &[i32]) -> Run<()> {
        for (arg, field) in args.iter().zip(message) {
            if let Pattern::Bind(place) = arg {
                self.assign(pid, place, *field)?;
            }
        }
        Ok(())
    }

    pub fn run(&mut self, proctype: ProctypeId, args: &[i32], priority: u8) -> Run<Pid> {
        let t = &self.interp.system.proctypes[proctype];
        if self.state.n_procs() >= MAX_LIVE {
            return Err(FaultKind::TooManyProcesses);
        }
        let first_chan = self.state.n_chans() + 1;
        if first_chan + t.frame.chans.len() > MAX_LIVE + 1 {
            return Err(FaultKind::TooManyChannels);
        }
        let pid = self.state.push_proc(&self.interp.system, proctype);
        debug_assert_eq!(usize::from(pid) + 1, self.state.n_procs(), "who is made is the youngest");
        debug_assert_eq!(self.state.n_chans() + 1, first_chan + t.frame.chans.len(), "its channels are the last ones");
        debug_assert_eq!(self.state.loc(pid), t.start, "it stands at its beginning");
        self.state.set_priority(pid, i32::from(priority));
        for (slot, (value, ty)) in args.iter().zip(&self.interp.params[proctype.index()]).enumerate() {
            self.store(Some(pid), slot, *ty, *value);
        }
        self.initialise(&t.frame, Some(pid), first_chan)?;
        Ok(pid)
    }

    pub fn initialise(&mut self, frame: &Frame, pid: Option<Pid>, first_chan: usize) -> Run<()> {
        for init in &frame.inits {
            let (slot, value) = match init {
                Init::Value { slot, ty, value, .. } => (*slot, ty.fit(self.eval(pid).value(value)?)),
                Init::Chan { slot, chan } => (*slot, (first_chan + *chan as usize) as i32),
            };
            debug_assert!((slot as usize) < frame.n_slots as usize, "validator rule V8");
            debug_assert!(
                !matches!(init, Init::Chan { .. }) || (1..=self.state.n_chans() as i32).contains(&value),
                "a channel lives when its variable is told"
            );
            match pid {
                Some(pid) => self.state.set_local(pid, slot as usize, value),
                None => self.state.set_global(slot as usize, value),
            }
        }
        Ok(())
    }

    /// Did another process promise to be the only one to do this?
    fn promised(&mut self, pid: Pid, send: bool, chan: u8, look: bool) {
        if !self.interp.has_promises {
            return;
        }
        for owner in (0..self.state.n_procs() as Pid).filter(|p| *p != pid) {
            let t = self.interp.proctype_of(self.state, owner);
            let eval = self.eval(Some(owner));
            let broken = t
                .promises
                .iter()
                .any(|p| p.send == send && eval.value(&Expr::Read(p.chan.clone())) == Ok(i32::from(chan)));
            if broken {
                self.log.faults.push(Fault { kind: FaultKind::Promise { send, owner, look }, at: self.at });
            }
        }
    }

    /// A process that steps has looked at every guard where it stood.
    fn looks(&mut self, pid: Pid, t: &'i Proctype, taken: EdgeId) {
        if !self.interp.has_promises {
            return;
        }
        let mut looked: Vec<(u8, &[bool])> = Vec::new();
        let eval = self.eval(Some(pid));
        let mut look = |e: &Expr| {
            let Some((chan, sides)) = e.sides() else { return };
            if let Ok(id) = eval.value(chan) {
                looked.push((id as u8, sides));
            }
        };
        for edge in &t.locs[t.edges[taken].from].edges {
            for guard in &t.edges[*edge].guards {
                if let Guard::Holds(e) = guard {
                    e.each_part(&mut look);
                }
            }
        }
        for effect in &t.edges[taken].effects {
            effect.each_expr(&mut |e| e.each_part(&mut look));
        }
        for (id, sides) in looked {
            sides.iter().for_each(|send| self.promised(pid, *send, id, true));
        }
    }

    fn note(&mut self, what: impl FnOnce() -> Happened) {
        if let Some(happened) = &mut self.log.happened {
            happened.push(what());
        }
    }

    /// A message was sent or received: the trace assertion, if it names the channel, moves along.
    fn event(&mut self, pid: Pid, send: bool, chan: u8, message: &[i32]) -> Run<()> {
        let proctype = self.state.proctype(pid);
        self.note(|| Happened::Passed { pid, proctype, send, chan, message: message.to_vec() });
        let Some(monitor) = &self.interp.system.monitor else { return Ok(()) };
        let at = self.state.monitor();
        if at >= monitor.graph.locs.len() {
            return Ok(()); // disarmed
        }
        let eval = self.eval(None);
        let graph = &monitor.graph;
        let about = |edge: &'i Edge| match edge.effects.first() {
            Some(Effect::Event { send: s, chan: e, args }) if *s == send && eval.value(e) == Ok(i32::from(chan)) => {
                Some(&args[..])
            }
            _ => None,
        };
        if graph.edges.iter().all(|e| about(e).is_none()) {
            return Ok(());
        }
        let here = graph.locs[Loc::new(at)].edges.iter().map(|e| &graph.edges[*e]);
        debug_assert!(here.clone().all(|e| e.from.index() == at), "V1: a trace goes on from where it stands");
        let mut fitting = here.filter(|e| about(e).is_some_and(|args| eval.matches(args, message) == Ok(true)));
        let next = match (fitting.next(), fitting.next()) {
            (Some(edge), None) => edge.to.index(),
            (Some(_), Some(_)) => return Err(FaultKind::TraceNondeterminism),
            (None, _) if monitor.negated => graph.locs.len(),
            (None, _) => return Err(FaultKind::TraceMismatch),
        };
        debug_assert!(next <= graph.locs.len(), "at a location, or disarmed");
        self.state.set_monitor(next);
        if monitor.negated && next == graph.end.index() {
            return Err(FaultKind::NotraceMatched);
        }
        Ok(())
    }
}

/// Whether doing this may end in a fault as far as static knowledge goes; what meets others may fault because of them.
fn may_fail(effect: &Effect) -> bool {
    let meets = matches!(
        effect,
        Effect::Send { .. } | Effect::Receive { .. } | Effect::Run { .. } | Effect::SetPriority { .. }
    );
    meets || range::effect_faults(effect)
}

fn meet(list: &mut Vec<(ProctypeId, EdgeId)>, edge: (ProctypeId, EdgeId)) {
    if !list.contains(&edge) {
        list.push(edge);
    }
}

/// Notices, sooner or later, that a chain goes round: remembers a state at each power of two.
#[derive(Default)]
struct Watch {
    steps: usize,
    kept: Vec<u8>,
}

impl Watch {
    fn seen_before(&mut self, interp: &Interp, state: &State) -> bool {
        self.steps += 1;
        if self.steps < WATCH_FROM {
            return false;
        }
        let mut key = Vec::new();
        interp.packing.pack(state, &mut key);
        debug_assert!(self.steps == WATCH_FROM || !self.kept.is_empty(), "from the first state on one is remembered");
        if key == self.kept {
            return true;
        }
        if self.steps.is_power_of_two() {
            self.kept = key;
        }
        false
    }
}
