//! Protocols of communicating machines: what they become, what is said about them, and that no text breaks the reader.

use spinor_lang::{Loaded, Options, load};
use spinor_model::validate::validate;
use std::time::{Duration, Instant};

fn read(text: &str) -> Loaded {
    load("p.cfsm", text, &Options::default(), &|_| Err(std::io::ErrorKind::NotFound.into()))
}

const GOOD: &str = "\
channel ab: a -> b [2] of req, data(0..3, 1..2) // a comment
channel ba: b -> a [1] of ack
/* another */
process a {
    state 10 final { -req -> waiting; -data(3, 1) via ab -> waiting visible }
    state waiting { +ack -> 10, give_up -> 10 }
}
process b {
    state done final
    state start initial { +req -> done +data(_, 2) -> done +data -> answer }
    state answer { -ack -> start }
}
check { reception strict ab overflow none }
ltl live { [] (a@waiting -> <> a@10) }
ltl { !full(ba) U (len(ab) >= 1 || head(ab, req) && holds(ab, data(_, 1)) || empty(ab)) }
";

#[test]
fn a_protocol_becomes_a_system() {
    let loaded = read(GOOD);
    let model = loaded.model.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics));
    assert_eq!(validate(&model.system), Vec::<String>::new());
    assert_eq!(loaded.diagnostics.iter().map(|d| d.code).collect::<Vec<_>>(), ["C0321"], "{:?}", loaded.diagnostics);
    let (a, b) = (&model.system.proctypes.iter().next().expect("a"), model.system.proctypes.iter().nth(1).expect("b"));
    assert_eq!((a.locs.len(), a.edges.len(), b.locs.len(), b.edges.len()), (3, 5, 4, 5));
    assert_eq!(b.locs[b.start].labels, ["start"]);
    assert!(model.system.uses.drained);
    let protocol = model.protocol.expect("it is one");
    assert_eq!((protocol.receptions, protocol.overflows, protocol.strict), (vec![0], vec![], true));
    assert_eq!(model.system.visible.len(), 1);
    let names: Vec<_> = model.formulas.iter().map(|f| (f.name.as_str(), f.text.as_str())).collect();
    assert_eq!(names[0], ("live", "[] (a@waiting -> <> a@10)"));
    assert_eq!(model.formulas[1].props.len(), 5);
    assert_eq!(model.formulas[1].says[3], "holds(ab, data(_, 1))");
}

#[test]
fn its_promela_text_is_promela() {
    let promela = read(GOOD).model.and_then(|m| m.promela).expect("a protocol");
    let again = load("p.pml", &promela, &Options::default(), &|_| Err(std::io::ErrorKind::NotFound.into()));
    let model = again.model.unwrap_or_else(|| panic!("{promela}\n{:?}", again.diagnostics));
    assert!(again.diagnostics.is_empty(), "{promela}\n{:?}", again.diagnostics);
    assert_eq!(model.formulas.len(), 2);
}

#[test]
fn names_that_promela_knows_get_another_ending() {
    let text = "channel init: if -> run [1] of chan, if, end\nprocess if { state end { -chan -> do -end -> do } state do \
                { -if -> 0 } state 0 final }\nprocess run { state U { +chan -> U +if -> U +end -> U } }\n\
                process D_proctype { state trace { go -> trace } }\n";
    let promela = read(text).model.and_then(|m| m.promela).expect("a protocol");
    let again = load("p.pml", &promela, &Options::default(), &|_| Err(std::io::ErrorKind::NotFound.into()));
    assert!(again.model.is_some() && again.diagnostics.is_empty(), "{promela}\n{:?}", again.diagnostics);
}

/// What is said, and where: `code line:column`.
fn said(text: &str) -> Vec<String> {
    let loaded = read(text);
    assert_eq!(loaded.model.is_none(), loaded.diagnostics.iter().any(|d| d.is_error()));
    let place = |span| loaded.sources.start(span);
    let at = |d: &spinor_model::diagnostic::Diagnostic| d.primary.as_ref().map(|(span, _)| place(*span));
    let line = |d| at(d).map_or(String::new(), |p| format!(" {}:{}", p.line, p.col));
    loaded.diagnostics.iter().map(|d| format!("{}{}", d.code, line(d))).collect()
}

