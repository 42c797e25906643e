//! Encoding: text -> pre-tokens -> ids, and back.
//!
//! The rule is that of every byte-level BPE: within a pre-token, merge the adjacent pair of the lowest rank, the
//! leftmost of equals, until none of the pairs has a rank. Short pre-tokens are merged by scanning a list, long ones
//! with a heap; both give the same ids, and so does the cache of pre-tokens seen before.

use crate::error::{Error, Result};
use crate::split::Pretokenizer;
use aho_corasick::{AhoCorasick, Anchored, Input, MatchKind};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet, FxHasher};
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hash::Hasher;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// Byte strings end to end; the i-th is `bytes[offsets[i]..offsets[i + 1]]`. An empty one is an id without a token.
pub struct Tokens {
    bytes: Vec<u8>,
    offsets: Vec<i64>,
}

impl Tokens {
    /// `offsets` must ascend from 0 to the number of bytes.
    pub fn new(bytes: Vec<u8>, offsets: Vec<i64>) -> Result<Self> {
        let ascending = offsets.windows(2).all(|ends| ends[0] <= ends[1]);
        let spans = offsets.first() == Some(&0) && offsets.last().copied() == i64::try_from(bytes.len()).ok();
        if !ascending || !spans || offsets.len() > u32::MAX as usize {
            return Err(Error::Invalid("the offsets of the tokens do not fit their bytes".into()));
        }
        Ok(Self { bytes, offsets })
    }

    /// As many ids as there are, tokens or not.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn get(&self, id: u32) -> Option<&[u8]> {
        let (start, end) = (self.offsets.get(id as usize)?, self.offsets.get(id as usize + 1)?);
        Some(&self.bytes[*start as usize..*end as usize]).filter(|token| !token.is_empty())
    }

    /// The ids of all tokens but the special ones, by their bytes.
    fn by_bytes(&self, special: &[u32]) -> FxHashMap<&[u8], u32> {
        let special: FxHashSet<u32> = special.iter().copied().collect();
        let ordinary = (0..self.len() as u32).filter(|id| !special.contains(id));
        ordinary.filter_map(|id| Some((self.get(id)?, id))).collect()
    }
}

/// The rank of a pair and the id it becomes, in one number: the smaller, the sooner it is merged.
type Merge = u64;
const NO_MERGE: Merge = Merge::MAX;

fn merge_of(rank: u32, new: u32) -> Merge {
    u64::from(rank) << 32 | u64::from(new)
}

fn rank(merge: Merge) -> u64 {
    merge >> 32
}

/// How the merging finds what a pair becomes: by its ids, or by the bytes `start..end` that it covers.
trait Pairs {
    fn merge(&self, left: u32, right: u32, start: usize, end: usize) -> Merge;
}

/// Pre-tokens longer than this are merged with a heap: above it the scan's quadratic cost begins to show.
const LONGEST_SCAN: usize = 128;

/// What merging needs to write down, kept from one pre-token to the next.
#[derive(Default)]
struct Scratch {
    ids: Vec<u32>,
    /// Where the parts start; one more at the end for where the last one ends.
    starts: Vec<u32>,
    /// What each part and the next one become.
    merges: Vec<Merge>,
    before: Vec<u32>,
    after: Vec<u32>,
    heap: BinaryHeap<Reverse<u64>>,
}

impl Scratch {
    /// Leaves the ids of `word`, whose bytes have the ids `bytes`, in `self.ids`.
    fn merge(&mut self, word: &[u8], bytes: &[u32; 256], pairs: &impl Pairs, stop: &mut Stop) {
        self.ids.clear();
        self.ids.extend(word.iter().map(|&byte| bytes[usize::from(byte)]));
        if word.len() < 2 {
            return;
        }
        self.starts.clear();
        self.starts.extend(0..=word.len() as u32);
        self.merges.clear();
        let pair = |(i, ids): (usize, &[u32])| pairs.merge(ids[0], ids[1], i, i + 2);
        self.merges.extend(self.ids.windows(2).enumerate().map(pair));
        if word.len() <= LONGEST_SCAN { self.scan(pairs) } else { self.with_heap(pairs, stop) }
    }

