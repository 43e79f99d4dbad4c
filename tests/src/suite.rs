//! Turns guests into named tests: `topic/guest/gcc-O2-pie`, and with a configuration `…+no-link`.
//!
//! A test is a pair of runs in the same directory: natively, which must end as the guest announces, and under the
//! tool, which must not differ.

use crate::compare::differences;
use crate::compile::{Compiled, compile};
use crate::host;
use crate::outcome::Outcome;
use crate::run::Job;
use crate::spec::{Guest, Link, Spec, Variant, all_guests};
use crate::tool::{self, Engine};
use libtest_mimic::{Failed, Trial};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

/// Guests that notice a shadow other than `none`; LIMITS.md says how.
const NOTICE_SHADOWS: [&str; 5] =
    ["isa/xsave", "memory/address_limit", "memory/locked", "signals/fault_fields", "signals/precise_faults"];

fn notices(guest: &Guest, engine: &Engine) -> bool {
    engine.shadow() != "none" && NOTICE_SHADOWS.contains(&guest.name.as_str())
}

/// One test per guest and variant; in a configuration other than the default, one per guest, in turn over its variants,
/// unless a full run is asked for.
pub fn guest_trials(engines: &[Engine]) -> Vec<Trial> {
    let guests = all_guests(&host::tests_dir().join("guests"));
    let guests = guests.unwrap_or_else(|e| panic!("{e}"));
    let mut trials = Vec::new();
    for (e, engine) in engines.iter().enumerate() {
        for (g, guest) in guests.iter().enumerate() {
            let variants = guest.variants();
            let turn = (g + e) % variants.len();
            for (v, variant) in variants.into_iter().enumerate() {
                if !(v == turn || engine.name.is_empty() || tool::is_full_run()) || notices(guest, engine) {
                    continue;
                }
                let (guest, engine) = (guest.clone(), engine.clone());
                let name = trial_name(&format!("{}/{}", guest.name, variant.name()), &engine);
                trials.push(Trial::test(name.clone(), move || check_guest(&name, &guest, &variant, &engine)));
            }
        }
    }
    trials
}

/// The name of a test in a configuration.
pub fn trial_name(name: &str, engine: &Engine) -> String {
    if engine.name.is_empty() { name.to_owned() } else { format!("{name}+{}", engine.name) }
}

fn check_guest(name: &str, guest: &Guest, variant: &Variant, engine: &Engine) -> Result<(), Failed> {
    if let Some(missing) = missing_need(&guest.spec.needs) {
        host::skipped(name, &missing);
        return Ok(());
    }
    let exe = match compile(guest, variant)? {
        Compiled::Ready(exe) => exe,
        Compiled::NoCompiler(driver) => {
            host::skipped(name, &format!("{driver} is not installed"));
            return Ok(());
        }
    };
    let native = job(&guest.spec, &exe, variant.link, engine);
    let announced = guest.spec.exit.clone();
    check_job(&native, engine, &[], std::convert::identity, |outcome| {
        if outcome.end.is(&announced) { Ok(()) } else { Err(format!("announced {announced}")) }
    })
}

/// The first thing a guest or program needs that this machine does not have.
pub fn missing_need(needs: &[String]) -> Option<String> {
    needs.iter().find_map(|need| match need.strip_prefix("program:") {
        Some(program) => host::find_program(program).is_none().then(|| format!("{program} is not installed")),
        None => (!host::has_cpu_flag(need)).then(|| host::no_feature(need)),
    })
}

