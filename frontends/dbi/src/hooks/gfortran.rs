//! gfortran's formatted output: one call of its library per item of a `write` or `print` statement.
//!
//! Layouts are those of libgfortran since GCC 8 (`st_parameter_dt`, `gfc_array_descriptor`).

use super::abi::{self, Float};
use crate::hooks::machine::{Machine, Unmapped, read_bytes, read_u64};
use shadowgrind_core::format::Format;

/// Kind of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Item {
    Real,
    Complex,
    Array,
}

/// The function of this name.
pub(super) fn of(symbol: &str) -> Option<Item> {
    Some(match symbol {
        "_gfortran_transfer_real_write" => Item::Real,
        "_gfortran_transfer_complex_write" => Item::Complex,
        "_gfortran_transfer_array_write" => Item::Array,
        _ => return None,
    })
}

/// Flags of a statement that formats: `IOPARM_DT_LIST_FORMAT`, `IOPARM_DT_HAS_FORMAT`, `IOPARM_DT_HAS_NAMELIST_NAME`.
const FORMATTED: u32 = 1 << 7 | 1 << 12 | 1 << 15;

/// Codes of types in an array's descriptor.
const BT_REAL: u8 = 3;
const BT_COMPLEX: u8 = 4;

/// libgfortran's `GFC_MAX_DIMENSIONS`.
const RANKS: usize = 15;

/// The floats of the item. Those of an unformatted statement are not printed.
pub(super) fn floats(m: &dyn Machine, item: Item) -> Result<Vec<Float>, Unmapped> {
    let flags = u32::from_le_bytes(read_bytes(m, abi::integer(m, 0)?)?);
    if flags & FORMATTED == 0 {
        return Ok(Vec::new());
    }
    let (address, kind) = (abi::integer(m, 1)?, abi::integer(m, 2)?);
    let Some(format) = format(kind as i32) else { return Ok(Vec::new()) };
    match item {
        Item::Real => Ok(vec![abi::memory(m, address, format)?]),
        Item::Complex => complex(m, address, format),
        Item::Array => array(m, address, format),
    }
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

/// The elements of the array that a descriptor describes, in memory order of the language: first index fastest.
fn array(m: &dyn Machine, descriptor: u64, format: Format) -> Result<Vec<Float>, Unmapped> {
    let base = read_u64(m, descriptor)?;
    let element = read_u64(m, descriptor + 16)?;
    let [rank, kind] = read_bytes(m, descriptor + 28)?;
    let mut dimensions = Vec::new();
    for i in 0..usize::from(rank).min(RANKS) as u64 {
        let [stride, lower, upper] = [0, 8, 16].map(|at| read_u64(m, descriptor + 40 + 24 * i + at));
        let extent = (upper? as i64).wrapping_sub(lower? as i64).wrapping_add(1).max(0) as u64;
        dimensions.push((extent, stride?.wrapping_mul(element)));
    }
    let count: u64 = dimensions.iter().fold(1, |count, (extent, _)| count.saturating_mul(*extent));
    let mut floats = Vec::new();
    for number in 0..count {
        let mut rest = number;
        let address = dimensions.iter().fold(base, |address, (extent, stride)| {
            let index = rest % extent;
            rest /= extent;
            address.wrapping_add(index.wrapping_mul(*stride))
        });
        match kind {
            BT_REAL => floats.push(abi::memory(m, address, format)?),
            BT_COMPLEX => floats.extend(complex(m, address, format)?),
            _ => return Ok(Vec::new()),
        }
    }
    Ok(floats)
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
        let found = floats(&m, Item::Array).unwrap();
        assert_eq!(found.iter().map(|x| x.format.to_f64(x.bits)).collect::<Vec<_>>(), printed);
        assert_eq!(printed.len(), 4);
        m.general[RSI] = whole;
        let complex = floats(&m, Item::Complex).unwrap();
        assert_eq!(complex.iter().map(|x| x.format.to_f64(x.bits)).collect::<Vec<_>>(), [0.5, 1.0]);
        // An unformatted write prints nothing.
        m.poke(0x100, &[0; 4]);
        assert_eq!(floats(&m, Item::Real), Ok(Vec::new()));
    }
}
