//! What authors write who think of C or of other languages, and what Promela says instead.
//!
//! Each function recognises one habit at the current token, reports it with the Promela way, passes over what belongs to it,
//! and says whether it did.

use super::{Failed, Parser, Read};
use crate::ast::{TypeKind, VarRef};
use crate::token::{IMPLIED, Key, Sign, Tok};
use spinor_model::diagnostic::Diagnostic;
use spinor_model::source::Span;

impl Parser {
    /// Types of other languages, and the nearest of ours.
    fn type_like(&self) -> Option<(&'static str, TypeKind)> {
        Some(match self.cur_word()? {
            "char" | "uint8_t" | "u8" | "uchar" => ("byte", TypeKind::Byte),
            "long" | "integer" | "int32_t" | "i32" | "float" | "double" | "int64_t" | "uint32_t" => {
                ("int", TypeKind::Int)
            }
            "int16_t" | "i16" => ("short", TypeKind::Short),
            "boolean" | "_Bool" => ("bool", TypeKind::Bool),
            "channel" => ("chan", TypeKind::Chan),
            _ => return None,
        })
    }

    pub(super) fn at_c_type(&self) -> bool {
        self.type_like().is_some() && self.nth(1).name().is_some()
    }

    pub(super) fn c_type(&mut self) -> Option<TypeKind> {
        let (ours, kind) = self.type_like().filter(|_| self.nth(1).name().is_some())?;
        let span = self.cur().span;
        let word = self.cur_word()?.to_string();
        let d = Diagnostic::error("P0218", format!("there is no type `{word}`")).at(span, "");
        let d = match word.as_str() {
            "float" | "double" => d.help("Promela computes with whole numbers only; use `int`"),
            _ => d.help(format!("use `{ours}`")),
        };
        self.report(if span.via.is_none() { d.fix(span, ours) } else { d });
        self.bump();
        Some(kind)
    }

    /// `int main() { … }`, `void f(int x) { … }` on the top level.
    pub(super) fn c_function(&mut self) -> Read<bool> {
        let ret = self.cur();
        let typed =
            ret.key().is_some_and(Key::begins_decl) || self.cur_word() == Some("void") || self.type_like().is_some();
        let at = if typed { 1 } else { 0 };
        let bare = !typed && self.cur_word() == Some("main");
        let name = self.nth(at);
        let Some(sym) = name.name().filter(|_| (typed || bare) && self.nth(at + 1).is(Sign::OpenParen)) else {
            return Ok(false);
        };
        let word = self.word(sym).to_string();
        let span = self.sources.join(ret.span, name.span);
        let d = Diagnostic::error("P0217", format!("`{word}` is written like a function of C")).at(span, "");
        let d = if word == "main" {
            d.help("write `init { … }`")
        } else {
            d.help(format!(
                "write `proctype {word}(…) {{ … }}` for a process, started by `run`, or `inline {word}(…) {{ … }}` for text to be put in place"
            ))
        };
        self.report(d);
        while !self.at(Sign::OpenParen) && !self.at_end() {
            self.bump();
        }
        self.skip_balanced();
        self.skip_separators();
        if self.at(Sign::OpenBrace) {
            self.skip_balanced();
        }
        Ok(true)
    }

