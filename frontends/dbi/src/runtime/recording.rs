//! Recording: what becomes of a thread's records, and of the code that writes them.

use super::buffers::Circumstances;
use super::shadowed::Shadowed;
use super::{Tool, sweep};
use crate::engine::chaos;
use crate::engine::thread::Thread;
use std::sync::atomic::Ordering;

/// Code was translated: what it records is given its site, before it runs.
pub(super) fn learn(thread: &mut Thread) {
    let Some(tool) = Tool::of(thread.process) else { return };
    let Some(recorder) =
        Shadowed::of_mut(&mut thread.client_state).and_then(|shadowed| shadowed.recorder.as_mut())
    else {
        return;
    };
    let Some(mirror) = thread.translator.mirror() else { return };
    let new = &mirror.recorded()[recorder.learned..];
    if new.is_empty() {
        return;
    }
    // The session's lock is not to be had under that of the shadow.
    let new: Vec<_> = new.iter().map(|&recorded| (recorded, tool.session.site(recorded.pc))).collect();
    tool.carrier.learn(recorder.thread, &new);
    recorder.learned += new.len();
}

/// The thread is about to enter translated code.
pub(super) fn begin(thread: &Thread) {
    let Some(shadowed) = Shadowed::of(&thread.client_state) else { return };
    if shadowed.recorder.is_some() {
        Circumstances::new(thread.context, shadowed.calls.is_formatting()).publish(&thread.mailbox.recording);
    }
}

/// Replays what the thread has recorded, and empties its buffer.
pub(super) fn replay(thread: &mut Thread) {
    let Some(tool) = Tool::of(thread.process) else { return };
    let Some(recorder) = Shadowed::of(&thread.client_state).and_then(|shadowed| shadowed.recorder.as_ref())
    else {
        return;
    };
    if thread.mailbox.recording.next.load(Ordering::Relaxed) == recorder.start {
        return;
    }
    if tool.carrier.replay_records(recorder.thread) || chaos::is_on() {
        sweep::sweep(thread);
    }
}

/// Begins a forked child: other threads do not exist here.
pub(super) fn forked(thread: &Thread) {
    let recorder = Shadowed::of(&thread.client_state).and_then(|shadowed| shadowed.recorder.as_ref());
    if let (Some(tool), Some(recorder)) = (Tool::of(thread.process), recorder) {
        tool.carrier.forget_others(recorder.thread);
    }
}
