//! Boolean functions over the propositions of an automaton, each kept once: binary decision diagrams.
//!
//! # The argument
//!   A node asks one proposition and goes to `low` or `high`; along any path the propositions come in the order of
//!   their columns, no node has `low == high`, and no two nodes are equal. So a function has exactly one node, and
//!   two guards are equal if their numbers are: merging, implication and subtraction of guards, which all
//!   reductions of automata are made of, cost a look into a table.
//!   Evaluation follows one path: a step for each proposition asked.
//!
//!   Lists of cubes would evaluate as quickly, but equality of two lists is a hard question.
//!
//!   Most pairs of guards that are compared exclude each other, because one asks a proposition to be true and the other
//!   the same one to be false. So each node knows which of the first 64 columns it *needs*, true or false, and such
//!   pairs cost two words and no table.
//!
//! # Invariants
//!   I1 a node's column is less than those of its `low` and `high`
//!   I2 no node has equal `low` and `high`, no two nodes are equal
//!   I3 a valuation at which a node is true has all that the node needs
//!
//! # Owed
//!   O1 cubes cover the guard and nothing else    tests: random functions
//!
//! # Cost  28 bytes a node and its entry in a table; nodes are freed only by `Automaton::compact`. The table of results
//! is emptied when it is full.

use crate::hash::QuickMap;

/// A boolean function, in the `Guards` that made it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Guard(u32);

impl Guard {
    pub const FALSE: Guard = Guard(0);
    pub const TRUE: Guard = Guard(1);
}

/// A conjunction: columns that are asked to be true or false, in the order of the columns.
pub type Cube = Vec<(u32, bool)>;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Node {
    column: u32,
    low: Guard,
    high: Guard,
}

/// Columns below 64 that are true, and that are false, wherever a function is true.
#[derive(Clone, Copy, Default, Debug)]
struct Needs {
    high: u64,
    low: u64,
}

/// In debug builds one of so many results is tried.
const SOME: u64 = 8;

/// The truth of a column in the so-many-th valuation for checks.
fn some_bit(column: u32, nth: u64) -> bool {
    let mixed = (u64::from(column) << 32 ^ nth).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed >> 40 & 1 == 1
}

/// Results that are remembered at a time.
const MOST_CHOICES: usize = 1 << 19;

/// See the module.
#[derive(Clone, Debug)]
pub struct Guards {
    nodes: Vec<Node>,
    needs: Vec<Needs>,
    numbers: QuickMap<Node, Guard>,
    choices: QuickMap<(Guard, Guard, Guard), Guard>,
    /// Looks into the tables since somebody asked.
    steps: u64,
}

impl Default for Guards {
    fn default() -> Guards {
        Guards::new()
    }
}

impl Guards {
    pub fn new() -> Guards {
        let leaf = |g| Node { column: u32::MAX, low: g, high: g };
        Guards {
            nodes: vec![leaf(Guard::FALSE), leaf(Guard::TRUE)],
            needs: vec![Needs::default(); 2],
            steps: 0,
            numbers: QuickMap::default(),
            choices: QuickMap::default(),
        }
    }

    /// Does the function hold, when bit `c` of `bits` is the truth of column `c`?
    pub fn holds(&self, guard: Guard, bits: &[u64]) -> bool {
        let mut at = guard;
        while at.0 > 1 {
            let node = &self.nodes[at.0 as usize];
            let bit = bits[node.column as usize / 64] >> (node.column % 64) & 1;
            at = if bit == 1 { node.high } else { node.low };
        }
        let needs = self.needs[guard.0 as usize];
        let lacks = |first: u64| !first & needs.high | first & needs.low;
        debug_assert!(at != Guard::TRUE || lacks(bits.first().copied().unwrap_or(0)) == 0, "I3");
        at == Guard::TRUE
    }

    /// The same where the truth of a column is said one by one.
    pub(crate) fn truth(&self, guard: Guard, bit: impl Fn(u32) -> bool) -> bool {
        let mut at = guard;
        while at.0 > 1 {
            let node = &self.nodes[at.0 as usize];
            at = if bit(node.column) { node.high } else { node.low };
        }
        at == Guard::TRUE
    }

