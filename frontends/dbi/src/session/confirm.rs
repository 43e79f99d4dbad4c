//! Findings confirmed or refuted by a second run of the program, when it has ended.
//!
//! Only the process that the user started has it run again: its findings are compared, not those of forked children. Knows
//! neither how a program is run again nor how findings are compared.

use super::state::{Session, State};
use super::tree;
use crate::engine::Again;
use shadowgrind_reports::document::Symbols;
use shadowgrind_reports::second::{self, Circumstances, SecondReport};

impl Session {
    /// Has the program run again, if that is wanted and there is anything to confirm, and marks its findings.
    pub(super) fn confirm(&self, state: &mut State, symbols: &mut dyn Symbols) {
        let Some(shadow) = self.config.shadow.confirmed_by().filter(|_| self.config.confirm) else { return };
        if !self.tree.is_first_process() || !self.has_reader(state) || !second::is_wanted(&state.report) {
            return;
        }
        let read = |again: Again| SecondReport::read(&again.report).map(|report| (report, again));
        let (second, again) = match self.tree.run_again().and_then(read) {
            Ok(both) => both,
            Err(why) => return state.warn_of_no_second_run(&why),
        };
        // Programs that ran natively have written unseen.
        let is_seen = again.same_output || tree::all_unfollowed(&*self.tree).is_empty();
        let same_output = is_seen.then_some(again.same_output);
        let circumstances = Circumstances { shadow, seconds: again.seconds, same_output };
        second.confirm(&mut state.report, symbols, circumstances);
        match &state.report.confirmation {
            Some(run) if !run.same_end => state.warn_of_another_course("ended otherwise"),
            Some(run) if run.same_output == Some(false) => {
                state.warn_of_another_course("wrote something else");
            }
            _ => {}
        }
    }
}