#[test]
fn mistakes_are_told_where_they_are_and_reading_goes_on() {
    assert_eq!(
        said("process a { state s { - -> s } state t { +x -> } }\nproces b { }\n"),
        ["C0003 1:25", "C0003 1:48", "C0003 2:1"]
    );
    assert_eq!(
        said("process a { state s { go -> s }\nprocess b { state t { go -> t }\n"),
        ["C0005 1:11", "C0005 2:11"]
    );
    assert_eq!(said("process a { state s { go -> s\n state t { go -> t } }\n"), ["C0005 1:21"]);
    assert_eq!(
        said("process a { state s { go -> sx } }\nltl f { b@s && a@t && full(c) }\n"),
        ["C0104 1:29", "C0102 2:9", "C0104 2:18", "C0103 2:28"]
    );
    assert_eq!(said("process a { state s }\nltl f { [] a@s U a@s }\nltl g { (a@s U a@s) U a@s }\n"), ["C0410 2:16"]);
    assert_eq!(
        said("process a { state s }\nltl f { len(c) }\nltl g { a }\nltl h { (a@s }\n"),
        ["C0003 2:16", "C0003 3:11", "C0003 4:14"]
    );
    assert_eq!(said("process a { state s }\ncheck { reception c }\n"), ["C0103 2:19"]);
}

#[test]
fn a_slip_of_the_finger_has_a_fix() {
    let loaded =
        read("channel c: a -> b [1] of request\nprocess a { state s { -requset -> s } }\nprocess b { state t }\n");
    let d = &loaded.diagnostics[0];
    assert_eq!((d.code, d.fix.as_ref().map(|f| f.text.as_str())), ("C0105", Some("request")));
}

/// A small fixed sequence.
fn next(seed: &mut u64) -> usize {
    *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    (*seed >> 33) as usize
}

#[test]
fn no_text_breaks_the_reader() {
    let start = Instant::now();
    let n = if cfg!(debug_assertions) { 2_000 } else { 60_000 };
    let pieces = [
        "channel",
        "process",
        "state",
        "{",
        "}",
        "->",
        "-",
        "+",
        "m",
        "(",
        ")",
        "0",
        "..",
        "ltl",
        "[]",
        "<>",
        "U",
        "@",
        "via",
        "check",
        "_",
        ",",
        "[1]",
        "of",
        "é",
        "/*",
        "//",
        "\n",
        "initial",
        "final",
        "999999999999",
        "len",
        "!",
        "\u{feff}",
        "",
    ];
    let mut seed = 1;
    let (mut good, mut bad) = (0, 0);
    for round in 0..n {
        let mut text = GOOD.to_string();
        for _ in 0..1 + next(&mut seed) % 4 {
            let mut cut = next(&mut seed) % (text.len() + 1);
            while !text.is_char_boundary(cut) {
                cut -= 1;
            }
            match next(&mut seed) % 3 {
                0 => text.insert_str(cut, &format!(" {} ", pieces[next(&mut seed) % pieces.len()])),
                1 => text.truncate(cut.max(1)),
                _ => {
                    let mut to = (cut + next(&mut seed) % 12).min(text.len());
                    while !text.is_char_boundary(to) {
                        to -= 1;
                    }
                    text.replace_range(cut..to.max(cut), "");
                }
            }
        }
        if round % 5 == 0 {
            text =
                (0..next(&mut seed) % 40).map(|_| pieces[next(&mut seed) % pieces.len()].to_string() + " ").collect();
        }
        let loaded = read(&text);
        match &loaded.model {
            Some(model) => {
                assert_eq!(validate(&model.system), Vec::<String>::new(), "{text}");
                good += 1;
            }
            None => {
                assert!(loaded.diagnostics.iter().any(|d| d.is_error()), "{text}");
                bad += 1;
            }
        }
    }
    assert!(good > n / 100 && bad > n / 100, "{good} good, {bad} bad");
    for deep in ["(", "!", "[] ", "(a@s && "] {
        assert!(read(&format!("process a {{ state s }}\nltl f {{ {} }}", deep.repeat(100_000))).model.is_none());
    }
    let long = format!("process a {{ state s }}\nltl f {{ a@s {} }}", "&& a@s ".repeat(100_000));
    assert!(read(&long).model.is_none());
    let wide: String = (0..300).map(|n| format!("process p{n} {{ state s }}\n")).collect();
    assert!(read(&wide).diagnostics.iter().any(|d| d.code == "C0308"));
    assert!(start.elapsed() < Duration::from_secs(60));
}
