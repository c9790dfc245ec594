//! The checker: a tree into a system, or diagnostics that say why not.
//!
//! | file | turns |
//! |---|---|
//! | `names.rs` | declarations into variables, channels, records; names into what they mean |
//! | `expr.rs` | expressions, places and message patterns |
//! | `elements.rs` | a body into its elements, numbered as SPIN numbers them |
//! | `simple.rs` | a statement without inner statements into guards and effects |
//! | `loops.rs` | `for` and `select` into the elements they are short for |
//! | `graph.rs` | elements into locations and edges |
//! | `formula.rs` | `ltl` blocks |
//!
//! Everything that is wrong is collected; what could not be lowered is left out, and a system with errors is not
//! handed on.

mod elements;
mod expr;
mod formula;
mod graph;
mod loops;
mod names;
mod simple;

use crate::ast::{self, Program, Unit};
pub(crate) use formula::temporal;
pub(crate) use names::closest;
use names::{Body, FrameBuilder, RecordDef, Sig};
use spinor_ltl::Formula;
use spinor_model::diagnostic::Diagnostic;
use spinor_model::index::IndexVec;
use spinor_model::ir::{self, Expr, Monitor, MtypeId, MtypeSet, Proctype, ProctypeId, System, Uses};
use spinor_model::protocol::Protocol;
use spinor_model::scalarset;
use spinor_model::source::{Sources, Span};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// A checked model: the system and what is claimed of it.
#[derive(Clone, Debug)]
pub struct Model {
    pub system: Arc<System>,
    pub formulas: Vec<NamedFormula>,
    /// Of a protocol of communicating machines.
    pub protocol: Option<Protocol>,
    /// It in Promela, if it was written in another language.
    pub promela: Option<String>,
}

/// An `ltl` block.
#[derive(Clone, Debug)]
pub struct NamedFormula {
    pub name: String,
    pub formula: Formula,
    /// What proposition `n` says.
    pub props: Vec<Expr>,
    /// The same as it was written; the first place of several counts.
    pub says: Vec<String>,
    /// As it was written.
    pub text: String,
    pub span: Span,
}

/// Where each label stands; one inside an inline stands where it comes first.
fn first_labels(t: &Proctype) -> HashMap<String, ir::Loc> {
    let mut out: HashMap<String, ir::Loc> = HashMap::new();
    for (loc, l) in t.locs.enumerated() {
        for name in &l.labels {
            let first = out.entry(name.clone()).or_insert(loc);
            if l.number < t.locs[*first].number {
                *first = loc;
            }
        }
    }
    out
}

/// `P[pid]:x[index]`, until the frame of `P` is known.
struct RemoteVar {
    proctype: ProctypeId,
    var: ast::Ident,
    index: Option<Expr>,
    span: Span,
}

/// More variable and message slots than this in one frame are refused: no state of that size can be searched.
const MAX_SLOTS: u64 = 1 << 16;
/// No channel with more slots than this can be part of a state that is searched.
const MAX_CAPACITY: i32 = 65_535;
/// The errors after this many help nobody.
const MAX_ERRORS: usize = 20;

pub fn lower(name: &str, program: &Program, sources: Arc<Sources>) -> (Option<Model>, Vec<Diagnostic>) {
    let mut lower = Lower::new(sources);
    lower.collect(program);
    let (system, formulas) = lower.build(name, program);
    let mut diags = std::mem::take(&mut lower.diags);
    diags.sort_by_key(|d| d.primary.as_ref().map(|(span, _)| (span.file, span.lo)));
    let model = (!diags.iter().any(Diagnostic::is_error)).then(|| Model {
        system: Arc::new(system),
        formulas,
        protocol: None,
        promela: None,
    });
    (model, diags)
}

