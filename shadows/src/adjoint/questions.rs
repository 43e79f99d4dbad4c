//! Answers of the tape: gradients, Jacobians and their patterns, derivatives in directions, and budgets of rounding errors.

use super::budget::Shares;
use super::jacobian;
use super::sweep::{self, Numbers};
use super::{Active, Adjoint, Component};
use hashbrown::HashMap;
use shadowgrind_core::findings::{Answers, Contribution, Questions, Row, Sparse};
use std::io;

/// Most outputs, or directions, that go through the tape at once.
const LANES: usize = 8;

/// Outputs that are asked about.
struct Asked {
    /// The output of each row; nothing for a sum.
    rows: Vec<Option<u64>>,
    /// Outputs that depend on an input: their row, shadow and weight.
    active: Vec<(usize, Active, f64)>,
    left_out: u64,
}

impl Adjoint {
    /// Finds all answers, as far as the tape can be read.
    pub(super) fn answer(&self, questions: &Questions, answers: &mut Answers) -> io::Result<()> {
        let asked = self.asked(questions);
        answers.left_out = asked.left_out;
        let places = self.places(answers);
        let width = answers.width() as usize;
        if questions.gradients {
            let row = |&output: &Option<u64>| Row { output, values: vec![0.0; width] };
            answers.gradients = asked.rows.iter().map(row).collect();
            answers.budget = self.gradients(&asked.active, &places, &mut answers.gradients)?;
        }
        if questions.jacobian || questions.sparsity {
            let sparse = self.jacobian(&asked, &places, width as u64, questions.jacobian)?;
            answers.jacobian_outputs = asked.rows.clone();
            answers.jacobian = Some(sparse);
        }
        if let Some(directions) = &questions.directions {
            answers.directions = self.directions(&asked, &places, directions)?;
        }
        Ok(())
    }

    /// Fills rows with derivatives by all components; the contributions of roundings to each, if they are recorded.
    fn gradients(
        &self,
        active: &[(usize, Active, f64)],
        places: &[usize],
        rows: &mut [Row],
    ) -> io::Result<Vec<Contribution>> {
        let mut budget = Vec::new();
        for (batch, some) in rows.chunks_mut(LANES).enumerate() {
            let lane = |row: usize| row.checked_sub(batch * LANES).filter(|&lane| lane < LANES);
            let lanes = active.iter().filter_map(|&(row, shadow, weight)| Some((lane(row)?, shadow, weight)));
            let lanes: Vec<_> = lanes.collect();
            budget.extend(match some.len() {
                1 => self.sweep::<1>(some, &lanes, places)?,
                2..5 => self.sweep::<4>(some, &lanes, places)?,
                _ => self.sweep::<LANES>(some, &lanes, places)?,
            });
        }
        Ok(budget)
    }

    /// Sweeps the tape for some rows, given what each output counts in which of them.
    fn sweep<const LANES: usize>(
        &self,
        rows: &mut [Row],
        outputs: &[(usize, Active, f64)],
        places: &[usize],
    ) -> io::Result<Vec<Contribution>>
    where
        [f64; LANES]: Default,
    {
        if outputs.is_empty() {
            return Ok(Vec::new());
        }
        let outputs = outputs.iter().map(|&(lane, active, weight)| {
            let mut cell = [0.0; LANES];
            cell[lane] = 1.0;
            (active.number, cell, active.by_result(weight))
        });
        let components = self.by_statement();
        let mut shares = Shares::new();
        sweep::backward::<Numbers<LANES>>(&self.tape, outputs, |passed, adjoints| {
            if passed.is_input {
                let number = components[&passed.statement];
                for (row, adjoint) in rows.iter_mut().zip(adjoints) {
                    row.values[places[number]] = self.components[number].weight * adjoint;
                }
            } else if let Some(rounding) = passed.rounding() {
                shares.add(rounding, adjoints);
            }
        })?;
        Ok(rows.iter().enumerate().flat_map(|(lane, row)| shares.of(lane, row.output)).collect())
    }

