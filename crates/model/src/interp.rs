//! The meaning of a system, in the plainest way we can say it.
//!
//! (body follows)

use crate::fault::Fault;
use crate::ir::{ChanDecl, Loc, Pid, ProctypeId, System};
use crate::successors::Step;
