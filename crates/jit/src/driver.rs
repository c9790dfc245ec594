//! Steps and successors, with native code for the statements.
//!
//! This follows `moves` and `chains` of the model's interpreter; what it does not do itself it asks of it. In debug builds
//! it asks of some states anyway, and compares.

mod witness;

use crate::ctx::{Code, Ctx, NOBODY, RawChan, RawStep};
use crate::native::{Native, Seen};
use crate::statics::Statics;
use spinor_model::fault::{Fault, FaultKind};
use spinor_model::index::Idx;
use spinor_model::interp::Interp;
use spinor_model::ir::{EdgeId, Effect, Expr, Loc, Pid, ProctypeId, System};
use spinor_model::layout::{Field, GRAIN};
use spinor_model::state::State;
use spinor_model::successors::{Asleep, Batch, EdgeSet, Step, Successors, fire_awake};
use std::ops::Range;
use std::sync::Arc;

/// A system, ready to run fast.
pub struct Jit {
    interp: Interp,
    native: Native,
    statics: Statics,
    n_looked: usize,
    looks_for_timeout: bool,
    /// By proctype: the bytes of a frame, and whether two statements that can run at once are an error.
    sizes: Vec<u32>,
    deterministic: Vec<bool>,
    any_deterministic: bool,
    /// Where a frame says its proctype.
    proctype: Field,
    /// Nobody starts a process: the one with this number, while it lives, is always of the same proctype.
    fixed_types: bool,
}

/// A state's bytes, and what one thread needs to work on them.
#[derive(Clone)]
pub struct JitState {
    bytes: Vec<u8>,
    ctx: Box<Ctx>,
    /// The proctypes of the live processes, for which the context's tables are right.
    types: Vec<u32>,
    raw: Vec<RawStep>,
    /// Steps that were listed and done.
    done: Vec<RawStep>,
    chain: Chain,
}

/// An `atomic` being followed.
#[derive(Clone, Default)]
struct Chain {
    /// The state it has come to, and room for the one after.
    here: Vec<u8>,
    next: Vec<u8>,
    /// Choices still open, innermost last, and their memory when they are closed.
    choices: Vec<Choice>,
    spare: Vec<Choice>,
}

#[derive(Clone, Default)]
struct Choice {
    before: Vec<u8>,
    /// What is still to be tried there, last first.
    todo: Vec<RawStep>,
    /// Statements before it.
    n_links: usize,
}

/// The driver would go on with this, but the interpreter has to.
struct Ask;

/// As in the interpreter: a chain longer than this is watched for a state that comes back.
const WATCH_FROM: usize = 64;
/// Steps that fit at first.
const FIRST_STEPS: usize = 64;

impl Jit {
    pub fn new(system: Arc<System>) -> Jit {
        Jit::looking(system, &[])
    }

    /// One that can be asked which of these expressions are true.
    pub fn looking(system: Arc<System>, looked: &[Expr]) -> Jit {
        let interp = Interp::looking(system, looked);
        let system = interp.system();
        let statics = Statics::new(system, interp.layout());
        let native = Native::new(system, interp.layout(), &statics, looked);
        let mut looks_for_timeout = false;
        looked.iter().for_each(|e| e.each_part(&mut |e| looks_for_timeout |= *e == Expr::Timeout));
        let n_procs = interp.layout().n_procs;
        assert_eq!((n_procs.at, n_procs.bytes), (0, 1), "how many processes there are is the first byte of a key");
        let sizes: Vec<u32> = interp.layout().procs.iter().map(|f| f.size).collect();
        let deterministic: Vec<bool> = system.proctypes.iter().map(|t| t.deterministic).collect();
        let any_deterministic = deterministic.contains(&true);
        let proctype = interp.layout().proctype;
        let runs = |e: &Effect| matches!(e, Effect::Run { .. });
        let fixed_types = !system.proctypes.iter().flat_map(|t| t.edges.iter()).any(|e| e.effects.iter().any(runs));
        assert!(sizes.len() == deterministic.len() && sizes.iter().all(|n| n.is_multiple_of(8)), "layout L1");
        Jit {
            native,
            statics,
            n_looked: looked.len(),
            looks_for_timeout,
            sizes,
            deterministic,
            any_deterministic,
            proctype,
            fixed_types,
            interp,
        }
    }

