//! A run of the quotient as a run of the system.
//!
//! Source  [Bosnacki-SYM], the proof of theorem 2.
//!
//! # The argument
//!   Let r be a state of the system and c the state that is seen for it, r = ρ(c) up to variables that nobody reads. A step
//!   of c to t that is seen as d = π(t) is a step of r to ρ(t), made by the images of its processes; and
//!   ρ(t) = ρπ⁻¹(d). So ρ is carried along, and at each point the step of r is looked for that leads to ρ(t): it exists,
//!   or the symmetry was none.
//!   A cycle of the quotient comes back to c with another ρ. Done again, it comes back with yet another; the images of a
//!   state are finite, so some lap ends where one began. In each lap the
//!   processes that were served in the first are served under other names, and all were, so every lap serves all.
//!   Variables that nobody reads may differ the first time round; after that, what is written to them is the same.
//!
//! # Invariants
//!   I1 r = ρ(c) after every step, up to variables that nobody reads
//!   I2 a lap begins at an image of the state that the cycle begins at
//!
//! # Owed
//!   O1 what comes out is a run, and of the same kind     every trace is replayed; tests: random symmetric models
//!   O2 images of states have images of steps             tests/symmetry.rs: each place forgotten once
//!
//! # Cost  two states expanded for each step; as many laps as the permutation of one needs to come back, at most.

use super::canon::{Canon, Perm, Scratch};
use super::figure4::Fragment;
use crate::cycles::product::Product;
use crate::cycles::{Lasso, Moves, Runs};
use crate::search::Found;
use spinor_model::fault::Fault;
use spinor_model::interp::Interp;
use spinor_model::layout::GRAIN;
use spinor_model::successors::{Outcome, Step, Successors};

const NO_STEP: &str = "images of a state have images of its steps";

/// The same violation in the system that was searched.
pub fn violation(searched: &Interp, canon: &Canon, found: &Found) -> Found {
    let Ok(initial) = searched.initial() else { return found.clone() };
    let mut scratch = Scratch::default();
    let mut real = Vec::new();
    searched.pack(&initial, &mut real);
    let mut seen = real.clone();
    canon.pick(&mut seen, &mut scratch);
    let mut rho = Canon::inverse(Canon::picked(&scratch));
    let mut out = Found { kind: found.kind, steps: Vec::new(), fault: found.fault.clone() };
    for (n, (step, path)) in found.steps.iter().enumerate() {
        let last = n + 1 == found.steps.len();
        let (_, batch) = fired(searched, &seen, step);
        let nth = batch.outcomes.iter().position(|o| o.path == *path).expect("the search made this step");
        let there = batch.key(&batch.outcomes[nth]).map(<[u8]>::to_vec);
        let fault = found.fault.as_ref().filter(|_| last);
        let step = image(step, &rho);
        let (offered, batch) = fired(searched, &real, &step);
        assert!(offered, "{NO_STEP}: {step:?}");
        let wanted = there.as_ref().map(|key| {
            let key = canon.image(key, &rho, &mut scratch);
            canon.normal(&key, &mut scratch)
        });
        let fits = |n: usize, o: &Outcome, scratch: &mut Scratch| {
            let key = batch.key(o).map(|key| canon.normal(key, scratch));
            let shown = fault.is_none_or(|f| batch.faults_of(n).any(|g| is_image(f, g, &rho)));
            key == wanted && shown
        };
        let nth = (0..batch.outcomes.len()).find(|n| fits(*n, &batch.outcomes[*n], &mut scratch)).expect(NO_STEP);
        out.steps.push((step, batch.outcomes[nth].path));
        if let Some(f) = fault {
            out.fault = batch.faults_of(nth).find(|g| is_image(f, g, &rho)).cloned();
            assert!(out.fault.is_some(), "images of a state have images of its faults");
        }
        debug_assert!(there.is_some() || last, "only the last step leads nowhere");
        if let Some(mut key) = there {
            real = batch.key(&batch.outcomes[nth]).expect("as wanted").to_vec();
            canon.pick(&mut key, &mut scratch);
            rho = Canon::product(&Canon::inverse(Canon::picked(&scratch)), &rho);
            seen = key;
            debug_assert!(is_seen_as(canon, (&seen, &rho), &real, &mut scratch), "I1");
        }
    }
    out
}

