//! One state for all its images.
//!
//! Source  [Bosnacki-SYM] 2.3, the function h; the strategies are named there and come from Symmetric SPIN. Taking
//!   one out to tell more apart is what programs for isomorphism of graphs do.
//!
//! # The argument
//!   [`Places::apply`] is the action of a permutation on keys that `model/scalarset` argues about. Any choice of a
//!   permutation for each state gives a quotient that is right; the better choice gives the smaller one. It is canonical
//!   if all images of a state get the same key.
//!
//!   A choice is made by *colours*: what can be said about a process without naming another of its class. Its frame
//!   has a colour, the elements that arrays have for it, the places that hold its number, the messages in channels that
//!   are its own. Where two processes are mentioned together (a local variable of one holds the number of the other)
//!   the colour of each adds to the other's, until no more are told apart. Colours are hashes: an image of a state has
//!   the same colours, with their processes, so ordering by colour is the same for all images.
//!   Where all have different colours, that is an order. Processes of one colour are *free* to stand in any order unless
//!   two of them, or of two such groups, are mentioned together. Then one of such a group is taken out by a colour of its
//!   own, which tells more of them apart, and so on until the others are free: each of the group in turn, and the least
//!   key is taken. The first such group is the same in all images, so all images have the same keys to choose from.
//!   Two that can change places while the key remains lead to the same keys, and one of them is enough.
//!
//! | way | order | among equals |
//! |---|---|---|
//! | sorted | colour | as they stand |
//! | segmented | colour | the least key, each of them taken out in turn |
//! | pc-sorted | location | as they stand |
//! | pc-segmented | location | the least key of all orders |
//! | full | - | the least key of all orders |
//!
//! # Invariants
//!   I1 `pick` of a state it returned is that state, with the identity
//!   I2 an order has the members of each class at the places of that class, each once; so a permutation maps every class to
//!      itself
//!   I3 segmented and full: images of a state get one key, unless more would have had to be tried for one of them
//!   I4 those of a class stand in the order of their colours, and who is told apart stays so
//!
//! # Owed
//!   O1 segmented, pc-segmented and full are canonical    tests: images of states of models, each place forgotten once
//!
//! # Cost  segmented: one pass over the parts of the key that have to do with processes, and another if they are not in
//!   order; more for those that are entangled, up to a limit past which the least key so far is taken.

use super::Way;
use super::places::image::MANY;
use super::places::{FrameAt, Places, Said, mix, tinted};
use crate::cycles::Pids;
use spinor_model::ir::{Pid, System};
use spinor_model::layout::GRAIN;
use spinor_model::scalarset::Scalarset;
use std::ops::Range;

/// Where each process goes; those beyond stay.
pub type Perm = Vec<Pid>;

/// Orders a few processes by colour, those of one colour as they stood; whether any moved. No branch predictor guesses
/// which of two hashes is less, so there are no branches: the last bits of a colour give way to the place where its process
/// stood, and neighbours are exchanged as often as any order could need.
#[inline(always)]
fn rank<const N: usize>(stood: Option<&[Pid]>, order: &mut [Pid], colours: &[u64]) -> bool {
    let order: &mut [Pid; N] = order.try_into().expect("so many");
    let before = stood.map_or(*order, |stood| stood.try_into().expect("so many"));
    let mut of: [u64; N] = std::array::from_fn(|i| colours[usize::from(before[i])] & !PLACE | i as u64);
    for i in 1..N {
        for j in (0..i).rev() {
            (of[j], of[j + 1]) = (of[j].min(of[j + 1]), of[j].max(of[j + 1]));
        }
    }
    let mut differs = 0;
    for i in 0..N {
        let place = (of[i] & PLACE) as usize % N;
        order[i] = before[place];
        differs |= place ^ i;
    }
    differs != 0
}

/// Of a colour: what gives way to the place of one of eight.
const PLACE: u64 = 7;

/// The same for many, of which most are in order.
fn insert(stood: Option<&[Pid]>, order: &mut [Pid], colours: &[u64]) -> bool {
    stood.iter().for_each(|stood| order.copy_from_slice(stood));
    let colour = |p: Pid| colours[usize::from(p)];
    let mut moved = false;
    for n in 1..order.len() {
        let (p, mut to) = (order[n], n);
        while to > 0 && colour(order[to - 1]) > colour(p) {
            order[to] = order[to - 1];
            to -= 1;
        }
        order[to] = p;
        moved |= to < n;
    }
    moved
}

