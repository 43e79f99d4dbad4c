//! Instructions under a mask of AVX-512's: steps of each lane run where the mask lets it through; another lane of the destination stays,
//! or becomes zero.
//!
//! Knows lanes by where their results go. Moves and gathers have the mask as a control, and are not for this.

use super::build::{Build, Why};
use super::complete::Completion;
use crate::x86::rows;
use crate::x86::state;
use crate::x86::table::Row;
use shadowgrind_core::step::{Place, Step};

/// A step, and the number of the lane that it is for, if it is for one.
type Laned = (Option<u16>, Step);

/// The lanes of a destination.
#[derive(Clone, Copy)]
struct Lanes {
    to: Option<Place>,
    /// Bytes of one.
    width: u16,
    /// Bytes of all.
    bytes: u16,
}

/// Has the steps that `build` has so far run under the instruction's mask, if it has one.
pub(super) fn guarded(build: &mut Build<'_>, row: Row) -> Result<(), Why> {
    let Some(mask) = build.mask() else { return Ok(()) };
    let steps = std::mem::take(&mut build.out.lowered.steps);
    let is_vector = !build.is_register(0) || build.insn.op0_register().is_vector_register();
    let to = if is_vector { Some(build.place(0)?) } else { None };
    let width = lane_bytes(build, row, &steps);
    let lanes = Lanes { to, width, bytes: build.width(0).min(build.elements() * width) };
    let (mut laned, mut next) = (Vec::new(), 0);
    for step in steps {
        lanes.split(step, build.merges(), &mut next, &mut laned)?;
    }
    let count = laned.iter().filter_map(|&(lane, _)| Some(lane? + 1)).max().unwrap_or(0);
    let flags = build.out.lowered.reserve(2 * count);
    build.complete(Completion::Mask { mask, count, flags });
    for (lane, step) in laned {
        if let Some(lane) = lane {
            build.step(Step::Unless { flag: flags + lane, skip: 1 });
        }
        build.step(step);
    }
    if let Some(to) = to.filter(|_| !build.merges()) {
        for lane in 0..count {
            build.step(Step::Unless { flag: flags + count + lane, skip: 1 });
            build.clear(to.plus(lane * lanes.width), lanes.width);
        }
    }
    Ok(())
}

/// Bytes of a lane of the result.
fn lane_bytes(build: &Build<'_>, row: Row, steps: &[Step]) -> u16 {
    let of_step = |step: &Step| match step {
        Step::Op { to, .. } | Step::Widen { to, .. } => Some(to.bytes() as u16),
        Step::Bits { lane, .. } => Some(lane.bytes() as u16),
        _ => None,
    };
    match (steps.iter().find_map(of_step), row) {
        (Some(bytes), _) => bytes,
        (None, Row::FromInteger(format, _)) => format.bytes() as u16,
        (None, Row::ToInteger(..)) => {
            if rows::makes_wide_integers(build.insn) {
                8
            } else {
                4
            }
        }
        _ => build.insn.code().op_code().memory_size().element_size().max(1) as u16,
    }
}

impl Lanes {
    /// The lane whose result is at `place`: in the destination, or on the way there.
    fn at(self, place: Place) -> Option<u16> {
        let offset = match (place, self.to?) {
            (Place::State(at), _) if at >= state::SCRATCH => (at - state::SCRATCH) % state::VECTOR_BYTES,
            (Place::State(at), Place::State(to)) => at.checked_sub(to)?,
            (Place::Memory { operand, offset }, Place::Memory { operand: to, offset: first })
                if operand == to =>
            {
                offset.checked_sub(first)?
            }
            _ => return None,
        };
        (offset < self.bytes.max(state::VECTOR_BYTES)).then_some(offset / self.width)
    }

    /// Adds the step to `laned`, lane by lane. `merges`: other lanes stay. What decides, and leaves no float, has the lane number `next`.
    fn split(self, step: Step, merges: bool, next: &mut u16, laned: &mut Vec<Laned>) -> Result<(), Why> {
        const WHY: Why = "AVX-512 masks";
        match step {
            Step::Op { r, .. } | Step::Widen { r, .. } => {
                laned.push((Some(self.at(r.place).ok_or(WHY)?), step))
            }
            Step::Bits { by, x, r, bytes, lane } => {
                for at in (0..bytes).step_by(self.width.into()) {
                    let (x, r) = (x.map(|x| x.plus(at)), r.plus(at));
                    let number = self.at(r.place).ok_or(WHY)?;
                    laned.push((Some(number), Step::Bits { by, x, r, bytes: self.width, lane }));
                }
            }
            Step::Compare { .. } | Step::Integer { .. } => {
                laned.push((Some(*next), step));
                *next += 1;
            }
            Step::Clear { at, bytes } if merges && Some(at) == self.to => {
                let own = bytes.min(self.bytes);
                for lane in 0..own / self.width {
                    let at = at.plus(lane * self.width);
                    laned.push((Some(lane), Step::Clear { at, bytes: self.width }));
                }
                if bytes > own {
                    laned.push((None, Step::Clear { at: at.plus(own), bytes: bytes - own }));
                }
            }
            Step::Clear { .. } | Step::Copy { .. } | Step::Dropped { .. } => laned.push((None, step)),
            _ => return Err(WHY),
        }
        Ok(())
    }
}
