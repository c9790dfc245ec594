//! Runs SPIN on a model and reads what its verifier reports.
//!
//! The verifier is generated without the optimisations that change what is counted (`-o1 -o2 -o3`), compiled without
//! reduction and claims, and searches past errors (`-c0`), so its figures are those of the plain state graph. It prints a
//! message whenever it differs from the one before, so every kind of error shows up at least once.

use crate::work::{self, Scratch};
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// What the verifier found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpinReport {
    pub stored: u64,
    pub matched: u64,
    pub transitions: u64,
    pub atomic_steps: u64,
    pub errors: u64,
    /// The distinct messages, without depths.
    pub messages: BTreeSet<String>,
}

impl SpinReport {
    /// An assertion of the model failed.
    pub fn assertion(&self) -> bool {
        self.messages.iter().any(|m| is_assertion(m))
    }

    pub fn end_state(&self) -> bool {
        self.messages.iter().any(|m| m == "invalid end state")
    }

    /// Errors after which the figures mean nothing: the search stopped, or went on from a broken state.
    pub fn faults(&self) -> Vec<&str> {
        self.messages.iter().map(String::as_str).filter(|m| !is_assertion(m) && *m != "invalid end state").collect()
    }
}

fn is_assertion(message: &str) -> bool {
    message.starts_with("assertion violated") && !message.contains("invalid array index")
}

#[derive(Clone, Debug)]
pub enum SpinOutcome {
    Done(SpinReport),
    /// `spin -a` reports errors.
    Rejected(String),
    /// The generated C does not compile, or the verifier refuses the model, dies or runs out of its bounds.
    Failed(String),
    TimedOut,
}

/// Printed as errors by `spin -a`, though the program is legal and the verifier complete.
const TOLERATED: &[&str] = &["dubious use of 'else' combined with i/o"];

/// What the verifier is to look for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Run<'a> {
    /// Assertions and invalid end states, without any claim.
    Safety,
    /// Violations of a claim: the only one, or the one with this name. All, or up to the first error of any kind.
    Claim { name: Option<&'a str>, all: bool },
}

/// How to run SPIN.
#[derive(Clone, Debug)]
pub struct Spin {
    compiler: &'static str,
    /// For one run of the verifier.
    pub limit: Duration,
    /// With SPIN's own optimisations, those that change what is counted.
    pub optimised: bool,
    /// Go on whenever a verifier was generated, whatever `spin -a` said.
    pub lenient: bool,
    /// A run may end only with empty channels (`pan -q`).
    pub drained: bool,
    /// With its `enabled` put right (DIFFERENCES.md), so that models in which somebody asks can be compared.
    pub mended: bool,
}

/// What is wrong in `enabled` of SPIN 6.5.2, and what is put there: a question inside a question takes the step that it
/// should ask for; an `else` is taken for what the asking process finds there; the clause after `provided` is not looked
/// at.
const MENDED: [(&str, &str); 4] = [
    (
        "\tint res = 0; int tt; uchar ot;\n",
        "\tint res = 0; int tt; uchar ot; int outer = TstOnly; uchar o_pm = trpt->o_pm;\n",
    ),
    ("\tTstOnly = 1;\n", "\tTstOnly = 1; trpt->o_pm &= ~1;\n"),
    ("\tfor (t = trans", "#ifdef HAS_PROVIDED\n\tif (provided(pid, ot, tt, 0))\n#endif\n\tfor (t = trans"),
    ("\tTstOnly = 0;\n", "\tTstOnly = outer; trpt->o_pm = o_pm;\n"),
];