/// By grains: keys are short.
#[inline(always)]
fn copy(key: &[u8], to: &mut Vec<u8>) {
    to.resize(key.len(), 0);
    let (from, rest) = key.as_chunks::<GRAIN>();
    let (to, _) = to.as_chunks_mut::<GRAIN>();
    to.iter_mut().zip(from).for_each(|(to, grain)| *to = *grain);
    debug_assert!(rest.is_empty(), "layout L5");
}

/// Keys tried for one state with `segmented` and `pc-segmented`.
const MOST_ORDERS: usize = 5_040;

pub struct Canon {
    places: Places,
    way: Way,
    /// Class by class.
    members: Vec<Pid>,
    identity: Perm,
}

/// Memory for one thread.
#[derive(Clone, Default)]
pub struct Scratch {
    /// The frames that are not at fixed places.
    beyond: Vec<FrameAt>,
    said: Said,
    next: Vec<u64>,
    /// Those of each class, in the order of their colours.
    order: Vec<Pid>,
    /// The order may be another than at first.
    moved: bool,
    /// By process: 1 if another of its class has its colour, 2 if it is mentioned with such a one, too.
    alike: Vec<u8>,
    perm: Perm,
    /// That may be another than the identity.
    permuted: bool,
    trial: Vec<u8>,
    best: Vec<u8>,
    best_perm: Perm,
    n_tried: usize,
    /// More keys would have had to be tried.
    gave_up: bool,
    /// By process: the first of those with whom it can change places while the key remains.
    twin: Vec<Pid>,
    double: Vec<bool>,
    /// What is gone back to: colours, and those of a group.
    colours_before: Vec<u64>,
    group_before: Vec<Pid>,
}

impl Canon {
    pub fn new(system: &System, set: Scalarset, way: Way) -> Canon {
        assert!(!set.is_empty() && Way::ALL.contains(&way), "there is something to do, and a way to do it");
        let (members, places) = (set.members().collect(), Places::new(system, set));
        Canon { members, identity: places.identity(), places, way }
    }

    pub fn way(&self) -> Way {
        self.way
    }

    pub fn identity(&self) -> Perm {
        self.identity.clone()
    }

    /// `first`, then `second`.
    pub fn product(first: &[Pid], second: &[Pid]) -> Perm {
        debug_assert_eq!(first.len(), second.len(), "they are permutations of the same processes");
        first.iter().map(|p| second.get(usize::from(*p)).copied().unwrap_or(*p)).collect()
    }

    pub fn inverse(perm: &[Pid]) -> Perm {
        let mut out = vec![0; perm.len()];
        perm.iter().enumerate().for_each(|(p, to)| out[usize::from(*to)] = p as Pid);
        debug_assert!(Self::product(perm, &out).iter().enumerate().all(|(p, to)| p == usize::from(*to)), "places I1");
        out
    }

    /// The permutation that the last `pick` used.
    pub fn picked(scratch: &Scratch) -> &Perm {
        &scratch.perm
    }

    /// Whether the last `pick` would have had to try more keys.
    pub fn gave_up(scratch: &Scratch) -> bool {
        scratch.gave_up
    }

    /// The image of a key.
    pub fn image(&self, key: &[u8], perm: &[Pid], scratch: &mut Scratch) -> Vec<u8> {
        debug_assert!(self.check_perm(perm), "I2");
        let mut out = key.to_vec();
        if self.places.read(key, &mut scratch.beyond) {
            self.places.apply(key, perm, &scratch.beyond, &mut out);
        }
        out
    }

    /// What all keys have in common that differ in nothing that matters.
    pub fn normal(&self, key: &[u8], scratch: &mut Scratch) -> Vec<u8> {
        let normal = self.image(key, &self.identity, scratch);
        debug_assert!(self.image(&normal, &self.identity, scratch) == normal, "places I4: what is normal stays so");
        normal
    }

