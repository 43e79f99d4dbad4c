//! Sparse Jacobians and their patterns as Matrix Market files: outputs × components.

use std::io::{self, Write};

use shadowgrind_core::findings::Answers;

/// Writes the Jacobian in coordinate form, with numbers or as a pattern. Rows and columns count from 1 (Boisvert, Pozo and
/// Remington, "The Matrix Market exchange formats", NISTIR 5935, 1996).
pub(crate) fn write(answers: &Answers, numbers: bool, out: &mut dyn Write) -> io::Result<()> {
    let Some(jacobian) = &answers.jacobian else { return Ok(()) };
    let field = if numbers { "real" } else { "pattern" };
    writeln!(out, "%%MatrixMarket matrix coordinate {field} general")?;
    writeln!(out, "{} {} {}", jacobian.rows.len(), jacobian.columns, jacobian.entries())?;
    for (row, entries) in (1..).zip(&jacobian.rows) {
        for (column, value) in entries {
            write!(out, "{row} {}", column + 1)?;
            if numbers {
                write!(out, " {value:e}")?;
            }
            writeln!(out)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use shadowgrind_core::findings::Sparse;

    #[test]
    fn entries_count_from_one() {
        let jacobian = Sparse { columns: 3, rows: vec![vec![(0, 1.5), (2, -0.25)], vec![]] };
        let answers = Answers { jacobian: Some(jacobian), ..Answers::default() };
        let text = |numbers| {
            let mut file = Vec::new();
            write(&answers, numbers, &mut file).unwrap();
            String::from_utf8(file).unwrap()
        };
        let head = "%%MatrixMarket matrix coordinate";
        assert_eq!(text(true), format!("{head} real general\n2 3 2\n1 1 1.5e0\n1 3 -2.5e-1\n"));
        assert_eq!(text(false), format!("{head} pattern general\n2 3 2\n1 1\n1 3\n"));
    }
}
