//! `spinor graph`: small drawings to the letter, every model of the corpus in every form, and what is refused.
//! `UPDATE_EXPECT=1` writes the small drawings anew.

use spinor::graph::shape::{Cluster, Graph, Kind, Node};
use spinor::graph::{dot, mermaid, svg};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn graph(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_spinor"));
    command.arg("graph").args(args).current_dir(folder).output().expect("spinor runs")
}

fn said(folder: &Path, args: &[&str]) -> String {
    let out = graph(folder, args);
    assert_eq!(out.status.code(), Some(0), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).expect("text")
}

fn refused(folder: &Path, args: &[&str]) -> String {
    let out = graph(folder, args);
    let text = String::from_utf8_lossy(&out.stderr).into_owned();
    assert_eq!(out.status.code(), Some(2), "{args:?}: {text}");
    assert!(out.stdout.is_empty(), "{args:?}");
    text
}

fn here() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/graph")
}

fn corpus() -> Vec<PathBuf> {
    let out = spinor_gen::corpus::models(&["pml"]);
    assert!(out.len() >= 95, "only {} models", out.len());
    out
}

/// A folder of the test's own.
fn folder(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("spinor-graph-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&path).expect("a folder for the test");
    path
}

/// Every form by its word, and what must be true of its texts.
const FORMS: [(&str, Checker); 3] = [("dot", check_dot), ("mermaid", check_mermaid), ("svg", check_svg)];

type Checker = fn(&str) -> Result<Count, String>;

/// What a text draws, counted by reading it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Count {
    clusters: usize,
    nodes: usize,
    edges: usize,
}

/// The end of a string that began before `text`, where a backslash hides the next letter.
fn string_end(text: &str) -> Option<usize> {
    let mut hidden = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if hidden => hidden = false,
            '\\' => hidden = true,
            '"' => return Some(at),
            _ => {}
        }
    }
    None
}

/// A statement a line: comments, braces that match, strings that are closed, edges between nodes that exist.
fn check_dot(text: &str) -> Result<Count, String> {
    let mut count = Count::default();
    let mut depth = 0;
    let mut known: Vec<String> = Vec::new();
    for line in text.lines() {
        let bad = |why: &str| Err(format!("{why}: {line}"));
        // Without what stands in strings.
        let mut bare = String::new();
        let mut rest = line;
        while let Some((before, after)) = rest.split_once('"') {
            bare.push_str(before);
            bare.push_str("STRING");
            let Some(end) = string_end(after) else { return bad("an open string") };
            rest = &after[end + 1..];
        }
        bare.push_str(rest);
        let bare = bare.trim();
        if bare.starts_with("//") {
            continue;
        }
        let plain = |c: char| c.is_ascii_alphanumeric() || "_ {}[]=,->.".contains(c);
        if !bare.chars().all(plain) {
            return bad("not a word of the language");
        }
        depth += bare.matches('{').count();
        depth = depth.checked_sub(bare.matches('}').count()).ok_or("too many braces")?;
        if bare.matches('[').count() != bare.matches(']').count() {
            return bad("brackets do not match");
        }
        count.clusters += usize::from(bare.starts_with("subgraph cluster_"));
        let name = bare.split(' ').next().unwrap_or_default();
        if bare.contains(" -> ") {
            let other = bare.split(' ').nth(2).unwrap_or_default();
            if !known.iter().any(|n| n == name) || !known.iter().any(|n| n == other) {
                return bad("an edge to nowhere");
            }
            count.edges += 1;
        } else if name.starts_with('n') && name.contains('_') {
            if known.iter().any(|n| n == name) {
                return bad("twice");
            }
            known.push(name.to_string());
            count.nodes += 1;
        }
    }
    if depth == 0 { Ok(count) } else { Err("a brace is open".to_string()) }
}

