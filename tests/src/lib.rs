//! The test drivers.