/// The verifier with another `enabled`.
fn mended(pan: &str) -> io::Result<String> {
    let unknown = || io::Error::other("the verifier's `enabled` is not the one that is known");
    let start = pan.find("\nenabled(int iam, int pid)").ok_or_else(unknown)?;
    let end = start + pan[start..].find("\n}\n").ok_or_else(unknown)?;
    let mut body = pan[start..end].to_string();
    for (wrong, right) in MENDED {
        if body.matches(wrong).count() != 1 {
            return Err(unknown());
        }
        body = body.replace(wrong, right);
    }
    let whole = format!("{}{body}{}", &pan[..start], &pan[end..]);
    // Beside a claim the number -1 is the claim's, which is no process.
    Ok(whole.replace("if (pid < 0 || pid >=", "if (pid < BASE || pid >="))
}

impl Spin {
    /// Finds SPIN and a C compiler: tcc, because compiling dominates the time of a small model, else gcc.
    pub fn find(limit: Duration) -> Result<Spin, String> {
        let works = |name: &str, arg: &str| Command::new(name).arg(arg).output().is_ok_and(|o| o.status.success());
        if Command::new("spin").arg("-V").output().is_err() {
            return Err("SPIN is not installed: there is no `spin` on the path".into());
        }
        let compiler = if works("tcc", "-v") {
            "tcc"
        } else if works("gcc", "--version") {
            "gcc"
        } else {
            return Err("no C compiler for SPIN's verifier: neither `tcc` nor `gcc` is on the path".into());
        };
        Ok(Spin { compiler, limit, optimised: false, lenient: false, drained: false, mended: false })
    }

    /// Verifies a model given as text.
    pub fn check_text(&self, text: &str) -> io::Result<SpinOutcome> {
        let scratch = Scratch::new()?;
        let model = scratch.path().join("m.pml");
        fs::write(&model, text)?;
        self.check_in(&model, scratch.path(), Run::Safety)
    }

    /// Verifies a file. Includes are relative to the file's own folder.
    pub fn check_file(&self, model: &Path) -> io::Result<SpinOutcome> {
        let scratch = Scratch::new()?;
        self.check_in(&fs::canonicalize(model)?, scratch.path(), Run::Safety)
    }

    /// Verifies a file with a claim, the only one or the one with this name: up to the first error of any kind, or to the end.
    pub fn check_claim(&self, model: &Path, name: Option<&str>, all: bool) -> io::Result<SpinOutcome> {
        let scratch = Scratch::new()?;
        self.check_in(&fs::canonicalize(model)?, scratch.path(), Run::Claim { name, all })
    }

