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
    assert!(keys.len() >= 14, "only {keys:?}");
    let mut n = 0;
    let mut texts = Vec::new();
    for ending in ["rs", "md", "pml"] {
        files(&root(), ending, &mut texts);
    }
    for path in texts {
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        // A citation is a key in brackets that looks like one: two letters or more, with a hyphen among them or the two
        // digits of a year behind them. (`[I32]` has one letter.)
        for part in text.split('[').skip(1) {
            let Some((word, _)) = part.split_once(']') else { continue };
            let name = word.trim_end_matches(|c: char| c.is_ascii_digit());
            let n_digits = word.len() - name.len();
            let shaped = word.starts_with(|c: char| c.is_ascii_uppercase())
                && name.len() >= 2
                && name.chars().all(|c| c.is_ascii_alphabetic() || c == '-')
                && (n_digits == 2
                    || word.len() > 4 && name.contains('-')
                    || ["FaragoSchmitt", "Schoot7"].contains(&word));
            n += usize::from(shaped);
            assert!(!shaped || keys.contains(&word), "{}: [{word}] is not in references.bib", path.display());
        }
    }
    assert!(n > 100, "only {n} citations");
}

/// The pages that people read, from the root.
fn pages() -> Vec<PathBuf> {
    let mut pages = Vec::new();
    files(&root().join("book/src"), "md", &mut pages);
    pages.extend(["README.md", "ARCHITECTURE.md", "DIFFERENCES.md", "bench/README.md"].map(|page| root().join(page)));
    assert!(pages.len() > 15, "only {} pages", pages.len());
    pages
}

/// The text of a page without what is code: fenced blocks, and what stands between backticks.
fn prose(text: &str) -> String {
    let blocks = text.split("```").step_by(2);
    blocks.flat_map(|block| block.split('`').step_by(2)).collect()
}

/// The name by which a heading is linked to.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

#[test]
fn every_link_leads_somewhere() {
    let mut n = 0;
    for path in pages() {
        let text = std::fs::read_to_string(&path).expect("a page");
        let prose = prose(&text);
        for link in prose.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if link.starts_with("http") {
                continue;
            }
            let (file, name) = link.split_once('#').map_or((link, None), |(file, name)| (file, Some(name)));
            let to = if file.is_empty() { path.clone() } else { path.with_file_name(file) };
            assert!(to.exists(), "{}: there is no {link}", path.display());
            if let Some(name) = name {
                let text = std::fs::read_to_string(&to).expect("a page");
                let mut headings = text.lines().filter(|l| l.starts_with('#'));
                let there = headings.any(|l| anchor(l.trim_start_matches('#')) == name);
                assert!(there, "{}: {} has no heading for #{name}", path.display(), to.display());
            }
            n += 1;
        }
    }
    assert!(n > 50, "only {n} links");
}

/// A page names a source without `crates/` and `src/`, as a whole or by its last part.
#[test]
fn every_source_that_a_page_names_is_there() {
    let short = |path: PathBuf| {
        let path = path.strip_prefix(root()).expect("it is ours").display().to_string();
        format!("/{}", path.trim_start_matches("crates/").replace("/src/", "/"))
    };
    let sources: Vec<String> = sources().into_iter().map(short).collect();
    let mut n = 0;
    for path in pages() {
        let text = std::fs::read_to_string(&path).expect("a page");
        let blocks: Vec<&str> = text.split("```").step_by(2).collect();
        let code = blocks.iter().flat_map(|block| block.split('`').skip(1).step_by(2));
        for word in code.flat_map(|code| code.split_whitespace()).filter(|word| word.ends_with(".rs")) {
            let word = word.trim_start_matches("crates/").replace("/src/", "/").replace("src/", "");
            let there = sources.iter().any(|source| source.ends_with(&format!("/{word}")));
            assert!(there, "{}: there is no {word}", path.display());
            n += 1;
        }
    }
    assert!(n > 150, "only {n} names of sources");
}

fn sources() -> Vec<PathBuf> {
    let mut sources = Vec::new();
    for folder in ["crates", "xtask", "bench"] {
        files(&root().join(folder), "rs", &mut sources);
    }
    assert!(sources.len() > 100, "only {} sources", sources.len());
    sources
}

#[test]
fn no_source_contains_a_stub() {
    // Put together here, so that this file does not contain them.
    let stubs = [["to", "do!("].concat(), ["unimpl", "emented!("].concat(), ["#[ig", "nore"].concat()];
    for path in sources() {
        let text = std::fs::read_to_string(&path).expect("a source");
        for stub in &stubs {
            assert!(!text.contains(stub.as_str()), "{} contains {stub}", path.display());
        }
    }
}

/// Where unsafe code may be, and the files whose first lines say so.
const UNSAFE: [(&str, &str); 2] = [("crates/jit", "src/native.rs"), ("crates/store", "src/memory.rs")];

