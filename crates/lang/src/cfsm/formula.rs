//! `ltl` blocks. Operators by how tightly they bind: `! [] <> X`, then `U W V`, `&&`, `||`, `->`, `<->`. Where authors read one
//! text in two ways (`p -> q -> r`, `[] p U q`) parentheses are demanded.

use super::parser::{Lost, Parser, Read, join};
use super::token::Tok;
use super::tree::{Atom, Binary, Compare, Content, Formula, FormulaKind, Unary};
use spinor_model::diagnostic::Diagnostic;

const FORM: &str = "a condition is `p@state`, `empty(c)`, `full(c)`, `len(c) < 2`, `head(c, m)`, `holds(c, m)`, `happens(p: -m)`, `true` or `false`";
const OPERATION: &str = "an operation is `happens(p: -m)` (send), `happens(p: +m)` (receive) or `happens(p: name)`";
/// Deeper formulas are nobody's, and reading them is a recursion.
const DEEPEST: usize = 200;

pub fn parse(p: &mut Parser<'_>) -> Read<Formula> {
    Reader { p, depth: 0, n: 0 }.level(0)
}

struct Reader<'a, 'd> {
    p: &'a mut Parser<'d>,
    depth: usize,
    /// Operators so far: a chain is as deep as it is long.
    n: usize,
}

/// Loosest first. Words for `U`, `W` and `V` are no names here.
const LEVELS: [&[(&str, Binary)]; 5] = [
    &[("<->", Binary::Equivalent)],
    &[("->", Binary::Implies)],
    &[("||", Binary::Or)],
    &[("&&", Binary::And)],
    &[("U", Binary::Until), ("W", Binary::WeakUntil), ("V", Binary::Release)],
];

impl Reader<'_, '_> {
    fn level(&mut self, level: usize) -> Read<Formula> {
        let Some(ops) = LEVELS.get(level) else { return self.unary() };
        let bare = self.p.peek() != &Tok::Sign("(");
        let mut left = self.level(level + 1)?;
        let mut n = 0;
        loop {
            let span = self.p.span();
            let Some((text, op)) = ops.iter().find(|(text, _)| self.p.sign(text) || self.p.word(text)) else {
                return Ok(left);
            };
            self.n += 1;
            if self.n > DEEPEST {
                return self.too_deep();
            }
            let unary = matches!(&left.kind, FormulaKind::Unary(u, _) if *u != Unary::Not) && bare;
            let twice = n > 0 && !matches!(op, Binary::And | Binary::Or);
            if twice || level == 4 && unary {
                self.p.diags.push(
                    Diagnostic::error("C0410", format!("what `{text}` joins here can be read in two ways"))
                        .at(span, "")
                        .label(left.span, "is this its left side?")
                        .help("write the parentheses"),
                );
            }
            let right = self.level(level + 1)?;
            let span = join(left.span, right.span);
            left = Formula { kind: FormulaKind::Binary(*op, Box::new(left), Box::new(right)), span };
            n += 1;
        }
    }

    fn unary(&mut self) -> Read<Formula> {
        let start = self.p.span();
        let ops = [("!", Unary::Not), ("[]", Unary::Always), ("<>", Unary::Eventually), ("X", Unary::Next)];
        for (text, op) in ops {
            if self.p.sign(text) || self.p.word(text) {
                let of = self.deeper(|r| r.unary())?;
                let span = join(start, of.span);
                return Ok(Formula { kind: FormulaKind::Unary(op, Box::new(of)), span });
            }
        }
        if self.p.sign("(") {
            let inner = self.deeper(|r| r.level(0))?;
            let end = self.p.span();
            self.p.need(")", FORM)?;
            return Ok(Formula { span: join(start, end), ..inner });
        }
        self.atom()
    }

    fn deeper(&mut self, read: impl FnOnce(&mut Self) -> Read<Formula>) -> Read<Formula> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return self.too_deep();
        }
        let out = read(self);
        self.depth -= 1;
        out
    }

    fn too_deep(&mut self) -> Read<Formula> {
        let span = self.p.span();
        self.p.diags.push(
            Diagnostic::error("C0006", format!("this formula has more than {DEEPEST} levels"))
                .at(span, "too deep here")
                .help("divide it into several formulas"),
        );
        Err(Lost)
    }

    fn atom(&mut self) -> Read<Formula> {
        let start = self.p.span();
        let word = self.p.name("a condition", FORM)?;
        let atom = match word.name.as_str() {
            "true" => return Ok(Formula { kind: FormulaKind::True, span: start }),
            "false" => return Ok(Formula { kind: FormulaKind::False, span: start }),
            "empty" | "full" | "len" | "head" | "holds" if self.p.sign("(") => {
                let chan = self.p.name("the name of a channel", FORM)?;
                let atom = match word.name.as_str() {
                    "empty" => Atom::Empty(chan),
                    "full" => Atom::Full(chan),
                    "head" | "holds" => {
                        self.p.need(",", FORM)?;
                        let from = self.p.span();
                        let (message, args, end) = self.p.pattern(FORM)?;
                        let content = Content { message, args, via: Some(chan.clone()), span: join(from, end) };
                        if word.name == "head" { Atom::Head(chan, content) } else { Atom::Holds(chan, content) }
                    }
                    _ => {
                        self.p.need(")", FORM)?;
                        let op = self.compare()?;
                        let n = self.p.number("a number", FORM)?;
                        let kind = FormulaKind::Atom(Atom::Length(chan, op, n));
                        return Ok(Formula { kind, span: join(start, n.span) });
                    }
                };
                self.p.need(")", FORM)?;
                atom
            }
            "happens" if self.p.sign("(") => {
                let process = self.p.name("the name of a process", OPERATION)?;
                self.p.need(":", OPERATION)?;
                let op = self.p.operation(OPERATION)?;
                self.p.need(")", OPERATION)?;
                Atom::Happens(process, op)
            }
            _ => {
                self.p.need("@", FORM)?;
                Atom::At(word, self.p.name("the name of a state", FORM)?)
            }
        };
        Ok(Formula { kind: FormulaKind::Atom(atom), span: join(start, self.p.last()) })
    }

    fn compare(&mut self) -> Read<Compare> {
        let all = [
            ("==", Compare::Eq),
            ("!=", Compare::Ne),
            ("<=", Compare::Le),
            (">=", Compare::Ge),
            ("<", Compare::Lt),
            (">", Compare::Gt),
        ];
        match all.into_iter().find(|(sign, _)| self.p.sign(sign)) {
            Some((_, op)) => Ok(op),
            None => {
                self.p.expected("a comparison: `==`, `!=`, `<`, `<=`, `>` or `>=`", FORM);
                Err(Lost)
            }
        }
    }
}
