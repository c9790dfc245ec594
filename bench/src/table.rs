//! [FaragoSchmitt] table 1 again: a ring of nodes that elect a leader, one node more at a time; safety, SPIN's check for
//! cycles without progress, and ours with each reduction. Time, depth and states of each.
//!
//! A column ends where a search takes longer than it may; the others go on.

use crate::mode::{Answer, Counts, Judged, Mode, Models, Side};
use crate::svg::{Line, Panel, Plot};
use crate::tool::{Figures, Runner, Tools};
use crate::workload::{Size, Workload};
use std::fmt::Write as _;
use xtask::work::Scratch;

const fn spinor(name: &'static str, check: &'static [&'static str]) -> Side {
    Side::Spinor { name, check }
}

/// SPIN with its own reduction and optimisations.
const fn spin(compile: &'static [&'static str], verify: &'static [&'static str]) -> Side {
    Side::Spin { generate: &[], compile, verify }
}

/// What is run, and what the column is called.
static COLUMNS: [(&str, Side); 9] = [
    ("SPIN safety", spin(&["-DSAFETY", "-DNOCLAIM"], &["-n"])),
    ("safety", spinor("safety", &["-p", "safety", "--por", "stubborn", "-j", "1"])),
    ("SPIN -DNP -l", spin(&["-DNP", "-DNOCLAIM"], &["-n", "-l"])),
    (
        "steps, all",
        spinor("steps, all", &["-p", "progress", "--progress", "steps", "--search", "fifo", "--por", "off"]),
    ),
    (
        "steps, C2 ample",
        spinor(
            "steps, C2 ample",
            &["-p", "progress", "--progress", "steps", "--search", "fifo", "--por", "ample", "--still", "all"],
        ),
    ),
    (
        "steps, C2",
        spinor(
            "steps, C2",
            &["-p", "progress", "--progress", "steps", "--search", "fifo", "--por", "stubborn", "--still", "all"],
        ),
    ),
    (
        "steps, one still",
        spinor(
            "steps, one still",
            &["-p", "progress", "--progress", "steps", "--search", "fifo", "--por", "stubborn", "--still", "one"],
        ),
    ),
    ("states, all", spinor("states, all", &["-p", "progress", "--search", "fifo", "--por", "off"])),
    ("states, C2'", spinor("states, C2'", &["-p", "progress", "--search", "fifo", "--por", "stubborn"])),
];

/// The nodes of the rings.
const NODES: [u32; 18] = [3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 20, 30, 40, 60, 80, 100, 120];

/// One cell: what a search found, and its CPU time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    pub n: u32,
    pub column: usize,
    pub cpu_s: f64,
    pub figures: Figures,
}

/// Runs all of it, up to the largest ring wanted.
pub fn run(workload: &Workload, tools: &Tools, largest: u32) -> Result<Vec<Cell>, String> {
    let mut cells = Vec::new();
    let mut ended = [false; COLUMNS.len()];
    for n in NODES.into_iter().filter(|n| *n <= largest) {
        for (column, (name, side)) in COLUMNS.iter().enumerate().filter(|(c, _)| !ended[*c]).collect::<Vec<_>>() {
            let mode = Mode {
                name: "table",
                about: "",
                sides: std::slice::from_ref(side),
                counts: Counts::Free,
                judged: Judged::Search { from: 0 },
                answer: if name.contains("safety") { Answer::Any } else { Answer::Holds },
                models: Models::All,
                states: (0, u64::MAX),
                examples: false,
            };
            let size = Size { settings: vec![("N".to_string(), n.to_string())], ..Size::default() };
            let scratch = Scratch::new().map_err(|e| e.to_string())?;
            let model = workload.prepare(&size, scratch.path())?;
            let trial = Runner::new(tools, &mode, 0, &model, &size, scratch.path()).run()?;
            match trial.figures {
                Ok(figures) => {
                    let cpu_s = trial.usage.cpu_s();
                    println!("{n:>4}  {name:<18} {cpu_s:>8.2} s {:>10} states", figures.stored);
                    cells.push(Cell { n, column, cpu_s, figures });
                }
                Err(why) => {
                    println!("{n:>4}  {name:<18} {why}");
                    ended[column] = true;
                }
            }
        }
    }
    Ok(cells)
}

/// As it is kept.
pub fn rows(cells: &[Cell]) -> String {
    let mut out = "nodes,search,cpu_s,depth,states,transitions\n".to_string();
    for Cell { n, column, cpu_s, figures } in cells {
        let Figures { depth, stored, transitions, .. } = figures;
        let _ = writeln!(out, "{n},\"{}\",{cpu_s:.2},{depth},{stored},{transitions}", COLUMNS[*column].0);
    }
    out
}

pub fn table(about: &str, cells: &[Cell]) -> String {
    let mut out =
        format!("# A ring that elects a leader\n\n{about}\n\nCPU seconds, depth and stored states.\n\n| nodes |");
    COLUMNS.iter().for_each(|(name, _)| out.push_str(&format!(" {name} |")));
    out.push_str("\n|---|");
    COLUMNS.iter().for_each(|_| out.push_str("---|"));
    let mut sizes: Vec<u32> = cells.iter().map(|c| c.n).collect();
    sizes.dedup();
    for n in sizes {
        let _ = write!(out, "\n| {n} |");
        for column in 0..COLUMNS.len() {
            let _ = match cells.iter().find(|c| c.n == n && c.column == column) {
                Some(c) => write!(out, " {:.2} s, {}, {} |", c.cpu_s, c.figures.depth, c.figures.stored),
                None => write!(out, " |"),
            };
        }
    }
    out.push_str("\n\nAn empty cell: the search took longer than it may, or more memory than there is.\n");
    out
}

/// Of each cell, over the nodes.
pub fn plot(cells: &[Cell], y: &str, of: impl Fn(&Cell) -> f64) -> String {
    let line = |side| {
        let own = cells.iter().filter(|c| c.column == side);
        Line { side, points: own.map(|c| (f64::from(c.n), of(c))).collect() }
    };
    let panels = vec![Panel { title: String::new(), lines: (0..COLUMNS.len()).map(line).collect() }];
    let sides = COLUMNS.iter().map(|(name, _)| *name).collect::<Vec<_>>();
    Plot { title: "A ring that elects a leader", x: "nodes", y, sides: &sides, panels }.render()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_found_again_in_rows_table_and_plot() {
        let figures = Figures { stored: 4711, depth: 12, transitions: 9, ..Figures::default() };
        let cells = [Cell { n: 3, column: 1, cpu_s: 0.25, figures }, Cell { n: 4, column: 2, cpu_s: 1.0, figures }];
        assert_eq!(rows(&cells).lines().nth(1), Some("3,\"safety\",0.25,12,4711,9"));
        let table = table("about", &cells);
        assert!(table.contains("\n| 3 | | 0.25 s, 12, 4711 | |") && table.contains("\n| 4 | | | 1.00 s"), "{table}");
        let plot = plot(&cells, "stored states", |c| c.figures.stored as f64);
        assert!(plot.contains("stored states") && plot.contains("states, C2'"), "{plot}");
    }
}
