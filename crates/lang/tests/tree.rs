//! What texts mean: the tree of each, written with every nesting shown.
//!
//! Operators appear in `(…)`, the author's own parentheses as `<…>`, inlines as `name{ … }`.

mod common;

use common::{lines, read};
use spinor_lang::ast::{StmtKind, Unit};
use spinor_lang::parser::dump;

/// The whole model.
fn check(text: &str, expected: &str) {
    let p = read(text);
    assert_eq!(dump::program(&p.program), expected, "{text}\n{}", lines(&p));
    assert!(!p.diagnostics.iter().any(|d| d.is_error()), "{text}\n{}", lines(&p));
}

/// The statements of a process.
fn stmts(text: &str, expected: &str) {
    check(&format!("init {{\n{text}\n}}"), &format!("init() {{ {expected} }}"));
}

fn expr(text: &str, expected: &str) {
    stmts(&format!("x = {text}"), &format!("x = {expected}"));
}

fn ltl(text: &str, expected: &str) {
    check(&format!("ltl {{ {text} }}"), &format!("ltl {{ {expected} }}"));
}

#[test]
fn operators_bind_as_in_spin() {
    expr("1|2==2", "(1|(2==2))");
    expr("3>2>1", "((3>2)>1)");
    expr("a || b && c", "(a||(b&&c))");
    expr("1 + 2 * 3 - 4", "((1+(2*3))-4)");
    expr("1 << 2 + 3", "(1<<(2+3))");
    expr("a & b == c ^ d", "((a&(b==c))^d)");
    expr("-1 - -2", "(-1--2)");
    expr("!a == b", "(!a==b)");
    expr("~a + !b * -c", "(~a+(!b*-c))");
    expr("(a + b) * c", "(<(a+b)>*c)");
    expr("10 / 5 % 3", "((10/5)%3)");
}

#[test]
fn values() {
    expr("010", "10");
    expr("'a' + '\\n'", "(97+10)");
    expr("true + false + skip", "((1+0)+1)");
    expr("(a -> b : c)", "<(a -> b : c)>");
    expr("(a -> b : (c -> d : e))", "<(a -> b : <(c -> d : e)>)>");
    expr("a[i+1].b.c[2]", "a[(i+1)].b.c[2]");
    expr("len(q[1]) + len(q)", "(len(q[1])+len(q))");
    expr("full(q) && nempty(q)", "(full(q)&&nempty(q))");
    expr("q?[a,1] || q??[_,eval(b)]", "(q?[a,1]||q??[_,eval b])");
    expr("run P(1, a + 2)", "run P(1,(a+2))");
    expr("run P() priority 3", "run P() priority 3");
    expr("timeout", "timeout");
    expr("enabled(1) + pc_value(_pid) + get_priority(0)", "((enabled(1)+pc_value(_pid))+get_priority(0))");
    expr("c_expr { now.x > 1 } && y", "(c_expr&&y)");
    expr("_nr_pr - _pid", "(_nr_pr-_pid)");
}

#[test]
fn remote_references() {
    check(
        "proctype P() { skip }\nnever { P@L; P[1]@L; P:x == 1; P[i+1]:x[2] && y }",
        "proctype P() { 1 }\nnever { P@L; P[1]@L; (P:x==1); (P[(i+1)]:x[2]&&y) }",
    );
}

#[test]
fn statements() {
    stmts("x = 1; x++; a[2]--; skip", "x = 1; x++; a[2]--; 1");
    stmts("x -> y", "x; y");
    stmts("assert(x == 1); assert x; assert(x) && y", "assert <(x==1)>; assert x; assert (<x>&&y)");
    stmts("printf(\"%d\\n\", x); printf(\"a\"); printm(m)", "printf(\"%d\\n\", x); printf(\"a\"); printm(m)");
    stmts("goto L; L: skip; M: N: x = 1; last:", "goto L; L: 1; M: N: x = 1; last: -");
    stmts("if :: a -> b :: else fi", "if :: a; b :: else fi");
    stmts("do :: a :: b -> break od", "do :: a :: b; break od");
    stmts("atomic { a; b }; d_step { a }; { a }", "atomic { a; b }; d_step { a }; { a }");
    stmts("{ a } unless { b }; x", "<{ a } unless { b }>; x");
    stmts("x = 1 unless y = 2", "<x = 1 unless y = 2>");
    stmts("L: { a } unless { b }", "L: <{ a } unless { b }>");
    stmts("for (i : 1 .. n - 1) { x = i }", "for (i : 1 .. (n-1)) { x = i }");
    stmts("for (i:1..3) { x = i }", "for (i : 1 .. 3) { x = i }");
    stmts("for (m in q) { skip }", "for (m in q) { 1 }");
    stmts("in = 1; in", "in = 1; in");
    stmts(
        "select (i : 1 .. 3); select (i : 1 .. n); select (i : (1) .. 3)",
        "select-literal (i : 1 .. 3); select (i : 1 .. n); select (i : <1> .. 3)",
    );
    stmts("xr a; xs b, c; set_priority(0, 1 + 1)", "xr a; xs b, c; set_priority(0, (1+1))");
    stmts("c_code { x = 1; { y } }; c_code [x > 0] { z }", "c_code; c_code");
    stmts("_ = 3", "_ = 3");
}

