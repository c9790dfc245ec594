//! Every code is explained, and every explanation's example shows its code.

use spinor_lang::codes::CODES;
use spinor_lang::{Options, load};
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

#[test]
fn each_example_triggers_its_code() {
    let mut wrong = String::new();
    for row in CODES {
        let loaded =
            load(if row.code.starts_with('C') { "m.cfsm" } else { "m.pml" }, row.example, &Options::default(), &files);
        let found: Vec<_> = loaded.diagnostics.iter().map(|d| d.code).collect();
        // One mistake, one message.
        if row.code == "P0200" && found.contains(&row.code) || found == [row.code] {
            continue;
        }
        wrong.push_str(&format!("{}: {}\nfound {found:?}\n", row.code, row.example));
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn each_code_is_explained_once() {
    let explained: Vec<_> = CODES.iter().map(|c| c.code).collect();
    let set: BTreeSet<_> = explained.iter().copied().collect();
    assert_eq!(set.len(), explained.len(), "a code is explained twice");
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut folders = vec![src];
    let mut used = BTreeSet::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("the sources are here").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") && !path.ends_with("codes.rs") {
                let text = std::fs::read_to_string(&path).expect("a source can be read");
                for (at, _) in text.match_indices("\"P0").chain(text.match_indices("\"C0")) {
                    let code = &text[at + 1..at + 6];
                    if text[at + 6..].starts_with('"') {
                        used.insert(code.to_string());
                    }
                }
            }
        }
    }
    for code in &used {
        assert!(set.contains(code.as_str()), "{code} is used and not explained");
    }
    for code in &explained {
        assert!(used.contains(*code), "{code} is explained and never used");
    }
}
