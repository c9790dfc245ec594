//! What the operating system knows: time and memory used, cores.

use std::time::Instant;

/// Started when a search starts.
pub struct Clock {
    wall: Instant,
    cpu: Option<f64>,
}

impl Clock {
    pub fn start() -> Self {
        Clock { wall: Instant::now(), cpu: cpu_seconds() }
    }

    pub fn wall_seconds(&self) -> f64 {
        self.wall.elapsed().as_secs_f64()
    }

    /// Both: those of all threads, and those that passed.
    pub fn seconds(&self) -> (f64, f64) {
        (self.cpu_seconds(), self.wall_seconds())
    }

    /// Of all threads of the program; wall time where the system does not tell.
    pub fn cpu_seconds(&self) -> f64 {
        match (self.cpu, cpu_seconds()) {
            (Some(then), Some(now)) => now - then,
            _ => self.wall_seconds(),
        }
    }
}

/// As many threads as can run at once.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, |n| n.get())
}

/// The most memory the program has held so far; 0 where the system does not tell.
pub fn peak_memory_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    parse_kib(&status, "VmHWM:").unwrap_or(0)
}

/// The memory that the program holds now; 0 where the system does not tell.
pub fn memory_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    parse_kib(&status, "VmRSS:").unwrap_or(0)
}

/// User and system time so far.
fn cpu_seconds() -> Option<f64> {
    parse_cpu(&std::fs::read_to_string("/proc/self/stat").ok()?)
}

/// Fields 14 and 15, in hundredths of a second; the name in field 2 may hold blanks and parentheses.
fn parse_cpu(stat: &str) -> Option<f64> {
    let mut fields = stat[stat.rfind(')')? + 1..].split_whitespace().skip(11);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    Some((user + system) as f64 / 100.0)
}

fn parse_kib(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|l| l.strip_prefix(name))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_time_is_read_past_a_name_with_parentheses() {
        let stat = "7 (a ) b) S 1 7 7 0 -1 4194304 1 0 0 0 250 50 0 0 20 0 1 0 100 1 1";
        assert_eq!(parse_cpu(stat), Some(3.0));
        assert_eq!(parse_cpu("nothing"), None);
    }

    #[test]
    fn memory_is_read_in_kibibytes() {
        assert_eq!(parse_kib("VmPeak:\t 9 kB\nVmHWM:\t     512 kB\n", "VmHWM:"), Some(512 * 1024));
        assert_eq!(parse_kib("", "VmRSS:"), None);
    }
}
