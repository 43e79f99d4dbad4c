//! Gaps are said, by name and number, and nothing else is lost over them: single instructions, and programs that use
//! the registers in which shadows are kept.

#![forbid(unsafe_code)]

use serde_json::Value;
use shadowgrind_tests::host;
use shadowgrind_tests::outcome::Left;
use shadowgrind_tests::shadowed::build::Recipe;
use shadowgrind_tests::shadowed::observe::{Case, Observed};
use shadowgrind_tests::shadowed::report::Report;
use std::collections::BTreeMap;

/// The guest, run both ways; `None`, with a word of why, where it cannot be.
fn observe(shadow: &'static str, name: &str, flags: &str, need: &str, options: &[&str]) -> Option<Observed> {
    if !host::has_cpu_flag(need) {
        host::skipped(name, &format!("needs {need}"));
        return None;
    }
    let source = host::tests_dir().join("guests/dot").join(name);
    let Some(exe) = Recipe::new("gcc", flags, &source, "").build().unwrap_or_else(|e| panic!("{e}")) else {
        host::skipped(name, "gcc is not installed");
        return None;
    };
    let input: &[&str] = if matches!(shadow, "dot" | "adjoint") { &["--input=x"] } else { &[] };
    let options = [input, options].concat();
    Some(Case::new(shadow, &options, &exe).observe().unwrap_or_else(|e| panic!("{e}")))
}

/// Floats that integers have made of others are counted where reals are asked for, in each of four turns: a first guess of a root, at
/// three uses, and one of which digits were put elsewhere.
#[test]
fn floats_made_of_bits_of_others_are_counted() {
    let source = host::tests_dir().join("guests/mpfr/traces.c");
    for (compiler, flags) in [("gcc", "-O0 -g"), ("gcc", "-O2 -g"), ("clang", "-O2 -g")] {
        let built = Recipe::new(compiler, flags, &source, "").build().unwrap_or_else(|e| panic!("{e}"));
        let Some(exe) = built else {
            host::skipped("traces.c", &format!("{compiler} is not installed"));
            continue;
        };
        let all = ["mpfr", "error"].map(|shadow| {
            [&[][..], &["--no-avx512"], &["--reference-path"]].map(|options| (shadow, options))
        });
        for (shadow, options) in all.into_iter().flatten() {
            let seen = Case::new(shadow, options, &exe).observe().unwrap_or_else(|e| panic!("{e}"));
            let mut counts = BTreeMap::new();
            for gap in seen.report.document["coverage"]["gaps"].as_array().into_iter().flatten() {
                let function = gap["site"]["function"].as_str().unwrap_or_default().to_owned();
                *counts.entry(function).or_insert(0) += gap["count"].as_u64().expect("a count");
            }
            let mut expected = BTreeMap::from([("root".to_owned(), 12), ("mixed".to_owned(), 4)]);
            if shadow == "error" {
                // A cell in place says nothing of digits that are put beside its last bytes.
                expected.remove("mixed");
                let unsettled = |output: &Value| output["judgement"] == "unsettled";
                let outputs = seen.report.document["outputs"].as_array().expect("outputs");
                assert_eq!(outputs.iter().filter(|output| unsettled(output)).count(), 4);
            }
            assert_eq!(counts, expected, "{shadow} {compiler} {flags} {options:?}");
        }
    }
}

fn gaps(seen: &Observed) -> Vec<(String, u64)> {
    let gaps = seen.report.document["coverage"]["gaps"].as_array().cloned().unwrap_or_default();
    let gap = |gap: &Value| {
        let name = gap["instruction"].as_str().expect("a name").to_owned();
        assert!(gap["site"]["offset"].is_u64(), "{gap}");
        (name, gap["count"].as_u64().expect("a count"))
    };
    gaps.iter().map(gap).collect()
}

