//! Ids that are made of several names.

/// Joins names into one id, with `/` between them. In each, `%` and `/` become `%25` and `%2F`, so that no other names give
/// the same id.
pub fn joined<const N: usize>(names: [&str; N]) -> String {
    let mut id = String::with_capacity(names.map(|name| name.len() + 1).iter().sum());
    for (place, name) in names.into_iter().enumerate() {
        if place > 0 {
            id.push('/');
        }
        let mut rest = name;
        while let Some(at) = rest.find(['%', '/']) {
            let (plain, special) = rest.split_at(at);
            id.push_str(plain);
            id.push_str(if special.starts_with('%') { "%25" } else { "%2F" });
            rest = special.get(1..).unwrap_or_default();
        }
        id.push_str(rest);
    }
    id
}
