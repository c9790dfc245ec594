//! JSON out and in: results and traces. Objects keep the order they were made in.

use std::fmt::Write as _;

#[derive(Clone, PartialEq, Debug)]
pub enum Json {
    Null,
    Bool(bool),
    Int(i64),
    Real(f64),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

/// What takes no more columns stays on one line: a step of a trace does.
const ONE_LINE: usize = 260;

/// Deeper texts than this are refused rather than followed.
const MAX_DEPTH: usize = 64;

impl Json {
    pub fn object<'a>(fields: impl IntoIterator<Item = (&'a str, Json)>) -> Json {
        Json::Object(fields.into_iter().map(|(k, v)| (k.to_string(), v)).collect())
    }

    pub fn text(s: impl Into<String>) -> Json {
        Json::Text(s.into())
    }

    pub fn count(n: u64) -> Json {
        Json::Int(i64::try_from(n).unwrap_or(i64::MAX))
    }

    pub fn get(&self, key: &str) -> Option<&Json> {
        match self {
            Json::Object(fields) => fields.iter().find(|(k, _)| k == key).map(|(_, v)| v),
            _ => None,
        }
    }

    pub fn as_int(&self) -> Option<i64> {
        match self {
            Json::Int(n) => Some(*n),
            _ => None,
        }
    }

    pub fn as_str(&self) -> Option<&str> {
        match self {
            Json::Text(s) => Some(s),
            _ => None,
        }
    }

    pub fn as_list(&self) -> Option<&[Json]> {
        match self {
            Json::List(items) => Some(items),
            _ => None,
        }
    }

    /// Indented by two; what is small stays on one line.
    pub fn pretty(&self) -> String {
        let mut out = String::new();
        self.write(0, &mut out);
        out.push('\n');
        out
    }

    fn write(&self, indent: usize, out: &mut String) {
        let (open, close, len) = match self {
            Json::List(items) => ('[', ']', items.len()),
            Json::Object(fields) => ('{', '}', fields.len()),
            _ => return self.write_flat(out),
        };
        if len == 0 || self.fits(ONE_LINE).is_some() {
            return self.write_flat(out);
        }
        out.push(open);
        for i in 0..len {
            out.push_str(if i > 0 { ",\n" } else { "\n" });
            out.extend(std::iter::repeat_n(' ', indent + 2));
            match self {
                Json::List(items) => items[i].write(indent + 2, out),
                Json::Object(fields) => {
                    write_text(&fields[i].0, out);
                    out.push_str(": ");
                    fields[i].1.write(indent + 2, out);
                }
                _ => {}
            }
        }
        out.push('\n');
        out.extend(std::iter::repeat_n(' ', indent));
        out.push(close);
    }

    /// What is left of `room` columns, roughly; `None` if there are too few.
    fn fits(&self, room: usize) -> Option<usize> {
        match self {
            Json::Text(s) => room.checked_sub(s.len() + 4),
            Json::List(items) => items.iter().try_fold(room.checked_sub(2)?, |room, v| v.fits(room)),
            Json::Object(fields) => {
                fields.iter().try_fold(room.checked_sub(4)?, |room, (k, v)| v.fits(room.checked_sub(k.len() + 6)?))
            }
            _ => room.checked_sub(6),
        }
    }

    fn write_flat(&self, out: &mut String) {
        match self {
            Json::Null => out.push_str("null"),
            Json::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
            Json::Int(n) => {
                let _ = write!(out, "{n}");
            }
            Json::Real(x) if x.is_finite() => {
                let _ = write!(out, "{x}");
            }
            Json::Real(_) => out.push_str("null"),
            Json::Text(s) => write_text(s, out),
            Json::List(items) => {
                out.push('[');
                for (i, item) in items.iter().enumerate() {
                    out.push_str(if i > 0 { ", " } else { "" });
                    item.write_flat(out);
                }
                out.push(']');
            }
            Json::Object(fields) => {
                out.push('{');
                for (i, (key, value)) in fields.iter().enumerate() {
                    out.push_str(if i > 0 { ", " } else { " " });
                    write_text(key, out);
                    out.push_str(": ");
                    value.write_flat(out);
                }
                out.push_str(if fields.is_empty() { "}" } else { " }" });
            }
        }
    }

    /// Reads one value; the message says at which byte it stopped.
    pub fn parse(text: &str) -> Result<Json, String> {
        let mut reader = Reader { text: text.as_bytes(), at: 0 };
        let value = reader.value(0)?;
        reader.space();
        if reader.at < reader.text.len() {
            return Err(reader.wrong("nothing more"));
        }
        Ok(value)
    }
}