#[test]
fn a_gap_is_counted_where_it_meets_a_shadow() {
    let masked = ("-O1 -DMASKED -mavx512f -mavx512vl", "avx512vl");
    for (flags, need) in [("-O1 -mf16c", "f16c"), masked] {
        let shadow = "mpfr";
        let Some(seen) = observe(shadow, "gap.c", flags, need, &[]) else { return };
        let gaps = gaps(&seen);
        assert_eq!(gaps.len(), 1, "{shadow}: {gaps:?}");
        assert!(gaps[0].0.to_lowercase().starts_with("vcvtps2ph xmm"), "{shadow}: {gaps:?}");
        assert_eq!(gaps[0].1, 3, "{shadow}");
        // What did not go that way is as it should be.
        let last = seen.report.outputs.last().expect("an output");
        assert_eq!((last.value, last.dot.unwrap_or(6.0)), (9.0, 6.0), "{shadow}");
    }
}

/// Text is no part of the floats that were where its buffer is, in whatever pieces and order it comes.
#[test]
fn text_over_floats_that_were_freed_is_no_gap() {
    for shadow in ["dot", "adjoint"] {
        for options in [&[][..], &["--no-avx512"]] {
            let Some(seen) = observe(shadow, "reused.c", "-O2", "sse2", options) else { return };
            assert_eq!(gaps(&seen), [], "{shadow} {options:?}");
            assert!(seen.outcome.files.contains_key("out.txt"));
            let Some(seen) = observe(shadow, "tails.c", "-O2", "sse2", options) else { return };
            assert_eq!(gaps(&seen), [], "{shadow} {options:?}");
        }
    }
}

/// A number that is parsed of text written from a float with a derivative has lost it, whichever way the text went.
#[test]
fn text_that_is_parsed_again_is_a_gap() {
    for shadow in ["dot", "adjoint"] {
        for options in [&[][..], &["--no-avx512"], &["--input=parsed~0.123456"]] {
            let Some(seen) = observe(shadow, "rewritten.c", "-O2", "sse2", options) else { return };
            let mut gaps = gaps(&seen);
            gaps.retain(|(name, count)| name.ends_with("of text written from it") && *count == 1);
            // Of the three numbers that are parsed, one was written from a constant.
            assert_eq!(gaps.len(), 2, "{shadow} {options:?}: {gaps:?}");
            assert_eq!(seen.report.outputs.last().map(|output| output.value), Some(0.123456 + 1.4));
        }
    }
}

/// Text of a derivative that is written nowhere may be read by code that nobody knows: it is counted, at the line that made it.
#[test]
fn text_that_is_written_nowhere_is_counted() {
    let source = std::fs::read_to_string(host::tests_dir().join("guests/dot/reread.c")).unwrap();
    let line = 1 + source.lines().position(|line| line.ends_with("// UNWRITTEN")).unwrap();
    for shadow in ["dot", "adjoint"] {
        for options in [&[][..], &["--no-avx512"]] {
            let Some(seen) = observe(shadow, "reread.c", "-O2 -g", "sse2", options) else { return };
            let unwritten = &seen.report.document["coverage"]["unwritten"];
            let [only] = &unwritten.as_array().cloned().unwrap_or_default()[..] else {
                panic!("{shadow} {options:?}: {unwritten}");
            };
            assert_eq!(
                (&only["count"], &only["site"]["line"]),
                (&1.into(), &line.into()),
                "{shadow} {options:?}"
            );
        }
    }
}

/// A condition in a register in which a float was is an integer.
#[test]
fn a_condition_over_a_float_is_no_gap() {
    for shadow in ["dot", "adjoint"] {
        for options in [&[][..], &["--no-avx512"], &["--superblock-limit=1"]] {
            let Some(seen) = observe(shadow, "condition.c", "-O2", "sse2", options) else { return };
            assert_eq!(gaps(&seen), [], "{shadow} {options:?}");
        }
    }
}

