//! saltus-codegen
