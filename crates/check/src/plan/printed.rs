//! The table of [`super`] as text, for `spinor plan` and the book.
//!
//! Searches, properties, stores and selectors come from their lists. What depends on more than a cell, such as the
//! provisos by the path, has its words here.

use super::{
    Cell, Combination, OnTheFly, cell, finds_cycles, refuses_leaps, refuses_progress, seeks_progress, symmetric,
};
use crate::cycles::Fairness;
use crate::progress::meaning::Progress;
use crate::reduce::{AbleBy, Proviso, Selector};
use crate::settings::{FairBy, Search, Store};
use crate::verdict::Kind;
use std::collections::BTreeSet;
use std::fmt;

const FAIR: [(Fairness, FairBy); 5] = [
    (Fairness::None, FairBy::Scc),
    (Fairness::Weak, FairBy::Scc),
    (Fairness::Weak, FairBy::Flags),
    (Fairness::Weak, FairBy::Copies),
    (Fairness::Strong, FairBy::Scc),
];

fn reductions() -> impl Iterator<Item = Option<Selector>> {
    std::iter::once(None).chain(Selector::ALL.map(Some))
}

fn reduction_word(reduction: Option<Selector>) -> &'static str {
    reduction.map_or("off", Selector::word)
}

/// Every row of a table, in order.
pub(super) fn rows(cell: fn(Combination) -> Cell) -> Vec<(Combination, Cell)> {
    let mut out = Vec::new();
    for search in Search::ALL {
        for property in Kind::ALL {
            for store in Store::ALL {
                for (fairness, fair_by) in FAIR {
                    for reduction in reductions() {
                        let c = Combination { search, property, store, reduction, fairness, fair_by };
                        out.push((c, cell(c)));
                    }
                }
            }
        }
    }
    out
}

/// The table as text. What has the same answer shares a line as far as one line can say it.
pub struct Printed;

fn fair_word(fairness: Fairness, by: FairBy) -> String {
    match fairness {
        Fairness::Weak => format!("weak by {}", by.word()),
        other => other.word().to_string(),
    }
}

/// The places of a row: property, store, fairness, reduction.
type Place = [usize; 4];

/// Splits places until each part is all combinations of some properties, stores, fairnesses and reductions.
fn boxes(places: Vec<Place>, axis: usize) -> Vec<[BTreeSet<usize>; 4]> {
    let sides: [BTreeSet<usize>; 4] = std::array::from_fn(|i| places.iter().map(|p| p[i]).collect());
    if sides.iter().map(BTreeSet::len).product::<usize>() == places.len() {
        return vec![sides];
    }
    let split = |n: &usize| boxes(places.iter().copied().filter(|p| p[axis] == *n).collect(), (axis + 1) % 4);
    let mut parts: Vec<[BTreeSet<usize>; 4]> = sides[axis].iter().flat_map(split).collect();
    // What differs on one side only is one part.
    let pair = |parts: &[[BTreeSet<usize>; 4]]| {
        let pairs = (0..parts.len()).flat_map(|a| (a + 1..parts.len()).map(move |b| (a, b)));
        pairs.into_iter().find(|(a, b)| (0..4).filter(|n| parts[*a][*n] != parts[*b][*n]).count() == 1)
    };
    while let Some((a, b)) = pair(&parts) {
        let other = parts.remove(b);
        parts[a].iter_mut().zip(other).for_each(|(side, more)| side.extend(more));
    }
    let n_places: usize = parts.iter().map(|part| part.iter().map(BTreeSet::len).product::<usize>()).sum();
    debug_assert_eq!(n_places, places.len(), "each place is in one part");
    parts
}

impl fmt::Display for Printed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print(f, "", cell)?;
        print(f, "--sym WAY ", symmetric)?;
        let words: Vec<&str> = Proviso::ASKED.into_iter().filter(|p| p.is_path()).map(Proviso::word).collect();
        let by_path = format!("--proviso {}", words.join("|"));
        let stack = (Proviso::PathNumber, AbleBy::Guards, Fairness::None);
        let waits = (Proviso::Loops, AbleBy::Dynamic, Fairness::Weak);
        for (what, (proviso, able_by, fairness)) in [(by_path.as_str(), stack), ("--able-by dynamic|defaults", waits)] {
            writeln!(f, "{what}")?;
            let counts = |s: &Search| !seeks_progress(*s) && (proviso.is_path() || finds_cycles(*s));
            for search in Search::ALL.into_iter().filter(counts) {
                let fly = OnTheFly { proviso, able_by, search, fairness, jobs: 1, lossy: false };
                let (word, why) = match (fly.refusal(), search) {
                    (Some(why), _) => ("refused", why),
                    (None, Search::Dfs) => {
                        ("sound", "on every cycle all steps of some state are taken (search/dfs.rs)")
                    }
                    (None, _) if proviso.is_path() => ("sound", BY_PATH),
                    (None, _) => ("sound", BY_WAITING),
                };
                writeln!(f, "  {word:<8} search {}\n           {why}", search.word())?;
            }
        }
        writeln!(f, "--por leap|lra {by_path}")?;
        let why = refuses_leaps(Proviso::PathNumber, true).expect("it is refused");
        writeln!(f, "  refused  search any\n           {why}")?;
        for (progress, leaps) in [(Progress::States, true), (Progress::Steps, false)] {
            let por = if leaps { "leap|lra" } else { "SELECTION" };
            let mut refused: Vec<(&str, Vec<&str>)> = Vec::new();
            for search in Search::ALL.into_iter().filter(|s| finds_cycles(*s)) {
                let Some(why) = refuses_progress(search, progress, leaps) else { continue };
                match refused.iter_mut().find(|(known, _)| *known == why) {
                    Some((_, searches)) => searches.push(search.word()),
                    None => refused.push((why, vec![search.word()])),
                }
            }
            let rows = refused.iter().map(|(why, s)| format!("  refused  search {}\n           {why}\n", s.join(", ")));
            write!(f, "--prop progress --progress {} --por {por}\n{}", progress.word(), rows.collect::<String>())?;
        }
        Ok(())
    }
}

