//! `spinor check` and `spinor lint`.

use crate::args::{Executor, Format, Options};
use crate::diagnostics;
use crate::exit::{self, Exit};
use crate::front::{self, Front, Model};
use crate::json::Json;
use crate::memory;
use crate::native::natively;
use crate::progress::Ticker;
use crate::report::{Detail, Human};
use crate::result;
use crate::screen::{Out, Screen, note, printable, quoted};
use crate::trail;
use spinor_check::check::{Said, Stated, interpreted};
use spinor_check::cycles::Fairness;
use spinor_check::progress::meaning::Progress;
use spinor_check::report::Report;
use spinor_check::settings::{Search, Settings};
use spinor_model::diagnostic::Diagnostic;
use spinor_model::interp::Interp;
use spinor_model::ir::{Location, System};
use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

/// What a model came to.
struct Answer {
    exit: Exit,
    /// In the form that was asked for.
    text: String,
    json: Option<Json>,
}

pub fn check(options: &Options, screen: Screen, out: &mut Out) -> Exit {
    each_model(options, out, |path| check_one(options, screen, path))
}

pub fn lint(options: &Options, screen: Screen, out: &mut Out) -> Exit {
    each_model(options, out, |path| lint_one(options, screen, path))
}

/// Several models are answered one by one; the JSON of several is one list.
fn each_model(options: &Options, out: &mut Out, answer: impl Fn(&Path) -> Answer) -> Exit {
    let mut exit = Exit::Fine;
    let mut documents = Vec::new();
    let several = options.files.len() > 1;
    if let Some(name) = options.out.as_ref().and_then(|_| same_name(&options.files)) {
        note(&format!(
            "error: two models are called `{}`, and their traces would be: check them one by one, each with its own -o\n",
            printable(&name)
        ));
        return Exit::Unusable;
    }
    let mut gap = "";
    for path in &options.files {
        let answer = answer(path);
        exit = exit.worst(answer.exit);
        documents.extend(answer.json);
        // What was refused has been said among the messages.
        if options.format == Format::Human && !answer.text.is_empty() {
            let title = if several { format!("{gap}{}\n", printable(&path.to_string_lossy())) } else { String::new() };
            out.put(&format!("{title}{}", answer.text));
            gap = if options.quiet { "" } else { "\n" };
        }
    }
    if options.format == Format::Json {
        let document = if several { Json::List(documents) } else { documents.pop().unwrap_or(Json::Null) };
        out.put(&document.pretty());
    }
    exit
}

fn unreadable(options: &Options, path: &Path, message: &str) -> Answer {
    if options.format == Format::Human {
        note(&format!("error: {}\n", printable(message)));
    }
    let json = result::of_unreadable(&path.to_string_lossy(), message);
    Answer { exit: Exit::Unusable, text: String::new(), json: Some(json) }
}

/// The model's own errors, or those of the request. In JSON they are part of the document.
fn refused(options: &Options, screen: Screen, front: &Front, diagnostics: &[Diagnostic]) -> Answer {
    if options.format == Format::Human {
        note(&diagnostics::render_all(&front.sources, diagnostics, screen.paint_errors));
    }
    let json = result::of_diagnostics(front, diagnostics::to_json(&front.sources, diagnostics));
    Answer { exit: Exit::Unusable, text: String::new(), json: Some(json) }
}

fn lint_one(options: &Options, screen: Screen, path: &Path) -> Answer {
    let front = match front::load(path, options) {
        Ok(front) => front,
        Err(e) => return unreadable(options, path, &e.to_string()),
    };
    let list = &front.diagnostics;
    let exit = if front.model.is_none() || list.iter().any(Diagnostic::is_error) { Exit::Unusable } else { Exit::Fine };
    let text = match (list.is_empty(), options.quiet) {
        (true, true) => String::new(),
        (true, false) => format!("ok    {}  nothing to say\n", printable(&front.path)),
        _ => diagnostics::render_all(&front.sources, list, screen.paint),
    };
    let json = result::of_diagnostics(&front, diagnostics::to_json(&front.sources, list));
    Answer { exit, text, json: Some(json) }
}

