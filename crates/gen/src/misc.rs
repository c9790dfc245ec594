//! Starting processes, calling inlines, declaring in mid-body, printing, and going wrong on purpose.

use crate::print::Stmt;
use crate::stmt::Ctx;
use crate::world::{Gen, Param, Proc, Start, Ty, Var};

impl Gen<'_> {
    pub fn run(&mut self, ctx: &Ctx) -> Option<String> {
        let targets =
            (0..self.procs.len()).filter(|&q| self.procs[q].start == Start::Run && q != ctx.p).collect::<Vec<_>>();
        if targets.is_empty() {
            return None;
        }
        let q = *self.rng.pick(&targets);
        self.instances += if let Start::Active(k) = self.procs[ctx.p].start { k } else { 1 };
        self.uses("run");
        let kinds = self.procs[q].params.iter().map(|(_, k)| matches!(k, Param::Chan)).collect::<Vec<_>>();
        let mut args = Vec::new();
        for is_chan in kinds {
            self.uses("run-args");
            args.push(if is_chan {
                // A child outlives no parent, so the parent's own channel is safe with it.
                let own = self.chans.iter().any(|c| c.text == "lc" && c.local_to == Some(ctx.p));
                if own && self.rng.chance(50) { "lc".into() } else { self.referable()? }
            } else if self.rng.chance(60) {
                self.rng.below(2).to_string()
            } else {
                format!("{} % 2", self.number(ctx, 1))
            });
        }
        // The child knows its priority in a parameter: see `change_priority`.
        let mut clause = String::new();
        if self.on.has("priority") {
            let mut known = 0;
            if self.rng.chance(40) {
                self.uses("run-priority");
                known = self.rng.range(1, 3);
                clause = format!(" priority {known}");
            }
            args.insert(0, known.to_string());
        }
        Some(format!("run {}({}){clause}", self.procs[q].name, args.join(", ")))
    }

    /// Sets a priority and notes it in a variable: pan does not always compare priorities, so that states that differ
    /// in nothing else would be one to it. Every process notes its own in `pq`; `pz` is for the process 0.
    pub fn change_priority(&mut self, ctx: &Ctx) -> Stmt {
        let value = self.rng.range(1, 3);
        let zero = (0..self.procs.len()).find(|&p| self.procs[p].start != Start::Run);
        let zero = zero.filter(|&p| matches!(self.procs[p].start, Start::Active(1) | Start::Init));
        let (set, note) = match (self.rng.below(10), zero) {
            (0..=2, Some(zero)) if zero != ctx.p => {
                self.uses("set_priority");
                (format!("set_priority(0, {value})"), "pz")
            }
            (3..=6, _) => {
                self.uses("set_priority");
                (format!("set_priority(_pid, {value})"), if zero == Some(ctx.p) { "pz" } else { "pq" })
            }
            _ => {
                self.uses("_priority");
                (format!("_priority = {value}"), if zero == Some(ctx.p) { "pz" } else { "pq" })
            }
        };
        if self.options.disputed {
            return Stmt::Plain(set);
        }
        self.uses("d_step");
        Stmt::Block("d_step".into(), vec![Stmt::Plain(set), Stmt::Plain(format!("{note} = {value}"))])
    }

    /// Whether the statement calls an inline for its value.
    pub fn returns(&self, stmt: &Stmt) -> bool {
        matches!(stmt, Stmt::Plain(text) if self.inlines.iter().any(|i| i.returns && text.contains(&format!("= {}(", i.name))))
    }

    pub fn run_statement(&mut self, ctx: &Ctx) -> Option<Stmt> {
        // The children run nobody, so the number of processes is bounded even where this repeats.
        if self.procs[ctx.p].start == Start::Run {
            return None;
        }
        let run = self.run(ctx)?;
        let target = self.writable(|v| matches!(v.ty, Ty::Byte | Ty::Pid | Ty::Int) && v.readable);
        let stmt = match target {
            Some(v) if self.rng.chance(40) && !run.contains("priority") => {
                self.uses("run-in-assignment");
                let place = self.fill(&v.text, true);
                format!("{place} = {run}")
            }
            _ => run,
        };
        if ctx.loops == 0 && !self.procs[ctx.p].jumps_back && self.instances <= 4 {
            return Some(Stmt::Plain(stmt));
        }
        self.uses("run-repeated");
        self.uses("_nr_pr");
        self.uses("if");
        self.uses("else");
        self.spend();
        Some(Stmt::Choice("if", vec![vec![Stmt::plain("_nr_pr < 3"), Stmt::Plain(stmt)], vec![Stmt::plain("else")]]))
    }

    pub fn call(&mut self, ctx: &Ctx) -> Option<Stmt> {
        let usable = (0..self.inlines.len())
            .filter(|&i| {
                let refused = ctx.nonblock
                    || ctx.dstep
                    || ctx.first
                    || ctx.no_io
                    || self.procs.get(ctx.p).is_some_and(Proc::is_d);
                !(self.inlines[i].uses_io && refused)
            })
            .collect::<Vec<_>>();
        if usable.is_empty() {
            return None;
        }
        let i = *self.rng.pick(&usable);
        let returns = self.inlines[i].returns;
        // An inline's body may start with a selection with its own else.
        if !returns && (ctx.first || ctx.deterministic) {
            return None;
        }
        let params = self.inlines[i].params.clone();
        let mut args = Vec::new();
        for writable in params {
            args.push(if writable {
                let var = self.writable(|v| matches!(v.ty, Ty::Byte) && v.readable)?;
                self.fill(&var.text, true)
            } else if self.rng.chance(50) {
                self.rng.below(2).to_string()
            } else {
                self.read(|v| v.ty == Ty::Byte)?
            });
        }
        let name = self.inlines[i].name.clone();
        if returns {
            let var = self.writable(|v| matches!(v.ty, Ty::Byte | Ty::Int) && v.readable)?;
            self.uses("inline-return");
            let place = self.fill(&var.text, true);
            return Some(Stmt::Plain(format!("{place} = {name}({})", args.join(", "))));
        }
        Some(Stmt::Plain(format!("{name}({})", args.join(", "))))
    }

    pub fn declaration(&mut self, ctx: &Ctx) -> Option<Stmt> {
        if ctx.first {
            self.uses("declaration-guard");
        }
        let ty = *self.rng.pick(&[Ty::Byte, Ty::Bit, Ty::Int]);
        // The same name again where the earlier one has gone out of sight.
        let name =
            (0..).map(|k| format!("b{k}")).find(|n| !self.block_names.contains(n)).expect("names do not run out");
        if self.fresh > 0 && name == "b0" {
            self.uses("scope-reuse");
        }
        self.fresh += 1;
        self.block_names.push(name.clone());
        self.uses("mid-declaration");
        let word = self.type_name(ty);
        let init = match self.rng.below(3) {
            0 => String::new(),
            1 => format!(" = {}", self.rng.below(2)),
            _ => self.read(|v| v.ty.is_bit() || v.ty == Ty::Byte).map(|v| format!(" = {v}")).unwrap_or_default(),
        };
        self.scope.push(Var {
            text: name.clone(),
            ty,
            modulus: 2,
            readable: true,
            writable: true,
            in_array: false,
            owner: None,
        });
        Some(Stmt::Decl(format!("{word} {name}{init}")))
    }

    pub fn printf(&mut self, ctx: &Ctx) -> Option<Stmt> {
        if let Some(v) = self.read(|v| v.ty == Ty::Mtype(0))
            && self.rng.chance(50)
        {
            if self.rng.chance(50) {
                self.uses("printm");
                return Some(Stmt::Plain(format!("printm({v})")));
            }
            self.uses("printf");
            return Some(Stmt::Plain(format!("printf(\"{{%e; %%\\n\", {v})").replace('{', "")));
        }
        self.uses("printf");
        let _ = ctx;
        Some(match self.read(|v| !v.ty.is_mtype()) {
            Some(v) if self.rng.chance(70) => Stmt::Plain(format!("printf(\"value %d\\n\", {v})")),
            _ => Stmt::plain("printf(\"here :: -> ; done\\n\")"),
        })
    }

    /// A statement that can go wrong at run time.
    pub fn fault_stmt(&mut self, kind: &'static str, ctx: &Ctx) -> Option<Stmt> {
        let stmt = match kind {
            "fault-index" => {
                let array = self.arrays.first()?.clone();
                let by = self.read(|v| v.ty == Ty::Byte)?;
                let (name, size) = (array.name, array.size);
                match self.rng.below(3) {
                    0 => Stmt::Plain(format!("{name}[{by} + {}] = 1", size - 1)),
                    1 => Stmt::Plain(format!("{name}[{by} + {}] != 5", size - 1)),
                    _ => Stmt::Plain(format!("{name}[{by} - 1] = 0")),
                }
            }
            "fault-chan" => {
                let text = *self.rng.pick(&["none!1", "none?_", "len(none) == 0"]);
                Stmt::plain(text)
            }
            "fault-params" => {
                let text = *self.rng.pick(&["pair!1", "pair?_"]);
                if text == "pair?_" {
                    Stmt::Many(vec![Stmt::plain("pair!1, 0"), Stmt::plain(text)])
                } else {
                    Stmt::plain(text)
                }
            }
            "fault-d_step" if !ctx.inline => {
                self.uses("d_step");
                let cond = self.comparison();
                let first = self.assignment(&Ctx { dstep: true, ..*ctx });
                let last = self.assignment(&Ctx { dstep: true, ..*ctx });
                Stmt::Block("d_step".into(), vec![first, Stmt::Plain(cond), last])
            }
            "fault-rv-d_step" => {
                self.uses("d_step");
                let first = self.assignment(&Ctx { dstep: true, ..*ctx });
                Stmt::Block("d_step".into(), vec![first, Stmt::plain("meet!1"), Stmt::plain("skip")])
            }
            _ => return None,
        };
        self.uses(kind);
        self.fault = None;
        Some(stmt)
    }
}
