//! Any counts, known merges and settings as a training: refused, or as many merges as asked for at most, each of tokens
//! that exist, whatever the number of threads.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use pairity_core::counts::Counted;
use pairity_core::queue::Admission;
use pairity_core::scale::Measure;
use pairity_core::start::Start;
use pairity_core::strings::Strings;
use pairity_core::train::{Goal, Language, MOST_SYMBOLS, Settings, Step, train};
use pairity_core::turns::Window;

/// As they come from Python: bytes, offsets, counts.
type Columns = (Vec<u8>, Vec<i64>, Vec<u64>);

#[derive(Arbitrary, Debug)]
enum Words {
    Raw(Columns),
    Counted(Vec<(Vec<u8>, u32)>),
}

#[derive(Arbitrary, Debug)]
struct Input {
    languages: Vec<(Words, Option<(Words, f64, f64)>)>,
    goal: u8,
    in_tokens: bool,
    global_merges: Option<u8>,
    joint: Option<f64>,
    beta: Option<f64>,
    window: Option<(u8, f64)>,
    min_frequency: u8,
    max_token_length: Option<u8>,
    whole_characters: bool,
    known: Vec<(u16, u16, Option<u8>)>,
    known_exhausted: Vec<(u8, u8)>,
}

fn columns(words: &Words) -> Columns {
    match words {
        Words::Raw(columns) => columns.clone(),
        Words::Counted(words) => {
            let ends = words.iter().scan(0, |end, (word, _)| {
                *end += word.len() as i64;
                Some(*end)
            });
            (
                words.iter().flat_map(|(word, _)| word.clone()).collect(),
                std::iter::once(0).chain(ends).collect(),
                words.iter().map(|(_, count)| u64::from(*count)).collect(),
            )
        }
    }
}

fn counted((bytes, offsets, counts): &Columns) -> Option<Counted<'_>> {
    Counted::new(Strings::new(bytes, offsets).ok()?, counts).ok()
}

fuzz_target!(|input: Input| {
    let texts: Vec<_> = (input.languages.iter())
        .map(|(train, dev)| {
            (columns(train), dev.as_ref().map(|(dev, units, ratio)| (columns(dev), *units, *ratio)))
        })
        .collect();
    let languages: Option<Vec<Language>> = (texts.iter())
        .map(|(train, dev)| {
            let measure = match dev {
                Some((dev, units, ratio)) => {
                    Some(Measure { text: counted(dev)?, units: *units, ratio: *ratio })
                }
                None => None,
            };
            Some(Language { train: counted(train)?, measure })
        })
        .collect();
    let Some(languages) = languages else { return };
    let in_range = |language: u8| usize::from(language) < languages.len();
    let goal = usize::from(input.goal);
    let settings = |threads| Settings {
        goal: if input.in_tokens { Goal::Tokens(goal) } else { Goal::Merges(goal) },
        global_merges: input.global_merges.map_or(usize::MAX, usize::from),
        window: input.window.map(|(size, alpha)| Window { size: usize::from(size), alpha }),
        joint: input.joint,
        beta: input.beta,
        admission: Admission {
            min_frequency: u64::from(input.min_frequency),
            max_token_length: input.max_token_length.map_or(usize::MAX, usize::from),
            whole_characters: input.whole_characters,
        },
        threads,
        most_symbols: MOST_SYMBOLS,
        known: (input.known.iter())
            .map(|&(left, right, served)| Step {
                left: u32::from(left),
                right: u32::from(right),
                served: served.filter(|&language| in_range(language)).map(usize::from),
                count: 0,
            })
            .collect(),
        known_exhausted: (input.known_exhausted.iter())
            .filter(|(language, _)| in_range(*language))
            .map(|&(language, step)| (usize::from(language), usize::from(step)))
            .collect(),
    };
    let Ok(trained) = train(&languages, &Start::default(), &settings(1), &mut |_| true) else { return };
    assert!(input.in_tokens || trained.steps.len() <= goal.max(input.known.len()));
    for (number, step) in trained.steps.iter().enumerate() {
        assert!((step.left.max(step.right) as usize) < 256 + number);
    }
    let again =
        train(&languages, &Start::default(), &settings(2), &mut |_| true).expect("the same with two threads");
    assert_eq!(again.steps, trained.steps);
});
