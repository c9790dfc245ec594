//! The bench itself: both tools are run, count the same, and leave rows, tables and plots.
//!
//! Needs `spin`, a C compiler and GNU time, and a spinor binary: `$SPINOR_BIN`, else the one cargo built in the same profile.

use spinor_bench::workload::Source;
use std::fs;
use std::process::Command;
use std::time::Duration;
use xtask::spinor::Spinor;
use xtask::work::Scratch;

#[test]
fn the_smallest_sizes_count_the_same_and_leave_tables_and_plots() {
    let spinor = Spinor::find(None, Duration::ZERO).unwrap_or_else(|problem| panic!("{problem}"));
    let scratch = Scratch::new().expect("a folder");
    let bench = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_spinor-bench"));
        let output = command.args(args).output().expect("it starts");
        let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{said}");
    };
    let dir = scratch.path().join("run");
    let (out, binary) = (dir.display().to_string(), spinor.binary.display().to_string());
    bench(&["--quick", "--spinor", &binary, "--out", &out]);

    let read = |name: &str| fs::read_to_string(dir.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
    let (rows, summary) = (read("rows.csv"), read("summary.md"));
    let records = spinor_bench::record::read(&rows).expect("rows");
    let all = spinor_bench::workload::all().expect("the workloads");
    let models = all.iter().filter(|w| !matches!(w.source, Source::Symmetric(_))).count();
    let ours = all.iter().filter(|w| matches!(w.source, Source::Ours(_))).count();
    for (mode, models) in [("plain", models), ("default", models), ("ltl", ours), ("ltl-broken", ours)] {
        let done = records.iter().filter(|r| r.mode == mode && r.figures.is_ok()).count();
        assert_eq!(done, 2 * models, "both tools finish every model in mode {mode}\n{rows}");
    }
    // Paths and names of machines are nobody's business.
    assert!(!rows.contains(&*scratch.path().to_string_lossy()) && !rows.contains(&binary), "{rows}");
    assert!(summary.contains("| counters | N=3 | 1,000 | 3,001 |"), "{summary}");
    assert!(!summary.contains("differ**"), "{summary}");
    for plot in ["plain-time.svg", "plain-memory.svg"] {
        let text = read(plot);
        assert!(text.starts_with("<svg ") && text.contains("counters") && text.contains("<circle"), "{plot}");
    }

    fs::remove_file(dir.join("summary.md")).expect("it was there");
    bench(&["--report", &out]);
    assert_eq!(read("summary.md"), summary, "the rows are enough to make the tables again");
}
