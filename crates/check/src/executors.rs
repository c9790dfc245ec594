//! Who runs a system for the searches.

use spinor_model::interp::Interp;
use spinor_model::ir::{Expr, System};
use spinor_model::successors::Successors;
use std::sync::Arc;

/// Makes what runs a system: the interpreter, or something faster that gives the same keys.
pub trait Executors {
    type Exec: Successors + Send + 'static;
    /// The word for reports.
    fn word(&self) -> &'static str;
    /// One that looks at these expressions when it is asked to.
    fn executor(&self, system: Arc<System>, looked: &[Expr]) -> Self::Exec;
}

/// The interpreter itself.
pub struct Interpreted;

impl Executors for Interpreted {
    type Exec = Interp;
    fn word(&self) -> &'static str {
        "interp"
    }
    fn executor(&self, system: Arc<System>, looked: &[Expr]) -> Interp {
        Interp::looking(system, looked)
    }
}
