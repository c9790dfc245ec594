//! Stored states with our static optimisations beside those of SPIN's default.
//!
//! SPIN runs with its own optimisations (`spin -a`), without reduction and claims. Ours may never store more.

use crate::spin::{Spin, SpinOutcome};
use spinor_check::observer::Silent;
use spinor_check::search::{Request, bfs};
use spinor_check::verdict::SAFETY;
use spinor_lang::{Options, load};
use spinor_model::interp::Interp;
use spinor_model::ir::System;
use spinor_model::optimise::{Optimisations, Watched, optimise};
use spinor_store::{Arena, Budget};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// One line of the table.
pub struct Row {
    /// Stored states; `None` where a tool gave no number.
    pub spin: Option<u64>,
    pub plain: Option<u64>,
    pub ours: Option<u64>,
    /// Neither search met a run-time error: only then do the numbers mean the same.
    pub comparable: bool,
}

impl Row {
    pub fn is_larger(&self) -> bool {
        self.comparable && matches!((self.ours, self.spin), (Some(ours), Some(spin)) if ours > spin)
    }
}

pub fn row(spin: &Spin, path: &Path, text: &str) -> std::io::Result<Row> {
    let (theirs, their_faults) = match spin.check_file(path)? {
        SpinOutcome::Done(report) => (Some(report.stored), !report.faults().is_empty()),
        _ => (None, false),
    };
    let folder = path.parent().unwrap_or(Path::new("."));
    let read = |name: &Path| std::fs::read(folder.join(name));
    let Some(model) = load(&path.display().to_string(), text, &Options::default(), &read).model else {
        return Ok(Row { spin: theirs, plain: None, ours: None, comparable: false });
    };
    let (plain, _) = stored(&model.system, spin.limit);
    let (ours, faults) = stored(&optimise(&model.system, Optimisations::ALL, &Watched::default()).0, spin.limit);
    Ok(Row { spin: theirs, plain, ours, comparable: !faults && !their_faults })
}

/// How many states there are, and whether a run-time error was met.
fn stored(system: &System, limit: Duration) -> (Option<u64>, bool) {
    let interp = Interp::new(Arc::new(system.clone()));
    let request = Request {
        kinds: SAFETY.to_vec(),
        all_errors: Some(1),
        max_time: Some(limit),
        budget: Budget::new(2 << 30),
        ..Request::default()
    };
    let store = Arena::new(&request.budget).expect("room for an empty store");
    let searched = bfs::search(&interp, &store, &request, &mut Silent);
    let faults = searched.found.iter().any(|f| f.fault.as_ref().is_some_and(|f| f.kind.is_fatal()));
    (searched.stopped.is_none().then_some(searched.counters.stored), faults)
}
