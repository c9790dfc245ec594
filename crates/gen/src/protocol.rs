//! Random protocols of communicating machines, as values and as `.cfsm` text.
//!
//! What every protocol has:
//!
//! - its processes hang together: each has a channel to or from one before it;
//! - every state of a machine can be reached from its initial one, if its messages come;
//! - every receive has a send somewhere that it fits;
//! - its channels are bounded, so it has finitely many states;
//! - no process is dead at the start: each has a transition in its initial state, and some process can take one.
//!
//! Nothing keeps it from deadlocking, from losing messages or from filling channels: that is what is searched for. The value
//! is there for those who want to know what a protocol does without reading its text.

use crate::rng::Rng;
use std::fmt::Write as _;

/// How large a protocol is.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// 2 to 8
    pub processes: usize,
    /// States and transitions of each process, at most; a few more transitions come with the sends that receives need.
    pub states: usize,
    pub transitions: usize,
    /// Messages of each channel, at most.
    pub messages: usize,
    /// Of each channel, at most.
    pub capacity: usize,
    /// How many of the other pairs of processes have a channel, in percent.
    pub density: usize,
    /// How many of the states that receive something receive every message of that channel, in percent.
    pub complete: usize,
}

impl Shape {
    /// A small one that a seed names.
    pub fn small(seed: u64) -> Shape {
        let mut rng = Rng::new(seed ^ 0x5AFE_C0DE);
        let processes = [2, 2, 2, 3, 3, 4][rng.below(6)];
        let states = rng.range(2, if processes == 2 { 6 } else { 4 });
        Shape {
            processes,
            states,
            transitions: states + rng.range(0, 3),
            messages: rng.range(1, 3),
            capacity: rng.range(1, if processes == 4 { 1 } else { 3 }),
            density: [0, 20, 50][rng.below(3)],
            complete: [0, 30, 70, 100][rng.below(4)],
        }
    }
}

#[derive(Clone, Debug, Default)]
pub struct Protocol {
    pub channels: Vec<Channel>,
    pub machines: Vec<Machine>,
}

#[derive(Clone, Debug)]
pub struct Channel {
    pub from: usize,
    pub to: usize,
    pub capacity: usize,
    /// Which of its messages carry a value, 0 or 1.
    pub messages: Vec<bool>,
}

/// It begins in its first state.
#[derive(Clone, Debug, Default)]
pub struct Machine {
    pub states: Vec<State>,
}

#[derive(Clone, Debug, Default)]
pub struct State {
    pub is_final: bool,
    pub moves: Vec<Move>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    pub does: Does,
    pub to: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Does {
    /// The value is 0 if the message carries none.
    Send {
        channel: usize,
        message: usize,
        value: u8,
    },
    /// Any value if none is named.
    Receive {
        channel: usize,
        message: usize,
        value: Option<u8>,
    },
    Internal,
}

/// The protocol of a seed.
pub fn synthesise(seed: u64, shape: &Shape) -> Protocol {
    assert!((2..=8).contains(&shape.processes) && shape.states > 0 && shape.messages > 0 && shape.capacity > 0);
    let mut s = Synthesis { rng: Rng::new(seed), shape, out: Protocol::default() };
    s.channels();
    for process in 0..shape.processes {
        let machine = s.machine(process);
        s.out.machines.push(machine);
    }
    s.start();
    s.senders();
    s.out
}

struct Synthesis<'a> {
    rng: Rng,
    shape: &'a Shape,
    out: Protocol,
}

