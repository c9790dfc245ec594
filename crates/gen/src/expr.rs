//! Expressions. Two kinds matter: those known to be nonnegative, fit for indexes and message fields, and the rest.

use crate::stmt::Ctx;
use crate::world::{Gen, Start, Ty, Var};

impl Gen<'_> {
    /// Fills the index holes of a variable's text.
    pub fn fill(&mut self, text: &str, constant: bool) -> String {
        let mut out = String::new();
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            if c != '\u{1}' {
                out.push(c);
                continue;
            }
            let size = chars.next().and_then(|d| d.to_digit(10)).expect("a hole names its size") as usize;
            let vars = self
                .scope
                .iter()
                .filter(|v| v.readable && !v.ty.is_signed() && !v.ty.is_mtype() && !v.text.contains('\u{1}'));
            let vars = vars.map(|v| v.text.clone()).collect::<Vec<_>>();
            if constant || vars.is_empty() || self.rng.chance(55) {
                out += &self.rng.below(size).to_string();
            } else {
                let v = self.rng.pick(&vars).clone();
                out += &format!("{v} % {size}");
            }
        }
        out
    }

    fn pick_var(&mut self, fits: impl Fn(&Var) -> bool) -> Option<Var> {
        let fitting = self.scope.iter().filter(|v| fits(v)).cloned().collect::<Vec<_>>();
        if fitting.is_empty() { None } else { Some(self.rng.pick(&fitting).clone()) }
    }

    /// A variable to read, as text.
    pub fn read(&mut self, fits: impl Fn(&Var) -> bool) -> Option<String> {
        let var = self.pick_var(|v| v.readable && fits(v))?;
        Some(self.fill(&var.text, false))
    }

    pub fn writable(&mut self, fits: impl Fn(&Var) -> bool) -> Option<Var> {
        self.pick_var(|v| v.writable && fits(v))
    }

    /// An expression that is never negative.
    pub fn number(&mut self, ctx: &Ctx, depth: usize) -> String {
        let number = self.drawn_number(ctx, depth);
        self.asking_number(ctx, number)
    }

    fn drawn_number(&mut self, ctx: &Ctx, depth: usize) -> String {
        let inner = if depth == 0 { 0 } else { 1 };
        match self.rng.weighted(&[
            25,
            45,
            14 * inner,
            8 * inner,
            6 * inner,
            6 * inner,
            8,
            5 * inner,
            if self.on.has("_nr_pr") { 8 } else { 0 },
            if self.on.has("priority") { 6 } else { 0 },
            if self.on.has("_last") { 8 } else { 0 },
            5,
            5 * inner,
            1,
        ]) {
            0 => match self.macro_const.clone() {
                Some((name, _)) if self.rng.chance(30) => name,
                _ => self.rng.below(4).to_string(),
            },
            1 => self.read(|v| !v.ty.is_signed() && !v.ty.is_mtype()).unwrap_or_else(|| "1".into()),
            2 => format!("({} + {})", self.number(ctx, depth - 1), self.number(ctx, depth - 1)),
            3 => format!("({} * {})", self.number(ctx, depth - 1), self.number(ctx, depth - 1)),
            4 => {
                let op = *self.rng.pick(&["/", "%"]);
                format!("({} {op} {})", self.number(ctx, depth - 1), self.rng.range(1, 3))
            }
            5 => {
                let op = *self.rng.pick(&["&", "|", "^"]);
                format!("({} {op} {})", self.number(ctx, depth - 1), self.number(ctx, depth - 1))
            }
            6 if ctx.p != usize::MAX => {
                self.uses("_pid");
                "_pid".into()
            }
            7 => {
                self.uses("conditional");
                let c = self.condition(ctx, 0);
                format!("({c} -> {} : {})", self.number(ctx, depth - 1), self.number(ctx, depth - 1))
            }
            8 => {
                self.uses("_nr_pr");
                "_nr_pr".into()
            }
            9 if ctx.p != usize::MAX => {
                if self.rng.chance(50) {
                    self.uses("get_priority");
                    "get_priority(_pid)".into()
                } else {
                    self.uses("_priority");
                    "_priority".into()
                }
            }
            10 => {
                self.uses("_last");
                "_last".into()
            }
            11 => self.length(ctx).unwrap_or_else(|| "2".into()),
            12 => {
                self.uses("precedence");
                let op = *self.rng.pick(&["+", "*", "&", "|", "==", "<", "<<", "&&"]);
                let op2 = *self.rng.pick(&["+", "*", "|", "==", "!=", ">="]);
                // Parentheses on the outside only: the tools must agree on what binds tighter. Shifts stay small
                // because the right operand is a digit in front of every looser operator.
                let right = if op == "<<" { "1".to_string() } else { self.number(ctx, 0) };
                let op2 = if op == "<<" && (op2 == "+" || op2 == "*") { "|" } else { op2 };
                format!("({} {op} {right} {op2} {})", self.number(ctx, 0), self.number(ctx, 0))
            }
            13 => {
                self.uses("char-constant");
                "'a'".into()
            }
            _ => self.rng.below(3).to_string(),
        }
    }

    /// Any integer expression.
    pub fn signed(&mut self, ctx: &Ctx, depth: usize) -> String {
        if !self.on.has("negative") {
            return self.number(ctx, depth);
        }
        match self.rng.below(5) {
            0 => {
                self.uses("negative");
                format!(
                    "({} - {})",
                    self.number(ctx, depth.saturating_sub(1)),
                    self.number(ctx, depth.saturating_sub(1))
                )
            }
            1 => {
                self.uses("negative");
                format!("-{}", self.number(ctx, 0))
            }
            2 => self.read(|v| v.ty.is_signed()).unwrap_or_else(|| "~1".into()),
            _ => self.number(ctx, depth),
        }
    }

    fn length(&mut self, ctx: &Ctx) -> Option<String> {
        let chan = self.channel(ctx, |c| c.senders.is_none() && c.receivers.is_none())?;
        self.uses("len");
        Some(format!("len({})", self.fill(&chan.text, false)))
    }

    /// A comparison of variables with constants: no channels, no processes, usable anywhere.
    pub fn comparison(&mut self) -> String {
        let Some(var) = self.pick_var(|v| v.readable) else { return "true".into() };
        let text = self.fill(&var.text, false);
        if let Ty::Mtype(set) = var.ty {
            let op = *self.rng.pick(&["==", "!="]);
            return format!("{text} {op} {}", self.mtype_name(set));
        }
        if var.ty.is_bit() && self.rng.chance(50) {
            return if self.rng.chance(50) { text } else { format!("!{text}") };
        }
        if let Some(is) = self.macro_is.clone()
            && self.rng.chance(25)
        {
            return format!("{is}({text}, {})", self.rng.below(2));
        }
        match self.rng.below(6) {
            0 => format!("{text} == {}", self.rng.below(2)),
            1 => format!("{text} != {}", self.rng.below(2)),
            2 => format!("{text} < {}", self.rng.range(1, 2)),
            3 => format!("{text} >= {}", self.rng.range(0, 1)),
            4 => format!("{text} <= {}", self.rng.below(2)),
            _ => format!("{} > {text}", self.rng.range(1, 2)),
        }
    }

    /// A condition; parenthesised when it is more than one operator.
    pub fn condition(&mut self, ctx: &Ctx, depth: usize) -> String {
        let condition = self.drawn_condition(ctx, depth);
        self.asking(ctx, condition)
    }

    fn drawn_condition(&mut self, ctx: &Ctx, depth: usize) -> String {
        let inner = if depth == 0 { 0 } else { 1 };
        let poll = if self.on.has("poll") && !ctx.no_io { 1 } else { 0 };
        let remote = if self.on.has("remote") && !ctx.dstep && !ctx.inline { 1 } else { 0 };
        match self.rng.weighted(&[60, 10 * inner, 6 * inner, 12 * poll, 8 * inner, 12 * remote, 3 * inner, 2]) {
            1 => {
                let op = *self.rng.pick(&["&&", "||"]);
                format!("({} {op} {})", self.condition(ctx, depth - 1), self.condition(ctx, depth - 1))
            }
            2 => format!("!({})", self.condition(ctx, depth - 1)),
            3 => self.poll(ctx).unwrap_or_else(|| self.comparison()),
            4 => {
                let op = *self.rng.pick(&["==", "!=", "<", "<=", ">", ">="]);
                format!("({} {op} {})", self.signed(ctx, 1), self.number(ctx, 1))
            }
            5 => self.remote(ctx).unwrap_or_else(|| self.comparison()),
            6 => format!("({} -> {} : {})", self.comparison(), self.comparison(), {
                self.uses("conditional");
                self.comparison()
            }),
            // Not as a guard: a loop that only jumps back is refused.
            7 if !ctx.first => "true".into(),
            _ => self.comparison(),
        }
    }

    /// A reference into a process declared earlier (SPIN knows no other), where its number is known to stay its own.
    pub fn remote(&mut self, ctx: &Ctx) -> Option<String> {
        let others =
            (0..self.procs.len()).filter(|&p| p < ctx.p && self.procs[p].start != Start::Init).collect::<Vec<_>>();
        if others.is_empty() {
            return None;
        }
        let p = *self.rng.pick(&others);
        let proc = &self.procs[p];
        let (pid, start) = (proc.pid, proc.start);
        let index = match pid {
            Some(pid) if self.rng.chance(60) => {
                let n = if let Start::Active(n) = start { n } else { 1 };
                let by = self.read(|v| matches!(v.ty, Ty::Bit | Ty::Bool | Ty::Byte) && !v.text.contains('\u{1}'));
                match by {
                    Some(v) if self.rng.chance(30) => {
                        self.uses("remote-index");
                        format!("[{pid} + {v} % {n}]")
                    }
                    _ => format!("[{}]", pid + self.rng.below(n)),
                }
            }
            _ => String::new(),
        };
        let proc = &self.procs[p];
        let labels = proc.labels.iter().map(|(l, _)| l.clone()).collect::<Vec<_>>();
        let locals = proc
            .locals
            .iter()
            .filter(|v| !v.text.contains('.') && !v.ty.is_mtype())
            .map(|v| v.text.clone())
            .collect::<Vec<_>>();
        let name = proc.name.clone();
        if !labels.is_empty() && (locals.is_empty() || self.rng.chance(60)) {
            self.uses("remote-label");
            return Some(format!("{name}{index}@{}", self.rng.pick(&labels)));
        }
        if locals.is_empty() {
            return None;
        }
        self.uses("remote-variable");
        let local = self.rng.pick(&locals).clone();
        let local = self.fill(&local, true);
        Some(format!("({name}{index}:{local} == {})", self.rng.below(2)))
    }
}
