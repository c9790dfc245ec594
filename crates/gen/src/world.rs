//! What a model declares, and the frame of the model around its bodies.

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

    fn macros(&mut self, text: &mut String) {
        if self.on.has("comment") && self.rng.chance(50) {
            self.uses("comment-line");
            *text += "// small on purpose: everything is counted\n";
        }
        if !self.on.has("define") {
            return;
        }
        self.uses("define");
        let k = self.rng.range(2, 3);
        let _ = writeln!(text, "#define K {k}");
        self.macro_const = Some(("K".to_string(), k));
        if self.rng.chance(60) {
            self.uses("define-args");
            *text += "#define INC(v) v = (v + 1) % K\n";
            self.macro_inc = Some("INC".to_string());
        }
        if self.rng.chance(60) {
            self.uses("define-args");
            *text += "#define IS(v, w) ((v) == (w))\n";
            self.macro_is = Some("IS".to_string());
        }
    }

    fn declare(&mut self, text: &mut String) {
        self.declare_mtypes(text);
        self.declare_structs(text);
        let n = self.rng.range(2, 3);
        for i in 0..n {
            let name = format!("g{i}");
            let ty = if i == 0 { Ty::Byte } else { self.any_type() };
            let owner = if self.on.has("local") { self.single_proc() } else { None };
            if i > 0 && owner.is_some() && self.rng.chance(50) {
                self.uses("local");
                *text += "local ";
                self.declare_scalar(&name, ty, text, |g, v| g.globals.push(Var { owner, ..v }));
                continue;
            }
            if self.on.has("show") && self.rng.chance(50) {
                self.uses("show");
                *text += "show ";
            }
            self.declare_scalar(&name, ty, text, |g, v| g.globals.push(v));
        }
        if self.on.has("hidden") {
            self.uses("hidden");
            *text += "hidden byte h0;\n";
            let readable = self.options.disputed;
            self.globals.push(Var {
                text: "h0".into(),
                ty: Ty::Byte,
                modulus: 3,
                readable,
                writable: true,
                in_array: false,
                owner: None,
            });
        }
        if self.on.has("priority") {
            *text += "byte pz;\n";
        }
        if self.on.has("array") {
            self.declare_array("a0", text);
            if self.instances < 3 && self.rng.chance(30) {
                self.declare_array("a1", text);
            }
        }
        if self.on.has("cpp-if") {
            self.uses("cpp-ifdef");
            let (test, feature) = if self.macro_const.is_some() && self.rng.chance(50) {
                ("#ifdef K", "define")
            } else {
                ("#ifndef ABSENT", "cpp-ifdef")
            };
            self.uses(feature);
            let _ = writeln!(text, "{test}\nbyte gx = 1;\n#else\nbyte gx = 2, unused;\n#endif");
            self.globals.push(Var {
                text: "gx".into(),
                ty: Ty::Byte,
                modulus: 2,
                readable: true,
                writable: true,
                in_array: false,
                owner: None,
            });
        }
        self.declare_chans(text);
        if self.fault == Some("fault-chan") {
            *text += "chan none;\n";
            // SPIN refuses a send with more fields than any channel has, and overlooks the error without buffers.
            if !self.chans.iter().any(|c| c.cap > 0) {
                *text += "chan spare = [1] of { byte };\n";
            }
        }
        if matches!(self.fault, Some("fault-params")) {
            *text += "chan pair = [1] of { byte, byte };\n";
        }
        if self.fault == Some("fault-rv-d_step") {
            self.uses("rendezvous");
            *text += "chan meet = [0] of { byte };\n";
        }
        for p in 0..self.procs.len() {
            self.plan_locals(p);
        }
        self.plan_exclusive();
        self.plan_duties();
        text.push('\n');
    }

    fn declare_mtypes(&mut self, text: &mut String) {
        if !self.on.has("mtype") {
            return;
        }
        self.uses("mtype");
        let mut names = vec!["red", "green", "blue"];
        names.truncate(self.rng.range(2, 3));
        let eq = if self.rng.chance(80) { "= " } else { "" };
        let _ = writeln!(text, "mtype {eq}{{ {} }};", names.join(", "));
        self.mtypes.push((None, names.iter().map(|s| s.to_string()).collect()));
        if self.on.has("mtype-set") {
            self.uses("mtype-set");
            *text += "mtype:fruit = { apple, pear };\n";
            self.mtypes.push((Some("fruit".into()), vec!["apple".into(), "pear".into()]));
        }
        if self.rng.chance(20) {
            *text += "mtype = { black };\n";
            self.mtypes[0].1.push("black".into());
        }
    }

    fn declare_structs(&mut self, text: &mut String) {
        if self.on.has("struct-message") {
            self.struct_fields = vec![("x".into(), Ty::Byte)];
            if self.rng.chance(60) {
                let ty = *self.rng.pick(&[Ty::Bit, Ty::Byte, Ty::Int]);
                self.struct_fields.push(("y".into(), ty));
            }
            let fields = self
                .struct_fields
                .clone()
                .iter()
                .map(|(n, t)| format!("{} {n}", self.type_name(*t)))
                .collect::<Vec<_>>()
                .join("; ");
            let _ = writeln!(text, "typedef Msg {{ {fields} }};");
            self.uses("typedef");
            *text += "Msg m0;\n";
            self.structs.push("m0".into());
            for (name, ty) in self.struct_fields.clone() {
                self.globals.push(Var {
                    text: format!("m0.{name}"),
                    ty,
                    modulus: 2,
                    readable: true,
                    writable: true,
                    in_array: false,
                    owner: None,
                });
            }
        }
        if !self.on.has("typedef") {
            return;
        }
        self.uses("typedef");
        let mut leaves: Vec<(String, Ty, bool)> = Vec::new();
        let mut fields = vec![format!("byte f{}", if self.rng.chance(30) { " = 1" } else { "" })];
        leaves.push(("f".into(), Ty::Byte, false));
        if self.rng.chance(50) {
            self.uses("typedef-array");
            let ty = *self.rng.pick(&[Ty::Byte, Ty::Bit, Ty::Short]);
            fields.push(format!("{} e[2]", self.type_name(ty)));
            leaves.push((format!("e{}", hole(2)), ty, true));
        }
        if self.rng.chance(40) {
            fields.push("bit b".into());
            self.uses("bit");
            leaves.push(("b".into(), Ty::Bit, false));
        }
        let chan = self.on.has("typedef-chan") && (self.on.has("buffered") || self.on.has("rendezvous"));
        let cap = usize::from(self.on.has("buffered"));
        if chan {
            self.uses("typedef-chan");
            self.uses(if cap == 0 { "rendezvous" } else { "buffered" });
            fields.push(format!("chan c = [{cap}] of {{ byte }}"));
        }
        let by_line = self.rng.chance(30);
        let _ = if by_line {
            writeln!(text, "typedef T {{\n    {};\n}};", fields.join(";\n    "))
        } else {
            writeln!(text, "typedef T {{ {} }};", fields.join("; "))
        };
        let mut outer = "T";
        if self.rng.chance(35) {
            self.uses("typedef-nested");
            *text += "typedef U { T t; byte z };\n";
            outer = "U";
            leaves = leaves.into_iter().map(|(n, t, a)| (format!("t.{n}"), t, a)).collect();
            leaves.push(("z".into(), Ty::Byte, false));
        }
        let many = self.rng.chance(30);
        if many {
            self.uses("array-of-typedef");
        }
        let _ = writeln!(text, "{outer} s0{};", if many { "[2]" } else { "" });
        let prefix = if many { format!("s0{}", hole(2)) } else { "s0".into() };
        if chan {
            let inner = if outer == "U" { "t.c" } else { "c" };
            self.chans.push(Chan {
                text: format!("{prefix}.{inner}"),
                cap,
                fields: vec![Field::Byte],
                senders: None,
                receivers: None,
                local_to: None,
                is_ref: false,
            });
        }
        for (leaf, ty, in_array) in leaves {
            self.globals.push(Var {
                text: format!("{prefix}.{leaf}"),
                ty,
                modulus: 2,
                readable: true,
                writable: true,
                in_array,
                owner: None,
            });
        }
    }

    fn declare_array(&mut self, name: &str, text: &mut String) {
        self.uses("array");
        let ty = *self.rng.pick(&[Ty::Byte, Ty::Byte, Ty::Bool, Ty::Bit, Ty::Short, Ty::Int]);
        let size = if self.instances < 3 { self.rng.range(2, 3) } else { 2 };
        let ty_name = self.type_name(ty);
        let init = self.array_init(ty, size);
        let bound = if size == 3 && self.rng.chance(30) { "2 + 1".to_string() } else { size.to_string() };
        let _ = writeln!(text, "{ty_name} {name}[{bound}]{init};");
        self.arrays.push(Array { name: name.into(), size });
        let modulus = 2;
        self.globals.push(Var {
            text: format!("{name}{}", hole(size)),
            ty,
            modulus,
            readable: true,
            writable: true,
            in_array: true,
            owner: None,
        });
    }

    fn array_init(&mut self, ty: Ty, size: usize) -> String {
        match self.rng.below(4) {
            0 => {
                self.uses("array-init");
                " = 1".into()
            }
            1 => {
                self.uses("array-list");
                let high = if ty.is_bit() { 1 } else { 2 };
                let values = (0..size).map(|_| self.rng.below(high + 1).to_string()).collect::<Vec<_>>();
                format!(" = {{ {} }}", values.join(", "))
            }
            _ => String::new(),
        }
    }

    pub fn any_type(&mut self) -> Ty {
        loop {
            let ty = match self.rng.weighted(&[18, 18, 36, 8, 10, 8, 5, 14]) {
                0 => Ty::Bit,
                1 => Ty::Bool,
                2 => Ty::Byte,
                3 => Ty::Short,
                4 => Ty::Int,
                5 => Ty::Unsigned(self.rng.range(1, 2)),
                6 => Ty::Pid,
                _ => Ty::Mtype(if self.mtypes.is_empty() { 0 } else { self.rng.below(self.mtypes.len()) }),
            };
            let possible = match ty {
                Ty::Mtype(_) => !self.mtypes.is_empty(),
                Ty::Unsigned(_) => self.on.has("unsigned"),
                _ => true,
            };
            if possible {
                return ty;
            }
        }
    }

    /// The type's word; notes that it is used.
    pub fn type_name(&mut self, ty: Ty) -> String {
        let word = match ty {
            Ty::Bit => "bit",
            Ty::Bool => "bool",
            Ty::Byte => "byte",
            Ty::Short => "short",
            Ty::Int => "int",
            Ty::Unsigned(_) => "unsigned",
            Ty::Pid => "pid",
            Ty::Mtype(set) => {
                if let Some(name) = self.mtypes[set].0.clone() {
                    return format!("mtype:{name}");
                }
                "mtype"
            }
        };
        self.uses(word);
        word.into()
    }

    /// Writes `type name = init;` and hands the variable over.
    fn declare_scalar(&mut self, name: &str, ty: Ty, text: &mut String, keep: impl FnOnce(&mut Self, Var)) {
        let (decl, var) = self.scalar(name, ty);
        *text += &decl;
        *text += ";\n";
        keep(self, var);
    }

    pub fn scalar(&mut self, name: &str, ty: Ty) -> (String, Var) {
        let word = self.type_name(ty);
        let width = if let Ty::Unsigned(bits) = ty { format!(" : {bits}") } else { String::new() };
        let init = match ty {
            Ty::Mtype(set) if self.rng.chance(70) => format!(" = {}", self.mtype_name(set)),
            Ty::Mtype(_) => String::new(),
            _ if self.rng.chance(65) => String::new(),
            Ty::Bool => [" = true", " = false"][self.rng.below(2)].into(),
            Ty::Short | Ty::Int if self.on.has("negative") => {
                self.uses("negative");
                " = -1".into()
            }
            _ => " = 1".into(),
        };
        let modulus = if self.rng.chance(70) { 2 } else { 3 };
        let var = Var { text: name.into(), ty, modulus, readable: true, writable: true, in_array: false, owner: None };
        (format!("{word} {name}{width}{init}"), var)
    }

    pub fn mtype_name(&mut self, set: usize) -> String {
        let i = self.rng.below(self.mtypes[set].1.len());
        self.mtypes[set].1[i].clone()
    }

    /// A proctype of which at most one process ever exists.
    fn single_proc(&mut self) -> Option<usize> {
        let single = (0..self.procs.len())
            .filter(|&p| matches!(self.procs[p].start, Start::Active(1) | Start::Init))
            .collect::<Vec<_>>();
        if single.is_empty() { None } else { Some(*self.rng.pick(&single)) }
    }

    fn fields(&mut self) -> Vec<Field> {
        let n = self.rng.weighted(&[0, 60, 32, 8]);
        (0..n)
            .map(|i| {
                match self.rng.weighted(&[
                    45,
                    15,
                    6,
                    8,
                    5,
                    if self.mtypes.is_empty() {
                        0
                    } else if i == 0 {
                        60
                    } else {
                        15
                    },
                ]) {
                    0 => Field::Byte,
                    1 => Field::Bit,
                    2 => Field::Short,
                    3 => Field::Int,
                    4 => Field::Pid,
                    _ => Field::Mtype(self.rng.below(self.mtypes.len())),
                }
            })
            .collect()
    }

    fn fields_text(&mut self, fields: &[Field]) -> String {
        let words = fields
            .iter()
            .map(|f| match f {
                Field::Bit => "bit".to_string(),
                Field::Byte => "byte".into(),
                Field::Short => "short".into(),
                Field::Int => "int".into(),
                Field::Pid => "pid".into(),
                Field::Mtype(set) => match &self.mtypes[*set].0 {
                    Some(name) => format!("mtype:{name}"),
                    None => "mtype".into(),
                },
                Field::Chan => "chan".into(),
                Field::Struct => "Msg".into(),
            })
            .collect::<Vec<_>>();
        words.join(", ")
    }

    fn declare_chan(&mut self, name: &str, size: Option<usize>, cap: usize, fields: Vec<Field>, text: &mut String) {
        self.uses(if cap == 0 { "rendezvous" } else { "buffered" });
        let index = size.map(|n| format!("[{n}]")).unwrap_or_default();
        let words = self.fields_text(&fields);
        let _ = writeln!(text, "chan {name}{index} = [{cap}] of {{ {words} }};");
        let place = format!("{name}{}", size.map(hole).unwrap_or_default());
        self.chans.push(Chan {
            text: place,
            cap,
            fields,
            senders: None,
            receivers: None,
            local_to: None,
            is_ref: false,
        });
    }

    fn declare_chans(&mut self, text: &mut String) {
        let (buffered, rendezvous) = (self.on.has("buffered"), self.on.has("rendezvous"));
        if !buffered && !rendezvous {
            return;
        }
        let cap = |g: &mut Self| if g.rng.chance(70) { 1 } else { 2 };
        let main = self.fields();
        if buffered {
            let cap = cap(self);
            self.declare_chan("q0", None, cap, main.clone(), text);
        }
        if rendezvous {
            let fields = if buffered { self.fields() } else { main.clone() };
            self.declare_chan("c0", None, 0, fields.clone(), text);
            if self.rng.chance(25) {
                self.declare_chan("c1", None, 0, fields, text);
            }
        }
        if self.on.has("chan-array") {
            self.uses("chan-array");
            let cap = if buffered { 1 } else { 0 };
            let fields = self.fields();
            self.declare_chan("qa", Some(2), cap, fields, text);
        }
        if buffered && self.rng.chance(20) {
            let (cap, fields) = (cap(self), self.fields());
            self.declare_chan("q1", None, cap, fields, text);
        }
        if buffered && self.on.has("struct-message") {
            self.uses("struct-message");
            let cap = cap(self);
            self.declare_chan("qs", None, cap, vec![Field::Struct], text);
        }
        // References denote q0, or c0 in a model without buffers, and their likes.
        self.group = main.clone();
        self.group_rendezvous = !buffered;
        if self.on.has("chan-in-chan") {
            self.uses("chan-in-chan");
            if self.rng.chance(50) {
                self.declare_chan("q2", None, if buffered { 1 } else { 0 }, main, text);
            }
            let fields = if self.rng.chance(30) { vec![Field::Byte, Field::Chan] } else { vec![Field::Chan] };
            let cap = if buffered && self.rng.chance(60) {
                1
            } else if rendezvous {
                0
            } else {
                1
            };
            self.declare_chan("qc", None, cap, fields, text);
        }
    }

    /// The name of a channel that references may denote.
    pub fn referable(&mut self) -> Option<String> {
        let names = self.chans.iter().filter(|c| {
            c.fields == self.group
                && (c.cap == 0) == self.group_rendezvous
                && c.local_to.is_none()
                && !c.text.contains(['\u{1}', '.'])
                && !c.is_ref
        });
        let names = names.map(|c| c.text.clone()).collect::<Vec<_>>();
        if names.is_empty() { None } else { Some(self.rng.pick(&names).clone()) }
    }

    fn plan_locals(&mut self, p: usize) {
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
    fn plan_exclusive(&mut self) {
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
    fn plan_duties(&mut self) {
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

    fn declare_inlines(&mut self, text: &mut String) {
        if !self.on.has("inline") {
            return;
        }
        self.uses("inline");
        let n_params = self.rng.range(0, 2);
        let names = ["v", "w"];
        let params = (0..n_params).map(|i| i == 0).collect::<Vec<_>>();
        self.scope = self.globals.iter().filter(|v| v.owner.is_none()).cloned().collect();
        for (i, writable) in params.iter().enumerate() {
            self.scope.push(Var {
                text: names[i].into(),
                ty: Ty::Byte,
                modulus: 2,
                readable: true,
                writable: *writable,
                in_array: false,
                owner: None,
            });
        }
        let io = self.rng.chance(30) && !self.has_xrxs;
        let ctx = Ctx { inline: true, nonblock: !io, ..Ctx::body(usize::MAX) };
        self.budget = 2;
        let mut body = Vec::new();
        if self.rng.chance(30) {
            self.uses("inline-local");
            body.push(Stmt::Decl("byte il".into()));
            self.scope.push(Var {
                text: "il".into(),
                ty: Ty::Byte,
                modulus: 2,
                readable: true,
                writable: true,
                in_array: false,
                owner: None,
            });
        }
        let n = self.rng.range(1, 2);
        body.extend(self.sequence(&ctx, n));
        if self.rng.chance(70) {
            let _ = writeln!(text, "inline step({}) {{", names[..n_params].join(", "));
            self.layout.with_separators().body(1, body, text);
            *text += "}\n";
            self.inlines.push(Inline { name: "step".into(), params, returns: false, uses_io: io });
        }
        if self.rng.chance(50) || self.inlines.is_empty() {
            let _ = writeln!(text, "inline next(v) {{\n    return (v + 1) % 2\n}}");
            self.inlines.push(Inline { name: "next".into(), params: vec![false], returns: true, uses_io: false });
        }
        text.push('\n');
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
