//! Protocols in three ways: everything (CRA), one process at a time (POVAS), leaps (LRA). Tables 7.1 and 7.2 of [Schoot7],
//! measured again on our protocols.
//!
//! Each graph is built off-line, depth-first (`check/reduce/offline.rs`), by the interpreter, with nothing looked at: what
//! is asked are states without steps and transitions that are never executed (J, K and V are empty). The sets are those of
//! proposition 7.20 (`Selector::Lra`), and for comparison those of ours (`Selector::Leap`).
//!
//! The *concurrency level* of a protocol is the number of processes that can move, less one, in the average of its states.
//! Reductions are in percent of the whole graph, averages are over protocols, and the third part of table 7.1 is computed
//! from the averages of the others, as in the paper: 1 - (1 - LRA) / (1 - POVAS).
//! Time is the thread's, the average of several runs. Space are the keys that are stored.

use spinor_check::reduce::offline::{Built, Form};
use spinor_check::reduce::{Proviso, Reduced, Reduction, Selector};
use spinor_gen::protocol::{Shape, synthesise};
use spinor_lang::{Options, load};
use spinor_model::interp::Interp;
use spinor_model::ir::System;
use spinor_model::successors::Successors;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// Protocols of table 7.1, and the states that one may have.
pub const PROTOCOLS: usize = 400;
const LEAST: usize = 50;
/// Unless somebody says otherwise.
pub const MOST: usize = 10_000;
/// Those of table 7.2, by their names in the corpus.
pub const REAL: [&str; 3] = ["x21", "coherence", "abp"];
/// The clock of a thread moves in steps of some milliseconds: so many runs, until they took so long together.
const RUNS: u32 = 100;
const ENOUGH: f64 = 0.04;

/// What one way costs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    pub states: f64,
    pub transitions: f64,
    pub bytes: f64,
    pub seconds: f64,
}

impl Cost {
    fn all(&self) -> [f64; 4] {
        [self.states, self.transitions, self.bytes, self.seconds]
    }
}

const MEASURES: [&str; 4] = ["states", "transitions", "space", "time"];

/// One protocol in all ways: everything, POVAS, LRA, and the leaps of our sets.
#[derive(Clone, Debug)]
pub struct Row {
    pub name: String,
    pub processes: usize,
    pub level: f64,
    pub costs: [Cost; 4],
}

pub const WAYS: [&str; 4] = ["CRA", "POVAS", "LRA", "leap"];

/// Nanoseconds that this thread has run.
fn thread_time() -> Option<u64> {
    std::fs::read_to_string("/proc/thread-self/schedstat").ok()?.split(' ').next()?.parse().ok()
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let (wall, before) = (Instant::now(), thread_time());
    let done = work();
    let seconds = match (before, thread_time()) {
        (Some(before), Some(after)) => (after - before) as f64 / 1e9,
        _ => wall.elapsed().as_secs_f64(),
    };
    (done, seconds)
}

/// How many processes can move, less one, in the average; nothing if there are too many states.
fn level(interp: &Interp, most: usize) -> Option<(usize, f64)> {
    let mut key = Vec::new();
    interp.pack(&interp.initial().ok()?, &mut key);
    let (mut seen, mut todo, mut movers) = (BTreeSet::from([key.clone()]), vec![key], 0u64);
    let (mut batch, mut steps) = (interp.batch(), Vec::new());
    while let Some(key) = todo.pop() {
        let mut state = interp.unpack(&key);
        interp.enabled(&mut state, &mut steps);
        movers += steps.iter().map(|s| s.pid).collect::<BTreeSet<_>>().len() as u64;
        batch.clear();
        interp.fire(&mut state, &steps, &mut batch);
        for key in batch.outcomes.iter().filter_map(|o| batch.key(o)) {
            if seen.insert(key.to_vec()) {
                todo.push(key.to_vec());
            }
        }
        if seen.len() > most {
            return None;
        }
    }
    Some((seen.len(), movers as f64 / seen.len() as f64 - 1.0))
}

