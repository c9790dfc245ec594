//! Reads automata in the Hanoi omega-automata format, version 1 (Babiak et al., CAV 2015).
//!
//! Read are automata with acceptance `t`, `f` or a conjunction of `Inf(n)`, on states or on transitions; labels on
//! transitions or states, explicit or implicit; aliases; any number of initial states. What is refused changes the
//! meaning: alternation, other acceptance, unknown headers that begin with a capital letter. Other unknown headers say
//! nothing about the language and are skipped, as the format has it.

use crate::automaton::{Automaton, Marks, StateId, Transition};
use crate::formula::PropId;
use crate::guards::{Guard, Guards};
use crate::hoa_tokens::{Kind, Token, Tokens};
use std::collections::HashMap;
use std::fmt;

/// An automaton that was read. Proposition `n` is `props[n]`.
#[derive(Clone, Debug)]
pub struct Hoa {
    pub name: Option<String>,
    pub props: Vec<String>,
    pub automaton: Automaton,
}

/// Why a text is not an automaton that can be used: what is so, and what to do about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HoaError {
    /// From 1; columns count characters.
    pub line: usize,
    pub column: usize,
    pub message: String,
    pub help: &'static str,
}

impl fmt::Display for HoaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}; {}", self.line, self.column, self.message, self.help)
    }
}

impl std::error::Error for HoaError {}

const CONVERT: &str = "convert it to (generalised) Büchi acceptance first, for example with `autfilt --gba --hoa`";
const GRAMMAR: &str = "see the format at https://adl.github.io/hoaf/";
/// Implicit labels stand for all valuations.
const MOST_IMPLICIT: usize = 16;
const MOST_STATES: u32 = 1 << 20;

pub fn from_hoa(text: &str) -> Result<Hoa, HoaError> {
    let mut reader = Reader {
        tokens: Tokens::new(text)?,
        guards: Guards::new(),
        name: None,
        n_states: None,
        starts: Vec::new(),
        props: None,
        aliases: HashMap::new(),
        acceptance: None,
    };
    reader.headers()?;
    reader.body()
}

#[derive(Clone, Copy)]
enum Acceptance {
    /// Each of so many sets infinitely often.
    All(u32),
    Nothing(u32),
}

struct Reader {
    tokens: Tokens,
    guards: Guards,
    name: Option<String>,
    n_states: Option<u32>,
    starts: Vec<(u32, Token)>,
    props: Option<Vec<String>>,
    aliases: HashMap<String, Guard>,
    acceptance: Option<Acceptance>,
}

impl Reader {
    fn headers(&mut self) -> Result<(), HoaError> {
        let first = self.tokens.next();
        match (&first.kind, self.tokens.next()) {
            (Kind::Header(h), version) if h == "HOA" => match &version.kind {
                Kind::Word(v) if v == "v1" || v.starts_with("v1.") => {}
                other => {
                    return Err(
                        version.error(format!("this is version {other} of the format"), "only version v1 is read")
                    );
                }
            },
            _ => return Err(first.error("a text in this format begins with `HOA: v1`".to_string(), GRAMMAR)),
        }
        loop {
            let token = self.tokens.next();
            match &token.kind {
                Kind::Body => return Ok(()),
                Kind::Header(name) => self.header(name, &token)?,
                other => return Err(token.error(format!("a header or `--BODY--` is expected, not {other}"), GRAMMAR)),
            }
        }
    }

