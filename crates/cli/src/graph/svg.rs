//! The drawing as a picture: laid out by `layout.rs`, written as SVG that needs nothing else.
//!
//! Letters all have the same width, so that boxes can be sized without knowing the font. Colours follow the reader's
//! choice of light or dark; a program that does not know that choice shows the light ones.

use super::layout::{LOOP, Layout, Line, Point, Size, TooLarge, Way, layout};
use super::shape::{Cluster, Edge, Graph, Kind, Node};
use std::fmt::Write as _;

/// The height of a line of text, and the width of a letter.
const LINE: f64 = 15.0;
const LETTER: f64 = 7.25;
/// Around the text of a box, around a cluster's content, around everything.
const PAD: f64 = 8.0;
const FRAME: f64 = 18.0;
const MARGIN: f64 = 12.0;
const TITLE: f64 = 22.0;
/// Clusters stand side by side up to this width, and then below each other.
const PAGE: f64 = 1400.0;
const ARROW: f64 = 7.0;

const STYLE: &str = "\
svg { background: #ffffff }
text { font: 12px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace; fill: #1f2328; white-space: pre }
.paper { fill: #ffffff }
.frame { fill: #f6f8fa; stroke: #d0d7de }
.title { font-weight: bold }
.note, .line { fill: #59636e }
.box { fill: #ffffff; stroke: #818b98; stroke-width: 1.2 }
.progress { fill: #ddf4ff; stroke: #0969da }
.ending { fill: #dafbe1; stroke: #1a7f37 }
.wrong { fill: #ffebe9; stroke: #cf222e }
.again { fill: none }
.inside { stroke-dasharray: 5 3 }
.edge { fill: none; stroke: #818b98; stroke-width: 1.2 }
.thick { stroke-width: 2.6 }
.dashed { stroke-dasharray: 7 4 }
.tip, .entry { fill: #818b98; stroke: none }
.edge.bad { stroke: #cf222e }
.tip.bad, text.bad { fill: #cf222e }
@media (prefers-color-scheme: dark) {
svg { background: #0d1117 }
text { fill: #e6edf3 }
.paper { fill: #0d1117 }
.frame { fill: #151b23; stroke: #3d444d }
.note, .line { fill: #9198a1 }
.box { fill: #0d1117; stroke: #9198a1 }
.progress { fill: #0c2d6b; stroke: #4493f8 }
.ending { fill: #033a16; stroke: #3fb950 }
.wrong { fill: #67060c; stroke: #f85149 }
.again { fill: none }
.edge { stroke: #9198a1 }
.tip, .entry { fill: #9198a1 }
.edge.bad { stroke: #f85149 }
.tip.bad, text.bad { fill: #ff7b72 }
}
";

pub fn write(graph: &Graph) -> Result<String, TooLarge> {
    let drawn = graph.clusters.iter().map(|c| Ok((c, of_cluster(c)?))).collect::<Result<Vec<_>, TooLarge>>()?;
    let mut body = String::new();
    let (mut x, mut y, mut row, mut width) = (MARGIN, MARGIN, 0.0, 0.0);
    for (cluster, layout) in &drawn {
        let w = f64::max(layout.size.w, letters(&cluster.title) * LETTER) + 2.0 * FRAME;
        let h = layout.size.h + TITLE + 2.0 * FRAME;
        if x > MARGIN && x + w + MARGIN > PAGE {
            (x, y, row) = (MARGIN, y + row + MARGIN, 0.0);
        }
        let _ = writeln!(body, "<g transform=\"translate({} {})\">", px(x), px(y));
        let _ = writeln!(body, "<rect class=\"frame\" width=\"{}\" height=\"{}\" rx=\"8\"/>", px(w), px(h));
        text(&mut body, "title", &[&cluster.title], Point { x: FRAME, y: FRAME + 2.0 }, false);
        let _ = writeln!(body, "<g transform=\"translate({} {})\">", px(FRAME), px(FRAME + TITLE));
        draw(&mut body, cluster, layout);
        body.push_str("</g>\n</g>\n");
        row = f64::max(row, h);
        width = f64::max(width, x + w + MARGIN);
        x += w + MARGIN;
    }
    let mut height = y + row + MARGIN;
    // The rows of the legend, as many on a line as fit.
    let mut notes: Vec<String> = Vec::new();
    for row in graph.legend() {
        match notes.last_mut() {
            Some(line) if (letters(line) + 3.0 + letters(row)) * LETTER + 2.0 * MARGIN <= width => {
                let _ = write!(line, " · {row}");
            }
            _ => notes.push(row.to_string()),
        }
    }
    for note in &notes {
        text(&mut body, "note", &[note], Point { x: MARGIN, y: height + LINE / 2.0 - 4.0 }, false);
        width = f64::max(width, letters(note) * LETTER + 2.0 * MARGIN);
        height += LINE;
    }
    if !notes.is_empty() {
        height += 4.0;
    }
    let (w, h) = (px(width.ceil()), px(height.ceil()));
    Ok(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" role=\"img\">\n\
         <title>{}</title>\n<style>\n{STYLE}</style>\n\
         <rect class=\"paper\" width=\"{w}\" height=\"{h}\"/>\n{body}</svg>\n",
        escaped(&graph.title)
    ))
}

fn of_cluster(cluster: &Cluster) -> Result<Layout, TooLarge> {
    let nodes: Vec<Size> = cluster.nodes.iter().map(size).collect();
    let line = |e: &Edge| Line { from: e.from, to: e.to, label: block(&e.lines) };
    layout(&nodes, &cluster.edges.iter().map(line).collect::<Vec<_>>(), cluster.near)
}

fn size(node: &Node) -> Size {
    if node.is_entry() {
        return Size { w: 9.0, h: 9.0 };
    }
    let block = block(&node.lines);
    let border = if node.accept { 6.0 } else { 0.0 };
    Size { w: f64::max(block.w + 2.0 * PAD, 30.0) + border, h: block.h + PAD + border }
}

fn block(lines: &[String]) -> Size {
    let widest = lines.iter().map(|l| letters(l)).fold(0.0, f64::max);
    Size { w: widest * LETTER, h: lines.len() as f64 * LINE }
}

/// How many letters wide; those of some scripts are twice as wide.
fn letters(text: &str) -> f64 {
    let wide =
        [(0x1100, 0x115f), (0x2e80, 0xa4cf), (0xac00, 0xd7a3), (0xf900, 0xfaff), (0xff00, 0xff60), (0x1f300, 0x3fffd)];
    let is_wide = |c: char| wide.iter().any(|&(from, to)| (from..=to).contains(&(c as u32)));
    text.chars().map(|c| if is_wide(c) { 2.0 } else { 1.0 }).sum()
}

fn draw(out: &mut String, cluster: &Cluster, layout: &Layout) {
    for (edge, (way, label)) in cluster.edges.iter().zip(&layout.edges) {
        draw_edge(out, edge, way, *label);
    }
    for (node, (at, size)) in cluster.nodes.iter().zip(&layout.nodes) {
        draw_node(out, node, *at, *size);
    }
}

fn draw_node(out: &mut String, node: &Node, at: Point, size: Size) {
    if node.is_entry() {
        let _ = writeln!(out, "<circle class=\"entry\" cx=\"{}\" cy=\"{}\" r=\"4.5\"/>", px(at.x), px(at.y));
        return;
    }
    let mut class = String::from("box");
    for (has, name) in [
        (node.progress && !node.end, "progress"),
        (node.end && !node.wrong, "ending"),
        (node.wrong, "wrong"),
        (node.inside, "inside"),
    ] {
        if has {
            let _ = write!(class, " {name}");
        }
    }
    let mut frame = |class: &str, inset: f64| {
        let (w, h) = (size.w - 2.0 * inset, size.h - 2.0 * inset);
        let (x, y) = (at.x - w / 2.0, at.y - h / 2.0);
        let (x, y, w, h, r) = (px(x), px(y), px(w), px(h), px(6.0 - inset));
        let _ = writeln!(out, "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" rx=\"{r}\"/>");
    };
    frame(&class, 0.0);
    if node.accept {
        frame(&format!("{class} again"), 3.0);
    }
    let lines: Vec<&str> = node.lines.iter().map(String::as_str).collect();
    text(out, "", &lines, at, true);
}

fn draw_edge(out: &mut String, edge: &Edge, way: &Way, label: Point) {
    let (class, tip) = match edge.kind {
        Kind::Plain => ("edge", "tip"),
        Kind::Atomic => ("edge thick", "tip"),
        Kind::DStep => ("edge thick dashed", "tip"),
        Kind::Wrong => ("edge bad", "tip bad"),
    };
    let wide = if matches!(edge.kind, Kind::Atomic | Kind::DStep) { 4.5 } else { 3.5 };
    let (path, tip_path) = match way {
        Way::Points(points) => way_of_points(points, wide),
        Way::Loop(at) => {
            let (x, far) = (at.x, at.x + LOOP * 1.25);
            let (upper, lower) = (at.y - 6.0, at.y + 6.0);
            let (x, end, far) = (px(x), px(x + ARROW), px(far));
            let path =
                format!("M{x} {}C{far} {} {far} {} {end} {}", px(upper), px(upper - 5.0), px(lower + 3.0), px(lower));
            (path, format!("M{x} {}l{} {}v{}z", px(lower), px(ARROW), px(-wide), px(2.0 * wide)))
        }
    };
    let _ = writeln!(out, "<path class=\"{class}\" d=\"{path}\"/><path class=\"{tip}\" d=\"{tip_path}\"/>");
    if !edge.lines.is_empty() {
        let lines: Vec<&str> = edge.lines.iter().map(String::as_str).collect();
        text(out, if edge.kind == Kind::Wrong { "bad" } else { "" }, &lines, label, false);
    }
}

/// The line, which ends before the arrow's tip, and the tip. The last piece is vertical, or ends so.
fn way_of_points(points: &[Point], wide: f64) -> (String, String) {
    let [first, .., before, last] = points else { return (String::new(), String::new()) };
    let down = if last.y >= before.y { 1.0 } else { -1.0 };
    let mut path = format!("M{} {}", px(first.x), px(first.y));
    for (i, pair) in points.windows(2).enumerate() {
        let (a, mut b) = (pair[0], pair[1]);
        if i + 2 == points.len() {
            b.y -= down * ARROW;
        }
        if (a.x - b.x).abs() < 0.05 {
            let _ = write!(path, "V{}", px(b.y));
        } else {
            let middle = px((a.y + b.y) / 2.0);
            let _ = write!(path, "C{} {middle} {} {middle} {} {}", px(a.x), px(b.x), px(b.x), px(b.y));
        }
    }
    let tip = format!("M{} {}l{} {}h{}z", px(last.x), px(last.y), px(-wide), px(-down * ARROW), px(2.0 * wide));
    (path, tip)
}

/// Lines one below the other around a middle height; `at` is their middle, or their left end.
fn text(out: &mut String, class: &str, lines: &[&str], at: Point, centred: bool) {
    let top = at.y - lines.len() as f64 * LINE / 2.0;
    let anchor = if centred { " text-anchor=\"middle\"" } else { "" };
    for (i, line) in lines.iter().enumerate() {
        // What stands last in a box is where in the text it is: less important than a label above it.
        let class = if centred && lines.len() > 1 && i + 1 == lines.len() && line.starts_with("line ") {
            "line"
        } else {
            class
        };
        let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
        let y = top + (i as f64 + 0.5) * LINE + 4.2;
        let _ = writeln!(out, "<text{class}{anchor} x=\"{}\" y=\"{}\">{}</text>", px(at.x), px(y), escaped(line));
    }
}

/// A number as short as it may be: a tenth of a pixel is not seen.
fn px(value: f64) -> String {
    let tenths = (value * 10.0).round() as i64;
    let sign = if tenths < 0 { "-" } else { "" };
    match (tenths.abs() / 10, tenths.abs() % 10) {
        (whole, 0) => format!("{sign}{whole}"),
        (whole, part) => format!("{sign}{whole}.{part}"),
    }
}

/// XML has no control characters, not even escaped ones.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
