//! Statements and bodies.

use crate::print::Stmt;
use crate::world::{Field, Gen, Proc, Start, Ty, Var};

/// Where a statement stands, and what that forbids.
#[derive(Clone, Copy)]
pub(crate) struct Ctx {
    /// The proctype being written, or `usize::MAX` for text that belongs to none.
    pub p: usize,
    pub atomic: bool,
    pub dstep: bool,
    pub inline: bool,
    /// It may not block: the inside of a d_step, and inlines that may be called there.
    pub nonblock: bool,
    /// Only selections with one executable option, for a D_proctype.
    pub deterministic: bool,
    /// It guards an option, or an escape.
    pub first: bool,
    /// No `else` among the guards: a state may inherit only one.
    pub no_else: bool,
    /// No channel operation among the guards: SPIN refuses `else` beside them in a model with xr/xs.
    pub no_io: bool,
    /// A label may not stand here: first in a block.
    pub no_label: bool,
    pub loops: usize,
    pub depth: usize,
    pub unless: usize,
    /// The first statement of the braces that an `unless` guards.
    pub main_block: bool,
    /// Inside an escape.
    pub escape: bool,
    /// An option that starts an escape: where a rendez-vous send there finds no partner, SPIN goes on with the guarded
    /// statements whatever the other options do.
    pub escape_option: bool,
}

impl Ctx {
    pub fn body(p: usize) -> Ctx {
        Ctx {
            p,
            atomic: false,
            dstep: false,
            inline: false,
            nonblock: false,
            deterministic: false,
            first: false,
            no_else: false,
            no_io: false,
            no_label: false,
            loops: 0,
            depth: 0,
            unless: 0,
            main_block: false,
            escape: false,
            escape_option: false,
        }
    }

    /// The context of a statement that is not the first of its sequence.
    fn later(self) -> Ctx {
        Ctx {
            first: false,
            no_else: false,
            no_io: false,
            no_label: false,
            main_block: false,
            escape_option: false,
            ..self
        }
    }

    fn deeper(self) -> Ctx {
        Ctx { depth: self.depth + 1, main_block: false, ..self }
    }

    /// Whether a nested `unless` here has the order of escapes that SPIN documents: 6.5.2 tries the inner one first when
    /// the inner `unless` starts a block or an atomic of its own, unless that block is what the outer one guards.
    fn nests(&self) -> bool {
        self.unless == 0 || self.main_block || !self.no_label
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Assign,
    IncDec,
    Condition,
    Send,
    Receive,
    GuardedIo,
    If,
    Do,
    BoundedDo,
    For,
    ForChan,
    Select,
    Atomic,
    DStep,
    Block,
    Unless,
    Goto,
    Break,
    Assert,
    Printf,
    Skip,
    Timeout,
    Inline,
    Run,
    Priority,
    Declare,
    ElseAlone,
    CppIf,
    Comment,
}

impl Gen<'_> {
    pub fn proc_body(&mut self, p: usize) -> Vec<Stmt> {
        let ctx = Ctx { deterministic: self.procs[p].deterministic, ..Ctx::body(p) };
        self.budget = if self.instances > 2 { self.rng.range(1, 3) } else { self.rng.range(3, 6) };
        let mut body = self.first_runs(p);
        match self.rng.weighted(&[25, 62, 13]) {
            0 => {
                let n = self.rng.range(2, 5);
                body.extend(self.sequence(&ctx, n));
            }
            1 => {
                if self.rng.chance(35) {
                    body.extend(self.sequence(&ctx, 1));
                }
                let looping = self.selection("do", &ctx);
                let looping = if self.rng.chance(75) {
                    // Waiting for ever in the main loop is then no error.
                    self.uses("end-label");
                    Stmt::Labelled("end_wait".into(), Box::new(looping))
                } else {
                    self.label(looping, &ctx)
                };
                body.push(looping);
                if self.rng.chance(30) {
                    let after = self.sequence(&ctx, 1);
                    if after.first().is_some_and(starts_d_step) {
                        body.push(self.assignment(&ctx));
                    }
                    body.extend(after);
                }
            }
            _ => {
                let n = self.rng.range(1, 3);
                body.extend(self.sequence(&ctx, n));
                if let Some(back) = self.jump(&ctx) {
                    body.push(back);
                }
            }
        }
        while self.rng.chance(70)
            && let Some(stmt) = self.duty(&ctx)
        {
            // It may use what the body declares on its way, so it goes in front only of a body that declares nothing.
            let at = if self.block_names.is_empty() { self.rng.below(body.len() + 1) } else { body.len() };
            match body.iter_mut().find_map(main_loop) {
                Some(options) if !ctx.deterministic && !self.has_xrxs && self.block_names.is_empty() => {
                    options.push(vec![stmt])
                }
                _ => body.insert(at, stmt),
            }
        }
        // Labels that were promised and not placed.
        let open = (0..self.procs[p].labels.len()).filter(|&i| !self.procs[p].labels[i].1).collect::<Vec<_>>();
        for (k, &i) in open.iter().enumerate() {
            let name = self.procs[p].labels[i].0.clone();
            self.procs[p].labels[i].1 = true;
            if k + 1 == open.len() && self.rng.chance(30) {
                self.uses("bare-label");
                body.push(Stmt::BareLabel(name));
            } else {
                let stmt = self.assignment(&ctx);
                body.push(Stmt::Labelled(name, Box::new(stmt)));
            }
        }
        if body.is_empty() {
            body.push(Stmt::plain("skip"));
        }
        let mut all = self.procs[p].decls.drain(..).map(Stmt::Decl).collect::<Vec<_>>();
        if !self.procs[p].counters.is_empty() {
            all.push(Stmt::Decl(format!("byte {}", self.procs[p].counters.join(", "))));
        }
        if let Some((c, sender, receiver, honest)) = self.exclusive {
            let name = self.chans[c].text.clone();
            if sender == p && (honest || self.rng.chance(60)) {
                self.uses("xs");
                all.push(Stmt::Decl(format!("xs {name}")));
            }
            if receiver == p && (honest || self.rng.chance(60)) {
                self.uses("xr");
                all.push(Stmt::Decl(format!("xr {name}")));
            }
        }
        all.extend(body);
        all
    }

