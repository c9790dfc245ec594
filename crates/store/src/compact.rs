//! The tree store: an exact store in which a state costs little more than the pair of numbers that names it.
//!
//! # The argument
//!   A key's words hang in a tree (`plan`) whose nodes are shared between all states (`nodes`), so that a part that
//!   many states have in common is kept once. A state is the pair of its two root nodes; the pair, with the
//!   key's class, is the state's name, and the set of pairs of a class (`roots`) is the set of its states.
//!   Equal keys have equal trees, and a tree is its numbers: so equal keys, and only they, have equal names.
//!   A successor differs little from the state it was made from, so its tree is found by looking up the few nodes
//!   above the changed words (`fold`). A half of few bits needs no nodes at all (`direct`).
//!
//! # Growth
//!   As in `growth`. Names do not change, and neither do the cells that hands keep.
//!
//! # Invariants
//!   I1 a name that was given out has its pair in its class's roots, and all nodes below it are there
//!
//! # Cost
//!   4.3 to 6.5 bytes a state (8.7 where there are few), and 37 to 43 a node;
//!   there are as many nodes as parts of different content.

use crate::budget::{Account, Budget, Full};
use crate::fold::{self, Cells};
use crate::growth::{Growing, Grows, Hold};
use crate::nodes::{Content, NODE_BITS, NoRoom, Nodes};
use crate::plan::{N_CLASSES, Plan, class_of};
use crate::roots::{Mixed, Roots};
use crate::sync::Apart;
use crate::{StateId, Visited};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// What is known about keys of some length before there are many. None of it has to be right.
#[derive(Debug, Default)]
pub struct Hint {
    /// An order of the 32-bit words: those that change together lie together.
    pub order: Vec<u32>,
    /// Some keys.
    pub sample: Vec<Vec<u8>>,
}

/// A hint for the first key of each class.
pub type Hints = Box<dyn Fn(&[u8]) -> Hint + Send + Sync>;

/// See the module.
pub struct Compact {
    tables: Growing<Tables>,
    /// States per class.
    counts: Apart<[AtomicU64; N_CLASSES]>,
    account: Arc<Account>,
    hints: Hints,
    weak: bool,
}

struct Tables {
    nodes: Nodes,
    classes: [Option<Box<Class>>; N_CLASSES],
    /// The class whose roots grew last: some may be left to be moved.
    grown: Option<usize>,
    account: Arc<Account>,
}

impl Grows for Tables {
    #[inline]
    fn help(&self) {
        if let Some(class) = self.grown {
            self.class(class).roots.help(&self.account);
        }
    }
}

struct Class {
    plan: Plan,
    roots: Roots,
}

/// What one thread needs.
pub struct CompactHand<'s> {
    tables: Hold<'s, Tables>,
    /// For each class the cells of some state: of the loaded one in its class.
    cells: [Option<Box<Cells>>; N_CLASSES],
    loaded: Option<usize>,
    /// Of the keys offered; without the roots that are still to be looked up.
    names: Vec<StateId>,
    lookups: Vec<Lookup>,
    /// Of the names being settled.
    mixed: Vec<Mixed>,
}

/// A root node of a name, on one side (0 is left).
struct Lookup {
    content: Content,
    hash: u64,
    name: u32,
    side: u32,
}

/// Why a thread cannot go on.
#[derive(Clone, Copy)]
enum Need<'k> {
    Nodes,
    Class(usize, &'k [u8]),
    Bits(usize, u32, u32),
    Slots(usize),
}

impl fmt::Debug for Compact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Compact({} states)", self.len())
    }
}

impl Compact {
    pub fn new(budget: &Arc<Budget>, hints: Hints) -> Result<Self, Full> {
        Compact::with_hashes(budget, hints, 64, false)
    }

    /// A store whose nodes hash to so many bits and whose roots are not mixed at all. Nothing but the speed may
    /// depend on them, and tests show that nothing does.
    pub fn with_weak_hashes(budget: &Arc<Budget>, hints: Hints, hash_bits: u32) -> Result<Self, Full> {
        Compact::with_hashes(budget, hints, hash_bits, true)
    }

    fn with_hashes(budget: &Arc<Budget>, hints: Hints, hash_bits: u32, weak: bool) -> Result<Self, Full> {
        let account = Arc::new(budget.account());
        let nodes = Nodes::new(hash_bits, &account)?;
        let tables = Tables { nodes, classes: [const { None }; N_CLASSES], grown: None, account: account.clone() };
        let counts = Apart([const { AtomicU64::new(0) }; N_CLASSES]);
        Ok(Compact { tables: Growing::new(tables), counts, account, hints, weak })
    }

