//! The verdict on a run: whether all is well with it, and if not, what keeps it from being clean.
//!
//! "Clean" is a promise: that nothing wrong left the program, that it went no other way than in the reals, and that
//! whatever could have told otherwise was looked at.

use shadowgrind_core::findings::{Confirmed, Report, Topic};

use crate::fold::{Folded, Judged};
use crate::rank::Cause;
use crate::words::{count, number};

/// Concern that a user may ask to be told of by the exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Concern {
    /// Outputs that are wrong or unsettled.
    Output,
    /// Decisions that are not those of the reals, or unsettled.
    Decision,
    /// NaN and infinities.
    Nan,
}

impl Concern {
    /// All concerns.
    pub const ALL: [Concern; 3] = [Concern::Output, Concern::Decision, Concern::Nan];
}

/// Verdict on a run: counts of all that keeps it from being clean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Number of outputs.
    pub outputs: u64,
    /// Number of those to be known of.
    pub judged: Judged,
    /// Places where the program decided otherwise than the reals.
    pub decisions: u64,
    /// Places where the reals cannot tell.
    pub undecided: u64,
    /// Places where NaN or infinities were born.
    pub specials: u64,
    /// Floats that lost their shadow.
    pub lost: u64,
    /// Results that may be right only because the shadow's precision was too low to tell.
    pub exhausted: u64,
    /// Decisions that are not those of the reals, and may be meant so.
    pub unjudged: u64,
    /// True if floats are printed in a way that is not watched.
    pub unwatched: bool,
    /// True if a higher precision can be asked for.
    pub precise: bool,
    /// Operations that were looked at, where they are counted.
    pub operations: Option<u64>,
    /// True if there was a second run that does not call the program clean.
    pub doubted: bool,
}

impl Verdict {
    /// The verdict on `report`, whose causes and outputs are these.
    pub(crate) fn of(report: &Report, causes: &[Cause], outputs: &Folded) -> Verdict {
        // What the second run has refuted counts for nothing.
        let all = || causes.iter().filter(|cause| cause.finding.confirmed != Some(Confirmed::Refuted));
        let places = |wanted: &dyn Fn(&Cause) -> bool| all().filter(|cause| wanted(cause)).count() as u64;
        let topic = |cause: &Cause| cause.finding.kind.topic();
        Verdict {
            outputs: report.outputs.len(),
            judged: outputs.judged,
            decisions: places(&|cause| topic(cause) == Topic::Decision && cause.finding.count > 0),
            undecided: places(&|cause| topic(cause) == Topic::Decision && cause.finding.count == 0),
            specials: places(&|cause| topic(cause) == Topic::Special),
            lost: report.coverage.gaps.iter().map(|gap| gap.count).sum(),
            exhausted: report.coverage.exhausted.iter().map(|exhausted| exhausted.count).sum(),
            unjudged: report.coverage.unjudged.iter().map(|unjudged| unjudged.count).sum(),
            unwatched: !report.coverage.unwatched.is_empty(),
            precise: report.settings.precision.is_some(),
            operations: report.coverage.operations,
            doubted: report.confirmation.as_ref().is_some_and(|second| !second.clean),
        }
    }

    /// Tells whether the program may be called clean.
    pub fn is_clean(&self) -> bool {
        Concern::ALL.into_iter().all(|concern| !self.has(concern)) && self.keeps_from_clean().is_none()
    }

    /// Tells whether there is a problem that `concern` is about.
    pub fn has(&self, concern: Concern) -> bool {
        match concern {
            Concern::Output => self.judged.wrong + self.judged.unsettled > 0,
            Concern::Decision => self.decisions + self.undecided > 0,
            Concern::Nan => self.judged.nan + self.specials > 0,
        }
    }

