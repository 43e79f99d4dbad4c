//! Control words and saved images of x87, MMX and SSE state.
//!
//! All exceptions stay masked. The addresses of the last x87 instruction and operand (FIP, FDP, with the opcode FOP) in
//! saved images are overwritten with zeros at once: what they hold is up to the processor (AMD and Intel differ in
//! when they are written at all), and translated code has another FIP.

use super::idioms::instr;
use super::sequence::Gen;
use super::state::random_mxcsr;
use iced_x86::{Code, Instruction, MemoryOperand, Register};

/// Room for the largest image, with space to align it.
const ROOM: u64 = 1024;

impl Gen<'_> {
    /// A register that points to `ROOM` bytes at a multiple of 64; the caller keeps it.
    fn image(&mut self) -> (Register, MemoryOperand) {
        let reg = self.scratch();
        let windows = super::layout::pointer_windows();
        let at = self.rng.pick(&windows).aim(&mut self.rng, ROOM, 64);
        self.set(reg, at);
        (reg, MemoryOperand::with_base(reg))
    }

    fn store_word(&mut self, base: Register, displ: i64, bytes: u32, value: i32) {
        let mem = MemoryOperand::with_base_displ(base, displ);
        let code = if bytes == 2 { Code::Mov_rm16_imm16 } else { Code::Mov_rm32_imm32 };
        self.emit(instr!(with2, code, mem, if bytes == 2 { value & 0x7fff } else { value }));
    }

    pub(super) fn x87_state(&mut self) {
        match self.rng.below(8) {
            0..=1 => self.control_word(),
            2..=3 => self.environment(),
            4 => self.save_restore(),
            5..=6 => self.fxsave(),
            _ => self.xsave(),
        }
    }

    fn control_word(&mut self) {
        let mem = self.mem(2, 1);
        let word = 0x7f | ((self.rng.below(16) as i32) << 8);
        self.emit(instr!(with2, Code::Mov_rm16_imm16, mem, word));
        self.emit(instr!(with1, Code::Fldcw_m2byte, mem));
    }

    /// Stores the environment, changes it, loads it. The 14-byte form is that of 16-bit code.
    fn environment(&mut self) {
        let (reg, mem) = self.image();
        let short = self.rng.one_in(3);
        let code = match (short, self.rng.one_in(3)) {
            (true, true) => Code::Fstenv_m14byte,
            (true, false) => Code::Fnstenv_m14byte,
            (false, true) => Code::Fstenv_m28byte,
            (false, false) => Code::Fnstenv_m28byte,
        };
        self.emit(instr!(with1, code, mem));
        self.forget_pointers(reg, short);
        if self.rng.one_in(2) {
            // Storing masked everything; this brings the old control word back, or a new environment.
            if self.rng.one_in(2) {
                self.random_environment(reg, short);
            }
            let load = if short { Code::Fldenv_m14byte } else { Code::Fldenv_m28byte };
            self.emit(instr!(with1, load, mem));
        }
    }

    /// Zeros over FIP, FCS, FOP, FDP and FDS.
    fn forget_pointers(&mut self, reg: Register, short: bool) {
        let width = if short { 2 } else { 4 };
        (3..7).for_each(|field| self.store_word(reg, field * i64::from(width), width, 0));
    }

    fn random_environment(&mut self, reg: Register, short: bool) {
        let width = if short { 2 } else { 4 };
        let control = 0x7f | ((self.rng.below(16) as i32) << 8);
        self.store_word(reg, 0, width, control);
        let status = self.rng.next() as i32 & 0x7f3f;
        self.store_word(reg, i64::from(width), width, status);
        let tags = self.rng.next() as i32 & 0xffff;
        self.store_word(reg, 2 * i64::from(width), width, tags);
    }

    fn save_restore(&mut self) {
        let (reg, mem) = self.image();
        let short = self.rng.one_in(3);
        let code = match (short, self.rng.one_in(3)) {
            (true, true) => Code::Fsave_m94byte,
            (true, false) => Code::Fnsave_m94byte,
            (false, true) => Code::Fsave_m108byte,
            (false, false) => Code::Fnsave_m108byte,
        };
        self.emit(instr!(with1, code, mem));
        self.forget_pointers(reg, short);
        if self.rng.one_in(3) {
            self.keeping(reg, |g| g.plain());
            // Which may have stored to the image.
            self.store_word(reg, 0, 2, 0x37f);
        }
        let restore = if short { Code::Frstor_m94byte } else { Code::Frstor_m108byte };
        if !self.rng.one_in(4) {
            self.emit(instr!(with1, restore, mem));
        }
    }

    fn fxsave(&mut self) {
        let (reg, mem) = self.image();
        let wide = self.rng.one_in(2);
        let save = if wide { Code::Fxsave64_m512byte } else { Code::Fxsave_m512byte };
        self.emit(instr!(with1, save, mem));
        self.store_word(reg, 6, 2, 0);
        for displ in [8, 12, 16, 20] {
            self.store_word(reg, displ, 4, 0);
        }
        if self.rng.one_in(2) {
            let displ = 32 + 4 * self.rng.range(0, 95);
            let value = self.rng.interesting() as i32;
            self.store_word(reg, displ, 4, value);
        }
        if self.rng.one_in(2) {
            self.keeping(reg, |g| g.plain());
            self.store_word(reg, 0, 2, 0x37f);
            let value = random_mxcsr(&mut self.rng) as i32;
            self.store_word(reg, 24, 4, value);
        }
        // The other size of image differs in nothing but the pointers.
        let wide = self.rng.one_in(2);
        let restore = if wide { Code::Fxrstor64_m512byte } else { Code::Fxrstor_m512byte };
        self.emit(instr!(with1, restore, mem));
    }

    /// Saves x87, SSE and AVX and loads them again, then clears the image: which components a processor considers in
    /// use, and so writes, is its own affair.
    fn xsave(&mut self) {
        let needed = [Register::RAX, Register::RDX, Register::RCX, Register::RDI];
        let saves: Vec<Code> = self.catalog.idiom("x87 state").iter().copied().filter(is_xsave).collect();
        if saves.is_empty() || !self.all_free(&needed) {
            return;
        }
        let image = super::layout::Window::of(super::layout::FAR).aim(&mut self.rng, ROOM, 64);
        self.clear(image);
        self.set(Register::RDI, image);
        self.set(Register::RAX, 7);
        self.emit(instr!(with2, Code::Xor_rm32_r32, Register::EDX, Register::EDX));
        let mem = MemoryOperand::with_base(Register::RDI);
        let save = self.rng.pick(&saves);
        self.emit(instr!(with1, save, mem));
        let wide = format!("{save:?}").contains("64");
        let restore = if wide { Code::Xrstor64_mem } else { Code::Xrstor_mem };
        self.emit(instr!(with1, restore, mem));
        self.clear(image);
    }

    /// The header of an image has reserved bytes that must be zero before it is written.
    fn clear(&mut self, image: u64) {
        self.set(Register::RDI, image);
        self.set(Register::RCX, ROOM / 8);
        self.set(Register::RAX, 0);
        self.emit(Instruction::with(Code::Cld));
        let mut stos = super::strings::string_operands(Code::Stosq_m64_RAX, false);
        stos.set_has_rep_prefix(true);
        self.emit(stos);
    }

    pub(super) fn mxcsr(&mut self) {
        let vex = self.profile.isa >= super::catalog::Isa::Avx2 && self.rng.one_in(2);
        let (load, store) = match vex {
            true => (Code::VEX_Vldmxcsr_m32, Code::VEX_Vstmxcsr_m32),
            false => (Code::Ldmxcsr_m32, Code::Stmxcsr_m32),
        };
        let (mem, kept) = (self.mem(4, 1), self.mem(4, 1));
        if self.rng.one_in(3) {
            self.emit(instr!(with1, store, kept));
        }
        let value = random_mxcsr(&mut self.rng) as i32;
        self.emit(instr!(with2, Code::Mov_rm32_imm32, mem, value));
        self.emit(instr!(with1, load, mem));
    }
}

fn is_xsave(code: &Code) -> bool {
    use iced_x86::Mnemonic as M;
    matches!(code.mnemonic(), M::Xsave | M::Xsave64 | M::Xsavec | M::Xsavec64)
}