/// Everything known about the text while it is lowered.
struct Lower {
    sources: Arc<Sources>,
    diags: Vec<Diagnostic>,
    mtypes: IndexVec<MtypeId, MtypeSet>,
    mtype_consts: HashMap<Arc<str>, (MtypeId, i32, Span)>,
    records: HashMap<Arc<str>, RecordDef>,
    globals: FrameBuilder,
    proctypes: HashMap<Arc<str>, Sig>,
    /// Labels some expression asks about from outside, by proctype.
    remote_labels: HashSet<(Arc<str>, Arc<str>)>,
    /// Names whose declaration was refused.
    poisoned: HashSet<Arc<str>>,
    /// Where each remote label was first asked for.
    label_uses: HashMap<(ProctypeId, String), Span>,
    /// The body being lowered, if any.
    body: Option<Body>,
    /// Where a `run` in the expression being lowered goes; `None` where none may stand.
    runs: Option<Vec<ir::Effect>>,
    uses: Uses,
    has_rendezvous: Option<Span>,
    uses_enabled: Option<Span>,
    uses_priority: Option<Span>,
    /// Variables of other processes that some expression reads, by number of use.
    remote_vars: Vec<RemoteVar>,
    /// SPIN's next statement number.
    next_stmt: u32,
    next_proctype_number: u32,
    /// Inside a claim or a formula.
    in_claim: bool,
    in_trace: bool,
}

impl Lower {
    fn new(sources: Arc<Sources>) -> Lower {
        let mut mtypes = IndexVec::new();
        mtypes.push(MtypeSet { name: "_unnamed_".into(), names: vec![] });
        Lower {
            sources,
            diags: Vec::new(),
            mtypes,
            mtype_consts: HashMap::new(),
            records: HashMap::new(),
            globals: FrameBuilder::default(),
            proctypes: HashMap::new(),
            remote_labels: HashSet::new(),
            poisoned: HashSet::new(),
            label_uses: HashMap::new(),
            body: None,
            runs: None,
            uses: Uses::default(),
            has_rendezvous: None,
            uses_enabled: None,
            uses_priority: None,
            remote_vars: Vec::new(),
            next_stmt: 0,
            next_proctype_number: 0,
            in_claim: false,
            in_trace: false,
        }
    }

    fn report(&mut self, d: Diagnostic) {
        let n_errors = self.diags.iter().filter(|d| d.is_error()).count();
        if n_errors < MAX_ERRORS && !self.diags.contains(&d) {
            self.diags.push(d);
        }
    }

    /// Lowers every body, then what refers across bodies.
    fn build(&mut self, name: &str, program: &Program) -> (System, Vec<NamedFormula>) {
        let mut system = System { name: name.into(), sources: self.sources.clone(), ..System::default() };
        let mut ltls = Vec::new();
        let mut active = Vec::new();
        for unit in &program.units {
            match unit {
                Unit::Proctype(p) => {
                    let Some(sig) = self.proctypes.get(&p.name.name) else { continue };
                    if sig.span != p.name.span {
                        continue; // declared twice: the first one counts, and the error is out
                    }
                    let id = sig.id;
                    let t = self.proctype(p);
                    let pushed = system.proctypes.push(t);
                    debug_assert_eq!(pushed, id, "proctypes are lowered in the order they were collected");
                    for _ in 0..self.n_active(p) {
                        active.push((id, p.name.span));
                    }
                }
                Unit::Never(c) => {
                    let mut t = self.claim(c);
                    // Several without a name are told apart.
                    if c.name.is_none() && !system.claims.is_empty() {
                        t.name = format!("{}_{}", t.name, system.claims.len() + 1);
                    }
                    system.claims.push(t);
                }
                Unit::Trace(t) => {
                    let graph = self.trace(t);
                    if let Some(old) = system.monitor.replace(Monitor { negated: t.negated, graph }) {
                        self.report(
                            Diagnostic::error("P0327", "a model has one `trace` or `notrace`")
                                .at(t.span, "a second one")
                                .label(old.graph.span, "the first"),
                        );
                    }
                }
                Unit::Ltl(l) => ltls.push(l),
                Unit::C(c) => self.refuse_c(c),
                Unit::Decl(_) | Unit::Typedef(_) | Unit::Mtype(_) => {}
            }
        }
        if active.len() > ir::MAX_LIVE {
            let (_, span) = active[ir::MAX_LIVE];
            self.report(
                Diagnostic::error("P0321", format!("{} processes are active at the start", active.len()))
                    .at(span, "too many")
                    .help(format!("at most {} processes can be alive at a time", ir::MAX_LIVE)),
            );
            active.truncate(ir::MAX_LIVE);
        }
        system.active = active.into_iter().map(|(id, _)| id).collect();
        self.check_that_somebody_runs(&system);
        let formulas = ltls.iter().enumerate().map(|(n, l)| self.formula(l, n)).collect::<Vec<_>>();
        self.check_names_of_properties(&system, &formulas);
        self.check_combinations();
        system.mtypes = std::mem::take(&mut self.mtypes);
        system.globals = std::mem::take(&mut self.globals).frame;
        system.uses = self.uses;
        let formulas = self.settle_remotes(&mut system, formulas);
        self.settle_hidden(&mut system, &formulas);
        self.settle_symmetric(&mut system, &program.symmetric);
        (system, formulas)
    }