/// A statement a line: strings hold no quote, no tag but a line break, and no character that means something else.
fn check_mermaid(text: &str) -> Result<Count, String> {
    let mut count = Count::default();
    let mut open = 0;
    for (n, line) in text.lines().enumerate() {
        let bad = |why: &str| Err(format!("{why}: {line}"));
        let line = line.trim();
        let words: Vec<&str> = line.split('"').collect();
        if words.len().is_multiple_of(2) {
            return bad("an open string");
        }
        for string in words.iter().skip(1).step_by(2) {
            let string = string.replace("<br/>", "");
            // Numbered characters end in a semicolon, and there is no other one.
            let numbered = string.split('#').skip(1).all(|part| {
                part.split_once(';').is_some_and(|(n, _)| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
            });
            if !numbered || string.matches('#').count() != string.matches(';').count() {
                return bad("a number");
            }
            if string.contains(['<', '>', '`', '|']) {
                return bad("not escaped");
            }
        }
        let bare: String = words.iter().step_by(2).copied().collect();
        match bare.split(' ').next().unwrap_or_default() {
            "flowchart" if n == 0 => {}
            "%%" | "direction" | "classDef" | "class" | "linkStyle" => {}
            "subgraph" => {
                open += 1;
                count.clusters += 1;
            }
            "end" => open -= 1,
            name if name.starts_with('n') => {
                let arrow = ["-->", "==>", "-.->"].iter().any(|a| bare.contains(a));
                if arrow {
                    count.edges += 1;
                } else {
                    count.nodes += 1;
                }
            }
            _ => return bad("no statement"),
        }
    }
    if open == 0 && text.starts_with("flowchart") { Ok(count) } else { Err("a subgraph is open".to_string()) }
}

/// Well-formed XML: tags that match, attributes in quotes and each once, entities that exist, no stray character.
fn check_svg(text: &str) -> Result<Count, String> {
    let entities = |text: &str| {
        let known = |e: &str| ["amp;", "lt;", "gt;", "quot;"].iter().any(|k| e.starts_with(k));
        text.split('&').skip(1).all(known) && !text.contains('<')
    };
    let mut count = Count::default();
    let mut open: Vec<&str> = Vec::new();
    let mut rest = text;
    if let Some(c) = text.chars().find(|c| c.is_control() && *c != '\n') {
        return Err(format!("a control character {c:?}"));
    }
    while let Some((between, after)) = rest.split_once('<') {
        if !entities(between) || open.is_empty() && !between.trim().is_empty() {
            return Err(format!("text: {between}"));
        }
        let (tag, after) = after.split_once('>').ok_or("an open tag")?;
        rest = after;
        if let Some(name) = tag.strip_prefix('/') {
            if open.pop() != Some(name) {
                return Err(format!("</{name}> closes nothing"));
            }
            continue;
        }
        let (inner, empty) = tag.strip_suffix('/').map_or((tag, false), |inner| (inner, true));
        let (name, attributes) = inner.split_once(' ').unwrap_or((inner, ""));
        if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphabetic()) {
            return Err(format!("<{tag}>"));
        }
        let mut seen: Vec<&str> = Vec::new();
        let mut attributes = attributes;
        while !attributes.is_empty() {
            let (key, value) = attributes.split_once("=\"").ok_or(format!("<{tag}>"))?;
            let (value, more) = value.split_once('"').ok_or(format!("<{tag}>"))?;
            if seen.contains(&key) || key.contains(' ') || !entities(value) {
                return Err(format!("`{key}` of <{tag}>"));
            }
            if value.contains("NaN") || value.contains("inf") {
                return Err(format!("no number: <{tag}>"));
            }
            seen.push(key);
            attributes = more.strip_prefix(' ').unwrap_or(more);
        }
        let class =
            |word: &str| inner.contains(&format!("class=\"{word}\"")) || inner.contains(&format!("class=\"{word} "));
        count.clusters += usize::from(class("frame"));
        count.nodes += usize::from((class("box") && !inner.contains("again")) || class("entry"));
        count.edges += usize::from(class("edge"));
        if !empty {
            if open.is_empty() && name != "svg" {
                return Err("the outermost is no svg".to_string());
            }
            open.push(name);
        }
    }
    if open.is_empty() && rest.trim().is_empty() { Ok(count) } else { Err(format!("open: {open:?}")) }
}

#[test]
fn small_drawings_are_as_they_were() {
    for (form, check) in FORMS {
        let text = said(&here(), &["small.pml", "--of", "all", "--to", form, "-q"]);
        check(&text).unwrap_or_else(|why| panic!("{form}: {why}"));
        let path = here().join("small").with_extension(if form == "mermaid" { "mmd" } else { form });
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            std::fs::write(&path, &text).expect("the drawing can be written");
        }
        let expected = std::fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(text, expected, "{} is out of date: run the tests with UPDATE_EXPECT=1", path.display());
    }
}

#[test]
fn every_model_of_the_corpus_is_drawn_in_every_form_and_the_same_each_time() {
    for path in corpus() {
        let model = path.to_str().expect("a plain path");
        let mut counts = Vec::new();
        for (form, check) in FORMS {
            let args = [model, "--of", "all", "--to", form, "-q"];
            let text = said(&here(), &args);
            counts.push(check(&text).unwrap_or_else(|why| panic!("{model} as {form}: {why}")));
            assert_eq!(text, said(&here(), &args), "{model} as {form}");
        }
        assert!(counts[0].nodes > 1 && counts.iter().all(|c| *c == counts[0]), "{model}: {counts:?}");
    }
}

