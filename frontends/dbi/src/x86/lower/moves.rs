//! Moves and rearrangements of vector registers, found by probing the instruction itself.

use super::address::AddressRecipe;
use super::build::{Build, Why};
use super::complete::{Completion, Gather, MASK, ProbeMap};
use super::general::{self, may_hold};
use crate::x86::probe::{Inputs, Probe, SLOT, Shape as Probed};
use crate::x86::rows;
use crate::x86::state;
use crate::x86::table::{Row, XMM0};
use shadowgrind_core::format::Format;
use shadowgrind_core::step::{Capture, Map, Mixed, NO_SOURCE, Operand, Place, SECOND_SOURCE, Step};

/// A data operand in a probe: byte i of operand n is `1 + 64 n + i`; 0 stands for "no source".
fn marks(operand: u32) -> [u8; SLOT] {
    std::array::from_fn(|i| (1 + SLOT * operand as usize + i) as u8)
}

/// Operand, and byte of it, that a byte of a probe's result names.
fn source_of(mark: u8) -> Option<(u32, u8)> {
    let index = usize::from(mark.checked_sub(1)?);
    Some(((index / SLOT) as u32, (index % SLOT) as u8))
}

pub(super) fn moved(probe: &mut Probe, build: &mut Build<'_>, control: u8) -> Result<(), Why> {
    let controls: Vec<u32> = (0..build.operands()).filter(|&n| control >> n & 1 != 0).collect();
    let controls: Vec<u32> = controls.into_iter().filter(|&n| !build.is_immediate(n)).collect();
    let mut probed = *build.insn;
    if controls.contains(&0) && build.merges() {
        // What is left of the control could be taken for marks; where there are none it is left.
        probed.set_zeroing_masking(true);
    }
    let probed = probe.prepare(&probed)?;
    if controls.is_empty() && control & XMM0 == 0 && !build.insn.has_op_mask() {
        fixed(probe, build, &probed)?;
    } else {
        selected(build, &controls, control & XMM0 != 0, probed)?;
    }
    let written = written_bytes(build);
    if build.is_register(0) && build.insn.op0_register().is_gpr() {
        return Ok(());
    }
    build.finish_vector(written)
}

/// A part of a float of `format` in a vector register, from its byte number `at` on, is overwritten.
pub(super) fn inserted(build: &mut Build<'_>, format: Format, at: u8) -> Result<(), Why> {
    let (first, bytes) = rows::inserted(build.insn).ok_or("a part of no float")?;
    build.name_memory();
    let (to, source) = (build.place(0)?, build.operands() - 1);
    if source > 1 {
        build.copy(build.place(1)?, to, 16);
    }
    let whole = u16::from(first - at);
    let kept = build.place(source - 1)?.plus(whole);
    let from = if may_hold(build, source) { Some(build.place(source)?) } else { None };
    let size = format.bytes() as u16;
    let x = Operand { place: to.plus(whole), ..build.before(kept, size) };
    let r = build.after(to.plus(whole), size);
    build.step(Step::Part { format, x, r, from, at: at.into(), bytes: bytes.into() });
    build.finish_vector(16)
}

/// Bytes of operand 0 that the probe tells about: all of a general register, which is written as a whole.
fn written_bytes(build: &Build<'_>) -> u16 {
    match build.is_register(0) && build.insn.op0_register().is_gpr() {
        true => 8,
        false => build.width(0),
    }
}

/// The rearrangement depends on nothing but the instruction.
fn fixed(probe: &mut Probe, build: &mut Build<'_>, probed: &Probed) -> Result<(), Why> {
    let to = build.place(0)?;
    match sources(probe, build, probed)? {
        Some((places, map)) => rearrange(build, places, to, map),
        None => build.clear(to, written_bytes(build)),
    }
    Ok(())
}

/// The places that a rearrangement moves from, and its map.
type Rearrangement = ([Place; 2], Box<[u8]>);

/// The rearrangement that the probe shows; nothing where it moves from no place.
fn sources(probe: &mut Probe, build: &mut Build<'_>, probed: &Probed) -> Result<Option<Rearrangement>, Why> {
    let mut inputs = Inputs::default();
    for operand in 0..build.operands().min(3) {
        inputs.operand[operand as usize] = marks(operand);
    }
    let result = probe.run(probed, &inputs);
    let bytes = written_bytes(build);
    let sources: Vec<Option<(u32, u8)>> =
        result[..usize::from(bytes)].iter().map(|&mark| source_of(mark)).collect();
    let mut operands: Vec<u32> = sources.iter().flatten().map(|&(operand, _)| operand).collect();
    operands.sort_unstable();
    operands.dedup();
    let places = match operands[..] {
        [] => return Ok(None),
        [a] => [build.place(a)?; 2],
        [a, b] => [build.place(a)?, build.place(b)?],
        _ => return Err("a move from three operands"),
    };
    let map = sources
        .iter()
        .map(|source| match source {
            None => NO_SOURCE,
            Some((operand, byte)) if *operand == operands[0] => *byte,
            Some((_, byte)) => SECOND_SOURCE + byte,
        })
        .collect();
    Ok(Some((places, map)))
}

