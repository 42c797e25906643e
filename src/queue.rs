//! The two choices of every step: who is served, and which of its pairs.

use crate::error::{Error, Result};
use crate::shard::{Candidate, MOST_TOKENS, parts};
use hashbrown::HashTable;
use rustc_hash::FxHasher;
use std::cmp::Ordering;
use std::collections::VecDeque;
use std::hash::Hasher;

/// How a language is measured: `units / tokens / ratio`, its compression rate.
///
/// With dev text the units are the dev's lines (or bytes, characters, words) and the ratio is 1;
/// without it they are the bytes of the train text and the ratio is the bytes of a line.
#[derive(Clone, Copy, Debug)]
pub struct Gauge {
    pub units: f64,
    pub ratio: f64,
    pub tokens: u64,
}

impl Gauge {
    fn rate(&self) -> f64 {
        self.units / self.tokens as f64 / self.ratio
    }
}

/// No language may be served more than `alpha * size / languages` times in `size` steps.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    pub size: usize,
    pub alpha: f64,
}

/// Chooses the language to serve: the worst compressed one, within the window if there is one.
pub struct Server {
    window: Option<Window>,
    recent: VecDeque<usize>,
    recent_of: Vec<usize>,
    alive: Vec<bool>,
}

impl Server {
    pub fn new(languages: usize, window: Option<Window>) -> Server {
        Server {
            window,
            recent: VecDeque::new(),
            recent_of: vec![0; languages],
            alive: vec![true; languages],
        }
    }

    /// The living language with the smallest rate, the first given on a tie; one that has had its share
    /// of the window only when all have. `None` when no language is left.
    pub fn worst(&self, gauges: &[Gauge]) -> Option<usize> {
        self.smallest(gauges, |language| self.within_window(language))
            .or_else(|| self.smallest(gauges, |_| true))
    }

    fn smallest(&self, gauges: &[Gauge], eligible: impl Fn(usize) -> bool) -> Option<usize> {
        let possible = gauges.iter().map(Gauge::rate).enumerate();
        let possible = possible.filter(|&(language, _)| self.alive[language] && eligible(language));
        possible.min_by(|(_, a), (_, b)| a.total_cmp(b)).map(|(language, _)| language)
    }

    fn within_window(&self, language: usize) -> bool {
        self.window.is_none_or(|window| {
            let allowed = window.alpha * window.size as f64;
            (self.recent_of[language] * self.alive.len()) as f64 <= allowed
        })
    }

    pub fn served(&mut self, language: usize) {
        let Some(window) = self.window else { return };
        self.recent.push_back(language);
        self.recent_of[language] += 1;
        if self.recent.len() > window.size
            && let Some(oldest) = self.recent.pop_front()
        {
            self.recent_of[oldest] -= 1;
        }
    }

    pub fn retire(&mut self, language: usize) {
        self.alive[language] = false;
    }
}

/// Which pairs may become tokens at all.
#[derive(Clone, Copy, Debug)]
pub struct Admission {
    pub min_frequency: u64,
    pub max_token_length: usize,
    /// Refuse a token that joins a part of one character with another character.
    pub whole_characters: bool,
}

/// The vocabulary while it grows: every token's bytes, in the order that ties are decided by.
///
/// Bytes are kept as their rank in GPT-2's byte-level alphabet, which is also their id, so that
/// comparing slices compares the strings that Hugging Face's trainer and the authors' program compare.
pub struct Tokens {
    ranks: Vec<u8>,
    ends: Vec<usize>,
    prefixes: Vec<u64>,
    ids: HashTable<u32>,
}

/// How GPT-2 orders the bytes: the printable ones of Latin-1 stand for themselves and come first.
pub fn byte_ranks() -> [u8; 256] {
    let printable = |byte: &u8| matches!(byte, b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff);
    let order = (0..=255).filter(printable).chain((0..=255).filter(|byte| !printable(byte)));
    let mut ranks = [0; 256];
    for (rank, byte) in order.enumerate() {
        ranks[byte as usize] = rank as u8;
    }
    ranks
}

impl Tokens {
    pub fn bytes() -> Tokens {
        let mut tokens =
            Tokens { ranks: Vec::new(), ends: vec![0], prefixes: Vec::new(), ids: HashTable::new() };
        for rank in 0..=255 {
            tokens.intern(&[rank]);
        }
        tokens
    }

