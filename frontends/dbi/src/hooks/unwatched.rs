//! Run-time systems that make text of floats in functions that nobody can name: what a program prints by them is not seen, so that
//! nothing may be said of all that it prints.

use std::path::Path;

/// Beginnings of file names, and the reason.
const ROWS: &[(&str, &str)] = &[
    ("libruby", "what Ruby prints: its library has no names for the functions that make text of floats"),
    ("libjvm.", "what Java prints: its functions are compiled while the program runs"),
    ("libluajit", "what LuaJIT prints: its library has no names for the functions that make text of floats"),
    ("luajit", "what LuaJIT prints: it has no names for the functions that make text of floats"),
    ("libjq.", "what jq prints: its library has no names for the functions that make text of floats"),
];

/// The reason why floats that code of the file at `path` prints are not seen, if that is so.
pub(crate) fn unwatched(path: &Path) -> Option<&'static str> {
    let name = path.file_name()?.to_str()?;
    ROWS.iter().find(|(beginning, _)| name.starts_with(beginning)).map(|(_, reason)| *reason)
}
