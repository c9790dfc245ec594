//! The tree as compact text, for tests and for people who debug the parser: every nesting shown, no places.

use crate::ast::*;
use spinor_model::print::symbol;
use std::fmt::Write;

pub fn program(p: &Program) -> String {
    p.units.iter().map(unit).collect::<Vec<_>>().join("\n")
}

fn unit(u: &Unit) -> String {
    match u {
        Unit::Proctype(p) => {
            let active = match &p.active {
                None => String::new(),
                Some(None) => "active ".into(),
                Some(Some(n)) => format!("active [{}] ", expr(n)),
            };
            let kind = match p.kind {
                ProcKind::Proctype => format!("proctype {}", p.name.name),
                ProcKind::Deterministic => format!("D_proctype {}", p.name.name),
                ProcKind::Init => "init".into(),
            };
            let params = p.params.iter().map(decl).collect::<Vec<_>>().join("; ");
            let priority = p.priority.as_ref().map_or(String::new(), |e| format!(" priority {}", expr(e)));
            let provided = p.provided.as_ref().map_or(String::new(), |e| format!(" provided {}", expr(e)));
            format!("{active}{kind}({params}){priority}{provided} {}", seq(&p.body))
        }
        Unit::Never(c) => {
            format!("never {}{}", c.name.as_ref().map_or(String::new(), |n| format!("{} ", n.name)), seq(&c.body))
        }
        Unit::Ltl(l) => format!(
            "ltl {}{{ {} }}",
            l.name.as_ref().map_or(String::new(), |n| format!("{} ", n.name)),
            expr(&l.formula)
        ),
        Unit::Trace(t) => format!("{} {}", if t.negated { "notrace" } else { "trace" }, seq(&t.body)),
        Unit::Decl(d) => decl(d),
        Unit::Typedef(t) => {
            format!("typedef {} {{ {} }}", t.name.name, t.fields.iter().map(decl).collect::<Vec<_>>().join("; "))
        }
        Unit::Mtype(m) => {
            let set = m.set.as_ref().map_or(String::new(), |s| format!(":{}", s.name));
            format!("mtype{set} = {{ {} }}", m.names.iter().map(|n| n.name.to_string()).collect::<Vec<_>>().join(", "))
        }
        Unit::C(c) => c.keyword.to_string(),
    }
}

fn type_ref(t: &TypeRef) -> String {
    match &t.kind {
        TypeKind::Bit => "bit".into(),
        TypeKind::Bool => "bool".into(),
        TypeKind::Byte => "byte".into(),
        TypeKind::Pid => "pid".into(),
        TypeKind::Short => "short".into(),
        TypeKind::Int => "int".into(),
        TypeKind::Unsigned => "unsigned".into(),
        TypeKind::Mtype(None) => "mtype".into(),
        TypeKind::Mtype(Some(set)) => format!("mtype:{}", set.name),
        TypeKind::Chan => "chan".into(),
        TypeKind::Named(n) => n.name.to_string(),
    }
}

fn decl(d: &Decl) -> String {
    let vis = match d.visibility {
        None => "",
        Some((Visibility::Hidden, _)) => "hidden ",
        Some((Visibility::Show, _)) => "show ",
        Some((Visibility::Local, _)) => "local ",
    };
    let vars = d.vars.iter().map(|v| {
        let mut s = v.name.name.to_string();
        if let Some(w) = &v.width {
            _ = write!(s, ":{}", expr(w));
        }
        if let Some(a) = &v.array {
            _ = write!(s, "[{}]", expr(a));
        }
        match &v.init {
            None => {}
            Some(Init::Expr(e)) => _ = write!(s, " = {}", expr(e)),
            Some(Init::List(es, _)) => _ = write!(s, " = {{{}}}", exprs(es)),
            Some(Init::Chan(c)) => {
                let fields = c.fields.iter().map(type_ref).collect::<Vec<_>>().join(", ");
                _ = write!(s, " = [{}] of {{{fields}}}", expr(&c.capacity));
            }
        }
        s
    });
    format!("{vis}{} {}", type_ref(&d.ty), vars.collect::<Vec<_>>().join(", "))
}

