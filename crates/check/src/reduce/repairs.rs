//! Handshakes that become possible where somebody minds that they are not.
//!
//! Source  [Bosnacki-POR] section 4 (*rendez-vous × unless*) and section 5.3 (*rendez-vous × weak fairness*).
//!
//! A step that touches nothing but its own process may bring it to a receive, and a send of another process that could
//! not happen before then can. Two notice: who may go on only while that send cannot happen (the main part of an
//! `unless`, `else`), and who waits for the sender under weak fairness, content as soon as it cannot move
//! (`cycles/fair`). The paper has a static repair of both, a dynamic one of each, and for fairness another dynamic one
//! that it conjectures to be right.
//!
//! # Ours: by guards
//!   What decides whether a send is answered is part of what the main part looks at: who stands where it could take the
//!   message. So a step that brings a process there disturbs the main part, and no other step; `touch`, `answered`. For
//!   fairness the same set is part of what decides whether a process can move (`mod`, F).
//!
//! # Static
//!   No step is selected that leads to a receive of a handshake, or that changes what such a receive compares, whether
//!   or not anybody minds. "Followed by a receive" is asked of the control graph, where loops, jumps, `break` and
//!   `goto` are edges, and of all locations where a chain may stop.
//!   *unless*  What may be selected makes no send possible, so it disturbs no main part. A main part that is selected
//!   itself takes its escape along (`stubborn`, D1) and with that whoever leads to an answer (D4). What may let a
//!   main part happen is asked as before (D3), so an answer that goes away is not overlooked.
//!   *fairness*  A selected step may take an answer away, which gives a process only more states where it cannot move.
//!
//! # Dynamic, for unless
//!   The paper leaves nothing out of a state with a send that is an escape and cannot happen. That is not enough:
//!     U1 (`corpus/figures/unless_later.pml`) nobody stands at such a send *yet*. A process comes to its receive before
//!        the other one comes to its `unless`, and the main part never runs.
//!     U2 (`corpus/figures/unless_two_servers.pml`) the send *can* happen, with another partner, who then goes away.
//!   Here nothing is left out of a state where a process stands at such an escape, possible or not, or may yet come to
//!   one. Where nobody may, no step that is ever taken minds.
//!
//! # Dynamic, for fairness
//!   The search waits for one process X at a time, until it moves or cannot (flags, copies). The paper: nothing is left out
//!   where X cannot move and stands at a send of a handshake. Its conjecture: it is enough to take X's default move there,
//!   and the next one's, and so on; then steps may be left out.
//!
//!   The paper's own example (R02) needs neither here: a default move is a move of its own (`cycles/fair`, D2), and no
//!   reduction leaves it out.
//!
//!   Both are wrong, by one model (`corpus/figures/fair_two_servers.pml`): X can send to either of two servers, who are
//!   now and then busy for one local step. When one is busy, X can still move because of the other: there is no default
//!   move, so the local step alone is taken. They are never seen busy together, and the run in which X is never served,
//!   being again and again unable to move, is lost. (`tests/figures.rs`.)
//!
//!   The repair is one word: nothing is left out where X stands at a send of a handshake, *whether or not* it can move
//!   (dynamic); or X's default move is the only one where it has one, and nothing is left out where X could move by a
//!   handshake (defaults). Let a state wait for X and have a fair accepted run σ, and let d be the number of its steps
//!   until X moves or cannot. We show that the reduced graph leads to a state that waits no longer for X and has a fair
//!   accepted run. If nothing is left out, σ's first step is there, and d decreases. If steps are left out, X stands at
//!   no such send. σ has a step of the selection, since that stays possible and its process must move at last; put in
//!   front it is a step of the reduced graph, and the rest of σ is a fair accepted run with a distance of at most d:
//!   either the step does not change whether X can move, or nothing before it in σ does (F, which holds of everything
//!   but answers); in the latter case X cannot move at once, and the default move is there. By the cycle condition σ's
//!   own first step is taken again and again, so d comes to 0. To take a default move early loses nothing: whatever is
//!   still to be waited for can be waited for along the same σ.
//!   This is said of a state of the product, and the selection depends on more than the system's state: so the claim
//!   must be in stutter form (`ndfs`, *On the fly*).
//!
//! # Owed
//!   O1 each repair answers right, and not without its parts    tests/figures.rs: `each_part_of_a_repair_is_needed`
//!   O2 verdicts = the oracle's, in every way                   tests/figures.rs: the figures, random systems
//!
//! # Cost  static: nothing in a state, and fewer selections; dynamic: a look at who stands where, and all steps where one is
//!   minded.

use crate::cycles::Fairness;

/// Who sees to the main part of an `unless` whose escape is a handshake.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum UnlessBy {
    #[default]
    Guards,
    Static,
    Dynamic,
}

/// Who sees to it, under fairness, that a process can move again by a handshake.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum AbleBy {
    #[default]
    Guards,
    Static,
    Dynamic,
    Defaults,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Repairs {
    pub unless: UnlessBy,
    pub able: AbleBy,
}

impl Repairs {
    /// Something is done as a paper does it. Without fairness nobody minds who can move.
    pub fn departs(self, fairness: Fairness) -> bool {
        self.unless != UnlessBy::Guards || fairness != Fairness::None && self.able != AbleBy::Guards
    }

    /// Steps that lead to a receive are never selected.
    pub(super) fn is_static(self) -> bool {
        self.unless == UnlessBy::Static || self.able == AbleBy::Static
    }
}

impl UnlessBy {
    pub const ALL: [UnlessBy; 3] = [UnlessBy::Guards, UnlessBy::Static, UnlessBy::Dynamic];

    pub fn word(self) -> &'static str {
        match self {
            UnlessBy::Guards => "guards",
            UnlessBy::Static => "static",
            UnlessBy::Dynamic => "dynamic",
        }
    }
}

impl AbleBy {
    pub const ALL: [AbleBy; 4] = [AbleBy::Guards, AbleBy::Static, AbleBy::Dynamic, AbleBy::Defaults];

    pub fn word(self) -> &'static str {
        match self {
            AbleBy::Guards => "guards",
            AbleBy::Static => "static",
            AbleBy::Dynamic => "dynamic",
            AbleBy::Defaults => "defaults",
        }
    }

    /// It asks for whom the search waits.
    pub fn asks_who_is_waited_for(self) -> bool {
        matches!(self, AbleBy::Dynamic | AbleBy::Defaults)
    }

    /// The same where somebody is waited for.
    pub fn waits(self, fairness: Fairness) -> bool {
        self.asks_who_is_waited_for() && fairness != Fairness::None
    }
}
