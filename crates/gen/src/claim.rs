//! Properties written beside the processes: never claims, event traces, formulas.

use crate::stmt::Ctx;
use crate::world::{Field, Gen, Start};
use std::fmt::Write as _;

impl Gen<'_> {
    pub fn claims(&mut self) -> String {
        let mut text = String::new();
        self.scope = self
            .globals
            .iter()
            .filter(|v| v.readable && v.owner.is_none() && !v.text.contains('\u{1}'))
            .cloned()
            .collect();
        if self.options.claimed {
            self.any_claim(&mut text);
            return text;
        }
        if self.on.has("trace") {
            self.trace(&mut text);
        }
        if self.on.has("never") {
            self.never(&mut text);
        }
        if self.on.has("ltl") {
            self.uses("ltl");
            let n = if self.rng.chance(20) { 2 } else { 1 };
            for i in 0..n {
                let formula = self.formula(2);
                let _ = writeln!(text, "ltl p{i} {{ {formula} }}");
            }
        }
        text
    }

    fn proposition(&mut self) -> String {
        let ctx = Ctx { no_io: true, ..Ctx::body(usize::MAX) };
        if self.on.has("remote")
            && self.rng.chance(30)
            && let Some(remote) = self.remote(&ctx)
        {
            return remote;
        }
        let atom = self.comparison();
        // Unary temporal operators bind tighter than comparisons.
        format!("({atom})")
    }

    fn formula(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.proposition();
        }
        match self.rng.below(10) {
            0 => format!("[] {}", self.formula(depth - 1)),
            1 => format!("<> {}", self.formula(depth - 1)),
            2 => format!("always {}", self.formula(depth - 1)),
            3 => format!("eventually {}", self.formula(depth - 1)),
            4 => format!("[]<> {}", self.proposition()),
            5 => {
                let op = *self.rng.pick(&["U", "W", "V", "until", "weakuntil", "release", "stronguntil"]);
                format!("({} {op} {})", self.proposition(), self.proposition())
            }
            6 => {
                let op = *self.rng.pick(&["->", "implies", "<->", "equivalent"]);
                format!("[] ({} {op} <> {})", self.proposition(), self.proposition())
            }
            7 => format!("!({})", self.formula(depth - 1)),
            8 => {
                let op = *self.rng.pick(&["&&", "||"]);
                format!("({} {op} {})", self.formula(depth - 1), self.proposition())
            }
            _ => format!("<>[] {}", self.proposition()),
        }
    }

    fn claim_condition(&mut self) -> String {
        let rendezvous = self.used("rendezvous");
        let known = self.procs.iter().any(|p| matches!(p.start, Start::Active(_) | Start::Init));
        match self.rng.weighted(&[
            50,
            12,
            if rendezvous || !known { 0 } else { 12 },
            if known { 8 } else { 0 },
            if self.used("_last") { 10 } else { 0 },
        ]) {
            1 => {
                self.uses("np_");
                "np_".into()
            }
            2 => {
                self.uses("enabled");
                "enabled(0)".into()
            }
            3 => {
                self.uses("pc_value");
                "pc_value(0) > 1".into()
            }
            4 => "_last == 0".into(),
            _ => self.proposition(),
        }
    }

    fn never(&mut self, text: &mut String) {
        self.uses("never");
        let (stay, leave, again) = (self.claim_condition(), self.claim_condition(), self.claim_condition());
        let name = if self.rng.chance(40) { "never wrong" } else { "never" };
        let body = match self.rng.below(3) {
            0 => format!(
                "T0:\n    do\n    :: {leave} -> goto accept_here\n    :: true\n    od;\naccept_here:\n    do\n    :: {again}\n    od\n"
            ),
            1 => format!("    do\n    :: {stay}\n    :: {leave} -> break\n    od\n"),
            _ => format!(
                "T0:\n    if\n    :: {stay} -> goto T0\n    :: atomic {{ {leave} -> assert(!({leave})) }}\n    fi;\naccept_all:\n    skip\n"
            ),
        };
        let _ = writeln!(text, "{name} {{\n{body}}}");
    }

    /// A claim of a few locations, with options of every kind. `np_` and `timeout` are left out: SPIN answers them in its
    /// own way.
    fn any_claim(&mut self, text: &mut String) {
        self.uses("never");
        let n = self.rng.range(1, 4);
        let names: Vec<String> = (0..n)
            .map(|i| match self.rng.weighted(&[55, 40, 3]) {
                0 => format!("S{i}"),
                1 => format!("accept{i}"),
                _ => format!("end{i}"),
            })
            .collect();
        let mut body = String::new();
        for (i, name) in names.iter().enumerate() {
            let n_options = self.rng.range(1, 3);
            let mut options: Vec<String> = (0..n_options).map(|_| self.claim_option(&names)).collect();
            let to = self.rng.pick(&names).clone();
            if self.rng.chance(25) {
                options.push(format!("else -> goto {to}"));
            }
            // A claim that falls out of its last location has found an error; most should not.
            let is_loop = self.rng.chance(60) || i + 1 == n && self.rng.chance(90);
            let leaves = if i + 1 == n { 5 } else { 30 };
            if is_loop && self.rng.chance(leaves) {
                let last = self.seldom();
                options.insert(0, format!("{last} -> break"));
            }
            let (open, close) = if is_loop { ("do", "od") } else { ("if", "fi") };
            let end = if i + 1 == n { "" } else { ";" };
            let options = options.join("\n    :: ");
            let _ = writeln!(body, "{name}:\n    {open}\n    :: {options}\n    {close}{end}");
        }
        let _ = writeln!(text, "never {{\n{body}}}");
    }

    /// A condition that holds less often.
    fn seldom(&mut self) -> String {
        format!("({} && {} && {})", self.plain_condition(), self.plain_condition(), self.plain_condition())
    }

    fn plain_condition(&mut self) -> String {
        if self.rng.chance(12) {
            return "true".into();
        }
        loop {
            let condition = self.claim_condition();
            if condition != "np_" {
                return condition;
            }
        }
    }

    fn claim_option(&mut self, names: &[String]) -> String {
        let to = self.rng.pick(names).clone();
        let (a, b) = (self.plain_condition(), self.plain_condition());
        match self.rng.weighted(&[30, 20, 8, 8, 8, 6, 6, 6, 3, 5]) {
            0 => format!("{a} -> goto {to}"),
            1 => a,
            2 => format!("atomic {{ {a} -> {b} -> goto {to} }}"),
            3 => format!("atomic {{ {a} -> assert({} || !({})) }}", b, self.seldom()),
            4 => format!("atomic {{ {a} -> if :: {b} -> goto {to} :: else fi }}"),
            5 => format!("d_step {{ {a} -> if :: {b} -> skip :: else -> skip fi }} -> goto {to}"),
            6 => format!("assert({a} || !({}))", self.seldom()),
            7 => format!("{a} -> {b} -> goto {to}"),
            8 => format!("{a} -> {{ {b} -> true }} unless {{ {a} -> goto {to} }}"),
            _ => format!("atomic {{ {a} -> do :: {b} -> break :: {a} -> goto {to} od }}"),
        }
    }

    /// An event trace over one channel, mostly one that allows everything.
    fn trace(&mut self, text: &mut String) {
        let named = self.chans.iter().filter(|c| {
            c.local_to.is_none()
                && !c.text.contains(['\u{1}', '.'])
                && !c.fields.contains(&Field::Struct)
                && !c.fields.contains(&Field::Chan)
        });
        let named = named.cloned().collect::<Vec<_>>();
        if named.is_empty() {
            return;
        }
        let chan = self.rng.pick(&named).clone();
        let name = &chan.text;
        let any = chan.fields.iter().map(|_| "_").collect::<Vec<_>>().join(", ");
        let mut exact = chan
            .fields
            .iter()
            .map(|f| match f {
                Field::Mtype(set) => self.mtype_name(*set),
                _ => self.rng.below(2).to_string(),
            })
            .collect::<Vec<_>>();
        if exact.len() > 1 {
            exact[1] = "_".into();
        }
        let exact = exact.join(", ");
        // pan matches a rendez-vous send that finds no partner, too: only traces that allow all of them.
        let lone = chan.cap == 0 && !self.options.disputed;
        if self.rng.chance(35) && !lone {
            self.uses("notrace");
            // pan calls an end state invalid in which a notrace, luckily, is not matched.
            let (a, b) = if self.options.disputed { ("   ", "   ") } else { ("end_a:", "end_b:") };
            let _ = writeln!(text, "notrace {{\n{a} {name}!{exact};\n{b} {name}!{any}\n}}");
            return;
        }
        self.uses("trace");
        let body = match self.rng.below(4) {
            1 if lone => format!("end_a: do\n    :: {name}!{any}\n    :: {name}?{any}\n    od\n"),
            0 => format!("end_a: do\n    :: {name}!{any} ->\nend_b: {name}?{any}\n    od\n"),
            1 => format!("end_a: {name}!{exact};\nend_b: do\n    :: {name}!{any}\n    :: {name}?{any}\n    od\n"),
            _ => format!("end_a: do\n    :: {name}!{any}\n    :: {name}?{any}\n    od\n"),
        };
        // pan overlooks a trace that is not finished once every process is dead, so none ends in an error.
        let body = if self.options.disputed { body.replace("end_a: ", "").replace("end_b: ", "") } else { body };
        let _ = writeln!(text, "trace {{\n{body}}}");
    }
}