    fn header(&mut self, name: &str, at: &Token) -> Result<(), HoaError> {
        let twice = || at.error(format!("`{name}:` is given twice"), "remove one of the two");
        match name {
            "States" => {
                let n = self.number()?;
                if n > MOST_STATES {
                    return Err(at.error(format!("{n} states are too many"), "the limit is 1,048,576"));
                }
                if self.n_states.replace(n).is_some() {
                    return Err(twice());
                }
            }
            "Start" => {
                let token = self.tokens.peek().clone();
                let state = self.number()?;
                if state >= MOST_STATES {
                    return Err(token.error(format!("state {state} is too large a number"), "the limit is 1,048,576"));
                }
                self.starts.push((state, token));
                self.no_conjunction()?;
            }
            "AP" => {
                let n = self.number()?;
                let mut props = Vec::new();
                for _ in 0..n {
                    let token = self.tokens.next();
                    match token.kind {
                        Kind::String(name) => props.push(name),
                        ref other => {
                            return Err(token.error(
                                format!("the name of a proposition is expected, not {other}"),
                                "names are quoted",
                            ));
                        }
                    }
                }
                if self.props.replace(props).is_some() {
                    return Err(twice());
                }
            }
            "Alias" => {
                let token = self.tokens.next();
                let Kind::Alias(name) = &token.kind else {
                    return Err(token
                        .error(format!("the name of an alias is expected, not {}", token.kind), "it begins with `@`"));
                };
                let label = self.label()?;
                self.aliases.insert(name.clone(), label);
            }
            "Acceptance" => {
                let n = self.number()?;
                let acceptance = self.acceptance(n)?;
                if self.acceptance.replace(acceptance).is_some() {
                    return Err(twice());
                }
            }
            "name" => {
                if let Kind::String(name) = &self.tokens.peek().kind {
                    self.name = Some(name.clone());
                }
                self.skip();
            }
            "properties" => {
                while !self.tokens.peek().kind.ends_header() {
                    let token = self.tokens.next();
                    if matches!(&token.kind, Kind::Word(w) if w == "univ-branch") {
                        return Err(token.error("the automaton is alternating".to_string(), ALTERNATION));
                    }
                }
            }
            _ if name.starts_with(|c: char| c.is_ascii_uppercase()) => {
                return Err(at.error(
                    format!("the header `{name}:` may change what the automaton accepts, and is unknown here"),
                    "remove it if it does not",
                ));
            }
            _ => self.skip(),
        }
        Ok(())
    }

    fn skip(&mut self) {
        while !self.tokens.peek().kind.ends_header() {
            self.tokens.next();
        }
    }

    fn number(&mut self) -> Result<u32, HoaError> {
        let token = self.tokens.next();
        match token.kind {
            Kind::Number(n) => Ok(n),
            ref other => Err(token.error(format!("a number is expected, not {other}"), GRAMMAR)),
        }
    }

    fn no_conjunction(&mut self) -> Result<(), HoaError> {
        match self.tokens.peek() {
            token if token.kind == Kind::Sign('&') => {
                Err(token.error("several states at once make the automaton alternating".to_string(), ALTERNATION))
            }
            _ => Ok(()),
        }
    }

    /// `t`, `f`, or `Inf(0) & … & Inf(n - 1)` in any order, with parentheses.
    fn acceptance(&mut self, n: u32) -> Result<Acceptance, HoaError> {
        let mut seen = Marks::NONE;
        let mut nothing = false;
        let start = self.tokens.peek().clone();
        if n > Marks::MOST {
            return Err(start.error(format!("{n} acceptance sets are too many"), "at most 64 are read"));
        }
        while !self.tokens.peek().kind.ends_header() {
            let token = self.tokens.next();
            match &token.kind {
                Kind::Word(w) if w == "t" => {}
                Kind::Word(w) if w == "f" => nothing = true,
                Kind::Word(w) if w == "Inf" => {
                    self.sign('(')?;
                    if self.tokens.peek().kind == Kind::Sign('!') {
                        return Err(
                            token.error("acceptance by the complement of a set is not read".to_string(), CONVERT)
                        );
                    }
                    let at = self.tokens.peek().clone();
                    let set = self.number()?;
                    if set >= n {
                        return Err(
                            at.error(format!("set {set} does not exist, there are {n}"), "sets are numbered from 0")
                        );
                    }
                    seen = seen.with(set);
                    self.sign(')')?;
                }
                Kind::Sign('&' | '(' | ')') => {}
                Kind::Sign('|') => {
                    return Err(
                        token.error("acceptance with a choice (Rabin, parity, …) is not read".to_string(), CONVERT)
                    );
                }
                Kind::Word(w) if w == "Fin" => {
                    return Err(token.error(
                        "acceptance with `Fin` (co-Büchi, Rabin, Streett, …) is not read".to_string(),
                        CONVERT,
                    ));
                }
                other => return Err(token.error(format!("{other} has no place in an acceptance condition"), GRAMMAR)),
            }
        }
        if nothing {
            return Ok(Acceptance::Nothing(n));
        }
        if seen != Marks::all(n) {
            return Err(start.error("the condition does not name every acceptance set".to_string(), CONVERT));
        }
        Ok(Acceptance::All(n))
    }

