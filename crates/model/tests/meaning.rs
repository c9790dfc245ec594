//! What small systems mean: every file of `tests/ir` is read, validated, explored, and compared with its header.
//!
//! A header is comment lines; those that start with one of these words are expectations:
//!
//! ```text
//! ; run: initial steps 2            steps enabled in the initial state
//! ; states 7 transitions 9          all reachable states; 1 + outcomes with a successor, as SPIN counts
//! ; atomic steps 3                  statements after which the floor was kept
//! ; invalid ends 1                  states without a step that may not be the end
//! ; fault Assertion                 one line per kind of fault met, as Rust writes it
//! ; truncated t0 e3                 edges that lost bits
//! ; unreached t0 e4                 edges never taken
//! ; globals 1 2 3                   some reachable state without a step has these global slots
//! ; owed: why                       the header is right and we are wrong; fails when that is no longer so
//! ```
//!
//! Faults, truncations and unreached edges not announced are failures too. The numbers come from SPIN 6.5.2 on the
//! Promela text in the file (`spin -a -o1 -o2 -o3`, `-DNOREDUCE`, `pan -c0`) unless the file says how they were found.

use spinor_model::interp::Interp;
use spinor_model::ir::System;
use spinor_model::print::print;
use spinor_model::read::read;
use spinor_model::successors::Successors;
use spinor_model::validate::validate;
use std::collections::{BTreeSet, HashSet, VecDeque};
use std::path::Path;
use std::sync::Arc;

#[derive(Debug, Default, PartialEq)]
struct Explored {
    initial_steps: usize,
    states: usize,
    transitions: usize,
    atomic_steps: u32,
    invalid_ends: usize,
    faults: BTreeSet<String>,
    truncated: BTreeSet<String>,
    unreached: BTreeSet<String>,
    ends: BTreeSet<String>,
}

fn explore(system: &System) -> Explored {
    let interp = Interp::new(Arc::new(system.clone()));
    let mut out = Explored { transitions: 1, ..Explored::default() };
    let mut unreached: BTreeSet<_> =
        system.proctypes.enumerated().flat_map(|(t, p)| p.edges.ids().map(move |e| (t, e))).collect();
    let initial = match interp.initial() {
        Ok(state) => state,
        Err(fault) => {
            out.faults.insert(format!("{:?}", fault.kind));
            return out;
        }
    };
    let mut key = Vec::new();
    interp.pack(&initial, &mut key);
    let mut seen = HashSet::from([key.clone()]);
    let mut queue = VecDeque::from([key]);
    let mut steps = Vec::new();
    let mut batch = interp.batch();
    while let Some(key) = queue.pop_front() {
        assert!(seen.len() < 100_000, "not a small system");
        let mut state = interp.unpack(&key);
        interp.enabled(&mut state, &mut steps);
        if out.states == 0 {
            out.initial_steps = steps.len();
        }
        out.states += 1;
        if steps.is_empty() {
            out.invalid_ends += usize::from(!interp.may_end(&state));
            let globals: Vec<String> = state.globals().iter().map(i32::to_string).collect();
            out.ends.insert(globals.join(" "));
        }
        batch.clear();
        interp.fire(&mut state, &steps, &mut batch);
        out.faults.extend(batch.faults.iter().map(|(_, f)| format!("{:?}", f.kind)));
        for outcome in &batch.outcomes {
            out.atomic_steps += outcome.atomic_steps;
            if let Some(key) = batch.key(outcome) {
                out.transitions += 1;
                if seen.insert(key.to_vec()) {
                    queue.push_back(key.to_vec());
                }
            }
        }
    }
    out.truncated.extend(batch.truncated.iter().map(|(t, e)| format!("{t} {e}")));
    for taken in batch.reached.iter() {
        unreached.remove(&taken);
    }
    out.unreached = unreached.iter().map(|(t, e)| format!("{t} {e}")).collect();
    out
}

