//! Fixed runs of the core, stage after stage, for `guard.py` to count their instructions and `ideas.py` their seconds.
//!
//! `guard STAGE` runs every stage up to STAGE on the embedded sample, so that what one stage takes is a difference of two
//! runs; `guard STAGE TRAIN DEV TEST MERGES` does so on the texts of three folders. It prints the seconds of each stage.

use pairity_core::check_in::CheckIn;
use pairity_core::counts::{Counter, Totals, WordCounts};
use pairity_core::encode::{Encoder, SpecialRules, Text};
use pairity_core::error::Result;
use pairity_core::queue::Admission;
use pairity_core::scale::Measure;
use pairity_core::split::{GPT4O, Pretokenizer};
use pairity_core::start::Start;
use pairity_core::tokens::Tokens;
use pairity_core::train::{Goal, Language, MOST_SYMBOLS, Settings, Step, train};
use pairity_core::vocabulary::byte_ranks;
use std::collections::HashMap;
use std::error::Error;
use std::path::Path;
use std::time::Instant;

/// The texts of each language in the same order.
struct Texts {
    train: Vec<Vec<u8>>,
    dev: Vec<Vec<u8>>,
    test: Vec<Vec<u8>>,
    merges: usize,
    /// Counting and encoding are quick beside training: more rounds make their share of a small run plain.
    rounds: usize,
}

impl Texts {
    fn sample() -> std::io::Result<Texts> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("python/pairity/sample");
        let (dev, test) = (read(&folder.join("dev"))?, read(&folder.join("test"))?);
        let train = dev.iter().zip(&test).map(|(dev, test)| [&dev[..], test].concat()).collect();
        Ok(Texts { train, dev, test, merges: 2000, rounds: 5 })
    }
}

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let stages = ["read", "count", "classical", "parity", "encode"];
    let Some(last) = arguments.first().and_then(|stage| stages.iter().position(|name| name == stage)) else {
        return Err(format!("say the last stage to run: one of {}", stages.join(", ")).into());
    };
    let texts = match &arguments[1..] {
        [] => Texts::sample()?,
        [train, dev, test, merges] => Texts {
            train: read(train.as_ref())?,
            dev: read(dev.as_ref())?,
            test: read(test.as_ref())?,
            merges: merges.parse()?,
            rounds: 1,
        },
        _ => return Err("after the stage: TRAIN DEV TEST MERGES, or nothing".into()),
    };
    let mut began = Instant::now();
    let mut done = |stage: &str| {
        println!("{stage} {:.4}", began.elapsed().as_secs_f64());
        began = Instant::now();
    };
    let mut counted = Vec::new();
    for _ in 0..if last >= 1 { texts.rounds } else { 0 } {
        let languages = texts.train.iter().zip(&texts.dev);
        counted = languages.map(|(train, dev)| Ok((count(train)?, count(dev)?))).collect::<Result<_>>()?;
    }
    done("count");
    if last >= 2 {
        learn(&counted, &texts, usize::MAX)?;
        done("classical");
    }
    if last >= 3 {
        let steps = learn(&counted, &texts, 0)?;
        done("parity");
        if last >= 4 {
            let encoder = encoder(&steps)?;
            done("load");
            encode(&encoder, &texts)?;
            done("encode");
        }
    }
    Ok(())
}

/// The texts of a folder, in the order of their names.
fn read(folder: &Path) -> std::io::Result<Vec<Vec<u8>>> {
    let mut paths =
        std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()?;
    paths.sort();
    paths.iter().map(std::fs::read).collect()
}

fn count(text: &[u8]) -> Result<(WordCounts, Totals)> {
    let mut counter = Counter::new(Pretokenizer::new(Some(GPT4O))?, false, false, false);
    counter.add_lines(text, &mut CheckIn::new(&mut || true))?;
    Ok(counter.finish())
}

type Languages = [((WordCounts, Totals), (WordCounts, Totals))];

fn learn(counted: &Languages, texts: &Texts, global_merges: usize) -> Result<Vec<Step>> {
    let languages: Vec<Language> = counted
        .iter()
        .map(|((train, _), (dev, totals))| Language {
            train: train.counted(),
            measure: Some(Measure { text: dev.counted(), units: totals.lines as f64, ratio: 1.0 }),
        })
        .collect();
    let settings = Settings {
        goal: Goal::Merges(texts.merges),
        global_merges,
        window: None,
        joint: None,
        beta: None,
        admission: Admission { min_frequency: 0, max_token_length: usize::MAX, whole_characters: false },
        threads: 1,
        most_symbols: MOST_SYMBOLS,
        known: Vec::new(),
        known_exhausted: Vec::new(),
    };
    Ok(train(&languages, &Start::default(), &settings, &mut |_| true)?.steps)
}

fn encoder(steps: &[Step]) -> Result<Encoder> {
    let mut tokens: Vec<Vec<u8>> = vec![Vec::new(); 256];
    for (byte, rank) in byte_ranks().into_iter().enumerate() {
        tokens[usize::from(rank)] = vec![byte as u8];
    }
    let mut ids: HashMap<Vec<u8>, usize> = tokens.iter().cloned().zip(0..).collect();
    let mut merges = Vec::new();
    for step in steps {
        let joined = [&tokens[step.left as usize][..], &tokens[step.right as usize]].concat();
        let new = *ids.entry(joined.clone()).or_insert(tokens.len());
        if new == tokens.len() {
            tokens.push(joined);
        }
        merges.push([step.left, step.right, new as u32]);
    }
    let table = Tokens::new(tokens.iter().collect())?;
    let pretokenizer = Pretokenizer::new(Some(GPT4O))?;
    Encoder::new(pretokenizer, false, table, &[], &merges, false, &mut CheckIn::never())
}

fn encode(encoder: &Encoder, texts: &Texts) -> Result<()> {
    let mut go_on = || true;
    let mut check_in = CheckIn::new(&mut go_on);
    let mut ids = 0;
    for _ in 0..texts.rounds {
        for text in &texts.test {
            let emit = &mut |some: &[u32]| ids += some.len();
            encoder.encode(Text::Bytes(text), SpecialRules::default(), &mut check_in, emit)?;
        }
    }
    std::hint::black_box(ids);
    Ok(())
}
