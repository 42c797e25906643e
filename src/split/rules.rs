//! The differences between the known patterns, as data.
//!
//! In: a pattern. Out: the rules for [`super::scanner`], or nothing if the pattern is not known.

use super::{
    CL100K, GPT2, GPT2_SINGLE_DIGITS, GPT4, GPT4_SINGLE_DIGITS, GPT4O, GPT4O_SINGLE_DIGITS,
    NONE_SINGLE_DIGITS, QWEN35, TIKTOKEN_GPT2, WHITESPACE, WHITESPACE_SINGLE_DIGITS,
};
use crate::unicode::{LETTER, MARK, NUMBER, SPACE};

/// How one known pattern cuts, for `Rules::end` of the scanner.
#[derive(Debug)]
pub struct Rules {
    pub contractions: Contractions,
    /// Characters of which one may precede a word and belong to it.
    pub prefix: Prefix,
    pub word: WordRule,
    /// The most number characters in a pre-token: 1, 3 or no limit.
    pub most_numbers: usize,
    /// ` ?` before numbers.
    pub space_before_numbers: bool,
    /// Flags of characters that are not symbols: a symbol, `[^\s\p{L}\p{N}]`, has none of them.
    pub not_symbol: u8,
    /// What may follow a run of symbols and belong to it: `[\r\n/]*`.
    pub after_symbols: &'static [u8],
    /// `\s*[\r\n]+`: white space up to its last line end is a pre-token.
    pub cut_after_newlines: bool,
    /// `\s++$` before that: white space at the end of the text is one pre-token.
    pub whole_at_end: bool,
}

#[derive(Debug, PartialEq)]
pub enum Contractions {
    None,
    /// `'s|'t|...` is a pre-token, in lower case only.
    Alone,
    /// The same in any case.
    AloneAnyCase,
    /// The same in any ASCII case, without the long s.
    AloneAsciiCase,
    /// In any case, and part of the word before it.
    AfterWord,
}

#[derive(Debug)]
pub enum Prefix {
    None,
    /// ` ?`
    Space,
    /// `[^\r\n\p{L}\p{N}]?`
    AnySymbol,
}

#[derive(Debug)]
pub enum WordRule {
    /// Upper case, then lower case, as gpt4o cuts `camelCase` and `HTMLPage`.
    Cased,
    /// A run of characters that have one of these flags.
    With(u8),
    /// A run of characters that have none of these flags.
    Without(u8),
}

const GPT4O_RULES: Rules = Rules {
    contractions: Contractions::AfterWord,
    prefix: Prefix::AnySymbol,
    word: WordRule::Cased,
    most_numbers: 3,
    space_before_numbers: false,
    not_symbol: SPACE | LETTER | NUMBER,
    after_symbols: b"\r\n/",
    cut_after_newlines: true,
    whole_at_end: false,
};
const GPT4_RULES: Rules = Rules {
    contractions: Contractions::AloneAnyCase,
    word: WordRule::With(LETTER),
    after_symbols: b"\r\n",
    ..GPT4O_RULES
};
const QWEN35_RULES: Rules = Rules {
    contractions: Contractions::AloneAsciiCase,
    word: WordRule::With(LETTER | MARK),
    most_numbers: 1,
    not_symbol: SPACE | LETTER | MARK | NUMBER,
    ..GPT4_RULES
};
const GPT2_RULES: Rules = Rules {
    contractions: Contractions::Alone,
    prefix: Prefix::Space,
    most_numbers: usize::MAX,
    space_before_numbers: true,
    after_symbols: b"",
    cut_after_newlines: false,
    ..GPT4_RULES
};
const WHITESPACE_RULES: Rules =
    Rules { contractions: Contractions::None, word: WordRule::Without(SPACE), ..GPT2_RULES };

/// In the order of the numbers in the scanner.
pub const KNOWN: [(&str, Rules); 12] = [
    (GPT4O, GPT4O_RULES),
    (GPT4O_SINGLE_DIGITS, Rules { most_numbers: 1, ..GPT4O_RULES }),
    (GPT4, GPT4_RULES),
    (GPT4_SINGLE_DIGITS, Rules { most_numbers: 1, ..GPT4_RULES }),
    (GPT2, GPT2_RULES),
    (GPT2_SINGLE_DIGITS, Rules { most_numbers: 1, ..GPT2_RULES }),
    (WHITESPACE, WHITESPACE_RULES),
    (
        WHITESPACE_SINGLE_DIGITS,
        Rules {
            word: WordRule::Without(SPACE | NUMBER),
            most_numbers: 1,
            space_before_numbers: false,
            ..WHITESPACE_RULES
        },
    ),
    (
        NONE_SINGLE_DIGITS,
        Rules {
            prefix: Prefix::None,
            word: WordRule::Without(NUMBER),
            most_numbers: 1,
            space_before_numbers: false,
            ..WHITESPACE_RULES
        },
    ),
    (CL100K, Rules { whole_at_end: true, ..GPT4_RULES }),
    (TIKTOKEN_GPT2, GPT2_RULES),
    (QWEN35, QWEN35_RULES),
];
