//! `spinor replay`: a saved trace, shown and done again.

use crate::args::{Options, Usage};
use crate::exit::Exit;
use crate::front::{self, Front, load_or_say};
use crate::json::Json;
use crate::report;
use crate::screen::{Out, Screen, plural, printable, quoted};
use crate::table::Run;
use crate::trail::{self, Trail};
use crate::wording;
use spinor_check::protocol;
use spinor_check::trace::{Ending, Trace};
use spinor_check::verdict::Kind;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

pub fn replay(options: &Options, screen: Screen, out: &mut Out) -> Result<Exit, Usage> {
    let model = &options.files[0];
    let (front, interp) = load_or_say(model, options, screen)?;
    let Some(interp) = interp else { return Ok(Exit::Unusable) };
    let file = match options.files.get(1) {
        Some(file) => file.clone(),
        None => find(model)?,
    };
    let text = front::read_text(&file).map_err(|e| Usage::new(e.to_string()))?;
    let shown = printable(&file.to_string_lossy());
    let trail = read(&text, &front).map_err(|m| Usage::new(format!("`{shown}`: {m}")))?;
    let mut run = trail::replay(&interp, &trail).map_err(|m| {
        Usage::new(format!("`{shown}`: {m}"))
            .help("the trace may be of another model, of an older text, or of other -D options")
    })?;

    let protocol = match &front.model {
        Some(model) => model.asked(options)?,
        None => None,
    };
    if let (Some(protocol), None) = (&protocol, run.cycle_start) {
        let state = run.steps.last().map_or(&run.initial, |s| &s.state);
        // What the trace was saved for is what is wanted; at an end, nothing else is.
        let saved_for = Json::parse(&text).ok().and_then(|j| j.get("kind")?.as_str().map(String::from));
        let wanted = |k: &Kind| run.ending.is_none() || saved_for.as_deref() == Some(k.word());
        let mut kinds: Vec<Kind> = Kind::flaws().collect();
        kinds.sort_by_key(|k| saved_for.as_deref() != Some(k.word()));
        let flaw = kinds.into_iter().filter(wanted).find_map(|k| protocol::flaw(protocol, &interp, state, k));
        if let Some(f) = flaw {
            run.ending = Some(Ending::Met { kind: f.kind, what: f.what, why: Vec::new() });
        }
    }

    let mut text = format!("{shown}, {}\n\n", plural(run.steps.len(), "step"));
    let table = Run {
        interp: &interp,
        initial: &run.initial,
        steps: &run.steps,
        cycle_start: run.cycle_start,
        ending: run.ending.as_ref(),
        full: options.verbose,
    };
    if !options.quiet {
        text.push_str(&table.render(screen));
        text.push('\n');
    }
    if run.n_filled > 0 {
        text.push_str(&format!(
            "note  the trail merges statements; {} it does not mention were filled in\n",
            plural(run.n_filled, "statement")
        ));
    }
    let exit = if run.ending.is_some() { Exit::Violated } else { Exit::Fine };
    match run.ending {
        Some(ending) => {
            let what = match &ending {
                Ending::InvalidEnd => "ends in an invalid end state".to_string(),
                Ending::Cycle => "repeats for ever".to_string(),
                Ending::Met { kind, what, .. } => format!("ends in a state that violates {kind}: {}", printable(what)),
                Ending::Settled => "has broken the property where it ends".to_string(),
                Ending::Fault(fault) => {
                    let at = fault.at.map_or(String::new(), |(_, t, e)| {
                        let edge = wording::edge(interp.system(), t, e);
                        format!(" at {}", wording::place(interp.system(), edge.span))
                    });
                    format!("ends in a violation: {}{at}", fault.kind)
                }
            };
            let (initial, looks) = (Some(run.initial), Vec::new());
            let mut trace =
                Trace { initial, steps: run.steps, cycle_start: run.cycle_start, looks, ending, shortest: false };
            protocol.iter().for_each(|p| protocol::tell(p, &interp, &mut trace));
            if !options.quiet {
                text.push_str(&report::why(&interp, &trace, screen));
            }
            text.push_str(&format!("{}  the trace {what}\n", screen.paint.bad("FAIL")));
        }
        None if run.cycle_start.is_some() => text.push_str("ok    the trace fits the model and repeats for ever\n"),
        None => text.push_str("ok    the trace fits the model; no fault shows where it ends\n"),
    }
    out.put(&text);
    Ok(exit)
}

/// Where SPIN leaves its trail: beside the model, or where it was started.
fn find(model: &Path) -> Result<PathBuf, Usage> {
    let trail = |model: &OsStr| {
        let mut name = model.to_owned();
        name.push(".trail");
        PathBuf::from(name)
    };
    let (beside, here) = (trail(model.as_os_str()), model.file_name().map(trail));
    let candidates = std::iter::once(beside.clone()).chain(here);
    candidates.into_iter().find(|p| p.is_file()).ok_or_else(|| {
        Usage::new(format!("no trace given, and there is no `{}`", beside.display()))
            .help(format!("`spinor check {} -o DIR` saves traces", quoted(&model.to_string_lossy())))
    })
}

fn read(text: &str, front: &Front) -> Result<Trail, String> {
    if !text.trim_start().starts_with('{') {
        return trail::read(text);
    }
    let json = Json::parse(text).map_err(|m| format!("not valid JSON: {m}"))?;
    // A result of `check --format json` holds traces too; the first one is meant.
    let inner = json.get("properties").and_then(Json::as_list).and_then(|properties| {
        properties.iter().find_map(|p| p.get("traces").and_then(Json::as_list).and_then(|t| t.first()))
    });
    let hash = json.get("model").and_then(|m| m.get("sha256")).and_then(Json::as_str);
    if let Some(hash) = hash
        && hash != front.sha256
    {
        return Err(format!(
            "the trace was made from another text than `{}` now has; check the model again",
            printable(&front.path)
        ));
    }
    trail::read_json(inner.unwrap_or(&json))
}
