//! Functions that find the digits of a float, or the float of some digits, and estimate with floats what integers then
//! correct: what the estimates are off by is of no consequence. glibc's own reckon with integers alone. Others take a
//! float apart into its bits, and decide about these, or round on the safe side.

/// Direction of a conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Conversion {
    /// Digits of a double, its first argument: in mode 3, which is given next, as many behind the point as is given after that.
    ToDigits,
    /// A double, which it returns, of the text to which its first argument points.
    OfText,
    /// Something else.
    Other,
}

/// David Gay's `dtoa`, under the names that programs have given it.
const TO_DIGITS: &[&str] = &["_Py_dg_dtoa", "zend_dtoa", "__dtoa"];

/// David Gay's `strtod` in Python, which calls it to round a number.
const OF_TEXT: &[&str] = &["_Py_dg_strtod"];

/// David Gay's `strtod` elsewhere, musl's, and Tcl's conversions, the one by way of a long integer included.
const OTHERS: &[&str] =
    &["__strtodg", "__floatscan", "TclParseNumber", "TclDoubleDigits", "Tcl_InitBignumFromDouble"];

/// V8's conversions, mangled, without their parameters.
const V8: &[&str] = &["_ZN2v84base6StrtodE", "_ZN2v88internal6StrtodE", "_ZN2v84base13DoubleToAsciiE"];

/// CPython's hash of a float: the same for equal floats, whatever they stand for.
const HASHES: &[&str] = &["_Py_HashDouble", "Py_HashDouble"];

/// CPython's limits of waiting, in seconds, which it rounds down when it starts.
const LIMITS: &[&str] = &["thread_module_exec"];

/// Direction in which the function of this name converts; nothing if it is none of them.
pub(super) fn conversion(symbol: &str) -> Option<Conversion> {
    if TO_DIGITS.contains(&symbol) {
        return Some(Conversion::ToDigits);
    }
    if OF_TEXT.contains(&symbol) {
        return Some(Conversion::OfText);
    }
    let is_listed = [OTHERS, HASHES, LIMITS].iter().any(|names| names.contains(&symbol));
    (is_listed || V8.iter().any(|name| symbol.starts_with(name))).then_some(Conversion::Other)
}
