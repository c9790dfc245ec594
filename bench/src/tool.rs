//! The two programs: how each is run on a prepared model, and what it reports.

use crate::measure::{self, Finished, Line, Usage};
use crate::mode::{Answer, Judged, Mode, Side};
use crate::workload::{Prepared, Size};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use xtask::json::{self, Json};
use xtask::spin::{self, SpinOutcome};

/// What a search reports, in the same words for both programs. SPIN prints counts from 10^8 on with eight digits.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Figures {
    pub stored: u64,
    pub matched: u64,
    pub transitions: u64,
    pub depth: u64,
    /// SPIN's size of a state.
    pub vector_bytes: u64,
    /// The visited states: SPIN's states and hash table.
    pub store_bytes: u64,
    /// Everything the search needs, where the program says so.
    pub search_bytes: u64,
}

/// One search: what it cost and what it said, or why there is nothing to say.
#[derive(Clone, Debug)]
pub struct Trial {
    pub usage: Usage,
    /// SPIN's generation and compilation.
    pub preparation: Usage,
    pub figures: Result<Figures, String>,
    pub command: String,
}

/// How the outcome begins where a formula that holds was found broken, or the other way round.
pub const WRONG: &str = "wrong answer";

/// Said when a limit passed; larger sizes are then not tried.
pub const OUT_OF_TIME: &str = "out of time";

#[derive(Clone, Debug)]
pub struct Tools {
    pub compiler: String,
    pub optimise: &'static str,
    /// Added to every `pan`.
    pub pan: Vec<String>,
    pub spinor: PathBuf,
    /// Added to every `spinor check`.
    pub extra: Vec<String>,
    /// For one search.
    pub limit: Duration,
}

impl Tools {
    /// What runs here, for the record: no path, no name of a machine.
    pub fn versions(&self) -> Vec<(&'static str, String)> {
        let first = |program: &str, arg: &str| {
            let output = Command::new(program).arg(arg).output().ok();
            let text = output.map(|o| String::from_utf8_lossy(&o.stdout).into_owned()).unwrap_or_default();
            text.lines().next().unwrap_or("unknown").trim().to_string()
        };
        let mut git = Command::new("git");
        git.args(["rev-parse", "--short=12", "HEAD"]).current_dir(env!("CARGO_MANIFEST_DIR"));
        let commit = git.output().ok().filter(|o| o.status.success());
        let commit = commit.map(|o| String::from_utf8_lossy(&o.stdout).trim().to_string());
        let spinor = first(&self.spinor.to_string_lossy(), "--version");
        let compiler = first(&self.compiler, if self.compiler == "tcc" { "-v" } else { "--version" });
        vec![
            ("spin", first("spin", "-V")),
            ("compiler", compiler),
            ("spinor", commit.map_or(spinor.clone(), |c| format!("{spinor}, commit {c}"))),
        ]
    }
}

/// One side of a mode on one model, ready to be run several times.
pub struct Runner<'a> {
    tools: &'a Tools,
    side: Side,
    judged: Judged,
    answer: Answer,
    model: &'a Prepared,
    dir: &'a Path,
    /// SPIN's bound, and whether a search has confirmed it.
    depth: (u64, bool),
    made: Option<Result<(Usage, String), String>>,
}

impl<'a> Runner<'a> {
    /// The side with this number.
    pub fn new(tools: &'a Tools, mode: &Mode, n: usize, model: &'a Prepared, size: &Size, dir: &'a Path) -> Self {
        let depth = if size.depth > 0 { size.depth } else { 10_000 };
        // With a claim, its moves are half of a path.
        let depth = if mode.answer == Answer::Any { depth } else { 2 * depth + 1_000 };
        let depth = (bound(depth), false);
        Runner { tools, side: mode.sides[n], judged: mode.judged, answer: mode.answer, model, dir, depth, made: None }
    }

    pub fn run(&mut self) -> Result<Trial, String> {
        match self.side {
            Side::Spin { generate, compile, verify } => self.spin(generate, compile, verify),
            Side::Spinor { check, .. } => self.spinor(check),
        }
    }

