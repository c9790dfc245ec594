//! Making the code, owning its memory, and the only places where it is called. The one unsafe file of this crate.

#![allow(unsafe_code)]

use crate::code::{Functions, Plan, define};
use crate::ctx::{Apply, Code, Ctx, Moves, NOBODY, RawStep};
use crate::statics::Statics;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, default_libcall_names};
use spinor_model::ir::System;
use spinor_model::layout::{GRAIN, Layout};

/// The code of one system.
pub(crate) struct Native {
    /// `None` only while it is dropped.
    module: Option<JITModule>,
    moves: Vec<Moves>,
    apply: Vec<Apply>,
}

// SAFETY: after `new` the module is touched by nobody until `drop`; what threads share is finished code, which is
// never written, and function pointers. The code keeps no state of its own: all it writes is what it is given.
unsafe impl Send for Native {}
// SAFETY: as above.
unsafe impl Sync for Native {}

impl Native {
    pub fn new(system: &System, layout: &Layout, statics: &Statics) -> Native {
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
        let plan = Plan { system, layout, statics, functions };
        define(&mut module, &plan);
        module.finalize_definitions().expect("memory for the code");
        let finished = |functions: &[FuncId]| functions.iter().map(|f| module.get_finalized_function(*f)).collect();
        let (moves, apply): (Vec<_>, Vec<_>) = (finished(&plan.functions.moves), finished(&plan.functions.apply));
        // SAFETY: each function was declared with the signature of the type it is turned into (code/mod.rs,
        // `Functions::declare`), in the platform's own calling convention, which is what `extern "C"` means.
        let as_moves = |at| unsafe { std::mem::transmute::<*const u8, Moves>(at) };
        // SAFETY: as above.
        let as_apply = |at| unsafe { std::mem::transmute::<*const u8, Apply>(at) };
        Native {
            moves: moves.into_iter().map(as_moves).collect(),
            apply: apply.into_iter().map(as_apply).collect(),
            module: Some(module),
        }
    }

    /// Appends the steps of a process to `steps`; `ctx.overflow` says that they did not all fit.
    ///
    /// The context must fit the state (J1).
    pub fn moves(&self, ctx: &mut Ctx, state: &[u8], pid: usize, proctype: usize, steps: &mut [RawStep]) {
        let base = ctx.bases[pid] as usize;
        assert!(base < ctx.len as usize && ctx.len as usize <= state.len(), "J1");
        assert!(ctx.n_steps as usize <= steps.len());
        ctx.steps = steps.as_mut_ptr();
        ctx.max_steps = steps.len() as u32;
        // SAFETY: `moves` reads the state through the places of the context, which fit it (J1), and writes only the
        // context and `steps`, of which it is told the length. The edge sets are not touched.
        unsafe { self.moves[proctype](ctx, state.as_ptr(), pid as u32, state.as_ptr().add(base)) }
    }

    /// Does a step to the state at the end of `bytes`, which begins at `start` and may grow into the spare capacity.
    /// Its new length is `ctx.len`, and `bytes` ends with it unless the interpreter must be asked.
    ///
    /// The context must fit the state (J1); the edge sets must be those of the system.
    #[expect(clippy::too_many_arguments, reason = "all that the code is told")]
    pub fn apply(
        &self,
        ctx: &mut Ctx,
        bytes: &mut Vec<u8>,
        start: usize,
        proctype: usize,
        step: RawStep,
        room: usize,
        (reached, truncated): (&mut [u8], &mut [u8]),
        scratch: &mut [RawStep],
    ) -> i32 {
        let len = bytes.len() - start;
        let base = ctx.bases[step.pid as usize] as usize;
        assert!(base < ctx.len as usize && ctx.len as usize <= len, "J1");
        bytes.reserve(room.saturating_sub(len));
        let before = ctx.len;
        ctx.steps = scratch.as_mut_ptr();
        ctx.max_steps = scratch.len() as u32;
        ctx.n_steps = 0;
        ctx.reached = reached.as_mut_ptr();
        ctx.truncated = truncated.as_mut_ptr();
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
        if code != Code::ASK && ctx.len != before {
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

/// Statements of a `d_step` or `atomic` that one call does before the interpreter has to say whether they ever end.
const ROUNDS: i32 = 100_000;

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
        RawStep { pid, edge, partner: NOBODY, half: NOBODY }
    }
}
