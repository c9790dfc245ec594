//! Expressions, places and message patterns.

use super::Lower;
use super::names::Meaning;
use crate::ast::{self, ExprKind, RecvKind, VarRef};
use spinor_model::diagnostic::Diagnostic;
use spinor_model::index::Idx;
use spinor_model::ir::{
    BinOp, Effect, Expr, IndexStep, Init, Loc, MtypeId, Operation, Pattern, Place, Probe, Scope, Shape, Type, UnOp,
    VarId,
};
use spinor_model::source::Span;

/// A variable reference, resolved as far as its shape.
struct Target {
    scope: Scope,
    var: VarId,
    slot: u32,
    shape: Shape,
    index: Vec<IndexStep>,
}

impl Lower {
    /// An expression in which no `run` may stand.
    pub fn expr(&mut self, e: &ast::Expr) -> Expr {
        let outer = self.runs.take();
        let value = self.any_expr(e);
        self.runs = outer;
        value
    }

    /// An expression that may contain one `run`, done before the value is used.
    pub fn expr_with_run(&mut self, e: &ast::Expr) -> (Vec<Effect>, Expr) {
        let outer = self.runs.replace(Vec::new());
        let value = self.any_expr(e);
        let runs = self.runs.take().unwrap_or_default();
        self.runs = outer;
        (runs, value)
    }

    fn any_expr(&mut self, e: &ast::Expr) -> Expr {
        match &e.kind {
            ExprKind::Num(n) => Expr::Const(*n),
            ExprKind::Paren(inner) => self.any_expr(inner),
            ExprKind::Var(v) => self.variable(v),
            ExprKind::Unary(op, a) => Expr::Unary(*op, Box::new(self.any_expr(a))),
            ExprKind::Binary(op, a, b) => {
                let lazy = matches!(op, BinOp::And | BinOp::Or);
                if matches!(op, BinOp::Eq | BinOp::Ne) {
                    self.check_mtypes(a, b, e.span);
                }
                let a = self.any_expr(a);
                let b = if lazy { self.expr(b) } else { self.any_expr(b) };
                Expr::Binary(*op, Box::new(a), Box::new(b))
            }
            ExprKind::Cond(c, a, b) => {
                let (c, a, b) = (self.any_expr(c), self.expr(a), self.expr(b));
                Expr::Cond(Box::new(c), Box::new(a), Box::new(b))
            }
            ExprKind::Run { proctype, args, priority } => self.run(e.span, proctype, args, priority.as_deref()),
            ExprKind::Len(v) => Expr::Probe(Probe::Len, Box::new(self.chan(v))),
            ExprKind::Probe(p, v) => {
                let probe = match p {
                    ast::Probe::Full => Probe::Full,
                    ast::Probe::Nfull => Probe::Nfull,
                    ast::Probe::Empty => Probe::Empty,
                    ast::Probe::Nempty => Probe::Nempty,
                };
                Expr::Probe(probe, Box::new(self.chan(v)))
            }
            ExprKind::Poll { chan, random, args } => {
                let args = without_binding(self.patterns(chan, args, e.span, true));
                Expr::Poll { chan: Box::new(self.chan(chan)), random: *random, args }
            }
            ExprKind::Enabled(p) => {
                self.uses_enabled.get_or_insert(e.span);
                Expr::Enabled(Box::new(self.expr(p)))
            }
            ExprKind::PcValue(p) => Expr::PcValue(Box::new(self.expr(p))),
            ExprKind::GetPriority(p) => {
                self.uses_priority.get_or_insert(e.span);
                self.uses.priorities = true;
                Expr::GetPriority(Box::new(self.expr(p)))
            }
            ExprKind::Timeout => {
                self.uses.timeout = true;
                Expr::Timeout
            }
            ExprKind::NonProgress => {
                if !self.in_claim {
                    self.report(
                        Diagnostic::error("P0335", "`np_` can only be read in a claim or a formula")
                            .at(e.span, "outside a claim"),
                    );
                }
                Expr::NonProgress
            }
            ExprKind::RemoteLabel { proctype, pid, label } => {
                let pid = pid.as_ref().map(|p| Box::new(self.expr(p)));
                let Some(sig) = self.proctype_named(proctype) else { return Expr::Const(0) };
                self.label_uses.entry((sig, label.name.to_string())).or_insert(label.span);
                let loc = Loc(u32::MAX); // settled when all graphs are known
                Expr::AtLabel { proctype: sig, pid, loc, label: label.name.to_string() }
            }
            ExprKind::RemoteVar { proctype, pid, var, index } => {
                self.remote_var(e.span, proctype, pid.as_deref(), var, index.as_deref())
            }
            ExprKind::Happens(happens) => self.happens(e.span, happens),
            ExprKind::Temporal(..) => {
                let d = Diagnostic::error("P0336", "a temporal operator inside a value");
                self.report(if self.in_claim && self.body.is_none() {
                    d.at(e.span, "what is computed with, or compared, is a value of one state")
                        .help("`&`, `|` and `^` compute with bits: formulas are joined by `&&` and `||`")
                } else {
                    d.at(e.span, "not in a statement").help("formulas stand in `ltl` blocks")
                });
                Expr::Const(0)
            }
            ExprKind::C(c) => {
                self.refuse_c(c);
                Expr::Const(0)
            }
            ExprKind::Error => Expr::Const(0),
        }
    }

