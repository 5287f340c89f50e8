//! saltus-sim
