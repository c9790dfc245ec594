//! What the tests of this crate share: parsing without a file system, and diagnostics as short lines.

#![allow(dead_code)]

use spinor_lang::{Options, Parsed, load, parse};
use spinor_model::diagnostic::{Diagnostic, Severity};
use spinor_model::source::{Sources, Span};
use spinor_model::validate::validate;
use std::io;
use std::path::Path;

pub fn no_files(_: &Path) -> io::Result<Vec<u8>> {
    Err(io::ErrorKind::NotFound.into())
}

pub fn read(text: &str) -> Parsed {
    parse("m.pml", text, &Options::default(), &no_files)
}

/// Reads and checks; what is accepted must be well made.
pub fn read_and_lower(text: &str) {
    if let Some(model) = load("m.pml", text, &Options::default(), &no_files).model {
        assert_eq!(validate(&model.system), Vec::<String>::new(), "{text}");
    }
}

pub fn errors(p: &Parsed) -> Vec<String> {
    p.diagnostics.iter().filter(|d| d.is_error()).map(|d| line(d, &p.sources)).collect()
}

pub fn place(sources: &Sources, span: Span) -> String {
    let (a, b) = (sources.start(span), sources.end(span));
    let file = if span.file.0 == 0 { String::new() } else { format!("{}:", sources.file_name(span)) };
    let via: String = sources.chain(span).iter().map(|e| format!(" via {}", e.name)).collect();
    format!("{file}{}:{}..{}:{}{via}", a.line, a.col, b.line, b.col)
}

/// One diagnostic on one line: code, severity, place, message, labels, help, fix.
pub fn line(d: &Diagnostic, sources: &Sources) -> String {
    let severity = if d.severity == Severity::Error { "error" } else { "warning" };
    let mut out = format!("{} {severity}", d.code);
    if let Some((span, _)) = &d.primary {
        out.push_str(&format!(" {}", place(sources, *span)));
    }
    out.push_str(&format!(" {}", d.message));
    if let Some((_, text)) = d.primary.as_ref().filter(|(_, t)| !t.is_empty()) {
        out.push_str(&format!(" | here: {text}"));
    }
    for (span, text) in &d.labels {
        out.push_str(&format!(" | label {} {text}", place(sources, *span)));
    }
    if let Some(help) = &d.help {
        out.push_str(&format!(" | help {help}"));
    }
    if let Some(fix) = &d.fix {
        out.push_str(&format!(" | fix {} {:?}", place(sources, fix.span), fix.text));
    }
    if let Some(spin) = &d.spin {
        out.push_str(&format!(" | spin {spin}"));
    }
    out
}

pub fn lines(p: &Parsed) -> String {
    p.diagnostics.iter().map(|d| line(d, &p.sources) + "\n").collect()
}
