//! Declarations and names.
//!
//! One flat namespace for globals, proctypes, typedefs and mtype names; locals by block, without shadowing. A block
//! variable lives as long as its process, so every declaration has slots of its own.

use super::{Lower, MAX_CAPACITY, MAX_SLOTS};
use crate::ast::{self, Ident, Program, TypeKind, Unit, Visibility};
use spinor_model::diagnostic::Diagnostic;
use spinor_model::ir::{
    ChanDecl, Expr, Frame, Init, MAX_LIVE, MtypeId, MtypeSet, Place, ProctypeId, Promise, Record, Scope, Shape, Type,
    Var, VarId,
};
use spinor_model::source::Span;
use std::collections::HashMap;
use std::sync::Arc;

/// A frame in the making, and the names visible in it.
#[derive(Clone, Debug, Default)]
pub(super) struct FrameBuilder {
    pub frame: Frame,
    /// Slots of variables and messages together, for the limit.
    pub total_slots: u64,
    /// Innermost last.
    pub scopes: Vec<HashMap<Arc<str>, VarId>>,
}

#[derive(Clone, Debug)]
pub(super) struct Body {
    pub name: Arc<str>,
    pub frame: FrameBuilder,
    pub promises: Vec<Promise>,
}

impl Body {
    pub fn new(name: Arc<str>) -> Body {
        let frame = FrameBuilder { scopes: vec![HashMap::new()], ..FrameBuilder::default() };
        Body { name, frame, promises: vec![] }
    }
}

/// What a call of a proctype needs to know.
#[derive(Clone, Debug)]
pub(super) struct Sig {
    pub id: ProctypeId,
    /// One per parameter slot.
    pub params: Vec<Type>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub(super) struct RecordDef {
    pub record: Arc<Record>,
    pub span: Span,
    /// By slot of the record: what it holds at first.
    pub inits: Vec<(u32, FieldInit)>,
}

#[derive(Clone, Debug)]
pub(super) enum FieldInit {
    Value(Type, Expr),
    Chan { capacity: u32, fields: Vec<Type>, suffix: String },
}

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    Var(Scope, VarId),
    Mtype(MtypeId, i32),
}

impl Lower {
    /// Reads every declaration outside the bodies.
    pub fn collect(&mut self, program: &Program) {
        let mut proctypes: Vec<&ast::Proctype> = Vec::new();
        // Types and mtype names first: declarations may use those that come later in the text.
        for unit in &program.units {
            match unit {
                Unit::Mtype(m) => self.declare_mtypes(m),
                Unit::Typedef(t) => self.declare_record(t),
                _ => {}
            }
        }
        self.globals.scopes.push(HashMap::new());
        for unit in &program.units {
            match unit {
                Unit::Decl(d) => self.declare_globals(d),
                Unit::Proctype(p) => {
                    if let Some(old) = self.declared_global(&p.name.name) {
                        self.redeclared(&p.name, old);
                        continue;
                    }
                    let id = ProctypeId(proctypes.len() as u32);
                    let sig = Sig { id, params: vec![], span: p.name.span };
                    self.proctypes.insert(p.name.name.clone(), sig);
                    proctypes.push(p);
                }
                _ => {}
            }
        }
        for p in proctypes {
            let mut params = Vec::new();
            for d in &p.params {
                for v in &d.vars {
                    if let Some(shape) = self.shape(&d.ty, v.width.as_ref(), None) {
                        shape.leaves(&mut |_, ty| params.push(ty));
                    }
                }
            }
            self.proctypes.get_mut(&p.name.name).expect("just inserted").params = params;
        }
        let mut remote = Vec::new();
        ast::walk_exprs(program, &mut |e| {
            if let ast::ExprKind::RemoteLabel { proctype, label, .. } = &e.kind {
                remote.push((proctype.name.clone(), label.name.clone()));
            }
        });
        self.remote_labels.extend(remote);
    }

