//! What a model is made of: the words for it, which processes there are, and the frame around their bodies.

use crate::ask::Ask;
use crate::print::{Layout, Stmt};
use crate::rng::Rng;
use crate::stmt::Ctx;
use crate::switches::{FEATURES, Switches};
use crate::{Faults, Model, Options};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// A place in a variable's text where an index below the given size belongs.
pub(crate) fn hole(size: usize) -> String {
    format!("[\u{1}{size}]")
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ty {
    Bit,
    Bool,
    Byte,
    Short,
    Int,
    Unsigned(usize),
    Pid,
    Mtype(usize),
}

impl Ty {
    pub fn is_bit(self) -> bool {
        matches!(self, Ty::Bit | Ty::Bool)
    }
    pub fn is_signed(self) -> bool {
        matches!(self, Ty::Short | Ty::Int)
    }
    pub fn is_mtype(self) -> bool {
        matches!(self, Ty::Mtype(_))
    }
}

/// A scalar that can be named: a variable, an array element, a field of a structure.
#[derive(Clone, Debug)]
pub(crate) struct Var {
    /// The text, with holes for indexes.
    pub text: String,
    pub ty: Ty,
    /// Values stay below this, to bound the state space.
    pub modulus: usize,
    pub readable: bool,
    pub writable: bool,
    /// Whether it lies in an array: SPIN does not cut the values of bit arrays.
    pub in_array: bool,
    /// The only proctype that uses it, for a global declared `local`.
    pub owner: Option<usize>,
}

#[derive(Clone, Debug)]
pub(crate) struct Array {
    pub name: String,
    pub size: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Field {
    Bit,
    Byte,
    Short,
    Int,
    Pid,
    Mtype(usize),
    /// A channel of the reference group.
    Chan,
    /// The message structure.
    Struct,
}

#[derive(Clone, Debug)]
pub(crate) struct Chan {
    pub text: String,
    pub cap: usize,
    pub fields: Vec<Field>,
    /// The proctypes that may send to it or receive from it; `None` for all.
    pub senders: Option<Vec<usize>>,
    pub receivers: Option<Vec<usize>>,
    /// Visible in this proctype only.
    pub local_to: Option<usize>,
    /// Declared with its own buffer, as opposed to a reference.
    pub is_ref: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start {
    Active(usize),
    Run,
    Init,
}

pub(crate) enum Param {
    Value(Ty),
    Chan,
}

pub(crate) struct Proc {
    pub name: String,
    pub start: Start,
    pub deterministic: bool,
    pub params: Vec<(String, Param)>,
    /// Labels promised to exist; the flag says whether the text has reached it.
    pub labels: Vec<(String, bool)>,
    pub locals: Vec<Var>,
    pub arrays: Vec<Array>,
    pub decls: Vec<String>,
    pub counters: Vec<String>,
    pub jumps_back: bool,
    /// The pid of the first instance, known where nothing else can take that number.
    pub pid: Option<usize>,
}

/// Whether a line assigns to the variable, roughly.
fn is_written(line: &str, name: &str) -> bool {
    line.match_indices(name).any(|(at, _)| {
        let before = line[..at].chars().next_back().unwrap_or(' ');
        let rest = &line[at + name.len()..];
        let assigned = rest.split_once('=').is_some_and(|(to, value)| {
            to.len() < 12 && !to.contains([';', ')', '>', '<', '!']) && !value.starts_with('=')
        });
        let counted = rest.starts_with("++") || rest.starts_with("--");
        !before.is_ascii_alphanumeric()
            && (assigned || counted || line[..at].ends_with("INC(") || line[..at].contains('?'))
    })
}

impl Proc {
    /// Declared `D_proctype`, by its own will or for the sake of an error.
    pub fn is_d(&self) -> bool {
        self.deterministic || self.name.starts_with('D')
    }
}

pub(crate) struct Inline {
    pub name: String,
    /// For each parameter: true if an assignable byte is expected, false if any value will do.
    pub params: Vec<bool>,
    pub returns: bool,
    pub uses_io: bool,
}

pub(crate) struct Gen<'a> {
    pub rng: Rng,
    pub options: &'a Options,
    pub on: Switches,
    pub layout: Layout,
    features: BTreeSet<&'static str>,
    pub may_fault: bool,
    /// The deliberate error still to be planted.
    pub fault: Option<&'static str>,
    pub mtypes: Vec<(Option<String>, Vec<String>)>,
    pub globals: Vec<Var>,
    pub arrays: Vec<Array>,
    pub chans: Vec<Chan>,
    pub procs: Vec<Proc>,
    pub inlines: Vec<Inline>,
    /// What the body being written can see.
    pub scope: Vec<Var>,
    pub block_names: Vec<String>,
    pub fresh: usize,
    /// Labels made up on the way.
    pub waits: usize,
    /// Statements with inner structure still allowed in this body.
    pub budget: usize,
    pub has_xrxs: bool,
    pub exclusive: Option<(usize, usize, usize, bool)>,
    /// Sends and receives (proctype, channel, whether it sends) that should occur, so that channels have two ends.
    pub duties: Vec<(usize, usize, bool)>,
    /// Processes that will exist at most.
    pub instances: usize,
    pub macro_const: Option<(String, usize)>,
    pub macro_inc: Option<String>,
    pub macro_is: Option<String>,
    /// Variables of the message structure's type.
    pub structs: Vec<String>,
    pub struct_fields: Vec<(String, Ty)>,
    /// The fields shared by all channels that references may denote.
    pub group: Vec<Field>,
    pub group_rendezvous: bool,
    /// Processes may ask whether others can move.
    pub ask: Option<Ask>,
}

impl<'a> Gen<'a> {
    pub fn new(seed: u64, options: &'a Options) -> Gen<'a> {
        let mut rng = Rng::new(seed);
        let mut on = Switches::draw(&mut rng, &options.without);
        let layout = Layout::draw(&mut rng);
        let may_fault = match options.faults {
            Faults::Never => false,
            Faults::Sometimes => rng.chance(8),
            Faults::Always => true,
        };
        let mut fault = None;
        if may_fault {
            let mut kinds = vec!["fault-index", "fault-chan", "fault-params", "fault-D_proctype"];
            let d_step = !options.without.contains(&"d_step");
            if d_step {
                kinds.push("fault-d_step");
            }
            if d_step && !on.has("priority") && !options.without.contains(&"rendezvous") {
                kinds.push("fault-rv-d_step");
            }
            fault = Some(*rng.pick(&kinds));
            if fault == Some("fault-index") {
                on.force("array");
            }
        }
        Gen {
            rng,
            options,
            on,
            layout,
            features: BTreeSet::new(),
            may_fault,
            fault,
            mtypes: Vec::new(),
            globals: Vec::new(),
            arrays: Vec::new(),
            chans: Vec::new(),
            procs: Vec::new(),
            inlines: Vec::new(),
            scope: Vec::new(),
            block_names: Vec::new(),
            fresh: 0,
            waits: 0,
            budget: 0,
            has_xrxs: false,
            exclusive: None,
            duties: Vec::new(),
            instances: 0,
            macro_const: None,
            macro_inc: None,
            macro_is: None,
            structs: Vec::new(),
            struct_fields: Vec::new(),
            group: Vec::new(),
            group_rendezvous: false,
            ask: Ask::draw(seed, options),
        }
    }

    pub fn uses(&mut self, feature: &'static str) {
        debug_assert!(FEATURES.contains(&feature), "{feature}");
        self.features.insert(feature);
    }

    pub fn used(&self, feature: &str) -> bool {
        self.features.contains(feature)
    }

    /// The model, and the binary logarithm of a guess at its number of states.
    pub fn model(mut self, seed: u64) -> (Model, f64) {
        let mut text = format!("/* random model, seed {seed} */\n");
        self.plan_procs();
        self.macros(&mut text);
        self.declare(&mut text);
        self.plan_asks();
        self.declare_inlines(&mut text);
        let mut bodies = Vec::new();
        for p in 0..self.procs.len() {
            let mut body = String::new();
            self.proctype(p, &mut body);
            bodies.push(body);
        }
        if let Some(kind) = self.fault {
            // No body offered a place: a process of its own commits the error.
            let mut body = "active proctype Faulty() {\n".to_string();
            let ctx = Ctx::body(usize::MAX);
            self.enter_scope(usize::MAX);
            let stmt = self.fault_stmt(kind, &ctx).unwrap_or_else(|| {
                self.uses("fault-chan");
                body.insert_str(0, "chan absent;\n");
                Stmt::plain("absent!1")
            });
            self.layout.body(1, vec![stmt], &mut body);
            body += "}\n";
            bodies.push(body);
            self.uses("active");
        }
        let guess = self.guess(&bodies);
        let claims = self.claims();
        text += &bodies.join("\n");
        text += &claims;
        if self.layout.by_newline {
            self.uses("newline-separators");
        }
        (Model { text, features: self.features.into_iter().collect(), may_fault: self.may_fault }, guess)
    }

    /// Places of control, local values and counters of all processes, as if everything were independent. Globals add
    /// little: all models have about as many.
    fn guess(&self, bodies: &[String]) -> f64 {
        let count = |p: &Proc| match p.start {
            Start::Active(n) => n,
            Start::Init => 1,
            Start::Run => 0,
        };
        let mut bits = 0.0;
        for (p, body) in self.procs.iter().zip(bodies) {
            let call = format!("run {}(", p.name);
            let runs = self.procs.iter().zip(bodies).map(|(q, text)| count(q) * text.matches(&call).count());
            let instances = count(p) + runs.sum::<usize>();
            let lines = body.lines().filter(|l| l.contains(|c: char| c.is_ascii_alphanumeric())).count();
            let written = p.locals.iter().filter(|v| {
                let name = v.text.split('\u{1}').next().unwrap_or_default();
                body.lines().skip(1).any(|l| is_written(l, name))
            });
            let blocks =
                (0..4).filter(|k| body.contains(&format!(" b{k} = ")) || body.contains(&format!(" b{k};"))).count();
            let places = ((lines + body.matches(" -> ").count()) as f64).log2();
            let values = 0.7 * (written.count() + blocks) as f64;
            bits += instances as f64 * (places + values + body.matches("for (").count() as f64);
        }
        bits
    }

    /// Which proctypes exist and how they start. Bodies come later, but labels, locals and parameters are fixed now,
    /// so that any body can refer to them.
    fn plan_procs(&mut self) {
        let n = self.rng.weighted(&[0, 8, 60, 32]);
        let with_init = self.on.has("init");
        let with_run = self.on.has("run");
        for p in 0..n {
            let start = if with_init && p == n - 1 {
                Start::Init
            } else if with_run && p == 0 && n > 1 {
                Start::Run
            } else if self.instances < 2 && self.rng.chance(25) {
                Start::Active(2)
            } else {
                Start::Active(1)
            };
            self.instances += match start {
                Start::Active(k) => k,
                Start::Init => 1,
                Start::Run => 0,
            };
            let name = if start == Start::Init { "init".to_string() } else { ["P", "Q", "R"][p].to_string() };
            self.procs.push(Proc {
                name,
                start,
                deterministic: start != Start::Init && self.on.has("D_proctype") && self.rng.chance(60),
                params: Vec::new(),
                labels: Vec::new(),
                locals: Vec::new(),
                arrays: Vec::new(),
                decls: Vec::new(),
                counters: Vec::new(),
                jumps_back: false,
                pid: None,
            });
        }
        if self.instances < 2 && !with_run {
            self.on.off("rendezvous");
        }
        if !self.procs.iter().any(|p| p.start == Start::Run) {
            self.on.off("run");
        }
        if self.fault == Some("fault-D_proctype")
            && let Some(p) = self.procs.iter_mut().find(|p| p.start != Start::Init)
        {
            // Its body is written without regard for determinism.
            p.name.insert(0, 'D');
        }
        let mut pid = 0;
        for p in 0..self.procs.len() {
            match self.procs[p].start {
                Start::Active(k) => {
                    // With `run` in the model a dead process's number may belong to another type.
                    self.procs[p].pid = (!self.on.has("run")).then_some(pid);
                    pid += k;
                }
                Start::Init => pid += 1,
                Start::Run => {}
            }
            let n_labels = if self.on.has("goto") || self.on.has("remote") || self.on.has("end-label") {
                self.rng.range(1, 2)
            } else {
                0
            };
            for i in 0..n_labels {
                let prefix = match self.rng.weighted(&[60, if self.on.has("end-label") { 60 } else { 0 }, 12, 12]) {
                    0 => "L",
                    1 => {
                        self.uses("end-label");
                        "end"
                    }
                    2 => {
                        self.uses("accept-label");
                        "accept_"
                    }
                    _ => {
                        self.uses("progress-label");
                        "progress"
                    }
                };
                self.procs[p].labels.push((format!("{prefix}{i}"), false));
                self.uses("label");
            }
            self.procs[p].jumps_back = self.on.has("goto") && self.rng.chance(60);
        }
    }

    pub fn plan_locals(&mut self, p: usize) {
        if self.procs[p].start != Start::Run && self.on.has("priority") {
            self.procs[p].decls.push("byte pq".into());
        }
        if self.procs[p].start == Start::Run {
            for i in 0..self.rng.below(3) {
                let name = format!("p{i}");
                if self.on.has("chan-ref") && !self.group.is_empty() && self.rng.chance(50) {
                    self.uses("run-chan");
                    self.chans.push(Chan {
                        text: name.clone(),
                        cap: if self.group_rendezvous { 0 } else { 1 },
                        fields: self.group.clone(),
                        senders: None,
                        receivers: None,
                        local_to: Some(p),
                        is_ref: true,
                    });
                    self.procs[p].params.push((name, Param::Chan));
                } else {
                    let ty = *self.rng.pick(&[Ty::Byte, Ty::Byte, Ty::Bit, Ty::Int]);
                    self.type_name(ty);
                    self.procs[p].locals.push(Var {
                        text: name.clone(),
                        ty,
                        modulus: 2,
                        readable: true,
                        writable: true,
                        in_array: false,
                        owner: None,
                    });
                    self.procs[p].params.push((name, Param::Value(ty)));
                }
            }
        }
        for i in 0..self.rng.range(0, 2) {
            let ty = if i == 0 && self.rng.chance(60) { Ty::Byte } else { self.any_type() };
            let (decl, var) = self.scalar(&format!("x{i}"), ty);
            self.procs[p].decls.push(decl);
            self.procs[p].locals.push(var);
        }
        if self.on.has("array") && self.rng.chance(20) {
            self.uses("local-array");
            let ty = *self.rng.pick(&[Ty::Byte, Ty::Bit, Ty::Int]);
            let word = self.type_name(ty);
            let init = self.array_init(ty, 2);
            self.procs[p].decls.push(format!("{word} la[2]{init}"));
            self.procs[p].arrays.push(Array { name: "la".into(), size: 2 });
            let text = format!("la{}", hole(2));
            self.procs[p].locals.push(Var {
                text,
                ty,
                modulus: 2,
                readable: true,
                writable: true,
                in_array: true,
                owner: None,
            });
        }
        let fields = self.group.clone();
        if self.on.has("chan-local") && !fields.is_empty() && !fields.contains(&Field::Chan) && self.rng.chance(50) {
            self.uses("chan-local");
            let cap = if self.group_rendezvous { 0 } else { 1 };
            let words = self.fields_text(&fields);
            self.procs[p].decls.push(format!("chan lc = [{cap}] of {{ {words} }}"));
            self.chans.push(Chan {
                text: "lc".into(),
                cap,
                fields,
                senders: None,
                receivers: None,
                local_to: Some(p),
                is_ref: false,
            });
        }
        if (self.on.has("chan-ref") || self.on.has("chan-in-chan"))
            && self.rng.chance(70)
            && let Some(name) = self.referable()
        {
            self.uses("chan-ref");
            self.procs[p].decls.push(format!("chan r0 = {name}"));
            let (cap, fields) = (if self.group_rendezvous { 0 } else { 1 }, self.group.clone());
            self.chans.push(Chan {
                text: "r0".into(),
                cap,
                fields,
                senders: None,
                receivers: None,
                local_to: Some(p),
                is_ref: true,
            });
        }
        if self.struct_fields.is_empty() || !self.rng.chance(50) {
            return;
        }
        self.procs[p].decls.push("Msg lm".into());
        for (name, ty) in self.struct_fields.clone() {
            self.procs[p].locals.push(Var {
                text: format!("lm.{name}"),
                ty,
                modulus: 2,
                readable: true,
                writable: true,
                in_array: false,
                owner: None,
            });
        }
    }

    /// Picks a channel, a proctype that alone sends and one that alone receives.
    pub fn plan_exclusive(&mut self) {
        if !self.on.has("xr-xs") {
            return;
        }
        // A reference could reach the channel behind the promise's back.
        let referred = self.on.has("chan-ref") || self.on.has("chan-in-chan");
        let candidates = (0..self.chans.len())
            .filter(|&c| {
                let chan = &self.chans[c];
                chan.cap > 0
                    && chan.local_to.is_none()
                    && !chan.text.contains(['\u{1}', '.'])
                    && !(referred && chan.fields == self.group)
            })
            .collect::<Vec<_>>();
        if candidates.is_empty() {
            return;
        }
        let c = *self.rng.pick(&candidates);
        let (Some(sender), Some(receiver)) = (self.single_proc(), self.single_proc()) else { return };
        let honest = self.rng.chance(75);
        if honest {
            self.chans[c].senders = Some(vec![sender]);
            self.chans[c].receivers = Some(vec![receiver]);
        } else {
            self.uses("xr-xs-dishonest");
        }
        self.has_xrxs = true;
        self.exclusive = Some((c, sender, receiver, honest));
    }

    /// For each channel one proctype that sends and another, if there is one, that receives.
    pub fn plan_duties(&mut self) {
        let n = self.procs.len();
        for c in 0..self.chans.len() {
            let chan = self.chans[c].clone();
            let (sender, receiver) = match chan.local_to {
                Some(_) if chan.is_ref => continue,
                Some(p) if chan.cap > 0 => (p, p),
                Some(_) => continue,
                None => {
                    let sender = self.rng.below(n);
                    (sender, (sender + if n > 1 { self.rng.range(1, n - 1) } else { 0 }) % n)
                }
            };
            let sender = chan.senders.as_ref().map_or(sender, |s| s[0]);
            let receiver = chan.receivers.as_ref().map_or(receiver, |r| r[0]);
            self.duties.push((sender, c, true));
            self.duties.push((receiver, c, false));
        }
    }

    /// Makes everything visible that the body of `p` may use.
    pub fn enter_scope(&mut self, p: usize) {
        self.scope = self.globals.iter().filter(|v| v.owner.is_none_or(|o| o == p)).cloned().collect();
        if let Some(proc) = self.procs.get(p) {
            // Locals are worth more than their number suggests: they are what differs between processes.
            self.scope.extend(proc.locals.iter().cloned());
        }
        self.block_names.clear();
    }

    fn proctype(&mut self, p: usize, text: &mut String) {
        self.enter_scope(p);
        let deterministic = self.procs[p].deterministic;
        let careless = self.procs[p].name.starts_with('D');
        let mut head = String::new();
        match self.procs[p].start {
            Start::Active(1) => {
                self.uses("active");
                head += "active ";
            }
            Start::Active(n) => {
                self.uses("active-many");
                let _ = write!(head, "active [{n}] ");
            }
            Start::Run => {}
            Start::Init => self.uses("init"),
        }
        if self.procs[p].start == Start::Init {
            head += "init";
        } else {
            if deterministic || careless {
                self.uses("D_proctype");
            }
            if careless {
                self.uses("fault-D_proctype");
                self.fault = None;
            }
            head += if deterministic || careless { "D_proctype " } else { "proctype " };
            let params = self.procs[p].params.iter().map(|(name, kind)| match kind {
                Param::Value(Ty::Bit) => format!("bit {name}"),
                Param::Value(Ty::Int) => format!("int {name}"),
                Param::Value(_) => format!("byte {name}"),
                Param::Chan => format!("chan {name}"),
            });
            let noted = (self.on.has("priority") && self.procs[p].start == Start::Run).then(|| "byte pq".to_string());
            let params = noted.into_iter().chain(params).collect::<Vec<_>>();
            let _ = write!(head, "{}({})", self.procs[p].name, params.join("; "));
        }
        if self.on.has("priority") && self.rng.chance(60) {
            self.uses("priority");
            let _ = write!(head, " priority {}", self.rng.range(1, 3));
        }
        if self.procs[p].start != Start::Init && self.on.has("provided") && self.rng.chance(60) {
            self.uses("provided");
            let scope = std::mem::take(&mut self.scope);
            self.scope = self
                .globals
                .iter()
                .filter(|v| v.owner.is_none() && v.readable && !v.text.contains('\u{1}'))
                .cloned()
                .collect();
            let cond = self.comparison();
            let cond = self.asking(&Ctx::body(p), cond);
            self.scope = scope;
            let _ = write!(head, " provided ({cond})");
        }
        let body = self.proc_body(p);
        text.push_str(&head);
        *text += " {\n";
        self.layout.body(1, body, text);
        *text += "}\n";
    }
}