    /// The Jacobian of the outputs that are asked about; with `numbers`, or only its pattern, with ones.
    fn jacobian(&self, asked: &Asked, places: &[usize], columns: u64, numbers: bool) -> io::Result<Sparse> {
        let rows = asked.rows.len();
        let active: Vec<_> = asked.active.iter().map(|&(row, shadow, _)| (row, shadow)).collect();
        let components = self.by_statement();
        let column = |statement: u64| places[components[&statement]] as u64;
        let pattern = jacobian::pattern(&self.tape, rows, &active, column)?;
        if !numbers {
            let row = |columns: &Vec<u64>| columns.iter().map(|&column| (column, 1.0)).collect();
            return Ok(Sparse { columns, rows: pattern.iter().map(row).collect() });
        }
        let (colours, count) = jacobian::colours(&pattern, columns as usize);
        let row = || Row { output: None, values: vec![0.0; columns as usize] };
        let mut compressed: Vec<Row> = std::iter::repeat_with(row).take(count).collect();
        let together = |&(row, shadow, weight): &(usize, Active, f64)| (colours[row], shadow, weight);
        let active: Vec<_> = asked.active.iter().map(together).collect();
        self.gradients(&active, places, &mut compressed)?;
        let compressed: Vec<Vec<f64>> = compressed.into_iter().map(|row| row.values).collect();
        Ok(jacobian::entries(&pattern, &colours, &compressed, columns))
    }

    /// Derivatives of the outputs in each direction, a column of as many numbers as there are components.
    fn directions(&self, asked: &Asked, places: &[usize], directions: &[Vec<f64>]) -> io::Result<Vec<Row>> {
        let row = |&output: &Option<u64>| Row { output, values: vec![0.0; directions.len()] };
        let mut rows: Vec<Row> = asked.rows.iter().map(row).collect();
        let components = self.by_statement();
        for (batch, some) in directions.chunks(LANES).enumerate() {
            let keep = asked.active.iter().map(|(_, shadow, _)| shadow.number);
            let cells = sweep::forward::<Numbers<LANES>>(&self.tape, keep, |statement| {
                let number = components[&statement];
                let mut cell = [0.0; LANES];
                for (cell, direction) in cell.iter_mut().zip(some) {
                    *cell = self.components[number].weight * direction[places[number]];
                }
                cell
            })?;
            for &(row, shadow, weight) in &asked.active {
                let cell = cells.get(shadow.number);
                let values = &mut rows[row].values[batch * LANES..];
                for (value, cell) in values.iter_mut().zip(cell) {
                    *value += shadow.by_result(weight) * cell;
                }
            }
        }
        Ok(rows)
    }

    /// Numbers of components by their statements.
    fn by_statement(&self) -> HashMap<u64, usize> {
        self.components.iter().enumerate().map(|(n, component)| (component.statement, n)).collect()
    }

    /// The place of each component in a row.
    fn places(&self, answers: &Answers) -> Vec<usize> {
        let mut next: Vec<u64> = (0..answers.components.len()).map(|input| answers.first(input)).collect();
        let place = |component: &Component| {
            let place = next[component.input] as usize;
            next[component.input] += 1;
            place
        };
        self.components.iter().map(place).collect()
    }

    /// The rows that questions are about, and what of the outputs goes into them.
    fn asked(&self, questions: &Questions) -> Asked {
        let Some(outputs) = &questions.outputs else {
            let taken = &self.outputs[..self.outputs.len().min(questions.most)];
            let active = taken.iter().enumerate().map(|(row, &(_, shadow))| (row, shadow, 1.0));
            let rows = taken.iter().map(|&(output, _)| Some(output)).collect();
            let left_out = (self.outputs.len() - taken.len()) as u64;
            return Asked { rows, active: active.collect(), left_out };
        };
        let find = |&(output, shadow): &(u64, Active)| {
            let number = outputs.binary_search(&output).ok()?;
            Some(match &questions.weights {
                Some(weights) => (0, shadow, weights[number]),
                None => (number, shadow, 1.0),
            })
        };
        let active = self.outputs.iter().filter_map(find).collect();
        let rows = match questions.weights {
            Some(_) => vec![None],
            None => outputs.iter().map(|&output| Some(output)).collect(),
        };
        Asked { rows, active, left_out: 0 }
    }
}