    /// The never claims that SPIN makes of the formulas of a file.
    pub fn claims_of(&self, model: &Path) -> io::Result<String> {
        let scratch = Scratch::new()?;
        self.generate(&fs::canonicalize(model)?, scratch.path())?;
        match fs::read_to_string(scratch.path().join("_spin_nvr.tmp")) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
            text => text,
        }
    }

    /// What `spin -a` says; `None` if it takes too long.
    fn generate(&self, model: &Path, dir: &Path) -> io::Result<Option<String>> {
        let mut spin = Command::new("spin");
        spin.arg("-a");
        if !self.optimised {
            spin.args(["-o1", "-o2", "-o3"]);
        }
        spin.arg(model);
        let output = work::run(&mut spin, dir, self.limit.max(Duration::from_secs(20)))?;
        Ok(output.map(|output| output.stdout + &output.stderr))
    }

    fn check_in(&self, model: &Path, dir: &Path, run: Run<'_>) -> io::Result<SpinOutcome> {
        let Some(text) = self.generate(model, dir)? else { return Ok(SpinOutcome::TimedOut) };
        let complaint = text.lines().find(|l| is_complaint(l));
        if let Some(line) = complaint
            && !self.lenient
        {
            return Ok(SpinOutcome::Rejected(line.trim().to_string()));
        }
        if !dir.join("pan.c").exists() || !dir.join("pan.m").exists() {
            let line = complaint.or(text.lines().next()).unwrap_or("no verifier was generated");
            return Ok(SpinOutcome::Rejected(line.trim().to_string()));
        }
        if self.mended {
            let pan = dir.join("pan.c");
            fs::write(&pan, mended(&fs::read_to_string(&pan)?)?)?;
        }
        let mut vector = 0;
        if let Err(problem) = self.compile(dir, vector, run)? {
            return Ok(SpinOutcome::Failed(problem));
        }
        // A large depth bound costs its allocation, so it is raised only when it proves too small.
        let mut depths = [20_000_u64, 2_000_000, 40_000_000].into_iter();
        if run != Run::Safety {
            // The endless paths of `claims` should end soon.
            depths = [20_000, 200_000, 2_000_000].into_iter();
        }
        let mut depth = depths.next().unwrap_or_default();
        loop {
            let mut pan = Command::new(dir.join("pan"));
            pan.args(["-n", "-w20"]).arg(format!("-m{depth}"));
            if self.drained {
                pan.arg("-q");
            }
            match run {
                Run::Safety => _ = pan.arg("-c0"),
                Run::Claim { name, all } => {
                    pan.args(["-a", if all { "-c0" } else { "-c1" }]);
                    name.into_iter().for_each(|name| _ = pan.args(["-N", name]));
                }
            }
            let Some(output) = work::run(&mut pan, dir, self.limit)? else { return Ok(SpinOutcome::TimedOut) };
            let text = output.stdout + &output.stderr;
            if let Some(needed) = vector_size(&text)
                && needed > vector
            {
                vector = needed;
                if let Err(problem) = self.compile(dir, vector, run)? {
                    return Ok(SpinOutcome::Failed(problem));
                }
                continue;
            }
            let at_an_error = matches!(run, Run::Claim { all: false, .. }) && !text.contains("errors: 0");
            if text.contains("max search depth too small") && !at_an_error {
                match depths.next() {
                    Some(more) => depth = more,
                    None => return Ok(SpinOutcome::Failed("deeper than the largest depth bound".into())),
                }
                continue;
            }
            return Ok(read_report(&text, output.code));
        }
    }

    fn compile(&self, dir: &Path, vector: u64, run: Run<'_>) -> io::Result<Result<(), String>> {
        let mut cc = Command::new(self.compiler);
        if self.compiler == "gcc" {
            cc.arg("-O0");
        }
        cc.args(["-w", "-DNOREDUCE", "-DMEMLIM=4000"]);
        if run == Run::Safety {
            cc.arg("-DNOCLAIM");
        }
        if vector > 0 {
            cc.arg(format!("-DVECTORSZ={vector}"));
        }
        cc.args(["-o", "pan", "pan.c"]);
        let Some(output) = work::run(&mut cc, dir, Duration::from_secs(60))? else {
            return Ok(Err("the C compiler takes too long".into()));
        };
        if output.code == Some(0) {
            return Ok(Ok(()));
        }
        let text = output.stdout + &output.stderr;
        Ok(Err(format!("{}: {}", self.compiler, text.lines().next().unwrap_or("failed"))))
    }
}

fn is_complaint(line: &str) -> bool {
    let error = line.contains("Error:") || line.starts_with("error:") || line.contains("syntax error");
    error && !TOLERATED.iter().any(|t| line.contains(t))
}

/// The size that `VECTORSZ is too small, edit pan.h` or its variants ask for.
fn vector_size(text: &str) -> Option<u64> {
    let line = text.lines().find(|l| l.contains("VECTORSZ"))?;
    let digits =
        line.split("VECTORSZ=").nth(1).map(|rest| rest.chars().take_while(char::is_ascii_digit).collect::<String>());
    let named = digits.and_then(|d| d.parse::<u64>().ok()).unwrap_or(0);
    let above = line.split("N>").nth(1).map(|rest| rest.chars().take_while(char::is_ascii_digit).collect::<String>());
    let above = above.and_then(|d| d.parse::<u64>().ok()).unwrap_or(0);
    Some((named.max(above) * 2).max(8192))
}

