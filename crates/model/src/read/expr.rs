//! What stands on an edge's line and after `init`: guards, effects, expressions and places.

use super::token::{Cursor, Token};
use super::{MAX_DEPTH, MAX_OPERATORS, Names, Read};
use crate::index::{Idx, IndexVec};
use crate::ir::{
    BinOp, Edge, EdgeId, Effect, Expr, Guard, IndexStep, Loc, Location, MtypeId, Pattern, Place, ProctypeId, Scope,
    Shape, Then, UnOp, Var, VarId,
};
use crate::print::{ATOM, BINARY, PROBES, is_id, precedence, probe_name, symbol};
use crate::source::Span;

/// Reads what may refer to variables and proctypes.
pub(super) struct Exprs<'a> {
    pub(super) c: Cursor<'a>,
    pub(super) names: &'a Names,
    /// `None` where nothing is local.
    pub(super) locals: Option<&'a IndexVec<VarId, Var>>,
    pub(super) depth: u32,
    pub(super) operators: u32,
}

impl<'a> Exprs<'a> {
    pub(super) fn location(&mut self) -> Read<Location> {
        let mut loc = Location { edges: self.edge_ids()?, ..Location::default() };
        while self.c.peek().is_some() {
            match self.c.word()? {
                "labels" => loc.labels = self.c.names()?,
                "is" => loop {
                    match self.c.word()? {
                        "end" => loc.end = true,
                        "accept" => loc.accept = true,
                        "progress" => loc.progress = true,
                        other => return Err(self.c.error(format!("a location is not `{other}`"))),
                    }
                    if !self.c.take(",") {
                        break;
                    }
                },
                "number" => loc.number = self.c.u32()?,
                other => return Err(self.c.error(format!("`{other}` says nothing about a location"))),
            }
        }
        Ok(loc)
    }

    /// `e1, e2`; stops before a comma that something else follows.
    pub(super) fn edge_ids(&mut self) -> Read<Vec<EdgeId>> {
        let mut out = Vec::new();
        let is_edge = |t: Option<&Token>| matches!(t, Some(Token::Word(w)) if is_id(w, 'e'));
        if is_edge(self.c.peek()) {
            out.push(EdgeId(self.c.id('e')?));
            while self.c.at(",") && is_edge(self.c.tokens.get(self.c.at + 1)) {
                self.c.next();
                out.push(EdgeId(self.c.id('e')?));
            }
        }
        Ok(out)
    }

    pub(super) fn edge(&mut self) -> Read<Edge> {
        let from = Loc(self.c.id('l')?);
        self.c.expect("->")?;
        let to = Loc(self.c.id('l')?);
        let mut edge = Edge {
            from,
            to,
            guards: Vec::new(),
            effects: Vec::new(),
            then: Then::Yield,
            in_d_step: false,
            stmt: 0,
            span: Span::default(),
        };
        if self.c.take_word("when") {
            edge.guards.push(self.guard()?);
            while self.c.take(",") {
                edge.guards.push(self.guard()?);
            }
        }
        if self.c.take_word("do") {
            edge.effects.push(self.effect()?);
            while self.c.take(",") {
                edge.effects.push(self.effect()?);
            }
        }
        if self.c.take_word("then") {
            edge.then = match self.c.word()? {
                "atomic" => Then::Atomic,
                "d_step" => Then::DStep,
                "yield" => Then::Yield,
                other => return Err(self.c.error(format!("`{other}` is not one of atomic, d_step, yield"))),
            };
            edge.in_d_step = edge.then == Then::DStep;
        }
        if self.c.take_word("ends") {
            match self.c.word()? {
                "d_step" => edge.in_d_step = true,
                other => return Err(self.c.error(format!("`{other}` cannot end here; only a d_step can"))),
            }
        }
        if self.c.take_word("stmt") {
            edge.stmt = self.c.u32()?;
        }
        Ok(edge)
    }

    pub(super) fn guard(&mut self) -> Read<Guard> {
        if self.c.take_word("channel") {
            return Ok(Guard::Channel);
        }
        if self.c.take_word("youngest") {
            return Ok(Guard::Youngest);
        }
        if self.c.take_word("none") {
            self.c.keyword("of")?;
            return Ok(Guard::NoneOf(self.edge_ids()?));
        }
        Ok(Guard::Holds(self.top()?))
    }

