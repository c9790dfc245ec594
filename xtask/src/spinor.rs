//! Runs Spinor on a model and reads its JSON report.

use crate::json::{self, Json};
use crate::work::{self, Scratch};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpinorReport {
    pub stored: u64,
    pub matched: u64,
    pub transitions: u64,
    pub atomic_steps: u64,
    pub assertion: bool,
    pub end_state: bool,
    /// Violated run-time checks and traces, as `kind: because`.
    pub faults: Vec<String>,
    /// Properties without a verdict, with the reason.
    pub inconclusive: Vec<String>,
}

#[derive(Clone, Debug)]
pub enum SpinorOutcome {
    Done(SpinorReport),
    /// No report: the model was refused, or the program failed. The first line it printed.
    Rejected(String),
    TimedOut,
}

#[derive(Clone, Debug)]
pub struct Spinor {
    pub binary: PathBuf,
    pub limit: Duration,
}

impl Spinor {
    /// The binary: the given path, else `$SPINOR_BIN`, else `spinor` in a folder above this executable, which is where cargo puts it.
    pub fn find(given: Option<&Path>, limit: Duration) -> Result<Spinor, String> {
        let named = given.map(Path::to_path_buf).or_else(|| std::env::var_os("SPINOR_BIN").map(PathBuf::from));
        if let Some(path) = named {
            let binary = fs::canonicalize(&path).map_err(|e| format!("no spinor binary at {}: {e}", path.display()))?;
            return Ok(Spinor { binary, limit });
        }
        let exe = std::env::current_exe().map_err(|e| format!("cannot tell where this program is: {e}"))?;
        let name = format!("spinor{}", std::env::consts::EXE_SUFFIX);
        let found = exe.ancestors().skip(1).take(3).map(|dir| dir.join(&name)).find(|p| p.is_file());
        match found {
            Some(binary) => Ok(Spinor { binary, limit }),
            None => Err(format!(
                "no spinor binary beside {}: run `cargo build -p spinor`, or set SPINOR_BIN",
                exe.display()
            )),
        }
    }

    pub fn check_text(&self, text: &str) -> io::Result<SpinorOutcome> {
        let scratch = Scratch::new()?;
        let model = scratch.path().join("m.pml");
        fs::write(&model, text)?;
        self.check_in(&model, scratch.path())
    }

    pub fn check_file(&self, model: &Path) -> io::Result<SpinorOutcome> {
        let scratch = Scratch::new()?;
        self.check_in(&fs::canonicalize(model)?, scratch.path())
    }

    fn check_in(&self, model: &Path, dir: &Path) -> io::Result<SpinorOutcome> {
        let mut command = Command::new(&self.binary);
        command.arg("check").arg(model).args(["--plain", "--all-errors", "-p", "safety", "--format", "json"]);
        let Some(output) = work::run(&mut command, dir, self.limit)? else { return Ok(SpinorOutcome::TimedOut) };
        Ok(match read_report(&output.stdout) {
            Ok(report) => SpinorOutcome::Done(report),
            Err(problem) => {
                let said = output.stderr.lines().chain(output.stdout.lines()).find(|l| !l.trim().is_empty());
                SpinorOutcome::Rejected(format!(
                    "{} (exit {:?}; {problem})",
                    said.unwrap_or("no output").trim(),
                    output.code
                ))
            }
        })
    }
}

/// Reads the JSON report.
pub fn read_report(text: &str) -> Result<SpinorReport, String> {
    let json = json::parse(text)?;
    let stats = json.get("stats");
    let figure = |name: &str| stats.get(name).as_u64().ok_or_else(|| format!("the report has no stats.{name}"));
    let mut report = SpinorReport {
        stored: figure("stored")?,
        matched: figure("matched")?,
        transitions: figure("transitions")?,
        atomic_steps: figure("atomic_steps")?,
        ..SpinorReport::default()
    };
    for property in json.get("properties").as_array() {
        let word = |name: &str| property.get(name).as_str().unwrap_or_default();
        let because = match property.get("because") {
            Json::String(s) => s.as_str(),
            _ => "no reason given",
        };
        match (word("verdict"), word("kind")) {
            // Checks that SPIN does not make without reduction, or not at all.
            (_, "promise" | "reception" | "overflow" | "nonexecutable") => {}
            ("violated", "assertion") => report.assertion = true,
            ("violated", "end-state") => report.end_state = true,
            ("violated", kind) => report.faults.push(format!("{kind}: {because}")),
            ("inconclusive", _) => report.inconclusive.push(format!("{}: {because}", word("name"))),
            ("holds", _) => {}
            (other, _) => return Err(format!("unknown verdict `{other}` for `{}`", word("name"))),
        }
    }
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = r#"{ "schema_version": 1, "spinor": "0.1.0", "model": { "path": "m.pml", "sha256": "00" },
      "options": { "search": "dfs", "plain": true },
      "properties": [
        { "name": "assert", "kind": "assertion", "verdict": "violated", "because": "assert(x == 0)", "traces": [], "stats": {} },
        { "name": "deadlock", "kind": "end-state", "verdict": "holds", "because": null, "traces": [] },
        { "name": "promise", "kind": "promise", "verdict": "violated", "because": "xs q0", "traces": [] },
        { "name": "runtime", "kind": "runtime-error", "verdict": "violated", "because": "index 3 of a[3]", "traces": [] } ],
      "unreached": [],
      "stats": { "stored": 55, "matched": 44, "transitions": 99, "atomic_steps": 0, "depth": 12, "cpu_seconds": 0.01 } }"#;

    #[test]
    fn the_documented_report_is_read() {
        let report = read_report(REPORT).expect("a report");
        assert_eq!((report.stored, report.matched, report.transitions, report.atomic_steps), (55, 44, 99, 0));
        assert!(report.assertion && !report.end_state);
        assert_eq!(report.faults, ["runtime-error: index 3 of a[3]"]);
    }

    #[test]
    fn a_report_without_figures_is_refused() {
        assert!(read_report(r#"{ "stats": { "stored": 1 } }"#).is_err());
        assert!(read_report("error[P0001]: no").is_err());
    }
}
