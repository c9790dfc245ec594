//! Tokens, the names in them, and the words and signs Promela gives a meaning to.

use spinor_model::source::Span;
use std::collections::HashMap;
use std::sync::Arc;

/// A text that occurs in the model, by number: names, numbers and strings are compared often and copied everywhere.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Sym(pub u32);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Token {
    pub tok: Tok,
    pub flags: u8,
    pub span: Span,
}

/// A line ends somewhere between the previous token and this one, comments and line splices included: that is where
/// SPIN sees a line end after `gcc -E`.
pub const NEWLINE: u8 = 1;
/// White space stands before the token.
pub const SPACE: u8 = 2;
/// The name of a macro, met inside its own expansion: it stays a name for ever.
pub const FROZEN: u8 = 4;
/// A separator that the author did not write.
pub const IMPLIED: u8 = 8;

/// What a token is. Malformed texts are tokens too: what never reaches the parser, in a macro that is not used or in C
/// text, is nobody's mistake.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tok {
    Word(Sym),
    /// digits, and whatever letters stick to them
    Number(Sym),
    /// what stands between the quotes, escapes not yet read
    Char(Sym),
    Str(Sym),
    /// a quote without its partner on the line; the text from the quote on
    Open(Sym),
    Sign(Sign),
    Stray(char),
    /// a whole `c_code { … }` and its kin
    C(Key),
    Eof,
}

impl Token {
    pub fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    pub fn is(&self, sign: Sign) -> bool {
        self.tok == Tok::Sign(sign)
    }

    /// The reserved word, if it is one.
    pub fn key(&self) -> Option<Key> {
        match self.tok {
            Tok::Word(sym) => KEYS.get(sym.0 as usize).map(|(key, _)| *key),
            _ => None,
        }
    }

    /// A word that is free for names.
    pub fn name(&self) -> Option<Sym> {
        match self.tok {
            Tok::Word(sym) if sym.0 as usize >= KEYS.len() => Some(sym),
            _ => None,
        }
    }
}

macro_rules! signs {
    ($($name:ident $text:literal)*) => {
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum Sign { $($name),* }
        impl Sign {
            pub fn text(self) -> &'static str {
                match self { $(Sign::$name => $text),* }
            }
            /// In the order of the declaration: longer signs first.
            pub const ALL: &'static [(Sign, &'static str)] = &[$((Sign::$name, $text)),*];
        }
    };
}

signs! {
    Iff "<->" Ellipsis "..."
    DotDot ".." ColonColon "::" Arrow "->" PlusPlus "++" MinusMinus "--" EqEq "==" NotEq "!=" Le "<=" Ge ">="
    Diamond "<>" Shl "<<" Shr ">>" AndAnd "&&" OrOr "||" BangBang "!!" QueryQuery "??" HashHash "##"
    OpenBrace "{" CloseBrace "}" OpenParen "(" CloseParen ")" OpenBracket "[" CloseBracket "]"
    Semi ";" Comma "," Colon ":" Dot "." Query "?" Bang "!" Assign "=" Lt "<" Gt ">" Plus "+" Minus "-" Star "*"
    Slash "/" Percent "%" And "&" Or "|" Caret "^" Tilde "~" At "@" Hash "#"
}

macro_rules! keys {
    ($($name:ident $text:literal)*) => {
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum Key { $($name),* }
        impl Key {
            pub fn text(self) -> &'static str {
                match self { $(Key::$name => $text),* }
            }
        }
        /// The reserved words. A word's place here is its `Sym`.
        pub const KEYS: &[(Key, &str)] = &[$((Key::$name, $text)),*];
    };
}