    fn timed(&self, line: &Line, limit: Duration) -> Result<Option<Finished>, String> {
        measure::timed(line, self.dir, limit).map_err(|e| format!("{line}: {e}"))
    }

    fn spinor(&self, check: &[&str]) -> Result<Trial, String> {
        let line = Line::new(&self.tools.spinor, "spinor").args(["check", &self.model.file]).args(&self.model.defines);
        let line = line.args(check).args(&self.tools.extra).args(["--format", "json"]);
        let (usage, figures) = match self.timed(&line, self.tools.limit)? {
            None => (Usage::default(), Err(OUT_OF_TIME.to_string())),
            // A command line that is refused leaves no report.
            Some(done) if done.stdout.trim().is_empty() => (done.usage, Err(done.first_line())),
            Some(done) => (done.usage, spinor_figures(&done.stdout, self.answer)),
        };
        Ok(Trial { usage, preparation: Usage::default(), figures, command: line.to_string() })
    }

    fn spin(&mut self, generate: &[&str], compile: &[&str], verify: &[&str]) -> Result<Trial, String> {
        if self.made.is_none() || self.judged == Judged::EndToEnd {
            self.made = Some(self.make(generate, compile)?);
        }
        let (preparation, made) = match self.made.clone() {
            Some(Ok(made)) => made,
            Some(Err(problem)) => return Ok(failed(problem)),
            None => return Ok(failed("the verifier was not made".into())),
        };
        // The bound decides how much memory pan takes and clears, so it is a little above what is needed: a search that
        // shows it to be too small, or much too large, is not counted.
        loop {
            let line = Line::new(self.dir.join("pan"), "./pan").args(verify).args(&self.tools.pan);
            let line = line.args([format!("-m{}", self.depth.0)]);
            let command = format!("{made} && {line}");
            let Some(done) = self.timed(&line, self.tools.limit)? else {
                return Ok(Trial { figures: Err(OUT_OF_TIME.into()), command, ..failed(String::new()) });
            };
            if done.stdout.contains("max search depth too small") {
                self.depth = (self.depth.0 * 8, false);
                continue;
            }
            let figures = spin_figures(&done, self.answer);
            if let (Ok(f), false) = (&figures, self.depth.1) {
                let wasteful = self.depth.0 > bound(f.depth) * 2 && self.depth.0 > 20_000;
                self.depth = (bound(f.depth), true);
                if wasteful {
                    continue;
                }
            }
            return Ok(Trial { usage: done.usage, preparation, figures, command });
        }
    }

    /// `spin -a` and the compiler.
    fn make(&self, generate: &[&str], compile: &[&str]) -> Result<Result<(Usage, String), String>, String> {
        let spin =
            Line::new("spin", "spin").args(["-a"]).args(generate).args(&self.model.defines).args([&self.model.file]);
        let cc = Line::new(&self.tools.compiler, &self.tools.compiler).args([self.tools.optimise, "-w"]).args(compile);
        let cc = cc.args(["-o", "pan", "pan.c"]);
        let mut usage = Usage::default();
        for (line, product) in [(&spin, "pan.c"), (&cc, "pan")] {
            let Some(done) = self.timed(line, Duration::from_secs(300))? else {
                return Ok(Err(format!("{line}: {OUT_OF_TIME}")));
            };
            if !self.dir.join(product).exists() {
                return Ok(Err(format!("{line}: {}", done.first_line())));
            }
            usage.user_s += done.usage.user_s;
            usage.system_s += done.usage.system_s;
            usage.wall_s += done.usage.wall_s;
            usage.peak_kib = usage.peak_kib.max(done.usage.peak_kib);
        }
        Ok(Ok((usage, format!("{spin} && {cc}"))))
    }
}

fn failed(problem: String) -> Trial {
    Trial { usage: Usage::default(), preparation: Usage::default(), figures: Err(problem), command: String::new() }
}

/// A little above the depth that is needed.
fn bound(depth: u64) -> u64 {
    depth + depth / 50 + 100
}

