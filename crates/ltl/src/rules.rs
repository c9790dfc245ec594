//! Simplification: the constructors of the pool, each of which gives an equal formula that is no harder to translate.
//!
//! # The argument
//!   A formula is built from its leaves up, so every rule may take its operands for simplified; a rule replaces a
//!   formula by one with fewer temporal operators, or with the same ones and less below them, so building ends.
//!   The rules are those of Etessami and Holzmann (CONCUR 2000), Somenzi and Bloem (CAV 2000) and Babiak et al.
//!   (TACAS 2012), as far as they make automata smaller. `e` is eventual, `u` universal, `t` timeless (`pool`):
//!
//!   R1  X t = t, X (a && t) = X a && t                     and with ||
//!   R2  F e = e, F (a || e) = F a || e, F (a && t) = F a && t
//!   R3  F (a U b) = F b, F (a W b) = F (G a || b), F X a = X F a, F G (a || e) = F G a || G e
//!   R4  the duals of R2 and R3; G (a U b) = G (a || b) && G F b
//!   R5  a U e = e, a U (b || e) = a U b || e, a U (b && t) = a U b && t, a W e = G a || e, u W b = u || b
//!   R6  a U b = b if a implies b; = F b if !a implies b; a W b = true then
//!   R7  a U (c U b) = c U b if a implies c, = a U b if c implies a; and the like for W
//!   R8  a conjunct that another one implies goes; two that exclude each other are false; and dually
//!   R9  G a && G b = G (a && b), a U b && c U b = (a && c) U b, a W b && F b = a U b, G a && a U b = G a && F b
//!   R10 F a || F b = F (a || b), a U b || a U c = a U (b || c), G a || a U b = a W b
//!   R11 F u && F u' = F (u && u'), G e || G e' = G (e || e')
//!   R12 a || X F a = F a, a && X G a = G a
//!
//! # Owed
//!   O1 the result is equal to what was given    tests: random formulas on random lassos

use crate::formula::Formula;
use crate::guards::Guard;
use crate::lasso::{eval_lasso, some_lassos};
use crate::pool::{Id, Node, Pool};

/// An equal formula, in negation normal form and usually smaller.
pub fn simplify(formula: &Formula) -> Formula {
    let mut pool = Pool::default();
    let id = pool.build(formula);
    let simple = pool.formula(id);
    let holds = |f: &Formula, (stem, cycle): &(Vec<_>, Vec<_>)| eval_lasso(f, stem, cycle).holds();
    let mut words = some_lassos(&pool.props, 4, 0);
    debug_assert!(words.all(|word| holds(formula, &word) == holds(&simple, &word)), "O1");
    simple
}

impl Pool {
    pub fn bool(&mut self, guard: Guard) -> Id {
        self.intern(Node::Bool(guard))
    }

    pub fn negate(&mut self, id: Id) -> Id {
        if let Some(&n) = self.negations.get(&id) {
            return n;
        }
        let negated = match self.node(id).clone() {
            Node::Bool(g) => {
                let g = self.guards.not(g);
                self.bool(g)
            }
            Node::And(parts) => {
                let parts = parts.into_iter().map(|p| self.negate(p)).collect();
                self.or(parts)
            }
            Node::Or(parts) => {
                let parts = parts.into_iter().map(|p| self.negate(p)).collect();
                self.and(parts)
            }
            Node::Next(a) => {
                let a = self.negate(a);
                self.next(a)
            }
            Node::Eventually(a) => {
                let a = self.negate(a);
                self.always(a)
            }
            Node::Always(a) => {
                let a = self.negate(a);
                self.eventually(a)
            }
            Node::Until(a, b) => {
                let (a, b) = (self.negate(a), self.negate(b));
                let neither = self.and(vec![a, b]);
                self.weak_until(b, neither)
            }
            Node::WeakUntil(a, b) => {
                let (a, b) = (self.negate(a), self.negate(b));
                let neither = self.and(vec![a, b]);
                self.until(b, neither)
            }
        };
        self.negations.insert(id, negated);
        self.negations.entry(negated).or_insert(id);
        negated
    }

    pub fn next(&mut self, a: Id) -> Id {
        if self.is_timeless(a) {
            return a; // R1
        }
        for (parts, join) in
            [(self.conjuncts(a), Pool::and as fn(&mut Pool, Vec<Id>) -> Id), (self.disjuncts(a), Pool::or)]
        {
            let (mut out, rest) = self.split(&parts, Pool::is_timeless);
            if !out.is_empty() {
                let rest = join(self, rest);
                out.push(self.next(rest));
                return join(self, out); // R1
            }
        }
        self.intern(Node::Next(a))
    }

