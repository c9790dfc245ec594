//! Every diagnostic code of this crate, explained.
//!
//! `spinor explain P0011` prints a row; the book's pages are made from the same rows. A test reads each example and expects
//! its code, so an explanation cannot outlive what it explains.
//!
//! P00xx text, macros and brackets; P01xx names; P02xx statements and habits of other languages; P03xx meaning;
//! P04xx formulas. C for protocols of communicating machines, numbered alike.

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

/// One more name than an mtype set can hold.
macro_rules! names {
    () => {
        "n0 n1 n2 n3 n4 n5 n6 n7 n8 n9 n10 n11 n12 n13 n14 n15 n16 n17 n18 n19 n20 n21 n22 n23 n24 n25 n26 n27 n28 n29 n30 n31 n32 n33 n34 n35 n36 n37 n38 n39 n40 n41 n42 n43 n44 n45 n46 n47 n48 n49 n50 n51 n52 n53 n54 n55 n56 n57 n58 n59 n60 n61 n62 n63 n64 n65 n66 n67 n68 n69 n70 n71 n72 n73 n74 n75 n76 n77 n78 n79 n80 n81 n82 n83 n84 n85 n86 n87 n88 n89 n90 n91 n92 n93 n94 n95 n96 n97 n98 n99 n100 n101 n102 n103 n104 n105 n106 n107 n108 n109 n110 n111 n112 n113 n114 n115 n116 n117 n118 n119 n120 n121 n122 n123 n124 n125 n126 n127 n128 n129 n130 n131 n132 n133 n134 n135 n136 n137 n138 n139 n140 n141 n142 n143 n144 n145 n146 n147 n148 n149 n150 n151 n152 n153 n154 n155 n156 n157 n158 n159 n160 n161 n162 n163 n164 n165 n166 n167 n168 n169 n170 n171 n172 n173 n174 n175 n176 n177 n178 n179 n180 n181 n182 n183 n184 n185 n186 n187 n188 n189 n190 n191 n192 n193 n194 n195 n196 n197 n198 n199 n200 n201 n202 n203 n204 n205 n206 n207 n208 n209 n210 n211 n212 n213 n214 n215 n216 n217 n218 n219 n220 n221 n222 n223 n224 n225 n226 n227 n228 n229 n230 n231 n232 n233 n234 n235 n236 n237 n238 n239 n240 n241 n242 n243 n244 n245 n246 n247 n248 n249 n250 n251 n252 n253 n254 n255"
    };
}