    fn redeclared(&mut self, name: &Ident, old: Span) {
        // Types and mtype names are read first; the order that matters here is that of the text.
        let swapped = old.file == name.span.file && old.lo > name.span.lo;
        let (first, again) = if swapped { (name.span, old) } else { (old, name.span) };
        self.report(
            Diagnostic::error("P0101", format!("`{}` is declared twice", name.name))
                .at(again, "declared again here")
                .label(first, "first declared here")
                .help("Promela has no shadowing: choose another name"),
        );
    }

    /// The place where a global name was declared, whatever it is.
    fn declared_global(&self, name: &str) -> Option<Span> {
        if let Some(id) = self.globals.scopes.first().and_then(|s| s.get(name)) {
            return Some(self.globals.frame.vars[*id].span);
        }
        if let Some((_, _, span)) = self.mtype_consts.get(name) {
            return Some(*span);
        }
        if let Some(record) = self.records.get(name) {
            return Some(record.span);
        }
        self.proctypes.get(name).map(|s| s.span)
    }

    fn declare_mtypes(&mut self, m: &ast::MtypeDecl) {
        let set = match &m.set {
            None => MtypeId(0),
            Some(name) => match self.mtype_set_named(&name.name) {
                Some(id) => id,
                None => self.mtypes.push(MtypeSet { name: name.name.to_string(), names: vec![] }),
            },
        };
        let first = self.mtypes[set].names.len();
        if first + m.names.len() > 255 {
            self.report(
                Diagnostic::error("P0324", format!("{} names in one mtype set", first + m.names.len()))
                    .at(m.span, "")
                    .help("an mtype value is a byte: at most 255 names fit a set; make a second, named set"),
            );
            return;
        }
        // The last name of a declaration has the smallest number.
        for (n, name) in m.names.iter().rev().enumerate() {
            if let Some(old) = self.declared_global(&name.name) {
                self.redeclared(name, old);
            }
            self.mtypes[set].names.push(name.name.to_string());
            self.mtype_consts.insert(name.name.clone(), (set, (first + n + 1) as i32, name.span));
        }
    }

    fn mtype_set_named(&self, name: &str) -> Option<MtypeId> {
        self.mtypes.enumerated().find(|(_, s)| s.name == name).map(|(id, _)| id)
    }

    fn declare_record(&mut self, t: &ast::Typedef) {
        if let Some(old) = self.declared_global(&t.name.name) {
            self.redeclared(&t.name, old);
            return;
        }
        let mut fields: Vec<(String, Shape)> = Vec::new();
        let mut inits = Vec::new();
        let mut slot = 0u64;
        for d in &t.fields {
            for v in &d.vars {
                if fields.iter().any(|(n, _)| *n == *v.name.name) {
                    self.redeclared(&v.name, t.name.span);
                    continue;
                }
                let Some(shape) = self.shape(&d.ty, v.width.as_ref(), v.array.as_ref()) else { continue };
                let n_slots = shape.n_slots();
                if slot + n_slots > MAX_SLOTS {
                    self.too_large(v.span, slot + n_slots);
                    return;
                }
                self.field_inits(&v.name.name, &shape, v, slot as u32, &mut inits);
                slot += n_slots;
                fields.push((v.name.name.to_string(), shape));
            }
        }
        let record = Arc::new(Record { name: t.name.name.to_string(), fields });
        self.records.insert(t.name.name.clone(), RecordDef { record, span: t.name.span, inits });
    }

