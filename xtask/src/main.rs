//! `cargo run -p xtask -- COMMAND`: see `HELP`.

use spinor_gen::protocol::{Shape, synthesise};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::{Duration, Instant};
use xtask::campaign::{self, Pair};
use xtask::campaigns;
use xtask::claims;
use xtask::compare::Comparison;
use xtask::optimised::{self, Row};
use xtask::relief;
use xtask::shrink::shrink;
use xtask::spin::{Spin, SpinOutcome};
use xtask::spinor::{Spinor, SpinorOutcome};
use xtask::work::Scratch;

const HELP: &str = "\
xtask conform  --seeds A..B [--spinor PATH] [--keep DIR] [--jobs N] [--max-seconds S]
               compare Spinor with SPIN on random models; --keep writes the disagreeing ones to DIR
xtask examples [--max-seconds S] [--spinor PATH]
               compare them on the examples that SPIN installs
xtask claims   [--seeds A..B | FILE...] [--max-seconds S] [--keep DIR]
               verdicts and product states with never claims, of SPIN and ours: random models, files, or
               SPIN's examples; formulas by the claims that SPIN makes of them
xtask optimised [--seeds A..B | FILE...] [--max-seconds S]
               stored states of SPIN's default and of our static optimisations, on its examples, on
               random models (only where ours are more), or on files
xtask shrink   SEED|FILE [--spinor PATH] [--max-seconds S]
               print the smallest model found on which they still disagree in the same way
xtask measure  --seeds A..B [--jobs N] [--max-seconds S]
               what SPIN makes of the random models: acceptance, sizes, errors, features
xtask show     SEED [claims]
               print the random model of a seed, or the one of `xtask claims`
xtask synthesise --seed N [--processes 2..8] [--states N] [--transitions N] [--messages N] [--capacity N]
               [--density PERCENT] [--complete PERCENT]
               print the random protocol of a seed as .cfsm text; without a size, a small one
xtask relief   [--protocols N] [--most STATES] [--out DIR]
               reductions of N synthesised protocols (400), of no more states than that, and of three that are
               written down: in the whole, by process and by leaps: tables 7.1 and 7.2 of van der Schoot's chapter; rows, tables and plots
xtask campaigns [NAME...] [--percent N] [--from SEED]
               every test on random systems and models, with many more of them than the tests take: all, or
               those named, with so many hundredths of their usual seeds (100), from a seed on (1000000)

The spinor binary is PATH, else $SPINOR_BIN, else the one cargo built beside this program.
Exit code: 0 agreement, 1 disagreement, 2 wrong usage or missing tools.
";

fn main() -> ExitCode {
    let outcome = Args::read(std::env::args().skip(1)).and_then(|args| match args.command.as_str() {
        "conform" => conform(&args),
        "examples" => examples(&args),
        "claims" => compare_claims(&args),
        "optimised" => optimised(&args),
        "shrink" => shrink_command(&args),
        "measure" => measure(&args),
        "show" => {
            let claims = args.operands.get(1).is_some_and(|word| word == "claims");
            let seed = args.seed()?;
            print!("{}", if claims { claims::random_model(seed) } else { spinor_gen::generate(seed).text });
            Ok(true)
        }
        "synthesise" => {
            print!("{}", synthesised(&args)?);
            Ok(true)
        }
        "relief" => relief(&args),
        "campaigns" => campaigns::run(&args.operands, args.number("percent", 100)?, args.number("from", 1_000_000)?),
        "" | "help" | "--help" | "-h" => {
            print!("{HELP}");
            Ok(true)
        }
        other => Err(format!("unknown command `{other}`\n{HELP}")),
    });
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::from(2)
        }
    }
}

