//! Promela text into a system and its properties, with diagnostics.

pub mod ast;
