//! Tables, judgements and plots from the records.
//!
//! A figure is the median of its repetitions; a ratio is the second side's median over the first's, so below 1 the
//! second one needs less. Times come in hundredths of a second: what took less counts as half of one.

use crate::mode::{Counts, Judged, MODES, Mode};
use crate::record::Record;
use crate::run::disagreements;
use crate::svg::{Line, Panel, Plot};
use crate::tool::{Figures, same};
use std::fmt::Write as _;

/// The shortest time that is told from none.
const TICK: f64 = 0.005;

/// One side's repetitions, put together.
#[derive(Clone, Copy, Debug)]
struct Median {
    figures: Figures,
    /// As the mode judges it: with the preparation, or without.
    cpu_s: f64,
    wall_s: f64,
    peak_bytes: f64,
}

/// A model in one size.
struct Point {
    model: String,
    size: String,
    sides: Vec<Result<Median, String>>,
}

impl Point {
    fn both(&self) -> Option<(&Median, &Median)> {
        Some((self.sides[0].as_ref().ok()?, self.sides[1].as_ref().ok()?))
    }

    fn stored(&self) -> u64 {
        self.sides.iter().flatten().map(|m| m.figures.stored).max().unwrap_or(0)
    }
}

/// The summary in Markdown, and the plots as names and texts.
pub fn summary(about: &str, records: &[Record]) -> (String, Vec<(String, String)>) {
    let mut text = format!("# Spinor beside SPIN\n\n{about}\n");
    text += "\nA figure is the median of its repetitions, a ratio the second tool's figure over the first's: below 1 the second one needs less.\n";
    text += "Times are CPU time, user and system, unless it says wall; memory is the most that was resident.\n";
    text += "Bytes a state are those of the store as each tool reports it (SPIN: states and hash table), then those of the whole program.\n";
    let wrong = disagreements(records);
    if !wrong.is_empty() {
        text += "\n## Counts that differ and should not, and wrong answers\n\n";
        wrong.iter().for_each(|line| text += &format!("- {line}\n"));
    }
    let mut plots = Vec::new();
    for mode in MODES {
        let points = points(mode, records);
        if points.is_empty() {
            continue;
        }
        let _ = write!(text, "\n## {}: {}\n\n", mode.name, mode.about);
        match mode.judged {
            Judged::Stored => stored_table(mode, &points, &mut text),
            Judged::Nothing => {
                beside_table(mode, &points, &mut text);
                let name = format!("{}-states.svg", mode.name);
                let _ = write!(text, "\n![{} states]({name})\n", mode.name);
                plots.push((name, states_plot(mode, &points)));
            }
            _ => {
                table(mode, &points, &mut text);
                judgements(mode, &points, &mut text);
                growth(mode, &points, &mut text);
                for (what, plot) in plots_of(mode, &points) {
                    let name = format!("{}-{what}.svg", mode.name);
                    let _ = write!(text, "\n![{} {what}]({name})\n", mode.name);
                    plots.push((name, plot));
                }
            }
        }
    }
    (text, plots)
}

/// In the order they were measured.
fn points(mode: &Mode, records: &[Record]) -> Vec<Point> {
    let mut points: Vec<Point> = Vec::new();
    for record in records.iter().filter(|r| r.mode == mode.name) {
        if !points.iter().any(|p| p.model == record.model && p.size == record.size) {
            let these = |side: &str| {
                let of = |r: &&Record| {
                    r.mode == mode.name && r.model == record.model && r.size == record.size && r.side == side
                };
                median(mode, &records.iter().filter(of).collect::<Vec<_>>())
            };
            let sides = mode.sides.iter().map(|s| these(s.name())).collect();
            points.push(Point { model: record.model.clone(), size: record.size.clone(), sides });
        }
    }
    points
}

