//! Floats whose bytes are copied, compared and put together again by integers: what can be followed keeps its derivative, and what is of
//! no account to anybody is no gap.

#![forbid(unsafe_code)]

use shadowgrind_tests::host;
use shadowgrind_tests::shadowed::build::Recipe;
use shadowgrind_tests::shadowed::gaps::{counted, derivatives, gaps, observe};
use shadowgrind_tests::shadowed::observe::{Case, Observed};

/// Text is no part of the floats that were where its buffer is, in whatever pieces and order it comes.
#[test]
fn text_over_floats_that_were_freed_is_no_gap() {
    for shadow in ["dot", "adjoint"] {
        for options in host::bindings() {
            let Some(seen) = observe(shadow, "reused.c", "-O2", "sse2", options) else { return };
            assert_eq!(gaps(&seen), [], "{shadow} {options:?}");
            assert!(seen.outcome.files.contains_key("out.txt"));
            let Some(seen) = observe(shadow, "tails.c", "-O2", "sse2", options) else { return };
            assert_eq!(gaps(&seen), [], "{shadow} {options:?}");
        }
    }
}

/// Integers are no digits of doubles that were there before them, be the last of them beside the upper half of one.
#[test]
fn lists_over_floats_that_nobody_uses_are_no_gap() {
    for shadow in ["dot", "adjoint"] {
        for flags in ["-O0 -fno-strict-aliasing", "-O2 -fno-strict-aliasing"] {
            let Some(seen) = observe(shadow, "lists.c", flags, "sse2", &[]) else { return };
            assert_eq!(gaps(&seen), [], "{shadow} {flags}");
            for n in 0..24 {
                assert_eq!(derivative(&seen, shadow, n), Some(2.0), "{shadow} {flags}");
            }
        }
    }
}

/// Doubles that are put together by instructions of which each writes a part are whole in code that is hot as well.
#[test]
fn doubles_put_together_in_hot_code_are_whole() {
    for shadow in ["dot", "adjoint"] {
        for flags in ["-O0", "-O2"] {
            for options in [&[][..], &["--hot-after=1"]] {
                let Some(seen) = observe(shadow, "serialized.c", flags, "sse2", options) else { return };
                let what = format!("{shadow} {flags} {options:?}");
                assert_eq!(gaps(&seen), [], "{what}");
                for n in 0..2 {
                    let value = seen.report.outputs[n].value - if n == 1 { 3000.0 } else { 0.0 };
                    let told = derivative(&seen, shadow, n).unwrap_or(f64::NAN);
                    assert!((told - value / 1.5).abs() < 1e-9, "{what}: {told}");
                }
            }
        }
    }
}

/// A double whose lower half is cut, and joined with its upper digits again, is what it was; the input itself is the first number of a
/// tape.
#[test]
fn doubles_joined_of_their_halves_are_whole() {
    for shadow in ["dot", "adjoint"] {
        for options in host::bindings().chain([&["--reference-path"][..], &["--superblock-limit=1"]]) {
            let Some(seen) = observe(shadow, "joined_again.c", "-O2", "sse2", options) else { return };
            assert_eq!(gaps(&seen), [], "{shadow} {options:?}");
            assert_eq!(derivative(&seen, shadow, 0), Some(2.0), "{shadow} {options:?}");
        }
    }
}

/// The derivative of output `n` by the only input, as the report of the shadow has it.
fn derivative(seen: &Observed, shadow: &str, n: usize) -> Option<f64> {
    match shadow {
        "dot" => seen.report.outputs[n].dot,
        _ => seen.report.document["gradients"][n]["values"][0].as_f64(),
    }
}

/// Loops that swap and copy doubles byte by byte are known as such, and lose nothing; one that breaks off within a double is counted.
#[test]
fn doubles_copied_byte_by_byte_are_followed() {
    for (flags, shadow) in [("-O1", "dot"), ("-O2", "dot"), ("-O2", "adjoint")] {
        for options in host::bindings().chain([&["--reference-path"][..]]) {
            let Some(seen) = observe(shadow, "byte_by_byte.c", flags, "sse2", options) else { return };
            assert_eq!(gaps(&seen), [("MOV r/m8, r8".to_owned(), 1)], "{shadow} {flags} {options:?}");
            let derivatives = (0..4).map(|n| derivative(&seen, shadow, n));
            let expected = [2.0, 50.0, 51.0, 52.0].map(Some);
            assert!(derivatives.eq(expected), "{shadow} {flags} {options:?}: {:?}", seen.report.outputs);
        }
    }
}

