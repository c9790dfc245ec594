//! Random models whose processes can change places.
//!
//! Two to four processes of one proctype go round for ever over a few shared things, each of which treats process
//! numbers as names: arrays indexed by them, variables and messages that hold them, channels that lie in arrays.
//! The processes are `active` from the start or made by `init`; then they count from 1, and may be told their number.

use crate::rng::Rng;
use std::fmt::Write;

/// The text of a model. Its verdicts do not depend on the names of processes; its formulas may name one.
pub fn symmetric(seed: u64) -> String {
    let mut rng = Rng::new(seed ^ 0x51AA_E721);
    let n = *rng.pick(&[2, 2, 3, 3, 3, 4]);
    let maker = rng.chance(35);
    let told = maker && rng.chance(50);
    let mut w = World { rng, n, me: String::new(), first: usize::from(maker), offset: 0, used: Vec::new() };
    if told {
        w.me = "id".to_string();
        w.offset = 1;
    } else {
        w.me = "_pid".to_string();
    }
    w.model(maker, told)
}

struct World {
    rng: Rng,
    n: usize,
    /// What a process calls itself: its number, or the number it was told.
    me: String,
    /// The number of the first of them.
    first: usize,
    /// Names are numbers minus this.
    offset: usize,
    /// Things that the model has.
    used: Vec<&'static str>,
}

const THINGS: &[&str] = &["flag", "owner", "count", "queue", "inbox", "meet", "local", "step", "grid", "last", "own"];

impl World {
    fn has(&self, thing: &str) -> bool {
        self.used.contains(&thing)
    }

    /// The names of all of them.
    fn names(&self) -> Vec<usize> {
        (0..self.n).map(|i| i + self.first - self.offset).collect()
    }

    fn model(&mut self, maker: bool, told: bool) -> String {
        let most = if self.n == 4 { 3 } else { 4 };
        let want = self.rng.range(2, most);
        while self.used.len() < want {
            let thing = *self.rng.pick(THINGS);
            let heavy = |t: &&str| matches!(*t, "queue" | "inbox" | "grid" | "own");
            let crowded = heavy(&thing) && self.used.iter().any(heavy);
            if !self.has(thing) && !crowded {
                self.used.push(thing);
            }
        }
        if !self.has("local") && (self.has("queue") || self.has("inbox") || self.has("meet") || self.has("own")) {
            self.used.push("local");
        }
        let size = self.n + self.first - self.offset;
        let none = 200;
        let mut out = String::new();
        let w = &mut out;
        if self.has("flag") {
            let ty = *self.rng.pick(&["bool", "byte", "bit"]);
            writeln!(w, "{ty} flag[{size}];").unwrap();
        }
        if self.has("owner") {
            let start = *self.rng.pick(&["", " = 200"]);
            let ty = *self.rng.pick(&["pid", "byte", "short", "int"]);
            writeln!(w, "{ty} owner{start};").unwrap();
        }
        if self.has("count") {
            writeln!(w, "byte count;").unwrap();
        }
        if self.has("queue") {
            let cap = self.rng.range(1, if self.n < 3 { 2 } else { 1 });
            let fields = *self.rng.pick(&["pid, bit", "bit, byte"]);
            writeln!(w, "chan queue = [{cap}] of {{ {fields} }};").unwrap();
        }
        if self.has("inbox") {
            writeln!(w, "chan inbox[{size}] = [1] of {{ byte }};").unwrap();
        }
        if self.has("meet") {
            writeln!(w, "chan meet = [0] of {{ pid }};").unwrap();
        }
        if self.has("grid") {
            writeln!(w, "typedef row {{ bit with[{size}] }}\nrow grid[{size}];").unwrap();
        }
        if self.has("own") {
            writeln!(w, "chan there;").unwrap();
        }
        let first_pid = out.contains("pid, bit");
        let active = if maker { String::new() } else { format!("active [{}] ", self.n) };
        let param = if told { "byte id" } else { "" };
        writeln!(out, "{active}proctype P({param}) {{").unwrap();
        if self.has("local") {
            writeln!(out, "  pid x{};", if self.rng.chance(50) { " = 200" } else { "" }).unwrap();
        }
        if self.has("step") {
            writeln!(out, "  byte c;").unwrap();
        }
        if self.has("own") {
            writeln!(out, "  chan mine = [1] of {{ pid }};").unwrap();
        }
        writeln!(out, "  do").unwrap();
        for _ in 0..self.rng.range(2, 5) {
            let k = self.rng.range(1, 3);
            let mut parts: Vec<String> = vec![self.guard(none)];
            for _ in 0..k {
                parts.push(self.statement(none, first_pid));
            }
            if self.rng.chance(25) {
                let at = self.rng.below(parts.len());
                parts[at] = format!("cs: {}", parts[at]);
                // A label once.
                if out.contains("cs:") {
                    parts[at] = parts[at].replacen("cs: ", "", 1);
                }
            }
            // Labels stand at statements; whole options may be indivisible.
            let text = parts.join("; ");
            if self.rng.chance(25) && !text.contains("cs:") {
                writeln!(out, "  :: atomic {{ {text} }}").unwrap();
            } else {
                writeln!(out, "  :: {text}").unwrap();
            }
        }
        writeln!(out, "  od\n}}").unwrap();
        if maker {
            let args = |i: usize| if told { i.to_string() } else { String::new() };
            if told && self.rng.chance(40) {
                let n = self.n;
                writeln!(out, "init {{ byte i; atomic {{ do :: i < {n} -> run P(i); i++ :: else -> break od }} }}")
                    .unwrap();
            } else {
                let runs: Vec<String> = (0..self.n).map(|i| format!("run P({})", args(i))).collect();
                let runs = runs.join("; ");
                let whole = self.rng.chance(60);
                let text = if whole { format!("atomic {{ {runs} }}") } else { runs };
                writeln!(out, "init {{ {text} }}").unwrap();
            }
        } else if self.rng.chance(30) && self.has("count") {
            writeln!(out, "active proctype S() {{ do :: count == 2 -> count = 0 od }}").unwrap();
        }
        let label = out.contains("cs:");
        let formula = self.formula(label);
        writeln!(out, "ltl f {{ {formula} }}").unwrap();
        out
    }

