//! A thread's part in recording: its buffer, and how much of its code is known.

use super::Tool;
use crate::mailbox::Recording;

/// Recorder of one thread: its buffer's number, and the instructions whose operations it records.
pub(super) struct Recorder {
    /// The thread's number among those that record.
    pub(super) thread: usize,
    /// Number of operations of its code that are known.
    pub(super) learned: usize,
}

impl Recorder {
    /// For a new thread; nothing if operations are not recorded, or there is no memory.
    pub(super) fn new(tool: &Tool, recording: &'static Recording) -> Option<Recorder> {
        Some(Recorder { thread: tool.carrier.add_buffer(recording)?, learned: 0 })
    }
}