/// Numbers sorted by their digits keep their derivatives, and lose nothing; one that is looked up by digits has none, which is counted.
#[test]
fn numbers_sorted_by_digits_are_followed() {
    for (flags, shadow) in [("-O1", "dot"), ("-O2", "dot"), ("-O2", "adjoint")] {
        for options in host::bindings().chain([&["--reference-path"][..]]) {
            let Some(seen) = observe(shadow, "by_digits.c", flags, "sse2", options) else { return };
            let counts: u64 = gaps(&seen).iter().map(|(_, count)| count).sum();
            assert_eq!((counts, counted(&seen, "found")), (1, 1), "{shadow} {flags} {options:?}");
            for n in 0..32 {
                let expected = Some(n as f64 - 15.5);
                assert_eq!(derivative(&seen, shadow, n), expected, "{shadow} {flags} {options:?}");
            }
        }
    }
}

/// A condition in a register in which a float was is an integer.
#[test]
fn a_condition_over_a_float_is_no_gap() {
    for shadow in ["dot", "adjoint"] {
        for options in host::bindings().chain([&["--superblock-limit=1"][..]]) {
            let Some(seen) = observe(shadow, "condition.c", "-O2", "sse2", options) else { return };
            assert_eq!(gaps(&seen), [], "{shadow} {options:?}");
        }
    }
}

/// Digits that are shifted and compared are lost to nobody.
#[test]
fn digits_that_are_only_asked_about_are_no_gap() {
    for flags in ["-O2 -msse4.1", "-O2 -mavx2"] {
        for (shadow, options) in derivatives() {
            let Some(seen) = observe(shadow, "asked.c", flags, "avx2", options) else { return };
            assert_eq!(gaps(&seen), [], "{shadow} {flags} {options:?}");
        }
    }
}

/// Digits in general registers that are compared, and that nobody has afterwards, are lost to nobody; of others it is counted.
#[test]
fn digits_in_registers_that_are_only_asked_about_are_no_gap() {
    for shadow in ["dot", "adjoint"] {
        for options in host::bindings().chain([&["--reference-path"][..], &["--superblock-limit=1"]]) {
            let Some(seen) = observe(shadow, "asked_about.c", "-O2", "sse2", options) else { return };
            assert_eq!(gaps(&seen), [("SHL r/m64, 1".to_owned(), 1)], "{shadow} {options:?}");
            assert_eq!(counted(&seen, "digits_of"), 1, "{shadow} {options:?}");
        }
    }
}

/// Neither is a float used that stands behind a string, nor one of which a status word leaves two bytes.
#[test]
fn bytes_of_floats_that_are_of_no_account_are_no_gap() {
    for shadow in ["dot", "adjoint"] {
        for options in [&["--input=x"][..], &["--input=x", "--no-avx512"], &["--input=x", "--reference-path"]]
        {
            let source = host::tests_dir().join("guests/dot/searched.c");
            let Some(exe) = Recipe::new("gcc", "-O1 -fno-builtin", &source, "-lm")
                .build()
                .unwrap_or_else(|e| panic!("{e}"))
            else {
                return host::skipped("searched.c", "gcc is not installed");
            };
            let seen = Case::new(shadow, options, &exe).observe().unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(gaps(&seen), [], "{shadow} {options:?}");
            assert_eq!(seen.report.outputs.len(), 1, "{shadow} {options:?}");
            assert!(shadow != "dot" || seen.report.outputs[0].dot == Some(6.0), "{options:?}");
        }
    }
}

/// Floats whose last bytes are cut off keep their derivative: in place as many of its digits as are left of the float. A tape has none
/// by another number: where it has lost that, it says so.
#[test]
fn last_bytes_that_are_cut_off_lead_to_no_other_number() {
    const OUTPUTS: usize = 9;
    for (shadow, options) in derivatives() {
        for options in [options, &[options, &["--reference-path"]].concat()] {
            let Some(seen) = observe(shadow, "last_bytes.c", "-O2", "sse2", options) else { return };
            let derivatives = (0..OUTPUTS).map(|n| derivative(&seen, shadow, n));
            let lost = derivatives.clone().filter(|&derivative| derivative != Some(3.0)).count();
            let counted: u64 = gaps(&seen).iter().map(|(_, count)| count).sum();
            assert!(
                lost as u64 == counted && (shadow == "adjoint" || lost == 0),
                "{shadow} {options:?}: {:?}, {:?}",
                derivatives.collect::<Vec<_>>(),
                gaps(&seen)
            );
            assert!(lost < OUTPUTS, "{shadow} {options:?}");
        }
    }
}

