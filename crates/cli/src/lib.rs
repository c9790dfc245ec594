//! The command `spinor`: options in, answers out, and an exit status that means something.
//!
//! | module | is |
//! |---|---|
//! | [`options`], [`args`], [`help`], [`completions`] | the command line, from one table |
//! | [`front`] | a file into a model |
//! | [`check`], [`sim`], [`replay`] | the commands that run a model |
//! | [`ltl`], [`graph`], [`export`] | formulas and automata; drawings; protocols as Promela |
//! | [`report`], [`table`], `endless`, [`wording`], [`diagnostics`] | answers for people |
//! | [`result`], [`json`], [`sha256`], [`trail`] | answers for programs |
//! | [`screen`], [`progress`] | terminals |
//! | [`memory`], [`native`] | how much memory a search may take; native code |
//! | [`exit`] | what the status means |
//!
//! Results go to standard output, everything else to standard error. No file is written unless `-o` asks for it.

pub mod args;
pub mod check;
pub mod completions;
pub mod diagnostics;
mod endless;
pub mod exit;
pub mod export;
pub mod front;
pub mod graph;
pub mod help;
pub mod json;
pub mod ltl;
pub mod memory;
pub mod native;
pub mod options;
pub mod progress;
pub mod replay;
pub mod report;
pub mod result;
#[cfg(test)]
mod samples;
pub mod screen;
pub mod sha256;
pub mod sim;
pub mod stream;
pub mod table;
pub mod trail;
pub mod wording;

use args::{Options, Usage};
use exit::Exit;
use options::Command;
use screen::{Out, Screen, note, printable};
use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};

/// Deep models make deep recursions in places; the default of 8 MiB is the terminal's idea, not ours.
const STACK: usize = 256 << 20;

/// [`run`], with our own bugs caught and owned up to.
pub fn run_guarded(args: Vec<OsString>) -> ExitCode {
    ExitCode::from(guarded(move || run(args)).code())
}

/// Does the work on a thread with room; a panic there becomes a message and a status.
pub fn guarded(work: impl FnOnce() -> Exit + Send + Clone + 'static) -> Exit {
    let said: Arc<Mutex<String>> = Arc::default();
    let hook = Arc::clone(&said);
    std::panic::set_hook(Box::new(move |info| {
        if let Ok(mut said) = hook.lock()
            && said.is_empty()
        {
            *said = info.to_string();
        }
    }));
    let start = |stack: usize| std::thread::Builder::new().stack_size(stack).spawn(work.clone());
    let worker = start(STACK).or_else(|_| start(STACK / 16));
    match worker.map(std::thread::JoinHandle::join) {
        Ok(Ok(exit)) => exit,
        Ok(Err(_)) => {
            let said = said.lock().map(|s| s.clone()).unwrap_or_default();
            let (said, version) = (printable(&said).replace('\n', "\n  "), env!("CARGO_PKG_VERSION"));
            note(&format!("\nspinor: internal fault, no verdict\n  {said}\n"));
            note(&format!(
                "This is a bug in spinor {version}. Please report it, with the model and the command line.\n"
            ));
            Exit::Internal
        }
        Err(e) => {
            note(&format!("spinor: cannot start: {e}\n"));
            Exit::Internal
        }
    }
}

/// One command line.
pub fn run(args: Vec<OsString>) -> Exit {
    match args::parse(args) {
        Ok(options) => {
            let mut out = Out::default();
            let exit = dispatch(&options, &mut out).unwrap_or_else(refuse);
            match out.failed {
                Some(e) => exit.worst(refuse(Usage::new(format!("cannot write the result: {e}")))),
                None => exit,
            }
        }
        Err(usage) => refuse(usage),
    }
}

fn refuse(usage: Usage) -> Exit {
    let mut text = format!("error: {}\n", printable(&usage.message));
    if let Some(help) = usage.help {
        text.push_str(&format!("help: {}\n", printable(&help)));
    }
    note(&text);
    Exit::Unusable
}

fn dispatch(options: &Options, out: &mut Out) -> Result<Exit, Usage> {
    if options.help {
        out.put(&help::text(options.command.filter(|_| options.named)));
        return Ok(Exit::Fine);
    }
    if options.version {
        out.put(&help::version());
        return Ok(Exit::Fine);
    }
    let Some(command) = options.command else { return Ok(Exit::Fine) };
    let screen = Screen::new(options);
    let word = || options.files.first().map(|f| f.to_string_lossy().into_owned()).unwrap_or_default();
    match command {
        Command::Check => Ok(check::check(options, screen, out)),
        Command::Lint => Ok(check::lint(options, screen, out)),
        Command::Sim => sim::sim(options, screen, out),
        Command::Replay => replay::replay(options, screen, out),
        Command::Ltl => ltl::ltl(options, screen, out),
        Command::Graph => graph::graph(options, screen, out),
        Command::Export => export::export(options, screen, out),
        Command::Plan => {
            out.put(&spinor_check::plan::Printed.to_string());
            Ok(Exit::Fine)
        }
        Command::Explain => match front::explain(&word()) {
            Some(text) => {
                out.put(&text);
                Ok(Exit::Fine)
            }
            None => {
                let usage = Usage::new(format!("there is no code `{}`", word()));
                Err(match nearest_code(&word()) {
                    Some(code) => usage.help(format!("did you mean `{code}`?")),
                    None => usage.help("a code is the word in brackets of a message, like `P0102`"),
                })
            }
        },
        Command::Completions => match completions::script(&word()) {
            Some(text) => {
                out.put(&text);
                Ok(Exit::Fine)
            }
            None => Err(Usage::new(format!("no completions for `{}`", word())).help("bash, zsh and fish are known")),
        },
    }
}

/// `102`, `0102` and `P102` are near `P0102`.
fn nearest_code(word: &str) -> Option<&'static str> {
    let digits = |w: &str| w.trim_start_matches(|c: char| c.is_ascii_alphabetic()).trim_start_matches('0').to_string();
    let wanted = digits(word);
    front::codes().map(|row| row.code).find(|code| !wanted.is_empty() && digits(code) == wanted)
}