    /// A proctype that is not active has to be started by somebody.
    fn first_runs(&mut self, p: usize) -> Vec<Stmt> {
        let runner = (0..self.procs.len()).rev().find(|&q| self.procs[q].start != Start::Run);
        if runner != Some(p) || !self.procs.iter().any(|q| q.start == Start::Run) {
            return Vec::new();
        }
        let ctx = Ctx::body(p);
        let n = if matches!(self.procs[p].start, Start::Active(2)) { 1 } else { self.rng.range(1, 2) };
        let runs = (0..n).filter_map(|_| self.run(&ctx)).map(Stmt::Plain).collect::<Vec<_>>();
        if n > 1 && self.on.has("atomic") && self.rng.chance(50) {
            self.uses("atomic");
            return vec![Stmt::Block("atomic".into(), runs)];
        }
        runs
    }

    pub fn sequence(&mut self, ctx: &Ctx, n: usize) -> Vec<Stmt> {
        let mut out: Vec<Stmt> = Vec::new();
        for i in 0..n {
            let at = if i == 0 { *ctx } else { ctx.later() };
            let stmt = self.statement(&at);
            let jumped = is_jump(&stmt);
            if starts_d_step(&stmt) && out.last().is_some_and(has_loop) {
                let between = self.assignment(&at);
                out.push(between);
            }
            let stmt = self.label(stmt, &at);
            let stmt = self.may_wait(stmt, &at);
            out.push(stmt);
            if jumped {
                break;
            }
        }
        out
    }

    /// Perhaps puts a promised label in front.
    fn label(&mut self, stmt: Stmt, ctx: &Ctx) -> Stmt {
        if ctx.first
            || ctx.no_label
            || ctx.dstep
            || ctx.inline
            || ctx.p == usize::MAX
            || !self.rng.chance(35)
            || !takes_label(&stmt)
            || (matches!(stmt, Stmt::Unless(..)) && (ctx.unless > 0 || starts_unless(&stmt)) && !self.options.disputed)
        {
            return stmt;
        }
        // The statement is already written, so a jump to this label inside it counts as a jump forwards; it would be one
        // backwards, and not preceded by a visible step.
        let labels = &self.procs[ctx.p].labels;
        let Some(i) = labels.iter().position(|(name, placed)| !placed && !mentions(&stmt, name)) else { return stmt };
        let second =
            labels.iter().skip(i + 1).position(|(name, placed)| !placed && !mentions(&stmt, name)).map(|k| k + i + 1);
        self.procs[ctx.p].labels[i].1 = true;
        if ctx.atomic {
            self.uses("label-in-atomic");
        }
        let name = self.procs[ctx.p].labels[i].0.clone();
        if let Some(j) = second
            && self.rng.chance(12)
            && matches!(stmt, Stmt::Plain(_) | Stmt::Choice(..))
            // SPIN puts two steps in front of a jump with two labels when another process refers to the second.
            && !is_jump(&stmt)
        {
            self.uses("label-pair");
            self.procs[ctx.p].labels[j].1 = true;
            let other = self.procs[ctx.p].labels[j].0.clone();
            return Stmt::Labelled(name, Box::new(Stmt::Labelled(other, Box::new(stmt))));
        }
        Stmt::Labelled(name, Box::new(stmt))
    }

    /// Perhaps marks a statement that can block as a place to wait for ever: most models would end in a deadlock.
    fn may_wait(&mut self, stmt: Stmt, ctx: &Ctx) -> Stmt {
        let unmarked = ctx.first || ctx.no_label || ctx.dstep || ctx.inline || ctx.p == usize::MAX;
        let blocks = match &stmt {
            Stmt::Plain(text) => mentions_io(&stmt) || text.starts_with('(') || text.contains("timeout"),
            Stmt::Choice(_, options) => !options.iter().any(|o| matches!(&o[0], Stmt::Plain(t) if t == "else")),
            _ => false,
        };
        if unmarked || !blocks || !self.rng.chance(70) {
            return stmt;
        }
        self.uses("end-label");
        self.waits += 1;
        Stmt::Labelled(format!("end_w{}", self.waits), Box::new(stmt))
    }

    fn statement(&mut self, ctx: &Ctx) -> Stmt {
        if let Some(kind) = self.fault
            && !ctx.first
            && !ctx.inline
            && !ctx.dstep
            && !ctx.deterministic
            && self.rng.chance(25)
            && let Some(stmt) = self.fault_stmt(kind, ctx)
        {
            return stmt;
        }
        if !ctx.inline
            && !ctx.nonblock
            && !ctx.dstep
            && !ctx.no_io
            && self.rng.chance(if ctx.first { 60 } else { 12 })
            && let Some(stmt) = self.duty(ctx)
        {
            return stmt;
        }
        for _ in 0..20 {
            let kind = self.draw_kind(ctx);
            if let Some(stmt) = self.write(kind, ctx) {
                return stmt;
            }
        }
        self.assignment(ctx)
    }

