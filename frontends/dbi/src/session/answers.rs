//! Answers to requests; the table of them is in `requests`.

use super::calls::Calls;
use super::observer::Observer;
use super::outputs::Leaving;
use super::requests::Request;
use super::state::{Session, State};
use crate::hooks::abi::{self, Float};
use crate::hooks::machine::{Machine, Unmapped, read_u64};
use shadowgrind_core::findings::{Label, OutputKind};
use shadowgrind_core::format::Format;
use shadowgrind_core::shadow::Derivatives;
use shadowgrind_core::site::Site;

/// Version of the table of requests.
const VERSION: u64 = 1;

/// Names and texts of a program are cut after so many bytes.
const LONGEST: usize = 4096;

/// Digits of a real that a program may ask for.
const DIGITS: u64 = 1 << 16;

/// Lengths that a program gives are not believed beyond this, in floats.
const MOST: u64 = 1 << 32;

impl Session {
    /// A thread makes a request: `rax` holds the address of its words. What `rdx` is to hold afterwards. `pc` is the
    /// address of the instruction that makes it.
    pub(crate) fn request(
        &self,
        pc: u64,
        calls: &mut Calls,
        observer: &mut dyn Observer,
        m: &mut dyn Machine,
    ) -> u64 {
        let default = m.general(abi::RDX);
        let Ok(words) = words(m) else { return default };
        let Some(request) = Request::of(words[0]) else { return default };
        let mut state = self.state.lock();
        let site = state.report.sites.at(pc);
        let mut asked = Asked { session: self, state: &mut state, calls, observer, m, site, words };
        asked.answer(request, default).unwrap_or(0)
    }
}

/// The code and five arguments.
fn words(m: &dyn Machine) -> Result<[u64; 6], Unmapped> {
    let at = m.general(abi::RAX);
    let mut words = [0; 6];
    for (i, word) in words.iter_mut().enumerate() {
        *word = read_u64(m, at.wrapping_add(8 * i as u64))?;
    }
    Ok(words)
}

/// A request that is being answered.
pub(super) struct Asked<'a> {
    pub(super) session: &'a Session,
    pub(super) state: &'a mut State,
    pub(super) calls: &'a mut Calls,
    pub(super) observer: &'a mut dyn Observer,
    pub(super) m: &'a mut dyn Machine,
    pub(super) site: Site,
    pub(super) words: [u64; 6],
}

