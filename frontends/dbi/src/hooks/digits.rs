//! Functions that find the digits of a float, or the float of some digits, and estimate with floats what integers then
//! correct: what the estimates are off by is of no consequence. glibc's own reckon with integers alone. Others take a
//! float apart into its bits, and decide about these.

/// David Gay's `strtod` and `dtoa`, under the names that programs have given them, and musl's `strtod`.
const CONVERSIONS: &[&str] =
    &["_Py_dg_strtod", "_Py_dg_dtoa", "zend_strtod", "zend_dtoa", "__strtodg", "__dtoa", "__floatscan"];

/// CPython's hash of a float: the same for equal floats, whatever they stand for.
const HASHES: &[&str] = &["_Py_HashDouble", "Py_HashDouble"];

/// Tells whether the function of this name is one of them.
pub(super) fn is_conversion(symbol: &str) -> bool {
    CONVERSIONS.contains(&symbol) || HASHES.contains(&symbol)
}
