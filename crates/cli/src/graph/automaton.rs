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
        let simple = text.chars().all(|c| c.is_alphanumeric() || c == '_');
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
