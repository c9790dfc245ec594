//! In which order the words of a key hang in the store's tree.
//!
//! The tree store keeps each half of a key once, however many states share it, so what counts is that the two halves
//! have few different values each: words that go together, a process and what it touches, belong into the same half.
//!
//! # The argument
//!   Any order is right; a good one is small and fast. Walk at random through some thousands of states. How many
//!   different values a set of words takes in the whole space is guessed from how many pairs of the sample agree on
//!   it (as birthdays tell how many days a year has). Two orders are tried, the natural one and one that chains
//!   words by how often a step changes both; then words change halves as long as the guess gets smaller. Inside a half
//!   the words keep whichever of the two orders has the smaller quarters. (To fill one half up to as many bits as the
//!   store takes for nothing, and leave the dear rest to the other, was tried: it costs more than it saves.)
//!
//! # Invariants
//!   I1 an order has every word once: the store takes keys apart by it, and puts them together again
//!
//! # Cost
//!   Some thousands of steps and a few hundred sorts of the sample, once per length of keys: milliseconds, where the
//!   order itself is worth up to five times the memory of the whole search.

use spinor_model::successors::{Successors, Wish};
use spinor_store::Hint;
use std::collections::HashSet;
use std::ops::Range;

const STEPS: usize = 3_000;
/// Where one state stands for many there are fewer, and learning would take longer than the search.
const FEW_STEPS: usize = 1_000;
/// A walk starts again somewhere after so many steps.
const WALK: usize = 300;
/// Too few states to learn from; and who has met fewer than half of them after so many steps will not meet more.
const FEW: usize = 200;
const ENOUGH: usize = 600;
const MOST_WORDS: usize = 200;
const WORD: usize = 4;
/// With so few values in the halves there is nothing to gain by taking pairs apart.
const MANY: f64 = 20_000.0;
/// Pairs are taken apart if that divides the values by so much: single words cost time.
const WORTH: f64 = 4.0;
const SWAPS: usize = 300;

/// A hint for keys as long as this one, learned from states reachable from it. Pairs of words, which the store takes at
/// once, stay together unless that would be dear.
pub fn learn<S: Successors>(system: &S, key: &[u8]) -> Hint {
    learn_by(&mut system_steps(system, key), key)
}

/// The same where some states stand for others, and are put in their place by `pick`.
pub fn learn_picked<S: Successors>(system: &S, key: &[u8], pick: Pick<'_>) -> Hint {
    learn_from(&mut system_steps(system, key), pick, FEW_STEPS, key)
}

/// The same for any graph: `steps` says what lies one step from a state.
pub fn learn_by(steps: Steps<'_>, key: &[u8]) -> Hint {
    learn_from(steps, &mut |_| (), STEPS, key)
}

fn learn_from(steps: Steps<'_>, pick: Pick<'_>, n_steps: usize, key: &[u8]) -> Hint {
    let n = key.len().div_ceil(4) as u32;
    let sample = Sample::take(steps, pick, n_steps, key, 2 * WORD);
    let pairs = order_of(&sample, key, 2 * WORD);
    if pairs.cost > MANY {
        let words = order_of(&Sample::take(steps, pick, n_steps, key, WORD), key, WORD);
        if words.cost * WORTH < pairs.cost {
            assert!(is_permutation(&words.words, n), "I1");
            return Hint { order: words.words, sample: sample.states };
        }
    }
    let order: Vec<u32> = pairs.words.iter().flat_map(|p| [2 * p, 2 * p + 1]).filter(|w| *w < n).collect();
    assert!(is_permutation(&order, n), "I1");
    Hint { order, sample: sample.states }
}

/// I1
fn is_permutation(order: &[u32], n: u32) -> bool {
    let mut sorted = order.to_vec();
    sorted.sort_unstable();
    sorted.into_iter().eq(0..n)
}

/// Clears the lists and lays the keys one step from a state into the first, as the second says.
pub type Steps<'a> = &'a mut dyn FnMut(&[u8], &mut Vec<u8>, &mut Vec<Range<usize>>);

