//! A child with memory of its own: this process over again.

use super::{CLONE_CLEAR_SIGHAND, CloneArgs, RETIRED};
use crate::engine::handed::Handed;
use crate::engine::process::Process;
use crate::engine::syscalls::call::Answer;
use crate::engine::syscalls::queued;
use crate::engine::thread::Thread;
use crate::engine::{alloc, arena, first_touch, shared_planes, stats, sys};
use std::sync::atomic::Ordering;

/// A child with a copy of the memory: continues here, alone.
pub(super) fn fork(thread: &mut Thread, args: &CloneArgs) -> Answer {
    let flags = args.flags & !(libc::CLONE_SETTLS as u64 | CLONE_CLEAR_SIGHAND);
    // The memory of code is shared between its two views, and so would be with the child.
    thread.cache.share();
    let result = {
        let _locks = hold_all_locks(thread.process);
        match args.extended {
            None => {
                let words = [flags | args.exit_signal, 0, args.parent_tid, args.child_tid, 0, 0];
                // SAFETY: the child has its own memory and continues on its copy of this stack.
                unsafe { sys::syscall(libc::SYS_clone as u64, words) }
            }
            Some(extra) => {
                let words = extra.words(args, flags, (0, 0), 0);
                let args = [words.as_ptr() as u64, size_of_val(&words) as u64, 0, 0, 0, 0];
                // SAFETY: as above.
                unsafe { sys::syscall(libc::SYS_clone3 as u64, args) }
            }
        }
    };
    if result == 0 {
        become_child(thread, args);
    }
    Answer::Value(result)
}

/// Every lock of the engine, so that a forked child finds nothing half done by a thread it does not have. In the
/// order in which they are nested elsewhere.
fn hold_all_locks(process: &Process) -> impl Sized {
    let client = process.client.hold();
    let handed = process.handed.as_ref().map(Handed::hold);
    let heap = process.heap.lock();
    let space = process.space.lock();
    let changes = process.changes.hold();
    let threads = process.threads.hold();
    let retired = RETIRED.lock();
    let stats = stats::hold();
    let shared = shared_planes::hold();
    let arena = arena::hold();
    let rings = queued::hold();
    // Last: everything above may allocate.
    let allocator = alloc::hold_for_fork();
    (allocator, rings, arena, shared, stats, retired, threads, changes, space, heap, handed, client)
}

/// Makes the thread the only one of the child.
fn become_child(thread: &mut Thread, args: &CloneArgs) {
    thread.process.forked.store(true, Ordering::SeqCst);
    thread.context.forget_counts();
    thread.process.handed.iter().for_each(Handed::forked);
    first_touch::forked();
    thread.client().forked(thread);
    thread.process.threads.keep_only(&thread.handle);
    // Carriers of threads that do not exist here may be in any state.
    RETIRED.lock().clear();
    thread.handle.announce();
    thread.own_process = false;
    thread.user_dispatch = None;
    if !args.has(libc::CLONE_FILES) {
        thread.descriptors = thread.descriptors.duplicate();
    }
    thread.descriptors.clone().make_that_of_process();
    begin_as(thread, args);
}

/// Gives the child the state that was asked for, where that is not the parent's.
fn begin_as(thread: &mut Thread, args: &CloneArgs) {
    if args.clears_handlers() {
        thread.signals.actions.clear_handlers();
    }
    if args.has(libc::CLONE_SETTLS) {
        thread.context.guest_fs = args.tls;
    }
    if args.stack_pointer != 0 {
        thread.context.regs[crate::context::reg::RSP] = args.stack_pointer;
    }
}
