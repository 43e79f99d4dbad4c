//! A case: a sequence of operations with the state it starts from, and its assembly to machine code.

use super::layout::EXIT;
use super::state::State;
use iced_x86::{Encoder, Instruction, OpKind};
use std::collections::HashMap;
use std::ops::Range;

pub type Label = u32;

/// Freedoms of an encoding that do not change its meaning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// Three-byte VEX where two would do.
    pub long_vex: bool,
    /// W and L where the instruction ignores them.
    pub ignored_bits: bool,
    /// Ignored prefixes in front.
    pub prefix: &'static [u8],
}

#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    Instr(Instruction, Style),
    Raw(Vec<u8>),
    /// Bytes that are never executed.
    Table(Vec<u8>),
    /// Marks a place; no bytes.
    Label(Label),
    /// Eight bytes: the address of a label.
    Pointer(Label),
}

/// Part of an instruction that depends on where a label ends up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fix {
    None,
    /// A direct branch to the label.
    Branch(Label),
    /// The memory operand is rip-relative and refers to it, plus some bytes.
    Memory(Label, u64),
    /// The 64-bit immediate is its address.
    Immediate(Label),
}

/// One element of a case. Elements of one `unit` only make sense together; elements of one `item` contain its units.
#[derive(Clone, Debug, PartialEq)]
pub struct Op {
    pub piece: Piece,
    pub fix: Fix,
    pub item: u32,
    pub unit: u32,
    /// 0 is the sequence itself; functions and tables, each a section of its own, follow behind its end.
    pub section: u32,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    pub seed: u64,
    pub index: u64,
    pub addr: u64,
    pub mem_seed: u64,
    pub state: State,
    pub ops: Vec<Op>,
    /// Pairs of labels: a signal at the first continues at the second.
    pub resumes: Vec<(Label, Label)>,
    /// The handler changes registers before it continues.
    pub edit_context: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assembled {
    pub bytes: Vec<u8>,
    pub resumes: Vec<(u64, u64)>,
    /// Tables among the code.
    pub data: Vec<Range<usize>>,
}

impl Case {
    pub fn assemble(&self) -> Result<Assembled, String> {
        let empty = HashMap::new();
        let Placer { bytes: first, labels, .. } = self.place(&empty)?;
        let Placer { bytes, labels: placed, data, .. } = self.place(&labels)?;
        if first.len() != bytes.len() || labels != placed {
            return Err("an encoding depends on where its label lies".to_owned());
        }
        let at = |l: &Label| labels.get(l).copied();
        let resumes = self.resumes.iter().filter_map(|(from, to)| Some((at(from)?, at(to)?))).collect();
        Ok(Assembled { bytes, resumes, data })
    }

    /// Number of the case's instructions, helpers included.
    pub fn instructions(&self) -> usize {
        self.ops.iter().filter(|op| matches!(op.piece, Piece::Instr(..))).count()
    }

    fn place<'a>(&self, known: &'a HashMap<Label, u64>) -> Result<Placer<'a>, String> {
        let (bytes, labels, data) = Default::default();
        let mut out = Placer { addr: self.addr, known, bytes, labels, data, encoder: None };
        let mut ordered: Vec<&Op> = self.ops.iter().collect();
        ordered.sort_by_key(|op| op.section);
        let (main, behind) = ordered.split_at(ordered.partition_point(|op| op.section == 0));
        main.iter().try_for_each(|op| out.put(op))?;
        out.bytes.extend(exit_jump());
        behind.iter().try_for_each(|op| out.put(op))?;
        Ok(out)
    }
}

/// `jmp qword ptr [EXIT]`, an absolute operand: reachable from everywhere, without a register.
fn exit_jump() -> Vec<u8> {
    let address = u32::try_from(EXIT.addr).expect("an absolute operand reaches it");
    [&[0xff, 0x24, 0x25][..], &address.to_le_bytes()].concat()
}

struct Placer<'a> {
    addr: u64,
    known: &'a HashMap<Label, u64>,
    bytes: Vec<u8>,
    labels: HashMap<Label, u64>,
    data: Vec<Range<usize>>,
    encoder: Option<Encoder>,
}

impl Placer<'_> {
    fn put(&mut self, op: &Op) -> Result<(), String> {
        let ip = self.addr + self.bytes.len() as u64;
        let from = self.bytes.len();
        match &op.piece {
            Piece::Raw(bytes) => self.bytes.extend(bytes),
            Piece::Label(l) => assert!(self.labels.insert(*l, ip).is_none(), "label {l} is placed once"),
            Piece::Table(bytes) => self.bytes.extend(bytes),
            Piece::Pointer(l) => self.bytes.extend(self.target(*l).to_le_bytes()),
            Piece::Instr(instr, style) => {
                let encoder = self.encoder.get_or_insert_with(|| Encoder::new(64));
                let fixed = fixed(instr, op.fix, |l| self.known.get(&l).copied().unwrap_or(ip));
                self.bytes.extend(encode(encoder, &fixed, *style, ip)?);
            }
        }
        if matches!(op.piece, Piece::Table(_) | Piece::Pointer(_)) {
            self.data.push(from..self.bytes.len());
        }
        Ok(())
    }

    fn target(&self, label: Label) -> u64 {
        self.known.get(&label).copied().unwrap_or(self.addr)
    }
}

fn fixed(instr: &Instruction, fix: Fix, target: impl Fn(Label) -> u64) -> Instruction {
    let mut instr = *instr;
    match fix {
        Fix::None => {}
        Fix::Branch(l) => instr.set_near_branch64(target(l)),
        Fix::Memory(l, plus) => instr.set_memory_displacement64(target(l) + plus),
        Fix::Immediate(l) => {
            assert_eq!(instr.op1_kind(), OpKind::Immediate64, "only a 64-bit immediate holds any address");
            instr.set_immediate64(target(l));
        }
    }
    instr
}

/// Encodes one instruction at `ip`.
pub(super) fn encode(
    encoder: &mut Encoder,
    instr: &Instruction,
    style: Style,
    ip: u64,
) -> Result<Vec<u8>, String> {
    let ignored = u32::from(style.ignored_bits);
    encoder.set_prevent_vex2(style.long_vex);
    encoder.set_vex_wig(ignored);
    encoder.set_vex_lig(ignored);
    encoder.set_evex_wig(ignored);
    encoder.set_evex_lig(2 * ignored);
    let mut bytes = Vec::with_capacity(16);
    bytes.extend(style.prefix);
    let ip = ip + bytes.len() as u64;
    encoder.set_buffer(bytes);
    let result = encoder.encode(instr, ip).map_err(|e| format!("{:?}: {e}", instr.code()));
    let bytes = encoder.take_buffer();
    result?;
    if bytes.len() > 15 {
        return Err("longer than an instruction may be".to_owned());
    }
    Ok(bytes)
}
