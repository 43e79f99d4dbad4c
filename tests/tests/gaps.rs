//! Gaps are said, by name and number, and nothing else is lost over them: of single instructions, of what leaves a process, and of
//! programs that use the registers in which shadows are kept.

#![forbid(unsafe_code)]

use serde_json::Value;
use shadowgrind_tests::host;
use shadowgrind_tests::outcome::Left;
use shadowgrind_tests::shadowed::build::Recipe;
use shadowgrind_tests::shadowed::gaps::{gaps, observe};
use shadowgrind_tests::shadowed::observe::Case;
use shadowgrind_tests::shadowed::report::Report;
use std::collections::BTreeMap;

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

/// Digits that are moved up in their word, out of the part that had the shadow, are counted, and so is a product made as an address.
#[test]
fn digits_that_are_moved_up_are_gaps() {
    for options in [&["--input=x"][..], &["--input=x", "--reference-path"]] {
        for shadow in ["dot", "adjoint"] {
            let Some(seen) = observe(shadow, "moved_up.c", "-O1", "sse2", options) else { return };
            let mut gaps = gaps(&seen);
            gaps.sort();
            let names: Vec<(&str, u64)> = gaps.iter().map(|(name, count)| (name.as_str(), *count)).collect();
            let expected = [("LEA r64, m", 1), ("SHL r/m64, imm8", 1), ("SHRD r/m64, r64, imm8", 1)];
            assert_eq!(names, expected, "{shadow} {options:?}");
        }
    }
}

/// A number that is parsed of text written from a float with a derivative has lost it, whichever way the text went.
#[test]
fn text_that_is_parsed_again_is_a_gap() {
    for shadow in ["dot", "adjoint"] {
        for options in host::bindings().chain([&["--input=parsed~0.123456"][..]]) {
            let Some(seen) = observe(shadow, "rewritten.c", "-O2", "sse2", options) else { return };
            let mut gaps = gaps(&seen);
            gaps.retain(|(name, count)| name.ends_with("of text written from it") && *count == 1);
            // Of the four numbers that are parsed, one was written from a constant; two are parsed at one place each.
            assert_eq!(gaps.len(), 3, "{shadow} {options:?}: {gaps:?}");
            assert_eq!(seen.report.outputs.last().map(|output| output.value), Some(0.123456 + 1.4));
        }
    }
}

/// Digits tell that a number is parsed again whose text is in a notation that nobody knows: that is a gap, but for the two numbers that
/// have all of them.
#[test]
fn digits_that_are_parsed_again_are_gaps() {
    for shadow in ["dot", "adjoint"] {
        let Some(seen) = observe(shadow, "conversions.c", "-O1", "sse2", &[]) else { return };
        let gaps = gaps(&seen);
        let all = gaps.iter().filter(|(name, _)| name == "strtod of text written from it");
        assert_eq!(all.map(|(_, count)| count).sum::<u64>(), 5, "{shadow}: {gaps:?}");
        let sum = seen.report.outputs.last().and_then(|output| output.dot);
        assert!(sum.is_some_and(|sum| (sum - 2.0 * 2.0 * 2.7 / 7.0).abs() < 1e-12), "{shadow}: {sum:?}");
    }
}

