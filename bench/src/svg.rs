//! Small multiples: one panel a model, the same two logarithmic axes in all of them, a line for each side.

use std::fmt::Write as _;

/// A line in a panel, as points of the plot's own units.
pub struct Line {
    /// Which side: decides colour and mark.
    pub side: usize,
    pub points: Vec<(f64, f64)>,
}

pub struct Panel {
    pub title: String,
    pub lines: Vec<Line>,
}

pub struct Plot<'a> {
    pub title: &'a str,
    pub x: &'a str,
    pub y: &'a str,
    pub sides: &'a [&'a str],
    pub panels: Vec<Panel>,
}

const COLUMNS: usize = 4;
const PANEL: (f64, f64) = (270.0, 210.0);
/// Of a panel, around its axes: left, top, right, bottom.
const INSET: (f64, f64, f64, f64) = (52.0, 26.0, 12.0, 38.0);
const HEAD: f64 = 58.0;
/// Dark enough on white, and told apart without colour by the marks.
const COLOURS: [&str; 9] =
    ["#c4501b", "#1f5fa8", "#8a1c1c", "#3f8f3f", "#7a4fa3", "#b8860b", "#111111", "#3aa0a0", "#c2489a"];

impl Plot<'_> {
    pub fn render(&self) -> String {
        let columns = self.panels.len().clamp(1, COLUMNS);
        let rows = self.panels.len().div_ceil(columns).max(1);
        // Wide enough for the title, whatever the number of panels.
        let width = (PANEL.0 * columns as f64).max(560.0);
        let (legend, n_lines) = self.legend(width);
        let head = HEAD + 18.0 * (n_lines - 1) as f64;
        let height = head + PANEL.1 * rows as f64 + 8.0;
        let x = Axis::over(self.points().map(|p| p.0), INSET.0, PANEL.0 - INSET.2);
        let y = Axis::over(self.points().map(|p| p.1), PANEL.1 - INSET.3, INSET.1);
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
             font-family=\"Helvetica, Arial, sans-serif\" font-size=\"11\" fill=\"#222\">\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n\
             <text x=\"12\" y=\"22\" font-size=\"15\" font-weight=\"bold\">{}</text>\n",
            escaped(self.title)
        );
        out.push_str(&legend);
        for (i, panel) in self.panels.iter().enumerate() {
            let (column, row) = (i % columns, i / columns);
            let _ = writeln!(
                out,
                "<g transform=\"translate({} {})\">",
                PANEL.0 * column as f64,
                head + PANEL.1 * row as f64
            );
            self.panel(panel, &x, &y, &mut out);
            out.push_str("</g>\n");
        }
        out.push_str("</svg>\n");
        out
    }

    /// The names of the sides, in as many lines as they need.
    fn legend(&self, width: f64) -> (String, usize) {
        let (mut out, mut n_lines) = (String::new(), 1);
        let (mut at, mut y) = (12.0, 41.0);
        for (side, name) in self.sides.iter().enumerate() {
            let needs = 52.0 + 6.5 * name.len() as f64;
            if at > 12.0 && at + needs > width {
                (at, y, n_lines) = (12.0, y + 18.0, n_lines + 1);
            }
            let colour = COLOURS[side];
            let _ = writeln!(
                out,
                "<path d=\"M{at} {y}h26\" stroke=\"{colour}\" stroke-width=\"2\"/>{}<text x=\"{}\" y=\"{}\">{}</text>",
                mark(side, at + 13.0, y),
                at + 33.0,
                y + 4.0,
                escaped(name)
            );
            at += needs;
        }
        (out, n_lines)
    }

    fn points(&self) -> impl Iterator<Item = &(f64, f64)> {
        self.panels.iter().flat_map(|p| p.lines.iter().flat_map(|l| l.points.iter()))
    }

    fn panel(&self, panel: &Panel, x: &Axis, y: &Axis, out: &mut String) {
        let (left, right, top, bottom) = (x.from, x.to, y.to, y.from);
        let (middle, centre) = ((left + right) / 2.0, (top + bottom) / 2.0);
        let _ = writeln!(
            out,
            "<text x=\"{left}\" y=\"{}\" font-weight=\"bold\">{}</text>",
            top - 8.0,
            escaped(&panel.title)
        );
        for decade in x.decades() {
            let at = x.place(decade);
            let _ = writeln!(out, "<path d=\"M{at:.1} {top}V{bottom}\" stroke=\"#ddd\"/>");
            let _ = writeln!(
                out,
                "<text x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
                bottom + 14.0,
                power(decade)
            );
        }
        for decade in y.decades() {
            let at = y.place(decade);
            let _ = writeln!(out, "<path d=\"M{left} {at:.1}H{right}\" stroke=\"#ddd\"/>");
            let _ = writeln!(
                out,
                "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                left - 5.0,
                at + 4.0,
                power(decade)
            );
        }
        let _ = writeln!(out, "<path d=\"M{left} {top}V{bottom}H{right}\" fill=\"none\" stroke=\"#777\"/>");
        let _ = writeln!(
            out,
            "<text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            bottom + 29.0,
            escaped(self.x)
        );
        let _ = writeln!(
            out,
            "<text transform=\"translate({} {centre}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            left - 38.0,
            escaped(self.y)
        );
        for line in &panel.lines {
            let places = line.points.iter().map(|p| (x.place(p.0.log10()), y.place(p.1.log10()))).collect::<Vec<_>>();
            let path = places.iter().map(|(x, y)| format!("{x:.1} {y:.1}")).collect::<Vec<_>>().join("L");
            if !path.is_empty() {
                let colour = COLOURS[line.side % COLOURS.len()];
                let _ = writeln!(out, "<path d=\"M{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>");
            }
            for (x, y) in places {
                let _ = writeln!(out, "{}", mark(line.side, x, y));
            }
        }
    }
}

