//! Never claims: small models for each rule, in `claims/*.pml`.
//!
//! A model says what its claims come to, as SPIN does: `// NAME: violated`, or `// NAME: holds, N stored`. A test of xtask
//! asks SPIN about the same files.

use spinor_check::claim::Claim;
use spinor_check::cycles::product::Product;
use spinor_check::cycles::{Fairness, Request, ndfs, scc};
use spinor_check::observer::Silent;
use spinor_lang::{Model, Options, load};
use spinor_model::interp::Interp;
use spinor_model::ir::Proctype;
use spinor_store::{Arena, Budget};
use std::path::Path;

fn model(text: &str) -> Model {
    let loaded = load("m.pml", text, &Options::default(), &|p: &Path| std::fs::read(p));
    loaded.model.unwrap_or_else(|| panic!("{text}\n{:?}", loaded.diagnostics))
}

/// What three searches say, if they say the same.
fn answer(model: &Model, claim: &Proctype) -> String {
    let claim = Claim::never(claim, &model.system).unwrap_or_else(|refused| panic!("{refused}"));
    let interp = Interp::looking(model.system.clone(), &claim.looked);
    let product = Product::new(&interp, &claim, Fairness::None);
    let request = Request::new(Fairness::None);
    let store = || Arena::new(&Budget::unlimited()).expect("room");
    let searched = scc::search(&product, &store(), &request, &mut Silent);
    assert_eq!(searched.stopped, None);
    for target in [ndfs::Target::Seed, ndfs::Target::Path] {
        let nested = ndfs::search(&product, &store(), target, &request, &mut Silent).expect("marks at states");
        let nested = nested.searched;
        assert_eq!(nested.found.is_some(), searched.found.is_some(), "{target:?}");
        if searched.found.is_none() {
            assert_eq!(nested.counters.stored, searched.counters.stored, "{target:?}");
        }
    }
    match searched.found {
        Some(_) => "violated".to_string(),
        None => format!("holds, {} stored", searched.counters.stored),
    }
}

#[test]
fn every_rule_has_its_verdict() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/claims");
    let mut files: Vec<_> = std::fs::read_dir(folder).expect("the models").flatten().map(|e| e.path()).collect();
    files.sort();
    assert!(files.len() >= 35, "only {} models", files.len());
    let mut wrong = String::new();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a model");
        let model = model(&text);
        assert!(!model.system.claims.is_empty(), "{}", file.display());
        for claim in &model.system.claims {
            let said = text.lines().find_map(|l| l.strip_prefix(&format!("// {}: ", claim.name))).expect("a verdict");
            let said = said.split(" stored, ").next().unwrap_or(said).trim_end_matches(" stored");
            let found = answer(&model, claim);
            if found.trim_end_matches(" stored") != said {
                wrong.push_str(&format!("{}: {said} expected, {found} found\n", file.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

fn refused(claim: &str) -> Option<&'static str> {
    let model = model(&format!("byte x;\nactive proctype P() {{ x = 1 }}\nnever {{ {claim} }}\n"));
    Claim::never(&model.system.claims[0], &model.system).err().map(|refused| refused.why)
}

#[test]
fn a_d_step_that_may_block_is_refused_and_one_that_cannot_is_not() {
    assert_eq!(refused("do :: d_step { x == 0; x == 1 } od"), Some("a d_step in a never claim must not block"));
    assert_eq!(refused("do :: d_step { x == 0; x == 0 } od"), None);
    assert_eq!(refused("do :: d_step { x == 0; if :: x == 1 :: else fi } od"), None);
}

#[test]
fn a_graph_that_acts_is_refused() {
    let model =
        model("byte x;\nchan q = [1] of { byte };\nactive proctype P() { x = 1 }\nactive proctype Q() { q!1 }\n");
    let why = |n: u32| {
        let graph = &model.system.proctypes[spinor_model::ir::ProctypeId(n)];
        Claim::never(graph, &model.system).err().map(|refused| refused.why)
    };
    assert_eq!(why(0), Some("a never claim changes nothing"));
    assert_eq!(why(1), Some("a never claim only looks"));
}

#[test]
fn labels_of_processes_are_looked_at_only_if_there_are_some() {
    let n_looked = |text: &str| {
        let model = model(text);
        Claim::never(&model.system.claims[0], &model.system).expect("a claim").looked.len()
    };
    assert_eq!(n_looked("byte x; active proctype P() { x = 1 } never { do :: x == 1 :: !(x == 1) od }"), 1);
    assert_eq!(n_looked("byte x; active proctype P() { accept: x = 1 } never { do :: x == 1 :: !(x == 1) od }"), 2);
}

/// Claims whose automata lost states on the way to a smaller form, which was not noticed.
#[test]
fn claims_that_become_smaller_are_read() {
    for seed in [423_747, 424_059] {
        let options = spinor_gen::Options { claimed: true, ..spinor_gen::Options::default() };
        let text = spinor_gen::generate_with(seed, &options).text;
        let loaded = load("m.pml", &text, &Options::default(), &|p: &Path| std::fs::read(p));
        let model = loaded.model.unwrap_or_else(|| panic!("seed {seed}: {:?}", loaded.diagnostics));
        assert!(!model.system.claims.is_empty(), "seed {seed}");
        for claim in &model.system.claims {
            Claim::never(claim, &model.system).unwrap_or_else(|refused| panic!("seed {seed}: {refused}"));
        }
    }
}