    pub fn eventually(&mut self, a: Id) -> Id {
        if self.is_eventual(a) {
            return a; // R2
        }
        match self.node(a).clone() {
            Node::Until(_, b) => return self.eventually(b), // R3
            Node::WeakUntil(x, b) => {
                let always = self.always(x);
                let either = self.or(vec![always, b]);
                return self.eventually(either); // R3
            }
            Node::Next(x) => {
                let x = self.eventually(x);
                return self.next(x); // R3
            }
            Node::And(parts) => {
                let (mut out, rest) = self.split(&parts, Pool::is_timeless);
                if !out.is_empty() {
                    let rest = self.and(rest);
                    out.push(self.eventually(rest));
                    return self.and(out); // R2
                }
            }
            Node::Or(parts) => {
                let (mut out, rest) = self.split(&parts, Pool::is_eventual);
                let opens = |pool: &Pool, p: Id| matches!(pool.node(p), Node::Until(..) | Node::WeakUntil(..));
                if !out.is_empty() || rest.iter().any(|&p| opens(self, p)) {
                    let mut open = Vec::new();
                    for p in rest {
                        match *self.node(p) {
                            Node::Until(_, b) => open.push(b),
                            Node::WeakUntil(x, b) => open.extend([self.always(x), b]),
                            _ => open.push(p),
                        }
                    }
                    let open = self.or(open);
                    out.push(self.eventually(open));
                    return self.or(out); // R2, R3
                }
            }
            Node::Always(x) => {
                let parts = self.disjuncts(x);
                let (out, rest) = self.split(&parts, Pool::is_eventual);
                if !out.is_empty() && !rest.is_empty() {
                    let rest = self.or(rest);
                    let rest = self.always(rest);
                    let mut all: Vec<Id> = out.into_iter().map(|p| self.always(p)).collect();
                    all.push(self.eventually(rest));
                    return self.or(all); // R3
                }
            }
            _ => {}
        }
        self.intern(Node::Eventually(a))
    }

    pub fn always(&mut self, a: Id) -> Id {
        if self.is_universal(a) {
            return a;
        }
        match self.node(a).clone() {
            Node::Until(x, y) => {
                let either = self.or(vec![x, y]);
                let (always, often) = (self.always(either), self.eventually(y));
                let often = self.always(often);
                return self.and(vec![always, often]); // R4
            }
            Node::WeakUntil(x, y) => {
                let either = self.or(vec![x, y]);
                return self.always(either); // R4
            }
            Node::Next(x) => {
                let x = self.always(x);
                return self.next(x);
            }
            Node::Or(parts) => {
                let (mut out, rest) = self.split(&parts, Pool::is_timeless);
                if !out.is_empty() {
                    let rest = self.or(rest);
                    out.push(self.always(rest));
                    return self.or(out);
                }
            }
            Node::And(parts) => {
                let (out, rest) = self.split(&parts, |pool, p| {
                    pool.is_eventual(p)
                        || pool.is_universal(p)
                        || matches!(pool.node(p), Node::Until(..) | Node::WeakUntil(..) | Node::Next(_))
                });
                if !out.is_empty() {
                    let rest = self.and(rest);
                    let mut all: Vec<Id> = out.into_iter().map(|p| self.always(p)).collect();
                    all.push(self.always(rest));
                    return self.and(all); // R4
                }
            }
            Node::Eventually(x) => {
                let parts = self.conjuncts(x);
                let (out, rest) = self.split(&parts, Pool::is_universal);
                if !out.is_empty() && !rest.is_empty() {
                    let rest = self.and(rest);
                    let rest = self.eventually(rest);
                    let mut all: Vec<Id> = out.into_iter().map(|p| self.eventually(p)).collect();
                    all.push(self.always(rest));
                    return self.and(all); // R4
                }
            }
            _ => {}
        }
        self.intern(Node::Always(a))
    }

