//! The automaton of a formula, with acceptance at its states.

use super::shape::{Cluster, Kind, Node};
use spinor_ltl::{Automaton, Cube, PropId, StateId, state_based};

pub fn cluster(automaton: &Automaton, title: String, prop: impl Fn(PropId) -> String) -> Cluster {
    let a = if automaton.is_state_based() { automaton.clone() } else { state_based(automaton) };
    let mut guards = a.guards.clone();
    let mut out = Cluster { title, ..Cluster::default() };
    for s in 0..a.n_states() {
        let accept = a.is_accepting(StateId(s as u32));
        out.node(Node { accept, ..Node::new(vec![s.to_string()]) });
    }
    let literal = |(column, value): &(u32, bool)| {
        let text = prop(a.props[*column as usize]);
        let simple = text.chars().all(|c| c.is_alphanumeric() || c == '_') || is_closed(&text);
        let text = if simple { text } else { format!("({text})") };
        if *value { text } else { format!("!{text}") }
    };
    let product = |cube: &Cube, alone: bool| match &cube[..] {
        [] => "true".to_string(),
        [one] => literal(one),
        many => {
            let text = many.iter().map(&literal).collect::<Vec<_>>().join(" && ");
            if alone { text } else { format!("({text})") }
        }
    };
    for (s, transitions) in a.states.iter().enumerate() {
        for t in transitions {
            let cubes = guards.cubes(t.guard);
            let text: Vec<String> = cubes.iter().map(|c| product(c, cubes.len() == 1)).collect();
            out.edge(s, t.target.idx(), &text.join(" || "), Kind::Plain);
        }
    }
    for s in &a.initial {
        out.enter(s.idx());
    }
    out
}

/// In parentheses already, the first of which belongs to the last.
fn is_closed(text: &str) -> bool {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at > 0 && at + 1 == text.len();
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parentheses_are_not_doubled_and_not_taken_for_others() {
        for (text, closed) in
            [("(x == 1)", true), ("((a) && (b))", true), ("(a) && (b)", false), ("x", false), ("", false)]
        {
            assert_eq!(is_closed(text), closed, "{text}");
        }
        assert!(!is_closed("(x"));
    }
}
