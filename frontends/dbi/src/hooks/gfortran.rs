//! gfortran's formatted output: one call of its library per item of a `write` or `print` statement, and the format that says
//! how each is written.
//!
//! Layouts are those of libgfortran since GCC 8 (`st_parameter_dt`, `gfc_array_descriptor`).

mod format;

use self::format::Cursor;
use super::abi::{self, Float};
use crate::hooks::machine::{Machine, Unmapped, read_bytes, read_u64};
use hashbrown::HashMap;
use shadowgrind_core::format::Format;
use shadowgrind_core::text::fortran::{Edit, Letter};
use shadowgrind_core::text::{Notation, Sign, Style};

/// Kind of an item, or what else is said of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Item {
    Real,
    Complex,
    Array,
    /// Something of which no shadow is carried, and the number of descriptors it takes.
    Other(u8),
    /// Something of which it is not known how many it takes.
    Unknown,
    /// The statement begins.
    Begin,
    /// The end of a statement.
    End,
}

/// The function of this name.
pub(super) fn of(symbol: &str) -> Option<Item> {
    Some(match symbol.strip_prefix("_gfortran_")? {
        "transfer_real_write" => Item::Real,
        "transfer_complex_write" => Item::Complex,
        "transfer_array_write" => Item::Array,
        "transfer_integer_write" | "transfer_logical_write" => Item::Other(1),
        "transfer_character_write" | "transfer_character_wide_write" => Item::Other(1),
        "transfer_real128_write" => Item::Other(1),
        "transfer_complex128_write" => Item::Other(2),
        "transfer_derived" => Item::Unknown,
        "st_write" => Item::Begin,
        "st_write_done" => Item::End,
        _ => return None,
    })
}

/// Flags of a statement (`IOPARM_DT_…`): `LIST_FORMAT`, `HAS_FORMAT`, `HAS_NAMELIST_NAME`.
const LIST: u32 = 1 << 7;
const HAS_FORMAT: u32 = 1 << 12;
const NAMELIST: u32 = 1 << 15;
/// `HAS_DECIMAL`, `HAS_ROUND`, `HAS_SIGN`: they change what a descriptor means.
const CHANGED: u32 = 1 << 20 | 1 << 23 | 1 << 24;
/// The address of a statement's format, and its length, in bytes from its parameters.
const FORMAT: [u64; 2] = [80, 88];
/// No format is longer, in characters.
const LONGEST: u64 = 1 << 16;

/// Codes of types in an array's descriptor.
const BT_REAL: u8 = 3;
const BT_COMPLEX: u8 = 4;
const BT_DERIVED: u8 = 5;

/// libgfortran's `GFC_MAX_DIMENSIONS`.
const RANKS: usize = 15;

/// Statements under way, by the addresses of their parameters.
#[derive(Debug, Default)]
pub(crate) struct Statements(HashMap<u64, Statement>);

/// Manner in which a statement writes its items.
#[derive(Clone, Debug)]
enum Statement {
    /// As each item's kind has it.
    List,
    /// By a format.
    Formatted(Cursor),
}

impl Statements {
    /// The floats of the item, and their notations, as far as those are known. Those of an unformatted statement are not printed.
    pub(super) fn floats(
        &mut self,
        m: &dyn Machine,
        item: Item,
    ) -> Result<Vec<(Float, Option<Notation>)>, Unmapped> {
        let at = abi::integer(m, 0)?;
        let statement = match item {
            Item::Begin => {
                let begun = begin(m, at)?;
                begun.map(|statement| self.0.insert(at, statement));
                return Ok(Vec::new());
            }
            Item::End | Item::Unknown => {
                self.0.remove(&at);
                return Ok(Vec::new());
            }
            _ => self.0.get_mut(&at),
        };
        let flags = u32::from_le_bytes(read_bytes(m, at)?);
        if flags & (LIST | HAS_FORMAT | NAMELIST) == 0 {
            return Ok(Vec::new());
        }
        let Items { floats, in_all, is_complex } = items(m, item)?;
        let Some(statement) = statement else { return Ok(floats.into_iter().map(|x| (x, None)).collect()) };
        let of = |x: Float| (x, statement.next(x.format, is_complex));
        let floats: Vec<_> = floats.into_iter().map(of).collect();
        // What is no float takes descriptors all the same.
        for _ in floats.len() as u64..in_all {
            statement.next(Format::F64, is_complex);
        }
        Ok(floats)
    }
}

