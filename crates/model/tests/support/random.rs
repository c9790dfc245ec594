//! Random small systems, written in the printed form, so that this file needs nothing from the crate.
//!
//! They are well made (the validator finds nothing), they use every kind of guard, effect, pattern and expression,
//! and they are mostly alive: indices mostly fit, channels mostly have the number of fields that is used.

pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 11) % n as u64) as usize
    }

    pub fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }

    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

/// What may occur.
#[derive(Clone, Copy)]
pub struct Taste {
    /// `timeout`, `enabled`, `np_`, `pc_value`: readers of everything
    pub global_readers: bool,
    pub priorities: bool,
    pub monitor: bool,
}

const TYPES: [&str; 3] = ["A", "B", "C"];
const N_LOCS: usize = 4;

pub fn system(r: &mut Random, taste: Taste) -> String {
    let mut out = String::from("system \"random\"\n");
    out += if taste.priorities { "uses last, priorities, timeout\n" } else { "uses last, timeout\n" };
    out += "mtype _unnamed_ { red, green, \"blue sky\" }\nmtype other { }\n";
    out += "record r0 In { f: bit, g: [2] short }\nrecord r1 Out { \"odd name\": byte, in: [2] r0, n: unsigned:3 }\n";
    out += "globals\n  var x: byte\n  var y: int\n  var a: [3] byte\n  var o: r1\n  hidden var h: [2] [2] bool\n";
    out += "  var q: chan\n  var z: chan\n  var p: chan\n  var m: mtype:m0\n";
    out += &format!("  chan c0 q: [{}] of {{ byte }}\n", 1 + r.below(2));
    out += "  chan c1 z: [0] of { byte }\n  chan c2 \"p[0]\": [1] of { byte, mtype:m0 }\n";
    out += "  init @q = chan c0\n  init @z = chan c1\n";
    if r.chance(70) {
        out += &format!("  init @p = chan c{}\n", r.below(3));
    }
    out += &format!("  init @y = {}\n", number(r));
    for (n, name) in TYPES.iter().enumerate() {
        out += &proctype(r, taste, n, name);
    }
    if r.chance(30) {
        out += "claim never_0 start l0 end l1\n  l0: e0 is accept\n    e0: l0 -> l0 when @x == 1\n";
        out += "  l1: e1\n    e1: l1 -> l1 when youngest do die\n";
    }
    if taste.monitor {
        out += &format!("{} events start l0 end l2\n", r.pick(&["trace", "notrace"]));
        out += "  l0: e0, e1\n    e0: l0 -> l1 do event @q ! (==1)\n    e1: l0 -> l0 do event @q ! (==0)\n";
        out += "  l1: e2, e3\n    e2: l1 -> l0 do event @q ? (==1)\n    e3: l1 -> l1 do event @q ! (_)\n";
        out += "  l2: e4\n    e4: l2 -> l2 when youngest do die\n";
    }
    let n_active = 2 + r.below(2);
    let active: Vec<&str> = (0..n_active).map(|_| r.pick(&TYPES)).collect();
    out + "active " + &active.join(", ") + "\n"
}

fn proctype(r: &mut Random, taste: Taste, n: usize, name: &str) -> String {
    let mut out = format!("proctype {name} (t{n}) params 1");
    if taste.priorities {
        out += &format!(" priority {}", 1 + r.below(3));
    }
    if r.chance(15) {
        out += " deterministic";
    }
    out += &format!(" start l0 end l{N_LOCS}\n");
    out += "  var i: byte\n  var b: [2] byte\n  var s: r0\n  var c: chan\n";
    out += &format!("  chan c0 c: [{}] of {{ byte }}\n  init %c = chan c0\n", r.below(3));
    if r.chance(40) {
        out += &format!("  init %b.1 = {}\n", r.pick(&["@x + 1", "%i + 2", "_pid", "3"]));
    }
    if r.chance(25) {
        out += &format!("  provided {}\n", expr(r, taste, 2, false));
    }
    if r.chance(15) {
        out += &format!("  {} {}\n", r.pick(&["xr", "xs"]), r.pick(&["@q", "@p", "%c"]));
    }
    // A d_step leads only to locations without rendez-vous: a send there is a fault, and faults end everything.
    let buffered: Vec<bool> = (0..=N_LOCS).map(|loc| loc < N_LOCS && r.chance(50)).collect();
    let mut next = 0;
    for loc in 0..N_LOCS {
        let n_edges = 1 + r.below(3);
        let ids: Vec<String> = (next..next + n_edges).map(|e| format!("e{e}")).collect();
        let flags = r.pick(&["", "", " is end", " is progress", " labels here, \"there !\" is end, accept number 7"]);
        out += &format!("  l{loc}: {}{flags}\n", ids.join(", "));
        for e in 0..n_edges {
            let to = r.below(N_LOCS + 1);
            out += &format!("    e{}: l{loc} -> l{to}", next + e);
            let mut guards = Vec::new();
            let mut effects = Vec::new();
            let io = r.chance(45);
            if io {
                guards.push("channel".to_string());
                effects.push(io_effect(r, taste, buffered[loc]));
            } else if r.chance(60) {
                guards.push(expr(r, taste, 2, false));
            }
            if e > 0 && r.chance(40) {
                // All edges up to some earlier one: what those wait for is among them.
                let last = r.below(e);
                let waits: Vec<String> = (0..=last).map(|n| format!("e{}", next + n)).collect();
                guards.push(format!("none of {}", waits.join(", ")));
            }
            let mut ran = false;
            for _ in 0..r.below(3) {
                effects.push(effect(r, taste, &mut ran));
            }
            if !guards.is_empty() {
                out += &format!(" when {}", guards.join(", "));
            }
            if !effects.is_empty() {
                out += &format!(" do {}", effects.join(", "));
            }
            if !io {
                out += r.pick(&["", "", " then atomic", if buffered[to] { " then d_step" } else { "" }]);
            }
            out += &format!(" stmt {}\n", next + e);
        }
        next += n_edges;
    }
    out + &format!("  l{N_LOCS}: e{next}\n    e{next}: l{N_LOCS} -> l{N_LOCS} when youngest do die\n")
}

