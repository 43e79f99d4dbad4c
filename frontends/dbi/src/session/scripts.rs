//! Global variables of a Python script that are outputs: sampled when the script has run, before the interpreter takes them
//! down. Knows SPECs; where the interpreter keeps variables, `python` knows.

use super::observer::Observer;
use super::outputs::Leaving;
use super::python::NoFloats;
use super::script_variable::ScriptVariable;
use super::state::State;
use crate::hooks::abi;
use crate::hooks::machine::Machine;
use shadowgrind_core::findings::OutputKind;
use shadowgrind_core::site::Site;

impl State {
    /// The global variables of the code that the interpreter is about to run, if that is the script itself and not a module.
    pub(super) fn script_globals(&self, m: &dyn Machine) -> Option<u64> {
        let globals = abi::integer(m, 1).ok()?;
        let name = self.python?.string(m, globals, "__name__")?;
        (name == "__main__").then_some(globals)
    }

    /// The script has run, whose variables are in the dictionary at `globals`: samples those that are outputs.
    pub(super) fn end_script(&mut self, globals: u64, observer: &mut dyn Observer, m: &mut dyn Machine) {
        let Some(python) = self.python else { return };
        for number in 0..self.jobs.scripts.len() {
            self.jobs.scripts[number].is_reached = true;
            let ScriptVariable { spec, option, name, subscripts, .. } = self.jobs.scripts[number].clone();
            match python.floats(m, globals, &name, &subscripts) {
                Ok(floats) => {
                    let leaving = Leaving::new(OutputKind::Spec, self.labels[spec], Site::NONE);
                    for (position, float) in floats.into_iter().enumerate() {
                        self.output(leaving, position, float, observer, m);
                    }
                }
                Err(why) => self.warn_of_script(&option, &reason(&why, &name)),
            }
        }
    }
}

/// Words for people why the variable `name` is no output.
fn reason(why: &NoFloats, name: &str) -> String {
    match why {
        NoFloats::NoVariable => format!("the script has no global variable {name} at its end"),
        NoFloats::Type(kind) => {
            format!("at the end of the script {name} is or holds no float, but this: {kind}")
        }
        NoFloats::NoElement => format!("{name} has no such element at the end of the script"),
        NoFloats::TooManySubscripts => format!("{name} has fewer dimensions at the end of the script"),
        NoFloats::Unreadable => format!("{name} cannot be read at the end of the script"),
    }
}
