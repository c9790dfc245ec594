//! The printed form: what is printed is read back, and what is not the printed form is refused.

#[path = "support/random.rs"]
mod random;

use random::{Random, Taste};
use spinor_model::ir::{
    BinOp, ChanDecl, Edge, Effect, Expr, Frame, Guard, IndexStep, Loc, Place, Proctype, Scope, Shape, System, Then,
    Type, UnOp, Var, VarId,
};
use spinor_model::print::{expr, print};
use spinor_model::read::{read, without_origins};
use spinor_model::source::{Sources, Span};
use spinor_model::validate::validate;
use std::sync::Arc;

fn tastes() -> impl Iterator<Item = Taste> {
    (0..8).map(|n| Taste { global_readers: n & 1 != 0, priorities: n & 2 != 0, monitor: n & 4 != 0 })
}

fn random_system(seed: u64, taste: Taste) -> System {
    let text = random::system(&mut Random::new(seed), taste);
    read(&text).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{text}"))
}

#[test]
fn what_is_printed_is_read_back() {
    for seed in 0..300 {
        for taste in tastes() {
            let system = random_system(seed, taste);
            let text = print(&system);
            let again = read(&text).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{text}"));
            assert_eq!(again, system, "seed {seed}\n{text}");
            assert_eq!(print(&again), text);
        }
    }
}

#[test]
fn random_systems_are_well_made() {
    for seed in 0..300 {
        for taste in tastes() {
            assert_eq!(validate(&random_system(seed, taste)), Vec::<String>::new(), "seed {seed}");
        }
    }
}

fn x() -> Expr {
    Expr::Read(Place { scope: Scope::Global, var: VarId(0), slot: 0, ty: Type::Int, index: vec![] })
}

fn with_x() -> System {
    let mut s = System::default();
    s.globals.vars.push(Var {
        name: "x".into(),
        shape: Shape::Scalar(Type::Int),
        slot: 0,
        hidden: false,
        span: Span::default(),
    });
    s.globals.n_slots = 1;
    s
}

/// An expression alone, through a proctype's `provided` clause and back.
fn expr_survives(e: Expr, written: &str) {
    let mut s = with_x();
    s.proctypes.push(bare_proctype());
    s.proctypes.iter_mut().for_each(|t| t.provided = Some(e.clone()));
    assert_eq!(expr(&s, &Frame::default(), &e), written);
    assert_eq!(read(&print(&s)), Ok(s));
}

fn bare_proctype() -> Proctype {
    let text = "globals\nproctype p (t0) start l0 end l0\n  l0: e0\n    e0: l0 -> l0 when youngest do die\n";
    read(text).unwrap().proctypes.iter().next().unwrap().clone()
}

fn bin(op: BinOp, a: Expr, b: Expr) -> Expr {
    Expr::Binary(op, Box::new(a), Box::new(b))
}

fn un(op: UnOp, a: Expr) -> Expr {
    Expr::Unary(op, Box::new(a))
}

#[test]
fn parentheses_stand_where_they_change_the_meaning() {
    let n = Expr::Const;
    expr_survives(bin(BinOp::Sub, bin(BinOp::Sub, x(), n(1)), n(2)), "@x - 1 - 2");
    expr_survives(bin(BinOp::Sub, x(), bin(BinOp::Sub, n(1), n(2))), "@x - (1 - 2)");
    expr_survives(bin(BinOp::Mul, bin(BinOp::Add, x(), n(1)), n(2)), "(@x + 1) * 2");
    expr_survives(bin(BinOp::Rem, x(), x()), "@x % @x");
    expr_survives(bin(BinOp::Sub, x(), n(-1)), "@x - -1");
    expr_survives(bin(BinOp::Lt, x(), bin(BinOp::Shl, n(1), n(2))), "@x < 1 << 2");
    expr_survives(bin(BinOp::BitAnd, x(), bin(BinOp::Eq, n(1), n(2))), "@x & 1 == 2");
}

#[test]
fn a_negative_number_is_not_a_negation() {
    let n = Expr::Const;
    expr_survives(n(-5), "-5");
    expr_survives(un(UnOp::Neg, n(5)), "-(5)");
    expr_survives(un(UnOp::Neg, n(-5)), "-(-5)");
    expr_survives(un(UnOp::Not, un(UnOp::Not, x())), "!(!@x)");
    expr_survives(n(i32::MIN), "-2147483648");
    expr_survives(Expr::Cond(Box::new(n(1)), Box::new(n(-2)), Box::new(x())), "(1 -> -2 : @x)");
}

#[test]
fn a_place_that_follows_no_shape_is_written_bare() {
    let at = |slot, index| Place { scope: Scope::Global, var: VarId(0), slot, ty: Type::Byte, index };
    expr_survives(Expr::Read(at(7, vec![])), "@x{7 byte}");
    let step = IndexStep { value: x(), len: 3, stride: 2 };
    expr_survives(Expr::Read(at(0, vec![step])), "@x{0 byte [@x; 3; 2]}");
    expr_survives(Expr::Read(Place { var: VarId(9), ..at(7, vec![]) }), "@9{7 byte}");
}

#[test]
fn variables_that_share_a_name_are_told_apart_by_number() {
    let mut s = with_x();
    let var = Var { slot: 1, ..s.globals.vars[VarId(0)].clone() };
    s.globals.vars.push(var);
    s.globals.n_slots = 2;
    let second = Expr::Read(Place { scope: Scope::Global, var: VarId(1), slot: 1, ty: Type::Int, index: vec![] });
    assert_eq!(expr(&s, &Frame::default(), &second), "@1");
    assert!(read("globals\n  var x: int\n  var x: int\n  init @x = 1\n").unwrap_err().message.contains("several"));
}