/// Replaces a key by the one that stands for it.
pub type Pick<'a> = &'a mut dyn FnMut(&mut [u8]);

fn system_steps<S: Successors>(system: &S, key: &[u8]) -> impl FnMut(&[u8], &mut Vec<u8>, &mut Vec<Range<usize>>) {
    let (mut state, mut batch) = (system.unpack(key), system.batch());
    // Where steps are left out, walks would see too little of how states differ.
    system.wish(&mut state, Wish::ALL);
    move |from, bytes, keys| {
        system.unpack_into(from, &mut state);
        batch.clear();
        system.expand(&mut state, &mut batch);
        bytes.clone_from(&batch.keys);
        keys.clear();
        keys.extend(batch.outcomes.iter().filter_map(|outcome| outcome.key()));
    }
}

/// An order, and how many values the halves are guessed to have.
struct Ordered {
    words: Vec<u32>,
    cost: f64,
}

/// An order for parts of so many bytes, which are the words of the rest of this file.
fn order_of(sample: &Sample, key: &[u8], size: usize) -> Ordered {
    let n = key.len().div_ceil(size);
    let natural: Vec<u32> = (0..n as u32).collect();
    if !(3..=MOST_WORDS).contains(&n) || sample.states.len() < FEW {
        return Ordered { words: natural, cost: 0.0 };
    }
    let chained = chain(&sample.together, n);
    let mut judge = Judge::new(&sample.states, n, size);
    let half = n.div_ceil(2);
    debug_assert!(is_permutation(&chained, n as u32), "I1");
    let mut order = if judge.halves(&chained) < judge.halves(&natural) { chained.clone() } else { natural };
    let mut least = judge.halves(&order);
    let mut sides = [judge.sums(&order[..half]), judge.sums(&order[half..])];
    let mut swapped = [Vec::new(), Vec::new()];
    let mut rng = Rng(0x9e37_79b9_7f4a_7c15);
    // Swaps that would not make it less; of few words most come again.
    let mut vain = vec![false; half * (n - half)];
    for _ in 0..SWAPS {
        let (i, j) = (rng.below(half), half + rng.below(n - half));
        if std::mem::replace(&mut vain[i * (n - half) + j - half], true) {
            continue;
        }
        let (gone, come) = (order[i], order[j]);
        judge.exchange(&sides[0], gone, come, &mut swapped[0]);
        judge.exchange(&sides[1], come, gone, &mut swapped[1]);
        let cost = judge.values(&swapped[0]) + judge.values(&swapped[1]);
        if cost < least {
            least = cost;
            vain.fill(false);
            order.swap(i, j);
            std::mem::swap(&mut sides, &mut swapped);
        }
    }
    debug_assert_eq!(least, judge.halves(&order), "what was exchanged word by word is what the halves are");
    let mut place = vec![0; n];
    for (i, word) in chained.iter().enumerate() {
        place[*word as usize] = i;
    }
    let (left, right) = order.split_at_mut(half);
    for words in [left, right] {
        words.sort_by_key(|w| place[*w as usize]);
        let mut other = words.to_vec();
        other.sort();
        if judge.quarters(&other) <= judge.quarters(words) {
            words.copy_from_slice(&other);
        }
    }
    debug_assert!(is_permutation(&order, n as u32), "I1");
    debug_assert!((2.0..=2.0 * (sample.states.len() as f64).powi(2)).contains(&least), "a half has a value at least");
    Ordered { words: order, cost: least }
}

fn word(key: &[u8], n: usize, size: usize) -> u64 {
    let bytes = &key[size * n..key.len().min(size * n + size)];
    let mut word = [0; 2 * WORD];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}

/// States met on random walks, and how often a step changed each pair of words.
struct Sample {
    states: Vec<Vec<u8>>,
    together: Vec<u32>,
}

