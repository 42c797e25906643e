//! Encoding: text -> pre-tokens -> ids, and back.
//!
//! The rule is that of every byte-level BPE: within a pre-token, merge the adjacent pair of the lowest rank, the
//! leftmost of equals, until none of the pairs has a rank ([`crate::bpe`]). Pre-tokens that are tokens are looked up,
//! and those seen before come from a cache; that changes nothing but the time.

use crate::bpe::{Pairs, Scratch, Stop};
use crate::error::{Error, Result};
use crate::pages::prefetch;
use crate::split::Pretokenizer;
use crate::tokens::{self, Halves, Ranks, Tokens, Words, byte_ids, hash};
use aho_corasick::{AhoCorasick, Anchored, Input, MatchKind};
use std::borrow::Cow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// A pre-token and its ids, in one cache line. Longer ones are seldom seen twice and not kept.
#[derive(Clone)]
#[repr(align(64))]
struct Slot {
    word_length: u8,
    id_count: u8,
    word: [u8; LONGEST_CACHED],
    ids: [u32; MOST_IDS_CACHED],
}

const LONGEST_CACHED: usize = 30;
const MOST_IDS_CACHED: usize = 8;
const FETCHED_AHEAD: usize = 4;
/// 4 MB a thread. A new pre-token takes the place of the one it collides with, so the cache never grows.
const SLOTS: usize = 1 << 16;

/// What one thread at a time writes to while it encodes.
struct Workspace {
    cache: Vec<Slot>,
    scratch: Scratch,
}

impl Workspace {
    fn new() -> Self {
        let empty =
            Slot { word_length: 0, id_count: 0, word: [0; LONGEST_CACHED], ids: [0; MOST_IDS_CACHED] };
        Self { cache: vec![empty; SLOTS], scratch: Scratch::default() }
    }

    #[inline]
    fn prefetch(&self, pretoken: Hashed) {
        prefetch(&self.cache[slot_of(pretoken.hash)]);
    }
}

fn slot_of(hash: u64) -> usize {
    (hash >> 20) as usize % SLOTS
}

#[derive(Clone, Copy)]
struct Hashed<'w> {
    word: &'w [u8],
    hash: u64,
}

impl<'w> Hashed<'w> {
    #[inline]
    fn new(word: &'w [u8]) -> Self {
        Self { word, hash: hash(word) }
    }
}

/// A text to encode. Bytes need not be UTF-8.
#[derive(Clone, Copy)]
pub enum Text<'t> {
    Str(&'t str),
    Bytes(&'t [u8]),
}

impl<'t> Text<'t> {
    pub fn bytes(self) -> &'t [u8] {
        match self {
            Text::Str(text) => text.as_bytes(),
            Text::Bytes(bytes) => bytes,
        }
    }

    /// Special tokens are whole characters, so cutting a string around them leaves strings.
    fn slice(self, start: usize, end: usize) -> Self {
        match self {
            Text::Str(text) => Text::Str(&text[start..end]),
            Text::Bytes(bytes) => Text::Bytes(&bytes[start..end]),
        }
    }
}

/// Finds special tokens in text: the leftmost, and the longest of those.
pub struct Specials {
    finder: AhoCorasick,
    ids: Vec<u32>,
}

impl Specials {
    pub fn new(tokens: &[(String, u32)]) -> Result<Self> {
        let finder = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(tokens.iter().map(|(text, _)| text))
            .map_err(|error| Error::Invalid(format!("too many special tokens: {error}")))?;
        Ok(Self { finder, ids: tokens.iter().map(|(_, id)| *id).collect() })
    }

    pub fn largest_id(&self) -> Option<u32> {
        self.ids.iter().copied().max()
    }

    /// The first one at or after `from`: its id, start and end.
    fn find(&self, text: &[u8], from: usize) -> Option<(u32, usize, usize)> {
        let found = self.finder.find(Input::new(text).span(from..text.len()).anchored(Anchored::No))?;
        Some((self.ids[found.pattern().as_usize()], found.start(), found.end()))
    }
}

/// Which special tokens are read as such, and which must not occur; all others are plain text.
#[derive(Clone, Copy, Default)]
pub struct Rules<'s> {
    pub allowed: Option<&'s Specials>,
    pub disallowed: Option<&'s Specials>,
}