    /// For checks: at some valuations, a function is what another one is of the columns that are those of its own.
    pub(crate) fn is_image(&self, image: Guard, from: &Guards, guard: Guard, columns: &[u32]) -> bool {
        (0..2).all(|nth| {
            let bit = |c: u32| some_bit(c, nth);
            self.truth(image, bit) == from.truth(guard, |c| bit(columns[c as usize]))
        })
    }

    pub fn column(&mut self, column: u32) -> Guard {
        self.node(column, Guard::FALSE, Guard::TRUE)
    }

    pub fn not(&mut self, a: Guard) -> Guard {
        self.choice(a, Guard::FALSE, Guard::TRUE)
    }

    pub fn and(&mut self, a: Guard, b: Guard) -> Guard {
        if self.surely_exclude(a, b) {
            debug_assert!(!self.truth(a, |c| self.bit(c)) || !self.truth(b, |c| self.bit(c)), "I3");
            return Guard::FALSE;
        }
        // Conjunction is symmetric: one entry in the table serves both orders.
        let (a, b) = if a <= b { (a, b) } else { (b, a) };
        self.choice(a, b, Guard::FALSE)
    }

    pub fn or(&mut self, a: Guard, b: Guard) -> Guard {
        let (a, b) = if a <= b { (a, b) } else { (b, a) };
        self.choice(a, Guard::TRUE, b)
    }

    /// What is in `a` and not in `b`.
    pub fn minus(&mut self, a: Guard, b: Guard) -> Guard {
        if self.surely_exclude(a, b) {
            return a;
        }
        self.choice(b, Guard::FALSE, a)
    }

    /// Is nothing in both? Says no where it would take a look into the tables.
    fn surely_exclude(&self, a: Guard, b: Guard) -> bool {
        let (a, b) = (self.needs[a.0 as usize], self.needs[b.0 as usize]);
        a.high & b.low | a.low & b.high != 0
    }

    /// The work done since this was asked last: the measure of effort for whoever must end in time.
    pub(crate) fn take_steps(&mut self) -> u64 {
        std::mem::take(&mut self.steps)
    }

    /// Of nodes and tables.
    pub(crate) fn bytes(&self) -> usize {
        let node = size_of::<Node>() + size_of::<Needs>();
        let entry = size_of::<(Node, Guard)>();
        let choice = size_of::<((Guard, Guard, Guard), Guard)>();
        self.nodes.capacity() * node + self.numbers.capacity() * entry + self.choices.capacity() * choice
    }

    pub fn implies(&mut self, a: Guard, b: Guard) -> bool {
        a == b || self.minus(a, b) == Guard::FALSE
    }

    /// Few cubes whose union is the function, none of which can be left out or shortened (Minato and Morreale).
    pub fn cubes(&mut self, guard: Guard) -> Vec<Cube> {
        self.cubes_between(guard, guard)
    }

    /// The same for some function that `least` implies and that implies `most`.
    pub(crate) fn cubes_between(&mut self, least: Guard, most: Guard) -> Vec<Cube> {
        debug_assert!(self.implies(least, most), "there is something between");
        let (cubes, covered) = self.between(least, most);
        debug_assert!(self.is_cover(&cubes, covered, (least, most)), "O1");
        debug_assert!(cubes.iter().all(|cube| cube.is_sorted_by(|a, b| a.0 < b.0)), "a cube asks a column once");
        cubes
    }

    /// A cube inside of the function, which is not false.
    pub fn example(&self, guard: Guard) -> Cube {
        assert!(guard != Guard::FALSE, "what is false has no example");
        let mut cube = Cube::new();
        let mut at = guard;
        while at != Guard::TRUE {
            let Node { column, low, high } = self.nodes[at.0 as usize];
            let value = low == Guard::FALSE;
            cube.push((column, value));
            at = if value { high } else { low };
        }
        let asked = |c: u32| cube.iter().any(|(column, value)| *column == c && *value);
        debug_assert!(self.truth(guard, asked), "the example is one, whatever it does not ask");
        cube
    }