    pub fn interp(&self) -> &Interp {
        &self.interp
    }

    fn priority(&self, state: &[u8], ctx: &Ctx, pid: usize) -> i32 {
        self.interp.layout().priority.read(&state[ctx.bases[pid] as usize..])
    }

    /// Makes the context fit a state (J1).
    #[inline]
    fn fit(&self, ctx: &mut Ctx, types: &mut Vec<u32>, state: &[u8]) {
        // Mostly the same processes live as before.
        let known = types.iter().zip(&ctx.bases);
        let same = ctx.reshaped == 0
            && types.len() == usize::from(state[0])
            && (ctx.len as usize).next_multiple_of(GRAIN) == state.len()
            && (self.fixed_types || known.clone().all(|(t, base)| self.proctype(state, *base as usize) == *t));
        if !same {
            self.fit_anew(ctx, types, state);
        }
        debug_assert!(self.check_fits(ctx, types, state), "J1");
    }

    #[cold]
    fn fit_anew(&self, ctx: &mut Ctx, types: &mut Vec<u32>, state: &[u8]) {
        let mut at = self.interp.layout().globals.size;
        types.clear();
        for pid in 0..usize::from(state[0]) {
            let t = self.proctype(state, at as usize);
            ctx.bases[pid] = at;
            types.push(t);
            at += self.sizes[t as usize];
        }
        ctx.len = at;
        assert_eq!((at as usize).next_multiple_of(GRAIN), state.len(), "J1");
        assert!(at as usize <= self.statics.max_len, "no state is longer than was said");
        debug_assert_eq!(types.len(), usize::from(state[0]), "J1");
        self.fit_chans(ctx, types);
        ctx.reshaped = 0;
    }

    #[inline]
    fn proctype(&self, state: &[u8], frame: usize) -> u32 {
        if self.proctype.bytes == 1 {
            u32::from(state[frame + self.proctype.at as usize])
        } else {
            self.proctype.read(&state[frame..]) as u32
        }
    }

    fn fit_chans(&self, ctx: &mut Ctx, types: &[u32]) {
        let layout = self.interp.layout();
        let mut id = 0;
        let global = layout.globals.chans.iter().zip(&self.statics.global_chans);
        for (chan, class) in global {
            id += 1;
            ctx.chans[id] = RawChan { at: chan.len.at, class: *class as u32 };
        }
        for (pid, &t) in types.iter().enumerate() {
            let local = layout.procs[t as usize].chans.iter().zip(&self.statics.local_chans[t as usize]);
            for (chan, class) in local {
                id += 1;
                ctx.chans[id] = RawChan { at: ctx.bases[pid] + chan.len.at, class: *class as u32 };
            }
        }
        ctx.n_chans = id as u32;
        debug_assert!(ctx.chans[..=id].is_sorted_by_key(|row| row.at), "channels lie in the order of their numbers");
    }

    /// Appends the steps of some processes, youngest first.
    #[inline]
    fn moves(&self, ctx: &mut Ctx, types: &[u32], state: &[u8], pids: Range<usize>, raw: &mut Vec<RawStep>) {
        let before = ctx.n_steps;
        loop {
            self.native.moves(ctx, state, types, pids.clone(), raw);
            if ctx.overflow == 0 {
                return;
            }
            ctx.overflow = 0;
            ctx.n_steps = before;
            raw.resize(raw.len() * 2, RawStep::default());
        }
    }

