//! A server whose folder cannot be written is refused, and changes nothing. A separate process tries, because the
//! superuser may write everywhere.
#![expect(clippy::unwrap_used, reason = "a test may stop")]
#![expect(clippy::print_stderr, reason = "the child answers its parent so")]

use std::path::Path;
use std::process::ExitCode;

use karat_server::{Options, Server};

fn main() -> ExitCode {
    if let Some(folder) = std::env::args_os().nth(1).filter(|given| Path::new(given).is_absolute()) {
        return match Server::bind(Path::new(&folder), None, ([127, 0, 0, 1], 0).into(), Options::default()) {
            Ok(_) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("{error}");
                ExitCode::FAILURE
            }
        };
    }
    #[cfg(unix)]
    unix::a_folder_that_cannot_be_written_is_refused_and_left_as_it_was();
    ExitCode::SUCCESS
}

#[cfg(unix)]
mod unix {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;
    use std::os::unix::process::CommandExt as _;
    use std::path::Path;
    use std::process::Command;

    use karat_server::{Options, Server};
    use tempfile::TempDir;

    const NOBODY: u32 = 65534;

    pub fn a_folder_that_cannot_be_written_is_refused_and_left_as_it_was() {
        let outer = TempDir::with_prefix("karat-").unwrap();
        let program = outer.path().join("program");
        fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
        let full = outer.path().join("full");
        drop(Server::bind(&full, None, ([127, 0, 0, 1], 0).into(), Options::default()).unwrap());
        let empty = outer.path().join("empty");
        fs::create_dir(&empty).unwrap();
        for path in [&full, &empty] {
            set_modes(path, 0o555, 0o444);
        }
        fs::set_permissions(outer.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let before = [&full, &empty].map(|path| files(path));
        let superuser = fs::write(empty.join("tried"), "").is_ok();
        let _ = fs::remove_file(empty.join("tried"));
        for path in [&full, &empty, &empty.join("inner")] {
            let mut command = Command::new(&program);
            command.arg(path);
            if superuser {
                command.uid(NOBODY).gid(NOBODY);
            }
            let output = command.output().unwrap();
            let told = String::from_utf8(output.stderr).unwrap();
            assert!(!output.status.success(), "{}", path.display());
            assert!(told.contains("cannot be written; check the permissions"), "{told}");
        }
        set_modes(&full, 0o755, 0o644);
        set_modes(&empty, 0o755, 0o644);
        assert_eq!([&full, &empty].map(|path| files(path)), before);
    }

    fn set_modes(folder: &Path, of_folder: u32, of_files: u32) {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
        for file in fs::read_dir(folder).unwrap() {
            fs::set_permissions(file.unwrap().path(), fs::Permissions::from_mode(of_files)).unwrap();
        }
        fs::set_permissions(folder, fs::Permissions::from_mode(of_folder)).unwrap();
    }

    fn files(folder: &Path) -> Vec<(std::ffi::OsString, Vec<u8>)> {
        let files = fs::read_dir(folder).unwrap().map(|file| {
            let file = file.unwrap();
            (file.file_name(), fs::read(file.path()).unwrap())
        });
        let mut files: Vec<_> = files.collect();
        files.sort();
        files
    }
}
