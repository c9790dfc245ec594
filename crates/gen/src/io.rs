//! Sends, receives, polls.

use crate::print::Stmt;
use crate::stmt::{Ctx, base};
use crate::world::{Chan, Field, Gen, Proc, Ty, Var};

/// The names and numbers in a text.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|w| !w.is_empty())
}

impl Gen<'_> {
    /// A channel that the body can name.
    pub fn channel(&mut self, ctx: &Ctx, fits: impl Fn(&Chan) -> bool) -> Option<Chan> {
        if ctx.no_io {
            return None;
        }
        let visible =
            self.chans.iter().filter(|c| c.local_to.is_none_or(|p| p == ctx.p) && fits(c)).cloned().collect::<Vec<_>>();
        if visible.is_empty() { None } else { Some(self.rng.pick(&visible).clone()) }
    }

    pub fn may_send(&self, ctx: &Ctx, chan: &Chan) -> bool {
        chan.senders.as_ref().is_none_or(|s| s.contains(&ctx.p))
    }

    pub fn is_exclusive(&self, chan: &Chan) -> bool {
        self.exclusive.is_some_and(|(c, ..)| self.chans[c].text == chan.text)
    }

    pub fn send(&mut self, ctx: &Ctx) -> Option<Stmt> {
        let p = ctx.p;
        let chan =
            self.channel(ctx, |c| (c.cap > 0 || !ctx.dstep) && c.senders.as_ref().is_none_or(|s| s.contains(&p)))?;
        self.send_to(&chan, ctx)
    }

    pub fn send_to(&mut self, chan: &Chan, ctx: &Ctx) -> Option<Stmt> {
        // pan counts an attempt that finds no partner among the executable options of a D_proctype.
        let lone = chan.cap == 0 && self.procs.get(ctx.p).is_some_and(Proc::is_d) && !self.options.disputed;
        let option = chan.cap == 0 && ctx.escape_option && !self.options.disputed;
        if !self.may_send(ctx, chan) || lone || option {
            return None;
        }
        let mut args = Vec::new();
        for field in &chan.fields {
            args.push(match field {
                Field::Bit => self.rng.below(2).to_string(),
                Field::Byte | Field::Pid => match self.rng.below(4) {
                    0 => format!("{} % 2", self.number(ctx, 1)),
                    1 => self.read(|v| matches!(v.ty, Ty::Byte | Ty::Pid) && v.modulus <= 3)?,
                    _ => self.rng.below(2).to_string(),
                },
                Field::Short | Field::Int => format!("{} % 2", self.signed(ctx, 1)),
                Field::Mtype(set) => match self.read(|v| v.ty == Ty::Mtype(*set)) {
                    Some(v) if self.rng.chance(20) => v,
                    _ => self.mtype_name(*set),
                },
                Field::Chan => {
                    self.uses("chan-in-chan");
                    self.referable()?
                }
                Field::Struct => {
                    self.uses("struct-message");
                    self.message_struct(ctx)?
                }
            });
        }
        let plain = !chan.fields.iter().any(|f| matches!(f, Field::Chan | Field::Struct));
        let sorted =
            plain && chan.cap > 0 && self.on.has("sorted-send") && !self.is_exclusive(chan) && self.rng.chance(40);
        self.uses(if sorted { "sorted-send" } else { "send" });
        if chan.cap == 0 && ctx.atomic {
            self.uses("rv-in-atomic");
        }
        if chan.is_ref {
            self.uses("chan-ref");
        }
        let args = self.message(chan, args);
        let place = self.fill(&chan.text, false);
        Some(Stmt::Plain(format!("{place}{}{args}", if sorted { "!!" } else { "!" })))
    }

    /// Arguments as a list, or with the first one as a message name.
    pub fn message(&mut self, chan: &Chan, args: Vec<String>) -> String {
        if matches!(chan.fields[0], Field::Mtype(_)) {
            self.uses("mtype-message");
            if args.len() > 1 && self.rng.chance(60) {
                self.uses("message-paren");
                return format!("{}({})", args[0], args[1..].join(", "));
            }
        }
        args.join(", ")
    }

    pub fn message_struct(&mut self, ctx: &Ctx) -> Option<String> {
        let local = self.procs.get(ctx.p).is_some_and(|p| p.locals.iter().any(|v| v.text.starts_with("lm.")));
        Some(if local && self.rng.chance(50) { "lm".into() } else { self.structs.first()?.clone() })
    }

    pub fn receive(&mut self, ctx: &Ctx) -> Option<Stmt> {
        let p = ctx.p;
        // Inside a d_step a rendez-vous receive may only stand first; `d_step_start` writes that one.
        let chan =
            self.channel(ctx, |c| (c.cap > 0 || !ctx.dstep) && c.receivers.as_ref().is_none_or(|s| s.contains(&p)))?;
        self.receive_from(&chan, ctx, false)
    }

    pub fn receive_from(&mut self, chan: &Chan, ctx: &Ctx, first_of_dstep: bool) -> Option<Stmt> {
        let args = self.receive_args(chan, ctx, false)?;
        if chan.cap == 0 && ctx.atomic && !first_of_dstep {
            self.uses("rv-in-atomic");
        }
        // SPIN evaluates a channel's index again for each field, after the earlier ones were assigned.
        let mut place = self.fill(&chan.text, false);
        if place.contains('%') {
            let read = words(&place).skip(1).collect::<Vec<_>>();
            if words(&args).any(|w| read.contains(&w)) || ctx.inline && (read.contains(&"v") || read.contains(&"w")) {
                place = self.fill(&chan.text, true);
            }
        }
        let random = chan.cap > 0 && self.on.has("random-receive") && !self.is_exclusive(chan) && self.rng.chance(35);
        // SPIN writes unbalanced C for a copying receive at the start of a d_step.
        let copy = chan.cap > 0 && !first_of_dstep && self.on.has("copy-receive") && self.rng.chance(30);
        self.uses(match (random, copy) {
            (false, false) => "receive",
            (true, false) => "random-receive",
            (false, true) => "copy-receive",
            (true, true) => "copy-random-receive",
        });
        let op = if random { "??" } else { "?" };
        Some(Stmt::Plain(if copy { format!("{place}{op}<{args}>") } else { format!("{place}{op}{args}") }))
    }

    pub fn receive_args(&mut self, chan: &Chan, ctx: &Ctx, poll: bool) -> Option<String> {
        let mut args: Vec<String> = Vec::new();
        let mut bases: Vec<String> = Vec::new();
        let mut constants: Vec<String> = Vec::new();
        let disputed = self.options.disputed;
        for field in &chan.fields {
            let fits = |v: &Var| match field {
                Field::Bit => v.ty.is_bit() || v.ty == Ty::Byte || v.ty == Ty::Int,
                Field::Byte | Field::Pid => matches!(v.ty, Ty::Byte | Ty::Pid | Ty::Int | Ty::Short),
                Field::Short | Field::Int => v.ty.is_signed(),
                Field::Mtype(set) => v.ty == Ty::Mtype(*set),
                Field::Chan | Field::Struct => false,
            };
            let mut fixed = None;
            let choice = self.rng.weighted(&[60, if poll { 40 } else { 12 }, 6, 20]);
            let arg = match field {
                Field::Struct if poll => return None,
                Field::Struct => self.message_struct(ctx)?,
                Field::Chan => {
                    let r0 = self.chans.iter().any(|c| c.is_ref && c.text == "r0" && c.local_to == Some(ctx.p));
                    if r0 && self.rng.chance(80) {
                        "r0".into()
                    } else {
                        self.uses("receive-ignore");
                        "_".into()
                    }
                }
                _ if choice == 0 => {
                    let target = self.writable(|v| {
                        // A parameter may stand for the variable of another field.
                        let parameter = ctx.inline && ["v", "w"].contains(&v.text.as_str());
                        // pan undoes a receive with the variables' values, and does not restore hidden ones.
                        let known = v.readable || disputed;
                        fits(v) && known && !parameter && !bases.contains(&base(&v.text))
                    });
                    match target {
                        Some(v) => {
                            bases.push(base(&v.text));
                            fixed = Some(self.fill(&v.text, true));
                            {
                                let constant = self.rng.chance(60);
                                self.fill(&v.text, constant)
                            }
                        }
                        None => {
                            self.uses("receive-ignore");
                            "_".into()
                        }
                    }
                }
                Field::Mtype(set) if choice <= 2 => {
                    self.uses("receive-constant");
                    self.mtype_name(*set)
                }
                _ if choice == 1 => {
                    self.uses("receive-constant");
                    self.rng.below(2).to_string()
                }
                Field::Mtype(_) | Field::Bit => {
                    self.uses("receive-ignore");
                    "_".into()
                }
                _ if choice == 2 => {
                    self.uses("eval");
                    let no_io = Ctx { no_io: true, ..*ctx };
                    format!("eval({})", self.number(&no_io, 1))
                }
                _ => {
                    self.uses("receive-ignore");
                    "_".into()
                }
            };
            constants.push(fixed.unwrap_or_else(|| "_".to_string()));
            args.push(arg);
        }
        // pan undoes a receive by evaluating its arguments again, with the variables already assigned.
        if !poll && !self.options.disputed {
            let assigned = |w: &str| bases.iter().any(|b| b == w) || ctx.inline && (w == "v" || w == "w");
            for (arg, constant) in args.iter_mut().zip(constants) {
                // Between the halves of a rendez-vous pan's `_last` is the sender.
                let halfway = chan.cap == 0 && words(arg).any(|w| w == "_last");
                if words(arg).skip(1).any(assigned) && arg.contains(['(', '[']) || halfway {
                    *arg = constant;
                }
            }
        }
        Some(self.message(chan, args))
    }

    pub fn poll(&mut self, ctx: &Ctx) -> Option<String> {
        let disputed = self.options.disputed;
        let chan = self.channel(ctx, |c| (c.cap > 0 || disputed) && c.senders.is_none() && c.receivers.is_none())?;
        let args = self.receive_args(&chan, ctx, true)?;
        let random = self.on.has("random-receive") && !self.is_exclusive(&chan) && self.rng.chance(60);
        self.uses(if random { "poll-random" } else { "poll" });
        let place = self.fill(&chan.text, false);
        Some(format!("{place}{}[{args}]", if random { "??" } else { "?" }))
    }

    /// A channel operation where nothing may block: behind its own test.
    pub fn guarded_io(&mut self, ctx: &Ctx) -> Option<Stmt> {
        let p = ctx.p;
        let chan = self.channel(ctx, |c| {
            c.cap > 0
                && c.senders.as_ref().is_none_or(|s| s.contains(&p))
                && c.receivers.as_ref().is_none_or(|s| s.contains(&p))
                && !c.text.contains('\u{1}')
        })?;
        self.spend();
        if ctx.dstep {
            self.uses("d_step-io");
        }
        self.uses("if");
        self.uses("else");
        let option = if self.rng.chance(50) {
            self.uses("nfull");
            let send = self.send_to(&chan, ctx)?;
            vec![Stmt::Plain(format!("nfull({})", chan.text)), send]
        } else if ctx.deterministic || self.rng.chance(50) {
            self.uses("nempty");
            let wild =
                chan.fields.iter().map(|f| if *f == Field::Struct { "m0" } else { "_" }).collect::<Vec<_>>().join(", ");
            self.uses("receive-ignore");
            vec![Stmt::Plain(format!("nempty({})", chan.text)), Stmt::Plain(format!("{}?{wild}", chan.text))]
        } else {
            self.uses("else-io");
            let receive = self.receive_from(&chan, ctx, false)?;
            vec![receive]
        };
        let otherwise = if self.rng.chance(50) {
            vec![Stmt::plain("else")]
        } else {
            vec![Stmt::plain("else"), self.assignment(ctx)]
        };
        Some(Stmt::Choice("if", vec![option, otherwise]))
    }
}