    /// The steps of all processes into `raw[..ctx.n_steps]`.
    #[inline]
    fn all_moves(&self, ctx: &mut Ctx, state: &[u8], timeout: bool, raw: &mut Vec<RawStep>) {
        ctx.timeout = u32::from(timeout);
        self.native.moves_all(ctx, state, raw);
        while std::mem::take(&mut ctx.overflow) != 0 {
            raw.resize(raw.len() * 2, RawStep::default());
            self.native.moves_all(ctx, state, raw);
        }
        if self.interp.system().uses.priorities {
            self.keep_highest(ctx, state, raw);
        }
    }

    /// Only steps of the highest priority stay.
    fn keep_highest(&self, ctx: &mut Ctx, state: &[u8], raw: &mut [RawStep]) {
        let n = ctx.n_steps as usize;
        let top = raw[..n].iter().map(|s| self.priority(state, ctx, s.pid as usize)).max();
        let mut kept = 0;
        for i in 0..n {
            if Some(self.priority(state, ctx, raw[i].pid as usize)) == top {
                raw[kept] = raw[i];
                kept += 1;
            }
        }
        ctx.n_steps = kept as u32;
        debug_assert_eq!(kept == 0, n == 0, "somebody has the highest priority");
    }

    /// The steps of the process that holds the floor, none if one of higher priority can move.
    fn floor_moves(&self, ctx: &mut Ctx, types: &[u32], state: &[u8], pid: usize, raw: &mut Vec<RawStep>) {
        ctx.timeout = 0;
        ctx.n_steps = 0;
        if self.interp.system().uses.priorities {
            let own = self.priority(state, ctx, pid);
            for other in 0..types.len() {
                if self.priority(state, ctx, other) > own {
                    self.moves(ctx, types, state, other..other + 1, raw);
                    if std::mem::take(&mut ctx.n_steps) > 0 {
                        return;
                    }
                }
            }
        }
        self.moves(ctx, types, state, pid..pid + 1, raw);
    }

    /// Does a step to a copy of the state, laid behind `bytes`.
    #[inline]
    #[expect(clippy::too_many_arguments, reason = "the parts of a state and of a batch, borrowed one by one")]
    fn apply(
        &self,
        ctx: &mut Ctx,
        types: &[u32],
        state: &[u8],
        bytes: &mut Vec<u8>,
        step: RawStep,
        (reached, truncated): (&mut EdgeSet, &mut EdgeSet),
        raw: &mut Vec<RawStep>,
    ) -> Result<i32, Ask> {
        if self.any_deterministic && self.nondeterministic(ctx, types, state, step, raw) {
            return Err(Ask);
        }
        debug_assert_eq!(types.len(), usize::from(state[0]), "J1");
        let t = types[step.pid as usize] as usize;
        let mut seen = Seen { reached: reached.marks_mut(), truncated: truncated.marks_mut(), scratch: raw };
        let code = self.native.apply(ctx, state, bytes, t, step, self.statics.max_len, &mut seen);
        // `enabled()` may have found more steps than fit; the interpreter has no such bounds.
        if code == Code::ASK || ctx.overflow != 0 {
            ctx.overflow = 0;
            return Err(Ask);
        }
        Ok(code)
    }

    /// Has a `D_proctype` another statement that can run, or another that takes the message?
    fn nondeterministic(
        &self,
        ctx: &mut Ctx,
        types: &[u32],
        state: &[u8],
        step: RawStep,
        raw: &mut Vec<RawStep>,
    ) -> bool {
        let pid = step.pid as usize;
        let receiver = (step.partner != NOBODY).then_some(step.partner);
        let asked = self.deterministic[types[pid] as usize];
        let answers = receiver.is_some_and(|r| self.deterministic[types[r as usize] as usize]);
        if !asked && !answers {
            return false;
        }
        ctx.n_steps = 0;
        self.moves(ctx, types, state, pid..pid + 1, raw);
        let steps = &raw[..std::mem::take(&mut ctx.n_steps) as usize];
        let halves = |s: &&RawStep| s.edge == step.edge && Some(s.partner) == receiver;
        asked && steps.iter().any(|s| s.edge != step.edge)
            || answers && steps.iter().filter(halves).any(|s| s.half != step.half)
    }

