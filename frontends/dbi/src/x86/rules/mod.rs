//! Shadow rules as machine code: TABLE 1's arithmetic rows beside the guest's instructions.
//!
//! `template` turns a row into a list of verbs; `evex` and `vex` turn that into instructions, with registers by
//! `registers`. Nothing here knows an operation: what is emitted follows from the row. The caller says where operands,
//! shadows and result are; it knows the guest's instruction and orders rule and instruction.
//!
//! **Bits.** Emitted code computes what the shadow's own `Inline::eval` computes, bit for bit, but that a NaN may be any NaN.
//!
//! **Exceptions.** With [`Binding::Evex`] no MXCSR flag is raised and rounding is to nearest whatever MXCSR says; of
//! MXCSR only DAZ and FTZ have an effect. With [`Binding::Vex`] flags are raised and the rounding mode of the moment
//! is used: who needs precision there brackets the rule. General registers are never touched, nor EFLAGS but by
//! [rules that speculate](emit_speculative).

mod constants;
mod convert;
mod evex;
mod facts;
mod function;
mod registers;
mod template;
#[cfg(test)]
mod tests;
mod vex;

use shadowgrind_core::format::Format;
use shadowgrind_core::inline::Inline;
use shadowgrind_core::ops::{MAX_OPERANDS, Op};

use super::asm::{Asm, Rel32};
use super::vector::{Length, Mem, Place};
pub(crate) use constants::{Constants, constant_bytes};
pub(crate) use convert::{Conversion, convert, mark_double};
use facts::{Facts, Table};
pub(crate) use function::{WrappedCall, emit_function};
use template::Template;

/// Instructions that may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Binding {
    /// AVX-512 F, VL and DQ: registers 16 … 31 and masks; quiet.
    Evex,
    /// AVX2 and FMA: registers 0 … 15; raises flags.
    Vex,
}

/// Fate of the destination beyond the width of the operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rest {
    /// Zero, up to 64 bytes.
    Zero,
    /// Left as it is: up to 64 bytes with `Evex`, up to 32 with `Vex`, which clears what is above.
    Keep,
    /// The low 16 bytes of it stay as they are; what is above them may stay or become zero. For scalar operations.
    Low,
}

/// Maker of a rule with products that are added unasked.
type Speculative = fn(Op, [[u8; MAX_OPERANDS]; 2], u8) -> Option<Template>;

/// Maker of none.
const NEVER: Speculative = |_, _, _| None;

/// The rule of a shadow, as code is made of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InlineRule {
    template: fn(Op, [[u8; MAX_OPERANDS]; 2], u8) -> Template,
    facts: &'static Table,
    /// The rule with products that are added unasked, where it has such.
    speculative: Speculative,
    /// Template and facts of the rule for long doubles in two parts.
    template_in_parts: fn(Op, [[u8; MAX_OPERANDS]; 2], u8) -> Template,
    facts_in_parts: &'static Table,
}

/// Facts of rules, of questions beside comparisons, and of those before operations.
static FACTS: [Table; 3] = [const { Table::new() }; 3];
/// Facts of these for long doubles in two parts.
static FACTS_IN_PARTS: [Table; 3] = [const { Table::new() }; 3];

impl InlineRule {
    /// The rule of shadow `S`.
    pub(crate) const fn of<S: Inline>() -> Self {
        InlineRule {
            template: Template::of::<S>,
            facts: &FACTS[0],
            speculative: Template::speculative::<S>,
            template_in_parts: Template::of_parts::<S>,
            facts_in_parts: &FACTS_IN_PARTS[0],
        }
    }

    /// Question of shadow `S` beside a comparison, as a rule of the operands' difference.
    pub(crate) const fn of_doubt<S: Inline>() -> Self {
        InlineRule {
            template: Template::of_doubt::<S>,
            facts: &FACTS[1],
            speculative: NEVER,
            template_in_parts: Template::of_parts_doubt::<S>,
            facts_in_parts: &FACTS_IN_PARTS[1],
        }
    }

    /// Question of shadow `S` before an operation.
    pub(crate) const fn of_suspicion<S: Inline>() -> Self {
        InlineRule {
            template: Template::of_suspicion::<S>,
            facts: &FACTS[2],
            speculative: NEVER,
            template_in_parts: Template::of_parts_suspicion::<S>,
            facts_in_parts: &FACTS_IN_PARTS[2],
        }
    }

    /// Template for `op` on operands and shadows that are in places of their own.
    fn plain(self, op: Op) -> Template {
        (self.template)(op, [DISTINCT; 2], 0)
    }

    /// Facts of [`plain`](InlineRule::plain).
    fn facts(self, op: Op) -> Facts {
        self.facts.get(self.template as usize, op, || {
            Facts::of(&self.plain(op), self.speculation(op, [DISTINCT; 2], 0).is_some())
        })
    }

