//! The comparison over many models: random ones, and the examples that SPIN installs.

use crate::compare::{Comparison, compare};
use crate::spin::{Spin, SpinOutcome};
use crate::spinor::{Spinor, SpinorOutcome};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Both answers about one model.
pub struct Trial {
    pub spin: SpinOutcome,
    pub spinor: SpinorOutcome,
    pub comparison: Comparison,
}

/// Both tools.
#[derive(Clone, Debug)]
pub struct Pair {
    pub spin: Spin,
    pub spinor: Spinor,
}

impl Pair {
    pub fn text(&self, text: &str) -> io::Result<Trial> {
        let spin = self.spin.check_text(text)?;
        self.trial(spin, |s| s.check_text(text))
    }

    pub fn file(&self, path: &Path) -> io::Result<Trial> {
        let spin = self.spin.check_file(path)?;
        self.trial(spin, |s| s.check_file(path))
    }

    fn trial(&self, spin: SpinOutcome, run: impl FnOnce(&Spinor) -> io::Result<SpinorOutcome>) -> io::Result<Trial> {
        // What SPIN cannot finish tells nothing, so ours need not start.
        let spinor = match spin {
            SpinOutcome::TimedOut | SpinOutcome::Failed(_) => SpinorOutcome::TimedOut,
            _ => run(&self.spinor)?,
        };
        let comparison = compare(&spin, &spinor);
        Ok(Trial { spin, spinor, comparison })
    }
}

/// How a campaign over seeds ended.
#[derive(Default, Debug)]
pub struct Tally {
    pub agree: u64,
    /// Seeds SPIN could not answer, with the reason.
    pub skipped: Vec<(u64, String)>,
    /// Seeds on which the tools differ, with the differences.
    pub differ: Vec<(u64, String)>,
}

/// Compares the models of a range of seeds, `jobs` at a time. `on_differ` hears of each disagreement at once.
pub fn seeds(
    pair: &Pair,
    range: Range<u64>,
    jobs: usize,
    on_differ: impl Fn(u64, &str, &str) + Sync,
) -> io::Result<Tally> {
    let tally = Mutex::new(Tally::default());
    let parallel = for_each(range, jobs, |seed| {
        let model = spinor_gen::generate(seed);
        let trial = pair.text(&model.text)?;
        let mut tally = tally.lock().unwrap_or_else(|e| e.into_inner());
        match trial.comparison {
            Comparison::Agree => tally.agree += 1,
            Comparison::Skipped(why) => tally.skipped.push((seed, why)),
            Comparison::Differ(list) => {
                let text = list.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
                on_differ(seed, &text, &model.text);
                tally.differ.push((seed, text));
            }
        }
        Ok(())
    });
    parallel?;
    let mut tally = tally.into_inner().unwrap_or_else(|e| e.into_inner());
    tally.skipped.sort();
    tally.differ.sort();
    Ok(tally)
}

/// Calls `f` for every number of the range from `jobs` threads; the first error stops all.
pub fn for_each(range: Range<u64>, jobs: usize, f: impl Fn(u64) -> io::Result<()> + Sync) -> io::Result<()> {
    let next = AtomicU64::new(range.start);
    let failure = Mutex::new(None);
    std::thread::scope(|scope| {
        for _ in 0..jobs.max(1) {
            scope.spawn(|| {
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    let mut failed = failure.lock().unwrap_or_else(|e| e.into_inner());
                    if i >= range.end || failed.is_some() {
                        return;
                    }
                    drop(failed);
                    if let Err(error) = f(i) {
                        failed = failure.lock().unwrap_or_else(|e| e.into_inner());
                        failed.get_or_insert(error);
                        return;
                    }
                }
            });
        }
    });
    match failure.into_inner().unwrap_or_else(|e| e.into_inner()) {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

/// The models among the files of the `spin` package.
pub fn installed_examples() -> Result<Vec<PathBuf>, String> {
    let output = Command::new("dpkg")
        .args(["-L", "spin"])
        .output()
        .map_err(|e| format!("cannot ask dpkg for SPIN's examples: {e}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let mut models =
        text.lines().filter(|l| l.ends_with(".pml")).map(PathBuf::from).filter(|p| p.is_file()).collect::<Vec<_>>();
    models.sort();
    if models.is_empty() { Err("the package `spin` installs no .pml files".into()) } else { Ok(models) }
}
