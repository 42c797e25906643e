//! Any tokens, merges and special tokens as the table of an encoder: refused, or every byte string comes back.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use pairity_core::check_in::CheckIn;
use pairity_core::encode::{Encoder, SpecialRules, Specials, Text};
use pairity_core::split::{GPT4O, Pretokenizer};
use pairity_core::strings::StringsBuf;
use pairity_core::tokens::{Tokens, origins_by_rank};

#[derive(Arbitrary, Debug)]
struct Input {
    /// Bytes and offsets as they come from Python, instead of a table that is nearly right.
    raw: Option<(Vec<u8>, Vec<i64>)>,
    more_tokens: Vec<Vec<u8>>,
    merges: Vec<[u16; 3]>,
    /// Merges of these tokens that make the token they spell, if there is one.
    fitting: Vec<(u16, u16)>,
    special: Vec<(String, u16)>,
    whole_pretokens: bool,
    cut: bool,
    text: Vec<u8>,
}

fn tokens(input: &Input) -> Option<StringsBuf> {
    match &input.raw {
        Some((bytes, offsets)) => StringsBuf::new(bytes.clone(), offsets.clone()).ok(),
        None => {
            let bytes = (0..=255u8).map(|byte| vec![byte]);
            Some(bytes.chain(input.more_tokens.iter().cloned()).collect())
        }
    }
}

fn merges(input: &Input, tokens: &StringsBuf) -> Vec<[u32; 3]> {
    let mut rows: Vec<[u32; 3]> = input.merges.iter().map(|row| row.map(u32::from)).collect();
    for &(left, right) in &input.fitting {
        let (Some(a), Some(b)) = (tokens.get(usize::from(left)), tokens.get(usize::from(right))) else {
            continue;
        };
        let joined = [a, b].concat();
        if let Some(new) = (0..tokens.count()).find(|&id| tokens[id] == joined) {
            rows.push([u32::from(left), u32::from(right), new as u32]);
        }
    }
    rows
}

fuzz_target!(|input: Input| {
    let Some(strings) = tokens(&input) else { return };
    let rows = merges(&input, &strings);
    let Ok(table) = Tokens::new(strings.clone()) else { return };
    let special: Vec<u32> = input.special.iter().map(|(_, id)| u32::from(*id)).collect();
    let _ = origins_by_rank(&Tokens::new(strings.clone()).unwrap(), &special, &mut CheckIn::never());
    let pretokenizer = Pretokenizer::new(input.cut.then_some(GPT4O)).unwrap();
    let whole = input.whole_pretokens;
    let made = Encoder::new(pretokenizer, false, table, &special, &rows, whole, &mut CheckIn::never());
    let Ok(encoder) = made else { return };
    let names: Vec<(String, u32)> = (input.special.iter())
        .filter(|(name, id)| strings.get(usize::from(*id)) == Some(name.as_bytes()) && !name.is_empty())
        .map(|(name, id)| (name.clone(), u32::from(*id)))
        .collect();
    let finder = Specials::new(&names).unwrap();
    let rules = SpecialRules { allowed: Some(&finder), disallowed: None };
    let mut ids = Vec::new();
    let mut keep = |some: &[u32]| ids.extend_from_slice(some);
    encoder.encode(Text::Bytes(&input.text), rules, &mut CheckIn::never(), &mut keep).unwrap();
    assert_eq!(encoder.decode(&ids).unwrap(), input.text);
});
