//! Parts of floats that integers put into others, and digits that become integers: what cannot be followed is counted where it is
//! lost.

#![forbid(unsafe_code)]

use serde_json::Value;
use shadowgrind_tests::host;
use shadowgrind_tests::shadowed::build::Recipe;
use shadowgrind_tests::shadowed::gaps::{counted, derivatives, gaps, observe};
use shadowgrind_tests::shadowed::observe::Case;
use std::collections::BTreeMap;
use std::path::Path;

/// Shows each build of a guest with errors: its compiler and flags, and the program.
fn for_each_build(name: &str, look: impl Fn((&str, &str), &Path)) {
    let source = host::tests_dir().join("guests/mpfr").join(name);
    for (compiler, flags) in [("gcc", "-O0 -g"), ("gcc", "-O2 -g"), ("clang", "-O2 -g")] {
        match Recipe::new(compiler, flags, &source, "").build().unwrap_or_else(|e| panic!("{e}")) {
            Some(exe) => look((compiler, flags), &exe),
            None => host::skipped(name, &format!("{compiler} is not installed")),
        }
    }
}

/// Floats that integers have made of others are counted where reals are asked for, in each of four turns: a first guess of a root, at
/// three uses, one of which digits were put elsewhere, one that was spelled in hexadecimal between, and products in integers.
#[test]
fn floats_made_of_bits_of_others_are_counted() {
    for_each_build("traces.c", |(compiler, flags), exe| {
        let all = ["mpfr", "error"].map(|shadow| {
            host::bindings().chain([&["--reference-path"][..]]).map(move |options| (shadow, options))
        });
        for (shadow, options) in all.into_iter().flatten() {
            let seen = Case::new(shadow, options, exe).observe().unwrap_or_else(|e| panic!("{e}"));
            let mut counts = BTreeMap::new();
            for gap in seen.report.document["coverage"]["gaps"].as_array().into_iter().flatten() {
                let function = gap["site"]["function"].as_str().unwrap_or_default().to_owned();
                *counts.entry(function).or_insert(0) += gap["count"].as_u64().expect("a count");
            }
            let met = [("root", 12), ("mixed", 4), ("spelled", 4), ("multiplied", 4), ("paired", 4)];
            let mut expected = BTreeMap::from(met.map(|(function, count)| (function.to_owned(), count)));
            if shadow == "error" {
                // A cell in place says nothing of digits that are put beside its last bytes.
                expected.remove("mixed");
                if flags.starts_with("-O0") {
                    // Two of the four have more error than is clean, and their digits are taken from all of the float there: that these
                    // reach no text is counted as well.
                    expected.insert("spelled".to_owned(), 6);
                }
                let unsettled = |output: &Value| output["judgement"] == "unsettled";
                let outputs = seen.report.document["outputs"].as_array().expect("outputs");
                assert_eq!(outputs.iter().filter(|output| unsettled(output)).count(), 16);
            }
            assert_eq!(counts, expected, "{shadow} {compiler} {flags} {options:?}");
        }
    });
}

/// Sign and exponent that are put to the digits of a float with a large error are no reason to call it exact.
#[test]
fn floats_that_get_another_end_are_not_clean() {
    for_each_build("ended.c", |(compiler, flags), exe| {
        for shadow in ["mpfr", "error"] {
            for options in host::bindings().chain([&["--reference-path"][..]]) {
                let seen = Case::new(shadow, options, exe).observe().unwrap_or_else(|e| panic!("{e}"));
                let is_unsettled = seen.report.document["outputs"][0]["judgement"] == "unsettled";
                assert!(is_unsettled || !gaps(&seen).is_empty(), "{shadow} {compiler} {flags} {options:?}");
            }
        }
    });
}

