//! Every repetition, as a row of a CSV file: what was measured and with which command.

use crate::measure::Usage;
use crate::tool::{Figures, Trial};

#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    pub mode: String,
    pub model: String,
    pub size: String,
    pub side: String,
    pub repetition: u64,
    /// Else why there are no figures.
    pub figures: Result<Figures, String>,
    pub usage: Usage,
    pub preparation: Usage,
    pub command: String,
}

pub const COLUMNS: &[&str] = &[
    "mode",
    "model",
    "size",
    "side",
    "repetition",
    "outcome",
    "user_s",
    "system_s",
    "wall_s",
    "peak_kib",
    "prepare_user_s",
    "prepare_system_s",
    "prepare_wall_s",
    "stored",
    "matched",
    "transitions",
    "depth",
    "vector_bytes",
    "store_bytes",
    "search_bytes",
    "command",
];

const DONE: &str = "done";

impl Record {
    pub fn new(mode: &str, model: &str, size: &str, side: &str, repetition: u64, trial: Trial) -> Record {
        Record {
            mode: mode.into(),
            model: model.into(),
            size: size.into(),
            side: side.into(),
            repetition,
            figures: trial.figures,
            usage: trial.usage,
            preparation: trial.preparation,
            command: trial.command,
        }
    }

    pub fn row(&self) -> String {
        let f = self.figures.clone().unwrap_or_default();
        let outcome = self.figures.as_ref().err().map_or(DONE, String::as_str);
        let (u, p) = (&self.usage, &self.preparation);
        let cells = [
            self.mode.clone(),
            self.model.clone(),
            self.size.clone(),
            self.side.clone(),
            self.repetition.to_string(),
            outcome.to_string(),
            format!("{:.2}", u.user_s),
            format!("{:.2}", u.system_s),
            format!("{:.2}", u.wall_s),
            u.peak_kib.to_string(),
            format!("{:.2}", p.user_s),
            format!("{:.2}", p.system_s),
            format!("{:.2}", p.wall_s),
            f.stored.to_string(),
            f.matched.to_string(),
            f.transitions.to_string(),
            f.depth.to_string(),
            f.vector_bytes.to_string(),
            f.store_bytes.to_string(),
            f.search_bytes.to_string(),
            self.command.clone(),
        ];
        assert_eq!(cells.len(), COLUMNS.len(), "a cell for every column");
        cells.iter().map(|c| quoted(c)).collect::<Vec<_>>().join(",")
    }

    fn read(row: &str) -> Result<Record, String> {
        let cells = split(row);
        if cells.len() != COLUMNS.len() {
            return Err(format!("{} cells instead of {}: {row}", cells.len(), COLUMNS.len()));
        }
        let number =
            |i: usize| cells[i].parse::<u64>().map_err(|_| format!("{}: not a count: {}", COLUMNS[i], cells[i]));
        let seconds =
            |i: usize| cells[i].parse::<f64>().map_err(|_| format!("{}: not a time: {}", COLUMNS[i], cells[i]));
        let figures = Figures {
            stored: number(13)?,
            matched: number(14)?,
            transitions: number(15)?,
            depth: number(16)?,
            vector_bytes: number(17)?,
            store_bytes: number(18)?,
            search_bytes: number(19)?,
        };
        Ok(Record {
            mode: cells[0].clone(),
            model: cells[1].clone(),
            size: cells[2].clone(),
            side: cells[3].clone(),
            repetition: number(4)?,
            figures: if cells[5] == DONE { Ok(figures) } else { Err(cells[5].clone()) },
            usage: Usage { user_s: seconds(6)?, system_s: seconds(7)?, wall_s: seconds(8)?, peak_kib: number(9)? },
            preparation: Usage { user_s: seconds(10)?, system_s: seconds(11)?, wall_s: seconds(12)?, peak_kib: 0 },
            command: cells[20].clone(),
        })
    }
}

/// Reads a file of rows, the first one being the names of the columns.
pub fn read(text: &str) -> Result<Vec<Record>, String> {
    let mut lines = text.lines();
    match lines.next() {
        Some(head) if head == COLUMNS.join(",") => lines.map(Record::read).collect(),
        _ => Err("the first line does not name the columns of this program".into()),
    }
}

/// Line breaks become spaces, so that a row is a line.
fn quoted(cell: &str) -> String {
    let cell = cell.replace(['\n', '\r'], " ");
    if cell.contains([',', '"']) { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell }
}

fn split(row: &str) -> Vec<String> {
    let (mut cells, mut cell, mut inside) = (Vec::new(), String::new(), false);
    let mut chars = row.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if inside && chars.peek() == Some(&'"') => {
                cell.push('"');
                chars.next();
            }
            '"' => inside = !inside,
            ',' if !inside => cells.push(std::mem::take(&mut cell)),
            c => cell.push(c),
        }
    }
    cells.push(cell);
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let usage = Usage { user_s: 1.25, system_s: 0.5, wall_s: 2.0, peak_kib: 1024 };
        let done = Record {
            mode: "plain".into(),
            model: "counters".into(),
            size: "N=3".into(),
            side: "spin".into(),
            repetition: 1,
            figures: Ok(Figures { stored: 1000, matched: 2001, transitions: 3001, ..Figures::default() }),
            usage,
            preparation: Usage::default(),
            command: "spin -a \"x, y\"".into(),
        };
        let refused = Record { figures: Err("error: a, b".into()), ..done.clone() };
        let text = format!("{}\n{}\n{}\n", COLUMNS.join(","), done.row(), refused.row());
        assert_eq!(read(&text), Ok(vec![done, refused]));
        assert!(read("mode,model\n").is_err());
    }
}
