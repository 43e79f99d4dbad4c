//! Functions that find the digits of a float, or the float of some digits, and estimate with floats what integers then
//! correct: what the estimates are off by is of no consequence. glibc's own reckon with integers alone.

/// David Gay's `strtod` and `dtoa`, under the names that programs have given them, and musl's `strtod`.
const CONVERSIONS: &[&str] =
    &["_Py_dg_strtod", "_Py_dg_dtoa", "zend_strtod", "zend_dtoa", "__strtodg", "__dtoa", "__floatscan"];

/// Whether the function of this name is one of them.
pub(super) fn is_conversion(symbol: &str) -> bool {
    CONVERSIONS.contains(&symbol)
}
