//! Making the code, owning its memory, and the only places where it is called. The one unsafe file of this crate.

#![allow(unsafe_code)]

use crate::code::{Functions, Plan, define};
use crate::ctx::{AllMoves, Apply, Code, Ctx, Look, Moves, NOBODY, ROUNDS, RawStep};
use crate::statics::Statics;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, default_libcall_names};
use spinor_model::ir::{Expr, System};
use spinor_model::layout::{GRAIN, Layout};
use std::ops::Range;

/// The code of one system.
pub(crate) struct Native {
    /// `None` only while it is dropped.
    module: Option<JITModule>,
    moves: Vec<Moves>,
    moves_all: AllMoves,
    expand_all: AllMoves,
    look: Look,
    /// How many words `look` fills.
    n_words: usize,
    apply: Vec<Apply>,
    /// Of all proctypes: the bytes of an edge set.
    n_edges: usize,
}

// SAFETY: after `new` the module is touched by nobody until `drop`; what threads share is finished code, which is
// never written, and function pointers. The code keeps no state of its own: all it writes is what it is given.
unsafe impl Send for Native {}
// SAFETY: as above.
unsafe impl Sync for Native {}

impl Native {
    pub fn new(system: &System, layout: &Layout, statics: &Statics, looked: &[Expr]) -> Native {
        let mut flags = settings::builder();
        for (name, value) in [("opt_level", "speed"), ("is_pic", "false"), ("use_colocated_libcalls", "false")] {
            flags.set(name, value).expect("a flag of this version of Cranelift");
        }
        #[cfg(not(debug_assertions))]
        flags.set("enable_verifier", "false").expect("a flag of this version of Cranelift");
        let isa = cranelift_native::builder().expect("a machine Cranelift knows");
        let isa = isa.finish(settings::Flags::new(flags)).expect("flags that fit together");
        let mut module = JITModule::new(JITBuilder::with_isa(isa, default_libcall_names()));
        let functions = Functions::declare(&mut module, system);
        let plan = Plan { system, layout, statics, looked, functions };
        define(&mut module, &plan);
        module.finalize_definitions().expect("memory for the code");
        let finished = |functions: &[FuncId]| functions.iter().map(|f| module.get_finalized_function(*f)).collect();
        let of = &plan.functions;
        let [moves, apply]: [Vec<_>; 2] = [&of.moves, &of.apply].map(|f| finished(f));
        let n = system.proctypes.len();
        assert!(moves.len() == n && apply.len() == n && layout.procs.len() == n, "functions for each proctype");
        // SAFETY: each function was declared with the signature of the type it is turned into (code/mod.rs,
        // `Functions::declare`), in the platform's own calling convention, which is what `extern "C"` means.
        let as_moves = |at| unsafe { std::mem::transmute::<*const u8, Moves>(at) };
        // SAFETY: as above.
        let as_all_moves = |at| unsafe { std::mem::transmute::<*const u8, AllMoves>(at) };
        // SAFETY: as above.
        let as_look = |at| unsafe { std::mem::transmute::<*const u8, Look>(at) };
        // SAFETY: as above.
        let as_apply = |at| unsafe { std::mem::transmute::<*const u8, Apply>(at) };
        Native {
            moves: moves.into_iter().map(as_moves).collect(),
            moves_all: as_all_moves(module.get_finalized_function(of.moves_all)),
            expand_all: as_all_moves(module.get_finalized_function(of.expand_all)),
            look: as_look(module.get_finalized_function(of.look)),
            n_words: looked.len().div_ceil(64),
            apply: apply.into_iter().map(as_apply).collect(),
            n_edges: system.proctypes.iter().map(|t| t.edges.len()).sum(),
            module: Some(module),
        }
    }

    /// Appends the steps of the processes `pids`, youngest first, to `steps`; `ctx.overflow` says that they did not all
    /// fit.
    ///
    /// The context must fit the state (J1), and `types` must be the proctypes of its processes.
    #[inline]
    pub fn moves(&self, ctx: &mut Ctx, state: &[u8], types: &[u32], pids: Range<usize>, steps: &mut [RawStep]) {
        assert!(ctx.len as usize <= state.len() && ctx.n_steps as usize <= steps.len(), "J1");
        debug_assert!(types.len() == usize::from(state[0]) && ctx.reshaped == 0, "J1");
        let before = ctx.n_steps as usize;
        ctx.steps = steps.as_mut_ptr();
        ctx.max_steps = steps.len() as u32;
        for pid in pids.clone().rev() {
            let (base, moves) = (ctx.bases[pid], self.moves[types[pid] as usize]);
            debug_assert!(base < ctx.len, "J1");
            // SAFETY: `moves` reads the state through the places of the context, which fit it (J1), and writes only
            // the context and `steps`, of which it is told the length. The edge sets are not touched.
            unsafe { moves(ctx, state.as_ptr(), pid as u32, state.as_ptr().add(base as usize)) }
        }
        debug_assert!(ctx.n_steps <= ctx.max_steps && ctx.depth == 0, "no more steps than there is room for");
        let own = |step: &RawStep| pids.contains(&(step.pid as usize)) && step.partner != step.pid;
        debug_assert!(steps[before..ctx.n_steps as usize].iter().all(own), "the steps are of who was asked");
    }