    pub fn until(&mut self, a: Id, b: Id) -> Id {
        if a == Id::TRUE {
            return self.eventually(b);
        }
        if self.is_eventual(b) || self.implies(a, b) {
            return b; // R5, R6
        }
        let not_a = self.negate(a);
        if self.implies(not_a, b) {
            return self.eventually(b); // R6
        }
        let parts = self.disjuncts(b);
        let (mut out, rest) = self.split(&parts, Pool::is_eventual);
        if !out.is_empty() {
            let rest = self.or(rest);
            out.push(self.until(a, rest));
            return self.or(out); // R5
        }
        let parts = self.conjuncts(b);
        let (mut out, rest) = self.split(&parts, Pool::is_timeless);
        if !out.is_empty() {
            let rest = self.and(rest);
            out.push(self.until(a, rest));
            return self.and(out); // R5
        }
        match (self.node(a).clone(), self.node(b).clone()) {
            (Node::Next(x), Node::Next(y)) => {
                let both = self.until(x, y);
                return self.next(both);
            }
            (_, Node::Until(c, y)) => {
                if self.implies(a, c) {
                    return b; // R7
                }
                if self.implies(c, a) {
                    return self.until(a, y); // R7
                }
            }
            (_, Node::WeakUntil(c, _)) if self.implies(a, c) => return b, // R7
            (Node::Until(x, y) | Node::WeakUntil(x, y), _) if y == b => return self.until(x, y),
            _ => {}
        }
        self.intern(Node::Until(a, b))
    }

    pub fn weak_until(&mut self, a: Id, b: Id) -> Id {
        if self.is_universal(a) {
            return self.or(vec![a, b]); // R5
        }
        if self.implies(a, b) {
            return b; // R6
        }
        let not_a = self.negate(a);
        if self.implies(not_a, b) {
            return Id::TRUE; // R6
        }
        if b == Id::FALSE {
            return self.always(a);
        }
        let parts = self.disjuncts(b);
        let (mut out, rest) = self.split(&parts, Pool::is_eventual);
        if !out.is_empty() {
            let rest = self.or(rest);
            out.push(self.weak_until(a, rest));
            return self.or(out); // R5
        }
        match (self.node(a).clone(), self.node(b).clone()) {
            (Node::Next(x), Node::Next(y)) => {
                let both = self.weak_until(x, y);
                return self.next(both);
            }
            (_, Node::WeakUntil(c, y)) => {
                if self.implies(a, c) {
                    return b; // R7
                }
                if self.implies(c, a) {
                    return self.weak_until(a, y); // R7
                }
            }
            (_, Node::Until(c, y)) if self.implies(c, a) => return self.weak_until(a, y), // R7
            (Node::WeakUntil(_, y), _) if y == b => return a,
            (Node::Until(_, y), _) if y == b => return a,
            _ => {}
        }
        self.intern(Node::WeakUntil(a, b))
    }

    fn split(&self, parts: &[Id], out: impl Fn(&Pool, Id) -> bool) -> (Vec<Id>, Vec<Id>) {
        parts.iter().partition(|&&p| out(self, p))
    }

    /// Does every word that satisfies `a` satisfy `b`? May say no to what is so, never yes to what is not.
    pub fn implies(&mut self, a: Id, b: Id) -> bool {
        if a == b || a == Id::FALSE || b == Id::TRUE {
            return true;
        }
        if let Some(&known) = self.implied.get(&(a, b)) {
            return known;
        }
        let (left, right) = (self.node(a).clone(), self.node(b).clone());
        let answer = match (&left, &right) {
            (&Node::Bool(g), &Node::Bool(h)) => self.guards.implies(g, h),
            (_, Node::And(parts)) => parts.iter().all(|&p| self.implies(a, p)),
            (Node::Or(parts), _) => parts.iter().all(|&p| self.implies(p, b)),
            (&Node::Next(x), &Node::Next(y)) if self.implies(x, y) => true,
            (&Node::Until(x, y), &(Node::Until(z, t) | Node::WeakUntil(z, t)))
            | (&Node::WeakUntil(x, y), &Node::WeakUntil(z, t))
                if self.implies(x, z) && self.implies(y, t) =>
            {
                true
            }
            _ => {
                let from_left = match left {
                    Node::And(parts) => parts.iter().any(|&p| self.implies(p, b)),
                    Node::Always(x) => self.implies(x, b),
                    Node::Eventually(x) | Node::Next(x) => self.is_eventual(b) && self.implies(x, b),
                    Node::Until(x, y) => self.implies(y, b) && (self.is_eventual(b) || self.implies(x, b)),
                    Node::WeakUntil(x, y) => self.implies(y, b) && self.implies(x, b),
                    _ => false,
                };
                from_left
                    || match right {
                        Node::Or(parts) => parts.iter().any(|&p| self.implies(a, p)),
                        Node::Eventually(y) | Node::Until(_, y) if self.implies(a, y) => true,
                        Node::WeakUntil(z, y) => self.implies(a, y) || (self.is_universal(a) && self.implies(a, z)),
                        Node::Always(y) | Node::Next(y) => self.is_universal(a) && self.implies(a, y),
                        _ => false,
                    }
            }
        };
        self.implied.insert((a, b), answer);
        answer
    }
}