    /// What the slots of one variable hold at first: its own initialiser, or those of its record's fields.
    fn field_inits(&mut self, name: &str, shape: &Shape, v: &ast::DeclVar, at: u32, out: &mut Vec<(u32, FieldInit)>) {
        let mut leaves = Vec::new();
        shape.leaves(&mut |suffix, ty| leaves.push((suffix.to_string(), ty)));
        match &v.init {
            None => self.nested_inits(name, shape, at, out),
            Some(ast::Init::Expr(e)) if record_of(shape).is_some() => {
                self.report(
                    Diagnostic::warning("P0341", format!("`{name}` is a record: its initial value is ignored"))
                        .at(e.span, "not used")
                        .help("give the fields their values in the typedef, or assign them"),
                );
                self.nested_inits(name, shape, at, out);
            }
            Some(ast::Init::Expr(e)) => {
                let value = self.expr(e);
                for (n, (_, ty)) in leaves.iter().enumerate() {
                    out.push((at + n as u32, FieldInit::Value(*ty, value.clone())));
                }
            }
            Some(ast::Init::List(values, span)) => {
                if values.len() > leaves.len() {
                    self.report(
                        Diagnostic::warning("P0326", format!("{} values for {} elements", values.len(), leaves.len()))
                            .at(*span, "the values after the last element are dropped"),
                    );
                }
                // The last value given stands for the elements without one.
                let values: Vec<Expr> = values.iter().map(|e| self.expr(e)).collect();
                for (n, (_, ty)) in leaves.iter().enumerate() {
                    let Some(value) = values.get(n).or(values.last()) else { break };
                    out.push((at + n as u32, FieldInit::Value(*ty, value.clone())));
                }
            }
            Some(ast::Init::Chan(c)) => {
                let Some((capacity, fields)) = self.channel(c) else { return };
                for (n, (suffix, ty)) in leaves.iter().enumerate() {
                    if *ty != Type::Chan {
                        self.report(
                            Diagnostic::error("P0303", format!("`{name}` is not a channel"))
                                .at(v.name.span, "not declared `chan`")
                                .label(c.span, "a channel is made here"),
                        );
                        return;
                    }
                    let suffix = format!("{name}{suffix}");
                    out.push((at + n as u32, FieldInit::Chan { capacity, fields: fields.clone(), suffix }));
                }
            }
        }
    }

    fn nested_inits(&mut self, name: &str, shape: &Shape, at: u32, out: &mut Vec<(u32, FieldInit)>) {
        match shape {
            Shape::Scalar(_) => {}
            Shape::Array(n, of) => {
                let stride = of.n_slots() as u32;
                for i in 0..*n {
                    if matches!(**of, Shape::Scalar(_)) {
                        break;
                    }
                    self.nested_inits(&format!("{name}[{i}]"), of, at + i * stride, out);
                }
            }
            Shape::Record(r) => {
                let Some(def) = self.records.get(r.name.as_str()) else { return };
                for (slot, init) in def.inits.clone() {
                    let init = match init {
                        FieldInit::Chan { capacity, fields, suffix } => {
                            FieldInit::Chan { capacity, fields, suffix: format!("{name}.{suffix}") }
                        }
                        value => value,
                    };
                    out.push((at + slot, init));
                }
            }
        }
    }

    /// Capacity and fields of a channel.
    fn channel(&mut self, c: &ast::ChanInit) -> Option<(u32, Vec<Type>)> {
        let capacity = self.constant(&c.capacity)?;
        if !(0..=MAX_CAPACITY).contains(&capacity) {
            self.report(
                Diagnostic::error("P0305", format!("a channel with {capacity} slots"))
                    .at(c.capacity.span, "out of range")
                    .help(format!("a channel holds 0 to {MAX_CAPACITY} messages")),
            );
            return None;
        }
        if capacity == 0 {
            self.has_rendezvous.get_or_insert(c.span);
        }
        let mut fields = Vec::new();
        for f in &c.fields {
            if let Some(shape) = self.shape(f, None, None) {
                shape.leaves(&mut |_, ty| fields.push(ty));
            }
        }
        Some((capacity as u32, fields))
    }

    fn too_large(&mut self, span: Span, slots: u64) {
        self.report(
            Diagnostic::error("P0306", format!("{slots} values are too many for one state"))
                .at(span, "this is the declaration that goes over")
                .help(format!("at most {MAX_SLOTS} values fit; make the array or the channel smaller")),
        );
    }

