//! Arithmetic: the shadow's rule beside the guest's operation.

use super::At;
use crate::x86::emit::Emitter;
use crate::x86::table::Shape;
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::Op;

impl Emitter {
    pub(super) fn arithmetic(
        &mut self,
        at: At<'_>,
        _op: Op,
        _terms: Option<[u8; 3]>,
        _format: Format,
        _shape: Shape,
    ) {
        if self.mirror().settings.records { self.solo(at) } else { self.guarded(at) }
    }

    pub(super) fn conversion(&mut self, at: At<'_>, widens: bool, _shape: Shape) {
        if self.mirror().settings.records && !widens { self.solo(at) } else { self.guarded(at) }
    }
}
