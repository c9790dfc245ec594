//! Searches, traces, the oracle and the plan of what combines.
