//! saltus-flatten
