//! The typed system, its validator, its printed form and its meaning.
