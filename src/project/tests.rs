use super::*;
use crate::answers::check::ProjectCheck;
use crate::gate::Status;
use crate::inputs::Silent;

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

/// A project of nights: `bot` tries tasks `t0` to `t11` once a night; `t11` at random.
struct Nights {
    folder: tempfile::TempDir,
}

impl Nights {
    fn new(toml: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::copy("examples/cards/task-run.toml", folder.path().join("card.toml")).unwrap();
        fs::create_dir(folder.path().join("nights")).unwrap();
        let toml = format!("card = \"card.toml\"\ninputs = [\"run.csv\"]\n{toml}");
        fs::write(folder.path().join(NAME), toml).unwrap();
        Self { folder }
    }

    /// Writes a night: the tasks below `failing` fail.
    fn night(&self, file: &str, night: usize, failing: usize) {
        let mut text = String::from("subject,task,id,night,time,solved,cost_usd,seconds\n");
        let (month, day) = (1 + night / 28, 1 + night % 28);
        for task in 0..12 {
            let is_odd = task == 11 && night * night % 7 < 3;
            let solved = u8::from(task >= failing && !is_odd);
            text += &format!(
                "bot,t{task},{night}-{task},n{night},2026-{month:02}-{day:02}T01:00:00Z,{solved},0.1,5\n"
            );
        }
        fs::write(self.folder.path().join(file), text).unwrap();
    }

    fn history(&self, nights: usize) {
        (0..nights).for_each(|night| self.night(&format!("nights/{night:02}.csv"), night, night % 2));
    }

    fn check(&self) -> Result<(ProjectCheck, Status), Error> {
        let project = Project::open(self.folder.path().join(NAME))?;
        let (inputs, baseline) = project.inputs()?;
        let card = CompiledCard::open(&project.card)?;
        let mut run = project.load(&inputs, card, Options::default(), &Silent)?;
        let judged = project.gate.judge(&project.items, &mut run, &baseline)?;
        Ok((judged.answer(judged.notes.clone()), judged.verdict().status()))
    }
}

#[test]
fn a_history_raises_an_alarm_and_too_short_a_one_decides_nothing() {
    let nights = Nights::new("history = [\"nights/*.csv\"]\n[gate.trend]\nbaseline = 5\n");
    nights.night("run.csv", 40, 0);
    let (check, status) = nights.check().unwrap();
    assert_eq!((status, check.trend.is_none()), (Status::Inconclusive, true));
    nights.history(40);
    let (check, status) = nights.check().unwrap();
    assert_eq!(status, Status::Passed, "{:?}", check.gates);
    assert_eq!(check.trend.unwrap().subjects[0].runs.len(), 41);
    (30..40).for_each(|night| nights.night(&format!("nights/{night:02}.csv"), night, 6 + night % 2));
    let (check, status) = nights.check().unwrap();
    assert_eq!(status, Status::Worse);
    let change = check.trend.unwrap().subjects[0].change.clone().unwrap();
    assert!(change.first.ends_with("30.csv"), "{change:?}");
    assert!(check.gates[0].failures[0].contains("most likely since"), "{:?}", check.gates);
    // A run in two files is not one of a history of files.
    nights.night("more.csv", 41, 0);
    let toml = nights.folder.path().join(NAME);
    let text = fs::read_to_string(&toml).unwrap();
    fs::write(&toml, text.replace("\"run.csv\"", "\"run.csv\", \"more.csv\"")).unwrap();
    assert!(nights.check().unwrap_err().to_string().contains("this run is in 2 files"));
    let text = fs::read_to_string(&toml).unwrap();
    fs::write(&toml, format!("{text}run = \"night\"\n")).unwrap();
    assert_eq!(nights.check().unwrap().1, Status::Worse);
}

#[test]
fn a_task_in_quarantine_is_in_the_report_alone_until_its_day() {
    let of = |until: &str, as_of: &str| {
        Nights::new(&format!(
            "history = [\"nights/*.csv\"]\nas_of = \"{as_of}\"\n[tasks]\npass = 50\n[gate.items]\nfail_under = 50\n\
             [[quarantine]]\ntask = \"t11\"\nreason = \"random\"\nuntil = \"{until}\"\n"
        ))
    };
    let nights = of("2026-03-01", "2026-03-01T23:59:59Z");
    nights.history(40);
    nights.night("run.csv", 42, 0);
    let (check, status) = nights.check().unwrap();
    let task = &check.quarantine[0];
    assert_eq!((status, task.items, task.passes, task.has_ended), (Status::Passed, 1, 0, false));
    assert_eq!((task.repeats.as_ref().unwrap().attempts, task.comes_back), (41, false));
    assert_eq!(check.leaderboard.leaderboards[0].rows[0].score.tasks, 11);
    assert!(check.notes[0].contains("1 task in quarantine, so no gate looks at 1 item"), "{:?}", check.notes);
    assert_eq!(check.today.as_deref(), Some("2026-03-01"));
    let nights = of("2026-03-01", "2026-03-02T00:00:00Z");
    nights.history(40);
    nights.night("run.csv", 42, 0);
    let (check, status) = nights.check().unwrap();
    assert_eq!((status, check.quarantine[0].has_ended), (Status::Blocked, true));
    assert!(check.gates[1].failures[0].contains("ended on 2026-03-01 (random)"), "{:?}", check.gates);
}

#[test]
fn what_is_flaky_is_proposed_what_is_stable_comes_back_and_retries_are_told() {
    let nights = Nights::new("history = [\"nights/*.csv\"]\n[tasks]\npass = 50\n");
    nights.history(40);
    nights.night("run.csv", 40, 0);
    let (check, _) = nights.check().unwrap();
    let flaky: Vec<&str> = check.flaky.iter().map(|it| it.task.as_str()).collect();
    assert_eq!(flaky, ["t0", "t11"], "the first fails every second night");
    assert!(check.notes.iter().any(|note| note.contains("[[quarantine]]")), "{:?}", check.notes);
    let nights = Nights::new(
        "history = [\"nights/*.csv\"]\nas_of = \"2026-05-01T00:00:00Z\"\n[tasks]\npass = 50\n\
         [[quarantine]]\ntask = \"t5\"\nreason = \"was random\"\nuntil = \"2026-06-01\"\n",
    );
    nights.history(71);
    nights.night("run.csv", 71, 0);
    assert!(!nights.check().unwrap().0.quarantine[0].comes_back, "72 equal outcomes are one too few");
    nights.night("nights/xx.csv", 72, 0);
    assert!(nights.check().unwrap().0.quarantine[0].comes_back);
    let nights = Nights::new("[tasks]\npass = 50\n");
    let text = "subject,task,id,attempt,solved,cost_usd,seconds\nbot,a,1,1,0,0.1,5\nbot,a,2,2,1,0.1,5\nbot,b,3,1,1,0.1,5\n";
    fs::write(nights.folder.path().join("run.csv"), text).unwrap();
    let (check, _) = nights.check().unwrap();
    assert_eq!(check.only_by_retry, ["a"]);
    assert!(
        check.notes.iter().any(|note| note.contains("1 of 2 pass at the first attempt, 2 with retries")),
        "{:?}",
        check.notes
    );
    fs::write(nights.folder.path().join("run.csv"), format!("{text}bot,b,4,2,1,0.1,5\n")).unwrap();
    assert!(nights.check().unwrap().0.only_by_retry.is_empty(), "planned repeats are no retries");
}
