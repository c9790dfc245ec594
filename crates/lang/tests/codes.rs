//! Every code is explained, and every explanation's example shows its code.

mod common;

use spinor_lang::codes::CODES;
use spinor_lang::{Options, parse};
use std::collections::BTreeSet;
use std::io;
use std::path::Path;

fn files(path: &Path) -> io::Result<Vec<u8>> {
    match path.to_str() {
        Some("self.pml") => Ok(b"#include \"self.pml\"\n".to_vec()),
        Some("huge.pml") => Ok(vec![b' '; (16 << 20) + 1]),
        _ => Err(io::ErrorKind::NotFound.into()),
    }
}

/// The codes of the parser; the others need the checker.
fn is_parsers(code: &str) -> bool {
    code.starts_with("P00") || code.starts_with("P02") || code == "P0410" || code == "P0411"
}

#[test]
fn each_example_triggers_its_code() {
    let mut wrong = String::new();
    for row in CODES.iter().filter(|c| is_parsers(c.code)) {
        let parsed = parse("m.pml", row.example, &Options::default(), &files);
        let found: Vec<_> = parsed.diagnostics.iter().map(|d| d.code).collect();
        // One mistake, one message.
        if row.code == "P0200" && found.contains(&row.code) || found == [row.code] {
            continue;
        }
        wrong.push_str(&format!("{}: {}\n{}\n", row.code, row.example, common::lines(&parsed)));
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn each_code_is_explained_once() {
    let explained: Vec<_> = CODES.iter().map(|c| c.code).collect();
    let set: BTreeSet<_> = explained.iter().copied().collect();
    assert_eq!(set.len(), explained.len(), "a code is explained twice");
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut folders = vec![src.clone(), src.join("parser"), src.join("preprocess")];
    let mut used = BTreeSet::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("the sources are here").flatten() {
            let path = entry.path();
            if path.extension().is_some_and(|e| e == "rs") && !path.ends_with("codes.rs") {
                let text = std::fs::read_to_string(&path).expect("a source can be read");
                for (at, _) in text.match_indices("\"P0") {
                    let code = &text[at + 1..at + 6];
                    if text[at + 6..].starts_with('"') && is_parsers(code) {
                        used.insert(code.to_string());
                    }
                }
            }
        }
    }
    for code in &used {
        assert!(set.contains(code.as_str()), "{code} is used and not explained");
    }
    for code in explained.iter().filter(|c| is_parsers(c)) {
        assert!(used.contains(*code), "{code} is explained and never used");
    }
}
