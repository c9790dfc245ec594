//! A system as native code.
//!
//! The interpreter says what a system means; this crate is a guess about it, made by Cranelift, that gives the same
//! steps in the same order and the same keys, only faster. Whatever is unusual (a fault, a failed assertion, a chain
//! of statements that may never end) is handed to the interpreter, state and step, so the words for it exist once.
//!
//! # The argument
//!   A key is the state (model, layout.rs), and native code works on its bytes. Two functions per proctype do
//!   everything: `moves` appends the steps of a process, `apply` does one of them to a copy of the state. The driver
//!   asks all processes, copies, applies, and follows an `atomic` from choice to choice. One more function looks at a
//!   state from outside, for propositions.
//!
//! # Invariants
//!   J1 `bases`, `chans`, `len` and `n_chans` of the context fit the state that native code is called with
//!   J2 there is room after a state for all the processes that can ever live beside those it has
//!
//! # Owed
//!   O1 the same steps, outcomes, keys and faults as the interpreter, in the same order, on every reachable state, and
//!      the same seen from outside:
//!      tests/same.rs, over the corpus and random models

mod code;
mod ctx;
mod driver;
mod native;
mod statics;

pub use driver::{Jit, JitState};
