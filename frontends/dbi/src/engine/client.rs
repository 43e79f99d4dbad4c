//! The client: whom the engine tells of a program's events, and asks, where a thread has stopped. DynamoRIO's word.
//!
//! All that the engine knows of what a program is run for. Each method begins as a client that wants nothing has it. They
//! are called at exits from translated code, where `dyn` costs nothing; what runs beside the guest's instructions is the
//! annotator's ([`Client::annotator`]).

use super::end::ProgramEnd;
use super::handed::{Begun, Handing, Writing};
use super::lock::Held;
use super::process::Process;
use super::thread::Thread;
use crate::context::{Context, Counts, FUNCTIONS};
use crate::mailbox::Mailbox;
use crate::x86::function::Counted;
use crate::x86::mirror::Mirror;
use crate::x86::mode::Mode;
use crate::x86::rounding::Rounding;
use crate::x86::superblock::Decision;
use std::any::Any;
use std::path::Path;

/// Services that a client asks for, once, before the program begins.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Services {
    /// The requests are answered, its code is prepared for an annotator, and its end is told of.
    pub(crate) attends: bool,
    /// A mirror of guest memory.
    pub(crate) mirror: bool,
    /// Every system call comes to the engine.
    pub(crate) all_calls: bool,
    /// The client is shown what the program reads.
    pub(crate) reads: bool,
    /// The client is shown what the program writes, as long as it [wants](Client::wants_written) that.
    pub(crate) writes: bool,
    /// The client is shown what the program hands out of its memory, with what stands beside that.
    pub(crate) sent: bool,
    /// Fate of what stands in the mirror beside bytes that processes of the tree hand each other, if it is to be followed.
    pub(crate) hands_on: Option<Handing>,
    /// Address of the function that evaluates functions for translated code; 0 for none.
    pub(crate) evaluator: u64,
}

/// Client of the engine, one for a process.
pub(crate) trait Client: Any + Send + Sync {
    /// Services that it asks for.
    fn services(&self) -> Services {
        Services::default()
    }

    /// The annotator of a new thread's code; `vdso` is the place of the guest's copy of the vDSO.
    fn annotator(&self, _vdso: (u64, u64)) -> Option<Mirror> {
        None
    }

    // Threads.

    /// The client's state of a new thread, whose kernel thread may not exist yet.
    fn thread_state(&self, _context: &mut Context, _mailbox: &'static Mailbox) -> Box<dyn Any> {
        Box::new(())
    }

    /// A guest thread begins, perhaps with the state of one that has ended.
    fn thread_begins(&self, _thread: &mut Thread) {}