#[test]
fn the_states_that_are_drawn_are_those_that_a_search_stores() {
    let mut drawn = 0;
    for path in corpus() {
        let model = path.to_str().expect("a plain path");
        let expect = std::fs::read_to_string(path.with_extension("expect")).expect("its truth");
        let stored = expect.lines().find_map(|l| l.strip_prefix("stored ")).expect("the number of its states");
        let stored: usize = stored.parse().expect("a number");
        if stored > 500 {
            let text = refused(&here(), &[model, "--of", "states", "-q"]);
            assert!(text.contains("more than 500 states"), "{model}: {text}");
            continue;
        }
        drawn += 1;
        let mut counts = Vec::new();
        for (form, check) in FORMS {
            let text = said(&here(), &[model, "--of", "states", "--to", form, "-q"]);
            counts.push(check(&text).unwrap_or_else(|why| panic!("{model} as {form}: {why}")));
            if form == "dot" {
                // Beside the states there are the dot at the start and the ends of runs that cannot go on.
                let faults = text.lines().filter(|l| l.contains(" [label=\"✗ ")).count();
                assert_eq!(counts[0].nodes, stored + 1 + faults, "{model}");
            }
        }
        assert!(counts.iter().all(|c| *c == counts[0]), "{model}: {counts:?}");
        let less = (stored - 1).max(1).to_string();
        if stored > 1 {
            let text = refused(&here(), &[model, "--of", "states", "--max-states", &less, "-q"]);
            assert!(text.contains("states, too many to be drawn"), "{model}: {text}");
        }
    }
    assert!(drawn > 60, "only {drawn}");
}

#[test]
fn what_a_text_says_is_no_part_of_the_form() {
    let nasty =
        ["\"", "\\", "\\\"", "<b>&amp;</b>", "]]>", "a\nb", "`x`", "#35;", "-- >", "| x |", "\x1b[0m\u{0}", "\"] }"];
    for text in nasty {
        let mut cluster = Cluster { title: text.to_string(), ..Cluster::default() };
        let a = cluster.node(Node::new(vec![text.to_string(), text.to_string()]));
        let b = cluster.node(Node { accept: true, ..Node::new(vec![text.to_string()]) });
        cluster.enter(a);
        cluster.edge(a, b, text, Kind::Plain);
        cluster.edge(b, b, text, Kind::Wrong);
        let graph = Graph { title: text.to_string(), clusters: vec![cluster] };
        let expected = Ok(Count { clusters: 1, nodes: 3, edges: 3 });
        assert_eq!(check_dot(&dot::write(&graph)), expected, "{text:?}: {}", dot::write(&graph));
        assert_eq!(check_mermaid(&mermaid::write(&graph)), expected, "{text:?}: {}", mermaid::write(&graph));
        assert_eq!(svg::write(&graph).map(|t| check_svg(&t)), Ok(expected), "{text:?}");
    }
    let folder = folder("names");
    let name = "a \"b\" <c> & {d}.pml";
    let text = "active proctype P() { printf(\"\\\"<x>\\\" & \\\\ %d\\n\", _pid) }\n";
    std::fs::write(folder.join(name), text).expect("it can be written");
    for (form, check) in FORMS {
        for of in ["P", "states"] {
            let text = said(&folder, &[name, "--to", form, "--of", of]);
            check(&text).unwrap_or_else(|why| panic!("{form}: {why}\n{text}"));
        }
    }
    let _ = std::fs::remove_dir_all(folder);
}

#[test]
fn the_checkers_can_tell() {
    for bad in
        ["digraph {\n", "digraph {\n n0_0 [label=\"x]\n}\n", "digraph {\n n0_0 -> n0_1\n}\n", "digraph {\n <b>\n}\n"]
    {
        assert!(check_dot(bad).is_err(), "{bad}");
    }
    for bad in ["flowchart TD\n  n0(\"a\"b\")\n", "flowchart TD\n  subgraph x\n", "flowchart TD\n n0(\"a<b\")\n", "x\n"]
    {
        assert!(check_mermaid(bad).is_err(), "{bad}");
    }
    for bad in [
        "<svg>",
        "<svg></g></svg>",
        "<svg a=\"1\" a=\"2\"/>",
        "<svg>&x;</svg>",
        "<svg>a < b</svg>",
        "x<svg/>",
        "<g></g>",
    ] {
        assert!(check_svg(bad).is_err(), "{bad}");
    }
    assert!(check_svg("<svg a=\"1\"><g>&lt;</g></svg>\n").is_ok());
}

