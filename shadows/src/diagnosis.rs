//! Attribution of errors: which operations made a float wrong, how, and what is to be said of them.
//!
//! Each value carries the largest roundings in its error ([`blame`]), where these grew, and the erroneous operations it depends on
//! ([`influences`]), in a [scale of its own](unit). What was computed is remembered for a while ([`history`]) and generalised to
//! [expressions](expression). Where floats leave ([`spots`]) or decide something ([`decisions`]), those who made them wrong
//! answer for it, which is what [findings] tell. Knows no instructions and no report formats.

pub(crate) mod blame;
pub(crate) mod conditioning;
mod consulted;
mod decisions;
pub(crate) mod deferred;
pub(crate) mod expression;
pub(crate) mod findings;
pub(crate) mod history;
pub(crate) mod influences;
pub(crate) mod linear;
pub(crate) mod local_error;
pub(crate) mod operations;
mod ranges;
mod remedied;
pub(crate) mod special;
pub(crate) mod spots;
pub(crate) mod unit;