/// A disc for the first side, a square for the second, and so on.
fn mark(side: usize, x: f64, y: f64) -> String {
    let colour = COLOURS[side % COLOURS.len()];
    match side % 2 {
        0 => format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.2\" fill=\"{colour}\"/>"),
        _ => format!("<rect x=\"{:.1}\" y=\"{:.1}\" width=\"6\" height=\"6\" fill=\"{colour}\"/>", x - 3.0, y - 3.0),
    }
}

/// A logarithmic axis: whole decades around the values, between two places.
struct Axis {
    low: i32,
    high: i32,
    from: f64,
    to: f64,
}

impl Axis {
    fn over(values: impl Iterator<Item = f64>, from: f64, to: f64) -> Axis {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.filter(|v| *v > 0.0).map(f64::log10) {
            (low, high) = (low.min(value), high.max(value));
        }
        if low > high {
            (low, high) = (0.0, 1.0);
        }
        let (low, high) = ((low + 1e-9).floor() as i32, (high - 1e-9).ceil() as i32);
        Axis { low, high: high.max(low + 1), from, to }
    }

    fn decades(&self) -> impl Iterator<Item = f64> {
        (self.low..=self.high).map(f64::from)
    }

    fn place(&self, decade: f64) -> f64 {
        self.from + (decade - f64::from(self.low)) / f64::from(self.high - self.low) * (self.to - self.from)
    }
}

/// `0.01`, `1`, `100`, then `10⁴`
fn power(decade: f64) -> String {
    let n = decade.round() as i32;
    match n {
        -3..0 => format!("{:.*}", n.unsigned_abs() as usize, 10f64.powi(n)),
        0..=3 => format!("{}", 10_i32.pow(n.unsigned_abs())),
        _ => {
            let raised = |c: char| "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().nth(c.to_digit(10).unwrap_or(0) as usize).unwrap_or(c);
            let sign = if n < 0 { "⁻" } else { "" };
            format!("10{sign}{}", n.unsigned_abs().to_string().chars().map(raised).collect::<String>())
        }
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plot_has_a_panel_for_each_model_and_a_mark_for_each_point() {
        let line = |side| Line { side, points: vec![(1e3, 0.01), (1e7, 20.0)] };
        let panel = |n: usize| Panel { title: format!("model <{n}>"), lines: vec![line(0), line(1)] };
        let plot = Plot {
            title: "time",
            x: "states",
            y: "CPU seconds",
            sides: &["SPIN", "Spinor"],
            panels: (0..5).map(panel).collect(),
        };
        let text = plot.render();
        assert_eq!(text.matches("<g transform").count(), 5);
        // One more of each in the legend.
        assert_eq!((text.matches("<circle").count(), text.matches("height=\"6\"").count()), (11, 11));
        assert!(text.contains("model &lt;0&gt;") && text.contains("10⁷") && text.contains(">0.01<"));
    }

    #[test]
    fn an_axis_covers_its_values_with_whole_decades() {
        let axis = Axis::over([150.0, 1000.0].into_iter(), 0.0, 100.0);
        assert_eq!((axis.low, axis.high), (2, 3));
        let empty = Axis::over([].into_iter(), 0.0, 100.0);
        assert_eq!((empty.low, empty.high), (0, 1));
    }
}