    /// One step, whole. What it adds to the batch is complete or absent.
    #[inline]
    fn fire_one(&self, state: &mut JitState, n: u32, step: Step, batch: &mut Batch) -> Result<(), Ask> {
        let JitState { bytes, ctx, types, raw, .. } = state;
        ctx.timeout = u32::from(step.timeout);
        let start = batch.keys.len();
        let edges = (&mut batch.reached, &mut batch.truncated);
        debug_assert_eq!(step_of(&raw_step(step), step.timeout), step, "a step is the same in both spellings");
        let code = self.apply(ctx, types, bytes, &mut batch.keys, raw_step(step), edges, raw)?;
        if code == Code::YIELDS {
            batch.push(n, 0, ctx.atomic_steps, Some(start));
            return Ok(());
        }
        self.follow(state, n, start..batch.keys.len(), batch)
    }

    /// Follows an `atomic` whose first statement was done, depth first, to the points where the floor is given back.
    /// The state it has come to lies in the batch, and is no key of it.
    fn follow(&self, state: &mut JitState, n: u32, there: Range<usize>, batch: &mut Batch) -> Result<(), Ask> {
        let JitState { bytes, ctx, types, raw, chain, .. } = state;
        let Chain { here, next, choices, spare } = chain;
        here.clear();
        here.extend_from_slice(&batch.keys[there]);
        spare.append(choices);
        let mut path = 0;
        let mut atomic_steps = ctx.atomic_steps + 1;
        debug_assert!(here.len().is_multiple_of(GRAIN) && here[0] > 0, "who keeps the floor lives");
        let mut n_links = 0;
        let mut watched: (usize, Vec<u8>) = (0, Vec::new());
        let mut keeps = true;
        loop {
            let mut n_todo = 0;
            if keeps {
                let floor = ctx.floor as usize;
                self.fit(ctx, types, here);
                self.floor_moves(ctx, types, here, floor, raw);
                n_todo = ctx.n_steps as usize;
                debug_assert!(raw[..n_todo].iter().all(|s| s.pid as usize == floor), "who keeps the floor moves");
            }
            let step = if n_todo > 0 {
                if n_links >= WATCH_FROM {
                    if *here == watched.1 {
                        return Err(Ask);
                    }
                    if n_links >= 2 * watched.0 {
                        watched = (n_links, here.clone());
                    }
                }
                if n_todo > 1 {
                    let mut choice = spare.pop().unwrap_or_default();
                    choice.before.clone_from(here);
                    choice.todo.clear();
                    choice.todo.extend(raw[1..n_todo].iter().rev());
                    choice.n_links = n_links;
                    debug_assert!(
                        choices.last().is_none_or(|c| c.n_links < n_links),
                        "choices lie one behind the other"
                    );
                    choices.push(choice);
                }
                raw[0]
            } else {
                // The floor is given back: an outcome. Then the innermost open choice is taken up again.
                let from = batch.keys.len();
                batch.keys.extend_from_slice(here);
                batch.push(n, path, std::mem::take(&mut atomic_steps), Some(from));
                path += 1;
                let Some(choice) = choices.last_mut() else { break };
                n_links = choice.n_links;
                if n_links < watched.0 {
                    watched = (0, Vec::new()); // the path that led to the watched state has been left
                }
                let step = choice.todo.pop().expect("an open choice has something left to try");
                here.clone_from(&choice.before);
                if choice.todo.is_empty() {
                    spare.extend(choices.pop());
                }
                self.fit(ctx, types, here);
                step
            };
            ctx.timeout = 0;
            next.clear();
            let edges = (&mut batch.reached, &mut batch.truncated);
            let code = self.apply(ctx, types, here, next, step, edges, raw)?;
            std::mem::swap(here, next);
            debug_assert!(code == Code::YIELDS || code == Code::KEEPS_FLOOR, "what is not done is asked about");
            keeps = code == Code::KEEPS_FLOOR;
            atomic_steps += ctx.atomic_steps + u32::from(keeps);
            n_links += 1;
        }
        debug_assert!(path > 0 && choices.is_empty(), "every choice is tried");
        self.fit(ctx, types, bytes);
        Ok(())
    }