pub struct Encoder {
    pretokenizer: Pretokenizer,
    nfc: bool,
    tokens: Tokens,
    byte_ids: [u32; 256],
    ranks: Ranks,
    /// Pre-tokens that become one token: what merging would give, found at once. With `whole_pretokens` also tokens that
    /// merging never gives, as tiktoken and `ignore_merges` read a table.
    words: Words,
    origins: Vec<Option<(u32, u32)>>,
    /// Taken by a call and given back: threads never wait for each other, and what is cached stays.
    workspaces: Mutex<Vec<Workspace>>,
}

impl Encoder {
    /// `merges` are (left, right, new) in the order of their ranks; of equal pairs the first counts.
    pub fn new(
        pretokenizer: Pretokenizer,
        nfc: bool,
        tokens: Tokens,
        special: &[u32],
        merges: &[[u32; 3]],
        whole_pretokens: bool,
    ) -> Result<Self> {
        let by_bytes = tokens.by_bytes(special);
        let byte_ids = byte_ids(&by_bytes)?;
        let ranks = Ranks::new(merges, &tokens, &byte_ids)?;
        let mut ids: Vec<u32> = by_bytes.into_values().collect();
        let origins = find_origins(&tokens, special, &byte_ids, &ranks);
        if !whole_pretokens {
            ids.retain(|&id| origins[id as usize].is_some());
        }
        let words = Words::new(ids.into_iter(), &tokens);
        let workspaces = Mutex::default();
        Ok(Self { pretokenizer, nfc, tokens, byte_ids, ranks, words, origins, workspaces })
    }

    /// All ids but those of [`Specials`] are below this.
    pub fn vocabulary_size(&self) -> usize {
        self.tokens.len()
    }

    /// For every id, the pair that its token is made of when its bytes are encoded, however it was listed; none for
    /// bytes, special tokens, and tokens that merging never gives.
    pub fn origins(&self) -> &[Option<(u32, u32)>] {
        &self.origins
    }