/// Text of a derivative that is written nowhere may be read by code that nobody knows: it is counted, at the line that made it.
#[test]
fn text_that_is_written_nowhere_is_counted() {
    let source = std::fs::read_to_string(host::tests_dir().join("guests/dot/reread.c")).unwrap();
    let line = 1 + source.lines().position(|line| line.ends_with("// UNWRITTEN")).unwrap();
    for shadow in ["dot", "adjoint"] {
        for options in host::bindings() {
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

/// Text that a program makes for itself is no output where the number has no shadow, and Coverage says how many there were; unless all
/// that is made into text is wanted.
#[test]
fn text_for_the_program_itself_is_no_output() {
    for shadow in ["dot", "adjoint"] {
        for (options, outputs, left) in [(&[][..], 4, 100), (&["--output=printed"], 104, 0)] {
            let Some(seen) = observe(shadow, "for_itself.c", "-O1", "sse2", options) else { return };
            assert_eq!(seen.report.outputs.len(), outputs, "{shadow} {options:?}");
            let last = seen.report.outputs[outputs - 4..].iter();
            let values: Vec<f64> = last.map(|output| output.value).collect();
            assert_eq!(values, [7.5, 1e6 / 7.0, 1.75, 6.25], "{shadow} {options:?}");
            let rows = seen.report.document["coverage"]["left_out"].as_array().cloned().unwrap_or_default();
            assert_eq!(rows.iter().filter_map(|row| row["calls"].as_u64()).sum::<u64>(), left);
        }
    }
}

/// Shadows with options by which code is made in other ways.
fn on_each_path() -> impl Iterator<Item = (&'static str, &'static [&'static str])> {
    let ways: [&[&str]; 4] = [&[], &["--no-avx512"], &["--reference-path"], &["--superblock-limit=1"]];
    ["dot", "adjoint"].into_iter().flat_map(move |shadow| ways.map(|options| (shadow, options)))
}

/// A lane beside one with a derivative has none to lose, on the fast path and on its reference path.
#[test]
fn lanes_beside_one_with_a_derivative_are_no_gaps() {
    for (shadow, options) in on_each_path() {
        let Some(seen) = observe(shadow, "lane_beside.c", "-O1", "sse2", options) else { return };
        assert_eq!(gaps(&seen), [], "{shadow} {options:?}");
        let dots: Vec<Option<f64>> = seen.report.outputs.iter().map(|output| output.dot).collect();
        let is_right = matches!(dots[..], [Some(first), Some(0.0)] if (first + 1.0 / 9.0).abs() < 1e-15);
        assert!(shadow != "dot" || is_right, "{options:?}: {dots:?}");
    }
}

/// The fast path and its reference path count the same; how a library prints is its own business.
#[test]
fn comparisons_of_floats_with_derivatives_are_counted() {
    for (shadow, options) in on_each_path() {
        let Some(seen) = observe(shadow, "decided.c", "-O1", "sse2", options) else { return };
        let decisions = seen.report.document["coverage"]["decisions"].as_array().cloned().unwrap_or_default();
        let sum = |key: &str| decisions.iter().filter_map(|one| one[key].as_u64()).sum::<u64>();
        assert_eq!((sum("count"), sum("equal")), (16, 3), "{shadow} {options:?}: {decisions:?}");
        assert_eq!(gaps(&seen), [], "{shadow} {options:?}");
    }
}

/// Code that asks whether the digits of a float are those of a number, and finds it so, has taken a way on which there is no derivative.
#[test]
fn digits_that_are_found_equal_are_counted() {
    for level in ["-O0", "-O1", "-O2", "-O3"] {
        for (shadow, options) in on_each_path() {
            let flags = format!("{level} -g");
            let Some(seen) = observe(shadow, "decided_by_digits.c", &flags, "sse2", options) else { return };
            let decisions =
                seen.report.document["coverage"]["decisions"].as_array().cloned().unwrap_or_default();
            let equal = decisions
                .iter()
                .map(|one| (one["site"]["function"].as_str().unwrap_or_default(), one["equal"].as_u64()));
            let equal: BTreeMap<_, _> = equal.collect();
            let ways = ["whole", "two_at_once", "upper", "zero", "narrow", "in_memory"];
            let expected = ways.into_iter().map(|way| (way, Some(1))).collect();
            assert_eq!(equal, expected, "{shadow} {level} {options:?}");
            assert_eq!(gaps(&seen), [], "{shadow} {level} {options:?}");
        }
    }
}

/// Up to 2^20 times at one place, and the report says that there may be more; equality always.
#[test]
fn comparisons_are_counted_often_enough() {
    for options in host::bindings().chain([&["--superblock-limit=1"][..]]) {
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

/// Whole numbers have no derivative: those made of floats that have one are counted, in whichever way, where the program does so. Of
/// the calls of one function the first ones have their places.
#[test]
fn roundings_to_whole_numbers_are_counted() {
    roundings_are_counted("dot");
}

#[test]
fn roundings_to_whole_numbers_are_counted_under_adjoint() {
    roundings_are_counted("adjoint");
}

fn roundings_are_counted(shadow: &'static str) {
    let ways = ["converted", "from_memory", "of_float", "to_nearest", "packed", "of_floats", "on_stack"];
    let ways = [&ways[..], &["rounded_on_stack", "by_magic", "by_modf", "by_rint", "by_floorl"]].concat();
    let ways = [&ways[..], &["by_lround", "by_lroundf", "by_llroundl"]].concat();
    let instructions = ["by_instruction", "by_one_instruction"];
    for (flags, need, more) in [
        ("-O1 -g", "sse2", &[][..]),
        ("-O1 -g -msse4.1", "sse4_1", &instructions),
        ("-O1 -g -mavx2", "avx2", &instructions),
    ] {
        for (_, options) in on_each_path().filter(|path| path.0 == shadow) {
            let flags = format!("{flags} -Wl,--no-as-needed -lm");
            let Some(seen) = observe(shadow, "made_whole.c", &flags, need, options) else { return };
            let rows = seen.report.document["coverage"]["roundings"].as_array().cloned().unwrap_or_default();
            let rows = rows
                .iter()
                .map(|row| (row["site"]["function"].as_str().unwrap_or_default(), row["count"].as_u64()));
            let mut counts: BTreeMap<&str, u64> =
                rows.map(|(function, count)| (function, count.expect("a count"))).collect();
            let beyond: u64 =
                counts.iter().filter(|(name, _)| name.contains("floor_")).map(|(_, count)| count).sum();
            counts.retain(|name, _| !name.contains("floor_"));
            *counts.entry("calls").or_default() += beyond;
            let mut expected: BTreeMap<&str, u64> =
                [&ways[..], more].concat().iter().map(|&way| (way, 3)).collect();
            expected.extend([("often", 1_100_000), ("often_on_stack", 1_100_000), ("calls", 3000)]);
            assert_eq!(
                seen.report.document["coverage"].get("decisions"),
                None,
                "{shadow} {flags} {options:?}"
            );
            assert_eq!(counts, expected, "{shadow} {flags} {options:?}");
            assert_eq!(gaps(&seen), [], "{shadow} {flags} {options:?}");
            if shadow == "dot" {
                let dots: Vec<_> = seen.report.outputs.iter().map(|output| output.dot).collect();
                assert_eq!(dots, [Some(0.0), Some(1.0)], "{flags} {options:?}");
            }
        }
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
    for options in host::bindings() {
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
        ("gone", "mmap", 2),
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

/// Floats that a process gets from its child, whose shadows stay there, are counted where they are read; derivatives come along.
#[test]
fn what_a_child_hands_back_is_counted_where_it_is_not_followed() {
    for shadow in ["adjoint", "error", "mpfr"] {
        for options in host::bindings() {
            let Some(seen) = observe(shadow, "received.c", "-O1", "sse2", options) else { return };
            let mut lost: BTreeMap<String, u64> = BTreeMap::new();
            gaps(&seen).into_iter().for_each(|(name, floats)| *lost.entry(name).or_default() += floats);
            let expected = [("mmap", 2), ("pread64", 1), ("read", 2), ("recvfrom", 1)];
            let expected = expected.map(|(call, floats)| (format!("{call} (system call)"), floats));
            assert!(
                lost.iter().map(|(name, &floats)| (name.clone(), floats)).eq(expected),
                "{shadow}: {lost:?}"
            );
            let is_clean = seen.report.document["verdict"]["clean"] == true;
            assert!(!is_clean, "{shadow} {options:?}");
        }
    }
    let Some(seen) = observe("dot", "received.c", "-O1", "sse2", &[]) else { return };
    let dots: Vec<f64> = seen.report.outputs.iter().filter_map(|output| output.dot).collect();
    assert!(dots.len() == 6 && dots.iter().all(|dot| (dot - 1.0 / 11.0).abs() < 1e-15), "{dots:?}");
    assert_eq!(gaps(&seen), []);
}

/// Of what others see under a record of the run, each float once: of a file that is mapped twice, of memory that two children have
/// too, each of which adds one, and of a segment, to which one does; and what was written over another.
#[test]
fn memory_that_processes_share_is_counted_where_it_is_not_followed() {
    let Some(seen) = observe("adjoint", "shared.c", "-O1", "sse2", &[]) else { return };
    let mut gaps = gaps(&seen);
    gaps.sort();
    let name = |call: &str| format!("{call} (system call)");
    let expected = [(name("mmap"), 1), (name("mmap"), 3), (name("pwrite64"), 1), (name("shmat"), 2)];
    assert_eq!(gaps, expected);
}

/// Floats that leave otherwise than whole and by a call that writes are counted, whatever the shadow says of such.
#[test]
fn floats_that_leave_aside_are_counted() {
    for shadow in ["adjoint", "error", "mpfr"] {
        for options in host::bindings() {
            let Some(seen) = observe(shadow, "aside.c", "-O1", "sse2", options) else { return };
            let names: BTreeMap<String, u64> = gaps(&seen).into_iter().collect();
            let calls =
                ["mmap", "process_vm_readv", "read", "writev"].map(|call| format!("{call} (system call)"));
            // Where what is written whole is an output, what is read again has lost its shadow then.
            let calls = calls.iter().filter(|call| shadow == "mpfr" || !call.starts_with("read"));
            assert!(names.keys().eq(calls), "{shadow} {options:?}: {names:?}");
            let is_clean = seen.report.document["verdict"]["clean"] == true;
            assert!(!is_clean, "{shadow} {options:?}");
        }
    }
}

/// Halves of bytes carry no derivative and no error: what is put together of them is no clean number, nor has it a derivative.
#[test]
fn bytes_that_are_halved_are_counted() {
    for shadow in ["dot", "adjoint", "error", "mpfr"] {
        for flags in ["-O0", "-O1"] {
            let Some(seen) = observe(shadow, "halves_of_bytes.c", flags, "sse2", &[]) else { return };
            let document = &seen.report.document;
            match shadow {
                "error" | "mpfr" => assert_eq!(document["verdict"]["clean"], false, "{shadow} {flags}"),
                _ => {
                    let names: Vec<String> = gaps(&seen).into_iter().map(|(name, _)| name).collect();
                    let is_counted = |what| names.iter().any(|name| name.starts_with(what));
                    assert!(is_counted("AND") && is_counted("SHR"), "{shadow} {flags}: {names:?}");
                }
            }
        }
    }
}

/// Memory that shows a file is counted when its name goes, by which anybody may have found it, unless processes of the tree share it.
#[test]
fn memory_that_had_a_name_is_counted() {
    for shadow in ["dot", "adjoint", "error", "mpfr"] {
        for options in host::bindings() {
            let Some(seen) = observe(shadow, "named.c", "-O1", "sse2", options) else { return };
            // That of the child is handed on as a derivative, and is lost otherwise.
            let lost = if shadow == "dot" { 1 } else { 2 };
            assert_eq!(gaps(&seen), [("mmap (system call)".to_owned(), lost)], "{shadow} {options:?}");
            let last = seen.report.outputs.last().and_then(|output| output.dot);
            let is_right = last.is_some_and(|last| (last - 2.0 / 11.0).abs() < 1e-15);
            assert!(shadow != "dot" || is_right, "{last:?}");
        }
    }
}

/// Memory that nobody else has is not.
#[test]
fn memory_that_nobody_shares_is_not_counted() {
    let Some(seen) = observe("mpfr", "alone.c", "-O1", "sse2", &[]) else { return };
    assert_eq!(gaps(&seen), []);
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
    for options in host::bindings().chain([&["--isa=native"][..], &["--superblock-limit=1"]]) {
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
