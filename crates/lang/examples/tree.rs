//! Prints the tree of a model and what there is to say about it: `cargo run --example tree model.pml`.

#[path = "../tests/common/mod.rs"]
mod common;

use spinor_lang::parser::dump;
use spinor_lang::{Options, parse};

fn main() {
    for name in std::env::args().skip(1) {
        let text = match std::fs::read(&name) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(e) => {
                eprintln!("cannot read `{name}`: {e}");
                continue;
            }
        };
        let parsed = parse(&name, &text, &Options::default(), &|p| std::fs::read(p));
        println!("{}", dump::program(&parsed.program));
        print!("{}", common::lines(&parsed));
    }
}
