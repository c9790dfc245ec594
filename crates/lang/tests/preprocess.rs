//! The preprocessor against what `gcc -E` prints for the same text.

mod common;

use common::{errors, lines, no_files, read};
use spinor_lang::parse;
use spinor_lang::preprocess::{Options, Preprocessor};
use spinor_lang::token::{NEWLINE, SPACE, Tok};
use std::io;
use std::path::Path;

/// The tokens of a text: a space where white space stood, `/` where a line ends before a token.
fn tokens(text: &str, options: &Options) -> String {
    let mut pp = Preprocessor::new("m.pml", text, options, &no_files);
    let tokens = pp.run();
    let mut out = String::new();
    for t in tokens {
        let text = match t.tok {
            Tok::Word(s) | Tok::Number(s) | Tok::Open(s) => pp.names.text(s).to_string(),
            Tok::Char(s) => format!("'{}'", pp.names.text(s)),
            Tok::Str(s) => format!("\"{}\"", pp.names.text(s)),
            Tok::Sign(s) => s.text().to_string(),
            Tok::Stray(c) => c.to_string(),
            Tok::C(_) | Tok::Eof => break,
        };
        if t.has(NEWLINE) && !out.is_empty() {
            out.push_str(" / ");
        } else if t.has(SPACE) && !out.is_empty() {
            out.push(' ');
        }
        out.push_str(&text);
    }
    let codes: Vec<_> = pp.diags.list.iter().map(|d| d.code).collect();
    if codes.is_empty() { out } else { format!("{out} !{}", codes.join(" ")) }
}

fn check(text: &str, expected: &str) {
    assert_eq!(tokens(text, &Options::default()), expected, "{text}");
}

#[test]
fn plain_macros() {
    check("#define N 3\nN N+N xN", "3 3+3 xN");
    check("#define A B\n#define B C\nA\n#undef B\nA", "C / B");
    check("#define EMPTY\na EMPTY b", "a b");
    check("#define f (x)\nf (1)", "(x) (1)");
    check("# define N 1\n  #  define M 2\nN M", "1 2");
}

#[test]
fn a_macro_sleeps_in_its_own_expansion() {
    check("#define self self+1\nself", "self+1");
    check("#define a b\n#define b a\na b", "a b");
    check("#define f(x) x f(x)\nf(f(1))", "1 f(1) f(1 f(1))");
    check("#define foo foo bar\n#define bar foo\nfoo bar", "foo foo foo bar");
}

#[test]
fn macros_with_arguments() {
    check("#define f(x) <x>\nf(1) f (2) f f EMPTY (3)", "<1> <2> f f EMPTY (3)");
    check("#define f(x,y) x-y\nf((1,2),3) f( a , b )", "(1,2)-3 a-b");
    check("#define f(x) <x>\n#define obj f\n#define g(x) f(x\nobj(2) g(1))", "<2> <1>");
    check("#define z() zz\n#define f(x) [x]\nz() z( ) f() f( )", "zz zz [] []");
    check("#define f(x) <x>\nf(f(f(1)))", "<<<1>>>");
    check("#define f(x) <x>\nf\n#define g\n(1) f(2\n#define h 3\nh)", "f / (1) <2 3>");
    check("#define N 3\n#define f(x) x+N\nf(N)", "3+3");
    check("#define v(x,...) x:__VA_ARGS__\nv(1,2,3) v(1,2) v(1)", "1:2,3 1:2 1:");
    check("#define p(f,a...) q(f,##a)\np(1) p(1,2)", "q(1) q(1,2)");
    check("#define max(a,b) ((a) > (b) -> (a) : (b))\nmax(x, y+1)", "((x) > (y+1) -> (x) : (y+1))");
}

#[test]
fn strings_and_joined_tokens() {
    check("#define s(x) #x\n#define N 3\ns( a  \"q\\n\" 'c' ) s(N) s()", "\"a \\\"q\\\\n\\\" 'c'\" \"N\" \"\"");
    check("#define s(x) #x\n#define t(x) s(x)\n#define N 3\nt(N)", "\"3\"");
    check("#define c(x,y) x##y\nc(a,b) c(1,2) c(,x) c(x,) c(-,>)", "ab 12 x x ->");
    check("#define c(x,y) x##y\n#define ab 7\nc(a,b)", "7");
    check("#define N 3\n#define c(x) x##1 x\nc(N)", "N1 3");
    check("#define both left ## right\nboth", "leftright");
    check("#define c(x,y) x##y\nc(+,-)", "skip !P0044");
}

#[test]
fn line_ends_are_where_gcc_prints_them() {
    check("a /* q\n r */ b", "a / b");
    check("a \\\n b", "a / b");
    check("#define f(a,b) a+b\nf(1,\n 2) c", "1+2 / c");
    check("#define f(a,b) a+b\nf(1\n,2\n)\nd", "1+2 / d");
    check("#define E\na\nE e\ng E\nh", "a / e / g / h");
    check("#define M x y\na\nM\nb", "a / x y / b");
    check("#define f(a) [a]\nf\n(3) f\nx", "[3] / f / x");
    check("#define two x=1; \\\n y=2\ntwo", "x=1; y=2");
}

