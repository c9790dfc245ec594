//! Every trail we write is a run that SPIN can follow to the same end.
//!
//! Random models and the corpus are searched breadth-first and depth-first; each trace goes to `spin -t` as a trail. SPIN
//! must take every row, end with every process at the control state where we say it stands, and see the assertion
//! fail if that is what the trace shows. Symmetric models are asked about their formulas, too, with and without fairness.

use spinor_check::check::{Said, Stated, interpreted};
use spinor_check::cycles::Fairness;
use spinor_check::observer::Silent;
use spinor_check::settings::{Search, Selection, Settings};
use spinor_check::symmetry::Way;
use spinor_check::trace::{Ending, Trace};
use spinor_gen::question::seeds;
use spinor_lang::{NamedFormula, Options, load};
use spinor_model::fault::FaultKind;
use spinor_model::interp::Interp;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// A folder that goes away with the test.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let dir = std::env::temp_dir().join(format!("spinor-trails-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&dir).expect("a folder for trails");
        Scratch(dir)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The traces of assertions and end states in a model, found in both orders.
fn traces(text: &str, symmetry: Way) -> Option<(Interp, Vec<Trace>)> {
    let model = load("m.pml", text, &Options::default(), &|p: &Path| std::fs::read(p)).model?;
    let interp = Interp::new(model.system);
    let mut traces = Vec::new();
    for search in [Search::Bfs, Search::Dfs] {
        let settings = Settings { search, symmetry, select: Selection::safety(), ..bounded() };
        let report = interpreted(&interp, &[], &settings, &mut Silent).expect("safety is a property");
        for property in report.properties {
            if matches!(property.name.as_str(), "assert" | "deadlock") {
                traces.extend(property.traces);
            }
        }
    }
    Some((interp, traces))
}

fn bounded() -> Settings {
    Settings { shorten: false, max_depth: Some(2000), max_memory: Some(1 << 28), ..Settings::default() }
}

/// The traces of everything that a symmetric model asks, with this fairness: lassos among them.
fn symmetric_traces(text: &str, fairness: Fairness) -> (Interp, Vec<Trace>) {
    let loaded = load("m.pml", text, &Options::default(), &|p: &Path| std::fs::read(p));
    let model = loaded.model.unwrap_or_else(|| panic!("{:?}\n{text}", loaded.diagnostics));
    let interp = Interp::new(model.system.clone());
    let formula = |f: &NamedFormula| Stated {
        name: f.name.clone(),
        said: Said::Formula { formula: f.formula.clone(), props: f.props.clone() },
    };
    let stated: Vec<Stated> = model.formulas.iter().map(formula).collect();
    // What takes longer is asked elsewhere; what was found by then is followed all the same.
    let max_time = Some(Duration::from_secs(2));
    let settings = Settings { symmetry: Way::Segmented, fairness, max_depth: None, max_time, ..bounded() };
    let report = interpreted(&interp, &stated, &settings, &mut Silent).expect("the questions make sense");
    // A fault of other kinds ends SPIN's simulation earlier.
    let followed = |t: &Trace| !matches!(&t.ending, Ending::Fault(f) if f.kind != FaultKind::Assertion);
    (interp, report.properties.into_iter().flat_map(|p| p.traces).filter(followed).collect())
}