    /// Replaces a key by the one that stands for it; the permutation that leads there is in `scratch`.
    pub fn pick(&self, key: &mut [u8], scratch: &mut Scratch) {
        let before = cfg!(debug_assertions).then(|| key.to_vec());
        self.choose(key, scratch);
        debug_assert!(self.check_perm(&scratch.perm), "I2");
        debug_assert!(self.is_picked(key, scratch), "I1");
        // That takes longer than all the rest: some are enough.
        let is_sample = || key.iter().fold(0, |sum: u8, byte| sum.wrapping_add(*byte)).is_multiple_of(16);
        debug_assert!(self.members.len() > MANY || !is_sample() || self.are_free(key), "places I3");
        debug_assert!(
            before.iter().all(|before| !is_sample() || self.leads_back(before, key, &scratch.perm)),
            "places I1"
        );
        debug_assert!(before.iter().all(|before| !is_sample() || self.is_one_for_all(before, key, scratch)), "I3");
        debug_assert!(before.is_none_or(|before| self.sees_alike(&before, key, &scratch.perm)), "places I2, I4");
    }

    /// I2
    fn check_perm(&self, perm: &[Pid]) -> bool {
        if perm.len() != self.places.n {
            return false;
        }
        let set = |pids: &mut dyn Iterator<Item = Pid>| {
            pids.fold(Pids::default(), |mut set, p| {
                set.put(p);
                set
            })
        };
        let is_kept =
            |class: &Vec<Pid>| set(&mut class.iter().copied()) == set(&mut class.iter().map(|p| perm[usize::from(*p)]));
        let members = set(&mut self.members.iter().copied());
        let stays = |(p, to): (usize, &Pid)| members.has(p as Pid) || p == usize::from(*to);
        self.places.set.classes.iter().all(is_kept) && perm.iter().enumerate().all(stays)
    }

    /// A permutation and then its inverse change nothing that matters.
    fn leads_back(&self, before: &[u8], after: &[u8], perm: &[Pid]) -> bool {
        let mut scratch = Scratch::default();
        self.image(after, &Self::inverse(perm), &mut scratch) == self.normal(before, &mut scratch)
    }

    /// The first two of each class change places.
    pub fn exchange(&self) -> Perm {
        let mut swap = self.identity();
        self.places.set.classes.iter().for_each(|class| swap.swap(usize::from(class[0]), usize::from(class[1])));
        swap
    }

    /// I3
    fn is_one_for_all(&self, before: &[u8], picked: &[u8], scratch: &Scratch) -> bool {
        let mut other = Scratch::default();
        let mut image = self.image(before, &self.exchange(), &mut other);
        self.choose(&mut image, &mut other);
        let gave_up = scratch.gave_up || other.gave_up;
        image == picked || gave_up || !matches!(self.way, Way::Segmented | Way::Full)
    }

    /// Whether a key stands for its images.
    pub fn stands(&self, key: &[u8]) -> bool {
        self.is_picked(key, &Scratch::default())
    }

    /// What is said about a process is said about its image, and no number is left that nobody reads.
    fn sees_alike(&self, before: &[u8], after: &[u8], perm: &[Pid]) -> bool {
        let (mut of, mut image, mut beyond) = (Said::default(), Said::default(), Vec::new());
        if !self.places.read(before, &mut beyond) {
            return true;
        }
        self.places.see(before, &beyond, &mut of);
        self.places.read(after, &mut beyond);
        self.places.see(after, &beyond, &mut image);
        let at = |p: &Pid| usize::from(*p);
        !image.stale && self.members.iter().all(|p| of.colours[at(p)] == image.colours[at(&perm[at(p)])])
    }

    /// Those of one colour can change places, unless some are entangled.
    fn are_free(&self, key: &[u8]) -> bool {
        let mut scratch = Scratch { order: self.members.clone(), ..Scratch::default() };
        if self.way != Way::Segmented || !self.places.read(key, &mut scratch.beyond) {
            return true;
        }
        self.places.see(key, &scratch.beyond, &mut scratch.said);
        if !scratch.said.refs.is_empty() {
            self.round(&mut scratch);
        }
        self.sort(None, &mut scratch);
        self.refine(&mut scratch);
        if self.entangled(&mut scratch).is_some() {
            return true;
        }
        let groups = self.groups(&scratch);
        let order = std::mem::take(&mut scratch.order);
        groups.into_iter().flat_map(|group| order[group].windows(2)).all(|pair| {
            let mut swap = self.identity();
            swap.swap(usize::from(pair[0]), usize::from(pair[1]));
            self.image(key, &swap, &mut scratch) == key
        })
    }

