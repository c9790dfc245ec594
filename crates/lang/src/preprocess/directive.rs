//! The lines that begin with `#`.

use super::macros::Macro;
use super::{Condition, MAX_INCLUDE_DEPTH, MAX_INCLUDES, Preprocessor};
use crate::token::{Sign, Sym, Tok, Token};
use spinor_model::diagnostic::Diagnostic;
use spinor_model::source::Span;
use std::cell::Cell;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

impl Preprocessor<'_> {
    /// A directive whose `#` has just been read.
    pub(super) fn directive(&mut self, hash: Span) {
        let Some(word) = self.in_line() else { return };
        let name = match word.tok {
            Tok::Word(sym) => self.names.text(sym).to_string(),
            // `# 12 "file"`, the trace of another preprocessor
            Tok::Number(_) => return self.top().lexer.skip_line(),
            _ => String::new(),
        };
        let span = self.sources.join(hash, word.span);
        match name.as_str() {
            "define" => self.define(),
            "undef" => {
                if let Some(name) = self.macro_name("undef", span) {
                    self.macros.remove(&name.0);
                    self.nothing_more("undef");
                }
            }
            "include" => self.include(span),
            "if" => {
                let value = self.condition(span);
                self.begin(span, value);
            }
            "ifdef" | "ifndef" => {
                let known = self.macro_name(&name, span).is_some_and(|(sym, _)| self.is_macro(sym));
                self.top().lexer.skip_line();
                self.begin(span, known == (name == "ifdef"));
            }
            "elif" | "else" => {
                self.top().lexer.skip_line();
                match self.top().conditions.last_mut() {
                    // The group before this one was read, so this one is not.
                    Some(condition) => {
                        let again = condition.seen_else;
                        if name == "else" {
                            condition.seen_else = Some(span);
                        }
                        self.after_else(&name, span, again);
                        self.skip_group();
                    }
                    None => self.lonely(&name, span),
                }
            }
            "endif" => {
                self.top().lexer.skip_line();
                if self.top().conditions.pop().is_none() {
                    self.lonely("endif", span);
                }
            }
            "error" | "warning" => {
                let (text, _) = self.top().lexer.rest_of_line();
                let d = if name == "error" {
                    Diagnostic::error("P0042", format!("#error {text}"))
                } else {
                    Diagnostic::warning("P0043", format!("#warning {text}"))
                };
                self.diags.push(d.at(span, "the model says so itself"));
            }
            "line" | "pragma" | "ident" | "sccs" => self.top().lexer.skip_line(),
            _ => {
                self.top().lexer.skip_line();
                let d = Diagnostic::error("P0030", format!("`#{name}` is not a directive")).at(span, "");
                let known = ["define", "undef", "include", "if", "ifdef", "ifndef", "elif", "else", "endif", "error"];
                let near = known.iter().find(|k| one_slip(k, &name));
                self.diags.push(match near {
                    Some(k) => d.help(format!("write `#{k}`")).fix(word.span, *k),
                    None => d.help(format!("the directives are {}", known.map(|k| format!("`#{k}`")).join(", "))),
                });
            }
        }
        // Whatever a directive left on its line is not model text.
        if !matches!(name.as_str(), "include" | "if" | "ifdef" | "ifndef" | "elif" | "else") {
            self.top().lexer.skip_line();
        }
    }

    fn in_line(&mut self) -> Option<Token> {
        let open = self.files.last_mut().expect("a text is open until the end");
        open.lexer.next_in_line(&mut self.names)
    }

    fn line(&mut self) -> Vec<Token> {
        std::iter::from_fn(|| self.in_line()).collect()
    }

    fn macro_name(&mut self, directive: &str, span: Span) -> Option<(Sym, Span)> {
        match self.in_line() {
            Some(Token { tok: Tok::Word(sym), .. }) if sym == self.words.defined => {
                self.diags.push(Diagnostic::error("P0031", "`defined` cannot be the name of a macro").at(span, ""));
                None
            }
            Some(Token { tok: Tok::Word(sym), span, .. }) => Some((sym, span)),
            other => {
                let d = Diagnostic::error("P0031", format!("`#{directive}` needs the name of a macro"));
                self.diags.push(match other {
                    Some(token) => d.at(token.span, "not a name"),
                    None => d.at(span, "no name follows"),
                });
                None
            }
        }
    }

    fn nothing_more(&mut self, directive: &str) {
        if let Some(token) = self.in_line() {
            self.diags.push(
                Diagnostic::warning("P0030", format!("text after `#{directive}` is left out"))
                    .at(token.span, "from here to the end of the line"),
            );
        }
    }

    fn define(&mut self) {
        let lexer = &self.top().lexer;
        let at = lexer.file.span(lexer.pos, lexer.pos);
        let Some((name, span)) = self.macro_name("define", at) else { return };
        // A parenthesis right after the name makes it a macro with parameters; after a space it is text.
        let lexer = &self.top().lexer;
        let called = lexer.text[lexer.pos..].starts_with('(');
        let mut variadic = false;
        let params = if called {
            self.in_line();
            match self.params(span) {
                Some((params, v)) => {
                    variadic = v;
                    Some(params)
                }
                None => return self.top().lexer.skip_line(),
            }
        } else {
            None
        };
        let mut body = self.line();
        if let Some(first) = body.first_mut() {
            first.flags = 0;
        }
        let ends = [body.first(), body.last()];
        if let Some(token) = ends.into_iter().flatten().find(|t| t.is(Sign::HashHash)) {
            self.diags.push(
                Diagnostic::error("P0044", "`##` stands at the end of a macro")
                    .at(token.span, "")
                    .help("`##` joins what stands on both sides of it"),
            );
            return;
        }
        let mac = Macro { name, span, params, variadic, body: body.into(), asleep: Cell::new(false) };
        if mac.params.is_some() {
            let lonely =
                mac.body.iter().enumerate().find(|(i, t)| {
                    t.is(Sign::Hash) && mac.body.get(i + 1).is_none_or(|next| mac.param(next).is_none())
                });
            if let Some((_, token)) = lonely {
                self.diags.push(
                    Diagnostic::error("P0044", "`#` stands before something that is no parameter")
                        .at(token.span, "")
                        .help("in a macro with parameters `#` makes a string of the argument that follows"),
                );
                return;
            }
        }
        if let Some(old) = self.macros.get(&name)
            && !old.same(&mac)
        {
            let text = self.names.text(name).to_string();
            self.diags.push(
                Diagnostic::warning("P0045", format!("macro `{text}` is defined again, differently"))
                    .at(span, "from here on this definition counts")
                    .label(old.span, "first defined here")
                    .help(format!("write `#undef {text}` before it if that is meant")),
            );
        }
        self.macros.insert(name, Rc::new(mac));
    }

    fn params(&mut self, macro_name: Span) -> Option<(Vec<Sym>, bool)> {
        let mut params: Vec<Sym> = Vec::new();
        let mut variadic = false;
        let bad = |pp: &mut Self, span: Span, what: &str| {
            pp.diags.push(
                Diagnostic::error("P0031", what.to_string()).at(span, "").label(macro_name, "in this definition").help(
                    "parameters are names with commas between them; for text in parentheses put a space before `(`",
                ),
            );
        };
        loop {
            let Some(token) = self.in_line() else {
                bad(self, macro_name, "the parameters of this macro are not closed");
                return None;
            };
            match token.tok {
                Tok::Sign(Sign::CloseParen) if params.is_empty() => return Some((params, variadic)),
                Tok::Sign(Sign::Ellipsis) => {
                    params.push(self.words.va_args);
                    variadic = true;
                }
                Tok::Word(sym) if !params.contains(&sym) => params.push(sym),
                Tok::Word(_) => {
                    bad(self, token.span, "this parameter occurs twice");
                    return None;
                }
                _ => {
                    bad(self, token.span, "this cannot be a parameter of a macro");
                    return None;
                }
            }
            let mut next = self.in_line();
            if !variadic && next.is_some_and(|t| t.is(Sign::Ellipsis)) {
                variadic = true;
                next = self.in_line();
            }
            match next {
                Some(t) if t.is(Sign::CloseParen) => return Some((params, variadic)),
                Some(t) if t.is(Sign::Comma) && !variadic => {}
                other => {
                    let span = other.map_or(macro_name, |t| t.span);
                    bad(self, span, "the parameters of this macro are not closed");
                    return None;
                }
            }
        }
    }

    // Conditional text

    fn condition(&mut self, span: Span) -> bool {
        let tokens = self.line();
        if tokens.is_empty() {
            self.diags.push(
                Diagnostic::error("P0041", "this condition is missing")
                    .at(span, "nothing follows")
                    .help("write `#if 1` or `#if 0`"),
            );
            return false;
        }
        let tokens = self.expand_line(&tokens, true);
        match super::condition::value(&tokens, &self.names) {
            Ok(value) => value,
            Err((at, message)) => {
                let at = at.map_or(span, |t| self.sources.surface(t));
                self.diags.push(
                    Diagnostic::error("P0041", message)
                        .at(at, "")
                        .help("a condition is a C expression of whole numbers, macros and `defined(NAME)`"),
                );
                false
            }
        }
    }

    fn begin(&mut self, opened: Span, taken: bool) {
        self.top().conditions.push(Condition { opened, taken, seen_else: None });
        if !taken {
            self.skip_group();
        }
    }

    /// Passes over text until a group is chosen or the conditional ends.
    fn skip_group(&mut self) {
        let mut depth = 0usize;
        loop {
            if self.top().lexer.at_end() {
                return;
            }
            let open = self.files.last_mut().expect("a text is open until the end");
            // From the end of one line to the first token of the next.
            open.lexer.skip_line();
            let before = open.lexer.pos;
            let (token, first) = open.lexer.next(&mut self.names);
            if token.tok == Tok::Eof {
                return;
            }
            if !(first && token.is(Sign::Hash)) {
                // Something like a quote may hide a comment sign, so the line is read again as a line.
                open.lexer.pos = before.max(token.span.lo as usize);
                continue;
            }
            let Some(word) = self.in_line() else { continue };
            let Tok::Word(sym) = word.tok else { continue };
            let name = self.names.text(sym).to_string();
            let span = self.sources.join(token.span, word.span);
            match name.as_str() {
                "if" | "ifdef" | "ifndef" => depth += 1,
                "endif" if depth > 0 => depth -= 1,
                "endif" => {
                    self.top().lexer.skip_line();
                    self.top().conditions.pop();
                    return;
                }
                "elif" | "else" if depth == 0 => {
                    let condition = self.top().conditions.last_mut().expect("a group is being skipped");
                    let (again, taken) = (condition.seen_else, condition.taken);
                    if name == "else" {
                        condition.seen_else = Some(span);
                    }
                    self.after_else(&name, span, again);
                    if taken {
                        continue;
                    }
                    let chosen = name == "else" || self.condition(span);
                    self.top().lexer.skip_line();
                    if chosen && let Some(condition) = self.top().conditions.last_mut() {
                        condition.taken = true;
                        return;
                    }
                }
                _ => {}
            }
        }
    }

    fn after_else(&mut self, name: &str, span: Span, again: Option<Span>) {
        if let Some(first) = again {
            self.diags.push(
                Diagnostic::error("P0039", format!("`#{name}` stands after `#else`"))
                    .at(span, "")
                    .label(first, "the `#else`")
                    .help("the `#else` group is the last one before `#endif`"),
            );
        }
    }

    fn lonely(&mut self, name: &str, span: Span) {
        self.diags.push(
            Diagnostic::error("P0039", format!("`#{name}` without an `#if`"))
                .at(span, "no conditional is open here")
                .help("remove it, or add the `#if` it belongs to"),
        );
    }

    // Includes

    fn include(&mut self, span: Span) {
        let (text, place) = self.top().lexer.rest_of_line();
        let mut text = text.trim().to_string();
        if !text.starts_with(['"', '<']) {
            let mut lexer = crate::lexer::Lexer::new(place.file, self.top().lexer.text.clone());
            lexer.pos = place.lo as usize;
            let tokens: Vec<Token> = std::iter::from_fn(|| lexer.next_in_line(&mut self.names)).collect();
            let tokens = self.expand_line(&tokens, false);
            if let [Token { tok: Tok::Str(sym), .. }, ..] = tokens[..] {
                text = format!("\"{}\"", self.names.text(sym));
            }
        }
        let close = if text.starts_with('<') { '>' } else { '"' };
        let name = text.get(1..).and_then(|t| t.split_once(close)).map(|(name, _)| name.to_string());
        let Some(name) = name.filter(|n| text.starts_with(['"', '<']) && !n.is_empty()) else {
            self.diags.push(
                Diagnostic::error("P0030", "`#include` needs a file name in quotes")
                    .at(if place.lo == place.hi { span } else { place }, "")
                    .help("write `#include \"file.pml\"`"),
            );
            return;
        };
        if self.files.len() >= MAX_INCLUDE_DEPTH || self.n_includes >= MAX_INCLUDES {
            let itself = self.files.iter().rev().skip(1).any(|f| f.path == self.files[self.files.len() - 1].path);
            let d = if self.files.len() >= MAX_INCLUDE_DEPTH {
                Diagnostic::error("P0037", format!("includes are nested more than {MAX_INCLUDE_DEPTH} deep"))
            } else {
                Diagnostic::error("P0037", format!("more than {MAX_INCLUDES} files are included"))
            };
            let help = if itself {
                "the file includes itself: put `#ifndef NAME`, `#define NAME` before its text and `#endif` after it"
            } else {
                "include each file once, for example from the model itself"
            };
            return self.stop(d.at(place, "").help(help));
        }
        let quoted = close == '"';
        let from = self.top().path.parent().map(Path::to_path_buf).unwrap_or_default();
        let wanted = Path::new(&name);
        let mut places = Vec::new();
        if quoted {
            places.push(normal(&from.join(wanted)));
        }
        places.extend(self.options.include_roots.iter().map(|r| normal(&r.join(wanted))));
        let (inside, outside): (Vec<_>, Vec<_>) = places.into_iter().partition(|p| self.allowed(p));
        for path in &inside {
            match (self.loader)(path) {
                Ok(bytes) => {
                    let text = match String::from_utf8(bytes) {
                        Ok(text) => text,
                        Err(e) => String::from_utf8_lossy(e.as_bytes()).into_owned(),
                    };
                    self.n_includes += 1;
                    let shown = path.to_string_lossy().into_owned();
                    self.open(&shown, path.clone(), &text, Some(place));
                    return;
                }
                Err(e) if e.kind() == io::ErrorKind::NotFound => {}
                Err(e) => {
                    self.diags.push(
                        Diagnostic::error("P0035", format!("cannot read `{name}`: {e}")).at(place, "included here"),
                    );
                    return;
                }
            }
        }
        let d = match outside.first() {
            Some(_) if inside.is_empty() => {
                Diagnostic::error("P0036", format!("`{name}` lies outside the folder of the model"))
                    .at(place, "not read")
                    .help("move the file beside the model, or name its folder as an include folder")
            }
            _ => {
                let d = Diagnostic::error("P0035", format!("cannot find `{name}`")).at(place, "included here");
                if quoted {
                    d.help(
                        "names in quotes are looked up beside the file that includes them, then in the include folders",
                    )
                } else if self.options.include_roots.is_empty() {
                    d.help("names in `<…>` are looked up in the include folders, and none was given; use quotes")
                } else {
                    d.help(
                        "names in `<…>` are looked up in the include folders only; use quotes for files of the model",
                    )
                }
            }
        };
        self.diags.push(d);
    }

    /// Includes stay below the folder of the model or below an include folder: a model from elsewhere must not be able
    /// to show any file of this machine in its error messages.
    fn allowed(&self, path: &Path) -> bool {
        let below = |root: &Path| {
            let climbs = path.components().next() == Some(Component::ParentDir);
            let root_climbs = root.components().next() == Some(Component::ParentDir);
            path.strip_prefix(root).is_ok()
                && (!climbs || root_climbs)
                && (path.is_absolute() == root.is_absolute())
                && !path.strip_prefix(root).is_ok_and(|rest| rest.components().any(|c| c == Component::ParentDir))
        };
        below(&self.root) || self.options.include_roots.iter().any(|r| below(&normal(r)))
    }
}

/// A path without `.` and with each `x/..` taken out, by the text alone.
pub fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => match out.components().next_back() {
                Some(Component::Normal(_)) => {
                    out.pop();
                }
                Some(Component::RootDir | Component::Prefix(_)) => {}
                _ => out.push(".."),
            },
            other => out.push(other),
        }
    }
    out
}

/// The words differ by one letter added, lost or changed, or two neighbours swapped.
pub fn one_slip(a: &str, b: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let front = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let back = a[front..].iter().rev().zip(b[front..].iter().rev()).take_while(|(x, y)| x == y).count();
    let (ra, rb) = (&a[front..a.len() - back], &b[front..b.len() - back]);
    let swapped = ra.len() == 2 && rb.len() == 2 && ra[0] == rb[1] && ra[1] == rb[0];
    a != b && (ra.len() <= 1 && rb.len() <= 1 || swapped)
}
