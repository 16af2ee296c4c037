//! What happens when Ctrl-C or another signal ends the program: the terminal echoes again, and folders of secrets that are not whole
//! are removed. A process has one handler of signals, so both stand here.

#[cfg(unix)]
use std::fs::File;
use std::{
    fs,
    path::{Path, PathBuf},
    process,
    sync::{Mutex, MutexGuard, PoisonError},
};

use quorate_host::exit::Exit;
#[cfg(unix)]
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};

/// What the handler undoes.
#[derive(Default)]
struct Undone {
    is_installed: bool,
    /// The terminal, and its settings before a question turned the echo off.
    #[cfg(unix)]
    terminal: Option<(File, Termios)>,
    folders: Vec<PathBuf>,
}

static UNDONE: Mutex<Undone> = Mutex::new(Undone {
    is_installed: false,
    #[cfg(unix)]
    terminal: None,
    folders: Vec::new(),
});

fn undone() -> MutexGuard<'static, Undone> {
    UNDONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From here on, a signal that ends the program restores the terminal's settings first. rpassword would restore them when its
/// question returns, but it raises the signal of Ctrl-C before that.
#[cfg(unix)]
pub(super) fn restore_terminal() {
    let mut undone = undone();
    if undone.terminal.is_none() {
        undone.terminal = File::options().read(true).write(true).open("/dev/tty").ok().and_then(|terminal| {
            let settings = tcgetattr(&terminal).ok()?;
            Some((terminal, settings))
        });
        if undone.terminal.is_some() {
            install(&mut undone);
        }
    }
}

/// A folder that a signal removes, as long as this lives.
pub(super) struct Unfinished<'a>(&'a Path);

impl<'a> Unfinished<'a> {
    /// From here on, a signal that ends the program removes the folder first.
    pub(super) fn new(folder: &'a Path) -> Self {
        let mut undone = undone();
        undone.folders.push(folder.to_owned());
        install(&mut undone);
        Self(folder)
    }

    /// Ends that by doing this, during which no signal removes anything. If a signal removes the folder already, this does not
    /// return.
    pub(super) fn end<T>(self, last: impl FnOnce() -> T) -> T {
        let mut undone = undone();
        undone.folders.retain(|folder| folder != self.0);
        last()
    }
}

fn install(undone: &mut Undone) {
    if undone.is_installed {
        return;
    }
    undone.is_installed = true;
    // A command that has a handler of its own for Ctrl-C neither asks nor writes folders of secrets.
    let _ = ctrlc::set_handler(|| {
        // It is never unlocked: nothing is put in place any more.
        let undone = self::undone();
        for folder in &undone.folders {
            // While it is removed, one more file may be written into it.
            while fs::remove_dir_all(folder).is_err_and(|error| error.kind() == std::io::ErrorKind::DirectoryNotEmpty) {
            }
        }
        #[cfg(unix)]
        if let Some((terminal, settings)) = &undone.terminal {
            let _ = tcsetattr(terminal, OptionalActions::Flush, settings);
            eprintln!();
        }
        process::exit(i32::from(Exit::Interrupted.code()));
    });
}
