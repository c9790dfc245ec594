//! `spinor graph`: control graphs, automata and small state graphs as dot, Mermaid or SVG.
//!
//! | module | is |
//! |---|---|
//! | [`shape`] | what is drawn: nodes, edges, clusters |
//! | [`control`], [`automaton`], [`states`] | proctypes and claims, formulas, reachable states as such |
//! | [`dot`], [`mermaid`], [`svg`] | the forms it is written in |
//! | [`layout`] | where things lie in a picture |

pub mod automaton;
pub mod control;
pub mod dot;
pub mod layout;
pub mod mermaid;
pub mod shape;
pub mod states;
pub mod svg;

use crate::args::values::nearest;
use crate::args::{Drawing, Options, Usage};
use crate::exit::Exit;
use crate::front::Formula;
use crate::front::load_or_say;
use crate::screen::{Out, Screen, grouped, printable};
use shape::{Cluster, Graph};
use spinor_ltl::{Limits, buchi_automaton};
use spinor_model::interp::Interp;
use states::Undrawn;

/// A picture with more states than this is a wall paper.
const MAX_STATES: usize = 500;

pub fn graph(options: &Options, screen: Screen, out: &mut Out) -> Result<Exit, Usage> {
    let states = options.of.iter().any(|n| n == "states");
    if options.max_states.is_some() && !states {
        return Err(Usage::new("`--max-states` is about the states, which are not drawn").help("add `--of states`"));
    }
    let form = options.drawing().ok_or_else(|| {
        Usage::new("the name given with -o says no form that can be drawn")
            .help("`.svg`, `.mmd` and `.dot` do; or say the form: `--to svg`, `mermaid` or `dot`")
    })?;
    let (front, interp) = load_or_say(&options.files[0], options, screen)?;
    let (Some(model), Some(interp)) = (&front.model, interp) else { return Ok(Exit::Unusable) };
    let things = Things { interp: &interp, formulas: &model.formulas };
    let mut graph = Graph { title: printable(&front.path), clusters: Vec::new() };
    match &options.of[..] {
        [] => graph.clusters.extend(things.proctypes()),
        names => {
            for name in names {
                let more = match name.as_str() {
                    "all" => things.all()?,
                    "states" => vec![things.states(options.max_states.unwrap_or(MAX_STATES))?],
                    name => things.named(name)?,
                };
                graph.clusters.extend(more);
            }
        }
    }
    if graph.clusters.is_empty() {
        return Err(Usage::new(format!("there is no proctype in `{}`", graph.title)).help(things.what_there_is()));
    }
    let text = write(&graph, form)?;
    out.deliver(options.out.as_deref(), &text)?;
    Ok(Exit::Fine)
}

pub fn write(graph: &Graph, form: Drawing) -> Result<String, Usage> {
    match form {
        Drawing::Dot => Ok(dot::write(graph)),
        Drawing::Mermaid => Ok(mermaid::write(graph)),
        Drawing::Svg => svg::write(graph).map_err(|_| {
            Usage::new("this graph is too large to be laid out here").help("`--to dot` writes it for other programs")
        }),
    }
}

/// What a model has that can be drawn.
struct Things<'a> {
    interp: &'a Interp,
    formulas: &'a [Formula],
}

impl Things<'_> {
    fn proctypes(&self) -> Vec<Cluster> {
        let system = self.interp.system();
        system.proctypes.iter().map(|t| control::cluster(system, t, format!("proctype {}", t.name))).collect()
    }

    /// Those beside the proctypes: their names, and what they are.
    fn others(&self) -> Vec<(&str, Cluster)> {
        let system = self.interp.system();
        let mut out = Vec::new();
        for claim in &system.claims {
            out.push((&claim.name[..], control::cluster(system, claim, format!("never {}", claim.name))));
        }
        if let Some(m) = &system.monitor {
            out.push((&m.graph.name[..], control::cluster(system, &m.graph, m.graph.name.clone())));
        }
        out
    }

    fn formula(&self, f: &Formula) -> Result<Cluster, Usage> {
        let made = buchi_automaton(&f.formula, Limits::default())
            .map_err(|_| Usage::new(format!("the automaton of `{}` is too large to be drawn", f.name)))?;
        let says = |p: spinor_ltl::PropId| f.says.get(p.0 as usize).cloned().unwrap_or_default();
        Ok(automaton::cluster(&made, printable(&format!("ltl {}: {}", f.name, f.text)), says))
    }

    fn states(&self, max: usize) -> Result<Cluster, Usage> {
        let title = format!("states of {}", printable(&self.interp.system().name));
        states::cluster(self.interp, max, title).map_err(|e| match e {
            Undrawn::TooMany => {
                Usage::new(format!("the model has more than {} states, too many to be drawn", grouped(max as u64)))
                    .help("`--max-states N` allows more; `-D` may make the model smaller")
            }
            Undrawn::Fault(fault) => Usage::new(format!("there is no initial state: {}", fault.kind)),
        })
    }

    fn all(&self) -> Result<Vec<Cluster>, Usage> {
        let mut out = self.proctypes();
        out.extend(self.others().into_iter().map(|o| o.1));
        for f in self.formulas {
            out.push(self.formula(f)?);
        }
        Ok(out)
    }

    fn names(&self) -> Vec<&str> {
        let system = self.interp.system();
        let control = system.proctypes.iter().chain(&system.claims).chain(system.monitor.iter().map(|m| &m.graph));
        control.map(|t| &t.name[..]).chain(self.formulas.iter().map(|f| &f.name[..])).collect()
    }

    /// Whatever has this name; a formula and a proctype may share one.
    fn named(&self, name: &str) -> Result<Vec<Cluster>, Usage> {
        let system = self.interp.system();
        let mut out: Vec<Cluster> = system
            .proctypes
            .iter()
            .filter(|t| t.name == name)
            .map(|t| control::cluster(system, t, format!("proctype {}", t.name)))
            .collect();
        out.extend(self.others().into_iter().filter(|o| o.0 == name).map(|o| o.1));
        for f in self.formulas.iter().filter(|f| f.name == name) {
            out.push(self.formula(f)?);
        }
        if out.is_empty() {
            let usage = Usage::new(format!("there is no proctype, claim or formula `{name}`"));
            return Err(usage.help(match nearest(name, self.names()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => self.what_there_is(),
            }));
        }
        Ok(out)
    }

    fn what_there_is(&self) -> String {
        let names =
            self.names().into_iter().map(|n| format!("`{n}`")).chain(["`states`".to_string(), "`all`".to_string()]);
        format!("what can be drawn: {}", names.collect::<Vec<_>>().join(", "))
    }
}