impl Sample {
    fn take(steps: Steps<'_>, pick: Pick<'_>, n_steps: usize, key: &[u8], size: usize) -> Sample {
        let changes = if size == WORD { changes::<WORD> } else { changes::<{ 2 * WORD }> };
        let n_words = key.len().div_ceil(size);
        let mut sample = Sample { states: vec![key.to_vec()], together: vec![0; n_words * n_words] };
        let mut rng = Rng(0x2545_f491_4f6c_dd1d);
        let (mut bytes, mut keys, mut changed) = (Vec::new(), Vec::new(), Vec::new());
        let (mut at, mut walked) = (0, 0);
        for n in 0..n_steps {
            if n == ENOUGH && sample.states.iter().collect::<HashSet<_>>().len() < FEW / 2 {
                break;
            }
            let from = &sample.states[at];
            steps(from, &mut bytes, &mut keys);
            keys.retain(|to| {
                if to.len() != key.len() {
                    return false;
                }
                changes(from, &bytes[to.clone()], &mut changed);
                for i in &changed {
                    for j in &changed {
                        sample.together[i * n_words + j] += 1;
                    }
                }
                !changed.is_empty()
            });
            walked += 1;
            if keys.is_empty() || walked > WALK {
                at = rng.below(sample.states.len());
                walked = 0;
            } else {
                let mut to = bytes[keys[rng.below(keys.len())].clone()].to_vec();
                pick(&mut to);
                sample.states.push(to);
                at = sample.states.len() - 1;
            }
        }
        debug_assert!(sample.states.iter().all(|s| s.len() == key.len()), "who stands for a state has as long a key");
        debug_assert!(is_symmetric(&sample.together, n_words), "two words change together, or do not");
        sample.states.sort();
        sample.states.dedup();
        sample
    }
}

/// And no two change together more often than either does.
fn is_symmetric(together: &[u32], n: usize) -> bool {
    let at = |i: usize, j: usize| together[i * n + j];
    (0..n).all(|i| (0..i).all(|j| at(i, j) == at(j, i) && at(i, j) <= at(i, i).min(at(j, j))))
}

/// Which words differ.
fn changes<const SIZE: usize>(from: &[u8], to: &[u8], out: &mut Vec<usize>) {
    out.clear();
    let ((from, end), (to, other_end)) = (from.as_chunks::<SIZE>(), to.as_chunks::<SIZE>());
    out.extend(from.iter().zip(to).enumerate().filter(|(_, (from, to))| from != to).map(|(n, _)| n));
    out.extend((end != other_end).then_some(from.len()));
}

/// Joins, again and again, the two groups of words that change together most, end to end as they fit best. Words that
/// never changed stay with the one before them.
fn chain(together: &[u32], n: usize) -> Vec<u32> {
    let both = |a: u32, b: u32| f64::from(together[a as usize * n + b as usize]);
    let near = |a: u32, b: u32| if both(a, b) == 0.0 { 0.0 } else { both(a, b) / (both(a, a) * both(b, b)).sqrt() };
    let mut groups: Vec<Vec<u32>> = Vec::new();
    for w in 0..n as u32 {
        match groups.last_mut() {
            Some(group) if both(w, w) == 0.0 => group.push(w),
            _ => groups.push(vec![w]),
        }
    }
    while groups.len() > 1 {
        let (mut best, mut pair) = (-1.0, (0, 1));
        for j in 1..groups.len() {
            for i in 0..j {
                let sum: f64 = groups[i].iter().flat_map(|a| groups[j].iter().map(|b| near(*a, *b))).sum();
                let mean = sum / (groups[i].len() * groups[j].len()) as f64;
                if mean > best {
                    (best, pair) = (mean, (i, j));
                }
            }
        }
        let mut right = groups.remove(pair.1);
        let left = &mut groups[pair.0];
        let (first, last) = (left[0], left[left.len() - 1]);
        let ends = [right[0], right[right.len() - 1]];
        let fit = [near(last, ends[0]), near(last, ends[1]), near(first, ends[0]), near(first, ends[1])];
        let best = (0..4).rev().max_by(|a, b| fit[*a].total_cmp(&fit[*b])).expect("four ways");
        if best >= 2 {
            left.reverse();
        }
        if best % 2 == 1 {
            right.reverse();
        }
        left.append(&mut right);
    }
    groups.pop().unwrap_or_default()
}

