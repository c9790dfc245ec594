//! The book is executed: its commands print what it says, its programs have the verdicts it says, and its tables are
//! those of the code. `UPDATE_EXPECT=1` writes the tables anew.
//!
//! In a block of commands, a line `# status N` says with which status the command above it ends, and a line that ends in `…`
//! is the beginning of what is left out, such as times. What stands behind `> ` is typed.

use spinor::front::codes;
use spinor::help::usage;
use spinor::options::{COMMANDS, options_of};
use spinor_check::check::{Said, Stated, interpreted};
use spinor_check::observer::Silent;
use spinor_check::settings::Settings;
use spinor_lang::{NamedFormula, Options, load};
use spinor_model::interp::Interp;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// There are at least as many in the book.
const LEAST_COMMANDS: usize = 68;
const LEAST_STATUSES: usize = 55;
const LEAST_PROGRAMS: usize = 49;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn page(name: &str) -> String {
    std::fs::read_to_string(root().join("book/src").join(name)).unwrap_or_default()
}

/// The fenced blocks of a page that begin with this word.
fn blocks<'a>(page: &'a str, kind: &str) -> Vec<&'a str> {
    let open = format!("```{kind}\n");
    page.split(open.as_str()).skip(1).filter_map(|rest| rest.split("```").next()).collect()
}

fn current(name: &str, text: &str) {
    let path = root().join("book/src").join(name);
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, text).expect("the page can be written");
    }
    assert_eq!(page(name), text, "book/src/{name} is out of date: run the tests with UPDATE_EXPECT=1");
}

/// The pages of the book, in their order.
fn pages() -> Vec<String> {
    let summary = page("SUMMARY.md");
    let links = summary.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    links.map(String::from).collect()
}

#[test]
fn every_page_is_in_the_summary() {
    let mut files: Vec<String> = std::fs::read_dir(root().join("book/src"))
        .expect("the pages")
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name != "SUMMARY.md")
        .collect();
    let mut pages = pages();
    files.sort();
    pages.sort();
    assert_eq!(pages, files);
}

/// A command, and what the book says of it.
#[derive(Default)]
struct Shown<'a> {
    command: &'a str,
    output: Vec<&'a str>,
    status: Option<i32>,
}

fn shown(block: &str) -> Vec<Shown<'_>> {
    let mut out: Vec<Shown> = Vec::new();
    for line in block.lines() {
        if let Some(command) = line.strip_prefix("$ ") {
            out.push(Shown { command, ..Shown::default() });
            continue;
        }
        let last = out.last_mut().unwrap_or_else(|| panic!("a block begins with a command, not with `{line}`"));
        match line.strip_prefix("# status ") {
            Some(status) => last.status = Some(status.parse().expect("a status")),
            None => last.output.push(line),
        }
    }
    out
}

/// Whether this was printed, but for what is left out.
fn is_said(printed: &str, said: &[&str]) -> bool {
    let text: String = said.iter().map(|line| format!("{}\n", line.trim_end())).collect();
    let parts: Vec<&str> = text.split("…\n").map(str::trim_end).collect();
    let [first, others @ ..] = parts.as_slice() else { return false };
    let [between @ .., last] = others else { return printed.trim_end() == *first };
    let Some(mut rest) = printed.strip_prefix(first) else { return false };
    for part in between {
        let Some((_, behind)) = rest.split_once(&format!("\n{part}")) else { return false };
        rest = behind;
    }
    last.is_empty() || rest.trim_end().ends_with(&format!("\n{last}"))
}

#[test]
fn what_is_left_out_is_said_to_be() {
    let right = ["abc\nd\ne\nf", "abc\n…", "a…", "abc\n  …\ne\n…", "abc\n…\nf", "ab…\ne\n…\nf", "…\nd\n…"];
    let wrong = ["abc\nd\ne", "d\n…", "abc\n…\nx\n…", "abc\n…\ne", "abc\n…\ne\n…\nd\n…", "abc\n…\nc\n…"];
    for (texts, is_right) in [(&right[..], true), (&wrong[..], false)] {
        for text in texts {
            let said: Vec<&str> = text.lines().collect();
            assert_eq!(is_said("abc\nd\ne\nf\n", &said), is_right, "{text}");
        }
    }
}

