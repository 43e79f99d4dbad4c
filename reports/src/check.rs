//! Report of a check: derivatives beside differences, for people and for tools.
//!
//! Knows what was found, not how: whoever checks fills it in.

use std::io::{self, Write};

use serde::Serialize;
use shadowgrind_core::differences::Verdict;
use shadowgrind_core::findings::{Number, Program, Value};

use crate::words;

/// Name and version of the JSON report.
const SCHEMA: &str = "shadowgrind-check/1";

/// Rows of a table on the terminal before it is cut; what differs comes first.
const ROWS: usize = 20;

/// Derivative of an output beside the difference of two runs.
#[derive(Clone, Debug, Serialize)]
pub struct Compared {
    /// The inputs that were moved.
    pub moved: String,
    /// Number of the output.
    pub output: u64,
    /// The place it left at.
    pub place: String,
    /// The value.
    pub value: Number,
    /// The derivative, as the shadow has it.
    pub derivative: Number,
    /// The derivative by differences.
    pub difference: Number,
    /// The error that the difference may have.
    pub error: Number,
    /// The result.
    pub verdict: Verdict,
    /// The reason, where the numbers do not say it.
    pub why: Option<&'static str>,
}

impl Compared {
    /// Cells of its row in a table.
    fn cells(&self) -> [String; 8] {
        let text = |x: Number| words::float(Value::from(x.0));
        let error = |x: Number| if x.0.is_finite() { format!("{:.0e}", x.0) } else { "?".to_owned() };
        let verdict = self.verdict.word();
        [
            self.output.to_string(),
            self.moved.clone(),
            text(self.value),
            text(self.derivative),
            text(self.difference),
            error(self.error),
            self.why.map_or(verdict.to_owned(), |why| format!("{verdict}: {why}")),
            self.place.clone(),
        ]
    }
}

/// Product of an output's gradient with a direction, and the derivative in that direction.
#[derive(Clone, Debug, Serialize)]
pub struct Product {
    /// Number of the output.
    pub output: u64,
    /// By the gradient, backwards.
    pub backward: Number,
    /// By one direction, forwards.
    pub forward: Number,
    /// The result.
    pub verdict: Verdict,
}

/// First place at which derivative and difference are not the same.
#[derive(Clone, Debug, Serialize)]
pub struct Parting {
    /// The place.
    pub place: String,
    /// Number of operations with derivatives before it.
    pub after: u64,
    /// The kind: `value`, `branch`, or `lost`.
    pub kind: &'static str,
    /// A sentence about the place.
    pub text: String,
}

/// Values that lost their derivative.
#[derive(Clone, Debug, Serialize)]
pub struct Lost {
    /// The instruction.
    pub instruction: String,
    /// The place.
    pub place: String,
    /// Number of values.
    pub count: u64,
}

/// All that a check has found.
#[derive(Clone, Debug, Serialize)]
pub struct Check {
    /// The shadow that was checked.
    pub shadow: &'static str,
    /// The program's command.
    pub argv: Vec<String>,
    /// Number of times that the program ran, in words for each purpose.
    pub runs: u64,
    /// Purposes, each in words.
    pub purposes: Vec<String>,
    /// Components that there are, and that were moved one by one or together.
    pub components: u64,
    /// Derivatives and differences.
    pub compared: Vec<Compared>,
    /// Gradients and directions.
    pub products: Vec<Product>,
    /// The first place of difference, if there is any and it was found.
    pub parting: Option<Parting>,
    /// Inputs that the program never reached: nothing was seeded nor moved for them.
    pub unreached: Vec<String>,
    /// Values that lost their derivative.
    pub lost: Vec<Lost>,
    /// Facts that limit what the check says.
    pub notes: Vec<String>,
}

#[derive(Serialize)]
struct Root<'a> {
    schema: &'static str,
    verdict: Verdict,
    #[serde(flatten)]
    check: &'a Check,
}

impl Check {
    /// The worst of all comparisons; unsettled where there is none, where an input was never reached, or where values lost their
    /// derivative on the way.
    pub fn verdict(&self) -> Verdict {
        let compared = self.compared.iter().map(|compared| compared.verdict);
        let products = self.products.iter().map(|product| product.verdict);
        let all = compared.chain(products).min().unwrap_or(Verdict::Unsettled);
        let is_whole = self.lost.is_empty() && self.unreached.is_empty();
        if is_whole { all } else { all.min(Verdict::Unsettled) }
    }

