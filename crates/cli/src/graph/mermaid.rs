//! The drawing as a flowchart for Mermaid, which many pages render where it stands.

use super::shape::{Graph, Kind, Node};
use std::fmt::Write as _;

pub fn write(graph: &Graph) -> String {
    let mut out = String::from("flowchart TD\n");
    for row in graph.legend() {
        let _ = writeln!(out, "  %% {row}");
    }
    let mut classes: Vec<(&str, Vec<String>)> = CLASSES.iter().map(|(name, _)| (*name, Vec::new())).collect();
    let mut wrong = Vec::new();
    let mut n_edges = 0;
    for (c, cluster) in graph.clusters.iter().enumerate() {
        let _ = writeln!(out, "  subgraph c{c}[\"{}\"]\n    direction TB", escaped(&cluster.title));
        for (n, node) in cluster.nodes.iter().enumerate() {
            let _ = writeln!(out, "    n{c}_{n}{}", of_node(node));
            for (name, list) in &mut classes {
                if has(node, name) {
                    list.push(format!("n{c}_{n}"));
                }
            }
        }
        for edge in &cluster.edges {
            let arrow = match edge.kind {
                Kind::Plain | Kind::Wrong => "-->",
                Kind::Atomic => "==>",
                Kind::DStep => "-.->",
            };
            let label = if edge.lines.is_empty() { String::new() } else { format!("|\"{}\"|", joined(&edge.lines)) };
            let _ = writeln!(out, "    n{c}_{} {arrow}{label} n{c}_{}", edge.from, edge.to);
            if edge.kind == Kind::Wrong {
                wrong.push(n_edges.to_string());
            }
            n_edges += 1;
        }
        out.push_str("  end\n");
    }
    for ((name, style), (_, members)) in CLASSES.iter().zip(&classes) {
        if !members.is_empty() {
            let _ = writeln!(out, "  classDef {name} {style}\n  class {} {name}", members.join(","));
        }
    }
    if !wrong.is_empty() {
        let _ = writeln!(out, "  linkStyle {} stroke:#cf222e", wrong.join(","));
    }
    out
}

/// A later one wins where both speak.
const CLASSES: [(&str, &str); 5] = [
    ("entry", "fill:#57606a,stroke:#57606a"),
    ("inside", "stroke-dasharray:5 3"),
    ("progress", "fill:#ddf4ff,stroke:#0969da,color:#1f2328"),
    ("ending", "fill:#dafbe1,stroke:#1a7f37,color:#1f2328"),
    ("wrong", "fill:#ffebe9,stroke:#cf222e,color:#1f2328"),
];

fn has(node: &Node, class: &str) -> bool {
    match class {
        "entry" => node.is_entry(),
        "inside" => node.inside,
        "progress" => node.progress,
        "ending" => node.end,
        _ => node.wrong,
    }
}

fn of_node(node: &Node) -> String {
    let text = joined(&node.lines);
    match node {
        n if n.is_entry() => "((\" \"))".to_string(),
        n if n.accept => format!("[[\"{text}\"]]"),
        _ => format!("(\"{text}\")"),
    }
}

fn joined(lines: &[String]) -> String {
    lines.iter().map(|l| escaped(l)).collect::<Vec<_>>().join("<br/>")
}

/// What ends a text, begins a tag, or means something to Markdown is written by its number.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for (at, c) in text.char_indices() {
        let first = at == 0 && matches!(c, '-' | '+');
        if first || c.is_control() || "\"#<>&`*|\\;%~$^".contains(c) {
            let _ = write!(out, "#{};", c as u32);
        } else {
            out.push(c);
        }
    }
    out
}