    /// A send or receive that this proctype owes to one of the channels.
    fn duty(&mut self, ctx: &Ctx) -> Option<Stmt> {
        let i = self.duties.iter().position(|(p, ..)| *p == ctx.p)?;
        let (_, c, sends) = self.duties.remove(i);
        let chan = self.chans[c].clone();
        if sends { self.send_to(&chan, ctx) } else { self.receive_from(&chan, ctx, false) }
    }

    fn draw_kind(&mut self, ctx: &Ctx) -> Kind {
        let on = |g: &Self, name: &str, w: usize| if g.on.has(name) { w } else { 0 };
        let unless = |bad: bool, w: usize| if bad { 0 } else { w };
        let nested = unless(self.budget == 0 || ctx.depth > 3, 1);
        let io = unless(
            self.chans.is_empty() || ctx.no_io,
            if ctx.first {
                18
            } else if ctx.nonblock {
                0
            } else {
                7
            },
        );
        let in_proc = unless(ctx.inline || ctx.p == usize::MAX, 1);
        let guard = if ctx.first { 3 } else { 1 };
        let det = unless(ctx.deterministic, 1);
        let table = [
            (Kind::Assign, 30),
            (Kind::IncDec, 5),
            (Kind::Condition, unless(ctx.nonblock && !ctx.first, if ctx.first { 20 } else { 3 })),
            (Kind::Send, io),
            (Kind::Receive, io),
            (
                Kind::GuardedIo,
                unless(
                    self.chans.is_empty()
                        || ctx.no_else
                        || ctx.no_io
                        || self.has_xrxs
                        || (!ctx.nonblock && !ctx.deterministic),
                    10,
                ) * nested,
            ),
            // In a d_step SPIN enters a selection that guards an option without asking whether it can move.
            (Kind::If, unless(ctx.first && ctx.dstep, 12) * nested),
            (Kind::Do, unless(ctx.nonblock || ctx.atomic || ctx.inline, 7) * nested),
            (Kind::BoundedDo, unless(!(ctx.atomic || ctx.dstep), 5) * nested * in_proc),
            (Kind::For, on(self, "for", 15) * nested * in_proc * unless(ctx.first, 1)),
            (
                Kind::ForChan,
                unless(self.structs.is_empty() || ctx.nonblock || ctx.dstep, 5)
                    * nested
                    * in_proc
                    * unless(ctx.first || self.has_xrxs, 1),
            ),
            (Kind::Select, on(self, "select", 6) * det * unless(ctx.first || ctx.inline, 1)),
            (Kind::Atomic, on(self, "atomic", unless(ctx.dstep, 15)) * nested),
            (Kind::DStep, on(self, "d_step", unless(ctx.dstep, 11)) * nested),
            (Kind::Block, unless(ctx.first, 2) * nested),
            (
                Kind::Unless,
                on(self, "unless", unless(ctx.first || ctx.nonblock || ctx.dstep || ctx.inline, 24))
                    * nested
                    * det
                    * unless(!ctx.nests() && !self.options.disputed, 1),
            ),
            (Kind::Goto, on(self, "goto", unless(ctx.dstep, 9)) * in_proc),
            (Kind::Break, unless(ctx.loops == 0, 6)),
            (Kind::Assert, on(self, "assert", unless(ctx.first, 14))),
            (Kind::Printf, on(self, "printf", unless(ctx.first, 6))),
            (Kind::Skip, unless(ctx.first, 2)),
            (Kind::Timeout, on(self, "timeout", unless(ctx.nonblock || ctx.dstep, 2 * guard))),
            (Kind::Inline, on(self, "inline", 12) * unless(ctx.inline, 1)),
            (Kind::Run, on(self, "run", unless(ctx.dstep || ctx.first, 5)) * in_proc),
            (Kind::Priority, on(self, "priority", unless(ctx.dstep, 8)) * in_proc),
            (Kind::Declare, on(self, "mid-declaration", 9) * in_proc),
            (Kind::ElseAlone, on(self, "else-alone", unless(ctx.first || ctx.dstep, 3))),
            (Kind::CppIf, on(self, "cpp-if", unless(ctx.first || ctx.inline, 3))),
            (Kind::Comment, on(self, "comment", unless(ctx.first || ctx.inline, 2))),
        ];
        let weights = table.map(|(_, w)| w);
        table[self.rng.weighted(&weights)].0
    }

