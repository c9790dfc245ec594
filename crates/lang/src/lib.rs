//! Promela text, or a protocol of communicating machines ([`cfsm`]), into a system and its properties, with diagnostics.

mod annotation;
pub mod ast;
pub mod cfsm;
pub mod codes;
mod diags;
mod free;
pub mod lexer;
pub mod load;
pub mod lower;
pub mod parser;
pub mod preprocess;
pub mod token;

pub use free::{Free, as_typed, block, free};
pub use load::{Loaded, load};
pub use lower::{Model, NamedFormula};
pub use parser::{Parsed, parse};
pub use preprocess::{Loader, Options};