    fn happens(&mut self, span: Span, happens: &ast::Happens) -> Expr {
        if !self.in_claim || self.body.is_some() {
            self.report(
                Diagnostic::error("P0344", "`happens` can only be asked in a formula")
                    .at(span, "it is about the step that is taken next")
                    .help("ask it in an `ltl` block"),
            );
            return Expr::Const(0);
        }
        let by = match &happens.by {
            Some((proctype, pid)) => {
                let pid = pid.as_ref().map(|e| self.expr(e));
                let Some(id) = self.proctype_named(proctype) else { return Expr::Const(0) };
                Some((id, pid))
            }
            None => None,
        };
        Expr::Happens(Box::new(match (&happens.what, by) {
            (ast::Operation::Leaves(label), Some((proctype, pid))) => {
                self.label_uses.entry((proctype, label.name.to_string())).or_insert(label.span);
                let loc = Loc(u32::MAX); // settled when all graphs are known
                Operation::Leaves { proctype, pid, loc, label: label.name.to_string() }
            }
            (ast::Operation::Leaves(_), None) => return Expr::Const(0), // not read without
            (ast::Operation::Passes { send, chan, args }, by) => {
                let name = self.chan(chan);
                let args = if args.is_empty() { Vec::new() } else { self.fields(chan, args, span) };
                Operation::Passes { by, send: *send, chan: name, args }
            }
        }))
    }

    /// The fields of a message that is asked for: each is compared, or matches anything.
    fn fields(&mut self, chan: &VarRef, args: &[ast::RecvArg], span: Span) -> Vec<Pattern> {
        for arg in args {
            if let RecvKind::Name(v) = &arg.kind
                && matches!(self.lookup(&v.parts[0].name.name), Some(Meaning::Var(..)))
                && &*v.parts[0].name.name != "_"
            {
                let name = self.sources.one_line(v.span);
                self.report(
                    Diagnostic::error("P0345", format!("nothing is received into `{name}` here"))
                        .at(v.span, "a variable")
                        .help(format!("write `eval({name})` for its value, or `_` for any"))
                        .fix(v.span, format!("eval({name})")),
                );
            }
        }
        without_binding(self.patterns(chan, args, span, true))
    }