fn check_one(options: &Options, screen: Screen, path: &Path) -> Answer {
    let front = match front::load(path, options) {
        Ok(front) => front,
        Err(e) => return unreadable(options, path, &e.to_string()),
    };
    let Some(model) = &front.model else { return refused(options, screen, &front, &front.diagnostics) };
    if !front.diagnostics.is_empty() && options.format == Format::Human && !options.quiet {
        note(&diagnostics::render_all(&front.sources, &front.diagnostics, screen.paint_errors));
    }
    let interp = Interp::new(model.system.clone());
    let mut settings = options.settings();
    settings.protocol = match model.asked(options) {
        Ok(asked) => asked,
        Err(usage) => {
            let help = usage.help.map_or(String::new(), |help| format!("; {help}"));
            return unreadable(options, path, &format!("{}{help}", usage.message));
        }
    };
    let whole = || Some(memory::fair_share()? + spinor_check::clock::memory_bytes());
    settings.max_memory = settings.max_memory.or_else(whole);
    let stated = stated(model);
    let mut ticker = Ticker::new(!options.quiet);
    let report = match options.executor {
        Executor::Jit => natively(&interp, &stated, &settings, &mut ticker),
        Executor::Interp => interpreted(&interp, &stated, &settings, &mut ticker),
    };
    ticker.clear();
    let report = match report {
        Ok(report) => report,
        Err(list) => return refused(options, screen, &front, &list),
    };

    let mut exit = exit::of_verdicts(report.properties.iter().map(|p| &p.verdict), options.expect);
    let saved = match save(options, &front, &interp, &report) {
        Ok(saved) => saved,
        Err(e) => {
            note(&format!("error: cannot write traces: {}\n", printable(&e.to_string())));
            exit = exit.worst(Exit::Unusable);
            Vec::new()
        }
    };
    let human = Human {
        front: &front,
        interp: &interp,
        report: &report,
        screen,
        detail: match (options.quiet, options.verbose) {
            (true, _) => Detail::Quiet,
            (_, true) => Detail::Verbose,
            _ => Detail::Normal,
        },
        auto: settings.search == Search::Auto,
        saved: &saved,
        expect: options.expect,
        exit,
        macros: macros(options),
        stated: given(options, &settings, interp.system()),
    };
    match options.format {
        Format::Json => Answer { exit, text: String::new(), json: Some(result::of_report(&front, &interp, &report)) },
        Format::Human => Answer { exit, text: human.render(), json: None },
    }
}

/// What the model and the command line say about its runs.
fn stated(model: &Model) -> Vec<Stated> {
    let formulas = model.formulas.iter().map(|f| {
        let said = Said::Formula { formula: f.formula.clone(), props: f.props.clone() };
        Stated { name: f.name.clone(), said }
    });
    let automata = model.automata.iter().map(|a| {
        let said = Said::Automaton { automaton: a.automaton.clone(), looked: a.looked.clone() };
        Stated { name: a.name.clone(), said }
    });
    formulas.chain(automata).collect()
}

/// The options that decide how the model reads, as they would be typed.
fn macros(options: &Options) -> String {
    let define = |(name, value): &(String, Option<String>)| match value {
        Some(value) => format!(" -D{}", quoted(&printable(&format!("{name}={value}")))),
        None => format!(" -D{name}"),
    };
    let undefine = |name: &String| format!(" -U{name}");
    let root = |dir: &PathBuf| format!(" --include-root {}", quoted(&printable(&dir.to_string_lossy())));
    let words = options.defines.iter().map(define).chain(options.undefines.iter().map(undefine));
    let on = |option: &str, channels: &Option<String>| {
        channels.as_ref().map(|list| format!(" --{option} {}", quoted(&printable(list))))
    };
    let strict = options.strict_receptions.then(|| " --strict-receptions".to_string());
    let protocol = [on("receptions", &options.receptions), on("overflows", &options.overflows), strict];
    words.chain(options.include_roots.iter().map(root)).chain(protocol.into_iter().flatten()).collect()
}

