//! Formulas and how they are written.

use std::fmt;

/// A proposition, numbered by the owner of the formula.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PropId(pub u32);

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Formula {
    True,
    False,
    Prop(PropId),
    Not(Box<Formula>),
    And(Box<Formula>, Box<Formula>),
    Or(Box<Formula>, Box<Formula>),
    Implies(Box<Formula>, Box<Formula>),
    Equivalent(Box<Formula>, Box<Formula>),
    Next(Box<Formula>),
    Always(Box<Formula>),
    Eventually(Box<Formula>),
    Until(Box<Formula>, Box<Formula>),
    WeakUntil(Box<Formula>, Box<Formula>),
    Release(Box<Formula>, Box<Formula>),
}

impl Formula {
    /// Does the formula speak about the very next state anywhere?
    pub fn has_next(&self) -> bool {
        matches!(self, Formula::Next(_)) || self.parts().iter().any(|p| p.has_next())
    }

    /// What it looks at, each once.
    pub(crate) fn props(&self) -> Vec<PropId> {
        let mut props = Vec::new();
        let mut todo = vec![self];
        while let Some(formula) = todo.pop() {
            if let Formula::Prop(p) = formula {
                props.push(*p);
            }
            todo.extend(formula.parts());
        }
        props.sort_unstable();
        props.dedup();
        props
    }

    pub fn parts(&self) -> Vec<&Formula> {
        match self {
            Formula::True | Formula::False | Formula::Prop(_) => vec![],
            Formula::Not(a) | Formula::Next(a) | Formula::Always(a) | Formula::Eventually(a) => vec![a],
            Formula::And(a, b)
            | Formula::Or(a, b)
            | Formula::Implies(a, b)
            | Formula::Equivalent(a, b)
            | Formula::Until(a, b)
            | Formula::WeakUntil(a, b)
            | Formula::Release(a, b) => vec![a, b],
        }
    }
}

/// Written so that it reads back the same whatever the precedences of binary operators.
impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(&|p| format!("p{}", p.0)))
    }
}

impl Formula {
    /// As text, with these words for propositions.
    pub fn text(&self, prop: &dyn Fn(PropId) -> String) -> String {
        let (op, prefix) = match self {
            Formula::True => return "true".to_string(),
            Formula::False => return "false".to_string(),
            Formula::Prop(p) => return prop(*p),
            Formula::Not(_) => ("!", true),
            Formula::Next(_) => ("X ", true),
            Formula::Always(_) => ("[] ", true),
            Formula::Eventually(_) => ("<> ", true),
            Formula::And(..) => ("&&", false),
            Formula::Or(..) => ("||", false),
            Formula::Implies(..) => ("->", false),
            Formula::Equivalent(..) => ("<->", false),
            Formula::Until(..) => ("U", false),
            Formula::WeakUntil(..) => ("W", false),
            Formula::Release(..) => ("V", false),
        };
        let operand = |part: &Formula| {
            let text = part.text(prop);
            // A proposition may be any expression.
            let one = matches!(part, Formula::Prop(_)) && text.chars().all(|c| c.is_alphanumeric() || c == '_');
            if one || part.parts().len() == 1 || matches!(part, Formula::True | Formula::False) {
                text
            } else {
                format!("({text})")
            }
        };
        let parts = self.parts();
        if prefix {
            format!("{op}{}", operand(parts[0]))
        } else {
            format!("{} {op} {}", operand(parts[0]), operand(parts[1]))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn p(n: u32) -> Box<Formula> {
        Box::new(Formula::Prop(PropId(n)))
    }

    #[test]
    fn operands_keep_their_parentheses() {
        let f = Formula::Always(Box::new(Formula::Implies(p(0), Box::new(Formula::Eventually(p(1))))));
        assert_eq!(f.to_string(), "[] (p0 -> <> p1)");
    }

    #[test]
    fn next_is_found_at_any_depth() {
        assert!(Formula::Until(p(0), Box::new(Formula::Not(Box::new(Formula::Next(p(1)))))).has_next());
        assert!(!Formula::Until(p(0), p(1)).has_next());
    }
}