#[test]
fn conditional_text() {
    check("#ifdef X\na\n#else\nb\n#endif\nc", "b / c");
    check("#define X\n#ifdef X\na\n#else\nb\n#endif", "a");
    check("#ifndef X\na\n#ifdef X\nb\n#else\nc\n#endif\n#endif", "a / c");
    check("#if 0\n#if 1\na\n#else\nb\n#endif\n#elif 1\nc\n#elif 1\nd\n#else\ne\n#endif", "c");
    check("#if 0\n\"unclosed ' /* \n*/ #endif\n#endif\na", "a");
    check("#if 0\n#bad\n#error no\n#include \"x\"\n#endif\na", "a");
    check("#if 1\na\n#else\n#error no\n#endif", "a");
    check("x\n#if 0 /* a\n b */\ny\n#endif\nz", "x / z");
}

#[test]
fn conditions_are_expressions_of_c() {
    for (condition, value) in [
        ("1 + 2 * 3 == 7", true),
        ("(1 + 2) * 3 == 7", false),
        ("0x10 == 16 && 010 == 8", true),
        ("10UL == 10", true),
        ("1 ? 0 : 1", false),
        ("0 && 1/0", false),
        ("1 || 1/0", true),
        ("-1 < 0", true),
        ("!0 && ~0 == -1", true),
        ("!!5 == 1", true),
        ("1 << 3 == 8", true),
        ("7 % 4 == 3 && 7 / 4 == 1", true),
        ("(2 > 1) && (2 >= 2) && 1 != 2", true),
        ("6 & 3 | 8 ^ 1", true),
        ("UNKNOWN", false),
        ("true", false),
        ("defined N && N == 3", true),
        ("defined(N) && !defined(M)", true),
        ("f(2) == 4", true),
        ("'a' == 97", true),
        ("2147483648 > 0", true),
    ] {
        let text = format!("#define N 3\n#define f(x) x*2\n#if {condition}\nyes\n#else\nno\n#endif");
        check(&text, if value { "yes" } else { "no" });
    }
}

#[test]
fn names_the_preprocessor_knows() {
    check("__LINE__ a\n__LINE__ __FILE__", "1 a / 2 \"m.pml\"");
    check("#define L __LINE__\n\nL", "3");
    check("#ifdef __LINE__\nx\n#endif", "x");
}

#[test]
fn other_directives_pass() {
    check("#pragma once\n#ident \"x\"\n#line 12\n# 12 \"other.pml\" 1\n#\na", "a");
    check("a # b", "a # b");
    check("#define x 1 // one\n#define y 2 /* two */ + 3\nx y", "1 2 + 3");
}

#[test]
fn the_command_line_comes_first() {
    let defines = vec![("N".into(), Some("3".into())), ("F".into(), None), ("g(x)".into(), Some("x+x".into()))];
    let options = Options { defines, undefines: vec!["F".into()], ..Options::default() };
    assert_eq!(tokens("N g(1)\n#ifdef F\nf\n#endif", &options), "3 1+1");
    let options = Options { defines: vec![("N".into(), Some("+ ;".into()))], ..Options::default() };
    let p = parse("m.pml", "byte x; init { x = N }", &options, &no_files);
    assert!(lines(&p).contains("P0201 error <command line>:1:11..1:12 via N"), "{}", lines(&p));
}

fn files(path: &Path) -> io::Result<Vec<u8>> {
    match path.to_str() {
        Some("a.h") => Ok(b"#ifndef A\n#define A\nbyte a;\n#include \"sub/b.h\"\n#endif\n".to_vec()),
        Some("sub/b.h") => Ok(b"#include \"c.h\"\nbyte b = ;".to_vec()),
        Some("sub/c.h") => Ok(b"#include \"../a.h\"\nbyte c;\n".to_vec()),
        _ => Err(io::ErrorKind::NotFound.into()),
    }
}

#[test]
fn includes_are_found_beside_the_file_that_asks() {
    let text = "#include \"a.h\"\n#include \"a.h\"\n#define F \"a.h\"\n#include F\ninit { a = 1 }";
    let p = parse("m.pml", text, &Options::default(), &files);
    assert_eq!(errors(&p), ["P0201 error sub/b.h:2:10..2:11 expected a value, found `;`"], "{}", lines(&p));
}

#[test]
fn places_survive_macros() {
    let p = read("#define ONE 1a\n#define TWO(x) ONE + x\nbyte y;\ninit { y = TWO(2b) }\n");
    assert_eq!(
        errors(&p),
        [
            "P0004 error 1:13..1:15 via ONE via TWO `1a` is not a number of Promela | help numbers are decimal digits only; names begin with a letter or `_`"
        ]
    );
    let surface = p.sources.surface(p.diagnostics[0].primary.as_ref().map(|(s, _)| *s).unwrap_or_default());
    assert_eq!(p.sources.text(surface), "TWO(2b)");
}
