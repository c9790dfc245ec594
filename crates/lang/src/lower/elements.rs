//! A body as the list of its elements.
//!
//! SPIN numbers the parts of a body in the order in which its parser finishes them, and a process always stands at
//! one of these parts. Trails name the numbers, `pc_value` returns them, and two parts are two control states, so we
//! number the same way. Found by experiment on 6.5.2:
//!
//! | text | elements, in order |
//! |---|---|
//! | a statement, `else`, `goto L`, `break` | one |
//! | `if … fi` | those of the options, the head, the join |
//! | `do … od` | those of the options, the head, the join, the exit |
//! | `{ … }`, an inline call, `atomic`, `d_step` | those of the body, the head |
//! | `{ M } unless { E }` | those of M, those of E, two more; other mains have their head after E |
//! | `for` | `i = a`, `i <= b`, the body, `i = i + 1`, `else`, a jump, head, join, exit |
//! | a declaration after the first statement | one assignment per variable |
//! | a label with nothing after it | one `skip` |
//! | an `end`, `accept` or `progress` label on a jump | the jump, then a `skip` before it |
//! | the closing brace | one |
//!
//! Jumps, joins and exits are passed through when a statement is done, except inside an `atomic` when the next
//! stop lies outside of it (graph.rs).

use super::Lower;
use super::loops::{Loop, at_most};
use crate::ast::{self, Seq, Stmt, StmtKind};
use spinor_model::diagnostic::Diagnostic;
use spinor_model::index::IndexVec;
use spinor_model::ir::{Effect, Expr, Guard, Promise};
use spinor_model::source::Span;
use std::collections::HashMap;
use std::sync::Arc;

spinor_model::index_types! {
    /// An element of the body being lowered.
    El "el",
}

#[derive(Clone, Debug)]
pub(super) struct Element {
    pub kind: Kind,
    /// Where control goes when it is done.
    pub next: Option<El>,
    /// SPIN's number of the control state, from 1 in each body.
    pub number: u32,
    /// SPIN's number of the statement, over the whole model.
    pub stmt: u32,
    /// Inside an `atomic`, the last element included.
    pub in_atomic: bool,
    /// Inside an `atomic` and not its last element: the process keeps the floor.
    pub atomic: bool,
    /// First elements of the escapes around it, innermost first.
    pub escapes: Vec<El>,
    pub labels: Vec<Arc<str>>,
    /// The `d_step` it is inside of.
    pub d_step: Option<u32>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    Stmt {
        guards: Vec<Guard>,
        effects: Vec<Effect>,
        trivial: Trivial,
    },
    Jump(Jump),
    /// `if`, `do`, a block, an `atomic`: control stands here and takes the first statements of these
    Head(Vec<El>),
    /// A `d_step` and the first element of its body.
    DStep {
        first: El,
        number: u32,
    },
    /// The point where a `d_step` is left.
    DStepExit {
        of: El,
    },
    /// Takes a number and nothing else.
    Nothing,
    /// The closing brace.
    End,
}

/// What control passes through on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Jump {
    /// `goto` and `break`
    Goto,
    /// where the options of a selection, or the parts of an `unless`, come together
    Join,
    /// where a loop is left
    Exit,
}

/// Statements that some rule treats apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trivial {
    /// exactly the constant 1
    True,
    /// exactly the constant 0
    False,
    Print,
    Else,
    No,
}

pub(super) struct Elements {
    pub list: IndexVec<El, Element>,
    pub first: El,
    pub end: El,
}

/// Elements that follow each other: where control comes in, and the ends from which it goes on.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub entry: El,
    pub exits: Vec<El>,
}

/// A body while its elements are made.
pub(super) struct Builder<'a> {
    pub lower: &'a mut Lower,
    pub list: IndexVec<El, Element>,
    n_numbers: u32,
    /// The jumps that leave each enclosing loop.
    pub breaks: Vec<Vec<El>>,
    atomics: u32,
    pub d_steps: Vec<u32>,
    n_d_steps: u32,
    /// `goto`s and where they want to go.
    gotos: Vec<(El, ast::Ident, usize)>,
    /// Labels by the block they stand in; 0 is the body itself.
    label_scopes: Vec<LabelScope>,
    scope: usize,
    /// How many inlines we are inside of.
    pub inlines: u32,
    /// No statement has been seen: declarations are still done when the process starts.
    prologue: bool,
}

