//! Conditions of the reduction, each of which can be left out: so that tests show that it is needed.

/// A condition, or a thing that a step may touch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Condition {
    /// `stubborn`
    D1,
    D2,
    D3,
    D4,
    /// What a process comes to only later (`cast`).
    Later,
    Visibility,
    /// Phases: what the automaton may look at later, and that it cannot count steps from where one begins (`claim.rs`).
    Yet,
    Stutters,
    Cycle,
    /// `rounds`: who receives needs somebody who sends; who makes processes goes round.
    Fed,
    Made,
    Fairness,
    /// Parts: that what one of them sees keeps its order; that nothing is added to a run, since it is fair.
    Part,
    Added,
    Fault,
    /// `still`
    Still,
    Enters,
    AtLabel,
    /// `touch`: who reads that something cannot happen,
    Else,
    Deterministic,
    ChainGuards,
    Provided,
    Answered,
    Wild,
    /// and whatever else is looked at or changed where it is not to be seen.
    ChainEffects,
    ChainChannels,
    ChainHandshake,
    Population,
    NrPr,
    Remote,
    Label,
    ChannelsGo,
    RunReads,
    Promise,
    Watched,
    Monitor,
    Named,
    /// That it was asked for in this very channel what the next statement needs there.
    Sure,
    Fit,
    /// `Use::disturbs`: two sends, a send and who needs room, a send and who looks, a sorted send and who reads, two
    /// receives, a receive and who reads or needs a message.
    SendSend,
    SendRoom,
    SendLook,
    InsertRead,
    TakeTake,
    TakeRead,
    /// `Use::enables`: room for who sends, a message for who takes, the one behind for who takes the first.
    FreesSend,
    FeedsTake,
    Uncovers,
    /// Which channel a receive waits for (`cast`).
    Renamed,
    /// `repairs`. Static: steps that lead to a receive. Dynamic, for `unless`: any of it; who does not stand there yet, and
    /// who can send. For fairness: any of it; where the process can move.
    Followed,
    Minded,
    Coming,
    Offered,
    Waited,
    /// `leap`: what is left out is added where a loop closes, one step at a time; progress is made at most once.
    Extension,
    OneSeen,
    OneMade,
    /// What protocols are asked (`mod`).
    Reception,
    Overflow,
    /// Operations that are named are seen.
    Operation,
    /// Haste (`reduced`): that nothing else at the location waits for others; that nobody else takes part.
    HasteWaits,
    HasteMeets,
    /// `known`: what others write on the way; ways that meet; that one which is waited for can always be taken; what a receive
    /// has bound before.
    KnownWrites,
    KnownMeets,
    KnownWaits,
    KnownBinds,
}

impl Condition {
    pub const ALL: [Condition; 61] = [
        Condition::D1,
        Condition::D2,
        Condition::D3,
        Condition::D4,
        Condition::Later,
        Condition::Visibility,
        Condition::Yet,
        Condition::Stutters,
        Condition::Cycle,
        Condition::Fed,
        Condition::Made,
        Condition::Fairness,
        Condition::Part,
        Condition::Added,
        Condition::Fault,
        Condition::Still,
        Condition::Enters,
        Condition::AtLabel,
        Condition::Else,
        Condition::Deterministic,
        Condition::ChainGuards,
        Condition::Provided,
        Condition::Answered,
        Condition::Wild,
        Condition::ChainEffects,
        Condition::ChainChannels,
        Condition::ChainHandshake,
        Condition::Population,
        Condition::NrPr,
        Condition::Remote,
        Condition::Label,
        Condition::ChannelsGo,
        Condition::RunReads,
        Condition::Promise,
        Condition::Watched,
        Condition::Monitor,
        Condition::Named,
        Condition::Sure,
        Condition::Fit,
        Condition::SendSend,
        Condition::SendRoom,
        Condition::SendLook,
        Condition::InsertRead,
        Condition::TakeTake,
        Condition::TakeRead,
        Condition::FreesSend,
        Condition::FeedsTake,
        Condition::Uncovers,
        Condition::Renamed,
        Condition::Extension,
        Condition::OneSeen,
        Condition::OneMade,
        Condition::Reception,
        Condition::Overflow,
        Condition::Operation,
        Condition::HasteWaits,
        Condition::HasteMeets,
        Condition::KnownWrites,
        Condition::KnownMeets,
        Condition::KnownWaits,
        Condition::KnownBinds,
    ];

    /// Those of what the papers do instead.
    pub const FIGURES: [Condition; 5] =
        [Condition::Followed, Condition::Minded, Condition::Coming, Condition::Offered, Condition::Waited];
}

/// Those that are left out: none, unless a test says so.
#[derive(Clone, Copy, Default, Debug)]
pub struct Without(u128);

const _: () = assert!(Condition::ALL.len() + Condition::FIGURES.len() <= 128, "each has a bit");
/// The last one that is declared.
const LAST: Condition = Condition::KnownBinds;
const _: () = assert!(Condition::ALL.len() + Condition::FIGURES.len() == LAST as usize + 1, "none is forgotten");
const _: () = assert!(bits(&Condition::ALL) & bits(&Condition::FIGURES) == 0, "a condition is a paper's or ours");
const _: () = assert!(
    bits(&Condition::ALL) | bits(&Condition::FIGURES) == u128::MAX >> (127 - LAST as u32),
    "none is there twice in the place of another"
);

const fn bits(conditions: &[Condition]) -> u128 {
    let (mut bits, mut n) = (0, 0);
    while n < conditions.len() {
        bits |= 1 << conditions[n] as u8;
        n += 1;
    }
    bits
}

impl Without {
    pub fn one(condition: Condition) -> Without {
        Without(1 << condition as u8)
    }

    pub fn is_nothing(self) -> bool {
        self.0 == 0
    }

    #[inline]
    pub fn keeps(self, condition: Condition) -> bool {
        self.0 >> condition as u8 & 1 == 0
    }
}