    /// A thread has ended, or is stopped for good: what translated code has counted in it.
    fn thread_ends(&self, _calls: &[u64; FUNCTIONS], _counts: Counts<'_>) {}

    // Modules.

    /// A file is mapped executable from `offset` on; `place` is where it can be read if it has no path any more.
    fn mapped(&self, _path: &Path, _place: Option<&Path>, _offset: u64, _start: u64, _end: u64) {}

    /// Nothing is mapped there any more. The mirror is still what it was.
    fn unmapped(&self, _start: u64, _end: u64) {}

    // Code.

    /// Tells whether something is to happen before the instruction at `pc`.
    fn is_hooked(&self, _pc: u64) -> bool {
        false
    }

    /// The function at `pc`, if translated code is to see to it.
    fn function(&self, _pc: u64) -> Option<Counted> {
        None
    }

    /// Rounding by magic numbers in the code at `pc`.
    fn rounding(&self, _pc: u64) -> Rounding {
        Rounding::default()
    }

    /// The comparison at `pc`, if translated code is to count it.
    fn comparison(&self, _pc: u64) -> Option<Decision> {
        None
    }

    /// The rounding to whole numbers at `pc`, if translated code is to count it.
    fn whole_numbers(&self, _pc: u64) -> Option<Decision> {
        None
    }

    /// The comparison at `pc` has been counted often enough: code that is made from now on does so no more.
    fn counted(&self, _pc: u64) {}

    /// The block that is run next was just made.
    fn translated(&self, _thread: &mut Thread) {}

    // Dispatch.

    /// The thread comes to code of which nothing has been translated. True if something was done for that.
    fn first_run(&self, _thread: &mut Thread) -> bool {
        false
    }

    /// The mode for code that comes after a stop.
    fn mode(&self, _thread: &mut Thread) -> Mode {
        Mode::BARE
    }

    /// `mode`, as far as the thread is annotated at all.
    fn mode_like(&self, _thread: &Thread, mode: Mode) -> Mode {
        if mode.is_annotated() { Mode::BARE } else { mode }
    }

    /// The thread is about to enter translated code.
    fn enters(&self, _thread: &Thread) {}

    /// The thread has left translated code.
    fn left(&self, _thread: &mut Thread) {}

    /// The thread is about to use AVX-512: nothing of the annotator's stays in upper vector registers.
    fn leave_upper_registers(&self, _thread: &mut Thread) {}

    /// The instruction at `thread.pc` is to run out of line: on its own, between two stops.
    fn begin(&self, _thread: &mut Thread) {}

    /// Ends the run of an instruction out of line, if there was one: the thread goes on in the mode for code that comes after
    /// a stop.
    fn finish(&self, _thread: &mut Thread) {}

    /// Takes back that an instruction was to run out of line: it was not run.
    fn abandon(&self, _thread: &mut Thread) {}

    /// The guest is at an instruction that faulted: if it ran out of line, it did not.
    fn faulted(&self, _thread: &mut Thread) {}

    /// An atomic instruction that kept others from running has met a fault: they may run.
    fn unlock_atomics(&self) {}

    /// The thread arrived at a hooked address.
    fn hook(&self, _thread: &mut Thread) {}

    /// The thread makes a client request with the instruction at `pc`, and goes on behind that.
    fn request(&self, _thread: &mut Thread, _pc: u64) {}

    /// An indirect branch inside a wrapped call, to where none went before. True if the function goes on there.
    fn stays_wrapped(&self, _thread: &mut Thread, _target: u64) -> bool {
        true
    }

    /// The wrapped call has returned to `thread.pc`.
    fn returned(&self, _thread: &mut Thread) {}

    // Signals.

    /// A handler is about to be entered.
    fn interrupts(&self, _thread: &mut Thread) {}

    /// The handler's frame is at `frame`; it covers the guest bytes up to `end`.
    fn interrupted(&self, _thread: &mut Thread, _frame: u64, _end: u64) {}

    /// The handler whose frame is at `frame` has returned.
    fn resumes(&self, _thread: &mut Thread, _frame: u64) {}

    // System calls.

    /// The program has read these pieces, address and length, of the file at `path`, from `offset` on.
    fn read(
        &self,
        _thread: &mut Thread,
        _path: Option<&str>,
        _offset: Option<usize>,
        _pieces: &[(u64, u64)],
    ) {
    }

    /// Tells whether what the program writes is wanted from now on.
    fn wants_written(&self) -> bool {
        false
    }

    /// The program has written these pieces, address and length, to `descriptor`, open for the file at `path`.
    fn wrote(&self, _thread: &mut Thread, _descriptor: i32, _path: &str, _pieces: &[(u64, u64)]) {}

    /// The system call at `pc`, of this number and name, which was `begun`, has handed out guest memory.
    fn sent(
        &self,
        _thread: &mut Thread,
        _pc: u64,
        _call: (u64, &'static str),
        _begun: &Begun,
        _writing: Writing<'_>,
    ) {
    }

    /// The system call at `pc`, of this number and name, has fetched so many floats that are shadowed where they come from.
    fn fetched(&self, _thread: &mut Thread, _pc: u64, _call: (u64, &'static str), _floats: u64) {}

    /// Address of the site of the system call that the thread is at; 0 if there is none.
    fn address_of_call(&self, _thread: &mut Thread) -> u64 {
        0
    }

    /// Calls what takes away a name of a file for the program.
    fn unlinks(&self, unlink: &mut dyn FnMut()) {
        unlink();
    }

    /// The call that the thread is at has made guest memory, start and length, shared: with who has the file that the descriptor is
    /// open for, or with children.
    fn shares(&self, _thread: &mut Thread, _descriptor: Option<u64>, _memory: (u64, u64)) {}

    /// Notes that the program has attached a segment of System V's shared memory.
    fn attaches(&self, _thread: &mut Thread, _memory: (u64, u64)) {}

    /// Guest memory, start and length, has moved.
    fn moved(&self, _old: (u64, u64), _new: (u64, u64)) {}

    /// The program has made a ring that the kernel looks at by itself.
    fn makes_polled_ring(&self, _process: &Process) {}

    // The process.

    /// The process is about to make another.
    fn forks(&self) {}

    /// Every lock of the client, so that a forked child finds nothing half done by a thread it does not have.
    fn hold(&self) -> Box<dyn Held + '_> {
        Box::new(())
    }

    /// Begins a forked child, in which there are no other threads.
    fn forked(&self, _thread: &mut Thread) {}

    /// The program `path` takes this one's place, and is given these texts, address and length.
    fn executes(&self, _process: &Process, _path: &Path, _texts: &[(u64, u64)]) {}

    /// The line of the tree's book about a program that is executed natively.
    fn native_program(&self, _program: &Path) -> String {
        String::new()
    }

    /// The program has ended; the exit status to be given instead of its own, if there is one.
    fn finish_program(&self, _thread: &mut Thread, _end: ProgramEnd) -> Option<i32> {
        None
    }
}

/// Client that wants nothing.
pub(crate) struct Nobody;

impl Client for Nobody {}
