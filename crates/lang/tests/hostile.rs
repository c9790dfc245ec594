//! Texts that want to break the reader: each ends soon, in a message, on a small stack.

mod common;

use common::{errors, lines, read, read_and_lower};
use spinor_lang::{Options, Parsed, load, parse};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

/// Reads the text in a thread with the smallest stack in use, and expects these codes among the errors.
fn check(text: String, expected: &[&str]) -> Parsed {
    check_with(text, expected, |_| Err(io::ErrorKind::NotFound.into()))
}

fn check_with(text: String, expected: &[&str], loader: fn(&Path) -> io::Result<Vec<u8>>) -> Parsed {
    let start = Instant::now();
    let thread = std::thread::Builder::new().stack_size(2 << 20);
    let parsed =
        thread.spawn(move || parse("m.pml", &text, &Options::default(), &loader)).expect("a thread can be started");
    let parsed = parsed.join().expect("reading does not panic");
    let time = start.elapsed();
    let found: Vec<_> = parsed.diagnostics.iter().filter(|d| d.is_error()).map(|d| d.code).collect();
    assert_eq!(found, expected, "{}", lines(&parsed).chars().take(2000).collect::<String>());
    // A second is the promise for optimised builds.
    let limit = if cfg!(debug_assertions) { 4 } else { 1 };
    assert!(time < Duration::from_secs(limit), "took {time:?}");
    parsed
}

fn times(s: &str, n: usize) -> String {
    s.repeat(n)
}

#[test]
fn two_hundred_levels_are_fine() {
    check(format!("init {{ {}skip{} }}", times("{ ", 200), times(" }", 200)), &[]);
    check(format!("init {{ {}skip{} }}", times("if :: ", 200), times(" fi", 200)), &[]);
    check(format!("byte x; init {{ x = {}1{} }}", times("(", 200), times(")", 200)), &[]);
    check(format!("byte x; init {{ x = 1{} }}", times(" + 1", 450)), &[]);
}

#[test]
fn twenty_thousand_levels_are_refused() {
    let n = 20_000;
    check(format!("init {{ {}skip{} }}", times("{ ", n), times(" }", n)), &["P0238"]);
    check(format!("init {{ {}skip{} }}", times("if :: ", n), times(" fi", n)), &["P0238"]);
    check(format!("byte x; init {{ x = {}1{} }}", times("(", n), times(")", n)), &["P0238"]);
    check(format!("byte x; init {{ x = {}1{} }}", times("(1 -> 1 : ", n), times(")", n)), &["P0238"]);
    check(format!("byte a[2]; init {{ {}1{} = 1 }}", times("a[", n), times("]", n)), &["P0238"]);
    check(format!("chan q = [1] of {{ byte }}; init {{ q?{}1{} }}", times("(", n), times(")", n)), &["P0238"]);
    check(format!("byte x; init {{ skip }} ltl p {{ {}x }}", times("[] ", n)), &["P0238"]);
    check(format!("byte x; init {{ x = {}1 }}", times("!", n)), &["P0239"]);
    check(format!("byte x; init {{ x = 1{} }}", times(" + 1", n)), &["P0239"]);
    check(format!("#if {}1{}\n#endif\ninit {{ skip }}", times("(", n), times(")", n)), &["P0041"]);
}

#[test]
fn the_deepest_tree_there_can_be_fits_the_stack() {
    check(
        format!(
            "byte x; init {{ {}x = {}1{}{} }}",
            times("atomic { ", 150),
            times("(1 + ", 140),
            times(")", 140),
            times(" }", 150)
        ),
        &[],
    );
    check(format!("init {{ {}skip{} }}", times("do :: { skip } unless { ", 290 / 3), times(" } od", 290 / 3)), &[]);
}

#[test]
fn long_names_and_strings_are_refused() {
    check(format!("byte {}; init {{ skip }}", times("a", 5000)), &["P0006"]);
    check(format!("init {{ printf(\"{}\") }}", times("a", 100_000)), &["P0007"]);
    check(format!("byte {}; init {{ skip }}", times("a", 511)), &[]);
}