    pub fn len(&self) -> usize {
        self.prefixes.len()
    }

    pub fn is_empty(&self) -> bool {
        self.prefixes.is_empty()
    }

    fn get(&self, id: u32) -> &[u8] {
        &self.ranks[self.ends[id as usize]..self.ends[id as usize + 1]]
    }

    pub fn length(&self, id: u32) -> usize {
        self.get(id).len()
    }

    /// The id of the two joined: a new one, or the one that another merge gave the same string.
    pub fn join(&mut self, left: u32, right: u32) -> Result<u32> {
        if self.len() >= MOST_TOKENS {
            return Err(Error::Invalid(format!("the engine's limit is {MOST_TOKENS} tokens: ask for fewer")));
        }
        let joined = [self.get(left), self.get(right)].concat();
        Ok(self.intern(&joined))
    }

    fn intern(&mut self, token: &[u8]) -> u32 {
        let hash = |bytes: &[u8]| {
            let mut hasher = FxHasher::default();
            hasher.write(bytes);
            hasher.finish()
        };
        let (ranks, ends) = (&self.ranks, &self.ends);
        let get = |id: u32| &ranks[ends[id as usize]..ends[id as usize + 1]];
        if let Some(&id) = self.ids.find(hash(token), |&id| get(id) == token) {
            return id;
        }
        let id = self.prefixes.len() as u32;
        self.ids.insert_unique(hash(token), id, |&id| hash(get(id)));
        self.ranks.extend_from_slice(token);
        self.ends.push(self.ranks.len());
        let mut prefix = [0; 8];
        let len = token.len().min(8);
        prefix[..len].copy_from_slice(&token[..len]);
        self.prefixes.push(u64::from_be_bytes(prefix));
        id
    }

    fn compare(&self, a: u32, b: u32) -> Ordering {
        self.prefixes[a as usize].cmp(&self.prefixes[b as usize]).then_with(|| self.get(a).cmp(self.get(b)))
    }

    /// The total order of candidates: more frequent first; on a tie the greater pair, left token before right.
    fn order(&self, a: &Candidate, b: &Candidate) -> Ordering {
        a.count.cmp(&b.count).then_with(|| {
            let ((a_left, a_right), (b_left, b_right)) = (parts(a.pair), parts(b.pair));
            self.compare(a_left, b_left).then_with(|| self.compare(a_right, b_right))
        })
    }

    fn admits(&self, pair: u64, admission: &Admission, unranked: &[u8; 256]) -> bool {
        let (left, right) = parts(pair);
        let length = self.length(left) + self.length(right);
        length <= admission.max_token_length
            && (!admission.whole_characters || {
                let ranks = self.get(left).iter().chain(self.get(right));
                respects_characters(&ranks.map(|&rank| unranked[rank as usize]).collect::<Vec<u8>>())
            })
    }
}

/// True for whole characters, and for a part of a single one.
fn respects_characters(token: &[u8]) -> bool {
    let whole = match token[0] {
        ..0x80 => 1,
        0xc0..0xe0 => 2,
        0xe0..0xf0 => 3,
        _ => 4,
    };
    let continued = token[1..].iter().all(|byte| byte & 0xc0 == 0x80);
    token.len() < whole && continued || std::str::from_utf8(token).is_ok()
}

/// A heap of candidates that tolerates stale counts: since a pair only loses after its birth, an entry
/// is an upper bound, and is put right when it comes to the top.
#[derive(Default)]
pub struct Queue {
    heap: Vec<Candidate>,
}

impl Queue {
    pub fn push(&mut self, candidate: Candidate, tokens: &Tokens) {
        self.heap.push(candidate);
        let mut at = self.heap.len() - 1;
        while at > 0 {
            let parent = (at - 1) / 2;
            if tokens.order(&self.heap[at], &self.heap[parent]).is_le() {
                break;
            }
            self.heap.swap(at, parent);
            at = parent;
        }
    }

    fn sink(&mut self, mut at: usize, tokens: &Tokens) {
        loop {
            let mut child = 2 * at + 1;
            if child >= self.heap.len() {
                return;
            }
            if child + 1 < self.heap.len() && tokens.order(&self.heap[child + 1], &self.heap[child]).is_gt() {
                child += 1;
            }
            if tokens.order(&self.heap[child], &self.heap[at]).is_le() {
                return;
            }
            self.heap.swap(at, child);
            at = child;
        }
    }

