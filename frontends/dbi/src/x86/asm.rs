//! A small assembler: the instructions the engine adds around the guest's own.
//!
//! Writes to a buffer that will run at a known address, so that rip-relative operands can be formed at once. Knows
//! encodings only (Intel SDM vol. 2), nothing of blocks or shadows.

/// A general register by hardware number, 0 (rax) … 15 (r15).
pub(crate) type Gpr = u8;

pub(crate) const RAX: Gpr = 0;
pub(crate) const RCX: Gpr = 1;
pub(crate) const RSP: Gpr = 4;
pub(crate) const RSI: Gpr = 6;
pub(crate) const RDI: Gpr = 7;
pub(crate) const R11: Gpr = 11;

/// Machine code under construction.
pub(crate) struct Asm {
    bytes: Vec<u8>,
    base: u64,
}

/// Position of a 32-bit pc-relative field that was left open.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub(crate) struct Rel32(pub(crate) u64);

impl Asm {
    /// An empty buffer whose first byte will be at `base`.
    pub(crate) fn new(base: u64) -> Self {
        Asm { bytes: Vec::new(), base }
    }

    /// Empties the buffer and moves it to `base`.
    pub(crate) fn restart(&mut self, base: u64) {
        self.bytes.clear();
        self.base = base;
    }

    /// Address of the next byte.
    pub(crate) fn here(&self) -> u64 {
        self.base + self.bytes.len() as u64
    }

    pub(crate) fn base(&self) -> u64 {
        self.base
    }