    /// Statements that exist elsewhere; at their first word.
    pub(super) fn statement_habit(&mut self) -> bool {
        let token = self.cur();
        if matches!(token.tok, Tok::Sign(Sign::PlusPlus | Sign::MinusMinus)) && self.nth(1).name().is_some() {
            self.prefix_step();
            return true;
        }
        let Some(word) = self.cur_word() else { return false };
        let next = self.nth(1);
        match word {
            "while" if next.is(Sign::OpenParen) || next.name().is_some() || next.is(Sign::Bang) => self.c_while(),
            "switch" if next.is(Sign::OpenParen) => self.c_switch(),
            "case" | "default"
                if next.is(Sign::Colon) && word == "default"
                    || word == "case" && !next.is(Sign::Assign) && !self.at_separator_after_this() =>
            {
                let word = word.to_string();
                let d = Diagnostic::error("P0209", format!("`{word}` is not Promela")).at(token.span, "");
                self.report(d.help("write `if :: x == 1 -> … :: x == 2 -> … :: else -> … fi`"));
                self.skip_statement();
            }
            "continue" if self.at_separator_after_this() => {
                let d = Diagnostic::error("P0216", "`continue` is not Promela").at(token.span, "");
                self.report(d.help("put a label before the `do` and write `goto` with it"));
                self.bump();
            }
            "then" | "endif" | "elif" | "elsif" | "elseif" | "end" | "begin" | "done" | "endwhile"
                if self.word_alone(next) =>
            {
                let word = word.to_string();
                let d = Diagnostic::error("P0216", format!("`{word}` is not Promela")).at(token.span, "");
                let help = match word.as_str() {
                    "then" => "write `->` after the condition",
                    "endif" => "write `fi`",
                    "elif" | "elsif" | "elseif" => "write another option: `:: condition -> …`",
                    "begin" => "write `{`",
                    "end" => "write `}`, `fi` or `od`",
                    _ => "write `od`",
                };
                self.report(d.help(help));
                self.bump();
                self.skip_statement();
            }
            _ => return false,
        }
        true
    }

    /// A word with `(` after it that `statement_habit` knows.
    pub(super) fn statement_habit_next(&self) -> bool {
        let words =
            ["while", "switch", "case", "then", "endif", "elif", "elsif", "elseif", "end", "begin", "done", "endwhile"];
        self.cur_word().is_some_and(|w| words.contains(&w))
    }

    fn at_separator_after_this(&self) -> bool {
        let token = self.nth(1);
        let signs = [Sign::Semi, Sign::Arrow, Sign::CloseBrace, Sign::ColonColon];
        signs.iter().any(|s| token.is(*s)) || token.tok == Tok::Eof || matches!(token.key(), Some(Key::Fi | Key::Od))
    }

    /// Followed by something that cannot follow a variable.
    fn word_alone(&self, next: crate::token::Token) -> bool {
        matches!(next.tok, Tok::Word(_) | Tok::Number(_)) || next.is(Sign::OpenParen) || next.is(Sign::OpenBrace)
    }

    fn c_while(&mut self) {
        let token = self.bump();
        let cond_from = self.cur().span;
        if self.at(Sign::OpenParen) {
            self.skip_balanced();
        } else {
            while !(self.at_separator() || self.at_end() || self.at(Sign::OpenBrace) || self.at_key(Key::Do)) {
                self.bump();
            }
        }
        let cond = self.sources.one_line(self.since(cond_from));
        let inner = cond.strip_prefix('(').and_then(|c| c.strip_suffix(')')).unwrap_or(&cond).trim();
        let way = format!("write `do :: {inner} -> … :: else -> break od`");
        let d = Diagnostic::error("P0205", "`while` is not Promela").at(token.span, way);
        self.diags.push(d.help("`do` repeats until one of its options executes `break`"));
        self.skip_body();
    }

    fn c_switch(&mut self) {
        let token = self.bump();
        self.skip_balanced();
        let d = Diagnostic::error("P0209", "`switch` is not Promela").at(token.span, "");
        self.diags.push(d.help("write `if :: x == 1 -> … :: x == 2 -> … :: else -> … fi`"));
        self.skip_body();
    }

    /// The statement under a C control word.
    fn skip_body(&mut self) {
        while self.at(Sign::Semi) && self.cur().has(IMPLIED) && self.nth(1).is(Sign::OpenBrace) {
            self.bump();
        }
        if self.at(Sign::OpenBrace) {
            self.skip_balanced();
        } else {
            self.skip_statement();
        }
    }

