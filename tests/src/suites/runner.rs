//! Runs the items of a suite, a few at a time, and counts: what compiles, what succeeds natively, what is the same.

use crate::compare::differences;
use crate::host;
use crate::outcome::{End, Outcome};
use crate::run::Job;
use crate::suite::base_environment;
use crate::tool::{self, Engine};
use std::path::PathBuf;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// One program of a suite in one way of compiling it.
#[derive(Clone, Debug)]
pub struct Item {
    /// The name in the report.
    pub name: String,
    /// The compiler and its arguments, but for `-o`.
    pub compile: Vec<String>,
    /// Libraries, which come last.
    pub libs: Vec<String>,
    /// The directory to compile and to run in is a copy of nothing; this one is where sources include from.
    pub source_dir: PathBuf,
    /// Arguments of the program.
    pub args: Vec<String>,
}

/// Verdict on an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The compiler refuses it here.
    NotCompiled,
    /// Program that fails or hangs natively: it says nothing.
    FailsNatively,
    /// Two native runs differ; only their end was compared, and is the same.
    Unstable,
    /// Under the tool it does as natively.
    Same,
    /// Not the same; how.
    Differs(String),
}

/// The counts of one group of items.
#[derive(Debug, Default)]
pub struct Count {
    /// Items in all.
    pub items: usize,
    /// Programs that compile.
    pub compiled: usize,
    /// Programs that succeed natively.
    pub native: usize,
    /// Programs that are the same under the tool.
    pub same: usize,
    /// Of these, those whose output varies natively.
    pub unstable: usize,
    /// Programs that differ, with the differences.
    pub different: Vec<(String, String)>,
}

impl Count {
    fn add(&mut self, name: &str, verdict: Verdict) {
        self.items += 1;
        self.compiled += usize::from(verdict != Verdict::NotCompiled);
        self.native += usize::from(!matches!(verdict, Verdict::NotCompiled | Verdict::FailsNatively));
        self.same += usize::from(matches!(verdict, Verdict::Same | Verdict::Unstable));
        self.unstable += usize::from(verdict == Verdict::Unstable);
        if let Verdict::Differs(how) = verdict {
            self.different.push((name.to_owned(), how));
        }
    }

    /// The counts in words, and the names of what differs.
    pub fn report(&self, title: &str) -> String {
        let mut text = format!(
            "{title}: {} programs, {} compile, {} succeed natively, {} of these the same under the tool",
            self.items, self.compiled, self.native, self.same
        );
        if self.unstable > 0 {
            text += &format!(" ({} by their status only: their output varies)", self.unstable);
        }
        text += &format!(", {} differ\n", self.different.len());
        for (name, how) in &self.different {
            text += &format!("  {name}: {}\n", how.lines().next().unwrap_or_default());
        }
        text
    }
}

/// Runs all items, `jobs` at a time.
pub fn run_all(items: &[Item], jobs: usize) -> Count {
    let (next, count) = (AtomicUsize::new(0), Mutex::new(Count::default()));
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let verdict = judge(item);
                    if let Verdict::Differs(how) = &verdict {
                        eprintln!("{} differs: {how}", item.name);
                    }
                    count.lock().expect("no holder panics").add(&item.name, verdict);
                }
            });
        }
    });
    let mut count = count.into_inner().expect("no holder panics");
    count.different.sort();
    count
}

fn judge(item: &Item) -> Verdict {
    let dir = host::fresh_work_dir();
    let verdict = judge_in(item, &dir).unwrap_or_else(|e| Verdict::Differs(format!("cannot be run: {e}")));
    std::fs::remove_dir_all(&dir).ok();
    verdict
}

fn judge_in(item: &Item, dir: &PathBuf) -> std::io::Result<Verdict> {
    std::fs::create_dir_all(dir)?;
    let exe = dir.join("program");
    let mut compiler = Command::new(&item.compile[0]);
    compiler.args(&item.compile[1..]).arg("-o").arg(&exe).args(&item.libs).current_dir(&item.source_dir);
    if !compiler.output()?.status.success() {
        return Ok(Verdict::NotCompiled);
    }
    let engine = Engine::from_env();
    let mut argv = vec![exe.into_os_string()];
    argv.extend(item.args.iter().map(Into::into));
    let native = Job {
        argv,
        env: base_environment(&engine),
        stdin: Vec::new(),
        dir: host::fresh_work_dir(),
        files: Vec::new(),
        timeout: Duration::from_secs(20) * tool::patience(),
    };
    let expected = native.run()?;
    if expected.end != End::Exit(0) {
        return Ok(Verdict::FailsNatively);
    }
    let tool = Job { argv: engine.command(&[], &native.argv), timeout: native.timeout * 3, ..native.clone() };
    let got = tool.run()?;
    match differences(&expected, &got) {
        None => Ok(Verdict::Same),
        Some(text) => second_opinion(&native, &expected, &got, text),
    }
}

/// A difference counts only if natively there is none: some programs print times and addresses.
fn second_opinion(native: &Job, expected: &Outcome, got: &Outcome, text: String) -> std::io::Result<Verdict> {
    for _ in 0..3 {
        if native.run()? != *expected {
            let same_end = got.end == expected.end;
            return Ok(if same_end { Verdict::Unstable } else { Verdict::Differs(text) });
        }
    }
    Ok(Verdict::Differs(text))
}