    /// One step, by native code or, if that will not do, by the interpreter.
    #[inline]
    fn fire_whole(&self, state: &mut JitState, n: u32, step: Step, batch: &mut Batch) {
        let before = (batch.outcomes.len(), batch.keys.len());
        let fired = self.fire_one(state, n, step, batch);
        self.or_ask(state, n, step, fired, before, batch);
    }

    /// Asks the interpreter about a step that is not done, in place of what it added to the batch. Afterwards the context
    /// fits the state.
    #[inline]
    fn or_ask(
        &self,
        state: &mut JitState,
        n: u32,
        step: Step,
        done: Result<(), Ask>,
        (outcomes, keys): (usize, usize),
        batch: &mut Batch,
    ) {
        if done.is_err() {
            batch.outcomes.truncate(outcomes);
            batch.keys.truncate(keys);
            self.ask(state, n, step, batch);
            state.ctx.reshaped = 1; // wherever it stopped
        }
        if state.ctx.reshaped != 0 {
            self.fit(&mut state.ctx, &mut state.types, &state.bytes);
        }
        debug_assert!(self.fits(state), "J1");
        debug_assert!(batch.outcomes[outcomes..].iter().all(|o| o.step == n), "what one step leads to");
        debug_assert!(batch.outcomes.len() > outcomes, "M2 of the interpreter: a step has an outcome");
    }

    /// Lists and does all steps, with as much room as they need.
    #[inline]
    fn expand_all(&self, state: &mut JitState, timeout: bool, asleep: &[u64], batch: &mut Batch) {
        let JitState { bytes, ctx, raw, .. } = state;
        loop {
            ctx.timeout = u32::from(timeout);
            let mut seen =
                Seen { reached: batch.reached.marks_mut(), truncated: batch.truncated.marks_mut(), scratch: raw };
            self.native.expand(ctx, bytes, &mut batch.keys, self.statics.max_len, asleep, &mut seen);
            if ctx.overflow == 0 {
                return;
            }
            ctx.overflow = 0;
            raw.resize(raw.len() * 2, RawStep::default());
        }
    }

    /// Whether somebody has a choice that depends on all steps at once: then they are listed first, and done one by one.
    #[inline]
    fn chooses_among_all(&self) -> bool {
        self.interp.system().uses.priorities || self.any_deterministic
    }

    /// The outcomes of all steps, and whose the steps are for who wants to know.
    #[inline]
    fn expand_for(&self, state: &mut JitState, batch: &mut Batch, owners: Option<&mut Vec<Pid>>) -> usize {
        if self.chooses_among_all() {
            let mut steps = Vec::new();
            self.enabled(state, &mut steps);
            self.fire(state, &steps, batch);
            if let Some(owners) = owners {
                owners.clear();
                owners.extend(steps.iter().map(|step| step.pid));
            }
            return steps.len();
        }
        let at = batch.keys.len();
        let timeout = self.expand_or_time_out(state, &[], batch);
        let n_steps = state.ctx.n_steps as usize;
        if let Some(owners) = owners {
            owners.clear();
            owners.extend(state.raw[..n_steps].iter().map(|raw| raw.pid as Pid));
        }
        self.take_in(state, at, timeout, batch);
        n_steps
    }

