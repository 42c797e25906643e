//! The scale: the cost of each language, updated at every parity merge.
//!
//! In: the texts that the languages are measured on, and the log. Out: a gauge for each language.

use crate::counts::Counted;
use crate::error::Result;
use crate::log::{Log, Reader};
use crate::shard::{Part, Scratch, Shards, WeightedWord};
use crate::start::Start;
use crate::turns::Gauge;
use std::sync::atomic::AtomicBool;

/// The text that a language is measured on, and its size in the unit of the measure.
#[derive(Clone, Copy)]
pub struct Measure<'c> {
    pub text: Counted<'c>,
    pub units: f64,
    pub ratio: f64,
}

/// The measured texts of all languages together, and how many tokens each has.
pub struct Scale {
    shards: Shards,
    reader: Reader,
    pub gauges: Vec<Gauge>,
}

impl Scale {
    /// A language without a measure is not measured: its gauge stays at zero.
    pub fn new(
        measures: &[Option<Measure>],
        start: &Start,
        most_symbols: usize,
        stop: &AtomicBool,
    ) -> Result<Scale> {
        let mut gauges = Vec::new();
        let mut words = Vec::new();
        let mut cutter = start.cutter(stop);
        for (owner, measure) in (0..).zip(measures) {
            let mut gauge = Gauge { units: 0.0, ratio: 1.0, tokens: 0 };
            if let &Some(Measure { text, units, ratio }) = measure {
                gauge = Gauge { units, ratio, tokens: cutter.count_all(&text)? };
                words.extend(text.iter().map(|(bytes, weight)| WeightedWord { bytes, weight, owner }));
            }
            gauges.push(gauge);
        }
        let shards = Shards::new(Part::lay_out(words, most_symbols, start, stop)?, most_symbols);
        Ok(Scale { shards, reader: Reader::default(), gauges })
    }

    pub fn catch_up(&mut self, log: &Log, scratch: &mut Scratch) {
        loop {
            let merges = self.reader.next_batch(log);
            if merges.is_empty() {
                return;
            }
            for merge in merges {
                let gauges = &mut self.gauges;
                let save = |owner: u32, weight: u64| gauges[owner as usize].tokens -= weight;
                self.shards.apply(merge, scratch, save, |_| ());
            }
        }
    }
}
