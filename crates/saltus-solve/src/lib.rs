//! saltus-solve
