//! What combines with what, and why that is right.
//!
//! One row per search × property × store × reduction × fairness. A cell is either the reason its answer can be
//! trusted, or the reason it is refused. `check` asks this table and nothing else, so a pair nobody argued for cannot
//! be run by accident.

use crate::settings::Search;
use crate::verdict::Kind;
use std::fmt;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cell {
    Sound(&'static str),
    Refused(&'static str),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StoreKind {
    Arena,
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
    pub store: StoreKind,
    pub reduction: Reduction,
    pub fairness: Fairness,
}

/// The table.
pub fn cell(c: Combination) -> Cell {
    let Combination { search, property, store: StoreKind::Arena, reduction: Reduction::None, fairness: Fairness::None } =
        c;
    if search == Search::Auto {
        return Cell::Refused("`auto` is a request; `choose` turns it into a search");
    }
    match property {
        Kind::Assertion | Kind::RuntimeError | Kind::Trace | Kind::Promise => Cell::Sound(
            "every reachable state is expanded once, all its steps are fired, and the fault is one of theirs",
        ),
        Kind::EndState => Cell::Sound(
            "every reachable state is asked for its steps, handshakes included, and those without any are judged",
        ),
        Kind::Acceptance => Cell::Refused("acceptance cycles cannot be checked yet: no search for cycles exists"),
        Kind::NonProgress => Cell::Refused("non-progress cycles cannot be checked yet: no search for cycles exists"),
        Kind::Claim => Cell::Refused("never claims cannot be checked yet: the product with a claim does not exist"),
        Kind::Ltl => Cell::Refused("LTL formulas cannot be checked yet: the product with an automaton does not exist"),
    }
}

/// What `auto` means for a property.
pub fn choose(search: Search) -> Search {
    match search {
        Search::Auto | Search::Bfs => Search::Bfs,
        Search::Dfs => Search::Dfs,
    }
}

/// Every row of the table, in order.
pub fn rows() -> Vec<(Combination, Cell)> {
    let mut out = Vec::new();
    for search in [Search::Bfs, Search::Dfs] {
        for property in Kind::ALL {
            let c = Combination {
                search,
                property,
                store: StoreKind::Arena,
                reduction: Reduction::None,
                fairness: Fairness::None,
            };
            out.push((c, cell(c)));
        }
    }
    out
}

/// The table as text.
pub struct Printed;

impl fmt::Display for Printed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<7} {:<14} {:<6} {:<10} {:<9} answer", "search", "property", "store", "reduction", "fairness")?;
        for (c, cell) in rows() {
            let (word, why) = match cell {
                Cell::Sound(why) => ("sound", why),
                Cell::Refused(why) => ("refused", why),
            };
            let (search, property) = (c.search.word(), c.property.word());
            writeln!(f, "{search:<7} {property:<14} {:<6} {:<10} {:<9} {word}: {why}", "arena", "none", "none")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::SAFETY;

    #[test]
    fn safety_is_sound_and_cycles_are_refused_with_a_reason() {
        for (c, cell) in rows() {
            match cell {
                Cell::Sound(why) => assert!(SAFETY.contains(&c.property) && !why.is_empty(), "{c:?}"),
                Cell::Refused(why) => assert!(!SAFETY.contains(&c.property) && why.contains("yet"), "{c:?}"),
            }
        }
    }

    #[test]
    fn auto_is_never_a_row_and_always_becomes_one() {
        assert!(rows().iter().all(|(c, _)| c.search != Search::Auto));
        assert_eq!(choose(Search::Auto), Search::Bfs);
        assert_eq!(choose(Search::Dfs), Search::Dfs);
    }

    #[test]
    fn the_printed_table_has_a_line_per_row() {
        let text = Printed.to_string();
        assert_eq!(text.lines().count(), rows().len() + 1);
        assert!(text.contains("bfs     assertion      arena  none       none      sound: "));
    }
}