/// Measures, prints the tables and writes them into a folder. Leaps must be fewer states than processes one by one.
fn relief(args: &Args) -> Result<bool, String> {
    let wanted = args.number("protocols", relief::PROTOCOLS as u64)? as usize;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut n = 0;
    let most = args.number("most", relief::MOST as u64)? as usize;
    let rows = relief::synthesised(wanted, most, &mut |row| {
        n += 1;
        eprintln!("{n} of {wanted}: {} processes, {} states", row.processes, row.costs[0].states);
    });
    let real: Vec<relief::Row> = relief::REAL
        .iter()
        .map(|name| {
            let text = std::fs::read_to_string(root.join(format!("corpus/cfsm/{name}.cfsm")));
            text.map(|text| relief::of_text(name, &text)).map_err(|e| format!("{name}: {e}"))
        })
        .collect::<Result<_, String>>()?;
    let text = format!("{}\n{}", relief::table_1(&rows), relief::table_2(&real));
    println!("{text}");
    if let Some(folder) = args.options.get("out") {
        let folder = Path::new(folder);
        let write = |name: &str, text: &str| {
            let done = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(folder.join(name), text));
            done.map_err(|e| format!("{}: {e}", folder.join(name).display()))
        };
        write("rows.csv", &relief::csv(&rows))?;
        write("protocols.csv", &relief::csv(&real))?;
        write("summary.md", &text)?;
        write("states.svg", &relief::plot(&rows, 0))?;
        write("transitions.svg", &relief::plot(&rows, 1))?;
        write("time.svg", &relief::plot(&rows, 3))?;
    }
    match relief::leaps_are_fewer(&rows, &real) {
        Ok(()) => Ok(true),
        Err(why) => {
            println!("{why}");
            Ok(false)
        }
    }
}

/// What a synthesised protocol can be told to be.
const SIZES: [&str; 7] = ["processes", "states", "transitions", "messages", "capacity", "density", "complete"];

/// The protocol of a seed.
fn synthesised(args: &Args) -> Result<String, String> {
    let seed = args.number("seed", 0)?;
    let small = Shape::small(seed);
    let size = |name: &str, usual: usize, least: u64, most: u64| {
        let n = args.number(name, usual as u64)?;
        if (least..=most).contains(&n) { Ok(n as usize) } else { Err(format!("--{name} {n}: not in {least}..{most}")) }
    };
    let shape = Shape {
        processes: size("processes", small.processes, 2, 8)?,
        states: size("states", small.states, 1, 1000)?,
        transitions: size("transitions", small.transitions, 1, 10_000)?,
        messages: size("messages", small.messages, 1, 4)?,
        capacity: size("capacity", small.capacity, 1, 255)?,
        density: size("density", small.density, 0, 100)?,
        complete: size("complete", small.complete, 0, 100)?,
    };
    Ok(synthesise(seed, &shape).text())
}

struct Args {
    command: String,
    operands: Vec<String>,
    options: BTreeMap<String, String>,
}

impl Args {
    fn read(mut words: impl Iterator<Item = String>) -> Result<Args, String> {
        let mut args =
            Args { command: words.next().unwrap_or_default(), operands: Vec::new(), options: BTreeMap::new() };
        while let Some(word) = words.next() {
            let Some(name) = word.strip_prefix("--") else {
                args.operands.push(word);
                continue;
            };
            let (name, value) = match name.split_once('=') {
                Some((name, value)) => (name.to_string(), value.to_string()),
                None => (name.to_string(), words.next().ok_or_else(|| format!("--{name} needs a value"))?),
            };
            let known = [
                "seeds",
                "spinor",
                "keep",
                "jobs",
                "max-seconds",
                "seed",
                "protocols",
                "most",
                "out",
                "percent",
                "from",
            ];
            if !known.contains(&name.as_str()) && !SIZES.contains(&name.as_str()) {
                return Err(format!("unknown option --{name}\n{HELP}"));
            }
            args.options.insert(name, value);
        }
        Ok(args)
    }

    fn number(&self, name: &str, default: u64) -> Result<u64, String> {
        match self.options.get(name) {
            None => Ok(default),
            Some(text) => text.parse().map_err(|_| format!("--{name} {text}: not a number")),
        }
    }

    fn seeds(&self) -> Result<Range<u64>, String> {
        let text = self.options.get("seeds").ok_or("--seeds A..B is missing")?;
        let ends = text.split_once("..").and_then(|(a, b)| Some(a.parse().ok()?..b.parse().ok()?));
        ends.ok_or_else(|| format!("--seeds {text}: not of the form A..B"))
    }

    fn seed(&self) -> Result<u64, String> {
        self.operands.first().and_then(|s| s.parse().ok()).ok_or_else(|| "a seed is missing".to_string())
    }

