//! Checks in native code: here the searches are made for it, once.

use spinor_check::check::{Executors, Stated, check};
use spinor_check::observer::Observer;
use spinor_check::report::Report;
use spinor_check::settings::Settings;
use spinor_jit::Jit;
use spinor_model::diagnostic::Diagnostic;
use spinor_model::interp::Interp;
use spinor_model::ir::{Expr, System};
use std::sync::Arc;

/// Native code.
pub struct Native;

impl Executors for Native {
    type Exec = Jit;
    fn word(&self) -> &'static str {
        "jit"
    }
    fn executor(&self, system: Arc<System>, looked: &[Expr]) -> Jit {
        Jit::looking(system, looked)
    }
}

/// Checks with it.
pub fn natively(
    interp: &Interp,
    stated: &[Stated],
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<Report, Vec<Diagnostic>> {
    check(interp, stated, settings, &Native, observer)
}
