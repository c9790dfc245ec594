//! `cargo run --release -p spinor-bench`: see `HELP`.

use spinor_bench::mode::{self, MODES, Mode};
use spinor_bench::run::{self, Plan};
use spinor_bench::tool::Tools;
use spinor_bench::workload::{self, Workload};
use spinor_bench::{measure, record, summary, table};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, SystemTime};
use xtask::json;

const HELP: &str = "\
cargo run --release -p spinor-bench -- [OPTION…]
Runs SPIN and Spinor in turns on the same models and writes rows, tables and plots.

  --mode NAME,…        which comparisons (all)
  --only MODEL,…       which models (all); `--list` shows them
  --min-states N       only sizes with at least as many stored states (0)
  --max-states N       only sizes with at most as many (no limit)
  --repeat N           repetitions, in turns (3)
  --max-seconds S      for one search; what takes longer is left out (600)
  --quick              a smoke test: smallest sizes, once, SPIN's verifiers made quickly
  --spinor PATH        the spinor binary (built with cargo, optimised)
  --spinor-args 'A B'  added to every `spinor check`
  --out DIR            where to write (bench/runs/DATE)
  --report DIR         nothing is run: tables and plots again from the rows in DIR
  --table N            instead: the ring that elects a leader with up to N nodes, by many searches
  --list               the modes, models and sizes

Exit code: 0 fine, 1 counts that should be equal differ, or an answer is wrong, 2 wrong usage or missing tools.
";

fn main() -> ExitCode {
    match Options::read(std::env::args().skip(1)).and_then(|options| bench(&options)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(message) => {
            eprintln!("spinor-bench: {message}");
            ExitCode::from(2)
        }
    }
}

#[derive(Default)]
struct Options {
    modes: Option<Vec<&'static Mode>>,
    only: Option<Vec<String>>,
    min_states: Option<u64>,
    max_states: Option<u64>,
    repeat: Option<u64>,
    max_seconds: Option<u64>,
    quick: bool,
    spinor: Option<PathBuf>,
    spinor_args: Vec<String>,
    out: Option<PathBuf>,
    report: Option<PathBuf>,
    table: Option<u64>,
    list: bool,
    help: bool,
    /// As it was typed, for the record.
    words: String,
}

impl Options {
    fn read(words: impl Iterator<Item = String>) -> Result<Options, String> {
        let words = words.collect::<Vec<_>>();
        let mut options = Options { words: words.join(" "), ..Options::default() };
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("{word} needs a value"));
            let number = |text: String| text.parse::<u64>().map_err(|_| format!("{word} {text}: not a number"));
            match word.as_str() {
                "--mode" => {
                    let named = |n: &str| mode::named(n).ok_or_else(|| format!("there is no mode `{n}`\n{}", modes()));
                    options.modes = Some(value()?.split(',').map(named).collect::<Result<_, _>>()?);
                }
                "--only" => options.only = Some(value()?.split(',').map(String::from).collect()),
                "--min-states" => options.min_states = Some(number(value()?)?),
                "--max-states" => options.max_states = Some(number(value()?)?),
                "--repeat" => options.repeat = Some(number(value()?)?),
                "--max-seconds" => options.max_seconds = Some(number(value()?)?),
                "--quick" => options.quick = true,
                "--spinor" => options.spinor = Some(value()?.into()),
                "--spinor-args" => options.spinor_args = value()?.split_whitespace().map(String::from).collect(),
                "--out" => options.out = Some(value()?.into()),
                "--report" => options.report = Some(value()?.into()),
                "--table" => options.table = Some(number(value()?)?),
                "--list" => options.list = true,
                "--help" | "-h" => options.help = true,
                _ => return Err(format!("unknown argument `{word}`\n{HELP}")),
            }
        }
        Ok(options)
    }
}

fn bench(options: &Options) -> Result<bool, String> {
    if options.help {
        print!("{HELP}\n{}", modes());
        return Ok(true);
    }
    if let Some(dir) = &options.report {
        let rows = text_of(&dir.join("rows.csv"))?;
        return report(dir, &text_of(&dir.join("about.txt"))?, &record::read(&rows)?);
    }
    let workloads = chosen(options)?;
    if options.list {
        print!("{}\n{}", modes(), list(&workloads));
        return Ok(true);
    }
    measure::ready()?;
    // With some models chosen, the examples as they are would be noise.
    let examples = if options.quick || options.only.is_some() { Vec::new() } else { workload::installed_examples()? };
    let quick = ["plain", "default", "ltl", "ltl-broken"];
    let all = || MODES.iter().filter(|m| !options.quick || quick.contains(&m.name)).collect::<Vec<_>>();
    let plan = Plan {
        modes: options.modes.clone().unwrap_or_else(all),
        workloads,
        examples,
        states: (options.min_states.unwrap_or(0), options.max_states.unwrap_or(u64::MAX)),
        smallest: options.quick,
        repeat: options.repeat.unwrap_or(if options.quick { 1 } else { 3 }).max(1),
    };
    let (compiler, optimise) = compiler(options.quick)?;
    let tools = Tools {
        compiler,
        optimise,
        // Half of the time of a small search goes into clearing the usual table.
        pan: if options.quick { vec!["-w18".into()] } else { Vec::new() },
        spinor: match &options.spinor {
            Some(path) => fs::canonicalize(path).map_err(|e| format!("{}: {e}", path.display()))?,
            None => build()?,
        },
        extra: options.spinor_args.clone(),
        limit: Duration::from_secs(options.max_seconds.unwrap_or(600)),
    };
    let dir = match &options.out {
        Some(dir) => dir.clone(),
        None => fresh(&workload::folder().join("runs"), &today()),
    };
    fs::create_dir_all(&dir).map_err(|e| format!("{}: {e}", dir.display()))?;
    let about = about(options, &tools);
    write(&dir.join("about.txt"), &about)?;
    if let Some(largest) = options.table {
        return make_table(&plan.workloads, &tools, largest as u32, &dir, &about);
    }
    let records = run::run(&plan, &tools, &dir.join("rows.csv"))?;
    report(&dir, &about, &records)
}

