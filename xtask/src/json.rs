//! Enough JSON to read our own reports: a whole document becomes a tree.

use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    Null,
    Bool(bool),
    Number(f64),
    String(String),
    Array(Vec<Json>),
    Object(BTreeMap<String, Json>),
}

impl Json {
    /// The field of an object, `Null` where there is none.
    pub fn get(&self, key: &str) -> &Json {
        match self {
            Json::Object(fields) => fields.get(key).unwrap_or(&Json::Null),
            _ => &Json::Null,
        }
    }

    pub fn as_str(&self) -> Option<&str> {
        if let Json::String(s) = self { Some(s) } else { None }
    }

    pub fn as_u64(&self) -> Option<u64> {
        match self {
            Json::Number(n) if *n >= 0.0 && n.fract() == 0.0 => Some(*n as u64),
            _ => None,
        }
    }

    pub fn as_array(&self) -> &[Json] {
        if let Json::Array(items) = self { items } else { &[] }
    }
}

/// Reads a document. The error says where it stops being JSON.
pub fn parse(text: &str) -> Result<Json, String> {
    let mut p = Parser { bytes: text.as_bytes(), at: 0 };
    let value = p.value()?;
    p.space();
    if p.at < p.bytes.len() { Err(p.error("end of text")) } else { Ok(value) }
}

struct Parser<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Parser<'_> {
    fn error(&self, wanted: &str) -> String {
        format!("byte {}: expected {wanted}", self.at)
    }

    fn space(&mut self) {
        while self.bytes.get(self.at).is_some_and(|b| b.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    fn eat(&mut self, word: &str) -> bool {
        self.space();
        let found = self.bytes[self.at..].starts_with(word.as_bytes());
        if found {
            self.at += word.len();
        }
        found
    }

    fn value(&mut self) -> Result<Json, String> {
        self.space();
        match self.bytes.get(self.at) {
            Some(b'{') => self.object(),
            Some(b'[') => self.array(),
            Some(b'"') => self.string().map(Json::String),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ if self.eat("true") => Ok(Json::Bool(true)),
            _ if self.eat("false") => Ok(Json::Bool(false)),
            _ if self.eat("null") => Ok(Json::Null),
            _ => Err(self.error("a value")),
        }
    }

    fn object(&mut self) -> Result<Json, String> {
        let mut fields = BTreeMap::new();
        self.at += 1;
        if self.eat("}") {
            return Ok(Json::Object(fields));
        }
        loop {
            self.space();
            let key = self.string()?;
            if !self.eat(":") {
                return Err(self.error("`:`"));
            }
            fields.insert(key, self.value()?);
            if self.eat("}") {
                return Ok(Json::Object(fields));
            }
            if !self.eat(",") {
                return Err(self.error("`,` or `}`"));
            }
        }
    }

    fn array(&mut self) -> Result<Json, String> {
        let mut items = Vec::new();
        self.at += 1;
        if self.eat("]") {
            return Ok(Json::Array(items));
        }
        loop {
            items.push(self.value()?);
            if self.eat("]") {
                return Ok(Json::Array(items));
            }
            if !self.eat(",") {
                return Err(self.error("`,` or `]`"));
            }
        }
    }

    fn string(&mut self) -> Result<String, String> {
        if self.bytes.get(self.at) != Some(&b'"') {
            return Err(self.error("a string"));
        }
        self.at += 1;
        let mut out = Vec::new();
        loop {
            let Some(&byte) = self.bytes.get(self.at) else { return Err(self.error("`\"`")) };
            self.at += 1;
            match byte {
                b'"' => return String::from_utf8(out).map_err(|_| self.error("UTF-8")),
                b'\\' => {
                    let escape = self.bytes.get(self.at).copied().unwrap_or(0);
                    self.at += 1;
                    let c = match escape {
                        b'n' => '\n',
                        b't' => '\t',
                        b'r' => '\r',
                        b'b' => '\u{8}',
                        b'f' => '\u{c}',
                        b'u' => self.unicode()?,
                        b'"' | b'\\' | b'/' => char::from(escape),
                        _ => return Err(self.error("an escape")),
                    };
                    out.extend(c.encode_utf8(&mut [0; 4]).as_bytes());
                }
                _ => out.push(byte),
            }
        }
    }

    fn unicode(&mut self) -> Result<char, String> {
        let high = self.hex()?;
        if !(0xD800..0xDC00).contains(&high) {
            return char::from_u32(high).ok_or_else(|| self.error("a code point"));
        }
        if !self.bytes[self.at..].starts_with(b"\\u") {
            return Err(self.error("the second surrogate"));
        }
        self.at += 2;
        let low = self.hex()?;
        char::from_u32(0x10000 + ((high - 0xD800) << 10) + (low.wrapping_sub(0xDC00) & 0x3FF))
            .ok_or_else(|| self.error("a code point"))
    }

    fn hex(&mut self) -> Result<u32, String> {
        let digits = self.bytes.get(self.at..self.at + 4).and_then(|d| std::str::from_utf8(d).ok());
        let value =
            digits.and_then(|d| u32::from_str_radix(d, 16).ok()).ok_or_else(|| self.error("four hex digits"))?;
        self.at += 4;
        Ok(value)
    }

    fn number(&mut self) -> Result<Json, String> {
        let start = self.at;
        while self.bytes.get(self.at).is_some_and(|b| b"+-.eE0123456789".contains(b)) {
            self.at += 1;
        }
        let text = std::str::from_utf8(&self.bytes[start..self.at]).unwrap_or("");
        text.parse().map(Json::Number).map_err(|_| self.error("a number"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_nested_values_and_escapes() {
        let json = parse(r#" { "a": [1, -2.5e1, true, null, {}], "b\n": "x\"\u00e9\ud83d\ude00" } "#).expect("valid");
        assert_eq!(json.get("a").as_array()[1], Json::Number(-25.0));
        assert_eq!(json.get("b\n").as_str(), Some("x\"é😀"));
        assert_eq!(json.get("missing").get("deeper"), &Json::Null);
    }

    #[test]
    fn refuses_what_is_not_json() {
        for text in ["", "{", "[1,]", "{\"a\" 1}", "1 2", "\"a", "tru", "\"\\q\""] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
