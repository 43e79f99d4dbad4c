//! A session: everything between the running program and its report.

pub(crate) mod requests;