    /// The rule with products that are added unasked, where that saves more than the question that it takes.
    fn speculation(self, op: Op, same: [[u8; MAX_OPERANDS]; 2], absent: u8) -> Option<Template> {
        /// Instructions of it.
        const QUESTION: usize = 2;
        let template = (self.speculative)(op, same, absent)?;
        let asks = (self.template)(op, same, absent).instructions();
        (template.instructions() + QUESTION < asks).then_some(template)
    }

    /// The rule for long doubles in two parts each.
    pub(crate) const fn in_parts(self) -> Self {
        let (template, facts) = (self.template_in_parts, self.facts_in_parts);
        InlineRule { template, facts, speculative: NEVER, ..self }
    }

    /// Tells whether the rule of an arithmetic `op` reads the guest's result.
    pub(crate) fn needs_result(self, op: Op) -> bool {
        self.facts(op).reads_result()
    }

    /// Tells whether the rule of an arithmetic `op` reads operand `i`.
    pub(crate) fn needs_operand(self, op: Op, i: usize) -> bool {
        self.facts(op).reads_operand(i)
    }

    /// Vector registers that [`Job::temps`] has to have for an arithmetic `op` with [`Binding::Vex`].
    pub(crate) fn temporaries(self, op: Op) -> usize {
        const LEAST: usize = 3;
        /// For operands that are loaded, or a mask.
        const BESIDE: usize = 2;
        LEAST.max(self.facts(op).most_live() + BESIDE)
    }

    /// Tells whether the rule of `op` takes arithmetic alone, for some operands at least: for others it says NaN.
    pub(crate) fn is_arithmetic(self, op: Op) -> bool {
        self.facts(op).is_known()
    }
}

/// One rule to emit. Registers given as operands, shadows and result are left as they are, but for `to` and copies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job<'a> {
    /// The shadow's.
    pub(crate) rule: InlineRule,
    /// An arithmetic row.
    pub(crate) op: Op,
    /// F32 or F64.
    pub(crate) format: Format,
    /// Bytes of the guest's operands: those of a lane for a scalar operation, or 16, 32 (or, with `Evex`, 64).
    pub(crate) width: u8,
    /// The operands, in the order of the row. What is above their width may be anything.
    pub(crate) x: &'a [Place],
    /// Registers of `x` that hold copies, as a mask: they are temporaries once they have been read.
    pub(crate) copies: u32,
    /// The shadows, likewise.
    pub(crate) shadows: &'a [Place],
    /// A bit for each shadow that is known to be absent; it is not read. The rule is shorter then. A shadow of −0 is kept where
    /// adding nothing to it would have made it +0, and so may be an infinity of the other sign that is made of it.
    pub(crate) absent: u8,
    /// The guest's result; read only if the rule [needs](InlineRule::needs_result) it.
    pub(crate) r: Place,
    /// Second parts of all operands, and of the result; none but for rules [in parts](InlineRule::in_parts).
    pub(crate) low: &'a [Place],
    /// Register for the result's shadow; may be one of `shadows`, and is none of the temporaries.
    pub(crate) to: u8,
    /// The fate of `to` beyond the width.
    pub(crate) rest: Rest,
    /// Vector registers to clobber: two at least with `Evex`, [as many as it takes](InlineRule::temporaries) with `Vex`.
    pub(crate) temps: &'a [u8],
    /// Registers of `shadows` that are zero beyond the width, as a mask. Only `Vex` asks.
    pub(crate) clean: u32,
    /// Mask registers to clobber, of 1 … 7; three at least with `Evex`.
    pub(crate) masks: &'a [u8],
    /// A mask register whose lowest bits are set, one for each lane of `width`, and no others. Without it, where it is
    /// needed (scalars, `Rest::Keep`), the rule loads one.
    pub(crate) lanes: Option<u8>,
    /// Operands and shadows stay what they are until the result is known, be they copies or in `to`.
    pub(crate) preserves: bool,
    /// Memory of 64 bytes each for `Evex` to save further registers when temporaries do not suffice.
    pub(crate) spill: &'a [Mem],
}

impl<'a> Job<'a> {
    /// The rule of an operation on `width` bytes of floats, which are `x` and have these shadows: into register `to`, zero beyond
    /// the width. It reads no result and takes nothing but temporaries; what differs is to be set.
    pub(crate) fn of(
        (rule, op): (InlineRule, Op),
        (format, width): (Format, u8),
        [x, shadows]: [&'a [Place]; 2],
        to: u8,
        temps: &'a [u8],
    ) -> Job<'a> {
        Job {
            rule,
            op,
            format,
            width,
            x,
            copies: 0,
            shadows,
            absent: 0,
            r: Place::Reg(to),
            low: &[],
            to,
            rest: Rest::Zero,
            temps,
            clean: 0,
            masks: &[],
            lanes: None,
            preserves: false,
            spill: &[],
        }
    }

    /// Tells whether it works on one lane.
    fn is_scalar(&self) -> bool {
        usize::from(self.width) == self.format.bytes()
    }

    /// The length of the guest's operation.
    fn length(&self) -> Length {
        if self.is_scalar() { Length::Scalar } else { Length::of(self.width) }
    }