    fn pop(&mut self, tokens: &Tokens) {
        self.heap.swap_remove(0);
        self.sink(0, tokens);
    }

    /// The best pair by today's counts, or `None` when none reaches `floor`. It stays in the queue.
    pub fn best(&mut self, tokens: &Tokens, floor: u64, count: impl Fn(u64) -> u64) -> Option<Candidate> {
        while let Some(&top) = self.heap.first() {
            let now = count(top.pair);
            if now == top.count && now >= floor {
                return Some(top);
            }
            if now < floor {
                self.pop(tokens);
            } else {
                self.heap[0].count = now;
                self.sink(0, tokens);
            }
        }
        None
    }
}

/// Lets in what may become a token.
pub struct Gate {
    pub admission: Admission,
    unranked: [u8; 256],
}

impl Gate {
    pub fn new(admission: Admission) -> Gate {
        let mut unranked = [0; 256];
        for (byte, rank) in byte_ranks().into_iter().enumerate() {
            unranked[rank as usize] = byte as u8;
        }
        Gate { admission, unranked }
    }

    /// A count of zero is never admitted, whatever the floor.
    pub fn floor(&self) -> u64 {
        self.admission.min_frequency.max(1)
    }

    pub fn admits(&self, candidate: &Candidate, tokens: &Tokens) -> bool {
        candidate.count >= self.floor() && tokens.admits(candidate.pair, &self.admission, &self.unranked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shard::pair;

    #[test]
    fn bytes_rank_as_in_gpt2() {
        let ranks = byte_ranks();
        assert_eq!(ranks[b'!' as usize], 0);
        assert_eq!(ranks[b'~' as usize], 93);
        assert_eq!(ranks[0xff], 187);
        assert_eq!(ranks[0], 188);
        assert_eq!(ranks[b' ' as usize], 188 + 32);
    }

    #[test]
    fn ties_go_to_the_greater_pair() {
        let tokens = Tokens::bytes();
        let mut queue = Queue::default();
        for (left, right) in [(3, 9), (4, 1), (4, 2), (1, 200)] {
            queue.push(Candidate { count: 5, pair: pair(left, right) }, &tokens);
        }
        assert_eq!(queue.best(&tokens, 1, |_| 5).map(|c| c.pair), Some(pair(4, 2)));
    }

    #[test]
    fn same_string_same_id() {
        let mut tokens = Tokens::bytes();
        let ab = tokens.join(1, 2).unwrap();
        let bc = tokens.join(2, 3).unwrap();
        assert_eq!(tokens.join(ab, 3).unwrap(), tokens.join(1, bc).unwrap());
        assert_eq!(tokens.len(), 259);
    }

    #[test]
    fn window_skips_and_then_gives_way() {
        let mut server = Server::new(2, Some(Window { size: 4, alpha: 1.0 }));
        let gauges = [1.0, 2.0].map(|units| Gauge { units, ratio: 1.0, tokens: 10 });
        for _ in 0..3 {
            assert_eq!(server.worst(&gauges), Some(0));
            server.served(0);
        }
        assert_eq!(server.worst(&gauges), Some(1));
        server.retire(1);
        assert_eq!(server.worst(&gauges), Some(0), "nobody qualifies, so the worst of all");
        server.retire(0);
        assert_eq!(server.worst(&gauges), None);
    }

    #[test]
    fn a_rate_beyond_all_numbers_is_still_served() {
        let gauges = [Gauge { units: 1.0, ratio: 1e-320, tokens: 1 }; 2];
        assert_eq!(Server::new(2, None).worst(&gauges), Some(0));
    }

    #[test]
    fn parts_of_characters() {
        assert!(respects_characters("aé".as_bytes()));
        assert!(respects_characters(&"é".as_bytes()[..1]));
        assert!(respects_characters(&"語".as_bytes()[1..]));
        assert!(!respects_characters(&"語b".as_bytes()[1..]));
        assert!(!respects_characters(&"b語".as_bytes()[..2]));
        assert!(!respects_characters(&[b'a', 0x80]));
        assert!(!respects_characters(&[0xc3, 0xa9, 0x80]));
    }
}
