//! Broken models and what we say about them: `broken/*.pml` beside `broken/*.expect`.
//!
//! `UPDATE_EXPECT=1` records anew; read what it wrote before you keep it, the messages are the product.

mod common;

use spinor_lang::{Options, load};
use std::path::Path;

#[test]
fn every_broken_model_is_explained() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/broken");
    let mut files: Vec<_> =
        std::fs::read_dir(&folder).expect("the broken models are here").flatten().map(|e| e.path()).collect();
    files.retain(|p| p.extension().is_some_and(|e| e == "pml"));
    files.sort();
    assert!(files.len() >= 80, "only {} broken models are left", files.len());
    let update = std::env::var_os("UPDATE_EXPECT").is_some();
    let mut wrong = String::new();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a broken model can be read");
        let name = file.file_name().expect("a file has a name").to_string_lossy().into_owned();
        let loaded = load(&name, &text, &Options::default(), &|p| std::fs::read(folder.join(p)));
        let found: String = loaded.diagnostics.iter().map(|d| common::line(d, &loaded.sources) + "\n").collect();
        assert!(!found.is_empty(), "{name} is not broken");
        let expect = file.with_extension("expect");
        if update {
            std::fs::write(&expect, &found).expect("the expectation can be written");
        } else {
            let expected = std::fs::read_to_string(&expect).unwrap_or_default();
            if expected != found {
                wrong.push_str(&format!("{name}\nexpected:\n{expected}found:\n{found}\n"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