#[test]
fn doubling_macros_end() {
    for n in [24, 60] {
        let chain = |param: &str, first: &str| -> String {
            let step = |i| format!("#define M{}{param} M{i}{param} M{i}{param}\n", i + 1);
            format!("#define M0{param} {first}\n{}", (0..n).map(step).collect::<String>())
        };
        check(format!("{}init {{ M{n} skip }}", chain("", "skip;")), &["P0034"]);
        check(format!("{}init {{ M{n} skip }}", chain("", "")), &["P0034"]);
        check(format!("{}init {{ M{n}(skip) skip }}", chain("(x)", "x;")), &["P0034"]);
        check(format!("#define D(x) x x\ninit {{ {}skip;{} skip }}", times("D(", n), times(")", n)), &["P0034"]);
        let step = |i| format!("inline M{}() {{ M{i}(); M{i}() }}\n", i + 1);
        let inlines: String = (0..n).map(step).collect();
        check(format!("inline M0() {{ skip }}\n{inlines}init {{ M{n}() }}"), &["P0228"]);
    }
}

#[test]
fn deep_macros_do_not_use_the_stack() {
    let n = 5000;
    let chain: String = (0..n).map(|i| format!("#define M{} M{i}\n", i + 1)).collect();
    check(format!("{chain}init {{ M{n} }}"), &["P0034"]);
    check(format!("#define I(x) x\ninit {{ {}skip{} }}", times("I(", n), times(")", n)), &["P0034"]);
    check(format!("#define I(x) x\ninit {{ {}skip{} }}", times("I(", 90), times(")", 90)), &[]);
}

#[test]
fn a_file_that_includes_itself_is_stopped() {
    let p =
        check_with("#include \"m.pml\"\ninit { skip }".into(), &["P0037"], |_| Ok(b"#include \"m.pml\"\n".to_vec()));
    assert!(lines(&p).contains("the file includes itself"), "{}", lines(&p));
    check_with("#include \"a\"\n".into(), &["P0037"], |_| Ok(b"#include \"a\"\n#include \"a\"\n".to_vec()));
    // Twice, but never deep: two files that double.
    fn fan(path: &Path) -> io::Result<Vec<u8>> {
        let n: usize = path.to_str().and_then(|s| s.parse().ok()).unwrap_or(0);
        Ok(if n == 0 { b"\n".to_vec() } else { format!("#include \"{0}\"\n#include \"{0}\"\n", n - 1).into_bytes() })
    }
    check_with("#include \"40\"\n".into(), &["P0037"], fan);
}

#[test]
fn file_names_are_only_names() {
    fn shown(path: &Path) -> io::Result<Vec<u8>> {
        assert_eq!(path.to_str(), Some("$(reboot); `x` | y"));
        Err(io::ErrorKind::NotFound.into())
    }
    let p = check_with("#include \"$(reboot); `x` | y\"\ninit { skip }".into(), &["P0035"], shown);
    assert!(lines(&p).contains("cannot find `$(reboot); `x` | y`"));
    let p = parse("$(reboot).pml", "init { skip", &Options::default(), &common::no_files);
    assert_eq!(errors(&p).len(), 1);
}

