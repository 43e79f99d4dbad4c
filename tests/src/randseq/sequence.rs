//! Builds one case: decides on registers, memory and instruction mix, then strings items together.
//!
//! A few registers per case are *pinned*: they hold pointers into the data windows or small indices and are never
//! written, so that operands can be aimed without knowing what the sequence computes, and so that a case stays valid
//! when the minimiser takes parts of it away. Which registers these are changes from case to case.

use super::catalog::{Catalog, Family, Isa};
use super::layout::{self, Window};
use super::op::{Case, Fix, Label, Op, Piece, Style, encode};
use super::profile::Profile;
use super::rng::Rng;
use super::state::{self, State};
use iced_x86::{Encoder, Instruction, InstructionInfoFactory, OpAccess, Register};

/// A register that keeps its value for the whole case.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pin {
    pub(super) reg: Register,
    pub(super) value: u64,
    /// The window it points into; `None` for an index.
    pub(super) window: Option<Window>,
}

pub(super) struct Gen<'a> {
    pub(super) rng: Rng,
    pub(super) catalog: &'a Catalog,
    pub(super) profile: &'a Profile,
    pub(super) addr: u64,
    pub(super) pins: Vec<Pin>,
    /// Registers that must not be written now: pins, rsp and the counters of enclosing loops.
    pub(super) fixed: Vec<Register>,
    /// Inside a function whose return address lies at rsp.
    pub(super) in_function: bool,
    pub(super) families: Vec<(Family, u32)>,
    pub(super) resumes: Vec<(Label, Label)>,
    ops: Vec<Op>,
    labels: Label,
    item: u32,
    unit: u32,
    units: u32,
    section: u32,
    sections: u32,
    encoder: Encoder,
    info: InstructionInfoFactory,
}

/// Case `index` of the run with `seed`; its code will lie at `addr`.
pub fn case(catalog: &Catalog, profile: &Profile, seed: u64, index: u64, addr: u64) -> Case {
    let mut rng = Rng::for_case(seed ^ salt(profile), index);
    let mut state = State::random(&mut rng);
    let pins = choose_pins(&mut rng, profile);
    for pin in &pins {
        state.set_gpr(pin.reg.number(), pin.value);
    }
    state.set_gpr(Register::RSP.number(), layout::STACK_TOP - 8 * rng.below(4));
    state.set_word(state::FS_BASE, layout::FS_BASE);
    state.set_word(state::GS_BASE, if profile.gs { layout::GS_BASE } else { 0 });
    let mem_seed = rng.next();
    let mut generator = Gen::new(catalog, profile, rng, pins, addr);
    generator.items();
    let (ops, resumes) = (generator.ops, generator.resumes);
    Case { seed, index, addr, mem_seed, state, ops, resumes, edit_context: index % 2 == 1 }
}

