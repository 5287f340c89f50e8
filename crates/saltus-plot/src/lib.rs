//! saltus-plot