/// Truth values and exponents of `frexp` where doubles have been are parts of no double.
#[test]
fn integers_where_doubles_were_are_no_gap() {
    for shadow in ["dot", "adjoint"] {
        for flags in ["-O1 -fno-builtin", "-O2 -fno-builtin"] {
            for options in host::bindings().chain([&["--reference-path"][..], &["--superblock-limit=1"]]) {
                let Some(seen) = observe(shadow, "stale.c", flags, "sse2", options) else { return };
                assert_eq!(gaps(&seen), [], "{shadow} {flags} {options:?}");
                assert_eq!(derivative(&seen, shadow, 0), Some(2.0), "{shadow} {flags} {options:?}");
            }
        }
    }
}

/// Functions that say whether a float is NaN, infinite, negative or zero use none of its digits, though it is a zero.
#[test]
fn classes_of_floats_are_no_gap() {
    for shadow in ["dot", "adjoint"] {
        for flags in ["-O1 -fno-builtin", "-O2 -fno-builtin -static"] {
            for options in host::bindings().chain([&["--reference-path"][..]]) {
                let Some(seen) = observe(shadow, "classes.c", flags, "sse2", options) else { return };
                assert_eq!(gaps(&seen), [], "{shadow} {flags} {options:?}");
                assert_eq!(derivative(&seen, shadow, 0), Some(2.0), "{shadow} {flags} {options:?}");
            }
        }
    }
}

/// Exponents are changed by an address with a scaled index, by a merge under a mask, for four upper halves at once and for two floats in
/// one word: each float is scaled by its own power of two.
#[test]
fn exponents_changed_by_integers_scale() {
    for (shadow, options) in derivatives() {
        for options in [options, &[options, &["--reference-path"]].concat()] {
            let Some(seen) = observe(shadow, "exponents.c", "-O2 -msse4.1", "sse4_1", options) else {
                return;
            };
            assert_eq!(gaps(&seen), [], "{shadow} {options:?}");
            let derivatives = [0, 1, 2, 3, 4, 5, 6, 7, 8].map(|n| derivative(&seen, shadow, n));
            let expected = [2.0, 4.0, 1.0, 2.0, 12.0, 5.0, 3.5, 4.0, 6.0].map(Some);
            assert_eq!(derivatives, expected, "{shadow} {options:?}");
        }
    }
}

/// Code that is entered between two roundings does not see the number that both add; it has been seen before.
#[test]
fn roundings_by_one_number_are_known() {
    for shadow in ["dot", "adjoint"] {
        for options in host::bindings().chain([&["--reference-path"][..], &["--hot-after=1"]]) {
            let Some(seen) = observe(shadow, "unrolled.c", "-O2", "sse2", options) else { return };
            assert_eq!(gaps(&seen), [], "{shadow} {options:?}");
            let derivatives = [0, 1].map(|n| derivative(&seen, shadow, n));
            assert_eq!(derivatives, [Some(3.0); 2], "{shadow} {options:?}");
        }
    }
}

/// Operands without a derivative contribute nothing, be they multiplied by infinities, and whether or not the exception that comes of
/// that has been raised.
#[test]
fn what_has_no_derivative_is_not_multiplied_by_infinities() {
    let close = |dot: f64, truth: f64| (dot - truth).abs() < 1e-5 * truth;
    for (flags, need) in [("-O0", "sse2"), ("-O2", "sse2"), ("-O2 -mavx2 -mfma", "fma")] {
        for options in host::bindings().chain([&["--reference-path"][..], &["--hot-after=1"]]) {
            let Some(seen) = observe("dot", "infinite.c", flags, need, options) else { return };
            assert_eq!(gaps(&seen), [], "{flags} {options:?}");
            let dots: Vec<f64> = seen.report.outputs.iter().filter_map(|output| output.dot).collect();
            // Two thirds of 3000 terms, each of which is x by a number.
            let expected = [6.0, 9.0, 6.0, 1.5, 4.0].map(|by| 2000.0 / by);
            let is_right = dots.iter().zip(expected.repeat(2)).all(|(&dot, truth)| close(dot, truth));
            assert!(is_right && dots.len() == 10, "{flags} {options:?}: {dots:?}");
        }
    }
}
