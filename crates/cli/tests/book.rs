//! The book is executed: its commands print what it says, its programs have the verdicts it says, and its tables are
//! those of the code. `UPDATE_EXPECT=1` writes the tables anew.

use spinor::help::usage;
use spinor::options::{COMMANDS, options_of};
use spinor_check::check::{Said, Stated, interpreted};
use spinor_check::observer::Silent;
use spinor_check::settings::Settings;
use spinor_lang::codes::CODES;
use spinor_lang::{Options, load};
use spinor_model::interp::Interp;
use std::path::{Path, PathBuf};
use std::process::Command;

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

#[test]
fn the_commands_of_the_book_print_what_it_says() {
    let pages = page("tutorial.md") + &page("ltl.md") + &page("fairness.md") + &page("graph.md") + &page("cfsm.md");
    let tmp = std::env::temp_dir().join(format!("spinor-book-{}", std::process::id()));
    let mut n = 0;
    for block in blocks(&pages, "console") {
        let mut rest = block.trim_start_matches("$ ");
        while !rest.is_empty() {
            let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
            let (expected, next) = after.split_once("$ ").map_or((after, ""), |(e, n)| (e, n));
            let args = line.strip_prefix("spinor ").expect("every command is ours");
            // Between two quotes is one word.
            let parts = args.split('\'').enumerate();
            let words =
                parts.flat_map(|(n, part)| if n % 2 == 1 { vec![part] } else { part.split_whitespace().collect() });
            let args = words.map(|a| a.replace("TMP", tmp.to_str().expect("a plain path")));
            let out = Command::new(env!("CARGO_BIN_EXE_spinor")).args(args).current_dir(root()).output();
            let out = String::from_utf8(out.expect("spinor runs").stdout).expect("text");
            let out = out.replace(tmp.to_str().expect("a plain path"), "TMP");
            assert_eq!(out.trim_end(), expected.trim_end(), "`{line}`");
            n += 1;
            rest = next;
        }
    }
    let _ = std::fs::remove_dir_all(tmp);
    assert!(n >= 5, "only {n} commands");
}

#[test]
fn the_programs_of_the_reference_have_the_verdicts_it_says() {
    let reference = page("promela.md");
    let programs = blocks(&reference, "promela");
    assert!(programs.len() >= 14, "only {} programs", programs.len());
    for program in programs {
        let claim = program.lines().next().and_then(|l| l.strip_prefix("// ")).expect("a verdict on the first line");
        let loaded = load("book.pml", program, &Options::default(), &|p: &Path| std::fs::read(p));
        let model = loaded.model.unwrap_or_else(|| panic!("{program}\n{:?}", loaded.diagnostics));
        let settings = Settings { all_errors: Some(1), plain: true, ..Settings::default() };
        let stated = |f: spinor_lang::NamedFormula| {
            let said = Said::Formula { formula: f.formula, props: f.props };
            Stated { name: f.name, said }
        };
        let stated: Vec<Stated> = model.formulas.into_iter().map(stated).collect();
        let report = interpreted(&Interp::new(model.system), &stated, &settings, &mut Silent).expect("an answer");
        let violated: Vec<&str> =
            report.properties.iter().filter(|p| p.verdict.word() == "violated").map(|p| p.name.as_str()).collect();
        let (verdict, states) = claim.split_once(", ").map_or((claim, None), |(v, s)| (v, Some(s)));
        let expected: Vec<&str> = verdict.strip_suffix(" violated").map_or(vec![], |v| v.split(' ').collect());
        assert_eq!(violated, expected, "{program}");
        if let Some(states) = states {
            assert_eq!(states, format!("{} states", report.stats().stored), "{program}");
        }
    }
}

#[test]
fn the_page_of_codes_is_the_table() {
    let mut out =
        String::from("# The codes of the diagnostics\n\nMade from the table in `crates/lang/src/codes.rs`.\n");
    for row in CODES {
        let example = row.example.trim_end();
        let shown = if example.len() < 400 { example.to_string() } else { format!("{}…", &example[..60]) };
        out += &format!("\n## {}: {}\n\n{}\n\n```promela\n{shown}\n```\n", row.code, row.title, row.text);
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
    let text = spinor_check::plan::Printed.to_string();
    let out = format!(
        "# What combines with what\n\nMade from `crates/check/src/plan.rs`; `spinor plan` prints the same.\n\n```\n{}\n```\n",
        text.trim_end()
    );
    current("plan.md", &out);
}

/// The system on the page about the library is the example; what it prints is what the page says.
#[test]
fn the_system_of_ones_own_is_the_example() {
    let code = std::fs::read_to_string(root().join("crates/check/examples/jugs.rs")).expect("the example");
    let page = page("library.md");
    assert_eq!(blocks(&page, "rust"), [code.as_str()], "book/src/library.md has another example");
    let run = Command::new(env!("CARGO"))
        .args(["run", "-q", "-p", "spinor-check", "--example", "jugs"])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    assert_eq!(blocks(&page, "text"), [String::from_utf8(run.stdout).expect("text").as_str()]);
}