impl Synthesis<'_> {
    fn channels(&mut self) {
        let n = self.shape.processes;
        // Whether there is a channel from a to b, by a * n + b.
        let mut joined = vec![false; n * n];
        for b in 1..n {
            let a = self.rng.below(b);
            // One way, the other, or both.
            let ways = self.rng.weighted(&[1, 1, 3]);
            joined[a * n + b] = ways != 1;
            joined[b * n + a] = ways != 0;
        }
        for (at, joined) in joined.iter_mut().enumerate() {
            *joined |= at / n != at % n && self.rng.chance(self.shape.density);
        }
        for (at, _) in joined.iter().enumerate().filter(|(_, joined)| **joined) {
            let (from, to) = (at / n, at % n);
            let messages = (0..self.rng.range(1, self.shape.messages)).map(|_| self.rng.chance(25)).collect();
            let capacity = self.rng.range(1, self.shape.capacity);
            self.out.channels.push(Channel { from, to, capacity, messages });
        }
    }

    fn machine(&mut self, process: usize) -> Machine {
        let n = self.rng.range(self.shape.states.div_ceil(2), self.shape.states);
        let mut machine = Machine { states: vec![State::default(); n] };
        for state in &mut machine.states {
            state.is_final = self.rng.chance(30);
        }
        // A way to each state from one before it; then at random, and rather home than anywhere.
        for to in 1..n {
            let from = if self.rng.chance(70) { to - 1 } else { self.rng.below(to) };
            self.add(process, &mut machine, from, to);
        }
        let home = n - 1;
        self.add(process, &mut machine, home, 0);
        // A machine without channels has few transitions to choose from.
        for _ in 0..10 * self.shape.transitions {
            if machine.states.iter().map(|s| s.moves.len()).sum::<usize>() >= self.shape.transitions {
                break;
            }
            let (from, to) = (self.rng.below(n), self.rng.below(n));
            self.add(process, &mut machine, from, to);
        }
        machine
    }

    fn add(&mut self, process: usize, machine: &mut Machine, from: usize, to: usize) {
        let channels = || self.out.channels.iter().enumerate();
        let sends: Vec<usize> = channels().filter(|(_, c)| c.from == process).map(|(n, _)| n).collect();
        let takes: Vec<usize> = channels().filter(|(_, c)| c.to == process).map(|(n, _)| n).collect();
        let weights = [4 * usize::from(!sends.is_empty()), 5 * usize::from(!takes.is_empty()), 1];
        match self.rng.weighted(&weights) {
            0 => {
                let channel = *self.rng.pick(&sends);
                let (message, value) = self.message(channel);
                put(machine, from, Move { does: Does::Send { channel, message, value }, to });
            }
            1 => {
                let channel = *self.rng.pick(&takes);
                let (message, value) = self.message(channel);
                let carries = self.out.channels[channel].messages[message];
                let value = (carries && self.rng.chance(50)).then_some(value);
                put(machine, from, Move { does: Does::Receive { channel, message, value }, to });
                if self.rng.chance(self.shape.complete) {
                    for message in 0..self.out.channels[channel].messages.len() {
                        let to = if self.rng.chance(50) { to } else { self.rng.below(machine.states.len()) };
                        put(machine, from, Move { does: Does::Receive { channel, message, value: None }, to });
                    }
                }
            }
            _ => put(machine, from, Move { does: Does::Internal, to }),
        }
    }

    fn message(&mut self, channel: usize) -> (usize, u8) {
        let messages = &self.out.channels[channel].messages;
        let message = self.rng.below(messages.len());
        (message, u8::from(messages[message] && self.rng.chance(50)))
    }

    /// Each process can hope to move at the start, and one does.
    fn start(&mut self) {
        let machines = self.out.machines.clone();
        for (process, machine) in machines.iter().enumerate() {
            let moves = &machine.states[0].moves;
            assert!(!moves.is_empty(), "each state has a way on");
            let waits = |m: &Machine| m.states[0].moves.iter().all(|m| matches!(m.does, Does::Receive { .. }));
            let all_wait = machines.iter().all(waits);
            let channel = self.out.channels.iter().position(|c| c.from == process);
            if let (true, Some(channel)) = (all_wait, channel) {
                let (message, value) = self.message(channel);
                let to = self.rng.below(machine.states.len());
                let does = Does::Send { channel, message, value };
                put(&mut self.out.machines[process], 0, Move { does, to });
                return;
            }
        }
    }

    /// A send for each receive that nobody would serve.
    fn senders(&mut self) {
        let receives: Vec<(usize, usize, Option<u8>)> = self
            .moves()
            .filter_map(|m| match m.does {
                Does::Receive { channel, message, value } => Some((channel, message, value)),
                _ => None,
            })
            .collect();
        for (channel, message, value) in receives {
            let fits = |m: &Move| {
                matches!(m.does, Does::Send { channel: c, message: n, value: v }
                if c == channel && n == message && value.is_none_or(|value| value == v))
            };
            if self.moves().any(fits) {
                continue;
            }
            let sender = self.out.channels[channel].from;
            let n = self.out.machines[sender].states.len();
            let (from, to) = (self.rng.below(n), self.rng.below(n));
            let does = Does::Send { channel, message, value: value.unwrap_or(0) };
            put(&mut self.out.machines[sender], from, Move { does, to });
        }
    }

    fn moves(&self) -> impl Iterator<Item = &Move> {
        self.out.machines.iter().flat_map(|m| &m.states).flat_map(|s| &s.moves)
    }
}