    /// Calls `emit` with the ids of every pre-token and special token, in order.
    pub fn encode(
        &self,
        text: Text,
        rules: Rules,
        stop: &mut Stop,
        emit: &mut impl FnMut(&[u32]),
    ) -> Result<()> {
        if let Some(disallowed) = rules.disallowed
            && let Some((_, start, end)) = disallowed.find(text.bytes(), 0)
        {
            let token = String::from_utf8_lossy(&text.bytes()[start..end]);
            return Err(Error::Invalid(format!(
                "the text contains the special token {token:?} (at byte {start}). To encode it as that token pass \
                 allowed_special={{{token:?}}}, to read it as plain text pass disallowed_special=()"
            )));
        }
        let pooled = self.workspaces.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).pop();
        let mut workspace = pooled.unwrap_or_else(Workspace::new);
        let outcome = self.with_specials(text, rules.allowed, &mut workspace, stop, emit);
        self.workspaces.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(workspace);
        if stop.flag.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        outcome
    }

    fn with_specials(
        &self,
        text: Text,
        allowed: Option<&Specials>,
        workspace: &mut Workspace,
        stop: &mut Stop,
        emit: &mut impl FnMut(&[u32]),
    ) -> Result<()> {
        let bytes = text.bytes();
        let mut done = 0;
        while let Some((id, start, end)) = allowed.and_then(|specials| specials.find(bytes, done)) {
            self.plain(text.slice(done, start), workspace, stop, emit)?;
            emit(&[id]);
            done = end;
        }
        self.plain(text.slice(done, bytes.len()), workspace, stop, emit)
    }

    /// Text without special tokens. Stretches of bytes that are not UTF-8 are pre-tokens of their own.
    fn plain(
        &self,
        text: Text,
        workspace: &mut Workspace,
        stop: &mut Stop,
        emit: &mut impl FnMut(&[u32]),
    ) -> Result<()> {
        match text {
            Text::Str(text) => self.valid(text, workspace, stop, emit),
            Text::Bytes(bytes) => {
                let mut done = 0;
                let mut invalid = 0..0;
                for chunk in bytes.utf8_chunks() {
                    if !chunk.valid().is_empty() {
                        self.pretoken(Hashed::new(&bytes[invalid.clone()]), workspace, stop, emit)?;
                        self.valid(chunk.valid(), workspace, stop, emit)?;
                        done += chunk.valid().len();
                        invalid = done..done;
                    }
                    done += chunk.invalid().len();
                    invalid.end = done;
                }
                self.pretoken(Hashed::new(&bytes[invalid]), workspace, stop, emit)
            }
        }
    }

    fn valid(
        &self,
        text: &str,
        workspace: &mut Workspace,
        stop: &mut Stop,
        emit: &mut impl FnMut(&[u32]),
    ) -> Result<()> {
        let text = if self.nfc && is_nfc_quick(text.chars()) != IsNormalized::Yes {
            Cow::Owned(text.nfc().collect::<String>())
        } else {
            Cow::Borrowed(text)
        };
        let mut failed = Ok(());
        // Each pre-token waits for a few more to be cut, and what it will need is fetched meanwhile.
        let mut waiting = [Hashed::new(b""); FETCHED_AHEAD];
        let mut oldest = 0;
        self.pretokenizer.split(&text, &mut |word| {
            if failed.is_ok() && !stop.now() {
                let next = Hashed::new(word.as_bytes());
                workspace.prefetch(next);
                self.words.prefetch(next.hash);
                let due = std::mem::replace(&mut waiting[oldest], next);
                oldest = (oldest + 1) % FETCHED_AHEAD;
                failed = self.pretoken(due, workspace, stop, emit);
            }
        })?;
        failed?;
        waiting.rotate_left(oldest);
        waiting.into_iter().try_for_each(|due| self.pretoken(due, workspace, stop, emit))
    }

    #[inline]
    fn pretoken(
        &self,
        Hashed { word, hash }: Hashed,
        workspace: &mut Workspace,
        stop: &mut Stop,
        emit: &mut impl FnMut(&[u32]),
    ) -> Result<()> {
        match word.len() {
            0 => return Ok(()),
            1 => emit(&[self.byte_ids[usize::from(word[0])]]),
            2..=LONGEST_CACHED => {
                let Workspace { cache, scratch } = workspace;
                let slot = &mut cache[slot_of(hash)];
                let length = usize::from(slot.word_length);
                if length != word.len() || slot.word[..length] != *word {
                    self.merged(word, hash, scratch, stop);
                    if scratch.ids.len() > MOST_IDS_CACHED {
                        emit(&scratch.ids);
                        return Ok(());
                    }
                    slot.word_length = word.len() as u8;
                    slot.word[..word.len()].copy_from_slice(word);
                    slot.id_count = scratch.ids.len() as u8;
                    slot.ids[..scratch.ids.len()].copy_from_slice(&scratch.ids);
                }
                emit(&slot.ids[..usize::from(slot.id_count)]);
            }
            length if length > i32::MAX as usize => {
                return Err(Error::Invalid(format!(
                    "a pre-token of {length} bytes is too long to encode; give the text in smaller pieces"
                )));
            }
            _ => {
                self.merged(word, hash, &mut workspace.scratch, stop);
                emit(&workspace.scratch.ids);
            }
        }
        Ok(())
    }

    fn merged(&self, word: &[u8], hash: u64, scratch: &mut Scratch, stop: &mut Stop) {
        if let Some(id) = self.words.get(word, hash, &self.tokens) {
            scratch.ids.clear();
            scratch.ids.push(id);
        } else {
            scratch.merge(word, &self.byte_ids, &self.ranks, stop);
        }
    }

    pub fn decode(&self, ids: &[u32]) -> Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity(ids.len() * 4);
        for &id in ids {
            let token = self.tokens.get(id).ok_or_else(|| {
                let last = self.tokens.len() - 1;
                Error::Invalid(format!("id {id} is not in the vocabulary, whose ids go from 0 to {last}"))
            })?;
            bytes.extend_from_slice(token);
        }
        Ok(bytes)
    }
}

fn find_origins(
    tokens: &Tokens,
    special: &[u32],
    byte_ids: &[u32; 256],
    ranks: &Ranks,
) -> Vec<Option<(u32, u32)>> {
    let mut origins = tokens::origins(tokens, special, byte_ids, |_, length| Halves { pairs: ranks, length });
    for (id, origin) in origins.iter_mut().enumerate() {
        *origin = origin.filter(|&(left, right)| ranks.merge(left, right, 0, 0) as u32 == id as u32);
    }
    origins
}

