//! What a step can touch, and what two touches have to do with each other.
//!
//! The words in which `touch` says what a step looks at and changes, and the rules that need nothing else: which uses of a
//! channel disturb each other or let each other happen, which halves of a handshake meet, what changes what. Like there,
//! a rule may say yes too often, never too seldom.

use super::without::{Condition, Without};
use spinor_model::ir::{Loc, Pid, ProctypeId};
use std::collections::BTreeSet;

/// A process of the cast, by its place in it.
pub(super) type ActorId = usize;

/// Who can take steps: the processes that live, and behind them one for each proctype of which some may yet be made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Actor {
    pub proctype: ProctypeId,
    /// None: not there yet.
    pub pid: Option<Pid>,
}

/// A part of the state that is not a channel.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Atom {
    Global(u32),
    Local(ActorId, u32),
    /// Where a process stands; whether it is at a location that is asked about, at some progress label, at some accept
    /// label.
    Location(ActorId),
    At(ActorId, Loc),
    Progress(ActorId),
    Accept(ActorId),
    /// Whether a process can move, where it stands at that location.
    Able(ActorId, Loc),
    /// How many processes live, and whether this one does.
    Population,
    Alive(ActorId),
    /// Where the trace assertion stands.
    Monitor,
    /// Whether an operation that is named has happened an even number of times (`mod`, operations).
    Happened(usize),
    /// What a part of the property sees, by the number of the part.
    Part(usize),
}

/// How a channel with slots is used. (A channel's number is its place, from 1.)
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Use {
    Send,
    /// `!!`
    Insert,
    Take,
    /// `??`
    TakeAny,
    Copy,
    CopyAny,
    /// A condition that more room, or another message behind, does not make false.
    NeedsRoom,
    NeedsMessage,
    NeedsHead,
    NeedsAny,
    /// Anything else that is asked of it.
    Look,
}

/// How a channel is filled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Filled {
    Empty,
    Between,
    Full,
}

impl Filled {
    pub const ALL: [Filled; 3] = [Filled::Empty, Filled::Between, Filled::Full];
}

pub(super) const USES: [Use; 11] = [
    Use::Send,
    Use::Insert,
    Use::Take,
    Use::TakeAny,
    Use::Copy,
    Use::CopyAny,
    Use::NeedsRoom,
    Use::NeedsMessage,
    Use::NeedsHead,
    Use::NeedsAny,
    Use::Look,
];

impl Use {
    pub fn writes(self) -> bool {
        match self {
            Use::Send | Use::Insert | Use::Take | Use::TakeAny => true,
            Use::Copy | Use::CopyAny | Use::Look => false,
            Use::NeedsRoom | Use::NeedsMessage | Use::NeedsHead | Use::NeedsAny => false,
        }
    }

    /// Where both can happen: does one of them keep the other from happening, or does their order matter?
    pub fn disturbs(self, other: Use, without: Without) -> bool {
        let (a, b) = if self.writes() { (self, other) } else { (other, self) };
        let why = match (a, b) {
            _ if !a.writes() => return false,
            // There is room, for one of them.
            (Use::Send | Use::Insert, Use::Send | Use::Insert) => Condition::SendSend,
            (Use::Send | Use::Insert, Use::NeedsRoom) => Condition::SendRoom,
            (Use::Send | Use::Insert, Use::Look) => Condition::SendLook,
            // There is a message. One more at the end is not the first, nor the first that fits.
            (Use::Send, Use::Take | Use::TakeAny | Use::Copy | Use::CopyAny) => return false,
            (Use::Send, Use::NeedsMessage | Use::NeedsHead | Use::NeedsAny) => return false,
            (Use::Take | Use::TakeAny, Use::Send | Use::NeedsRoom) => return false,
            // One more in between may become the first, or the first that fits.
            (Use::Insert, Use::NeedsMessage | Use::NeedsAny) => return false,
            (Use::Insert, _) | (_, Use::Insert) => Condition::InsertRead,
            (_, Use::Take | Use::TakeAny) => Condition::TakeTake,
            _ => Condition::TakeRead,
        };
        without.keeps(why)
    }

