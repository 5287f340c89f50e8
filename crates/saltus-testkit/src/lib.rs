//! saltus-testkit