    /// Lists and does all steps; if there are none, those that wait for that, of which none sleeps. Whether they did.
    #[inline]
    fn expand_or_time_out(&self, state: &mut JitState, asleep: &[u64], batch: &mut Batch) -> bool {
        self.expand_all(state, false, asleep, batch);
        let timeout = state.ctx.n_steps == 0 && self.interp.system().uses.timeout;
        if timeout {
            self.expand_all(state, timeout, &[], batch);
        }
        timeout
    }

    /// The outcomes of what was listed and done; the keys lie behind one another from `at` on.
    #[inline]
    fn take_in(&self, state: &mut JitState, mut at: usize, timeout: bool, batch: &mut Batch) {
        let n_steps = state.ctx.n_steps as usize;
        batch.outcomes.reserve(n_steps);
        for (n, raw) in state.raw[..n_steps].iter().enumerate() {
            match raw.code {
                Code::YIELDS => {
                    let end = at + raw.len as usize;
                    batch.push_key(n as u32, 0, raw.atomic_steps, at..end);
                    at = end;
                }
                Code::SLEEPS => {}
                _ => return self.finish(state, n, at, timeout, batch),
            }
        }
        debug_assert_eq!(at, batch.keys.len(), "each successor is an outcome");
        debug_assert!(self.fits(state), "J1");
    }

    /// Takes in what was listed and done from step `from` on, whose key would be at `at`. A step that is not whole is
    /// done again, and what it does may need the list's memory.
    fn finish(&self, state: &mut JitState, from: usize, mut at: usize, timeout: bool, batch: &mut Batch) {
        let copies_end = batch.keys.len();
        let mut done = std::mem::take(&mut state.done);
        done.clear();
        done.extend_from_slice(&state.raw[from..state.ctx.n_steps as usize]);
        for (n, raw) in (from as u32..).zip(&done) {
            let step = step_of(raw, timeout);
            let end = at + raw.len as usize;
            match raw.code {
                Code::YIELDS => batch.push_key(n, 0, raw.atomic_steps, at..end),
                Code::SLEEPS => {}
                Code::KEEPS_FLOOR => {
                    // Of a handshake the floor is the receiver's.
                    state.ctx.floor = if raw.partner == NOBODY { raw.pid } else { raw.partner };
                    state.ctx.atomic_steps = raw.atomic_steps;
                    let before = (batch.outcomes.len(), batch.keys.len());
                    let followed = self.follow(state, n, at..end, batch);
                    self.or_ask(state, n, step, followed, before, batch);
                }
                _ => {
                    let before = (batch.outcomes.len(), batch.keys.len());
                    self.or_ask(state, n, step, Err(Ask), before, batch);
                    continue; // it left no copy
                }
            }
            at = end;
        }
        debug_assert_eq!(at, copies_end, "each copy is an outcome, or was followed");
        debug_assert!(self.fits(state), "J1");
        state.done = done;
    }

    #[cold]
    fn ask_look(&self, state: &mut JitState, bits: &mut Vec<u64>) -> Result<(), FaultKind> {
        state.ctx.overflow = 0;
        self.interp.look(&mut self.interp.unpack(&state.bytes), bits)
    }

    /// The interpreter does the step, faults and all.
    #[cold]
    fn ask(&self, state: &JitState, n: u32, step: Step, batch: &mut Batch) {
        let from = batch.outcomes.len();
        let mut there = self.interp.unpack(&state.bytes);
        self.interp.fire(&mut there, &[step], batch);
        for outcome in &mut batch.outcomes[from..] {
            outcome.step = n;
        }
    }
}

fn step_of(raw: &RawStep, timeout: bool) -> Step {
    Step {
        pid: raw.pid as Pid,
        edge: EdgeId::new(raw.edge as usize),
        partner: (raw.partner != NOBODY).then(|| (raw.partner as Pid, EdgeId::new(raw.half as usize))),
        timeout,
    }
}

