//! The value of an expression in a state.
//!
//! Arithmetic is C's on 32-bit integers that wrap; bits are lost only when a value is stored. Division by zero, an
//! index outside its array and a channel that is not there are faults, found here and nowhere else.

use crate::fault::FaultKind;
use crate::happening::{self, Happened};
use crate::interp::Interp;
use crate::ir::{BinOp, Expr, MAX_LIVE, Pattern, Pid, Place, Probe, ProctypeId, Scope, UnOp};
use crate::range::{self, Range};
use crate::state::{self, Chan, State};

/// Who evaluates, and when.
#[derive(Clone, Copy)]
pub(crate) struct Eval<'a> {
    pub interp: &'a Interp,
    pub state: &'a State,
    /// `None` in global initialisers, claims and the trace assertion.
    pub pid: Option<Pid>,
    pub timeout: bool,
    pub new_pid: i32,
    /// How many `enabled()` we are inside of.
    pub depth: u32,
    /// What happens in the step that is looked at, if one is.
    pub happened: &'a [Happened],
}

/// `enabled()` asks for guards that may ask `enabled()` again; a circle of them has no meaning.
const MAX_ENABLED_DEPTH: u32 = 8;

type Value = Result<i32, FaultKind>;

impl<'a> Eval<'a> {
    pub fn new(interp: &'a Interp, state: &'a State, pid: Option<Pid>, timeout: bool) -> Self {
        debug_assert!(pid.is_none_or(|pid| usize::from(pid) < state.n_procs()), "only who lives can evaluate");
        Eval { interp, state, pid, timeout, new_pid: 0, depth: 0, happened: &[] }
    }

    pub fn value(&self, e: &Expr) -> Value {
        let value = self.value_of(e);
        debug_assert!(Range::of(e).has(&value), "range R1: {e:?} is {value:?}");
        value
    }

    fn value_of(&self, e: &Expr) -> Value {
        Ok(match e {
            Expr::Const(n) => *n,
            Expr::Read(place) => match place.scope {
                Scope::Global => self.state.global(self.slot(place)?),
                Scope::Local => self.state.local(self.own(), self.slot(place)?),
            },
            Expr::Unary(op, a) => {
                let a = self.value_of(a)?;
                match op {
                    UnOp::Not => i32::from(a == 0),
                    UnOp::Neg => a.wrapping_neg(),
                    UnOp::BitNot => !a,
                }
            }
            Expr::Binary(BinOp::And, a, b) => i32::from(self.value_of(a)? != 0 && self.value_of(b)? != 0),
            Expr::Binary(BinOp::Or, a, b) => i32::from(self.value_of(a)? != 0 || self.value_of(b)? != 0),
            Expr::Binary(op, a, b) => binary(*op, self.value_of(a)?, self.value_of(b)?)?,
            Expr::Cond(c, a, b) => self.value_of(if self.value_of(c)? != 0 { a } else { b })?,
            Expr::Probe(probe, chan) => {
                let (chan, decl) = self.chan(chan)?;
                let len = self.state.chan_len(chan);
                let capacity = decl.capacity as usize;
                match probe {
                    Probe::Len => len as i32,
                    Probe::Empty => i32::from(len == 0),
                    Probe::Nempty => i32::from(len > 0),
                    // A rendez-vous channel is never full: a send waits for a partner, not for room.
                    Probe::Full => i32::from(capacity > 0 && len >= capacity),
                    Probe::Nfull => i32::from(capacity == 0 || len < capacity),
                }
            }
            Expr::Poll { chan, random, args } => {
                let (chan, decl) = self.chan(chan)?;
                if decl.capacity == 0 {
                    return Err(FaultKind::PolledRendezvous);
                }
                // A poll may leave out fields at the end: they match anything.
                if args.len() > decl.fields.len() {
                    return Err(FaultKind::WrongArity { given: args.len(), fields: decl.fields.len() });
                }
                i32::from(self.first_match(chan, decl.fields.len(), *random, args)?.is_some())
            }
            Expr::Pid => i32::from(self.own()),
            Expr::NrPr => self.state.n_procs() as i32,
            Expr::Last => self.state.last(),
            Expr::Timeout => i32::from(self.timeout),
            Expr::NonProgress => i32::from(self.interp.non_progress(self.state)),
            Expr::Accepting => i32::from(self.interp.accepting(self.state)),
            Expr::NewPid => self.new_pid,
            Expr::Enabled(pid) => {
                let pid = self.value(pid)?;
                if Some(pid) == self.pid.map(i32::from) || self.depth >= MAX_ENABLED_DEPTH {
                    return Err(FaultKind::EnabledSelf);
                }
                match self.live(pid) {
                    Some(pid) => {
                        i32::from(self.interp.can_move(Eval { pid: Some(pid), depth: self.depth + 1, ..*self }))
                    }
                    None => 0,
                }
            }
            Expr::PcValue(pid) => {
                let pid = self.value(pid)?;
                match self.live(pid) {
                    Some(p) => {
                        let t = &self.interp.system().proctypes[self.state.proctype(p)];
                        t.locs[self.state.loc(p)].number as i32
                    }
                    None => 0,
                }
            }
            Expr::GetPriority(pid) => {
                let pid = self.value(pid)?;
                match self.live(pid) {
                    Some(p) => self.state.priority(p),
                    None => 0,
                }
            }
            Expr::AtLabel { proctype, pid, loc, .. } => {
                self.remote(*proctype, pid.as_deref())?.map_or(0, |p| i32::from(self.state.loc(p) == *loc))
            }
            Expr::Remote { proctype, pid, place } => match self.remote(*proctype, pid.as_deref())? {
                Some(p) => self.state.local(p, self.slot(place)?),
                None => 0,
            },
            Expr::Happens(operation) => i32::from(happening::is_done(self, operation)),
        })
    }

