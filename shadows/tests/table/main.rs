//! TABLE 1 against MPFR and against closed forms, row by row.
//!
//! Most tests run over `Op::ALL` and take what they need from the row, so a new row is tested without being named.

mod closed_forms;
mod convert;
mod differences;
mod dot;
mod edges;
mod points;
mod primals;
mod reals;
mod residuals;
