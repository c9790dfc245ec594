//! Scratch folders and child processes with a time limit.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A fresh folder, removed with the value.
pub struct Scratch(PathBuf);

impl Scratch {
    pub fn new() -> io::Result<Scratch> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let n = COUNT.fetch_add(1, Ordering::Relaxed);
        let dir = std::env::temp_dir().join(format!("spinor-xtask-{}-{n}", std::process::id()));
        fs::create_dir_all(&dir)?;
        Ok(Scratch(dir))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A folder that cannot be removed is litter, not an error.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// What a finished command left behind.
pub struct Output {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

/// Runs a command in `dir`; `None` when the limit passed first. Output goes through files: a pipe would fill up and
/// stall the child while we wait for its end.
pub fn run(command: &mut Command, dir: &Path, limit: Duration) -> io::Result<Option<Output>> {
    let (out, err) = (dir.join(".stdout"), dir.join(".stderr"));
    let mut child = command
        .current_dir(dir)
        .stdin(Stdio::null())
        .stdout(File::create(&out)?)
        .stderr(File::create(&err)?)
        .spawn()?;
    let start = Instant::now();
    let mut pause = Duration::from_micros(500);
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if start.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    };
    let read = |path: &Path| fs::read(path).map(|b| String::from_utf8_lossy(&b).into_owned());
    Ok(Some(Output { code: status.code(), stdout: read(&out)?, stderr: read(&err)? }))
}