fn median(mode: &Mode, records: &[&Record]) -> Result<Median, String> {
    let done = records.iter().filter_map(|r| r.figures.as_ref().ok().map(|f| (r, f))).collect::<Vec<_>>();
    let Some((_, figures)) = done.first() else {
        return Err(records.iter().find_map(|r| r.figures.clone().err()).unwrap_or_else(|| "not run".into()));
    };
    let middle = |value: &dyn Fn(&Record) -> f64| {
        let mut values = done.iter().map(|(r, _)| value(r)).collect::<Vec<_>>();
        values.sort_by(f64::total_cmp);
        let n = values.len();
        (values[(n - 1) / 2] + values[n / 2]) / 2.0
    };
    let whole = mode.judged == Judged::EndToEnd;
    let share = |time: f64| if whole { time } else { 0.0 };
    Ok(Median {
        figures: **figures,
        cpu_s: middle(&|r| r.usage.cpu_s() + share(r.preparation.cpu_s())),
        wall_s: middle(&|r| r.usage.wall_s + share(r.preparation.wall_s)),
        peak_bytes: middle(&|r| r.usage.peak_kib as f64 * 1024.0),
    })
}

fn table(mode: &Mode, points: &[Point], text: &mut String) {
    let [a, b] = mode.pair();
    let wall = mode.judged == Judged::Wall;
    let time = if wall { "wall" } else { "CPU" };
    let _ = writeln!(
        text,
        "| model | size | states | transitions | {a} {time} s | {b} {time} s | ratio | {a} MB | {b} MB | ratio | {a} states/s | {b} states/s | {a} bytes/state | {b} bytes/state |"
    );
    let _ = writeln!(text, "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    for point in points {
        let time = |m: &Median| if wall { m.wall_s } else { m.cpu_s };
        let cell = |i: usize, f: &dyn Fn(&Median) -> String| point.sides[i].as_ref().map_or_else(|_| "-".into(), f);
        let ratio =
            |f: &dyn Fn(&Median) -> f64| point.both().map_or("-".into(), |(x, y)| format!("{:.2}", f(y) / f(x)));
        let seconds = |m: &Median| format!("{:.2}", time(m));
        let mega = |m: &Median| format!("{:.1}", m.peak_bytes / 1e6);
        let speed = |m: &Median| thousands((m.figures.stored as f64 / time(m).max(TICK)) as u64);
        let per_state = |m: &Median| {
            let stored = m.figures.stored.max(1) as f64;
            let store = m.figures.store_bytes as f64 / stored;
            let store = if m.figures.store_bytes > 0 { format!("{store:.0}") } else { "?".into() };
            format!("{store} / {:.0}", m.peak_bytes / stored)
        };
        let any = point.sides.iter().flatten().next();
        let count = |f: &dyn Fn(&Figures) -> u64| match point.both() {
            Some((x, y)) if mode.counts != Counts::Equal => {
                format!("{} / {}", thousands(f(&x.figures)), thousands(f(&y.figures)))
            }
            _ => any.map_or("-".into(), |m| thousands(f(&m.figures))),
        };
        let mut notes = String::new();
        for (side, result) in mode.sides.iter().zip(&point.sides) {
            if let Err(why) = result {
                let _ = write!(notes, " ({}: {})", side.name(), why.replace('|', "/"));
            }
        }
        if let Some((x, y)) = point.both()
            && mode.counts == Counts::Equal
            && !(same(x.figures.stored, y.figures.stored) && same(x.figures.transitions, y.figures.transitions))
        {
            notes += " (**the counts differ**)";
        }
        let cells = [
            point.model.clone(),
            format!("{}{notes}", point.size),
            count(&|f| f.stored),
            count(&|f| f.transitions),
            cell(0, &seconds),
            cell(1, &seconds),
            ratio(&|m| time(m).max(TICK)),
            cell(0, &mega),
            cell(1, &mega),
            ratio(&|m| m.peak_bytes),
            cell(0, &speed),
            cell(1, &speed),
            cell(0, &per_state),
            cell(1, &per_state),
        ];
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
}

/// The sums that targets are stated in.
fn judgements(mode: &Mode, points: &[Point], text: &mut String) {
    let [a, b] = mode.pair();
    let (cpu, wall) = (|m: &Median| m.cpu_s.max(TICK), |m: &Median| m.wall_s.max(TICK));
    text.push('\n');
    let mut judge = |what: &str, from: u64, to: u64, value: &dyn Fn(&Median) -> f64| {
        let chosen = points.iter().filter(|p| (from..=to).contains(&p.stored()));
        let ratios = chosen.filter_map(|p| p.both().map(|(x, y)| (value(y) / value(x), p))).collect::<Vec<_>>();
        let range = match (from, to) {
            (0, to) => format!("models up to {} states", thousands(to)),
            (from, _) => format!("models from {} states on", thousands(from)),
        };
        let Some((worst, at)) = ratios.iter().max_by(|x, y| x.0.total_cmp(&y.0)) else {
            let _ = writeln!(text, "- {what}, {b} over {a}, {range}: none were measured.");
            return;
        };
        let mean = (ratios.iter().map(|(r, _)| r.ln()).sum::<f64>() / ratios.len() as f64).exp();
        let _ = writeln!(
            text,
            "- {what}, {b} over {a}, {range}: geometric mean **{mean:.2}** of {}, worst {worst:.2} ({} {}).",
            ratios.len(),
            at.model,
            at.size
        );
    };
    match mode.judged {
        Judged::Search { from } => {
            judge("CPU time", from, u64::MAX, &cpu);
            judge("peak memory", 5_000_000, u64::MAX, &|m| m.peak_bytes);
        }
        Judged::EndToEnd => judge("CPU time", 0, 100_000, &cpu),
        Judged::Wall => judge("wall time", 1_000_000, u64::MAX, &wall),
        Judged::Stored | Judged::Nothing => {}
    }
    if !matches!(mode.judged, Judged::Search { .. }) {
        return;
    }
    for (i, name) in [a, b].into_iter().enumerate() {
        let large = points.iter().filter_map(|p| p.sides[i].as_ref().ok()).filter(|m| m.figures.stored >= 5_000_000);
        let per_state = |value: &dyn Fn(&Median) -> f64| {
            let of = large.clone().map(|m| value(m) / m.figures.stored as f64).filter(|v| *v > 0.0).collect::<Vec<_>>();
            let most = of.iter().copied().fold(0.0, f64::max);
            let mean = of.iter().sum::<f64>() / of.len().max(1) as f64;
            if of.is_empty() { "not reported".into() } else { format!("mean {mean:.1}, most {most:.1}") }
        };
        let store = per_state(&|m| m.figures.store_bytes as f64);
        let search = per_state(&|m| m.figures.search_bytes as f64);
        let resident = per_state(&|m| m.peak_bytes);
        let _ = writeln!(
            text,
            "- bytes a state of {name}, models from 5,000,000 states on: store {store}; search {search}; resident {resident}."
        );
    }
}

/// How cost grows with size: the exponent of the best power law. 1 is linear.
fn growth(mode: &Mode, points: &[Point], text: &mut String) {
    let mut rows = String::new();
    for model in models(points) {
        let of = points.iter().filter(|p| p.model == model);
        let mut cells = vec![model.to_string()];
        for i in 0..2 {
            let done = of.clone().filter_map(|p| p.sides[i].as_ref().ok()).collect::<Vec<_>>();
            let time = |m: &Median| if mode.judged == Judged::Wall { m.wall_s } else { m.cpu_s };
            // Below these, start-up is most of what is measured.
            let times = done.iter().filter(|m| time(m) >= 0.1).map(|m| (m.figures.stored as f64, time(m)));
            let sizes =
                done.iter().filter(|m| m.figures.stored >= 300_000).map(|m| (m.figures.stored as f64, m.peak_bytes));
            cells.push(exponent(&times.collect::<Vec<_>>()));
            cells.push(exponent(&sizes.collect::<Vec<_>>()));
            let nano = |m: &&&Median| format!("{:.0}", time(m) * 1e9 / m.figures.transitions.max(1) as f64);
            let near = done.iter().filter(|m| time(m) >= 0.1).min_by_key(|m| m.figures.stored.abs_diff(1_000_000));
            let last = done.last().filter(|m| time(m) >= 0.1);
            cells.push(format!(
                "{} / {}",
                near.as_ref().map_or("-".into(), nano),
                last.as_ref().map_or("-".into(), nano)
            ));
        }
        let _ = writeln!(rows, "| {} |", cells.join(" | "));
    }
    let [a, b] = mode.pair();
    let _ = write!(
        text,
        "\nGrowth: the exponent of time and of memory over states (1 is linear; sizes that take a tenth of a second, and 300,000 states), \
         and nanoseconds a transition near a million states and at the largest size.\n\n\
         | model | {a} time | {a} memory | {a} ns | {b} time | {b} memory | {b} ns |\n|---|--:|--:|--:|--:|--:|--:|\n{rows}"
    );
}

/// The slope of the least squares in logarithms.
fn exponent(points: &[(f64, f64)]) -> String {
    if points.len() < 2 {
        return "-".into();
    }
    let logs = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect::<Vec<_>>();
    let n = logs.len() as f64;
    let (mx, my) = (logs.iter().map(|p| p.0).sum::<f64>() / n, logs.iter().map(|p| p.1).sum::<f64>() / n);
    let over = logs.iter().map(|(x, y)| (x - mx) * (y - my)).sum::<f64>();
    let under = logs.iter().map(|(x, _)| (x - mx).powi(2)).sum::<f64>();
    if under == 0.0 { "-".into() } else { format!("{:.2}", over / under) }
}

fn stored_table(mode: &Mode, points: &[Point], text: &mut String) {
    let [a, b] = mode.pair();
    let _ = writeln!(text, "| model | size | {a} states | {b} states | ratio | |\n|---|---|--:|--:|--:|---|");
    let (mut ratios, mut more) = (Vec::new(), 0);
    for point in points {
        let cell = |i: usize| point.sides[i].as_ref().map_or("-".into(), |m| thousands(m.figures.stored));
        let (ratio, note) = match (point.both(), &point.sides[..]) {
            (Some((x, y)), _) => {
                let ratio = y.figures.stored as f64 / x.figures.stored.max(1) as f64;
                ratios.push(ratio);
                more += u64::from(y.figures.stored > x.figures.stored);
                let note = if y.figures.stored > x.figures.stored { "**more**" } else { "" };
                (format!("{ratio:.2}"), note.to_string())
            }
            (None, [Err(why), ..]) => ("-".into(), format!("{a}: {why}")),
            (None, [_, Err(why), ..]) => ("-".into(), format!("{b}: {why}")),
            (None, _) => ("-".into(), String::new()),
        };
        let note = note.replace('|', "/");
        let _ = writeln!(text, "| {} | {} | {} | {} | {ratio} | {note} |", point.model, point.size, cell(0), cell(1));
    }
    let (mean, compared) = (mean(&ratios), ratios.len());
    let _ = writeln!(
        text,
        "\n- {b} over {a}: {mean} in geometric mean of the {compared} that can be compared; more in {more}."
    );
}

/// Every side, and how many times fewer states it stores than the first.
fn beside_table(mode: &Mode, points: &[Point], text: &mut String) {
    let mut head = String::from("| model | size |");
    let mut rule = String::from("|---|---|");
    for side in mode.sides {
        let _ = write!(head, " {} states | s | MB |", side.name());
        rule += "--:|--:|--:|";
    }
    let _ = writeln!(text, "{head}\n{rule}");
    for point in points {
        let first = point.sides[0].as_ref().map(|m| m.figures.stored);
        let _ = write!(text, "| {} | {} |", point.model, point.size);
        for (n, side) in point.sides.iter().enumerate() {
            let _ = match side {
                Ok(m) => {
                    let times = match first {
                        Ok(first) if n > 0 && m.figures.stored > 0 => {
                            format!(" (1/{:.1})", first as f64 / m.figures.stored as f64)
                        }
                        _ => String::new(),
                    };
                    let stored = thousands(m.figures.stored);
                    write!(text, " {stored}{times} | {:.2} | {:.0} |", m.cpu_s, m.peak_bytes / 1e6)
                }
                Err(why) => write!(text, " {} | - | - |", why.replace('|', "/")),
            };
        }
        text.push('\n');
    }
    text.push('\n');
    let a = mode.sides[0].name();
    for (n, side) in mode.sides.iter().enumerate().skip(1) {
        let both = |p: &Point| Some((*p.sides[0].as_ref().ok()?, *p.sides[n].as_ref().ok()?));
        let pairs: Vec<(&Point, Median, Median)> =
            points.iter().filter_map(|p| both(p).map(|(x, y)| (p, x, y))).collect();
        let stored = |x: &Median, y: &Median| y.figures.stored as f64 / x.figures.stored.max(1) as f64;
        let states: Vec<f64> = pairs.iter().map(|(_, x, y)| stored(x, y)).collect();
        let long = pairs.iter().filter(|(_, x, y)| x.cpu_s >= 0.1 && y.cpu_s >= 0.1);
        let times: Vec<f64> = long.map(|(_, x, y)| y.cpu_s / x.cpu_s).collect();
        let more = pairs.iter().filter(|(_, x, y)| stored(x, y) > 1.05);
        let more: Vec<String> =
            more.map(|(p, x, y)| format!("{} {} {:.2}", p.model, p.size, stored(x, y)).replace("  ", " ")).collect();
        let _ =
            write!(text, "- {} over {a}: states {} in geometric mean of {}", side.name(), mean(&states), states.len());
        let _ = write!(text, ", CPU time {} of {} that take a tenth of a second", mean(&times), times.len());
        let _ = writeln!(
            text,
            "; more than 1.05 times the states: {}.",
            if more.is_empty() { "none".into() } else { more.join(", ") }
        );
    }
}

/// The geometric mean, to two places.
fn mean(ratios: &[f64]) -> String {
    let logs: f64 = ratios.iter().map(|r| r.max(1e-9).ln()).sum();
    if ratios.is_empty() { "-".into() } else { format!("**{:.2}**", (logs / ratios.len() as f64).exp()) }
}

/// States over the first setting of the size.
fn states_plot(mode: &Mode, points: &[Point]) -> String {
    let first = |size: &str| {
        let digits = size.chars().skip_while(|c| !c.is_ascii_digit()).take_while(char::is_ascii_digit);
        digits.collect::<String>().parse::<f64>().unwrap_or(1.0)
    };
    let panel = |model: &str| {
        let line = |side: usize| {
            let of = points.iter().filter(|p| p.model == model);
            let done = of.filter_map(|p| Some((first(&p.size), p.sides[side].as_ref().ok()?.figures.stored as f64)));
            Line { side, points: done.filter(|p| p.1 > 0.0).collect() }
        };
        Panel { title: model.to_string(), lines: (0..mode.sides.len()).map(line).collect() }
    };
    let panels = models(points).into_iter().map(panel).collect();
    let sides = mode.sides.iter().map(|s| s.name()).collect::<Vec<_>>();
    Plot { title: &format!("states over size: {}", mode.about), x: "size", y: "states", sides: &sides, panels }.render()
}

fn models(points: &[Point]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    points.iter().for_each(|p| {
        if !names.contains(&p.model.as_str()) {
            names.push(&p.model);
        }
    });
    names
}

fn plots_of(mode: &Mode, points: &[Point]) -> Vec<(&'static str, String)> {
    let wall = mode.judged == Judged::Wall;
    let plot = |title: &str, y: &str, value: &dyn Fn(&Median) -> f64, least: f64| {
        let panel = |model: &str| {
            let line = |side: usize| {
                let done = points.iter().filter(|p| p.model == model).filter_map(|p| p.sides[side].as_ref().ok());
                let places = done.map(|m| (m.figures.stored as f64, value(m))).filter(|p| p.0 > 0.0 && p.1 >= least);
                Line { side, points: places.collect() }
            };
            Panel { title: model.to_string(), lines: vec![line(0), line(1)] }
        };
        let panels = models(points).into_iter().map(panel).collect();
        Plot { title, x: "states", y, sides: &mode.pair(), panels }.render()
    };
    let time = if wall { "wall seconds" } else { "CPU seconds" };
    // What the clock does not see is not drawn.
    vec![
        (
            "time",
            plot(
                &format!("{} over states: {}", time, mode.about),
                time,
                &|m| if wall { m.wall_s } else { m.cpu_s },
                0.01,
            ),
        ),
        (
            "memory",
            plot(&format!("peak memory over states: {}", mode.about), "MB resident", &|m| m.peak_bytes / 1e6, 0.01),
        ),
    ]
}

fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Usage;
    use crate::tool::WRONG;

    fn record(side: &str, repetition: u64, stored: u64, user_s: f64) -> Record {
        Record {
            mode: "plain".into(),
            model: "counters".into(),
            size: format!("S={stored}"),
            side: side.into(),
            repetition,
            figures: Ok(Figures { stored, transitions: stored * 2, store_bytes: stored * 20, ..Figures::default() }),
            usage: Usage { user_s, system_s: 0.0, wall_s: user_s, peak_kib: stored / 10 },
            preparation: Usage { user_s: 1.0, ..Usage::default() },
            command: String::new(),
        }
    }

    #[test]
    fn medians_give_the_ratio_and_linear_growth_is_seen() {
        let mut records = Vec::new();
        for stored in [1_000_000, 10_000_000] {
            for (n, noise) in [(1, 0.0), (2, 0.3), (3, 90.0)] {
                let seconds = stored as f64 * 1e-6;
                records.push(record("spin", n, stored, seconds + noise));
                records.push(record("spinor", n, stored, seconds * 0.5));
            }
        }
        let (text, plots) = summary("About.", &records);
        assert!(text.contains("| counters | S=1000000 | 1,000,000 | 2,000,000 | 1.30 | 0.50 | 0.38 |"), "{text}");
        assert!(text.contains("worst 0.49 (counters S=10000000)"), "{text}");
        assert!(text.contains("| counters | 0.90 | 1.00 |") && text.contains("| 1.00 | 1.00 | 250 / 250 |"), "{text}");
        assert!(text.contains("store mean 20.0, most 20.0"), "{text}");
        assert_eq!(plots.iter().map(|p| p.0.as_str()).collect::<Vec<_>>(), ["plain-time.svg", "plain-memory.svg"]);
    }

    #[test]
    fn counts_that_differ_are_said_first() {
        let mut ours = record("spinor", 1, 1000, 0.0);
        ours.size = "S=999".into();
        let (text, _) = summary("", &[record("spin", 1, 999, 0.0), ours]);
        assert!(text.contains("plain counters S=999: spin stores 999 states"), "{text}");
        assert!(text.contains("**the counts differ**"), "{text}");
    }

    #[test]
    fn wrong_answers_are_said_first_and_free_counts_are_shown_beside_each_other() {
        let ltl = |r: Record| Record { mode: "ltl".into(), size: "N=2".into(), ..r };
        let wrong = |r: Record| Record { figures: Err(format!("{WRONG}: violated")), ..r };
        let (spin, spinor) = (ltl(record("spin", 1, 1200, 1.0)), ltl(record("spinor", 1, 1100, 0.5)));
        let (text, _) = summary("", &[spin.clone(), spinor.clone()]);
        assert!(text.contains("| counters | N=2 | 1,200 / 1,100 | 2,400 / 2,200 | 1.00 | 0.50 | 0.50 |"), "{text}");
        assert!(disagreements(&[spin.clone(), spinor.clone()]).is_empty());
        let (text, _) = summary("", &[spin, wrong(spinor)]);
        assert!(text.contains("- ltl counters N=2: spinor, wrong answer: violated"), "{text}");
    }
}
