//! The engine against a plain implementation of the method, which recounts every pair at every step.

use super::*;
use crate::counts::WordCounts;
use crate::fair::power;
use crate::vocabulary::byte_ranks;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Words by their bytes, with their counts.
type CountByWord = BTreeMap<Vec<u8>, u64>;

#[derive(Clone, Debug)]
struct Given {
    train: CountByWord,
    /// Without it, the train text is measured, in bytes.
    dev: Option<CountByWord>,
    ratio: f64,
}

impl Given {
    fn measured(&self) -> &CountByWord {
        self.dev.as_ref().unwrap_or(&self.train)
    }

    fn units(&self) -> f64 {
        self.measured().iter().map(|(word, count)| word.len() as u64 * count).sum::<u64>() as f64
    }
}

/// A token is its string, in the order of GPT-2's alphabet.
type Token = Vec<u8>;
type Words = Vec<(Vec<Token>, u64)>;

fn words(text: &CountByWord) -> Words {
    let ranks = byte_ranks();
    let token = |byte: &u8| vec![ranks[usize::from(*byte)]];
    text.iter().map(|(word, &count)| (word.iter().map(token).collect(), count)).collect()
}

/// Left to right, never overlapping: `aaa` with (a, a) gives `aa a`.
fn apply(words: &mut Words, left: &Token, right: &Token) {
    for (word, _) in words {
        let mut at = 0;
        while at + 1 < word.len() {
            if word[at] == *left && word[at + 1] == *right {
                word[at] = [&left[..], right].concat();
                word.remove(at + 1);
            }
            at += 1;
        }
    }
}

/// Merges, who ran out when, and the tokens of the measured texts at the end.
type Learned = (Vec<Step>, Vec<(usize, usize)>, Vec<u64>);

fn naive(given: &[Given], settings: &Settings) -> Learned {
    let mut tokens: Vec<Token> = (0..=255).map(|rank| vec![rank]).collect();
    let mut train: Vec<Words> = given.iter().map(|language| words(&language.train)).collect();
    let mut measured: Vec<Words> = given.iter().map(|language| words(language.measured())).collect();
    let held = |text: &Words| text.iter().map(|(word, count)| word.len() as u64 * count).sum::<u64>();
    let (mut steps, mut exhausted): (Vec<Step>, _) = (Vec::new(), settings.known_exhausted.clone());
    let mut nothing_in_common = false;
    let rates = |measured: &[Words]| -> Vec<f64> {
        let rate = |(one, text): (&Given, &Words)| one.units() / held(text) as f64 / one.ratio;
        given.iter().zip(measured).map(rate).collect()
    };
    let sizes: Vec<f64> =
        train.iter().zip(rates(&measured)).map(|(text, rate)| held(text) as f64 * rate).collect();
    loop {
        let done = match settings.goal {
            Goal::Merges(merges) => steps.len() >= merges,
            Goal::Tokens(new) => tokens.len() >= 256 + new,
        };
        let global = steps.len() < settings.global_merges && !nothing_in_common;
        let step = if let Some(&known) = settings.known.get(steps.len()) {
            known
        } else if done {
            break;
        } else {
            // 1. Who is served.
            let share = |language: usize| {
                let served = steps.iter().rev().filter_map(|step| step.served);
                let window = settings.window.map_or(0, |window| window.size);
                served.take(window).filter(|&other| other == language).count()
            };
            let within = |&language: &usize| {
                let Some(Window { size, alpha }) = settings.window else { return true };
                (share(language) * given.len()) as f64 <= alpha * size as f64
            };
            let rate = |language: &usize| {
                given[*language].units() / held(&measured[*language]) as f64 / given[*language].ratio
            };
            let alive: Vec<usize> = (0..given.len())
                .filter(|language| exhausted.iter().all(|(gone, _)| gone != language))
                .collect();
            let worst = |some: Vec<usize>| some.into_iter().min_by(|a, b| rate(a).total_cmp(&rate(b)));
            let eligible = alive.iter().copied().filter(within).collect();
            let fairly = settings.beta.filter(|_| !global);
            let served =
                if global || fairly.is_some() { None } else { worst(eligible).or_else(|| worst(alive)) };
            if !global && fairly.is_none() && served.is_none() {
                break;
            }
            // 2. Its most frequent pair; ties go to the greater pair.
            let mut counts: BTreeMap<(&Token, &Token), u64> = BTreeMap::new();
            for language in (0..given.len()).filter(|&language| served.is_none_or(|one| one == language)) {
                for (word, count) in &train[language] {
                    for pair in word.windows(2) {
                        *counts.entry((&pair[0], &pair[1])).or_default() += count;
                    }
                }
            }
            let Admission { min_frequency, max_token_length, .. } = settings.admission;
            counts.retain(|(left, right), count| {
                *count >= min_frequency && left.len() + right.len() <= max_token_length
            });
            let id = |token: &Token| tokens.iter().position(|known| known == token).unwrap() as u32;
            let mut order: Vec<_> = counts.iter().map(|(&pair, &count)| (count, pair)).collect();
            order.sort_unstable_by(|a, b| b.cmp(a));
            let weights: Option<Vec<f64>> = if let Some(beta) = fairly {
                let lowest = rates(&measured).into_iter().fold(f64::INFINITY, f64::min);
                let powers = rates(&measured).into_iter().map(|rate| power(lowest / rate, beta).max(1e-280));
                Some(powers.zip(&sizes).map(|(power, size)| power / size).collect())
            } else if let (Some(share), true, Some(&(best, _))) =
                (settings.joint, served.is_some(), order.first())
            {
                order.retain(|&(count, _)| count as f64 >= share * best as f64);
                Some((0..given.len()).map(|one| 1.0 / rate(&one) / held(&train[one]) as f64).collect())
            } else {
                None
            };
            if let Some(weights) = weights.filter(|_| !order.is_empty()) {
                let saved = |pair: (&Token, &Token)| {
                    (0..given.len()).fold(0.0, |sum, language| {
                        let occurs = |word: &[Token]| {
                            word.windows(2).filter(|two| (&two[0], &two[1]) == pair).count() as u64
                        };
                        let text = &train[language];
                        let count: u64 = text.iter().map(|(word, count)| occurs(word) * count).sum();
                        sum + weights[language] * count as f64
                    })
                };
                let all: Vec<f64> = order.iter().map(|&(_, pair)| saved(pair)).collect();
                let best = (0..all.len()).rev().max_by(|&a, &b| all[a].total_cmp(&all[b])).unwrap();
                order.swap(0, best);
            }
            match order.first() {
                Some(&(count, (left, right))) => Step { left: id(left), right: id(right), served, count },
                None => {
                    match served {
                        Some(language) => exhausted.push((language, steps.len())),
                        None if settings.global_merges == usize::MAX || fairly.is_some() => break,
                        None => nothing_in_common = true,
                    }
                    continue;
                }
            }
        };
        // 3. Apply it everywhere.
        let (left, right) = (tokens[step.left as usize].clone(), tokens[step.right as usize].clone());
        train.iter_mut().chain(&mut measured).for_each(|text| apply(text, &left, &right));
        let joined = [left, right].concat();
        if !tokens.contains(&joined) {
            tokens.push(joined);
        }
        steps.push(step);
    }
    (steps, exhausted, measured.iter().map(held).collect())
}