    fn pair(&self, seconds: u64) -> Result<Pair, String> {
        let limit = Duration::from_secs(self.number("max-seconds", seconds)?);
        let given = self.options.get("spinor").map(Path::new);
        // Ours gets longer: an unfinished search of ours counts as a disagreement.
        let mut spin = Spin::find(limit)?;
        spin.mended = true;
        Ok(Pair { spin, spinor: Spinor::find(given, limit * 10)? })
    }
}

fn conform(args: &Args) -> Result<bool, String> {
    let pair = args.pair(10)?;
    let (seeds, jobs) = (args.seeds()?, args.number("jobs", 1)? as usize);
    let keep = args.options.get("keep").map(PathBuf::from);
    if let Some(dir) = &keep {
        std::fs::create_dir_all(dir).map_err(|e| format!("{}: {e}", dir.display()))?;
    }
    let start = Instant::now();
    let tally = campaign::seeds(&pair, seeds, jobs, |seed, differences, text| {
        println!("seed {seed}: {differences}");
        if let Some(dir) = &keep
            && let Err(error) = std::fs::write(dir.join(format!("{seed}.pml")), text)
        {
            eprintln!("xtask: {}: {error}", dir.display());
        }
    });
    let tally = tally.map_err(|e| e.to_string())?;
    for (seed, why) in &tally.skipped {
        println!("seed {seed}: skipped, {why}");
    }
    let (agree, skipped, differ) = (tally.agree, tally.skipped.len(), tally.differ.len());
    println!("{agree} agree, {differ} differ, {skipped} skipped, {:.1} s", start.elapsed().as_secs_f64());
    Ok(tally.differ.is_empty())
}