impl Statement {
    /// The notation of the next item.
    fn next(&mut self, format: Format, is_complex: bool) -> Option<Notation> {
        match self {
            Statement::List => Some(list(format, is_complex)),
            Statement::Formatted(cursor) => cursor.next().map(|notation| match notation.style {
                Style::Fortran(edit) if edit.letter == Letter::G(u32::MAX) => {
                    free(edit, format).notation(notation.sign)
                }
                _ => notation,
            }),
        }
    }
}

/// The statement with the parameters at `at`; nothing if it is not known how it writes.
fn begin(m: &dyn Machine, at: u64) -> Result<Option<Statement>, Unmapped> {
    let flags = u32::from_le_bytes(read_bytes(m, at)?);
    if flags & (CHANGED | NAMELIST) != 0 {
        return Ok(None);
    }
    if flags & LIST != 0 {
        return Ok(Some(Statement::List));
    }
    let [text, length] = FORMAT.map(|offset| read_u64(m, at + offset));
    if flags & HAS_FORMAT == 0 || length? > LONGEST {
        return Ok(None);
    }
    let mut format = vec![0; length? as usize];
    m.read(text?, &mut format)?;
    Ok(Cursor::new(&format).map(Statement::Formatted))
}

/// Digits, width and exponent's digits of a real of this format, where nothing is said.
fn default(format: Format) -> [u32; 3] {
    match format {
        Format::F16 | Format::F32 => [9, 16, 2],
        Format::F64 => [17, 25, 3],
        Format::F80 => [21, 30, 4],
    }
}

/// Notation of list-directed output.
fn list(format: Format, is_complex: bool) -> Notation {
    let [digits, width, exponent] = default(format);
    let (width, after) = if is_complex { (None, digits) } else { (Some(width), digits - 1) };
    let exponent = Some(exponent as u8);
    Edit { letter: Letter::G(after), width, digits, exponent, scale: 1 }.notation(Sign::None)
}

/// `G0` for a real of this format.
fn free(edit: Edit, format: Format) -> Edit {
    let [digits, ..] = default(format);
    Edit { letter: Letter::G(digits), digits, exponent: Some(1), ..edit }
}

/// Floats of an item, the number of descriptors that all of it takes, and whether two are a number.
struct Items {
    floats: Vec<Float>,
    in_all: u64,
    is_complex: bool,
}

fn items(m: &dyn Machine, item: Item) -> Result<Items, Unmapped> {
    let (address, kind) = (abi::integer(m, 1)?, abi::integer(m, 2)?);
    let format = format(kind as i32);
    let (floats, in_all, is_complex) = match (item, format) {
        (Item::Real, Some(format)) => (vec![abi::memory(m, address, format)?], 1, false),
        (Item::Complex, Some(format)) => (complex(m, address, format)?, 2, true),
        (Item::Array, _) => return array(m, address, format),
        (Item::Other(takes), _) => (Vec::new(), takes.into(), false),
        (Item::Complex, None) => (Vec::new(), 2, true),
        _ => (Vec::new(), 1, false),
    };
    Ok(Items { floats, in_all, is_complex })
}

/// The format of `real(kind)`; kind 16 is a software format that no shadow carries.
fn format(kind: i32) -> Option<Format> {
    match kind {
        4 => Some(Format::F32),
        8 => Some(Format::F64),
        10 => Some(Format::F80),
        _ => None,
    }
}

fn complex(m: &dyn Machine, address: u64, format: Format) -> Result<Vec<Float>, Unmapped> {
    let part = if format == Format::F80 { 16 } else { format.bytes() as u64 };
    Ok(vec![abi::memory(m, address, format)?, abi::memory(m, address.wrapping_add(part), format)?])
}

/// Extents of an array's dimensions, and the bytes from one element to the next along each.
fn dimensions(
    m: &dyn Machine,
    descriptor: u64,
    rank: usize,
    element: u64,
) -> Result<Vec<(u64, u64)>, Unmapped> {
    let dimension = |i: u64| {
        let [stride, lower, upper] = [0, 8, 16].map(|at| read_u64(m, descriptor + 40 + 24 * i + at));
        let extent = (upper? as i64).wrapping_sub(lower? as i64).wrapping_add(1).max(0) as u64;
        Ok((extent, stride?.wrapping_mul(element)))
    };
    (0..rank as u64).map(dimension).collect()
}

/// Address of the element of this number, in memory order of the language, of an array at `base`.
fn address_of(number: u64, base: u64, dimensions: &[(u64, u64)]) -> u64 {
    let mut rest = number;
    dimensions.iter().fold(base, |address, (extent, stride)| {
        let index = rest % extent;
        rest /= extent;
        address.wrapping_add(index.wrapping_mul(*stride))
    })
}

