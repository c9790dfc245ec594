//! Operations in formulas: what they become, that nobody's names are taken, and what is said where one is wrong.

use spinor_lang::{Loaded, Options, load};
use spinor_model::ir::{Expr, Operation, Pattern};

fn read(name: &str, text: &str) -> Loaded {
    load(name, text, &Options::default(), &|_| Err(std::io::ErrorKind::NotFound.into()))
}

fn model(name: &str, text: &str) -> spinor_lang::Model {
    let loaded = read(name, text);
    assert!(loaded.diagnostics.is_empty(), "{text}\n{:?}", loaded.diagnostics);
    loaded.model.expect("a model")
}

/// What is said, and where: `code line:column`.
fn said(name: &str, text: &str) -> Vec<String> {
    let loaded = read(name, text);
    let at = |d: &spinor_model::diagnostic::Diagnostic| {
        let place = d.primary.as_ref().map(|(span, _)| loaded.sources.start(*span)).expect("it has a place");
        format!("{} {}:{}", d.code, place.line, place.col)
    };
    loaded.diagnostics.iter().map(at).collect()
}

const HEAD: &str = "mtype = { ack, data };\nchan q = [2] of { mtype, byte };\nchan two[2] = [1] of { byte };\nbyte x;\n\
                    active proctype P() { L: q!ack,1; two[1]!1; q?_,x }\n";

#[test]
fn an_operation_is_a_proposition_of_its_own() {
    let text =
        format!("{HEAD}ltl p {{ [] (happens(P[0]: q!data,_) && x < 3 && !happens(two[1]?) -> happens(P@L)) }}\n");
    let model = model("m.pml", &text);
    let f = &model.formulas[0];
    assert_eq!(f.says, ["happens(P[0]: q!data,_)", "x < 3", "happens(two[1]?)", "happens(P@L)"]);
    assert_eq!(f.formula.to_string(), "[] (((p0 && p1) && !p2) -> p3)");
    let operation = |n: usize| if let Expr::Happens(o) = &f.props[n] { (**o).clone() } else { panic!("{n}") };
    match operation(0) {
        Operation::Passes { by: Some((_, Some(Expr::Const(0)))), send: true, args, .. } => {
            assert_eq!(args, [Pattern::Equal(Expr::Const(1)), Pattern::Any]);
        }
        other => panic!("{other:?}"),
    }
    assert!(matches!(operation(2), Operation::Passes { by: None, send: false, ref args, .. } if args.is_empty()));
    let start = model.system.proctypes.iter().next().expect("P").start;
    assert!(matches!(operation(3), Operation::Leaves { loc, pid: None, .. } if loc == start));
}

/// `!!` and `??` are sends and receives, too, and so is one whose fields stand in parentheses.
#[test]
fn other_ways_to_write_it_say_the_same() {
    let says = |operation: &str| {
        let model = model("m.pml", &format!("{HEAD}ltl p {{ <> happens({operation}) }}\n"));
        model.formulas[0].props[0].clone()
    };
    assert_eq!(says("q!ack,1"), says("q!!ack(1)"));
    assert_eq!(says("q?ack,eval(x)"), says("q??ack(eval(x))"));
    assert_ne!(says("q?ack"), says("q!ack"));
}

#[test]
fn a_models_own_names_stay_its_own() {
    let variable = "byte happens;\nactive proctype P() { happens = 1; (happens == 1) }\nltl p { <> (happens == 1) }\n";
    assert!(!matches!(model("m.pml", variable).formulas[0].props[0], Expr::Happens(_)));
    let inline = "byte x;\ninline happens(v) { x = v }\nactive proctype P() { happens(2) }\nltl p { <> (x == 2) }\n";
    assert_eq!(model("m.pml", inline).formulas[0].says, ["x == 2"]);
    let defined = "#define happens(v) (x == v)\nbyte x;\nactive proctype P() { x = 2 }\nltl p { <> happens(2) }\n";
    assert!(!matches!(model("m.pml", defined).formulas[0].props[0], Expr::Happens(_)));
}

#[test]
fn what_is_wrong_is_said_where_it_is() {
    let formula = |f: &str| said("m.pml", &format!("{HEAD}ltl p {{ {f} }}\n"));
    assert_eq!(formula("<> happens(r!)"), ["P0102 6:20"]);
    assert_eq!(formula("<> happens(x!)"), ["P0303 6:20"]);
    assert_eq!(formula("<> happens(R: q!)"), ["P0103 6:20"]);
    assert_eq!(formula("<> happens(P@M)"), ["P0104 6:22"]);
    assert_eq!(formula("<> happens(q!x)"), ["P0345 6:22"]);
    assert_eq!(formula("<> happens(q!ack,1,2)"), ["P0307 6:12"]);
    assert_eq!(formula("<> happens(q)"), ["P0201 6:21"]);
    assert_eq!(said("m.pml", &format!("{HEAD}active proctype Q() {{ !happens(q!) }}\n")), ["P0344 6:24"]);
    assert_eq!(said("m.pml", &format!("{HEAD}never {{ do :: (happens(q!)) od }}\n")), ["P0344 6:16"]);
}

const PROTOCOL: &str = "channel c: a -> b [1] of m, n(0..1)\nprocess a { state s { -m -> s -n(1) -> s go -> s } }\n\
                        process b { state t { +m -> t +n -> t } }\n";

#[test]
fn transitions_of_a_protocol_are_named_as_they_are_written() {
    let text = format!(
        "{PROTOCOL}ltl f {{ [] (happens(a: -n(1)) -> happens(b: +n via c) U (happens(b: +n(0)) || happens(a: go))) }}\n"
    );
    let loaded = read("p.cfsm", &text);
    let model = loaded.model.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics));
    assert_eq!(
        model.formulas[0].says,
        ["happens(a: -n(1))", "happens(b: +n via c)", "happens(b: +n(0))", "happens(a: go)"]
    );
    let go = &model.formulas[0].props[3];
    assert!(matches!(go, Expr::Happens(o) if matches!(&**o, Operation::Takes { edges, .. } if edges.len() == 1)));
    // SPIN has no words for it: it is told what it cannot be asked.
    let promela = model.promela.expect("a protocol");
    assert!(promela.contains("/* about operations") && promela.contains("happens(c!n,1)"), "{promela}");
    let again = read("p.pml", &promela);
    assert!(again.model.is_some_and(|m| m.formulas.is_empty()), "{promela}\n{:?}", again.diagnostics);
}

#[test]
fn what_is_wrong_in_a_protocol_is_said_where_it_is() {
    let formula = |f: &str| said("p.cfsm", &format!("{PROTOCOL}ltl f {{ {f} }}\n"));
    assert_eq!(formula("<> happens(d: -m)"), ["C0102 4:20"]);
    assert_eq!(formula("<> happens(a: -o)"), ["C0105 4:24"]);
    assert_eq!(formula("<> happens(b: -m)"), ["C0105 4:24"]);
    assert_eq!(formula("<> happens(a: -m via d)"), ["C0103 4:30"]);
    assert_eq!(formula("<> happens(a: +m via c)"), ["C0107 4:30"]);
    assert_eq!(formula("<> happens(a: og)"), ["C0108 4:23"]);
    assert_eq!(formula("<> happens(a: -n(2))"), ["C0309 4:26"]);
    assert_eq!(formula("<> happens(a: -n(0))"), ["C0322 4:23"]);
    assert_eq!(formula("<> happens(a -m)"), ["C0003 4:22"]);
    assert_eq!(formula("<> happens(a: -n(1)) && <> happens(b: +n(0))"), Vec::<String>::new());
}
