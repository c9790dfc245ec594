//! Simplification of conjunctions and disjunctions: rules R8 to R12 of `rules`.

use crate::guards::Guard;
use crate::pool::{Id, Node, Pool};

/// Above this many parts, pairs of parts are not compared.
const MOST_PARTS: usize = 64;

impl Pool {
    pub fn and(&mut self, parts: Vec<Id>) -> Id {
        let mut parts = self.flat(parts, true);
        if parts.contains(&Id::FALSE) {
            return Id::FALSE;
        }
        if parts.len() > MOST_PARTS {
            return self.conjunction(parts);
        }
        let mut i = 0;
        while i < parts.len() {
            let mut j = i + 1;
            while j < parts.len() {
                if let Some(joined) = self.both(parts[i], parts[j]) {
                    parts.swap_remove(j);
                    parts.swap_remove(i);
                    parts.extend(joined);
                    return self.and(parts);
                }
                j += 1;
            }
            i += 1;
        }
        self.conjunction(parts)
    }

    pub fn or(&mut self, parts: Vec<Id>) -> Id {
        let mut parts = self.flat(parts, false);
        if parts.contains(&Id::TRUE) {
            return Id::TRUE;
        }
        if parts.len() > MOST_PARTS {
            return self.disjunction(parts);
        }
        let mut i = 0;
        while i < parts.len() {
            let mut j = i + 1;
            while j < parts.len() {
                if let Some(joined) = self.either(parts[i], parts[j]) {
                    parts.swap_remove(j);
                    parts.swap_remove(i);
                    parts.extend(joined);
                    return self.or(parts);
                }
                j += 1;
            }
            i += 1;
        }
        self.disjunction(parts)
    }

    fn conjunction(&mut self, parts: Vec<Id>) -> Id {
        match parts[..] {
            [] => Id::TRUE,
            [only] => only,
            _ => self.intern(Node::And(parts)),
        }
    }

    fn disjunction(&mut self, parts: Vec<Id>) -> Id {
        match parts[..] {
            [] => Id::FALSE,
            [only] => only,
            _ => self.intern(Node::Or(parts)),
        }
    }

    /// Nested joins opened, boolean parts made one, sorted, without the neutral part.
    fn flat(&mut self, parts: Vec<Id>, is_and: bool) -> Vec<Id> {
        let neutral = if is_and { Guard::TRUE } else { Guard::FALSE };
        let mut bool = neutral;
        let mut flat = Vec::new();
        let mut todo = parts;
        while let Some(part) = todo.pop() {
            match self.node(part) {
                Node::And(inner) if is_and => todo.extend(inner),
                Node::Or(inner) if !is_and => todo.extend(inner),
                &Node::Bool(g) => bool = if is_and { self.guards.and(bool, g) } else { self.guards.or(bool, g) },
                _ => flat.push(part),
            }
        }
        if bool != neutral {
            flat.push(self.bool(bool));
        }
        flat.sort_unstable();
        flat.dedup();
        let is_bool = |part: &&Id| matches!(self.node(**part), Node::Bool(_));
        debug_assert!(flat.iter().filter(is_bool).count() <= 1, "boolean parts are one");
        flat
    }

    /// What two conjuncts can be replaced by.
    fn both(&mut self, a: Id, b: Id) -> Option<Vec<Id>> {
        if self.implies(a, b) {
            return Some(vec![a]); // R8
        }
        if self.implies(b, a) {
            return Some(vec![b]); // R8
        }
        let not_b = self.negate(b);
        if self.implies(a, not_b) {
            return Some(vec![Id::FALSE]); // R8
        }
        let not_a = self.negate(a);
        if self.implies(b, not_a) {
            return Some(vec![Id::FALSE]); // R8
        }
        self.both_in_order(a, b).or_else(|| self.both_in_order(b, a))
    }

    fn both_in_order(&mut self, a: Id, b: Id) -> Option<Vec<Id>> {
        let joined = match (self.node(a).clone(), self.node(b).clone()) {
            (Node::Next(x), Node::Next(y)) => {
                let both = self.and(vec![x, y]);
                self.next(both)
            }
            // G F stays apart: it is timeless.
            (Node::Always(x), Node::Always(y)) if !self.is_eventual(x) && !self.is_eventual(y) => {
                let both = self.and(vec![x, y]);
                self.always(both) // R9
            }
            (Node::Eventually(x), Node::Eventually(y)) if self.is_universal(x) && self.is_universal(y) => {
                let both = self.and(vec![x, y]);
                self.eventually(both) // R11
            }
            (Node::Until(x, y), Node::Until(z, t) | Node::WeakUntil(z, t)) if y == t => {
                let both = self.and(vec![x, z]);
                self.until(both, y) // R9
            }
            (Node::WeakUntil(x, y), Node::WeakUntil(z, t)) if y == t => {
                let both = self.and(vec![x, z]);
                self.weak_until(both, y) // R9
            }
            (Node::WeakUntil(x, y), Node::Eventually(z)) if y == z => self.until(x, y), // R9
            (Node::Always(x), Node::Until(z, y)) if self.implies(x, z) => {
                let eventually = self.eventually(y);
                return Some(vec![a, eventually]); // R9
            }
            (Node::Next(x), _) => match self.node(x).clone() {
                Node::Always(y) if self.implies(b, y) => return Some(vec![x, b]), // R12
                _ => return None,
            },
            _ => return None,
        };
        Some(vec![joined])
    }

    /// What two disjuncts can be replaced by.
    fn either(&mut self, a: Id, b: Id) -> Option<Vec<Id>> {
        if self.implies(a, b) {
            return Some(vec![b]); // R8
        }
        if self.implies(b, a) {
            return Some(vec![a]); // R8
        }
        let not_a = self.negate(a);
        if self.implies(not_a, b) {
            return Some(vec![Id::TRUE]); // R8
        }
        let not_b = self.negate(b);
        if self.implies(not_b, a) {
            return Some(vec![Id::TRUE]); // R8
        }
        self.either_in_order(a, b).or_else(|| self.either_in_order(b, a))
    }

    fn either_in_order(&mut self, a: Id, b: Id) -> Option<Vec<Id>> {
        let joined = match (self.node(a).clone(), self.node(b).clone()) {
            (Node::Next(x), Node::Next(y)) => {
                let either = self.or(vec![x, y]);
                self.next(either)
            }
            (Node::Eventually(x), Node::Eventually(y)) => {
                let either = self.or(vec![x, y]);
                self.eventually(either) // R10
            }
            (Node::Always(x), Node::Always(y)) if self.is_eventual(x) && self.is_eventual(y) => {
                let either = self.or(vec![x, y]);
                self.always(either) // R11
            }
            (Node::Until(x, y), Node::Until(z, t)) if x == z => {
                let either = self.or(vec![y, t]);
                self.until(x, either) // R10
            }
            (Node::WeakUntil(x, y), Node::Until(z, t) | Node::WeakUntil(z, t)) if x == z => {
                let either = self.or(vec![y, t]);
                self.weak_until(x, either) // R10
            }
            (Node::Always(x), Node::Until(z, y)) if x == z => self.weak_until(x, y), // R10
            (Node::Eventually(x), Node::WeakUntil(z, y)) if x == y => {
                let always = self.always(z);
                return Some(vec![a, always]);
            }
            (Node::Next(x), _) => match self.node(x).clone() {
                Node::Eventually(y) if self.implies(y, b) => return Some(vec![x, b]), // R12
                _ => return None,
            },
            _ => return None,
        };
        Some(vec![joined])
    }
}