#[test]
fn messages() {
    stmts("q!1; q!1,x; q!m(1,2); q!!x,1; q!-1; q!(1)+2", "q!1; q!1,x; q!m,1,2; q!!x,1; q!-1; q!(<1>+2)");
    stmts("q?x; q?x,1; q?m(x,y); q?(x,y); q?x,(y)", "q?x; q?x,1; q?m,x,y; q?x,y; q?x,y");
    stmts("q?<x>; q??x; q??<x,1>; q?-1,'a',true,_", "q?<x>; q??x; q??<x,1>; q?-1,97,1,_");
    stmts("q?eval(x+1),a[1].b; q[2]?x; s.q!1", "q?eval (x+1),a[1].b; q[2]?x; s.q!1");
    stmts("q?[x]; q?[x] -> q?x; !q?[1]", "q?[x]; q?[x]; q?x; !q?[1]");
}

#[test]
fn declarations() {
    check("byte a, b[3] = 7, c = 2;\nbit d\nbool e\nint f", "byte a, b[3] = 7, c = 2\nbit d\nbool e\nint f");
    check("byte a[3] = {1, 2, 3}; unsigned u : 5 = 3, v : 2", "byte a[3] = {1,2,3}\nunsigned u:5 = 3, v:2");
    check("hidden byte a; show int b; local pid c", "hidden byte a\nshow int b\nlocal pid c");
    check(
        "chan a, b = [0] of { mtype, byte }, c[2] = [N] of { chan }",
        "chan a, b = [0] of {mtype, byte}, c[2] = [N] of {chan}",
    );
    check(
        "mtype = { A, B }\nmtype { C D, E }\nmtype:f = { G }\nmtype x = A; mtype:f y",
        "mtype = { A, B }\nmtype = { C, D, E }\nmtype:f = { G }\nmtype x = A\nmtype:f y",
    );
    check(
        "typedef T { byte a; int b[2]\n bool c, d; }\nT t, u[3];",
        "typedef T { byte a; int b[2]; bool c, d }\nT t, u[3]",
    );
    check("typedef T { byte a }\ninit { T\nt; t.a = 1 }", "typedef T { byte a }\ninit() { T t; t.a = 1 }");
}

#[test]
fn units() {
    check("proctype P(byte a, b; chan c) { skip }", "proctype P(byte a, b; chan c) { 1 }");
    check(
        "active [2] proctype P() priority 3 provided (x > 1) { skip }",
        "active [2] proctype P() priority 3 provided (x>1) { 1 }",
    );
    check(
        "D_proctype P() { skip }; active D_proctype Q() { skip };;",
        "D_proctype P() { 1 }\nactive D_proctype Q() { 1 }",
    );
    check("init priority 2 { skip }", "init() priority 2 { 1 }");
    check("never { do :: np_ od }\nnever n { skip }", "never { do :: np_ od }\nnever n { 1 }");
    check("trace { q!1; q?1 } notrace { q!2 }", "trace { q!1; q?1 }\nnotrace { q!2 }");
    check(
        "c_decl { typedef int t; }\nc_state \"int x\" \"Global\"\nc_track \"&x\" \"4\" \"Matched\"",
        "c_decl\nc_state\nc_track",
    );
    check("c_code { char c = '\\0'; /* } */ f(0x1F, 1.5f, \"}\"); $ };\ninit { skip }", "c_code\ninit() { 1 }");
}

