//! What is drawn: the one form between what a graph is about and how it is written down.
//!
//! A drawing has clusters (a proctype, a claim, a formula, the states), and no edge leaves its cluster. Texts are cut
//! into lines here, so that all forms show the same ones; what a form cannot hold it escapes itself.

use crate::screen::{clip, printable, width};

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Graph {
    pub title: String,
    pub clusters: Vec<Cluster>,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Cluster {
    pub title: String,
    pub nodes: Vec<Node>,
    /// From and to are numbers of `nodes`.
    pub edges: Vec<Edge>,
    /// A picture has those near the start near the top: how far it is matters more than the order of a text.
    pub near: bool,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Node {
    /// None: the dot that the first arrow comes from.
    pub lines: Vec<String>,
    /// A run may end here.
    pub end: bool,
    pub accept: bool,
    pub progress: bool,
    /// Between two statements of an `atomic` or a `d_step`.
    pub inside: bool,
    pub wrong: bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Edge {
    pub from: usize,
    pub to: usize,
    pub lines: Vec<String>,
    pub kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Plain,
    Atomic,
    DStep,
    Wrong,
}

/// The longest line of a statement, and of what is told about states, of which there are many.
pub const WIDE: usize = 40;
pub const NARROW: usize = 28;
/// The most lines of a text.
const LINES: usize = 4;

/// A text in a few short lines, cut between words where that is possible.
pub fn lines(text: &str, wide: usize) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for word in printable(text).split_whitespace() {
        let mut word = word.to_string();
        match out.last_mut() {
            Some(line) if width(line) + 1 + width(&word) <= wide => {
                line.push(' ');
                line.push_str(&word);
                continue;
            }
            _ => {}
        }
        while width(&word) > wide {
            let rest = word.char_indices().nth(wide).map_or(word.len(), |(at, _)| at);
            let tail = word.split_off(rest);
            out.push(std::mem::replace(&mut word, tail));
        }
        out.push(word);
    }
    if out.len() > LINES {
        out.truncate(LINES);
        out[LINES - 1] = format!("{} …", clip(&out[LINES - 1], wide - 2));
    }
    out
}

impl Node {
    pub fn new(lines: Vec<String>) -> Node {
        Node { lines, ..Node::default() }
    }

    pub fn is_entry(&self) -> bool {
        self.lines.is_empty()
    }
}

impl Cluster {
    pub fn node(&mut self, node: Node) -> usize {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    pub fn edge(&mut self, from: usize, to: usize, text: &str, kind: Kind) {
        let wide = if self.near { NARROW } else { WIDE };
        self.edges.push(Edge { from, to, lines: lines(text, wide), kind });
    }

    /// A dot, and an arrow from it to where a run begins.
    pub fn enter(&mut self, start: usize) {
        let dot = self.node(Node::default());
        self.edge(dot, start, "", Kind::Plain);
    }
}

impl Graph {
    /// What the marks mean, as far as they are used.
    pub fn legend(&self) -> Vec<&'static str> {
        let node = |has: fn(&Node) -> bool| self.clusters.iter().any(|c| c.nodes.iter().any(has));
        let edge = |kind: Kind| self.clusters.iter().any(|c| c.edges.iter().any(|e| e.kind == kind));
        let rows = [
            (node(|n| n.end), "green: may end here"),
            (node(|n| n.accept), "double border: accept"),
            (node(|n| n.progress), "blue: progress"),
            (node(|n| n.inside), "dashed border: inside an atomic or d_step"),
            (edge(Kind::Atomic), "thick: atomic"),
            (edge(Kind::DStep), "thick and dashed: d_step"),
            (node(|n| n.wrong) || edge(Kind::Wrong), "red: something is wrong"),
        ];
        rows.into_iter().filter(|r| r.0).map(|r| r.1).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_become_a_few_lines() {
        assert_eq!(lines("x = 1", WIDE), ["x = 1"]);
        assert_eq!(lines("", WIDE), Vec::<String>::new());
        assert_eq!(lines("a\nb\tc", WIDE), ["a b c"]);
        let long = lines(&"word ".repeat(100), WIDE);
        assert_eq!(long.len(), LINES);
        assert!(long.iter().all(|l| width(l) <= WIDE) && long[LINES - 1].ends_with(" …"), "{long:?}");
        let hard = lines(&"ü".repeat(100), WIDE);
        assert_eq!(hard.iter().map(|l| width(l)).collect::<Vec<_>>(), [WIDE, WIDE, 100 - 2 * WIDE]);
        assert_eq!(lines("\x1b[31m", WIDE), ["\u{fffd}[31m"]);
    }
}
