//! One command, timed.
//!
//! GNU time asks the kernel what the child used: CPU time in hundredths of a second, the most memory resident at once.
//! `timeout` sits between, so that what is too slow is ended together with what it started.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use xtask::work;

/// What a command used.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Usage {
    pub user_s: f64,
    pub system_s: f64,
    pub wall_s: f64,
    pub peak_kib: u64,
}

impl Usage {
    pub fn cpu_s(&self) -> f64 {
        self.user_s + self.system_s
    }
}

/// A program with its arguments: run with the path, recorded with the name only.
#[derive(Clone, Debug)]
pub struct Line {
    program: OsString,
    name: String,
    args: Vec<String>,
}

impl Line {
    pub fn new(program: impl Into<OsString>, name: &str) -> Line {
        Line { program: program.into(), name: name.to_string(), args: Vec::new() }
    }

    pub fn args<S: AsRef<str>>(mut self, args: impl IntoIterator<Item = S>) -> Line {
        self.args.extend(args.into_iter().map(|a| a.as_ref().to_string()));
        self
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name)?;
        self.args.iter().try_for_each(|a| write!(f, " {a}"))
    }
}

pub struct Finished {
    pub usage: Usage,
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Finished {
    /// The first line that was printed, for messages.
    pub fn first_line(&self) -> String {
        let line = self.stderr.lines().chain(self.stdout.lines()).find(|l| !l.trim().is_empty());
        line.unwrap_or("no output").trim().to_string()
    }
}

const GNU_TIME: &str = "/usr/bin/time";
/// What `timeout` returns when it ended the command.
const ENDED: i32 = 124;

/// Fails clearly where the tools for measuring are not installed.
pub fn ready() -> Result<(), String> {
    if !Path::new(GNU_TIME).exists() {
        return Err(format!("{GNU_TIME} is missing: install the package `time`"));
    }
    match Command::new("timeout").arg("--version").output() {
        Ok(o) if o.status.success() => Ok(()),
        _ => Err("there is no `timeout` on the path: install coreutils".into()),
    }
}

/// Runs a command in `dir`; `None` when the limit passed first.
pub fn timed(line: &Line, dir: &Path, limit: Duration) -> io::Result<Option<Finished>> {
    let figures = dir.join(".time");
    let mut command = Command::new(GNU_TIME);
    command.arg("-o").arg(&figures).args(["-f", "%U %S %e %M", "timeout"]).arg(format!("{:.3}", limit.as_secs_f64()));
    command.arg(&line.program).args(&line.args);
    // The second fence is far outside of the first and only there for a `timeout` that hangs.
    let Some(output) = work::run(&mut command, dir, limit + Duration::from_secs(60))? else { return Ok(None) };
    if output.code == Some(ENDED) {
        return Ok(None);
    }
    let text = std::fs::read_to_string(&figures)?;
    let usage = read_usage(&text).ok_or_else(|| io::Error::other(format!("{GNU_TIME} wrote `{}`", text.trim())))?;
    Ok(Some(Finished { usage, code: output.code, stdout: output.stdout, stderr: output.stderr }))
}

/// The last line: before it, GNU time may say that the command failed.
fn read_usage(text: &str) -> Option<Usage> {
    let mut words = text.lines().last()?.split_whitespace();
    let mut seconds = || words.next()?.parse::<f64>().ok();
    let (user_s, system_s, wall_s) = (seconds()?, seconds()?, seconds()?);
    Some(Usage { user_s, system_s, wall_s, peak_kib: words.next()?.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use xtask::work::Scratch;

    #[test]
    fn the_figures_are_those_of_the_command() {
        let scratch = Scratch::new().expect("a folder");
        let line = Line::new("sh", "sh").args(["-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; exit 3"]);
        let done = timed(&line, scratch.path(), Duration::from_secs(60)).expect("it runs").expect("in time");
        assert_eq!(done.code, Some(3));
        assert!(done.usage.cpu_s() > 0.0 && done.usage.peak_kib > 100, "{:?}", done.usage);
    }

    #[test]
    fn what_is_too_slow_is_ended() {
        let scratch = Scratch::new().expect("a folder");
        let line = Line::new("sleep", "sleep").args(["30"]);
        assert!(timed(&line, scratch.path(), Duration::from_millis(50)).expect("it runs").is_none());
    }

    #[test]
    fn a_line_is_recorded_without_its_path() {
        assert_eq!(
            Line::new("/some/where/spinor", "spinor").args(["check", "m.pml"]).to_string(),
            "spinor check m.pml"
        );
    }
}