fn make_table(workloads: &[Workload], tools: &Tools, largest: u32, dir: &Path, about: &str) -> Result<bool, String> {
    let ring = workloads.iter().find(|w| w.name == "leader_ring").ok_or("there is no leader_ring")?;
    let cells = table::run(ring, tools, largest)?;
    write(&dir.join("rows.csv"), &table::rows(&cells))?;
    write(&dir.join("table.md"), &table::table(&about.lines().collect::<Vec<_>>().join("  \n"), &cells))?;
    write(&dir.join("states.svg"), &table::plot(&cells, "stored states", |c| c.figures.stored as f64))?;
    write(&dir.join("time.svg"), &table::plot(&cells, "CPU seconds", |c| c.cpu_s.max(0.01)))?;
    Ok(true)
}

fn report(dir: &Path, about: &str, records: &[record::Record]) -> Result<bool, String> {
    let (text, plots) =
        summary::summary(&about.lines().map(|l| format!("{l}  ")).collect::<Vec<_>>().join("\n"), records);
    write(&dir.join("summary.md"), &text)?;
    for (name, plot) in plots {
        write(&dir.join(name), &plot)?;
    }
    println!("written: {}", dir.join("summary.md").display());
    let wrong = run::disagreements(records);
    wrong.iter().for_each(|line| println!("wrong: {line}"));
    Ok(wrong.is_empty())
}

fn chosen(options: &Options) -> Result<Vec<Workload>, String> {
    let all = workload::all()?;
    let Some(only) = &options.only else { return Ok(all) };
    if let Some(unknown) = only.iter().find(|n| !all.iter().any(|w| w.name == **n)) {
        let names = all.iter().map(|w| w.name.as_str()).collect::<Vec<_>>().join(", ");
        return Err(format!("there is no model `{unknown}`: {names}"));
    }
    Ok(all.into_iter().filter(|w| only.contains(&w.name)).collect())
}

fn modes() -> String {
    MODES.iter().map(|m| format!("{:<13} {}\n", m.name, m.about)).collect()
}

fn list(workloads: &[Workload]) -> String {
    let mut text = format!("{:<18} {:<21} {:>12} {:>12} {:>10}\n", "model", "size", "stored", "transitions", "depth");
    for workload in workloads {
        for size in &workload.sizes {
            let (label, s) = (size.label(), size);
            text +=
                &format!("{:<18} {label:<21} {:>12} {:>12} {:>10}\n", workload.name, s.stored, s.transitions, s.depth);
        }
    }
    text
}

/// gcc as SPIN's manual has it; in a smoke test the one that compiles fastest.
fn compiler(quick: bool) -> Result<(String, &'static str), String> {
    let works = |name: &str, arg: &str| Command::new(name).arg(arg).output().is_ok_and(|o| o.status.success());
    if !works("spin", "-V") {
        return Err("SPIN is not installed: there is no `spin` on the path".into());
    }
    match quick {
        true if works("tcc", "-v") => Ok(("tcc".into(), "-O0")),
        _ if works("gcc", "--version") => Ok(("gcc".into(), if quick { "-O0" } else { "-O2" })),
        _ => Err("there is no `gcc` on the path".into()),
    }
}

/// Builds the command, optimised, so that what is measured is what is in the folder.
fn build() -> Result<PathBuf, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["build", "--release", "-p", "spinor", "--message-format", "json-render-diagnostics"])
        .current_dir(workload::folder())
        .stderr(std::process::Stdio::inherit())
        .output()
        .map_err(|e| format!("cargo does not start: {e}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let mut binaries = text.lines().filter_map(|l| json::parse(l).ok()?.get("executable").as_str().map(PathBuf::from));
    binaries.next_back().ok_or_else(|| "cargo did not build `spinor`".to_string())
}

fn about(options: &Options, tools: &Tools) -> String {
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let cpu = cpu.lines().find(|l| l.starts_with("model name")).and_then(|l| l.split(": ").nth(1)).unwrap_or("unknown");
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut text = format!("date: {}\nCPU: {cpu}, {cores} cores\n", today());
    for (name, version) in tools.versions() {
        text += &format!("{name}: {version}\n");
    }
    // Paths are the machine's business.
    let words = options.words.split_whitespace().map(|w| if w.starts_with('/') { "PATH" } else { w });
    text += &format!("options: {}\n", words.collect::<Vec<_>>().join(" "));
    text
}

/// `DATE`, or `DATE.2` when there is a run of that day already.
fn fresh(runs: &Path, date: &str) -> PathBuf {
    let mut dir = runs.join(date);
    let mut n = 2;
    while dir.exists() {
        dir = runs.join(format!("{date}.{n}"));
        n += 1;
    }
    dir
}

/// The date in UTC as `2024-02-29`.
fn today() -> String {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    date((since.as_secs() / 86_400) as i64)
}

/// Days since 1970 as a date. Years are counted from March, so the leap day comes last.
fn date(days: i64) -> String {
    let days = days + 719_468;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    format!("{:04}-{month:02}-{day:02}", year + era * 400 + next)
}

fn text_of(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|e| format!("{}: {e}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::date;

    #[test]
    fn days_become_dates() {
        assert_eq!(
            (date(0), date(19_782), date(19_783)),
            ("1970-01-01".into(), "2024-02-29".into(), "2024-03-01".into())
        );
    }
}
