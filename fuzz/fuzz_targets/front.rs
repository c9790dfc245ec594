//! Any bytes at all: preprocessor, lexer, parser and lowering must answer, and what they accept must be well made.
//!
//! `cargo fuzz run front -- -max_total_time=1800 -timeout=10 -dict=promela.dict`

#![no_main]

use libfuzzer_sys::fuzz_target;
use spinor_lang::{Options, load};
use spinor_model::validate::validate;
use std::path::Path;

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    // The model may include itself: the one file there is.
    let loader = |path: &Path| {
        if path.ends_with("m.pml") { Ok(data.to_vec()) } else { Err(std::io::ErrorKind::NotFound.into()) }
    };
    let loaded = load("m.pml", &text, &Options::default(), &loader);
    for d in &loaded.diagnostics {
        // Every place that is named can be shown.
        for span in d.primary.iter().map(|p| p.0).chain(d.labels.iter().map(|l| l.0)) {
            loaded.sources.start(span);
            loaded.sources.end(span);
            loaded.sources.one_line(span);
            loaded.sources.chain(span);
        }
    }
    if let Some(model) = loaded.model {
        let broken = validate(&model.system);
        assert!(broken.is_empty(), "{broken:?}");
    }
});