    fn sign(&mut self, sign: char) -> Result<(), HoaError> {
        let token = self.tokens.next();
        if token.kind == Kind::Sign(sign) {
            return Ok(());
        }
        Err(token.error(format!("`{sign}` is expected, not {}", token.kind), GRAMMAR))
    }

    fn label(&mut self) -> Result<Guard, HoaError> {
        let mut sum = self.label_product()?;
        while self.tokens.take(Kind::Sign('|')) {
            let more = self.label_product()?;
            sum = self.guards.or(sum, more);
        }
        Ok(sum)
    }

    fn label_product(&mut self) -> Result<Guard, HoaError> {
        let mut product = self.label_atom()?;
        while self.tokens.take(Kind::Sign('&')) {
            let more = self.label_atom()?;
            product = self.guards.and(product, more);
        }
        Ok(product)
    }

    fn label_atom(&mut self) -> Result<Guard, HoaError> {
        // Negations are counted rather than recursed into: a text may hold any number of them.
        let mut negated = false;
        while self.tokens.take(Kind::Sign('!')) {
            negated = !negated;
        }
        let token = self.tokens.next();
        let guard = match &token.kind {
            Kind::Word(w) if w == "t" => Guard::TRUE,
            Kind::Word(w) if w == "f" => Guard::FALSE,
            Kind::Number(n) => {
                let n_props = self.props.as_ref().map_or(0, |p| p.len());
                if *n as usize >= n_props {
                    let message = format!("proposition {n} does not exist, `AP:` names {n_props} of them");
                    return Err(token.error(message, "propositions are numbered from 0"));
                }
                self.guards.column(*n)
            }
            Kind::Alias(name) => match self.aliases.get(name) {
                Some(&guard) => guard,
                None => {
                    return Err(token.error(
                        format!("the alias `@{name}` is not defined"),
                        "define it by an `Alias:` header before it is used",
                    ));
                }
            },
            Kind::Sign('(') => {
                self.tokens.deeper(&token)?;
                let inner = self.label()?;
                self.sign(')')?;
                self.tokens.back_up();
                inner
            }
            other => return Err(token.error(format!("{other} has no place in a label"), GRAMMAR)),
        };
        Ok(if negated { self.guards.not(guard) } else { guard })
    }

    fn bracketed_label(&mut self) -> Result<Option<Guard>, HoaError> {
        if !self.tokens.take(Kind::Sign('[')) {
            return Ok(None);
        }
        let label = self.label()?;
        self.sign(']')?;
        Ok(Some(label))
    }

    fn marks(&mut self, n: u32) -> Result<Marks, HoaError> {
        let mut marks = Marks::NONE;
        if self.tokens.take(Kind::Sign('{')) {
            while !self.tokens.take(Kind::Sign('}')) {
                let token = self.tokens.peek().clone();
                let set = self.number()?;
                if set >= n {
                    return Err(
                        token.error(format!("set {set} does not exist, there are {n}"), "sets are numbered from 0")
                    );
                }
                marks = marks.with(set);
            }
        }
        Ok(marks)
    }

    fn body(mut self) -> Result<Hoa, HoaError> {
        let at = self.tokens.peek().clone();
        let Some(acceptance) = self.acceptance else {
            return Err(at.error("there is no `Acceptance:` header".to_string(), "it is mandatory"));
        };
        let n_sets = match acceptance {
            Acceptance::All(n) | Acceptance::Nothing(n) => n,
        };
        let mut states: Vec<Option<Vec<Transition>>> = vec![None; self.n_states.unwrap_or(0) as usize];
        let mut largest: Option<(u32, Token)> = self.starts.iter().max_by_key(|(s, _)| *s).cloned();
        while self.tokens.peek().kind != Kind::End {
            let (state, token, transitions) = self.state(n_sets, &mut largest)?;
            let idx = state as usize;
            if idx >= states.len() {
                states.resize(idx + 1, None);
            }
            if states[idx].replace(transitions).is_some() {
                return Err(token.error(format!("state {state} is described twice"), "join the two descriptions"));
            }
        }
        self.tokens.next();
        let rest = self.tokens.next();
        if rest.kind != Kind::Eof {
            return Err(rest.error("there is more text behind `--END--`".to_string(), "give one automaton at a time"));
        }
        // Without `States:` the automaton has as many states as are named.
        if let Some((largest, token)) = largest {
            match self.n_states {
                Some(n) if largest >= n => {
                    return Err(token.error(
                        format!("state {largest} does not exist, `States:` says {n}"),
                        "states are numbered from 0",
                    ));
                }
                None if largest as usize >= states.len() => states.resize(largest as usize + 1, None),
                _ => {}
            }
        }
        let props = self.props.unwrap_or_default();
        let columns = (0..props.len() as u32).map(PropId).collect();
        let mut automaton = Automaton {
            props: columns,
            guards: self.guards,
            initial: self.starts.iter().map(|(s, _)| StateId(*s)).collect(),
            states: states.into_iter().map(|s| s.unwrap_or_default()).collect(),
            n_marks: n_sets,
        };
        if let Acceptance::Nothing(_) = acceptance {
            automaton.initial.clear();
        }
        automaton.restrict(|_| true);
        debug_assert_eq!((), automaton.check());
        Ok(Hoa { name: self.name, props, automaton })
    }