    /// Where a place is in its frame.
    pub fn slot(&self, place: &Place) -> Result<usize, FaultKind> {
        let mut slot = place.slot as usize;
        for step in &place.index {
            let index = self.value(&step.value)?;
            if index < 0 || index as u32 >= step.len {
                debug_assert!(range::index_faults(place), "range R1: an index that leaves its array may do so");
                return Err(FaultKind::IndexOutOfBounds { index, len: step.len });
            }
            slot += index as usize * step.stride as usize;
        }
        Ok(slot)
    }

    /// The live channel an expression names.
    pub fn chan(&self, e: &Expr) -> Result<(Chan, &'a crate::ir::ChanDecl), FaultKind> {
        let value = self.value(e)?;
        if value < 1 || value as usize > self.state.n_chans() {
            return Err(FaultKind::NoChannel { value });
        }
        debug_assert!(self.state.n_chans() <= MAX_LIVE, "a channel's number is a byte");
        let chan = self.state.chan(value as u8);
        Ok((chan, state::decl(self.interp.system(), self.state, chan)))
    }

    /// The position of the message a receive would take.
    pub fn find_message(
        &self,
        chan: Chan,
        n_fields: usize,
        random: bool,
        args: &[Pattern],
    ) -> Result<Option<usize>, FaultKind> {
        if args.len() != n_fields {
            return Err(FaultKind::WrongArity { given: args.len(), fields: n_fields });
        }
        self.first_match(chan, n_fields, random, args)
    }

    fn first_match(
        &self,
        chan: Chan,
        n_fields: usize,
        random: bool,
        args: &[Pattern],
    ) -> Result<Option<usize>, FaultKind> {
        debug_assert!(args.len() <= n_fields, "a pattern is of a field");
        let len = self.state.chan_len(chan);
        for i in 0..if random { len } else { len.min(1) } {
            if self.matches(args, self.state.message(chan, n_fields, i))? {
                return Ok(Some(i));
            }
        }
        Ok(None)
    }