    /// The shape a declaration gives a variable.
    pub fn shape(&mut self, ty: &ast::TypeRef, width: Option<&ast::Expr>, array: Option<&ast::Expr>) -> Option<Shape> {
        let scalar = match &ty.kind {
            TypeKind::Bit => Type::Bit,
            TypeKind::Bool => Type::Bool,
            TypeKind::Byte => Type::Byte,
            TypeKind::Pid => Type::Pid,
            TypeKind::Short => Type::Short,
            TypeKind::Int => Type::Int,
            TypeKind::Chan => Type::Chan,
            TypeKind::Unsigned => {
                let Some(width) = width else {
                    self.report(
                        Diagnostic::error("P0333", "an `unsigned` needs its number of bits")
                            .at(ty.span, "")
                            .help("write `unsigned x : 5` for a value of five bits"),
                    );
                    return None;
                };
                match self.constant(width)? {
                    n @ 1..=31 => Type::Unsigned(n as u8),
                    n => {
                        self.report(
                            Diagnostic::error("P0333", format!("an unsigned value of {n} bits"))
                                .at(width.span, "out of range")
                                .help("1 to 31 bits; a whole word is an `int`"),
                        );
                        return None;
                    }
                }
            }
            TypeKind::Mtype(None) => Type::Mtype(MtypeId(0)),
            TypeKind::Mtype(Some(name)) => match self.mtype_set_named(&name.name) {
                Some(id) => Type::Mtype(id),
                None => {
                    self.report(
                        Diagnostic::error("P0107", format!("there is no mtype set `{}`", name.name))
                            .at(name.span, "not declared")
                            .help(format!("declare it: `mtype:{} = {{ … }}`", name.name)),
                    );
                    return None;
                }
            },
            TypeKind::Named(name) => match self.records.get(&name.name) {
                Some(def) => {
                    let shape = Shape::Record(def.record.clone());
                    return self.arrayed(shape, array);
                }
                None => {
                    self.report(
                        Diagnostic::error("P0106", format!("there is no type `{}`", name.name))
                            .at(name.span, "not declared before this line")
                            .help("a typedef must stand above its first use"),
                    );
                    return None;
                }
            },
        };
        if let (Some(w), false) = (width, matches!(ty.kind, TypeKind::Unsigned)) {
            self.report(
                Diagnostic::error("P0333", "only `unsigned` takes a number of bits").at(w.span, "not allowed here"),
            );
        }
        self.arrayed(Shape::Scalar(scalar), array)
    }

    fn arrayed(&mut self, shape: Shape, array: Option<&ast::Expr>) -> Option<Shape> {
        let Some(size) = array else { return Some(shape) };
        let n = self.constant(size)?;
        if n < 1 {
            self.report(
                Diagnostic::error("P0305", format!("an array of {n} elements"))
                    .at(size.span, "out of range")
                    .help("an array has at least one element"),
            );
            return None;
        }
        if n as u64 * shape.n_slots() > MAX_SLOTS {
            self.too_large(size.span, n as u64 * shape.n_slots());
            return None;
        }
        Some(Shape::Array(n as u32, Box::new(shape)))
    }

    fn declare_globals(&mut self, d: &ast::Decl) {
        let hidden = matches!(d.visibility, Some((Visibility::Hidden, _)));
        for v in &d.vars {
            if let Some(old) = self.declared_global(&v.name.name) {
                self.redeclared(&v.name, old);
                continue;
            }
            let Some(shape) = self.shape(&d.ty, v.width.as_ref(), v.array.as_ref()) else {
                self.poison(&v.name);
                continue;
            };
            let mut inits = Vec::new();
            let at = self.globals.frame.n_slots;
            self.field_inits(&v.name.name, &shape, v, at, &mut inits);
            let mut frame = std::mem::take(&mut self.globals);
            self.add_var(&mut frame, &v.name, shape, hidden);
            self.add_inits(&mut frame, inits, v.span);
            self.globals = frame;
        }
    }

    /// A name whose declaration failed: its uses are not reported again.
    fn poison(&mut self, name: &Ident) {
        self.poisoned.insert(name.name.clone());
    }

    fn add_var(&mut self, frame: &mut FrameBuilder, name: &Ident, shape: Shape, hidden: bool) -> VarId {
        let slot = frame.frame.n_slots;
        frame.total_slots += shape.n_slots();
        if frame.total_slots > MAX_SLOTS {
            self.too_large(name.span, frame.total_slots);
        }
        frame.frame.n_slots += shape.n_slots().min(MAX_SLOTS) as u32;
        let var = Var { name: name.name.to_string(), shape, slot, hidden, span: name.span };
        let id = frame.frame.vars.push(var);
        frame.scopes.last_mut().expect("a scope").insert(name.name.clone(), id);
        id
    }

