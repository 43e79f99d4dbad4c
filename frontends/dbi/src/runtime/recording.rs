//! Recording: what becomes of a thread's records, and of the code that writes them.

use super::buffers::Circumstances;
use super::shadowed::Shadowed;
use super::{Tool, sweep};
use crate::engine::chaos;
use crate::engine::thread::Thread;
use crate::x86::mirror::Watched;

/// Number of looks at records of which one sweeps where what is rare is wanted.
const SWEEPS: u64 = 16;

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
    if thread.context.staging.open != 0 {
        tool.carrier.close_record(recorder.thread, &mut thread.context.staging);
    }
    if thread.mailbox.recording.is_empty() {
        return;
    }
    if tool.carrier.replay_records(recorder.thread) || chaos::up_to(SWEEPS) == Some(1) {
        sweep::sweep(thread);
    }
    if thread.may_forget() {
        look_again(thread, tool);
    }
}

/// Has the next executions of operations that have erred for the first time run out of line, where that was found too late to
/// see how the program came there.
fn look_again(thread: &mut Thread, tool: &Tool) {
    let Some(watch) = tool.policy().watch else { return };
    for site in tool.carrier.noted_first() {
        let pc = tool.session.address(site).filter(|_| !tool.session.knows_stack(site));
        let shadowed = Shadowed::of_mut(&mut thread.client_state);
        let place = pc.zip(shadowed).and_then(|(pc, shadowed)| shadowed.out_of_line.watch_again(pc, watch));
        let Some(place) = place else { continue };
        thread.translator.watch(place[0], Watched::Always);
        thread.cache.forget_around(place);
    }
}

/// Begins a forked child: other threads do not exist here.
pub(super) fn forked(thread: &Thread) {
    let recorder = Shadowed::of(&thread.client_state).and_then(|shadowed| shadowed.recorder.as_ref());
    if let (Some(tool), Some(recorder)) = (Tool::of(thread.process), recorder) {
        tool.carrier.forget_others(recorder.thread);
    }
}