    /// `if (c) { … } else { … }`; the `if` has been taken and no `::` follows.
    pub(super) fn c_if(&mut self, word: Span) -> bool {
        if !self.at(Sign::OpenParen) {
            return false;
        }
        // With a `fi` to come this is rather a forgotten `::`.
        let (pos, prev) = (self.pos, self.prev);
        let from = self.cur().span;
        self.skip_balanced();
        let cond = self.sources.one_line(self.since(from));
        let then_block = self.at(Sign::OpenBrace) || self.at(Sign::Semi) && self.nth(1).is(Sign::OpenBrace);
        if !then_block && self.closes_soon() {
            self.pos = pos;
            self.prev = prev;
            return false;
        }
        let inner = cond.strip_prefix('(').and_then(|c| c.strip_suffix(')')).unwrap_or(&cond).trim();
        let d = Diagnostic::error("P0206", "`if (…)` is C")
            .at(word, format!("write `if :: {inner} -> … :: else -> … fi`"))
            .help("`if` chooses among options that begin with `::`; without `:: else` it waits until one can go");
        self.diags.push(d);
        self.skip_body();
        loop {
            let implied = self.at_separator() && self.nth(1).key() == Some(Key::Else);
            if implied {
                self.bump();
            }
            if !self.eat_key(Key::Else) {
                return true;
            }
            self.skip_separators();
            if self.eat_key(Key::If) && self.at(Sign::OpenParen) {
                self.skip_balanced();
            }
            self.skip_body();
        }
    }

    /// A `fi` or `od` comes before the block ends.
    fn closes_soon(&self) -> bool {
        let mut depth = 0usize;
        for n in 0..2000 {
            let token = self.nth(n);
            match (token.tok, token.key()) {
                (Tok::Eof, _) => return false,
                (_, Some(Key::If | Key::Do)) => depth += 1,
                (_, Some(Key::Fi | Key::Od)) if depth == 0 => return true,
                (_, Some(Key::Fi | Key::Od)) => depth -= 1,
                (Tok::Sign(Sign::OpenBrace), _) => depth += 1,
                (Tok::Sign(Sign::CloseBrace), _) if depth == 0 => return false,
                (Tok::Sign(Sign::CloseBrace), _) => depth -= 1,
                (_, Some(key)) if key.begins_unit() => return false,
                _ => {}
            }
        }
        false
    }

    /// `do { … } while (c)`
    pub(super) fn c_do(&mut self, word: Span) -> bool {
        if !self.at(Sign::OpenBrace) || self.closes_soon() {
            return false;
        }
        let d = Diagnostic::error("P0205", "`do { … } while` is not Promela")
            .at(word, "write `do :: … od`")
            .help("`do` repeats its options, which begin with `::`, until one of them executes `break`");
        self.diags.push(d);
        self.skip_balanced();
        let sep = self.at_separator() && self.nth(1).name().is_some_and(|s| self.word(s) == "while");
        if sep {
            self.bump();
        }
        if self.cur_word() == Some("while") {
            self.bump();
            if self.at(Sign::OpenParen) {
                self.skip_balanced();
            }
        }
        true
    }

    /// `if x -> …` without `::`.
    pub(super) fn missing_guard(&mut self, opener: super::Opener) {
        let token = self.cur();
        let word = if opener.what == super::Opened::If { "if" } else { "do" };
        let at = Span { hi: token.span.lo, ..token.span };
        let found = self.describe(&token);
        let d = Diagnostic::error("P0207", format!("the first option of `{word}` does not begin with `::`"))
            .at(token.span, format!("found {found}"))
            .label(opener.span, "opened here")
            .help("write `::` before each option");
        let is_empty = matches!(token.key(), Some(Key::Fi | Key::Od));
        self.report(if token.span.via.is_none() && !self.at_end() && !is_empty { d.fix(at, ":: ") } else { d });
        self.skip_separators();
    }

    /// `for (i = 0; …)`; the variable has been read.
    pub(super) fn c_for(&mut self, word: Span, var: &VarRef) -> Failed {
        let name = self.sources.one_line(var.span);
        let d = Diagnostic::error("P0208", "`for (… ; … ; …)` is C")
            .at(word, format!("write `for ({name} : 0 .. 9) {{ … }}`"))
            .help("`for` runs through a range, both bounds included, or through an array: `for (i in a)`");
        self.report(d);
        // Past the parentheses and the body.
        let mut depth = 1usize;
        while depth > 0 && !self.at_end() {
            match self.bump().tok {
                Tok::Sign(Sign::OpenParen) => depth += 1,
                Tok::Sign(Sign::CloseParen) => depth -= 1,
                Tok::Sign(Sign::OpenBrace | Sign::CloseBrace) => break,
                _ => {}
            }
        }
        self.skip_body();
        Failed
    }