/// What is wrong with SPIN's replay of this trace, if anything.
fn replay(dir: &Path, text: &str, interp: &Interp, trace: &Trace) -> Result<(), String> {
    let initial = trace.initial.as_ref().ok_or("no initial state")?;
    let trail = spinor::trail::write(interp.system(), initial, &trace.steps, trace.cycle_start);
    std::fs::write(dir.join("m.pml"), text).map_err(|e| e.to_string())?;
    std::fs::write(dir.join("m.pml.trail"), &trail).map_err(|e| e.to_string())?;
    let out = Command::new("spin").args(["-t", "-p", "m.pml"]).current_dir(dir).output();
    let out = out.map_err(|e| format!("spin is needed for this test: {e}"))?;
    let said = String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr);
    let wrong = |what: &str| Err(format!("{what}\n--- model\n{text}\n--- trail\n{trail}\n--- spin -t -p\n{said}"));
    // Where a cycle begins is no step.
    let rows = trail.lines().filter(|line| !line.starts_with("-1:")).count();
    if !said.contains(&format!("trail ends after {rows} steps")) && rows > 0 {
        return wrong("SPIN did not take every row");
    }
    let fails = matches!(&trace.ending, Ending::Fault(f) if f.kind == FaultKind::Assertion);
    if fails && !said.contains("assertion violated") {
        return wrong("SPIN did not see the assertion fail");
    }
    // After `#processes`, one line for each process: `  7:	proc  1 (worker:1) m.pml:11 (state 5)`.
    let Some(end) = said.rfind("#processes:") else { return wrong("no final state") };
    let last = trace.last_state().ok_or("no last state")?;
    let mut seen = 0;
    for line in said[end..].lines().filter(|l| l.contains("proc ") && l.contains("(state ")) {
        let number = |after: &str| -> Option<u32> {
            let at = line.find(after)? + after.len();
            line[at..].trim_start().split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
        };
        let (Some(pid), Some(state)) = (number("proc "), number("(state ")) else { continue };
        seen += 1;
        if pid as usize >= last.n_procs() {
            return wrong(&format!("process {pid} is alive in SPIN"));
        }
        let proctype = &interp.system().proctypes[last.proctype(pid as u8)];
        let mut loc = last.loc(pid as u8);
        let ours = proctype.locs[loc].number;
        // A process stopped before a jump inside an atomic: SPIN's simulator shows where the jump leads.
        while proctype.locs[loc].number != state
            && let [only] = proctype.locs[loc].edges[..]
            && proctype.edges[only].guards.is_empty()
            && proctype.edges[only].effects.is_empty()
            && proctype.edges[only].to != loc
        {
            loc = proctype.edges[only].to;
        }
        if proctype.locs[loc].number != state {
            return wrong(&format!("process {pid} stands at {state} in SPIN, at {ours} here"));
        }
    }
    if seen != last.n_procs() { wrong(&format!("{seen} processes in SPIN, {} here", last.n_procs())) } else { Ok(()) }
}

#[test]
fn spin_follows_the_trails_of_random_models() {
    let scratch = Scratch::new("random");
    let (mut n, mut wrong) = (0, Vec::new());
    for seed in 0..300 {
        let text = spinor_gen::generate(seed).text;
        let Some((interp, traces)) = traces(&text, Way::Auto) else { continue };
        for trace in traces {
            n += 1;
            if let Err(why) = replay(&scratch.0, &text, &interp, &trace) {
                wrong.push(format!("seed {seed}: {why}"));
            }
        }
    }
    assert!(n > 150, "only {n} traces were made");
    assert!(wrong.is_empty(), "{} of {n} trails differ; the first:\n{}", wrong.len(), wrong[0]);
}

/// Names that a search has exchanged are put back. `SPINOR_SEEDS=0..5000` for more.
#[test]
fn spin_follows_the_trails_that_symmetry_leads_to() {
    let scratch = Scratch::new("symmetric");
    let seeds = seeds(0..60);
    let (mut n, mut n_lassos, mut wrong, at_least) = (0, 0, Vec::new(), (seeds.end - seeds.start) / 4);
    for seed in seeds {
        let text = spinor_gen::symmetric(seed);
        let (interp, traces) = symmetric_traces(&text, Fairness::ALL[seed as usize % 3]);
        // SPIN's simulator does not follow its own trails where `_last` decides: there it is who moves, not who moved.
        if interp.system().uses.last {
            continue;
        }
        for trace in traces {
            n += 1;
            n_lassos += u64::from(trace.cycle_start.is_some());
            if let Err(why) = replay(&scratch.0, &text, &interp, &trace) {
                wrong.push(format!("seed {seed}: {why}"));
            }
        }
    }
    println!("{n} traces, {n_lassos} that never end");
    assert!(n > at_least && n_lassos * 4 > at_least, "only {n} traces were made, {n_lassos} without an end");
    assert!(wrong.is_empty(), "{} of {n} trails differ; the first:\n{}", wrong.len(), wrong[0]);
}

#[test]
fn spin_follows_the_trails_of_the_corpus() {
    let scratch = Scratch::new("corpus");
    let mut n = 0;
    for path in spinor_gen::corpus::models(&["pml"]) {
        let text = std::fs::read_to_string(&path).expect("a corpus model");
        let Some((interp, traces)) = traces(&text, Way::Auto) else { continue };
        for trace in traces.iter().filter(|t| t.steps.len() < 10_000) {
            n += 1;
            if let Err(why) = replay(&scratch.0, &text, &interp, trace) {
                panic!("{}: {why}", path.display());
            }
        }
    }
    assert!(n > 10, "only {n} traces were made");
}