    fn scan(&mut self, pairs: &impl Pairs) {
        let Self { ids, starts, merges, .. } = self;
        loop {
            let mut best = NO_MERGE;
            let mut at = 0;
            for (i, &merge) in merges.iter().enumerate() {
                if merge < best {
                    (best, at) = (merge, i);
                }
            }
            if best == NO_MERGE {
                return;
            }
            ids[at] = best as u32;
            ids.remove(at + 1);
            starts.remove(at + 1);
            merges.remove(at);
            if at > 0 {
                merges[at - 1] =
                    pairs.merge(ids[at - 1], ids[at], starts[at - 1] as usize, starts[at + 1] as usize);
            }
            if at < merges.len() {
                merges[at] = pairs.merge(ids[at], ids[at + 1], starts[at] as usize, starts[at + 2] as usize);
            }
        }
    }

    /// Parts are linked by the position of their first byte. An entry of the heap is stale when its rank is no longer
    /// that of the pair at its position.
    fn with_heap(&mut self, pairs: &impl Pairs, stop: &mut Stop) {
        let Self { ids, merges, before, after, heap, .. } = self;
        let length = ids.len();
        merges.push(NO_MERGE);
        before.clear();
        before.extend((0..length as u32).map(|i| i.saturating_sub(1)));
        after.clear();
        after.extend(1..=length as u32);
        let entry = |merge: Merge, at: usize| Reverse(rank(merge) << 32 | at as u64);
        let mut entries = std::mem::take(heap).into_vec();
        entries.clear();
        entries.extend((0..length).filter(|&i| merges[i] != NO_MERGE).map(|i| entry(merges[i], i)));
        *heap = BinaryHeap::from(entries);
        while let Some(Reverse(best)) = heap.pop() {
            let at = best as u32 as usize;
            if merges[at] == NO_MERGE || rank(merges[at]) != best >> 32 {
                continue;
            }
            if stop.now() {
                break;
            }
            ids[at] = merges[at] as u32;
            let gone = after[at] as usize;
            let next = after[gone] as usize;
            merges[gone] = NO_MERGE;
            after[at] = next as u32;
            merges[at] = NO_MERGE;
            if next < length {
                before[next] = at as u32;
                merges[at] = pairs.merge(ids[at], ids[next], at, after[next] as usize);
                if merges[at] != NO_MERGE {
                    heap.push(entry(merges[at], at));
                }
            }
            if at > 0 {
                let left = before[at] as usize;
                merges[left] = pairs.merge(ids[left], ids[at], left, next);
                if merges[left] != NO_MERGE {
                    heap.push(entry(merges[left], left));
                }
            }
        }
        // The parts that are left, moved to the front.
        let (mut at, mut kept) = (0, 0);
        while at < length {
            ids[kept] = ids[at];
            kept += 1;
            at = after[at] as usize;
        }
        ids.truncate(kept);
    }
}

/// Asks now and then whether the caller wants to stop.
pub struct Stop<'a> {
    asked: &'a mut dyn FnMut() -> bool,
    flag: &'a AtomicBool,
    until_look: u32,
    last: Instant,
}

impl<'a> Stop<'a> {
    /// `asked` is called at most every 50 ms; once it says yes, `flag` is set for good.
    pub fn new(asked: &'a mut dyn FnMut() -> bool, flag: &'a AtomicBool) -> Self {
        Self { asked, flag, until_look: 0, last: Instant::now() }
    }

    #[inline]
    fn now(&mut self) -> bool {
        if self.until_look > 0 {
            self.until_look -= 1;
            return false;
        }
        self.look()
    }

    #[cold]
    fn look(&mut self) -> bool {
        self.until_look = 2048;
        if !self.flag.load(Ordering::Relaxed) && self.last.elapsed() >= Duration::from_millis(50) {
            self.last = Instant::now();
            if (self.asked)() {
                self.flag.store(true, Ordering::Relaxed);
            }
        }
        let stopped = self.flag.load(Ordering::Relaxed);
        if stopped {
            self.until_look = 0;
        }
        stopped
    }
}

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
}