    fn variable(&mut self, v: &VarRef) -> Expr {
        if let [part] = &v.parts[..]
            && part.index.is_none()
        {
            match &*part.name.name {
                "_" => {
                    self.report(
                        Diagnostic::error("P0314", "`_` can be written, never read")
                            .at(v.span, "read here")
                            .help("use a variable to keep the value"),
                    );
                    return Expr::Const(0);
                }
                "_pid" if self.body.is_some() => return Expr::Pid,
                "_p" if self.body.is_some() && self.lookup("_p").is_none() => {
                    return Expr::PcValue(Box::new(Expr::Pid));
                }
                "_nr_pr" => return Expr::NrPr,
                "_last" => {
                    self.uses.last = true;
                    return Expr::Last;
                }
                "_priority" if self.body.is_some() => {
                    self.uses_priority.get_or_insert(v.span);
                    self.uses.priorities = true;
                    return Expr::GetPriority(Box::new(Expr::Pid));
                }
                name => {
                    if let Some(Meaning::Mtype(_, value)) = self.lookup(name) {
                        return Expr::Const(value);
                    }
                }
            }
        }
        self.place(v).map_or(Expr::Const(0), Expr::Read)
    }

    /// A single value that can be read or written.
    pub fn place(&mut self, v: &VarRef) -> Option<Place> {
        let target = self.target(v, true)?;
        match target.shape {
            Shape::Scalar(ty) => {
                Some(Place { scope: target.scope, var: target.var, slot: target.slot, ty, index: target.index })
            }
            Shape::Record(r) => {
                let field = r.fields.first().map_or("field", |(n, _)| n);
                self.report(
                    Diagnostic::error("P0304", format!("`{}` is a whole `{}`, not one value", last(v), r.name))
                        .at(v.span, "a record cannot be used here")
                        .help(format!("name a field, for example `{}.{field}`", self.sources.one_line(v.span))),
                );
                None
            }
            Shape::Array(..) => unreachable!("target indexes arrays"),
        }
    }

    /// The slots of a value that may be a record: sent, received and passed field by field.
    pub fn places(&mut self, v: &VarRef) -> Vec<Place> {
        let Some(target) = self.target(v, true) else { return vec![] };
        let mut out = Vec::new();
        let mut slot = target.slot;
        target.shape.leaves(&mut |_, ty| {
            out.push(Place { scope: target.scope, var: target.var, slot, ty, index: target.index.clone() });
            slot += 1;
        });
        out
    }

    /// The number of elements, if the reference names a whole array.
    pub fn array_len(&mut self, v: &VarRef) -> Option<u32> {
        match self.target(v, false)?.shape {
            Shape::Array(n, _) => Some(n),
            _ => None,
        }
    }

    /// The shape a reference has; `index`: an array without an index means its first element, with a warning.
    fn target(&mut self, v: &VarRef, index: bool) -> Option<Target> {
        let first = &v.parts[0];
        let name = &*first.name.name;
        let (scope, var) = match self.lookup(name) {
            Some(Meaning::Var(scope, var)) => (scope, var),
            Some(Meaning::Mtype(..)) => {
                self.report(
                    Diagnostic::error("P0313", format!("`{name}` is an mtype name, not a variable"))
                        .at(first.name.span, "a constant"),
                );
                return None;
            }
            None if name == "_" => {
                self.report(
                    Diagnostic::error("P0314", "`_` can be written, never read")
                        .at(first.name.span, "read here")
                        .help("use a variable to keep the value"),
                );
                return None;
            }
            None => {
                if !self.poisoned.contains(&first.name.name) {
                    self.unknown(&first.name);
                }
                return None;
            }
        };
        let decl = self.var(scope, var);
        let mut t = Target { scope, var, slot: decl.slot, shape: decl.shape.clone(), index: vec![] };
        for (n, part) in v.parts.iter().enumerate() {
            if n > 0 {
                let Shape::Record(record) = &t.shape else {
                    self.report(
                        Diagnostic::error("P0106", format!("`{}` has no fields", v.parts[n - 1].name.name))
                            .at(part.name.span, "it is not of a typedef"),
                    );
                    return None;
                };
                let record = record.clone();
                let mut slot = t.slot;
                let mut found = None;
                for (field, shape) in &record.fields {
                    if **field == *part.name.name {
                        found = Some(shape.clone());
                        break;
                    }
                    slot += shape.n_slots() as u32;
                }
                let Some(shape) = found else {
                    let fields: Vec<&str> = record.fields.iter().map(|(n, _)| n.as_str()).collect();
                    self.report(
                        Diagnostic::error("P0106", format!("`{}` has no field `{}`", record.name, part.name.name))
                            .at(part.name.span, "no such field")
                            .help(format!("its fields are: {}", fields.join(", "))),
                    );
                    return None;
                };
                t.slot = slot;
                t.shape = shape;
            }
            let is_last = n + 1 == v.parts.len();
            match (&part.index, &t.shape) {
                (Some(e), Shape::Array(len, of)) => {
                    let (len, of) = (*len, (**of).clone());
                    let value = self.expr(e);
                    if let Expr::Const(i) = value
                        && (i < 0 || i as u32 >= len)
                    {
                        self.report(
                            Diagnostic::warning("P0318", format!("index {i} is outside the array"))
                                .at(e.span, format!("`{}` has the elements 0..{}", part.name.name, len - 1))
                                .help("reaching this statement is a run-time error"),
                        );
                    }
                    self.push_index(&mut t, value, len, of);
                }
                (None, Shape::Array(len, of)) if index || !is_last => {
                    let (len, of) = (*len, (**of).clone());
                    self.report(
                        Diagnostic::warning("P0301", format!("`{}` is an array and has no index here", part.name.name))
                            .at(part.name.span, format!("read as `{}[0]`", part.name.name))
                            .help("write the index"),
                    );
                    self.push_index(&mut t, Expr::Const(0), len, of);
                }
                (Some(e), _) => {
                    let value = self.expr(e);
                    if value != Expr::Const(0) {
                        self.report(
                            Diagnostic::error("P0301", format!("`{}` is not an array", part.name.name))
                                .at(e.span, "it has no elements"),
                        );
                        return None;
                    }
                }
                (None, _) => {}
            }
        }
        Some(t)
    }

