//! How much memory a search may take when nobody says.

/// Four fifths of what is free now; `None` where the system does not tell.
pub fn fair_share() -> Option<u64> {
    let read = |path: &str| std::fs::read_to_string(path).ok();
    let machine = read("/proc/meminfo").and_then(|text| available(&text));
    // A container may have less than its machine.
    let number = |path: &str| read(path)?.trim().parse::<u64>().ok();
    let container = number("/sys/fs/cgroup/memory.max")
        .map(|max| max.saturating_sub(number("/sys/fs/cgroup/memory.current").unwrap_or(0)));
    let free = match (machine, container) {
        (Some(a), Some(b)) => a.min(b),
        (a, b) => a.or(b)?,
    };
    Some(free / 5 * 4)
}

fn available(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|l| l.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_free_memory_is_read_in_kibibytes() {
        assert_eq!(available("MemTotal: 9 kB\nMemAvailable:    2048 kB\n"), Some(2048 * 1024));
        assert_eq!(available("MemTotal: 9 kB\n"), None);
    }
}