/// The elements of the array that a descriptor describes, in memory order of the language: first index fastest.
fn array(m: &dyn Machine, descriptor: u64, format: Option<Format>) -> Result<Items, Unmapped> {
    let base = read_u64(m, descriptor)?;
    let element = read_u64(m, descriptor + 16)?;
    let [rank, kind] = read_bytes(m, descriptor + 28)?;
    let dimensions = dimensions(m, descriptor, usize::from(rank).min(RANKS), element)?;
    let count: u64 = dimensions.iter().fold(1, |count, (extent, _)| count.saturating_mul(*extent));
    let is_complex = kind == BT_COMPLEX;
    let in_all = if kind == BT_DERIVED { 0 } else { count.saturating_mul(1 + u64::from(is_complex)) };
    let mut floats = Vec::new();
    let Some(format) = format.filter(|_| matches!(kind, BT_REAL | BT_COMPLEX)) else {
        return Ok(Items { floats, in_all, is_complex });
    };
    for number in 0..count {
        let address = address_of(number, base, &dimensions);
        match is_complex {
            false => floats.push(abi::memory(m, address, format)?),
            true => floats.extend(complex(m, address, format)?),
        }
    }
    Ok(Items { floats, in_all, is_complex })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hooks::fake::{Fake, RDI, RSI};
    use std::process::Command;

    /// Prints the elements of a section, then has C dump its descriptor and the whole array: address and bytes.
    const FORTRAN: &str = "
program p
  interface
    subroutine probe(s, whole)
      real(8) :: s(:,:)
      real(8) :: whole(3,4)
    end subroutine
  end interface
  real(8) :: a(3,4)
  integer :: i
  a = reshape([(0.5d0 * i, i = 1, 12)], [3, 4])
  print '(6f8.2)', a(1:3:2, 4:1:-2)
  call probe(a(1:3:2, 4:1:-2), a)
end program
";
    const C: &str = r#"
#include <stdio.h>
static void dump(const unsigned char *p, int n) { printf("%p ", p); while (n--) printf("%02x", *p++); puts(""); }
void probe_(const void *descriptor, const void *whole) { dump(descriptor, 88); dump(whole, 96); }
"#;

    /// The program's output; nothing without a Fortran compiler, which is said.
    fn output() -> Option<String> {
        let folder = std::env::temp_dir().join(format!("shadowgrind-gfortran-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("p.f90"), FORTRAN).unwrap();
        std::fs::write(folder.join("c.c"), C).unwrap();
        let build = Command::new("gfortran").args(["p.f90", "c.c", "-o", "p"]).current_dir(&folder).status();
        let output = match build {
            Ok(status) if status.success() => Some(Command::new(folder.join("p")).output().unwrap().stdout),
            _ => {
                eprintln!("SKIPPED: gfortran is not installed");
                None
            }
        };
        std::fs::remove_dir_all(folder).unwrap();
        output.map(|text| String::from_utf8(text).unwrap())
    }

    fn poke_dump(m: &mut Fake, line: &str) -> u64 {
        let (address, bytes) = line.split_once(' ').unwrap();
        let address = u64::from_str_radix(address.trim_start_matches("0x"), 16).unwrap();
        let byte = |i| u8::from_str_radix(&bytes[2 * i..2 * i + 2], 16).unwrap();
        m.poke(address, &(0..bytes.len() / 2).map(byte).collect::<Vec<_>>());
        address
    }

    #[test]
    fn a_section_is_read_as_its_descriptor_says() {
        let Some(text) = output() else { return };
        let lines: Vec<_> = text.lines().collect();
        let printed: Vec<f64> = lines[0].split_whitespace().map(|x| x.parse().unwrap()).collect();
        let mut m = Fake::called(1);
        m.poke(0x100, &(1u32 << 12).to_le_bytes());
        (m.general[RDI], m.general[2]) = (0x100, 8);
        m.general[RSI] = poke_dump(&mut m, lines[1]);
        let whole = poke_dump(&mut m, lines[2]);
        let floats = |m: &Fake, item| {
            let found = Statements::default().floats(m, item).unwrap();
            found.iter().map(|(x, _)| x.format.to_f64(x.bits)).collect::<Vec<_>>()
        };
        assert_eq!(floats(&m, Item::Array), printed);
        assert_eq!(printed.len(), 4);
        m.general[RSI] = whole;
        assert_eq!(floats(&m, Item::Complex), [0.5, 1.0]);
        // An unformatted write prints nothing.
        m.poke(0x100, &[0; 4]);
        assert_eq!(floats(&m, Item::Real), Vec::<f64>::new());
    }
}
