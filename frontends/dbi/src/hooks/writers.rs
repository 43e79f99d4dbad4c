//! Functions that look at a float for how it is written, or kept: V8 asks whether a number is a small integer, ICU how many digits
//! it has. What they decide says nothing about the program, only that the float is another than the real, which is judged where its
//! text is.
//!
//! They may run the program's own functions on the way (a method `toString`), so that this holds for what they decide themselves,
//! and not for all that happens during a call.

/// Functions of V8, by the names of reports.
const V8: &[&str] = &[
    "Builtins_NumberToString",
    "Builtins_StringAddConvertLeft",
    "Builtins_StringAddConvertRight",
    "Builtins_ToString",
    "v8::internal::AstNodeFactory::NewNumberLiteral",
    "v8::internal::DoubleToRadixCString",
];

/// V8's makers of objects, a template, and its methods.
const V8_FACTORY: &str = "v8::internal::FactoryBase<";
const V8_METHODS: [&str; 2] = ["::NumberToString", "::HeapNumberToString"];

/// Classes of ICU, whose functions' names all have its version in them.
const ICU: [&str; 2] = ["::number::impl::DecimalQuantity::", "::FixedDecimal::"];
const ICU_ROUND: &str = "uprv_round_";

/// Tells whether the function of this name, as reports have it, is one of them.
pub(crate) fn writes(function: &str) -> bool {
    let name = function.split('(').next().unwrap_or(function);
    let is_icu = name.starts_with("icu_") && ICU.iter().any(|class| name.contains(class));
    let is_factory = name.starts_with(V8_FACTORY) && V8_METHODS.iter().any(|method| name.ends_with(method));
    V8.contains(&name) || is_factory || is_icu || name.starts_with(ICU_ROUND)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writers_are_known_whatever_their_version() {
        for name in [
            "Builtins_ToString",
            "v8::internal::FactoryBase<v8::internal::Factory>::NumberToString(v8::internal::Handle)",
            "v8::internal::FactoryBase<v8::internal::LocalFactory>::HeapNumberToString",
            "icu_78::number::impl::DecimalQuantity::_setToDoubleFast(double)",
            "uprv_round_72",
        ] {
            assert!(writes(name), "{name}");
        }
        for name in ["Builtins_MathRound", "icu_78::Calendar::setTime", "main", "Builtins_ToStringTag"] {
            assert!(!writes(name), "{name}");
        }
    }
}