    /// How many inner nodes there are, and how many states found no place in the root tables. Not to be asked while
    /// other threads work and this one has a hand.
    pub fn inside(&self) -> (u64, u64) {
        let mut hold = self.tables.hold();
        let tables = hold.get();
        let stashed = tables.classes.iter().flatten().map(|class| class.roots.n_stashed() as u64).sum();
        (u64::from(tables.nodes.len()), stashed)
    }

    #[cold]
    fn grow(&self, hand: &mut CompactHand<'_>, need: Need<'_>) -> Result<(), Full> {
        // Another thread may have done it already, or be about to; then there is nothing to do but to look again.
        let grown = hand.tables.alone_or_after(|tables| match need {
            Need::Nodes => tables.nodes.grow(&self.account),
            Need::Class(class, key) => {
                if tables.classes[class].is_none() {
                    debug_assert_eq!(class_of(key.len()), Some(class), "I1: a name says the length");
                    let plan = Plan::new(class, &(self.hints)(key));
                    let roots = Roots::new(self.weak, &self.account)?;
                    tables.classes[class] = Some(Box::new(Class { plan, roots }));
                }
                Ok(())
            }
            Need::Bits(class, left, right) => {
                tables.grown = Some(class);
                tables.class_mut(class).roots.widen(left, right, &self.account)
            }
            Need::Slots(class) => {
                tables.grown = Some(class);
                let roots = &mut tables.class_mut(class).roots;
                if self.counts.0[class].load(Relaxed) > roots.limit() { roots.grow(&self.account) } else { Ok(()) }
            }
        });
        grown.unwrap_or(Ok(()))
    }

    /// Offers keys until there are no more or something must grow; then how many it took.
    fn offer_some<'k>(
        &self,
        hand: &mut CompactHand<'_>,
        bytes: &'k [u8],
        keys: &[Range<usize>],
    ) -> Result<(), (usize, Result<Need<'k>, Full>)> {
        let CompactHand { tables, cells, loaded, names, lookups, .. } = hand;
        let Tables { nodes, classes, .. } = tables.get();
        let is_large = nodes.is_large();
        let mut i = 0;
        while i < keys.len() {
            // The keys of the same length from here on.
            let key = &bytes[keys[i].clone()];
            let n_bytes = key.len();
            let Some(class) = class_of(n_bytes) else { return Err((i, Err(Full::Numbers))) };
            let Some(Class { plan, .. }) = classes[class].as_deref() else {
                return Err((i, Ok(Need::Class(class, key))));
            };
            let cells = cells[class].get_or_insert_with(|| Box::new(Cells::new(plan)));
            // Keys of another class than the loaded one's are likely to be more like each other than like an old
            // state.
            let follow = *loaded != Some(class);
            let near = !follow && cells.is_near(plan);
            while let Some(range) = keys.get(i)
                && range.len() == n_bytes
            {
                let key = &bytes[range.clone()];
                let number = names.len() as u32;
                let look_up = |side: u32, content: Content| {
                    let hash = nodes.hash(content);
                    if is_large {
                        nodes.prefetch(hash);
                    }
                    lookups.push(Lookup { content, hash, name: number, side });
                };
                let folded = if near {
                    cells.fold_near(plan, nodes, key, look_up)
                } else {
                    cells.fold(plan, nodes, key, follow).map(|roots| roots.split(look_up))
                };
                let [left, right] = match folded {
                    Ok(numbers) => numbers,
                    Err(NoRoom) => return Err((i, Ok(Need::Nodes))),
                };
                names.push(name(class, left, right));
                i += 1;
            }
        }
        Ok(())
    }

    /// Completes the offered names. A name that is complete stays as it is.
    fn look_up(&self, hand: &mut CompactHand<'_>) -> Result<(), Need<'static>> {
        let CompactHand { tables, names, lookups, .. } = hand;
        let nodes = &tables.get().nodes;
        if nodes.is_large() {
            lookups.iter().for_each(|lookup| nodes.near(lookup.hash));
        }
        for lookup in lookups.iter() {
            let number = nodes.intern_hashed(lookup.content, lookup.hash).map_err(|NoRoom| Need::Nodes)?;
            let (StateId(name), number) = (&mut names[lookup.name as usize], fold::of_node(number));
            let shift = NODE_BITS * (1 - lookup.side);
            debug_assert!([0, number].contains(&((*name >> shift) as u32 & ((1 << NODE_BITS) - 1))), "it is complete");
            *name |= u64::from(number) << shift;
        }
        Ok(())
    }

    /// Settles names until there are no more or something must grow.
    fn settle_some(
        &self,
        hand: &mut CompactHand<'_>,
        out: &mut Vec<(StateId, bool)>,
    ) -> Result<(), Result<Need<'static>, Full>> {
        let CompactHand { tables, names, mixed, .. } = hand;
        let tables = tables.get();
        while let Some(first) = names.get(out.len()) {
            // The names of the same class from here on.
            let (class, ..) = parts(*first);
            let Class { roots, .. } = tables.class(class);
            let names = &names[out.len()..];
            mixed.clear();
            for (class_of, left, right) in names.iter().map(|id| parts(*id)) {
                if class_of != class {
                    break;
                }
                if !roots.fits(left, right) {
                    return Err(Ok(Need::Bits(class, left, right)));
                }
                mixed.push(roots.prepare(left, right));
            }
            debug_assert!(!mixed.is_empty(), "the first is of its own class");
            let room = (roots.limit() + 1).saturating_sub(self.counts.0[class].load(Relaxed));
            let (mut n_new, mut stopped) = (0, Ok(()));
            for (id, mixed) in names.iter().zip(mixed.iter()) {
                if n_new >= room {
                    stopped = Err(Ok(Need::Slots(class)));
                    break;
                }
                match roots.put(*mixed, &self.account) {
                    Ok(new) => {
                        n_new += u64::from(new);
                        out.push((*id, new));
                    }
                    Err(full) => {
                        stopped = Err(Err(full));
                        break;
                    }
                }
            }
            if n_new > 0 {
                self.counts.0[class].fetch_add(n_new, Relaxed);
            }
            stopped?;
        }
        Ok(())
    }
}