/// Digits that are shifted and compared are lost to nobody.
#[test]
fn digits_that_are_only_asked_about_are_no_gap() {
    for flags in ["-O2 -msse4.1", "-O2 -mavx2"] {
        for (shadow, options) in [("dot", &[][..]), ("dot", &["--no-avx512"]), ("adjoint", &[])] {
            let Some(seen) = observe(shadow, "asked.c", flags, "avx2", options) else { return };
            assert_eq!(gaps(&seen), [], "{shadow} {flags} {options:?}");
        }
    }
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
    for (shadow, options) in [("dot", &[][..]), ("dot", &["--no-avx512"]), ("adjoint", &[])] {
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
    for options in [&[][..], &["--no-avx512"]] {
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
        for options in [&[][..], &["--no-avx512"], &["--superblock-limit=40"]] {
            let Some(seen) = observe("dot", "replaced.c", flags, "sse2", options) else { return };
            let gaps = seen.report.document["coverage"]["gaps"].as_array().cloned().unwrap_or_default();
            for function in ["high_half", "high_word", "high_word_of_float"] {
                let here = gaps.iter().filter(|gap| gap["site"]["function"] == function);
                let count: u64 = here.filter_map(|gap| gap["count"].as_u64()).sum();
                assert_eq!(count, 20, "{flags} {options:?} {function}: {gaps:?}");
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
        for options in [&[][..], &["--no-avx512"]] {
            let Some(seen) = observe("dot", "ends_lost.c", flags, "sse2", options) else { return };
            let gaps = seen.report.document["coverage"]["gaps"].as_array().cloned().unwrap_or_default();
            for function in ["set", "product", "taken_for_integer"] {
                let here = gaps.iter().filter(|gap| gap["site"]["function"] == function);
                let count: u64 = here.filter_map(|gap| gap["count"].as_u64()).sum();
                assert_eq!(count, 10, "{flags} {options:?} {function}: {gaps:?}");
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
        for options in [&[][..], &["--no-avx512"]] {
            let Some(seen) = observe("dot", "exchanged.c", flags, "sse2", options) else { return };
            let gaps = seen.report.document["coverage"]["gaps"].as_array().cloned().unwrap_or_default();
            for (function, expected) in [("exchange", 2), ("put_together", 1)] {
                let here = gaps.iter().filter(|gap| gap["site"]["function"] == function);
                let count: u64 = here.filter_map(|gap| gap["count"].as_u64()).sum();
                assert_eq!(count, expected, "{flags} {options:?} {function}: {gaps:?}");
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
        for options in [&[][..], &["--no-avx512"], &["--reference-path"]] {
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

/// Numbers of gaps in functions of a guest.
fn counted(seen: &Observed, function: &str) -> u64 {
    let gaps = seen.report.document["coverage"]["gaps"].as_array().cloned().unwrap_or_default();
    let here = gaps.iter().filter(|gap| gap["site"]["function"] == function);
    here.filter_map(|gap| gap["count"].as_u64()).sum()
}

/// Four of each of four kinds, or of eight with masks, that have digits of another number, and four that have parts from elsewhere;
/// reals and errors are not known either where the double is used at once.
#[test]
fn doubles_of_parts_are_counted_wherever_they_are_used() {
    const MASKED: &str = "-O2 -g -DMASKED -mavx512f -mavx512vl -mavx512bw -mavx512dq";
    for (flags, need, kinds) in
        [("-O2 -g -msse4.1", "sse4_1", 4), ("-O2 -g -mavx2", "avx2", 4), (MASKED, "avx512vl", 8)]
    {
        for options in [&[][..], &["--no-avx512"]] {
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
        for options in [&[][..], &["--no-avx512"]] {
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
    for options in [&[][..], &["--no-avx512"]] {
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
        for options in [&[][..], &["--no-avx512"]] {
            let Some(seen) = observe("dot", "apart.c", flags, "sse2", options) else { return };
            let gaps = seen.report.document["coverage"]["gaps"].as_array().cloned().unwrap_or_default();
            for function in ["set_high", "copy_high"] {
                let here = gaps.iter().filter(|gap| gap["site"]["function"] == function);
                let count: u64 = here.filter_map(|gap| gap["count"].as_u64()).sum();
                assert_eq!(count, 20, "{flags} {options:?} {function}: {gaps:?}");
            }
            let dots: Vec<Option<f64>> = seen.report.outputs.iter().map(|output| output.dot).collect();
            assert_eq!(dots, [Some(0.0), Some(3.4)], "{flags} {options:?}");
        }
    }
}

/// However often they meet such digits, and however they are done then.
#[test]
fn digits_that_become_integers_are_counted() {
    for options in [&[][..], &["--no-avx512"]] {
        let Some(seen) = observe("dot", "digits.c", "-O1", "sse2", options) else { return };
        let gaps = gaps(&seen);
        let names: Vec<&str> = gaps.iter().map(|(name, _)| name.split(' ').next().unwrap_or(name)).collect();
        let expected = ["AND", "IMUL", "MOV", "MUL", "PMULUDQ", "PSRLD", "RCR", "ROL", "SHL", "SHRD"];
        assert_eq!(names, expected, "{options:?}");
        assert!(gaps.iter().all(|&(_, count)| count == 100), "{options:?}: {gaps:?}");
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

/// The fast path and its reference path count the same; how a library prints is its own business.
#[test]
fn comparisons_of_floats_with_derivatives_are_counted() {
    for options in [&[][..], &["--no-avx512"], &["--reference-path"]] {
        let Some(seen) = observe("dot", "decided.c", "-O1", "sse2", options) else { return };
        let decisions = seen.report.document["coverage"]["decisions"].as_array().cloned().unwrap_or_default();
        let sum = |key: &str| decisions.iter().filter_map(|one| one[key].as_u64()).sum::<u64>();
        assert_eq!((sum("count"), sum("equal")), (16, 3), "{options:?}: {decisions:?}");
        assert_eq!(gaps(&seen), [], "{options:?}");
    }
}

/// Up to 2^20 times at one place, and the report says that there may be more; equality always.
#[test]
fn comparisons_are_counted_often_enough() {
    for options in [&[][..], &["--no-avx512"], &["--superblock-limit=1"]] {
        let Some(seen) = observe("dot", "compared.c", "-O1 -g", "sse2", options) else { return };
        let decisions = seen.report.document["coverage"]["decisions"].as_array().cloned().unwrap_or_default();
        let count = |function: &str| {
            let here = decisions.iter().filter(|one| one["site"]["function"] == function);
            let counts = here.map(|one| (one["count"].as_u64(), one["at_least"].as_bool()));
            counts.collect::<Vec<_>>()
        };
        for function in ["scalar", "between", "packed", "extended"] {
            assert_eq!(count(function), [(Some(1 << 20), Some(true))], "{options:?} {function}");
        }
        assert_eq!(count("equality"), [(Some(1_100_000), None)], "{options:?}");
        assert_eq!(decisions.iter().filter_map(|one| one["equal"].as_u64()).sum::<u64>(), 137_500);
        assert_eq!(seen.report.outputs.last().and_then(|output| output.dot), Some(2.0), "{options:?}");
    }
}

/// Whoever overwrites them; and the line that does is named.
#[test]
fn seeds_overwritten_before_they_were_read_are_counted() {
    let source = host::tests_dir().join("guests/dot/unread.c");
    let text = std::fs::read_to_string(&source).expect("the guest");
    let Some(exe) = Recipe::new("gcc", "-O1 -g", &source, "").build().unwrap_or_else(|e| panic!("{e}"))
    else {
        return host::skipped("unread.c", "gcc is not installed");
    };
    let names = ["x", "kept", "got", "late", "some", "filled", "copied"];
    let inputs: Vec<String> = names.iter().map(|name| format!("--input={name}")).collect();
    let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
    let line = |name: &str| {
        let mark = format!("// OVERWRITES {name}");
        text.lines().position(|line| line.ends_with(&mark)).map(|line| line as u64 + 1)
    };
    for (shadow, options) in
        [("dot", ""), ("dot", "--no-avx512"), ("dot", "--superblock-limit=1"), ("adjoint", "")]
    {
        let options = [&inputs[..], &options.split_whitespace().collect::<Vec<_>>()].concat();
        let seen = Case::new(shadow, &options, &exe).observe().unwrap_or_else(|e| panic!("{e}"));
        let rows = seen.report.document["coverage"]["overwritten"].as_array().cloned().unwrap_or_default();
        let row = |row: &Value| {
            let name = row["input"].as_str().expect("a name").to_owned();
            if let Some(line) = line(&name) {
                assert_eq!(row["site"]["line"].as_u64(), Some(line), "{options:?}: {row}");
            }
            (name, row["floats"].as_u64(), row["of"].as_u64())
        };
        let rows: Vec<_> = rows.iter().map(row).collect();
        let expected = [("x", 1, 2), ("got", 1, 2), ("some", 3, 8), ("filled", 4, 5), ("copied", 2, 4)];
        let expected = expected.map(|(name, floats, of)| (name.to_owned(), Some(floats), Some(of)));
        assert_eq!(rows, expected, "{shadow} {options:?}");
    }
}

#[test]
fn floats_that_leave_in_binary_form_are_counted() {
    let Some(seen) = observe("dot", "left.c", "-O1", "sse2", &[]) else { return };
    assert_eq!(gaps(&seen), [("sendto (system call)".to_owned(), 3)]);
}

/// Counts stand at the line of the program's own, not where a library makes the call, and leave out what is read again.
#[test]
fn floats_that_leave_by_a_library_are_counted_at_its_caller() {
    let source = host::tests_dir().join("guests/dot/sent.c");
    let text = std::fs::read_to_string(&source).unwrap_or_else(|e| panic!("{e}"));
    let leaves = text.lines().position(|line| line.ends_with("// LEAVES")).map(|at| 1 + at as u64);
    for options in [&[][..], &["--no-avx512"]] {
        let Some(seen) = observe("dot", "sent.c", "-O1 -g", "sse2", options) else { return };
        assert_eq!(gaps(&seen), [("write (system call)".to_owned(), 6)], "{options:?}");
        let site = &seen.report.document["coverage"]["gaps"][0]["site"];
        assert_eq!((site["function"].as_str(), site["line"].as_u64()), (Some("save"), leaves), "{options:?}");
    }
}

/// Each way, the start of what it is called, and the number of floats; ways on which nothing is lost have no name. With a
/// report of the child's for what that fetches itself.
#[test]
fn floats_that_leave_unseen_are_counted() {
    const WAYS: [(&str, &str, u64); 12] = [
        ("file", "mmap", 2),
        ("gone", "", 0),
        ("read", "mmap", 2),
        ("inherited", "mmap", 2),
        ("kept", "", 0),
        ("argument", "execve of /bin/true", 1),
        ("replaced", "execve of ", 1),
        ("ring", "io_uring_enter", 2),
        ("polled", "io_uring_enter", 2),
        ("queue", "io_submit", 1),
        ("message", "mq_timedsend", 1),
        ("reader", "process_vm_readv", 2),
    ];
    let source = host::tests_dir().join("guests/dot/leaves.c");
    let Some(exe) = Recipe::new("gcc", "-O1 -g", &source, "-lrt").build().unwrap_or_else(|e| panic!("{e}"))
    else {
        return host::skipped("leaves.c", "gcc is not installed");
    };
    for (way, name, floats) in WAYS {
        for options in [&["--input=x"][..], &["--input=x", "--no-avx512"]] {
            let case = Case::new("dot", options, &exe).arg(way);
            let native = case.native().unwrap_or_else(|e| panic!("{e}"));
            let outcome = case.tool(&["--report=json:report.json"]).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!((outcome.end, &outcome.stdout), (native.end, &native.stdout), "{way}");
            let reports = outcome.files.iter().filter(|(name, _)| name.starts_with("report.json"));
            let mut gaps = Vec::new();
            for (_, left) in reports {
                let Left::File(_, text) = left else { panic!("{way}: no report") };
                let report = Report::parse(text).unwrap_or_else(|e| panic!("{e}"));
                let all = report.document["coverage"]["gaps"].as_array().cloned().unwrap_or_default();
                gaps.extend(
                    all.into_iter().map(|gap| (gap["instruction"].to_string(), gap["count"].as_u64())),
                );
                let stale = report.outputs.iter().filter(|output| output.value == 4.0);
                assert!(stale.into_iter().all(|output| output.dot == Some(0.0)), "{way}");
            }
            match &gaps[..] {
                [] => assert_eq!(floats, 0, "{way} {options:?}"),
                [(is, count)] => {
                    assert!(is.contains(name) && *count == Some(floats), "{way} {options:?}: {gaps:?}");
                }
                _ => panic!("{way} {options:?}: {gaps:?}"),
            }
        }
    }
}

/// Derivatives of 4, x², 5, 1/x in order, x² by a child, x + 2 + 1/x, the same with a constant for x, 1/x, 7x and x³ at 3.
#[test]
fn what_processes_hand_each_other_is_followed() {
    let Some(seen) = observe("dot", "handed.c", "-O1", "sse2", &[]) else { return };
    let ninth = -1.0 / 9.0;
    let expected = [0.0, 6.0, 0.0, ninth, 6.0, 1.0 + ninth, ninth, ninth, 7.0, 27.0];
    let dots: Vec<f64> = seen.report.outputs.iter().filter_map(|output| output.dot).collect();
    let close = dots.iter().zip(expected).all(|(dot, expected)| (dot - expected).abs() < 1e-12);
    assert!(dots.len() == expected.len() && close, "{dots:?}");
    assert_eq!(gaps(&seen), []);
}

/// Derivatives of x² by a child, 9, x² of a file twice, x³, 1/x and 1/x² at 3.
#[test]
fn memory_that_processes_share_is_followed() {
    let Some(seen) = observe("dot", "shared.c", "-O1", "sse2", &[]) else { return };
    let expected = [6.0, 0.0, 6.0, 6.0, 27.0, -1.0 / 9.0, -2.0 / 27.0];
    let dots: Vec<f64> = seen.report.outputs.iter().filter_map(|output| output.dot).collect();
    let close = dots.iter().zip(expected).all(|(dot, expected)| (dot - expected).abs() < 1e-12);
    assert!(dots.len() == expected.len() && close, "{dots:?}");
    assert_eq!(gaps(&seen), []);
}

/// Of what others see under a record of the run, each float once: of memory that a child has too, of a file that is mapped
/// twice, and of a segment; and what was written over another.
#[test]
fn memory_that_processes_share_is_counted_where_it_is_not_followed() {
    let Some(seen) = observe("adjoint", "shared.c", "-O1", "sse2", &[]) else { return };
    let mut gaps = gaps(&seen);
    gaps.sort();
    let name = |call: &str| format!("{call} (system call)");
    let expected = [(name("mmap"), 1), (name("mmap"), 1), (name("pwrite64"), 1), (name("shmat"), 1)];
    assert_eq!(gaps, expected);
}

/// Memory that nobody else has is not.
#[test]
fn memory_that_nobody_shares_is_not_counted() {
    let Some(seen) = observe("adjoint", "alone.c", "-O1", "sse2", &[]) else { return };
    assert_eq!(gaps(&seen), []);
    let norms: Vec<&Value> = seen.report.document["outputs"].as_array().into_iter().flatten().collect();
    assert_eq!(norms.len(), 1);
}

#[test]
fn instructions_that_carry_shadows_are_counted() {
    let Some(seen) = observe("dot", "gap.c", "-O1 -mf16c", "f16c", &[]) else { return };
    let coverage = &seen.report.document["coverage"];
    // The guest's own: a division, a conversion, a product in a loop, a product; libraries may add to them.
    assert!(coverage["instructions"].as_u64().is_some_and(|count| count >= 4), "{coverage}");
    assert_eq!(coverage.get("operations"), None, "nobody counts them while they run");
}

/// Derivatives of `narrow(x)` and of `narrow(x + narrow(x))`, at 3.
const BEFORE: f64 = 12.0;
const AFTER: f64 = 4.0 * 21.0 * 13.0;

#[test]
fn shadows_leave_the_registers_that_the_program_uses() {
    for options in [&[][..], &["--no-avx512"], &["--isa=native"], &["--superblock-limit=1"]] {
        let Some(seen) = observe("dot", "wide.c", "-O2 -pthread", "avx512dq", options) else { return };
        let dots: Vec<Option<f64>> = seen.report.outputs.iter().map(|output| output.dot).collect();
        assert_eq!(dots.len(), 6, "{options:?}");
        for thread in dots.chunks(3) {
            assert_eq!((thread[0], thread[2]), (Some(BEFORE), Some(AFTER)), "{options:?}");
        }
        let all_known = gaps(&seen).iter().all(|(name, _)| name.contains("zmm") || name.contains('k'));
        assert!(all_known, "{options:?}: {:?}", gaps(&seen));
    }
}

#[test]
fn reals_survive_it_too() {
    let Some(seen) = observe("mpfr", "wide.c", "-O2 -pthread", "avx512dq", &[]) else { return };
    let errors: Vec<Option<f64>> = seen.report.outputs.iter().map(|output| output.error_bits).collect();
    assert_eq!(errors, vec![Some(0.0); 6], "every number in it is a small integer");
}

/// Four of each kind, in registers: none is followed. What is turned around and back, by counts that registers hold too, is no gap.
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
    for flags in ["-O0 -g", "-O2 -g"] {
        for options in [&[][..], &["--no-avx512"], &["--superblock-limit=1"]] {
            for shadow in ["dot", "adjoint"] {
                let Some(seen) = observe(shadow, "narrow.c", flags, "sse2", options) else { return };
                for function in LOST {
                    let count = counted(&seen, function);
                    assert_eq!(count, 4, "{shadow} {flags} {options:?} {function}");
                }
                let all: u64 = gaps(&seen).iter().map(|gap| gap.1).sum();
                assert_eq!(all, 4 * LOST.len() as u64, "{shadow} {flags} {options:?}");
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
        for options in [&[][..], &["--no-avx512"]] {
            for shadow in ["dot", "adjoint"] {
                let Some(seen) = observe(shadow, "cut.c", flags, "sse2", options) else { return };
                // One of the parts is no more than an exponent, of which a derivative has as much.
                let puts = if shadow == "dot" { 13 } else { 14 };
                for (function, times) in [("put", puts), ("put_word", 4), ("put_across", 4)] {
                    let count = counted(&seen, function);
                    assert_eq!(count, times, "{shadow} {flags} {options:?} {function}");
                }
                // Gradients miss what is kept beside these where they are used as well.
                assert!(counted(&seen, "put_constant") >= 7, "{shadow} {flags} {options:?}");
                assert_eq!(counted(&seen, "in_pieces") + counted(&seen, "records"), 0, "{shadow} {flags}");
                let dots: Vec<f64> = seen.report.outputs.iter().filter_map(|output| output.dot).collect();
                let right = (dots[0] - 15.4).abs() < 1e-12 && (dots[1] - 2.2).abs() < 1e-6;
                assert!(right, "{shadow} {flags} {options:?}: {dots:?}");
            }
        }
    }
}

/// Places that have been found to put down no parts of numbers are looked at again: one of the four is no number that is known.
#[test]
fn places_are_looked_at_however_often_they_wrote_no_part() {
    for flags in ["-O0 -g", "-O2 -g"] {
        for options in [&[][..], &["--no-avx512"]] {
            let Some(seen) = observe("dot", "late.c", flags, "sse2", options) else { return };
            assert_eq!((counted(&seen, "put_word"), gaps(&seen).len()), (1, 1), "{flags} {options:?}");
            let dots = seen.report.outputs.iter().filter_map(|output| Some(output.dot? * 10.0 / 11.0));
            let dots: Vec<f64> = dots.map(|dot| dot.round()).collect();
            let scale = f64::exp2(32.0);
            assert_eq!(dots, [2.0 * scale, 2.0, 0.0, 2.0], "{flags} {options:?}");
        }
    }
}
