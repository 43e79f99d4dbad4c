//! Memory operands: every address form, each aimed at mapped data.

use super::layout::{self, Window};
use super::sequence::{Gen, Pin};
use iced_x86::{MemoryOperand, Register};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Rip,
    Absolute,
    Registers,
    Stack,
    Segment(Register),
}

/// Parts of an effective address; the displacement is what remains.
struct Parts {
    base: Register,
    index: Register,
    scale: u32,
    sum: u64,
    addr32: bool,
}

impl Gen<'_> {
    /// An operand of `size` bytes at a multiple of `align`.
    pub(super) fn mem(&mut self, size: u64, align: u64) -> MemoryOperand {
        for _ in 0..20 {
            if let Some(mem) = self.try_mem(size, align) {
                return mem;
            }
        }
        let target = Window::of(layout::NEAR).aim(&mut self.rng, size, align);
        MemoryOperand::with_displ(target, 8)
    }

    fn try_mem(&mut self, size: u64, align: u64) -> Option<MemoryOperand> {
        let addr32 = self.rng.one_in(8);
        let mut mem = match self.pick_form() {
            Form::Rip => self.rip_relative(size, align, addr32)?,
            Form::Absolute => {
                let parts = Parts::nothing(addr32);
                let window = self.low_window(addr32);
                self.solve(&parts, window, 0, size, align)?
            }
            Form::Registers => {
                let (parts, window) = self.registers(addr32)?;
                self.solve(&parts, window, 0, size, align)?
            }
            Form::Stack => self.stack_operand(size, align)?,
            Form::Segment(segment) => self.segment_operand(segment, size, align, addr32)?,
        };
        if mem.segment_prefix == Register::None && self.rng.one_in(24) {
            // Ignored in 64-bit mode.
            mem.segment_prefix = self.rng.pick(&[Register::ES, Register::CS, Register::SS, Register::DS]);
        }
        Some(mem)
    }

    fn pick_form(&mut self) -> Form {
        match self.rng.below(16) {
            0..=3 => Form::Rip,
            4 => Form::Absolute,
            5 | 6 => Form::Stack,
            7 | 8 => Form::Segment(Register::FS),
            9 if self.profile.gs => Form::Segment(Register::GS),
            _ => Form::Registers,
        }
    }

    fn rip_relative(&mut self, size: u64, align: u64, addr32: bool) -> Option<MemoryOperand> {
        let region = self.rng.pick(self.profile.place.reachable());
        let target = Window::of(region).aim(&mut self.rng, size, align);
        let addr32 = addr32 && self.addr < 1 << 32;
        let base = if addr32 { Register::EIP } else { Register::RIP };
        Some(MemoryOperand::with_base_displ_size(base, target as i64, if addr32 { 4 } else { 8 }))
    }

    /// Window that absolute operands and small indices reach.
    fn low_window(&mut self, addr32: bool) -> Window {
        let region = if addr32 && self.rng.one_in(2) { layout::LOW } else { layout::NEAR };
        Window::of(region)
    }

    /// Base, base and index, or index alone, of pinned registers.
    fn registers(&mut self, addr32: bool) -> Option<(Parts, Window)> {
        let pins = self.pins.clone();
        let base = (!self.rng.one_in(5)).then(|| self.rng.pick(&pins));
        let index = (base.is_none() || self.rng.one_in(2)).then(|| self.rng.pick(&pins));
        let scale = self.rng.pick(&[1, 2, 4, 8]);
        let parts = Parts::of(base, index, scale, addr32);
        let window = match base.and_then(|b| b.window).filter(|_| !addr32) {
            Some(window) => window,
            None => self.low_window(addr32),
        };
        Some((parts, window))
    }

    /// Below rsp is the red zone; above it, in a function, the return address.
    fn stack_operand(&mut self, size: u64, align: u64) -> Option<MemoryOperand> {
        if align > 1 {
            return None;
        }
        let (low, high) = if self.in_function { (-0x180, -0x40 - size as i64) } else { (-0x180, 0x180) };
        let mut displ = self.rng.range(low, high);
        let indices: Vec<Pin> = self.pins.iter().copied().filter(|p| p.window.is_none()).collect();
        if self.rng.one_in(3) {
            let pin = self.rng.pick(&indices);
            let scale = self.rng.pick(&[1, 2, 4, 8]);
            displ -= pin.value as i64 * i64::from(scale);
            let size = self.displ_size(displ, false);
            let none = Register::None;
            return Some(MemoryOperand::new(Register::RSP, pin.reg, scale, displ, size, false, none));
        }
        Some(MemoryOperand::with_base_displ_size(Register::RSP, displ, self.displ_size(displ, false)))
    }

    fn segment_operand(
        &mut self,
        segment: Register,
        size: u64,
        align: u64,
        addr32: bool,
    ) -> Option<MemoryOperand> {
        let (region, base) = match segment {
            Register::FS => (layout::FS_BLOCK, layout::FS_BASE),
            _ => (layout::GS_BLOCK, layout::GS_BASE),
        };
        let indices: Vec<Pin> = self.pins.iter().copied().filter(|p| p.window.is_none()).collect();
        let pick = |g: &mut Self| g.rng.one_in(3).then(|| g.rng.pick(&indices));
        let (first, second) = (pick(self), pick(self));
        let scale = self.rng.pick(&[1, 2, 4, 8]);
        let parts = Parts::of(first, second, scale, addr32);
        let mut mem = self.solve(&parts, Window::of(region), base, size, align)?;
        mem.segment_prefix = segment;
        Some(mem)
    }

    /// Chooses a target within `window` and the displacement that reaches it, if one does.
    fn solve(
        &mut self,
        parts: &Parts,
        window: Window,
        segment_base: u64,
        size: u64,
        align: u64,
    ) -> Option<MemoryOperand> {
        let linear = self.near_target(parts, window, segment_base, size, align);
        let effective = linear.wrapping_sub(segment_base);
        let displ = effective.wrapping_sub(parts.sum) as i64;
        // With 32-bit addresses, what a bit offset or a segment shifts below zero comes out at 4 GB.
        let low = (0x100..1 << 32).contains(&effective);
        let reaches = if parts.addr32 { low } else { i32::try_from(displ).is_ok() };
        if !reaches {
            return None;
        }
        let displ = if parts.addr32 { i64::from(displ as i32) } else { displ };
        let mut size = self.displ_size(displ, parts.addr32);
        if parts.base == Register::None {
            size = if parts.addr32 { 4 } else { 8 };
        }
        let none = Register::None;
        Some(MemoryOperand::new(parts.base, parts.index, parts.scale, displ, size, false, none))
    }

    /// A third of the time within reach of an 8-bit displacement, if the registers point into the window at all.
    fn near_target(&mut self, parts: &Parts, w: Window, segment_base: u64, size: u64, align: u64) -> u64 {
        let here = parts.sum.wrapping_add(segment_base);
        let close = here.wrapping_add(self.rng.range(-100, 100) as u64) & !(align - 1);
        let inside = (w.start + 0x80..w.end - 0x80 - size).contains(&close);
        if inside && self.rng.below(3) == 0 { close } else { w.aim(&mut self.rng, size, align) }
    }

    /// The shortest size mostly, a longer one now and then.
    fn displ_size(&mut self, displ: i64, addr32: bool) -> u32 {
        let long = if addr32 { 4 } else { 8 };
        match displ {
            _ if self.rng.one_in(4) => long,
            0 => 0,
            -128..=127 => 1,
            _ => long,
        }
    }
}

impl Parts {
    fn nothing(addr32: bool) -> Parts {
        Parts { base: Register::None, index: Register::None, scale: 1, sum: 0, addr32 }
    }

    fn of(base: Option<Pin>, index: Option<Pin>, scale: u32, addr32: bool) -> Parts {
        let name = |p: Option<Pin>| match p {
            Some(pin) if addr32 => pin.reg.full_register32(),
            Some(pin) => pin.reg,
            None => Register::None,
        };
        let value = |p: Option<Pin>| p.map_or(0, |pin| pin.value);
        let scale = if index.is_none() { 1 } else { scale };
        let sum = value(base).wrapping_add(value(index).wrapping_mul(u64::from(scale)));
        Parts { base: name(base), index: name(index), scale, sum, addr32 }
    }
}