/// I1
fn is_seen_as(canon: &Canon, (seen, rho): (&[u8], &[u8]), real: &[u8], scratch: &mut Scratch) -> bool {
    let image = canon.image(seen, rho, scratch);
    canon.normal(&image, scratch) == canon.normal(real, scratch)
}

/// The outcomes of one step, and whether it can be taken.
fn fired(searched: &Interp, key: &[u8], step: &Step) -> (bool, spinor_model::successors::Batch) {
    let mut state = searched.unpack(key);
    let (mut steps, mut batch) = (Vec::new(), searched.batch());
    searched.enabled(&mut state, &mut steps);
    let offered = steps.contains(step);
    if offered {
        searched.fire(&mut state, &[*step], &mut batch);
    }
    (offered, batch)
}

fn seat(pid: u8, rho: &[u8]) -> u8 {
    rho.get(usize::from(pid)).copied().unwrap_or(pid)
}

fn image(step: &Step, rho: &[u8]) -> Step {
    Step { pid: seat(step.pid, rho), partner: step.partner.map(|(p, e)| (seat(p, rho), e)), ..*step }
}

/// The same fault, of the image of a process. Numbers that it tells may be others.
fn is_image(of: &Fault, other: &Fault, rho: &[u8]) -> bool {
    let at = of.at.map(|(p, t, e)| (seat(p, rho), t, e));
    at == other.at && std::mem::discriminant(&of.kind) == std::mem::discriminant(&other.kind)
}

/// Laps of a cycle that are tried: the order of a permutation of so few is less.
const MOST_LAPS: usize = 100_000;

/// The same run in the system beside its claim.
pub fn lasso(product: &Product<'_, Interp>, canon: &Canon, lasso: &Lasso) -> Lasso {
    let mut walk = Walk { product, canon, desk: product.desk(), scratch: Scratch::default() };
    let mut start = Moves::default();
    product.initial(&mut walk.desk, &mut start);
    let real = start.key(lasso.initial).to_vec();
    let mut at = At { seen: real.clone(), real, rho: Vec::new() };
    walk.pick(&mut at.seen);
    at.rho = Canon::inverse(Canon::picked(&walk.scratch));
    debug_assert_eq!(walk.image(&at.seen, &at.rho), walk.normal(&at.real), "I1");
    let mut stem = Vec::new();
    for (n, nth) in lasso.stem.iter().enumerate() {
        let ends = lasso.cycle.is_empty() && n + 1 == lasso.stem.len();
        stem.push(walk.step(&mut at, *nth, ends));
    }
    if lasso.cycle.is_empty() {
        return Lasso { initial: lasso.initial, stem, cycle: Vec::new() };
    }
    // Where laps began, and how many moves there were by then.
    let mut begun: Vec<(Vec<u8>, usize)> = Vec::new();
    let mut moves = Vec::new();
    let first = at.seen.clone();
    for n in 0..MOST_LAPS {
        debug_assert_eq!(at.seen, first, "I2");
        debug_assert_eq!(moves.len(), n * lasso.cycle.len(), "each lap is as long as the first");
        if let Some((_, from)) = begun.iter().find(|(key, _)| *key == at.real) {
            let cycle = moves.split_off(*from);
            stem.extend(moves);
            return Lasso { initial: lasso.initial, stem, cycle };
        }
        begun.push((at.real.clone(), moves.len()));
        for nth in &lasso.cycle {
            moves.push(walk.step(&mut at, *nth, false));
        }
    }
    unreachable!("the laps of a cycle come back to where one began");
}