    /// Writes it for tools.
    pub fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        let root = Root { schema: SCHEMA, verdict: self.verdict(), check: self };
        serde_json::to_writer_pretty(&mut *out, &root).map_err(io::Error::from)?;
        writeln!(out)
    }

    /// Writes it for people.
    pub fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let program = Program { argv: self.argv.clone(), ..Program::default() };
        writeln!(out, "shadowgrind check --shadow={}: {}", self.shadow, words::command(&program))?;
        writeln!(out, "the program ran {}: {}", times(self.runs), self.purposes.join(", "))?;
        writeln!(out, "\n{}\n", self.headline())?;
        self.write_table(out)?;
        self.write_products(out)?;
        if let Some(parting) = &self.parting {
            writeln!(out, "\nParts first at {}\n  {}", parting.place, parting.text)?;
        }
        for lost in &self.lost {
            let Lost { instruction, place, count } = lost;
            writeln!(out, "  lost       {} at {place} ({instruction})", words::count(*count, "derivative"))?;
        }
        for note in &self.notes {
            writeln!(out, "  note       {note}")?;
        }
        Ok(())
    }

    fn headline(&self) -> String {
        let all = self.compared.len() as u64;
        let of = |verdict| self.compared.iter().filter(|compared| compared.verdict == verdict).count() as u64;
        let (differ, unsettled) = (of(Verdict::Differs), of(Verdict::Unsettled));
        match (self.verdict(), differ, unsettled) {
            (_, 0, 0) if all == 0 => "Nothing could be compared.".to_owned(),
            (Verdict::Agrees, ..) if all == 1 => "The derivative agrees.".to_owned(),
            (Verdict::Agrees, ..) => format!("All {} agree.", words::count(all, "derivative")),
            (_, 0, 0) if !self.unreached.is_empty() => {
                format!("Nothing was checked for {}, never reached.", self.unreached.join(", "))
            }
            (_, 0, 0) if !self.lost.is_empty() => {
                format!(
                    "All {} agree, but values have lost theirs on the way.",
                    words::count(all, "derivative")
                )
            }
            (_, 0, 0) => {
                "Derivatives agree with differences, but forwards and backwards are not the same.".to_owned()
            }
            (_, 0, _) => format!("{unsettled} of {} could not be settled.", words::count(all, "derivative")),
            (_, 1, _) => format!("1 of {} differs.", words::count(all, "derivative")),
            _ => format!("{differ} of {} differ.", words::count(all, "derivative")),
        }
    }

    fn write_table(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut rows: Vec<&Compared> = self.compared.iter().collect();
        rows.sort_by_key(|row| row.verdict);
        let titles =
            ["output", "moved", "value", "derivative", "difference", "±", "", "where"].map(str::to_owned);
        let rows_shown = rows.iter().take(ROWS).map(|row| row.cells());
        let shown: Vec<_> = std::iter::once(titles).chain(rows_shown).collect();
        let width = |column: usize| shown.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        for row in &shown {
            let cells = row.iter().enumerate().map(|(column, cell)| {
                let blanks = " ".repeat(width(column) - cell.chars().count());
                let is_number = matches!(column, 0 | 2..=5);
                if is_number { blanks + cell } else { cell.clone() + &blanks }
            });
            writeln!(out, " {}", cells.collect::<Vec<_>>().join("  ").trim_end())?;
        }
        if rows.len() > ROWS {
            writeln!(out, " … {} more (--report=json:FILE has them all)", rows.len() - ROWS)?;
        }
        Ok(())
    }

    fn write_products(&self, out: &mut dyn Write) -> io::Result<()> {
        let Some(worst) = self.products.iter().min_by_key(|product| product.verdict) else { return Ok(()) };
        let Product { output, backward, forward, verdict } = worst;
        let numbers = || format!("output {output}: {} backwards, {} forwards", backward.0, forward.0);
        match verdict {
            Verdict::Agrees => {
                let outputs = words::count(self.products.len() as u64, "output");
                writeln!(
                    out,
                    "\n  products   gradients of {outputs} times a direction are its derivatives forwards"
                )
            }
            _ => writeln!(out, "\n  products   gradient times direction {}: {}", verdict.word(), numbers()),
        }
    }
}

fn times(n: u64) -> String {
    if n == 1 { "once".to_owned() } else { format!("{n} times") }
}
