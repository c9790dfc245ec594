//! `spinor export`: a protocol of communicating machines as Promela text with the same states and transitions.

use crate::args::{Options, Usage};
use crate::exit::Exit;
use crate::front::load_or_say;
use crate::screen::{Out, Screen};

pub fn export(options: &Options, screen: Screen, out: &mut Out) -> Result<Exit, Usage> {
    let (front, _) = load_or_say(&options.files[0], options, screen)?;
    let Some(model) = &front.model else { return Ok(Exit::Unusable) };
    let Some(promela) = &model.promela else {
        let usage = Usage::new(format!("`{}` is no protocol, and nothing else is exported", front.path));
        return Err(usage.help("a model whose name ends in `.cfsm` can be exported; any other is Promela already"));
    };
    out.deliver(options.out.as_deref(), promela)?;
    Ok(Exit::Fine)
}