    fn write(&mut self, kind: Kind, ctx: &Ctx) -> Option<Stmt> {
        let inside = ctx.deeper();
        match kind {
            Kind::Assign => Some(self.assignment(ctx)),
            Kind::IncDec => self.inc_dec(),
            Kind::Condition => Some(self.blocking_condition(ctx)),
            Kind::Send => self.send(ctx),
            Kind::Receive => self.receive(ctx),
            Kind::GuardedIo => self.guarded_io(ctx),
            Kind::If => Some(self.selection("if", ctx)),
            Kind::Do => Some(self.selection("do", ctx)),
            Kind::BoundedDo => {
                self.spend();
                self.uses("atomic-loop");
                let i = self.counter(ctx.p);
                let n = self.rng.range(1, 2);
                let mut body = vec![Stmt::Plain(format!("{i} < {n}"))];
                let len = self.rng.range(1, 2);
                let inner = Ctx { loops: ctx.loops + 1, ..inside.later() };
                body.push(Stmt::Plain(format!("{i}++")));
                body.extend(self.sequence(&inner, len));
                self.uses("do");
                self.uses("else");
                let looping = Stmt::Choice("do", vec![body, vec![Stmt::plain("else"), Stmt::plain("break")]]);
                Some(Stmt::Many(vec![Stmt::Plain(format!("{i} = 0")), looping]))
            }
            Kind::For => Some(self.for_loop(&inside)),
            Kind::ForChan => self.for_chan(&inside),
            Kind::Select => self.select(ctx),
            Kind::Atomic => {
                self.spend();
                self.uses("atomic");
                let n = self.rng.range(2, 3);
                let inner = Ctx { atomic: true, no_label: true, ..inside };
                let body = self.in_block(|g| {
                    let mut body = g.sequence(&inner, n);
                    g.no_last_jump(ctx, &mut body);
                    body
                });
                Some(Stmt::Block("atomic".into(), body))
            }
            Kind::DStep => {
                self.spend();
                self.uses("d_step");
                if ctx.first {
                    self.uses("d_step-guard");
                }
                let n = self.rng.range(1, 3);
                let inner =
                    Ctx { dstep: true, atomic: true, loops: 0, no_label: true, nonblock: ctx.nonblock, ..inside };
                let jumps = self.on.has("goto") && ctx.p != usize::MAX && !ctx.inline && self.rng.chance(30);
                let body = self.in_block(|g| {
                    let mut body = vec![g.d_step_start(&inner)];
                    let rest = Ctx { nonblock: true, ..inner.later() };
                    if jumps {
                        g.uses("d_step-goto");
                        g.uses("if");
                        g.uses("else");
                        g.waits += 1;
                        let label = format!("L_d{}", g.waits);
                        body.extend(g.sequence(&rest, n - 1));
                        // Selections between the jump and its label make SPIN take it for a jump into the d_step.
                        let skips = vec![Stmt::Plain(g.comparison()), Stmt::Plain(format!("goto {label}"))];
                        body.push(Stmt::Choice("if", vec![skips, vec![Stmt::plain("else")]]));
                        body.push(g.assignment(&rest));
                        let last = g.assignment(&rest);
                        body.push(Stmt::Labelled(label, Box::new(last)));
                        return body;
                    }
                    body.extend(g.sequence(&rest, n));
                    if body.last().is_some_and(has_loop) {
                        // SPIN loses the label behind a loop that ends a d_step.
                        body.push(g.assignment(&rest));
                    }
                    body
                });
                Some(Stmt::Block("d_step".into(), body))
            }
            Kind::Block => {
                self.spend();
                self.uses("block");
                let n = self.rng.range(1, 2);
                let inner = Ctx { no_label: true, ..inside };
                let body = self.in_block(|g| {
                    let mut body = g.sequence(&inner, n);
                    g.no_last_jump(ctx, &mut body);
                    // SPIN takes the end of a returning inline there for a jump out of the d_step.
                    if ctx.dstep && !g.options.disputed && body.last().is_some_and(|s| g.returns(s)) {
                        body.push(g.assignment(&inner.later()));
                    }
                    body
                });
                Some(Stmt::Block(String::new(), body))
            }
            Kind::Unless => Some(self.unless(&inside)),
            Kind::Goto => self.jump(ctx),
            Kind::Break => {
                if ctx.first && (!self.on.has("goto-guard") || self.overlooked(ctx)) {
                    return None;
                }
                self.uses(if ctx.first { "break-guard" } else { "break" });
                Some(Stmt::plain("break"))
            }
            Kind::Assert => {
                self.uses("assert");
                let no_io = Ctx { no_io: true, ..*ctx };
                // Mostly one that holds: a model in which everything fails tells little.
                let bounded = self.read(|v| !v.ty.is_signed() && !v.ty.is_mtype());
                Some(Stmt::Plain(match (self.rng.below(10), bounded) {
                    (0..=2, Some(v)) => format!("assert({v} < 5)"),
                    (3..=6, _) => format!("assert({} || {})", self.condition(&no_io, 1), self.comparison()),
                    _ => format!("assert({})", self.comparison()),
                }))
            }
            Kind::Printf => self.printf(ctx),
            Kind::Skip => {
                self.uses("skip");
                Some(if self.rng.chance(25) {
                    Stmt::Many(vec![Stmt::plain("skip"), Stmt::plain("skip")])
                } else {
                    Stmt::plain("skip")
                })
            }
            Kind::Timeout => {
                self.uses("timeout");
                Some(match self.rng.below(10) {
                    0 => Stmt::Plain(format!("(timeout && {})", self.comparison())),
                    1 => Stmt::Plain(format!("({} || timeout)", self.comparison())),
                    _ => Stmt::plain("timeout"),
                })
            }
            Kind::Inline => self.call(ctx),
            Kind::Run => self.run_statement(ctx),
            Kind::Priority => Some(self.change_priority(ctx)),
            Kind::Declare => self.declaration(ctx),
            Kind::ElseAlone => {
                self.uses("else-alone");
                Some(Stmt::plain("else"))
            }
            Kind::CppIf => {
                self.uses("cpp-if");
                let test = if self.macro_const.is_some() { "#if K == 2" } else { "#if 1 + 1 == 2" };
                let (yes, no) = (self.assignment(ctx), self.assignment(ctx));
                Some(Stmt::Many(vec![
                    Stmt::Verbatim(test.into()),
                    yes,
                    Stmt::Verbatim("#else".into()),
                    no,
                    Stmt::Verbatim("#endif".into()),
                    Stmt::plain("skip"),
                ]))
            }
            Kind::Comment => {
                let comment = if self.rng.chance(50) {
                    self.uses("comment-line");
                    "// a remark; with a separator"
                } else {
                    self.uses("comment-block");
                    "/* a remark { over\n   two lines } */"
                };
                let stmt = self.assignment(ctx);
                Some(Stmt::Many(vec![Stmt::Verbatim(comment.into()), stmt]))
            }
        }
    }

