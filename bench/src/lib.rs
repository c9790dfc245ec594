//! Spinor and SPIN measured beside each other, on the same models, turn by turn.
//!
//! `workload` knows the models and their sizes, `mode` what is run on them, `measure` how a command is timed, `tool` how
//! the two programs are run and what they report. `run` takes turns and writes each repetition as a `record`; `summary`
//! makes tables and judgements of the records, `svg` the plots. `table` is one family by many searches. Everything after the records can be made again from
//! the committed file.

pub mod measure;
pub mod mode;
pub mod record;
pub mod run;
pub mod summary;
pub mod svg;
pub mod table;
pub mod tool;
pub mod workload;
