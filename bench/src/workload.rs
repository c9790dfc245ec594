//! The models and their sizes.
//!
//! Ours are in `models/` and `models/symmetric/`: each file says in its opening comment what it is and which sizes are run, with what SPIN counts
//! there. SPIN's examples are read from the installed package when they are run; `examples.txt` says which lines are
//! replaced to make them larger or smaller.

use std::fs;
use std::path::{Path, PathBuf};
use xtask::campaign;

/// One model in several sizes, smallest first.
#[derive(Clone, Debug)]
pub struct Workload {
    pub name: String,
    pub source: Source,
    pub sizes: Vec<Size>,
}

#[derive(Clone, Debug)]
pub enum Source {
    /// A model of ours; its settings are macros.
    Ours(PathBuf),
    /// One of ours in `models/symmetric`: for the modes that ask for these alone.
    Symmetric(PathBuf),
    /// An example of SPIN's; each setting is a piece of text, and what is written instead with the value for `{}`.
    Example { file: String, edits: Vec<Edit> },
    /// An example as it is.
    Installed(PathBuf),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    setting: String,
    from: String,
    to: String,
}

/// What SPIN counts without optimisation and reduction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Size {
    pub settings: Vec<(String, String)>,
    /// 0: not known.
    pub stored: u64,
    pub transitions: u64,
    /// How deep its depth-first search goes.
    pub depth: u64,
}

impl Size {
    /// `N=3 K=2`
    pub fn label(&self) -> String {
        self.settings.iter().map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>().join(" ")
    }
}

/// A model ready to be given to both programs.
pub struct Prepared {
    pub file: String,
    /// `-DN=3`, understood by both.
    pub defines: Vec<String>,
}

impl Workload {
    /// Writes the model in the given size into a folder.
    pub fn prepare(&self, size: &Size, dir: &Path) -> Result<Prepared, String> {
        let (path, text, defines) = match &self.source {
            Source::Ours(path) | Source::Symmetric(path) => {
                (path.clone(), read(path)?, size.settings.iter().map(|(k, v)| format!("-D{k}={v}")).collect())
            }
            Source::Example { file, edits } => {
                let path = installed(file)?;
                let text = resize(&read(&path)?, edits, size).map_err(|e| format!("{}: {e}", path.display()))?;
                (path, text, Vec::new())
            }
            Source::Installed(path) => (path.clone(), read(path)?, Vec::new()),
        };
        let file = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        write(&dir.join(&file), text.as_bytes())?;
        if matches!(self.source, Source::Example { .. } | Source::Installed(_)) {
            copy_includes(&path, dir)?;
        }
        Ok(Prepared { file, defines })
    }
}

/// The examples include headers from their own folder.
fn copy_includes(model: &Path, dir: &Path) -> Result<(), String> {
    for entry in model.parent().into_iter().flat_map(fs::read_dir).flatten().flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|e| e == "h") {
            let bytes = fs::read(&path).map_err(|e| format!("{}: {e}", path.display()))?;
            write(&dir.join(entry.file_name()), &bytes)?;
        }
    }
    Ok(())
}