    pub(crate) fn code(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn raw(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    pub(crate) fn imm32(&mut self, value: i32) {
        self.raw(&value.to_le_bytes());
    }

    pub(crate) fn imm64(&mut self, value: u64) {
        self.raw(&value.to_le_bytes());
    }

    /// A 32-bit displacement that reaches `target` when `tail` bytes of the instruction follow it.
    ///
    /// # Panics
    /// When the target is out of reach: the address layout promises that it never is.
    pub(crate) fn rel32(&mut self, target: u64, tail: u64) {
        let distance = target.wrapping_sub(self.here() + 4 + tail) as i64;
        self.imm32(i32::try_from(distance).expect("target within 2 GB of the code cache"));
    }

    /// Overwrites the open field `at` (inside this buffer) so that it reaches `target`.
    pub(crate) fn patch(&mut self, at: Rel32, target: u64) {
        let distance = target.wrapping_sub(at.0 + 4) as i64;
        let field = i32::try_from(distance).expect("target within 2 GB of the code cache").to_le_bytes();
        let offset = (at.0 - self.base) as usize;
        self.bytes[offset..offset + 4].copy_from_slice(&field);
    }

    /// Pads with no-operations until `here()` is a multiple of `alignment`.
    pub(crate) fn align(&mut self, alignment: u64) {
        while !self.here().is_multiple_of(alignment) {
            self.raw(&[0x90]);
        }
    }

    /// `mov [slot], reg`, 64 bits.
    pub(crate) fn store(&mut self, slot: u64, reg: Gpr) {
        self.raw(&[0x48 | (reg >> 3) << 2, 0x89, 0x05 | (reg & 7) << 3]);
        self.rel32(slot, 0);
    }

    /// `mov reg, [slot]`, 64 bits.
    pub(crate) fn load(&mut self, reg: Gpr, slot: u64) {
        self.raw(&[0x48 | (reg >> 3) << 2, 0x8b, 0x05 | (reg & 7) << 3]);
        self.rel32(slot, 0);
    }

    /// `vstmxcsr [slot]`.
    pub(crate) fn store_mxcsr(&mut self, slot: u64) {
        self.raw(&[0xc5, 0xf8, 0xae, 0x1d]);
        self.rel32(slot, 0);
    }

    /// `vldmxcsr [slot]`.
    pub(crate) fn load_mxcsr(&mut self, slot: u64) {
        self.raw(&[0xc5, 0xf8, 0xae, 0x15]);
        self.rel32(slot, 0);
    }

    /// `mov [slot], ecx`.
    pub(crate) fn store_ecx(&mut self, slot: u64) {
        self.raw(&[0x89, 0x0d]);
        self.rel32(slot, 0);
    }

    /// `lahf; seto al`: flags into ax, which is spilled before.
    pub(crate) fn save_flags(&mut self) {
        self.raw(&[0x9f, 0x0f, 0x90, 0xc0]);
    }

    /// `add al, 127; sahf`: flags from ax.
    pub(crate) fn restore_flags(&mut self) {
        self.raw(&[0x04, 0x7f, 0x9e]);
    }

    /// `xor ecx, [slot]`. Writes the flags.
    pub(crate) fn xor_ecx(&mut self, slot: u64) {
        self.raw(&[0x33, 0x0d]);
        self.rel32(slot, 0);
    }

    /// `xor [slot], ecx`. Writes the flags.
    pub(crate) fn xor_with_ecx(&mut self, slot: u64) {
        self.raw(&[0x31, 0x0d]);
        self.rel32(slot, 0);
    }

    /// `test ecx, bits`. Writes the flags.
    pub(crate) fn test_ecx(&mut self, bits: u32) {
        self.raw(&[0xf7, 0xc1]);
        self.raw(&bits.to_le_bytes());
    }

    /// `pext ecx, ecx, [slot]`: the bits of ecx that the slot has set, moved down.
    pub(crate) fn extract_ecx(&mut self, slot: u64) {
        self.raw(&[0xc4, 0xe2, 0x72, 0xf5, 0x0d]);
        self.rel32(slot, 0);
    }

    /// `mov reg32, [slot]`, zero-extended.
    pub(crate) fn load32(&mut self, reg: Gpr, slot: u64) {
        if reg >= 8 {
            self.raw(&[0x44]);
        }
        self.raw(&[0x8b, 0x05 | (reg & 7) << 3]);
        self.rel32(slot, 0);
    }

    /// `xchg [slot], ecx`: atomic.
    pub(crate) fn exchange_ecx(&mut self, slot: u64) {
        self.raw(&[0x87, 0x0d]);
        self.rel32(slot, 0);
    }

    /// `mov dword [slot], value`.
    pub(crate) fn store_imm32(&mut self, slot: u64, value: i32) {
        self.raw(&[0xc7, 0x05]);
        self.rel32(slot, 4);
        self.imm32(value);
    }

    /// `mov qword [slot], value`: what is loaded again at once has to be stored as a whole, or the load waits for the cache.
    pub(crate) fn store_imm64(&mut self, slot: u64, value: i32) {
        self.raw(&[0x48, 0xc7, 0x05]);
        self.rel32(slot, 4);
        self.imm32(value);
    }

    /// `mov reg, value` in the shortest form; flags are kept.
    pub(crate) fn mov_imm(&mut self, reg: Gpr, value: u64) {
        if let Ok(low) = u32::try_from(value) {
            if reg >= 8 {
                self.raw(&[0x41]);
            }
            self.raw(&[0xb8 | (reg & 7)]);
            self.raw(&low.to_le_bytes());
        } else {
            self.raw(&[0x48 | (reg >> 3), 0xb8 | (reg & 7)]);
            self.imm64(value);
        }
    }

    /// `lea reg, [rip → target]`.
    pub(crate) fn lea_rip(&mut self, reg: Gpr, target: u64) {
        self.raw(&[0x48 | (reg >> 3) << 2, 0x8d, 0x05 | (reg & 7) << 3]);
        self.rel32(target, 0);
    }

    /// `lea rcx, [rcx + delta]`: an addition that keeps the flags.
    pub(crate) fn add_rcx(&mut self, delta: i32) {
        self.raw(&[0x48, 0x8d, 0x89]);
        self.imm32(delta);
    }

    /// `lea ecx, [rcx + delta]`; bits 32 to 63 become zero.
    pub(crate) fn add_ecx(&mut self, delta: i32) {
        self.raw(&[0x8d, 0x89]);
        self.imm32(delta);
    }

    /// `lea rsp, [rsp + bytes]`.
    pub(crate) fn move_stack_pointer(&mut self, bytes: i64) {
        self.raw(&[0x48, 0x8d, 0xa4, 0x24]);
        self.imm32(i32::try_from(bytes).expect("a return pops less than 64 KiB"));
    }

    /// `lea rcx, [rcx + rax]`.
    pub(crate) fn add_rcx_rax(&mut self) {
        self.raw(&[0x48, 0x8d, 0x0c, 0x01]);
    }

    /// `jmp target`.
    pub(crate) fn jmp(&mut self, target: u64) {
        self.raw(&[0xe9]);
        self.rel32(target, 0);
    }

    /// `jmp` to a place not known yet.
    pub(crate) fn jmp_open(&mut self) -> Rel32 {
        self.raw(&[0xe9]);
        self.open()
    }

    /// `jcc` to a place not known yet; `condition` is the hardware's four-bit code.
    pub(crate) fn jcc_open(&mut self, condition: u8) -> Rel32 {
        self.raw(&[0x0f, 0x80 | condition]);
        self.open()
    }

    /// `jrcxz` over the next `bytes` bytes.
    fn jrcxz_over(&mut self, bytes: u8) {
        self.raw(&[0xe3, bytes]);
    }

    /// A jump of any distance to what is patched in, taken if rcx is zero.
    pub(crate) fn jump_if_rcx_is_zero(&mut self) -> Rel32 {
        const SHORT_JMP: [u8; 2] = [0xeb, 5];
        // To the far jump, or over it.
        self.jrcxz_over(SHORT_JMP.len() as u8);
        self.raw(&SHORT_JMP);
        self.jmp_open()
    }

    /// A jump of any distance to `target`, taken unless rcx is zero.
    pub(crate) fn jmp_unless_rcx_is_zero(&mut self, target: u64) {
        let field = self.jump_unless_rcx_is_zero();
        self.patch(field, target);
    }

    /// A jump of any distance to what is patched in, taken unless rcx is zero.
    pub(crate) fn jump_unless_rcx_is_zero(&mut self) -> Rel32 {
        const JMP_BYTES: u8 = 5;
        self.jrcxz_over(JMP_BYTES);
        self.jmp_open()
    }

    /// `jmp [slot]`.
    pub(crate) fn jmp_slot(&mut self, slot: u64) {
        self.raw(&[0xff, 0x25]);
        self.rel32(slot, 0);
    }

    fn open(&mut self) -> Rel32 {
        let at = Rel32(self.here());
        self.imm32(0);
        at
    }
}