    /// Which of the expressions looked at are true, a bit each, into `words`; whether that can be said without the
    /// interpreter. `scratch` is for steps that `enabled()` looks for.
    ///
    /// The context must fit the state (J1); `ctx.timeout` is what `timeout` says.
    #[inline]
    pub fn look(&self, ctx: &mut Ctx, state: &[u8], words: &mut [u64], scratch: &mut [RawStep]) -> bool {
        assert!(ctx.len as usize <= state.len() && words.len() == self.n_words, "J1");
        debug_assert_eq!(ctx.reshaped, 0, "J1");
        ctx.steps = scratch.as_mut_ptr();
        ctx.max_steps = scratch.len() as u32;
        ctx.n_steps = 0;
        ctx.overflow = 0;
        // SAFETY: as for `moves`; besides, the words are written, as many as there are.
        let wrong = unsafe { (self.look)(ctx, state.as_ptr(), words.as_mut_ptr()) };
        debug_assert!((wrong == 0 || wrong == 1) && ctx.depth == 0 && ctx.n_steps == 0, "who looks leaves no steps");
        // A process whose steps do not fit may look as if it had none.
        wrong == 0 && ctx.overflow == 0
    }

    /// The same of all processes, into `steps` from the first on.
    #[inline]
    pub fn moves_all(&self, ctx: &mut Ctx, state: &[u8], steps: &mut [RawStep]) {
        assert!(ctx.len as usize <= state.len(), "J1");
        debug_assert_eq!(ctx.reshaped, 0, "J1");
        ctx.steps = steps.as_mut_ptr();
        ctx.max_steps = steps.len() as u32;
        ctx.n_steps = 0;
        // SAFETY: as for `moves`.
        unsafe { (self.moves_all)(ctx, state.as_ptr()) }
        debug_assert!(ctx.n_steps <= ctx.max_steps && ctx.depth == 0, "no more steps than there is room for");
        debug_assert!(steps[..ctx.n_steps as usize].is_sorted_by(|a, b| a.pid >= b.pid), "the youngest process first");
    }

    /// Lists the steps of all processes, youngest first, and does each to a copy of the state; the copies lie behind
    /// `bytes` one after the other, as the steps say, but for those that the interpreter must be asked about.
    /// `ctx.overflow` says that there was too little room for steps or copies: then nothing counts.
    ///
    /// Steps of a process alone whose number, by `ctx.firsts`, is in `asleep` are listed and not done.
    ///
    /// The context must fit the state (J1); the edge sets must be those of the system, and no state may have more than
    /// `longest` bytes.
    #[inline]
    pub fn expand(
        &self,
        ctx: &mut Ctx,
        state: &[u8],
        bytes: &mut Vec<u8>,
        longest: usize,
        asleep: &[u64],
        seen: &mut Seen<'_>,
    ) {
        assert!((ctx.len as usize).next_multiple_of(GRAIN) == state.len(), "J1");
        debug_assert!(ctx.reshaped == 0 && seen.fits(self.n_edges), "J1");
        let before = (ctx.len, ctx.n_chans, ctx.timeout);
        let start = bytes.len();
        // Two grains more than a state: the last one is copied and filled whole.
        let room = longest.max(state.len()) + 2 * GRAIN;
        bytes.reserve(seen.scratch.len() * state.len() + room);
        ctx.padded = state.len() as u64;
        ctx.n_steps = 0;
        ctx.overflow = 0;
        ctx.steps = seen.scratch.as_mut_ptr();
        ctx.max_steps = seen.scratch.len() as u32;
        ctx.reached = seen.reached.as_mut_ptr();
        ctx.truncated = seen.truncated.as_mut_ptr();
        ctx.asleep = if asleep.is_empty() { std::ptr::null() } else { asleep.as_ptr() };
        ctx.n_asleep = asleep.len() as u64;
        let spare = bytes.spare_capacity_mut();
        let last = spare.len() - room;
        (ctx.out, ctx.out_last) = (spare.as_mut_ptr().cast(), spare[last..].as_mut_ptr().cast());
        // SAFETY: as for `moves` and `apply`: the state is read through the places of the context (J1), which fit
        // it again after each step; a copy is made only up to `out_last`, behind which are `room` bytes, more than any
        // state has (J2), so all that is written lies in the spare capacity. Of `asleep` the first `n_asleep` words are read,
        // and its address is gone afterwards.
        unsafe { (self.expand_all)(ctx, state.as_ptr()) }
        ctx.asleep = std::ptr::null();
        debug_assert_eq!((ctx.len, ctx.n_chans, ctx.timeout), before, "J1: it fits the state again");
        debug_assert!(ctx.reshaped == 0 && ctx.depth == 0, "J1");
        debug_assert!(ctx.out.addr() <= ctx.out_last.addr() + room, "J2");
        if ctx.overflow == 0 {
            // SAFETY: from the old length up to `out` lie whole copies, each written by its step up to its padded
            // length.
            unsafe {
                let end = ctx.out.offset_from(bytes.as_ptr());
                bytes.set_len(end as usize);
            }
        }
        let steps = &seen.scratch[..ctx.n_steps as usize];
        let is_done = |step: &&RawStep| matches!(step.code, Code::YIELDS | Code::KEEPS_FLOOR);
        let laid: usize = steps.iter().filter(is_done).map(|step| step.len as usize).sum();
        debug_assert!(ctx.overflow != 0 || bytes.len() == start + laid, "each step that was done left a copy");
        debug_assert!(steps.is_sorted_by(|a, b| a.pid >= b.pid), "the youngest process first");
        let wakes = ctx.overflow != 0 || steps.iter().all(|step| step.code != Code::SLEEPS || step.partner == NOBODY);
        debug_assert!(wakes, "a handshake does not sleep");
    }

