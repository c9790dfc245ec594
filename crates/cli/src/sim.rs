//! `spinor sim`: a run, at random or by hand, shown while it happens.
//!
//! By hand and by script are the same: commands are read line by line from standard input or a file, and the end of
//! the input ends the run.

use crate::args::{Options, Usage};
use crate::exit::Exit;
use crate::front;
use crate::front::load_or_say;
use crate::report;
use crate::screen::{Out, Screen, note, plural, printable};
use crate::stream::Stream;
use crate::table::told_changes;
use crate::wording;
use spinor_check::trace::{Ending, Trace, TraceStep, values};
use spinor_model::explain::{Why, blocked};
use spinor_model::interp::{Floor, Interp};
use spinor_model::ir::{Guard, Pid};
use spinor_model::state::State;
use spinor_model::successors::{Step, Successors};
use std::fmt::Write as _;
use std::io::{BufRead, IsTerminal};
use std::time::{SystemTime, UNIX_EPOCH};

const DEFAULT_STEPS: u64 = 250;

pub fn sim(options: &Options, screen: Screen, out: &mut Out) -> Result<Exit, Usage> {
    if options.steps.is_some() && (options.interactive || options.script.is_some()) {
        let usage =
            Usage::new("`--steps` is for a run at random: by hand and by script, the commands say how far it goes");
        return Err(usage.help("leave out `--steps`"));
    }
    let script = match &options.script {
        Some(file) => Some(front::read_text(file).map_err(|e| Usage::new(e.to_string()))?),
        None => None,
    };
    let (_, interp) = load_or_say(&options.files[0], options, screen)?;
    let Some(interp) = interp else { return Ok(Exit::Unusable) };
    let seed = options.seed.unwrap_or_else(clock_seed);
    let initial = match interp.initial() {
        Ok(state) => state,
        Err(fault) => {
            out.put(&format!("{}  the initial state cannot be made: {}\n", screen.paint.bad("FAIL"), fault.kind));
            return Ok(Exit::Violated);
        }
    };
    let mut sim = Sim {
        interp: &interp,
        screen,
        out,
        quiet: options.quiet,
        rng: Rng(seed),
        stream: Stream::new(interp.system(), screen),
        now: Moment { state: initial, floor: Some(Floor::Anyone), n: 0, wrong: false },
        unknown: None,
        past: Vec::new(),
        future: Vec::new(),
    };
    if let Some(text) = script {
        sim.by_hand(&mut text.as_bytes(), true);
        if let Some(command) = sim.unknown {
            return Err(Usage::new(format!("the script has an unknown command: `{}`", printable(&command))));
        }
    } else if options.interactive {
        let stdin = std::io::stdin();
        let echo = !stdin.is_terminal();
        sim.by_hand(&mut stdin.lock(), echo);
    } else {
        sim.at_random(seed, options.steps.unwrap_or(DEFAULT_STEPS));
    }
    Ok(if sim.stands_wrong() { Exit::Violated } else { Exit::Fine })
}

fn clock_seed() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |d| u64::from(d.subsec_nanos()) ^ d.as_secs() & 0xffff_ffff)
}

/// SplitMix64: small, and the same run for the same seed on every machine.
pub struct Rng(pub u64);

impl Rng {
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// One of `0..n`.
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.draw()) * n as u128) >> 64) as usize
    }
}

/// A point of the run.
#[derive(Clone)]
struct Moment {
    state: State,
    /// `None`: a fault ended the run.
    floor: Option<Floor>,
    n: u64,
    /// The step that led here went wrong.
    wrong: bool,
}

struct Sim<'a> {
    interp: &'a Interp,
    screen: Screen,
    out: &'a mut Out,
    quiet: bool,
    rng: Rng,
    stream: Stream,
    now: Moment,
    /// The first command that was none.
    unknown: Option<String>,
    /// What undo goes back to; kept only by hand.
    past: Vec<(Moment, Step)>,
    /// What redo does next, last first.
    future: Vec<Step>,
}

const HELP: &str = "\x20 N      take move number N
  a N    take N moves at random (1 if N is left out)
  u, r   undo, redo
  s      show the state
  b      why does each process wait
  m      list the moves again (so does an empty line)
  q      quit