/// The properties of the command line and what runs they are about, as they would be typed.
fn given(options: &Options, settings: &Settings, system: &System) -> String {
    let ltl = |f: &String| format!(" --ltl {}", quoted(&printable(f)));
    let claim = |file: &PathBuf| format!(" --claim {}", quoted(&printable(&file.to_string_lossy())));
    let Settings { fairness, progress, .. } = *settings;
    let fair = (fairness != Fairness::None).then(|| format!(" --fair {}", fairness.word()));
    let made = (progress != Progress::default()).then(|| format!(" --progress {}", progress.word()));
    let whose = settings.progress_of.as_ref().map(|of| format!(" --progress-of {}", quoted(&printable(of))));
    // Asked about by name where there is no label that asks.
    let label = |name: &str, has: fn(&Location) -> bool| {
        let labelled = system.proctypes.iter().any(|t| t.locs.iter().any(has));
        (settings.select.names(name) && !labelled).then(|| format!(" -p all -p {name}"))
    };
    let labels = [label("progress", |l| l.progress), label("accept", |l| l.accept)].into_iter().flatten();
    let stated = options.ltls.iter().map(ltl).chain(options.claims.iter().map(claim));
    stated.chain(labels).chain(fair).chain(made).chain(whose).collect()
}

/// A file name that two of the models have, in different folders.
fn same_name(files: &[PathBuf]) -> Option<String> {
    let mut names: Vec<_> = files.iter().filter_map(|f| f.file_name()).collect();
    names.sort();
    names.windows(2).find(|two| two[0] == two[1]).map(|two| two[0].to_string_lossy().into_owned())
}

/// Writes every trace twice, as JSON and as SPIN's rows, and returns the names, JSON first.
fn save(options: &Options, front: &Front, interp: &Interp, report: &Report) -> io::Result<Vec<PathBuf>> {
    let Some(dir) = &options.out else { return Ok(Vec::new()) };
    let named = |path: &Path, e: io::Error| io::Error::new(e.kind(), format!("{}: {e}", path.display()));
    std::fs::create_dir_all(dir).map_err(|e| named(dir, e))?;
    let (mut saved, mut taken) = (Vec::new(), HashSet::new());
    for property in &report.properties {
        for (n, trace) in property.traces.iter().enumerate() {
            // A formula may be named like something else that is asked, and an automaton like anything.
            let mut stem = stem(&front.path, &property.name, n);
            while !taken.insert(stem.clone()) {
                stem.push_str("_2");
            }
            let json = result::of_trace(front, interp, property, trace).pretty();
            let rows = match &trace.initial {
                Some(initial) => trail::write(interp.system(), initial, &trace.steps, trace.cycle_start),
                None => String::new(),
            };
            for (ending, text) in [("json", json), ("trail", rows)] {
                let path = dir.join(format!("{stem}.{ending}"));
                std::fs::write(&path, text).map_err(|e| named(&path, e))?;
                saved.push(path);
            }
        }
    }
    Ok(saved)
}

/// `mutex.pml.assert`, `mutex.pml.assert.2`
fn stem(model: &str, property: &str, n: usize) -> String {
    let model = Path::new(model).file_name().map_or("model".into(), |f| f.to_string_lossy());
    let safe: String =
        property.chars().map(|c| if c.is_alphanumeric() || "_-".contains(c) { c } else { '_' }).collect();
    if n == 0 { format!("{model}.{safe}") } else { format!("{model}.{safe}.{}", n + 1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traces_are_named_after_model_and_property() {
        assert_eq!(stem("a/mutex.pml", "assert", 0), "mutex.pml.assert");
        assert_eq!(stem("mutex.pml", "assert", 1), "mutex.pml.assert.2");
        assert_eq!(stem("m", "../../x", 0), "m.______x");
        let named = |files: [&str; 2]| same_name(&files.map(PathBuf::from));
        assert_eq!((named(["a/m.pml", "b/m.pml"]), named(["a/m.pml", "a/n.pml"])), (Some("m.pml".to_string()), None));
    }
}
