//! The processes that come of one command, as the session knows them.

use crate::engine::{self, Again, tree};
use crate::session::Tree;

impl Tree for tree::Tree {
    fn is_first_program(&self) -> bool {
        tree::Tree::is_first_program(self)
    }

    fn is_first_process(&self) -> bool {
        tree::Tree::is_first_process(self)
    }

    fn write(&self, line: &str) {
        tree::Tree::write(self, line);
    }

    fn read(&self) -> String {
        tree::Tree::read(self)
    }

    fn run_again(&self) -> Result<Again, String> {
        engine::run_again()
    }
}
