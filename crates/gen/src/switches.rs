//! Which features exist, and which of them one model may use.

use crate::rng::Rng;
use std::collections::BTreeSet;

/// Every feature a model may report.
pub const FEATURES: &[&str] = &[
    // processes
    "active",
    "active-many",
    "init",
    "run",
    "run-args",
    "run-in-assignment",
    "run-repeated",
    "run-chan",
    "provided",
    "priority",
    "set_priority",
    "get_priority",
    "_priority",
    "run-priority",
    "D_proctype",
    "_pid",
    "_nr_pr",
    "_last",
    // types and declarations
    "bit",
    "bool",
    "byte",
    "short",
    "int",
    "unsigned",
    "mtype",
    "pid",
    "mtype-set",
    "typedef",
    "typedef-nested",
    "typedef-array",
    "typedef-chan",
    "array",
    "array-init",
    "array-list",
    "array-of-typedef",
    "hidden",
    "local",
    "show",
    "mid-declaration",
    "declaration-guard",
    "truncation",
    "negative",
    "scope-reuse",
    "local-array",
    // control flow
    "atomic",
    "d_step",
    "d_step-io",
    "d_step-goto",
    "atomic-blocks",
    "unless",
    "unless-nested",
    "unless-rv-send",
    "unless-rv-receive",
    "unless-in-atomic",
    "if",
    "do",
    "for-range",
    "for-array",
    "for-chan",
    "select",
    "select-expr",
    "goto",
    "goto-back",
    "goto-guard",
    "break",
    "break-guard",
    "label",
    "label-in-atomic",
    "label-pair",
    "bare-label",
    "end-label",
    "accept-label",
    "progress-label",
    "else",
    "else-io",
    "else-alone",
    "timeout",
    "nested-first",
    "block",
    "skip",
    "false-guard",
    "atomic-loop",
    "d_step-guard",
    "inc-dec",
    // text
    "inline",
    "inline-return",
    "inline-local",
    "define",
    "define-args",
    "cpp-if",
    "cpp-ifdef",
    "comment-line",
    "comment-block",
    "newline-separators",
    "printf",
    "printm",
    "assert",
    "conditional",
    "precedence",
    "char-constant",
    // channels
    "buffered",
    "rendezvous",
    "send",
    "receive",
    "sorted-send",
    "random-receive",
    "copy-receive",
    "copy-random-receive",
    "poll",
    "poll-random",
    "eval",
    "receive-constant",
    "receive-ignore",
    "chan-in-chan",
    "chan-array",
    "chan-local",
    "chan-ref",
    "mtype-message",
    "message-paren",
    "struct-message",
    "xr",
    "xs",
    "xr-xs-dishonest",
    "len",
    "full",
    "empty",
    "nfull",
    "nempty",
    "rv-in-atomic",
    // properties
    "remote-label",
    "remote-variable",
    "remote-index",
    "np_",
    "enabled",
    "pc_value",
    "enabled-process",
    "enabled-nested",
    "pc_value-process",
    "never",
    "trace",
    "notrace",
    "ltl",
    // deliberate run-time errors
    "fault-index",
    "fault-chan",
    "fault-params",
    "fault-d_step",
    "fault-rv-d_step",
    "fault-D_proctype",
    "fault-enabled",
];

/// Features that are decided once per model, with the percentage of models that may use them.
const SWITCHES: &[(&str, usize)] = &[
    ("run", 45),
    ("provided", 7),
    ("priority", 9),
    ("D_proctype", 8),
    ("_nr_pr", 12),
    ("_last", 7),
    ("mtype-set", 20),
    ("typedef", 35),
    ("typedef-chan", 15),
    ("array", 45),
    ("hidden", 10),
    ("local", 8),
    ("show", 8),
    ("mid-declaration", 30),
    ("truncation", 12),
    ("negative", 30),
    ("atomic", 58),
    ("d_step", 40),
    ("unless", 45),
    ("for", 30),
    ("select", 24),
    ("goto", 40),
    ("timeout", 25),
    ("inline", 30),
    ("define", 35),
    ("cpp-if", 20),
    ("comment", 40),
    ("buffered", 70),
    ("rendezvous", 45),
    ("sorted-send", 25),
    ("random-receive", 35),
    ("copy-receive", 20),
    ("poll", 35),
    ("chan-in-chan", 16),
    ("chan-array", 16),
    ("chan-local", 16),
    ("chan-ref", 20),
    ("struct-message", 18),
    ("xr-xs", 15),
    ("remote", 20),
    ("never", 10),
    ("trace", 10),
    ("ltl", 14),
    ("printf", 45),
    ("assert", 80),
    ("else-alone", 6),
    ("init", 35),
    ("mtype", 40),
    ("unsigned", 25),
    ("false-guard", 8),
    ("goto-guard", 45),
    ("end-label", 25),
];

/// The switches of one model.
pub(crate) struct Switches(BTreeSet<&'static str>);

impl Switches {
    pub fn draw(rng: &mut Rng, without: &[&'static str]) -> Switches {
        let mut on = BTreeSet::new();
        for (name, percent) in SWITCHES {
            if rng.chance(*percent) && !without.contains(name) {
                on.insert(*name);
            }
        }
        // Priorities and rendez-vous channels exclude each other.
        if on.contains("priority") {
            on.remove("rendezvous");
        }
        // A change of priority is written as a d_step.
        if without.contains(&"d_step") {
            on.remove("priority");
        }
        Switches(on)
    }

    pub fn has(&self, name: &str) -> bool {
        debug_assert!(SWITCHES.iter().any(|(n, _)| *n == name), "{name}");
        self.0.contains(name)
    }

    pub fn force(&mut self, name: &'static str) {
        self.0.insert(name);
    }

    pub fn off(&mut self, name: &str) {
        self.0.remove(name);
    }
}