#[test]
fn only_the_store_and_native_code_may_be_unsafe() {
    let read = |path: &str| std::fs::read_to_string(root().join(path)).expect(path);
    assert!(read("Cargo.toml").contains("[workspace.lints.rust]\nunsafe_code = \"forbid\"\n"));
    let mut manifests = Vec::new();
    files(&root().join("crates"), "toml", &mut manifests);
    manifests.extend(["xtask/Cargo.toml", "bench/Cargo.toml"].map(|m| root().join(m)));
    for path in manifests {
        let manifest = std::fs::read_to_string(&path).expect("a manifest");
        let name = path.strip_prefix(root()).expect("it is ours");
        if UNSAFE.iter().any(|(folder, _)| name.starts_with(folder)) {
            // `deny`, so that the one file that may can say so; with a reason in the manifest.
            let (before, _) = manifest.split_once("[lints.rust]\nunsafe_code = \"deny\"\n").expect("denied elsewhere");
            assert!(before.lines().last().is_some_and(|l| l.starts_with('#')), "{}: why?", name.display());
        } else {
            assert!(manifest.contains("[lints]\nworkspace = true"), "{}: not the workspace's lints", name.display());
            assert!(!manifest.contains("unsafe_code"), "{}", name.display());
        }
    }
    // Put together here, so that this file does not contain it.
    let allow = ["allow(un", "safe_code)"].concat();
    for path in sources() {
        let text = std::fs::read_to_string(&path).expect("a source");
        let may = UNSAFE.iter().any(|(folder, file)| path.ends_with(format!("{folder}/{file}")));
        assert_eq!(text.contains(&allow), may, "{}", path.display());
    }
}

#[test]
fn every_unsafe_block_says_why_it_is_safe() {
    let word = ["un", "safe"].concat();
    let mut n = 0;
    for path in sources() {
        let inside = UNSAFE.iter().any(|(folder, _)| path.starts_with(root().join(folder)));
        let text = std::fs::read_to_string(&path).expect("a source");
        let lines: Vec<&str> = text.lines().collect();
        for (i, line) in lines.iter().enumerate() {
            let code = line.split("//").next().unwrap_or("");
            let uses = |what: &str| code.contains(&format!("{word} {what}"));
            let place = || format!("{}:{}", path.display(), i + 1);
            if !(uses("{") || uses("impl") || uses("fn") || uses("trait")) {
                continue; // a function pointer's type, or nothing of the kind
            }
            assert!(inside, "{}: unsafe code has its two rooms", place());
            n += 1;
            // The comment that ends right above, attributes aside; a declaration states its contract instead.
            let above = lines[..i].iter().rev().map(|l| l.trim()).skip_while(|l| l.starts_with("#["));
            let mut comment = above.take_while(|l| l.starts_with("//"));
            let wanted = if uses("{") || uses("impl") { "// SAFETY:" } else { "/// # Safety" };
            assert!(comment.any(|l| l.starts_with(wanted)), "{}: no `{wanted}` above", place());
        }
    }
    assert!(n > 15, "only {n} were found");
}

#[test]
fn every_corpus_model_has_its_expectation() {
    let mut models = Vec::new();
    files(&root().join("corpus"), "pml", &mut models);
    assert!(models.len() >= 95, "only {} models", models.len());
    for model in models {
        assert!(model.with_extension("expect").exists(), "{} has no .expect", model.display());
    }
}

/// `I1` at the beginning of a line of the header: an invariant.
fn invariants(text: &str) -> Vec<String> {
    let header = text.lines().take_while(|l| l.starts_with("//!") || l.is_empty());
    let label = |line: &str| {
        let word = line.strip_prefix("//!")?.trim_start().trim_start_matches('*').split_whitespace().next()?;
        let number = word.strip_prefix('I')?;
        (!number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())).then(|| word.to_string())
    };
    header.filter_map(label).collect()
}

#[test]
fn every_invariant_of_a_header_is_asserted_by_its_label() {
    let sources: Vec<(PathBuf, String)> =
        sources().into_iter().map(|path| (path.clone(), std::fs::read_to_string(path).expect("a source"))).collect();
    // Labels in what an assertion says, with the file that they are foreign to: "I1, I2", "cast I3".
    let labels = |text: &str| -> BTreeSet<String> {
        let words = |line: &str| -> Vec<String> {
            let words: Vec<&str> = line.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
            let mut out: Vec<String> = words.iter().map(|w| w.to_string()).collect();
            out.extend(words.windows(2).map(|pair| pair.join(" ")));
            out.extend(words.windows(4).map(|four| format!("{} {}", four[0], four[3])));
            out
        };
        text.lines().filter(|l| !l.trim_start().starts_with("//") && l.contains('"')).flat_map(words).collect()
    };
    let said: Vec<BTreeSet<String>> = sources.iter().map(|(_, text)| labels(text)).collect();
    let mut n = 0;
    for ((path, text), own) in sources.iter().zip(&said) {
        let stem = path.file_stem().and_then(|stem| stem.to_str()).expect("a name");
        let name =
            if stem == "mod" { path.parent().and_then(|p| p.file_name()?.to_str()).expect("a name") } else { stem };
        for label in invariants(text) {
            n += 1;
            let folder = path.with_extension("");
            let is_near = |(other, said): (&(PathBuf, String), &BTreeSet<String>)| {
                other.0.starts_with(&folder) && said.contains(&label) || said.contains(&format!("{name} {label}"))
            };
            assert!(
                own.contains(&label) || sources.iter().zip(&said).any(is_near),
                "{}: {label} is asserted nowhere by its label",
                path.display()
            );
        }
    }
    assert!(n > 100, "only {n} invariants were found");
}
