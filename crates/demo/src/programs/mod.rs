//! The programs of the demo season. Each one works in its own way, the same at every challenge; its answers, and the
//! steps they take, come from really running it.

mod cipher;
mod factors;
mod knapsack;
mod maze;
mod slots;
mod trail;

use std::num::NonZeroU64;

use karat_stats::random::Random;
use serde_json::{Value, json};

use karat_server::arena::{Challenge, Instance};

/// The duration of a step, on the clock of a match.
pub const STEP_MILLISECONDS: u64 = 10;
/// The number of instances of each challenge.
const INSTANCES: u64 = 8;

/// A way to work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// The textbook algorithm.
    Careful,
    /// The best choice at each moment.
    Greedy,
    /// The first choice that comes up.
    Hasty,
    /// Random choices.
    Random,
    /// Every choice.
    Exhaustive,
}

/// A program that plays.
#[derive(Debug, Clone, Copy)]
pub struct Program {
    /// The name as an agent.
    pub name: &'static str,
    /// The way it works.
    pub way: Way,
    /// The registered harness.
    pub harness_id: &'static str,
    /// The harness that it reports with each submission.
    pub plays_with: &'static str,
    /// True if it submits a log of its calls.
    pub hands_in_log: bool,
    /// True if it plays without its memory.
    pub memoryless: bool,
}

/// All programs. Two work alike, so they tie.
pub const PROGRAMS: [Program; 6] = [
    program("cartographer", Way::Careful, true, true),
    program("surveyor", Way::Careful, true, true),
    program("magpie", Way::Greedy, true, false),
    program("hare", Way::Hasty, false, false),
    Program { plays_with: "loop-3", ..program("moth", Way::Random, true, false) },
    program("tortoise", Way::Exhaustive, true, true),
];

const fn program(name: &'static str, way: Way, hands_in_log: bool, memoryless: bool) -> Program {
    Program { name, way, harness_id: "loop-2", plays_with: "loop-2", hands_in_log, memoryless }
}

/// A game: it creates and solves instances of a challenge.
#[derive(Clone, Copy)]
pub struct Game {
    /// The slug of the challenge.
    pub slug: &'static str,
    /// The task, in one line.
    title: &'static str,
    briefing: &'static str,
    card: &'static str,
    category: &'static str,
    difficulty: &'static str,
    time_limit_seconds: u32,
    /// The one file of the workspace.
    file: &'static str,
    /// The hidden files of the challenge, by the path in the card; they are among the examples of its card.
    hidden: &'static [&'static str],
    make: fn(&mut Random) -> (String, Value),
    play: fn(&str, Way, &mut Run) -> Option<Value>,
}

/// All games of the season.
pub const GAMES: [Game; 4] = [cipher::GAME, maze::GAME, knapsack::GAME, factors::GAME];
/// The games whose answers a judge executes.
pub const JUDGED: [Game; 2] = [slots::GAME, trail::GAME];

impl Game {
    /// Returns the challenge with its instances: number n is made from the seed n.
    pub fn challenge(&self) -> Challenge {
        let make = |seed| {
            let (text, ground_truth) = (self.make)(&mut Random::new(seed));
            let workspace_files = [(self.file.to_owned(), text)].into();
            Instance { seed, input: json!({ "file": self.file }), workspace_files, ground_truth }
        };
        Challenge {
            slug: self.slug.to_owned(),
            title: self.title.to_owned(),
            briefing: self.briefing.to_owned(),
            card: self.card.to_owned(),
            category: self.category.to_owned(),
            difficulty: self.difficulty.to_owned(),
            time_limit_seconds: self.time_limit_seconds,
            constraints: json!({"allowedTools": ["read", "report"]}).as_object().cloned(),
            instances: (1..=INSTANCES).map(make).collect(),
            practice: Some(make(0)),
            files: self
                .hidden
                .iter()
                .filter_map(|path| Some(((*path).to_owned(), example(path)?.to_owned())))
                .collect(),
            reference: None,
            single_use: false,
            blind: None,
        }
    }

    /// Lets a program play an instance. Returns `None` if it is still at work at the end of the time limit.
    pub fn play(&self, program: &Program, instance: &Instance, attempt_number: u64) -> Option<Played> {
        let text = instance.workspace_files.get(self.file)?;
        let limit = u64::from(self.time_limit_seconds) * 1000 / STEP_MILLISECONDS;
        let chance = Random::stream(instance.seed, attempt_number);
        let mut run = Run { steps: 0, limit, chance, calls: Vec::new() };
        run.step()?;
        run.call("read", self.file.to_owned(), text.clone());
        let answer = (self.play)(text, program.way, &mut run)?;
        run.step()?;
        run.call("report", answer.to_string().chars().take(200).collect(), String::new());
        Some(Played { answer, steps: run.steps, calls: run.calls })
    }
}