/// A rearrangement of which doubles that have parts of several lanes are used as such.
pub(super) fn mixed(probe: &mut Probe, build: &mut Build<'_>) -> Result<(), Why> {
    const COUNT: u8 = 1 << 2;
    let row = rows::row(build.insn);
    let control = match row {
        Row::Move(_, control) => control,
        _ => COUNT,
    };
    build.name_memory();
    let mut read = Vec::new();
    for n in (0..build.operands()).filter(|n| control >> n & 1 == 0) {
        let is_general = build.is_register(n) && build.insn.op_register(n).is_gpr();
        let bytes = match rows::inserted(build.insn) {
            Some((_, bytes)) if is_general => bytes.into(),
            _ if is_general => 8,
            _ => build.width(n),
        };
        read.push((build.before(build.place(n)?, bytes), bytes));
    }
    let before = std::mem::take(&mut build.out.lowered.steps);
    match row {
        Row::General(row) => general::general(build, row)?,
        _ => moved(probe, build, control)?,
    }
    let moves = std::mem::replace(&mut build.out.lowered.steps, before);
    let bytes = written_bytes(build);
    let r = build.after(build.place(0)?, bytes);
    build.step(Step::Mixed(Box::new(Mixed { r, bytes, read, moves })));
    Ok(())
}

/// The rearrangement as plain copies and clears where these are few and none overwrites what another still reads.
fn rearrange(build: &mut Build<'_>, from: [Place; 2], to: Place, map: Box<[u8]>) {
    const FEW: usize = 4;
    let runs: Vec<Run> =
        runs(&map).into_iter().filter(|run| run.source(from) != Some(to.plus(run.at))).collect();
    let written = |run: &Run| run.at..run.at + run.bytes;
    let reads_written = |earlier: &Run, later: &Run| match later.from {
        Some((source, offset)) if from[source] == to => {
            let written = written(earlier);
            offset < written.end && written.start < offset + later.bytes
        }
        _ => false,
    };
    let in_order =
        (0..runs.len()).all(|later| (0..later).all(|earlier| !reads_written(&runs[earlier], &runs[later])));
    if runs.len() > FEW || !in_order {
        let bytes = map.len() as u16;
        build.step(Step::Permute { from, to, bytes, map: Map::Fixed(map) });
        return;
    }
    for run in runs {
        match run.source(from) {
            Some(source) => build.copy(source, to.plus(run.at), run.bytes),
            None => build.clear(to.plus(run.at), run.bytes),
        }
    }
}

/// Consecutive bytes with consecutive sources, or without.
struct Run {
    at: u16,
    bytes: u16,
    /// Number of the source, and an offset within that.
    from: Option<(usize, u16)>,
}

impl Run {
    fn source(&self, from: [Place; 2]) -> Option<Place> {
        self.from.map(|(source, offset)| from[source].plus(offset))
    }
}

fn runs(map: &[u8]) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for (at, &byte) in map.iter().enumerate() {
        let from =
            (byte != NO_SOURCE).then(|| (usize::from(byte / SECOND_SOURCE), u16::from(byte % SECOND_SOURCE)));
        match runs.last_mut() {
            Some(run) if run.from.map(|(source, offset)| (source, offset + run.bytes)) == from => {
                run.bytes += 1
            }
            _ => runs.push(Run { at: at as u16, bytes: 1, from }),
        }
    }
    runs
}

/// Operands select at run time: the completion probes with their values.
fn selected(build: &mut Build<'_>, controls: &[u32], implicit: bool, probed: Probed) -> Result<(), Why> {
    let bytes = written_bytes(build);
    let mut data: Vec<u32> = (0..build.operands()).filter(|n| !controls.contains(n)).collect();
    let merges = build.merges() && (data.len() > 2 || controls.contains(&0));
    if data.len() > 2 {
        // Three operands besides the control: the destination is written only, but for lanes that a mask leaves.
        data.remove(0);
    }
    let mut captured = Vec::new();
    for &operand in controls {
        let (place, width) = (build.place(operand)?, build.width(operand));
        captured.push((operand as u8, build.before(place, width).value, width));
    }
    if implicit {
        captured.push((XMM0, build.before(Place::State(state::vector(0)), 16).value, 16));
    }
    captured.extend(build.mask().map(|mask| (MASK, mask, 8)));
    let to = build.place(0)?;
    let from = [build.place(data[0])?, build.place(data[data.len() - 1])?];
    let mut map = || {
        let at = build.out.lowered.reserve(bytes);
        build.out.lowered.captures.push(Capture::Map { bytes, at });
        at
    };
    let (at, merged) = (map(), if merges { Some(map()) } else { None });
    let data = [data[0] as u8, data[data.len() - 1] as u8];
    build.complete(Completion::Probe(Box::new(ProbeMap { probed, captured, data, bytes, at, merged })));
    let Some(second) = merged else {
        build.step(Step::Permute { from, to, bytes, map: Map::Recorded(at) });
        return Ok(());
    };
    let made = Place::State(state::SCRATCH);
    build.step(Step::Permute { from, to: made, bytes, map: Map::Recorded(at) });
    build.step(Step::Permute { from: [to, made], to, bytes, map: Map::Recorded(second) });
    Ok(())
}

