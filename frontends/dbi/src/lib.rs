//! dbi
