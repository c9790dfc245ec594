//! What a protocol's text says, as it was written.

use spinor_model::source::Span;

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Ident {
    pub name: String,
    pub span: Span,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Tree {
    pub channels: Vec<Channel>,
    pub processes: Vec<Process>,
    pub checks: Vec<Check>,
    pub formulas: Vec<Ltl>,
}

/// `channel c: a -> b [2] of m, n(0..1)`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Channel {
    pub name: Ident,
    pub from: Ident,
    pub to: Ident,
    pub capacity: Number,
    pub messages: Vec<Message>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Message {
    pub name: Ident,
    /// The least and the greatest value of each field.
    pub fields: Vec<(Number, Number)>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Number {
    pub value: u32,
    pub span: Span,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Process {
    pub name: Ident,
    pub states: Vec<State>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct State {
    pub name: Ident,
    /// Where the word stands.
    pub initial: Option<Span>,
    pub is_final: bool,
    pub transitions: Vec<Transition>,
}

/// `-m(1) via c -> s`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Transition {
    pub op: Op,
    pub to: Ident,
    pub visible: bool,
    pub span: Span,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Op {
    Send(Content),
    Receive(Content),
    /// A step that nobody else takes part in.
    Internal(Ident),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Content {
    pub message: Ident,
    pub args: Vec<Arg>,
    pub via: Option<Ident>,
    /// From the sign to the last argument.
    pub span: Span,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arg {
    Value(Number),
    /// `_`
    Any(Span),
}

/// A line of a `check` block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Check {
    pub what: CheckKind,
    pub which: Which,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CheckKind {
    Reception,
    /// The form that heeds no other transitions.
    StrictReception,
    Overflow,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Which {
    All,
    None,
    These(Vec<Ident>),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ltl {
    pub name: Option<Ident>,
    pub formula: Formula,
    pub span: Span,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Formula {
    pub kind: FormulaKind,
    pub span: Span,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FormulaKind {
    True,
    False,
    Atom(Atom),
    Unary(Unary, Box<Formula>),
    Binary(Binary, Box<Formula>, Box<Formula>),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unary {
    Not,
    Always,
    Eventually,
    Next,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Binary {
    And,
    Or,
    Implies,
    Equivalent,
    Until,
    WeakUntil,
    Release,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Atom {
    /// `p@s`
    At(Ident, Ident),
    /// `empty(c)`, `full(c)`
    Empty(Ident),
    Full(Ident),
    /// `head(c, m(1))`: the first message; `holds(c, m)`: some message
    Head(Ident, Content),
    Holds(Ident, Content),
    /// `len(c) < 3`
    Length(Ident, Compare, Number),
    /// `happens(p: -m)`
    Happens(Ident, Op),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Compare {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}