    /// Does a step to a copy of the state, which is laid behind `bytes` and may grow there up to `room` bytes. Its
    /// length is `ctx.len`; it is filled up to a whole grain, unless the interpreter must be asked: then `bytes`
    /// ends anywhere.
    ///
    /// The context must fit the state (J1); the edge sets must be those of the system.
    #[inline]
    #[expect(clippy::too_many_arguments, reason = "all that the code is told")]
    pub fn apply(
        &self,
        ctx: &mut Ctx,
        state: &[u8],
        bytes: &mut Vec<u8>,
        proctype: usize,
        step: RawStep,
        room: usize,
        seen: &mut Seen<'_>,
    ) -> i32 {
        let start = bytes.len();
        let before = ctx.len;
        bytes.reserve(room.max(state.len()));
        bytes.extend_from_slice(state);
        let base = ctx.bases[step.pid as usize] as usize;
        assert!(base < before as usize && before as usize <= state.len(), "J1");
        debug_assert!(ctx.reshaped == 0 && seen.fits(self.n_edges), "J1");
        debug_assert!(step.partner == NOBODY || step.partner < state[0].into() && step.partner != step.pid, "J1");
        ctx.steps = seen.scratch.as_mut_ptr();
        ctx.max_steps = seen.scratch.len() as u32;
        ctx.reached = seen.reached.as_mut_ptr();
        ctx.truncated = seen.truncated.as_mut_ptr();
        ctx.n_steps = 0;
        ctx.atomic_steps = 0;
        ctx.rounds = ROUNDS;
        // SAFETY: `apply` reads and writes the state through the places of the context (J1); a process it creates lies
        // behind the state, where `room` bytes from its start were reserved, more than any state has (J2). The edge
        // sets have a byte for every edge of the system. `n_steps` starts at 0 and stays below `max_steps`.
        let code = unsafe {
            let state = bytes.as_mut_ptr().add(start);
            let none = std::ptr::null();
            self.apply[proctype](ctx, state, step.pid, state.add(base), step.edge, step.partner, step.half, none, 0)
        };
        debug_assert!((Code::YIELDS..=Code::ASK).contains(&code), "code {code}");
        debug_assert!(ctx.len == before || ctx.reshaped != 0, "who comes or goes is noticed");
        debug_assert!(ctx.n_steps == 0 && ctx.depth == 0, "who is asked on the way leaves no steps");
        debug_assert!(code != Code::KEEPS_FLOOR || ctx.floor < bytes[start].into(), "who keeps the floor lives");
        if ctx.len != before && code != Code::ASK {
            let end = ctx.len as usize;
            assert!(end <= room, "J2");
            // SAFETY: the bytes up to `ctx.len` were there or were written by `run`, zeros first; the capacity
            // suffices by J2.
            unsafe { bytes.set_len(start + end) };
            bytes.resize(start + end.next_multiple_of(GRAIN), 0);
        }
        code
    }
}

/// Where native code leaves its notes: the edge sets, and steps that `enabled()` looks for.
pub(crate) struct Seen<'a> {
    pub reached: &'a mut [u8],
    pub truncated: &'a mut [u8],
    pub scratch: &'a mut [RawStep],
}

impl Seen<'_> {
    /// A byte for each edge of the system.
    fn fits(&self, n_edges: usize) -> bool {
        self.reached.len() == n_edges && self.truncated.len() == n_edges
    }
}

impl Drop for Native {
    fn drop(&mut self) {
        if let Some(module) = self.module.take() {
            // SAFETY: the function pointers go with `self`; nobody else has copies.
            unsafe { module.free_memory() }
        }
    }
}

impl RawStep {
    pub fn alone(pid: u32, edge: u32) -> RawStep {
        RawStep { pid, edge, partner: NOBODY, half: NOBODY, ..RawStep::default() }
    }
}