fn raw_step(step: Step) -> RawStep {
    let alone = RawStep::alone(u32::from(step.pid), step.edge.index() as u32);
    match step.partner {
        None => alone,
        Some((pid, half)) => RawStep { partner: u32::from(pid), half: half.index() as u32, ..alone },
    }
}

impl Successors for Jit {
    type State = JitState;

    fn initial(&self) -> Result<JitState, Fault> {
        let mut key = Vec::new();
        self.interp.pack(&self.interp.initial()?, &mut key);
        Ok(self.unpack(&key))
    }

    fn pack(&self, state: &JitState, key: &mut Vec<u8>) {
        key.extend_from_slice(&state.bytes);
    }

    fn unpack(&self, key: &[u8]) -> JitState {
        let raw = vec![RawStep::default(); FIRST_STEPS];
        let mut state = JitState {
            bytes: Vec::new(),
            ctx: Box::default(),
            types: Vec::new(),
            raw,
            done: Vec::new(),
            chain: Chain::default(),
        };
        state.ctx.reshaped = 1;
        self.unpack_into(key, &mut state);
        state
    }

    fn unpack_into(&self, key: &[u8], state: &mut JitState) {
        state.bytes.clear();
        state.bytes.extend_from_slice(key);
        self.fit(&mut state.ctx, &mut state.types, &state.bytes);
    }

    fn batch(&self) -> Batch {
        self.interp.batch()
    }

    fn enabled(&self, state: &mut JitState, steps: &mut Vec<Step>) {
        steps.clear();
        let JitState { bytes, ctx, raw, .. } = state;
        self.all_moves(ctx, bytes, false, raw);
        let mut timeout = false;
        if ctx.n_steps == 0 && self.interp.system().uses.timeout {
            timeout = true;
            self.all_moves(ctx, bytes, true, raw);
        }
        steps.extend(raw[..ctx.n_steps as usize].iter().map(|s| step_of(s, timeout)));
        debug_assert!(!Self::is_sample(state) || self.check_steps(state, steps), "O1");
    }

    fn enabled_of(&self, state: &mut JitState, pid: Pid, steps: &mut Vec<Step>) {
        if self.interp.system().uses.priorities {
            self.enabled(state, steps);
            steps.retain(|step| step.pid == pid && !step.timeout);
            return;
        }
        steps.clear();
        let JitState { bytes, types, ctx, raw, .. } = state;
        (ctx.timeout, ctx.n_steps) = (0, 0);
        self.moves(ctx, types, bytes, usize::from(pid)..usize::from(pid) + 1, raw);
        steps.extend(raw[..ctx.n_steps as usize].iter().map(|s| step_of(s, false)));
        debug_assert!(!Self::is_sample(state) || self.check_steps_of(state, pid, steps), "O1");
    }

    fn expand(&self, state: &mut JitState, batch: &mut Batch) -> usize {
        let from = batch.outcomes.len();
        let n = self.expand_for(state, batch, None);
        let all = |there: &mut State, own: &mut Batch| assert_eq!(self.interp.expand(there, own), n, "O1");
        debug_assert!(!Self::is_sample(state) || self.check_outcomes(state, batch, from, all), "O1");
        n
    }

    fn expand_owned(&self, state: &mut JitState, batch: &mut Batch, owners: &mut Vec<Pid>) -> usize {
        let from = batch.outcomes.len();
        let n = self.expand_for(state, batch, Some(owners));
        debug_assert_eq!(n, owners.len(), "each step is somebody's");
        debug_assert!(owners.is_sorted_by(|a, b| a >= b), "the youngest process first");
        let all = |there: &mut State, own: &mut Batch| assert_eq!(self.interp.expand(there, own), n, "O1");
        debug_assert!(!Self::is_sample(state) || self.check_outcomes(state, batch, from, all), "O1");
        n
    }

