//! Formulas in negation normal form, each kept once.
//!
//! # The argument
//!   A formula without temporal operators is one node, a boolean function: canonical, so negation and implication
//!   of such parts are exact. Of the temporal operators `X`, `F`, `G`, `U` and `W` are enough:
//!   `a R b` is `b W (a && b)`, and the same thing has the same one-step unfolding in both spellings.
//!   Conjunctions and disjunctions are flat, sorted, and hold at most one boolean node.
//!
//!   A formula is *eventual* if it stays true when anything is put before the word, *universal* if it stays true
//!   when the word loses its beginning (Etessami and Holzmann's pure formulas). Both flags may miss a formula, but
//!   never claim what is not so.
//!
//! # Invariants
//!   P1 a node's parts are older than it
//!   P2 conjunctions and disjunctions have two parts at least, in order, each once
//!
//! Nodes are made by the constructors of `rules`, which simplify; here is what they stand on.

use crate::formula::{Formula, PropId};
use crate::guards::{Cube, Guard, Guards};
use crate::hash::QuickMap;

/// A formula of the pool.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Id(u32);

impl Id {
    pub const FALSE: Id = Id(0);
    pub const TRUE: Id = Id(1);
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Node {
    Bool(Guard),
    And(Vec<Id>),
    Or(Vec<Id>),
    Next(Id),
    Eventually(Id),
    Always(Id),
    Until(Id, Id),
    WeakUntil(Id, Id),
}

pub struct Pool {
    nodes: Vec<Node>,
    numbers: QuickMap<Node, Id>,
    eventual: Vec<bool>,
    universal: Vec<bool>,
    pub guards: Guards,
    /// What the columns of the guards stand for, in the order in which the formulas name them: propositions that
    /// are named together stay together, which keeps the diagrams small.
    pub props: Vec<PropId>,
    pub(crate) negations: QuickMap<Id, Id>,
    pub(crate) implied: QuickMap<(Id, Id), bool>,
    unfolded: QuickMap<(Id, Id), bool>,
}

impl Default for Pool {
    fn default() -> Pool {
        let mut pool = Pool {
            nodes: Vec::new(),
            numbers: QuickMap::default(),
            eventual: Vec::new(),
            universal: Vec::new(),
            guards: Guards::new(),
            props: Vec::new(),
            negations: QuickMap::default(),
            implied: QuickMap::default(),
            unfolded: QuickMap::default(),
        };
        pool.intern(Node::Bool(Guard::FALSE));
        pool.intern(Node::Bool(Guard::TRUE));
        pool
    }
}

impl Pool {
    pub fn node(&self, id: Id) -> &Node {
        &self.nodes[id.0 as usize]
    }

    pub fn is_eventual(&self, id: Id) -> bool {
        self.eventual[id.0 as usize]
    }

    pub fn is_universal(&self, id: Id) -> bool {
        self.universal[id.0 as usize]
    }

    /// Eventual and universal: all positions of a word agree about it.
    pub fn is_timeless(&self, id: Id) -> bool {
        self.is_eventual(id) && self.is_universal(id)
    }

    pub fn intern(&mut self, node: Node) -> Id {
        if let Some(&id) = self.numbers.get(&node) {
            return id;
        }
        let all = |flags: &[bool], parts: &[Id]| parts.iter().all(|p| flags[p.0 as usize]);
        let (e, u) = (&self.eventual, &self.universal);
        let (eventual, universal) = match &node {
            Node::Bool(g) => {
                let constant = *g == Guard::FALSE || *g == Guard::TRUE;
                (constant, constant)
            }
            Node::And(parts) | Node::Or(parts) => (all(e, parts), all(u, parts)),
            Node::Next(a) => (all(e, &[*a]), all(u, &[*a])),
            Node::Eventually(a) => (true, all(u, &[*a])),
            Node::Always(a) => (all(e, &[*a]), true),
            // Were `b` eventual, the formula would be written without the until.
            Node::Until(_, b) | Node::WeakUntil(_, b) => (false, all(u, &[*b])),
        };
        debug_assert!(check_parts(&node, self.nodes.len()), "P1, P2");
        let id = Id(u32::try_from(self.nodes.len()).expect("fewer than 2^32 formulas"));
        self.nodes.push(node.clone());
        self.eventual.push(eventual);
        self.universal.push(universal);
        self.numbers.insert(node, id);
        id
    }