fn spin_figures(done: &Finished, answer: Answer) -> Result<Figures, String> {
    let text = &done.stdout;
    // A run-time error leaves figures that mean nothing. Beside a formula any error but its own does.
    if let SpinOutcome::Done(report) = spin::read_report(text, done.code) {
        let other = report.messages.iter().map(String::as_str).find(|m| !is_violation(m));
        let fault = if answer == Answer::Any { report.faults().first().copied() } else { other };
        if let Some(fault) = fault {
            return Err(format!("run-time error: {fault}"));
        }
    }
    let before = |what: &str| {
        let line = text.lines().find(|l| l.contains(what))?;
        line.split_whitespace().next()?.parse::<f64>().ok()
    };
    let after = |what: &str| {
        let rest = text.split(what).nth(1)?.trim_start();
        rest.chars().take_while(char::is_ascii_digit).collect::<String>().parse::<u64>().ok()
    };
    let count = |what: &str| before(what).map(|n| n as u64);
    let bytes = |what: &str| before(what).map(|mb| (mb * 1_048_576.0) as u64);
    let (Some(stored), Some(matched), Some(transitions), Some(depth)) =
        (count("states, stored"), count("states, matched"), count("transitions (="), after("depth reached"))
    else {
        return Err(format!("exit {:?}: {}", done.code, done.first_line()));
    };
    let violated = after("errors:").is_some_and(|n| n > 0);
    if text.contains("Search not completed") && !(violated && answer != Answer::Any) {
        return Err("search not completed".into());
    }
    expected(answer, violated)?;
    let states = bytes("actual memory usage for states");
    Ok(Figures {
        stored,
        matched,
        transitions,
        depth,
        vector_bytes: after("State-vector").unwrap_or(0),
        store_bytes: states.map_or(0, |s| s + bytes("memory used for hash table").unwrap_or(0)),
        search_bytes: bytes("total actual memory usage").unwrap_or(0),
    })
}

/// What SPIN calls a run that breaks a claim; other errors are the model's.
fn is_violation(message: &str) -> bool {
    ["acceptance cycle", "non-progress cycle", "claim violated", "end state in claim"]
        .iter()
        .any(|m| message.starts_with(m))
}

fn expected(answer: Answer, violated: bool) -> Result<(), String> {
    match (answer, violated) {
        (Answer::Holds | Answer::NotViolated, true) => Err(format!("{WRONG}: violated")),
        (Answer::Violated, false) => Err(format!("{WRONG}: holds")),
        _ => Ok(()),
    }
}

fn spinor_figures(text: &str, answer: Answer) -> Result<Figures, String> {
    let document = json::parse(text)?;
    let stats = document.get("stats");
    let figure = |name: &str| stats.get(name).as_u64();
    let (Some(stored), Some(matched), Some(transitions)) = (figure("stored"), figure("matched"), figure("transitions"))
    else {
        let said = document.get("diagnostics").as_array().first().and_then(|d| d.get("message").as_str());
        return Err(said.unwrap_or("no figures").to_string());
    };
    let properties = document.get("properties").as_array();
    let violated = properties.iter().find(|p| p.get("verdict").as_str() == Some("violated"));
    if answer == Answer::Violated && one_way(properties) {
        return Err("nothing found (one way)".into());
    }
    // A violation ends the search for one, and one that goes only one way is never complete.
    let ended = violated.is_some() && answer != Answer::Any || answer == Answer::NotViolated && one_way(properties);
    if stats.get("complete") != &Json::Bool(true) && !ended {
        return Err("search not completed".into());
    }
    expected(answer, violated.is_some())?;
    let kind = violated.and_then(|p| p.get("kind").as_str()).unwrap_or("");
    if kind == "runtime-error" {
        return Err("run-time error".into());
    }
    Ok(Figures {
        stored,
        matched,
        transitions,
        depth: figure("depth").unwrap_or(0),
        vector_bytes: 0,
        store_bytes: figure("store_bytes").unwrap_or(0),
        search_bytes: figure("search_bytes").unwrap_or(0),
    })
}

/// A search that may miss what there is has come to its end.
fn one_way(properties: &[Json]) -> bool {
    !properties.is_empty()
        && properties.iter().all(|p| p.get("because").as_str().is_some_and(|why| why.starts_with("nothing was found")))
}