    /// The columns that the function depends on, in their order.
    pub fn columns(&self, guard: Guard) -> Vec<u32> {
        let mut seen = vec![guard];
        let mut columns = Vec::new();
        let mut next = 0;
        while next < seen.len() {
            let at = seen[next];
            next += 1;
            if at.0 > 1 {
                let Node { column, low, high } = self.nodes[at.0 as usize];
                columns.push(column);
                for part in [low, high] {
                    if !seen.contains(&part) {
                        seen.push(part);
                    }
                }
            }
        }
        columns.sort_unstable();
        columns.dedup();
        columns
    }

    /// Brings over a function of other guards, whose column `c` is our column `columns[c]`. `done` remembers what
    /// has been brought over already and belongs to one pair of pools and one list of columns.
    pub fn import(&mut self, from: &Guards, guard: Guard, columns: &[u32], done: &mut QuickMap<Guard, Guard>) -> Guard {
        if guard.0 <= 1 {
            return guard;
        }
        if let Some(&g) = done.get(&guard) {
            return g;
        }
        let node = from.nodes[guard.0 as usize];
        let low = self.import(from, node.low, columns, done);
        let high = self.import(from, node.high, columns, done);
        let column = self.column(columns[node.column as usize]);
        let ours = self.choice(column, high, low);
        done.insert(guard, ours);
        ours
    }

    fn node(&mut self, column: u32, low: Guard, high: Guard) -> Guard {
        if low == high {
            return low;
        }
        let node = Node { column, low, high };
        debug_assert!(column < self.top(low) && column < self.top(high), "I1");
        let (below_low, below_high) = (self.needs[low.0 as usize], self.needs[high.0 as usize]);
        let bit = 1u64.checked_shl(column).unwrap_or(0);
        let needs = match (low, high) {
            (Guard::FALSE, _) => Needs { high: below_high.high | bit, ..below_high },
            (_, Guard::FALSE) => Needs { low: below_low.low | bit, ..below_low },
            _ => Needs { high: below_low.high & below_high.high, low: below_low.low & below_high.low },
        };
        let guard = *self.numbers.entry(node).or_insert_with(|| {
            self.nodes.push(node);
            self.needs.push(needs);
            Guard(u32::try_from(self.nodes.len() - 1).expect("fewer than 2^32 nodes"))
        });
        debug_assert!(self.nodes[guard.0 as usize] == node && self.numbers.len() + 2 == self.nodes.len(), "I2");
        guard
    }

    fn top(&self, a: Guard) -> u32 {
        self.nodes[a.0 as usize].column
    }

    /// `a` with the top column set.
    fn cofactors(&self, a: Guard, column: u32) -> (Guard, Guard) {
        let node = self.nodes[a.0 as usize];
        if node.column == column { (node.low, node.high) } else { (a, a) }
    }

    /// If `a` then `b` else `c`.
    fn choice(&mut self, a: Guard, b: Guard, c: Guard) -> Guard {
        match (a, b, c) {
            (Guard::TRUE, b, _) => return b,
            (Guard::FALSE, _, c) => return c,
            (a, Guard::TRUE, Guard::FALSE) => return a,
            (_, b, c) if b == c => return b,
            (a, b, Guard::FALSE) if a == b => return a,
            (a, Guard::TRUE, c) if a == c => return a,
            _ => {}
        }
        self.steps += 1;
        if let Some(&g) = self.choices.get(&(a, b, c)) {
            return g;
        }
        let column = self.top(a).min(self.top(b)).min(self.top(c));
        let ((a0, a1), (b0, b1), (c0, c1)) =
            (self.cofactors(a, column), self.cofactors(b, column), self.cofactors(c, column));
        let low = self.choice(a0, b0, c0);
        let high = self.choice(a1, b1, c1);
        let result = self.node(column, low, high);
        if self.choices.len() >= MOST_CHOICES {
            self.choices.clear();
        }
        self.choices.insert((a, b, c), result);
        debug_assert!(
            !self.steps.is_multiple_of(SOME) || self.is_choice(result, (a, b, c)),
            "of two functions, the one that is chosen"
        );
        result
    }

