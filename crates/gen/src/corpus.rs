//! The models of `corpus/`, which are written by hand: whatever goes through them all asks here.

use std::path::{Path, PathBuf};

pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus")
}

/// All whose names end in one of these, in order.
pub fn models(endings: &[&str]) -> Vec<PathBuf> {
    family("", endings)
}

/// The same of one subfolder.
pub fn family(name: &str, endings: &[&str]) -> Vec<PathBuf> {
    let mut out = Vec::new();
    let mut folders = vec![folder().join(name)];
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder).expect("the corpus").flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| endings.iter().any(|ending| e == *ending)) {
                out.push(path);
            }
        }
    }
    out.sort();
    assert!(!out.is_empty(), "no models end in {endings:?}");
    out
}
