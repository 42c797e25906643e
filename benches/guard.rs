//! Fixed small runs of the core on the embedded sample, for `guard.py` to count their instructions.
//!
//! `guard STAGE` runs every stage up to STAGE, so that what one stage takes is a difference of two runs.

use pairity_core::bpe::Stop;
use pairity_core::choose::{Admission, byte_ranks};
use pairity_core::counts::{Counter, Totals, WordCounts};
use pairity_core::encode::{Encoder, Rules, Text};
use pairity_core::error::Result;
use pairity_core::split::{GPT4O, Pretokenizer};
use pairity_core::tokens::Tokens;
use pairity_core::train::{Counted, Goal, Language, Measure, Settings, Step, train};
use std::error::Error;
use std::path::Path;
use std::sync::atomic::AtomicBool;

const MERGES: usize = 2000;
/// Counting and encoding are quick beside training: more rounds make their share of the run plain.
const ROUNDS: usize = 5;

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let stage = std::env::args().nth(1).unwrap_or_default();
    let stages = ["read", "count", "classical", "parity", "encode"];
    let Some(last) = stages.iter().position(|name| *name == stage) else {
        return Err(format!("say the last stage to run: one of {}", stages.join(", ")).into());
    };
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("python/pairity/sample");
    let (dev, test) = (read(&sample.join("dev"))?, read(&sample.join("test"))?);
    if last == 0 {
        return Ok(());
    }
    let mut counted = Vec::new();
    for _ in 0..ROUNDS {
        counted = dev
            .iter()
            .zip(&test)
            .map(|(dev, test)| Ok((count(&[dev, test])?, count(&[dev])?)))
            .collect::<Result<_>>()?;
    }
    if last == 1 {
        return Ok(());
    }
    let mut steps = learn(&counted, usize::MAX)?;
    if last >= 3 {
        steps = learn(&counted, 0)?;
    }
    if last >= 4 {
        encode(&steps, &test)?;
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

fn count(texts: &[&[u8]]) -> Result<(WordCounts, Totals)> {
    let mut counter = Counter::new(Pretokenizer::new(Some(GPT4O))?, false, false, false);
    for text in texts {
        counter.add_lines(text)?;
    }
    Ok(counter.finish())
}

type Languages = [((WordCounts, Totals), (WordCounts, Totals))];

fn learn(counted: &Languages, global_merges: usize) -> Result<Vec<Step>> {
    let languages: Vec<Language> = counted
        .iter()
        .map(|((train, _), (dev, totals))| Language {
            train: borrowed(train),
            measure: Some(Measure { text: borrowed(dev), units: totals.lines as f64, ratio: 1.0 }),
        })
        .collect();
    let settings = Settings {
        goal: Goal::Merges(MERGES),
        global_merges,
        window: None,
        admission: Admission { min_frequency: 0, max_token_length: usize::MAX, whole_characters: false },
        threads: 1,
        known: Vec::new(),
        known_exhausted: Vec::new(),
    };
    Ok(train(&languages, &settings, &mut |_| true)?.steps)
}

fn borrowed(words: &WordCounts) -> Counted<'_> {
    Counted { bytes: &words.bytes, offsets: &words.offsets, counts: &words.counts }
}

fn encode(steps: &[Step], texts: &[Vec<u8>]) -> Result<()> {
    let mut tokens: Vec<Vec<u8>> = vec![Vec::new(); 256];
    for (byte, rank) in byte_ranks().into_iter().enumerate() {
        tokens[usize::from(rank)] = vec![byte as u8];
    }
    let mut merges = Vec::new();
    for step in steps {
        let joined = [&tokens[step.left as usize][..], &tokens[step.right as usize]].concat();
        let new = tokens.iter().position(|token| *token == joined).unwrap_or(tokens.len());
        if new == tokens.len() {
            tokens.push(joined);
        }
        merges.push([step.left, step.right, new as u32]);
    }
    let ends = tokens.iter().scan(0, |end, token| {
        *end += token.len() as i64;
        Some(*end)
    });
    let table = Tokens::new(tokens.concat(), std::iter::once(0).chain(ends).collect())?;
    let encoder = Encoder::new(Pretokenizer::new(Some(GPT4O))?, false, table, &[], &merges, false)?;
    let flag = AtomicBool::new(false);
    let mut never = || false;
    let mut stop = Stop::new(&mut never, &flag);
    let mut ids = 0;
    for _ in 0..ROUNDS {
        for text in texts {
            encoder.encode(Text::Bytes(text), Rules::default(), &mut stop, &mut |some| ids += some.len())?;
        }
    }
    println!("{ids} ids");
    Ok(())
}