impl Tables {
    #[inline]
    fn class(&self, class: usize) -> &Class {
        self.classes[class].as_deref().expect("I1")
    }

    fn class_mut(&mut self, class: usize) -> &mut Class {
        self.classes[class].as_deref_mut().expect("I1")
    }
}

const _: () = assert!(N_CLASSES <= 1 << (u64::BITS - 2 * NODE_BITS), "a class and two numbers fit into a name");

#[inline]
fn name(class: usize, left: u32, right: u32) -> StateId {
    let name = StateId((class as u64) << (2 * NODE_BITS) | u64::from(left) << NODE_BITS | u64::from(right));
    debug_assert_eq!(parts(name), (class, left, right), "its parts do not overlap");
    name
}

#[inline]
fn parts(StateId(id): StateId) -> (usize, u32, u32) {
    let node = |n: u64| (n & ((1 << NODE_BITS) - 1)) as u32;
    ((id >> (2 * NODE_BITS)) as usize, node(id >> NODE_BITS), node(id))
}

impl CompactHand<'_> {
    fn forget(&mut self) {
        self.names.clear();
        self.lookups.clear();
    }
}

impl fmt::Debug for CompactHand<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CompactHand({} offered)", self.names.len())
    }
}

impl Visited for Compact {
    type Hand<'s> = CompactHand<'s>;
    const EXACT: bool = true;

