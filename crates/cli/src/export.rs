//! `spinor export`: a protocol of communicating machines as Promela text with the same states and transitions.

use crate::args::{Options, Usage};
use crate::diagnostics;
use crate::exit::Exit;
use crate::front;
use crate::screen::{Out, Screen, note};

pub fn export(options: &Options, screen: Screen, out: &mut Out) -> Result<Exit, Usage> {
    let path = options.files.first().expect("the command line was checked");
    let front = front::load(path, options).map_err(|e| Usage::new(e.to_string()))?;
    let said = !options.quiet || front.model.is_none();
    if said && !front.diagnostics.is_empty() {
        note(&diagnostics::render_all(&front.sources, &front.diagnostics, screen.paint_errors));
    }
    let Some(model) = &front.model else { return Ok(Exit::Unusable) };
    let Some(promela) = &model.promela else {
        let usage = Usage::new(format!("`{}` is no protocol, and nothing else is exported", front.path));
        return Err(usage.help("a model whose name ends in `.cfsm` can be exported; any other is Promela already"));
    };
    match &options.out {
        Some(file) => {
            let wrote = std::fs::write(file, promela);
            wrote.map_err(|e| Usage::new(format!("cannot write `{}`: {e}", file.display())))?;
        }
        None => {
            out.put(promela);
        }
    }
    Ok(Exit::Fine)
}
