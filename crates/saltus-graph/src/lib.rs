//! saltus-graph
