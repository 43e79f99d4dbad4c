//! Directions in which inputs are moved, and what a shadow says of each output along them.
//!
//! Knows neither how far inputs are moved nor how differences are judged.

use super::{Checking, DRAW};
use shadowgrind_core::moves::Along;
use shadowgrind_dbi::ShadowKind;

/// A direction that is tried: its name, and what the shadow says of each output, in units of a step of 1.
pub(super) struct Direction {
    pub(super) moved: String,
    pub(super) along: Along,
    /// Output, and its derivative.
    pub(super) derivatives: Vec<(u64, f64)>,
    /// Divisor of the derivative, for people.
    pub(super) unit: f64,
}

impl Checking<'_> {
    /// The directions that are tried: under a shadow forwards that of all inputs, otherwise single components, and all together
    /// if there are many.
    pub(super) fn directions(&mut self) -> Vec<Direction> {
        let scales = self.scales();
        if self.options.shadow == ShadowKind::forward() {
            let unit = scales[0];
            let derivatives =
                self.forward.outputs.iter().map(|output| (output.index, output.dot.unwrap_or(0.0) * unit));
            let moved = if self.options.inputs.len() == 1 {
                self.options.inputs[0].clone()
            } else {
                "all".to_owned()
            };
            return vec![Direction { moved, along: Along::All, derivatives: derivatives.collect(), unit }];
        }
        let all = self.backward.components();
        let few = all.min(self.options.components);
        let chosen = (0..few).map(|n| if few > 1 { n * (all - 1) / (few - 1) } else { 0 });
        let mut directions: Vec<_> = chosen.map(|component| self.one(component, &scales)).collect();
        if all > few {
            let text = format!("{few} of {all} components were moved one by one, all together twice");
            self.notes.push(text);
            directions.extend([DRAW, DRAW + 1].map(|draw| self.together(draw, &scales)));
        }
        directions
    }

    /// Gradients of all outputs that there are to compare: those that depend on no component have none.
    pub(super) fn gradients(&self) -> Vec<(u64, Vec<f64>)> {
        let known = &self.backward.gradients;
        if self.backward.leaves_out() {
            return known.clone();
        }
        let none = vec![0.0; self.backward.components() as usize];
        let of =
            |index: u64| known.iter().find(|(own, _)| *own == index).map_or(&none, |(_, row)| row).clone();
        self.backward.outputs.iter().map(|output| (output.index, of(output.index))).collect()
    }

    /// The direction of one component.
    fn one(&self, component: u64, scales: &[f64]) -> Direction {
        let (input, number) = self.backward.component(component);
        let unit = scales.get(input).copied().unwrap_or(1.0);
        let rows = self.gradients().into_iter();
        let derivatives = rows.map(|(output, row)| (output, row[component as usize] * unit)).collect();
        let spec = &self.backward.inputs[input].spec;
        let moved =
            if self.backward.inputs[input].count > 1 { format!("{spec}, {number}") } else { spec.clone() };
        Direction { moved, along: Along::One { input, number }, derivatives, unit }
    }

    /// All components by steps of either sign.
    fn together(&self, draw: u64, scales: &[f64]) -> Direction {
        let along = Along::Signs(draw);
        let scale = |input: usize| scales.get(input).copied().unwrap_or(1.0);
        let derivatives = self.gradients().into_iter().map(|(output, row)| {
            (output, self.backward.along(&row, |input, number| along.factor(input, number) * scale(input)))
        });
        Direction {
            moved: format!("all, by signs {draw}"),
            along,
            derivatives: derivatives.collect(),
            unit: 1.0,
        }
    }
}