    fn push_index(&mut self, t: &mut Target, value: Expr, len: u32, of: Shape) {
        let stride = of.n_slots() as u32;
        match value {
            Expr::Const(i) if i >= 0 && (i as u32) < len => t.slot += i as u32 * stride,
            value => t.index.push(IndexStep { value, len, stride }),
        }
        t.shape = of;
    }

    fn unknown(&mut self, name: &ast::Ident) {
        let mut d = Diagnostic::error("P0102", format!("cannot find variable `{}`", name.name))
            .at(name.span, "not declared here or globally");
        if self.proctypes.contains_key(&name.name) {
            d = d.help(format!("`{0}` is a proctype: start it with `run {0}()`", name.name));
        } else if let Some((similar, span)) = self.similar(&name.name) {
            d = d
                .label(span, format!("`{similar}` is declared here"))
                .help("a name that is similar exists")
                .fix(name.span, similar);
        } else {
            d = d.help(format!("declare it, for example `byte {};`", name.name));
        }
        self.report(d);
    }

    pub fn proctype_named(&mut self, name: &ast::Ident) -> Option<spinor_model::ir::ProctypeId> {
        if let Some(sig) = self.proctypes.get(&name.name) {
            return Some(sig.id);
        }
        let mut d = Diagnostic::error("P0103", format!("there is no proctype `{}`", name.name))
            .at(name.span, "not declared anywhere");
        if let Some((similar, span)) = self.similar_proctype(&name.name) {
            d = d
                .label(span, format!("`{similar}` is declared here"))
                .help("a proctype with a similar name exists")
                .fix(name.span, similar);
        }
        self.report(d);
        None
    }