    /// SPIN counts atomic steps in its own way when a block inside an atomic ends in a jump, so there it does not.
    fn no_last_jump(&mut self, ctx: &Ctx, body: &mut Vec<Stmt>) {
        if ctx.atomic && body.last().is_some_and(is_jump) && !self.options.disputed {
            body.pop();
            body.push(self.assignment(ctx));
        }
    }

    pub fn spend(&mut self) {
        self.budget = self.budget.saturating_sub(1);
    }

    /// Runs `f` in a block of its own: names declared inside end with it.
    fn in_block<T>(&mut self, f: impl FnOnce(&mut Self) -> T) -> T {
        let (n, names) = (self.scope.len(), self.block_names.len());
        let result = f(self);
        self.scope.truncate(n);
        self.block_names.truncate(names);
        result
    }

    /// A variable for loops alone. Nothing else writes it, so the loop ends.
    fn counter(&mut self, p: usize) -> String {
        let name = format!("i{}", self.procs[p].counters.len());
        self.procs[p].counters.push(name.clone());
        name
    }

    fn value(&mut self, var: &Var, ctx: &Ctx) -> String {
        match var.ty {
            Ty::Bit | Ty::Bool => {
                if !var.in_array && self.on.has("truncation") && self.rng.chance(20)
                    || var.in_array && self.options.disputed && self.rng.chance(30)
                {
                    self.uses("truncation");
                    return self.number(ctx, 1);
                }
                match self.rng.below(4) {
                    0 => self.rng.below(2).to_string(),
                    1 => ["true", "false"][self.rng.below(2)].into(),
                    2 => format!("({})", self.condition(&Ctx { no_io: true, ..*ctx }, 0)),
                    _ => format!("{} & 1", self.number(ctx, 0)),
                }
            }
            Ty::Byte | Ty::Pid => {
                if self.on.has("truncation") && self.rng.chance(15) {
                    self.uses("truncation");
                    return format!("256 + {}", self.rng.below(var.modulus));
                }
                match self.rng.below(4) {
                    0 => self.rng.below(var.modulus).to_string(),
                    1 => format!(
                        "({} + 1) % {}",
                        if var.readable && !var.text.contains('\u{1}') {
                            var.text.clone()
                        } else {
                            self.number(ctx, 0)
                        },
                        var.modulus
                    ),
                    _ => format!("{} % {}", self.number(ctx, 2), var.modulus),
                }
            }
            Ty::Unsigned(bits) => {
                if self.rng.chance(50) {
                    return self.rng.below(1 << bits).to_string();
                }
                if self.on.has("truncation") {
                    self.uses("truncation");
                    return self.number(ctx, 1);
                }
                format!("{} % {}", self.number(ctx, 1), 1 << bits)
            }
            Ty::Short | Ty::Int => {
                if var.ty == Ty::Short && self.on.has("truncation") && self.rng.chance(15) {
                    self.uses("truncation");
                    return format!("65536 + {}", self.rng.below(2));
                }
                format!("{} % {}", self.signed(ctx, 2), var.modulus)
            }
            Ty::Mtype(set) => {
                let other = self.read(|v| v.ty == Ty::Mtype(set));
                match other {
                    Some(v) if self.rng.chance(30) => v,
                    _ => self.mtype_name(set),
                }
            }
        }
    }

    pub fn assignment(&mut self, ctx: &Ctx) -> Stmt {
        let Some(var) = self.writable(|_| true) else { return Stmt::plain("skip") };
        if let Some(inc) = self.macro_inc.clone()
            && var.ty == Ty::Byte
            && var.readable
            && !var.text.contains('\u{1}')
            && self.rng.chance(25)
        {
            return Stmt::Plain(format!("{inc}({})", var.text));
        }
        let value = self.value(&var, ctx);
        let place = self.fill(&var.text, false);
        Stmt::Plain(format!("{place} = {value}"))
    }

    /// Only where wrapping keeps the values few.
    fn inc_dec(&mut self) -> Option<Stmt> {
        let var = self.writable(|v| matches!(v.ty, Ty::Unsigned(_)) || v.ty.is_bit() && !v.in_array)?;
        self.uses("inc-dec");
        let op = *self.rng.pick(&["++", "--"]);
        Some(Stmt::Plain(format!("{}{op}", self.fill(&var.text, false))))
    }