/// SPIN's examples are Latin-1 in places.
fn read(path: &Path) -> Result<String, String> {
    let bytes = fs::read(path).map_err(|e| format!("{}: {e}", path.display()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    fs::write(path, bytes).map_err(|e| format!("{}: {e}", path.display()))
}

/// An edit whose text is not there would silently measure another model.
fn resize(text: &str, edits: &[Edit], size: &Size) -> Result<String, String> {
    let mut text = text.to_string();
    for (setting, value) in &size.settings {
        let mut of_setting = edits.iter().filter(|e| e.setting == *setting).peekable();
        if of_setting.peek().is_none() {
            return Err(format!("no edit says how to set {setting}"));
        }
        for edit in of_setting {
            if !text.contains(&edit.from) {
                return Err(format!("the text {:?}, to be replaced for {setting}, is not there", edit.from));
            }
            text = text.replace(&edit.from, &edit.to.replace("{}", value));
        }
    }
    Ok(text)
}

/// The folder of this crate: models, and runs by default.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_path_buf()
}

/// Everything that is measured in several sizes: ours by name, then SPIN's.
pub fn all() -> Result<Vec<Workload>, String> {
    let mut all = ours("models", Source::Ours)?;
    all.extend(ours("models/symmetric", Source::Symmetric)?);
    let path = folder().join("examples.txt");
    all.extend(examples(&read(&path)?).map_err(|e| format!("{}: {e}", path.display()))?);
    Ok(all)
}

/// The models in a folder, by name.
fn ours(dir: &str, source: fn(PathBuf) -> Source) -> Result<Vec<Workload>, String> {
    let dir = folder().join(dir);
    let entries = fs::read_dir(&dir).map_err(|e| format!("{}: {e}", dir.display()))?;
    let mut models = entries.flatten().map(|e| e.path()).filter(|p| p.extension().is_some_and(|e| e == "pml"));
    let mut paths = models.by_ref().collect::<Vec<_>>();
    paths.sort();
    let mut all = Vec::new();
    for path in paths {
        let sizes = header_sizes(&read(&path)?).map_err(|e| format!("{}: {e}", path.display()))?;
        let name = path.file_stem().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        all.push(Workload { name, source: source(path), sizes });
    }
    Ok(all)
}

/// Every installed example, as it is.
pub fn installed_examples() -> Result<Vec<Workload>, String> {
    let models = campaign::installed_examples()?;
    let workload = |path: PathBuf| {
        let name = match (path.parent().and_then(Path::file_name), path.file_name()) {
            (Some(folder), Some(file)) => format!("{}/{}", folder.to_string_lossy(), file.to_string_lossy()),
            _ => path.display().to_string(),
        };
        Workload { name, source: Source::Installed(path), sizes: vec![Size::default()] }
    };
    Ok(models.into_iter().map(workload).collect())
}

fn installed(file: &str) -> Result<PathBuf, String> {
    let found = campaign::installed_examples()?.into_iter().find(|p| p.ends_with(file));
    found.ok_or_else(|| format!("the package `spin` does not install {file}"))
}

/// The sizes in a model's opening comment: the lines after the one that names the columns.
fn header_sizes(text: &str) -> Result<Vec<Size>, String> {
    let comment = text.strip_prefix("/*").and_then(|t| t.split_once("*/")).ok_or("no comment opens the file")?.0;
    let rows = comment.lines().map(|l| l.trim_start().trim_start_matches('*').trim());
    let rows = rows.skip_while(|l| !l.contains("stored")).skip(1).filter(|l| !l.is_empty());
    let sizes = rows.map(size).collect::<Result<Vec<_>, _>>()?;
    if sizes.is_empty() { Err("the opening comment lists no sizes".into()) } else { Ok(sizes) }
}

/// `N=3 K=2  1000 3001 999`
fn size(row: &str) -> Result<Size, String> {
    let problem = || format!("not a size: `{row}` (settings, stored states, transitions, depth)");
    let (mut settings, mut figures) = (Vec::new(), Vec::new());
    for word in row.split_whitespace() {
        match word.split_once('=') {
            Some((name, value)) => settings.push((name.to_string(), value.to_string())),
            None => figures.push(word.parse::<u64>().map_err(|_| problem())?),
        }
    }
    match figures[..] {
        [stored, transitions, depth] if !settings.is_empty() => Ok(Size { settings, stored, transitions, depth }),
        _ => Err(problem()),
    }
}

/// Reads `examples.txt`: a line without indentation is a name and a file, below it are edits and sizes.
fn examples(text: &str) -> Result<Vec<Workload>, String> {
    let mut all: Vec<Workload> = Vec::new();
    for line in text.lines().filter(|l| !l.trim().is_empty() && !l.starts_with('#')) {
        if !line.starts_with(' ') {
            let (name, file) = line.split_once(' ').ok_or_else(|| format!("no file after `{line}`"))?;
            let source = Source::Example { file: file.trim().to_string(), edits: Vec::new() };
            all.push(Workload { name: name.to_string(), source, sizes: Vec::new() });
            continue;
        }
        let Some(Workload { source: Source::Example { edits, .. }, sizes, .. }) = all.last_mut() else {
            return Err(format!("`{line}` belongs to no example"));
        };
        match edit(line.trim()) {
            Some(edit) => edits.push(edit),
            None => sizes.push(size(line.trim())?),
        }
    }
    Ok(all)
}

/// `N: "#define N\t5" -> "#define N\t{}"`
fn edit(line: &str) -> Option<Edit> {
    let (setting, rest) = line.split_once(": \"")?;
    let (from, to) = rest.strip_suffix('"')?.split_once("\" -> \"")?;
    let text = |t: &str| t.replace("\\t", "\t").replace("\\n", "\n");
    Some(Edit { setting: setting.to_string(), from: text(from), to: text(to) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_from_the_opening_comment() {
        let text = "/* A model.\n *\n * size  stored  transitions  depth\n * N=3 K=2  1000 3001 999\n */\nbyte x;";
        let sizes = header_sizes(text).expect("sizes");
        assert_eq!((sizes[0].label().as_str(), sizes[0].stored, sizes[0].depth), ("N=3 K=2", 1000, 999));
        assert!(header_sizes("byte x;").is_err());
        assert!(size("N=3 1000 x 9").is_err());
    }

    #[test]
    fn an_edit_that_finds_nothing_is_an_error() {
        let read = examples("ring LTL/ring.pml\n  N: \"#define N\\t5\" -> \"#define N\\t{}\"\n  N=7  1 2 3\n");
        let Source::Example { file, edits } = read.expect("examples")[0].source.clone() else { panic!("an example") };
        assert_eq!(file, "LTL/ring.pml");
        let seven = size("N=7 1 2 3").expect("a size");
        assert_eq!(resize("#define N\t5 /* nodes */", &edits, &seven), Ok("#define N\t7 /* nodes */".to_string()));
        let problem = resize("#define N 5", &edits, &seven).expect_err("not there");
        assert!(problem.contains("is not there"), "{problem}");
        assert!(resize("", &edits, &size("M=7 1 2 3").expect("a size")).is_err());
    }

    #[test]
    fn sizes_grow_from_thousands_of_states_to_ten_millions() {
        let all = all().expect("the workloads");
        for workload in &all {
            let stored = workload.sizes.iter().map(|s| s.stored).collect::<Vec<_>>();
            let counted = stored.iter().filter(|n| **n > 0).collect::<Vec<_>>();
            assert!(stored.len() >= 3 && counted.is_sorted(), "{}: {stored:?}", workload.name);
            if matches!(workload.source, Source::Ours(_)) {
                let (least, most) = (stored[0], stored[stored.len() - 1]);
                // Where paths are as long as there are states, SPIN's stack does not fit any longer.
                let last = &workload.sizes[stored.len() - 1];
                let long = workload.sizes.len() > 6 && last.depth > last.stored;
                assert!(least < 10_000 && (long || most >= 10_000_000), "{}: {stored:?}", workload.name);
            }
        }
        assert!(all.len() >= 18, "only {} models", all.len());
    }
}
