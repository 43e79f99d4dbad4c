//! What forward derivatives make of inputs, outputs and mathematical functions.

use super::observer::{Applied, Kept, Observer, Word, value};
use crate::hooks::abi::Float;
use crate::hooks::machine::Machine;
use shadowgrind_core::findings::Value;
use shadowgrind_core::ops::MAX_OPERANDS;
use shadowgrind_core::site::Site;
use shadowgrind_shadows::dot;

/// The observer of `--shadow=dot`. Derivatives are the machine's to keep; a kept one is its bits.
#[derive(Debug, Default)]
pub(crate) struct DotObserver;

impl Observer for DotObserver {
    fn output(&mut self, m: &mut dyn Machine, _: u64, _: Site, x: Float, _: bool) -> (Value, Word) {
        let dot = m.dot(x.location, x.format, x.bits);
        let dot = Value::new(x.format, &x.format.from_f64(dot).to_le_bytes());
        (value(x), Word::Dot(dot))
    }

    fn seed(&mut self, m: &mut dyn Machine, x: Float, weight: f64) {
        m.set_dot(x.location, x.format, x.bits, weight);
    }

    fn keep(&mut self, m: &mut dyn Machine, x: Float) -> Kept {
        Kept(m.dot(x.location, x.format, x.bits).to_bits())
    }

    /// Of constants every function makes constants, however it goes about it: most calls need not return here.
    fn wraps(&mut self, kept: &[Kept]) -> bool {
        kept.iter().any(|kept| f64::from_bits(kept.0) != 0.0)
    }

    fn function(&mut self, m: &mut dyn Machine, applied: &Applied<'_>) {
        let result = applied.result;
        let count = applied.x.len().min(MAX_OPERANDS);
        let (mut x, mut dots) = ([0.0; MAX_OPERANDS], [0.0; MAX_OPERANDS]);
        for i in 0..count {
            x[i] = result.format.to_f64(applied.x[i]);
            dots[i] = f64::from_bits(applied.kept[i].0);
        }
        let r = result.format.to_f64(result.bits);
        let dot = dot::eval(result.format, applied.op, &x[..count], r, &dots[..count]);
        m.set_dot(result.location, result.format, result.bits, dot);
    }

    fn dot(&mut self, m: &mut dyn Machine, x: Float) -> Option<f64> {
        Some(m.dot(x.location, x.format, x.bits))
    }

    fn set_dot(&mut self, m: &mut dyn Machine, x: Float, dot: f64) -> bool {
        m.set_dot(x.location, x.format, x.bits, dot);
        true
    }

    fn is_shadowed(&mut self, m: &mut dyn Machine, x: Float) -> bool {
        m.dot(x.location, x.format, x.bits) != 0.0
    }
}