/// Few digits are lost like many: 1.5 has only one below its leading bit.
#[test]
fn digits_lost_in_integer_arithmetic_are_counted() {
    let Some(seen) = observe("dot", "software_half.c", "-O2", "sse2", &[]) else { return };
    let gaps = gaps(&seen);
    assert!(gaps.iter().any(|(name, _)| name.to_lowercase().starts_with("lea")), "{gaps:?}");
    let dots: Vec<Option<f64>> = seen.report.outputs.iter().map(|output| output.dot).collect();
    assert_eq!(dots, [Some(0.0), Some(3.0)]);
}

/// Each of three shifts to another register, and none of a constant over a float with a derivative.
#[test]
fn digits_shifted_to_another_register_are_counted() {
    for (shadow, options) in derivatives() {
        let Some(seen) = observe(shadow, "shifted_elsewhere.c", "-O1 -g -mavx", "avx", options) else {
            return;
        };
        let count = |function| counted(&seen, function);
        assert_eq!(["left", "right", "narrow"].map(count), [4; 3], "{shadow} {options:?}");
    }
}

/// A power of two has no digits to lose, and a derivative like any other: each of the three conversions is counted.
#[test]
fn powers_of_two_lost_in_integer_arithmetic_are_counted() {
    for options in host::bindings() {
        let Some(seen) = observe("dot", "software_powers.c", "-O2 -g", "sse2", options) else { return };
        let gaps = seen.report.document["coverage"]["gaps"].as_array().cloned().unwrap_or_default();
        for function in ["__truncdfhf2", "__truncsfhf2", "__extenddftf2"] {
            assert!(
                gaps.iter().any(|gap| gap["site"]["function"] == function),
                "{options:?} {function}: {gaps:?}"
            );
        }
    }
}

/// Twenty of each of three kinds, and none of them leaves a part of a derivative behind.
#[test]
fn replaced_parts_of_floats_are_counted() {
    for flags in ["-O0 -g", "-O2 -g"] {
        for options in host::bindings().chain([&["--superblock-limit=40"][..]]) {
            let Some(seen) = observe("dot", "replaced.c", flags, "sse2", options) else { return };
            for function in ["high_half", "high_word", "high_word_of_float"] {
                assert_eq!(counted(&seen, function), 20, "{flags} {options:?} {function}");
            }
            let dots: Vec<Option<f64>> = seen.report.outputs.iter().map(|output| output.dot).collect();
            assert_eq!(dots, [Some(0.0), Some(3.4)], "{flags} {options:?}");
        }
    }
}

/// Ten of each of three kinds, wherever that is seen.
#[test]
fn ends_of_floats_that_are_lost_are_counted() {
    for flags in ["-O0 -g -fno-strict-aliasing", "-O2 -g -fno-strict-aliasing"] {
        for options in host::bindings() {
            let Some(seen) = observe("dot", "ends_lost.c", flags, "sse2", options) else { return };
            for function in ["set", "product", "taken_for_integer"] {
                assert_eq!(counted(&seen, function), 10, "{flags} {options:?} {function}");
            }
            let dots: Vec<Option<f64>> = seen.report.outputs.iter().map(|output| output.dot).collect();
            assert_eq!(dots, [Some(0.0), Some(3.4)], "{flags} {options:?}");
        }
    }
}

/// Of two of three pairs the exponents are those of other numbers.
#[test]
fn exchanged_ends_of_long_doubles_are_counted() {
    let close = |a: f64, b: f64| (a - b).abs() < 1e-12 * b.abs();
    for flags in ["-O0 -g -fno-strict-aliasing", "-O2 -g -fno-strict-aliasing"] {
        for options in host::bindings() {
            let Some(seen) = observe("dot", "exchanged.c", flags, "sse2", options) else { return };
            for (function, expected) in [("exchange", 2), ("put_together", 1)] {
                assert_eq!(counted(&seen, function), expected, "{flags} {options:?} {function}");
            }
            let dots: Vec<f64> = seen.report.outputs.iter().filter_map(|output| output.dot).collect();
            let expected = [-17.6, 37.5 / 16.0, 1.1];
            let right = dots.iter().zip(expected).all(|(&dot, expected)| close(dot, expected));
            assert!(dots.len() == 4 && right, "{flags} {options:?}: {dots:?}");
        }
    }
}

