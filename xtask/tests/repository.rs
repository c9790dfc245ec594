//! What the repository says about itself is true.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn files(folder: &Path, ending: &str, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = entry.file_name();
        if path.is_dir() && name != "target" && name != ".git" {
            files(&path, ending, out);
        } else if path.extension().is_some_and(|e| e == ending) {
            out.push(path);
        }
    }
}

/// `package -> dependencies inside the workspace`, from the manifests; development dependencies do not count.
fn crate_graph() -> String {
    let mut manifests = Vec::new();
    files(&root().join("crates"), "toml", &mut manifests);
    manifests.extend(["xtask/Cargo.toml", "bench/Cargo.toml"].map(|m| root().join(m)));
    let mut graph = BTreeMap::new();
    for manifest in manifests {
        let text = std::fs::read_to_string(&manifest).expect("a manifest");
        let name = text.lines().find_map(|l| l.strip_prefix("name = ")).expect("a name").trim_matches('"').to_string();
        let dependencies = text.split("[dependencies]").nth(1).unwrap_or("").split("\n[").next().unwrap_or("");
        let ours: BTreeSet<String> = dependencies
            .lines()
            .filter_map(|l| l.split('.').next())
            .filter(|n| n.starts_with("spinor-") || *n == "xtask")
            .map(String::from)
            .collect();
        graph.insert(name, ours);
    }
    graph
        .into_iter()
        .map(|(name, on)| format!("{name} -> {}", on.into_iter().collect::<Vec<_>>().join(" ")).trim_end().to_string())
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn the_crate_graph_in_the_architecture_page_is_the_real_one() {
    let path = root().join("ARCHITECTURE.md");
    let page = std::fs::read_to_string(&path).expect("the page");
    let (open, close) = ("<!-- crate graph -->\n```\n", "\n```\n<!-- end of crate graph -->");
    let start = page.find(open).expect("the mark before the graph") + open.len();
    let end = page.find(close).expect("the mark after the graph");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        let new = format!("{}{}{}", &page[..start], crate_graph(), &page[end..]);
        std::fs::write(&path, new).expect("the page can be written");
        return;
    }
    assert_eq!(&page[start..end], crate_graph(), "ARCHITECTURE.md is out of date: run the tests with UPDATE_EXPECT=1");
}

#[test]
fn every_paper_that_is_cited_is_in_the_references() {
    let bib = std::fs::read_to_string(root().join("book/references.bib")).expect("the references");
    let keys: Vec<&str> = bib
        .lines()
        .filter_map(|l| l.strip_prefix('@').and_then(|l| l.split_once('{')).map(|(_, k)| k.trim_end_matches(',')))
        .collect();
    assert!(keys.len() >= 5, "only {keys:?}");
    let mut texts = Vec::new();
    for ending in ["rs", "md", "pml"] {
        files(&root(), ending, &mut texts);
    }
    for path in texts {
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        // A citation is a key in brackets that looks like one: a capital, letters, and a year or a hyphen.
        for part in text.split('[').skip(1) {
            let Some((word, _)) = part.split_once(']') else { continue };
            let shaped = word.starts_with(|c: char| c.is_ascii_uppercase())
                && word.len() > 4
                && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
                && (word.contains('-') || word.ends_with("96") || word == "FaragoSchmitt" || word == "Schoot7");
            assert!(!shaped || keys.contains(&word), "{}: [{word}] is not in references.bib", path.display());
        }
    }
}

#[test]
fn no_source_contains_unsafe_code_or_a_stub() {
    let mut sources = Vec::new();
    files(&root().join("crates"), "rs", &mut sources);
    files(&root().join("xtask"), "rs", &mut sources);
    files(&root().join("bench"), "rs", &mut sources);
    // Put together here, so that this file does not contain them.
    let stubs = [["to", "do!("].concat(), ["unimpl", "emented!("].concat(), ["#[ig", "nore"].concat()];
    for path in sources {
        let text = std::fs::read_to_string(&path).expect("a source");
        for stub in &stubs {
            assert!(!text.contains(stub.as_str()), "{} contains {stub}", path.display());
        }
    }
    let workspace = std::fs::read_to_string(root().join("Cargo.toml")).expect("the workspace");
    assert!(workspace.contains("unsafe_code = \"forbid\""), "the workspace forbids unsafe code");
}

#[test]
fn every_corpus_model_has_its_expectation() {
    let mut models = Vec::new();
    files(&root().join("corpus"), "pml", &mut models);
    assert!(models.len() >= 35, "only {} models", models.len());
    for model in models {
        assert!(model.with_extension("expect").exists(), "{} has no .expect", model.display());
    }
}
