//! What combines with what, and why that is right.
//!
//! One row per search × property × store × reduction × fairness. A cell is the reason its answer can be trusted,
//! the reason only its violations can, or the reason it is refused. `check` asks this table and nothing else, so a
//! pair nobody argued for cannot be run by accident. Every search takes any number of threads (`jobs`): the
//! arguments are in `search/bfs.rs` and `search/dfs.rs`.

use crate::settings::{Search, Store};
use crate::verdict::Kind;
use std::fmt;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cell {
    Sound(&'static str),
    /// A violation is one; that none was found says little.
    OneWay(&'static str),
    Refused(&'static str),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reduction {
    None,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fairness {
    None,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Combination {
    /// Never `Auto`.
    pub search: Search,
    pub property: Kind,
    /// Never `Auto`.
    pub store: Store,
    pub reduction: Reduction,
    pub fairness: Fairness,
}

/// The table.
pub fn cell(c: Combination) -> Cell {
    let Combination { search, property, store, reduction: Reduction::None, fairness: Fairness::None } = c;
    if search == Search::Auto || store == Store::Auto {
        return Cell::Refused("`auto` is a request; `choose` turns it into a search and a store");
    }
    match property {
        Kind::Acceptance => {
            return Cell::Refused("acceptance cycles cannot be checked yet: no search for cycles exists");
        }
        Kind::NonProgress => {
            return Cell::Refused("non-progress cycles cannot be checked yet: no search for cycles exists");
        }
        Kind::Claim => {
            return Cell::Refused("never claims cannot be checked yet: the product with a claim does not exist");
        }
        Kind::Ltl => {
            return Cell::Refused("LTL formulas cannot be checked yet: the product with an automaton does not exist");
        }
        Kind::Assertion | Kind::RuntimeError | Kind::Trace | Kind::Promise | Kind::EndState => {}
    }
    if store.is_lossy() {
        return match search {
            Search::Dfs => Cell::OneWay(
                "every state on the path is a real one, so a violation is; a state taken for another is not searched",
            ),
            _ => Cell::Refused(
                "breadth-first search reads its levels back from the store, and a lossy store keeps no states: \
                 --search dfs does without",
            ),
        };
    }
    match property {
        Kind::EndState => Cell::Sound(
            "every reachable state is asked for its steps, handshakes included, and those without any are judged",
        ),
        _ => Cell::Sound(
            "every reachable state is expanded once, all its steps are fired, and the fault is one of theirs",
        ),
    }
}

/// What `auto` means.
pub fn choose(search: Search, store: Store) -> (Search, Store) {
    let store = match store {
        Store::Auto => Store::Tree,
        store => store,
    };
    let search = match search {
        Search::Auto if store.is_lossy() => Search::Dfs,
        Search::Auto => Search::Bfs,
        search => search,
    };
    (search, store)
}

/// Every row of the table, in order.
pub fn rows() -> Vec<(Combination, Cell)> {
    let mut out = Vec::new();
    for search in [Search::Bfs, Search::Dfs] {
        for property in Kind::ALL {
            for store in [Store::Tree, Store::Arena, Store::HashCompact, Store::Bitstate] {
                let c = Combination { search, property, store, reduction: Reduction::None, fairness: Fairness::None };
                out.push((c, cell(c)));
            }
        }
    }
    out
}

/// The table as text. Stores with the same answer share a line.
pub struct Printed;

impl fmt::Display for Printed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line = |search: &str, property: &str, stores: &str, jobs: &str, rest: [&str; 2], answer: &str| {
            let [reduction, fairness] = rest;
            writeln!(f, "{search:<7} {property:<14} {stores:<22} {jobs:<5} {reduction:<10} {fairness:<9} {answer}")
        };
        line("search", "property", "store", "jobs", ["reduction", "fairness"], "answer")?;
        let rows = rows();
        let alike = |a: &(Combination, Cell), b: &(Combination, Cell)| {
            a.1 == b.1 && a.0.search == b.0.search && a.0.property == b.0.property
        };
        for group in rows.chunk_by(alike) {
            let (c, cell) = group[0];
            let stores: Vec<&str> = group.iter().map(|(c, _)| c.store.word()).collect();
            let stores = if stores.len() == 4 { "any".to_string() } else { stores.join(", ") };
            let answer = match cell {
                Cell::Sound(why) => format!("sound: {why}"),
                Cell::OneWay(why) => format!("one way: {why}"),
                Cell::Refused(why) => format!("refused: {why}"),
            };
            line(c.search.word(), c.property.word(), &stores, "any", ["none", "none"], &answer)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::SAFETY;

    #[test]
    fn safety_is_sound_in_exact_stores_and_cycles_are_refused_with_a_reason() {
        for (c, cell) in rows() {
            match cell {
                Cell::Sound(why) => {
                    assert!(SAFETY.contains(&c.property) && !why.is_empty() && !c.store.is_lossy(), "{c:?}")
                }
                Cell::OneWay(_) => assert!(c.store.is_lossy() && c.search == Search::Dfs, "{c:?}"),
                Cell::Refused(why) if SAFETY.contains(&c.property) => {
                    assert!(c.store.is_lossy() && c.search == Search::Bfs && why.contains("--search dfs"), "{c:?}")
                }
                Cell::Refused(why) => assert!(why.contains("yet"), "{c:?}"),
            }
        }
    }

    #[test]
    fn auto_is_never_a_row_and_always_becomes_one() {
        assert!(rows().iter().all(|(c, _)| c.search != Search::Auto && c.store != Store::Auto));
        assert_eq!(choose(Search::Auto, Store::Auto).0, Search::Bfs);
        assert_eq!(choose(Search::Dfs, Store::Arena), (Search::Dfs, Store::Arena));
        for store in [Store::Bitstate, Store::HashCompact] {
            assert_eq!(choose(Search::Auto, store), (Search::Dfs, store));
            assert_eq!(choose(Search::Bfs, store), (Search::Bfs, store), "a request is not changed");
        }
    }

    #[test]
    fn the_printed_table_names_every_search_property_and_store() {
        let text = Printed.to_string();
        assert!(text.contains("bfs     assertion      tree, arena            any   none       none      sound: "));
        assert!(text.contains("dfs     end-state      hashcompact, bitstate  any   none       none      one way: "));
        for property in Kind::ALL {
            assert!(text.lines().filter(|l| l.split_whitespace().nth(1) == Some(property.word())).count() >= 2);
        }
    }
}
