//! Searches, traces, the oracle, and the table of what combines.
//!
//! [`check`](check::check) is the entry: a system and [`settings::Settings`] in, a [`report::Report`] out. The searches
//! in [`search`] know states only as bytes and steps only through `Successors`; [`trace`] turns what they found
//! into statements and replays it through the interpreter before anyone sees it; [`explain`] says why it
//! happened; [`plan`] says which request has which answer. This crate reads no text and prints none: it
//! does no input or output, except that [`clock`] asks the operating system for time and memory used.

pub mod check;
pub mod claim;
pub mod clock;
pub mod counters;
pub mod cycles;
mod executors;
pub mod explain;
pub mod observer;
pub mod oracle;
pub mod plan;
pub mod progress;
pub mod protocol;
pub mod reduce;
pub mod report;
pub mod search;
pub mod settings;
pub mod stores;
pub mod symmetry;
pub mod trace;
pub mod verdict;

#[cfg(test)]
mod models;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod toy;
