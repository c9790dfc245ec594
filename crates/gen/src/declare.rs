//! What a model declares in front of its bodies: macros, mtypes, structures, variables, channels, inlines.
//!
//! Each declaration is text for the model and an entry in `Gen`, from which bodies choose later.

use crate::print::Stmt;
use crate::stmt::Ctx;
use crate::world::{Array, Chan, Field, Gen, Inline, Start, Ty, Var, hole};
use std::fmt::Write as _;

impl Gen<'_> {
    pub fn macros(&mut self, text: &mut String) {
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

    pub fn declare(&mut self, text: &mut String) {
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

    pub fn array_init(&mut self, ty: Ty, size: usize) -> String {
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
    pub fn single_proc(&mut self) -> Option<usize> {
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

    pub fn fields_text(&mut self, fields: &[Field]) -> String {
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

    pub fn declare_inlines(&mut self, text: &mut String) {
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
}