// Separators

#[test]
fn a_line_end_separates_after_what_can_end_a_statement() {
    stmts("x = 1\ny = 2", "x = 1; y = 2");
    stmts("x\n-1", "x; -1");
    stmts("x = a[1]\n(b)", "x = a[1]; <b>");
    stmts("x++\ny--\nq?[a]\nfoo", "x++; y--; q?[a]; foo");
    stmts("if\n:: a\n:: b\nfi\ndo\n:: break\nod\nx", "if :: a :: b fi; do :: break od; x");
    stmts("timeout\nskip\nbreak\ngoto L\nL: 'a'\nx", "timeout; 1; break; goto L; L: 97; x");
    stmts("c_code { x }\nx", "c_code; x");
    stmts("byte a\nint b\na = b", "byte a; int b; a = b");
}

#[test]
fn a_line_end_separates_nothing_elsewhere() {
    stmts("x =\n1 +\n2", "x = (1+2)");
    stmts("x = (1\n+ 2\n)", "x = <(1+2)>");
    stmts("a\n-> b\n; c\n;\n;d", "a; b; c; d");
    stmts("atomic\n{\nx\n}\n", "atomic { x }");
    stmts("for (i : 1 .. 2)\n{ x }\ny", "for (i : 1 .. 2) { x }; y");
    stmts("L:\nx", "L: x");
    stmts("{ x }\nunless\n{ y }\nz", "<{ x } unless { y }>; z");
    stmts("x unless\ny", "<x unless y>");
    check("byte a\n= 3;\nchan c\n= [1]\nof\n{ byte }", "byte a = 3\nchan c = [1] of {byte}");
    check("proctype P()\n{ skip }\nnever { P\n@L }", "proctype P() { 1 }\nnever { P@L }");
}

#[test]
fn braces_and_else_separate_without_a_line_end() {
    stmts("{ x } y", "{ x }; y");
    stmts("if :: { x } :: y fi", "if :: { x } :: y fi");
    stmts("do :: a -> b :: else c od", "do :: a; b :: else; c od");
    stmts("if :: else -> x :: else fi", "if :: else; x :: else fi");
    stmts("if :: x -> fi; if :: x; :: y;; fi", "if :: x fi; if :: x :: y fi");
    stmts("x;;;y;", "x; y");
}

#[test]
fn macros_and_separators() {
    check("#define S { x }\ninit { S y }", "init() { { x }; y }");
    check("#define f(a,b) x = a + b\ninit { f(1,\n2) y }", "init() { x = (1+2); y }");
    check("#define E\ninit { x\nE y }", "init() { x; y }");
    check("init { x /* a\nb */ y }", "init() { x; y }");
}

// Inlines

#[test]
fn arguments_replace_parameters_as_text() {
    check("inline f(x) { y = x*2 }\ninit { f(1+2) }", "init() { f{ y = (1+(2*2)) } }");
    check("inline f(a, b) { a = b; b.a = 1 }\ninit { f(x[2], y) }", "init() { f{ x[2] = y; y.x[2] = 1 } }");
    check("inline f(c) { c!1; printf(\"c\") }\ninit { f(q) }", "init() { f{ q!1; printf(\"c\") } }");
    check(
        "inline g(a) { x = a }\ninline f(a) { g(a + 1); g(a) }\ninit { f(2) }",
        "init() { f{ g{ x = (2+1) }; g{ x = 2 } } }",
    );
    check("inline f(l) { goto l }\ninit { f(L); L: skip }", "init() { f{ goto L }; L: 1 }");
}

#[test]
fn a_call_is_a_block() {
    check(
        "inline f() { skip; }\ninit { f() f() if :: f() :: f() -> f() fi }",
        "init() { f{ 1 }; f{ 1 }; if :: f{ 1 } :: f{ 1 }; f{ 1 } fi }",
    );
    check("inline f() { skip }\ninit { f()\nunless { f() }\nf() }", "init() { <f{ 1 } unless { f{ 1 } }>; f{ 1 } }");
    check(
        "inline f(a) {\nx = a\ny = a\n}\ninit { f(1,\n) }".replace(",\n", "").as_str(),
        "init() { f{ x = 1; y = 1 } }",
    );
}