/// Both counted the same, as far as SPIN prints digits.
pub fn same(a: u64, b: u64) -> bool {
    let largest = a.max(b);
    if largest < 100_000_000 { a == b } else { a.abs_diff(b) as f64 <= largest as f64 * 1e-7 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAN: &str = "\
State-vector 112 byte, depth reached 116, errors: 0
 23383616 states, stored
 78278710 states, matched
1.0166233e+08 transitions (= stored+matched)
        0 atomic steps

Stats on memory usage (in Megabytes):
 3122.111\tequivalent memory usage for states (stored*(State-vector + overhead))
 1871.000\tactual memory usage for states (compression: 59.93%)
  128.000\tmemory used for hash table (-w24)
    0.014\tmemory used for DFS stack (-m216)
 2000.500\ttotal actual memory usage
";

    fn finished(text: &str) -> Finished {
        Finished { usage: Usage::default(), code: Some(0), stdout: text.into(), stderr: String::new() }
    }

    #[test]
    fn pans_report_is_read_with_large_counts_and_memory() {
        let figures = spin_figures(&finished(PAN), Answer::Any).expect("figures");
        assert_eq!((figures.stored, figures.transitions, figures.depth), (23_383_616, 101_662_330, 116));
        assert_eq!((figures.vector_bytes, figures.store_bytes), (112, 1999 * 1_048_576));
        assert!(same(figures.transitions, 101_662_326) && !same(5, 6) && !same(101_662_330, 101_663_000));
    }

    #[test]
    fn no_figures_are_an_error_that_says_what_was_said() {
        let problem = spin_figures(&finished("pan: out of memory\n"), Answer::Any).expect_err("no figures");
        assert!(problem.contains("out of memory"), "{problem}");
        let refused = r#"{ "stats": null, "diagnostics": [ { "message": "only one thread so far" } ] }"#;
        assert_eq!(spinor_figures(refused, Answer::Any), Err("only one thread so far".to_string()));
    }

    const BROKEN: &str = "\
pan: ltl formula broken
pan:1: acceptance cycle (at depth 648)
pan: wrote m.pml.trail
Warning: Search not completed
State-vector 40 byte, depth reached 750, errors: 1
     1689 states, stored (2654 visited)
     3278 states, matched
     5932 transitions (= visited+matched)
";

    #[test]
    fn a_violation_is_an_answer_and_the_wrong_one_for_a_formula_that_holds() {
        let pan = |text: &str, answer| spin_figures(&finished(text), answer).map(|f| f.stored);
        assert_eq!(pan(BROKEN, Answer::Violated), Ok(1689));
        assert_eq!(pan(BROKEN, Answer::Holds), Err("wrong answer: violated".into()));
        assert_eq!(pan(PAN, Answer::Violated), Err("wrong answer: holds".into()));
        assert_eq!(pan(PAN, Answer::Holds), Ok(23_383_616));
        let failed = BROKEN.replace("acceptance cycle", "assertion violated (x==0)");
        assert!(pan(&failed, Answer::Violated).is_err_and(|e| e.contains("assertion")));
        let unfinished = BROKEN.replace("errors: 1", "errors: 0").replace("pan:1", "pan");
        assert_eq!(pan(&unfinished, Answer::Holds), Err("search not completed".into()));

        let spinor = |verdict: &str, complete: bool, answer| {
            let text = format!(
                r#"{{ "properties": [ {{ "kind": "ltl", "verdict": "{verdict}" }} ],
                "stats": {{ "stored": 7, "matched": 2, "transitions": 9, "complete": {complete} }} }}"#
            );
            spinor_figures(&text, answer).map(|f| f.stored)
        };
        assert_eq!(spinor("violated", false, Answer::Violated), Ok(7));
        assert_eq!(spinor("violated", false, Answer::Holds), Err("wrong answer: violated".into()));
        assert_eq!(spinor("holds", true, Answer::Holds), Ok(7));
        assert_eq!(spinor("holds", true, Answer::Violated), Err("wrong answer: holds".into()));
        assert_eq!(spinor("unknown", false, Answer::Holds), Err("search not completed".into()));
    }
}