    fn run(&mut self, span: Span, name: &ast::Ident, args: &[ast::Expr], priority: Option<&ast::Expr>) -> Expr {
        let Some(id) = self.proctype_named(name) else { return Expr::Const(0) };
        let outer = self.runs.take();
        let args: Vec<(Expr, Span)> = args.iter().flat_map(|a| self.argument(a)).collect();
        let priority = self.priority_of(priority);
        self.runs = outer;
        let sig = self.sig(id).clone();
        if sig.params.len() != args.len() {
            self.report(
                Diagnostic::error(
                    "P0302",
                    format!("`{}` takes {} argument(s), {} given", name.name, sig.params.len(), args.len()),
                )
                .at(span, "")
                .label(sig.span, "declared here"),
            );
        }
        let effect = Effect::Run { proctype: id, args: args.into_iter().map(|(e, _)| e).collect(), priority };
        match &mut self.runs {
            Some(runs) if runs.is_empty() => {
                runs.push(effect);
                Expr::NewPid
            }
            Some(_) => {
                self.report(
                    Diagnostic::error("P0311", "more than one `run` in an expression")
                        .at(span, "the second")
                        .help("give each `run` a statement of its own"),
                );
                Expr::Const(0)
            }
            None => {
                self.report(
                    Diagnostic::error("P0311", "`run` cannot stand here")
                        .at(span, "a process would be started while a value is asked for")
                        .help("start it before, in a statement of its own: `p = run …`"),
                );
                Expr::Const(0)
            }
        }
    }

    /// An argument of a send or a `run`: a record counts as its fields.
    pub fn argument(&mut self, e: &ast::Expr) -> Vec<(Expr, Span)> {
        if let ExprKind::Var(v) = &e.kind
            && let Some(Meaning::Var(..)) = self.lookup(&v.parts[0].name.name)
            && !v.parts[0].name.name.starts_with('_')
        {
            return self.places(v).into_iter().map(|p| (Expr::Read(p), e.span)).collect();
        }
        vec![(self.expr(e), e.span)]
    }

    /// A channel, by the variable that names it.
    pub fn chan(&mut self, v: &VarRef) -> Expr {
        let Some(place) = self.place(v) else { return Expr::Const(0) };
        if place.ty != Type::Chan && !matches!(place.ty, Type::Byte | Type::Int | Type::Short) {
            let decl = self.var(place.scope, place.var).span;
            self.report(
                Diagnostic::error("P0303", format!("`{}` is not a channel", self.sources.one_line(v.span)))
                    .at(v.span, "a channel is needed here")
                    .label(decl, "declared here"),
            );
        } else if place.ty != Type::Chan {
            let decl = self.var(place.scope, place.var).span;
            self.report(
                Diagnostic::error("P0303", format!("`{}` is a number, not a channel", self.sources.one_line(v.span)))
                    .at(v.span, "a channel is needed here")
                    .label(decl, "declared here")
                    .help("declare it `chan`"),
            );
        }
        Expr::Read(place)
    }

    /// The fields of the channel a variable is declared with, if there is just one such channel.
    pub fn known_fields(&mut self, v: &VarRef) -> Option<(Vec<Type>, Span)> {
        let target = self.target(v, true)?;
        let frame = match target.scope {
            Scope::Global => &self.globals.frame,
            Scope::Local => &self.body.as_ref()?.frame.frame,
        };
        let chan = frame.inits.iter().find_map(|i| match i {
            Init::Chan { slot, chan } if *slot == target.slot => Some(*chan),
            _ => None,
        })?;
        let decl = &frame.chans[chan as usize];
        Some((decl.fields.clone(), decl.span))
    }

    pub fn check_arity(&mut self, v: &VarRef, given: usize, span: Span, sends: bool) {
        let Some((fields, decl)) = self.known_fields(v) else { return };
        if fields.len() == given {
            return;
        }
        let name = self.sources.one_line(v.span);
        let what = if sends { "this send supplies" } else { "this receive names" };
        let more = given > fields.len();
        let n = match fields.len() {
            1 => "1 field".to_string(),
            n => format!("{n} fields"),
        };
        let mut d = Diagnostic::warning("P0307", format!("channel `{name}` carries {n}, {what} {given}"))
            .at(span, if more { "too many" } else { "too few" })
            .label(decl, "declared here")
            .help("reaching this statement is a run-time error, unless the variable names another channel by then");
        if sends {
            d = d.spin("6.5.2 simulates this; its verifier stops here at run time");
        }
        self.report(d);
    }

