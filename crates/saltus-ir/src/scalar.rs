//! scalar
