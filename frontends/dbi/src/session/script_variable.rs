//! Global variable of a script that a SPEC names, and what has become of it. Knows no interpreter.

use super::seeds::Purpose;
use shadowgrind_core::spec::Subscript;

/// Global variable of a script that is an output.
#[derive(Clone, Debug)]
pub(super) struct ScriptVariable {
    /// Number of the SPEC.
    pub(super) spec: usize,
    pub(super) option: String,
    pub(super) name: String,
    pub(super) subscripts: Vec<Subscript>,
    pub(super) is_reached: bool,
}

impl ScriptVariable {
    /// The variable `name`, or elements of it, that `option` names for this purpose.
    pub(super) fn new(
        purpose: Purpose,
        option: &str,
        name: &str,
        subscripts: &[Subscript],
    ) -> ScriptVariable {
        let Purpose::Sample(spec) = purpose else { unreachable!("inputs cannot be named so") };
        let (option, name) = (option.to_owned(), name.to_owned());
        ScriptVariable { spec, option, name, subscripts: subscripts.to_vec(), is_reached: false }
    }

    /// The option as it was written.
    pub(super) fn option(&self) -> &str {
        &self.option
    }

    /// Tells whether a script has come to its end, with or without that variable.
    pub(super) fn is_reached(&self) -> bool {
        self.is_reached
    }
}
