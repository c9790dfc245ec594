//! Repository checks in Rust: chiefly, does Spinor agree with SPIN?
//!
//! A library, so that tests can use the same runner as the commands. `spin` runs SPIN and reads its report, `spinor`
//! runs ours and reads its JSON, `compare` says whether they agree, `campaign` does so for many models, `campaigns` runs every
//! test on random things with more of them, `claims` compares never claims, `relief` measures reductions of protocols, `shrink` makes a disagreement small.

pub mod campaign;
pub mod campaigns;
pub mod claims;
pub mod compare;
pub mod json;
pub mod optimised;
pub mod relief;
pub mod shrink;
pub mod spin;
pub mod spinor;
pub mod work;
