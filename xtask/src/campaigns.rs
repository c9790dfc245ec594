//! Every comparison on random systems and models, larger than the tests run it: one table, one command.

use std::ops::Range;
use std::process::Command;
use std::time::Instant;

/// A test that asks for its seeds (`spinor_gen::question::seeds`), and how many it is run with.
struct Campaign {
    name: &'static str,
    about: &'static str,
    package: &'static str,
    /// Of the package: a test file, or the library's own tests.
    file: Option<&'static str>,
    test: &'static str,
    /// As many as were run when it was last looked at as a whole.
    seeds: u64,
    /// For the environment.
    also: Option<(&'static str, &'static str)>,
}

const fn campaign(
    name: &'static str,
    package: &'static str,
    file: Option<&'static str>,
    test: &'static str,
    seeds: u64,
    about: &'static str,
) -> Campaign {
    Campaign { name, about, package, file, test, seeds, also: None }
}

const CHECK: &str = "spinor-check";
const CLI: &str = "spinor";

const CAMPAIGNS: [Campaign; 15] = [
    campaign(
        "cycles",
        CHECK,
        None,
        "cycles::",
        100_000,
        "every search for cycles on random graphs, against the oracle",
    ),
    campaign(
        "graphs",
        CHECK,
        None,
        "progress::",
        40_000,
        "every search for progress on random graphs, against the oracle",
    ),
    campaign(
        "quotients",
        CHECK,
        None,
        "symmetry::",
        200_000,
        "symmetric graphs: exactly, and by figure 4, against the whole",
    ),
    campaign(
        "systems",
        CHECK,
        Some("figures"),
        "random_systems",
        1_000_000,
        "the papers' reductions and ours, against the oracle",
    ),
    campaign(
        "progress-systems",
        CHECK,
        Some("progress"),
        "random_systems",
        101_000,
        "searches for progress, reduced or not, against the oracle",
    ),
    campaign(
        "symmetric",
        CHECK,
        Some("symmetry"),
        "random_symmetric",
        5_400,
        "random symmetric models with and without symmetry",
    ),
    campaign(
        "symmetric-trails",
        CLI,
        Some("library"),
        "trails::spin_follows_the_trails_that_symmetry",
        5_000,
        "every run that a symmetric model has, followed by `spin -t`",
    ),
    Campaign {
        also: Some(("SPINOR_MOST_STATES", "100")),
        ..campaign(
            "protocols",
            CHECK,
            Some("leaps"),
            "every_reduction",
            150_000,
            "synthesised protocols by every reduction, against their machines",
        )
    },
    campaign(
        "off-line",
        CHECK,
        Some("leaps"),
        "off_line",
        8_000,
        "random models off-line, in every form, against the whole",
    ),
    campaign("operations", CHECK, Some("operations"), "", 10_000, "formulas about operations, against the machines"),
    campaign("optimised", CHECK, Some("optimise"), "random", 20_000, "static optimisations, against none"),
    campaign(
        "reduced",
        CLI,
        Some("library"),
        "reduced::",
        25_000,
        "random models with and without reduction: safety, formulas, claims",
    ),
    campaign(
        "progress",
        CLI,
        Some("library"),
        "progress::random_models",
        6_400,
        "random models: progress, by every search and reduction",
    ),
    campaign(
        "endless",
        CLI,
        Some("library"),
        "endless::",
        5_000,
        "random models with random formulas by every search, against the oracle",
    ),
    campaign("executors", "spinor-jit", Some("same"), "", 5_000, "native code and the interpreter, step by step"),
];

/// Runs those named, or all, with so many hundredths of their seeds from the given one on. Prints what each says at its end.
pub fn run(names: &[String], percent: u64, from: u64) -> Result<bool, String> {
    if let Some(unknown) = names.iter().find(|name| CAMPAIGNS.iter().all(|c| c.name != **name)) {
        return Err(format!("there is no campaign `{unknown}`\n{}", listed()));
    }
    let mut passed = true;
    for c in CAMPAIGNS.iter().filter(|c| names.is_empty() || names.iter().any(|name| name == c.name)) {
        let seeds = from..from + (c.seeds * percent).div_ceil(100);
        let began = Instant::now();
        let (ok, said) = c.run(seeds.clone())?;
        let word = if ok { "passed" } else { "FAILED" };
        println!("{:<16} {word} in {:.0} s, seeds {seeds:?}: {}", c.name, began.elapsed().as_secs_f64(), c.about);
        said.iter().for_each(|line| println!("    {line}"));
        passed &= ok;
    }
    Ok(passed)
}

pub fn listed() -> String {
    CAMPAIGNS.iter().map(|c| format!("{:<16} {:>9} seeds  {}\n", c.name, c.seeds, c.about)).collect()
}

impl Campaign {
    fn run(&self, seeds: Range<u64>) -> Result<(bool, Vec<String>), String> {
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
        cargo.args(["test", "--release", "-q", "-p", self.package]);
        match self.file {
            Some(file) => cargo.args(["--test", file]),
            None => cargo.arg("--lib"),
        };
        cargo.args([self.test, "--", "--nocapture"]).env("SPINOR_SEEDS", format!("{}..{}", seeds.start, seeds.end));
        cargo.envs(self.also);
        let out = cargo.output().map_err(|e| format!("cargo: {e}"))?;
        let text = String::from_utf8_lossy(&out.stdout);
        // Tests say which seed they are at; what is wrong, and the sums, are the other lines.
        let told = |line: &&str| !line.is_empty() && !line.starts_with("seed ") && !line.starts_with("running ");
        let all: Vec<String> = text.lines().filter(told).map(String::from).collect();
        let errors = String::from_utf8_lossy(&out.stderr);
        let errors = errors.lines().filter(|_| !out.status.success()).map(String::from);
        let from = all.len().saturating_sub(MOST_LINES);
        Ok((out.status.success(), all[from..].iter().cloned().chain(errors).collect()))
    }
}

/// Of what a test says, the end.
const MOST_LINES: usize = 12;

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn the_tests_of_every_campaign_are_there() {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
        for c in &CAMPAIGNS {
            let folder = crates.join(c.package.strip_prefix("spinor-").unwrap_or("cli"));
            let Some(file) = c.file else { continue };
            let tests = folder.join("tests");
            let (module, test) = c.test.split_once("::").unwrap_or(("main", c.test));
            let found = [tests.join(format!("{file}.rs")), tests.join(file).join(format!("{module}.rs"))];
            let text = found.iter().find_map(|path| std::fs::read_to_string(path).ok());
            let text = text.unwrap_or_else(|| panic!("{}: there is no {found:?}", c.name));
            let named = text.lines().any(|l| l.trim_start().strip_prefix("fn ").is_some_and(|l| l.contains(test)));
            assert!(named, "{}: no test has `{test}` in its name", c.name);
        }
    }
}
