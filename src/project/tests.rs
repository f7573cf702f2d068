use super::*;
use crate::gate::Status;

#[path = "../../examples/gate.rs"]
#[allow(dead_code)]
mod gate;

#[test]
fn a_program_gates_in_twenty_lines() {
    assert!(include_str!("../../examples/gate.rs").lines().count() <= 20);
    assert_eq!(gate::judge("examples/project/karat.toml"), Ok(Status::Passed));
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(name);
    let text = format!(
        "card = {:?}\ninputs = {:?}\nbaseline = {:?}\n[gate]\nfail_if_worse = true\n",
        file("cards/task-run.toml"),
        file("compare/new.csv"),
        file("compare/base.csv")
    );
    let text =
        ["cards/task-run.toml", "compare/new.csv", "compare/base.csv"].iter().fold(text, |text, name| {
            let own = name.split('/').next_back().unwrap();
            fs::copy(file(name), folder.path().join(own)).unwrap();
            text.replace(file(name).to_str().unwrap(), own)
        });
    let path = folder.path().join(NAME);
    fs::write(&path, &text).unwrap();
    assert_eq!(gate::judge(&path.display().to_string()), Ok(Status::Worse));
    fs::write(&path, format!("task = \"tsk\"\n{text}")).unwrap();
    let refused = gate::judge(&path.display().to_string()).unwrap_err();
    assert!(refused.to_string().contains("no item has a field `tsk`"), "{refused}");
}

#[test]
fn a_path_is_seen_from_the_current_folder() {
    for (path, here, seen) in [
        ("/a/karat.toml", "/a", "karat.toml"),
        ("/a/karat.toml", "/a/b/c", "../../karat.toml"),
        ("/x/karat.toml", "/a/b", "../../x/karat.toml"),
    ] {
        assert_eq!(relative(Path::new(path), Path::new(here)), Path::new(seen));
    }
}