const BY_PATH: &str =
    "[HPY96] 5.2: both searches run through one graph; the claim must have a stutter form (cycles/ndfs.rs)";
const BY_WAITING: &str = "[Bosnacki-POR] 5.3, repaired; the claim must have a stutter form (reduce/repairs.rs)";

fn print(f: &mut fmt::Formatter<'_>, with: &str, cell: fn(Combination) -> Cell) -> fmt::Result {
    let some = |side: &BTreeSet<usize>, words: &[String]| {
        if side.len() == words.len() {
            return "any".to_string();
        }
        side.iter().map(|n| words[*n].clone()).collect::<Vec<_>>().join(", ")
    };
    let properties: Vec<String> = Kind::ALL.iter().map(|k| k.word().to_string()).collect();
    let stores: Vec<String> = Store::ALL.iter().map(|s| s.word().to_string()).collect();
    let fair: Vec<String> = FAIR.iter().map(|(fairness, by)| fair_word(*fairness, *by)).collect();
    let reductions: Vec<String> = reductions().map(|r| reduction_word(r).to_string()).collect();
    for search in Search::ALL {
        writeln!(f, "{with}--search {}", search.word())?;
        let mut answers: Vec<(Cell, Vec<Place>)> = Vec::new();
        for (c, cell) in rows(cell).into_iter().filter(|(c, _)| c.search == search) {
            let of = |words: &[String], word: &str| words.iter().position(|w| w == word).expect("a row's word");
            let fairness = fair_word(c.fairness, c.fair_by);
            let place = [
                of(&properties, c.property.word()),
                of(&stores, c.store.word()),
                of(&fair, &fairness),
                of(&reductions, reduction_word(c.reduction)),
            ];
            match answers.iter_mut().find(|(known, _)| *known == cell) {
                Some((_, places)) => places.push(place),
                None => answers.push((cell, vec![place])),
            }
        }
        for (cell, places) in answers {
            let (word, why) = match cell {
                Cell::Sound(why) => ("sound", why),
                Cell::OneWay(why) => ("one way", why),
                Cell::Refused(why) => ("refused", why),
            };
            for [p, s, w, r] in boxes(places, 0) {
                let (p, s, w) = (some(&p, &properties), some(&s, &stores), some(&w, &fair));
                let r = some(&r, &reductions);
                writeln!(f, "  {word:<8} property {p}; store {s}; fairness {w}; reduction {r}\n           {why}")?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Taken apart and put together again, the printed table says what the cells say.
    #[test]
    fn the_printed_table_says_each_combination_once() {
        let rows = rows(cell);
        let mut cells: Vec<Cell> = Vec::new();
        rows.iter().for_each(|(_, cell)| {
            if !cells.contains(cell) {
                cells.push(*cell);
            }
        });
        for search in Search::ALL {
            for cell in &cells {
                let all = rows.iter().enumerate().filter(|(_, (c, other))| c.search == search && other == cell);
                let (r, f, s, k) = (reductions().count(), FAIR.len(), Store::ALL.len(), Kind::ALL.len());
                let place = |n: usize| [n / (r * f * s) % k, n / (r * f) % s, n / r % f, n % r];
                let places: Vec<Place> = all.map(|(n, _)| place(n)).collect();
                let n: usize =
                    boxes(places.clone(), 0).iter().map(|b| b.iter().map(BTreeSet::len).product::<usize>()).sum();
                assert_eq!(n, places.len());
            }
        }
        let text = Printed.to_string();
        assert!(text.contains("store hashcompact, bitstate; fairness any; reduction any\n"), "{text}");
        for property in Kind::ALL {
            assert!(text.contains(property.word()), "{text}");
        }
    }
}