/// Runs a job natively, then under the tool as often as asked, and compares what `strip` leaves of each outcome.
/// `announced` judges the native run: a program that is itself broken must not pass because it is broken twice.
pub fn check_job(
    native: &Job,
    engine: &Engine,
    options: &[&str],
    strip: impl Fn(Outcome) -> Outcome,
    announced: impl Fn(&Outcome) -> Result<(), String>,
) -> Result<(), Failed> {
    let expected = native.run().map_err(|e| format!("{}: {e}", native.display()))?;
    announced(&expected).map_err(|why| broken(native, &expected, &why))?;
    let expected = strip(expected);
    let tool = under_tool(native, engine, options);
    for _ in 0..tool::repeat() {
        let got = tool.run().map_err(|e| format!("{}: {e}", tool.display()))?;
        let stderr = String::from_utf8_lossy(&got.stderr).chars().take(2000).collect::<String>();
        if let Some(text) = differences(&expected, &strip(got)) {
            return Err(format!(
                "differs under the tool\n{text}native: {}\ntool:   {}\nstderr under the tool: {stderr}",
                native.display(),
                tool.display()
            )
            .into());
        }
    }
    Ok(())
}

fn broken(native: &Job, outcome: &Outcome, why: &str) -> String {
    format!(
        "wrong natively: {}, {why}\nnative: {}\nstdout: {}\nstderr: {}",
        outcome.end,
        native.display(),
        String::from_utf8_lossy(&outcome.stdout),
        String::from_utf8_lossy(&outcome.stderr)
    )
}

/// Mark of the program in a job's command: what stands before it (a shell with limits) stays outside the tool.
const PROGRAM_MARK: &str = "shadowgrind-program";

fn under_tool(native: &Job, engine: &Engine, options: &[&str]) -> Job {
    let mut tool = native.clone();
    let start = native.argv.iter().position(|w| w == PROGRAM_MARK).map_or(0, |at| at + 1);
    tool.argv.truncate(start);
    tool.argv.extend(engine.command(options, &native.argv[start..]));
    tool
}

fn job(spec: &Spec, exe: &Path, link: Link, engine: &Engine) -> Job {
    let dir = exe.parent().expect("a guest lies in a directory").to_string_lossy().into_owned();
    let fill = |text: &String| text.replace("{dir}", &dir).replace("{exe}", &exe.to_string_lossy());
    let mut argv: Vec<OsString> = Vec::new();
    if let Some(wrap) = &spec.wrap {
        // The mark becomes the shell's `$0`, which no wrapping line prints.
        argv.extend(["/bin/sh", "-c", wrap, PROGRAM_MARK].map(OsString::from));
    }
    argv.push(exe.into());
    argv.extend(spec.args.iter().map(|a| fill(a).into()));
    let mut env = base_environment(engine);
    env.extend([("GUEST_DIR", dir.as_str()), ("GUEST_LINK", link.name())].map(pair));
    env.extend(spec.env.iter().map(|(name, value)| (name.into(), fill(value).into())));
    Job {
        argv,
        env,
        stdin: spec.stdin.clone().into_bytes(),
        dir: host::fresh_work_dir(),
        files: Vec::new(),
        timeout: engine.time_limit(spec.timeout),
    }
}

fn pair((name, value): (&str, &str)) -> (OsString, OsString) {
    (name.into(), value.into())
}

/// Runs the command `words` in a fresh directory that holds `files` (name, content), with the environment of every run, for a
/// minute at most.
///
/// # Panics
/// When the command cannot be started.
pub fn run(words: &[&str], files: &[(&str, &[u8])]) -> Outcome {
    let job = Job {
        argv: words.iter().map(Into::into).collect(),
        env: base_environment(&Engine::from_env()),
        stdin: Vec::new(),
        dir: host::fresh_work_dir(),
        files: files.iter().map(|(name, bytes)| ((*name).to_owned(), bytes.to_vec())).collect(),
        timeout: Duration::from_secs(60) * tool::patience(),
    };
    job.run().unwrap_or_else(|e| panic!("{}: {e}", job.display()))
}

/// Small environment of every run: nothing of the machine's or the developer's own must decide a test.
pub fn base_environment(engine: &Engine) -> BTreeMap<OsString, OsString> {
    let fixed = [
        ("HOME", "/nonexistent"),
        ("LANG", "C.UTF-8"),
        ("TZ", "UTC"),
        ("PATH", "/usr/local/bin:/usr/bin:/bin"),
    ];
    fixed.into_iter().chain(engine.environment()).map(pair).collect()
}