/// What the command prints if this is typed.
fn ran(mut command: Command, typed: &str) -> Output {
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().expect("spinor runs");
    // Who reads nothing may be gone before it is written.
    let _ = child.stdin.take().expect("a pipe").write_all(typed.as_bytes());
    child.wait_with_output().expect("spinor runs")
}

#[test]
fn the_commands_of_the_book_print_what_it_says() {
    let tmp = std::env::temp_dir().join(format!("spinor-book-{}", std::process::id()));
    let tmp = tmp.to_str().expect("a plain path");
    let (mut n, mut n_statuses) = (0, 0);
    for name in pages() {
        let page = page(&name);
        for Shown { command, output, status } in blocks(&page, "console").into_iter().flat_map(shown) {
            let args = command.strip_prefix("spinor ").expect("every command is ours");
            // Between two quotes is one word.
            let parts = args.split('\'').enumerate();
            let words =
                parts.flat_map(|(n, part)| if n % 2 == 1 { vec![part] } else { part.split_whitespace().collect() });
            let args = words.map(|a| a.replace("TMP", tmp));
            let mut spinor = Command::new(env!("CARGO_BIN_EXE_spinor"));
            spinor.args(args).current_dir(root());
            let typed: Vec<String> =
                output.iter().filter_map(|line| line.strip_prefix("> ")).map(|line| format!("{line}\n")).collect();
            let run = ran(spinor, &typed.concat());
            let printed = String::from_utf8(run.stdout).expect("text").replace(tmp, "TMP");
            assert!(is_said(&printed, &output), "{name}: `{command}` prints\n{printed}");
            if let Some(status) = status {
                assert_eq!(run.status.code(), Some(status), "{name}: the status of `{command}`");
                n_statuses += 1;
            }
            n += 1;
        }
    }
    let _ = std::fs::remove_dir_all(tmp);
    assert!(n >= LEAST_COMMANDS && n_statuses >= LEAST_STATUSES, "only {n} commands, {n_statuses} with a status");
}

/// What stands on the page about the library: the name and the verdict of every property of a Promela text.
fn verdicts(text: &str) -> Vec<(String, &'static str)> {
    let loaded = load("model.pml", text, &Options::default(), &|path: &Path| std::fs::read(path));
    let model = loaded.model.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics));
    let formula = |f: NamedFormula| Stated { name: f.name, said: Said::Formula { formula: f.formula, props: f.props } };
    let stated: Vec<Stated> = model.formulas.into_iter().map(formula).collect();
    let interp = Interp::new(model.system);
    let report = interpreted(&interp, &stated, &Settings::default(), &mut Silent).expect("an answer");
    report.properties.iter().map(|p| (p.name.clone(), p.verdict.word())).collect()
}

#[test]
fn the_program_that_checks_a_text_is_this_one() {
    let own = std::fs::read_to_string(root().join("crates/cli/tests/book.rs")).expect("this file");
    let from = own.find("fn verdicts(").expect("it is there");
    let code = own[from..].split_inclusive("\n}\n").next().expect("its end");
    let page = page("library.md");
    let block = blocks(&page, "rust")[0];
    assert!(block.ends_with(code), "book/src/library.md has another program than\n{code}");
    let mutex = std::fs::read_to_string(root().join("corpus/mutex.pml")).expect("a model");
    let expected = [("assert", "violated"), ("deadlock", "holds"), ("runtime", "holds")];
    assert_eq!(verdicts(&mutex), expected.map(|(name, verdict)| (name.to_string(), verdict)));
}