struct LabelScope {
    parent: usize,
    labels: HashMap<Arc<str>, (El, Span)>,
}

impl Lower {
    pub fn elements(&mut self, body: &Seq, span: Span) -> Elements {
        let mut b = Builder {
            lower: self,
            list: IndexVec::new(),
            n_numbers: 0,
            breaks: vec![],
            atomics: 0,
            d_steps: vec![],
            n_d_steps: 0,
            gotos: vec![],
            label_scopes: vec![LabelScope { parent: 0, labels: HashMap::new() }],
            scope: 0,
            inlines: 0,
            prologue: true,
        };
        let items = b.seq(body);
        let close = if body.close == Span::default() { span } else { body.close };
        let end = b.add(Kind::End, close);
        b.link(&items, end);
        let first = items.first().map_or(end, |i| i.entry);
        b.settle_gotos();
        Elements { list: b.list, first, end }
    }
}

impl Builder<'_> {
    pub fn add(&mut self, kind: Kind, span: Span) -> El {
        self.n_numbers += 1;
        let stmt = self.lower.next_stmt;
        self.lower.next_stmt += 1;
        self.list.push(Element {
            kind,
            next: None,
            number: self.n_numbers,
            stmt,
            in_atomic: false,
            atomic: false,
            escapes: vec![],
            labels: vec![],
            d_step: self.d_steps.last().copied(),
            span,
        })
    }

    pub fn add_stmt(&mut self, guards: Vec<Guard>, effects: Vec<Effect>, trivial: Trivial, span: Span) -> El {
        self.add(Kind::Stmt { guards, effects, trivial }, span)
    }

    pub fn add_jump(&mut self, span: Span) -> El {
        self.add(Kind::Jump(Jump::Goto), span)
    }

    pub fn add_join(&mut self, span: Span) -> El {
        self.add(Kind::Jump(Jump::Join), span)
    }

    fn one(&mut self, el: El) -> Vec<Item> {
        vec![Item { entry: el, exits: vec![el] }]
    }

    pub fn link(&mut self, items: &[Item], to: El) {
        if let Some(last) = items.last() {
            for e in last.exits.clone() {
                self.list[e].next = Some(to);
            }
        }
    }

    /// The elements of a sequence, linked one after the other.
    fn seq(&mut self, seq: &Seq) -> Vec<Item> {
        let mut items: Vec<Item> = Vec::new();
        for stmt in &seq.stmts {
            for item in self.labelled(stmt) {
                self.link(&items, item.entry);
                items.push(item);
            }
        }
        items
    }

    /// A sequence in braces: names declared in it end with it, and its labels are its own.
    pub fn scoped(&mut self, seq: &Seq) -> Vec<Item> {
        self.prologue = false;
        self.lower.body().frame.scopes.push(HashMap::new());
        let outer = self.scope;
        self.label_scopes.push(LabelScope { parent: outer, labels: HashMap::new() });
        self.scope = self.label_scopes.len() - 1;
        let items = self.seq(seq);
        self.scope = outer;
        self.lower.body().frame.scopes.pop();
        items
    }

    fn inline(&mut self, body: &Seq) -> Vec<Item> {
        self.inlines += 1;
        let items = self.scoped(body);
        self.inlines -= 1;
        items
    }

    fn labelled(&mut self, stmt: &Stmt) -> Vec<Item> {
        let mut labels = stmt.labels.clone();
        if labels.is_empty() && !matches!(stmt.kind, StmtKind::Unless { .. }) {
            return self.stmt(stmt);
        }
        match &stmt.kind {
            StmtKind::Unless { main, escape } => {
                labels.extend(main.labels.iter().cloned());
                if labels.is_empty() {
                    return self.unless(main, escape, stmt.span, false);
                }
                match &main.kind {
                    // A label in front of `{ … } unless` marks a head of its own.
                    StmtKind::Block(_) | StmtKind::Inline { .. } => {
                        let items = self.unless(main, escape, stmt.span, false);
                        let head = self.add(Kind::Head(vec![items[0].entry]), stmt.span);
                        self.label(head, &labels);
                        vec![Item { entry: head, exits: items[0].exits.clone() }]
                    }
                    StmtKind::Atomic(_) => {
                        let items = self.unless(main, escape, stmt.span, true);
                        self.label(items[0].entry, &labels);
                        items
                    }
                    _ => {
                        let items = self.unless(main, escape, stmt.span, false);
                        self.label(items[0].entry, &labels);
                        items
                    }
                }
            }
            StmtKind::LabelOnly => {
                self.prologue = false;
                let el = self.add_stmt(vec![], vec![], Trivial::True, labels[0].span);
                self.label(el, &labels);
                self.one(el)
            }
            StmtKind::Goto(_) | StmtKind::Break => {
                let marks = labels.iter().any(|l| is_mark(&l.name));
                let asked = labels.iter().any(|l| {
                    let key = (self.lower.body().name.clone(), l.name.clone());
                    self.lower.remote_labels.contains(&key)
                });
                let items = self.stmt(stmt);
                let jump = items[0].entry;
                if !marks && !asked {
                    self.label(jump, &labels);
                    return items;
                }
                // The label must mark a place where a process can stand.
                let skip = self.add_stmt(vec![], vec![], Trivial::True, stmt.span);
                self.label(skip, &labels[..1]);
                // A jump to a further label finds the jump itself; what such a label marks is still this place.
                self.label(jump, &labels[1..]);
                let further = std::mem::take(&mut self.list[jump].labels);
                self.list[skip].labels.extend(further);
                self.list[skip].next = Some(jump);
                if !marks {
                    // SPIN makes this jump when it meets the reference; the skip has the number.
                    let (skip_nr, jump_nr) = (self.list[skip].number, self.list[jump].number);
                    self.list[skip].number = jump_nr;
                    self.list[jump].number = skip_nr;
                    let (skip_id, jump_id) = (self.list[skip].stmt, self.list[jump].stmt);
                    self.list[skip].stmt = jump_id;
                    self.list[jump].stmt = skip_id;
                }
                vec![Item { entry: skip, exits: vec![skip] }, Item { entry: jump, exits: vec![] }]
            }
            _ => {
                let items = self.stmt(stmt);
                if let Some(last) = items.last() {
                    // `L: for …` marks the loop, not the assignment in front of it.
                    let entry = last.entry;
                    self.label(entry, &labels);
                }
                items
            }
        }
    }

    fn label(&mut self, el: El, labels: &[ast::Ident]) {
        for l in labels {
            self.list[el].labels.push(l.name.clone());
            let old = self.label_scopes[self.scope].labels.insert(l.name.clone(), (el, l.span));
            if let Some((_, old)) = old {
                self.lower.report(
                    Diagnostic::error("P0105", format!("label `{}` stands twice in this body", l.name))
                        .at(l.span, "again here")
                        .label(old, "first here"),
                );
            }
        }
    }

    fn stmt(&mut self, stmt: &Stmt) -> Vec<Item> {
        let span = stmt.span;
        if !matches!(stmt.kind, StmtKind::Decl(_) | StmtKind::Exclusive { .. }) {
            self.prologue = false;
        }
        match &stmt.kind {
            StmtKind::Decl(d) => self.decl(d),
            StmtKind::Exclusive { send, chans } => {
                for v in chans {
                    if let Expr::Read(chan) = self.lower.chan(v) {
                        if !chan.index.is_empty() {
                            self.lower.report(
                                Diagnostic::error("P0337", "a promise names one channel")
                                    .at(v.span, "not an element that changes"),
                            );
                        }
                        self.lower.body().promises.push(Promise { send: *send, chan, span: v.span });
                    }
                }
                vec![]
            }
            StmtKind::If(options) => {
                let items = self.options(options);
                self.selection(options, items, span)
            }
            StmtKind::Do(options) => {
                self.breaks.push(vec![]);
                let items = self.options(options);
                self.repetition(options, items, span)
            }
            StmtKind::Break => {
                let jump = self.add_jump(span);
                match self.breaks.last_mut() {
                    Some(breaks) => breaks.push(jump),
                    None => {
                        let why = if self.d_steps.is_empty() {
                            "no `do` or `for` around it"
                        } else {
                            "no `do` or `for` around it inside the d_step"
                        };
                        self.lower.report(
                            Diagnostic::error("P0108", "`break` outside a loop")
                                .at(span, why)
                                .help("use `goto` to leave something else"),
                        );
                    }
                }
                vec![Item { entry: jump, exits: vec![] }]
            }
            StmtKind::Goto(label) => {
                let jump = self.add_jump(span);
                self.gotos.push((jump, label.clone(), self.scope));
                vec![Item { entry: jump, exits: vec![] }]
            }
            StmtKind::Block(seq) => {
                let items = self.scoped(seq);
                self.head(items, span)
            }
            StmtKind::Inline { body, .. } => {
                let items = self.inline(body);
                self.head(items, span)
            }
            StmtKind::Atomic(seq) => {
                let inside = self.atomic_body(seq);
                vec![self.atomic_head(inside, span)]
            }
            StmtKind::DStep(seq) => self.d_step(seq, span),
            StmtKind::Unless { main, escape } => self.unless(main, escape, span, false),
            StmtKind::ForRange { var, from, to, body, steps } => {
                let Some(place) = self.lower.place(var) else { return self.nothing(span) };
                let (from, to) = (self.lower.expr(from), self.lower.expr(to));
                let test = at_most(&place, to);
                self.for_loop(Loop { var: place, from, test, each: vec![], body, span, at: *steps })
            }
            StmtKind::ForIn { var, over, body } => self.for_in(var, over, body, span),
            StmtKind::Select { var, from, to, literal } => self.select(var, from, to, *literal, span),
            StmtKind::C(c) => {
                self.lower.refuse_c(c);
                self.nothing(span)
            }
            StmtKind::Error | StmtKind::LabelOnly => self.nothing(span),
            _ => {
                let (guards, effects, trivial) = self.simple(&stmt.kind, span);
                let el = self.add_stmt(guards, effects, trivial, span);
                self.one(el)
            }
        }
    }

    /// Something that could not be lowered: an error is out, control passes.
    pub fn nothing(&mut self, span: Span) -> Vec<Item> {
        let el = self.add_stmt(vec![], vec![], Trivial::No, span);
        self.one(el)
    }

    fn decl(&mut self, d: &ast::Decl) -> Vec<Item> {
        let mut items = Vec::new();
        for v in &d.vars {
            let assigned = self.lower.declare_local(d, v, self.prologue);
            if self.prologue {
                continue;
            }
            let effects =
                assigned.unwrap_or_default().into_iter().map(|(to, value)| Effect::Assign { to, value }).collect();
            let el = self.add_stmt(vec![], effects, Trivial::No, v.span);
            if let Some(last) = items.last() {
                let last: &Item = last;
                for e in last.exits.clone() {
                    self.list[e].next = Some(el);
                }
            }
            items.push(Item { entry: el, exits: vec![el] });
        }
        items
    }

    fn options(&mut self, options: &[Seq]) -> Vec<Vec<Item>> {
        options
            .iter()
            .map(|o| {
                if let Some(Stmt { kind: StmtKind::Unless { .. }, span, .. }) = o.stmts.first()
                    && options.len() > 1
                {
                    self.lower.report(
                        Diagnostic::warning("P0338", "`unless` on the first statement of an option")
                            .at(*span, "while the process waits here, the escape goes before all options")
                            .help("put the `unless` around the whole `if` or `do`, or a statement before it"),
                    );
                }
                let items = self.seq(o);
                if items.is_empty() { self.nothing(o.span) } else { items }
            })
            .collect()
    }

    /// The first elements of the options that can ever run, `else` last.
    fn firsts(&mut self, options: &[Seq], items: &mut [Vec<Item>]) -> Vec<El> {
        items.iter_mut().for_each(|i| self.thin(i));
        let mut firsts = Vec::new();
        let mut elses = Vec::new();
        for (option, item) in options.iter().zip(items) {
            let first = item[0].entry;
            match self.trivial(first) {
                Trivial::False if self.d_steps.is_empty() => {}
                Trivial::Else => elses.push((first, option.span)),
                _ => firsts.push(first),
            }
        }
        if elses.len() > 1 {
            self.lower.report(
                Diagnostic::error("P0310", "two `else` in one selection")
                    .at(self.list[elses[1].0].span, "the second")
                    .label(self.list[elses[0].0].span, "the first"),
            );
        }
        firsts.extend(elses.first().map(|(e, _)| *e));
        firsts
    }

    fn trivial(&self, el: El) -> Trivial {
        match &self.list[el].kind {
            Kind::Stmt { trivial, .. } => *trivial,
            _ => Trivial::No,
        }
    }

    /// In an option, a `skip` right after a `skip` or a `printf` is dropped, unless it is the last. A claim keeps it: there it
    /// lets the system take a step.
    fn thin(&mut self, items: &mut Vec<Item>) {
        if self.lower.in_claim {
            return;
        }
        let mut i = 1;
        while i + 1 < items.len() {
            let plain =
                |b: &Self, el: El, kinds: &[Trivial]| kinds.contains(&b.trivial(el)) && b.list[el].labels.is_empty();
            if plain(self, items[i].entry, &[Trivial::True])
                && plain(self, items[i - 1].entry, &[Trivial::True, Trivial::Print])
            {
                let next = items[i + 1].entry;
                for e in items[i - 1].exits.clone() {
                    self.list[e].next = Some(next);
                }
                items.remove(i);
            } else {
                i += 1;
            }
        }
    }

    fn selection(&mut self, options: &[Seq], mut items: Vec<Vec<Item>>, span: Span) -> Vec<Item> {
        let firsts = self.firsts(options, &mut items);
        let head = self.add(Kind::Head(firsts), span);
        let join = self.add_join(span);
        items.iter().for_each(|i| self.link(i, join));
        vec![Item { entry: head, exits: vec![join] }]
    }

    fn repetition(&mut self, options: &[Seq], mut items: Vec<Vec<Item>>, span: Span) -> Vec<Item> {
        let breaks = self.breaks.pop().expect("the loop's own");
        let firsts = self.firsts(options, &mut items);
        let head = self.add(Kind::Head(firsts), span);
        let join = self.add_join(span);
        let exit = self.add(Kind::Jump(Jump::Exit), span);
        self.list[join].next = Some(head);
        items.iter().for_each(|i| self.link(i, head));
        for b in breaks {
            self.list[b].next = Some(exit);
        }
        vec![Item { entry: head, exits: vec![exit] }]
    }

    /// A block: control stands before it, not before its first statement.
    fn head(&mut self, items: Vec<Item>, span: Span) -> Vec<Item> {
        let items = if items.is_empty() { self.nothing(span) } else { items };
        let head = self.add(Kind::Head(vec![items[0].entry]), span);
        vec![Item { entry: head, exits: items.last().expect("not empty").exits.clone() }]
    }

    fn atomic_body(&mut self, seq: &Seq) -> (Vec<Item>, std::ops::Range<usize>) {
        self.atomics += 1;
        let start = self.list.len();
        let mut items = self.scoped(seq);
        if items.is_empty() {
            items = self.nothing(seq.span);
        }
        self.atomics -= 1;
        (items, start..self.list.len())
    }

    fn atomic_head(&mut self, (items, inside): (Vec<Item>, std::ops::Range<usize>), span: Span) -> Item {
        let outermost = self.atomics == 0 && self.d_steps.is_empty();
        let head = self.add(Kind::Head(vec![items[0].entry]), span);
        let last = items.last().expect("not empty").clone();
        if outermost {
            for n in inside {
                let e = &mut self.list[El(n as u32)];
                e.atomic = true;
                e.in_atomic = true;
            }
            let ends = if last.exits.is_empty() { vec![last.entry] } else { last.exits.clone() };
            for e in ends {
                self.list[e].atomic = false;
            }
        }
        Item { entry: head, exits: last.exits }
    }

    fn d_step(&mut self, seq: &Seq, span: Span) -> Vec<Item> {
        if !self.d_steps.is_empty() {
            // A d_step inside a d_step is a block.
            let items = self.scoped(seq);
            return self.head(items, span);
        }
        let inside = self.d_step_body(seq);
        self.d_step_head(inside, span)
    }

    fn d_step_body(&mut self, seq: &Seq) -> (Vec<Item>, u32) {
        self.n_d_steps += 1;
        let number = self.n_d_steps;
        self.d_steps.push(number);
        // A loop around the d_step is not to be left from inside it.
        let breaks = std::mem::take(&mut self.breaks);
        let mut items = self.scoped(seq);
        if items.is_empty() {
            items = self.nothing(seq.span);
        }
        self.breaks = breaks;
        self.d_steps.pop();
        (items, number)
    }

    fn d_step_head(&mut self, (items, number): (Vec<Item>, u32), span: Span) -> Vec<Item> {
        let head = self.add(Kind::DStep { first: items[0].entry, number }, span);
        let exit = self.list.push(Element {
            kind: Kind::DStepExit { of: head },
            number: 0,
            stmt: 0,
            next: None,
            ..self.list[head].clone()
        });
        self.link(&items, exit);
        self.one(head)
    }

    /// `inside_out`: the head of an atomic main comes last, because a label stands before it.
    fn unless(&mut self, main: &Stmt, escape: &Stmt, span: Span, inside_out: bool) -> Vec<Item> {
        self.prologue = false;
        enum Main {
            Items(Vec<Item>),
            Selection(Vec<Vec<Item>>),
            Repetition(Vec<Vec<Item>>),
            Atomic((Vec<Item>, std::ops::Range<usize>)),
            DStep((Vec<Item>, u32)),
            Later,
        }
        let start = self.list.len();
        let early = match &main.kind {
            StmtKind::Block(seq) => {
                let items = self.scoped(seq);
                Main::Items(if items.is_empty() { self.nothing(main.span) } else { items })
            }
            StmtKind::Inline { body, .. } => {
                let items = self.inline(body);
                Main::Items(if items.is_empty() { self.nothing(main.span) } else { items })
            }
            StmtKind::If(options) => Main::Selection(self.options(options)),
            StmtKind::Do(options) => {
                self.breaks.push(vec![]);
                Main::Repetition(self.options(options))
            }
            StmtKind::Atomic(seq) => Main::Atomic(self.atomic_body(seq)),
            StmtKind::DStep(seq) if self.d_steps.is_empty() => Main::DStep(self.d_step_body(seq)),
            _ => Main::Later,
        };
        let before_escape = self.list.len();
        // A break in the escape of a loop leaves the loop around it.
        let own_breaks = matches!(early, Main::Repetition(_)).then(|| self.breaks.pop().expect("just pushed"));
        let escape_items = match &escape.kind {
            StmtKind::Block(seq) => {
                let items = self.scoped(seq);
                if items.is_empty() { self.nothing(escape.span) } else { items }
            }
            StmtKind::Inline { body, .. } => {
                let items = self.inline(body);
                if items.is_empty() { self.nothing(escape.span) } else { items }
            }
            _ => self.labelled(escape),
        };
        if let Some(breaks) = own_breaks {
            self.breaks.push(breaks);
        }
        let after_escape = self.list.len();
        let mut atomic = None;
        let items = match early {
            Main::Items(items) => items,
            Main::Selection(items) => match &main.kind {
                StmtKind::If(options) => self.selection(options, items, main.span),
                _ => unreachable!("made from an if"),
            },
            Main::Repetition(items) => match &main.kind {
                StmtKind::Do(options) => self.repetition(options, items, main.span),
                _ => unreachable!("made from a do"),
            },
            Main::Atomic(inside) if inside_out => {
                let items = inside.0.clone();
                atomic = Some(inside);
                items
            }
            Main::Atomic(inside) => vec![self.atomic_head(inside, main.span)],
            Main::DStep(inside) => self.d_step_head(inside, main.span),
            Main::Later => self.stmt(main),
        };
        let end = self.list.len();
        self.add(Kind::Nothing, span);
        let join = self.add_join(span);
        self.link(&items, join);
        self.link(&escape_items, join);
        let escape_first = escape_items[0].entry;
        for n in (start..before_escape).chain(after_escape..end) {
            self.list[El(n as u32)].escapes.push(escape_first);
        }
        match atomic {
            Some(inside) => {
                let head = self.atomic_head(inside, main.span);
                vec![Item { entry: head.entry, exits: vec![join] }]
            }
            None => vec![Item { entry: items[0].entry, exits: vec![join] }],
        }
    }

    fn is_inside(&self, mut scope: usize, outer: usize) -> bool {
        while scope > outer {
            scope = self.label_scopes[scope].parent;
        }
        scope == outer
    }

    fn settle_gotos(&mut self) {
        for (jump, label, scope) in std::mem::take(&mut self.gotos) {
            let mut at = scope;
            let target = loop {
                if let Some((el, _)) = self.label_scopes[at].labels.get(&label.name) {
                    break Some(*el);
                }
                // Not directly in this block: the first block inside of it that has the label.
                let inner = (at + 1..self.label_scopes.len()).filter(|s| self.is_inside(*s, at));
                if let Some((el, _)) = inner.filter_map(|s| self.label_scopes[s].labels.get(&label.name)).next() {
                    break Some(*el);
                }
                if at == 0 {
                    break None;
                }
                at = self.label_scopes[at].parent;
            };
            let Some(target) = target else {
                self.lower.report(
                    Diagnostic::error("P0104", format!("there is no label `{}` in this body", label.name))
                        .at(label.span, "nowhere to go"),
                );
                continue;
            };
            let (from, to) = (self.list[jump].d_step, self.list[target].d_step);
            if from != to {
                let (what, help) = if to.is_some() { ("into", "enter") } else { ("out of", "leave") };
                self.lower.report(
                    Diagnostic::error("P0339", format!("a jump {what} a d_step"))
                        .at(label.span, "the label is on the other side")
                        .label(self.list[target].span, "here")
                        .help(format!("use `atomic`, which a jump may {help}")),
                );
            }
            self.list[jump].next = Some(target);
        }
        for el in self.list.ids() {
            // A jump belongs to the atomic it goes to.
            if let (Kind::Jump(Jump::Goto), Some(next)) = (&self.list[el].kind, self.list[el].next) {
                self.list[el].atomic = self.list[el].in_atomic && self.list[next].in_atomic;
            }
        }
        self.check_goto_circles();
    }

    /// `L: goto L` goes nowhere.
    fn check_goto_circles(&mut self) {
        for el in self.list.ids() {
            let mut at = el;
            let mut steps = 0;
            while let (Kind::Jump(_), Some(next)) = (&self.list[at].kind, self.list[at].next) {
                at = next;
                steps += 1;
                if steps > self.list.len() {
                    self.lower.report(
                        Diagnostic::error("P0340", "these jumps go round without a statement")
                            .at(self.list[el].span, "never gets anywhere")
                            .help("put a statement into the circle, for example `skip`"),
                    );
                    self.list[el].next = None;
                    break;
                }
            }
        }
    }
}

/// Does the label say something about the states it marks?
pub(super) fn is_mark(label: &str) -> bool {
    label.starts_with("end") || label.starts_with("accept") || label.starts_with("progress")
}
