//! The drawing as a text for Graphviz.

use super::shape::{Edge, Graph, Kind, Node};
use std::fmt::Write as _;

pub fn write(graph: &Graph) -> String {
    let mut out = format!("digraph {} {{\n", quoted(&[&graph.title]));
    for row in graph.legend() {
        let _ = writeln!(out, "  // {row}");
    }
    out.push_str("  node [shape=box, style=rounded, fontname=\"monospace\", fontsize=11]\n");
    out.push_str("  edge [fontname=\"monospace\", fontsize=11]\n");
    for (c, cluster) in graph.clusters.iter().enumerate() {
        let _ = writeln!(out, "  subgraph cluster_{c} {{\n    label={}", quoted(&[&cluster.title]));
        for (n, node) in cluster.nodes.iter().enumerate() {
            let _ = writeln!(out, "    n{c}_{n} [{}]", of_node(node));
        }
        for edge in &cluster.edges {
            let _ = writeln!(out, "    n{c}_{} -> n{c}_{}{}", edge.from, edge.to, of_edge(edge));
        }
        out.push_str("  }\n");
    }
    out.push_str("}\n");
    out
}

fn of_node(node: &Node) -> String {
    if node.is_entry() {
        return "shape=point, label=\"\"".to_string();
    }
    let mut out = format!("label={}", quoted(&node.lines));
    if node.accept {
        out.push_str(", peripheries=2");
    }
    let colours = match node {
        n if n.wrong => Some(("#ffebe9", "#cf222e")),
        n if n.end => Some(("#dafbe1", "#1a7f37")),
        n if n.progress => Some(("#ddf4ff", "#0969da")),
        _ => None,
    };
    let dashed = if node.inside { ",dashed" } else { "" };
    if let Some((fill, line)) = colours {
        let _ = write!(out, ", style=\"rounded,filled{dashed}\", fillcolor=\"{fill}\", color=\"{line}\"");
    } else if node.inside {
        out.push_str(", style=\"rounded,dashed\"");
    }
    out
}

fn of_edge(edge: &Edge) -> String {
    let mut list = Vec::new();
    if !edge.lines.is_empty() {
        list.push(format!("label={}", quoted(&edge.lines)));
    }
    match edge.kind {
        Kind::Plain => {}
        Kind::Atomic => list.push("style=bold".to_string()),
        Kind::DStep => list.push("style=\"bold,dashed\"".to_string()),
        Kind::Wrong => list.push("color=\"#cf222e\", fontcolor=\"#cf222e\"".to_string()),
    }
    if list.is_empty() { String::new() } else { format!(" [{}]", list.join(", ")) }
}

fn quoted<T: AsRef<str>>(lines: &[T]) -> String {
    let escaped = |line: &T| line.as_ref().replace('\\', "\\\\").replace('"', "\\\"").replace(['\n', '\r'], " ");
    format!("\"{}\"", lines.iter().map(escaped).collect::<Vec<_>>().join("\\n"))
}
