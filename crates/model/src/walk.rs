//! The expressions inside things, in the order they are written.
//!
//! `each_expr` calls with the outermost expressions of a thing, `each_child` with those directly inside an expression,
//! `each_part` with an expression and all that is inside it, outermost first. A place that is written has its indices
//! as expressions; the place itself is none. Each has a form that may change what it meets. `each_write` calls with the
//! places that are written.

use crate::ir::{Edge, Effect, Expr, Guard, Init, Operation, Pattern, Place, Proctype};

/// The same walk twice: over what is only looked at, and over what may be changed.
macro_rules! walk {
    ($each_expr:ident, $each_child:ident $(, $mutable:tt)?) => {
        impl Place {
            pub fn $each_expr<'e>(&'e $($mutable)? self, f: &mut dyn FnMut(&'e $($mutable)? Expr)) {
                for step in & $($mutable)? self.index {
                    f(& $($mutable)? step.value);
                }
            }
        }

        impl Pattern {
            pub fn $each_expr<'e>(&'e $($mutable)? self, f: &mut dyn FnMut(&'e $($mutable)? Expr)) {
                match self {
                    Pattern::Bind(place) => place.$each_expr(f),
                    Pattern::Equal(e) => f(e),
                    Pattern::Any => {}
                }
            }
        }

        impl Expr {
            pub fn $each_child<'e>(&'e $($mutable)? self, f: &mut dyn FnMut(&'e $($mutable)? Expr)) {
                match self {
                    Expr::Const(_)
                    | Expr::Pid
                    | Expr::NrPr
                    | Expr::Last
                    | Expr::Timeout
                    | Expr::NonProgress
                    | Expr::Accepting
                    | Expr::NewPid => {}
                    Expr::Read(place) => place.$each_expr(f),
                    Expr::Unary(_, a)
                    | Expr::Probe(_, a)
                    | Expr::Enabled(a)
                    | Expr::PcValue(a)
                    | Expr::GetPriority(a) => f(a),
                    Expr::Binary(_, a, b) => {
                        f(a);
                        f(b);
                    }
                    Expr::Cond(a, b, c) => {
                        f(a);
                        f(b);
                        f(c);
                    }
                    Expr::Poll { chan, args, .. } => {
                        f(chan);
                        for arg in args {
                            arg.$each_expr(f);
                        }
                    }
                    Expr::AtLabel { pid, .. } => {
                        if let Some(pid) = pid {
                            f(pid);
                        }
                    }
                    Expr::Remote { pid, place, .. } => {
                        if let Some(pid) = pid {
                            f(pid);
                        }
                        place.$each_expr(f);
                    }
                    Expr::Happens(operation) => operation.$each_expr(f),
                }
            }
        }

        impl Operation {
            pub fn $each_expr<'e>(&'e $($mutable)? self, f: &mut dyn FnMut(&'e $($mutable)? Expr)) {
                match self {
                    Operation::Passes { by, chan, args, .. } => {
                        if let Some((_, Some(pid))) = by {
                            f(pid);
                        }
                        f(chan);
                        for arg in args {
                            arg.$each_expr(f);
                        }
                    }
                    Operation::Leaves { pid, .. } => {
                        if let Some(pid) = pid {
                            f(pid);
                        }
                    }
                    Operation::Takes { .. } => {}
                }
            }
        }

        impl Effect {
            pub fn $each_expr<'e>(&'e $($mutable)? self, f: &mut dyn FnMut(&'e $($mutable)? Expr)) {
                match self {
                    Effect::Assign { to, value } => {
                        to.$each_expr(f);
                        f(value);
                    }
                    Effect::Send { chan, args, .. } => {
                        f(chan);
                        for arg in args {
                            f(arg);
                        }
                    }
                    Effect::Receive { chan, args, .. } | Effect::Event { chan, args, .. } => {
                        f(chan);
                        for arg in args {
                            arg.$each_expr(f);
                        }
                    }
                    Effect::Run { args, .. } | Effect::Print { args, .. } => {
                        for arg in args {
                            f(arg);
                        }
                    }
                    Effect::Assert(e) | Effect::PrintName(e, _) => f(e),
                    Effect::SetPriority { pid, value } => {
                        f(pid);
                        f(value);
                    }
                    Effect::End => {}
                }
            }
        }

        impl Edge {
            pub fn $each_expr<'e>(&'e $($mutable)? self, f: &mut dyn FnMut(&'e $($mutable)? Expr)) {
                for guard in & $($mutable)? self.guards {
                    if let Guard::Holds(e) = guard {
                        f(e);
                    }
                }
                for effect in & $($mutable)? self.effects {
                    effect.$each_expr(f);
                }
            }
        }

        impl Proctype {
            /// Promises are not among them: what they name is constant.
            pub fn $each_expr<'e>(&'e $($mutable)? self, f: &mut dyn FnMut(&'e $($mutable)? Expr)) {
                for init in & $($mutable)? self.frame.inits {
                    if let Init::Value { value, .. } = init {
                        f(value);
                    }
                }
                if let Some(clause) = & $($mutable)? self.provided {
                    f(clause);
                }
                for edge in & $($mutable)? self.edges {
                    edge.$each_expr(f);
                }
            }
        }
    };
}

walk!(each_expr, each_child);
walk!(each_expr_mut, each_child_mut, mut);

impl Expr {
    pub fn each_part<'e>(&'e self, f: &mut dyn FnMut(&'e Expr)) {
        f(self);
        self.each_child(&mut |child| child.each_part(f));
    }

    pub fn each_part_mut(&mut self, f: &mut dyn FnMut(&mut Expr)) {
        f(self);
        self.each_child_mut(&mut |child| child.each_part_mut(f));
    }
}

impl Effect {
    /// The places that are written, global ones and those of the process.
    pub fn each_write<'e>(&'e self, f: &mut dyn FnMut(&'e Place)) {
        match self {
            Effect::Assign { to, .. } => f(to),
            Effect::Receive { args, .. } => args.iter().for_each(|arg| match arg {
                Pattern::Bind(place) => f(place),
                Pattern::Equal(_) | Pattern::Any => {}
            }),
            Effect::Send { .. } | Effect::Run { .. } | Effect::SetPriority { .. } => {}
            Effect::Assert(_) | Effect::Print { .. } | Effect::PrintName(..) => {}
            Effect::Event { .. } | Effect::End => {}
        }
    }
}