fn examples(args: &Args) -> Result<bool, String> {
    let mut pair = args.pair(60)?;
    pair.spin.lenient = true;
    let models = campaign::installed_examples()?;
    let root = models[0]
        .ancestors()
        .find(|dir| models.iter().all(|m| m.starts_with(dir)))
        .unwrap_or(Path::new("/"))
        .to_path_buf();
    println!("{:<42} {:>10} {:>11} {:>10} {:>11}  result", "model", "spin st.", "trans.", "spinor st.", "trans.");
    let mut agree = true;
    for model in &models {
        let trial = pair.file(model).map_err(|e| format!("{}: {e}", model.display()))?;
        let theirs = if let SpinOutcome::Done(r) = &trial.spin {
            (r.stored.to_string(), r.transitions.to_string())
        } else {
            ("-".into(), "-".into())
        };
        let ours = if let SpinorOutcome::Done(r) = &trial.spinor {
            (r.stored.to_string(), r.transitions.to_string())
        } else {
            ("-".into(), "-".into())
        };
        let result = match &trial.comparison {
            Comparison::Agree => "ok".to_string(),
            Comparison::Skipped(why) => format!("skipped ({why})"),
            Comparison::Differ(list) => {
                agree = false;
                format!("differs ({})", list.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
            }
        };
        let name = model.strip_prefix(&root).unwrap_or(model).display().to_string();
        println!("{name:<42} {:>10} {:>11} {:>10} {:>11}  {result}", theirs.0, theirs.1, ours.0, ours.1);
    }
    Ok(agree)
}

fn compare_claims(args: &Args) -> Result<bool, String> {
    let seconds = args.number("max-seconds", if args.options.contains_key("seeds") { 10 } else { 60 })?;
    let limit = Duration::from_secs(seconds);
    let mut spin = Spin::find(limit)?;
    spin.mended = args.options.contains_key("seeds");
    let keep = args.options.get("keep").map(PathBuf::from);
    let mut tally = BTreeMap::new();
    let mut print = |name: &str, row: &claims::Row| {
        let violated = row.ours.is_some_and(|a| a.violated);
        let (kind, text) = match &row.result {
            claims::Result::Agree if violated => ("agree, violated", "ok".to_string()),
            claims::Result::Agree if row.left_out > 0 => {
                ("agree, counted as SPIN does", format!("ok, {} left out", row.left_out))
            }
            claims::Result::Agree => ("agree to the digit", "ok".to_string()),
            claims::Result::Skipped(why) => ("skipped", format!("skipped ({why})")),
            claims::Result::Differ(list) => {
                ("differ", format!("differs ({})", list.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")))
            }
        };
        *tally.entry(kind).or_insert(0_u64) += 1;
        let say = |a: Option<claims::Answer>| a.map_or("-".to_string(), |a| a.to_string());
        let claim = format!("{name} {}", row.claim);
        println!("{claim:<36} {:<22} | {:<22}  {text}", say(row.spin), say(row.ours));
        kind != "differ"
    };
    let mut fine = true;
    if args.options.contains_key("seeds") {
        for seed in args.seeds()? {
            let text = claims::random_model(seed);
            let rows = claims::rows_of_text(&spin, &text, limit * 10).map_err(|e| e.to_string())?;
            let mut agree = true;
            match rows {
                Ok(rows) => rows.iter().for_each(|row| agree &= print(&format!("seed {seed}"), row)),
                Err(why) => {
                    agree = false;
                    println!("seed {seed}: we refuse it, {why}");
                }
            }
            if let (false, Some(dir)) = (agree, &keep) {
                std::fs::write(dir.join(format!("{seed}.pml")), &text).map_err(|e| e.to_string())?;
            }
            fine &= agree;
        }
    } else {
        spin.lenient = true;
        let files = args.operands.iter().map(PathBuf::from).collect::<Vec<_>>();
        for model in if files.is_empty() { campaign::installed_examples()? } else { files } {
            let text = std::fs::read(&model).map(|b| String::from_utf8_lossy(&b).into_owned());
            let rows = text.and_then(|text| claims::rows(&spin, &model, &text, limit * 10));
            let name = model.file_name().unwrap_or_default().to_string_lossy().into_owned();
            match rows.map_err(|e| format!("{}: {e}", model.display()))? {
                Ok(rows) => rows.iter().for_each(|row| fine &= print(&name, row)),
                Err(why) => println!("{name:<42} we refuse it, {why}"),
            }
        }
    }
    println!("{}", tally.iter().map(|(kind, n)| format!("{n} {kind}")).collect::<Vec<_>>().join("; "));
    Ok(fine)
}

fn optimised(args: &Args) -> Result<bool, String> {
    let limit = Duration::from_secs(args.number("max-seconds", 60)?);
    let mut spin = Spin::find(limit)?;
    (spin.optimised, spin.lenient) = (true, true);
    let show = |n: Option<u64>| n.map_or("-".to_string(), |n| n.to_string());
    let print = |name: &str, row: &Row| {
        let note = match row {
            row if row.is_larger() => "LARGER",
            row if !row.comparable => "run-time error",
            _ => "",
        };
        println!("{name:<42} {:>10} {:>10} {:>10}  {note}", show(row.plain), show(row.spin), show(row.ours));
    };
    println!("{:<42} {:>10} {:>10} {:>10}", "model", "plain", "spin", "ours");
    let mut fine = true;
    if args.options.contains_key("seeds") {
        let scratch = Scratch::new().map_err(|e| e.to_string())?;
        let path = scratch.path().join("m.pml");
        for seed in args.seeds()? {
            let text = spinor_gen::generate(seed).text;
            let row = std::fs::write(&path, &text).and_then(|()| optimised::row(&spin, &path, &text));
            let row = row.map_err(|e| e.to_string())?;
            if row.is_larger() {
                fine = false;
                print(&format!("seed {seed}"), &row);
            }
        }
        return Ok(fine);
    }
    let files = args.operands.iter().map(PathBuf::from).collect::<Vec<_>>();
    for model in if files.is_empty() { campaign::installed_examples()? } else { files } {
        let text = std::fs::read(&model).map(|b| String::from_utf8_lossy(&b).into_owned());
        let row = text.and_then(|text| optimised::row(&spin, &model, &text));
        let row = row.map_err(|e| format!("{}: {e}", model.display()))?;
        fine &= !row.is_larger();
        print(&model.file_name().unwrap_or_default().to_string_lossy(), &row);
    }
    Ok(fine)
}

fn shrink_command(args: &Args) -> Result<bool, String> {
    let pair = args.pair(5)?;
    let operand = args.operands.first().ok_or("a seed or a file is missing")?;
    let text = match operand.parse::<u64>() {
        Ok(seed) => spinor_gen::generate(seed).text,
        Err(_) => std::fs::read_to_string(operand).map_err(|e| format!("{operand}: {e}"))?,
    };
    // The same kind of difference: a smaller model that merely differs otherwise is another bug.
    let kinds = |text: &str| match pair.text(text).map(|t| t.comparison) {
        Ok(Comparison::Differ(list)) => {
            Some((list[0].what, list[0].spinor.split([' ', ':']).take(3).collect::<Vec<_>>().join(" ")))
        }
        _ => None,
    };
    let Some((what, said)) = kinds(&text) else {
        return Err(format!("{operand}: the tools agree on this model"));
    };
    let mut tried = 0;
    let small = shrink(&text, |t| {
        tried += 1;
        // What we refuse must be refused for the same reason, or the shrinker finds any syntax error.
        kinds(t).is_some_and(|(w, s)| w == what && (what != "accepted" || s == said))
    });
    print!("{small}");
    if let Ok(trial) = pair.text(&small)
        && let Comparison::Differ(list) = trial.comparison
    {
        let text = list.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
        println!("/* {text}; {tried} models tried */");
    }
    Ok(false)
}

fn measure(args: &Args) -> Result<bool, String> {
    let spin = Spin::find(Duration::from_secs(args.number("max-seconds", 10)?))?;
    let (seeds, jobs) = (args.seeds()?, args.number("jobs", 1)? as usize);
    let n = seeds.end.saturating_sub(seeds.start);
    let results = Mutex::new(Vec::new());
    let start = Instant::now();
    campaign::for_each(seeds, jobs, |seed| {
        let model = spinor_gen::generate(seed);
        let outcome = spin.check_text(&model.text)?;
        results.lock().unwrap_or_else(|e| e.into_inner()).push((seed, model, outcome));
        Ok(())
    })
    .map_err(|e| e.to_string())?;
    let elapsed = start.elapsed().as_secs_f64();
    let mut results = results.into_inner().unwrap_or_else(|e| e.into_inner());
    results.sort_by_key(|(seed, ..)| *seed);
    let mut features = BTreeMap::new();
    let (mut sizes, mut messages, mut faulty) = (Vec::new(), BTreeMap::new(), 0);
    let (mut rejected, mut failed, mut late, mut errors) = (0, 0, 0, 0);
    for (seed, model, outcome) in &results {
        for feature in &model.features {
            *features.entry(*feature).or_insert(0) += 1;
        }
        faulty += u64::from(model.may_fault);
        match outcome {
            SpinOutcome::Done(report) => {
                sizes.push(report.stored);
                errors += u64::from(report.errors > 0);
                let unplanned =
                    report.faults().into_iter().filter(|m| !model.may_fault && !m.starts_with("event_trace"));
                for fault in unplanned {
                    println!("seed {seed}: an unplanned run-time error, {fault}");
                }
                let kinds = report.messages.iter().map(|m| {
                    if m.starts_with("assertion violated") && !m.contains("invalid array index") {
                        "assertion violated"
                    } else {
                        m
                    }
                });
                for kind in kinds.collect::<std::collections::BTreeSet<_>>() {
                    *messages.entry(kind.to_string()).or_insert(0) += 1;
                }
            }
            SpinOutcome::Rejected(why) => {
                rejected += 1;
                println!("seed {seed}: rejected, {why}");
            }
            SpinOutcome::Failed(why) => {
                failed += 1;
                println!("seed {seed}: failed, {why}");
            }
            SpinOutcome::TimedOut => {
                late += 1;
                println!("seed {seed}: timed out");
            }
        }
    }
    sizes.sort_unstable();
    let at = |percent: usize| sizes.get((sizes.len().saturating_sub(1)) * percent / 100).copied().unwrap_or(0);
    println!(
        "{n} models in {elapsed:.1} s: {rejected} rejected by spin, {failed} refused by pan, {late} timed out, {errors} with errors, {faulty} may fault"
    );
    println!(
        "stored states: 5% {}, 25% {}, median {}, 75% {}, 95% {}, largest {}",
        at(5),
        at(25),
        at(50),
        at(75),
        at(95),
        at(100)
    );
    for (message, count) in &messages {
        println!("{count:>6}  {message}");
    }
    let mut by_count =
        spinor_gen::FEATURES.iter().map(|f| (features.get(f).copied().unwrap_or(0), *f)).collect::<Vec<_>>();
    by_count.sort_unstable();
    println!("models per feature: {}", by_count.iter().map(|(n, f)| format!("{f} {n}")).collect::<Vec<_>>().join(", "));
    Ok(true)
}
