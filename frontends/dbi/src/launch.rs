//! The start of a program under a tool: the one place that knows both the engine and what a program is run for.

use crate::engine::client::{Client, Nobody};
use crate::engine::{self, Beginning, Code, Command, IsaLevel, NO_MEMORY, StartError};
use crate::runtime::{self, Host, Tool};
use crate::session::{Session, SessionConfig};
use std::path::PathBuf;

/// Program to run, and what it is run for.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The program, and the engine's settings.
    pub command: Command,
    /// The shadow, and the inputs, outputs and reports of the run.
    pub session: SessionConfig,
}

/// Runs the program. Returns only if it could not be started.
pub fn run(launch: &Launch) -> StartError {
    let Launch { command, session } = launch;
    engine::run(command, session.shadow.is_carried(), |beginning| {
        if session.is_active() { Ok(Box::new(tool(session, beginning)?)) } else { Ok(Box::new(Nobody)) }
    })
}

/// The tool that the user asked for. SPECs are checked before anything runs.
fn tool(config: &SessionConfig, beginning: &Beginning<'_>) -> Result<Tool, StartError> {
    let Beginning { command, path, loaded, tree } = *beginning;
    let carries = config.shadow.is_carried();
    // A guest that is shown AVX-512 will use it.
    let hidden = matches!(command.options.isa, IsaLevel::V2 | IsaLevel::V3);
    let avx512 = carries && hidden && config.avx512 && runtime::has_upper_registers();
    let session = Session::new(config.clone(), path, Box::new(tree))
        .map_err(|failure| StartError::Client(failure.to_string()))?;
    let mut host = None;
    if carries {
        let vectors = runtime::check_host().map_err(StartError::Host)?;
        let constants = runtime::constants().map_err(|_| NO_MEMORY)?;
        let atomics = runtime::shared_word().map_err(|_| NO_MEMORY)?;
        host = Some(Host { vectors, constants, atomics });
    }
    let tool = Tool::new(session, loaded.entry, avx512, host);
    for Code { interpreter, offset, start, end } in &loaded.code {
        let interpreter = interpreter.as_ref().map(PathBuf::from);
        let interpreter = interpreter.map(|path| path.canonicalize().unwrap_or(path));
        tool.mapped(interpreter.as_deref().unwrap_or(path), None, *offset, *start, *end);
    }
    Ok(tool)
}