    fn state(
        &mut self,
        n_sets: u32,
        largest: &mut Option<(u32, Token)>,
    ) -> Result<(u32, Token, Vec<Transition>), HoaError> {
        let token = self.tokens.next();
        match &token.kind {
            Kind::Header(h) if h == "State" => {}
            Kind::Abort => {
                return Err(token.error("whoever wrote this automaton gave up".to_string(), "write it again"));
            }
            other => return Err(token.error(format!("`State:` or `--END--` is expected, not {other}"), GRAMMAR)),
        }
        let mut note = |state: u32, token: &Token| {
            if largest.as_ref().is_none_or(|(l, _)| *l < state) {
                *largest = Some((state, token.clone()));
            }
            if state < MOST_STATES {
                Ok(())
            } else {
                Err(token.error(format!("state {state} is too large a number"), "the limit is 1,048,576"))
            }
        };
        let of_state = self.bracketed_label()?;
        let token = self.tokens.peek().clone();
        let state = self.number()?;
        note(state, &token)?;
        if let Kind::String(_) = self.tokens.peek().kind {
            self.tokens.next();
        }
        let state_marks = self.marks(n_sets)?;
        let mut transitions = Vec::new();
        let mut implicit = 0;
        let n_props = self.props.as_ref().map_or(0, |p| p.len());
        loop {
            let at = self.tokens.peek().clone();
            if !matches!(at.kind, Kind::Sign('[') | Kind::Number(_)) {
                break;
            }
            let own = self.bracketed_label()?;
            let guard = match (own, of_state) {
                (Some(_), Some(_)) => {
                    return Err(
                        at.error("both the state and its transition have a label".to_string(), "remove one of the two")
                    );
                }
                (Some(guard), None) | (None, Some(guard)) => guard,
                (None, None) => {
                    implicit += 1;
                    if n_props > MOST_IMPLICIT || implicit > 1usize << n_props {
                        let message = format!("a state has at most 2^{n_props} transitions without labels");
                        return Err(at.error(message, "with more than 16 propositions write the labels"));
                    }
                    self.implicit_label(implicit - 1, n_props)
                }
            };
            let token = self.tokens.peek().clone();
            let target = self.number()?;
            note(target, &token)?;
            self.no_conjunction()?;
            let marks = self.marks(n_sets)?.union(state_marks);
            transitions.push(Transition { target: StateId(target), marks, guard });
        }
        if implicit != 0 && (implicit != 1 << n_props || implicit != transitions.len()) {
            let message = format!(
                "state {state} has {implicit} transitions without labels, not one for each of 2^{n_props} valuations"
            );
            return Err(token.error(message, "add the missing ones, or write the labels"));
        }
        Ok((state, token, transitions))
    }

    /// The `n`-th valuation: bit `c` of `n` is the truth of proposition `c`.
    fn implicit_label(&mut self, n: usize, n_props: usize) -> Guard {
        let mut guard = Guard::TRUE;
        for c in 0..n_props {
            let column = self.guards.column(c as u32);
            let literal = if n >> c & 1 == 1 { column } else { self.guards.not(column) };
            guard = self.guards.and(guard, literal);
        }
        guard
    }
}

const ALTERNATION: &str = "remove the alternation first, for example with `autfilt --gba --hoa`";
