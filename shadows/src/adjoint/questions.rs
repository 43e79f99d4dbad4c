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

/// Ratio of adjoints on the way to those of all components from which these may be what large ones leave of each other.
const LARGE: f64 = (1_u64 << 30) as f64;
/// Relative difference that derivatives may have which are found with other roundings.
const SAME: f64 = 1e-6;

/// Result of sweeps for some rows.
#[derive(Default)]
struct Swept {
    /// Contributions of roundings, if they are recorded.
    budget: Vec<Contribution>,
    /// Largest adjoint of any statement, and of a component, of each row.
    largest: Vec<[f64; 2]>,
}

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
            let unsure: Vec<usize>;
            (answers.budget, unsure) = self.gradients(&asked.active, &places, &mut answers.gradients)?;
            answers.unsure.extend(unsure.into_iter().map(|row| asked.rows[row]));
        }
        if questions.jacobian || questions.sparsity {
            let (sparse, unsure) = self.jacobian(&asked, &places, width as u64, questions.jacobian)?;
            answers.unsure.extend(unsure.into_iter().map(|row| asked.rows[row]));
            answers.jacobian_outputs = asked.rows.clone();
            answers.jacobian = Some(sparse);
        }
        if let Some(directions) = &questions.directions {
            answers.directions = self.directions(&asked, &places, directions)?;
        }
        Ok(())
    }

    /// Fills rows with derivatives by all components. The contributions of roundings to each, if they are recorded, and the numbers of
    /// rows that come out otherwise with other roundings.
    fn gradients(
        &self,
        active: &[(usize, Active, f64)],
        places: &[usize],
        rows: &mut [Row],
    ) -> io::Result<(Vec<Contribution>, Vec<usize>)> {
        let (mut budget, mut unsure) = (Vec::new(), Vec::new());
        for (batch, some) in rows.chunks_mut(LANES).enumerate() {
            let lane = |row: usize| row.checked_sub(batch * LANES).filter(|&lane| lane < LANES);
            let lanes = active.iter().filter_map(|&(row, shadow, weight)| Some((lane(row)?, shadow, weight)));
            let lanes: Vec<_> = lanes.collect();
            let swept = self.sweep_some(some, &lanes, places)?;
            budget.extend(swept.budget);
            if swept.largest.iter().any(|&[on_way, left]| on_way > LARGE * left) {
                unsure.extend(self.unsure(some, &lanes, places)?.map(|lane| batch * LANES + lane));
            }
        }
        Ok((budget, unsure))
    }

    /// The rows that come out otherwise where other numbers are rounded: those of a third of each output.
    fn unsure<'a>(
        &self,
        rows: &'a [Row],
        outputs: &[(usize, Active, f64)],
        places: &[usize],
    ) -> io::Result<impl Iterator<Item = usize> + 'a> {
        let thirds: Vec<_> =
            outputs.iter().map(|&(lane, shadow, weight)| (lane, shadow, weight / 3.0)).collect();
        let mut again = rows.to_vec();
        self.sweep_some(&mut again, &thirds, places)?;
        let differ = move |(lane, row): (usize, &Row)| {
            let largest = row.values.iter().fold(0.0_f64, |all, x| all.max(x.abs()));
            let mut pairs = row.values.iter().zip(&again[lane].values);
            pairs.any(|(x, third)| (x - 3.0 * third).abs() > SAME * largest).then_some(lane)
        };
        Ok(rows.iter().enumerate().filter_map(differ))
    }

    /// Sweeps the tape for up to [`LANES`] rows, as [`Adjoint::sweep`] does.
    fn sweep_some(
        &self,
        rows: &mut [Row],
        outputs: &[(usize, Active, f64)],
        places: &[usize],
    ) -> io::Result<Swept> {
        match rows.len() {
            1 => self.sweep::<1>(rows, outputs, places),
            2..5 => self.sweep::<4>(rows, outputs, places),
            _ => self.sweep::<LANES>(rows, outputs, places),
        }
    }

    /// Sweeps the tape for some rows, given what each output counts in which of them.
    fn sweep<const LANES: usize>(
        &self,
        rows: &mut [Row],
        outputs: &[(usize, Active, f64)],
        places: &[usize],
    ) -> io::Result<Swept>
    where
        [f64; LANES]: Default,
    {
        if outputs.is_empty() {
            return Ok(Swept::default());
        }
        let outputs = outputs.iter().map(|&(lane, active, weight)| {
            let mut cell = [0.0; LANES];
            cell[lane] = 1.0;
            (active.number, cell, active.by_result(weight))
        });
        let components = self.by_statement();
        let (mut shares, mut largest) = (Shares::new(), vec![[0.0_f64; 2]; LANES]);
        sweep::backward::<Numbers<LANES>>(&self.tape, outputs, |passed, adjoints| {
            for (largest, adjoint) in largest.iter_mut().zip(adjoints) {
                let largest = &mut largest[usize::from(passed.is_input)];
                *largest = largest.max(adjoint.abs());
            }
            if passed.is_input {
                let number = components[&passed.statement];
                for (row, adjoint) in rows.iter_mut().zip(adjoints) {
                    row.values[places[number]] = self.components[number].weight * adjoint;
                }
            } else if let Some(rounding) = passed.rounding() {
                shares.add(rounding, adjoints);
            }
        })?;
        let budget = rows.iter().enumerate().flat_map(|(lane, row)| shares.of(lane, row.output)).collect();
        Ok(Swept { budget, largest })
    }

    /// The Jacobian of the outputs that are asked about; with `numbers`, or only its pattern, with ones. And the numbers of rows that may
    /// come out otherwise with other roundings.
    fn jacobian(
        &self,
        asked: &Asked,
        places: &[usize],
        columns: u64,
        numbers: bool,
    ) -> io::Result<(Sparse, Vec<usize>)> {
        let rows = asked.rows.len();
        let active: Vec<_> = asked.active.iter().map(|&(row, shadow, _)| (row, shadow)).collect();
        let components = self.by_statement();
        let column = |statement: u64| places[components[&statement]] as u64;
        let pattern = jacobian::pattern(&self.tape, rows, &active, column)?;
        if !numbers {
            let row = |columns: &Vec<u64>| columns.iter().map(|&column| (column, 1.0)).collect();
            return Ok((Sparse { columns, rows: pattern.iter().map(row).collect() }, Vec::new()));
        }
        let (colours, count) = jacobian::colours(&pattern, columns as usize);
        let row = || Row { output: None, values: vec![0.0; columns as usize] };
        let mut compressed: Vec<Row> = std::iter::repeat_with(row).take(count).collect();
        let together = |&(row, shadow, weight): &(usize, Active, f64)| (colours[row], shadow, weight);
        let active: Vec<_> = asked.active.iter().map(together).collect();
        let (_, unsure) = self.gradients(&active, places, &mut compressed)?;
        let compressed: Vec<Vec<f64>> = compressed.into_iter().map(|row| row.values).collect();
        let is_unsure = |&row: &usize| unsure.contains(&colours[row]);
        let unsure = (0..rows).filter(is_unsure).collect();
        Ok((jacobian::entries(&pattern, &colours, &compressed, columns), unsure))
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