    /// The conjuncts, or the formula itself.
    pub fn conjuncts(&self, id: Id) -> Vec<Id> {
        match self.node(id) {
            Node::And(parts) => parts.clone(),
            _ if id == Id::TRUE => Vec::new(),
            _ => vec![id],
        }
    }

    pub fn disjuncts(&self, id: Id) -> Vec<Id> {
        match self.node(id) {
            Node::Or(parts) => parts.clone(),
            _ if id == Id::FALSE => Vec::new(),
            _ => vec![id],
        }
    }

    /// The temporal operators of a formula, equal parts counted once.
    pub fn n_operators(&self, id: Id) -> usize {
        let mut seen = vec![false; self.nodes.len()];
        let mut todo = vec![id];
        let mut n = 0;
        while let Some(id) = todo.pop() {
            if std::mem::replace(&mut seen[id.0 as usize], true) {
                continue;
            }
            n += !matches!(self.node(id), Node::Bool(_) | Node::And(_) | Node::Or(_)) as usize;
            match self.node(id) {
                Node::Bool(_) => {}
                Node::And(parts) | Node::Or(parts) => todo.extend(parts),
                &Node::Next(a) | &Node::Eventually(a) | &Node::Always(a) => todo.push(a),
                &Node::Until(a, b) | &Node::WeakUntil(a, b) => todo.extend([a, b]),
            }
        }
        n
    }

    /// Is the one-step unfolding of `b` implied by that of `a`, the formulas about the next state and the promises
    /// taken as letters? Then a set that holds `a` unfolds the same with or without `b`. This is less than
    /// implication: `G F p` and `F p` are so related, `F p` and `F (p || q)` are not, as their promises differ.
    /// May say no to what is so, never yes to what is not.
    pub fn unfolds_within(&mut self, a: Id, b: Id) -> bool {
        if a == b || a == Id::FALSE || b == Id::TRUE {
            return true;
        }
        if let Some(&known) = self.unfolded.get(&(a, b)) {
            return known;
        }
        let answer = match (self.node(a).clone(), self.node(b).clone()) {
            (Node::Bool(g), Node::Bool(h)) => self.guards.implies(g, h),
            (_, Node::And(parts)) => parts.iter().all(|&p| self.unfolds_within(a, p)),
            (Node::Or(parts), _) => parts.iter().all(|&p| self.unfolds_within(p, b)),
            (left, right) => {
                let from_left = match left {
                    Node::And(parts) => parts.iter().any(|&p| self.unfolds_within(p, b)),
                    Node::Always(x) => self.unfolds_within(x, b),
                    Node::Until(x, y) | Node::WeakUntil(x, y) => self.unfolds_within(x, b) && self.unfolds_within(y, b),
                    _ => false,
                };
                from_left
                    || match right {
                        Node::Or(parts) => parts.iter().any(|&p| self.unfolds_within(a, p)),
                        Node::Eventually(y) | Node::Until(_, y) | Node::WeakUntil(_, y) => self.unfolds_within(a, y),
                        _ => false,
                    }
            }
        };
        self.unfolded.insert((a, b), answer);
        answer
    }

    /// Brings a formula in, simplified.
    pub fn build(&mut self, formula: &Formula) -> Id {
        match formula {
            Formula::True => Id::TRUE,
            Formula::False => Id::FALSE,
            Formula::Prop(p) => {
                let column = self.props.iter().position(|q| q == p).unwrap_or_else(|| {
                    self.props.push(*p);
                    self.props.len() - 1
                });
                let guard = self.guards.column(column as u32);
                self.intern(Node::Bool(guard))
            }
            Formula::Not(a) => {
                let a = self.build(a);
                self.negate(a)
            }
            Formula::Next(a) => {
                let a = self.build(a);
                self.next(a)
            }
            Formula::Always(a) => {
                let a = self.build(a);
                self.always(a)
            }
            Formula::Eventually(a) => {
                let a = self.build(a);
                self.eventually(a)
            }
            Formula::And(a, b)
            | Formula::Or(a, b)
            | Formula::Implies(a, b)
            | Formula::Equivalent(a, b)
            | Formula::Until(a, b)
            | Formula::WeakUntil(a, b)
            | Formula::Release(a, b) => {
                let (a, b) = (self.build(a), self.build(b));
                match formula {
                    Formula::And(..) => self.and(vec![a, b]),
                    Formula::Or(..) => self.or(vec![a, b]),
                    Formula::Implies(..) => {
                        let not_a = self.negate(a);
                        self.or(vec![not_a, b])
                    }
                    Formula::Equivalent(..) => {
                        let (not_a, not_b) = (self.negate(a), self.negate(b));
                        let (both, neither) = (self.and(vec![a, b]), self.and(vec![not_a, not_b]));
                        self.or(vec![both, neither])
                    }
                    Formula::Until(..) => self.until(a, b),
                    Formula::WeakUntil(..) => self.weak_until(a, b),
                    _ => {
                        let both = self.and(vec![a, b]);
                        self.weak_until(b, both)
                    }
                }
            }
        }
    }

