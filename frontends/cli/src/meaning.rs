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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Cli;
    use clap::CommandFactory;

    fn of(words: &str) -> Unanswered {
        let words = ["shadowgrind"].into_iter().chain(words.split(' ')).chain(["prog"]);
        let typed = Cli::command().try_get_matches_from(words).unwrap();
        let kind = *typed.get_one::<ShadowKind>("shadow").unwrap();
        unanswered(&typed, kind)
    }

    #[test]
    fn every_row_is_an_option() {
        let command = Cli::command();
        for (name, ..) in ROWS {
            assert!(command.get_arguments().any(|option| option.get_long() == Some(name)), "{name}");
        }
    }

    #[test]
    fn questions_that_a_shadow_cannot_answer_are_refused() {
        let refused = |words: &str| of(words).refusal;
        for kind in ["none", "mpfr", "error"] {
            let said = refused(&format!("--shadow={kind} --input=x"));
            assert_eq!(said.as_deref(), Some("--input needs --shadow=dot|adjoint"));
        }
        let moved = "--shadow=none --input=x --steps=0.5";
        for words in
            ["--shadow=dot --input=x", "--shadow=adjoint --input=x", moved, "--list=inputs --input=x"]
        {
            assert_eq!(refused(words), None, "{words}");
        }
        let array = refused("--shadow=adjoint --output-array=a.npy").unwrap();
        assert!(array.ends_with("--shadow=dot|error|mpfr; --gradient has gradients"), "{array}");
        assert_eq!(refused("--shadow=mpfr --confirm").as_deref(), Some("--confirm needs --shadow=error"));
    }

    #[test]
    fn options_that_change_nothing_are_said_to() {
        let idle = |words: &str| of(words).idle;
        assert_eq!(
            idle("--shadow=dot --error-exitcode=1 --precision=128"),
            [
                "--error-exitcode changes nothing under --shadow=dot; it is for --shadow=error|mpfr",
                "--precision changes nothing under --shadow=dot; it is for --shadow=mpfr"
            ]
        );
        assert_eq!(idle("--shadow=error --precision=128").len(), 1);
        assert_eq!(idle("--strict --annotate=-").len(), 2);
        for words in
            ["--shadow=error --confirm --precision=128", "--shadow=mpfr --remedies=no", "--shadow=dot -q"]
        {
            assert!(idle(words).is_empty(), "{words}");
        }
    }
}
