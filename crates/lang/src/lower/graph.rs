//! Elements into locations and edges.
//!
//! A process stands at a statement or at a head. From a head it takes the first statement of any branch, through
//! nested heads. When a statement is done, jumps are passed through, with one exception: while the process keeps the
//! floor it stops at a jump whose target is not inside an `atomic`, and takes it as a step of its own; there the
//! floor is given up.
//!
//! `unless` puts the first statements of its escape in front of every edge of the main part, outermost escape first;
//! the edges behind wait until none of those in front can run. An `else` waits for every edge before it.

use super::Lower;
use super::elements::{El, Element, Jump, Kind, Trivial, is_mark};
use crate::ast::Seq;
use spinor_model::diagnostic::Diagnostic;
use spinor_model::index::IndexVec;
use spinor_model::ir::{Edge, EdgeId, Effect, Guard, Loc, Location, Then};
use spinor_model::source::Span;
use std::collections::HashMap;

pub(super) struct Graph {
    pub locs: IndexVec<Loc, Location>,
    pub edges: IndexVec<EdgeId, Edge>,
    pub start: Loc,
    pub end: Loc,
}

impl Lower {
    pub fn body_graph(&mut self, body: &Seq, span: Span) -> Graph {
        let elements = self.elements(body, span);
        let asked: Vec<_> = {
            let name = self.body().name.clone();
            self.remote_labels.iter().filter(|(t, _)| *t == name).map(|(_, l)| l.clone()).collect()
        };
        let d_steps = elements.list.enumerated().filter_map(|(el, e)| match e.kind {
            Kind::DStep { number, .. } => Some((number, el)),
            _ => None,
        });
        let mut b = Builder {
            elements: &elements.list,
            locs: IndexVec::new(),
            edges: IndexVec::new(),
            by_element: HashMap::new(),
            d_steps: d_steps.collect(),
            todo: vec![],
            two_elses: None,
        };
        let start = b.loc(b.after(None, elements.first));
        let end = b.loc(elements.end);
        for (el, e) in elements.list.enumerated() {
            if e.labels.iter().any(|l| asked.contains(l)) {
                b.loc(el);
            }
        }
        while let Some((loc, el)) = b.todo.pop() {
            b.fill(loc, el);
        }
        let Builder { locs, edges, two_elses, .. } = b;
        if let Some((first, second)) = two_elses {
            self.report(
                Diagnostic::error("P0310", "two `else` compete at the same point")
                    .at(second, "one")
                    .label(first, "the other")
                    .help("put a statement, for example `skip`, before the inner selection"),
            );
        }
        Graph { locs, edges, start, end }
    }
}

struct Builder<'a> {
    elements: &'a IndexVec<El, Element>,
    locs: IndexVec<Loc, Location>,
    edges: IndexVec<EdgeId, Edge>,
    by_element: HashMap<El, Loc>,
    /// The head of each d_step, by its number.
    d_steps: HashMap<u32, El>,
    todo: Vec<(Loc, El)>,
    two_elses: Option<(Span, Span)>,
}

