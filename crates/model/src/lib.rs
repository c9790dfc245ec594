//! What a system is, and what it means.
//!
//! Promela and other front ends lower to [`ir::System`]; [`interp`] says what it does; everything that
//! searches sees it through [`successors::Successors`]. This crate knows no Promela, no logic, no search
//! and does no input or output.

pub mod diagnostic;
mod eval;
pub mod explain;
pub mod fault;
pub mod happening;
pub mod index;
pub mod interp;
pub mod ir;
pub mod layout;
pub mod optimise;
pub mod print;
pub mod protocol;
pub mod range;
pub mod read;
pub mod scalarset;
pub mod source;
pub mod state;
pub mod successors;
pub mod validate;
mod walk;
mod work;
pub mod written;