    fn expand_awake(&self, state: &mut JitState, asleep: Asleep<'_>, steps: &mut Vec<Step>, batch: &mut Batch) {
        if self.chooses_among_all() {
            return fire_awake(self, state, asleep, steps, batch);
        }
        let (at, from) = (batch.keys.len(), batch.outcomes.len());
        let n = state.types.len().min(asleep.firsts.len());
        state.ctx.firsts[..n].copy_from_slice(&asleep.firsts[..n]);
        // Who is not numbered has numbers that are in no set.
        state.ctx.firsts[n..state.types.len()].fill(1 << 31);
        let timeout = self.expand_or_time_out(state, asleep.set, batch);
        steps.clear();
        steps.extend(state.raw[..state.ctx.n_steps as usize].iter().map(|raw| step_of(raw, timeout)));
        self.take_in(state, at, timeout, batch);
        debug_assert!(!Self::is_sample(state) || self.check_steps(state, steps), "O1");
        let awake = |there: &mut State, own: &mut Batch| self.interp.expand_awake(there, asleep, &mut Vec::new(), own);
        debug_assert!(!Self::is_sample(state) || self.check_outcomes(state, batch, from, awake), "O1");
    }

    fn fire(&self, state: &mut JitState, steps: &[Step], batch: &mut Batch) {
        let from = batch.outcomes.len();
        for (n, step) in steps.iter().enumerate() {
            self.fire_whole(state, n as u32, *step, batch);
        }
        let these = |there: &mut State, own: &mut Batch| self.interp.fire(there, steps, own);
        debug_assert!(!Self::is_sample(state) || self.check_outcomes(state, batch, from, these), "O1");
    }

    fn heed(&self, state: &mut JitState, assertions: bool, promises: bool) {
        state.ctx.heed_assertions = u32::from(assertions);
        state.ctx.heed_promises = u32::from(promises);
    }

    fn look(&self, state: &mut JitState, bits: &mut Vec<u64>) -> Result<(), FaultKind> {
        let JitState { bytes, ctx, raw, .. } = state;
        bits.clear();
        bits.resize(self.n_looked.div_ceil(64), 0);
        let mut timeout = false;
        if self.looks_for_timeout {
            self.all_moves(ctx, bytes, false, raw);
            timeout = ctx.n_steps == 0;
        }
        ctx.timeout = u32::from(timeout);
        let seen = if self.native.look(ctx, bytes, bits, raw) { Ok(()) } else { self.ask_look(state, bits) };
        debug_assert!(!Self::is_sample(state) || self.check_look(state, seen.as_ref().copied(), bits), "O1");
        seen
    }

    fn happens(
        &self,
        state: &mut JitState,
        one: &[u64],
        fired: (&[Step], &Batch),
        bits: &mut Vec<u64>,
    ) -> Result<(), FaultKind> {
        let proctype = |pid: Pid| ProctypeId::new(state.types[usize::from(pid)] as usize);
        self.interp.happens_with(one, &proctype, &|| self.interp.unpack(&state.bytes), fired, bits)
    }

    fn may_end(&self, state: &JitState) -> bool {
        let (system, layout) = (self.interp.system(), self.interp.layout());
        let at_end = |(frame, t): (usize, ProctypeId)| {
            let t = &system.proctypes[t];
            let loc = Loc::new(layout.loc.read(&state.bytes[frame..]) as usize);
            loc == t.end || t.locs[loc].end
        };
        let trace_done = match &system.monitor {
            Some(m) if !m.negated => {
                let loc = Loc::new(layout.monitor.read(&state.bytes) as usize);
                loc == m.graph.end || m.graph.locs[loc].end
            }
            _ => true,
        };
        let ends = trace_done && layout.frames(&state.bytes).all(at_end);
        // What is left in channels is the interpreter's to see; it is asked at ends only.
        let ends = ends && (!system.uses.drained || self.interp.may_end(&self.interp.unpack(&state.bytes)));
        debug_assert_eq!(ends, self.interp.may_end(&self.interp.unpack(&state.bytes)), "O1");
        ends
    }
}