/// Returns a file of the season.
fn example(path: &str) -> Option<&'static str> {
    karat::examples::text(&format!("season/{path}"))
}

/// The result of a program.
#[derive(Debug)]
pub struct Played {
    /// The answer.
    pub answer: Value,
    /// The number of steps.
    pub steps: u64,
    /// The calls of tools.
    pub calls: Vec<Call>,
}

/// A call of a tool.
#[derive(Debug)]
pub struct Call {
    /// The step of the call.
    pub step: u64,
    /// The name of the tool.
    pub tool: &'static str,
    /// The input.
    pub input: String,
    /// The output.
    pub output: String,
}

/// A program at work.
pub struct Run {
    steps: u64,
    limit: u64,
    chance: Random,
    calls: Vec<Call>,
}

impl Run {
    /// Takes one more step, if there is time for it.
    fn step(&mut self) -> Option<()> {
        self.spend(1)
    }

    /// Takes this many more steps, if there is time for them.
    fn spend(&mut self, steps: u64) -> Option<()> {
        self.steps = self.steps.saturating_add(steps);
        (self.steps <= self.limit).then_some(())
    }

    /// Returns a random number below `bound`.
    fn below(&mut self, bound: usize) -> usize {
        below(&mut self.chance, bound)
    }

    fn call(&mut self, tool: &'static str, input: String, output: String) {
        self.calls.push(Call { step: self.steps, tool, input, output });
    }
}

/// Returns a random number below `bound`; 0 if `bound` is 0.
fn below(chance: &mut Random, bound: usize) -> usize {
    let Some(bound) = u64::try_from(bound).ok().and_then(NonZeroU64::new) else { return 0 };
    usize::try_from(chance.below(bound)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn program(way: Way) -> &'static Program {
        PROGRAMS.iter().find(|program| program.way == way).unwrap()
    }

    #[test]
    fn the_careful_one_is_right_everywhere() {
        for game in GAMES {
            for (attempt, instance) in (1..).zip(&game.challenge().instances) {
                let played = game.play(program(Way::Careful), instance, attempt).unwrap();
                for (name, truth) in instance.ground_truth.as_object().unwrap() {
                    assert_eq!(&played.answer[name], truth, "{} {} {name}", game.slug, instance.seed);
                }
            }
        }
    }

    #[test]
    fn a_judged_game_has_its_hidden_files_and_other_answers_of_each_way() {
        for game in JUDGED {
            let challenge = game.challenge();
            assert_eq!(challenge.files.len(), game.hidden.len(), "{}", game.slug);
            assert!(challenge.files.values().all(|text| text.len() > 100), "{}", game.slug);
            let instance = &challenge.instances[0];
            let answer = |way| game.play(program(way), instance, 1).map(|played| played.answer.to_string());
            let answers: BTreeSet<_> =
                [Way::Careful, Way::Greedy, Way::Hasty, Way::Random].map(answer).into_iter().collect();
            assert!(answers.len() > 2, "{}: {answers:?}", game.slug);
        }
    }

    #[test]
    fn others_are_wrong_somewhere_and_some_run_out_of_time() {
        let mut late = 0;
        for way in [Way::Greedy, Way::Hasty, Way::Random] {
            let wrong = GAMES
                .iter()
                .flat_map(|game| game.challenge().instances.into_iter().map(move |it| (game, it)));
            let wrong = wrong.filter(|(game, instance)| {
                let played = game.play(program(way), instance, 1);
                let truth = instance.ground_truth.as_object().unwrap();
                played.is_none_or(|played| {
                    truth.iter().any(|(name, value)| played.answer.get(name) != Some(value))
                })
            });
            assert!(wrong.count() > 2, "{way:?}");
        }
        for game in GAMES {
            let instances = game.challenge().instances;
            late +=
                instances.iter().filter(|it| game.play(program(Way::Exhaustive), it, 1).is_none()).count();
        }
        assert!(late > 4, "{late}");
    }

    #[test]
    fn a_run_is_the_same_again() {
        for game in GAMES {
            let instances = game.challenge().instances;
            assert_eq!(instances, game.challenge().instances);
            let answers =
                || game.play(program(Way::Random), &instances[0], 3).map(|it| (it.answer, it.steps));
            assert_eq!(answers(), answers());
        }
    }
}