    fn add_inits(&mut self, frame: &mut FrameBuilder, inits: Vec<(u32, FieldInit)>, span: Span) {
        for (slot, init) in inits {
            match init {
                FieldInit::Value(ty, value) => frame.frame.inits.push(Init::Value { slot, ty, value, span }),
                FieldInit::Chan { capacity, fields, suffix } => {
                    frame.total_slots += 1 + u64::from(capacity) * fields.len() as u64;
                    if frame.total_slots > MAX_SLOTS {
                        self.too_large(span, frame.total_slots);
                        return;
                    }
                    if frame.frame.chans.len() >= MAX_LIVE {
                        self.report(
                            Diagnostic::error("P0305", format!("more than {MAX_LIVE} channels"))
                                .at(span, "this declaration goes over"),
                        );
                        return;
                    }
                    let chan = frame.frame.chans.len() as u32;
                    frame.frame.chans.push(ChanDecl { name: suffix, capacity, fields, span });
                    frame.frame.inits.push(Init::Chan { slot, chan });
                }
            }
        }
    }

    pub fn declare_params(&mut self, d: &ast::Decl) {
        for v in &d.vars {
            self.declare_local_name(&v.name);
            match self.shape(&d.ty, v.width.as_ref(), None) {
                Some(shape) => {
                    let mut frame = std::mem::take(&mut self.body().frame);
                    self.add_var(&mut frame, &v.name, shape, false);
                    self.body().frame = frame;
                }
                None => self.poison(&v.name),
            }
        }
    }

    fn declare_local_name(&mut self, name: &Ident) {
        let body = self.body();
        let old = body.frame.scopes.iter().find_map(|s| s.get(&name.name)).map(|id| body.frame.frame.vars[*id].span);
        if let Some(old) = old.or_else(|| self.declared_global(&name.name)) {
            self.redeclared(name, old);
        }
    }

    /// A local: initialised with the process (`early`), or by the statements returned, one per variable.
    pub fn declare_local(&mut self, d: &ast::Decl, v: &ast::DeclVar, early: bool) -> Option<Vec<(Place, Expr)>> {
        self.declare_local_name(&v.name);
        let Some(shape) = self.shape(&d.ty, v.width.as_ref(), v.array.as_ref()) else {
            self.poison(&v.name);
            return None;
        };
        if !early && let Some(ast::Init::Chan(c)) = &v.init {
            self.report(
                Diagnostic::error("P0319", format!("channel `{}` is made after the first statement", v.name.name))
                    .at(c.span, "a process makes its channels when it starts")
                    .help("move the declaration to the top of the body"),
            );
        }
        let mut inits = Vec::new();
        let at = self.body().frame.frame.n_slots;
        self.field_inits(&v.name.name, &shape, v, at, &mut inits);
        let mut frame = std::mem::take(&mut self.body().frame);
        let var = self.add_var(&mut frame, &v.name, shape.clone(), false);
        let mut out = Vec::new();
        if early {
            self.add_inits(&mut frame, inits, v.span);
        } else {
            let mut given: HashMap<u32, Expr> = HashMap::new();
            for (slot, init) in inits {
                if let FieldInit::Value(_, value) = init {
                    given.insert(slot, value);
                }
            }
            let mut slot = at;
            shape.leaves(&mut |_, ty| {
                let value = given.remove(&slot).unwrap_or(Expr::Const(0));
                out.push((Place { scope: Scope::Local, var, slot, ty, index: vec![] }, value));
                slot += 1;
            });
        }
        self.body().frame = frame;
        Some(out)
    }