    /// Of a model in which nobody moves everything holds, and that is seldom what is meant.
    fn check_that_somebody_runs(&mut self, system: &System) {
        let Some(first) = system.proctypes.iter().next().filter(|_| system.active.is_empty()) else { return };
        let name = first.name.clone();
        self.report(
            Diagnostic::warning("P0347", "no process ever runs")
                .at(first.span, format!("`{name}` is declared, and nobody starts it"))
                .help(format!("write `active` before `proctype`, or start it: `init {{ run {name}(…) }}`"))
                .spin("6.5.2 says \"no runable process\" and refuses the model"),
        );
    }

    /// What is declared to be symmetric must be.
    fn settle_symmetric(&mut self, system: &mut System, declared: &[ast::Ident]) {
        for name in declared {
            let Some(id) = self.proctype_named(name) else { continue };
            // Where something else is wrong the system is not whole.
            if system.symmetric.contains(&id) || self.diags.iter().any(Diagnostic::is_error) {
                continue;
            }
            system.symmetric.push(id);
            let breaks = scalarset::denied(system, id);
            let Some((first, others)) = breaks.split_first() else { continue };
            let what = format!("processes of `{}` cannot change places: {}", name.name, first.why);
            let mut d = Diagnostic::error("P0346", what).at(name.span, "declared to be symmetric here");
            for b in std::iter::once(first).chain(others).filter(|b| b.span != Span::default()) {
                d = d.label(b.span, b.why.clone());
            }
            self.report(d.help("remove what tells them apart, or the annotation: then the model is searched as it is"));
        }
    }

    fn refuse_c(&mut self, c: &ast::CFragment) {
        self.report(
            Diagnostic::error("P0900", format!("`{}`: embedded C is not supported", c.keyword))
                .at(c.span, "C code")
                .help("write this part in Promela; Spinor runs models without a C compiler"),
        );
    }

    /// A property is asked for by its name, and shown under it.
    fn check_names_of_properties(&mut self, system: &System, formulas: &[NamedFormula]) {
        let claims = system.claims.iter().map(|t| (&t.name, t.span));
        let mut known: Vec<(&String, Span)> = Vec::new();
        for (name, span) in claims.chain(formulas.iter().map(|f| (&f.name, f.span))) {
            match known.iter().find(|(other, _)| *other == name) {
                Some((_, first)) => self.report(
                    Diagnostic::error("P0101", format!("`{name}` is declared twice"))
                        .at(span, "declared again here")
                        .label(*first, "first declared here")
                        .help("two claims or formulas of one model have different names"),
                ),
                None => known.push((name, span)),
            }
        }
    }

