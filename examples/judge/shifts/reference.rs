//! Plans jobs for workers. Reads standard input, writes standard output.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read as _, Write as _};

struct Job {
    duration: u64,
    before: BTreeSet<String>,
}

fn main() -> io::Result<()> {
    let mut text = String::new();
    io::stdin().read_to_string(&mut text)?;
    let mut lines = text.lines().map(str::split_whitespace);
    let workers: usize = lines.next().and_then(|mut line| line.next()?.parse().ok()).unwrap_or(0);
    let mut waiting = BTreeMap::new();
    for mut words in lines {
        let Some(name) = words.next() else { continue };
        let duration = words.next().and_then(|word| word.parse().ok()).unwrap_or(1);
        waiting.insert(name.to_owned(), Job { duration, before: words.map(str::to_owned).collect() });
    }
    let mut ended: BTreeSet<String> = BTreeSet::new();
    // What each worker is at: the end, and the name.
    let mut at_work: Vec<Option<(u64, String)>> = (0..workers).map(|_| None).collect();
    let mut out = String::new();
    let (mut now, mut last) = (0, 0);
    loop {
        for place in &mut at_work {
            if place.as_ref().is_some_and(|(end, _)| *end == now) {
                ended.extend(place.take().map(|(_, name)| name));
            }
        }
        for (number, place) in at_work.iter_mut().enumerate().filter(|(_, place)| place.is_none()) {
            let ready = waiting.iter().filter(|(_, job)| job.before.is_subset(&ended));
            // The first of the longest: names are in order, and `max_by_key` would take the last.
            let longest = ready.rev().max_by_key(|(_, job)| job.duration);
            let Some((name, duration)) = longest.map(|(name, job)| (name.clone(), job.duration)) else { break };
            let end = now + duration;
            out += &format!("{name} {} {now} {end}\n", number + 1);
            waiting.remove(&name);
            *place = Some((end, name));
            last = last.max(end);
        }
        let Some(next) = at_work.iter().flatten().map(|(end, _)| *end).min() else { break };
        now = next;
    }
    if waiting.is_empty() {
        out += &format!("done {last}\n");
    } else {
        let names: Vec<&str> = waiting.keys().map(String::as_str).collect();
        out += &format!("stuck {}\n", names.join(" "));
    }
    io::stdout().write_all(out.as_bytes())
}