    fn blocking_condition(&mut self, ctx: &Ctx) -> Stmt {
        if ctx.atomic && !ctx.first && !ctx.no_label && !ctx.dstep {
            self.uses("atomic-blocks");
        }
        let disputed = self.options.disputed;
        if self.on.has("poll")
            && !ctx.no_io
            && self.rng.chance(30)
            && let Some(chan) =
                self.channel(ctx, |c| (c.cap > 0 || disputed) && c.senders.is_none() && c.receivers.is_none())
        {
            let probe = *self.rng.pick(&["full", "empty", "nfull", "nempty"]);
            self.uses(probe);
            let place = self.fill(&chan.text, false);
            let more = match self.rng.below(4) {
                0 => format!(" && {}", self.comparison()),
                1 => format!(" || {}", self.comparison()),
                _ => String::new(),
            };
            return Stmt::Plain(if more.is_empty() {
                format!("{probe}({place})")
            } else {
                format!("({probe}({place}){more})")
            });
        }
        let cond = self.condition(ctx, 1);
        Stmt::Plain(if self.rng.chance(30) && !cond.starts_with('(') { format!("({cond})") } else { cond })
    }

    fn selection(&mut self, word: &'static str, ctx: &Ctx) -> Stmt {
        self.spend();
        self.uses(if word == "if" { "if" } else { "do" });
        if ctx.first {
            self.uses("nested-first");
        }
        let inner = ctx.deeper();
        let loops = if word == "do" { ctx.loops + 1 } else { ctx.loops };
        let inner = Ctx { loops, ..inner };
        if ctx.deterministic {
            // One test and its complement.
            let cond = self.condition(&Ctx { no_io: true, ..inner }, 0);
            let then = Ctx { ..inner.later() };
            let n = self.rng.range(1, 2);
            let mut yes = vec![Stmt::Plain(cond)];
            yes.extend(self.sequence(&then, n));
            if ctx.no_else {
                return Stmt::Choice(word, vec![yes]);
            }
            self.uses("else");
            let no = vec![
                Stmt::plain("else"),
                if word == "do" && self.rng.chance(60) { self.broken() } else { self.assignment(&then) },
            ];
            return Stmt::Choice(word, vec![yes, no]);
        }
        let must_else = ctx.nonblock && !(ctx.first && ctx.no_else);
        let has_else = must_else || (!ctx.no_else && self.rng.chance(if word == "if" { 52 } else { 36 }));
        let no_io = ctx.no_io || (has_else && self.has_xrxs);
        let n = self.rng.weighted(&[0, 25, 55, 20]).max(if has_else { 1 } else { usize::from(word == "do") + 1 });
        // At most one option may bring an inner `else` along.
        let carrier = if has_else || ctx.no_else || self.has_xrxs { usize::MAX } else { self.rng.below(n) };
        let names = self.block_names.len();
        let mut options = Vec::new();
        for i in 0..n {
            let guard = Ctx { first: true, no_else: i != carrier, no_io, no_label: true, ..inner };
            let mut option = if self.on.has("false-guard") && i > 0 && self.rng.chance(15) {
                self.uses("false-guard");
                vec![Stmt::plain("false")]
            } else {
                let first = self.guard(&guard, word);
                if is_jump(&first) {
                    options.push(vec![first]);
                    continue;
                }
                if has_else && !no_io && mentions_io(&first) {
                    self.uses("else-io");
                }
                vec![first]
            };
            let more = self.rng.weighted(&[20, 50, 30]);
            let rest = self.sequence(&inner.later(), more);
            if rest.first().is_some_and(starts_d_step) && has_loop(&option[0]) {
                option.push(self.assignment(&inner.later()));
            }
            option.extend(rest);
            options.push(option);
        }
        if word == "do" && ctx.loops == 0 && self.rng.chance(35) && !has_else {
            self.uses("break");
            let cond = self.comparison();
            options.push(vec![Stmt::Plain(cond), Stmt::plain("break")]);
        }
        if has_else {
            self.uses("else");
            let mut option = vec![Stmt::plain("else")];
            if word == "do" {
                option.push(if self.rng.chance(60) { self.broken() } else { self.assignment(&inner.later()) });
            } else {
                let more = self.rng.below(2);
                option.extend(self.sequence(&inner.later(), more));
            }
            // Not in front of a declaration that it may use.
            let at = if self.rng.chance(80) || self.block_names.len() > names {
                options.len()
            } else {
                self.rng.below(options.len() + 1)
            };
            options.insert(at, option);
        }
        Stmt::Choice(word, options)
    }

    fn broken(&mut self) -> Stmt {
        self.uses("break");
        Stmt::plain("break")
    }

    /// The first statement of an option. In a loop it must do something: SPIN refuses an option that only jumps back.
    fn guard(&mut self, ctx: &Ctx, word: &str) -> Stmt {
        if self.rng.chance(45) && !(ctx.nonblock && ctx.dstep && !ctx.first) {
            let stmt = self.blocking_condition(ctx);
            if word == "do" && matches!(&stmt, Stmt::Plain(t) if t.contains("true")) {
                return self.assignment(ctx);
            }
            return stmt;
        }
        self.statement(ctx)
    }

    /// The only statement of a d_step that may block.
    fn d_step_start(&mut self, ctx: &Ctx) -> Stmt {
        if !ctx.nonblock && !ctx.deterministic {
            match self.rng.below(4) {
                0 => return self.blocking_condition(ctx),
                1 => {
                    let p = ctx.p;
                    if let Some(chan) = self.channel(ctx, |c| c.receivers.as_ref().is_none_or(|s| s.contains(&p)))
                        && !(chan.cap == 0 && ctx.inline)
                        && let Some(stmt) = self.receive_from(&chan, ctx, true)
                    {
                        return stmt;
                    }
                }
                2 => {
                    if let Some(stmt) = self.send(ctx) {
                        return stmt;
                    }
                }
                _ => {}
            }
        }
        self.assignment(ctx)
    }

