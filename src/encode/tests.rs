use super::*;
use crate::strings::StringsBuf;
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
    with_table(tokens.iter().collect(), &merges, pattern)
}

fn with_table(tokens: StringsBuf, merges: &[[u32; 3]], pattern: Option<&str>) -> Encoder {
    let (pretokenizer, tokens) = (Pretokenizer::new(pattern).unwrap(), Tokens::new(tokens).unwrap());
    Encoder::new(pretokenizer, false, tokens, &[], merges, false, &mut CheckIn::never()).unwrap()
}

fn ids(encoder: &Encoder, bytes: &[u8]) -> Vec<u32> {
    ids_by(encoder, Text::Bytes(bytes), SpecialRules::default()).unwrap()
}

fn ids_by(encoder: &Encoder, text: Text, rules: SpecialRules) -> Result<Vec<u32>> {
    let mut ids = Vec::new();
    encoder.encode(text, rules, &mut CheckIn::never(), &mut |some| ids.extend_from_slice(some))?;
    Ok(ids)
}

/// The definition: merge the lowest rank, leftmost first, one pair at a time.
fn naive(pairs: &[(u32, u32)], encoder: &Encoder, bytes: &[u8]) -> Vec<u32> {
    let mut ids: Vec<u32> = bytes.iter().map(|&byte| u32::from(byte)).collect();
    loop {
        let ranked = |i: &usize| pairs.iter().position(|pair| *pair == (ids[*i], ids[i + 1]));
        let best = (0..ids.len().saturating_sub(1)).filter(|i| ranked(i).is_some()).min_by_key(|i| ranked(i));
        let Some(at) = best else { return ids };
        ids[at] = encoder.ranks.ranked(ids[at], ids[at + 1], 0, 0) as u32;
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
            let bytes = |id: u32| if id < 256 { vec![id as u8] } else { tokens[id as usize - 256].clone() };
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
            merges.into_iter().filter(|&[l, r, new]| origins[new as usize] == Some(Pair::new(l, r))).collect();
        let tokens = (0..full.vocabulary_size() as u32).map(|id| full.tokens.get(id).unwrap());
        let thin = with_table(tokens.collect(), &kept, None);
        prop_assert_eq!(ids(&thin, text.as_bytes()), ids(&full, text.as_bytes()));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_cache_of_any_size_changes_nothing(
        pairs in some_pairs(),
        texts in proptest::collection::vec("([abc]{1,50} ){0,20}[abc]{0,1200}", 1..8),
    ) {
        // Words with one id and with many, short and long, in caches that are full at once, grow, or do neither.
        let of_words = Some(crate::split::WHITESPACE);
        let expected: Vec<_> = texts.iter().map(|text| ids(&encoder(&pairs, of_words), text.as_bytes())).collect();
        for slots in [0, 8, 1 << 12] {
            let encoder = encoder(&pairs, of_words).with_cache(slots);
            for _ in 0..2 {
                let again: Vec<_> = texts.iter().map(|text| ids(&encoder, text.as_bytes())).collect();
                prop_assert_eq!(&again, &expected, "{} slots", slots);
            }
        }
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
    let allowed = SpecialRules { allowed: Some(&specials), disallowed: None };
    assert_eq!(ids_by(&encoder, Text::Str("<a><a><b>x"), allowed).unwrap(), [300, 301, 120]);
    let disallowed = SpecialRules { allowed: None, disallowed: Some(&specials) };
    let error = ids_by(&encoder, Text::Str("x<a>"), disallowed).unwrap_err();
    assert!(error.to_string().contains("\"<a>\" (at byte 1)"));
}

fn run<T: Send>(
    texts: &[Text],
    threads: usize,
    go_on: &mut dyn FnMut() -> bool,
    work: impl Fn(&[Text], &mut CheckIn) -> Result<T> + Sync,
    take: &mut dyn FnMut(T),
) -> Result<()> {
    batch(texts.iter().copied().map(Ok), threads, work, |results| results.take(go_on, take))
}

#[test]
fn batches_keep_their_order_on_any_number_of_threads() {
    let encoder = encoder(&[(97, 97)], None);
    let texts: Vec<String> = (0..20_000).map(|n| "a".repeat(n % 97)).collect();
    let texts: Vec<Text> = texts.iter().map(|text| Text::Str(text)).collect();
    let work = |texts: &[Text], check_in: &mut CheckIn| {
        Ok(encoder.encode_all(texts, SpecialRules::default(), check_in)?.ends)
    };
    let expected: Vec<usize> = (0..20_000).map(|n| (n % 97_usize).div_ceil(2)).collect();
    for threads in [1, 2, 7] {
        let mut counts = Vec::new();
        let take = &mut |ends: Vec<usize>| {
            let starts = std::iter::once(0).chain(ends.iter().copied());
            counts.extend(starts.zip(&ends).map(|(start, end)| end - start));
        };
        run(&texts, threads, &mut || true, work, take).unwrap();
        assert_eq!(counts, expected);
    }
    run(&[], 2, &mut || true, work, &mut |_| unreachable!("no texts, no results")).unwrap();
}

#[test]
fn of_several_errors_in_a_batch_the_first_is_told() {
    let encoder = encoder(&[], None);
    let texts: Vec<String> = (0..64).map(|n| format!("{}<{n}>", "a".repeat(1 << 16))).collect();
    let texts: Vec<Text> = texts.iter().map(|text| Text::Str(text)).collect();
    let specials = Specials::new(&[("<5>".into(), 300), ("<41>".into(), 301)]).unwrap();
    let rules = SpecialRules { allowed: None, disallowed: Some(&specials) };
    let work = |texts: &[Text], check_in: &mut CheckIn| encoder.encode_all(texts, rules, check_in);
    for threads in [1, 2, 7] {
        let mut taken = 0;
        let error = run(&texts, threads, &mut || true, work, &mut |_| taken += 1).unwrap_err();
        assert!(error.to_string().contains("\"<5>\""));
        assert_eq!(taken, 5, "what comes before it");
    }
}

#[test]
fn a_text_that_cannot_be_read_ends_a_batch() {
    let text = "a".repeat(1 << 16);
    for threads in [1, 2, 7] {
        let readable = std::iter::repeat_n(Text::Str(&text), 20).map(Ok);
        let texts = readable.chain([Err(Error::Invalid("unreadable".into()))]);
        let outcome = batch(texts, threads, |_, _| Ok(()), |_| unreachable!("nothing is taken"));
        assert_eq!(outcome.unwrap_err().to_string(), "unreadable");
    }
}

#[test]
fn a_batch_stops_when_asked_whichever_thread_is_busy() {
    // One of several chunks never ends, and either the calling thread or a helper gets it.
    let long = "a".repeat(1 << 16);
    let texts = ["endless", &long, &long, &long].map(Text::Str);
    let work = |texts: &[Text], check_in: &mut CheckIn| {
        while texts[0].bytes().starts_with(b"endless") {
            check_in.now()?;
        }
        Ok(())
    };
    for threads in [1, 2, 3] {
        let mut asked = 0;
        let mut go_on = || {
            asked += 1;
            asked < 3
        };
        assert!(matches!(run(&texts, threads, &mut go_on, work, &mut |()| ()), Err(Error::Interrupted)));
        assert_eq!(asked, 3, "and nobody is asked again");
    }
}

#[test]
fn a_batch_stops_when_asked_while_its_results_are_taken() {
    let text = "a".repeat(1 << 16);
    let texts = vec![Text::Str(&text); 20];
    let mut taken = 0;
    let take = &mut |()| {
        taken += 1;
        std::thread::sleep(crate::check_in::PAUSE);
    };
    let outcome = run(&texts, 4, &mut || false, |_, _| Ok(()), take);
    assert!(matches!(outcome, Err(Error::Interrupted)));
    assert!(taken <= 2);
}

#[test]
fn a_single_long_pretoken_can_be_stopped() {
    let encoder = encoder(&[(97, 97)], None);
    let text = "a".repeat(1 << 16);
    let mut check_in = CheckIn::impatient();
    let outcome = encoder.encode(Text::Str(&text), SpecialRules::default(), &mut check_in, &mut |_| {});
    assert!(matches!(outcome, Err(Error::Interrupted)));
    assert_eq!(ids(&encoder, text.as_bytes()), vec![256; 1 << 15], "the encoder is still fine");
}