fn io_effect(r: &mut Random, taste: Taste, buffered: bool) -> String {
    let all = ["@q", "@q", "@z", "@z", "@z", "@p", "%c", "(@x -> @q : @z)"];
    let chan = r.pick(if buffered { &all[..2] } else { &all });
    if r.chance(50) {
        return format!("{chan} {} ({})", r.pick(&["!", "!", "!!"]), expr(r, taste, 1, false));
    }
    format!("{}{chan} {} ({})", r.pick(&["", "", "", "peek "]), r.pick(&["?", "?", "??"]), pattern(r, taste))
}

fn pattern(r: &mut Random, taste: Taste) -> String {
    match r.below(4) {
        0 => "_".into(),
        1 => format!("=={}", expr(r, taste, 1, false)),
        _ => place(r, taste, 1, false),
    }
}

fn effect(r: &mut Random, taste: Taste, ran: &mut bool) -> String {
    match r.below(12) {
        0 => format!("assert {}", expr(r, taste, 2, *ran)),
        1 => format!("print \"x is %d;\\n\\\"\\u{{7}}\\\\\" ({})", expr(r, taste, 1, *ran)),
        2 => format!("printm m0 {}", expr(r, taste, 1, *ran)),
        3 => {
            let priority = if taste.priorities && r.chance(50) { " priority 2" } else { "" };
            let out = format!("run {}({}){priority}", r.pick(&TYPES), expr(r, taste, 1, *ran));
            *ran = true;
            out
        }
        4 if taste.priorities => format!("set_priority({}, {})", r.pick(&["_pid", "0", "1"]), 1 + r.below(3)),
        5 => format!("@p = {}", r.pick(&["@q", "@z", "%c", "@p"])),
        _ => format!("{} = {}", place(r, taste, 1, *ran), expr(r, taste, 2, *ran)),
    }
}

fn place(r: &mut Random, taste: Taste, depth: usize, ran: bool) -> String {
    let index = |r: &mut Random| {
        if depth == 0 || r.chance(30) {
            r.below(2).to_string()
        } else if r.chance(90) {
            format!("{} & 1", expr(r, taste, depth - 1, ran))
        } else {
            expr(r, taste, depth - 1, ran)
        }
    };
    match r.below(12) {
        0 | 1 => "@x".into(),
        2 => "@y".into(),
        3 => "@m".into(),
        4 => format!("@a[{}]", index(r)),
        5 => "@a.2".into(),
        6 => format!("@o.in[{}].g[{}]", index(r), index(r)),
        7 => format!("@h.1[{}]", index(r)),
        8 => format!("@o.{}", r.pick(&["n", "in.1.f"])),
        9 => format!("%b[{}]", index(r)),
        10 => format!("%s.{}", r.pick(&["f", "g.1"])),
        _ => "%i".into(),
    }
}

fn number(r: &mut Random) -> String {
    r.pick(&["0", "1", "1", "2", "3", "-1", "255", "-2147483648", "2147483647"]).into()
}

fn expr(r: &mut Random, taste: Taste, depth: usize, ran: bool) -> String {
    if depth == 0 {
        return if r.chance(40) { number(r) } else { place(r, taste, 0, ran) };
    }
    let sub = |r: &mut Random| expr(r, taste, depth - 1, ran);
    match r.below(if taste.global_readers { 19 } else { 15 }) {
        0 => number(r),
        1 | 2 => place(r, taste, depth, ran),
        3 => {
            let (a, b) = (sub(r), sub(r));
            let op = r.pick(&["||", "&&", "|", "^", "&", "<<", ">>", "*", "/", "%"]);
            format!("({a}) {op} ({b})")
        }
        4 => format!("{} {} {}", place(r, taste, 0, ran), r.pick(&["+", "-"]), number(r)),
        5 | 6 => format!("({}) {} ({})", sub(r), r.pick(&["==", "!=", "<", "<=", ">", ">="]), sub(r)),
        7 => format!("{}({})", r.pick(&["!", "-", "~"]), sub(r)),
        8 => format!("(({}) -> {} : {})", sub(r), sub(r), sub(r)),
        9 => format!("{}({})", r.pick(&["len", "full", "nfull", "empty", "nempty"]), r.pick(&["@q", "@p", "%c"])),
        10 => format!("can({} {} ({}))", r.pick(&["@q", "@q", "%c"]), r.pick(&["?", "??"]), pattern(r, taste)),
        11 => r.pick(&["_pid", "_nr_pr", "_last"]).into(),
        12 => format!("at({}, l{} here)", remote(r), r.below(N_LOCS)),
        13 => format!("remote({}, %{})", remote(r), r.pick(&["i", "b.1", "b[@x & 1]", "s.g[1]"])),
        14 if ran => "new_pid".into(),
        14 => format!("get_priority({})", r.below(3)),
        15 => "timeout".into(),
        16 => format!("enabled({})", r.below(3)),
        17 => "np_".into(),
        _ => format!("pc_value({})", r.below(3)),
    }
}

fn remote(r: &mut Random) -> String {
    let t = r.pick(&TYPES);
    if r.chance(50) { t.into() } else { format!("{t}[{}]", r.below(4)) }
}