    fn for_loop(&mut self, ctx: &Ctx) -> Stmt {
        self.spend();
        let i = self.counter(ctx.p);
        let inner = Ctx { loops: ctx.loops + 1, no_label: true, ..ctx.later() };
        let mut arrays = self.arrays.clone();
        arrays.extend(self.procs[ctx.p].arrays.iter().cloned());
        let n = self.rng.range(1, 2);
        if !arrays.is_empty() && self.rng.chance(50) {
            self.uses("for-array");
            let array = self.rng.pick(&arrays).clone();
            let element = self.scope.iter().find(|v| v.text.starts_with(&format!("{}[", array.name))).cloned();
            let body = self.in_block(|g| {
                if let Some(v) = element {
                    g.scope.push(Var { text: format!("{}[{i}]", array.name), ..v });
                }
                g.sequence(&inner, n)
            });
            return Stmt::Block(format!("for ({i} in {})", array.name), body);
        }
        self.uses("for-range");
        let high = match self.read(|v| matches!(v.ty, Ty::Bit | Ty::Bool) && v.owner.is_none()) {
            Some(v) if self.rng.chance(15) => v,
            _ => self.rng.range(0, 2).to_string(),
        };
        // A literal range may not be empty.
        let low = if high == "0" { 0 } else { self.rng.below(2) };
        let body = self.in_block(|g| {
            g.scope.push(Var {
                text: i.clone(),
                ty: Ty::Byte,
                modulus: 3,
                readable: true,
                writable: false,
                in_array: false,
                owner: None,
            });
            g.sequence(&inner, n)
        });
        Stmt::Block(format!("for ({i} : {low} .. {high})"), body)
    }

    fn for_chan(&mut self, ctx: &Ctx) -> Option<Stmt> {
        let chan = self.channel(ctx, |c| c.cap > 0 && c.fields == [Field::Struct] && c.senders.is_none())?;
        self.spend();
        let var = self.message_struct(ctx)?;
        self.uses("for-chan");
        let inner = Ctx { loops: 0, no_label: true, ..ctx.later() };
        // No jumps in or out: the rotation would stop half way, with hidden counters left over.
        let body = self.in_block(|g| vec![g.assignment(&inner)]);
        Some(Stmt::Block(format!("for ({var} in {})", chan.text), body))
    }

    fn select(&mut self, ctx: &Ctx) -> Option<Stmt> {
        let var = self.writable(|v| {
            matches!(v.ty, Ty::Byte | Ty::Int | Ty::Short) && !v.text.contains(['\u{1}', '[', '.']) && v.readable
        })?;
        let high = self.rng.range(1, 2);
        // The walking form loops; in an atomic it ends because it counts up to a constant.
        if let Some(v) = self.read(|v| v.ty.is_bit()).filter(|_| self.rng.chance(25) && !ctx.dstep && !ctx.atomic) {
            self.uses("select-expr");
            return Some(Stmt::Plain(format!("select ({} : 0 .. {v} + 1)", var.text)));
        }
        self.uses("select");
        Some(Stmt::Plain(format!("select ({} : {} .. {high})", var.text, self.rng.below(2))))
    }

    fn unless(&mut self, ctx: &Ctx) -> Stmt {
        self.spend();
        self.uses("unless");
        if ctx.unless > 0 {
            self.uses("unless-nested");
        }
        if ctx.atomic {
            self.uses("unless-in-atomic");
        }
        let inner = Ctx { unless: ctx.unless + 1, no_label: true, ..ctx.later() };
        let n = self.rng.range(1, 3);
        // A nested one guards braces: around anything else SPIN tries the inner escape first.
        let shape = if ctx.unless > 0 && !self.options.disputed { 5 } else { self.rng.below(6) };
        let main = match shape {
            0 if self.on.has("atomic") => {
                self.uses("atomic");
                let inner = Ctx { atomic: true, ..inner };
                Stmt::Block("atomic".into(), self.in_block(|g| g.guarded(&inner, n)))
            }
            1 => self.selection("if", &Ctx { no_label: false, ..inner }),
            // SPIN calls the breaks of a guarded loop misplaced when it stands in an escape itself.
            2 if !ctx.atomic && !ctx.escape => self.selection("do", &Ctx { no_label: false, ..inner }),
            3 => self.assignment(&inner),
            _ => {
                let inner = Ctx { main_block: !ctx.no_label || ctx.main_block, ..inner };
                Stmt::Block(String::new(), self.in_block(|g| g.guarded(&inner, n)))
            }
        };
        let guard = Ctx { first: true, no_else: true, unless: ctx.unless, escape: true, no_label: true, ..ctx.later() };
        let escape = self.in_block(|g| {
            let first = g.escape_guard(&guard);
            if g.rng.chance(30) && matches!(first, Stmt::Plain(_)) {
                return first;
            }
            let mut body = vec![first];
            let more = g.rng.range(0, 2);
            body.extend(g.sequence(&guard.later(), more));
            Stmt::Block(String::new(), body)
        });
        Stmt::Unless(Box::new(main), Box::new(escape))
    }

    /// What an `unless` guards. With a jump in front, SPIN sometimes lets the process stand still.
    fn guarded(&mut self, ctx: &Ctx, n: usize) -> Vec<Stmt> {
        let mut body = self.sequence(ctx, n);
        if body.first().is_some_and(is_jump) && !self.options.disputed {
            body.insert(0, self.assignment(ctx));
        }
        body
    }