/// Guesses how many values sets of words take.
struct Judge {
    /// A hash of each word of each state, by word. The hash of some words is the sum.
    columns: Vec<Vec<u64>>,
    /// The first state of each sum, plus one, where its sum or the next free place says. Small enough for the first cache.
    places: Vec<u16>,
    /// How often the sum of a first state was met.
    times: Vec<u16>,
}

impl Judge {
    fn new(states: &[Vec<u8>], n: usize, size: usize) -> Judge {
        let column = |w: usize| states.iter().map(|s| mix(mix(w as u64) ^ word(s, w, size))).collect();
        let n_places = (2 * states.len()).next_power_of_two();
        assert!(states.len() < usize::from(u16::MAX));
        Judge { columns: (0..n).map(column).collect(), places: vec![0; n_places], times: vec![0; states.len()] }
    }

    fn halves(&mut self, order: &[u32]) -> f64 {
        let (left, right) = order.split_at(order.len().div_ceil(2));
        self.of(left) + self.of(right)
    }

    fn quarters(&mut self, half: &[u32]) -> f64 {
        half.chunks(half.len().div_ceil(4).max(1)).map(|part| self.of(part)).sum()
    }

    fn of(&mut self, words: &[u32]) -> f64 {
        let sums = self.sums(words);
        self.values(&sums)
    }

    /// The values of some words in each state.
    fn sums(&self, words: &[u32]) -> Vec<u64> {
        let mut sums = vec![0u64; self.columns[0].len()];
        for w in words {
            for (sum, v) in sums.iter_mut().zip(&self.columns[*w as usize]) {
                *sum = sum.wrapping_add(*v);
            }
        }
        sums
    }

    /// The sums with one word instead of another.
    fn exchange(&self, sums: &[u64], gone: u32, come: u32, out: &mut Vec<u64>) {
        let columns = self.columns[gone as usize].iter().zip(&self.columns[come as usize]);
        out.clear();
        out.extend(sums.iter().zip(columns).map(|(sum, (gone, come))| sum.wrapping_sub(*gone).wrapping_add(*come)));
    }

    fn values(&mut self, sums: &[u64]) -> f64 {
        self.places.fill(0);
        let last = self.places.len() - 1;
        let (mut distinct, mut pairs) = (0u64, 0u64);
        for (i, sum) in sums.iter().enumerate() {
            let mut at = (sum ^ sum >> 32) as usize & last;
            let first = loop {
                match self.places[at] {
                    0 => {
                        self.places[at] = i as u16 + 1;
                        self.times[i] = 0;
                        distinct += 1;
                        break i;
                    }
                    there if sums[usize::from(there) - 1] == *sum => break usize::from(there) - 1,
                    _ => at = (at + 1) & last,
                }
            };
            pairs += u64::from(self.times[first]);
            self.times[first] += 1;
        }
        debug_assert!(distinct + pairs >= sums.len() as u64, "who is not the first of its value makes a pair");
        let m = sums.len() as f64;
        (m * m / (2 * pairs + 1) as f64).max(distinct as f64)
    }
}

fn mix(x: u64) -> u64 {
    let x = (x ^ x >> 31).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ x >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x ^ x >> 32
}

struct Rng(u64);