/// Runs `work` on every text, on `threads` threads; results come in the order of the texts. `asked` is only called on
/// the calling thread.
pub fn batch<T: Send>(
    texts: &[Text],
    threads: usize,
    asked: &mut dyn FnMut() -> bool,
    work: impl Fn(Text, &mut Stop) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    const CHUNK: usize = 32;
    let stopped = AtomicBool::new(false);
    let failed = AtomicBool::new(false);
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, Result<Vec<T>>)>> = Mutex::default();
    let run = |stop: &mut Stop| {
        while !failed.load(Ordering::Relaxed) {
            let chunk = next.fetch_add(1, Ordering::Relaxed);
            let Some(texts) = texts.chunks(CHUNK).nth(chunk) else { break };
            let results: Result<Vec<T>> = texts.iter().map(|&text| work(text, stop)).collect();
            failed.fetch_or(results.is_err(), Ordering::Relaxed);
            done.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push((chunk, results));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.min(texts.len().div_ceil(CHUNK)) {
            scope.spawn(|| run(&mut Stop::new(&mut || false, &stopped)));
        }
        run(&mut Stop::new(asked, &stopped));
    });
    // Chunks are taken in order, so every chunk before a failed one is there: the first failure is always the same.
    let mut done = done.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    done.sort_unstable_by_key(|(chunk, _)| *chunk);
    let mut all = Vec::with_capacity(texts.len());
    for (_, results) in done {
        all.extend(results?);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The bytes, then the tokens of `merges`, each the join of two ids.
    fn encoder(pairs: &[(u32, u32)], pattern: Option<&str>) -> Encoder {
        let mut tokens: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
        let mut merges = Vec::new();
        for &(left, right) in pairs {
            let joined = [&tokens[left as usize][..], &tokens[right as usize]].concat();
            let new = tokens.iter().position(|token| *token == joined).unwrap_or(tokens.len());
            if new == tokens.len() {
                tokens.push(joined);
            }
            merges.push([left, right, new as u32]);
        }
        let ends = tokens.iter().scan(0, |end, token| {
            *end += token.len() as i64;
            Some(*end)
        });
        let tokens = Tokens::new(tokens.concat(), std::iter::once(0).chain(ends).collect()).unwrap();
        Encoder::new(Pretokenizer::new(pattern).unwrap(), false, tokens, &[], &merges, false).unwrap()
    }

    fn ids(encoder: &Encoder, bytes: &[u8]) -> Vec<u32> {
        let (flag, mut ids) = (AtomicBool::new(false), Vec::new());
        let mut never = || false;
        let mut stop = Stop::new(&mut never, &flag);
        let mut emit = |some: &[u32]| ids.extend_from_slice(some);
        encoder.encode(Text::Bytes(bytes), Rules::default(), &mut stop, &mut emit).unwrap();
        ids
    }

    /// The definition: merge the lowest rank, leftmost first, one pair at a time.
    fn naive(pairs: &[(u32, u32)], encoder: &Encoder, bytes: &[u8]) -> Vec<u32> {
        let mut ids: Vec<u32> = bytes.iter().map(|&byte| u32::from(byte)).collect();
        loop {
            let ranked = |i: &usize| pairs.iter().position(|pair| *pair == (ids[*i], ids[i + 1]));
            let best =
                (0..ids.len().saturating_sub(1)).filter(|i| ranked(i).is_some()).min_by_key(|i| ranked(i));
            let Some(at) = best else { return ids };
            ids[at] = encoder.ranks.merge(ids[at], ids[at + 1], 0, 0) as u32;
            ids.remove(at + 1);
        }
    }

    fn some_pairs() -> impl Strategy<Value = Vec<(u32, u32)>> {
        // Each merge joins two of the letters a, b, c or of the tokens before it.
        proptest::collection::vec((any::<u32>(), any::<u32>()), 0..12).prop_map(|raw| {
            let mut tokens: Vec<Vec<u8>> = vec![];
            let mut pairs = vec![];
            for (left, right) in raw {
                let pick = |n: u32| {
                    let i = n as usize % (3 + tokens.len());
                    if i < 3 { 97 + i as u32 } else { 256 + i as u32 - 3 }
                };
                let bytes =
                    |id: u32| if id < 256 { vec![id as u8] } else { tokens[id as usize - 256].clone() };
                let (left, right) = (pick(left), pick(right));
                let joined = [bytes(left), bytes(right)].concat();
                if !tokens.contains(&joined) && joined.len() < 20 {
                    tokens.push(joined);
                    pairs.push((left, right));
                }
            }
            pairs
        })
    }

    proptest! {
        #[test]
        fn equals_the_definition(pairs in some_pairs(), text in "[abc]{0,300}") {
            let encoder = encoder(&pairs, None);
            let expected = naive(&pairs, &encoder, text.as_bytes());
            prop_assert_eq!(&ids(&encoder, text.as_bytes()), &expected);
            prop_assert_eq!(&ids(&encoder, text.as_bytes()), &expected, "from the cache");
        }

        #[test]
        fn any_bytes_come_back(pairs in some_pairs(), bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let encoder = encoder(&pairs, Some(crate::split::GPT4O));
            prop_assert_eq!(encoder.decode(&ids(&encoder, &bytes)).unwrap(), bytes);
        }

        #[test]
        fn one_pair_a_token_says_how_a_table_merges(pairs in some_pairs(), text in "[abc]{0,40}") {
            let full = encoder(&pairs, None);
            let origins = full.origins();
            let merges: Vec<[u32; 3]> = pairs.iter().enumerate().map(|(i, &(l, r))| [l, r, 256 + i as u32]).collect();
            let kept: Vec<[u32; 3]> =
                merges.into_iter().filter(|&[l, r, new]| origins[new as usize] == Some((l, r))).collect();
            let tokens = Tokens::new(full.tokens.bytes().to_vec(), full.tokens.offsets().to_vec()).unwrap();
            let pretokenizer = Pretokenizer::new(None).unwrap();
            let thin = Encoder::new(pretokenizer, false, tokens, &[], &kept, false).unwrap();
            prop_assert_eq!(ids(&thin, text.as_bytes()), ids(&full, text.as_bytes()));
        }
    }

    #[test]
    fn a_million_of_one_letter_ends() {
        let pairs = [(97, 97), (256, 256), (257, 257), (258, 258)];
        let encoder = encoder(&pairs, None);
        assert_eq!(ids(&encoder, &vec![b'a'; 1 << 20]), vec![259; 1 << 16]);
    }

    #[test]
    fn bytes_that_are_not_utf8_stand_alone() {
        let encoder = encoder(&[(0xFF, 0xFE), (97, 0xFF)], None);
        assert_eq!(ids(&encoder, b"a\xFF\xFEb\xFF"), [97, 256, 98, 0xFF], "a and FF are not joined");
    }

    #[test]
    fn the_longest_special_token_wins_and_a_disallowed_one_is_an_error() {
        let encoder = encoder(&[], None);
        let specials = Specials::new(&[("<a>".into(), 300), ("<a><b>".into(), 301)]).unwrap();
        let (flag, mut ids) = (AtomicBool::new(false), vec![]);
        let mut never = || false;
        let mut stop = Stop::new(&mut never, &flag);
        let rules = Rules { allowed: Some(&specials), disallowed: None };
        let mut emit = |some: &[u32]| ids.extend_from_slice(some);
        encoder.encode(Text::Str("<a><a><b>x"), rules, &mut stop, &mut emit).unwrap();
        assert_eq!(ids, [300, 301, 120]);
        let rules = Rules { allowed: None, disallowed: Some(&specials) };
        let error = encoder.encode(Text::Str("x<a>"), rules, &mut stop, &mut |_| {}).unwrap_err();
        assert!(error.to_string().contains("\"<a>\" (at byte 1)"));
    }

    #[test]
    fn batches_keep_their_order_on_any_number_of_threads() {
        let encoder = encoder(&[(97, 97)], None);
        let texts: Vec<String> = (0..500).map(|n| "a".repeat(n % 97)).collect();
        let texts: Vec<Text> = texts.iter().map(|text| Text::Str(text)).collect();
        let count = |text: Text, stop: &mut Stop| {
            let mut n = 0;
            encoder.encode(text, Rules::default(), stop, &mut |ids| n += ids.len())?;
            Ok(n)
        };
        let expected: Vec<usize> = (0..500).map(|n| (n % 97_usize).div_ceil(2)).collect();
        for threads in [1, 2, 7] {
            assert_eq!(batch(&texts, threads, &mut || false, count).unwrap(), expected);
        }
        assert!(matches!(batch(&texts, 2, &mut || true, count), Err(Error::Interrupted) | Ok(_)));
    }
}