    /// Lanes it works on.
    pub(crate) fn count(&self) -> u8 {
        self.width / self.format.bytes() as u8
    }

    /// The rule, with operands and shadows that are in one place taken as one value.
    fn template(&self) -> Template {
        (self.rule.template)(self.op, self.same(), self.absent)
    }

    /// Tells whether the rule is better [emitted](emit_speculative) with products that are added unasked.
    pub(crate) fn speculates(&self) -> bool {
        if !self.is_scalar() || !self.rule.facts(self.op).speculates() {
            return false;
        }
        let same = self.same();
        let is_plain = (same, self.absent) == ([DISTINCT; 2], 0);
        is_plain || self.rule.speculation(self.op, same, self.absent).is_some()
    }

    /// For each operand, and for each shadow, the first that is in the same place.
    fn same(&self) -> [[u8; MAX_OPERANDS]; 2] {
        let count = self.op.arity();
        assert!(
            self.x.len() == count && self.shadows.len() == count,
            "{count} operands for {}",
            self.op.name()
        );
        let same = |places: &[Place]| {
            let first = |i: usize| places.get(i).and_then(|place| places.iter().position(|p| p == place));
            std::array::from_fn(|i| first(i).unwrap_or(i) as u8)
        };
        [same(self.x), same(self.shadows)]
    }
}

/// Each operand a value of its own.
const DISTINCT: [u8; MAX_OPERANDS] = [0, 1, 2];

/// Appends the rule. Returns the vector registers it has written, as a mask.
///
/// # Panics
/// For an op that is no arithmetic row, and where registers do not suffice.
pub(crate) fn emit(asm: &mut Asm, binding: Binding, job: &Job, constants: &Constants) -> u32 {
    let template = job.template();
    match binding {
        Binding::Evex => evex::emit(asm, job, &template, *constants),
        Binding::Vex => vex::emit(asm, job, &template, *constants, vex::Wanted::Placed).written,
    }
}

/// Registers that a rule has written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Written {
    /// All of them, as a mask.
    pub(crate) written: u32,
    /// The one with the result's shadow.
    pub(crate) result: u8,
    /// The question whether that is to be computed anew.
    pub(crate) question: Option<Question>,
}

/// A question in the code of a rule [that speculates](emit_speculative).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Question {
    /// The jump to be patched, to code that computes the rule anew, and then goes on behind the jump.
    pub(crate) jump: Rel32,
    /// The register for the result of that, in its lanes, and zero above.
    pub(crate) to: u8,
}

impl Question {
    /// The address of the code behind the jump.
    pub(crate) const fn onwards(&self) -> u64 {
        self.jump.0 + 4
    }
}

/// Appends the rule with [`Binding::Vex`]. The shadow of the result may be left in a temporary.
///
/// # Panics
/// As [`emit`].
pub(crate) fn emit_anywhere(asm: &mut Asm, job: &Job, constants: &Constants) -> Written {
    vex::emit(asm, job, &job.template(), *constants, vex::Wanted::Anywhere)
}

/// Appends the rule with [`Binding::Vex`] as [`emit_anywhere`] does, but with products that are added unasked, and with a jump where
/// the result is NaN, to what [`emit_anew`] makes. EFLAGS are overwritten.
///
/// # Panics
/// As [`emit`], and for a rule of which there is no such version ([`Job::speculates`]).
pub(crate) fn emit_speculative(asm: &mut Asm, job: &Job, constants: &Constants) -> Written {
    let template = (job.rule.speculative)(job.op, job.same(), job.absent).expect("a sum of products");
    vex::emit(asm, &Job { preserves: true, ..*job }, &template, *constants, vex::Wanted::Asked)
}

/// Appends the rule for a `question` of its speculative version, whose registers are as they are there; they are again at the end, but
/// for the result's. `slots` is memory of 64 bytes each to save registers, so many `bytes` of each.
///
/// # Panics
/// As [`emit`].
pub(crate) fn emit_anew(
    asm: &mut Asm,
    job: &Job,
    question: Question,
    constants: &Constants,
    slots: &[Mem],
    bytes: u8,
) {
    let named = job.x.iter().chain(job.shadows).chain([&job.r]);
    let used = named.fold(1 << question.to | 1 << job.to, |mask: u32, place| match place {
        Place::Reg(register) => mask | 1 << register,
        Place::Mem(_) => mask,
    });
    let temps: Vec<u8> = (0..16).filter(|n| used >> n & 1 == 0).take(job.rule.temporaries(job.op)).collect();
    assert!(temps.len() <= slots.len(), "{} takes {} registers", job.op.name(), temps.len());
    for (&temp, &slot) in temps.iter().zip(slots) {
        asm.vector_store(slot, temp, bytes);
    }
    emit(
        asm,
        Binding::Vex,
        &Job { to: question.to, rest: Rest::Zero, copies: 0, temps: &temps, ..*job },
        constants,
    );
    for (&temp, &slot) in temps.iter().zip(slots) {
        asm.vector_load(temp, slot, bytes);
    }
}