    /// `++x`
    fn prefix_step(&mut self) {
        let sign = self.bump();
        let from = self.cur().span;
        let var = self.var_ref();
        let span = self.since(sign.span);
        let op = if sign.is(Sign::PlusPlus) { "++" } else { "--" };
        let text = self.sources.one_line(self.since(from));
        let d = Diagnostic::error("P0211", format!("`{op}` stands after its variable")).at(span, "");
        let d = d.help(format!("write `{text}{op}`"));
        let fits = var.is_ok() && span.via.is_none();
        self.diags.push(if fits { d.fix(span, format!("{text}{op}")) } else { d });
    }

    /// `x++` or `++x` inside an expression.
    pub(super) fn step_inside(&mut self) -> Option<Failed> {
        let token = self.cur();
        if !matches!(token.tok, Tok::Sign(Sign::PlusPlus | Sign::MinusMinus)) {
            return None;
        }
        let what = self.describe(&token);
        let d =
            Diagnostic::error("P0211", format!("{what} is a statement, not part of an expression")).at(token.span, "");
        Some(self.fail(d.help("change the variable in a statement of its own")))
    }

    /// `x += 1`; the variable has been read.
    pub(super) fn compound_assign(&mut self, to: &VarRef) -> Option<Failed> {
        let sign = self.cur();
        let eq = self.nth(1);
        let Tok::Sign(op) = sign.tok else { return None };
        use Sign::*;
        let known = matches!(op, Plus | Minus | Star | Slash | Percent | And | Or | Caret | Shl | Shr | AndAnd | OrOr);
        if op == Colon && eq.is(Assign) {
            return Some(self.colon_assign());
        }
        if op == EqEq && eq.is(Assign) && sign.span.hi == eq.span.lo {
            return None;
        }
        if !(known && eq.is(Assign) && sign.span.hi == eq.span.lo && sign.span.file == eq.span.file) {
            return None;
        }
        let text = self.sources.one_line(to.span);
        let op = op.text();
        self.bump();
        self.bump();
        let value = self.expr().ok()?;
        let value_text = self.sources.one_line(value.span);
        let simple = !matches!(value.kind, crate::ast::ExprKind::Binary(..));
        let right = if simple { value_text } else { format!("({value_text})") };
        let whole = self.since(to.span);
        let place = self.sources.join(sign.span, eq.span);
        let d = Diagnostic::error("P0212", format!("`{op}=` is not Promela")).at(place, "");
        let d = d.help(format!("write `{text} = {text} {op} {right}`"));
        self.diags.push(if whole.via.is_none() { d.fix(whole, format!("{text} = {text} {op} {right}")) } else { d });
        Some(Failed)
    }

    /// `x := 1`; at the colon.
    pub(super) fn colon_assign(&mut self) -> Failed {
        let place = self.sources.join(self.cur().span, self.nth(1).span);
        let d = Diagnostic::error("P0213", "`:=` is not Promela").at(place, "").help("write `=`");
        self.fail(if place.via.is_none() { d.fix(place, "=") } else { d })
    }

    /// `(x = 1)`; at the `=`.
    pub(super) fn assignment_inside(&mut self, open: Span) {
        let span = self.cur().span;
        let d = Diagnostic::error("P0214", "`=` stands inside an expression")
            .at(span, "an assignment is a statement")
            .label(open, "in this expression")
            .help("write `==` to compare, or assign in a statement of its own");
        self.report(if span.via.is_none() { d.fix(span, "==") } else { d });
    }

    /// `x = y = 2`, `x == 1 = 2`; after an expression that should end a statement.
    pub(super) fn chained_assignment(&mut self) -> Read<()> {
        let token = self.cur();
        if token.is(Sign::Assign) {
            let d = Diagnostic::error("P0214", "a second `=` in one statement")
                .at(token.span, "an assignment has no value");
            return Err(self.fail(d.help("write two assignments, or `==` to compare")));
        }
        if self.word_operator() {
            return Err(Failed);
        }
        if token.is(Sign::Diamond) {
            let d = Diagnostic::error("P0216", "`<>` does not compare").at(token.span, "an operator of formulas only");
            let d = d.help("write `!=`");
            return Err(self.fail(if token.span.via.is_none() { d.fix(token.span, "!=") } else { d }));
        }
        if let Some(failed) = self.step_inside() {
            return Err(failed);
        }
        if let Some(failed) = self.c_ternary() {
            return Err(failed);
        }
        Ok(())
    }