    pub fn matches(&self, args: &[Pattern], message: &[i32]) -> Result<bool, FaultKind> {
        for (arg, field) in args.iter().zip(message) {
            if let Pattern::Equal(e) = arg
                && self.value(e)? != *field
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Who evaluates.
    pub fn own(&self) -> Pid {
        self.pid.expect("the validator keeps process-local expressions out of global places")
    }

    pub fn live(&self, pid: i32) -> Option<Pid> {
        (pid >= 0 && (pid as usize) < self.state.n_procs()).then_some(pid as Pid)
    }

    /// The process a remote reference means.
    fn remote(&self, proctype: ProctypeId, pid: Option<&Expr>) -> Result<Option<Pid>, FaultKind> {
        Ok(match pid {
            Some(e) => self.live(self.value(e)?).filter(|p| self.state.proctype(*p) == proctype),
            None => (0..self.state.n_procs() as Pid).find(|p| self.state.proctype(*p) == proctype),
        })
    }
}

pub(crate) fn binary(op: BinOp, a: i32, b: i32) -> Value {
    Ok(match op {
        BinOp::Or | BinOp::And => unreachable!("handled where the right side may be skipped"),
        BinOp::BitOr => a | b,
        BinOp::BitXor => a ^ b,
        BinOp::BitAnd => a & b,
        BinOp::Eq => i32::from(a == b),
        BinOp::Ne => i32::from(a != b),
        BinOp::Lt => i32::from(a < b),
        BinOp::Le => i32::from(a <= b),
        BinOp::Gt => i32::from(a > b),
        BinOp::Ge => i32::from(a >= b),
        // As the machine does it: the count is taken modulo 32.
        BinOp::Shl => a.wrapping_shl(b as u32),
        BinOp::Shr => a.wrapping_shr(b as u32),
        BinOp::Add => a.wrapping_add(b),
        BinOp::Sub => a.wrapping_sub(b),
        BinOp::Mul => a.wrapping_mul(b),
        BinOp::Div | BinOp::Rem if b == 0 => return Err(FaultKind::DivisionByZero),
        BinOp::Div => a.wrapping_div(b),
        BinOp::Rem => a.wrapping_rem(b),
    })
}

/// No field of a `printf` is wider.
const MAX_WIDTH: usize = 200;

/// The text of a `printf`: `%d %i %u %x %o %c %e %%`, with a width if one is given.
pub(crate) fn format(interp: &Interp, format: &str, args: &[i32], names: &[Option<crate::ir::MtypeId>]) -> String {
    debug_assert_eq!(args.len(), names.len(), "each argument has its set of names, or none");
    let mut out = String::new();
    let mut chars = format.chars();
    let mut n = 0;
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some('r') => out.push('\r'),
                Some(c) => out.push(c),
                None => {}
            },
            '%' => {
                let mut kind = chars.next().unwrap_or('%');
                let (mut left, mut zeros, mut width) = (false, false, 0usize);
                while matches!(kind, '-' | '0'..='9') {
                    match kind {
                        '-' => left = true,
                        '0' if width == 0 => zeros = true,
                        digit => width = (10 * width + digit as usize - '0' as usize).min(MAX_WIDTH),
                    }
                    kind = chars.next().unwrap_or('%');
                }
                if kind == '%' {
                    out.push('%');
                    continue;
                }
                let value = args.get(n).copied().unwrap_or(0);
                let text = match kind {
                    'c' => char::from(value as u8).to_string(),
                    'u' => (value as u32).to_string(),
                    'x' => format!("{value:x}"),
                    'o' => format!("{value:o}"),
                    'e' => {
                        let set = names.get(n).copied().flatten().unwrap_or_default();
                        interp.system().show(crate::ir::Type::Mtype(set), value)
                    }
                    _ => value.to_string(),
                };
                out.push_str(&match (left, zeros) {
                    (true, _) => format!("{text:<width$}"),
                    (false, true) if kind == 'd' => format!("{value:0width$}"),
                    _ => format!("{text:>width$}"),
                });
                n += 1;
            }
            c => out.push(c),
        }
    }
    out
}

/// The mtype set an argument of `printf` belongs to, if it is a variable of one.
pub(crate) fn mtype_of(e: &Expr) -> Option<crate::ir::MtypeId> {
    match e {
        Expr::Read(Place { ty: crate::ir::Type::Mtype(set), .. }) => Some(*set),
        _ => None,
    }
}