pub fn system(name: &str, text: &str) -> Arc<System> {
    let loaded = load(name, text, &Options::default(), &|p: &Path| std::fs::read(p));
    loaded.model.unwrap_or_else(|| panic!("{name}: {:?}", loaded.diagnostics)).system
}

fn cost(exec: &Arc<Interp>, selector: Selector, form: Form) -> Cost {
    let reduction = Arc::new(Reduction::new(exec.shared_system().clone(), selector, &[], false));
    let reduced = Reduced::new(exec.clone(), reduction, Proviso::Always);
    let (mut n, wall) = (0, Instant::now());
    let (built, seconds) = timed(|| {
        loop {
            let built = Built::new(&reduced, form).expect("a protocol begins");
            n += 1;
            if n == RUNS || wall.elapsed().as_secs_f64() > ENOUGH {
                break built;
            }
        }
    });
    let (states, transitions) = (built.n_states() as f64, built.n_transitions() as f64);
    Cost { states, transitions, bytes: built.n_bytes as f64, seconds: seconds / f64::from(n) }
}

/// A protocol in all ways.
pub fn measure(name: &str, system: &Arc<System>, level: f64) -> Row {
    let exec = Arc::new(Interp::new(system.clone()));
    let ways = [
        (Selector::Lra, Form::Whole),
        (Selector::Lra, Form::One),
        (Selector::Lra, Form::Leaps),
        (Selector::Leap, Form::Leaps),
    ];
    let costs = ways.map(|(selector, form)| cost(&exec, selector, form));
    Row { name: name.to_string(), processes: system.active.len(), level, costs }
}

/// The sizes that protocols of so many processes have, by their number.
fn shape(processes: usize, nth: u64) -> Shape {
    let pick = |all: &[usize]| all[nth as usize % all.len()];
    let (states, capacity) = match processes {
        2 => (pick(&[8, 12, 16, 20]), pick(&[1, 2, 3, 4])),
        3 => (pick(&[4, 6, 8]), pick(&[1, 2])),
        4 => (pick(&[3, 4, 5]), pick(&[1, 1, 2])),
        5 => (pick(&[3, 4]), 1),
        _ => (pick(&[2, 3]), 1),
    };
    Shape {
        processes,
        states,
        transitions: states + pick(&[1, 2, 3]),
        messages: pick(&[1, 2]),
        capacity,
        density: pick(&[0, 10, 30]),
        complete: pick(&[50, 80, 100]),
    }
}

/// The protocols of table 7.1: as many of each number of processes, from 2 to 8, that are neither too small nor too large.
pub fn synthesised(wanted: usize, most: usize, told: &mut dyn FnMut(&Row)) -> Vec<Row> {
    let mut rows = Vec::new();
    for processes in 2..=8 {
        let n = wanted / 7 + usize::from(processes - 2 < wanted % 7);
        let mut found = 0;
        for nth in 0.. {
            if found == n {
                break;
            }
            let seed = processes as u64 * 1_000_000 + nth;
            let text = synthesise(seed, &shape(processes, nth)).text();
            let system = system("p.cfsm", &text);
            let Some((states, level)) = level(&Interp::new(system.clone()), most) else { continue };
            if states < LEAST || level <= 0.0 || level > 4.0 {
                continue;
            }
            found += 1;
            rows.push(measure(&format!("{seed}"), &system, level));
            told(&rows[rows.len() - 1]);
        }
    }
    rows
}

/// A file's protocol in all ways.
pub fn of_text(name: &str, text: &str) -> Row {
    let system = system(&format!("{name}.cfsm"), text);
    let (_, level) = level(&Interp::new(system.clone()), usize::MAX).expect("a protocol begins");
    measure(name, &system, level)
}