fn seq(s: &Seq) -> String {
    format!("{{ {} }}", inner(s))
}

fn inner(s: &Seq) -> String {
    s.stmts.iter().map(stmt).collect::<Vec<_>>().join("; ")
}

fn options(o: &[Seq]) -> String {
    o.iter().map(|s| format!(":: {}", inner(s))).collect::<Vec<_>>().join(" ")
}

pub fn stmt(s: &Stmt) -> String {
    let mut out: String = s.labels.iter().map(|l| format!("{}: ", l.name)).collect();
    out.push_str(&match &s.kind {
        StmtKind::Decl(d) => decl(d),
        StmtKind::Exclusive { send, chans } => {
            format!("{} {}", if *send { "xs" } else { "xr" }, chans.iter().map(var).collect::<Vec<_>>().join(", "))
        }
        StmtKind::Expr(e) => expr(e),
        StmtKind::LabelOnly => "-".into(),
        StmtKind::Else => "else".into(),
        StmtKind::Assign { to, value } => format!("{} = {}", var(to), expr(value)),
        StmtKind::Step { to, up } => format!("{}{}", var(to), if *up { "++" } else { "--" }),
        StmtKind::Send { chan, sorted, args } => {
            format!("{}{}{}", var(chan), if *sorted { "!!" } else { "!" }, exprs(args))
        }
        StmtKind::Receive { chan, random, keep, args } => {
            let (lt, gt) = if *keep { ("<", ">") } else { ("", "") };
            format!("{}{}{lt}{}{gt}", var(chan), if *random { "??" } else { "?" }, recv(args))
        }
        StmtKind::Assert(e) => format!("assert {}", expr(e)),
        StmtKind::Printf { format, args, .. } => {
            let rest: String = args.iter().map(|a| format!(", {}", expr(a))).collect();
            format!("printf(\"{format}\"{rest})")
        }
        StmtKind::Printm(e) => format!("printm({})", expr(e)),
        StmtKind::SetPriority { pid, value } => format!("set_priority({}, {})", expr(pid), expr(value)),
        StmtKind::If(o) => format!("if {} fi", options(o)),
        StmtKind::Do(o) => format!("do {} od", options(o)),
        StmtKind::Break => "break".into(),
        StmtKind::Goto(l) => format!("goto {}", l.name),
        StmtKind::ForRange { var: v, from, to, body, steps: _ } => {
            format!("for ({} : {} .. {}) {}", var(v), expr(from), expr(to), seq(body))
        }
        StmtKind::ForIn { var: v, over, body } => format!("for ({} in {}) {}", var(v), var(over), seq(body)),
        StmtKind::Select { var: v, from, to, literal } => {
            format!("select{} ({} : {} .. {})", if *literal { "-literal" } else { "" }, var(v), expr(from), expr(to))
        }
        StmtKind::Atomic(s) => format!("atomic {}", seq(s)),
        StmtKind::DStep(s) => format!("d_step {}", seq(s)),
        StmtKind::Block(s) => seq(s),
        StmtKind::Unless { main, escape } => format!("<{} unless {}>", stmt(main), stmt(escape)),
        StmtKind::Inline { name, body } => format!("{}{}", name.name, seq(body)),
        StmtKind::C(c) => c.keyword.into(),
        StmtKind::Error => "ERROR".into(),
    });
    out
}

fn recv(args: &[RecvArg]) -> String {
    let one = |a: &RecvArg| match &a.kind {
        RecvKind::Name(v) => var(v),
        RecvKind::Const(e) => expr(e),
        RecvKind::Eval(e) => format!("eval {}", expr(e)),
        RecvKind::Any => "_".into(),
    };
    args.iter().map(one).collect::<Vec<_>>().join(",")
}