    /// Whether it stays as it is. What was given up early may be followed further from there.
    fn is_picked(&self, key: &[u8], scratch: &Scratch) -> bool {
        let (mut own, mut again) = (key.to_vec(), scratch.clone());
        self.choose(&mut own, &mut again);
        again.gave_up || own == key && again.perm == self.identity
    }

    fn choose(&self, key: &mut [u8], scratch: &mut Scratch) {
        if scratch.permuted || scratch.perm.len() != self.identity.len() {
            scratch.perm.clone_from(&self.identity);
        }
        scratch.permuted = false;
        if !self.places.read(key, &mut scratch.beyond) {
            return;
        }
        (scratch.moved, scratch.gave_up) = (false, false);
        scratch.order.resize(self.members.len(), 0);
        match self.way {
            Way::Full => {
                scratch.order.clone_from(&self.members);
                let mut from = 0;
                let classes = self.places.set.classes.iter().map(|c| {
                    from += c.len();
                    from - c.len()..from
                });
                let classes: Vec<Range<usize>> = classes.collect();
                return self.all_orders(key, &classes, scratch);
            }
            Way::PcSorted | Way::PcSegmented => {
                self.places.see_locations(key, &mut scratch.said);
                self.sort(Some(&self.members), scratch);
                let groups = if self.way == Way::PcSegmented { self.groups(scratch) } else { Vec::new() };
                let n = groups.iter().flat_map(|g| 1..=g.len()).fold(1, usize::saturating_mul);
                if !groups.is_empty() && n <= MOST_ORDERS {
                    return self.all_orders(key, &groups, scratch);
                }
            }
            Way::Auto | Way::Off | Way::Sorted | Way::Segmented => {
                self.places.see(key, &scratch.beyond, &mut scratch.said);
                let mentioned = !scratch.said.refs.is_empty();
                if mentioned {
                    self.round(scratch);
                }
                self.sort(Some(&self.members), scratch);
                let alike = mentioned && self.refine(scratch);
                if alike && self.way == Way::Segmented && self.entangled(scratch).is_some() {
                    return self.least(key, scratch);
                }
            }
        }
        let Scratch { beyond, said, order, moved, perm, trial, .. } = scratch;
        if *moved {
            self.seat(order, perm);
            scratch.permuted = true;
        } else if !said.stale {
            return;
        }
        copy(key, trial);
        self.places.apply(trial, perm, beyond, key);
    }

    /// Who can change places with an earlier one of its class while the key remains, by process; whether there is any.
    /// Those are of one colour, so in a key that was picked they stand side by side.
    pub fn doubles(&self, key: &[u8], scratch: &mut Scratch) -> bool {
        if self.way != Way::Segmented || !self.places.read(key, &mut scratch.beyond) {
            return false;
        }
        let Scratch { beyond, said, double, .. } = scratch;
        double.clear();
        let mut any = false;
        // A colour is a hash; what is left out must be sure.
        self.places.each_same(key, |p, q| {
            // Most have nobody like themselves, and nothing more need be known.
            if double.is_empty() {
                double.resize(self.places.n, false);
                self.places.see_names(key, beyond, said);
            }
            let is_double = !said.is_named(p) && !said.is_named(q);
            debug_assert!(!is_double || self.is_kept(key, beyond, (p, q)), "who is a double can change places");
            double[usize::from(q)] = is_double;
            any |= is_double;
        });
        any
    }

    /// Whether the key remains when these two change places; of many that is asked where they are few.
    fn is_kept(&self, key: &[u8], beyond: &[FrameAt], (p, q): (Pid, Pid)) -> bool {
        if p >= 64 {
            return true;
        }
        let (mut swap, mut image) = (self.identity(), key.to_vec());
        swap.swap(usize::from(p), usize::from(q));
        self.places.apply(key, &swap, beyond, &mut image);
        image == key
    }

    /// What the last `doubles` found.
    pub fn is_double(scratch: &Scratch, p: Pid) -> bool {
        scratch.double.get(usize::from(p)) == Some(&true)
    }