/// Percent that `way` saves of the first, by measure: the average over some rows.
fn saved<'r>(rows: impl Iterator<Item = &'r Row> + Clone, way: usize) -> [f64; 4] {
    let n = rows.clone().count().max(1) as f64;
    std::array::from_fn(|m| {
        let each = rows.clone().map(|r| 100.0 * (1.0 - r.costs[way].all()[m] / r.costs[0].all()[m].max(1e-9)));
        each.sum::<f64>() / n
    })
}

/// The columns of table 7.1: a heading, and which rows are meant.
type Column = (String, Box<dyn Fn(&Row) -> bool>);

fn columns() -> Vec<Column> {
    let by_processes = (2..=8).map(|n| (format!("{n}"), Box::new(move |r: &Row| r.processes == n) as Box<_>));
    let by_level = (0..4).map(|n| {
        let (from, to) = (f64::from(n), f64::from(n + 1));
        (format!("({n},{}]", n + 1), Box::new(move |r: &Row| r.level > from && r.level <= to) as Box<_>)
    });
    by_processes.chain(by_level).collect()
}

/// What the paper has in the same places: POVAS and LRA against CRA, by measure and column.
const PAPER: [[[f64; 11]; 4]; 2] = [
    [
        [36.11, 51.16, 61.67, 69.55, 77.30, 81.79, 89.13, 38.19, 64.29, 85.52, 93.41],
        [56.33, 69.02, 77.32, 82.48, 88.24, 91.71, 95.50, 57.44, 79.29, 93.89, 97.53],
        [36.03, 51.23, 61.72, 69.68, 77.41, 81.87, 89.15, 38.16, 64.37, 85.58, 93.37],
        [-42.64, 10.61, 36.48, 52.85, 65.33, 66.06, 81.36, -28.15, 38.23, 77.78, 86.76],
    ],
    [
        [54.71, 63.67, 71.28, 75.19, 82.86, 88.22, 92.95, 53.05, 73.51, 91.06, 96.75],
        [63.59, 73.24, 80.34, 84.32, 89.88, 93.61, 96.33, 63.25, 82.33, 95.29, 98.30],
        [54.47, 63.72, 71.33, 75.31, 82.99, 88.31, 92.99, 52.91, 73.59, 91.13, 96.71],
        [30.61, 41.61, 51.17, 59.87, 68.41, 68.04, 84.52, 27.26, 53.27, 79.01, 92.22],
    ],
];

/// The paper's table 7.2: CRA, POVAS, LRA by states and transitions.
const PAPER_REAL: [(&str, [[f64; 2]; 3]); 3] = [
    ("X.21 call establishment/clear", [[29868.0, 64903.0], [21805.0, 32816.0], [15500.0, 26882.0]]),
    ("cache coherence", [[37037.0, 126152.0], [8760.0, 11388.0], [5572.0, 7966.0]]),
    ("alternating bit", [[135352.0, 626608.0], [92414.0, 266206.0], [63876.0, 198583.0]]),
];

/// Of what one leaves the part that another leaves further.
fn further(first: f64, second: f64) -> f64 {
    100.0 * (1.0 - (100.0 - second) / (100.0 - first))
}

