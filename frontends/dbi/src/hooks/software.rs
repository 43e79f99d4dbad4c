//! Arithmetic and conversions in formats that the processor does not have, which compilers' libraries do with integers:
//! `__float128` and `real(16)`, and half precision where the processor's own is not used. Nobody follows them: where floats
//! without shadows matter, each call is a gap, because it may round what was exact.

/// Functions of GCC's and LLVM's libraries, and libquadmath's root.
const FUNCTIONS: &[&str] = &[
    "__addtf3",
    "__subtf3",
    "__multf3",
    "__divtf3",
    "sqrtq",
    "__truncsfhf2",
    "__truncdfhf2",
    "__truncxfhf2",
    "__extendhfsf2",
    "__extendhfdf2",
    "__extendhfxf2",
    "__truncsfbf2",
    "__truncdfbf2",
    "__truncxfbf2",
];

/// Tells whether the function of this name is one.
pub(super) fn is_of(symbol: &str) -> bool {
    FUNCTIONS.contains(&symbol)
}