    /// The arguments of a receive or a poll.
    pub fn patterns(&mut self, chan: &VarRef, args: &[ast::RecvArg], span: Span, poll: bool) -> Vec<Pattern> {
        let mut out = Vec::new();
        for arg in args {
            match &arg.kind {
                RecvKind::Any => out.push(Pattern::Any),
                RecvKind::Const(e) | RecvKind::Eval(e) => out.push(Pattern::Equal(self.expr(e))),
                RecvKind::Name(v) => {
                    let simple = v.parts.len() == 1 && v.parts[0].index.is_none();
                    let name = &*v.parts[0].name.name;
                    match self.lookup(name) {
                        _ if simple && name == "_" => out.push(Pattern::Any),
                        _ if simple && matches!(name, "_pid" | "_nr_pr" | "_last" | "_priority") => {
                            let d = Diagnostic::error("P0313", format!("`{name}` cannot be received into"))
                                .at(v.span, "")
                                .help(format!("to match its value write `eval({name})`"))
                                .fix(v.span, format!("eval({name})"));
                            self.report(d);
                            out.push(Pattern::Any);
                        }
                        Some(Meaning::Mtype(_, value)) if simple => out.push(Pattern::Equal(Expr::Const(value))),
                        _ => {
                            for place in self.places(v) {
                                let twice = out.iter().any(|p| matches!(p, Pattern::Bind(q) if *q == place));
                                if twice && place.index.is_empty() {
                                    self.report(
                                        Diagnostic::error("P0308", format!("`{name}` is received into twice"))
                                            .at(v.span, "the second time"),
                                    );
                                }
                                out.push(Pattern::Bind(place));
                            }
                        }
                    }
                }
            }
        }
        // A poll may leave out fields at the end.
        let short = poll && self.known_fields(chan).is_some_and(|(fields, _)| out.len() < fields.len());
        if !short {
            self.check_arity(chan, args.len(), span, false);
        }
        out
    }

    /// The fields of a send in a trace assertion: a constant is compared, anything else matches anything.
    pub fn event_fields(&mut self, args: &[ast::Expr]) -> Vec<Pattern> {
        let mut out = Vec::new();
        for arg in args {
            if is_any(arg) {
                out.push(Pattern::Any);
                continue;
            }
            out.extend(self.argument(arg).into_iter().map(|(e, _)| match e {
                Expr::Const(_) => Pattern::Equal(e),
                _ => Pattern::Any,
            }));
        }
        out
    }

    fn remote_var(
        &mut self,
        span: Span,
        proctype: &ast::Ident,
        pid: Option<&ast::Expr>,
        var: &ast::Ident,
        index: Option<&ast::Expr>,
    ) -> Expr {
        let Some(id) = self.proctype_named(proctype) else { return Expr::Const(0) };
        let mut pid = pid.map(|p| Box::new(self.expr(p)));
        let index = index.map(|i| self.expr(i));
        match (&*var.name, pid) {
            ("_pid", Some(pid)) => return *pid,
            ("_p", Some(pid)) => return Expr::PcValue(pid),
            ("_priority", Some(pid)) => {
                self.uses_priority.get_or_insert(span);
                self.uses.priorities = true;
                return Expr::GetPriority(pid);
            }
            (_, p) => pid = p,
        }
        // The frame of the other proctype may not be lowered yet: the name is kept in the order of its use.
        let key = self.remote_vars.len() as u32;
        self.remote_vars.push(super::RemoteVar { proctype: id, var: var.clone(), index, span });
        let place = Place { scope: Scope::Local, var: VarId(u32::MAX), slot: key, ty: Type::Int, index: vec![] };
        Expr::Remote { proctype: id, pid, place }
    }

    /// The value of an expression that must be known before anything runs.
    pub fn constant(&mut self, e: &ast::Expr) -> Option<i32> {
        let value = self.expr(e);
        let folded = self.fold(&value);
        if folded.is_none() {
            self.report(
                Diagnostic::error("P0309", "this must be a constant")
                    .at(e.span, "its value is not known before the model runs")
                    .help("use a number or a macro"),
            );
        }
        folded
    }