/// Table 7.1 in Markdown, ours above the paper's in every place.
pub fn table_1(rows: &[Row]) -> String {
    let columns = columns();
    let mut out = String::from("Average reductions (%), ours; the paper's in brackets.\n\n| | |");
    columns.iter().for_each(|(name, _)| {
        let _ = write!(out, " {name} |");
    });
    out.push_str("\n|---|---|");
    columns.iter().for_each(|_| out.push_str("---|"));
    out.push_str("\n| protocols | |");
    for (_, of) in &columns {
        let _ = write!(out, " {} |", rows.iter().filter(|r| of(r)).count());
    }
    out.push('\n');
    let ours: Vec<Vec<[f64; 4]>> =
        (0..4).map(|way| columns.iter().map(|(_, of)| saved(rows.iter().filter(|r| of(r)), way)).collect()).collect();
    let mut part = |name: &str, value: &dyn Fn(usize, usize) -> f64, paper: Option<&dyn Fn(usize, usize) -> f64>| {
        for (m, measure) in MEASURES.iter().enumerate() {
            let _ = write!(out, "| {} | {measure} |", if m == 0 { name } else { "" });
            for c in 0..columns.len() {
                let _ = match paper {
                    Some(paper) => write!(out, " {:.1} ({:.1}) |", value(c, m), paper(c, m)),
                    None => write!(out, " {:.1} |", value(c, m)),
                };
            }
            out.push('\n');
        }
    };
    part("POVAS vs CRA", &|c, m| ours[1][c][m], Some(&|c, m| PAPER[0][m][c]));
    part("LRA vs CRA", &|c, m| ours[2][c][m], Some(&|c, m| PAPER[1][m][c]));
    part(
        "LRA vs POVAS",
        &|c, m| further(ours[1][c][m], ours[2][c][m]),
        Some(&|c, m| further(PAPER[0][m][c], PAPER[1][m][c])),
    );
    part("leap vs CRA", &|c, m| ours[3][c][m], None);
    part("leap vs LRA", &|c, m| further(ours[2][c][m], ours[3][c][m]), None);
    out
}

/// Whether LRA has fewer states than POVAS in the average of each column, and in each row of the other table.
pub fn leaps_are_fewer(rows: &[Row], real: &[Row]) -> Result<(), String> {
    for (name, of) in columns() {
        let mine = || rows.iter().filter(|r| of(r));
        if mine().count() == 0 {
            return Err(format!("column {name} is empty"));
        }
        let (povas, lra) = (saved(mine(), 1)[0], saved(mine(), 2)[0]);
        if lra <= povas {
            return Err(format!("column {name}: LRA saves {lra:.2} %, POVAS {povas:.2} %"));
        }
    }
    for row in real {
        let [_, povas, lra, _] = row.costs;
        if lra.states >= povas.states {
            return Err(format!("{}: LRA has {} states, POVAS {}", row.name, lra.states, povas.states));
        }
    }
    Ok(())
}

/// Table 7.2 in Markdown.
pub fn table_2(rows: &[Row]) -> String {
    let mut out = String::from(
        "| protocol | technique | states | transitions | space (KB) | time (ms) | states to POVAS | the paper's |\n\
         |---|---|---|---|---|---|---|---|\n",
    );
    for (row, (name, paper)) in rows.iter().zip(PAPER_REAL) {
        for (way, cost) in row.costs.iter().enumerate() {
            let ratio = |of: f64| format!("{of:.2}");
            let first = if way == 0 { format!("{name} (`{}`)", row.name) } else { String::new() };
            let theirs = paper.get(way).map_or(String::new(), |p| ratio(p[0] / paper[1][0]));
            let _ = writeln!(
                out,
                "| {first} | {} | {} | {} | {:.1} | {:.2} | {} | {theirs} |",
                WAYS[way],
                cost.states,
                cost.transitions,
                cost.bytes / 1024.0,
                cost.seconds * 1e3,
                ratio(cost.states / row.costs[1].states),
            );
        }
    }
    out
}

/// A row each, everything that was measured.
pub fn csv(rows: &[Row]) -> String {
    let mut out = String::from("protocol,processes,level");
    for way in WAYS {
        MEASURES.iter().for_each(|m| {
            let _ = write!(out, ",{way} {m}");
        });
    }
    out.push('\n');
    for row in rows {
        let _ = write!(out, "{},{},{:.4}", row.name, row.processes, row.level);
        for cost in row.costs {
            let _ = write!(out, ",{},{},{},{:.6}", cost.states, cost.transitions, cost.bytes, cost.seconds);
        }
        out.push('\n');
    }
    out
}

