//! Completion scripts for shells, from the tables.

use crate::options::{COMMANDS, Command, OptionRow, Takes, options_of};
use std::fmt::Write as _;

pub const SHELLS: [&str; 3] = ["bash", "zsh", "fish"];

/// `None` for a shell we do not know.
pub fn script(shell: &str) -> Option<String> {
    match shell {
        "bash" => Some(bash()),
        "zsh" => Some(zsh()),
        "fish" => Some(fish()),
        _ => None,
    }
}

fn command_names() -> String {
    COMMANDS.iter().map(|c| c.name).collect::<Vec<_>>().join(" ")
}

fn flags(command: Command) -> String {
    let mut words = Vec::new();
    for row in options_of(command) {
        words.extend(row.short.map(|c| format!("-{c}")));
        words.push(format!("--{}", row.long));
    }
    words.join(" ")
}

/// Every option with a fixed list of values, once; where commands differ, the values of all.
fn choices() -> Vec<(&'static OptionRow, Vec<&'static str>)> {
    let mut out: Vec<(&OptionRow, Vec<&str>)> = Vec::new();
    for command in COMMANDS {
        for row in options_of(command.command) {
            let Takes::OneOf(built, _) = row.takes else { continue };
            let at = out.iter().position(|(o, _)| o.long == row.long).unwrap_or_else(|| {
                out.push((row, Vec::new()));
                out.len() - 1
            });
            let new: Vec<&str> = built.iter().filter(|v| !out[at].1.contains(v)).copied().collect();
            out[at].1.extend(new);
        }
    }
    out
}

fn bash() -> String {
    let mut out = String::from("# spinor completions for bash: source this file\n_spinor() {\n");
    out.push_str("    local cur=\"${COMP_WORDS[COMP_CWORD]}\" prev=\"${COMP_WORDS[COMP_CWORD-1]}\" verb=check word\n");
    out.push_str("    case \"$prev\" in\n");
    for (row, values) in choices() {
        let values = values.join(" ");
        let _ = writeln!(out, "        --{}) COMPREPLY=($(compgen -W \"{values}\" -- \"$cur\")); return ;;", row.long);
    }
    let _ =
        writeln!(out, "        completions) COMPREPLY=($(compgen -W \"{}\" -- \"$cur\")); return ;;", SHELLS.join(" "));
    out.push_str("    esac\n    for word in \"${COMP_WORDS[@]:1}\"; do\n        case \"$word\" in\n");
    let _ = writeln!(out, "            {}) verb=$word; break ;;", command_names().replace(' ', "|"));
    out.push_str("        esac\n    done\n    if [[ $cur == -* ]]; then\n        case \"$verb\" in\n");
    for row in COMMANDS {
        let _ = writeln!(
            out,
            "            {}) COMPREPLY=($(compgen -W \"{}\" -- \"$cur\")) ;;",
            row.name,
            flags(row.command)
        );
    }
    out.push_str("        esac\n    elif [[ $COMP_CWORD -eq 1 ]]; then\n");
    let _ = writeln!(
        out,
        "        COMPREPLY=($(compgen -W \"{}\" -- \"$cur\") $(compgen -f -- \"$cur\"))",
        command_names()
    );
    out.push_str("    else\n        COMPREPLY=($(compgen -f -- \"$cur\"))\n    fi\n}\n");
    out.push_str("complete -o filenames -F _spinor spinor\n");
    out
}

fn zsh() -> String {
    let mut out = String::from("#compdef spinor\n# spinor completions for zsh: put this file on fpath as _spinor\n");
    out.push_str("_spinor() {\n    local verb=check word\n    for word in ${words[2,-1]}; do\n        case $word in\n");
    let _ = writeln!(out, "            {}) verb=$word; break ;;", command_names().replace(' ', "|"));
    out.push_str("        esac\n    done\n    local -a first\n    first=(");
    for row in COMMANDS {
        let _ = write!(out, " '{}:{}'", row.name, quote(row.help));
    }
    out.push_str(" )\n    case $verb in\n");
    for row in COMMANDS {
        let _ = writeln!(out, "        {})\n            _arguments \\", row.name);
        for option in options_of(row.command) {
            let value = match option.takes {
                Takes::Nothing => String::new(),
                Takes::OneOf(built, _) => format!(":value:({})", built.join(" ")),
                Takes::Value(word) | Takes::Path(word) | Takes::Optional(word) => format!(":{}:_files", quote(word)),
            };
            let help = quote(option.help);
            let many = if option.repeats { "*" } else { "" };
            let equals = match option.takes {
                Takes::Nothing => "",
                Takes::Optional(_) => "=-",
                Takes::Value(_) | Takes::Path(_) | Takes::OneOf(..) => "=",
            };
            let _ = writeln!(out, "                '{many}--{}{equals}[{help}]{value}' \\", option.long);
        }
        let rest = if row.command == Command::Completions {
            format!("'*:shell:(completions {})'", SHELLS.join(" "))
        } else {
            "'1: :{ _describe command first; _files }' '*:file:_files'".to_string()
        };
        let _ = writeln!(out, "                {rest} ;;");
    }
    out.push_str("    esac\n}\n_spinor \"$@\"\n");
    out
}

/// Inside single quotes and an `_arguments` row.
fn quote(text: &str) -> String {
    text.replace('\'', "").replace('[', "(").replace(']', ")").replace(':', ";").replace('`', "")
}

fn fish() -> String {
    let mut out = String::from("# spinor completions for fish\n");
    for row in COMMANDS {
        let _ = writeln!(out, "complete -c spinor -n __fish_use_subcommand -a {} -d '{}'", row.name, quote(row.help));
    }
    for row in COMMANDS {
        for option in options_of(row.command) {
            let short = option.short.map_or(String::new(), |c| format!(" -s {c}"));
            let value = match option.takes {
                Takes::Nothing | Takes::Optional(_) => String::new(),
                Takes::Value(_) | Takes::Path(_) => " -r".to_string(),
                Takes::OneOf(built, _) => format!(" -x -a '{}'", built.join(" ")),
            };
            let _ = writeln!(
                out,
                "complete -c spinor -n '__fish_seen_subcommand_from {}' -l {}{short}{value} -d '{}'",
                row.name,
                option.long,
                quote(option.help)
            );
        }
    }
    let _ =
        writeln!(out, "complete -c spinor -n '__fish_seen_subcommand_from completions' -x -a '{}'", SHELLS.join(" "));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_shell_hears_of_each_option_that_exists_and_of_no_other() {
        for shell in SHELLS {
            let script = script(shell).unwrap();
            for row in COMMANDS {
                assert!(script.contains(row.name));
                for option in options_of(row.command) {
                    assert!(script.contains(option.long), "{shell}: {}", option.long);
                }
            }
            assert!(!script.contains("sarif") && !script.contains("unless-repair"), "{shell}");
        }
        assert!(script("tcsh").is_none());
    }
}
