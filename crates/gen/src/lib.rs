//! A seedable generator of well-formed random Promela.
//!
//! It exists to compare checkers: a model is small enough to search completely in a moment, mixes a random handful of
//! the language's features, and stays away from programs whose meaning is open. The same seed gives the same text for
//! ever, so a seed is a bug report.
//!
//! How a model comes about: `switches` draws which features this model may use, `world` plans it, `declare` declares things,
//! `stmt`, `compound`, `expr`, `io`, `misc` and `ask` write bodies over what is declared, `claim` adds properties, `print`
//! lays the tree out as text. `question` draws what tests ask about the system that it becomes. (Models written by hand are
//! found by `corpus`.) What keeps the drawn ones well-behaved:
//!
//! - every variable is written through a small modulus, so counters do not multiply states;
//! - every index is `constant` or `nonnegative % size`;
//! - a loop inside `atomic` or `d_step` counts a variable that nothing else writes, and a jump backwards is preceded by a
//!   statement outside any atomic, so no indivisible step is endless;
//! - `run` in a place that can repeat is guarded by the number of live processes.
//! - a model that looks too large by a rough guess is drawn again.

mod ask;
mod claim;
mod compound;
pub mod corpus;
mod declare;
mod expr;
mod io;
mod misc;
mod print;
pub mod protocol;
pub mod question;
mod rng;
mod stmt;
mod switches;
mod symmetric;
mod world;

pub use switches::FEATURES;
pub use symmetric::symmetric;

/// A generated model.
pub struct Model {
    pub text: String,
    /// The features the text uses, each one of [`FEATURES`], sorted.
    pub features: Vec<&'static str>,
    /// A run may meet a run-time error other than a failed assertion: a deliberate one.
    pub may_fault: bool,
}

/// What to allow. The default suits a comparison with SPIN.
#[derive(Clone, Debug, Default)]
pub struct Options {
    pub faults: Faults,
    /// Switched-off features; see [`FEATURES`]. Only features that a model can do without are heeded.
    pub without: Vec<&'static str>,
    /// Also write programs that SPIN 6.5.2 itself gets wrong or answers differently in its two engines: values beyond
    /// one bit in bit arrays, reads of hidden variables, polls and `full` on rendez-vous channels, nested `unless` in any
    /// shape, priorities that nothing else in the state shows, rendez-vous sends in a D_proctype, receives that assign what
    /// their own arguments read, traces without end labels. Search for `disputed` in this crate.
    pub disputed: bool,
    /// The only property is a never claim of any shape.
    pub claimed: bool,
}

/// How many models contain a possible run-time error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Faults {
    Never,
    /// About one model in twelve.
    #[default]
    Sometimes,
    Always,
}

/// For comparisons among ourselves: one model of three may have what SPIN gets wrong.
pub fn own(seed: u64) -> Options {
    Options { disputed: seed.is_multiple_of(3), ..Options::default() }
}

/// The model of a seed with these.
pub fn generate_own(seed: u64) -> Model {
    generate_with(seed, &own(seed))
}

/// The model of a seed, with default options.
pub fn generate(seed: u64) -> Model {
    generate_with(seed, &Options::default())
}

/// The model of a seed. Different options give unrelated models for the same seed.
pub fn generate_with(seed: u64, options: &Options) -> Model {
    let mut smallest = None;
    for attempt in 0..8 {
        let (model, guess) = world::Gen::new(seed ^ (attempt << 40), options).model(seed);
        if guess < LARGE {
            return model;
        }
        if smallest.as_ref().is_none_or(|(_, least)| guess < *least) {
            smallest = Some((model, guess));
        }
    }
    smallest.expect("there was an attempt").0
}

