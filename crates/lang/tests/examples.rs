//! SPIN's own examples: whatever `spin -a` accepts, we read without an error.

mod common;

use common::lines;
use spinor_lang::{Options, parse};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The example models of the installed SPIN package.
fn examples() -> Vec<PathBuf> {
    let out = Command::new("dpkg")
        .args(["-L", "spin"])
        .output()
        .expect("this test asks dpkg for the files of package `spin`");
    let list = String::from_utf8_lossy(&out.stdout).into_owned();
    let mut files: Vec<PathBuf> = list.lines().filter(|l| l.ends_with(".pml")).map(PathBuf::from).collect();
    files.sort();
    assert!(!files.is_empty(), "the package `spin` with its examples must be installed to run this test");
    files
}

/// Whether `spin -a` writes a verifier for the file. It runs beside the file's own folder, so that includes are found.
fn accepted_by_spin(file: &Path, at: &Path) -> bool {
    let _ = std::fs::remove_dir_all(at);
    std::fs::create_dir_all(at).expect("a folder for SPIN to write into");
    for entry in
        std::fs::read_dir(file.parent().expect("a file stands in a folder")).expect("the folder can be read").flatten()
    {
        if entry.path().is_file() {
            std::fs::copy(entry.path(), at.join(entry.file_name())).expect("the examples can be copied");
        }
    }
    let name = file.file_name().expect("a file has a name");
    let out = Command::new("spin")
        .arg("-a")
        .arg(name)
        .current_dir(at)
        .output()
        .expect("`spin` must be installed to run this test");
    let text = String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr);
    at.join("pan.t").exists() && !text.contains("syntax error")
}

#[test]
fn everything_that_spin_accepts_is_read() {
    let at = std::env::temp_dir().join(format!("spinor-lang-examples-{}", std::process::id()));
    let mut n_accepted = 0;
    let mut wrong = String::new();
    for file in examples() {
        let bytes = std::fs::read(&file).expect("an installed example can be read");
        let text = String::from_utf8_lossy(&bytes);
        let name = file.to_string_lossy();
        let parsed = parse(&name, &text, &Options::default(), &|p| std::fs::read(p));
        let accepted = accepted_by_spin(&file, &at);
        n_accepted += accepted as usize;
        if accepted && parsed.diagnostics.iter().any(|d| d.is_error()) {
            wrong.push_str(&format!("{name}\n{}\n", lines(&parsed)));
        }
    }
    let _ = std::fs::remove_dir_all(&at);
    assert!(wrong.is_empty(), "{wrong}");
    assert!(n_accepted >= 70, "SPIN accepts only {n_accepted} of its own examples here");
}
