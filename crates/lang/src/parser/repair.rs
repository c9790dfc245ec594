//! Characters that are no Promela, replaced by what was probably meant so that one mistake is one message.

use crate::diags::Diags;
use crate::token::{NEWLINE, Names, Sign, Tok, Token};
use spinor_model::diagnostic::Diagnostic;
use spinor_model::source::Sources;

/// Characters that word processors and other languages write for ours.
const LOOKALIKES: &[(char, &str, Option<Sign>)] = &[
    ('–', "-", Some(Sign::Minus)),
    ('—', "-", Some(Sign::Minus)),
    ('−', "-", Some(Sign::Minus)),
    ('→', "->", Some(Sign::Arrow)),
    ('≤', "<=", Some(Sign::Le)),
    ('≥', ">=", Some(Sign::Ge)),
    ('≠', "!=", Some(Sign::NotEq)),
    ('×', "*", Some(Sign::Star)),
    ('∧', "&&", Some(Sign::AndAnd)),
    ('∨', "||", Some(Sign::OrOr)),
    ('¬', "!", Some(Sign::Bang)),
    ('◇', "<>", Some(Sign::Diamond)),
    ('…', "..", Some(Sign::DotDot)),
    (';', ";", Some(Sign::Semi)),
    ('：', ":", Some(Sign::Colon)),
    ('；', ";", Some(Sign::Semi)),
    ('，', ",", Some(Sign::Comma)),
    ('（', "(", Some(Sign::OpenParen)),
    ('）', ")", Some(Sign::CloseParen)),
    ('\u{a0}', " ", None),
    ('\u{202f}', " ", None),
    ('\u{3000}', " ", None),
    ('\u{200b}', "", None),
    ('\u{feff}', "", None),
];

const DOUBLE_QUOTES: &str = "“”„‟«»";
const SINGLE_QUOTES: &str = "‘’‚‛´`";

/// Reports the first token and gives what to read in its place, with the number of tokens that replaces.
pub fn repair(
    tokens: &[Token],
    before: Option<&Token>,
    parens: usize,
    names: &mut Names,
    sources: &Sources,
    diags: &mut Diags,
) -> (usize, Vec<Token>) {
    let token = tokens[0];
    match token.tok {
        Tok::Open(sym) => (1, unfinished(token, names.text(sym).to_string(), parens, names, diags)),
        Tok::Stray(c) if DOUBLE_QUOTES.contains(c) || SINGLE_QUOTES.contains(c) => {
            let (family, plain) = if DOUBLE_QUOTES.contains(c) { (DOUBLE_QUOTES, "\"") } else { (SINGLE_QUOTES, "'") };
            let line = tokens[1..].iter().take_while(|t| !t.has(NEWLINE) && t.tok != Tok::Eof);
            let close = line.take(200).position(|t| matches!(t.tok, Tok::Stray(c) if family.contains(c)));
            let mut d = Diagnostic::error("P0001", format!("`{c}` is not a quote of Promela"))
                .at(token.span, "typographic quote");
            let Some(close) = close.map(|n| n + 1) else {
                diags.push(d.help(format!("write `{plain}`")).fix(token.span, plain));
                return (1, Vec::new());
            };
            let (lo, hi) = (token.span.hi, tokens[close].span.lo);
            let text = sources.text(spinor_model::source::Span { lo, hi, ..token.span }).to_string();
            let whole = sources.join(token.span, tokens[close].span);
            d = d.label(tokens[close].span, "and here").help(format!("write `{plain}` on both sides"));
            diags.push(d.fix(whole, format!("{plain}{text}{plain}")));
            let sym = names.intern(&text);
            let tok = if plain == "\"" { Tok::Str(sym) } else { Tok::Char(sym) };
            (close + 1, vec![Token { tok, span: whole, ..token }])
        }
        Tok::Stray(c) => {
            let shown = if c.is_control() || c.is_whitespace() || c == '\u{200b}' || c == '\u{feff}' {
                format!("U+{:04X}", c as u32)
            } else {
                c.to_string()
            };
            let d = Diagnostic::error("P0001", format!("`{shown}` has no meaning in Promela")).at(token.span, "");
            match LOOKALIKES.iter().find(|(look, _, _)| *look == c) {
                Some((_, plain, sign)) => {
                    let help = if plain.trim().is_empty() {
                        "write an ordinary space".into()
                    } else {
                        format!("write `{plain}`")
                    };
                    diags.push(d.help(help).fix(token.span, *plain));
                    (1, sign.map(|s| Token { tok: Tok::Sign(s), ..token }).into_iter().collect())
                }
                None => {
                    let d = match c {
                        '\\' => d.help("a backslash joins lines only as the last character of its line"),
                        '$' => d.help("names consist of letters, digits and `_`"),
                        _ => d.help("remove it; such characters may stand in comments and strings only"),
                    };
                    diags.push(d);
                    // Between two values it was meant as an operator; any will do for reading on.
                    let value = |t: &Token| matches!(t.tok, Tok::Word(_) | Tok::Number(_) | Tok::Char(_));
                    let left = before.is_some_and(|t| value(t) || t.is(Sign::CloseParen) || t.is(Sign::CloseBracket));
                    let right = tokens.get(1).is_some_and(|t| !t.has(NEWLINE) && (value(t) || t.is(Sign::OpenParen)));
                    (1, (left && right).then_some(Token { tok: Tok::Sign(Sign::Plus), ..token }).into_iter().collect())
                }
            }
        }
        _ => (1, vec![token]),
    }
}

/// A quote without its partner took the rest of the line. What looks like the end of a call there is given back.
fn unfinished(token: Token, text: String, parens: usize, names: &mut Names, diags: &mut Diags) -> Vec<Token> {
    let double = text.starts_with('"');
    let kind = if double { "string" } else { "character" };
    let body = text[1..].trim_end();
    let mut rest = body;
    let mut tail = Vec::new();
    loop {
        if let Some(r) = rest.strip_suffix(';') {
            tail.push(Sign::Semi);
            rest = r.trim_end();
        } else if let Some(r) = rest.strip_suffix('}') {
            tail.push(Sign::CloseBrace);
            rest = r.trim_end();
        } else if let Some(r) =
            rest.strip_suffix(')').filter(|_| tail.iter().filter(|s| **s == Sign::CloseParen).count() < parens)
        {
            tail.push(Sign::CloseParen);
            rest = r.trim_end();
        } else {
            break;
        }
    }
    let quote = &text[..1];
    let mut end = token.span;
    end.lo += 1 + rest.len() as u32;
    end.hi = end.lo;
    diags.push(
        Diagnostic::error("P0002", format!("this {kind} has no closing quote"))
            .at(token.span, "begins here and reaches the end of the line")
            .help(format!("add the closing `{quote}`; a {kind} ends on the line it begins on"))
            .fix(end, quote),
    );
    let sym = names.intern(rest);
    let tok = if double { Tok::Str(sym) } else { Tok::Char(names.intern("?")) };
    let at = |sign| Token { tok: Tok::Sign(sign), flags: 0, span: end };
    std::iter::once(Token { tok, ..token }).chain(tail.into_iter().rev().map(at)).collect()
}