    /// The truth of a column for checks, another one after each step.
    fn bit(&self, column: u32) -> bool {
        some_bit(column, self.steps)
    }

    fn is_choice(&self, result: Guard, (a, b, c): (Guard, Guard, Guard)) -> bool {
        let [result, a, b, c] = [result, a, b, c].map(|g| self.truth(g, |c| self.bit(c)));
        result == if a { b } else { c }
    }

    /// At some valuations: what is covered lies between, and is what the cubes say.
    fn is_cover(&self, cubes: &[Cube], covered: Guard, (least, most): (Guard, Guard)) -> bool {
        let bit = |c: u32| self.bit(c);
        let [covered, least, most] = [covered, least, most].map(|g| self.truth(g, bit));
        let by_cubes = cubes.iter().any(|cube| cube.iter().all(|(c, value)| bit(*c) == *value));
        least <= covered && covered <= most && covered == by_cubes
    }

    /// Cubes that cover at least `least` and at most `most`, and their union.
    fn between(&mut self, least: Guard, most: Guard) -> (Vec<Cube>, Guard) {
        if least == Guard::FALSE {
            return (Vec::new(), Guard::FALSE);
        }
        if most == Guard::TRUE {
            return (vec![Cube::new()], Guard::TRUE);
        }
        let column = self.top(least).min(self.top(most));
        let ((least0, least1), (most0, most1)) = (self.cofactors(least, column), self.cofactors(most, column));
        let only0 = self.minus(least0, most1);
        let only1 = self.minus(least1, most0);
        let (cubes0, covered0) = self.between(only0, most0);
        let (cubes1, covered1) = self.between(only1, most1);
        let left0 = self.minus(least0, covered0);
        let left1 = self.minus(least1, covered1);
        let (left, both) = (self.or(left0, left1), self.and(most0, most1));
        let (mut cubes, covered) = self.between(left, both);
        let (low, high) = (self.or(covered0, covered), self.or(covered1, covered));
        for (value, part) in [(false, cubes0), (true, cubes1)] {
            cubes.extend(part.into_iter().map(|mut cube| {
                cube.insert(0, (column, value));
                cube
            }));
        }
        (cubes, self.node(column, low, high))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn truth(guards: &Guards, g: Guard) -> Vec<bool> {
        (0..16u64).map(|bits| guards.holds(g, &[bits])).collect()
    }

    #[test]
    fn every_function_of_four_columns_is_the_sum_of_its_cubes_and_has_one_number() {
        let mut guards = Guards::new();
        for wanted in (0..1u32 << 16).step_by(7) {
            let mut g = Guard::FALSE;
            for row in 0..16u32 {
                if wanted >> row & 1 == 1 {
                    let mut cube = Guard::TRUE;
                    for c in 0..4 {
                        let column = guards.column(c);
                        let literal = if row >> c & 1 == 1 { column } else { guards.not(column) };
                        cube = guards.and(cube, literal);
                    }
                    g = guards.or(g, cube);
                }
            }
            let expected: Vec<bool> = (0..16).map(|row| wanted >> row & 1 == 1).collect();
            assert_eq!(truth(&guards, g), expected);
            let mut sum = Guard::FALSE;
            for cube in guards.cubes(g) {
                let mut product = Guard::TRUE;
                for (c, value) in cube {
                    let column = guards.column(c);
                    let literal = if value { column } else { guards.not(column) };
                    product = guards.and(product, literal);
                }
                sum = guards.or(sum, product);
            }
            assert_eq!(sum, g, "O1: {wanted:016b}");
        }
    }

    #[test]
    fn columns_beyond_the_first_word_are_asked() {
        let mut guards = Guards::new();
        let (a, b) = (guards.column(3), guards.column(130));
        let g = guards.and(a, b);
        assert!(guards.holds(g, &[8, 0, 4]));
        assert!(!guards.holds(g, &[8, 4, 0]));
        assert_eq!(guards.columns(g), [3, 130]);
    }
}
