//! Functions that find the digits of a float, or the float of some digits, and estimate with floats what integers then
//! correct: what the estimates are off by is of no consequence. glibc's own reckon with integers alone. Others take a
//! float apart into its bits, and decide about these, or round on the safe side.

/// David Gay's `strtod` and `dtoa`, under the names that programs have given them, and musl's `strtod`.
const CONVERSIONS: &[&str] =
    &["_Py_dg_strtod", "_Py_dg_dtoa", "zend_dtoa", "__strtodg", "__dtoa", "__floatscan"];

/// Tcl's conversions, the one by way of a long integer included.
const TCL: &[&str] = &["TclParseNumber", "TclDoubleDigits", "Tcl_InitBignumFromDouble"];

/// V8's conversions, mangled, without their parameters.
const V8: &[&str] = &["_ZN2v84base6StrtodE", "_ZN2v88internal6StrtodE", "_ZN2v84base13DoubleToAsciiE"];

/// CPython's hash of a float: the same for equal floats, whatever they stand for.
const HASHES: &[&str] = &["_Py_HashDouble", "Py_HashDouble"];

/// CPython's limits of waiting, in seconds, which it rounds down when it starts.
const LIMITS: &[&str] = &["thread_module_exec"];

/// Tells whether the function of this name is one of them.
pub(super) fn is_conversion(symbol: &str) -> bool {
    let is_listed = [CONVERSIONS, TCL, HASHES, LIMITS].iter().any(|names| names.contains(&symbol));
    is_listed || V8.iter().any(|name| symbol.starts_with(name))
}
