//! From what a shadow found to what people and tools read.
//!
//! `symbols` names places in files, `rank` orders and folds, and each format is a file of its own over the same
//! document. Knows the model of `core::findings` and nothing of shadows or engines.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod symbols;