    fn hand(&self) -> CompactHand<'_> {
        let cells = [const { None }; N_CLASSES];
        CompactHand {
            tables: self.tables.hold(),
            cells,
            loaded: None,
            names: Vec::new(),
            lookups: Vec::new(),
            mixed: Vec::new(),
        }
    }

    fn load(&self, hand: &mut CompactHand<'_>, id: StateId, key: &mut Vec<u8>) {
        let tables = hand.tables.get();
        let (class, left, right) = parts(id);
        let plan = &tables.class(class).plan;
        let cells = hand.cells[class].get_or_insert_with(|| Box::new(Cells::new(plan)));
        cells.unfold(plan, &tables.nodes, left, right);
        cells.key(plan, key);
        debug_assert_eq!(class_of(key.len()), Some(class), "I1: a name says the length");
        hand.loaded = Some(class);
    }

    #[inline]
    fn soon(&self, hand: &mut CompactHand<'_>, id: StateId) {
        let nodes = &hand.tables.get().nodes;
        if nodes.is_large() {
            let (_, left, right) = parts(id);
            fold::prefetch(nodes, left);
            fold::prefetch(nodes, right);
        }
    }

    fn offer(&self, hand: &mut CompactHand<'_>, bytes: &[u8], mut keys: &[Range<usize>]) -> Result<(), Full> {
        loop {
            let Err((n_done, stopped)) = self.offer_some(hand, bytes, keys) else { return Ok(()) };
            keys = &keys[n_done..];
            let grown = stopped.and_then(|need| self.grow(hand, need));
            if grown.is_err() {
                hand.forget();
                return grown;
            }
        }
    }

    fn settle(
        &self,
        hand: &mut CompactHand<'_>,
        _: &[u8],
        keys: &[Range<usize>],
        out: &mut Vec<(StateId, bool)>,
    ) -> Result<(), Full> {
        assert_eq!(hand.names.len(), keys.len(), "what is settled was offered");
        out.clear();
        let done = loop {
            let named = self.look_up(hand).map_err(Ok);
            let Err(stopped) = named.and_then(|()| self.settle_some(hand, out)) else { break Ok(()) };
            let grown = stopped.and_then(|need| self.grow(hand, need));
            if grown.is_err() {
                break grown;
            }
        };
        hand.forget();
        debug_assert!(done.is_err() || out.len() == keys.len(), "every key has an answer");
        done
    }

    #[inline]
    fn rest(&self, hand: &mut CompactHand<'_>) {
        hand.tables.rest();
    }

    fn len(&self) -> u64 {
        self.counts.0.iter().map(|count| count.load(Relaxed)).sum()
    }

    fn bytes(&self) -> u64 {
        self.account.held()
    }

    fn omission(&self) -> Option<f64> {
        None
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::testing;

    fn nothing() -> Hints {
        Box::new(|_| Hint::default())
    }

    fn compact() -> Compact {
        Compact::new(&Budget::unlimited(), nothing()).expect("room")
    }

    #[test]
    fn it_agrees_with_a_map() {
        testing::agrees_with_a_map(compact);
    }

    #[test]
    fn it_agrees_with_a_map_in_any_order_of_words() {
        let order = |key: &[u8]| (0..key.len().div_ceil(4) as u32).rev().collect();
        let backwards = || -> Hints { Box::new(move |key| Hint { order: order(key), ..Hint::default() }) };
        testing::agrees_with_a_map(|| Compact::new(&Budget::unlimited(), backwards()).expect("room"));
    }

    /// One level and two, one flat side and two.
    #[test]
    fn it_agrees_with_a_map_whatever_the_sample_is() {
        let mut n_flat = [0; 3];
        for (n_words, every) in [(4, 1), (8, 1), (16, 1), (16, 2), (24, 2), (32, 4), (48, 3), (64, 8), (64, 4), (64, 1)]
        {
            for seed in 0..4 {
                let sample = move || -> Vec<Vec<u8>> {
                    let mut rng = testing::Rng(seed);
                    (0..120).map(|_| testing::like(n_words, every, &mut rng)).collect()
                };
                let hint = move || Hint { sample: sample(), ..Hint::default() };
                let plan = Plan::new(n_words / 4, &hint());
                n_flat[plan.flat.map_or(0, |flat| flat.sides.iter().flatten().count())] += 1;
                let hints: Hints = Box::new(move |_| hint());
                let store = Compact::new(&Budget::unlimited(), hints).expect("room");
                testing::agrees_with_a_map_on_keys_like(store, n_words, every, seed);
            }
        }
        assert!(n_flat.iter().all(|n| *n > 0), "{n_flat:?}");
        let wrong = || -> Hints {
            Box::new(|key| Hint { sample: (0..100).map(|i| vec![i & 1; key.len()]).collect(), ..Hint::default() })
        };
        testing::agrees_with_a_map(|| Compact::new(&Budget::unlimited(), wrong()).expect("room"));
        testing::each_key_is_new_to_one_thread(|| Compact::new(&Budget::unlimited(), wrong()).expect("room"));
    }

    #[test]
    fn weak_hashes_change_nothing_but_the_speed() {
        for bits in [0, 4, 8] {
            let weak = || Compact::with_weak_hashes(&Budget::unlimited(), nothing(), bits).expect("room");
            testing::agrees_with_a_map_on_few(weak);
        }
    }

    #[test]
    fn it_keeps_its_budget() {
        testing::keeps_its_budget(|budget| Compact::new(budget, nothing()));
    }

    #[test]
    fn each_key_is_new_to_one_thread() {
        testing::each_key_is_new_to_one_thread(compact);
        let weak = || Compact::with_weak_hashes(&Budget::unlimited(), nothing(), 4).expect("room");
        testing::each_key_is_new_to_one_thread(weak);
    }

    #[test]
    fn keys_that_are_too_long_are_refused() {
        let store = compact();
        let mut hand = store.hand();
        assert_eq!(store.put(&mut hand, &vec![0; 1 << 26]), Err(Full::Numbers));
        assert!(store.put(&mut hand, b"a").expect("room").1);
    }

    #[test]
    fn products_cost_less_than_ten_bytes_a_state() {
        let store = compact();
        let mut hand = store.hand();
        let mut key = vec![0; 128];
        let mut worst = 0.0f64;
        for i in 0..1_000_000u64 {
            let mut rest = i;
            for part in key.chunks_mut(16) {
                part[0] = (rest % 6) as u8;
                rest /= 6;
            }
            assert!(store.put(&mut hand, &key).expect("room").1);
            if i > 200_000 {
                worst = worst.max(store.bytes() as f64 / store.len() as f64);
            }
        }
        assert!(worst < 10.0, "{worst}");
    }
}