    /// Orders each class by colour, those of one colour as they stood: in `members`, or in the order there is. Most are in
    /// order.
    fn sort(&self, members: Option<&[Pid]>, scratch: &mut Scratch) {
        let Scratch { said, order, moved, .. } = scratch;
        let colours = &said.colours[..];
        let mut from = 0;
        for class in &self.places.set.classes {
            let order = &mut order[from..from + class.len()];
            let stood = members.map(|members| &members[from..from + class.len()]);
            from += class.len();
            *moved |= match order.len() {
                2 => rank::<2>(stood, order, colours),
                3 => rank::<3>(stood, order, colours),
                4 => rank::<4>(stood, order, colours),
                5 => rank::<5>(stood, order, colours),
                6 => rank::<6>(stood, order, colours),
                7 => rank::<7>(stood, order, colours),
                8 => rank::<8>(stood, order, colours),
                _ => insert(stood, order, colours),
            };
        }
        debug_assert!(self.check_order(members, scratch), "I2, I4");
    }

    /// I2 of the order, and that it goes by colours: by as much of them as all ways to sort look at.
    fn check_order(&self, stood: Option<&[Pid]>, scratch: &Scratch) -> bool {
        let Scratch { said, order, moved, .. } = scratch;
        let hue = |p: Pid| said.colours[usize::from(p)] & !PLACE;
        let mut from = 0;
        let is_sorted = |class: &Vec<Pid>| {
            let order = &order[from..from + class.len()];
            from += class.len();
            let mut all = order.to_vec();
            all.sort_unstable();
            all == *class && order.is_sorted_by_key(|p| hue(*p))
        };
        let sorted = self.places.set.classes.iter().all(is_sorted);
        sorted && from == order.len() && (*moved || stood.is_none_or(|stood| *stood == order[..]))
    }

    /// How many colours there are, class by class, where all are in order.
    fn n_colours(&self, scratch: &Scratch) -> usize {
        let colour = |p: Pid| scratch.said.colours[usize::from(p)];
        let mut from = 0;
        let classes = self.places.set.classes.iter().map(|class| {
            from += class.len();
            &scratch.order[from - class.len()..from]
        });
        classes.map(|order| 1 + order.windows(2).filter(|pair| colour(pair[0]) != colour(pair[1])).count()).sum()
    }

    /// Those of one colour, where there are several, as ranges of the order.
    fn groups(&self, scratch: &Scratch) -> Vec<Range<usize>> {
        let colour = |n: usize| scratch.said.colours[usize::from(scratch.order[n])];
        let (mut out, mut end) = (Vec::new(), 0);
        for class in &self.places.set.classes {
            let mut at = end;
            end += class.len();
            while at < end {
                let to = (at..end).find(|n| colour(*n) != colour(at)).unwrap_or(end);
                if to > at + 1 {
                    out.push(at..to);
                }
                at = to;
            }
        }
        let n_more: usize = out.iter().map(|group| group.len() - 1).sum();
        debug_assert_eq!(scratch.order.len() - n_more, self.n_colours(scratch), "I4");
        out
    }

    /// The colours of those that are mentioned together add to each other's.
    fn round(&self, scratch: &mut Scratch) {
        let Scratch { said: Said { colours, refs, .. }, next, .. } = scratch;
        next.clone_from(colours);
        for (p, q, tag) in refs.iter() {
            let (p, q) = (usize::from(*p), usize::from(*q));
            next[p] = tinted(next[p], mix(*tag, colours[q]));
            next[q] = tinted(next[q], mix(!*tag, colours[p]));
        }
        std::mem::swap(colours, next);
    }

    /// Goes on with that as long as it may tell more apart; whether some are alike after all.
    fn refine(&self, scratch: &mut Scratch) -> bool {
        let mut n_colours = self.n_colours(scratch);
        while n_colours < scratch.order.len() && self.is_alike_and_mentioned(scratch) {
            self.round(scratch);
            self.sort(None, scratch);
            let n = self.n_colours(scratch);
            debug_assert!(n <= scratch.order.len(), "a colour is somebody's");
            debug_assert!(n >= n_colours, "I4: who is told apart stays so");
            if n == n_colours {
                break;
            }
            n_colours = n;
        }
        n_colours < scratch.order.len()
    }

    /// Whether anybody has the colour of another of its class and is mentioned with somebody.
    fn is_alike_and_mentioned(&self, scratch: &mut Scratch) -> bool {
        self.mark_alike(scratch);
        scratch.said.refs.iter().any(|(p, q, _)| scratch.alike[usize::from(*p)] + scratch.alike[usize::from(*q)] > 0)
    }

