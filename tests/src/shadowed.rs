//! The drivers of the tests that look at what a shadow says: programs run natively and under the tool, with the report
//! read back. The programs must not notice either; what the shadow says is compared with truth from elsewhere.

pub mod build;
pub mod differences;
pub mod fpcore;
pub mod gaps;
pub mod matrix;
pub mod observe;
pub mod pairs;
pub mod report;