/// Profiles see different sequences under one seed.
fn salt(profile: &Profile) -> u64 {
    profile.name.bytes().fold(0, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Two or more pointers, one or two indices.
fn choose_pins(rng: &mut Rng, profile: &Profile) -> Vec<Pin> {
    let mut regs: Vec<Register> = Register::values()
        .filter(|r| r.is_gpr64() && *r != Register::RSP)
        // The handler of fault profiles edits rax.
        .filter(|r| !(profile.faults && *r == Register::RAX))
        .collect();
    let windows = layout::pointer_windows();
    let pointers = 2 + rng.below(3);
    let indices = 1 + rng.below(2);
    let mut pins = Vec::new();
    for i in 0..pointers + indices {
        // Registers with implicit uses (rax, rcx, rdx, rbx, rsi, rdi) less often: pinning them silences instructions.
        let mut at = rng.below(regs.len() as u64) as usize;
        if regs[at].number() < 8 && rng.one_in(2) {
            at = rng.below(regs.len() as u64) as usize;
        }
        let reg = regs.swap_remove(at);
        let window = (i < pointers).then(|| rng.pick(&windows));
        let value = match window {
            Some(w) => w.aim(rng, 64, 64),
            None => rng.range(-32, 32) as u64,
        };
        pins.push(Pin { reg, value, window });
    }
    pins
}

/// Half of the cases concentrate on one or two families, so that these meet themselves often.
fn choose_families(rng: &mut Rng, isa: Isa) -> Vec<(Family, u32)> {
    let mut all = vec![
        (Family::Integer, 8),
        (Family::Sse, 4),
        (Family::X87, 2),
        (Family::Mmx, 1),
        (Family::Avx, if isa >= Isa::Avx2 { 5 } else { 0 }),
        (Family::Avx512, if isa >= Isa::Avx512 { 10 } else { 0 }),
    ];
    all.retain(|(_, weight)| *weight > 0);
    if rng.one_in(2) {
        let chosen: Vec<_> = (0..2).map(|_| rng.weighted(all.iter().map(|(_, w)| *w))).collect();
        for (i, (_, weight)) in all.iter_mut().enumerate() {
            *weight = if chosen.contains(&i) { 12 } else { 0 };
        }
        all[0].1 += 1;
    }
    all
}

impl<'a> Gen<'a> {
    fn new(catalog: &'a Catalog, profile: &'a Profile, mut rng: Rng, pins: Vec<Pin>, addr: u64) -> Gen<'a> {
        let fixed = pins.iter().map(|p| p.reg).chain([Register::RSP]).collect();
        let families = choose_families(&mut rng, profile.isa);
        Gen {
            rng,
            catalog,
            profile,
            addr,
            pins,
            fixed,
            in_function: false,
            families,
            resumes: Vec::new(),
            ops: Vec::new(),
            labels: 0,
            item: 0,
            unit: 0,
            units: 0,
            section: 0,
            sections: 0,
            encoder: Encoder::new(64),
            info: InstructionInfoFactory::new(),
        }
    }

    /// 1 to 40 instructions, counting helpers; a last item may take it a little beyond. Rarely some hundred, which is
    /// more than a translator takes in one piece.
    fn items(&mut self) {
        let most = if self.rng.one_in(64) { 300 } else { 40 };
        let budget = 1 + self.rng.below(most) as usize;
        let special_at = self.rng.below(budget as u64) as usize;
        let mut special_done = !self.profile.has_special();
        while self.ops.len() < budget || !special_done {
            self.item += 1;
            self.unit = 0;
            if !special_done && self.ops.len() >= special_at {
                self.special();
                special_done = true;
            } else {
                self.any_item();
            }
        }
    }

    /// Generates what sets the profile apart.
    fn special(&mut self) {
        if self.profile.faults {
            self.fault();
        }
        if self.profile.self_modifying() {
            self.self_modification();
        }
        if self.profile.gs {
            self.gs_base();
        }
    }

    fn any_item(&mut self) {
        match self.rng.below(20) {
            0..=2 => self.control(),
            3..=4 => self.idiom(),
            _ => self.plain(),
        }
    }

    /// The inside of a loop or function: a few small steps, each a unit of its own unless nested already.
    pub(super) fn body(&mut self, most: u64) {
        for _ in 0..self.rng.range(1, most as i64) {
            let outermost = self.unit == 0;
            if outermost {
                self.units += 1;
                self.unit = self.units;
            }
            match self.rng.below(16) {
                0 if outermost => self.control(),
                1 => self.idiom(),
                _ => self.plain(),
            }
            if outermost {
                self.unit = 0;
            }
        }
    }

    pub(super) fn new_label(&mut self) -> Label {
        self.labels += 1;
        self.labels
    }

    pub(super) fn place(&mut self, label: Label) {
        self.push(Piece::Label(label), Fix::None);
    }

    pub(super) fn raw(&mut self, bytes: &[u8]) {
        self.push(Piece::Raw(bytes.to_vec()), Fix::None);
    }

    pub(super) fn table(&mut self, bytes: Vec<u8>) {
        self.push(Piece::Table(bytes), Fix::None);
    }

    pub(super) fn pointer(&mut self, label: Label) {
        self.push(Piece::Pointer(label), Fix::None);
    }

    pub(super) fn emit(&mut self, instr: Instruction) {
        self.push(Piece::Instr(instr, Style::default()), Fix::None);
    }

    pub(super) fn emit_styled(&mut self, instr: Instruction, style: Style) {
        self.push(Piece::Instr(instr, style), Fix::None);
    }

    pub(super) fn emit_fixed(&mut self, instr: Instruction, fix: Fix) {
        self.push(Piece::Instr(instr, Style::default()), fix);
    }

    pub(super) fn push(&mut self, piece: Piece, fix: Fix) {
        self.ops.push(Op { piece, fix, item: self.item, unit: self.unit, section: self.section });
    }

    /// Puts the code that `f` emits behind the end of the sequence.
    pub(super) fn in_tail(&mut self, f: impl FnOnce(&mut Self)) {
        self.sections += 1;
        let outer = std::mem::replace(&mut self.section, self.sections);
        f(self);
        self.section = outer;
    }

    /// `f` runs with `reg` protected.
    pub(super) fn keeping(&mut self, reg: Register, f: impl FnOnce(&mut Self)) {
        self.fixed.push(reg.full_register());
        f(self);
        self.fixed.pop();
    }

    /// `f` emits the body of something that was called.
    pub(super) fn in_call(&mut self, f: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.in_function, true);
        f(self);
        self.in_function = outer;
    }

    pub(super) fn is_free(&self, reg: Register) -> bool {
        !self.fixed.contains(&reg.full_register())
    }

    /// A 64-bit register that may be written.
    pub(super) fn scratch(&mut self) -> Register {
        let free: Vec<_> = Register::values().filter(|r| r.is_gpr64() && self.is_free(*r)).collect();
        self.rng.pick(&free)
    }

    pub(super) fn mark(&self) -> usize {
        self.ops.len()
    }

    /// Bytes of what was emitted in line since `mark`; every branch counted as it stands.
    pub(super) fn size_since(&mut self, mark: usize) -> usize {
        let mut size = 0;
        for op in self.ops[mark..].iter().filter(|op| op.section == self.section) {
            size += match &op.piece {
                Piece::Instr(instr, style) => {
                    let mut instr = *instr;
                    if let Fix::Branch(_) = op.fix {
                        instr.set_near_branch64(self.addr);
                    }
                    encode(&mut self.encoder, &instr, *style, self.addr).map_or(16, |b| b.len())
                }
                Piece::Raw(bytes) | Piece::Table(bytes) => bytes.len(),
                Piece::Pointer(_) => 8,
                Piece::Label(_) => 0,
            };
        }
        size
    }

    /// Takes back what was emitted since `mark`.
    pub(super) fn retract(&mut self, mark: usize) {
        self.ops.truncate(mark);
    }

    pub(super) fn replace_instr(&mut self, at: usize, instr: Instruction) {
        let Piece::Instr(old, _) = &mut self.ops[at].piece else {
            unreachable!("a branch was emitted there")
        };
        *old = instr;
    }

    pub(super) fn encodes(&mut self, instr: &Instruction, style: Style) -> bool {
        encode(&mut self.encoder, instr, style, self.addr).is_ok()
    }

    pub(super) fn writes_fixed(&mut self, instr: &Instruction) -> bool {
        let used = self.info.info(instr).used_registers();
        used.iter().any(|u| is_write(u.access()) && self.fixed.contains(&u.register().full_register()))
    }
}

fn is_write(access: OpAccess) -> bool {
    matches!(access, OpAccess::Write | OpAccess::CondWrite | OpAccess::ReadWrite | OpAccess::ReadCondWrite)
}