#[test]
fn return_assigns() {
    check(
        "inline f(a) { y = a; return a + 1 }\ninit { x = f(3); z[1] = f(2) }",
        "init() { f{ y = 3; x = (3+1) }; f{ y = 2; z[1] = (2+1) } }",
    );
    check(
        "inline g(a) { return a }\ninline f(a) { t = g(a); return t }\ninit { x = f(1) }",
        "init() { f{ g{ t = 1 }; x = t } }",
    );
    check(
        "inline f(a) { if :: a -> return 1 :: else -> return 2 fi }\ninit { x = f(y) }",
        "init() { f{ if :: y; x = 1 :: else; x = 2 fi } }",
    );
}

#[test]
fn a_statement_of_an_inline_has_its_place_in_the_body() {
    let p = read("byte y;\ninline inc(x) {\n  x = x + 1\n}\ninit { inc(y) }\n");
    let Unit::Proctype(init) = &p.program.units[1] else { panic!("init is the second unit") };
    let StmtKind::Inline { body, .. } = &init.body.stmts[0].kind else { panic!("the call is an inline") };
    let span = body.stmts[0].span;
    assert_eq!(p.sources.line(span), 3);
    assert_eq!(p.sources.one_line(span), "x = x + 1");
    let StmtKind::Assign { to, .. } = &body.stmts[0].kind else { panic!("an assignment") };
    // The argument is found where it was written, and how it came into the body is told.
    assert_eq!(p.sources.start(to.span).line, 5);
    let chain: Vec<_> = p.sources.chain(to.span).iter().map(|e| e.name.clone()).collect();
    assert_eq!(chain, ["x", "inc"]);
    assert_eq!(p.sources.line(init.body.stmts[0].span), 5);
}

#[test]
fn a_statement_of_a_macro_has_its_place_at_the_call() {
    let p = read("#define inc(v) v = v + 1\nbyte y;\ninit {\n  inc(y)\n}\n");
    let Unit::Proctype(init) = &p.program.units[1] else { panic!("init is the second unit") };
    let span = init.body.stmts[0].span;
    assert_eq!((p.sources.line(span), p.sources.one_line(span).as_str()), (4, "inc(y)"));
}

// Formulas

#[test]
fn formulas() {
    ltl("[] p", "Always p");
    ltl("<>[]p && !q", "(Eventually Always p&&!q)");
    ltl("p U q -> r", "((p Until q) Implies r)");
    ltl("p && q U r || s", "((p&&(q Until r))||s)");
    ltl("p U q U r", "((p Until q) Until r)");
    ltl("p -> q -> r", "((p Implies q) Implies r)");
    ltl("p <-> q W r V s", "(p Equivalent ((q WeakUntil r) Release s))");
    ltl("always p implies eventually q", "(Always p Implies Eventually q)");
    ltl("p until q equivalent p weakuntil (p release q)", "((p Until q) Equivalent (p WeakUntil <(p Release q)>))");
    ltl("X X p || next q", "(Next Next p||Next q)");
    ltl("[](p->q);", "Always <(p Implies q)>");
    ltl("[] p U q", "(Always p Until q)");
    ltl("!<>(p || q)", "!Eventually <(p||q)>");
    ltl("x + 1 < 3 U y == 2", "(((x+1)<3) Until (y==2))");
}

#[test]
fn a_temporal_operator_takes_the_comparison() {
    ltl("[] x < 3", "Always (x<3)");
    ltl("<>[] x == 2 && y", "(Eventually Always (x==2)&&y)");
    ltl("[] x + 1 <= 3 -> y", "(Always ((x+1)<=3) Implies y)");
}

#[test]
fn formulas_may_use_channels_and_processes() {
    ltl("[] full(q) && <> !empty(q)", "(Always full(q)&&Eventually !empty(q))");
    ltl("[] (len(q) < 2)", "Always <(len(q)<2)>");
    ltl("[] P[1]@L -> q?[1]", "(Always P[1]@L Implies q?[1])");
    check("proctype P() { skip }\nltl n { <>(P:x == 1) }", "proctype P() { 1 }\nltl n { Eventually <(P:x==1)> }");
    ltl("[] ((a -> b : c) > 1)", "Always <(<(a -> b : c)>>1)>");
}

#[test]
fn letters_are_operators_in_formulas_only() {
    stmts("U = V; X = W; always = next", "U = V; X = W; always = next");
    check("byte X;\nltl { X U X == 1 }", "byte X\nltl { (X Until (X==1)) }");
}