struct Ranks(FxHashMap<u64, Merge>);

impl Pairs for Ranks {
    #[inline]
    fn merge(&self, left: u32, right: u32, _: usize, _: usize) -> Merge {
        self.0.get(&key(left, right)).copied().unwrap_or(NO_MERGE)
    }
}

fn key(left: u32, right: u32) -> u64 {
    u64::from(left) << 32 | u64::from(right)
}

/// A text to encode. Bytes need not be UTF-8.
#[derive(Clone, Copy)]
pub enum Text<'t> {
    Str(&'t str),
    Bytes(&'t [u8]),
}

impl<'t> Text<'t> {
    fn bytes(self) -> &'t [u8] {
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
    /// Whole pre-tokens that are tokens though no merges lead to them, as tiktoken and `ignore_merges` read a table.
    whole: Option<FxHashMap<Box<[u8]>, u32>>,
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
        let mut ranks = FxHashMap::with_capacity_and_hasher(merges.len(), FxBuildHasher);
        for (rank, &[left, right, new]) in merges.iter().enumerate() {
            let fits = match (tokens.get(left), tokens.get(right), tokens.get(new)) {
                (Some(left), Some(right), Some(new)) => {
                    new.len() == left.len() + right.len() && new.starts_with(left) && new.ends_with(right)
                }
                _ => false,
            };
            if !fits {
                return Err(Error::Invalid(format!(
                    "merge {rank} joins tokens {left} and {right} to token {new}, which is not the two joined"
                )));
            }
            ranks.entry(key(left, right)).or_insert(merge_of(rank as u32, new));
        }
        let owned = |(token, id): (&[u8], u32)| (token.into(), id);
        let whole = whole_pretokens.then(|| by_bytes.into_iter().map(owned).collect());
        let workspaces = Mutex::default();
        Ok(Self { pretokenizer, nfc, tokens, byte_ids, ranks: Ranks(ranks), whole, workspaces })
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
                        self.pretoken(&bytes[invalid.clone()], workspace, stop, emit)?;
                        self.valid(chunk.valid(), workspace, stop, emit)?;
                        done += chunk.valid().len();
                        invalid = done..done;
                    }
                    done += chunk.invalid().len();
                    invalid.end = done;
                }
                self.pretoken(&bytes[invalid], workspace, stop, emit)
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
        self.pretokenizer.split(&text, &mut |word| {
            if failed.is_ok() && !stop.now() {
                failed = self.pretoken(word.as_bytes(), workspace, stop, emit);
            }
        })?;
        failed
    }

    #[inline]
    fn pretoken(
        &self,
        word: &[u8],
        workspace: &mut Workspace,
        stop: &mut Stop,
        emit: &mut impl FnMut(&[u32]),
    ) -> Result<()> {
        match word.len() {
            0 => return Ok(()),
            1 => emit(&[self.byte_ids[usize::from(word[0])]]),
            2..=LONGEST_CACHED => {
                let mut hasher = FxHasher::default();
                hasher.write(word);
                let slot = (hasher.finish() >> 20) as usize % SLOTS;
                let Workspace { cache, scratch } = workspace;
                let slot = &mut cache[slot];
                let length = usize::from(slot.word_length);
                if length != word.len() || slot.word[..length] != *word {
                    self.merged(word, scratch, stop);
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
                self.merged(word, &mut workspace.scratch, stop);
                emit(&workspace.scratch.ids);
            }
        }
        Ok(())
    }

    fn merged(&self, word: &[u8], scratch: &mut Scratch, stop: &mut Stop) {
        if let Some(id) = self.whole.as_ref().and_then(|whole| whole.get(word)) {
            scratch.ids.clear();
            scratch.ids.push(*id);
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

    /// For every id, the pair that its token is made of when its bytes are encoded, however it was listed; none for
    /// bytes, special tokens, and tokens that merging never reaches.
    pub fn origins(&self, special: &[u32]) -> Vec<Option<(u32, u32)>> {
        origins(&self.tokens, special, &self.byte_ids, |_, length| Halves { pairs: &self.ranks, length })
            .into_iter()
            .enumerate()
            .map(|(id, pair)| {
                pair.filter(|&(left, right)| self.ranks.merge(left, right, 0, 0) as u32 == id as u32)
            })
            .collect()
    }
}

fn byte_ids(by_bytes: &FxHashMap<&[u8], u32>) -> Result<[u32; 256]> {
    let mut ids = [0; 256];
    for (byte, id) in (0..=u8::MAX).zip(&mut ids) {
        *id = *by_bytes.get([byte].as_slice()).ok_or_else(|| {
            Error::Invalid(format!(
                "the vocabulary has no token for the byte 0x{byte:02X}; all 256 are needed"
            ))
        })?;
    }
    Ok(ids)
}

/// The merging of a token's bytes up to, and without, the last merge that would make it whole.
struct Halves<'p, P> {
    pairs: &'p P,
    length: usize,
}

impl<P: Pairs> Pairs for Halves<'_, P> {
    fn merge(&self, left: u32, right: u32, start: usize, end: usize) -> Merge {
        if end - start == self.length { NO_MERGE } else { self.pairs.merge(left, right, start, end) }
    }
}