    /// A condition over all of them.
    fn all(&mut self) -> String {
        let op = *self.rng.pick(&[" || ", " && "]);
        let each: Vec<String> = self.names().iter().map(|i| format!("flag[{i}]")).collect();
        format!("({})", each.join(op))
    }

    fn guard(&mut self, none: usize) -> String {
        let me = self.me.clone();
        let mut some: Vec<String> = vec!["true".into(), "true".into()];
        if self.has("flag") {
            some.extend([format!("flag[{me}]"), format!("!flag[{me}]"), self.all()]);
        }
        if self.has("owner") {
            some.extend([format!("owner == {me}"), format!("owner == {none}"), format!("owner != {me}")]);
        }
        if self.has("count") {
            some.extend(["count < 2".into(), "count > 0".into()]);
        }
        if self.has("queue") {
            some.extend(["nempty(queue)".into(), "len(queue) == 0".into()]);
        }
        if self.has("local") {
            some.extend([format!("x == {me}"), format!("x != {none}")]);
        }
        if self.has("step") {
            some.push("c == 1".into());
        }
        if self.has("last") {
            // `_last` is a process number.
            if self.offset == 0 {
                some.push("_last != _pid".into());
            }
        }
        self.rng.pick(&some).clone()
    }

    fn statement(&mut self, none: usize, first_pid: bool) -> String {
        let me = self.me.clone();
        let mut some: Vec<String> = vec!["skip".into()];
        if self.has("flag") {
            some.extend([format!("flag[{me}] = 1 - flag[{me}]"), format!("flag[{me}] = 1"), format!("flag[{me}] = 0")]);
            some.push(format!("assert(!{})", self.all()));
        }
        if self.has("owner") {
            some.extend([format!("owner = {me}"), format!("owner = {none}"), format!("owner == {none}")]);
            if self.has("local") {
                some.extend(["x = owner".into(), "owner = x".into(), format!("assert(x != owner || x == {none})")]);
            }
        }
        if self.has("count") {
            some.extend(["count = (count + 1) % 3".into(), "count = 0".into(), "assert(count < 2)".into()]);
        }
        if self.has("queue") {
            let other = if self.has("local") { "x" } else { &me };
            let forms = if first_pid {
                [
                    format!("queue!{me},0"),
                    "queue?x,_".to_string(),
                    format!("queue!{other},1"),
                    format!("queue?eval({me}),_"),
                    format!("queue??{me},_"),
                ]
            } else {
                [
                    format!("queue!0,{me}"),
                    "queue?_,x".to_string(),
                    format!("queue!1,{other}"),
                    format!("queue?_,eval({me})"),
                    format!("queue?1,{other}"),
                ]
            };
            for form in forms {
                // A bare name in a receive is a variable to be assigned, unless it is a constant.
                let form = form.replace(&format!("??{me}"), &format!("??eval({me})"));
                let form = if form.contains("?1,_pid") { "queue?1,x".into() } else { form };
                if !form.contains(",x") && !form.contains("?x") || self.has("local") {
                    some.push(form);
                }
            }
        }
        if self.has("inbox") {
            some.extend([format!("inbox[{me}]?x"), format!("inbox[{me}]!{me}"), format!("inbox[{me}]?_")]);
            some.push(format!("x != {none} -> inbox[x]!{me}"));
        }
        if self.has("meet") {
            some.extend([format!("meet!{me}"), "meet?x".to_string(), format!("meet?eval({me})")]);
        }
        if self.has("grid") {
            some.push(format!("grid[{me}].with[{me}] = 1 - grid[{me}].with[{me}]"));
            if self.has("local") {
                some.push(format!("x != {none} -> grid[{me}].with[x] = 1"));
                some.push(format!("x != {none} && grid[x].with[{me}]"));
                some.push(format!("x != {none} -> grid[x].with[{me}] = 0"));
            }
        }
        if self.has("own") {
            some.extend([format!("mine!{me}"), "mine?x".into(), "there = mine".into(), "there == mine".into()]);
            some.push(format!("there != 0 && nfull(there) -> there!{me}"));
        }
        if self.has("local") {
            some.extend([format!("x = {me}"), format!("x = {none}")]);
            if self.has("flag") {
                some.push(format!("x != {none} -> flag[x] = 0"));
            }
            if self.has("last") && self.offset == 0 && self.first == 0 {
                some.push("x = _last".into());
            }
        }
        if self.has("step") {
            some.extend(["c = (c + 1) % 3".into(), "c = 0".into()]);
        }
        self.rng.pick(&some).clone()
    }

    fn formula(&mut self, label: bool) -> String {
        let mut props: Vec<String> = Vec::new();
        if self.has("flag") {
            props.push(self.all());
        }
        if self.has("owner") {
            props.push("(owner == 200)".into());
            let one = *self.rng.pick(&self.names());
            props.push(format!("(owner == {one})"));
        }
        if self.has("count") {
            props.push("(count == 0)".into());
        }
        if self.has("queue") {
            props.push("nempty(queue)".into());
        }
        if label {
            let pids: Vec<usize> = (0..self.n).map(|i| i + self.first).collect();
            let each: Vec<String> = pids.iter().map(|i| format!("P[{i}]@cs")).collect();
            props.push(format!("({})", each.join(" || ")));
            props.push(each[self.rng.below(self.n)].clone());
        }
        if props.is_empty() {
            props.push("true".into());
        }
        let p = self.rng.pick(&props).clone();
        let q = self.rng.pick(&props).clone();
        let form = *self.rng.pick(&["[]<> P", "<>[] P", "[] (P -> <> Q)", "<> P", "[] P", "[]<> P -> []<> Q", "P U Q"]);
        form.replace('P', "\u{1}").replace('Q', &q).replace('\u{1}', &p)
    }
}
