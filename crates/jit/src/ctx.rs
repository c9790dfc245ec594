//! What native code and the driver share: one block of memory whose places both know.
//!
//! Generated functions get a pointer to [`Ctx`] and a pointer to the bytes of a state (model, layout.rs). They never
//! call back and never unwind; what they cannot say in a state they say with a [`Code`].

use spinor_model::ir::MAX_LIVE;
use std::mem::offset_of;

/// A step as native code writes it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct RawStep {
    pub pid: u32,
    pub edge: u32,
    /// [`NOBODY`] if the process moves alone.
    pub partner: u32,
    pub half: u32,
    /// What came of it, if it was done at once: a [`Code`], the bytes of the successor, and the statements after which
    /// the floor was kept.
    pub code: i32,
    pub len: u32,
    pub atomic_steps: u32,
}

pub(crate) const NOBODY: u32 = u32::MAX;
/// In place of a partner: this edge is the receiver's half of a handshake, and the message is at hand.
pub(crate) const RECEIVER: u32 = u32::MAX - 1;

// No process has such a number, and no edge.
const _: () = assert!(MAX_LIVE < RECEIVER as usize && RECEIVER < NOBODY);

/// A live channel.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RawChan {
    /// From the start of the state.
    pub at: u32,
    /// Which of the system's classes of channels.
    pub class: u32,
}

// Its rows are found by multiplying; nothing lies between them.
const _: () = assert!(size_of::<RawChan>() == 8 && size_of::<RawStep>() == 7 * 4);

impl Ctx {
    /// The bytes of the part that begins at an offset: pointers and what counts bytes come first, numbers are behind
    /// them. `None` inside a part, and behind the numbers, where rows are.
    pub const fn width_at(offset: usize) -> Option<usize> {
        let (narrow, rows) = (offset_of!(Ctx, n_steps), offset_of!(Ctx, bases));
        match offset {
            _ if offset < narrow && offset.is_multiple_of(8) => Some(8),
            _ if offset >= narrow && offset < rows && offset.is_multiple_of(4) => Some(4),
            _ => None,
        }
    }
}

const _: () = {
    assert!(matches!(Ctx::width_at(offset_of!(Ctx, padded)), Some(8)) && size_of::<*mut u8>() == 8);
    assert!(matches!(Ctx::width_at(offset_of!(Ctx, heed_promises)), Some(4)));
    assert!(offset_of!(Ctx, n_steps) == 8 * 8 && offset_of!(Ctx, bases) == 8 * 8 + 14 * 4);
};

#[repr(C)]
#[derive(Clone)]
pub(crate) struct Ctx {
    pub steps: *mut RawStep,
    pub reached: *mut u8,
    pub truncated: *mut u8,
    /// Where the next successor goes when steps are done at once, and the last place that has room for one.
    pub out: *mut u8,
    pub out_last: *mut u8,
    /// Which steps of a process alone are listed and not done: a bit for each number, in so many words; null if all are done.
    pub asleep: *const u64,
    pub n_asleep: u64,
    /// Bytes of the state that is copied, in whole grains.
    pub padded: u64,
    pub n_steps: u32,
    pub max_steps: u32,
    /// A step did not fit.
    pub overflow: u32,
    /// Bytes of the state.
    pub len: u32,
    pub n_chans: u32,
    /// A process came or went: `bases` and `chans` are no longer those of the state the driver works on.
    pub reshaped: u32,
    pub timeout: u32,
    /// How many `enabled()` we are inside of.
    pub depth: u32,
    pub new_pid: i32,
    /// Statements that one call may still do before the driver has a look.
    pub rounds: i32,
    /// Who keeps the floor after [`Code::KEEPS_FLOOR`].
    pub floor: u32,
    /// Statements within one call after which the floor was kept.
    pub atomic_steps: u32,
    /// Not zero: failed assertions (broken promises) are worth asking the interpreter about.
    pub heed_assertions: u32,
    pub heed_promises: u32,
    /// Where each process's frame begins.
    pub bases: [u32; MAX_LIVE + 1],
    /// The number of a step with its first edge, for `asleep`.
    pub firsts: [u32; MAX_LIVE + 1],
    /// By the channel's number; 0 names none.
    pub chans: [RawChan; MAX_LIVE + 1],
}

impl Default for Ctx {
    fn default() -> Ctx {
        Ctx {
            steps: std::ptr::null_mut(),
            reached: std::ptr::null_mut(),
            truncated: std::ptr::null_mut(),
            out: std::ptr::null_mut(),
            out_last: std::ptr::null_mut(),
            asleep: std::ptr::null(),
            n_asleep: 0,
            padded: 0,
            n_steps: 0,
            max_steps: 0,
            overflow: 0,
            len: 0,
            n_chans: 0,
            reshaped: 0,
            timeout: 0,
            depth: 0,
            new_pid: 0,
            rounds: 0,
            floor: 0,
            atomic_steps: 0,
            heed_assertions: 1,
            heed_promises: 1,
            bases: [0; MAX_LIVE + 1],
            firsts: [0; MAX_LIVE + 1],
            chans: [RawChan::default(); MAX_LIVE + 1],
        }
    }
}

/// How a call of native code ended.
pub(crate) struct Code;

/// Statements of a `d_step` or `atomic` that one call does before the interpreter has to say whether they ever end.
pub(crate) const ROUNDS: i32 = 100_000;

impl Code {
    /// Done; anyone may move.
    pub const YIELDS: i32 = 0;
    /// Done; `ctx.floor` goes on if it can.
    pub const KEEPS_FLOOR: i32 = 1;
    /// Something the interpreter must say: a fault, or a chain too long to be trusted to end.
    pub const ASK: i32 = 2;
    /// Not done: it is asleep.
    pub const SLEEPS: i32 = 3;
}

/// `(ctx, state)`: lists the steps of all processes, and may do them.
pub(crate) type AllMoves = unsafe extern "C" fn(*mut Ctx, *const u8);
/// `(ctx, state, words)`: says which of the expressions looked at are true; 0, or 1 for a fault.
pub(crate) type Look = unsafe extern "C" fn(*mut Ctx, *const u8, *mut u64) -> i32;
/// `(ctx, state, pid, frame)`: appends the steps of a process.
pub(crate) type Moves = unsafe extern "C" fn(*mut Ctx, *const u8, u32, *const u8);
/// `(ctx, state, pid, frame, edge, partner, half, message, chan)`: does a statement, a handshake or a `d_step` whole.
pub(crate) type Apply = unsafe extern "C" fn(*mut Ctx, *mut u8, u32, *mut u8, u32, u32, u32, *const i32, u32) -> i32;
