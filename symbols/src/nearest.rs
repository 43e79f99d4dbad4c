//! Names like a name: what somebody may have meant.

/// Number of suggestions that make a line, not a list.
const MOST: usize = 3;

/// The names nearest to `wanted`, best first: those that hold it, are held by it, or differ by few letters.
pub(super) fn nearest(wanted: &str, names: impl Iterator<Item = String>) -> Vec<String> {
    let lower = wanted.to_lowercase();
    let wanted: Vec<char> = lower.chars().collect();
    let wanted_last: Vec<char> = last(&lower).chars().collect();
    if wanted_last.is_empty() {
        return Vec::new();
    }
    // Any letter is one edit from any other: a name of one letter is like none but itself.
    let allowed = if wanted_last.len() == 1 { 0 } else { (wanted_last.len() / 3).clamp(1, 4) };
    let score = |name: &str| {
        let other = name.to_lowercase();
        let edits = [distance(&wanted, &other, allowed), distance(&wanted_last, last(&other), allowed)];
        let contains = wanted.len() > 2 && other.contains(&lower);
        score(edits, allowed).or(contains.then_some(allowed + other.len()))
    };
    let mut near: Vec<(usize, String)> = names.filter_map(|name| Some((score(&name)?, name))).collect();
    near.sort_by(|(a, x), (b, y)| (a, x.len(), x).cmp(&(b, y.len(), y)));
    near.dedup();
    near.into_iter().take(MOST).map(|(_, name)| name).collect()
}

/// A name without its scopes.
fn last(name: &str) -> &str {
    name.rsplit("::").next().unwrap_or(name)
}

/// Place in the order of a name that is so many edits away, as a whole and without its scopes; nothing if both are more than
/// `allowed`. Wrong scopes count as one letter: `nu` finds `phys::nu`, and the other way round.
fn score([whole, inner]: [usize; 2], allowed: usize) -> Option<usize> {
    (whole.min(inner) <= allowed).then_some(whole.min(inner + 1))
}

/// Edits (insert, delete, replace, swap neighbours) from `a` to `b`; anything above `limit` is the same to the caller.
fn distance(a: &[char], b: &str, limit: usize) -> usize {
    // A byte is at most a character, so lengths in bytes bound the distance from one side only.
    if b.len() < a.len().saturating_sub(limit) {
        return limit + 1;
    }
    let b: Vec<char> = b.chars().take(a.len() + limit + 1).collect();
    if b.len().abs_diff(a.len()) > limit {
        return limit + 1;
    }
    let mut rows = [vec![0; b.len() + 1], (0..=b.len()).collect(), vec![0; b.len() + 1]];
    for i in 1..=a.len() {
        let [before, previous, row] = &mut rows;
        row[0] = i;
        for j in 1..=b.len() {
            let replace = previous[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replace.min(previous[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(before[j - 2] + 1);
            }
            row[j] = best;
        }
        rows.rotate_left(1);
    }
    rows[1][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(wanted: &str, names: &[&str]) -> Vec<String> {
        nearest(wanted, names.iter().map(|&name| name.to_owned()))
    }

    #[test]
    fn distances() {
        let d = |a: &str, b| distance(&a.chars().collect::<Vec<_>>(), b, 9);
        assert_eq!(d("kitten", "sitting"), 3);
        assert_eq!(d("", "abc"), 3);
        assert_eq!(d("nu", "un"), 1);
        assert_eq!(d("same", "same"), 0);
    }

    #[test]
    fn misspelt_names_find_what_was_meant() {
        let names = ["viscosity", "velocity", "phys::viscosity", "nu", "main_viscosity_table", "unrelated"];
        assert_eq!(near("viscosty", &names)[..2], ["viscosity", "phys::viscosity"]);
        assert_eq!(near("un", &names), ["nu"]);
        assert_eq!(near("table", &names), ["main_viscosity_table"]);
        assert_eq!(near("VISCOSITY", &names)[0], "viscosity");
        assert!(near("zzz", &names).is_empty());
        assert!(near("", &names).is_empty());
    }
}
