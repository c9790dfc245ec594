//! What a formula is made of (`parts`): runs that look the same to each part have the same value.
//!
//! More seeds: `SPINOR_SEEDS=0..100000 cargo test --release -p spinor-ltl --test parts`.

mod common;

use common::{Rng, formula, seeds, word};
use spinor_ltl::*;
use std::collections::BTreeSet;

const N_PROPS: u64 = 4;

/// Parts that share propositions see each other's changes: what may change places is what no such group shares.
fn groups(parts: &[BTreeSet<PropId>]) -> Vec<BTreeSet<PropId>> {
    let mut out: Vec<BTreeSet<PropId>> = Vec::new();
    for part in parts {
        let (with, mut rest): (Vec<_>, Vec<_>) = out.into_iter().partition(|g| !g.is_disjoint(part));
        rest.push(with.into_iter().flatten().chain(part.iter().copied()).collect());
        out = rest;
    }
    out
}

/// Changes of each group in their order, those of different groups in any: at each letter some group goes on.
fn shuffled(words: &[Vec<Valuation>], groups: &[BTreeSet<PropId>], rng: &mut Rng) -> Vec<Valuation> {
    let mut at = vec![0; groups.len()];
    let letter = |at: &[usize]| {
        let of = |(n, g): (usize, &BTreeSet<PropId>)| {
            let now = words[n][at[n]].clone();
            g.iter().copied().filter(move |p| now.holds(*p)).collect::<Vec<_>>()
        };
        Valuation::new(groups.iter().enumerate().flat_map(of))
    };
    let mut out = vec![letter(&at)];
    loop {
        let open: Vec<usize> = (0..groups.len()).filter(|n| at[*n] + 1 < words[*n].len()).collect();
        if open.is_empty() {
            return out;
        }
        at[open[rng.below(open.len() as u64) as usize]] += 1;
        out.push(letter(&at));
    }
}

#[test]
fn runs_that_look_the_same_to_each_part_have_the_same_value() {
    let (mut n_split, mut n_differ) = (0, 0);
    for seed in seeds(0..4000) {
        let mut rng = Rng::new(seed);
        let size = 2 + rng.below(9);
        let f = formula(&mut rng, size, N_PROPS, false);
        let found = parts(&f);
        let groups = groups(&found);
        if groups.len() < 2 {
            continue;
        }
        n_split += 1;
        for _ in 0..10 {
            // Of each group a stem, then a cycle that comes back to where the stem has ended.
            let mut half = || groups.iter().map(|_| word(&mut rng, 4, N_PROPS)).collect::<Vec<_>>();
            let (stems, mut cycles) = (half(), half());
            for (stem, cycle) in stems.iter().zip(&mut cycles) {
                cycle[0] = stem[3].clone();
                cycle.push(stem[3].clone());
            }
            let value = |stem: &[Valuation], cycle: &[Valuation]| eval_lasso(&f, stem, cycle).holds();
            let mut one = || (shuffled(&stems, &groups, &mut rng), shuffled(&cycles, &groups, &mut rng));
            let ((stem, cycle), (other_stem, other_cycle)) = (one(), one());
            assert_eq!(value(&stem, &cycle), value(&other_stem, &other_cycle), "seed {seed}: {f}, parts {found:?}");
            // It has to matter what is shuffled: a word of its own may have another value.
            n_differ += u32::from(value(&stem, &cycle) != value(&other_cycle, &stem));
        }
    }
    assert!(n_split >= 400 && n_differ >= 400, "{n_split} formulas with several parts, {n_differ} words that differ");
}

#[test]
fn parts_are_found_through_temporal_operators() {
    let p = |n: u32| Box::new(Formula::Prop(PropId(n)));
    let sets = |f: &Formula| parts(f).iter().map(|s| s.iter().map(|p| p.0).collect()).collect::<Vec<Vec<u32>>>();
    let always = |a| Formula::Always(Box::new(a));
    let eventually = |a| Formula::Eventually(Box::new(a));
    let (and, or) = (Formula::And(p(0), p(1)), Formula::Or(p(0), p(1)));
    let apart = vec![vec![0], vec![1]];
    assert_eq!(sets(&always(and.clone())), apart);
    assert_eq!(sets(&eventually(or.clone())), apart);
    assert_eq!(sets(&always(eventually(or.clone()))), apart);
    assert_eq!(sets(&eventually(always(and.clone()))), apart);
    assert_eq!(sets(&Formula::Not(Box::new(eventually(always(and.clone()))))), apart);
    assert_eq!(sets(&always(or.clone())), [[0, 1]]);
    assert_eq!(sets(&eventually(and.clone())), [[0, 1]]);
    assert_eq!(sets(&always(eventually(and.clone()))), [[0, 1]]);
    assert_eq!(sets(&Formula::Until(Box::new(and.clone()), p(2))), [[0, 2], [1, 2]]);
    assert_eq!(sets(&Formula::Until(p(2), Box::new(or.clone()))), [[0, 2], [1, 2]]);
    assert_eq!(sets(&Formula::Until(p(2), Box::new(and))), [[0, 1, 2]]);
    assert_eq!(sets(&Formula::Release(p(2), Box::new(or))), [[0, 1, 2]]);
    assert_eq!(sets(&always(Formula::Implies(p(0), Box::new(eventually(Formula::Prop(PropId(1))))))), [[0, 1]]);
    assert_eq!(sets(&Formula::And(p(0), Box::new(Formula::Next(p(1))))), [[0, 1]]);
}