";

impl Sim<'_> {
    fn moves(&self) -> Vec<Step> {
        let mut moves = Vec::new();
        if let Some(floor) = self.now.floor {
            self.interp.moves(&self.now.state, floor, &mut moves);
        }
        moves
    }

    /// Something is wrong with where the run stands.
    fn stands_wrong(&self) -> bool {
        self.now.wrong || self.moves().is_empty() && !self.interp.may_end(&self.now.state)
    }

    fn at_random(&mut self, seed: u64, n_steps: u64) {
        let text = if self.quiet { String::new() } else { format!("seed {seed}\n\n{}", self.stream.header()) };
        self.out.put(&text);
        while self.now.n < n_steps && !self.now.wrong {
            let Some(step) = self.pick() else { break };
            if !self.step(step) {
                return;
            }
        }
        let ending = self.ending(n_steps);
        self.out.put(&ending);
    }

    /// A process first, then one of its moves: a process with many options gets no more turns than one with few.
    fn pick(&mut self) -> Option<Step> {
        let moves = self.moves();
        let mut pids: Vec<Pid> = moves.iter().map(|m| m.pid).collect();
        pids.dedup();
        if pids.is_empty() {
            return None;
        }
        let pid = pids[self.rng.below(pids.len())];
        let own: Vec<Step> = moves.into_iter().filter(|m| m.pid == pid).collect();
        Some(own[self.rng.below(own.len())])
    }

    /// Takes a move and shows it. False once nobody reads.
    fn step(&mut self, step: Step) -> bool {
        let before = self.now.state.clone();
        let (taken, floor) = TraceStep::take(self.interp, &mut self.now.state, step);
        self.now = Moment { state: taken.state.clone(), floor, n: self.now.n + 1, wrong: !taken.faults.is_empty() };
        let text = self.told(&before, &taken);
        self.out.put(&text)
    }

    fn told(&self, before: &State, taken: &TraceStep) -> String {
        let output = printable(&taken.output);
        if self.quiet {
            return output;
        }
        let system = self.interp.system();
        let edge = wording::edge(system, taken.proctype, taken.step.edge);
        let name = wording::process(system, taken.proctype, taken.step.pid);
        let mut cells = vec![(name, wording::line(system, edge.span), wording::statement(system, edge))];
        if let Some((pid, half)) = taken.step.partner {
            cells[0].2.push_str(" →");
            let proctype = before.proctype(pid);
            let edge = wording::edge(system, proctype, half);
            let text = format!("→ {}", wording::statement(system, edge));
            cells.push((wording::process(system, proctype, pid), wording::line(system, edge.span), text));
        }
        let told: Vec<String> = told_changes(self.interp, before, &taken.state)
            .iter()
            .map(|c| format!("{}: {}", printable(&c.name), wording::change(self.interp, &taken.state, c)))
            .collect();
        let faults: Vec<String> = taken.faults.iter().map(|f| wording::fault(self.interp, taken, f)).collect();
        let mark = (!faults.is_empty()).then(|| format!("✗ {}", printable(&faults.join("; "))));
        let mut text = self.stream.row("", &self.now.n.to_string(), &cells, &told, mark.as_deref());
        for line in output.lines() {
            let _ = writeln!(text, "       prints  {line}");
        }
        text
    }

    /// How the run stands now that it stops.
    fn ending(&self, n_steps: u64) -> String {
        let paint = self.screen.paint;
        let steps = plural(self.now.n as usize, "step");
        let gap = if self.quiet { "" } else { "\n" };
        if self.now.wrong {
            return format!("{gap}{}  stopped after {steps}: the last one went wrong\n", paint.bad("FAIL"));
        }
        if !self.moves().is_empty() {
            let limit = if self.now.n >= n_steps { " (--steps)" } else { "" };
            return format!("{gap}stopped after {steps}{limit}; the run could go on\n");
        }
        if self.interp.may_end(&self.now.state) {
            return format!("{gap}{}    the run ended after {steps}\n", paint.good("ok"));
        }
        let here = Trace {
            initial: Some(self.now.state.clone()),
            steps: Vec::new(),
            cycle_start: None,
            looks: Vec::new(),
            ending: Ending::InvalidEnd,
            shortest: false,
        };
        let why = if self.quiet { String::new() } else { report::why(self.interp, &here, self.screen) };
        format!("{gap}{}  invalid end state after {steps}: no process can move\n{why}", paint.bad("FAIL"))
    }

    fn by_hand(&mut self, input: &mut dyn BufRead, echo: bool) {
        let header = self.stream.header();
        self.out.put(&format!("`?` lists the commands\n\n{header}"));
        let menu = self.menu();
        self.out.put(&menu);
        loop {
            if !self.out.put("> ") {
                return;
            }
            let mut line = Vec::new();
            match input.read_until(b'\n', &mut line) {
                Ok(0) => {
                    self.out.put("\n");
                    break;
                }
                Ok(_) => {}
                Err(e) => {
                    note(&format!("error: cannot read commands: {e}\n"));
                    break;
                }
            }
            let line = String::from_utf8_lossy(&line).into_owned();
            let command = line.trim();
            if echo {
                self.out.put(&format!("{}\n", printable(command)));
            }
            // A script may explain itself.
            if command.starts_with('#') {
                continue;
            }
            if command == "q" {
                break;
            }
            let text = self.obey(command);
            self.out.put(&text);
        }
        let ending = self.ending(u64::MAX);
        self.out.put(&ending);
    }

    fn obey(&mut self, command: &str) -> String {
        let (word, rest) = command.split_once(' ').unwrap_or((command, ""));
        match (word, rest.trim()) {
            ("" | "m", "") => self.menu(),
            ("?" | "h", "") => HELP.to_string(),
            ("s", "") => self.state(),
            ("b", "") => self.waits(),
            ("u", "") => match self.past.pop() {
                Some((then, step)) => {
                    self.now = then;
                    self.future.push(step);
                    format!("back at step {}\n{}", self.now.n, self.menu())
                }
                None => "nothing to undo\n".to_string(),
            },
            ("r", "") => match self.future.pop() {
                Some(step) => {
                    self.go(step);
                    self.menu()
                }
                None => "nothing to redo\n".to_string(),
            },
            ("a", count) => match if count.is_empty() { Ok(1) } else { count.parse::<u64>() } {
                Ok(n) => {
                    for _ in 0..n {
                        let Some(step) = self.pick().filter(|_| !self.now.wrong) else { break };
                        self.future.clear();
                        self.go(step);
                    }
                    self.menu()
                }
                Err(_) => format!("`a {}`: expected a number\n", printable(count)),
            },
            (number, "") => match (number.parse::<usize>(), self.moves()) {
                (Ok(n), moves) if (1..=moves.len()).contains(&n) => {
                    self.future.clear();
                    self.go(moves[n - 1]);
                    self.menu()
                }
                (Ok(n), moves) if moves.is_empty() => format!("there is no move {n}: nobody can move\n"),
                (Ok(n), moves) if moves.len() == 1 => format!("there is no move {n}, only 1\n"),
                (Ok(n), moves) => format!("there is no move {n}, only 1 to {}\n", moves.len()),
                (Err(_), _) => self.unknown(number),
            },
            _ => self.unknown(command),
        }
    }

    fn unknown(&mut self, command: &str) -> String {
        self.unknown.get_or_insert_with(|| command.to_string());
        format!("unknown command `{}`; `?` lists them\n", printable(command))
    }

    /// A step that can be undone.
    fn go(&mut self, step: Step) {
        self.past.push((self.now.clone(), step));
        self.step(step);
    }

    fn menu(&self) -> String {
        let moves = self.moves();
        if moves.is_empty() {
            let ends = self.interp.may_end(&self.now.state);
            return match (self.now.floor, ends) {
                (None, _) => "the run cannot go on after this fault (u: undo, q: quit)\n".to_string(),
                (_, true) => "the run has ended (u: undo, q: quit)\n".to_string(),
                (_, false) => "nobody can move: invalid end state (b: why, u: undo, q: quit)\n".to_string(),
            };
        }
        let system = self.interp.system();
        let mut out = String::new();
        for (i, step) in moves.iter().enumerate() {
            let proctype = self.now.state.proctype(step.pid);
            let edge = wording::edge(system, proctype, step.edge);
            let _ = write!(
                out,
                "  {:>5}  {}  line {}  {}",
                format!("[{}]", i + 1),
                wording::process(system, proctype, step.pid),
                wording::line(system, edge.span),
                wording::statement(system, edge)
            );
            if let Some((pid, half)) = step.partner {
                let proctype = self.now.state.proctype(pid);
                let edge = wording::edge(system, proctype, half);
                let _ = write!(
                    out,
                    " → {}  line {}  {}",
                    wording::process(system, proctype, pid),
                    wording::line(system, edge.span),
                    wording::statement(system, edge)
                );
            }
            out.push_str(if step.timeout { "  (timeout)\n" } else { "\n" });
        }
        out
    }

    fn state(&self) -> String {
        let system = self.interp.system();
        let mut out = format!("after {}\n", plural(self.now.n as usize, "step"));
        for (name, value) in values(self.interp, &self.now.state) {
            let (name, value) = (printable(&name), wording::shown(self.interp, &self.now.state, &value));
            // A channel's own variable says nothing: what the channel holds follows.
            if name != value {
                let _ = writeln!(out, "  {name} = {value}");
            }
        }
        for pid in 0..self.now.state.n_procs() as Pid {
            let (proctype, loc) = (self.now.state.proctype(pid), self.now.state.loc(pid));
            let name = wording::process(system, proctype, pid);
            let line = wording::line(system, system.proctypes[proctype].locs[loc].span);
            let ended = if loc == system.proctypes[proctype].end { " (ended)" } else { "" };
            let _ = writeln!(out, "  {name} at line {line}{ended}");
        }
        out
    }

    /// Each process, and what keeps each of its statements.
    fn waits(&self) -> String {
        let system = self.interp.system();
        let state = &self.now.state;
        let mut out = String::new();
        for pid in 0..state.n_procs() as Pid {
            let proctype = state.proctype(pid);
            let _ = writeln!(out, "  {}", wording::process(system, proctype, pid));
            for b in blocked(self.interp, state, pid) {
                let edge = wording::edge(system, proctype, b.edge);
                let channel = |id: u8| printable(&spinor_check::trace::chan_name(self.interp, state, id));
                let why = match b.why {
                    Why::ConditionFalse(guard) => match &edge.guards[guard] {
                        Guard::Holds(_) => "is false".to_string(),
                        _ => "cannot run".to_string(),
                    },
                    Why::ChannelFull(id) => format!("waits: {} is full", channel(id)),
                    Why::ChannelEmpty(id) => format!("waits: {} is empty", channel(id)),
                    Why::NoMatchingMessage(id) => format!("waits: {} holds no message that matches", channel(id)),
                    Why::NoPartner(id) => format!("waits: nobody receives from {} now", channel(id)),
                    Why::WaitsForSender(id) => format!("waits: somebody must send to {}", channel(id)),
                    Why::Preempted => "gives way to another statement here".to_string(),
                    Why::NotYoungest(other) => format!("waits: process {other} must end first"),
                    Why::Provided => "waits: the provided clause is false".to_string(),
                    Why::Priority => "waits: a process of higher priority can move".to_string(),
                    Why::Enabled => "can run".to_string(),
                };
                let line = wording::line(system, edge.span);
                let _ = writeln!(out, "    line {line}  {}  {why}", wording::statement(system, edge));
            }
        }
        if let Some(Floor::Only(pid)) = self.now.floor {
            let _ = writeln!(out, "  process {pid} is inside an atomic and goes first");
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_numbers() {
        let mut a = Rng(7);
        let mut b = Rng(7);
        for n in 1..100 {
            let x = a.below(n);
            assert_eq!(x, b.below(n));
            assert!(x < n);
        }
        // The first output of the published reference for seed 0.
        assert_eq!(Rng(0).draw(), 0xe220_a839_7b1d_cdaf);
    }
}