/// Four of each of six kinds, of two doubles with derivatives; constants round, and halves of one number are that.
#[test]
fn doubles_of_parts_of_two_are_counted() {
    for (flags, need) in [("-O2 -g -msse4.1", "sse4_1"), ("-O2 -g -mavx2", "avx2")] {
        for options in host::bindings().chain([&["--reference-path"][..]]) {
            for shadow in ["dot", "adjoint"] {
                let Some(seen) = observe(shadow, "mixed.c", flags, need, options) else { return };
                let gaps = seen.report.document["coverage"]["gaps"].as_array().cloned().unwrap_or_default();
                let count = |gaps: &[Value]| gaps.iter().filter_map(|gap| gap["count"].as_u64()).sum::<u64>();
                assert_eq!(count(&gaps), 24, "{shadow} {flags} {options:?}: {gaps:?}");
                assert!(gaps.iter().all(|gap| gap["site"]["function"] == "lost"), "{gaps:?}");
                if shadow == "dot" {
                    let dots: Vec<Option<f64>> =
                        seen.report.outputs.iter().map(|output| output.dot).collect();
                    let turn = [[Some(2.2); 8].as_slice(), &[Some(0.0); 6]].concat();
                    assert_eq!(dots, turn.repeat(4), "{flags} {options:?}");
                }
            }
        }
    }
}

/// Four of each of four kinds, or of eight with masks, that have digits of another number, and four that have parts from elsewhere;
/// reals and errors are not known either where the double is used at once.
#[test]
fn doubles_of_parts_are_counted_wherever_they_are_used() {
    const MASKED: &str = "-O2 -g -DMASKED -mavx512f -mavx512vl -mavx512bw -mavx512dq";
    for (flags, need, kinds) in
        [("-O2 -g -msse4.1", "sse4_1", 4), ("-O2 -g -mavx2", "avx2", 4), (MASKED, "avx512vl", 8)]
    {
        for options in host::bindings() {
            for shadow in ["dot", "adjoint", "error", "mpfr"] {
                let Some(seen) = observe(shadow, "mixed_anywhere.c", flags, need, options) else { return };
                let [lost, elsewhere] = ["lost", "elsewhere"].map(|function| counted(&seen, function));
                if !matches!(shadow, "dot" | "adjoint") {
                    assert!(lost + elsewhere >= 8, "{shadow} {flags} {options:?}: {lost} {elsewhere}");
                    continue;
                }
                assert_eq!(lost, 4 * kinds, "{shadow} {flags} {options:?}");
                // Gradients miss what is kept beside these where they are used as well.
                assert!(elsewhere >= 4, "{shadow} {flags} {options:?}: {elsewhere}");
                assert_eq!(counted(&seen, "rounded"), 0, "{shadow} {flags} {options:?}");
                if shadow == "dot" {
                    let dots = seen.report.outputs.iter().map(|output| output.dot);
                    let told = [(2.2, 2 * kinds as usize), (0.0, 4 * kinds as usize)];
                    let told: Vec<_> =
                        told.into_iter().flat_map(|(dot, times)| vec![Some(dot); times]).collect();
                    assert_eq!(dots.take(told.len()).collect::<Vec<_>>(), told, "{flags} {options:?}");
                }
            }
        }
    }
}