    /// What cannot stand in one model.
    fn check_combinations(&mut self) {
        if let (Some(p), Some(r)) = (self.uses_priority, self.has_rendezvous) {
            self.report(
                Diagnostic::error("P0316", "priorities do not go together with rendez-vous channels")
                    .at(p, "a priority")
                    .label(r, "a rendez-vous channel")
                    .help("give the channel a slot, or drop the priorities"),
            );
        }
        if let (Some(e), Some(r)) = (self.uses_enabled, self.has_rendezvous) {
            self.report(
                Diagnostic::error("P0328", "`enabled` does not go together with rendez-vous channels")
                    .at(e, "`enabled` is used here")
                    .label(r, "a rendez-vous channel"),
            );
        }
    }

    /// Gives remote references their places, now that every frame and graph is known.
    fn settle_remotes(&mut self, system: &mut System, formulas: Vec<NamedFormula>) -> Vec<NamedFormula> {
        let labels: Vec<HashMap<String, ir::Loc>> = system.proctypes.iter().map(first_labels).collect();
        let places: Vec<Option<ir::Place>> =
            std::mem::take(&mut self.remote_vars).into_iter().map(|r| self.remote_place(system, r)).collect();
        let mut missing = Vec::new();
        let mut settle = |e: &mut Expr| match e {
            Expr::AtLabel { proctype, loc, label, .. } => match labels[proctype.0 as usize].get(label) {
                Some(found) => *loc = *found,
                None => missing.push((*proctype, label.clone())),
            },
            Expr::Happens(operation) => {
                if let ir::Operation::Leaves { proctype, loc, label, .. } = &mut **operation {
                    match labels[proctype.0 as usize].get(label) {
                        Some(found) => *loc = *found,
                        None => missing.push((*proctype, label.clone())),
                    }
                }
            }
            Expr::Remote { place, .. } if place.var == ir::VarId(u32::MAX) => {
                if let Some(found) = &places[place.slot as usize] {
                    *place = found.clone();
                }
            }
            _ => {}
        };
        let monitor = system.monitor.as_mut().map(|m| &mut m.graph);
        for t in system.proctypes.iter_mut().chain(&mut system.claims).chain(monitor) {
            t.each_expr_mut(&mut |e| e.each_part_mut(&mut settle));
        }
        let mut formulas = formulas;
        for prop in formulas.iter_mut().flat_map(|f| &mut f.props) {
            prop.each_part_mut(&mut settle);
        }
        for (proctype, label) in missing {
            let t = &system.proctypes[proctype];
            let asked = self.label_uses.get(&(proctype, label.clone())).copied().unwrap_or(t.span);
            self.report(
                Diagnostic::error("P0104", format!("`{}` has no label `{label}`", t.name))
                    .at(asked, "no process can stand there")
                    .label(t.span, "the proctype"),
            );
        }
        formulas
    }

    fn remote_place(&mut self, system: &System, r: RemoteVar) -> Option<ir::Place> {
        let t = &system.proctypes[r.proctype];
        let Some(var) = t.frame.var_named(&r.var.name) else {
            self.report(
                Diagnostic::error("P0102", format!("`{}` has no variable `{}`", t.name, r.var.name))
                    .at(r.var.span, "not a variable of that proctype")
                    .label(t.span, "the proctype"),
            );
            return None;
        };
        let decl = &t.frame.vars[var];
        let place = |slot, ty, index| Some(ir::Place { scope: ir::Scope::Local, var, slot, ty, index });
        match (&decl.shape, r.index) {
            (ir::Shape::Scalar(ty), None | Some(Expr::Const(0))) => place(decl.slot, *ty, vec![]),
            (ir::Shape::Array(len, of), index) if matches!(**of, ir::Shape::Scalar(_)) => {
                let ir::Shape::Scalar(ty) = **of else { unreachable!("just matched") };
                let value = index.unwrap_or(Expr::Const(0));
                place(decl.slot, ty, vec![ir::IndexStep { value, len: *len, stride: 1 }])
            }
            _ => {
                self.report(
                    Diagnostic::error("P0304", "a remote reference names one value: a variable or an array element")
                        .at(r.span, "")
                        .label(decl.span, "declared here"),
                );
                None
            }
        }
    }