    /// `and`, `or`, `mod`, `xor`, `then` between two operands.
    pub(super) fn word_operator(&mut self) -> bool {
        let Some(word) = self.cur_word() else { return false };
        let ours = match word {
            "and" | "AND" => "&&",
            "or" | "OR" => "||",
            "mod" | "MOD" => "%",
            "div" | "DIV" => "/",
            "xor" | "XOR" => "^",
            "is" => "==",
            _ => return false,
        };
        let word = word.to_string();
        let span = self.cur().span;
        let d = Diagnostic::error("P0215", format!("`{word}` is not an operator"))
            .at(span, "")
            .help(format!("write `{ours}`"));
        self.report(if span.via.is_none() { d.fix(span, ours) } else { d });
        true
    }

    /// `not x`
    pub(super) fn word_not(&mut self) -> bool {
        let operand = self.nth(1).name().is_some() || self.nth(1).is(Sign::OpenParen);
        if !(matches!(self.cur_word(), Some("not" | "NOT")) && operand) {
            return false;
        }
        let span = self.cur().span;
        let word = self.cur_word().unwrap_or_default().to_string();
        let d = Diagnostic::error("P0215", format!("`{word}` is not an operator")).at(span, "").help("write `!`");
        self.report(if span.via.is_none() { d.fix(span, "!") } else { d });
        true
    }

    /// `c ? a : b`; at the `?`, or at the `:` if the first half has been taken for a receive.
    pub(super) fn c_ternary(&mut self) -> Option<Failed> {
        if !(self.at(Sign::Query) || self.at(Sign::Colon)) {
            return None;
        }
        let span = self.cur().span;
        let what = if self.at(Sign::Query) { "`? :` is C" } else { "a conditional value stands in parentheses" };
        let d = Diagnostic::error("P0216", what).at(span, "");
        Some(self.fail(d.help("write `(condition -> value : other)`, with the parentheses")))
    }

    /// `max(a, b)` as a value; at the name.
    #[cold]
    pub(super) fn function_call(&mut self) -> Failed {
        let token = self.cur();
        let name = self.describe(&token);
        let proctype = token.name().is_some_and(|s| self.known.proctypes.contains(&s));
        let d = if proctype {
            let d = Diagnostic::error("P0226", format!("proctype {name} is called without `run`")).at(token.span, "");
            let before = Span { hi: token.span.lo, ..token.span };
            let d = d.help("write `run` before it");
            if token.span.via.is_none() { d.fix(before, "run ") } else { d }
        } else {
            Diagnostic::error("P0226", format!("there is no function {name}")).at(token.span, "called here").help(
                "functions do not exist in Promela; a macro can stand for an expression, an inline for statements",
            )
        };
        self.fail(d)
    }

    /// `=>` or `==>` in a formula; at the first `=`.
    pub(super) fn implication_habit(&mut self) -> bool {
        let (a, b) = (self.cur(), self.nth(1));
        if !((a.is(Sign::Assign) || a.is(Sign::EqEq)) && b.is(Sign::Gt) && a.span.hi == b.span.lo) {
            return false;
        }
        let span = self.sources.join(a.span, b.span);
        let d = Diagnostic::error("P0216", "implication is written `->`").at(span, "").help("write `->`");
        self.report(if span.via.is_none() { d.fix(span, "->") } else { d });
        true
    }

