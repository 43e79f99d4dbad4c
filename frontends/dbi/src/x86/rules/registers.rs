//! Places of a rule's values while it is emitted: in registers of the caller, in temporaries, or still in memory.
//!
//! A temporary is given back when its value was read for the last time. A value that came from memory may be dropped and
//! loaded again. Knows no instruction but plain moves.

use super::super::asm::Asm;
use super::super::vector::{Mem, Place};
use super::template::{self, Node, Step, Template, V};
use super::{Constants, Job, Rest};

/// A value's whereabouts.
#[derive(Clone, Copy, Debug, Default)]
struct Value {
    /// The register it is in.
    register: Option<u8>,
    /// Memory it can be had from again, and how many bytes of it.
    memory: Option<(Mem, u8)>,
    /// Reads to come.
    uses: u8,
    /// The register is zero beyond the width of the operation.
    clean: bool,
}

/// All values of a rule.
pub(super) struct Registers<'a> {
    values: Vec<Value>,
    template: &'a Template,
    /// Registers that may be written.
    pool: Vec<u8>,
    /// Registers nobody may touch.
    reserved: Vec<u8>,
    /// Memory for registers taken from the caller, as far as not in use.
    spill: Vec<Mem>,
    /// Registers taken from the caller and where they are kept.
    taken: Vec<(u8, Mem)>,
    /// Registers that were written, and not put back, as a mask.
    written: u32,
}

impl<'a> Registers<'a> {
    /// At the start of a rule. `constant` is how many bytes of a constant are loaded, `spill` where others' registers
    /// may be saved.
    pub(super) fn new(
        job: &Job,
        template: &'a Template,
        constants: Constants,
        constant: u8,
        spill: &[Mem],
    ) -> Self {
        let mut pool = job.temps.to_vec();
        if !job.preserves {
            pool.extend((0..32).filter(|n| job.copies >> n & 1 == 1));
        }
        let is_given = |register| job.x.iter().chain(job.shadows).any(|&place| place == Place::Reg(register));
        // What is to be kept of the destination makes it useless as a temporary.
        if job.rest == Rest::Zero && !(job.preserves && is_given(job.to)) {
            pool.push(job.to);
        }
        let place = |place, shadow| match place {
            Place::Reg(register) => Value {
                register: Some(register),
                clean: shadow && job.clean >> register & 1 == 1,
                ..Value::default()
            },
            Place::Mem(mem) => Value { memory: Some((mem, job.width)), clean: true, ..Value::default() },
        };
        let values = template.nodes.iter().map(|&node| match node {
            Node::Operand(i) => place(job.x[usize::from(i)], false),
            Node::Shadow(i) => place(job.shadows[usize::from(i)], true),
            Node::Result => place(job.r, false),
            Node::Low(i) => place(job.low[usize::from(i)], false),
            Node::Constant(c) => {
                Value { memory: Some((constants.vector(c, job.format), constant)), ..Value::default() }
            }
            Node::Verb(_) | Node::Select(..) => Value::default(),
        });
        let mut values: Vec<Value> = values.collect();
        let read = template.steps.iter().flat_map(|step| template::operands(&template.tests, step));
        for v in read.chain([template.result]) {
            values[usize::from(v.0)].uses += 1;
        }
        let given =
            job.x.iter().chain(job.shadows).chain(job.low).chain([&job.r]).filter_map(|place| match place {
                Place::Reg(register) => Some(*register),
                Place::Mem(_) => None,
            });
        let reserved = given.chain(job.temps.iter().copied()).chain([job.to]).collect();
        let (spill, written) = (spill.to_vec(), 1 << job.to);
        Registers { values, template, pool, reserved, spill, taken: Vec::new(), written }
    }

    /// The registers that were written for good.
    pub(super) fn written(&self) -> u32 {
        self.taken.iter().fold(self.written, |mask, &(register, _)| mask & !(1 << register))
    }

    fn value(&self, v: V) -> &Value {
        &self.values[usize::from(v.0)]
    }

    /// The register a value is in, if it is in one.
    pub(super) fn of(&self, v: V) -> Option<u8> {
        self.value(v).register
    }

