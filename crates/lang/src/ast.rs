//! The tree of a Promela text, as its author wrote it after macros and inlines were expanded.
//!
//! Nothing is resolved here: names are names, constants are expressions. Every node has its span.
//! A part that could not be read becomes an `Error` node, so that the rest can still be checked.

pub use spinor_model::ir::{BinOp, UnOp};
use spinor_model::source::Span;
use std::sync::Arc;

#[derive(Clone, Debug, Default)]
pub struct Program {
    pub units: Vec<Unit>,
    /// Proctypes that comments declare to be symmetric.
    pub symmetric: Vec<Ident>,
}

#[derive(Clone, Debug)]
pub enum Unit {
    Proctype(Box<Proctype>),
    /// `never`, one automaton
    Never(Claim),
    Ltl(Ltl),
    Trace(Trace),
    Decl(Decl),
    Typedef(Typedef),
    Mtype(MtypeDecl),
    /// `c_code`, `c_decl`, `c_state`, `c_track` at the top level; refused by the checker
    C(CFragment),
}

#[derive(Clone, Debug)]
pub struct Ident {
    pub name: Arc<str>,
    pub span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcKind {
    Proctype,
    /// `D_proctype`: nondeterminism is an error
    Deterministic,
    Init,
}

#[derive(Clone, Debug)]
pub struct Proctype {
    pub kind: ProcKind,
    /// `active` is `Some(None)`, `active [n]` is `Some(Some(n))`
    pub active: Option<Option<Expr>>,
    /// `init` is called `init`, at its keyword
    pub name: Ident,
    pub params: Vec<Decl>,
    pub priority: Option<Expr>,
    pub provided: Option<Expr>,
    pub body: Seq,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Claim {
    pub name: Option<Ident>,
    pub body: Seq,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Ltl {
    pub name: Option<Ident>,
    pub formula: Expr,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Trace {
    /// `notrace`: the run must not match
    pub negated: bool,
    pub body: Seq,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Typedef {
    pub name: Ident,
    pub fields: Vec<Decl>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct MtypeDecl {
    /// `mtype:fruit = { … }`
    pub set: Option<Ident>,
    pub names: Vec<Ident>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct CFragment {
    /// `c_code`, `c_decl`, `c_state`, `c_track`, `c_expr`
    pub keyword: &'static str,
    pub span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    Hidden,
    Show,
    Local,
}

#[derive(Clone, Debug)]
pub struct Decl {
    pub visibility: Option<(Visibility, Span)>,
    pub ty: TypeRef,
    pub vars: Vec<DeclVar>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct TypeRef {
    pub kind: TypeKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum TypeKind {
    Bit,
    Bool,
    Byte,
    Pid,
    Short,
    Int,
    Unsigned,
    /// `mtype` or `mtype:set`
    Mtype(Option<Ident>),
    Chan,
    Named(Ident),
}

#[derive(Clone, Debug)]
pub struct DeclVar {
    pub name: Ident,
    /// `: n`, for `unsigned`
    pub width: Option<Expr>,
    pub array: Option<Expr>,
    pub init: Option<Init>,
    /// from the name to the end of the initialiser
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum Init {
    Expr(Expr),
    List(Vec<Expr>, Span),
    Chan(ChanInit),
}

#[derive(Clone, Debug)]
pub struct ChanInit {
    pub capacity: Expr,
    pub fields: Vec<TypeRef>,
    pub span: Span,
}

/// A sequence of statements; for blocks the span runs from `{` to `}`.
#[derive(Clone, Debug, Default)]
pub struct Seq {
    pub stmts: Vec<Stmt>,
    pub span: Span,
    /// the closing brace, `fi`, `od`, or the next `::`; where control leaves the sequence
    pub close: Span,
}

/// A statement with the labels that stand before it.
#[derive(Clone, Debug)]
pub struct Stmt {
    pub labels: Vec<Ident>,
    pub kind: StmtKind,
    /// without its labels
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum StmtKind {
    Decl(Decl),
    /// `xr a, b` and `xs a, b`
    Exclusive {
        send: bool,
        chans: Vec<VarRef>,
    },
    Expr(Expr),
    /// a bare label: SPIN adds a `skip` for it
    LabelOnly,
    Else,
    Assign {
        to: VarRef,
        value: Expr,
    },
    /// `x++` and `x--`
    Step {
        to: VarRef,
        up: bool,
    },
    Send {
        chan: VarRef,
        sorted: bool,
        args: Vec<Expr>,
    },
    /// `?` (`random` false), `??` (`random`); `keep` for the copying forms `?<…>`
    Receive {
        chan: VarRef,
        random: bool,
        keep: bool,
        args: Vec<RecvArg>,
    },
    Assert(Expr),
    Printf {
        format: Arc<str>,
        format_span: Span,
        args: Vec<Expr>,
    },
    Printm(Expr),
    SetPriority {
        pid: Expr,
        value: Expr,
    },
    If(Vec<Seq>),
    Do(Vec<Seq>),
    Break,
    Goto(Ident),
    /// `for (i : a .. b) { … }`
    ForRange {
        var: VarRef,
        from: Expr,
        to: Expr,
        body: Seq,
        /// What it is made of: `i = a`, `i <= b`, `i++`, `else`.
        steps: [Span; 4],
    },
    /// `for (i in a) { … }`, over an array or a channel
    ForIn {
        var: VarRef,
        over: VarRef,
        body: Seq,
    },
    /// `select (i : a .. b)`; `literal` when both bounds are plain numbers in the text
    Select {
        var: VarRef,
        from: Expr,
        to: Expr,
        literal: bool,
    },
    Atomic(Seq),
    DStep(Seq),
    Block(Seq),
    Unless {
        main: Box<Stmt>,
        escape: Box<Stmt>,
    },
    /// an expanded inline: a block of its own. With `x = f(…)` its `return e` has become `x = e`
    Inline {
        name: Ident,
        body: Seq,
    },
    /// `c_code`
    C(CFragment),
    Error,
}

impl StmtKind {
    /// It has no statements inside.
    pub fn is_simple(&self) -> bool {
        match self {
            StmtKind::Expr(_) | StmtKind::Else | StmtKind::Assign { .. } | StmtKind::Step { .. } => true,
            StmtKind::Send { .. } | StmtKind::Receive { .. } | StmtKind::Assert(_) => true,
            StmtKind::Printf { .. } | StmtKind::Printm(_) | StmtKind::SetPriority { .. } => true,
            StmtKind::Break | StmtKind::Goto(_) => true,
            StmtKind::Decl(_) | StmtKind::Exclusive { .. } | StmtKind::LabelOnly | StmtKind::Error => false,
            StmtKind::If(_) | StmtKind::Do(_) | StmtKind::Atomic(_) | StmtKind::DStep(_) | StmtKind::Block(_) => false,
            StmtKind::ForRange { .. } | StmtKind::ForIn { .. } | StmtKind::Select { .. } => false,
            StmtKind::Unless { .. } | StmtKind::Inline { .. } | StmtKind::C(_) => false,
        }
    }
}

#[derive(Clone, Debug)]
pub struct RecvArg {
    pub kind: RecvKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum RecvKind {
    /// a variable, or an mtype name: which of the two is a matter of names, decided by the checker
    Name(VarRef),
    /// a number, possibly negative, or `true`, `false`, `skip`, a character
    Const(Expr),
    Eval(Expr),
    /// `_`
    Any,
}

/// `a[i].b.c[j]`
#[derive(Clone, Debug)]
pub struct VarRef {
    pub parts: Vec<VarPart>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct VarPart {
    pub name: Ident,
    pub index: Option<Box<Expr>>,
}

#[derive(Clone, Debug)]
pub struct Expr {
    pub kind: ExprKind,
    pub span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probe {
    Full,
    Nfull,
    Empty,
    Nempty,
}

/// Operators that exist in `ltl` blocks only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Temporal {
    Always,
    Eventually,
    Next,
    Until,
    WeakUntil,
    Release,
    Implies,
    Equivalent,
}

#[derive(Clone, Debug)]
pub enum ExprKind {
    /// numbers, characters, `true`, `false`, `skip`
    Num(i32),
    /// a variable, an mtype name, or one of `_pid`, `_nr_pr`, `_last`, `_priority`, `_`
    Var(VarRef),
    Unary(UnOp, Box<Expr>),
    Binary(BinOp, Box<Expr>, Box<Expr>),
    /// `(c -> a : b)`
    Cond(Box<Expr>, Box<Expr>, Box<Expr>),
    Paren(Box<Expr>),
    Run {
        proctype: Ident,
        args: Vec<Expr>,
        priority: Option<Box<Expr>>,
    },
    Len(VarRef),
    Probe(Probe, VarRef),
    Enabled(Box<Expr>),
    GetPriority(Box<Expr>),
    PcValue(Box<Expr>),
    /// `q?[…]`, `q??[…]`
    Poll {
        chan: VarRef,
        random: bool,
        args: Vec<RecvArg>,
    },
    Timeout,
    NonProgress,
    /// `P[e]@L`
    RemoteLabel {
        proctype: Ident,
        pid: Option<Box<Expr>>,
        label: Ident,
    },
    /// `P[e]:x[i]`
    RemoteVar {
        proctype: Ident,
        pid: Option<Box<Expr>>,
        var: Ident,
        index: Option<Box<Expr>>,
    },
    /// `happens(P[e]: q!m)`, `happens(q?m)`, `happens(P@L)`
    Happens(Box<Happens>),
    /// one operand for `[]`, `<>`, `X`; two for the others
    Temporal(Temporal, Vec<Expr>),
    /// `c_expr`
    C(CFragment),
    Error,
}

/// An operation that a formula asks for.
#[derive(Clone, Debug)]
pub struct Happens {
    /// Who does it.
    pub by: Option<(Ident, Option<Box<Expr>>)>,
    pub what: Operation,
}

#[derive(Clone, Debug)]
pub enum Operation {
    /// No fields: any message.
    Passes { send: bool, chan: VarRef, args: Vec<RecvArg> },
    /// A step from there; it is said by whom.
    Leaves(Ident),
}

/// Calls `f` on every expression of the text, outermost first.
pub fn walk_exprs(program: &Program, f: &mut dyn FnMut(&Expr)) {
    for unit in &program.units {
        match unit {
            Unit::Proctype(p) => {
                p.provided.iter().for_each(|e| walk_expr(e, f));
                walk_seq(&p.body, f);
            }
            Unit::Never(c) => walk_seq(&c.body, f),
            Unit::Trace(t) => walk_seq(&t.body, f),
            Unit::Ltl(l) => walk_expr(&l.formula, f),
            Unit::Decl(d) => walk_decl(d, f),
            Unit::Typedef(t) => t.fields.iter().for_each(|d| walk_decl(d, f)),
            Unit::Mtype(_) | Unit::C(_) => {}
        }
    }
}

fn walk_decl(d: &Decl, f: &mut dyn FnMut(&Expr)) {
    for v in &d.vars {
        match &v.init {
            Some(Init::Expr(e)) => walk_expr(e, f),
            Some(Init::List(list, _)) => list.iter().for_each(|e| walk_expr(e, f)),
            Some(Init::Chan(_)) | None => {}
        }
    }
}

fn walk_seq(s: &Seq, f: &mut dyn FnMut(&Expr)) {
    s.stmts.iter().for_each(|s| walk_stmt(s, f));
}

fn walk_stmt(s: &Stmt, f: &mut dyn FnMut(&Expr)) {
    match &s.kind {
        StmtKind::Decl(d) => walk_decl(d, f),
        StmtKind::Expr(e) | StmtKind::Assert(e) | StmtKind::Printm(e) => walk_expr(e, f),
        StmtKind::Assign { to, value } => {
            walk_var(to, f);
            walk_expr(value, f);
        }
        StmtKind::Step { to, .. } => walk_var(to, f),
        StmtKind::Send { chan, args, .. } => {
            walk_var(chan, f);
            args.iter().for_each(|e| walk_expr(e, f));
        }
        StmtKind::Receive { chan, args, .. } => {
            walk_var(chan, f);
            args.iter().for_each(|a| walk_arg(a, f));
        }
        StmtKind::Printf { args, .. } => args.iter().for_each(|e| walk_expr(e, f)),
        StmtKind::SetPriority { pid, value } => {
            walk_expr(pid, f);
            walk_expr(value, f);
        }
        StmtKind::If(options) | StmtKind::Do(options) => options.iter().for_each(|s| walk_seq(s, f)),
        StmtKind::ForRange { var, from, to, body, steps: _ } => {
            walk_var(var, f);
            walk_expr(from, f);
            walk_expr(to, f);
            walk_seq(body, f);
        }
        StmtKind::ForIn { var, over, body } => {
            walk_var(var, f);
            walk_var(over, f);
            walk_seq(body, f);
        }
        StmtKind::Select { var, from, to, .. } => {
            walk_var(var, f);
            walk_expr(from, f);
            walk_expr(to, f);
        }
        StmtKind::Atomic(s) | StmtKind::DStep(s) | StmtKind::Block(s) | StmtKind::Inline { body: s, .. } => {
            walk_seq(s, f)
        }
        StmtKind::Unless { main, escape } => {
            walk_stmt(main, f);
            walk_stmt(escape, f);
        }
        StmtKind::Exclusive { .. }
        | StmtKind::LabelOnly
        | StmtKind::Else
        | StmtKind::Break
        | StmtKind::Goto(_)
        | StmtKind::C(_)
        | StmtKind::Error => {}
    }
}

fn walk_arg(a: &RecvArg, f: &mut dyn FnMut(&Expr)) {
    match &a.kind {
        RecvKind::Name(v) => walk_var(v, f),
        RecvKind::Const(e) | RecvKind::Eval(e) => walk_expr(e, f),
        RecvKind::Any => {}
    }
}

fn walk_var(v: &VarRef, f: &mut dyn FnMut(&Expr)) {
    v.parts.iter().filter_map(|p| p.index.as_deref()).for_each(|e| walk_expr(e, f));
}

fn walk_expr(e: &Expr, f: &mut dyn FnMut(&Expr)) {
    f(e);
    match &e.kind {
        ExprKind::Var(v) | ExprKind::Len(v) | ExprKind::Probe(_, v) => walk_var(v, f),
        ExprKind::Unary(_, a)
        | ExprKind::Paren(a)
        | ExprKind::Enabled(a)
        | ExprKind::GetPriority(a)
        | ExprKind::PcValue(a) => walk_expr(a, f),
        ExprKind::Binary(_, a, b) => {
            walk_expr(a, f);
            walk_expr(b, f);
        }
        ExprKind::Cond(a, b, c) => {
            walk_expr(a, f);
            walk_expr(b, f);
            walk_expr(c, f);
        }
        ExprKind::Run { args, .. } | ExprKind::Temporal(_, args) => args.iter().for_each(|e| walk_expr(e, f)),
        ExprKind::Poll { chan, args, .. } => {
            walk_var(chan, f);
            args.iter().for_each(|a| walk_arg(a, f));
        }
        ExprKind::RemoteLabel { pid, .. } => pid.iter().for_each(|e| walk_expr(e, f)),
        ExprKind::Happens(happens) => {
            let pid = happens.by.as_ref().and_then(|(_, pid)| pid.as_ref());
            pid.iter().for_each(|e| walk_expr(e, f));
            if let Operation::Passes { chan, args, .. } = &happens.what {
                walk_var(chan, f);
                args.iter().for_each(|a| walk_arg(a, f));
            }
        }
        ExprKind::RemoteVar { pid, index, .. } => {
            pid.iter().for_each(|e| walk_expr(e, f));
            index.iter().for_each(|e| walk_expr(e, f));
        }
        ExprKind::Num(_) | ExprKind::Timeout | ExprKind::NonProgress | ExprKind::C(_) | ExprKind::Error => {}
    }
}
