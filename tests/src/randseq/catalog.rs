//! All of iced's instructions, sorted into what the generator does with them on this host.
//!
//! The list is walked rather than written, so that a new iced or a new processor brings its instructions along, and
//! what is not covered has a reason in deny.rs.

use super::deny;
use super::host::Host;
use iced_x86::{Code, CpuidFeature, EncodingKind, FlowControl, Mnemonic, OpCodeInfo, OpCodeOperandKind as K};
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Family {
    Integer,
    Mmx,
    X87,
    Sse,
    Avx,
    Avx512,
}

impl Family {
    pub const ALL: [Family; 6] =
        [Family::Integer, Family::Mmx, Family::X87, Family::Sse, Family::Avx, Family::Avx512];
}

/// Extent of the vector registers of a case, and with it the instructions that it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Isa {
    Sse,
    Avx2,
    Avx512,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Random operands, no further thought.
    Generic(Family),
    /// Only within the idiom of that name.
    Idiom(Family, &'static str),
    Denied(&'static str),
    /// Instruction that this host cannot execute.
    Absent,
}

#[derive(Clone, Debug)]
pub struct Catalog {
    generic: BTreeMap<Family, Vec<Code>>,
    idioms: BTreeMap<&'static str, Vec<Code>>,
    pub denied: BTreeMap<&'static str, Vec<Code>>,
    pub absent: Vec<Code>,
    pub host: Host,
}

impl Catalog {
    pub fn new(host: Host) -> Catalog {
        let (generic, idioms, denied) = Default::default();
        let mut all = Catalog { generic, idioms, denied, absent: Vec::new(), host };
        for code in Code::values().filter(|c| c.op_code().is_instruction() && c.op_code().mode64()) {
            match verdict(code, &all.host) {
                Verdict::Generic(family) => all.generic.entry(family).or_default().push(code),
                Verdict::Idiom(_, name) => all.idioms.entry(name).or_default().push(code),
                Verdict::Denied(why) => all.denied.entry(why).or_default().push(code),
                Verdict::Absent => all.absent.push(code),
            }
        }
        all
    }

    /// Instructions of a family that take random operands; empty where the host lacks the family.
    pub fn generic(&self, family: Family) -> &[Code] {
        self.generic.get(&family).map_or(&[], Vec::as_slice)
    }

    pub fn idiom(&self, name: &str) -> &[Code] {
        self.idioms.get(name).map_or(&[], Vec::as_slice)
    }

    pub fn idioms(&self) -> impl Iterator<Item = (&'static str, &[Code])> {
        self.idioms.iter().map(|(name, codes)| (*name, codes.as_slice()))
    }

    /// Everything a generator with this instruction set should produce sooner or later.
    pub fn expected(&self, isa: Isa) -> Vec<Code> {
        let generic = Family::ALL.into_iter().flat_map(|f| self.generic(f));
        let idioms = self.idioms.values().flatten();
        generic.chain(idioms).copied().filter(|c| isa >= needed_isa(*c)).collect()
    }
}

pub fn verdict(code: Code, host: &Host) -> Verdict {
    let info = code.op_code();
    if let Some(why) = denied(code, info) {
        return Verdict::Denied(why);
    }
    if !code.cpuid_features().iter().all(|f| host.has(*f)) {
        return Verdict::Absent;
    }
    match idiom(code, info) {
        Some(name) => Verdict::Idiom(family(code, info), name),
        None => Verdict::Generic(family(code, info)),
    }
}

fn denied(code: Code, info: &OpCodeInfo) -> Option<&'static str> {
    let mnemonic = code.mnemonic();
    let by_feature = |f: &CpuidFeature| code.cpuid_features().contains(f);
    if let Some((why, _)) = deny::FEATURES.iter().find(|(_, fs)| fs.iter().any(by_feature)) {
        return Some(why);
    }
    if let Some((why, _)) = deny::MNEMONICS.iter().find(|(_, ms)| ms.contains(&mnemonic)) {
        return Some(why);
    }
    let is_fault = deny::IDIOMS.iter().any(|(name, ms)| *name == "fault" && ms.contains(&mnemonic));
    if (info.is_privileged() || info.is_input_output() || !info.cpl3()) && !is_fault {
        return Some(deny::PRIVILEGED);
    }
    denied_form(code, info)
}

/// Mnemonics of which only some forms are out.
fn denied_form(code: Code, info: &OpCodeInfo) -> Option<&'static str> {
    let near = matches!(
        code.flow_control(),
        FlowControl::ConditionalBranch
            | FlowControl::UnconditionalBranch
            | FlowControl::Call
            | FlowControl::IndirectBranch
            | FlowControl::IndirectCall
            | FlowControl::Return
    );
    let far = |k: &K| matches!(k, K::mem) && near;
    if info.op_kinds().iter().any(far) {
        return Some(deny::FAR);
    }
    if near && info.operand_size() == 16 {
        return Some(deny::BRANCH16);
    }
    let loads_selector = matches!(info.op_kinds().first(), Some(K::seg_reg))
        || code.mnemonic() == Mnemonic::Pop && matches!(info.op_kinds().first(), Some(K::fs | K::gs));
    loads_selector.then_some(deny::SELECTOR)
}

fn idiom(code: Code, info: &OpCodeInfo) -> Option<&'static str> {
    let vector_index =
        [K::mem_vsib32x, K::mem_vsib64x, K::mem_vsib32y, K::mem_vsib64y, K::mem_vsib32z, K::mem_vsib64z];
    if info.op_kinds().iter().any(|k| vector_index.contains(k)) {
        return Some("gather");
    }
    if info.op_kinds().iter().any(|k| matches!(k, K::es_rDI | K::seg_rSI | K::seg_rDI | K::seg_rBX_al)) {
        return Some("string");
    }
    if code.flow_control() == FlowControl::ConditionalBranch {
        return Some("control flow");
    }
    deny::IDIOMS.iter().find(|(_, ms)| ms.contains(&code.mnemonic())).map(|(name, _)| *name)
}

fn family(code: Code, info: &OpCodeInfo) -> Family {
    let features = code.cpuid_features();
    let kinds = format!("{:?}", info.op_kinds());
    if features.iter().any(|f| format!("{f:?}").starts_with("FPU")) {
        return Family::X87;
    }
    let vector = kinds.contains("xmm") || kinds.contains("ymm") || kinds.contains("vsib");
    match info.encoding() {
        EncodingKind::EVEX => Family::Avx512,
        EncodingKind::VEX if features.iter().any(|f| format!("{f:?}").starts_with("AVX512")) => {
            Family::Avx512
        }
        EncodingKind::VEX if vector || features.contains(&CpuidFeature::AVX) => Family::Avx,
        EncodingKind::D3NOW => Family::Mmx,
        _ if kinds.contains("mm_") && !vector || features == [CpuidFeature::MMX] => Family::Mmx,
        _ if vector => Family::Sse,
        _ => Family::Integer,
    }
}

pub fn needed_isa(code: Code) -> Isa {
    match family(code, code.op_code()) {
        Family::Avx512 => Isa::Avx512,
        Family::Avx => Isa::Avx2,
        _ => Isa::Sse,
    }
}