    /// A `hidden` variable that something reads must stay in the key, or states that differ would be taken for one.
    fn settle_hidden(&mut self, system: &mut System, formulas: &[NamedFormula]) {
        if !system.globals.vars.iter().any(|v| v.hidden) {
            return;
        }
        let mut read = HashSet::new();
        let mut note = |e: &Expr| {
            if let Expr::Read(p) = e
                && p.scope == ir::Scope::Global
            {
                read.insert(p.var);
            }
        };
        let mut walk = |e: &Expr| e.each_part(&mut note);
        let monitor = system.monitor.as_ref().map(|m| &m.graph);
        for t in system.proctypes.iter().chain(&system.claims).chain(monitor) {
            let mut t = t.clone();
            for e in &mut t.edges {
                // Printing a variable changes nothing that is compared. Anything else that is printed may fault.
                let plain = |e: &Expr| matches!(e, Expr::Read(p) if p.index.is_empty());
                e.effects.retain(|e| match e {
                    ir::Effect::Print { args, .. } => !args.iter().all(plain),
                    ir::Effect::PrintName(e, _) => !plain(e),
                    _ => true,
                });
            }
            t.each_expr(&mut walk);
            t.promises.iter().for_each(|p| walk(&Expr::Read(p.chan.clone())));
        }
        formulas.iter().flat_map(|f| &f.props).for_each(&mut walk);
        for init in &system.globals.inits {
            if let ir::Init::Value { value, .. } = init {
                walk(value);
            }
        }
        for (id, var) in system.globals.vars.clone().enumerated() {
            if var.hidden && read.contains(&id) {
                system.globals.vars[id].hidden = false;
                self.report(
                    Diagnostic::warning("P0329", format!("`{}` is declared hidden, but it is read", var.name))
                        .at(var.span, "kept in the state")
                        .help("drop `hidden`, or the reads")
                        .spin("6.5.2 leaves it out of the state and may miss errors"),
                );
            }
        }
    }

    fn proctype(&mut self, p: &ast::Proctype) -> Proctype {
        let number = self.next_proctype_number;
        self.next_proctype_number += 1;
        self.body = Some(Body::new(p.name.name.clone()));
        for d in &p.params {
            self.declare_params(d);
        }
        let n_params = self.body().frame.frame.n_slots;
        let priority = self.priority_of(p.priority.as_ref());
        let provided = p.provided.as_ref().map(|e| self.expr(e));
        let built = self.body_graph(&p.body, p.span);
        let body = self.body.take().expect("the body we made");
        Proctype {
            name: p.name.name.to_string(),
            n_params,
            frame: body.frame.frame,
            locs: built.locs,
            edges: built.edges,
            start: built.start,
            end: built.end,
            provided,
            priority,
            deterministic: p.kind == ast::ProcKind::Deterministic,
            promises: body.promises,
            number,
            span: p.name.span,
        }
    }

    fn claim(&mut self, c: &ast::Claim) -> Proctype {
        self.in_claim = true;
        let name = c.name.as_ref().map_or("claim", |n| &n.name);
        let t = self.graph_only(name, &c.body, c.name.as_ref().map_or(c.span, |n| n.span));
        self.in_claim = false;
        if let Some(var) = t.frame.vars.iter().next() {
            self.report(
                Diagnostic::error("P0330", "a never claim has no variables of its own")
                    .at(var.span, "declared here")
                    .help("declare it outside the claim"),
            );
        }
        for e in t.edges.iter() {
            self.only_looks(e);
        }
        t
    }