/// Models beyond this guess are drawn again: every other one would keep SPIN busy for seconds.
const LARGE: f64 = 19.0;

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn same_seed_same_text() {
        for seed in 0..200 {
            assert_eq!(generate(seed).text, generate(seed).text, "seed {seed}");
        }
        assert_ne!(
            generate(1).text.lines().skip(1).collect::<String>(),
            generate(2).text.lines().skip(1).collect::<String>()
        );
    }

    #[test]
    fn every_feature_occurs_in_500_seeds() {
        let used = (0..500).flat_map(|seed| generate(seed).features).collect::<BTreeSet<_>>();
        let known = FEATURES.iter().copied().collect::<BTreeSet<_>>();
        assert_eq!(known.difference(&used).collect::<Vec<_>>(), Vec::<&&str>::new(), "never used");
        assert_eq!(used.difference(&known).collect::<Vec<_>>(), Vec::<&&str>::new(), "not listed");
    }

    #[test]
    fn faults_are_rare_and_can_be_chosen() {
        let n = (0..1000).filter(|&seed| generate(seed).may_fault).count();
        assert!((40..140).contains(&n), "{n} of 1000 models may fault");
        let never = Options { faults: Faults::Never, ..Options::default() };
        assert!((0..200).all(|seed| !generate_with(seed, &never).may_fault));
        let always = Options { faults: Faults::Always, ..Options::default() };
        assert!((0..200).all(|seed| generate_with(seed, &always).may_fault));
    }

    #[test]
    fn some_ask_who_can_move_and_the_others_stay_as_they_are() {
        let nobody = Options { without: vec!["enabled-process"], ..Options::default() };
        let (mut n, mut n_asking, mut n_nested, mut n_circles) = (0, 0, 0, 0);
        for seed in 0..2000 {
            let model = generate(seed);
            let has = |feature: &str| model.features.contains(&feature);
            let asks = has("enabled-process");
            n += usize::from(!has("rendezvous"));
            n_asking += usize::from(asks);
            n_nested += usize::from(has("enabled-nested"));
            n_circles += usize::from(has("fault-enabled"));
            assert!(!(asks && has("rendezvous")), "seed {seed}");
            if !asks && !has("pc_value-process") {
                assert_eq!(model.text, generate_with(seed, &nobody).text, "seed {seed}");
            }
        }
        println!("{n_asking} of {n} models without handshakes ask, {n_nested} of who asks, {n_circles} of anybody");
        assert!((n / 10..n / 6).contains(&n_asking), "{n_asking} of {n} models");
        assert!(n_nested > n_asking / 5 && n_nested < n_asking && n_circles > 2, "{n_nested} {n_circles}");
    }

    #[test]
    fn a_switched_off_feature_does_not_occur() {
        let options = Options { without: vec!["unless", "d_step", "rendezvous"], ..Options::default() };
        for seed in 0..300 {
            let model = generate_with(seed, &options);
            for feature in &options.without {
                assert!(!model.features.contains(feature), "seed {seed} uses {feature}");
            }
        }
    }

    #[test]
    fn disputed_programs_are_written_on_request() {
        let options = Options { disputed: true, ..Options::default() };
        let differ = (0..300).filter(|&seed| generate_with(seed, &options).text != generate(seed).text).count();
        assert!(differ > 30, "only {differ} of 300 models changed");
    }

    #[test]
    fn a_claimed_model_has_one_claim_and_the_others_stay_as_they_are() {
        let options = Options { claimed: true, ..Options::default() };
        for seed in 0..300 {
            let model = generate_with(seed, &options);
            assert_eq!(model.text.matches("\nnever ").count(), 1, "seed {seed}");
            assert!(["trace", "notrace", "ltl"].iter().all(|f| !model.features.contains(f)), "seed {seed}");
            if let Some((processes, _)) = model.text.split_once("\nnever ") {
                let same = generate(seed).text;
                assert!(same.starts_with(processes), "seed {seed}");
            }
        }
    }

    #[test]
    fn braces_and_selections_are_balanced() {
        for seed in 0..300 {
            let text = generate(seed).text;
            let count = |word: &str| {
                text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|w| *w == word).count()
            };
            assert_eq!(text.matches('{').count(), text.matches('}').count(), "seed {seed}");
            assert_eq!(count("if") - text.matches("#if ").count(), count("fi"), "seed {seed}");
            assert_eq!(count("do"), count("od"), "seed {seed}");
        }
    }
}