impl Builder<'_> {
    fn loc(&mut self, el: El) -> Loc {
        if let Some(loc) = self.by_element.get(&el) {
            return *loc;
        }
        let e = &self.elements[el];
        let has = |prefix: &str| e.labels.iter().any(|l| is_mark(l) && l.starts_with(prefix));
        let loc = self.locs.push(Location {
            edges: vec![],
            labels: e.labels.iter().map(|l| l.to_string()).collect(),
            end: has("end"),
            accept: has("accept"),
            progress: has("progress"),
            number: e.number,
            span: e.span,
        });
        self.by_element.insert(el, loc);
        self.todo.push((loc, el));
        loc
    }

    /// Where control stops on its way to `el`, coming from `from`.
    fn after(&self, from: Option<El>, mut el: El) -> El {
        let keeps_floor = from.is_some_and(|f| self.elements[f].atomic);
        while let Kind::Jump(_) = self.elements[el].kind {
            let Some(next) = self.elements[el].next else { break };
            if keeps_floor && !self.elements[next].atomic {
                break;
            }
            el = next;
        }
        el
    }

    /// The statements a process at `el` can take, through heads.
    fn firsts(&self, el: El, out: &mut Vec<El>, escapes: &mut Vec<El>) {
        let e = &self.elements[el];
        match &e.kind {
            Kind::Head(branches) => {
                for b in branches {
                    self.firsts(*b, out, escapes);
                }
                if branches.is_empty() {
                    escapes.extend(&e.escapes);
                }
            }
            Kind::Nothing | Kind::DStepExit { .. } => {}
            kind => {
                out.push(el);
                if !matches!(kind, Kind::Jump(Jump::Join) | Kind::End) {
                    for x in &e.escapes {
                        if !escapes.contains(x) {
                            escapes.push(*x);
                        }
                    }
                }
            }
        }
    }

    fn fill(&mut self, loc: Loc, el: El) {
        let mut own = Vec::new();
        let mut escapes = Vec::new();
        self.firsts(el, &mut own, &mut escapes);
        if self.elements[el].d_step.is_some() {
            escapes.clear(); // a d_step is escaped from at its entry only
        }
        let mut before: Vec<EdgeId> = Vec::new();
        for escape in escapes.into_iter().rev() {
            let mut firsts = Vec::new();
            self.firsts(self.after(None, escape), &mut firsts, &mut Vec::new());
            let made = self.group(loc, &firsts, &before);
            before.extend(made);
        }
        self.group(loc, &own, &before);
    }

    /// Edges of equal rank; they wait for those in `before`.
    fn group(&mut self, loc: Loc, firsts: &[El], before: &[EdgeId]) -> Vec<EdgeId> {
        let mut made: Vec<EdgeId> = Vec::new();
        let mut first_else = None;
        for &el in firsts {
            let e = &self.elements[el];
            // Inside a d_step each selection is settled on the spot.
            if let (Kind::Stmt { trivial: Trivial::Else, .. }, None) = (&e.kind, e.d_step) {
                if let Some(first) = first_else
                    && self.two_elses.is_none()
                {
                    self.two_elses = Some((first, e.span));
                }
                first_else = Some(e.span);
            }
            if let Kind::DStep { first, .. } = e.kind {
                let mut inner = Vec::new();
                self.firsts(first, &mut inner, &mut Vec::new());
                // The first that can run is taken, so each waits for those before it.
                let mut earlier = before.to_vec();
                // An `else` in it is about its own selection, unless it is the whole first statement.
                let bare = matches!(self.elements[first].kind, Kind::Stmt { trivial: Trivial::Else, .. });
                let around = if bare { made.clone() } else { Vec::new() };
                for i in inner {
                    let edge = self.edge(loc, i, &earlier, &around);
                    earlier.push(edge);
                    made.push(edge);
                }
            } else {
                let edge = self.edge(loc, el, before, &made);
                made.push(edge);
            }
        }
        made
    }

    fn edge(&mut self, loc: Loc, el: El, waits_for: &[EdgeId], earlier: &[EdgeId]) -> EdgeId {
        let e = &self.elements[el];
        let (mut guards, effects, trivial) = match &e.kind {
            Kind::Stmt { guards, effects, trivial } => (guards.clone(), effects.clone(), *trivial),
            Kind::End => (vec![Guard::Youngest], vec![Effect::End], Trivial::No),
            _ => (vec![], vec![], Trivial::No),
        };
        let mut waits_for = waits_for.to_vec();
        if trivial == Trivial::Else {
            waits_for.extend(earlier.iter().filter(|e| !waits_for.contains(e)).copied().collect::<Vec<_>>());
        }
        if !waits_for.is_empty() || trivial == Trivial::Else {
            guards.insert(0, Guard::NoneOf(waits_for));
        }
        if guards.iter().any(|g| matches!(g, Guard::Channel)) {
            debug_assert!(matches!(effects.first(), Some(Effect::Send { .. } | Effect::Receive { .. })));
        }
        let span = e.span;
        let in_d_step = e.d_step.is_some();
        let mut stmt = e.stmt;
        let (to, then) = match (e.next, e.d_step) {
            (None, _) => (None, Then::Yield),
            (Some(next), None) => (Some(self.after(Some(el), next)), then(e.atomic)),
            (Some(next), Some(number)) => {
                stmt = self.elements[self.d_steps[&number]].stmt;
                let to = self.after(None, next);
                match self.elements[to].kind {
                    Kind::DStepExit { of } => {
                        let h = &self.elements[of];
                        let after = h.next.map_or(of, |n| self.after(Some(of), n));
                        (Some(after), then(h.atomic))
                    }
                    _ => (Some(to), Then::DStep),
                }
            }
        };
        let to = to.map_or(loc, |el| self.loc(el));
        let id = self.edges.push(Edge { from: loc, to, guards, effects, then, in_d_step, stmt, span });
        self.locs[loc].edges.push(id);
        id
    }
}

fn then(atomic: bool) -> Then {
    if atomic { Then::Atomic } else { Then::Yield }
}