    /// The counter of the loops over channels in this block: one for all of them, as SPIN has it, so that what an ended
    /// loop leaves behind tells no states apart.
    pub fn loop_counter(&mut self, span: Span) -> Place {
        let ident = Ident { name: "_for".into(), span };
        let known = self.body().frame.scopes.last().and_then(|s| s.get(&ident.name)).copied();
        let mut frame = std::mem::take(&mut self.body().frame);
        let var = known.unwrap_or_else(|| self.add_var(&mut frame, &ident, Shape::Scalar(Type::Byte), false));
        let slot = frame.frame.vars[var].slot;
        self.body().frame = frame;
        Place { scope: Scope::Local, var, slot, ty: Type::Byte, index: vec![] }
    }

    pub fn lookup(&self, name: &str) -> Option<Meaning> {
        if let Some(body) = &self.body
            && let Some(id) = body.frame.scopes.iter().rev().find_map(|s| s.get(name))
        {
            return Some(Meaning::Var(Scope::Local, *id));
        }
        if let Some(id) = self.globals.scopes.first().and_then(|s| s.get(name)) {
            return Some(Meaning::Var(Scope::Global, *id));
        }
        self.mtype_consts.get(name).map(|(set, value, _)| Meaning::Mtype(*set, *value))
    }

    pub fn var(&self, scope: Scope, id: VarId) -> &Var {
        match scope {
            Scope::Global => &self.globals.frame.vars[id],
            Scope::Local => &self.body.as_ref().expect("inside a body").frame.frame.vars[id],
        }
    }

    /// A declared name that the user may have meant.
    pub fn similar(&self, name: &str) -> Option<(String, Span)> {
        let locals = self
            .body
            .iter()
            .flat_map(|b| b.frame.scopes.iter().flatten().map(|(n, id)| (n.to_string(), b.frame.frame.vars[*id].span)));
        let globals = self.globals.scopes.iter().flatten();
        let globals = globals.map(|(n, id)| (n.to_string(), self.globals.frame.vars[*id].span));
        let consts = self.mtype_consts.iter().map(|(n, (_, _, span))| (n.to_string(), *span));
        closest(name, locals.chain(globals).chain(consts))
    }

    pub fn similar_proctype(&self, name: &str) -> Option<(String, Span)> {
        closest(name, self.proctypes.iter().map(|(n, s)| (n.to_string(), s.span)))
    }

    pub fn n_active(&mut self, p: &ast::Proctype) -> i32 {
        match (&p.active, p.kind) {
            (_, ast::ProcKind::Init) | (Some(None), _) => 1,
            (None, _) => 0,
            (Some(Some(n)), _) => {
                let span = n.span;
                match self.constant(n) {
                    Some(n) if n >= 0 && n as usize <= 4 * MAX_LIVE => n,
                    Some(n) => {
                        self.report(
                            Diagnostic::error("P0321", format!("{n} active processes")).at(span, "out of range"),
                        );
                        0
                    }
                    None => 0,
                }
            }
        }
    }
}

fn record_of(shape: &Shape) -> Option<&Record> {
    match shape {
        Shape::Scalar(_) => None,
        Shape::Array(_, of) => record_of(of),
        Shape::Record(r) => Some(r),
    }
}

/// The nearest name by edit distance, if it is near enough to be a slip of the finger.
pub(crate) fn closest(name: &str, names: impl Iterator<Item = (String, Span)>) -> Option<(String, Span)> {
    let allowed = match name.chars().count() {
        0..=2 => 1,
        3..=5 => 2,
        _ => 3,
    };
    names
        .filter(|(n, _)| n != name && n.len() < 64 && name.len() < 64)
        .map(|(n, s)| (distance(name, &n), n, s))
        .filter(|(d, n, _)| *d <= allowed && *d < n.chars().count())
        .min_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)))
        .map(|(_, n, s)| (n, s))
}

fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut diagonal = row[0];
        row[0] = i;
        for j in 1..=b.len() {
            let cost = if a[i - 1] == b[j - 1] { diagonal } else { 1 + diagonal.min(row[j]).min(row[j - 1]) };
            diagonal = row[j];
            row[j] = cost;
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::distance;

    #[test]
    fn swapped_letters_are_near() {
        assert_eq!(distance("lokced", "locked"), 2);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("same", "same"), 0);
    }
}
