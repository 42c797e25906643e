//! WordPiece by its likelihood score: of the pairs that are frequent enough, the one with the greatest n(ab) / (n(a) n(b)).
//!
//! In: words with counts and dev words of every language. Out: merges. Served is the language whose dev line costs most, by
//! replayed merges, or with `parity` = 0 all text as one. A trial, measured once (docs/likelihood.py) and dropped.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::slice::{from_raw_parts, from_raw_parts_mut};

#[derive(Default, Clone, Copy)]
pub struct Mix(u64);

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, _: &[u8]) {
        unreachable!()
    }
    fn write_u64(&mut self, x: u64) {
        let y = x.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = y ^ (y >> 29);
    }
}

/// The words of one language.
struct Text {
    words: Vec<Vec<u32>>,
    counts: Vec<u64>,
    numbers: HashMap<u64, u32, BuildHasherDefault<Mix>>,
    pairs: Vec<(u32, u32, u64)>,
    places: Vec<Vec<u32>>,
    /// Pairs that may still be chosen: counts of pairs only fall.
    live: Vec<u32>,
    uses: Vec<u64>,
    total: u64,
}

impl Text {
    fn new(words: Vec<Vec<u32>>, counts: Vec<u64>) -> Text {
        let mut text = Text {
            words: Vec::new(),
            counts,
            numbers: HashMap::default(),
            pairs: Vec::new(),
            places: Vec::new(),
            live: Vec::new(),
            uses: Vec::new(),
            total: 0,
        };
        for (word, tokens) in words.iter().enumerate() {
            text.add(word as u32, tokens);
        }
        text.words = words;
        text
    }

    fn add(&mut self, word: u32, tokens: &[u32]) {
        let count = self.counts[word as usize];
        for &token in tokens {
            let token = token as usize;
            if token >= self.uses.len() {
                self.uses.resize(token + 1, 0);
            }
            self.uses[token] += count;
        }
        self.total += count * tokens.len() as u64;
        for two in tokens.windows(2) {
            let fresh = self.pairs.len() as u32;
            let pair = *self.numbers.entry(key(two[0], two[1])).or_insert(fresh);
            if pair == fresh {
                self.pairs.push((two[0], two[1], 0));
                self.places.push(Vec::new());
                self.live.push(fresh);
            }
            self.pairs[pair as usize].2 += count;
            if self.places[pair as usize].last() != Some(&word) {
                self.places[pair as usize].push(word);
            }
        }
    }

    fn take(&mut self, word: u32, tokens: &[u32]) {
        let count = self.counts[word as usize];
        for &token in tokens {
            self.uses[token as usize] -= count;
        }
        self.total -= count * tokens.len() as u64;
        for two in tokens.windows(2) {
            self.pairs[self.numbers[&key(two[0], two[1])] as usize].2 -= count;
        }
    }

    fn merge(&mut self, left: u32, right: u32, new: u32) {
        let Some(&pair) = self.numbers.get(&key(left, right)) else { return };
        let mut places = std::mem::take(&mut self.places[pair as usize]);
        places.sort_unstable();
        places.dedup();
        for word in places {
            let tokens = std::mem::take(&mut self.words[word as usize]);
            let mut merged = Vec::with_capacity(tokens.len());
            let mut at = 0;
            while at < tokens.len() {
                let here = at + 1 < tokens.len() && (tokens[at], tokens[at + 1]) == (left, right);
                merged.push(if here { new } else { tokens[at] });
                at += if here { 2 } else { 1 };
            }
            if merged.len() < tokens.len() {
                self.take(word, &tokens);
                self.add(word, &merged);
            }
            self.words[word as usize] = merged;
        }
    }

    /// Of the pairs that occur `least` times, and `share` as often as the most frequent one.
    fn best(&mut self, least: u64, share: f64) -> Option<(u32, u32)> {
        let pairs = &self.pairs;
        self.live.retain(|&pair| pairs[pair as usize].2 >= least);
        let most = self.live.iter().map(|&pair| pairs[pair as usize].2).max()?;
        let floor = share * most as f64;
        let score = |pair: &(u32, u32, u64)| {
            (u128::from(pair.2), u128::from(self.uses[pair.0 as usize]) * u128::from(self.uses[pair.1 as usize]))
        };
        let candidates = self.live.iter().map(|&pair| &pairs[pair as usize]).filter(|pair| pair.2 as f64 >= floor);
        let best = candidates.max_by(|one, other| {
            let ((n, of), (m, of_other)) = (score(one), score(other));
            match (n * of_other).cmp(&(m * of)) {
                Ordering::Equal => (other.0, other.1).cmp(&(one.0, one.1)),
                order => order,
            }
        })?;
        Some((best.0, best.1))
    }
}

fn key(left: u32, right: u32) -> u64 {
    u64::from(left) << 32 | u64::from(right)
}

/// # Safety
/// The arrays are as long as their offsets say.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments)]
pub unsafe extern "C" fn learn(
    languages: usize,
    train: *const Columns,
    dev: *const Columns,
    parity: i32,
    least: u64,
    share: f64,
    steps: usize,
    lefts: *mut u32,
    rights: *mut u32,
) -> usize {
    let (lefts, rights) = unsafe { (from_raw_parts_mut(lefts, steps), from_raw_parts_mut(rights, steps)) };
    let text = |all: *const Columns, i: usize| unsafe { (*all.add(i)).text() };
    let mut texts: Vec<Text> = (0..languages).map(|i| text(train, i)).collect();
    let mut dev: Vec<Text> = (0..languages).map(|i| text(dev, i)).collect(); // as many lines in each
    if parity == 0 {
        let (mut words, mut counts) = (Vec::new(), Vec::new());
        for one in texts {
            words.extend(one.words);
            counts.extend(one.counts);
        }
        texts = vec![Text::new(words, counts)];
        dev.clear();
    }
    let mut alive: Vec<usize> = (0..texts.len()).collect();
    let mut done = 0;
    while done < steps {
        let cost = |i: usize| dev.get(i).map_or(0, |text| text.total);
        let Some(&worst) = alive.iter().rev().max_by_key(|&&i| cost(i)) else { break };
        let Some((left, right)) = texts[worst].best(least, share) else {
            alive.retain(|&i| i != worst);
            continue;
        };
        for text in texts.iter_mut().chain(&mut dev) {
            text.merge(left, right, 256 + done as u32);
        }
        (lefts[done], rights[done]) = (left, right);
        done += 1;
    }
    done
}

#[repr(C)]
pub struct Columns {
    bytes: *const u8,
    offsets: *const i64,
    counts: *const u64,
    distinct: usize,
}

impl Columns {
    unsafe fn text(&self) -> Text {
        let (offsets, counts) =
            unsafe { (from_raw_parts(self.offsets, self.distinct + 1), from_raw_parts(self.counts, self.distinct)) };
        let bytes = unsafe { from_raw_parts(self.bytes, offsets[self.distinct] as usize) };
        let cut = |ends: &[i64]| bytes[ends[0] as usize..ends[1] as usize].iter().map(|&b| u32::from(b)).collect();
        Text::new(offsets.windows(2).map(cut).collect(), counts.to_vec())
    }
}
