//! `--help`, from the tables.

use crate::exit::Exit;
use crate::options::{COMMANDS, Command, OptionRow, Takes, options_of};
use std::fmt::Write as _;

pub fn version() -> String {
    format!("spinor {}\n", env!("CARGO_PKG_VERSION"))
}

pub fn text(command: Option<Command>) -> String {
    match command {
        Some(command) => of_command(command),
        None => overview(),
    }
}

fn overview() -> String {
    let mut out = String::from("spinor checks Promela models.\n\n  spinor check model.pml\n\nCommands\n");
    for row in COMMANDS {
        let _ = writeln!(out, "  {:<24}{}", format!("{} {}", row.name, row.args), row.help);
    }
    out.push_str("\n`spinor COMMAND --help` lists the options of a command.\n\nExit status\n");
    for exit in Exit::ALL {
        let _ = writeln!(out, "  {}  {}", exit.code(), exit.meaning());
    }
    out
}

fn of_command(command: Command) -> String {
    let mut out = String::new();
    if let Some(row) = COMMANDS.iter().find(|c| c.command == command) {
        let _ = writeln!(out, "{}\n\n  spinor {} {}", row.help, row.name, row.args);
    }
    out.push_str("\nOptions\n");
    for row in options_of(command) {
        let short = row.short.map_or("    ".to_string(), |c| format!("-{c}, "));
        let option = format!("{short}{}", usage(row));
        // A long one has a line of its own.
        let gap = if option.chars().count() < 28 { String::new() } else { format!("\n{:30}", "") };
        let _ = write!(out, "  {option:<28}{gap}{}", row.help);
        if !row.default.is_empty() {
            let _ = write!(out, " [{}]", row.default);
        }
        if !row.spin.is_empty() {
            let _ = write!(out, "\n{:30}SPIN: {}", "", row.spin);
        }
        out.push('\n');
    }
    out
}

/// `--search auto|dfs|bfs`
pub fn usage(row: &OptionRow) -> String {
    match row.takes {
        Takes::Nothing => format!("--{}", row.long),
        Takes::Value(word) | Takes::Path(word) => format!("--{} {word}", row.long),
        Takes::Optional(word) => format!("--{}[={word}]", row.long),
        Takes::OneOf(built, _) => format!("--{} {}", row.long, built.join("|")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_exists_is_offered() {
        let check = text(Some(Command::Check));
        assert!(check.contains("--search auto|dfs|bfs|scc|ndfs|ndfs-seed|ndfs-process"));
        assert!(!check.contains("sarif"), "it is planned only");
        assert!(!text(None).contains("explore"));
    }
}
