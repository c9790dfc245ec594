//! Spinor against SPIN 6.5.2, on random models and on the examples SPIN installs.
//!
//! Both need `spin` and a C compiler on the path, and a spinor binary: `$SPINOR_BIN`, else the one cargo built in the same
//! profile. A failure names a seed; `cargo run -p xtask -- shrink SEED` makes it small.

use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;
use xtask::campaign::{self, Pair};
use xtask::compare::Comparison;
use xtask::spin::Spin;
use xtask::spinor::Spinor;

const WORKERS: usize = 2;

fn pair(limit: Duration) -> Pair {
    let mut spin = Spin::find(limit).unwrap_or_else(|problem| panic!("{problem}"));
    let spinor =
        Spinor::find(None, limit.max(Duration::from_secs(3)) * 20).unwrap_or_else(|problem| panic!("{problem}"));
    spin.mended = true;
    Pair { spin, spinor }
}

#[test]
fn random_models_agree_with_spin() {
    let pair = pair(Duration::from_secs(10));
    let tally = campaign::seeds(&pair, 0..300, WORKERS, |_, _, _| {}).expect("the tools run");
    let list = tally.differ.iter().map(|(seed, what)| format!("seed {seed}: {what}")).collect::<Vec<_>>();
    assert!(list.is_empty(), "{} of 300 models differ\n{}", list.len(), list.join("\n"));
    assert!(tally.skipped.len() < 15, "too many models tell nothing: {:?}", tally.skipped);
}

#[test]
fn installed_examples_agree_with_spin() {
    let mut pair = pair(Duration::from_secs(1));
    pair.spin.lenient = true;
    let models = campaign::installed_examples().unwrap_or_else(|problem| panic!("{problem}"));
    let differ = Mutex::new(Vec::new());
    let compared = Mutex::new(0);
    campaign::for_each(0..models.len() as u64, WORKERS, |i| {
        let model: &Path = &models[i as usize];
        match pair.file(model)?.comparison {
            Comparison::Agree => *compared.lock().expect("no worker panics") += 1,
            // Mostly those that take SPIN more than the limit.
            Comparison::Skipped(_) => {}
            Comparison::Differ(list) => {
                let text = list.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
                differ.lock().expect("no worker panics").push(format!("{}: {text}", model.display()));
            }
        }
        Ok(())
    })
    .expect("the tools run");
    let differ = differ.into_inner().expect("no worker panics");
    assert!(differ.is_empty(), "{} examples differ\n{}", differ.len(), differ.join("\n"));
    let compared = compared.into_inner().expect("no worker panics");
    assert!(compared >= 20, "only {compared} examples could be compared");
}
