//! What a single word of the command line means, and what it may have been meant to be.

use std::time::Duration;

pub(crate) fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// `4096`, `500M`, `8GiB`, `0.5GiB`: letters count in powers of 1024, except `kB`, `MB` and so on.
pub(crate) fn size(text: &str) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (base, power): (u64, u32) = match text[digits..].to_ascii_lowercase().as_str() {
        "" | "b" => (1, 0),
        "k" | "kib" => (1024, 1),
        "m" | "mib" => (1024, 2),
        "g" | "gib" => (1024, 3),
        "t" | "tib" => (1024, 4),
        "kb" => (1000, 1),
        "mb" => (1000, 2),
        "gb" => (1000, 3),
        "tb" => (1000, 4),
        _ => return None,
    };
    let unit = base.pow(power);
    let n = match text[..digits].parse::<u64>() {
        Ok(n) => n.checked_mul(unit)?,
        Err(_) => {
            let n = text[..digits].parse::<f64>().ok()? * unit as f64;
            // What is larger is not exact, and nobody has it.
            if n < (1u64 << 53) as f64 { n as u64 } else { return None }
        }
    };
    (n > 0).then_some(n)
}

/// `90`, `90s`, `1.5h`, `10m`, `200ms`
pub(crate) fn time(text: &str) -> Option<Duration> {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let n: f64 = text[..digits].parse().ok()?;
    let unit = match &text[digits..] {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        "d" => 86400.0,
        _ => return None,
    };
    Duration::try_from_secs_f64(n * unit).ok().filter(|d| !d.is_zero())
}

/// The name a typist may have meant: at most a third of it mistyped.
pub(crate) fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_ascii_lowercase();
    let near = names.into_iter().map(|name| (distance(&word, name), name)).min()?;
    (near.0 > 0 && near.0 <= near.1.len().div_ceil(3)).then_some(near.1)
}

/// Letters to insert, drop, replace or swap with their neighbour.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let swap = usize::from(a[i - 1] != b[j - 1]);
            let mut best = (rows[i - 1][j] + 1).min(row[j - 1] + 1).min(rows[i - 1][j - 1] + swap);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_times() {
        assert_eq!(size("8GiB"), Some(8 << 30));
        assert_eq!(size("500MB"), Some(500_000_000));
        assert_eq!(size("12"), Some(12));
        assert_eq!(size("0.5GiB"), Some(1 << 29));
        assert_eq!(size("1.5kB"), Some(1500));
        assert_eq!(size("0.1"), None);
        assert_eq!(size("1.2.3M"), None);
        assert_eq!(size("12x"), None);
        assert_eq!(size("99999999999999999999"), None);
        assert_eq!(size("99999999999T"), None);
        assert_eq!(time("10m"), Some(Duration::from_secs(600)));
        assert_eq!(time("1.5h"), Some(Duration::from_secs(5400)));
        assert_eq!(time("200ms"), Some(Duration::from_millis(200)));
        assert_eq!(time("-1"), None);
        assert_eq!(time("1e9"), None);
    }
}
