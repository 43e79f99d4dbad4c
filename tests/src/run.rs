//! Runs one command in an empty directory of its own, with a time limit, and reports what it left behind.
//! Knows neither guests nor the tool.

use crate::outcome::{End, Outcome, files_below};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{PoisonError, RwLock};
use std::time::{Duration, Instant};

/// A command with everything that a run of it depends on.
#[derive(Clone, Debug)]
pub struct Job {
    /// Program and arguments.
    pub argv: Vec<OsString>,
    /// The complete environment.
    pub env: BTreeMap<OsString, OsString>,
    /// The bytes of its standard input.
    pub stdin: Vec<u8>,
    /// The working directory, made anew for each run. Both runs of a pair use the same one, so that a path in a
    /// message is no difference.
    pub dir: PathBuf,
    /// Files put there before the run.
    pub files: Vec<(String, Vec<u8>)>,
    /// The time after which it counts as hanging.
    pub timeout: Duration,
}

impl Job {
    /// The command as one would type it.
    pub fn display(&self) -> String {
        let words = self.argv.iter().map(|w| quote(&w.to_string_lossy()));
        words.collect::<Vec<_>>().join(" ")
    }

    /// Runs it to its end. An error means that it could not be started.
    pub fn run(&self) -> std::io::Result<Outcome> {
        self.prepare()?;
        let child = self.start()?;
        let group = Pid::from_raw(child.id() as i32);
        let (end, stdout, stderr) = finish(child, &self.stdin, self.timeout);
        // Whatever is left of the group would otherwise write into the next run's directory. It is mostly gone.
        killpg(group, Signal::SIGKILL).ok();
        let files = files_below(&self.dir)?;
        std::fs::remove_dir_all(&self.dir)?;
        Ok(Outcome { end, stdout, stderr, files })
    }

    fn prepare(&self) -> std::io::Result<()> {
        if self.dir.exists() {
            std::fs::remove_dir_all(&self.dir)?;
        }
        std::fs::create_dir_all(&self.dir)?;
        for (name, contents) in &self.files {
            write_file(&self.dir.join(name), contents)?;
        }
        Ok(())
    }

    fn start(&self) -> std::io::Result<Child> {
        let _guard = WRITING.read().unwrap_or_else(PoisonError::into_inner);
        Command::new(&self.argv[0])
            .args(&self.argv[1..])
            .env_clear()
            .envs(&self.env)
            .current_dir(&self.dir)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
    }
}

/// Held while a file is written, and shared by those that start a process: a child has its parent's descriptors until it executes, and
/// nobody can execute a file that is open for writing anywhere (ETXTBSY).
static WRITING: RwLock<()> = RwLock::new(());

/// Writes a file of a job; what begins with `#!` is made executable.
pub fn write_file(path: &Path, contents: &[u8]) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    let guard = WRITING.write().unwrap_or_else(PoisonError::into_inner);
    std::fs::write(path, contents)?;
    drop(guard);
    if contents.starts_with(b"#!") {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755))?;
    }
    Ok(())
}

fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=./,+:@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) { word.to_owned() } else { format!("{word:?}") }
}

/// Waits for the end of the process *and* of its output: what a background child still writes belongs to the run.
fn finish(mut child: Child, stdin: &[u8], timeout: Duration) -> (End, Vec<u8>, Vec<u8>) {
    let deadline = Instant::now() + timeout;
    let group = Pid::from_raw(child.id() as i32);
    feed(child.stdin.take(), stdin.to_vec());
    let out = collect(child.stdout.take());
    let err = collect(child.stderr.take());
    let stdout = receive(&out, deadline);
    let stderr = receive(&err, deadline);
    let end = wait_until(&mut child, deadline);
    if let (Some(stdout), Some(stderr), Some(end)) = (&stdout, &stderr, end) {
        return (end, stdout.clone(), stderr.clone());
    }
    killpg(group, Signal::SIGKILL).ok();
    child.wait().ok();
    // A descendant that left the group can hold the pipe for ever; what was read so far is enough for a message.
    let grace = Instant::now() + Duration::from_millis(500);
    let last =
        |got: Option<Vec<u8>>, rx: &Receiver<Vec<u8>>| got.or_else(|| receive(rx, grace)).unwrap_or_default();
    (End::Hang, last(stdout, &out), last(stderr, &err))
}

fn feed(pipe: Option<std::process::ChildStdin>, bytes: Vec<u8>) {
    let Some(mut pipe) = pipe else { return };
    // A program that does not read its input closes the pipe; that is its own affair.
    std::thread::spawn(move || pipe.write_all(&bytes).ok());
}

fn collect(pipe: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            pipe.read_to_end(&mut bytes).ok();
        }
        sender.send(bytes).ok();
    });
    receiver
}

fn receive(from: &Receiver<Vec<u8>>, deadline: Instant) -> Option<Vec<u8>> {
    from.recv_timeout(deadline.saturating_duration_since(Instant::now())).ok()
}

fn wait_until(child: &mut Child, deadline: Instant) -> Option<End> {
    let mut pause = Duration::from_micros(200);
    loop {
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status.into());
        }
        if Instant::now() >= deadline {
            return None;
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}