fn engine(given: &[Given], settings: &Settings) -> Learned {
    let counted = |text: &CountByWord| WordCounts {
        words: text.keys().collect(),
        counts: text.values().copied().collect(),
    };
    let texts: Vec<(WordCounts, WordCounts)> =
        given.iter().map(|language| (counted(&language.train), counted(language.measured()))).collect();
    let languages: Vec<Language> = given
        .iter()
        .zip(&texts)
        .map(|(language, (train, text))| Language {
            train: train.counted(),
            measure: Some(Measure { text: text.counted(), units: language.units(), ratio: language.ratio }),
        })
        .collect();
    let trained = train(&languages, &Start::default(), settings, &mut |_| true).unwrap();
    let (at, held) = trained.snapshots.last().unwrap().clone();
    assert_eq!(at, trained.steps.len());
    (trained.steps, trained.exhausted, held)
}

fn text() -> impl Strategy<Value = CountByWord> {
    // Few letters and runs of one letter: many ties, overlaps, and strings that can be merged in several ways.
    let word = prop_oneof!["[ab]{1,7}", "[abc]{1,6}", "a{1,9}", "[aé!]{1,5}"].prop_map(String::into_bytes);
    prop::collection::btree_map(word, 1u64..4, 1..7)
}

fn languages() -> impl Strategy<Value = Vec<Given>> {
    let ratio = prop::sample::select(vec![0.5, 1.0, 3.0]);
    let language = (text(), prop::option::weighted(0.7, text()), ratio);
    prop::collection::vec(language.prop_map(|(train, dev, ratio)| Given { train, dev, ratio }), 1..5)
}