    /// What it waits for may be there or not: it depends on how a channel is filled what enables it.
    pub fn depends(self) -> bool {
        !matches!(self, Use::TakeAny | Use::CopyAny | Use::NeedsAny | Use::Look)
    }

    /// Could this let `waiting` happen, which cannot while the channel is filled like this? If that is not known it is
    /// asked of all ways.
    pub fn enables(self, waiting: Use, filled: Option<Filled>, without: Without) -> bool {
        let is = |which: Filled| filled.is_none_or(|filled| filled == which);
        let (empty, full, holds) = (is(Filled::Empty), is(Filled::Full), is(Filled::Between) || is(Filled::Full));
        // What it brings, frees, and uncovers.
        let (sends, frees, uncovers) = match self {
            Use::Send => (true, false, false),
            Use::Insert => (true, false, true),
            Use::Take | Use::TakeAny => (false, true, true),
            Use::Copy | Use::CopyAny | Use::Look => return false,
            Use::NeedsRoom | Use::NeedsMessage | Use::NeedsHead | Use::NeedsAny => return false,
        };
        let (sends, uncovers) =
            (sends && without.keeps(Condition::FeedsTake), uncovers && without.keeps(Condition::Uncovers));
        match waiting {
            Use::Send | Use::Insert | Use::NeedsRoom => full && frees && without.keeps(Condition::FreesSend),
            Use::NeedsMessage => empty && sends,
            Use::TakeAny | Use::CopyAny | Use::NeedsAny => sends,
            // What lies behind the first message may fit.
            Use::Take | Use::Copy | Use::NeedsHead => empty && sends || holds && uncovers,
            Use::Look => sends || uncovers,
        }
    }
}

/// One half of a handshake.
#[derive(Clone, Debug)]
pub(super) struct Half {
    /// Channels without slots that it may be about.
    pub chans: Vec<u8>,
    /// The fields, where they are known.
    pub fields: Vec<Option<i32>>,
}

impl Half {
    pub fn meets(&self, other: &Half) -> bool {
        let fits = |(a, b): (&Option<i32>, &Option<i32>)| a.is_none() || b.is_none() || a == b;
        // Who takes too few fields or too many takes any message, and that is a fault.
        let fit = self.fields.len() != other.fields.len() || self.fields.iter().zip(&other.fields).all(fits);
        self.chans.iter().any(|c| other.chans.contains(c)) && fit
    }
}

impl Touch {
    /// May a step that touches this change what is decided by that?
    pub fn changes(&self, decided: &Touch) -> bool {
        let used = |c: u8| decided.chans.iter().chain(&decided.waits).any(|(chan, _)| *chan == c);
        self.wild
            || decided.wild
            || decided.guards.iter().chain(&decided.reads).any(|a| self.writes.contains(a))
            || self.chans.iter().any(|(c, how)| how.writes() && used(*c))
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Touch {
    /// What decides whether it can be taken.
    pub guards: BTreeSet<Atom>,
    /// The same, as far as it is whether somebody answers who is offered a message (`repairs`).
    pub answers: BTreeSet<Atom>,
    pub waits: BTreeSet<(u8, Use)>,
    /// What it looks at (the above apart), and changes.
    pub reads: BTreeSet<Atom>,
    pub writes: BTreeSet<Atom>,
    pub chans: BTreeSet<(u8, Use)>,
    /// It may depend on anything.
    pub wild: bool,
    pub sends: Option<Half>,
    pub takes: Option<Half>,
    /// Proctypes of which it makes processes.
    pub runs: BTreeSet<ProctypeId>,
    /// It needs its process to be the youngest.
    pub youngest: bool,
}