impl Rng {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 11) % n as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use spinor_model::fault::Fault;
    use spinor_model::successors::{Batch, EdgeSet, Step};

    /// Three cells in the first words, and beside each its shadow in the last three: they change together.
    struct Shadows;

    impl Successors for Shadows {
        type State = Vec<u8>;

        fn initial(&self) -> Result<Vec<u8>, Fault> {
            Ok(vec![0; 48])
        }

        fn pack(&self, state: &Vec<u8>, key: &mut Vec<u8>) {
            key.extend(state);
        }

        fn unpack(&self, key: &[u8]) -> Vec<u8> {
            key.to_vec()
        }

        fn batch(&self) -> Batch {
            Batch { reached: EdgeSet::sized([1].into_iter()), ..Batch::default() }
        }

        fn enabled(&self, _: &mut Vec<u8>, steps: &mut Vec<Step>) {
            steps.clear();
            let step = |pid| Step { pid, edge: spinor_model::ir::EdgeId(0), partner: None, timeout: false };
            steps.extend((0..3).map(step));
        }

        fn fire(&self, state: &mut Vec<u8>, steps: &[Step], batch: &mut Batch) {
            for (n, step) in steps.iter().enumerate() {
                let from = batch.keys.len();
                batch.keys.extend_from_slice(state);
                for at in [8 * usize::from(step.pid), 24 + 8 * usize::from(step.pid)] {
                    batch.keys[from + at] = (state[at] + 1) % 40;
                }
                batch.push(n as u32, 0, 0, Some(from));
            }
        }

        fn may_end(&self, _: &Vec<u8>) -> bool {
            true
        }
    }

    #[test]
    fn what_changes_together_hangs_together() {
        let order = order_of(
            &Sample::take(&mut system_steps(&Shadows, &[0; 48]), &mut |_| (), STEPS, &[0; 48], 8),
            &[0; 48],
            8,
        )
        .words;
        let mut sorted = order.clone();
        sorted.sort();
        assert_eq!(sorted, [0, 1, 2, 3, 4, 5]);
        // At least one cell and its shadow share a half; in the natural order none do.
        let half = |w: u32| order.iter().position(|x| *x == w).unwrap() / 3;
        let pairs = (0..3).filter(|w| half(*w) == half(w + 3)).count();
        assert!(pairs >= 2, "{order:?}");
    }

    #[test]
    fn words_that_differ_are_found_where_ever_they_are() {
        let (from, mut changed) = ([7; 20], Vec::new());
        for at in 0..20 {
            let mut to = from;
            to[at] = 8;
            changes::<8>(&from, &to, &mut changed);
            assert_eq!(changed, [at / 8]);
            changes::<4>(&from, &to, &mut changed);
            assert_eq!(changed, [at / 4]);
        }
        changes::<8>(&from, &from, &mut changed);
        assert!(changed.is_empty());
    }

    /// Against pairs that are counted one by one; there are 210 different states.
    #[test]
    fn values_are_guessed_from_pairs_that_agree() {
        let states: Vec<Vec<u8>> = (0..900u32).map(|i| [i % 7, i % 30, 0, i % 2].map(|x| x as u8).repeat(8)).collect();
        let mut judge = Judge::new(&states, 4, 8);
        // All four words are the same here, so one tells as much as any two.
        let counted = |word: usize| {
            let agree = |a: &&Vec<u8>, b: &&Vec<u8>| a[8 * word..][..8] == b[8 * word..][..8];
            let pairs = states
                .iter()
                .enumerate()
                .map(|(i, a)| states[..i].iter().filter(|b| agree(&a, b)).count())
                .sum::<usize>();
            (900.0 * 900.0 / (2 * pairs + 1) as f64).max(210.0)
        };
        assert_eq!(judge.of(&[0]), counted(0));
        let (from, mut to) = (judge.sums(&[0, 1]), Vec::new());
        judge.exchange(&from, 1, 3, &mut to);
        assert_eq!(to, judge.sums(&[0, 3]));
        assert_eq!(judge.values(&to), counted(2));
    }

    #[test]
    fn an_order_is_a_permutation_also_where_nothing_can_be_learned() {
        assert_eq!(
            order_of(
                &Sample::take(&mut system_steps(&Shadows, &[0; 48]), &mut |_| (), STEPS, &[0; 48], 8),
                &[0; 16],
                8
            )
            .words,
            [0, 1]
        );
        let mut words = learn(&Shadows, &[0; 48]).order;
        words.sort();
        assert_eq!(words, (0..12).collect::<Vec<u32>>());
        let order = chain(&[0; 49], 7);
        assert_eq!(order, [0, 1, 2, 3, 4, 5, 6]);
    }
}
