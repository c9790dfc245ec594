//! `spinor ltl`: what a formula says, and its automaton.

use crate::args::{Drawing, Options, To, Usage};
use crate::diagnostics::render_all;
use crate::exit::Exit;
use crate::front;
use crate::graph::{self, shape::Graph};
use crate::screen::{Out, Screen, note, plural, printable};
use spinor_ltl::{
    Automaton, Class, Formula, Limits, PropId, TooLarge, automaton, buchi_automaton, classify, from_hoa,
    is_stutter_invariant, simplify, state_based, to_dot, to_hoa, to_never,
};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

pub fn ltl(options: &Options, screen: Screen, out: &mut Out) -> Result<Exit, Usage> {
    let file = options.files.first().map(PathBuf::as_path).unwrap_or(Path::new(""));
    if options.from_hoa {
        return of_hoa(file, options.to, out);
    }
    let word = file.to_string_lossy();
    let read = spinor_lang::free(&word);
    if !read.diagnostics.is_empty() {
        note(&render_all(&read.sources, &read.diagnostics, screen.paint_errors));
    }
    let Some(formula) = &read.formula else { return Ok(Exit::Unusable) };
    let large = |TooLarge { operators, .. }: TooLarge| {
        Usage::new(format!("the automaton of this formula is too large: it has {operators} temporal operators"))
            .help("several formulas, one for each part, are checked faster")
    };
    let names = Names(&read.props);
    let text = match options.to {
        // A never claim has its acceptance at states, the others at transitions.
        To::Never => to_never(&buchi_automaton(formula, Limits::default()).map_err(large)?, &word, names.text()),
        To::Hoa => to_hoa(&automaton(formula, Limits::default()).map_err(large)?, &word, names.text()),
        To::Dot => to_dot(&automaton(formula, Limits::default()).map_err(large)?, &word, names.text()),
        To::Mermaid | To::Svg => {
            drawn(&automaton(formula, Limits::default()).map_err(large)?, &word, options.to, names.text())?
        }
        To::Summary => {
            let made = automaton(formula, Limits::default()).map_err(large)?;
            let against = automaton(&Formula::Not(Box::new(formula.clone())), Limits::default()).map_err(large)?;
            let mut text = format!("formula     {}\n", word.trim());
            let short = simplify(formula);
            if short != *formula {
                let _ = writeln!(text, "the same    {}", short.text(&names.text()));
            }
            let (facts, opposite) = (classify(&made), classify(&against));
            let _ = writeln!(text, "it is       {}", kind(&facts, &opposite));
            let _ = writeln!(text, "automaton   {}", shape(&made, &facts));
            let _ = writeln!(text, "negated     {}", shape(&against, &opposite));
            let _ = match is_stutter_invariant(formula, Limits::default()) {
                Ok(true) => writeln!(text, "stuttering  makes no difference: it may be checked with reduction"),
                Ok(false) => {
                    writeln!(text, "stuttering  makes a difference: it counts steps, so nothing may be reduced")
                }
                Err(_) => writeln!(text, "stuttering  not decided: the automata are too large"),
            };
            text
        }
    };
    out.put(&text);
    Ok(Exit::Fine)
}

fn of_hoa(file: &Path, to: To, out: &mut Out) -> Result<Exit, Usage> {
    let text = front::read_text(file).map_err(|e| Usage::new(e.to_string()))?;
    let path = &*file.to_string_lossy();
    let hoa = from_hoa(&text).map_err(|e| {
        let usage = Usage::new(format!("{path}:{}:{}: {}", e.line, e.column, e.message));
        if e.help.is_empty() { usage } else { usage.help(e.help) }
    })?;
    let title = hoa.name.as_deref().unwrap_or(path);
    let names = Names(&hoa.props);
    let made = &hoa.automaton;
    out.put(&match to {
        To::Never => to_never(&state_based(made), title, names.text()),
        To::Hoa => to_hoa(made, title, names.text()),
        To::Dot => to_dot(made, title, names.text()),
        To::Mermaid | To::Svg => drawn(made, title, to, names.text())?,
        To::Summary => format!("automaton   {}\n", shape(made, &classify(made))),
    });
    Ok(Exit::Fine)
}

/// As `spinor graph` draws it.
fn drawn(made: &Automaton, title: &str, to: To, prop: impl Fn(PropId) -> String) -> Result<String, Usage> {
    let title = printable(title.trim());
    let clusters = vec![graph::automaton::cluster(made, title.clone(), prop)];
    let form = if to == To::Svg { Drawing::Svg } else { Drawing::Mermaid };
    graph::write(&Graph { title, clusters }, form)
}

/// What the propositions say.
struct Names<'a>(&'a [String]);

impl Names<'_> {
    fn text(&self) -> impl Fn(PropId) -> String {
        |p| self.0.get(p.0 as usize).cloned().unwrap_or_else(|| format!("p{}", p.0))
    }
}

/// What a run must do to break it.
fn kind(facts: &Class, opposite: &Class) -> &'static str {
    match (facts, opposite) {
        (Class { empty: true, .. }, _) => "false of every run",
        (_, Class { empty: true, .. }) => "true of every run",
        (_, Class { terminal: true, .. }) => "safety: a run that breaks it has done so after finitely many steps",
        (Class { terminal: true, .. }, _) => "guarantee: a run that keeps it has done so after finitely many steps",
        _ => "liveness, or both: some run breaks it only by going on for ever",
    }
}

fn shape(automaton: &Automaton, facts: &Class) -> String {
    let mut text = format!(
        "{}, {}, {}",
        plural(automaton.n_states(), "state"),
        plural(automaton.n_transitions(), "transition"),
        plural(automaton.n_marks as usize, "acceptance set")
    );
    for (is, word) in
        [(facts.deterministic, "deterministic"), (facts.terminal, "terminal"), (facts.weak && !facts.terminal, "weak")]
    {
        if is {
            text.push_str(&format!(", {word}"));
        }
    }
    text
}
