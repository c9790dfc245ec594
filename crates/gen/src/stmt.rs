//! Statements and bodies.

use crate::compound::{has_loop, is_jump, main_loop, mentions, mentions_io, starts_d_step, starts_unless, takes_label};
use crate::print::Stmt;
use crate::world::{Gen, Start, Ty, Var};

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
    pub fn later(self) -> Ctx {
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

    pub fn deeper(self) -> Ctx {
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

    pub fn statement(&mut self, ctx: &Ctx) -> Stmt {
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
    pub fn in_block<T>(&mut self, f: impl FnOnce(&mut Self) -> T) -> T {
        let (n, names) = (self.scope.len(), self.block_names.len());
        let result = f(self);
        self.scope.truncate(n);
        self.block_names.truncate(names);
        result
    }

    /// A variable for loops alone. Nothing else writes it, so the loop ends.
    pub fn counter(&mut self, p: usize) -> String {
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

    pub fn blocking_condition(&mut self, ctx: &Ctx) -> Stmt {
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
}

/// The name a place starts with: SPIN refuses the same variable twice in a receive.
pub(crate) fn base(text: &str) -> String {
    text.split(['[', '.']).next().unwrap_or_default().to_string()
}