/// More signs than a formula has levels.
macro_rules! not {
    () => {
        concat!(not!(10), not!(10), not!(10), not!(10), not!(10), not!(10), not!(10))
    };
    (10) => {
        "!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!"
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
     Reading stops at a limit of 1048576 tokens, 131072 uses, 1000 levels, or 100 calls inside each other's arguments."
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

    "P0046" "an annotation that cannot be read"
    "Behind `@symmetric` in a comment come names of proctypes, with commas between them, up to the end of the comment."
    "/* @symmetric P (all of them) */\nactive [2] proctype P() { do :: skip od }\n";

    "P0047" "a comment that looks like an annotation"
    "Spinor reads comments that begin with `@symmetric`, and no others. SPIN reads none."
    "/* @symmetry P */\nactive [2] proctype P() { do :: skip od }\n";

    // Names

    "P0101" "a name that is declared twice"
    "Globals, proctypes, typedefs and mtype names share one namespace, and a local may not hide a name that is visible \
     already. Blocks beside each other may use the same name for different variables."
    "byte x;\nactive proctype P() { byte x; x = 1 }\n";

    "P0102" "a variable that cannot be found"
    "A variable must be declared above its use: globally, or in the body, in this block or one around it. A block's \
     variables end with the block."
    "bool locked;\nactive proctype P() { lokced = true }\n";

    "P0103" "a proctype that does not exist"
    "`run` and remote references name a proctype declared anywhere in the model."
    "proctype Worker() { skip }\ninit { run Workr() }\n";

    "P0104" "a label that does not exist"
    "`goto` finds labels of its own body only, and those of the inline it stands in. A remote reference `P@L` needs a label \
     `L` in the body of `P`."
    "init { goto Finish }\n";

    "P0105" "a label that stands twice in one body"
    "A jump could not know where to go. Each use of an inline has labels of its own."
    "byte x;\ninit { A: x = 1; A: x = 2; goto A }\n";

    "P0106" "a type or a field that does not exist"
    "A typedef must stand above its first use, and a field is one of those declared in it."
    "typedef Point { byte x; byte y };\nPoint p;\ninit { p.z = 1 }\n";

    "P0107" "an mtype set that does not exist"
    "`mtype:fruit x` needs a declaration `mtype:fruit = { … }` somewhere."
    "mtype:fruit f;\ninit { skip }\n";

    "P0108" "`break` outside a loop"
    "`break` leaves the innermost `do` or `for` around it. A d_step cannot be left from inside, so a loop around a d_step does \
     not count."
    "init { break }\n";

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
    "An inline is replaced by its text, so it cannot use itself. Inlines may be nested 64 deep and make 131072 tokens."
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

    // Meaning

    "P0301" "an array without an index, or an index on something that is no array"
    "`a` where `a` is an array means `a[0]`, as in SPIN; it is rarely what was meant."
    "byte a[3];\ninit { a = 1 }\n";

    "P0302" "a `run` with the wrong number of arguments"
    "`run P(…)` gives each parameter of `P` a value. A parameter of a typedef counts as its fields."
    "proctype P(byte a; byte b) { skip }\ninit { run P(1) }\n";

    "P0303" "something that is not a channel"
    "Sends, receives, polls and `len` work on variables declared `chan`."
    "byte c;\ninit { c!1 }\n";

    "P0304" "a whole record where one value is needed"
    "Records can be sent, received and passed to `run`; everywhere else a field must be named."
    "typedef Point { byte x; byte y };\nPoint p;\ninit { p = 1 }\n";

    "P0305" "a size or number of slots that is out of range"
    "An array has at least one element; a channel holds 0 (a rendez-vous) to 65,535 messages; 255 channels can be alive at a \
     time."
    "byte a[0];\ninit { skip }\n";

    "P0306" "a state that would be too large"
    "A search keeps millions of states. More than 65,536 values in one frame cannot be searched in any sensible way; use \
     smaller bounds, which find most errors anyway."
    "int a[500000000];\ninit { skip }\n";

    "P0307" "a message with the wrong number of fields"
    "The channel was declared with another number of fields. If the variable still names that channel when the statement \
     runs, that is a run-time error."
    "chan c = [1] of { byte, byte };\ninit { c!1 }\n";

    "P0308" "one receive that assigns a variable twice"
    "The second field would overwrite the first. Use `_` for a field that is not needed."
    "chan c = [1] of { byte, byte };\ninit { byte x; c?x,x }\n";

    "P0309" "something that must be a constant"
    "Sizes, capacities, widths and numbers of processes are fixed before the model runs."
    "byte n;\nbyte a[n + 1];\ninit { skip }\n";

    "P0310" "two `else` that compete"
    "`else` runs when nothing else at that point can. Two of them, in one selection or in a selection that begins with \
     another, cannot both be the last resort."
    "byte x;\ninit { if :: x == 1 -> skip :: else -> skip :: else -> x = 2 fi }\n";

    "P0311" "a `run` in the wrong place"
    "`run` starts a process and gives its number. It stands alone, or once in the value of an assignment; not in a condition, \
     an argument, or a part of an expression that may be skipped."
    "proctype P() { skip }\nbyte x;\ninit { x = (x == 1 -> run P() : 0) }\n";

    "P0312" "a `run` inside a d_step"
    "A d_step is one indivisible step of one process. Use `atomic`."
    "proctype P() { skip }\ninit { d_step { run P() } }\n";

    "P0313" "something that cannot be written"
    "mtype names are constants; `_pid`, `_nr_pr` and `_last` are kept by the system."
    "mtype = { ack };\ninit { ack = 1 }\n";

    "P0314" "`_` is read"
    "`_` swallows values: `q?_` receives a field and forgets it. There is nothing to read."
    "byte x;\ninit { x = _ }\n";

    "P0316" "priorities beside rendez-vous channels"
    "Whether a process of high priority can move would depend on a partner of low priority. SPIN refuses the combination, \
     and so do we."
    "chan c = [0] of { bit };\nactive proctype P() priority 2 { c!1 }\nactive proctype Q() { c?1 }\n";

    "P0317" "values of two mtype sets meet"
    "Each named set counts from 1, so equal numbers of two sets mean different names."
    "mtype:fruit = { apple };\nmtype:car = { saab };\nmtype:fruit f;\ninit { f = saab }\n";

    "P0318" "a constant index outside its array"
    "An array of n elements has the indices 0 to n-1."
    "byte a[3];\ninit { a[3] = 1 }\n";

    "P0319" "a channel made after the first statement"
    "Channels come and go with their process, so they are made when it starts. Declare them at the top of the body."
    "byte x;\ninit { x = 1; chan c = [1] of { byte } }\n";

    "P0321" "too many processes"
    "At most 255 processes are alive at a time."
    "active [300] proctype P() { skip }\n";

    "P0322" "a variable used as a constant"
    "Its first value is taken, whatever happens to it later. A macro says what is meant."
    "byte n = 3;\nbyte a[n];\ninit { a[n - 1] = 1 }\n";

    "P0323" "a priority out of range"
    "Priorities go from 1 (the default, the lowest) to 255."
    "active proctype P() priority 300 { skip }\n";

    "P0324" "too many names in an mtype set"
    "An mtype value is a byte, and 0 means none: 255 names fit. Named sets count separately."
    concat!("mtype = { ", names!(), " };\ninit { skip }\n");

    "P0326" "more values than elements"
    "An array's list of values may be shorter than the array: the last value fills the rest. Values after the last element are \
     dropped."
    "byte a[2] = { 1, 2, 3 };\ninit { skip }\n";

    "P0327" "more than one trace assertion"
    "One `trace` or `notrace` describes the order of events for the whole model."
    "chan c = [1] of { bit };\ninit { c!1 }\ntrace { c!1 }\nnotrace { c!1 }\n";

    "P0328" "`enabled` beside rendez-vous channels"
    "Whether a handshake is enabled depends on two processes; SPIN refuses the question, and so do we."
    "chan c = [0] of { bit };\nactive proctype P() { c!1 }\nactive proctype Q() { c?1 }\nnever { do :: enabled(0) od }\n";

    "P0329" "a hidden variable that is read"
    "`hidden` keeps a variable out of the state. If its value matters, states that differ would be taken for the same, so \
     Spinor keeps it."
    "hidden byte h;\nbyte x;\ninit { h = 1; x = h }\n";

    "P0330" "a never claim with variables of its own"
    "A claim watches the system; what it needs to remember is declared outside."
    "byte x;\ninit { x = 1 }\nnever { byte y; do :: x == y od }\n";

    "P0331" "a never claim that sends or receives"
    "A claim only looks. To ask what is in a channel, poll it: `q?[x]`."
    "chan c = [1] of { bit };\ninit { c!1 }\nnever { do :: c?1 od }\n";

    "P0332" "something else than sends and receives in a trace assertion"
    "A trace lists events: sends and receives, in selections and loops."
    "chan c = [1] of { bit };\nbyte x;\ninit { c!1 }\ntrace { x = 1; c!1 }\n";

    "P0333" "an `unsigned` without its number of bits, or with a wrong one"
    "`unsigned x : 5` has five bits. 1 to 31 are possible; other types have a fixed size."
    "unsigned x;\ninit { x = 1 }\n";

    "P0335" "`np_` outside a claim"
    "`np_` says that no process makes progress; only claims and formulas may ask."
    "byte x;\ninit { x = np_ }\n";

    "P0336" "a temporal operator outside an `ltl` block, or inside arithmetic"
    "`[]`, `<>`, `X`, `U` and their kin speak about runs. They combine with `!`, `&&`, `||`, `->` and `<->` only."
    "byte p, q;\ninit { p = 1 }\nltl f { p + (<> q) }\n";

    "P0337" "a promise about a channel that may change"
    "`xr` and `xs` name one channel of the process; an element with a varying index is none."
    "chan c[2] = [1] of { bit };\nbyte i;\ninit { xs c[i]; c[i]!1 }\n";

    "P0338" "`unless` on the first statement of an option"
    "A process that waits at a selection stands at all its options at once, so the escape of one of them goes before the \
     others too. Put the `unless` around the whole selection to say so, or a statement before it to keep it to the option."
    "byte x;\ninit { if :: { x = 1 } unless { x == 2 } :: x == 3 -> skip fi }\n";

    "P0339" "a jump into or out of a d_step"
    "A d_step is one step: it begins at its beginning and ends at its end."
    "byte x;\ninit { d_step { x = 1; goto L }; L: x = 2 }\n";

    "P0340" "jumps that go round"
    "A circle of jumps without a statement never gets anywhere."
    "init { L: goto L }\n";

    "P0341" "an initial value for a record"
    "A record has no value as a whole. SPIN ignores such an initialiser without a word, and so does Spinor, with one: fields \
     can have initial values in the typedef."
    "typedef Point { byte x; byte y };\nPoint p = 3;\ninit { p.x = 1 }\n";

    "P0342" "a never claim that asks about itself"
    "A claim watches the processes and is none of them: it has no `_pid` and no `_priority`."
    "byte x;\ninit { x = 1 }\nnever { do :: x == _pid od }\n";

    "P0343" "a never claim that changes the system"
    "A claim only looks. If it assigned a variable or started a process, the processes would run differently with it than \
     without, and what was shown would not be about them. SPIN warns and goes on."
    "byte x, seen;\ninit { x = 1 }\nnever { do :: x == 1 -> seen = 1 :: else od }\n";

    "P0344" "`happens` outside a formula"
    "`happens(q!m)` is true of a step, the one that is taken next. A process cannot ask what will happen, nor can a `never` \
     claim, which has no word for it in Promela; an `ltl` block can."
    "chan q = [1] of { byte };\ninit { q!1; !happens(q?1) }\n";

    "P0345" "a variable in an operation"
    "`happens(q?x)` receives nothing, so nothing can be put into `x`. Fields are compared with constants, names of an mtype \
     and `eval(…)`, whose value is the one before the step, or match anything: `_`."
    "chan q = [1] of { byte };\nbyte x;\ninit { q!1; q?x }\nltl p { <> happens(q?x) }\n";

    "P0346" "processes that are declared to be symmetric and are not"
    "A comment `/* @symmetric P */` declares that processes of `P` can change places. That is checked, because a search that \
     relies on it would be wrong otherwise: process numbers may be stored, sent, compared for equality and used as indices, \
     and nothing may single out one of them. SPIN does not see the comment."
    "/* @symmetric P */\nbyte turn;\nactive [3] proctype P() { do :: turn == 0 -> turn = _pid od }\n";

    "P0347" "a model in which no process runs"
    "A proctype is only a declaration. Processes of it run if it is `active`, or if a process that runs starts them by `run`. Of a \
     model in which nobody runs everything holds that can be asked."
    "byte x;\nproctype P() { x = 1; assert(x == 2) }\n";

    "P0900" "embedded C"
    "`c_code`, `c_expr` and their kin are C text that SPIN compiles into its verifier. Spinor has no C compiler; say the same in \
     Promela."
    "init { c_code { now.x = 1; } }\n";

    // Formulas

    "P0410" "`[]`, `<>` or `X` before a comparison without parentheses"
    "We read `[] n <= 5` as `[] (n <= 5)`. SPIN 6.5.2 reads `([] n) <= 5` and compares the number of a token with 5, without a \
     word. The parentheses make both agree."
    "byte n;\ninit { n = 1 }\nltl p { [] n <= 5 }\n";

    "P0411" "`->`, `U`, `W` or `V` twice in a row"
    "All operators of formulas associate to the left: `p -> q -> r` is `(p -> q) -> r`, which is true whenever `r` is. Most \
     authors mean `p -> (q -> r)`."
    "bool p, q, r;\ninit { p = 1 }\nltl f { p -> q -> r }\n";

    // Protocols of communicating machines

    "C0001" "a character that has no meaning in a protocol"
    "Outside of comments a protocol consists of letters, digits, `_` and a few signs. Word processors like to replace dashes and \
     arrows by typographic ones; the fix puts the plain ones back."
    "channel c: a → b [1] of m\nprocess a { state s { -m -> s } }\nprocess b { state t { +m -> t } }\n";

    "C0002" "a comment that never ends"
    "`/*` begins a comment and the next `*/` ends it. `//` begins one that ends with its line."
    "process a { state s } /* to do\n";

    "C0003" "something else was expected here"
    "The help shows how what is being read is written. Nothing else follows from the place at which reading stopped making \
     sense: the mistake may lie a little before it."
    "process a { state s { -m => s } }\n";

    "C0004" "a number that is too large"
    "Capacities and data are small numbers: both are part of every state."
    "channel c: a -> b [99999999999] of m\nprocess a { state s { -m -> s } }\nprocess b { state t { +m -> t } }\n";

    "C0005" "a block that is never closed"
    "Each `{` has its `}`. The next declaration, or the end of the text, came before it."
    "process a { state s { wait -> s }\n";

    "C0006" "a formula with too many levels"
    "A formula of some hundred operators is an automaton that nobody can wait for. Several small formulas are checked one by \
     one, and each has a trace of its own."
    concat!("process a { state s }\nltl f { ", not!(), "a@s }\n");

    "C0101" "a name that is declared twice"
    "Processes have different names, and so have channels, the states of one process, the messages of one channel and the \
     formulas."
    "process a { state s state s }\n";

    "C0102" "a process that does not exist"
    "A channel leads from one process of the text to another, and a condition `p@s` asks about one."
    "channel c: a -> bob [1] of m\nprocess a { state s { -m -> s } }\n";

    "C0103" "a channel that does not exist"
    "`via`, the conditions of formulas and the lists of `check` name channels that are declared."
    "channel c: a -> b [1] of m\nprocess a { state s { -m via d -> s } }\nprocess b { state t { +m -> t } }\n";

    "C0104" "a state that does not exist"
    "A transition leads to a state of its own process, and `p@s` asks for a state of `p`."
    "process a { state idle { wait -> idel } }\n";

    "C0105" "a message that no channel carries"
    "The messages of a channel are declared with it, after `of`. A process sends what a channel that leaves it carries, and \
     receives what one that reaches it does."
    "channel c: a -> b [1] of m\nprocess a { state s { -m -> s } }\nprocess b { state t { +n -> t } }\n";

    "C0106" "a message that several channels carry"
    "Then the transition has to say which one is meant: `-m via c -> s`."
    "channel c: a -> b [1] of m\nchannel d: a -> b [1] of m\nprocess a { state s { -m -> s } }\nprocess b { state t { +m via c -> t +m via d -> t } }\n";

    "C0107" "a channel that does not lead there"
    "A channel has one process that sends and one that receives. The way back is another channel."
    "channel c: a -> b [1] of m\nprocess a { state s { +m via c -> s } }\nprocess b { state t { +m -> t } }\n";

    "C0108" "an operation that no transition is"
    "`happens(p: go)` names transitions by the word that is written for them, `go -> s`."
    "process a { state s { go -> s } }\nltl f { <> happens(a: og) }\n";

    "C0301" "a channel from a process to itself"
    "A machine remembers by the state it is in; it has no need to tell itself."
    "channel c: a -> a [1] of m\nprocess a { state s { wait -> s } }\n";

    "C0302" "a channel without room, or with too much"
    "Messages wait in a channel until they are received. There is no handshake between machines; a channel for one message \
     comes nearest to it."
    "channel c: a -> b [0] of m\nprocess a { state s { -m -> s } }\nprocess b { state t { +m -> t } }\n";

    "C0303" "a range that is none"
    "The data of a message are whole numbers from the least to the greatest that is written, at most 255."
    "channel c: a -> b [1] of m(3..1)\nprocess a { state s { wait -> s } }\nprocess b { state t { +m -> t } }\n";

    "C0304" "`_` in a send"
    "`_` stands for any value that is received. What is sent has to be said; if it can be one of several values, that is a \
     transition for each."
    "channel c: a -> b [1] of m(0..1)\nprocess a { state s { -m(_) -> s } }\nprocess b { state t { +m(0) -> t } }\n";

    "C0305" "two initial states"
    "A process begins in one state: the one marked `initial`, or the first."
    "process a { state s initial { go -> t } state t initial }\n";

    "C0306" "a process without states"
    "A machine is always in a state. One that does nothing has a single state without transitions."
    "process a { }\n";

    "C0307" "a message with the wrong number of data"
    "A message carries as many values as it is declared with, and a send gives each of them. A receive may leave all of them \
     out, and then takes any."
    "channel c: a -> b [1] of m(0..1)\nprocess a { state s { -m -> s } }\nprocess b { state t { +m -> t } }\n";

    "C0308" "too many of something"
    "Processes, channels and names of messages are counted in bytes: there are at most 255 of each. A message has at most 16 data."
    "channel c: a -> b [1] of m(0..1,0..1,0..1,0..1,0..1,0..1,0..1,0..1,0..1,0..1,0..1,0..1,0..1,0..1,0..1,0..1,0..1)\nprocess a { state s { wait -> s } }\nprocess b { state t { +m -> t } }\n";

    "C0309" "a value outside of its range"
    "The channel says which values a message can carry."
    "channel c: a -> b [1] of m(0..1)\nprocess a { state s { -m(2) -> s } }\nprocess b { state t { +m -> t } }\n";

    "C0310" "a protocol without processes"
    "Without a process nothing ever happens."
    "// to do\n";

    "C0320" "a state that is never reached"
    "No transition leads to it from the initial state. Perhaps another state is meant to be the initial one."
    "process a { state s { wait -> s } state t { wait -> s } }\n";

    "C0321" "a message that nobody sends"
    "This receive is never executed: no transition sends that message, with such data, through that channel."
    "channel c: a -> b [1] of m, n\nprocess a { state s { -m -> s } }\nprocess b { state t { +m -> t +n -> t } }\n";

    "C0322" "an operation that never happens"
    "The process can send or receive that message, but none of its transitions does, with such data."
    "channel c: a -> b [1] of m, n\nprocess a { state s { -m -> s } }\nprocess b { state t { +m -> t } }\nltl f { <> happens(a: -n) }\n";

    "C0410" "a formula that can be read in two ways"
    "`p -> q -> r`, `p U q U r` and `[] p U q` mean different things to different tools. Parentheses make it one thing."
    "process a { state s }\nltl f { a@s -> a@s -> a@s }\n";
}
