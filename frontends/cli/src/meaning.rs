//! The shadows under which an option means something: a row each.
//!
//! An option whose answer a shadow does not have is refused, so that nobody waits for it; one that only turns what a shadow
//! does not do is said to change nothing, once, before the program runs. Knows options by their names and shadows by what
//! they can say.

use clap::ArgMatches;
use clap::parser::ValueSource;
use shadowgrind_dbi::ShadowKind;

/// A shadow that can answer what an option asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Needs {
    /// Any but none.
    Shadow,
    /// One that says something of each float where that leaves.
    Beside,
    Derivatives,
    /// Derivatives from a record of the whole run.
    Record,
    Errors,
    /// Errors as reals of a precision of one's choice.
    Reals,
    /// Errors that another shadow can confirm.
    Confirmation,
}

/// Treatment of an option that means nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Otherwise {
    Refused,
    Said,
}

/// Options that not every shadow answers.
const ROWS: &[(&str, Needs, Otherwise)] = &[
    ("input", Needs::Derivatives, Otherwise::Refused),
    ("gradient", Needs::Record, Otherwise::Refused),
    ("jacobian", Needs::Record, Otherwise::Refused),
    ("sparsity", Needs::Record, Otherwise::Refused),
    ("direction", Needs::Record, Otherwise::Refused),
    ("budget", Needs::Record, Otherwise::Refused),
    ("tape-memory", Needs::Record, Otherwise::Refused),
    ("tape-dir", Needs::Record, Otherwise::Refused),
    ("output-array", Needs::Beside, Otherwise::Refused),
    ("confirm", Needs::Confirmation, Otherwise::Refused),
    ("annotate", Needs::Shadow, Otherwise::Said),
    ("strict", Needs::Shadow, Otherwise::Said),
    ("num-callers", Needs::Shadow, Otherwise::Said),
    ("error-exitcode", Needs::Errors, Otherwise::Said),
    ("fail-on", Needs::Errors, Otherwise::Said),
    ("suppressions", Needs::Errors, Otherwise::Said),
    ("gen-suppressions", Needs::Errors, Otherwise::Said),
    ("error-threshold", Needs::Errors, Otherwise::Said),
    ("expr-depth", Needs::Errors, Otherwise::Said),
    ("remedies", Needs::Errors, Otherwise::Said),
    ("precision", Needs::Reals, Otherwise::Said),
];

impl Needs {
    /// Tells whether this shadow can answer.
    fn is_met_by(self, kind: ShadowKind) -> bool {
        match self {
            Needs::Shadow => kind.is_carried(),
            Needs::Beside => kind.is_carried() && !kind.keeps_record(),
            Needs::Derivatives => kind.knows_derivatives(),
            Needs::Record => kind.keeps_record(),
            Needs::Errors => kind.finds_errors(),
            Needs::Reals => kind.finds_errors() && kind.confirmed_by().is_none(),
            Needs::Confirmation => kind.confirmed_by().is_some(),
        }
    }

    /// The shadows that meet the need, as options name them.
    fn shadows(self) -> String {
        let with = ShadowKind::ALL.iter().filter(|kind| self.is_met_by(**kind));
        with.map(|kind| kind.name()).collect::<Vec<_>>().join("|")
    }
}

/// Options that were typed, and that the shadow has no answer to.
pub(crate) struct Unanswered {
    /// The line that says why the command is refused, if it is.
    pub(crate) refusal: Option<String>,
    /// A line for each option that changes nothing.
    pub(crate) idle: Vec<String>,
}

/// Looks for options that mean nothing under this shadow.
pub(crate) fn unanswered(typed: &ArgMatches, kind: ShadowKind) -> Unanswered {
    let is_typed = |name: &str| is_typed(typed, name);
    // A run with its inputs moved needs none, nor does a list of them; and the second run has reals where the first has not.
    let is_exempt = |name: &str| match name {
        "input" => is_typed("steps") || is_typed("list"),
        "precision" => is_typed("confirm"),
        _ => false,
    };
    let unmet =
        ROWS.iter().filter(|(name, needs, _)| is_typed(name) && !needs.is_met_by(kind) && !is_exempt(name));
    let (mut refusal, mut idle) = (None, Vec::new());
    for (name, needs, otherwise) in unmet {
        let with = needs.shadows();
        match otherwise {
            Otherwise::Refused => {
                let has_gradients = *needs == Needs::Beside && kind.keeps_record();
                let instead = if has_gradients { "; --gradient has gradients" } else { "" };
                refusal.get_or_insert_with(|| format!("--{name} needs --shadow={with}{instead}"));
            }
            Otherwise::Said => idle.push(format!(
                "--{name} changes nothing under --shadow={}; it is for --shadow={with}",
                kind.name()
            )),
        }
    }
    Unanswered { refusal, idle }
}

/// Tells whether an option was typed: it has a value that is not its default.
fn is_typed(typed: &ArgMatches, name: &str) -> bool {
    let id = if matches!(name, "input") { "inputs".to_owned() } else { name.replace('-', "_") };
    typed.value_source(&id) == Some(ValueSource::CommandLine)
}
