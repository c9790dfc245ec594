//! Byte strings into state numbers.