/// The same transition twice says nothing new.
fn put(machine: &mut Machine, from: usize, m: Move) {
    if !machine.states[from].moves.contains(&m) {
        machine.states[from].moves.push(m);
    }
}

impl Protocol {
    pub fn text(&self) -> String {
        let mut out = String::new();
        for (n, c) in self.channels.iter().enumerate() {
            let name = |(m, carries): (usize, &bool)| {
                let data = if *carries { "(0..1)" } else { "" };
                format!("{}{data}", message_name(n, m))
            };
            let messages: Vec<String> = c.messages.iter().enumerate().map(name).collect();
            let (from, to, room) = (c.from, c.to, c.capacity);
            let _ = writeln!(out, "channel c{n}: p{from} -> p{to} [{room}] of {}", messages.join(", "));
        }
        for (p, machine) in self.machines.iter().enumerate() {
            let _ = writeln!(out, "\nprocess p{p} {{");
            for (s, state) in machine.states.iter().enumerate() {
                let word = if state.is_final { " final" } else { "" };
                let _ = writeln!(out, "    state s{s}{word} {{");
                for m in &state.moves {
                    let _ = writeln!(out, "        {} -> s{}", self.op(&m.does), m.to);
                }
                out.push_str("    }\n");
            }
            out.push_str("}\n");
        }
        out
    }

    fn op(&self, does: &Does) -> String {
        match *does {
            Does::Internal => "step".to_string(),
            Does::Send { channel, message, value } => {
                let carries = self.channels[channel].messages[message];
                let data = if carries { format!("({value})") } else { String::new() };
                format!("-{}{data}", message_name(channel, message))
            }
            Does::Receive { channel, message, value } => {
                let data = value.map_or(String::new(), |v| format!("({v})"));
                format!("+{}{data}", message_name(channel, message))
            }
        }
    }
}

fn message_name(channel: usize, message: usize) -> String {
    format!("m{channel}_{message}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_protocol_has_what_is_promised() {
        for seed in 0..2000 {
            let shape = Shape::small(seed);
            let p = synthesise(seed, &shape);
            assert_eq!(p.text(), synthesise(seed, &shape).text(), "seed {seed}");
            assert_eq!(p.machines.len(), shape.processes);
            let all = || p.machines.iter().flat_map(|m| &m.states).flat_map(|s| &s.moves);
            for m in all() {
                let Does::Receive { channel, message, value } = m.does else { continue };
                let sent = all().any(|m| {
                    matches!(m.does, Does::Send { channel: c, message: n, value: v }
                    if c == channel && n == message && value.is_none_or(|value| value == v))
                });
                assert!(sent, "seed {seed}: nobody sends {}", p.op(&m.does));
            }
            assert!(p.machines.iter().all(|m| !m.states[0].moves.is_empty()), "seed {seed}");
            let moves = |m: &Machine| m.states[0].moves.iter().any(|m| !matches!(m.does, Does::Receive { .. }));
            assert!(p.machines.iter().any(moves), "seed {seed}: nobody can begin");
            for (process, machine) in p.machines.iter().enumerate() {
                for does in machine.states.iter().flat_map(|s| &s.moves).map(|m| &m.does) {
                    match *does {
                        Does::Send { channel, .. } => assert_eq!(p.channels[channel].from, process),
                        Does::Receive { channel, .. } => assert_eq!(p.channels[channel].to, process),
                        Does::Internal => {}
                    }
                }
            }
            for (n, c) in p.channels.iter().enumerate() {
                assert!(c.from != c.to && c.capacity >= 1 && c.capacity <= shape.capacity, "seed {seed}: channel {n}");
            }
        }
    }

    #[test]
    fn eight_processes_are_possible() {
        let shape =
            Shape { processes: 8, states: 10, transitions: 20, messages: 4, capacity: 3, density: 40, complete: 50 };
        assert_eq!(synthesise(1, &shape).machines.len(), 8);
    }
}