    pub(super) fn effect(&mut self) -> Read<Effect> {
        self.operators = 0;
        if let Some(Token::Word(word)) = self.c.peek() {
            let word = word.as_str();
            match word {
                "run" => {
                    self.c.next();
                    let proctype = self.proctype()?;
                    let args = self.args()?;
                    let priority = if self.c.take_word("priority") { self.c.u8()? } else { 1 };
                    return Ok(Effect::Run { proctype, args, priority });
                }
                "assert" => {
                    self.c.next();
                    return Ok(Effect::Assert(self.top()?));
                }
                "print" => {
                    self.c.next();
                    let format = self.c.text()?.into();
                    return Ok(Effect::Print { format, args: self.args()? });
                }
                "printm" => {
                    self.c.next();
                    let set = MtypeId(self.c.id('m')?);
                    return Ok(Effect::PrintName(self.top()?, set));
                }
                "set_priority" => {
                    self.c.next();
                    self.c.expect("(")?;
                    let pid = self.top()?;
                    self.c.expect(",")?;
                    let value = self.top()?;
                    self.c.expect(")")?;
                    return Ok(Effect::SetPriority { pid, value });
                }
                "event" => {
                    self.c.next();
                    let chan = self.primary()?;
                    let send = self.c.take("!");
                    if !send {
                        self.c.expect("?")?;
                    }
                    return Ok(Effect::Event { send, chan, args: self.patterns()? });
                }
                "die" => {
                    self.c.next();
                    return Ok(Effect::End);
                }
                _ => {}
            }
        }
        let keep = self.c.take_word("peek");
        let target = self.primary()?;
        if keep || self.c.at("?") || self.c.at("??") {
            let (random, args) = self.receive()?;
            return Ok(Effect::Receive { chan: target, random, keep, args });
        }
        if self.c.at("!") || self.c.at("!!") {
            let sorted = self.c.at("!!");
            self.c.next();
            return Ok(Effect::Send { chan: target, sorted, args: self.args()? });
        }
        self.c.expect("=")?;
        let Expr::Read(to) = target else { return Err(self.c.error("only a variable is assigned")) };
        Ok(Effect::Assign { to, value: self.top()? })
    }

    /// From the `?` on.
    pub(super) fn receive(&mut self) -> Read<(bool, Vec<Pattern>)> {
        let random = self.c.take("??");
        if !random {
            self.c.expect("?")?;
        }
        Ok((random, self.patterns()?))
    }

    pub(super) fn patterns(&mut self) -> Read<Vec<Pattern>> {
        self.c.expect("(")?;
        let mut args = Vec::new();
        while !self.c.at(")") {
            if !args.is_empty() {
                self.c.expect(",")?;
            }
            args.push(if self.c.take_word("_") {
                Pattern::Any
            } else if self.c.take("==") {
                Pattern::Equal(self.expr(0)?)
            } else {
                Pattern::Bind(self.place(self.locals)?)
            });
        }
        self.c.expect(")")?;
        Ok(args)
    }

    pub(super) fn args(&mut self) -> Read<Vec<Expr>> {
        self.c.expect("(")?;
        let mut args = Vec::new();
        while !self.c.at(")") {
            if !args.is_empty() {
                self.c.expect(",")?;
            }
            args.push(self.top()?);
        }
        self.c.expect(")")?;
        Ok(args)
    }

    pub(super) fn proctype(&mut self) -> Read<ProctypeId> {
        let word = self.c.word()?;
        if is_id(word, 't') {
            return Ok(ProctypeId(self.c.own_id(word, 't')?));
        }
        let mut named = self.names.proctypes.iter().enumerate().filter(|(_, t)| t.0 == word);
        match (named.next(), named.next()) {
            (Some((n, _)), None) => Ok(ProctypeId::new(n)),
            (None, _) => Err(self.c.error(format!("there is no proctype {word}"))),
            _ => Err(self.c.error(format!("there are several proctypes {word}"))),
        }
    }

    /// An expression that is not part of another.
    pub(super) fn top(&mut self) -> Read<Expr> {
        self.operators = 0;
        self.expr(0)
    }

    pub(super) fn top_place(&mut self) -> Read<Place> {
        self.operators = 0;
        self.place(self.locals)
    }

    pub(super) fn init_place(&mut self) -> Read<Place> {
        let place = self.top_place()?;
        if !place.index.is_empty() {
            return Err(self.c.error("an initialiser names a slot, not an index"));
        }
        Ok(place)
    }

