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
        debug_assert!(!self.chans.is_empty() && !other.chans.is_empty(), "a half is of some channel");
        let fits = |(a, b): (&Option<i32>, &Option<i32>)| a.is_none() || b.is_none() || a == b;
        // Who takes too few fields or too many takes any message, and that is a fault.
        let fit = self.fields.len() != other.fields.len() || self.fields.iter().zip(&other.fields).all(fits);
        self.chans.iter().any(|c| other.chans.contains(c)) && fit
    }
}

impl Touch {
    /// Whatever parts of the state it names.
    pub fn atoms(&self) -> impl Iterator<Item = &Atom> {
        self.guards.iter().chain(&self.answers).chain(&self.reads).chain(&self.writes)
    }

    /// Of those who only look: the other one looks at all that this does.
    pub fn is_within(&self, other: &Touch) -> bool {
        let looks = |touch: &Touch| (!touch.wild || other.wild) && touch.reads.is_subset(&other.reads);
        looks(self) && self.chans.is_subset(&other.chans)
    }

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

#[cfg(test)]
mod tests {
    use super::*;

    const CAPACITY: usize = 3;

    /// What a use of a channel that holds this is: the message it looks at or takes and what the channel holds afterwards,
    /// if it is possible. `n` is what is sent, or what a receive compares; what fits anything is more than that.
    fn done(how: Use, n: u8, holds: &[u8]) -> Option<(Option<u8>, Vec<u8>)> {
        let mut after = holds.to_vec();
        let first = holds.iter().take(1).position(|m| *m == n);
        let any = holds.iter().position(|m| *m == n);
        let room = holds.len() < CAPACITY;
        match how {
            Use::Send => room.then(|| {
                after.push(n);
                (None, after)
            }),
            Use::Insert => room.then(|| {
                let at = holds.iter().position(|m| *m > n).unwrap_or(holds.len());
                after.insert(at, n);
                (None, after)
            }),
            Use::Take => first.map(|at| (Some(after.remove(at)), after)),
            Use::TakeAny => any.map(|at| (Some(after.remove(at)), after)),
            Use::Copy | Use::NeedsHead => first.map(|at| (Some(holds[at]), after)),
            Use::CopyAny | Use::NeedsAny => any.map(|at| (Some(holds[at]), after)),
            Use::NeedsRoom => room.then_some((None, after)),
            Use::NeedsMessage => (!holds.is_empty()).then_some((None, after)),
            Use::Look => Some((Some(holds.iter().fold(0, |sum, m| sum * 4 + m + 1)), after)),
        }
    }

    fn channels() -> Vec<Vec<u8>> {
        let mut all = vec![vec![]];
        for n in 0..CAPACITY {
            let longer = |holds: &Vec<u8>| (0..3).map(|m| [&holds[..], &[m]].concat()).collect::<Vec<_>>();
            let more: Vec<Vec<u8>> = all.iter().filter(|holds| holds.len() == n).flat_map(longer).collect();
            all.extend(more);
        }
        all
    }

    fn filled(holds: &[u8]) -> Filled {
        match holds.len() {
            0 => Filled::Empty,
            CAPACITY => Filled::Full,
            _ => Filled::Between,
        }
    }

    fn pairs() -> impl Iterator<Item = ((Use, u8), (Use, u8))> {
        let all = || USES.into_iter().flat_map(|how| (0..3).map(move |n| (how, n)));
        all().flat_map(move |a| all().map(move |b| (a, b)))
    }

    #[test]
    fn uses_that_do_not_disturb_each_other_can_be_done_in_both_orders() {
        for ((a, n), (b, m)) in pairs().filter(|((a, _), (b, _))| !a.disturbs(*b, Without::default())) {
            for holds in channels() {
                let (Some(one), Some(other)) = (done(a, n, &holds), done(b, m, &holds)) else { continue };
                let (then_b, then_a) = (done(b, m, &one.1), done(a, n, &other.1));
                let said = format!("{a:?} {n}, {b:?} {m}, {holds:?}");
                let ((b_sees, last), (a_sees, end)) = (then_b.expect(&said), then_a.expect(&said));
                assert_eq!((last, a_sees, b_sees), (end, one.0, other.0), "{said}");
            }
        }
    }

    #[test]
    fn a_use_that_becomes_possible_was_enabled() {
        for ((a, n), (b, m)) in pairs() {
            for holds in channels().iter().filter(|holds| done(b, m, holds).is_none()) {
                let Some((_, after)) = done(a, n, holds) else { continue };
                if done(b, m, &after).is_some() {
                    assert!(a.enables(b, Some(filled(holds)), Without::default()), "{a:?} {n}, {b:?} {m}, {holds:?}");
                    assert!(a.enables(b, None, Without::default()), "{a:?}, {b:?}");
                }
            }
        }
    }
}