    fn escape_guard(&mut self, ctx: &Ctx) -> Stmt {
        let p = ctx.p;
        match self.rng.below(5) {
            0 => {
                if let Some(chan) =
                    self.channel(ctx, |c| c.cap == 0 && c.senders.as_ref().is_none_or(|s| s.contains(&p)))
                    && let Some(stmt) = self.send_to(&chan, ctx)
                {
                    self.uses("unless-rv-send");
                    return stmt;
                }
            }
            1 => {
                if let Some(chan) = self.channel(ctx, |c| c.cap == 0)
                    && let Some(stmt) = self.receive_from(&chan, ctx, false)
                {
                    self.uses("unless-rv-receive");
                    return stmt;
                }
            }
            2 => {
                if let Some(stmt) = self.receive(ctx) {
                    return stmt;
                }
            }
            3 if self.budget > 0 => return self.selection("if", &Ctx { escape_option: true, ..*ctx }),
            _ => {}
        }
        self.blocking_condition(ctx)
    }

    /// pan overlooks an option that only jumps when it looks for nondeterminism.
    fn overlooked(&self, ctx: &Ctx) -> bool {
        self.procs.get(ctx.p).is_some_and(Proc::is_d) && !self.options.disputed
    }

    fn jump(&mut self, ctx: &Ctx) -> Option<Stmt> {
        if ctx.p == usize::MAX {
            return None;
        }
        let proc = &self.procs[ctx.p];
        let back = proc.jumps_back && !ctx.atomic;
        let targets = proc.labels.iter().filter(|(_, placed)| !placed || back).cloned().collect::<Vec<_>>();
        if targets.is_empty() {
            return None;
        }
        let (name, placed) = self.rng.pick(&targets).clone();
        self.uses("goto");
        let jump = Stmt::Plain(format!("goto {name}"));
        if placed {
            self.uses("goto-back");
            let step = self.assignment(ctx);
            return Some(Stmt::Many(vec![step, jump]));
        }
        if ctx.first {
            if !self.on.has("goto-guard") || self.overlooked(ctx) {
                return None;
            }
            self.uses("goto-guard");
        }
        Some(jump)
    }
}

/// The options of a `do`, labelled or not.
fn main_loop(stmt: &mut Stmt) -> Option<&mut Vec<Vec<Stmt>>> {
    match stmt {
        Stmt::Choice("do", options) => Some(options),
        Stmt::Labelled(_, inner) => main_loop(inner),
        _ => None,
    }
}

/// The name a place starts with: SPIN refuses the same variable twice in a receive.
pub(crate) fn base(text: &str) -> String {
    text.split(['[', '.']).next().unwrap_or_default().to_string()
}

fn is_jump(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Plain(text) => text == "break" || text.starts_with("goto "),
        Stmt::Many(inner) => inner.last().is_some_and(is_jump),
        _ => false,
    }
}

/// Whether a label may stand in front.
fn takes_label(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Decl(_) | Stmt::Verbatim(_) => false,
        Stmt::Many(inner) => inner.first().is_some_and(takes_label),
        // SPIN takes a jump to `L: d_step {..}` for one into the d_step.
        Stmt::Block(head, body) => head != "d_step" && !body.first().is_some_and(starts_d_step),
        Stmt::Unless(main, _) => matches!(**main, Stmt::Block(..)) && takes_label(main),
        _ => true,
    }
}

/// Whether it contains a loop. SPIN takes the `break` of a loop in front of a d_step for a jump into the d_step.
fn has_loop(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Choice("do", _) => true,
        Stmt::Choice(_, options) => options.iter().flatten().any(has_loop),
        Stmt::Block(head, body) => head.starts_with("for") || body.iter().any(has_loop),
        Stmt::Many(body) => body.iter().any(has_loop),
        Stmt::Unless(a, b) => has_loop(a) || has_loop(b),
        Stmt::Labelled(_, inner) => has_loop(inner),
        // A select walks, with a loop of its own.
        Stmt::Plain(text) => text.starts_with("select"),
        Stmt::Decl(_) | Stmt::BareLabel(_) | Stmt::Verbatim(_) => false,
    }
}

/// Whether it is an `unless` whose guarded block starts with another.
fn starts_unless(stmt: &Stmt) -> bool {
    let Stmt::Unless(main, _) = stmt else { return false };
    matches!(&**main, Stmt::Block(_, body) if matches!(body.first(), Some(Stmt::Unless(..))))
}

fn starts_d_step(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Block(head, body) => head == "d_step" || body.first().is_some_and(starts_d_step),
        Stmt::Many(body) => body.first().is_some_and(starts_d_step),
        Stmt::Unless(main, _) | Stmt::Labelled(_, main) => starts_d_step(main),
        _ => false,
    }
}

/// Whether a jump to the label occurs in the statement.
fn mentions(stmt: &Stmt, label: &str) -> bool {
    match stmt {
        Stmt::Plain(text) => *text == format!("goto {label}"),
        Stmt::Block(_, body) | Stmt::Many(body) => body.iter().any(|s| mentions(s, label)),
        Stmt::Choice(_, options) => options.iter().flatten().any(|s| mentions(s, label)),
        Stmt::Unless(a, b) => mentions(a, label) || mentions(b, label),
        Stmt::Labelled(_, s) => mentions(s, label),
        Stmt::Decl(_) | Stmt::BareLabel(_) | Stmt::Verbatim(_) => false,
    }
}

fn mentions_io(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Plain(text) if text.contains('?') || text.split('!').nth(1).is_some_and(|rest| !rest.starts_with('=')) && !text.contains('(') && !text.starts_with('!'))
}
