//! Arguments for which a core is run, and its program on disk.

use super::{Core, parse_all, program, ranges};
use crate::host;
use std::path::PathBuf;

/// Groups of arguments for each core.
pub const SAMPLES: usize = 16;

/// The cores of `guests/mpfr/cores.fpcore`.
pub fn cores() -> Vec<Core> {
    let path = host::tests_dir().join("guests/mpfr/cores.fpcore");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    parse_all(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Samples that are alike in every run: fractions of the golden ratio, spread evenly, or by magnitude over wide ranges.
pub fn samples(core: &Core) -> Vec<Vec<f64>> {
    let ranges = ranges(core);
    let sample = |number: usize| {
        let spread = |(index, (low, high)): (usize, &(f64, f64))| {
            let fraction = ((number * ranges.len() + index) as f64 * 0.618_033_988_749_895 + 0.1).fract();
            let wide = *low > 0.0 && high / low > 100.0;
            let by_size = || low.powf(1.0 - fraction) * high.powf(fraction);
            let value = if wide { by_size() } else { low + (high - low) * fraction };
            if core.single { f64::from(value as f32) } else { value }
        };
        ranges.iter().enumerate().map(spread).collect()
    };
    (0..SAMPLES).map(sample).collect()
}

/// The core's C program; it takes any number of samples as arguments, one after the other.
pub fn source(core: &Core) -> Result<PathBuf, String> {
    let dir = host::target_dir().join("guests/cores");
    std::fs::create_dir_all(&dir).map_err(|e| e.to_string())?;
    let source = dir.join(format!("{}.c", core.name));
    let text = program(core);
    if std::fs::read_to_string(&source).ok().as_deref() != Some(&text) {
        // Tests that run at the same time find one or the other.
        let scratch = host::fresh_work_dir();
        std::fs::create_dir_all(&scratch).map_err(|e| e.to_string())?;
        let new = scratch.join("core.c");
        std::fs::write(&new, text).map_err(|e| e.to_string())?;
        std::fs::rename(&new, &source).map_err(|e| e.to_string())?;
    }
    Ok(source)
}