    /// A claim is no process and changes nothing; what it declares itself has been said.
    fn only_looks(&mut self, edge: &ir::Edge) {
        use ir::Effect;
        let acts = |e: &Effect| matches!(e, Effect::Send { .. } | Effect::Receive { .. });
        let changes = |e: &Effect| match e {
            Effect::Assign { to, .. } => to.scope == ir::Scope::Global,
            Effect::Run { .. } | Effect::SetPriority { .. } => true,
            Effect::Send { .. } | Effect::Receive { .. } | Effect::Event { .. } | Effect::End => false,
            Effect::Assert(_) | Effect::Print { .. } | Effect::PrintName(..) => false,
        };
        let mut own = false;
        edge.each_expr(&mut |e| e.each_part(&mut |e| own |= *e == Expr::Pid));
        if edge.effects.iter().any(acts) {
            self.report(
                Diagnostic::error("P0331", "a never claim only looks: it cannot send or receive")
                    .at(edge.span, "")
                    .help("poll the channel instead: `q?[x]`"),
            );
        } else if edge.effects.iter().any(changes) {
            self.report(
                Diagnostic::error("P0343", "a never claim only looks: it cannot change the system")
                    .at(edge.span, "changes it")
                    .help("let the claim remember by its own location, or a process by a variable")
                    .spin("6.5.2 warns of a side effect and goes on"),
            );
        } else if own {
            self.report(
                Diagnostic::error("P0342", "a never claim is no process")
                    .at(edge.span, "asks about the process that it is")
                    .help("name a process: `P[0]@here`, `pc_value(0)`")
                    .spin("6.5.2 reads a number that belongs to the claim"),
            );
        }
    }

    fn trace(&mut self, t: &ast::Trace) -> Proctype {
        self.in_trace = true;
        let graph = self.graph_only(if t.negated { "notrace" } else { "trace" }, &t.body, t.span);
        self.in_trace = false;
        for edge in &graph.edges {
            let asks = edge.guards.iter().any(|g| matches!(g, ir::Guard::Holds(_) | ir::Guard::Channel));
            let acts = !edge.effects.iter().all(|e| matches!(e, ir::Effect::Event { .. } | ir::Effect::End));
            let mut own = false;
            edge.each_expr(&mut |e| {
                e.each_part(&mut |e| match e {
                    Expr::Pid => own = true,
                    Expr::Read(place) => own |= place.scope == ir::Scope::Local,
                    _ => {}
                });
            });
            if asks || acts {
                self.report(
                    Diagnostic::error("P0332", "a trace assertion lists sends and receives only")
                        .at(edge.span, "neither"),
                );
            } else if own {
                self.report(
                    Diagnostic::error("P0332", "a trace assertion is no process and has no values of its own")
                        .at(edge.span, "its own variable, or `_pid`, is read here")
                        .help("use a global variable or a constant"),
                );
            }
        }
        graph
    }

    fn graph_only(&mut self, name: &str, body: &ast::Seq, span: Span) -> Proctype {
        let number = self.next_proctype_number;
        self.next_proctype_number += 1;
        self.body = Some(Body::new(name.into()));
        let built = self.body_graph(body, span);
        let body = self.body.take().expect("the body we made");
        Proctype {
            name: name.into(),
            n_params: 0,
            frame: body.frame.frame,
            locs: built.locs,
            edges: built.edges,
            start: built.start,
            end: built.end,
            provided: None,
            priority: 1,
            deterministic: false,
            promises: vec![],
            number,
            span,
        }
    }

    fn priority_of(&mut self, e: Option<&ast::Expr>) -> u8 {
        let Some(e) = e else { return 1 };
        self.uses_priority.get_or_insert(e.span);
        self.uses.priorities = true;
        match self.constant(e) {
            Some(n @ 1..=255) => n as u8,
            Some(n) => {
                self.report(
                    Diagnostic::error("P0323", format!("priority {n} is outside 1..255")).at(e.span, "out of range"),
                );
                1
            }
            None => 1,
        }
    }

    fn body(&mut self) -> &mut Body {
        self.body.as_mut().expect("inside a body")
    }

    fn sig(&self, id: ProctypeId) -> &Sig {
        self.proctypes.values().find(|s| s.id == id).expect("a collected proctype")
    }
}