#[test]
fn what_is_named_is_drawn_and_nothing_else() {
    let titles = |args: &[&str]| -> Vec<String> {
        let text = said(&here(), args);
        text.lines().filter_map(|l| l.trim().strip_prefix("label=")).map(|l| l.trim_matches('"').to_string()).collect()
    };
    assert_eq!(titles(&["small.pml", "-q"]), ["proctype user"]);
    assert_eq!(titles(&["small.pml", "--of", "calm", "-q"]), ["ltl calm: [] (busy -> <> !busy)"]);
    assert_eq!(titles(&["small.pml", "--of", "claim", "--of", "user", "-q"]), ["never claim", "proctype user"]);
    assert_eq!(titles(&["small.pml", "--of", "states", "-q"]), ["states of small.pml"]);
    assert_eq!(titles(&["small.pml", "--of", "all", "-q"]).len(), 3);
}

#[test]
fn propositions_are_told_as_they_were_written_and_never_confused() {
    let folder = folder("props");
    let text = "byte x;\n#define is(n) (x == n)\n#define low x < 3\n\
                #define both (<> (x == 1) && <> (x == 2))\nactive proctype P() { x = 1 }\n\
                ltl a { [] (is(1) -> <> is(2)) }\nltl b { [] (low -> <> (!(low))) }\nltl c { both }\n";
    std::fs::write(folder.join("m.pml"), text).expect("written");
    let a = said(&folder, &["m.pml", "-q", "--of", "a"]);
    assert!(a.contains("[label=\"(is(1)) && !(is(2))\"]"), "{a}");
    let b = said(&folder, &["m.pml", "-q", "--of", "b"]);
    assert!(b.contains("[label=\"low\"]") && b.contains("[label=\"!low\"]"), "{b}");
    let c = said(&folder, &["m.pml", "-q", "--of", "c"]);
    assert!(c.contains("(x == 1) && !(x == 2)"), "{c}");
    let _ = std::fs::remove_dir_all(folder);
}

#[test]
fn a_file_is_written_if_one_is_named_and_its_name_says_the_form() {
    let folder = folder("out");
    for (name, start) in [("a.svg", "<svg"), ("a.mmd", "flowchart"), ("a.dot", "digraph"), ("a", "digraph")] {
        let path = folder.join(name);
        assert_eq!(said(&here(), &["small.pml", "-q", "-o", path.to_str().expect("a plain path")]), "");
        assert!(std::fs::read_to_string(&path).expect("it was written").starts_with(start), "{name}");
    }
    let nowhere = folder.join("no/such/folder.svg");
    let text = refused(&here(), &["small.pml", "-q", "-o", nowhere.to_str().expect("a plain path")]);
    assert!(text.contains("error: cannot write `"), "{text}");
    let _ = std::fs::remove_dir_all(folder);
}

#[test]
fn what_cannot_be_drawn_is_refused_with_a_way_out() {
    let folder = folder("bad");
    std::fs::write(folder.join("bad.pml"), "active proctype P() { x = 1 }\n").expect("written");
    std::fs::write(folder.join("none.pml"), "byte x;\nltl p { [] (x == 0) }\n").expect("written");
    let small = here().join("small.pml");
    let small = small.to_str().expect("a plain path");
    let rows: &[(&[&str], &str)] = &[
        (&[small, "-q", "--of", "usr"], "did you mean `user`?"),
        (&[small, "-q", "--of", "nobody"], "what can be drawn: `user`, `claim`, `calm`, `states`, `all`"),
        (&[small, "-q", "--max-states", "9"], "add `--of states`"),
        (&[small, "-q", "--of", "states", "--max-states", "2"], "the model has more than 2 states"),
        (&[small, "--to", "png"], "expected one of `dot`, `mermaid`, `svg`"),
        (&["none.pml", "-q"], "there is no proctype in `none.pml`"),
        (&["bad.pml"], "cannot find variable `x`"),
        (&["missing.pml"], "there is no such file"),
        (&[], "`graph` needs a model"),
    ];
    for (args, wanted) in rows {
        let text = refused(&folder, args);
        assert!(text.contains(wanted), "{args:?}: {text}");
    }
    let _ = std::fs::remove_dir_all(folder);
}

#[test]
fn formulas_are_drawn_without_a_model_too() {
    for (form, check) in &FORMS[1..] {
        let out =
            Command::new(env!("CARGO_BIN_EXE_spinor")).args(["ltl", "[] (p -> <> (x < 3))", "--to", form]).output();
        let text = String::from_utf8(out.expect("spinor runs").stdout).expect("text");
        assert_eq!(check(&text), Ok(Count { clusters: 1, nodes: 3, edges: 5 }), "{text}");
    }
}