#[test]
fn only_files_below_the_model_are_read() {
    for name in ["/etc/passwd", "../x", "a/../../x", "./../x", "a/b/../../../x"] {
        let text = format!("#include \"{name}\"\ninit {{ skip }}");
        check_with(text, &["P0036"], |p| panic!("{p:?} must not be asked for"));
    }
    fn below(path: &Path) -> io::Result<Vec<u8>> {
        assert_eq!(path.to_str(), Some("models/b/x.h"));
        Ok(b"byte x;\n".to_vec())
    }
    let text = "#include \"a/../b/./x.h\"\ninit { x = 1 }";
    let p = parse("models/m.pml", text, &Options::default(), &below);
    assert!(errors(&p).is_empty(), "{}", lines(&p));
    let roots = Options { include_roots: vec!["/lib/promela".into()], ..Options::default() };
    let p = parse("m.pml", "#include <x.h>\ninit { x = 1 }", &roots, &|path| {
        assert_eq!(path.to_str(), Some("/lib/promela/x.h"));
        Ok(b"byte x;\n".to_vec())
    });
    assert!(errors(&p).is_empty(), "{}", lines(&p));
    let p = parse("m.pml", "#include <../x.h>\ninit { x = 1 }", &roots, &|_| panic!("must not be read"));
    assert_eq!(p.diagnostics[0].code, "P0036", "{}", lines(&p));
}

#[test]
fn a_flood_of_mistakes_ends_after_twenty() {
    for text in
        ["}", "fi ", "$", "“", "1a;", "::", "init { ( } ", "typedef ", "proctype P( ", "do ", "#foo\n", "\"\n", "++x;"]
    {
        let p = read(&format!("init {{ {}", times(text, 5000)));
        assert!((1..=21).contains(&errors(&p).len()), "{text}: {}", errors(&p).len());
    }
}

// Random texts

struct Rng(u64);

impl Rng {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n
    }
}

const WORDS: &str = "active assert atomic bit bool break byte c_code c_decl c_expr c_state c_track chan D_proctype d_step do else \
    empty enabled eval false fi for full get_priority goto hidden if inline init int len local ltl mtype nempty never nfull \
    notrace np_ od of pc_value pid printf printm priority proctype provided return run select set_priority short show skip \
    timeout trace true typedef unless unsigned xr xs in while switch case main void x y q P f M A B 1 2 0x1 1.5 99999999999 'a' 'ab' \
    \"s\" \" ' { } ( ) [ ] ; , : :: . .. ... ? ?? ! !! != = == < <= <> <-> << > >= >> + ++ - -- -> * / % & && | || ^ ~ @ # ## \\ $ [] \
    U V W X always until #define #undef #if #ifdef #else #endif #elif #include #error defined __LINE__ __VA_ARGS__ “ ” – é /* */ //";

#[test]
fn token_soups_neither_panic_nor_hang() {
    let words: Vec<&str> = WORDS.split_whitespace().collect();
    let mut rng = Rng(0x5eed_1234_5678_9abc);
    for round in 0..4000 {
        let mut text = String::from(match round % 4 {
            0 => "#define M x\n#define N(a,b) a##b #a M\ninit { ",
            1 => "inline f(a, b) { a = b; if :: a -> skip fi }\nproctype P(byte k) { ",
            2 => "typedef T { byte f }\nchan q = [1] of { byte }; ltl p { ",
            _ => "",
        });
        for _ in 0..rng.below(80) {
            text.push_str(words[rng.below(words.len())]);
            text.push_str([" ", " ", " ", "\n", "", "\\\n", "\t"][rng.below(7)]);
        }
        read_and_lower(&text);
    }
}

#[test]
fn random_bytes_neither_panic_nor_hang() {
    let mut rng = Rng(0xbad_5eed);
    for _ in 0..3000 {
        let n = rng.below(200);
        let bytes: Vec<u8> =
            (0..n).map(|_| if rng.below(3) == 0 { rng.below(256) as u8 } else { 32 + rng.below(95) as u8 }).collect();
        read_and_lower(&String::from_utf8_lossy(&bytes));
    }
}