/// Bytes of two numbers with a derivative, put over a constant and over another number, and none that become one number again.
#[test]
fn parts_of_numbers_put_over_others_are_counted() {
    let close = |a: Option<f64>, b: f64| a.is_some_and(|a| (a - b).abs() < 1e-12);
    for flags in ["-O0 -g -fno-strict-aliasing", "-O2 -g -fno-strict-aliasing"] {
        for options in host::bindings() {
            for shadow in ["dot", "adjoint"] {
                let Some(seen) = observe(shadow, "put_over.c", flags, "sse2", options) else { return };
                let puts = [("put_uint8_t", 4), ("put_uint16_t", 2), ("put_uint32_t", 4), ("here", 1)];
                if shadow == "adjoint" {
                    let others = ["twice", "here"].map(|function| counted(&seen, function));
                    let all: u64 = puts.iter().map(|(function, _)| counted(&seen, function)).sum();
                    assert!(all + others[0] >= 11, "{flags} {options:?}: {all} {others:?}");
                    continue;
                }
                for (function, times) in puts {
                    let count = counted(&seen, function);
                    assert!(count >= times, "{flags} {options:?} {function}: {count}");
                }
                assert_eq!(counted(&seen, "fresh"), 0, "{flags} {options:?}");
                let dots: Vec<Option<f64>> = seen.report.outputs.iter().map(|output| output.dot).collect();
                assert!(close(dots[2], 6.6) && close(dots[3], 6.6), "{flags} {options:?}: {dots:?}");
                assert_eq!(dots[4], Some(0.0), "{flags} {options:?}");
            }
        }
    }
}

/// Two of three halves come without the other one.
#[test]
fn upper_halves_loaded_alone_are_counted() {
    for options in host::bindings() {
        let Some(seen) = observe("dot", "half_loaded.c", "-O2 -g", "sse2", options) else { return };
        let gaps = seen.report.document["coverage"]["gaps"].as_array().cloned().unwrap_or_default();
        let count = |function: &str| {
            let here = gaps.iter().filter(|gap| gap["site"]["function"] == function);
            here.filter_map(|gap| gap["count"].as_u64()).sum::<u64>()
        };
        assert!(count("upper") > 0 && count("filled") > 0, "{options:?}: {gaps:?}");
        assert_eq!(count("both"), 0, "{options:?}: {gaps:?}");
        assert_eq!(seen.report.outputs.last().and_then(|output| output.dot), Some(2.0 * 1.1));
    }
}

/// Twenty of each of two kinds, by functions that end before the float is used.
#[test]
fn upper_halves_set_elsewhere_are_counted() {
    for flags in ["-O0 -g -fno-strict-aliasing", "-O2 -g -fno-strict-aliasing"] {
        for options in host::bindings() {
            let Some(seen) = observe("dot", "apart.c", flags, "sse2", options) else { return };
            for function in ["set_high", "copy_high"] {
                assert_eq!(counted(&seen, function), 20, "{flags} {options:?} {function}");
            }
            let dots: Vec<Option<f64>> = seen.report.outputs.iter().map(|output| output.dot).collect();
            assert_eq!(dots, [Some(0.0), Some(3.4)], "{flags} {options:?}");
        }
    }
}

/// However often they meet such digits, and however they are done then.
#[test]
fn digits_that_become_integers_are_counted() {
    for options in host::bindings() {
        let Some(seen) = observe("dot", "digits.c", "-O1", "sse2", options) else { return };
        let gaps = gaps(&seen);
        let names: Vec<&str> = gaps.iter().map(|(name, _)| name.split(' ').next().unwrap_or(name)).collect();
        let expected = ["AND", "IMUL", "MOV", "MUL", "PMULUDQ", "PSRLD", "RCR", "ROL", "SHL", "SHRD"];
        assert_eq!(names, expected, "{options:?}");
        assert!(gaps.iter().all(|&(_, count)| count == 100), "{options:?}: {gaps:?}");
    }
}