impl Asked<'_> {
    fn answer(&mut self, request: Request, default: u64) -> Result<u64, Unmapped> {
        let [_, a, b, c, d, e] = self.words;
        let shadow = self.session.config.shadow;
        let derivatives = shadow.policy().derivatives;
        Ok(match request {
            Request::Version => VERSION,
            Request::Shadow => shadow.number(),
            Request::GetDots => self.get_dots(a, b)?,
            Request::SetDots => self.set_dots(a, b)?,
            Request::Input => self.input(a, b, c)?,
            Request::Output => self.output(a, b)?,
            Request::Disable => self.calls.disable(1),
            Request::Enable => self.calls.disable(-1),
            Request::GetReal => self.get_real(a, b, c, d, e)?,
            Request::GetErrorBits => self.get_error_bits(a, b, c)?,
            Request::Track => self.track(&floats(self.m, a)?),
            Request::DgGetDot | Request::DgSetDot if derivatives != Some(Derivatives::InPlace) => default,
            Request::DgGetIndex
            | Request::DgSetIndex
            | Request::DgNewIndex
            | Request::DgNewInput
            | Request::DgIndexToFile
                if derivatives != Some(Derivatives::Recorded) =>
            {
                default
            }
            Request::DgGetIndex => self.get_index(a, b)?,
            Request::DgSetIndex => self.set_index(a, b)?,
            Request::DgNewIndex => self.new_index(false)?,
            Request::DgNewInput => self.new_index(true)?,
            Request::DgIndexToFile => self.name_index(a, b)?,
            Request::DgGetDot => self.copy_dots(a, b, c, false)?,
            Request::DgSetDot => self.copy_dots(a, b, c, true)?,
            Request::DgDisable => self.derivgrind_disables(a.wrapping_sub(b) as i64),
            Request::DgGetMode => derivatives.map_or(default, derivgrind_mode),
            Request::HgBegin => self.herbgrind_runs(-1),
            Request::HgEnd => self.herbgrind_runs(1),
            Request::HgForceTrack => self.herbgrind_tracks(a)?,
            Request::HgMark => self.herbgrind_mark(a, 0, true)?,
            Request::HgMaybeMark => self.herbgrind_mark(a, 0, false)?,
            Request::HgMaybeMarkAt => self.herbgrind_mark(a, b, false)?,
            Request::RunningOnValgrind if self.session.config.valgrind_compat => 1,
            Request::RunningOnValgrind => default,
        })
    }

    fn get_dots(&mut self, at: u64, into: u64) -> Result<u64, Unmapped> {
        let floats = floats(self.m, at)?;
        for (i, &x) in floats.iter().enumerate() {
            let Some(derivative) = self.observer.derivative(self.m, x) else { return Ok(0) };
            self.m.write(into.wrapping_add(8 * i as u64), &derivative.to_le_bytes())?;
        }
        Ok(floats.len() as u64)
    }

    fn set_dots(&mut self, at: u64, from: u64) -> Result<u64, Unmapped> {
        self.state.sets_shadows = true;
        let floats = floats(self.m, at)?;
        for (i, &x) in floats.iter().enumerate() {
            let derivative = f64::from_bits(read_u64(self.m, from.wrapping_add(8 * i as u64))?);
            if !self.observer.set_derivative(self.m, x, derivative) {
                return Ok(0);
            }
        }
        Ok(floats.len() as u64)
    }

    fn input(&mut self, at: u64, name: u64, weight: u64) -> Result<u64, Unmapped> {
        let (floats, name) = (floats(self.m, at)?, text(self.m, name)?);
        let weight = if weight == 0 { 1.0 } else { f64::from_bits(read_u64(self.m, weight)?) };
        self.state.seed_named(&name, &floats, weight, self.observer, self.m);
        Ok(floats.len() as u64)
    }

    /// Records floats as outputs under a name, or none if that is empty; how many.
    fn output(&mut self, at: u64, name: u64) -> Result<u64, Unmapped> {
        let label = if name == 0 { String::new() } else { text(self.m, name)? };
        let floats = floats(self.m, at)?;
        Ok(self.mark(&floats, &label, 0))
    }

    fn mark(&mut self, floats: &[Float], name: &str, first: usize) -> u64 {
        if self.calls.is_disabled() {
            return floats.len() as u64;
        }
        let label = if name.is_empty() { Label::NONE } else { self.state.report.outputs.label(name) };
        let leaving = Leaving::new(OutputKind::Mark, label, self.site);
        for (i, &x) in floats.iter().enumerate() {
            self.state.output(leaving, first + i, x, self.observer, self.m);
        }
        floats.len() as u64
    }

    fn track(&mut self, floats: &[Float]) -> u64 {
        floats.iter().for_each(|&x| self.observer.track(self.m, x));
        floats.len() as u64
    }

    fn get_real(&mut self, at: u64, code: u64, into: u64, size: u64, digits: u64) -> Result<u64, Unmapped> {
        let x = abi::memory(self.m, at, format(code).ok_or(Unmapped)?)?;
        let own = || x.value().to_string();
        let text = self.observer.real(self.m, x, digits.min(DIGITS) as usize).unwrap_or_else(own);
        let Some(room) = size.checked_sub(1) else { return Ok(0) };
        let length = text.len().min(usize::try_from(room).unwrap_or(usize::MAX));
        let mut bytes = text.into_bytes();
        bytes.truncate(length);
        bytes.push(0);
        self.m.write(into, &bytes)?;
        Ok(length as u64)
    }

    fn get_error_bits(&mut self, at: u64, code: u64, into: u64) -> Result<u64, Unmapped> {
        let x = abi::memory(self.m, at, format(code).ok_or(Unmapped)?)?;
        let bits = self.observer.error_bits(self.m, x);
        self.m.write(into, &bits.unwrap_or(0.0).to_le_bytes())?;
        Ok(bits.is_some().into())
    }

    /// Derivgrind's requests copy the bytes of the mirror, whatever the floats are.
    fn copy_dots(&mut self, values: u64, shadows: u64, bytes: u64, set: bool) -> Result<u64, Unmapped> {
        self.state.sets_shadows |= set;
        let mut chunk = [0; 4096];
        let mut done = 0;
        while done < bytes {
            let chunk = &mut chunk[..(bytes - done).min(4096) as usize];
            let (value, shadow) = (values.wrapping_add(done), shadows.wrapping_add(done));
            if set {
                self.m.read(shadow, chunk)?;
                self.m.write_mirror(value, chunk);
            } else {
                self.m.read_mirror(value, chunk);
                self.m.write(shadow, chunk)?;
            }
            done += chunk.len() as u64;
        }
        Ok(1)
    }

    fn derivgrind_disables(&mut self, by: i64) -> u64 {
        self.calls.disable(by);
        1
    }

    /// Between `HgEnd` and the next `HgBegin` nothing is analysed.
    fn herbgrind_runs(&mut self, by: i64) -> u64 {
        self.calls.disable(by);
        0
    }

    fn herbgrind_tracks(&mut self, at: u64) -> Result<u64, Unmapped> {
        let float = abi::memory(self.m, at, Format::F64)?;
        self.track(&[float]);
        Ok(0)
    }

    fn herbgrind_mark(&mut self, at: u64, index: u64, always: bool) -> Result<u64, Unmapped> {
        let x = abi::memory(self.m, at, Format::F64)?;
        if always || self.observer.is_shadowed(self.m, x) {
            self.mark(&[x], "", index as usize);
        }
        Ok(0)
    }
}

/// Letter by which Derivgrind names its mode.
fn derivgrind_mode(derivatives: Derivatives) -> u64 {
    match derivatives {
        Derivatives::InPlace => b'd'.into(),
        Derivatives::Recorded => b'b'.into(),
    }
}

/// The format a program means.
fn format(code: u64) -> Option<Format> {
    match code {
        4 => Some(Format::F32),
        8 => Some(Format::F64),
        16 => Some(Format::F80),
        _ => None,
    }
}

/// The floats that the four words at `at` describe.
fn floats(m: &dyn Machine, at: u64) -> Result<Vec<Float>, Unmapped> {
    let word = |i: u64| read_u64(m, at.wrapping_add(8 * i));
    let (first, code, count, stride) = (word(0)?, word(1)?, word(2)?, word(3)?);
    let format = format(code).ok_or(Unmapped)?;
    let stride = if stride == 0 { code } else { stride };
    if count > MOST {
        return Err(Unmapped);
    }
    (0..count).map(|i| abi::memory(m, first.wrapping_add(stride.wrapping_mul(i)), format)).collect()
}

/// The NUL-terminated text at `at`; what is not UTF-8 is replaced.
fn text(m: &dyn Machine, at: u64) -> Result<String, Unmapped> {
    let mut bytes = Vec::new();
    while bytes.len() < LONGEST {
        let mut byte = [0];
        m.read(at.wrapping_add(bytes.len() as u64), &mut byte)?;
        if byte == [0] {
            break;
        }
        bytes.push(byte[0]);
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