    fn mark_alike(&self, scratch: &mut Scratch) {
        let Scratch { said, order, alike, .. } = scratch;
        alike.clear();
        alike.resize(self.places.n, 0);
        let mut from = 0;
        for class in &self.places.set.classes {
            for pair in order[from..from + class.len()].windows(2) {
                let (p, q) = (usize::from(pair[0]), usize::from(pair[1]));
                if said.colours[p] == said.colours[q] {
                    (alike[p], alike[q]) = (1, 1);
                }
            }
            from += class.len();
        }
    }

    /// The first of the groups of which some is mentioned with one of a group.
    fn entangled(&self, scratch: &mut Scratch) -> Option<Range<usize>> {
        self.mark_alike(scratch);
        let Scratch { said, alike, .. } = scratch;
        debug_assert!(said.refs.iter().all(|(p, q, _)| p != q), "who is mentioned with itself has a colour for that");
        let mut any = false;
        for (p, q, _) in &said.refs {
            let (p, q) = (usize::from(*p), usize::from(*q));
            if alike[p] > 0 && alike[q] > 0 {
                (alike[p], alike[q]) = (2, 2);
                any = true;
            }
        }
        if !said.many.is_empty() {
            for p in said.many.iter().map(usize::from) {
                if alike[p] > 0 {
                    alike[p] = 2;
                    any = true;
                }
            }
        }
        let tangled = |g: &Range<usize>| scratch.order[g.clone()].iter().any(|p| scratch.alike[usize::from(*p)] == 2);
        if any { self.groups(scratch).into_iter().find(tangled) } else { None }
    }

    fn least(&self, key: &mut [u8], scratch: &mut Scratch) {
        scratch.n_tried = 0;
        scratch.best.clear();
        self.find_twins(key, scratch);
        debug_assert!(self.check_twins(&scratch.twin, &scratch.said.colours), "a twin is the first of its like");
        self.take_out(key, scratch);
        assert!(scratch.n_tried <= MOST_ORDERS, "no more keys are tried");
        debug_assert!(scratch.colours_before.is_empty() && scratch.group_before.is_empty(), "all was given back");
        self.take_best(key, scratch);
    }

    /// One of the same class and colour, who is a twin of nobody else.
    fn check_twins(&self, twin: &[Pid], colours: &[u64]) -> bool {
        let class = |p: Pid| self.places.set.classes.iter().position(|class| class.contains(&p));
        let is_first = |(p, q): (usize, &Pid)| {
            let first = usize::from(*q);
            twin[first] == *q && colours[first] == colours[p] && class(*q) == class(p as Pid)
        };
        twin.iter().enumerate().filter(|(p, q)| *p != usize::from(**q)).all(is_first)
    }

    /// Takes the best of the keys that were tried.
    fn take_best(&self, key: &mut [u8], scratch: &mut Scratch) {
        assert_eq!(scratch.best.len(), key.len(), "some key was tried");
        scratch.permuted = true;
        let Scratch { perm, best, best_perm, beyond, .. } = scratch;
        debug_assert!(self.leads_to(key, best_perm, beyond, best), "the best key and its permutation belong together");
        if *key == best[..] {
            // I1
            perm.clone_from(&self.identity);
        } else {
            key.copy_from_slice(best);
            std::mem::swap(perm, best_perm);
        }
    }

    fn leads_to(&self, key: &[u8], perm: &[Pid], beyond: &[FrameAt], to: &[u8]) -> bool {
        let mut image = key.to_vec();
        self.places.apply(key, perm, beyond, &mut image);
        image == to
    }

    /// Among those that are alike.
    fn find_twins(&self, key: &[u8], scratch: &mut Scratch) {
        let groups = self.groups(scratch);
        let Scratch { beyond, order, perm, trial, twin, .. } = scratch;
        twin.clear();
        twin.extend(0..self.places.n as Pid);
        // A number that is not read again is no difference.
        let mut own = key.to_vec();
        self.places.apply(key, perm, beyond, &mut own);
        for group in groups {
            let group = &order[group];
            for (n, p) in group.iter().enumerate() {
                for q in group[..n].iter().filter(|q| twin[usize::from(**q)] == **q).copied().collect::<Vec<_>>() {
                    perm.swap(usize::from(*p), usize::from(q));
                    trial.clear();
                    trial.extend_from_slice(key);
                    self.places.apply(key, perm, beyond, trial);
                    perm.swap(usize::from(*p), usize::from(q));
                    if *trial == own {
                        twin[usize::from(*p)] = q;
                        break;
                    }
                }
            }
        }
    }