/// The map that a probe's `result` says, for data operands `data`.
pub(super) fn map_of(result: &[u8], data: [u8; 2], map: &mut [u8]) {
    for (to, &mark) in map.iter_mut().zip(result) {
        *to = match source_of(mark) {
            Some((operand, byte)) if operand == u32::from(data[0]) => byte,
            Some((operand, byte)) if operand == u32::from(data[1]) => SECOND_SOURCE + byte,
            _ => NO_SOURCE,
        };
    }
}

/// The map that a probe's `result` says, from operand 0 and from what has been made of the others. Bytes without a mark are none, or
/// if operand 0 is no source, those that it keeps.
pub(super) fn merged(result: &[u8], is_source: bool, map: &mut [u8]) {
    for (n, (to, &mark)) in map.iter_mut().zip(result).enumerate() {
        *to = match source_of(mark) {
            Some((0, byte)) => byte,
            Some(_) => SECOND_SOURCE + n as u8,
            None if is_source => NO_SOURCE,
            None => n as u8,
        };
    }
}

/// The probe's inputs for data operands `data`.
pub(super) fn marked(data: &[u8]) -> Inputs {
    let mut inputs = Inputs::default();
    for &operand in data {
        inputs.operand[usize::from(operand)] = marks(operand.into());
    }
    inputs
}

/// Lanes in memory, each at an address of its own.
struct Elements {
    places: Vec<Place>,
    /// Bytes of an index, and the captured indices.
    index_bytes: u16,
    indices: u16,
}

impl Elements {
    /// Elements for the lanes of `lane` bytes of register operand `operand`.
    fn of(build: &mut Build<'_>, operand: u32, lane: u16) -> Elements {
        let index = build.insn.memory_index();
        let index_bytes: u16 = if build.insn.is_vsib64() { 8 } else { 4 };
        let count = (build.width(operand) / lane).min(index.size() as u16 / index_bytes);
        let places = (0..count).map(|_| build.address(AddressRecipe::DEFERRED)).collect();
        let index = Place::State(state::vector(index.number()));
        let indices = build.before(index, count * index_bytes).value;
        Elements { places, index_bytes, indices }
    }

    fn count(&self) -> u16 {
        self.places.len() as u16
    }

    /// Moves lanes of `lane` bytes by `moved`, each where `masks` let it through.
    fn moved(self, build: &mut Build<'_>, lane: u16, masks: u16, moved: impl Fn(u16, Place) -> [Place; 2]) {
        let (count, scale) = (self.count(), build.insn.memory_index_scale() as u8);
        let Elements { places, index_bytes, indices } = self;
        let flags = build.out.lowered.reserve(count);
        for (i, place) in (0..count).zip(places) {
            let [from, to] = moved(i, place);
            build.step(Step::Unless { flag: flags + i, skip: 1 });
            build.copy(from, to, lane);
        }
        let by_bits = build.insn.has_op_mask();
        let gather = Gather { count, lane, index_bytes, scale, indices, masks, by_bits, flags };
        build.complete(Completion::Gather(gather));
    }
}

/// Lanes to memory, each to its own address, where the mask's bit is set.
pub(super) fn scatter(build: &mut Build<'_>, lane: u16) -> Result<(), Why> {
    let elements = Elements::of(build, 1, lane);
    let masks = build.mask().ok_or("a scatter without a mask")?;
    let from = build.place(1)?;
    elements.moved(build, lane, masks, |i, element| [from.plus(lane * i), element]);
    Ok(())
}

/// Lanes from memory, each at its own address, where the mask's bit is set, or the sign bit of its lane.
pub(super) fn gather(build: &mut Build<'_>, lane: u16) -> Result<(), Why> {
    let (to, elements) = (build.place(0)?, Elements::of(build, 0, lane));
    let count = elements.count();
    let masks = match build.mask() {
        Some(masks) => masks,
        None => build.before(build.place(2)?, count * lane).value,
    };
    elements.moved(build, lane, masks, |i, element| [element, to.plus(lane * i)]);
    if !build.insn.has_op_mask() {
        build.clear(build.place(2)?, state::VECTOR_BYTES);
    }
    let written = (lane * count).max(16);
    build.clear(to.plus(lane * count), 16_u16.saturating_sub(lane * count));
    build.finish_vector(written)
}