/// The first line of a program says which of its properties are violated, or with which code it is refused.
#[test]
fn the_programs_of_the_reference_have_the_verdicts_it_says() {
    let reference = page("promela.md") + &page("ltl.md");
    let programs = blocks(&reference, "promela");
    assert!(programs.len() >= LEAST_PROGRAMS, "only {} programs", programs.len());
    for program in programs {
        let claim = program.lines().next().and_then(|l| l.strip_prefix("// ")).expect("a verdict on the first line");
        let loaded = load("book.pml", program, &Options::default(), &|p: &Path| std::fs::read(p));
        if let Some(code) = claim.strip_prefix("refused ") {
            let codes: Vec<&str> = loaded.diagnostics.iter().filter(|d| d.is_error()).map(|d| d.code).collect();
            assert_eq!(codes, [code], "{program}");
            continue;
        }
        let model = loaded.model.unwrap_or_else(|| panic!("{program}\n{:?}", loaded.diagnostics));
        let settings = Settings { all_errors: Some(1), plain: true, ..Settings::default() };
        let stated = |f: NamedFormula| {
            let said = Said::Formula { formula: f.formula, props: f.props };
            Stated { name: f.name, said }
        };
        let stated: Vec<Stated> = model.formulas.into_iter().map(stated).collect();
        let report = interpreted(&Interp::new(model.system), &stated, &settings, &mut Silent).expect("an answer");
        let violated: Vec<&str> =
            report.properties.iter().filter(|p| p.verdict.word() == "violated").map(|p| p.name.as_str()).collect();
        let (verdict, states) = claim.split_once(", ").map_or((claim, None), |(v, s)| (v, Some(s)));
        let expected: Vec<&str> = verdict.strip_suffix(" violated").map_or(vec![], |v| v.split(' ').collect());
        assert!(!expected.is_empty() || verdict == "holds", "`{claim}` is no verdict");
        assert_eq!(violated, expected, "{program}");
        if let Some(states) = states {
            let stored = report.stats().stored;
            let counted = if stored == 1 { "1 state".to_string() } else { format!("{stored} states") };
            assert_eq!(states, counted, "{program}");
        }
    }
}

#[test]
fn the_page_of_codes_is_the_table() {
    let mut out = String::from(
        "# The codes of the diagnostics\n\nMade from the table in `crates/lang/src/codes.rs`; at the end what is wrong with commands, from `crates/cli/src/front.rs`.\n",
    );
    for row in codes() {
        let example = row.example.trim_end();
        let shown = if example.len() < 400 { example.to_string() } else { format!("{}…", &example[..60]) };
        out += &format!("\n## {}: {}\n\n{}\n", row.code, row.title, row.text);
        if !shown.is_empty() {
            out += &format!("\n```promela\n{shown}\n```\n");
        }
    }
    current("codes.md", &out);
}

#[test]
fn the_page_of_options_is_the_table() {
    let mut out = String::from(
        "# The commands and their options\n\nMade from the table in `crates/cli/src/options.rs`; only what exists is listed.\n",
    );
    for command in COMMANDS {
        out += &format!("\n## spinor {} {}\n\n{}\n\n", command.name, command.args, command.help);
        out += "| option | meaning | default | in SPIN |\n|---|---|---|---|\n";
        for row in options_of(command.command) {
            let short = row.short.map_or(String::new(), |c| format!("`-{c}`, "));
            let cell = |text: &str| text.replace('|', "\\|");
            out += &format!(
                "| {short}`{}` | {} | {} | {} |\n",
                cell(&usage(row)),
                cell(row.help),
                cell(row.default),
                cell(row.spin)
            );
        }
    }
    current("options.md", &out);
}

#[test]
fn the_page_of_the_plan_is_the_table() {
    let mut out = String::from(
        "# What combines with what\n\nMade from `crates/check/src/plan.rs`; `spinor plan` prints the same, without the headings.\n",
    );
    let text = spinor_check::plan::Printed.to_string();
    let mut lines = text.lines().peekable();
    while let Some(options) = lines.next() {
        let title = options.replace("--", "").replace('|', " or ");
        out += &format!("\n## {title}\n\n```\n{options}\n");
        while let Some(row) = lines.next_if(|line| line.starts_with(' ')) {
            out += &format!("{row}\n");
        }
        out += "```\n";
    }
    current("plan.md", &out);
}

/// The system on the page about the library is the example; what it prints is what the page says.
#[test]
fn the_system_of_ones_own_is_the_example() {
    let code = std::fs::read_to_string(root().join("crates/check/examples/jugs.rs")).expect("the example");
    let page = page("library.md");
    assert_eq!(blocks(&page, "rust")[1..], [code.as_str()], "book/src/library.md has another example");
    let run = Command::new(env!("CARGO"))
        .args(["run", "-q", "-p", "spinor-check", "--example", "jugs"])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    assert_eq!(blocks(&page, "text"), [String::from_utf8(run.stdout).expect("text").as_str()]);
}
