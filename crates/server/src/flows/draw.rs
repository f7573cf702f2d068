//! The draw of recorders: secret bytes of the server, committed to when a task is posted, and revealed when no plan is
//! accepted any more.
//!
//! The plan takes part, so that the server cannot have chosen its bytes for anyone; and a miner cannot choose its plan for a
//! recorder, because it does not know the bytes.

use crate::arena::Draw;
use crate::basics::*;

pub fn commitment(draw: &Draw, task: &str) -> String {
    Digest::of(format!("karat/workflow-draw/1\n{task}\n{}\n", draw.digits()).as_bytes()).to_string()
}

/// Returns the `count` recorders that record a plan, by id: those with the lowest SHA-256 of `karat/workflow-recorders/1`, task,
/// miner, digest of the plan, draw and recorder, each with a line feed. No one records its own plan,
/// nor under its name in other letter case.
///
/// ```
/// use karat_server::arena::Draw;
/// let pool = ["a", "b", "c"].map(String::from);
/// let drawn = karat_server::flows::drawn(&Draw::new([7; 32]), "ferry-7", "bee", "sha256:00", &pool, 2);
/// assert_eq!(drawn.len(), 2);
/// assert_eq!(karat_server::flows::drawn(&Draw::new([7; 32]), "ferry-7", "a", "sha256:00", &pool, 3), ["b", "c"]);
/// ```
pub fn drawn(
    draw: &Draw,
    task: &str,
    miner: &str,
    plan_digest: &str,
    pool: &[String],
    count: u32,
) -> Vec<String> {
    let mut ranked: Vec<([u8; 32], &String)> = pool
        .iter()
        .filter(|recorder| !recorder.eq_ignore_ascii_case(miner))
        .map(|recorder| {
            let draw = draw.digits();
            let text =
                format!("karat/workflow-recorders/1\n{task}\n{miner}\n{plan_digest}\n{draw}\n{recorder}\n");
            let Digest(rank) = Digest::of(text.as_bytes());
            (rank, recorder)
        })
        .collect();
    ranked.sort();
    ranked.truncate(usize::try_from(count).unwrap_or(usize::MAX));
    let mut names: Vec<String> = ranked.into_iter().map(|(_, recorder)| recorder.clone()).collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_recorder_is_drawn_about_equally_often() {
        let pool: Vec<String> = (0..5).map(|at| format!("v{at}")).collect();
        let mut counts = [0_u32; 5];
        for number in 0..5000_u32 {
            let mut bytes = [0; 32];
            bytes[..4].copy_from_slice(&number.to_be_bytes());
            let drawn = drawn(&Draw::new(bytes), "t", "bee", "sha256:00", &pool, 2);
            assert_eq!(drawn.len(), 2);
            for (count, name) in counts.iter_mut().zip(&pool) {
                *count += u32::from(drawn.contains(name));
            }
        }
        // 2000 each; five standard deviations are 173.
        assert!(counts.iter().all(|count| count.abs_diff(2000) < 173), "{counts:?}");
    }

    #[test]
    fn everything_that_is_public_moves_the_draw() {
        let pool: Vec<String> = (0..60).map(|at| format!("v{at}")).collect();
        let of = |draw: u8, task, miner, plan| drawn(&Draw::new([draw; 32]), task, miner, plan, &pool, 30);
        let all = [
            of(1, "t", "bee", "p"),
            of(2, "t", "bee", "p"),
            of(1, "u", "bee", "p"),
            of(1, "t", "ant", "p"),
            of(1, "t", "bee", "q"),
        ];
        for (at, one) in all.iter().enumerate() {
            assert!(all.iter().skip(at + 1).all(|other| one != other), "{all:?}");
        }
        let draw = Draw::new([1; 32]);
        assert_ne!(commitment(&draw, "t"), commitment(&draw, "u"));
        assert_ne!(commitment(&draw, "t"), commitment(&Draw::new([2; 32]), "t"));
    }

    #[test]
    fn who_is_drawn_for_some_is_drawn_for_more() {
        let pool: Vec<String> = (0..9).map(|at| format!("v{at}")).collect();
        let of = |count| drawn(&Draw::new([3; 32]), "t", "v4", "p", &pool, count);
        for count in 0..9 {
            assert!(of(count).iter().all(|name| of(count + 1).contains(name)));
            assert!(!of(count).contains(&String::from("v4")), "no one records its own plan");
        }
        assert_eq!((of(8).len(), of(20).len()), (8, 8));
        let in_capitals = drawn(&Draw::new([3; 32]), "t", "V4", "p", &pool, 20);
        assert!(in_capitals.len() == 8 && !in_capitals.contains(&String::from("v4")), "{in_capitals:?}");
    }
}
