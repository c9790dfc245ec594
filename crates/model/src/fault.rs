//! What can go wrong while a system runs. A fault is a verdict with a trace, never a crash.

use crate::ir::{EdgeId, Pid, ProctypeId};
use std::fmt;

/// Where and what.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    pub kind: FaultKind,
    /// The process and the edge it was taking; `None` while the initial state was made.
    pub at: Option<(Pid, ProctypeId, EdgeId)>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FaultKind {
    /// An assertion failed. The run goes on.
    Assertion,
    IndexOutOfBounds {
        index: i32,
        len: u32,
    },
    DivisionByZero,
    /// A channel variable that names no channel was used.
    NoChannel {
        value: i32,
    },
    /// A send or receive whose number of fields is not the channel's.
    WrongArity {
        given: usize,
        fields: usize,
    },
    /// `c?[…]` or `c?<…>` on a rendez-vous channel.
    PolledRendezvous,
    TooManyProcesses,
    TooManyChannels,
    /// A statement after the first of a `d_step` could not run.
    DStepBlocks,
    RendezvousInDStep,
    /// The same state came back inside one `atomic` or `d_step`: it would never end.
    EndlessAtomic,
    EndlessDStep,
    /// A second edge of a `D_proctype` process could run.
    Nondeterminism,
    PriorityOutOfRange {
        value: i32,
    },
    /// `enabled(_pid)`
    EnabledSelf,
    /// An event that the `trace` does not allow here.
    TraceMismatch,
    /// The `notrace` was matched to its end.
    NotraceMatched,
    /// Two edges of the trace match one event.
    TraceNondeterminism,
    /// `xr` or `xs` was promised by another process. The run goes on.
    Promise {
        send: bool,
        owner: Pid,
        /// The channel was only looked at (`len`, `full`, a poll): that counts as use.
        look: bool,
    },
}

impl FaultKind {
    /// After a fatal fault there is no successor.
    pub fn is_fatal(&self) -> bool {
        !matches!(self, FaultKind::Assertion | FaultKind::Promise { .. })
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FaultKind::Assertion => write!(f, "assertion violated"),
            FaultKind::IndexOutOfBounds { index, len } => {
                write!(f, "array index {index} is outside 0..{}", i64::from(*len) - 1)
            }
            FaultKind::DivisionByZero => write!(f, "division by zero"),
            FaultKind::NoChannel { value: 0 } => write!(f, "the channel variable was never given a channel"),
            FaultKind::NoChannel { value } => write!(f, "there is no channel {value}"),
            FaultKind::WrongArity { given, fields } => {
                write!(f, "the channel carries {fields} field(s), {given} given here")
            }
            FaultKind::PolledRendezvous => write!(f, "a rendez-vous channel holds no messages to poll"),
            FaultKind::TooManyProcesses => write!(f, "more than {} processes", crate::ir::MAX_LIVE),
            FaultKind::TooManyChannels => write!(f, "more than {} channels", crate::ir::MAX_LIVE),
            FaultKind::DStepBlocks => write!(f, "a statement inside a d_step cannot run"),
            FaultKind::RendezvousInDStep => write!(f, "a rendez-vous send inside a d_step"),
            FaultKind::EndlessAtomic => write!(f, "this atomic never ends: it comes back to the same state"),
            FaultKind::EndlessDStep => write!(f, "this d_step never ends: it comes back to the same state"),
            FaultKind::Nondeterminism => write!(f, "two statements of a D_proctype can run at once"),
            FaultKind::PriorityOutOfRange { value } => write!(f, "priority {value} is outside 1..255"),
            FaultKind::EnabledSelf => write!(f, "enabled() asks about the process itself"),
            FaultKind::TraceMismatch => write!(f, "the trace assertion does not allow this event here"),
            FaultKind::NotraceMatched => write!(f, "the notrace assertion was matched to its end"),
            FaultKind::TraceNondeterminism => write!(f, "two branches of the trace assertion match this event"),
            FaultKind::Promise { send, owner, look } => {
                let role = if *send { "sender (xs)" } else { "receiver (xr)" };
                write!(f, "process {owner} promised to be the only {role}")?;
                if *look { write!(f, ", and a test of the channel counts") } else { Ok(()) }
            }
        }
    }
}
