//! Formulas of linear temporal logic over numbered propositions.