    /// The formula in the spelling of the outside.
    pub fn formula(&mut self, id: Id) -> Formula {
        let boxed = |pool: &mut Pool, a: Id| Box::new(pool.formula(a));
        match self.node(id).clone() {
            Node::Bool(g) => self.boolean(g, g),
            Node::And(parts) => {
                let parts = parts.into_iter().map(|p| self.formula(p)).collect();
                joined(parts, Formula::True, Formula::And)
            }
            Node::Or(parts) => {
                let parts = parts.into_iter().map(|p| self.formula(p)).collect();
                joined(parts, Formula::False, Formula::Or)
            }
            Node::Next(a) => Formula::Next(boxed(self, a)),
            Node::Eventually(a) => Formula::Eventually(boxed(self, a)),
            Node::Always(a) => Formula::Always(boxed(self, a)),
            Node::Until(a, b) => Formula::Until(boxed(self, a), boxed(self, b)),
            Node::WeakUntil(a, b) if self.implies(b, a) => {
                let left = boxed(self, a);
                let right = match (self.node(a).clone(), self.node(b).clone()) {
                    // Only where `a` holds does it matter what releases it.
                    (Node::Bool(a), Node::Bool(b)) => {
                        let not_a = self.guards.not(a);
                        let most = self.guards.or(b, not_a);
                        Box::new(self.boolean(b, most))
                    }
                    _ => boxed(self, b),
                };
                Formula::Release(right, left)
            }
            Node::WeakUntil(a, b) => Formula::WeakUntil(boxed(self, a), boxed(self, b)),
        }
    }

    /// The shorter of a sum of products and a product of sums that lies between the two functions.
    fn boolean(&mut self, least: Guard, most: Guard) -> Formula {
        let (not_least, not_most) = (self.guards.not(least), self.guards.not(most));
        let sum = self.guards.cubes_between(least, most);
        let product = self.guards.cubes_between(not_most, not_least);
        let length = |cubes: &[Cube]| cubes.iter().map(|c| c.len()).sum::<usize>();
        let props = self.props.clone();
        let of = |cubes: Vec<Cube>, kept: bool| -> Vec<Vec<Formula>> {
            let literal = |(c, value): (u32, bool)| {
                let prop = Formula::Prop(props[c as usize]);
                if value == kept { prop } else { Formula::Not(Box::new(prop)) }
            };
            cubes.into_iter().map(|cube| cube.into_iter().map(literal).collect()).collect()
        };
        if length(&sum) <= length(&product) {
            let terms = of(sum, true).into_iter().map(|t| joined(t, Formula::True, Formula::And)).collect();
            joined(terms, Formula::False, Formula::Or)
        } else {
            let clauses = of(product, false).into_iter().map(|t| joined(t, Formula::False, Formula::Or)).collect();
            joined(clauses, Formula::True, Formula::And)
        }
    }
}

/// P1, P2, of a node before which there are so many.
fn check_parts(node: &Node, n: usize) -> bool {
    let older = |id: &Id| (id.0 as usize) < n;
    match node {
        Node::Bool(_) => true,
        Node::And(parts) | Node::Or(parts) => {
            parts.len() > 1 && parts.is_sorted_by(|a, b| a < b) && parts.iter().all(older)
        }
        Node::Next(a) | Node::Eventually(a) | Node::Always(a) => older(a),
        Node::Until(a, b) | Node::WeakUntil(a, b) => older(a) && older(b),
    }
}

fn joined(parts: Vec<Formula>, none: Formula, join: fn(Box<Formula>, Box<Formula>) -> Formula) -> Formula {
    parts.into_iter().reduce(|a, b| join(Box::new(a), Box::new(b))).unwrap_or(none)
}