    /// Problems that are known, or not known to be absent, each in a few words.
    pub(crate) fn problems(&self) -> Vec<String> {
        let Judged { wrong, unsettled, nan, .. } = self.judged;
        let mut problems = Vec::new();
        let mut say = |n: u64, text: String| problems.extend((n > 0).then_some(text));
        let is = |n: u64| if n == 1 { "is" } else { "are" };
        let of_outputs = |n: u64, what: &str| {
            format!("{} of {} {} {what}", number(n), count(self.outputs, "output"), is(n))
        };
        say(wrong, of_outputs(wrong, "wrong"));
        say(unsettled, of_outputs(unsettled, "unsettled"));
        say(nan, of_outputs(nan, "NaN"));
        let goes = if self.decisions == 1 { "goes" } else { "go" };
        say(
            self.decisions,
            format!("{} {goes} another way than in the reals", count(self.decisions, "decision")),
        );
        say(
            self.undecided,
            format!("{} {} unsettled", count(self.undecided, "decision"), is(self.undecided)),
        );
        say(self.specials, format!("NaN or infinity is born at {}", count(self.specials, "place")));
        problems
    }

    /// Reason why a program in which no problem was seen is not clean.
    pub(crate) fn keeps_from_clean(&self) -> Option<String> {
        if self.outputs == 0 {
            return Some("no float left the program in a way that is watched".to_owned());
        }
        if self.unwatched {
            return Some("not all that it prints is seen (see Coverage)".to_owned());
        }
        if self.operations == Some(0) {
            return Some(
                "no operation was seen: what the program prints was computed when it was compiled, or read"
                    .to_owned(),
            );
        }
        if self.lost > 0 {
            return Some(format!(
                "{} lost {} shadow on the way (see Coverage)",
                count(self.lost, "float"),
                if self.lost == 1 { "its" } else { "their" }
            ));
        }
        if self.doubted {
            return Some("the second run is not (see Coverage)".to_owned());
        }
        if self.unjudged > 0 {
            return Some(format!(
                "{} about totals whose roundings are put back elsewhere {} not judged (see Coverage)",
                count(self.unjudged, "decision"),
                if self.unjudged == 1 { "is" } else { "are" }
            ));
        }
        let exhausted = count(self.exhausted, "result");
        (self.exhausted > 0).then(|| match self.precise {
            true => format!("the reals could not tell {exhausted} from zero: try a higher --precision"),
            false => "results underflowed, and how much that took from them is not known".to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RIGHT: Verdict = Verdict {
        outputs: 3,
        judged: Judged { wrong: 0, unsettled: 0, inexact: 0, nan: 0 },
        decisions: 0,
        undecided: 0,
        specials: 0,
        lost: 0,
        exhausted: 0,
        unjudged: 0,
        unwatched: false,
        precise: true,
        operations: Some(7),
        doubted: false,
    };

    #[test]
    fn clean_is_what_was_watched_and_found_right() {
        assert!(RIGHT.is_clean() && RIGHT.problems().is_empty());
        for verdict in [
            Verdict { outputs: 0, ..RIGHT },
            Verdict { lost: 1, ..RIGHT },
            Verdict { exhausted: 1, ..RIGHT },
            Verdict { unjudged: 1, ..RIGHT },
            Verdict { unwatched: true, ..RIGHT },
            Verdict { operations: Some(0), ..RIGHT },
            Verdict { doubted: true, ..RIGHT },
        ] {
            assert!(!verdict.is_clean() && verdict.problems().is_empty(), "{verdict:?}");
            assert!(verdict.keeps_from_clean().is_some());
        }
    }

    #[test]
    fn what_a_run_fails_on() {
        let judged = |wrong, unsettled, nan| Verdict {
            judged: Judged { wrong, unsettled, nan, ..RIGHT.judged },
            ..RIGHT
        };
        let cases = [
            (judged(1, 0, 0), Concern::Output),
            (judged(0, 1, 0), Concern::Output),
            (judged(0, 0, 1), Concern::Nan),
            (Verdict { specials: 1, ..RIGHT }, Concern::Nan),
            (Verdict { decisions: 1, ..RIGHT }, Concern::Decision),
            (Verdict { undecided: 1, ..RIGHT }, Concern::Decision),
        ];
        for (verdict, concern) in cases {
            assert!(!verdict.is_clean());
            assert_eq!(
                Concern::ALL.map(|other| verdict.has(other)),
                Concern::ALL.map(|other| other == concern)
            );
            assert_eq!(verdict.problems().len(), 1);
        }
    }
}