/// Compares what was found with what the header says; `Err` names the first difference.
fn compare(text: &str, found: &Explored) -> Result<(), String> {
    let header = text.lines().filter_map(|l| l.strip_prefix("; "));
    let (mut faults, mut truncated, mut unreached) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let mut counted = false;
    let number = |s: &str| s.trim().parse::<usize>().map_err(|_| format!("no number in the header: {s}"));
    let same = |what: &str, expected: usize, found: usize| {
        if expected == found { Ok(()) } else { Err(format!("{what}: expected {expected}, found {found}")) }
    };
    let mut invalid_ends = 0;
    for line in header {
        if let Some(n) = line.strip_prefix("run: initial steps ") {
            same("initial steps", number(n)?, found.initial_steps)?;
        } else if let Some(rest) = line.strip_prefix("states ") {
            let (states, transitions) = rest.split_once(" transitions ").ok_or("states N transitions N")?;
            same("states", number(states)?, found.states)?;
            same("transitions", number(transitions)?, found.transitions)?;
            counted = true;
        } else if let Some(n) = line.strip_prefix("atomic steps ") {
            same("atomic steps", number(n)?, found.atomic_steps as usize)?;
        } else if let Some(n) = line.strip_prefix("invalid ends ") {
            invalid_ends = number(n)?;
        } else if let Some(fault) = line.strip_prefix("fault ") {
            faults.insert(fault.to_string());
        } else if let Some(edge) = line.strip_prefix("truncated ") {
            truncated.insert(edge.to_string());
        } else if let Some(edge) = line.strip_prefix("unreached ") {
            unreached.insert(edge.to_string());
        } else if let Some(globals) = line.strip_prefix("globals ")
            && !found.ends.contains(globals)
        {
            return Err(format!("no end with globals {globals}, but {:?}", found.ends));
        }
    }
    same("invalid ends", invalid_ends, found.invalid_ends)?;
    for (what, expected, found) in [
        ("faults", &faults, &found.faults),
        ("truncated", &truncated, &found.truncated),
        ("unreached", &unreached, &found.unreached),
    ] {
        if expected != found {
            return Err(format!("{what}: expected {expected:?}, found {found:?}"));
        }
    }
    if counted { Ok(()) } else { Err("the header counts no states".into()) }
}

#[test]
fn every_system_in_the_folder_means_what_its_header_says() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ir");
    let mut files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|f| f.unwrap().path()).collect();
    files.sort();
    files.retain(|f| f.extension().is_some_and(|e| e == "ir"));
    assert!(files.len() >= 15, "the folder has become empty");
    let mut wrong = Vec::new();
    for file in files {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&file).unwrap();
        let system = match read(&text) {
            Ok(system) => system,
            Err(e) => {
                wrong.push(format!("{name}: {e}"));
                continue;
            }
        };
        assert_eq!(read(&print(&system)).as_ref(), Ok(&system), "{name}");
        let broken = validate(&system);
        if !broken.is_empty() {
            wrong.push(format!("{name}: {broken:?}"));
            continue;
        }
        let owed = text.lines().any(|l| l.starts_with("; owed:"));
        let compared = std::panic::catch_unwind(|| compare(&text, &explore(&system)));
        match compared.unwrap_or_else(|_| Err("panicked".into())) {
            Err(difference) if !owed => wrong.push(format!("{name}: {difference}")),
            Ok(()) if owed => wrong.push(format!("{name}: is right now; strike its `owed` line")),
            _ => {}
        }
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

#[test]
fn a_wrong_header_is_noticed() {
    let system = "globals\n  var x: byte\nproctype P (t0) start l0 end l1\n  l0: e0\n    e0: l0 -> l1 do @x = 1\n  l1: e1\n    e1: l1 -> l1 when youngest do die\nactive P\n";
    let found = explore(&read(system).unwrap());
    assert_eq!(compare("; states 3 transitions 3\n; globals 1\n", &found), Ok(()));
    for header in [
        "; states 4 transitions 3\n",
        "; states 3 transitions 4\n",
        "; states 3 transitions 3\n; fault Assertion\n",
        "; states 3 transitions 3\n; globals 2\n",
        "; states 3 transitions 3\n; unreached t0 e0\n",
        "; states 3 transitions 3\n; invalid ends 1\n",
        "; nothing counted\n",
    ] {
        assert!(compare(header, &found).is_err(), "{header}");
    }
}