/// Four of each kind, in registers: none is followed. What is turned around and back, by counts that registers hold too, is no gap. What is
/// left of a number on a tape is counted again where it is converted.
#[test]
fn parts_of_numbers_calculated_with_in_registers_are_counted() {
    const LOST: [&str; 26] = [
        "rotated",
        "rotated_byte",
        "shifted",
        "shifted_by_register",
        "added",
        "added_with_carry",
        "added_turned",
        "subtracted",
        "multiplied",
        "negated",
        "inverted",
        "flipped",
        "sum_of_two",
        "sum_of_bytes",
        "exchanged_and_added",
        "chosen",
        "exchanged",
        "joined_words",
        "joined",
        "joined_bytes",
        "joined_from_above",
        "joined_by_register",
        "rotated_narrow",
        "added_narrow",
        "sum_of_narrow",
        "joined_narrow",
    ];
    const CONVERTED: [&str; 3] = ["rotated_narrow", "added_narrow", "sum_of_narrow"];
    for flags in ["-O0 -g", "-O2 -g"] {
        for options in host::bindings().chain([&["--superblock-limit=1"][..]]) {
            for shadow in ["dot", "adjoint"] {
                let Some(seen) = observe(shadow, "narrow.c", flags, "sse2", options) else { return };
                let again =
                    |function| if shadow == "adjoint" && CONVERTED.contains(&function) { 4 } else { 0 };
                for function in LOST {
                    let count = counted(&seen, function);
                    assert_eq!(count, 4 + again(function), "{shadow} {flags} {options:?} {function}");
                }
                let all: u64 = gaps(&seen).iter().map(|gap| gap.1).sum();
                let expected: u64 = LOST.iter().map(|function| 4 + again(function)).sum();
                assert_eq!(all, expected, "{shadow} {flags} {options:?}");
                let outputs = seen.report.outputs.iter();
                let dots: Vec<f64> = outputs.map(|output| output.dot.unwrap_or_default()).collect();
                assert_eq!(dots, [1.1, 1.1, 1.1, 1.1, 0.0], "{shadow} {flags} {options:?}");
            }
        }
    }
}

/// Cuts of numbers at both ends of what is moved or set, by one to seven bytes, and what crosses two.
#[test]
fn numbers_cut_by_string_instructions_are_counted() {
    for flags in ["-O0 -g", "-O2 -g"] {
        for options in host::bindings() {
            for shadow in ["dot", "adjoint"] {
                let Some(seen) = observe(shadow, "cut.c", flags, "sse2", options) else { return };
                // One of the parts is no more than an exponent, of which a derivative has as much.
                let puts = if shadow == "dot" { 13 } else { 14 };
                for (function, times) in
                    [("put", puts), ("put_down", puts), ("put_word", 4), ("put_across", 4)]
                {
                    let count = counted(&seen, function);
                    assert_eq!(count, times, "{shadow} {flags} {options:?} {function}");
                }
                // Gradients miss what is kept beside these where they are used as well.
                assert!(counted(&seen, "put_constant") >= 7, "{shadow} {flags} {options:?}");
                for function in ["in_pieces", "records", "whole_down"] {
                    assert_eq!(counted(&seen, function), 0, "{shadow} {flags} {options:?} {function}");
                }
                let dots: Vec<f64> = seen.report.outputs.iter().filter_map(|output| output.dot).collect();
                let whole = [(dots[0], 15.4), (dots[2], 7.7)];
                let is_right = whole.iter().all(|(dot, truth)| (dot - truth).abs() < 1e-12);
                assert!(is_right && (dots[1] - 2.2).abs() < 1e-6, "{shadow} {flags} {options:?}: {dots:?}");
            }
        }
    }
}

/// Places that have been found to put down no parts of numbers are looked at again: one of the four is no number that is known.
#[test]
fn places_are_looked_at_however_often_they_wrote_no_part() {
    for flags in ["-O0 -g", "-O2 -g"] {
        for options in host::bindings() {
            let Some(seen) = observe("dot", "late.c", flags, "sse2", options) else { return };
            assert_eq!((counted(&seen, "put_word"), gaps(&seen).len()), (1, 1), "{flags} {options:?}");
            let dots = seen.report.outputs.iter().filter_map(|output| Some(output.dot? * 10.0 / 11.0));
            let dots: Vec<f64> = dots.map(|dot| dot.round()).collect();
            let scale = f64::exp2(32.0);
            assert_eq!(dots, [2.0 * scale, 2.0, 0.0, 2.0], "{flags} {options:?}");
        }
    }
}