/// The run that a fragment and its images make ([Bosnacki-SYM], the proof of theorem 2).
pub fn glue(product: &Product<'_, Interp>, canon: &Canon, fragment: &Fragment) -> Lasso {
    let mut walk = Walk { product, canon, desk: product.desk(), scratch: Scratch::default() };
    let (initial, mut stem, mut moves) = (fragment.initial, fragment.stem.clone(), Moves::default());
    if fragment.lap.is_empty() {
        return Lasso { initial, stem, cycle: Vec::new() };
    }
    product.initial(&mut walk.desk, &mut moves);
    let mut at = moves.key(initial).to_vec();
    let mut go = |at: &mut Vec<u8>, nth: u32| {
        moves.clear();
        product.moves(&mut product.desk(), at, &mut moves);
        *at = moves.key(nth as usize).to_vec();
        moves.all[nth as usize].pid
    };
    for nth in &fragment.stem {
        go(&mut at, *nth);
    }
    // The first lap, as it was found: where it leads, and by whom.
    let (first, mut lap) = (at.clone(), Vec::new());
    for nth in &fragment.lap {
        let pid = go(&mut at, *nth);
        lap.push((at.clone(), pid));
    }
    let perm_of = |walk: &mut Walk<'_>, key: &[u8]| {
        walk.pick(&mut key.to_vec());
        Canon::picked(&walk.scratch).clone()
    };
    let (begin, end) = (perm_of(&mut walk, &first), perm_of(&mut walk, &at));
    let sigma = Canon::product(&begin, &Canon::inverse(&end));
    debug_assert_eq!(walk.image(&first, &sigma), walk.normal(&at), "a lap leads to an image of where it began");
    let mut power = sigma.clone();
    let mut begun = vec![(first, 0)];
    let mut made = fragment.lap.clone();
    for _ in 0..MOST_LAPS {
        if let Some((_, from)) = begun.iter().find(|(key, _)| *key == at) {
            let cycle = made.split_off(*from);
            stem.extend(made);
            return Lasso { initial, stem, cycle };
        }
        begun.push((at.clone(), made.len()));
        let from = at.clone();
        for (to, pid) in &lap {
            let wanted = walk.image(to, &power);
            made.push(walk.find(&mut at, &wanted, None, pid.map(|p| seat(p, &power))));
        }
        debug_assert_eq!(walk.image(&from, &sigma), walk.normal(&at), "I2: so does each of its images");
        power = Canon::product(&power, &sigma);
    }
    unreachable!("the laps of a cycle come back to where one began");
}

/// A state, the one that is seen for it, and the permutation from the latter.
struct At {
    real: Vec<u8>,
    seen: Vec<u8>,
    rho: Perm,
}

struct Walk<'a> {
    product: &'a Product<'a, Interp>,
    canon: &'a Canon,
    desk: crate::cycles::product::Desk<Interp>,
    scratch: Scratch,
}

impl Walk<'_> {
    fn pick(&mut self, key: &mut [u8]) {
        let n = key.len() - GRAIN;
        self.canon.pick(&mut key[..n], &mut self.scratch);
    }

    fn normal(&mut self, key: &[u8]) -> Vec<u8> {
        let (own, at) = key.split_at(key.len() - GRAIN);
        let mut own = self.canon.normal(own, &mut self.scratch);
        own.extend_from_slice(at);
        own
    }

    /// Takes the image of a move; its number.
    fn step(&mut self, at: &mut At, nth: u32, ends: bool) -> u32 {
        let mut moves = Moves::default();
        self.product.moves(&mut self.desk, &at.seen, &mut moves);
        let m = moves.all[nth as usize].clone();
        assert_eq!(ends, moves.ends == Some(nth), "what ends the matter is the last move, if there is no cycle");
        let mut there = moves.key(nth as usize).to_vec();
        if ends {
            moves.clear();
            self.product.moves(&mut self.desk, &at.real, &mut moves);
            return moves.ends.expect(NO_STEP);
        }
        let wanted = self.image(&there, &at.rho);
        let found = self.find(&mut at.real, &wanted, Some(m.marks), m.pid.map(|p| seat(p, &at.rho)));
        self.pick(&mut there);
        at.rho = Canon::product(&Canon::inverse(Canon::picked(&self.scratch)), &at.rho);
        at.seen = there;
        let (image, real) = (self.image(&at.seen, &at.rho), self.normal(&at.real));
        assert_eq!(image, real, "I1: one permutation after the other is their product (places I1)");
        found
    }

    fn image(&mut self, key: &[u8], perm: &[u8]) -> Vec<u8> {
        let (own, state) = key.split_at(key.len() - GRAIN);
        let mut image = self.canon.image(own, perm, &mut self.scratch);
        image.extend_from_slice(state);
        self.normal(&image)
    }

    /// Takes the move of this process that leads to what is wanted, up to variables that nobody reads; its number.
    fn find(&mut self, at: &mut Vec<u8>, wanted: &[u8], marks: Option<u64>, pid: Option<u8>) -> u32 {
        let mut moves = Moves::default();
        self.product.moves(&mut self.desk, at, &mut moves);
        let fits = |n: &usize| {
            let m = &moves.all[*n];
            marks.is_none_or(|marks| marks == m.marks) && m.pid == pid && self.normal(moves.key(*n)) == wanted
        };
        let found = (0..moves.all.len()).find(fits).expect(NO_STEP);
        *at = moves.key(found).to_vec();
        found as u32
    }
}
