//! Service of a processor for shadows that keep lists of error terms: merging two lists at once. A front end brings the
//! vector instructions; [`Portable`] is the reference path.

pub use crate::diagnosis::blame::{Merging, Portable, Roundings};
pub use crate::diagnosis::influences::{Both, Few};