#[test]
fn names_of_any_kind_survive() {
    let mut s = with_x();
    s.name = "a \"name\"\\\n\u{1}\u{2028}é; ; not a comment".into();
    let odd = ["", ":init:", "t0", "é", "a b", "9lives", "when"];
    for name in odd {
        s.proctypes.push(Proctype { name: name.into(), ..bare_proctype() });
    }
    for (n, t) in s.proctypes.iter_mut().enumerate() {
        t.number = n as u32;
        t.locs[Loc(0)].labels = odd.iter().map(|s| s.to_string()).collect();
        t.frame.chans.push(ChanDecl { name: "q[1].c".into(), capacity: 0, fields: vec![], span: Span::default() });
    }
    s.active = s.proctypes.ids().collect();
    assert_eq!(read(&print(&s)), Ok(s));
}

#[test]
fn a_system_that_breaks_the_rules_survives_as_well() {
    let mut s = with_x();
    s.globals.n_slots = 9;
    let mut t = bare_proctype();
    t.start = Loc(77);
    t.number = 4;
    t.edges.push(Edge {
        from: Loc(5),
        to: Loc(8),
        guards: vec![Guard::NoneOf(vec![]), Guard::Channel, Guard::Holds(x())],
        effects: vec![Effect::End, Effect::Assert(Expr::NewPid)],
        then: Then::DStep,
        in_d_step: true,
        stmt: 3,
        span: Span::default(),
    });
    s.proctypes.push(t);
    assert_eq!(read(&print(&s)), Ok(s));
}

#[test]
fn origins_are_comments() {
    let mut sources = Sources::default();
    let file = sources.add_file("m.pml", "x;\ncritical++ ;\n");
    let mut s = with_x();
    s.sources = Arc::new(sources);
    s.proctypes.push(bare_proctype());
    for t in s.proctypes.iter_mut() {
        t.edges.iter_mut().for_each(|e| e.span = file.span(3, 15));
    }
    let text = print(&s);
    assert!(text.contains("  ; \"critical++ ;\" m.pml:2\n"), "{text}");
    assert_eq!(read(&text), Ok(without_origins(&s)));
}

fn refused(text: &str, line: u32, message: &str) {
    let e = read(text).expect_err(text);
    assert!(e.line == line && e.message.contains(message), "{e}");
}

#[test]
fn errors_name_the_line() {
    refused("system x\n\nnonsense\n", 3, "starts no line here");
    refused("globals\n  var x: byte\n  var y: nothing\n", 3, "is no type");
    refused("globals\n  init @x = 1\n", 2, "no variable x");
    refused("globals\n  var a: [3] byte\n  init @a.3 = 1\n", 3, "no element 3");
    refused("proctype p (t1)\n", 1, "next proctype is t0");
    refused("proctype p (t0)\n  e0: l0 -> l1\n  e0: l0 -> l1\n", 3, "a second e0");
    refused("proctype p (t0)\n  e1: l0 -> l1\n", 2, "no e0");
    refused("system \"no end\n", 1, "without an end");
    refused("proctype p (t0)\n  provided 1 +\n", 2, "found the end of the line");
    refused("var x: byte\n", 1, "belongs to");
    refused("globals\n var x: byte\n init @x = 99999999999\n", 3, "too large");
    refused("globals\n var x: [4000000000] [4000000000] byte\n", 2, "parts");
    refused("active p\n", 1, "no proctype p");
}

#[test]
fn hostile_texts_are_refused_soon() {
    let deep = format!("proctype p (t0)\n provided {}1{}\n", "(".repeat(100_000), ")".repeat(100_000));
    refused(&deep, 2, "too deep");
    let long = format!("proctype p (t0)\n provided 1{}\n", " + 1".repeat(100_000));
    refused(&long, 2, "operators");
    let mut records = String::from("record r0 a { }\n");
    for n in 1..100 {
        records += &format!("record r{n} a {{ x: r{}, y: r{} }}\n", n - 1, n - 1);
    }
    assert!(read(&records).unwrap_err().message.contains("parts"));
    let dims = format!("globals\n var x: {}byte\n", "[1] ".repeat(100_000));
    refused(&dims, 2, "dimensions");
}

#[test]
fn no_damage_to_a_text_makes_the_reader_panic() {
    let mut r = Random::new(7);
    for seed in 0..40 {
        let taste = Taste { global_readers: true, priorities: true, monitor: true };
        let text = print(&random_system(seed, taste));
        let lines: Vec<&str> = text.lines().collect();
        for _ in 0..100 {
            let mut damaged: Vec<String> = lines.iter().map(|l| l.to_string()).collect();
            let at = r.below(damaged.len());
            let line: Vec<char> = damaged[at].chars().collect();
            let cut = r.below(line.len() + 1);
            let noise =
                r.pick(&["", "\"", "(", "[", "{", ";", "-", "4294967295", "99999999999999999999", "%", "@x", "é"]);
            let skip = r.below(4).min(line.len() - cut);
            damaged[at] =
                line[..cut].iter().collect::<String>() + noise + &line[cut + skip..].iter().collect::<String>();
            if r.chance(20) {
                damaged.remove(r.below(lines.len()));
            }
            // Most are refused; what is read is a system and prints.
            if let Ok(system) = read(&damaged.join("\n")) {
                assert_eq!(read(&print(&system)).as_ref(), Ok(&system));
            }
        }
    }
}