fn write_text(s: &str, out: &mut String) {
    out.push('"');
    for c in s.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if (c as u32) < 0x20 || c == '\x7f' => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn wrong(&self, wanted: &str) -> String {
        format!("byte {}: expected {wanted}", self.at)
    }

    fn space(&mut self) {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    fn take(&mut self, word: &str) -> bool {
        let there = self.text[self.at..].starts_with(word.as_bytes());
        if there {
            self.at += word.len();
        }
        there
    }

    fn value(&mut self, depth: usize) -> Result<Json, String> {
        if depth > MAX_DEPTH {
            return Err(self.wrong("less nesting"));
        }
        self.space();
        match self.text.get(self.at) {
            Some(b'{') => {
                self.at += 1;
                let mut fields = Vec::new();
                self.space();
                if self.take("}") {
                    return Ok(Json::Object(fields));
                }
                loop {
                    self.space();
                    let key = self.string()?;
                    self.space();
                    if !self.take(":") {
                        return Err(self.wrong("`:`"));
                    }
                    fields.push((key, self.value(depth + 1)?));
                    self.space();
                    if self.take("}") {
                        return Ok(Json::Object(fields));
                    }
                    if !self.take(",") {
                        return Err(self.wrong("`,` or `}`"));
                    }
                }
            }
            Some(b'[') => {
                self.at += 1;
                let mut items = Vec::new();
                self.space();
                if self.take("]") {
                    return Ok(Json::List(items));
                }
                loop {
                    items.push(self.value(depth + 1)?);
                    self.space();
                    if self.take("]") {
                        return Ok(Json::List(items));
                    }
                    if !self.take(",") {
                        return Err(self.wrong("`,` or `]`"));
                    }
                }
            }
            Some(b'"') => Ok(Json::Text(self.string()?)),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ if self.take("null") => Ok(Json::Null),
            _ if self.take("true") => Ok(Json::Bool(true)),
            _ if self.take("false") => Ok(Json::Bool(false)),
            _ => Err(self.wrong("a value")),
        }
    }

    fn number(&mut self) -> Result<Json, String> {
        let start = self.at;
        while self.text.get(self.at).is_some_and(|b| matches!(b, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9')) {
            self.at += 1;
        }
        let word = std::str::from_utf8(&self.text[start..self.at]).unwrap_or("");
        if let Ok(n) = word.parse::<i64>() {
            return Ok(Json::Int(n));
        }
        match word.parse::<f64>() {
            Ok(x) if x.is_finite() => Ok(Json::Real(x)),
            _ => {
                self.at = start;
                Err(self.wrong("a number"))
            }
        }
    }

    fn string(&mut self) -> Result<String, String> {
        if !self.take("\"") {
            return Err(self.wrong("a string"));
        }
        let mut out: Vec<u8> = Vec::new();
        loop {
            let Some(&byte) = self.text.get(self.at) else { return Err(self.wrong("a closing quote")) };
            self.at += 1;
            match byte {
                b'"' => return String::from_utf8(out).map_err(|_| self.wrong("UTF-8")),
                b'\\' => {
                    let c = self.escape()?;
                    out.extend(c.encode_utf8(&mut [0; 4]).bytes());
                }
                0..0x20 => return Err(self.wrong("no control characters in a string")),
                byte => out.push(byte),
            }
        }
    }

    fn escape(&mut self) -> Result<char, String> {
        let Some(&byte) = self.text.get(self.at) else { return Err(self.wrong("an escape")) };
        self.at += 1;
        Ok(match byte {
            b'n' => '\n',
            b't' => '\t',
            b'r' => '\r',
            b'b' => '\x08',
            b'f' => '\x0c',
            b'"' | b'\\' | b'/' => byte as char,
            b'u' => {
                let high = self.hex4()?;
                if !(0xd800..0xdc00).contains(&high) {
                    return char::from_u32(high).ok_or_else(|| self.wrong("a character"));
                }
                if !self.take("\\u") {
                    return Err(self.wrong("the second half of a pair"));
                }
                let low = self.hex4()?;
                let code = 0x10000 + ((high - 0xd800) << 10) + low.wrapping_sub(0xdc00);
                return char::from_u32(code)
                    .filter(|_| (0xdc00..0xe000).contains(&low))
                    .ok_or_else(|| self.wrong("the second half of a pair"));
            }
            _ => return Err(self.wrong("a known escape")),
        })
    }

    fn hex4(&mut self) -> Result<u32, String> {
        let digits = self.text.get(self.at..self.at + 4).and_then(|d| std::str::from_utf8(d).ok());
        let digits = digits.filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()));
        let value = digits.and_then(|d| u32::from_str_radix(d, 16).ok());
        self.at += 4;
        value.ok_or_else(|| "expected four hexadecimal digits".to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let value = Json::object([
            ("name", Json::text("a \"b\" \\ \n \u{1b}[31m ü 🦀")),
            ("list", Json::List((0..20).map(Json::Int).collect())),
            ("none", Json::Null),
            ("yes", Json::Bool(true)),
            ("half", Json::Real(0.5)),
            ("empty", Json::Object(Vec::new())),
            ("nested", Json::List(vec![Json::object([("x", Json::List(vec![Json::Int(-1)]))])])),
        ]);
        assert_eq!(Json::parse(&value.pretty()), Ok(value));
    }

    #[test]
    fn what_is_short_stays_on_one_line() {
        let step = Json::object([("pid", Json::Int(0)), ("changes", Json::object([("x", Json::List(vec![]))]))]);
        assert_eq!(step.pretty(), "{ \"pid\": 0, \"changes\": { \"x\": [] } }\n");
        let many = Json::List(vec![step; 20]).pretty();
        assert_eq!(many.lines().count(), 22, "{many}");
    }

    #[test]
    fn broken_texts_are_refused_with_a_place() {
        for text in ["", "{", "[1,]", "{\"a\" 1}", "\"abc", "1 2", "nul", "\"\\u12\"", "\"\\ud800x\"", "-", "1e999"] {
            assert!(Json::parse(text).is_err(), "{text}");
        }
        assert!(Json::parse(&"[".repeat(100_000)).is_err());
        assert_eq!(Json::parse("[1 2]"), Err("byte 3: expected `,` or `]`".to_string()));
    }

    #[test]
    fn pairs_of_escapes_make_one_character() {
        assert_eq!(Json::parse("\"\\ud83e\\udd80\""), Ok(Json::text("🦀")));
    }
}