/// The pairs of a table that has no list of merges: two tokens become the token that has their bytes, and its id is
/// the rank. That is how tiktoken reads a table.
struct Joined<'t> {
    ids: &'t FxHashMap<&'t [u8], u32>,
    word: &'t [u8],
}

impl Pairs for Joined<'_> {
    fn merge(&self, _: u32, _: u32, start: usize, end: usize) -> Merge {
        if end - start == self.word.len() {
            return NO_MERGE;
        }
        self.ids.get(&self.word[start..end]).map_or(NO_MERGE, |&id| merge_of(id, id))
    }
}

/// For every id, the pair that its token is made of when the ids themselves are the ranks.
pub fn origins_by_rank(tokens: &Tokens, special: &[u32]) -> Result<Vec<Option<(u32, u32)>>> {
    let ids = tokens.by_bytes(special);
    let byte_ids = byte_ids(&ids)?;
    Ok(origins(tokens, special, &byte_ids, |word, _| Joined { ids: &ids, word }))
}

/// A token's last two parts. Whatever stands around them in a text, two neighbours that make up a token are these two:
/// until then nothing crossed their edges, so what happened between the edges is what happens to the token alone.
/// So one pair a token is enough to say how a table merges.
fn origins<'t, P: Pairs>(
    tokens: &'t Tokens,
    special: &[u32],
    byte_ids: &[u32; 256],
    pairs: impl Fn(&'t [u8], usize) -> P,
) -> Vec<Option<(u32, u32)>> {
    let flag = AtomicBool::new(false);
    let mut never = || false;
    let mut stop = Stop::new(&mut never, &flag);
    let mut scratch = Scratch::default();
    let mut found: Vec<Option<(u32, u32)>> = (0..tokens.len() as u32)
        .map(|id| {
            let token = tokens.get(id).filter(|token| token.len() > 1)?;
            scratch.merge(token, byte_ids, &pairs(token, token.len()), &mut stop);
            match scratch.ids[..] {
                [left, right] => Some((left, right)),
                _ => None,
            }
        })
        .collect();
    for &id in special {
        if let Some(origin) = found.get_mut(id as usize) {
            *origin = None;
        }
    }
    found
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
            let origins = full.origins(&[]);
            let merges: Vec<[u32; 3]> = pairs.iter().enumerate().map(|(i, &(l, r))| [l, r, 256 + i as u32]).collect();
            let kept: Vec<[u32; 3]> =
                merges.into_iter().filter(|&[l, r, new]| origins[new as usize] == Some((l, r))).collect();
            let tokens = Tokens::new(full.tokens.bytes.clone(), full.tokens.offsets.clone()).unwrap();
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
