//! Takes turns: for every mode, model and size, one side and then the other, as often as asked for.

use crate::mode::{Counts, Judged, MODES, Mode, Models};
use crate::record::{COLUMNS, Record};
use crate::tool::{OUT_OF_TIME, Runner, Tools, WRONG, same};
use crate::workload::{Size, Source, Workload};
use std::fs::File;
use std::io::Write;
use std::path::Path;
use xtask::work::Scratch;

/// What is run.
#[derive(Clone, Debug)]
pub struct Plan {
    pub modes: Vec<&'static Mode>,
    pub workloads: Vec<Workload>,
    /// Also run by the modes that ask for them.
    pub examples: Vec<Workload>,
    /// Stored states, from and to.
    pub states: (u64, u64),
    /// The smallest size of each model only.
    pub smallest: bool,
    pub repeat: u64,
}

/// Runs all of it. Each row is written when it is measured, so an interrupted run leaves what it has.
pub fn run(plan: &Plan, tools: &Tools, rows: &Path) -> Result<Vec<Record>, String> {
    let trouble = |e: std::io::Error| format!("{}: {e}", rows.display());
    let mut file = File::create(rows).map_err(trouble)?;
    writeln!(file, "{}", COLUMNS.join(",")).map_err(trouble)?;
    let mut all = Vec::new();
    for mode in &plan.modes {
        let examples = if mode.examples { &plan.examples[..] } else { &[] };
        let workloads = plan.workloads.iter().chain(examples);
        for workload in workloads.filter(|w| has(w, mode.models)) {
            // A side that ran out of time once will do so again.
            let mut late = vec![false; mode.sides.len()];
            for size in sizes(plan, mode, workload) {
                for record in turns(plan, mode, workload, size, tools, &mut late)? {
                    writeln!(file, "{}", record.row()).map_err(trouble)?;
                    all.push(record);
                }
                println!("{}", progress(&all, mode, workload, size));
            }
        }
    }
    Ok(all)
}

fn has(workload: &Workload, models: Models) -> bool {
    match models {
        Models::All => !matches!(workload.source, Source::Symmetric(_)),
        Models::Symmetric => matches!(workload.source, Source::Symmetric(_)),
        Models::Ours => matches!(workload.source, Source::Ours(_)),
        Models::Named(names) => names.contains(&workload.name.as_str()),
    }
}

fn sizes<'a>(plan: &Plan, mode: &Mode, workload: &'a Workload) -> impl Iterator<Item = &'a Size> {
    let (from, to) = (plan.states.0.max(mode.states.0), plan.states.1.min(mode.states.1));
    let n = if plan.smallest { 1 } else { usize::MAX };
    // What is not counted yet is small: an example as it is.
    workload.sizes.iter().take(n).filter(move |s| s.stored == 0 || (from..=to).contains(&s.stored))
}

fn turns(
    plan: &Plan,
    mode: &Mode,
    workload: &Workload,
    size: &Size,
    tools: &Tools,
    late: &mut [bool],
) -> Result<Vec<Record>, String> {
    let scratch = mode.sides.iter().map(|_| Scratch::new()).collect::<Result<Vec<_>, _>>();
    let Ok(scratch) = scratch else { return Err("no scratch folder can be made".into()) };
    let models = scratch.iter().map(|s| workload.prepare(size, s.path())).collect::<Result<Vec<_>, _>>()?;
    let ready = models.iter().zip(&scratch).enumerate();
    let mut runners =
        ready.map(|(i, (model, dir))| Runner::new(tools, mode, i, model, size, dir.path())).collect::<Vec<_>>();
    let repeat = if mode.judged == Judged::Stored { 1 } else { plan.repeat };
    let mut records = Vec::new();
    let mut over = late.to_vec();
    for repetition in 1..=repeat {
        for (i, side) in mode.sides.iter().enumerate() {
            if over[i] {
                continue;
            }
            let trial = runners[i].run()?;
            if let Err(problem) = &trial.figures {
                over[i] = true;
                late[i] |= problem == OUT_OF_TIME;
            }
            records.push(Record::new(mode.name, &workload.name, &size.label(), side.name(), repetition, trial));
        }
    }
    Ok(records)
}

fn progress(all: &[Record], mode: &Mode, workload: &Workload, size: &Size) -> String {
    let label = size.label();
    let these = all.iter().filter(|r| r.mode == mode.name && r.model == workload.name && r.size == label);
    let mut text = format!("{:<13} {:<24} {label:<10}", mode.name, workload.name);
    for record in these {
        let preparation = if mode.judged == Judged::EndToEnd { record.preparation.cpu_s() } else { 0.0 };
        let seconds = record.usage.cpu_s() + preparation;
        text += &match &record.figures {
            Ok(f) => format!("  {} {} states {seconds:.2} s", record.side, f.stored),
            Err(why) => format!("  {} {why}", record.side),
        };
    }
    text
}

/// Where the two should count the same and do not, or one gives an answer that is not the formula's.
pub fn disagreements(records: &[Record]) -> Vec<String> {
    let mut found = Vec::new();
    for record in records {
        if let Err(why) = &record.figures
            && why.starts_with(WRONG)
        {
            found.push(format!("{} {} {}: {}, {why}", record.mode, record.model, record.size, record.side));
        }
    }
    for mode in MODES.iter().filter(|m| m.counts == Counts::Equal) {
        let [first, second] = mode.pair();
        let of = |side: &'static str| {
            records.iter().filter(move |r| r.mode == mode.name && r.side == side && r.repetition == 1)
        };
        for a in of(first) {
            let Some(b) = of(second).find(|b| b.model == a.model && b.size == a.size) else { continue };
            let (Ok(x), Ok(y)) = (&a.figures, &b.figures) else { continue };
            if !(same(x.stored, y.stored) && same(x.transitions, y.transitions)) {
                found.push(format!(
                    "{} {} {}: {first} stores {} states in {} transitions, {second} {} in {}",
                    mode.name, a.model, a.size, x.stored, x.transitions, y.stored, y.transitions
                ));
            }
        }
    }
    found
}
