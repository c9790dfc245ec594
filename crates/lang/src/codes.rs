//! Every diagnostic code of this crate, explained.
//!
//! `spinor explain P0011` prints a row; the book's pages are made from the same rows. A test reads each example and expects
//! its code, so an explanation cannot outlive what it explains.
//!
//! P00xx text, macros and brackets; P01xx names; P02xx statements and habits of other languages; P03xx meaning;
//! P04xx formulas.

pub struct Code {
    pub code: &'static str,
    /// What is so, in a few words.
    pub title: &'static str,
    /// Why it matters and what to do.
    pub text: &'static str,
    /// A small program that triggers it.
    pub example: &'static str,
}

pub fn find(code: &str) -> Option<&'static Code> {
    CODES.iter().find(|c| c.code.eq_ignore_ascii_case(code))
}

macro_rules! letters {
    () => {
        "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz"
    };
}

macro_rules! codes {
    ($($code:literal $title:literal $text:literal $example:expr;)*) => {
        pub static CODES: &[Code] = &[$(Code { code: $code, title: $title, text: $text, example: $example }),*];
    };
}

codes! {
    // Text

    "P0001" "a character that has no meaning in Promela"
    "Outside of comments and strings a model consists of letters, digits, `_` and the operators. Word processors like to \
     replace quotes, dashes and arrows by typographic ones; the fix puts the plain ones back."
    "byte x;\ninit { x = 3 – 1 }\n";

    "P0002" "a string or character without its closing quote"
    "A string ends on the line it begins on. To print a line end write `\\n` inside the string."
    "init { printf(\"hello\\n); }\n";

    "P0003" "a comment that never ends"
    "`/*` begins a comment and the next `*/` ends it; comments do not nest. Without its end it takes the rest of the file."
    "init { skip } /* to do\n";

    "P0004" "something like a number that is none"
    "Numbers are decimal digits. There are no hexadecimal, octal or floating-point numbers and no suffixes: `010` is ten."
    "int x;\ninit { x = 0x1F }\n";

    "P0005" "a number that does not fit into 32 bits"
    "Values are 32-bit integers. A larger number is cut to its low 32 bits, as in SPIN, which is hardly what was meant."
    "int x;\ninit { x = 5000000000 }\n";

    "P0006" "a name that is too long"
    "Names may have up to 511 letters. SPIN crashes on longer ones."
    concat!("byte ", letters!(), letters!(), letters!(), letters!(), ";\ninit { skip }\n");

    "P0007" "a string that is too long"
    "Strings may have up to 2000 characters. Print longer texts in several pieces."
    concat!("init { printf(\"",
        letters!(), letters!(), letters!(), letters!(), letters!(), letters!(), letters!(), letters!(),
        letters!(), letters!(), letters!(), letters!(), letters!(), letters!(), letters!(), letters!(),
        "\") }\n");

    "P0008" "a character constant with more or less than one character"
    "A character constant is one character between single quotes, or an escape like `'\\n'`. Its value is a number. Strings \
     exist in `printf` only."
    "byte x;\ninit { x = 'ab' }\n";

    // Brackets

    "P0010" "a `{` that is never closed"
    "A block, a body, a typedef or a list was opened and the text, or the next proctype, came before its `}`."
    "init {\n  atomic {\n    skip\n}\n";

    "P0011" "an `if` that is never closed"
    "Every `if` ends with its own `fi`. The message shows where the surrounding block ended first."
    "byte x;\ninit {\n  if\n  :: x -> skip\n}\n";

    "P0012" "a `do` that is never closed"
    "Every `do` ends with its own `od`. The message shows where the surrounding block ended first."
    "byte x;\ninit {\n  do\n  :: x -> break\n}\n";

    "P0013" "an `if` closed by `od`, or a `do` closed by `fi`"
    "`if` is closed by `fi` and `do` by `od`. If the construct should repeat it is a `do`."
    "byte x;\ninit {\n  do\n  :: x -> break\n  fi\n}\n";

    "P0014" "a closing word or brace without an opening one"
    "There is a `}`, `fi` or `od` too many, or what it should close was closed before."
    "init { skip } }\n";

    "P0015" "a parenthesis that is never closed"
    "The expression or argument list went on to something that cannot be part of it."
    "byte x;\ninit { x = (1 + 2; x = 3 }\n";

    // Macros and includes

    "P0030" "a line that begins with `#` and is no directive"
    "Lines that begin with `#` are for the preprocessor: `#define`, `#undef`, `#include`, `#if`, `#ifdef`, `#ifndef`, `#elif`, \
     `#else`, `#endif`, `#error`, `#warning`. `#line`, `#pragma` and `#ident` are read and have no effect."
    "#defin N 3\ninit { skip }\n";

    "P0031" "a macro definition that cannot be read"
    "A definition is a name, for a macro with parameters a list of different names in parentheses right after it, then text."
    "#define f(a, 3) a\ninit { skip }\n";

    "P0032" "a macro used with a wrong number of arguments"
    "A comma separates arguments unless it stands inside parentheses of the argument."
    "#define twice(a) a; a\nbyte x;\ninit { twice(x++, x--) }\n";

    "P0033" "a macro call whose arguments never end"
    "After the name of a macro with parameters, `(` begins the arguments; the matching `)` did not come before the end of the \
     file."
    "#define twice(a) a; a\nbyte x;\ninit { twice((x++ }\n";

    "P0034" "macros that grow beyond all bounds"
    "Macros that use each other several times grow exponentially: eight uses, seven levels deep, are two million tokens. \
     Reading stops at a limit of 2097152 tokens, 524288 uses, 1000 levels, or 100 calls inside each other's arguments."
    "#define a b b b b b b b b\n#define b c c c c c c c c\n#define c d d d d d d d d\n#define d e e e e e e e e\n\
     #define e f f f f f f f f\n#define f g g g g g g g g\n#define g h h h h h h h h\n#define h skip;\ninit { a skip }\n";

    "P0035" "an included file that cannot be read"
    "`#include \"f\"` looks beside the file it stands in and then in the include folders; `#include <f>` looks in the include \
     folders only."
    "#include \"nowhere.pml\"\ninit { skip }\n";

    "P0036" "an included file outside the folder of the model"
    "A model may include files from its own folder, from folders below it, and from the include folders named on the command \
     line. Other files are not read, so that a model from elsewhere cannot show them in its messages."
    "#include \"../secret.pml\"\ninit { skip }\n";

    "P0037" "includes without end"
    "Includes may be nested 64 deep. A file that includes itself needs a guard: `#ifndef NAME`, `#define NAME`, text, `#endif`."
    "#include \"self.pml\"\ninit { skip }\n";

    "P0038" "a file that is too large"
    "A text may have up to 16 MiB, all texts of a model together 64 MiB."
    "#include \"huge.pml\"\ninit { skip }\n";

    "P0039" "`#else`, `#elif` or `#endif` in a wrong place"
    "These lines belong to an open `#if`, `#ifdef` or `#ifndef`, and `#else` is the last of its groups."
    "init { skip }\n#endif\n";

    "P0040" "a conditional that is never closed"
    "Every `#if`, `#ifdef` and `#ifndef` ends with its own `#endif`, in the same file."
    "#ifdef FAST\nbyte x;\ninit { skip }\n";

    "P0041" "a condition of `#if` that cannot be computed"
    "A condition is an expression of C over whole numbers, macros and `defined(NAME)`. Names that are no macros count as 0."
    "#if 1 +\n#endif\ninit { skip }\n";

    "P0042" "`#error`"
    "The model itself says that it cannot be used like this, for example because a macro is missing."
    "#ifndef N\n#error define N with -DN=3\n#endif\ninit { skip }\n";

    "P0043" "`#warning`"
    "The model itself has something to tell."
    "#warning this version is old\ninit { skip }\n";

    "P0044" "`#` or `##` that cannot be carried out"
    "In a macro, `#` makes a string of the parameter after it, and `##` joins what stands on both sides into one token."
    "#define cat(a, b) a ## b\nbyte x;\ninit { x = cat(+, -) }\n";

    "P0045" "a macro defined again with another text"
    "From the second definition on the new text counts. If that is meant, `#undef` says so."
    "#define N 3\n#define N 4\nbyte x;\ninit { x = N }\n";

    // Statements

    "P0200" "too many errors"
    "After 20 errors reading stops: what follows is often a consequence of the first ones."
    "init { 1a; 2a; 3a; 4a; 5a; 6a; 7a; 8a; 9a; 10a; 11a; 12a; 13a; 14a; 15a; 16a; 17a; 18a; 19a; 20a; 21a }\n";

    "P0201" "something else is expected here"
    "The text does not follow the grammar at this place. If the end of a line is mentioned: a line end after a complete \
     statement separates it from the next."
    "proctype 3() { skip }\n";

    "P0202" "two statements without a separator"
    "Statements on one line are separated by `;` or `->`. A line end separates them, too, after a complete statement: that is \
     why an operator cannot begin a line, except inside parentheses."
    "byte x, y;\ninit { x = 1 y = 2 }\n";

    "P0203" "nothing where a statement, a field or a name should be"
    "Blocks, options, inlines and lists cannot be empty. `skip` does nothing."
    "init { }\n";

    "P0204" "a separator before the first statement"
    "Separators stand between statements or after the last one."
    "byte x;\ninit { ; x = 1 }\n";

    "P0205" "`while`"
    "Promela repeats with `do`: each round executes one of the options whose first statement can be executed, until `break`."
    "byte x;\ninit {\n  while (x < 3) {\n    x++\n  }\n}\n";

    "P0206" "`if (…)` as in C"
    "`if` chooses among options that begin with `::`. If no option can be executed it waits; `:: else` is taken when no other \
     option can be."
    "byte x;\ninit {\n  if (x == 0) { x = 1 } else { x = 2 }\n}\n";

    "P0207" "an `if` or `do` without `::`"
    "Each option begins with `::`, the first one too."
    "byte x;\ninit {\n  if\n  x == 0 -> x = 1\n  :: else\n  fi\n}\n";

    "P0208" "`for` as in C"
    "`for (i : 0 .. 9) { … }` runs through a range, both bounds included; `for (i in a) { … }` through the indices of an array. \
     The variable is declared before the loop and the body is a block."
    "byte i, x;\ninit {\n  for (i = 0; i < 9; i++) { x = i }\n}\n";

    "P0209" "`switch` and `case`"
    "An `if` whose options compare does the same: `if :: x == 1 -> … :: x == 2 -> … :: else -> … fi`."
    "byte x;\ninit {\n  switch (x) { skip }\n}\n";

    "P0210" "`return` outside of an inline"
    "Only an inline used as `x = f(…)` has a value to return. A process ends at its closing brace."
    "init { return 0 }\n";

    "P0211" "`++` or `--` in a wrong place"
    "`x++` and `x--` are statements. They do not stand before the variable nor inside an expression."
    "byte x;\ninit { ++x }\n";

    "P0212" "`+=` and its kin"
    "There is one assignment: `x = x + 1`."
    "byte x;\ninit { x += 1 }\n";

    "P0213" "`:=`"
    "Assignment is written `=`."
    "byte x;\ninit { x := 1 }\n";

    "P0214" "`=` inside an expression"
    "An assignment is a statement and has no value. To compare, write `==`."
    "byte x, y;\ninit { (x = 1) -> y = 2 }\n";

    "P0215" "`and`, `or`, `not` as words"
    "The operators are `&&`, `||` and `!`."
    "byte x, y;\ninit { x and y }\n";

    "P0216" "an operator or word of another language"
    "Promela compares with `!=`, chooses values with `(c -> a : b)`, and has `<>` and `[]` in formulas only."
    "byte x, y;\ninit { x <> y }\n";

    "P0217" "a function as in C"
    "A model consists of processes. `init` is the first one; a `proctype` is started with `run`; an `inline` is text that is \
     put in place where it is used."
    "int main() { skip }\n";

    "P0218" "a type of C"
    "The types are bit, bool, byte, pid, short, int, unsigned with a width, mtype, chan, and those of `typedef`. There are no \
     pointers, characters or fractions."
    "char c;\ninit { skip }\n";

    "P0219" "a reserved word used as a name"
    "Some words have a meaning of their own and cannot name variables, processes or labels."
    "byte run;\ninit { skip }\n";

    "P0220" "a proctype without a parameter list"
    "The name of a proctype is followed by its parameters in parentheses, empty if it has none."
    "active proctype P { skip }\n";

    "P0221" "`init` with parentheses"
    "`init` has no parameters and no parentheses."
    "init() { skip }\n";

    "P0222" "a channel without a capacity or a message type"
    "A channel is created by `chan c = [2] of { byte, mtype }`: room for two messages of two fields each. Capacity 0 makes \
     a rendezvous channel."
    "chan c = [2];\ninit { skip }\n";

    "P0223" "`run` without parentheses"
    "`run P()` starts a process, with arguments between the parentheses."
    "proctype P() { skip }\ninit { run P }\n";

    "P0224" "a string in a wrong place"
    "`printf` begins with a format in double quotes; strings exist nowhere else."
    "init { printf('hello') }\n";

    "P0225" "a parameter that cannot be one"
    "Parameters are written `byte a, b; chan c`: commas continue the names of one type, `;` begins the next type. They are \
     no arrays and have no initial values."
    "proctype P(byte a, byte b) { skip }\ninit { skip }\n";

    "P0226" "a call of something that cannot be called like this"
    "An inline is called as a statement, `f(1)` or `x = f(1)`, below its definition. A proctype is started with `run`."
    "init { f(1) }\n";

    "P0227" "wrong arguments for an inline"
    "An inline takes as many arguments as it has parameters, and each is an expression."
    "inline f(a) { skip }\ninit { f(1, 2) }\n";

    "P0228" "inlines inside each other without end"
    "An inline is replaced by its text, so it cannot use itself. Inlines may be nested 64 deep and make 524288 tokens."
    "inline f(a) { f(a) }\ninit { f(1) }\n";

    "P0229" "an inline definition that cannot be used"
    "Each inline has a name of its own and parameters that are different names without types."
    "inline f(a) { skip }\ninline f(b) { skip }\ninit { f(1) }\n";

    "P0230" "an inline whose value is not used"
    "An inline with `return` is called as `x = f(…)`."
    "inline f(a) { return a + 1 }\ninit { f(1) }\n";

    "P0231" "`run` inside an expression"
    "A statement with `run` in a larger condition would start a process even when the condition fails. `run` stands alone, or \
     on the right of an assignment."
    "byte x;\nproctype P() { skip }\ninit { run P() && x }\n";

    "P0232" "an inline without `return` on the right of `=`"
    "Nothing is assigned, because the inline never says what."
    "byte x;\ninline f(a) { skip }\ninit { x = f(1) }\n";

    "P0233" "a negated `full`, `empty`, `nfull` or `nempty`"
    "Each of the four has its opposite among them, and the reduction must know which one is meant."
    "chan q = [1] of { byte };\ninit { !full(q) }\n";

    "P0234" "a message that is not written like one"
    "The fields of a message are separated by commas: `q!1,2`; or the first stands before the others: `q!data(1,2)`. A received field goes into a variable, or must equal a constant or the value of `eval(e)`; `_` takes anything."
    "byte x;\nchan q = [1] of { byte };\ninit { q?x+1 }\n";

    "P0235" "a label in a place where it marks nothing"
    "A label marks the place before a statement. It cannot stand before a declaration, as the first thing in a block, or before \
     a simple statement with `unless`: there it is not clear which place is meant."
    "byte x;\ninit { { here: x = 1 } }\n";

    "P0236" "a label before a guard"
    "The process waits at the `if` or `do`, never at one of its options, so no process is ever at this label."
    "byte x;\ninit { if :: here: x = 1 fi }\n";

    "P0237" "`unless` in a wrong place"
    "`unless` follows its statement directly, on the same line unless that ends with `}`, and a statement has one at most."
    "byte x, y;\ninit {\n  x = 1\n  unless y = 1\n}\n";

    "P0238" "a model nested too deep"
    "Blocks, selections, parentheses and inlines may be nested 300 levels deep."
    "#define a {{{{{{{{{{\n#define b a a a a a a a a a a\n#define c b b b b\ninit { c skip }\n";

    "P0239" "an expression with too many operators above each other"
    "An expression may be 500 operators high; a chain `a + b + c + …` has one level per operator. Parentheses around parts of a \
     chain make it flatter."
    "#define a +1+1+1+1+1+1+1+1+1+1\n#define b a a a a a a a a a a\nint x;\ninit { x = 1 b b b b b b b }\n";

    "P0240" "something that stands in a wrong place"
    "Statements stand inside processes; typedefs, message types and C declarations stand outside."
    "byte x;\nx = 1;\ninit { skip }\n";

    "P0241" "an unknown type"
    "A type of one's own is declared by `typedef` before it is used."
    "Thing x;\ninit { skip }\n";

    "P0242" "a list of values that cannot be read"
    "Values of an array are written `{1, 2, 3}`. Message types are names only and get their numbers by themselves."
    "mtype = { A = 1, B };\ninit { skip }\n";

    "P0246" "an array with no size or with several"
    "An array has one dimension of constant size. A typedef with an array in it makes tables: `m[i].cell[j]`."
    "byte m[2][3];\ninit { skip }\n";

    // Formulas

    "P0410" "`[]`, `<>` or `X` before a comparison without parentheses"
    "We read `[] n <= 5` as `[] (n <= 5)`. SPIN 6.5.2 reads `([] n) <= 5` and compares the number of a token with 5, without a \
     word. The parentheses make both agree."
    "byte n;\ninit { n = 1 }\nltl p { [] n <= 5 }\n";

    "P0411" "`->`, `U`, `W` or `V` twice in a row"
    "All operators of formulas associate to the left: `p -> q -> r` is `(p -> q) -> r`, which is true whenever `r` is. Most \
     authors mean `p -> (q -> r)`."
    "bool p, q, r;\ninit { p = 1 }\nltl f { p -> q -> r }\n";
}
