//! What the library says of models, compared with the oracle, with SPIN and with itself. One program, because what all these
//! tests are made of takes long to compile.

mod corpus;
mod endless;
mod progress;
mod protocols;
mod reduced;
mod trails;