    /// A statement that begins with an operator, because the line before it was complete.
    pub(super) fn operator_after_line_end(&mut self) -> bool {
        let token = self.cur();
        let Tok::Sign(sign) = token.tok else { return false };
        use Sign::*;
        let binary = matches!(
            sign,
            Plus | Star
                | Slash
                | Percent
                | And
                | AndAnd
                | Or
                | OrOr
                | Caret
                | EqEq
                | NotEq
                | Lt
                | Le
                | Gt
                | Ge
                | Shl
                | Shr
                | Assign
                | Query
                | QueryQuery
                | Comma
                | OpenBracket
                | Dot
        );
        let after_line = self.pos > 0 && self.tokens[self.pos - 1].is(Semi) && self.tokens[self.pos - 1].has(IMPLIED);
        if !(binary && after_line) {
            return false;
        }
        let what = self.describe(&token);
        let d = Diagnostic::error("P0202", format!("{what} stands at the beginning of a line"))
            .at(token.span, "begins a statement of its own")
            .label(self.tokens[self.pos - 1].span, "the statement before it ended with this line")
            .help(format!("write {what} at the end of the line before, or put the whole into parentheses"));
        self.report(d.spin("6.5.2 reports a syntax error: line ends are separators"));
        self.skip_statement();
        true
    }

    /// `and`, `=>`, `==>` and other ways to write a formula.
    pub(super) fn formula_habit(&mut self) -> bool {
        if self.word_operator() || self.implication_habit() || self.letter_operator() {
            return true;
        }
        let span = self.cur().span;
        if !self.at(Sign::Assign) {
            return false;
        }
        let d = Diagnostic::error("P0214", "`=` stands inside an expression").at(span, "an assignment is a statement");
        let d = d.help("write `==` to compare");
        self.report(if span.via.is_none() { d.fix(span, "==") } else { d });
        true
    }

    /// `G p`, as other tools write it: a name was read, and now comes a value.
    fn letter_operator(&mut self) -> bool {
        let span = self.prev;
        let sign = match self.sources.text(span) {
            "G" => "[]",
            "F" => "<>",
            _ => return false,
        };
        let d = Diagnostic::error("P0215", format!("`{}` is not an operator", self.sources.text(span)));
        let d = d.at(span, "").help(format!("write `{sign}`: `[]` is always, `<>` is at some time"));
        self.report(if span.via.is_none() { d.fix(span, sign) } else { d });
        true
    }

    /// Anything that cannot begin a value.
    pub(super) fn not_a_value(&mut self) -> Failed {
        let token = self.cur();
        if matches!(token.tok, Tok::Sign(Sign::PlusPlus | Sign::MinusMinus)) {
            return self.step_inside().unwrap_or(Failed);
        }
        let d = match (token.tok, token.key()) {
            (Tok::Str(_), _) => Diagnostic::error("P0224", "a string stands outside of `printf`")
                .at(token.span, "")
                .help("strings are for `printf` only; use `mtype` names for values"),
            (Tok::Sign(Sign::Diamond), _) => Diagnostic::error("P0216", "`<>` is an operator of formulas")
                .at(token.span, "")
                .help("write it inside `ltl { … }`"),
            (Tok::Sign(Sign::OpenBracket), _) if self.nth(1).is(Sign::CloseBracket) => {
                Diagnostic::error("P0216", "`[]` is an operator of formulas")
                    .at(self.sources.join(token.span, self.nth(1).span), "")
                    .help("write it inside `ltl { … }`")
            }
            (Tok::Sign(Sign::And | Sign::Star), _) if self.nth(1).name().is_some() => {
                Diagnostic::error("P0218", "Promela has no pointers")
                    .at(token.span, "")
                    .help("use an index into an array instead")
            }
            (_, Some(Key::Eval)) => Diagnostic::error("P0234", "`eval` stands outside of a receive")
                .at(token.span, "")
                .help("leave it out: the value of an expression is what counts here already"),
            (Tok::C(key), _) => Diagnostic::error("P0240", format!("`{}` is not a value", key.text()))
                .at(token.span, "")
                .help("a value of C is written `c_expr { … }`"),
            (_, Some(key)) if !key.begins_unit() && !matches!(key, Key::Fi | Key::Od) => {
                let word = key.text();
                Diagnostic::error("P0219", format!("`{word}` is a word of Promela and has no value"))
                    .at(token.span, "reserved word")
                    .help("if it is meant as a variable, use another name")
            }
            _ => return self.unexpected("a value"),
        };
        self.fail(d)
    }
}
