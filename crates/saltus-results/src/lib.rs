//! saltus-results
