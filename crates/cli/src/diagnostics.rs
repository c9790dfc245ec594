//! Diagnostics for people and for programs.

use crate::front;
use crate::json::Json;
use crate::screen::{Paint, plural, printable};
use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Message, Patch, Renderer, Snippet};
use spinor_model::diagnostic::{Diagnostic, Severity};
use spinor_model::index::Idx;
use spinor_model::source::{ExpansionKind, FileId, Sources, Span};
use std::ops::Range;

/// More than this is more than anybody corrects in one go.
const MAX_ERRORS: usize = 20;

/// All of them, each followed by an empty line, and a line that sums up.
pub fn render_all(sources: &Sources, diagnostics: &[Diagnostic], paint: Paint) -> String {
    let mut out = String::new();
    let mut shown = 0;
    for d in diagnostics {
        if d.is_error() {
            shown += 1;
            if shown > MAX_ERRORS {
                continue;
            }
        }
        out.push_str(&render(sources, d, paint));
        out.push_str("\n\n");
    }
    out.push_str(&summary(diagnostics));
    out
}

fn summary(diagnostics: &[Diagnostic]) -> String {
    let errors = diagnostics.iter().filter(|d| d.is_error()).count();
    let warnings = diagnostics.len() - errors;
    let mut parts = Vec::new();
    if errors > 0 {
        parts.push(plural(errors, "error"));
    }
    if warnings > 0 {
        parts.push(plural(warnings, "warning"));
    }
    let mut out = parts.join(", ");
    if errors > MAX_ERRORS {
        out.push_str(&format!("; the first {MAX_ERRORS} are shown"));
    }
    // Only what can be explained is offered.
    let explained = |d: &&Diagnostic| front::codes().any(|row| row.code == d.code);
    let worst = diagnostics.iter().filter(|d| d.is_error()).find(explained).or(diagnostics.iter().find(explained));
    if let Some(d) = worst {
        out.push_str(&format!("; `spinor explain {}` says more", d.code));
    }
    out.push('\n');
    out
}

pub fn render(sources: &Sources, d: &Diagnostic, paint: Paint) -> String {
    let level = match d.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let mut group = level.primary_title(printable(&d.message)).id(d.code).elements(Vec::<Message<'_>>::new());
    for (file, marks) in by_file(d) {
        let text = shown_text(sources, file);
        let mut snippet = Snippet::source(text.clone()).path(printable(&sources.files[file].name));
        for (primary, span, label) in marks {
            let kind = if primary { AnnotationKind::Primary } else { AnnotationKind::Context };
            let mut annotation = kind.span(range(&text, span));
            if !label.is_empty() {
                annotation = annotation.label(printable(label));
            }
            snippet = snippet.annotation(annotation);
        }
        group = group.element(snippet);
    }
    for note in expansion_notes(sources, d) {
        group = group.element(Level::NOTE.message(note));
    }
    if let Some(spin) = &d.spin {
        group = group.element(Level::NOTE.with_name("spin").message(printable(spin)));
    }
    let mut groups: Vec<Group<'_>> = Vec::new();
    match &d.fix {
        Some(fix) => {
            groups.push(group);
            let text = shown_text(sources, fix.span.file);
            let patch = Patch::new(range(&text, fix.span), printable(&fix.text));
            let title = d.help.as_deref().map_or("write this instead".to_string(), printable);
            let snippet = Snippet::source(text).path(printable(&sources.files[fix.span.file].name)).patch(patch);
            groups.push(Level::HELP.secondary_title(title).element(snippet));
        }
        None => {
            if let Some(help) = &d.help {
                group = group.element(Level::HELP.message(printable(help)));
            }
            groups.push(group);
        }
    }
    let renderer = if paint.on { Renderer::styled() } else { Renderer::plain() };
    renderer.decor_style(DecorStyle::Ascii).render(&groups)
}

/// A place to show: is it the primary one, where, and what stands under it.
type Mark<'a> = (bool, Span, &'a str);

/// The places to show, file by file, the primary one's file first.
fn by_file(d: &Diagnostic) -> Vec<(FileId, Vec<Mark<'_>>)> {
    let mut out: Vec<(FileId, Vec<Mark<'_>>)> = Vec::new();
    let primary = d.primary.iter().map(|(span, label)| (true, *span, label.as_str()));
    let related = d.labels.iter().map(|(span, label)| (false, *span, label.as_str()));
    for mark in primary.chain(related) {
        match out.iter_mut().find(|(file, _)| *file == mark.1.file) {
            Some((_, marks)) => marks.push(mark),
            None => out.push((mark.1.file, vec![mark])),
        }
    }
    out
}

/// "in the expansion of macro `inc`, used at m.pml:2:1", innermost first.
fn expansion_notes(sources: &Sources, d: &Diagnostic) -> Vec<String> {
    let Some((span, _)) = &d.primary else { return Vec::new() };
    let note = |e: &spinor_model::source::Expansion| {
        let at = sources.start(e.call);
        let kind = match e.kind {
            ExpansionKind::Macro => "macro",
            ExpansionKind::Inline => "inline",
        };
        let file = printable(sources.file_name(e.call));
        format!("in the expansion of {kind} `{}`, used at {file}:{}:{}", printable(&e.name), at.line, at.col)
    };
    sources.chain(*span).into_iter().map(note).collect()
}

/// The text with every character that could disturb a terminal replaced by one of the same length.
fn shown_text(sources: &Sources, file: FileId) -> String {
    let text = &sources.files[file].text;
    if !text.chars().any(|c| c.is_control() && c != '\n' && c != '\t') {
        return text.clone();
    }
    // Offsets must not move, so a control character becomes as many question marks as it has bytes.
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\r' if chars.peek() == Some(&'\n') => out.push(' '),
            c if c.is_control() && c != '\n' && c != '\t' => out.extend(std::iter::repeat_n('?', c.len_utf8())),
            c => out.push(c),
        }
    }
    out
}

