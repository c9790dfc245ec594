//! Statements with others inside: selections, loops, `unless`; and jumps between them.
//!
//! `stmt` draws which statement is written and calls these. The functions below ask of a statement that is written what
//! may stand in front of it, behind it or around it.

use crate::print::Stmt;
use crate::stmt::Ctx;
use crate::world::{Field, Gen, Proc, Ty, Var};

impl Gen<'_> {
    pub fn selection(&mut self, word: &'static str, ctx: &Ctx) -> Stmt {
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
    pub fn d_step_start(&mut self, ctx: &Ctx) -> Stmt {
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

    pub fn for_loop(&mut self, ctx: &Ctx) -> Stmt {
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

    pub fn for_chan(&mut self, ctx: &Ctx) -> Option<Stmt> {
        let chan = self.channel(ctx, |c| c.cap > 0 && c.fields == [Field::Struct] && c.senders.is_none())?;
        self.spend();
        let var = self.message_struct(ctx)?;
        self.uses("for-chan");
        let inner = Ctx { loops: 0, no_label: true, ..ctx.later() };
        // No jumps in or out: the rotation would stop half way, with hidden counters left over.
        let body = self.in_block(|g| vec![g.assignment(&inner)]);
        Some(Stmt::Block(format!("for ({var} in {})", chan.text), body))
    }

    pub fn select(&mut self, ctx: &Ctx) -> Option<Stmt> {
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

    pub fn unless(&mut self, ctx: &Ctx) -> Stmt {
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
    pub fn overlooked(&self, ctx: &Ctx) -> bool {
        self.procs.get(ctx.p).is_some_and(Proc::is_d) && !self.options.disputed
    }

    pub fn jump(&mut self, ctx: &Ctx) -> Option<Stmt> {
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
pub(crate) fn main_loop(stmt: &mut Stmt) -> Option<&mut Vec<Vec<Stmt>>> {
    match stmt {
        Stmt::Choice("do", options) => Some(options),
        Stmt::Labelled(_, inner) => main_loop(inner),
        _ => None,
    }
}

pub(crate) fn is_jump(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Plain(text) => text == "break" || text.starts_with("goto "),
        Stmt::Many(inner) => inner.last().is_some_and(is_jump),
        _ => false,
    }
}

/// Whether a label may stand in front.
pub(crate) fn takes_label(stmt: &Stmt) -> bool {
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
pub(crate) fn has_loop(stmt: &Stmt) -> bool {
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
pub(crate) fn starts_unless(stmt: &Stmt) -> bool {
    let Stmt::Unless(main, _) = stmt else { return false };
    matches!(&**main, Stmt::Block(_, body) if matches!(body.first(), Some(Stmt::Unless(..))))
}

pub(crate) fn starts_d_step(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Block(head, body) => head == "d_step" || body.first().is_some_and(starts_d_step),
        Stmt::Many(body) => body.first().is_some_and(starts_d_step),
        Stmt::Unless(main, _) | Stmt::Labelled(_, main) => starts_d_step(main),
        _ => false,
    }
}

/// Whether a jump to the label occurs in the statement.
pub(crate) fn mentions(stmt: &Stmt, label: &str) -> bool {
    match stmt {
        Stmt::Plain(text) => *text == format!("goto {label}"),
        Stmt::Block(_, body) | Stmt::Many(body) => body.iter().any(|s| mentions(s, label)),
        Stmt::Choice(_, options) => options.iter().flatten().any(|s| mentions(s, label)),
        Stmt::Unless(a, b) => mentions(a, label) || mentions(b, label),
        Stmt::Labelled(_, s) => mentions(s, label),
        Stmt::Decl(_) | Stmt::BareLabel(_) | Stmt::Verbatim(_) => false,
    }
}

pub(crate) fn mentions_io(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Plain(text) if text.contains('?') || text.split('!').nth(1).is_some_and(|rest| !rest.starts_with('=')) && !text.contains('(') && !text.starts_with('!'))
}