    /// By precedence: takes operators that bind at least as tightly as `level`.
    pub(super) fn expr(&mut self, level: u8) -> Read<Expr> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.c.error("an expression that nests too deep"));
        }
        let mut left = self.unary()?;
        while let Some(op) = self.operator().filter(|op| precedence(*op) >= level) {
            self.c.next();
            self.operators += 1;
            if self.operators > MAX_OPERATORS {
                return Err(self.c.error(format!("more than {MAX_OPERATORS} operators in an expression")));
            }
            let right = self.expr(precedence(op) + 1)?;
            left = Expr::Binary(op, Box::new(left), Box::new(right));
        }
        self.depth -= 1;
        Ok(left)
    }

    pub(super) fn operator(&self) -> Option<BinOp> {
        let Some(Token::Sign(sign)) = self.c.peek() else { return None };
        BINARY.iter().copied().find(|op| symbol(*op) == *sign)
    }

    pub(super) fn unary(&mut self) -> Read<Expr> {
        if self.c.at("-")
            && let Some(Token::Number(n)) = self.c.tokens.get(self.c.at + 1)
        {
            self.c.at += 2;
            return i32::try_from(-*n).map(Expr::Const).map_err(|_| self.c.error(format!("-{n} is too small")));
        }
        let op = match self.c.peek() {
            Some(Token::Sign("!")) => UnOp::Not,
            Some(Token::Sign("-")) => UnOp::Neg,
            Some(Token::Sign("~")) => UnOp::BitNot,
            _ => return self.primary(),
        };
        self.c.next();
        Ok(Expr::Unary(op, Box::new(self.primary()?)))
    }

    /// What needs no parentheses. Every way from here back to here passes through `expr`, which counts.
    pub(super) fn primary(&mut self) -> Read<Expr> {
        match self.c.peek() {
            Some(Token::Number(n)) => {
                self.c.next();
                i32::try_from(*n).map(Expr::Const).map_err(|_| self.c.error(format!("{n} is too large")))
            }
            Some(Token::Sign("@" | "%")) => Ok(Expr::Read(self.place(self.locals)?)),
            Some(Token::Sign("(")) => {
                self.c.next();
                let first = self.expr(0)?;
                if self.c.take("->") {
                    let yes = self.expr(0)?;
                    self.c.expect(":")?;
                    let no = self.expr(0)?;
                    self.c.expect(")")?;
                    return Ok(Expr::Cond(Box::new(first), Box::new(yes), Box::new(no)));
                }
                self.c.expect(")")?;
                Ok(first)
            }
            Some(Token::Word(word)) => {
                self.c.next();
                self.named(word)
            }
            _ => Err(self.c.wrong("an expression")),
        }
    }

    pub(super) fn named(&mut self, word: &str) -> Read<Expr> {
        if let Some(probe) = PROBES.iter().find(|p| probe_name(**p) == word) {
            return Ok(Expr::Probe(*probe, self.argument()?));
        }
        Ok(match word {
            "_pid" => Expr::Pid,
            "_nr_pr" => Expr::NrPr,
            "_last" => Expr::Last,
            "timeout" => Expr::Timeout,
            "np_" => Expr::NonProgress,
            "accept_" => Expr::Accepting,
            "new_pid" => Expr::NewPid,
            "enabled" => Expr::Enabled(self.argument()?),
            "pc_value" => Expr::PcValue(self.argument()?),
            "get_priority" => Expr::GetPriority(self.argument()?),
            "can" => {
                self.c.expect("(")?;
                // Through `expr`, so that its depth is counted.
                let chan = Box::new(self.expr(ATOM)?);
                let (random, args) = self.receive()?;
                self.c.expect(")")?;
                Expr::Poll { chan, random, args }
            }
            "at" => {
                let (proctype, pid) = self.remote()?;
                let loc = Loc(self.c.id('l')?);
                let label = self.c.name()?;
                self.c.expect(")")?;
                Expr::AtLabel { proctype, pid, loc, label }
            }
            "remote" => {
                let (proctype, pid) = self.remote()?;
                let names = self.names;
                let place = self.place(names.proctypes.get(proctype.index()).map(|t| &t.1))?;
                self.c.expect(")")?;
                Expr::Remote { proctype, pid, place }
            }
            other => return Err(self.c.error(format!("`{other}` is no expression"))),
        })
    }

    pub(super) fn argument(&mut self) -> Read<Box<Expr>> {
        self.c.expect("(")?;
        let e = self.expr(0)?;
        self.c.expect(")")?;
        Ok(Box::new(e))
    }

    /// `(worker[p], `
    pub(super) fn remote(&mut self) -> Read<(ProctypeId, Option<Box<Expr>>)> {
        self.c.expect("(")?;
        let proctype = self.proctype()?;
        let pid = if self.c.take("[") {
            let e = self.expr(0)?;
            self.c.expect("]")?;
            Some(Box::new(e))
        } else {
            None
        };
        self.c.expect(",")?;
        Ok((proctype, pid))
    }

    /// `locals` are the variables a `%` means; indices always mean the evaluating process's.
    pub(super) fn place(&mut self, locals: Option<&'a IndexVec<VarId, Var>>) -> Read<Place> {
        let scope = if self.c.take("@") { Scope::Global } else { Scope::Local };
        if scope == Scope::Local {
            self.c.expect("%")?;
        }
        let vars = if scope == Scope::Global { Some(&self.names.globals) } else { locals };
        let var = match self.c.next() {
            Some(Token::Number(n)) => VarId(u32::try_from(*n).map_err(|_| self.c.error("no such variable"))?),
            Some(Token::Word(name)) => {
                let mut named = vars.into_iter().flat_map(|v| v.enumerated()).filter(|(_, v)| v.name == *name);
                match (named.next(), named.next()) {
                    (Some((id, _)), None) => id,
                    (None, _) => return Err(self.c.error(format!("there is no variable {name} here"))),
                    _ => return Err(self.c.error(format!("several variables are called {name}: give its number"))),
                }
            }
            _ => return Err(self.c.error("expected the name of a variable")),
        };
        if self.c.take("{") {
            return self.bare(scope, var);
        }
        let Some(var_decl) = vars.and_then(|v| v.get(var)) else {
            return Err(self.c.error(format!("there is no variable {} here", var.0)));
        };
        self.path(scope, var, var_decl)
    }

    /// Follows the shape of the variable.
    pub(super) fn path(&mut self, scope: Scope, var: VarId, decl: &Var) -> Read<Place> {
        let mut slot = u64::from(decl.slot);
        let mut index = Vec::new();
        let mut shape = &decl.shape;
        loop {
            match shape {
                Shape::Scalar(ty) => {
                    let slot = u32::try_from(slot).map_err(|_| self.c.error("a slot too far"))?;
                    return Ok(Place { scope, var, slot, ty: *ty, index });
                }
                Shape::Array(len, of) => {
                    let stride = u32::try_from(of.n_slots()).map_err(|_| self.c.error("elements too large"))?;
                    if self.c.take("[") {
                        let value = self.expr(0)?;
                        self.c.expect("]")?;
                        index.push(IndexStep { value, len: *len, stride });
                    } else {
                        self.c.expect(".")?;
                        let i = self.c.u32()?;
                        if i >= *len {
                            return Err(self.c.error(format!("{} has no element {i}", decl.name)));
                        }
                        slot += u64::from(i) * u64::from(stride);
                    }
                    shape = of;
                }
                Shape::Record(r) => {
                    self.c.expect(".")?;
                    let name = self.c.word()?;
                    let mut named = r.fields.iter().enumerate().filter(|(_, f)| f.0 == name);
                    let (Some((n, field)), None) = (named.next(), named.next()) else {
                        return Err(self.c.error(format!("{} has no field of its own called {name}", r.name)));
                    };
                    slot += r.fields[..n].iter().map(|f| f.1.n_slots()).sum::<u64>();
                    shape = &field.1;
                }
            }
        }
    }

    /// `7 byte [e; 3; 2]}`
    pub(super) fn bare(&mut self, scope: Scope, var: VarId) -> Read<Place> {
        let slot = self.c.u32()?;
        let ty = self.c.ty()?;
        let mut index = Vec::new();
        while self.c.take("[") {
            let value = self.expr(0)?;
            self.c.expect(";")?;
            let len = self.c.u32()?;
            self.c.expect(";")?;
            let stride = self.c.u32()?;
            self.c.expect("]")?;
            index.push(IndexStep { value, len, stride });
        }
        self.c.expect("}")?;
        Ok(Place { scope, var, slot, ty, index })
    }
}