/// A span as the renderer wants it: inside the text and between characters.
fn range(text: &str, span: Span) -> Range<usize> {
    let floor = |at: u32| {
        let mut at = (at as usize).min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let lo = floor(span.lo);
    lo..floor(span.hi).max(lo)
}

/// The rows of the `diagnostics` list.
pub fn to_json(sources: &Sources, diagnostics: &[Diagnostic]) -> Json {
    Json::List(diagnostics.iter().map(|d| one_to_json(sources, d)).collect())
}

fn one_to_json(sources: &Sources, d: &Diagnostic) -> Json {
    let place = |span: Span, label: &str| {
        let mut fields = place_fields(sources, span);
        fields.push(("label".to_string(), Json::text(label)));
        Json::Object(fields)
    };
    let optional = |text: &Option<String>| text.as_ref().map_or(Json::Null, Json::text);
    Json::object([
        ("code", Json::text(d.code)),
        ("severity", Json::text(if d.is_error() { "error" } else { "warning" })),
        ("message", Json::text(&d.message)),
        ("primary", d.primary.as_ref().map_or(Json::Null, |(span, label)| place(*span, label))),
        ("labels", Json::List(d.labels.iter().map(|(span, label)| place(*span, label)).collect())),
        ("help", optional(&d.help)),
        (
            "fix",
            d.fix.as_ref().map_or(Json::Null, |fix| {
                let mut fields = place_fields(sources, fix.span);
                fields.push(("text".to_string(), Json::text(&fix.text)));
                Json::Object(fields)
            }),
        ),
        ("spin", optional(&d.spin)),
        ("notes", Json::List(expansion_notes(sources, d).into_iter().map(Json::text).collect())),
    ])
}

/// `file`, `line`, `col`, `end_line`, `end_col`
pub fn place_fields(sources: &Sources, span: Span) -> Vec<(String, Json)> {
    if span.file.index() >= sources.files.len() {
        return Vec::new();
    }
    let (start, end) = (sources.start(span), sources.end(span));
    let number = |n: u32| Json::Int(i64::from(n));
    vec![
        ("file".to_string(), Json::text(sources.file_name(span))),
        ("line".to_string(), number(start.line)),
        ("col".to_string(), number(start.col)),
        ("end_line".to_string(), number(end.line)),
        ("end_col".to_string(), number(end.col)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> (Sources, FileId) {
        let mut s = Sources::default();
        let f = s.add_file("mutex.pml", "bool locked;\nactive proctype P()\n{\n  lokced = true\n}\n");
        (s, f)
    }

    #[test]
    fn an_error_shows_its_place_its_relatives_and_its_repair() {
        let (s, f) = sample();
        let d = Diagnostic::error("P0102", "cannot find variable `lokced`")
            .at(f.span(37, 43), "not declared here or globally")
            .label(f.span(5, 11), "a variable `locked` is declared here")
            .help("a variable with a similar name exists")
            .fix(f.span(37, 43), "locked");
        let text = render(&s, &d, Paint::OFF);
        for part in [
            "error[P0102]: cannot find variable `lokced`",
            " --> mutex.pml:4:3",
            "------ a variable `locked` is declared here",
            "^^^^^^ not declared here or globally",
            "help: a variable with a similar name exists",
            "4 -   lokced = true",
            "4 +   locked = true",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
        assert!(!text.contains('\x1b'));
        assert!(render(&s, &d, Paint { on: true }).contains('\x1b'));
    }

    #[test]
    fn spans_beyond_the_text_and_control_characters_do_no_harm() {
        let mut s = Sources::default();
        let f = s.add_file("\x1b[31m.pml", "byte ü;\x1b[2J\r\n");
        for (lo, hi) in [(6, 7), (0, 9999), (9999, 99999), (14, 14)] {
            let d = Diagnostic::warning("P0001", "odd").at(f.span(lo, hi), "here").fix(f.span(lo, hi), "x");
            assert!(!render(&s, &d, Paint::OFF).contains('\x1b'));
        }
        let d = Diagnostic::error("P0001", "nowhere").help("nothing");
        assert!(render(&s, &d, Paint::OFF).starts_with("error[P0001]: nowhere"));
    }

    #[test]
    fn text_from_a_macro_names_the_call() {
        let (mut s, f) = sample();
        let e = s.add_expansion(ExpansionKind::Macro, "inc", f.span(37, 43));
        let d = Diagnostic::error("P0102", "x").at(Span { via: Some(e), ..f.span(5, 11) }, "");
        assert!(render(&s, &d, Paint::OFF).contains("in the expansion of macro `inc`, used at mutex.pml:4:3"));
        assert!(to_json(&s, &[d]).pretty().contains("in the expansion of macro"));
    }

    #[test]
    fn the_summary_counts() {
        let (s, _) = sample();
        let many: Vec<_> = (0..25).map(|_| Diagnostic::error("P0011", "x")).collect();
        let text = render_all(&s, &many, Paint::OFF);
        assert!(text.ends_with("25 errors; the first 20 are shown; `spinor explain P0011` says more\n"), "{text}");
        assert_eq!(text.matches("error[P0011]").count(), 20);
    }
}
