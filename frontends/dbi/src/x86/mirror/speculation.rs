//! Rules that speculate, without AVX-512: products with shadows are added without asking whether there is a shadow, and in cold code the
//! rule is computed anew, with all its questions, if the result is NaN.
//!
//! That takes the flags, which the guest must not need. Knows nothing of when such a rule pays: that is for [`rules`].

use super::At;
use crate::context::{ANEW_SLOTS, Context};
use crate::x86::asm::Asm;
use crate::x86::emit::Emitter;
use crate::x86::rules::{self, Constants, Job, Question, Written};
use crate::x86::vector::Mem;

/// Appends the rule without AVX-512, which `speculates` or does not.
pub(super) fn emit(asm: &mut Asm, job: &Job<'_>, constants: &Constants, speculates: bool) -> Written {
    let emit = if speculates { rules::emit_speculative } else { rules::emit_anywhere };
    emit(asm, job, constants)
}

impl Emitter {
    /// Tells whether the instruction's rule had better speculate, and may overwrite the flags.
    pub(super) fn speculates(&mut self, at: At<'_>, job: &Job<'_>) -> bool {
        self.mirror().liveness.flags_are_dead(at.index) && job.speculates()
    }

    /// Cold code for the question of a rule that has speculated.
    pub(super) fn compute_anew(&mut self, job: &Job<'_>, question: Question) {
        let start = self.out.cold.here();
        self.out.hot.patch(question.jump, start);
        let slot = |place: u32| Mem::rip(self.frame.field(Context::OFFSET_ANEW + 64 * place));
        let slots: Vec<Mem> = (0..ANEW_SLOTS as u32).map(slot).collect();
        let (bytes, constants) = (self.shadow_bytes(), Constants::at(self.mirror().settings.constants));
        let number = self.begin_cold_rule(false);
        rules::emit_anew(&mut self.out.cold, job, question, &constants, &slots, bytes);
        self.end_cold_rule(number, false);
        self.out.cold.jmp(question.onwards());
    }
}