fn var(v: &VarRef) -> String {
    let part = |p: &VarPart| match &p.index {
        None => p.name.name.to_string(),
        Some(i) => format!("{}[{}]", p.name.name, expr(i)),
    };
    v.parts.iter().map(part).collect::<Vec<_>>().join(".")
}

fn exprs(es: &[Expr]) -> String {
    es.iter().map(expr).collect::<Vec<_>>().join(",")
}

/// Operators with `(…)` around them; the author's own parentheses as `<…>`.
pub fn expr(e: &Expr) -> String {
    match &e.kind {
        ExprKind::Num(n) => n.to_string(),
        ExprKind::Var(v) => var(v),
        ExprKind::Unary(op, a) => {
            let op = match op {
                UnOp::Not => "!",
                UnOp::Neg => "-",
                UnOp::BitNot => "~",
            };
            format!("{op}{}", expr(a))
        }
        ExprKind::Binary(op, a, b) => {
            let op = symbol(*op);
            format!("({}{op}{})", expr(a), expr(b))
        }
        ExprKind::Cond(c, a, b) => format!("({} -> {} : {})", expr(c), expr(a), expr(b)),
        ExprKind::Paren(a) => format!("<{}>", expr(a)),
        ExprKind::Run { proctype, args, priority } => {
            let priority = priority.as_ref().map_or(String::new(), |p| format!(" priority {}", expr(p)));
            format!("run {}({}){priority}", proctype.name, exprs(args))
        }
        ExprKind::Len(v) => format!("len({})", var(v)),
        ExprKind::Probe(p, v) => format!("{}({})", format!("{p:?}").to_lowercase(), var(v)),
        ExprKind::Enabled(a) => format!("enabled({})", expr(a)),
        ExprKind::GetPriority(a) => format!("get_priority({})", expr(a)),
        ExprKind::PcValue(a) => format!("pc_value({})", expr(a)),
        ExprKind::Poll { chan, random, args } => {
            format!("{}{}[{}]", var(chan), if *random { "??" } else { "?" }, recv(args))
        }
        ExprKind::Timeout => "timeout".into(),
        ExprKind::NonProgress => "np_".into(),
        ExprKind::RemoteLabel { proctype, pid, label } => {
            format!(
                "{}{}@{}",
                proctype.name,
                pid.as_ref().map_or(String::new(), |p| format!("[{}]", expr(p))),
                label.name
            )
        }
        ExprKind::RemoteVar { proctype, pid, var, index } => {
            let pid = pid.as_ref().map_or(String::new(), |p| format!("[{}]", expr(p)));
            let index = index.as_ref().map_or(String::new(), |p| format!("[{}]", expr(p)));
            format!("{}{pid}:{}{index}", proctype.name, var.name)
        }
        ExprKind::Happens(happens) => {
            let pid = |p: &Option<Box<Expr>>| p.as_ref().map_or(String::new(), |p| format!("[{}]", expr(p)));
            let by = happens.by.as_ref().map_or(String::new(), |(name, p)| format!("{}{}", name.name, pid(p)));
            match &happens.what {
                Operation::Passes { send, chan, args } => {
                    let colon = if happens.by.is_some() { ": " } else { "" };
                    let sign = if *send { "!" } else { "?" };
                    format!("happens({by}{colon}{}{sign}{})", var(chan), recv(args))
                }
                Operation::Leaves(label) => format!("happens({by}@{})", label.name),
            }
        }
        ExprKind::Temporal(t, args) => match &args[..] {
            [a] => format!("{t:?} {}", expr(a)),
            [a, b] => format!("({} {t:?} {})", expr(a), expr(b)),
            _ => "?".into(),
        },
        ExprKind::C(c) => c.keyword.into(),
        ExprKind::Error => "ERROR".into(),
    }
}