    /// The memory a value can be read from.
    pub(super) fn memory(&self, v: V) -> Option<Mem> {
        self.value(v).memory.map(|(mem, _)| mem)
    }

    /// Tells whether the value's register is zero beyond the width of the operation.
    pub(super) fn is_clean(&self, v: V) -> bool {
        self.value(v).clean
    }

    /// Tells whether nothing reads `v` after `step`.
    pub(super) fn dies(&self, v: V, step: &Step) -> bool {
        let here = template::operands(&self.template.tests, step).filter(|&read| read == v).count();
        usize::from(self.value(v).uses) == here
    }

    /// Counts the reads of `step` as done.
    pub(super) fn consume(&mut self, step: &Step) {
        for v in template::operands(&self.template.tests, step) {
            self.values[usize::from(v.0)].uses -= 1;
        }
    }

    /// Tells whether a register holds a value that will be read.
    pub(super) fn is_busy(&self, register: u8) -> bool {
        self.values.iter().any(|value| value.register == Some(register) && value.uses > 0)
    }

    /// Tells whether `register` is one that may be written once its value is not needed.
    pub(super) fn is_mine(&self, register: u8) -> bool {
        self.pool.contains(&register)
    }

    /// Tells whether `register` may be written now.
    pub(super) fn is_free(&self, register: u8) -> bool {
        self.pool.contains(&register) && !self.is_busy(register)
    }

    /// `register` holds `v` from now on, and nothing else.
    pub(super) fn define(&mut self, v: V, register: u8, clean: bool) {
        self.forget(register);
        self.written |= 1 << register;
        let value = &mut self.values[usize::from(v.0)];
        (value.register, value.clean) = (Some(register), clean);
    }

    /// Forgets the content of `register`.
    pub(super) fn forget(&mut self, register: u8) {
        for value in &mut self.values {
            if value.register == Some(register) {
                value.register = None;
            }
        }
    }

    /// The register of `v`, which is loaded if need be, without touching those of `pinned`; it is pinned then.
    pub(super) fn load(&mut self, asm: &mut Asm, v: V, pinned: &mut Vec<u8>) -> u8 {
        let register = self.of(v).unwrap_or_else(|| {
            let (mem, bytes) = self.value(v).memory.expect("a value that is needed is somewhere");
            let register = self.acquire(asm, pinned);
            asm.vector_load(register, mem, bytes);
            let clean = self.value(v).clean;
            self.define(v, register, clean);
            register
        });
        pinned.push(register);
        register
    }

    /// A register to write to that is none of `pinned`: a free one, one whose value can be loaded again, or one of the
    /// caller's, saved.
    pub(super) fn acquire(&mut self, asm: &mut Asm, pinned: &[u8]) -> u8 {
        let free = self.pool.iter().copied().find(|r| self.is_free(*r) && !pinned.contains(r));
        let register = free.or_else(|| self.evictable(pinned)).unwrap_or_else(|| self.take(asm));
        self.forget(register);
        self.written |= 1 << register;
        register
    }

    fn evictable(&self, pinned: &[u8]) -> Option<u8> {
        let again = |r: u8| {
            let mut held = self.values.iter().filter(|value| value.register == Some(r) && value.uses > 0);
            held.all(|value| value.memory.is_some())
        };
        self.pool.iter().copied().find(|r| !pinned.contains(r) && again(*r))
    }

    /// Saves a shadow register that the rule has nothing to do with.
    fn take(&mut self, asm: &mut Asm) -> u8 {
        let slot = self.spill.pop().expect("temporaries or spill slots for the rule");
        let register = (16..30).find(|r| !self.reserved.contains(r)).expect("a register to save");
        asm.vector_store(slot, register, 64);
        self.reserved.push(register);
        self.pool.push(register);
        self.taken.push((register, slot));
        register
    }

    /// Gives back what was taken from the caller.
    pub(super) fn restore(&self, asm: &mut Asm) {
        for &(register, slot) in &self.taken {
            asm.vector_load(register, slot, 64);
        }
    }
}