keys! {
    Active "active" Assert "assert" Atomic "atomic" Bit "bit" Bool "bool" Break "break" Byte "byte" CCode "c_code"
    CDecl "c_decl" CExpr "c_expr" CState "c_state" CTrack "c_track" Chan "chan" DProctype "D_proctype" DStep "d_step"
    Do "do" Else "else" Empty "empty" Enabled "enabled" Eval "eval" False "false" Fi "fi" For "for" Full "full"
    GetPriority "get_priority" Goto "goto" Hidden "hidden" If "if" Inline "inline" Init "init" Int "int" Len "len"
    Local "local" Ltl "ltl" Mtype "mtype" Nempty "nempty" Never "never" Nfull "nfull" Notrace "notrace" Np "np_"
    Od "od" Of "of" PcValue "pc_value" Pid "pid" Printf "printf" Printm "printm" Priority "priority"
    Proctype "proctype" Provided "provided" Return "return" Run "run" Select "select" SetPriority "set_priority"
    Short "short" Show "show" Skip "skip" Timeout "timeout" Trace "trace" True "true" Typedef "typedef"
    Unless "unless" Unsigned "unsigned" Xr "xr" Xs "xs"
}

impl Key {
    /// Words that begin a new unit of the model and stand nowhere else.
    pub fn begins_unit(self) -> bool {
        use Key::*;
        matches!(self, Active | Proctype | DProctype | Init | Never | Trace | Notrace | Ltl | Typedef | Inline)
    }

    pub fn begins_decl(self) -> bool {
        use Key::*;
        matches!(self, Hidden | Show | Local | Bit | Bool | Byte | Pid | Short | Int | Unsigned | Mtype | Chan)
    }
}

/// Texts by number and numbers by text.
pub struct Names {
    by_text: HashMap<Arc<str>, Sym>,
    texts: Vec<Arc<str>>,
}

impl Default for Names {
    fn default() -> Self {
        let mut names = Names { by_text: HashMap::new(), texts: Vec::new() };
        for (_, text) in KEYS {
            names.intern(text);
        }
        names
    }
}

impl Names {
    pub fn intern(&mut self, text: &str) -> Sym {
        if let Some(&sym) = self.by_text.get(text) {
            return sym;
        }
        let text: Arc<str> = text.into();
        let sym = Sym(self.texts.len() as u32);
        self.texts.push(text.clone());
        self.by_text.insert(text, sym);
        sym
    }

    pub fn text(&self, sym: Sym) -> &str {
        &self.texts[sym.0 as usize]
    }

    pub fn shared(&self, sym: Sym) -> Arc<str> {
        self.texts[sym.0 as usize].clone()
    }

    /// How a message calls a token.
    pub fn describe(&self, token: &Token) -> String {
        match token.tok {
            Tok::Word(sym) if self.text(sym).len() <= 40 => format!("`{}`", self.text(sym)),
            Tok::Word(_) => "a name".into(),
            Tok::Number(sym) if self.text(sym).len() <= 40 => format!("`{}`", self.text(sym)),
            Tok::Number(_) => "a number".into(),
            Tok::Char(_) => "a character".into(),
            Tok::Str(_) => "a string".into(),
            Tok::Open(_) => "an unfinished text".into(),
            Tok::Sign(Sign::Semi) if token.has(IMPLIED) => "the end of the line".into(),
            Tok::Sign(sign) => format!("`{}`", sign.text()),
            Tok::Stray(c) => format!("`{}`", c.escape_debug()),
            Tok::C(key) => format!("`{}`", key.text()),
            Tok::Eof => "the end of the text".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_words_know_themselves() {
        let mut names = Names::default();
        for (key, text) in KEYS {
            let sym = names.intern(text);
            let token = Token { tok: Tok::Word(sym), flags: 0, span: Span::default() };
            assert_eq!(token.key(), Some(*key), "{text}");
            assert_eq!(token.name(), None);
        }
        let sym = names.intern("in");
        assert!(Token { tok: Tok::Word(sym), flags: 0, span: Span::default() }.name().is_some());
    }

    #[test]
    fn longer_signs_come_before_their_beginnings() {
        for (i, (_, a)) in Sign::ALL.iter().enumerate() {
            for (_, b) in &Sign::ALL[..i] {
                assert!(!a.starts_with(b), "{b} hides {a}");
            }
        }
    }
}
