//! Processes that ask whether others can move, and where they are.
//!
//! What is asked is drawn from numbers of its own, so a model in which nobody asks is the same with and without this file.

use crate::rng::Rng;
use crate::stmt::Ctx;
use crate::world::{Gen, Start, Var};
use crate::{Faults, Options};

/// Of the models without rendez-vous channels, those whose processes may ask, in hundredths. Not every body has a place for it.
const PERCENT: usize = 17;

/// Who may ask whom. To find out whether a process can move its guards are asked, which may ask again: a circle is a run-time error.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    /// A process asks those with larger numbers.
    Up,
    Down,
    /// Anybody anybody, itself too: a deliberate error.
    Any,
}

pub(crate) struct Ask {
    rng: Rng,
    order: Order,
    /// The only proctype that asks; without one all do.
    only: Option<usize>,
}

impl Ask {
    /// Whether somebody asks in the model of this seed.
    pub fn draw(seed: u64, options: &Options) -> Option<Ask> {
        let mut rng = Rng::new(seed ^ 0xE4AB_1ED0);
        if !rng.chance(PERCENT) || options.without.contains(&"enabled-process") {
            return None;
        }
        let circles = if options.faults == Faults::Never { 0 } else { 8 };
        let order = match rng.weighted(&[46, 46, circles]) {
            0 => Order::Up,
            1 => Order::Down,
            _ => Order::Any,
        };
        // To be planned.
        let only = (order != Order::Any && rng.chance(60)).then_some(usize::MAX);
        Some(Ask { rng, order, only })
    }

    pub fn faults(&self) -> bool {
        self.order == Order::Any
    }
}

impl Gen<'_> {
    /// Once channels and processes are known.
    pub fn plan_asks(&mut self) {
        let rendezvous = self.used("rendezvous");
        let Some(ask) = self.ask.as_mut().filter(|_| !rendezvous) else {
            self.ask = None;
            return;
        };
        self.may_fault |= ask.faults();
        if ask.only.is_some() {
            // One who has somebody to ask, if there is one.
            let below = |p: &usize| {
                self.procs[*p].start == Start::Run || self.procs[..*p].iter().any(|q| q.start != Start::Run)
            };
            let above = |p: &usize| self.procs[p + 1..].iter().any(|q| q.start != Start::Run);
            let fits = |p: &usize| if ask.order == Order::Up { above(p) } else { below(p) };
            let mut able: Vec<usize> = (0..self.procs.len()).filter(fits).collect();
            if able.is_empty() {
                able.extend(0..self.procs.len());
            }
            ask.only = Some(*ask.rng.pick(&able));
        }
    }

    /// What a condition that was drawn becomes where somebody asks.
    pub fn asking(&mut self, ctx: &Ctx, condition: String) -> String {
        let Some(asked) = self.question(ctx, 40) else { return condition };
        let ask = self.ask.as_mut().expect("there was a question");
        match ask.rng.below(6) {
            0 | 1 => asked,
            2 => format!("!{asked}"),
            3 => format!("({condition} && {asked})"),
            4 => format!("({condition} && !{asked})"),
            _ => format!("({condition} || {asked})"),
        }
    }

    /// The same of a number.
    pub fn asking_number(&mut self, ctx: &Ctx, number: String) -> String {
        self.question(ctx, 8).unwrap_or(number)
    }

    fn question(&mut self, ctx: &Ctx, percent: usize) -> Option<String> {
        let p = ctx.p;
        let start = self.procs.get(p)?.start;
        let bits: Vec<String> = {
            let named = |v: &&Var| v.readable && v.ty.is_bit() && !v.in_array && !v.text.contains('\u{1}');
            self.scope.iter().filter(named).map(|v| v.text.clone()).collect()
        };
        let numbers = self.procs[..p].iter().map(|q| match q.start {
            Start::Active(n) => n,
            Start::Init => 1,
            Start::Run => 0,
        });
        let first = numbers.sum::<usize>();
        let n = if let Start::Active(n) = start { n } else { 1 };
        let is_run = start == Start::Run;
        let ask = self.ask.as_mut()?;
        if ask.only.is_some_and(|only| only != p) || !ask.rng.chance(percent) {
            return None;
        }
        if ask.rng.chance(20) {
            // No circle can come of where somebody is.
            let who = match ask.rng.below(5) {
                0 => "_pid".to_string(),
                1 => format!("_pid {} 1", ask.rng.pick(&["+", "-"])),
                _ => ask.rng.below(4).to_string(),
            };
            let op = *ask.rng.pick(&[">", "=="]);
            let at = ask.rng.range(1, 5);
            self.uses("pc_value-process");
            return Some(format!("(pc_value({who}) {op} {at})"));
        }
        let many = is_run || n > 1;
        let up = ask.order == Order::Up;
        let nobody = ask.rng.range(4, 9);
        let who = match (ask.order, ask.rng.below(8)) {
            (_, 0) => nobody.to_string(),
            (Order::Any, 1) => "_pid".into(),
            (Order::Any, _) => ask.rng.below(3).to_string(),
            (_, 1 | 2) if !many || ask.only.is_none() => format!("_pid {} 1", if up { '+' } else { '-' }),
            // The number of who was started by `run` is any but 0: of the others nobody outlives the first.
            (Order::Up, _) if is_run => "_pid + 1".into(),
            (Order::Down, _) if is_run => "0".into(),
            (Order::Up, 3) if !bits.is_empty() => format!("{} + {}", ask.rng.pick(&bits), first + n),
            (Order::Up, _) => (first + n + ask.rng.below(2)).to_string(),
            (Order::Down, _) if first == 0 => nobody.to_string(),
            (Order::Down, 3) if first > 1 && !bits.is_empty() => ask.rng.pick(&bits).clone(),
            (Order::Down, _) => ask.rng.below(first).to_string(),
        };
        let nested = ask.only.is_none() || is_run && up;
        let faults = ask.faults();
        self.uses("enabled-process");
        if nested {
            self.uses("enabled-nested");
        }
        if faults {
            self.uses("fault-enabled");
        }
        Some(format!("enabled({who})"))
    }
}
