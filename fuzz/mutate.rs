//! Changes of JSON that leave it JSON: what changes bytes seldom gets past a parser, and the graders lie behind it.

use serde_json::{Map, Value, json};

/// Changes the JSON in the first `size` bytes of `data` somewhere and gives its new size; what is not JSON, and now and then
/// what is, has its bytes changed instead.
pub fn json(data: &mut [u8], size: usize, max_size: usize, seed: u32) -> usize {
    let mut random = Random(u64::from(seed) << 1 | 1);
    let parsed: Option<Value> = data.get(..size).and_then(|bytes| serde_json::from_slice(bytes).ok());
    let Some(mut value) = parsed.filter(|_| random.below(16) > 0) else {
        return libfuzzer_sys::fuzzer_mutate(data, size, max_size);
    };
    for _ in 0..=random.below(4) {
        change(&mut value, &mut random);
    }
    let text = value.to_string();
    match data.get_mut(..text.len()) {
        Some(place) if text.len() <= max_size => {
            place.copy_from_slice(text.as_bytes());
            text.len()
        }
        _ => libfuzzer_sys::fuzzer_mutate(data, size, max_size),
    }
}

struct Random(u64);

impl Random {
    /// A number below `end`, which is not 0.
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % end
    }
}

/// Changes one value: goes into the value as often as chance has it.
fn change(value: &mut Value, random: &mut Random) {
    let inside = match value {
        Value::Array(elements) if !elements.is_empty() && random.below(8) > 0 => {
            let at = random.below(elements.len());
            match random.below(8) {
                0 => drop(elements.remove(at)),
                1 => elements.extend(elements.get(at).cloned()),
                2 => elements.reverse(),
                _ => return change(&mut elements[at], random),
            }
            true
        }
        Value::Object(members) if !members.is_empty() && random.below(8) > 0 => {
            let at = random.below(members.len());
            let Some(key) = members.keys().nth(at).cloned() else { return };
            match random.below(16) {
                0 => drop(members.remove(&key)),
                1 => move_member(members, &key, random),
                _ => return members.get_mut(&key).map_or((), |member| change(member, random)),
            }
            true
        }
        _ => false,
    };
    if !inside {
        *value = another(value, random);
    }
}

/// Gives one member the value of another.
fn move_member(members: &mut Map<String, Value>, key: &str, random: &mut Random) {
    let at = random.below(members.len());
    if let Some(value) = members.values().nth(at).cloned() {
        members.insert(key.to_owned(), value);
    }
}

/// A value near this one, or one with which others had trouble.
fn another(value: &Value, random: &mut Random) -> Value {
    match (value, random.below(4)) {
        (Value::String(text), 0) => json!(text.to_uppercase()),
        (Value::String(text), 1) => json!(text.repeat(2)),
        (Value::String(text), 2) => {
            let end = random.below(text.len() + 1);
            text.get(..end).unwrap_or(text).into()
        }
        (Value::Number(number), 0 | 1) => {
            let number = number.as_f64().unwrap_or_default();
            let numbers = [number + 1.0, number - 1.0, -number, number / 3.0, number * 1e9, number.round()];
            json!(numbers[random.below(numbers.len())])
        }
        _ => {
            let odd = [
                json!(null),
                json!(true),
                json!(0),
                json!(-1),
                json!(1),
                json!(0.5),
                json!(5e-324),
                json!(f64::MAX),
                json!(9_007_199_254_740_993_u64),
                json!(""),
                json!(" "),
                json!("a"),
                json!("^(a+)+$"),
                json!("${a.output.text}"),
                json!("2026-03-18T09:30:00Z"),
                json!("+275760-09-13T00:00:00Z"),
                json!("{\"a\":1}"),
                json!("\u{fffd}e\u{301}कुत्ता🦀"),
                json!([]),
                json!({}),
                json!({"a": value}),
                json!([value]),
            ];
            odd[random.below(odd.len())].clone()
        }
    }
}