/// Reads the verifier's output. Without the figures it refused the model or died.
pub fn read_report(text: &str, code: Option<i32>) -> SpinOutcome {
    let number_before = |what: &str| {
        let line = text.lines().find(|l| l.contains(what))?;
        line.split_whitespace().next()?.parse::<u64>().ok()
    };
    let errors = text.split("errors: ").nth(1).and_then(|rest| {
        let digits = rest.chars().take_while(char::is_ascii_digit).collect::<String>();
        digits.parse::<u64>().ok()
    });
    let figures =
        (number_before("states, stored"), number_before("states, matched"), number_before("transitions (="), errors);
    let (Some(stored), Some(matched), Some(transitions), Some(errors)) = figures else {
        let line = text.lines().find(|l| !l.trim().is_empty()).unwrap_or("no output");
        return SpinOutcome::Failed(format!("{} (exit {code:?})", line.trim()));
    };
    if text.contains("reached -DMEMLIM bound") || text.contains("Search not completed") && errors == 0 {
        return SpinOutcome::Failed("search not completed: out of memory".into());
    }
    let messages = text.lines().filter_map(message).collect();
    let atomic_steps = number_before("atomic steps").unwrap_or(0);
    SpinOutcome::Done(SpinReport { stored, matched, transitions, atomic_steps, errors, messages })
}

/// `pan:3: invalid end state (at depth 7)` gives `invalid end state`.
fn message(line: &str) -> Option<String> {
    let rest = line.strip_prefix("pan:")?;
    let (number, message) = rest.split_once(": ")?;
    number.parse::<u64>().ok()?;
    let message = message.rsplit_once(" (at depth").map_or(message, |(m, _)| m);
    Some(message.trim().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = "\
pan:1: assertion violated (x==0) (at depth 1)
pan:4: invalid end state (at depth -1)
pan: wrote m.pml.trail

(Spin Version 6.5.2 -- 6 December 2019)

State-vector 20 byte, depth reached 4, errors: 5
        7 states, stored
        1 states, matched
        8 transitions (= stored+matched)
        3 atomic steps
hash conflicts:         0 (resolved)
";

    #[test]
    fn a_report_is_read() {
        let SpinOutcome::Done(report) = read_report(REPORT, Some(0)) else { panic!("a report") };
        assert_eq!(
            (report.stored, report.matched, report.transitions, report.atomic_steps, report.errors),
            (7, 1, 8, 3, 5)
        );
        assert!(report.assertion() && report.end_state() && report.faults().is_empty());
    }

    #[test]
    fn an_index_out_of_bounds_is_a_fault_not_an_assertion() {
        let text = REPORT.replace("(x==0)", "- invalid array index");
        let SpinOutcome::Done(report) = read_report(&text, Some(0)) else { panic!("a report") };
        assert!(!report.assertion());
        assert_eq!(report.faults(), ["assertion violated - invalid array index"]);
    }

    #[test]
    fn a_refusal_is_not_a_report() {
        let text = "proctype 0 (P) has unconditional self-loop\n";
        assert!(matches!(read_report(text, Some(1)), SpinOutcome::Failed(m) if m.contains("self-loop")));
    }

    #[test]
    fn the_vector_size_is_read_from_both_wordings() {
        assert_eq!(
            vector_size("pan: error: VECTORSZ too small, recompile pan.c with -DVECTORSZ=N with N>9000"),
            Some(18000)
        );
        assert_eq!(vector_size("nothing of the kind"), None);
    }

    #[test]
    fn tolerated_complaints_are_no_rejection() {
        assert!(!is_complaint("spin: m.pml:3, Error: dubious use of 'else' combined with i/o, near 'x'"));
        assert!(is_complaint("spin: m.pml:3, Error: undeclared variable: y"));
        assert!(is_complaint("error: (m.pml:26) label L1 placed incorrectly"));
    }
}
