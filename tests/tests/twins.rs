//! Fast paths against their slow twin: derivatives by code beside the guest's, with shadows in upper vector registers and
//! in memory, are bit for bit those of instructions that the engine stops at and replays one by one.

use shadowgrind_tests::tool;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The fast paths, by option; and their slow twin.
const FAST: [&[&str]; 2] = [&[], &["--no-avx512"]];
const SLOW: &[&str] = &["--slow-twins"];

/// Programs of the benchmark, with arguments that keep them short.
const GUESTS: [(&str, &[&str]); 7] = [
    ("nbody.c", &["300"]),
    ("lu.c", &["20"]),
    ("gram_schmidt.c", &["10"]),
    ("mandelbrot.c", &["40"]),
    ("sums.c", &["200"]),
    ("libm.c", &["300"]),
    ("burgers.cpp", &["20", "10"]),
];

const FLAGS: [&[&str]; 3] = [&["-O0"], &["-O2"], &["-O3", "-march=x86-64-v3"]];

#[test]
fn fast_paths_agree_with_their_slow_twin() {
    let directory = std::env::temp_dir().join(format!("shadowgrind-twins-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a directory for the programs");
    for (source, args) in GUESTS {
        for flags in FLAGS {
            let program = compile(source, flags, &directory);
            let slow = derivatives(&program, args, SLOW, &directory);
            assert!(!slow.is_empty(), "{source} prints floats");
            assert!(slow.iter().any(|dot| dot != "0.0"), "{source} has derivatives: {slow:?}");
            for fast in FAST {
                let got = derivatives(&program, args, fast, &directory);
                assert_eq!(got, slow, "{source} {flags:?} with {fast:?}");
            }
        }
    }
    std::fs::remove_dir_all(&directory).expect("the programs can be removed");
}

fn compile(source: &str, flags: &[&str], directory: &Path) -> PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("guests/bench").join(source);
    let program = directory.join("program");
    let compiler = if source.ends_with(".cpp") { "g++" } else { "gcc" };
    let status = Command::new(compiler).args(flags).arg("-o").arg(&program).arg(path).arg("-lm").status();
    assert!(status.expect("a C compiler").success(), "{source} compiles with {flags:?}");
    program
}

/// The derivative of each number the program prints, as the JSON report has it.
fn derivatives(program: &Path, args: &[&str], options: &[&str], directory: &Path) -> Vec<String> {
    let report = directory.join("report.json");
    let run = Command::new(tool::binary())
        .args(["-q", "--shadow=dot", "--input=shift"])
        .arg(format!("--report=json:{}", report.display()))
        .args(options)
        .arg(program)
        .args(args)
        .output()
        .expect("the tool runs");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let text = std::fs::read_to_string(&report).expect("a report");
    let json: serde_json::Value = serde_json::from_str(&text).expect("a JSON report");
    let outputs = json["outputs"].as_array().expect("outputs");
    outputs.iter().map(|output| output["dot"].to_string()).collect()
}