const MODEL: &str = r#"#define N 3
#define max(a, b) ((a) > (b) -> (a) : (b))
#ifdef UNUSED
#error never
#else
mtype = { req, ack };
#endif
typedef Cell { byte v[2]; bool b };
chan q = [N] of { mtype, byte };
Cell cells[N];
inline swap(a, b) { tmp = a; a = b; b = tmp }
inline twice(a) { return a * 2 }
active [N] proctype P() priority 2 provided (true) {
    byte tmp, i;
    do
    :: q!req(tmp) -> i++
    :: q??[req, 1] -> q??req, tmp; q?<ack, eval(i)>
    :: atomic { tmp < max(i, 3) -> swap(tmp, i); i = twice(tmp) }
    :: else -> break
    od unless { timeout };
    for (i : 0 .. N - 1) { cells[i].v[1] = 'x' }
    select (i : 1 .. 4); printf("%d\n", i);
L:  if :: full(q) && !cells[0].b -> goto L :: d_step { i = 1; skip } fi
    c_code { now.x = 1; }; assert(i >= 0)
}
ltl p { [] (P@L -> <> (len(q) == 0)) && (q?[ack, _] U true) }
never n { do :: np_ od }
"#;

#[test]
fn a_model_cut_anywhere_is_read() {
    assert_eq!(errors(&read(MODEL)), Vec::<String>::new());
    for (at, _) in MODEL.char_indices() {
        read_and_lower(&MODEL[..at]);
        read_and_lower(&MODEL[at..]);
    }
}

#[test]
fn a_model_with_words_lost_or_doubled_is_read() {
    let words: Vec<&str> = MODEL.split_inclusive(char::is_whitespace).collect();
    for i in 0..words.len() {
        let without: String = words.iter().enumerate().filter(|(j, _)| *j != i).map(|(_, w)| *w).collect();
        read_and_lower(&without);
        let doubled: String = words.iter().enumerate().flat_map(|(j, w)| [*w, if j == i { w } else { "" }]).collect();
        read_and_lower(&doubled);
        let j = (i * 7919 + 13) % words.len();
        let mut swapped = words.clone();
        swapped.swap(i, j);
        read_and_lower(&swapped.concat());
    }
}

/// The checker, too, answers soon and on a small stack.
fn lowers(text: String, expected: &[&str]) {
    let start = Instant::now();
    let thread = std::thread::Builder::new().stack_size(2 << 20);
    let loaded = thread
        .spawn(move || load("m.pml", &text, &Options::default(), &common::no_files))
        .expect("a thread can be started")
        .join()
        .expect("checking does not panic");
    let time = start.elapsed();
    let found: Vec<_> = loaded.diagnostics.iter().filter(|d| d.is_error()).map(|d| d.code).collect();
    assert_eq!(found, expected);
    let limit = if cfg!(debug_assertions) { 4 } else { 1 };
    assert!(time < Duration::from_secs(limit), "took {time:?}");
}

#[test]
fn states_that_cannot_be_held_are_refused() {
    lowers("byte a[2000000000]; init { skip }".into(), &["P0306"]);
    lowers("chan c = [1000000] of { byte }; init { skip }".into(), &["P0305"]);
    let doubling: String = (1..30).map(|i| format!("typedef T{i} {{ T{0} a; T{0} b }};\n", i - 1)).collect();
    let loaded = load(
        "m.pml",
        &format!("typedef T0 {{ byte a }};\n{doubling}T29 x; init {{ skip }}"),
        &Options::default(),
        &common::no_files,
    );
    assert!(loaded.diagnostics.iter().any(|d| d.code == "P0306"));
}

#[test]
fn deep_and_wide_bodies_are_lowered() {
    lowers(format!("byte x; init {{ {}x = 1{} }}", times("{ ", 200), times(" }", 200)), &[]);
    lowers(format!("byte x; init {{ {}x = 1{} }}", times("if :: ", 200), times(" fi", 200)), &[]);
    lowers(format!("byte x; init {{ {}x = 1{} }}", times("{ ", 100), times("} unless { x == 3 }", 100)), &[]);
    lowers(format!("byte x; init {{ do {} od }}", times(":: x == 1 -> x = 2 ", 3000)), &[]);
    lowers(format!("byte x; init {{ d_step {{ if {} :: else fi; x = 1 }} }}", times(":: x == 1 -> x = 2 ", 1500)), &[]);
    lowers(format!("byte x; init {{ {} skip }}", times("x = 1; ", 20000)), &[]);
}
