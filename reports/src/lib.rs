//! reports
#![forbid(unsafe_code)]
