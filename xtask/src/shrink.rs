//! Makes a model smaller while some predicate holds: delta debugging over lines, over balanced ranges of
//! lines, and over statements.

/// The smallest text found on which `holds` is still true. `holds(text)` must be true at the start.
pub fn shrink(text: &str, mut holds: impl FnMut(&str) -> bool) -> String {
    let mut best = text.to_string();
    loop {
        let before = best.len();
        let lines = best.lines().map(|l| format!("{l}\n")).collect::<Vec<_>>();
        best = ddmin(lines, &mut holds).concat();
        best = unwrap_ranges(best, &mut holds);
        best = ddmin(statements(&best), &mut holds).concat();
        best = ddmin(words(&best), &mut holds).concat();
        if best.len() >= before {
            return best;
        }
    }
}

/// Removes ever smaller chunks of `parts` as long as the rest holds.
fn ddmin(mut parts: Vec<String>, holds: &mut impl FnMut(&str) -> bool) -> Vec<String> {
    let mut chunk = parts.len().div_ceil(2);
    while chunk > 0 {
        let mut at = 0;
        while at < parts.len() {
            let end = (at + chunk).min(parts.len());
            let rest = parts[..at].iter().chain(&parts[end..]).map(String::as_str).collect::<String>();
            if holds(&rest) {
                parts.drain(at..end);
            } else {
                at = end;
            }
        }
        chunk /= 2;
    }
    parts
}

/// Tries to delete whole constructs, or only their first and last lines: neither is a chunk that `ddmin` would find.
fn unwrap_ranges(text: String, holds: &mut impl FnMut(&str) -> bool) -> String {
    let mut lines = text.lines().map(str::to_string).collect::<Vec<_>>();
    let mut at = 0;
    while at < lines.len() {
        let mut depth = 0;
        let end = (at..lines.len()).find(|&i| {
            depth += nesting(&lines[i]);
            depth <= 0
        });
        let Some(end) = end.filter(|&e| e > at) else {
            at += 1;
            continue;
        };
        let join = |keep: &dyn Fn(usize) -> bool| {
            let kept = lines.iter().enumerate().filter(|(i, _)| keep(*i)).map(|(_, l)| format!("{l}\n"));
            kept.collect::<String>()
        };
        let without = join(&|i| i < at || i > end);
        let unwrapped = join(&|i| i != at && i != end);
        if holds(&without) {
            lines.drain(at..=end);
        } else if holds(&unwrapped) {
            lines.remove(end);
            lines.remove(at);
        } else {
            at += 1;
        }
    }
    lines.iter().map(|l| format!("{l}\n")).collect()
}

/// How many constructs a line opens, less those it closes.
fn nesting(line: &str) -> i32 {
    let mut depth = 0;
    for word in line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
        depth += match word {
            "if" | "do" => i32::from(!line.trim_start().starts_with('#')),
            "fi" | "od" => -1,
            _ => 0,
        };
    }
    depth + line.matches('{').count() as i32 - line.matches('}').count() as i32
}

/// Cuts after `;`, `->`, and before `::`.
fn statements(text: &str) -> Vec<String> {
    let text = text.replace("::", "\u{1}::");
    let text = text.replace(';', ";\u{1}").replace("->", "->\u{1}");
    text.split('\u{1}').map(str::to_string).filter(|s| !s.is_empty()).collect()
}

/// Cuts into words with the space that follows, so that operands and declared names can go.
fn words(text: &str) -> Vec<String> {
    text.split_inclusive([' ', '\n']).map(str::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_only_what_matters() {
        let text = "byte x;\nbyte y;\nactive proctype P() {\n  if\n  :: x = 1; y = 2\n  :: else\n  fi\n}\n";
        let balanced =
            |t: &str| t.matches('{').count() == t.matches('}').count() && t.lines().map(nesting).sum::<i32>() == 0;
        let small = shrink(text, |t| balanced(t) && t.contains("y = 2"));
        assert_eq!(small.split_whitespace().collect::<Vec<_>>().join(" "), "y = 2");
    }

    #[test]
    fn a_construct_is_unwrapped() {
        let mut holds = |t: &str| t.contains("x = 1") && t.lines().map(nesting).sum::<i32>() == 0;
        assert_eq!(unwrap_ranges("atomic {\n x = 1\n}\n".into(), &mut holds), " x = 1\n");
    }
}
