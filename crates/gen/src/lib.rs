//! A seedable generator of well-formed random Promela.