/// What is saved in each column, ours as lines, the paper's as dashes.
pub fn plot(rows: &[Row], measure: usize) -> String {
    let columns = columns();
    let (left, top, step, height) = (60.0, 40.0, 60.0, 300.0);
    let width = left + step * columns.len() as f64 + 140.0;
    let x = |c: usize| left + step * (c as f64 + 0.5) + if c >= 7 { 20.0 } else { 0.0 };
    let y = |percent: f64| top + height * (1.0 - percent.clamp(-60.0, 100.0).max(0.0) / 100.0);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <text x=\"{left}\" y=\"20\" font-size=\"14\">{}: reduction in percent, by processes and by concurrency level</text>\n",
        top + height + 60.0,
        MEASURES[measure]
    );
    for percent in [0.0, 20.0, 40.0, 60.0, 80.0, 100.0] {
        let (y, to) = (y(percent), x(columns.len() - 1) + step / 2.0);
        let _ = writeln!(
            out,
            "<line x1=\"{left}\" y1=\"{y}\" x2=\"{to}\" y2=\"{y}\" stroke=\"#ddd\"/>\n\
             <text x=\"{}\" y=\"{}\" text-anchor=\"end\">{percent}</text>",
            left - 8.0,
            y + 4.0
        );
    }
    for (c, (name, _)) in columns.iter().enumerate() {
        let y = top + height + 20.0;
        let _ = writeln!(out, "<text x=\"{}\" y=\"{y}\" text-anchor=\"middle\">{name}</text>", x(c));
    }
    let mut line = |nth: usize, name: &str, colour: &str, dashed: bool, value: &dyn Fn(usize) -> f64| {
        let dash = if dashed { " stroke-dasharray=\"5 4\"" } else { "" };
        for part in [0..7, 7..columns.len()] {
            let points: Vec<String> = part.map(|c| format!("{:.1},{:.1}", x(c), y(value(c)))).collect();
            let _ = writeln!(
                out,
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"{dash}/>",
                points.join(" ")
            );
        }
        let (at, y) = (x(columns.len() - 1) + step / 2.0 + 10.0, top + 20.0 * nth as f64 + 10.0);
        let _ = writeln!(
            out,
            "<line x1=\"{at}\" y1=\"{y}\" x2=\"{}\" y2=\"{y}\" stroke=\"{colour}\" stroke-width=\"2\"{dash}/>\n\
             <text x=\"{}\" y=\"{}\">{name}</text>",
            at + 24.0,
            at + 30.0,
            y + 4.0
        );
    };
    let ours = |way: usize| {
        let columns = &columns;
        move |c: usize| saved(rows.iter().filter(|r| columns[c].1(r)), way)[measure]
    };
    line(0, "POVAS", "#c0392b", false, &ours(1));
    line(1, "LRA", "#2471a3", false, &ours(2));
    line(2, "leap", "#1e8449", false, &ours(3));
    line(3, "POVAS, paper", "#c0392b", true, &|c| PAPER[0][measure][c]);
    line(4, "LRA, paper", "#2471a3", true, &|c| PAPER[1][measure][c]);
    out.push_str("</svg>\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_further_is_the_papers_third_part() {
        // 36.11 and 54.71 are 29.11.
        assert!((further(PAPER[0][0][0], PAPER[1][0][0]) - 29.11).abs() < 0.01);
    }

    #[test]
    fn a_few_protocols_make_a_table() {
        let rows = synthesised(7, 2_000, &mut |_| {});
        assert_eq!(rows.iter().map(|r| r.processes).collect::<Vec<_>>(), [2, 3, 4, 5, 6, 7, 8]);
        for row in &rows {
            let [all, povas, lra, leap] = row.costs;
            assert!(povas.states <= all.states && lra.states <= all.states && leap.states <= all.states, "{row:?}");
        }
        assert_eq!(csv(&rows).lines().count(), 8);
        assert!(table_1(&rows).contains("(36.1)") && plot(&rows, 0).ends_with("</svg>\n"));
    }
}