    /// Tries each of the first entangled group as one that is told from the others, or the key if there is no such group.
    fn take_out(&self, key: &[u8], scratch: &mut Scratch) {
        let Some(group) = self.entangled(scratch) else { return self.try_order(key, scratch) };
        let (colours_from, group_from) = (scratch.colours_before.len(), scratch.group_before.len());
        let n_colours = if cfg!(debug_assertions) { self.n_colours(scratch) } else { 0 };
        let Scratch { said, order, colours_before, group_before, .. } = scratch;
        colours_before.extend_from_slice(&said.colours);
        group_before.extend_from_slice(&order[group.clone()]);
        for n in group_from..group_from + group.len() {
            let Scratch { said, colours_before, group_before, twin, n_tried, .. } = scratch;
            let p = group_before[n];
            let first = |p: Pid| twin[usize::from(p)];
            if group_before[group_from..n].iter().any(|q| first(*q) == first(p)) {
                continue;
            }
            if *n_tried >= MOST_ORDERS {
                scratch.gave_up = true;
                break;
            }
            said.colours.copy_from_slice(&colours_before[colours_from..]);
            let colour = &mut said.colours[usize::from(p)];
            *colour = tinted(*colour, mix(*colour, 1 << 47));
            self.round(scratch);
            self.sort(None, scratch);
            self.refine(scratch);
            debug_assert!(self.n_colours(scratch) > n_colours, "who is taken out is told from the others");
            self.take_out(key, scratch);
        }
        debug_assert_eq!(
            scratch.group_before.len(),
            group_from + group.len(),
            "who is called gives back what it put there"
        );
        scratch.colours_before.truncate(colours_from);
        scratch.group_before.truncate(group_from);
    }

    fn try_order(&self, key: &[u8], scratch: &mut Scratch) {
        let Scratch { beyond, order, perm, best_perm, trial, best, n_tried, .. } = scratch;
        *n_tried += 1;
        self.seat(order, perm);
        trial.clear();
        trial.extend_from_slice(key);
        self.places.apply(key, perm, beyond, trial);
        if best.is_empty() || *trial < *best {
            std::mem::swap(best, trial);
            best_perm.clone_from(perm);
        }
    }

    /// The least key of all orders of the groups.
    fn all_orders(&self, key: &mut [u8], groups: &[Range<usize>], scratch: &mut Scratch) {
        scratch.best.clear();
        scratch.n_tried = 0;
        let order = cfg!(debug_assertions).then(|| scratch.order.clone());
        self.each_order(key, groups, scratch);
        let n_orders = groups.iter().flat_map(|group| 1..=group.len()).fold(1, usize::saturating_mul);
        assert_eq!(scratch.n_tried, n_orders, "each order is tried once");
        debug_assert!(order.is_none_or(|order| order == scratch.order), "the order is as it was");
        self.take_best(key, scratch);
    }

    fn each_order(&self, key: &[u8], groups: &[Range<usize>], scratch: &mut Scratch) {
        match groups.split_first() {
            None => self.try_order(key, scratch),
            Some((group, rest)) if group.len() < 2 => self.each_order(key, rest, scratch),
            Some((group, rest)) => {
                for n in group.clone() {
                    scratch.order.swap(group.start, n);
                    let less = group.start + 1..group.end;
                    let groups: Vec<Range<usize>> = std::iter::once(less).chain(rest.iter().cloned()).collect();
                    self.each_order(key, &groups, scratch);
                    scratch.order.swap(group.start, n);
                }
            }
        }
    }

    /// The n-th of a class goes to where its n-th stands.
    fn seat(&self, order: &[Pid], perm: &mut Perm) {
        debug_assert_eq!(order.len(), self.members.len(), "I2");
        for (from, to) in order.iter().zip(&self.members) {
            perm[usize::from(*from)] = *to;
        }
    }
}