fn some_settings() -> impl Strategy<Value = Settings> {
    let goal = prop_oneof![(0usize..25).prop_map(Goal::Merges), (0usize..20).prop_map(Goal::Tokens)];
    let global_merges = prop::sample::select(vec![0, 0, 3, 8, usize::MAX]);
    let window = prop::option::of((1usize..8, prop::sample::select(vec![0.5, 1.0, 2.0])));
    let longest = prop::sample::select(vec![2, 4, usize::MAX, usize::MAX]);
    let joint = prop::option::of(prop::sample::select(vec![0.1, 0.5, 0.9]));
    let beta = prop::option::of(prop::sample::select(vec![0.0, 0.5, 3.0, 150.0]));
    (goal, global_merges, window, joint, beta, 0u64..4, longest, 1usize..3).prop_map(
        |(goal, global_merges, window, joint, beta, min_frequency, max_token_length, threads)| Settings {
            goal,
            global_merges,
            window: window.map(|(size, alpha)| Window { size, alpha }),
            joint,
            beta,
            admission: Admission { min_frequency, max_token_length, whole_characters: false },
            threads,
            most_symbols: MOST_SYMBOLS,
            known: Vec::new(),
            known_exhausted: Vec::new(),
        },
    )
}

/// Merges of another tokenizer: any two tokens, even if they make an existing string.
fn foreign(picks: &[(u32, u32)]) -> Vec<Step> {
    let ranks = byte_ranks();
    let mut tokens: Vec<u32> = b"abc".iter().map(|&byte| u32::from(ranks[usize::from(byte)])).collect();
    let mut vocabulary = Vocabulary::new();
    let mut steps = Vec::new();
    for &(left, right) in picks {
        let pick = |n: u32| tokens[n as usize % tokens.len()];
        let (left, right) = (pick(left), pick(right));
        steps.push(Step { left, right, served: None, count: 0 });
        tokens.push(vocabulary.join(left, right).unwrap());
    }
    steps
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..Default::default() })]
    #[test]
    fn the_engine_is_the_method(given in languages(), settings in some_settings()) {
        prop_assert_eq!(engine(&given, &settings), naive(&given, &settings));
    }

    /// The texts have some hundred symbols, and a limit of two puts every word into its own shard.
    #[test]
    fn a_text_may_need_several_shards(
        given in languages(), mut settings in some_settings(), most_symbols in prop_oneof![2usize..40, 40usize..200],
    ) {
        let unlimited = engine(&given, &settings);
        settings.most_symbols = most_symbols;
        prop_assert_eq!(&engine(&given, &settings), &unlimited);
        prop_assert_eq!(unlimited, naive(&given, &settings));
    }

    #[test]
    fn a_run_resumes_as_if_it_had_never_stopped(
        given in languages(), mut settings in some_settings(), share in 0.0..=1.0,
    ) {
        let whole = naive(&given, &settings);
        let stopped = (whole.0.len() as f64 * share) as usize;
        settings.known = whole.0[..stopped].to_vec();
        settings.known_exhausted = whole.1.iter().copied().filter(|&(_, step)| step < stopped).collect();
        prop_assert_eq!(engine(&given, &settings), whole);
    }

    #[test]
    fn any_merges_can_be_continued(
        given in languages(),
        mut settings in some_settings(),
        picks in prop::collection::vec((any::<u32>(), any::<u32>()), 1..8),
    ) {
        settings.known = foreign(&picks);
        prop_assert_eq!(engine(&given, &settings), naive(&given, &settings));
    }
}

#[test]
fn two_merges_that_make_the_same_string_share_its_token() {
    // ab|c and a|bc both make abc.
    let train: CountByWord =
        [("abcabc", 3), ("xabcy", 2), ("bcbc", 1)].map(|(word, n)| (word.into(), n)).into();
    let given = [Given { train, dev: None, ratio: 1.0 }];
    // With a, b and c as the first three tokens: ab, abc, bc, and abc again.
    let known = foreign(&[(0, 1), (3, 2), (1, 2), (0, 5)]);
    let settings = Settings {
        goal: Goal::Merges(12),
        global_merges: 0,
        window: None,
        joint: None,
        beta: None,
        admission: Admission { min_frequency: 0, max_token_length: usize::MAX, whole_characters: false },
        threads: 1,
        most_symbols: MOST_SYMBOLS,
        known,
        known_exhausted: Vec::new(),
    };
    assert_eq!(engine(&given, &settings), naive(&given, &settings));
}

#[test]
fn a_text_that_weighs_next_to_nothing_hides_no_pairs_of_others() {
    // In the first text, saving tokens is worth next to nothing, whatever the count of a pair.
    let given = [("kkkkk", 900, 1e-9), ("CCCFCMCFM", 1_000_000_000_000, 1e9)].map(|(word, count, ratio)| {
        let train: CountByWord = [(word.into(), count)].into();
        Given { train, dev: None, ratio }
    });
    let settings = Settings {
        goal: Goal::Merges(9),
        global_merges: 0,
        window: None,
        joint: None,
        beta: Some(150.0),
        admission: Admission { min_frequency: 0, max_token_length: usize::MAX, whole_characters: false },
        threads: 1,
        most_symbols: MOST_SYMBOLS,
        known: Vec::new(),
        known_exhausted: Vec::new(),
    };
    assert_eq!(engine(&given, &settings), naive(&given, &settings));
}