    /// Folds constants; a global scalar counts by its initialiser, as SPIN has it.
    fn fold(&mut self, e: &Expr) -> Option<i32> {
        Some(match e {
            Expr::Const(n) => *n,
            Expr::Unary(UnOp::Neg, a) => self.fold(a)?.wrapping_neg(),
            Expr::Unary(UnOp::Not, a) => i32::from(self.fold(a)? == 0),
            Expr::Unary(UnOp::BitNot, a) => !self.fold(a)?,
            Expr::Binary(op, a, b) => {
                let (a, b) = (self.fold(a)?, self.fold(b)?);
                match op {
                    BinOp::Add => a.wrapping_add(b),
                    BinOp::Sub => a.wrapping_sub(b),
                    BinOp::Mul => a.wrapping_mul(b),
                    BinOp::Div => a.checked_div(b)?,
                    BinOp::Rem => a.checked_rem(b)?,
                    BinOp::Shl => a.wrapping_shl(b as u32),
                    BinOp::Shr => a.wrapping_shr(b as u32),
                    BinOp::BitAnd => a & b,
                    BinOp::BitOr => a | b,
                    BinOp::BitXor => a ^ b,
                    _ => return None,
                }
            }
            Expr::Read(p) if p.scope == Scope::Global && p.index.is_empty() => {
                let init = self.globals.frame.inits.iter().find_map(|i| match i {
                    Init::Value { slot, value: Expr::Const(n), .. } if *slot == p.slot => Some(*n),
                    _ => None,
                });
                let span = self.var(p.scope, p.var).span;
                let name = self.var(p.scope, p.var).name.clone();
                let value = init?;
                self.report(
                    Diagnostic::warning("P0322", format!("the variable `{name}` is used as a constant"))
                        .at(span, format!("its first value, {value}, is taken"))
                        .help("write `#define` for a constant"),
                );
                value
            }
            _ => return None,
        })
    }

    /// Warns when names of two mtype sets meet.
    pub fn check_mtypes(&mut self, a: &ast::Expr, b: &ast::Expr, span: Span) {
        if let (Some(x), Some(y)) = (self.mtype_set(a), self.mtype_set(b))
            && x != y
        {
            let (x, y) = (self.mtype_name(x), self.mtype_name(y));
            self.report(
                Diagnostic::warning("P0317", format!("values of two mtype sets meet: {x} and {y}"))
                    .at(span, "only their numbers are compared"),
            );
        }
    }

    /// The first set has no name in the text.
    pub fn mtype_name(&self, set: MtypeId) -> String {
        if set.index() == 0 { "plain `mtype`".to_string() } else { format!("`{}`", self.mtypes[set].name) }
    }

    pub fn mtype_set(&self, e: &ast::Expr) -> Option<MtypeId> {
        match &e.kind {
            ExprKind::Paren(e) => self.mtype_set(e),
            ExprKind::Var(v) => self.mtype_set_of(v),
            _ => None,
        }
    }

    pub fn mtype_set_of(&self, v: &VarRef) -> Option<MtypeId> {
        match self.lookup(&v.parts[0].name.name)? {
            Meaning::Mtype(set, _) => Some(set),
            Meaning::Var(scope, id) if v.parts.len() == 1 => match &self.var(scope, id).shape {
                Shape::Scalar(Type::Mtype(set)) => Some(*set),
                Shape::Array(_, of) => match **of {
                    Shape::Scalar(Type::Mtype(set)) => Some(set),
                    _ => None,
                },
                _ => None,
            },
            Meaning::Var(..) => None,
        }
    }
}

/// For polls and events, which assign nothing: a variable in them matches whatever is there.
pub(super) fn without_binding(args: Vec<Pattern>) -> Vec<Pattern> {
    args.into_iter().map(|p| if matches!(p, Pattern::Bind(_)) { Pattern::Any } else { p }).collect()
}

fn is_any(e: &ast::Expr) -> bool {
    match &e.kind {
        ExprKind::Paren(e) => is_any(e),
        ExprKind::Var(v) => v.parts.len() == 1 && v.parts[0].index.is_none() && &*v.parts[0].name.name == "_",
        _ => false,
    }
}

fn last(v: &VarRef) -> &str {
    v.parts.last().map_or("", |p| &p.name.name)
}
