"""The engine equals the specification (reference.py), merge for merge and trace for trace."""

from dataclasses import replace

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pairity import _core, reference
from pairity.bpe.merges import BYTE_TOKENS
from pairity.training.policy import Classical, Fair, Parity, Policy

Words = dict[bytes, int]


def columns(words: Words):
    """{b"ab": 3} -> the bytes, offsets and counts that cross to Rust."""
    data = np.frombuffer(b"".join(words), dtype=np.uint8)
    offsets = np.cumsum([0, *map(len, words)], dtype=np.int64)
    return data, offsets, np.array(list(words.values()), dtype=np.uint64)


def engine_steps(pairs, first_tokens):
    """Pairs of tokens as the engine's ids, in the columns that it takes."""
    ids = {token: i for i, token in enumerate(first_tokens)}
    rows = []
    for left, right in pairs:
        rows.append((ids[left], ids[right]))
        ids.setdefault(left + right, len(ids))
    left, right = np.array(rows, np.uint32).reshape(-1, 2).T
    number = len(rows)
    return left.copy(), right.copy(), np.full(number, -1, np.int32), np.zeros(number, np.uint64)


def encoder_of(table: reference.Table, tokens: list[bytes]) -> _core.Encoder:
    """The table as a tokenizer whose ids have nothing to do with the engine's: they go the other way round."""
    ids = {token: i for i, token in enumerate(reversed(tokens))}
    rows = [(ids[left], ids[right], ids[left + right]) for left, right in table.merges]
    return _core.Encoder(
        None,
        b"".join(ids),
        np.cumsum([0, *map(len, ids)], dtype=np.int64),
        np.array(rows, np.uint32).reshape(-1),
        [],
        whole_pretokens=table.whole_pretokens,
    )


def engine(
    train,
    *,
    dev,
    dev_units,
    method: Policy,
    threads=1,
    num_merges=None,
    num_tokens=None,
    table=None,
    known=(),
    **limits,
):
    """Run the engine on what the reference takes, and put its result in the reference's terms."""
    ratios = getattr(method, "ratios", None) or {}

    def measure(language):
        if language in ratios or method.on == "train":
            total = float(sum(len(word) * count for word, count in train[language].items()))
            return columns(train[language]), total, float(ratios.get(language, 1.0))
        if language in dev_units:
            return columns(dev[language]), float(dev_units[language]), 1.0
        return None

    budget = num_merges if num_merges is not None else num_tokens
    token_of = [*BYTE_TOKENS, *(sorted(table.tokens) if table else ())]
    start = table and (encoder_of(table, token_of), np.arange(len(token_of), dtype=np.uint32)[::-1].copy())
    (left, right, served, count), done, tokens, exhausted = _core.train(
        [(columns(words), measure(language)) for language, words in train.items()],
        merges=num_merges,
        tokens=num_tokens,
        global_merges=method.global_merges_of(budget),
        window=method.window_setting(),
        joint=method.joint_setting(),
        beta=method.beta_setting(),
        threads=threads,
        start=start,
        known=engine_steps(known, token_of),
        **limits,
    )
    names = list(train)
    learned = reference.LearnedSteps(tokens=set(token_of))
    for a, b in zip(np.frombuffer(left, "<u4"), np.frombuffer(right, "<u4"), strict=True):
        pair = (token_of[a], token_of[b])
        learned.merges.append(pair)
        if pair[0] + pair[1] not in learned.tokens:
            learned.tokens.add(pair[0] + pair[1])
            token_of.append(pair[0] + pair[1])
    learned.served = [None if i < 0 else names[i] for i in np.frombuffer(served, "<i4")]
    learned.counts = np.frombuffer(count, "<u8").tolist()
    learned.exhausted = [(names[language], step) for language, step in exhausted]
    steps = np.frombuffer(done, "<u8").tolist()
    rows = np.frombuffer(tokens, "<u8").reshape(len(steps), len(names)).tolist()
    scale = {language: measure(language)[1:] for language in names if measure(language)}
    costs = [
        {
            name: 1 / (scale[name][0] / held / scale[name][1])
            for name, held in zip(names, row, strict=True)
            if name in scale
        }
        for row in rows
    ]
    return learned, dict(zip(steps, costs, strict=True))


def assert_equal(case, threads=1, **limits):
    expected = reference.train(**case)
    got, costs = engine(**case, threads=threads, **limits)
    assert got.merges == expected.merges
    assert got.served == expected.served
    assert got.counts == expected.counts
    assert got.exhausted == expected.exhausted
    assert got.tokens == expected.tokens
    done = len(expected.merges)
    powers = {2**k for k in range(20) if 2**k <= done}
    assert {0, done, *powers} <= set(costs), "a cost at the start, at every power of two and at the end"
    for step, cost in costs.items():
        assert cost == expected.costs[step]


ALPHABETS = [
    [b"a", b"b"],
    [b"a"],
    [b"a", b"b", b"c", b"aa", b"ab"],
    ["é".encode(), "語".encode(), b"x", "👍🏽".encode()],
    [b"\x00", b"\xff", b" ", b"!", b"\x80"],
]


@st.composite
def corpora(draw):
    pieces = draw(st.sampled_from(ALPHABETS))
    word = st.lists(st.sampled_from(pieces), min_size=1, max_size=9).map(b"".join)
    text = st.dictionaries(
        word, st.integers(1, 6) | st.sampled_from([50, 900, 70_000]), min_size=1, max_size=6
    )
    names = [f"lang{i}" for i in range(draw(st.integers(1, 5)))]
    train = {name: draw(text) for name in names}
    dev = {name: draw(text) for name in names}
    units = {name: float(draw(st.integers(1, 4))) for name in names}
    return train, dev, units


@st.composite
def cases(draw):
    train, dev, units = draw(corpora())
    kind = draw(st.sampled_from(["classical", "parity", "ratios", "mixed", "train"]))
    shape = {"global_merges": draw(st.sampled_from([0, 0, 1, 3, 0.5, 1.0]))}
    if draw(st.booleans()):
        shape |= {
            "window": draw(st.sampled_from([1, 2, 5])),
            "alpha": draw(st.sampled_from([0.3, 1.0, 2.0])),
        }
    if draw(st.booleans()):
        shape["joint"] = draw(st.sampled_from([0.1, 0.5, 0.7, 0.99]))
    method: Policy = Parity(**shape)
    if kind != "classical" and draw(st.booleans()):
        method = Fair(beta=draw(st.sampled_from([0, 0.3, 1, 4, 150.5, 1e5])))
    if kind == "classical":
        method = Classical()
        if draw(st.booleans()):
            dev, units = {}, {}
    elif kind == "train":
        method = replace(method, on="train")
        dev, units = {}, {}
    elif kind in ("ratios", "mixed"):
        names = list(train) if kind == "ratios" else list(train)[::2]
        method = replace(
            method, ratios={name: draw(st.sampled_from([0.5, 1.0, 3.25, 7.0])) for name in names}
        )
        dev = {name: words for name, words in dev.items() if name not in names}
        units = {name: number for name, number in units.items() if name not in names}
    goal = draw(st.sampled_from(["num_merges", "num_tokens"]))
    return {
        "train": train,
        "dev": dev,
        "dev_units": units,
        "method": method,
        goal: draw(st.integers(1, 40)),
        "min_frequency": draw(st.sampled_from([0, 1, 2, 4])),
        "max_token_length": draw(st.sampled_from([None, None, 2, 3, 5])),
        "whole_characters": draw(st.booleans()),
    }


@settings(max_examples=3000, deadline=None)
@given(cases())
def test_engine_equals_reference(case):
    assert_equal(case)


@st.composite
def continued(draw):
    """A run that goes on from merges of another: any tokens joined, some of them to a string that already exists."""
    case = draw(cases())
    tokens = sorted({bytes([byte]) for words in case["train"].values() for word in words for byte in word})
    known = []
    for _ in range(draw(st.integers(1, 8))):
        pair = (draw(st.sampled_from(tokens)), draw(st.sampled_from(tokens)))
        if pair not in known:
            known.append(pair)
            tokens.append(pair[0] + pair[1])
    return case | {"known": known}


def same_string(*known):
    """`ab|c` and `a|bc` both: one id for the two."""
    words = {b"abcd": 3, b"xbcd": 2, b"abcabc": 4, b"bcbc": 2}
    return {
        "train": {"x": words},
        "dev": {"x": words},
        "dev_units": {"x": 1.0},
        "method": Parity(),
        "num_tokens": 8,
        "known": list(known),
    }


@settings(max_examples=1000, deadline=None)
@given(continued())
@example(same_string((b"b", b"c"), (b"a", b"bc"), (b"a", b"b"), (b"ab", b"c")))
@example(same_string((b"a", b"b"), (b"ab", b"c"), (b"b", b"c"), (b"a", b"bc")))
def test_engine_goes_on_as_the_reference_does(case):
    assert_equal(case)


@settings(max_examples=500, deadline=None)
@given(cases() | continued(), st.integers(2, 40) | st.integers(40, 300), st.sampled_from([1, 1, 3]))
def test_words_may_fill_several_shards(case, most_symbols, threads):
    """As do those of more than 4 GiB. The reference knows of no shards."""
    assert_equal(case, threads, most_symbols=most_symbols)


@settings(max_examples=300, deadline=None)
@given(cases(), st.integers(2, 4))
def test_threads_change_nothing(case, threads):
    assert_equal(case, threads)


def test_rare_pairs_come_after_the_queue_has_run_dry():
    words = {
        b"abab": 70_000,
        b"abcd": 900,
        b"bcd": 880,
        b"xbcd": 60,
        b"xy": 50,
        b"xyx": 7,
        b"yz": 6,
        b"zq": 1,
    }
    train = {"x": words, "y": {b"abcd": 3, b"zq": 2}}
    units = {"x": 1.0, "y": 1.0}
    for known in ([], [(b"b", b"c"), (b"a", b"bc")]):
        for floor in (0, 7):
            for threads in (1, 2):
                case = {
                    "train": train,
                    "dev": train,
                    "dev_units": units,
                    "method": Parity(),
                    "num_merges": 60,
                }
                assert_equal(case | {"known": known, "min_frequency": floor}, threads)


def test_weights_are_renewed_at_the_same_merges():
    """From merge 2048 on not at every one, and a run that goes on must know the weights of some merges ago."""
    numbers = np.random.default_rng(1)
    text = [{bytes(numbers.choice(list(b"abcdefgh"), 16)): 1 + i % 7 for i in range(200)} for _ in range(2)]
    case = {
        "train": {"x": text[0], "y": text[1]},
        "dev": {"x": dict([*text[0].items()][:9]), "y": dict([*text[1].items()][:9])},
        "dev_units": {"x": 9.0, "y": 9.0},
        "method": Fair(beta=20),
        "num_merges": 2075,
    }
    whole, _ = engine(**case)
    assert reference.train(**case, known=whole.merges[:2040]).merges == whole.merges
    assert engine(**case, known=whole.merges[:2061])[0].merges == whole.merges


def test_many_languages_are_asked_together():
    """More than 64, of which most pairs occur in a few."""
    numbers = np.random.default_rng(1)
    letters = [bytes([97 + place % 26, 97 + (place + 1) % 26, 97 + (place + 5) % 26]) for place in range(70)]
    train = {
        f"lang{place}": {bytes(numbers.choice(list(own), 6)): int(numbers.integers(1, 90)) for _ in range(9)}
        for place, own in enumerate(letters)
    }
    dev = {name: dict([*words.items()][:5]) for name, words in train.items()}
    case = {"train": train, "dev": dev, "dev_units": dict.fromkeys(train, 5.0), "num_merges": 250}
    for method in (Parity(joint=0.5), Fair(beta=3), Fair(beta=150)):
        for floor in (0, 20):
            assert_equal(case | {"method": method, "min_frequency": floor})


def test_lists_that_come_and_go_are_kept_apart():
    # Thousands of words make lists too long for the index, and most of them die: their block is made anew on the way.
    numbers = np.random.default_rng(1)
    words = {bytes(numbers.choice(list(b"abcdefgh"), 12)): 1 + i % 7 for i in range(1500)}
    case = {"train": {"x": words}, "dev": {}, "dev_units": {}, "method": Classical(), "num_merges": 300}
    assert_equal(case)


@st.composite
def tables(draw, train):
    """Tokens over the bytes of the text, and merges in any order; some tokens no merge gives."""
    letters = sorted({bytes([byte]) for words in train.values() for word in words for byte in word})
    pieces = st.lists(st.sampled_from(letters), min_size=2, max_size=5).map(b"".join)
    words = st.sampled_from(sorted({word for words in train.values() for word in words}))
    tokens = {token for token in draw(st.sets(pieces | words, max_size=8)) if len(token) > 1}
    parts = {*letters, *tokens}
    possible = [
        (token[:at], token[at:])
        for token in sorted(tokens)
        for at in range(1, len(token))
        if {token[:at], token[at:]} <= parts
    ]
    merges = draw(st.lists(st.sampled_from(possible), unique=True)) if possible else []
    return reference.Table(tokens, merges, whole_pretokens=draw(st.booleans()))


@st.composite
def from_tables(draw):
    case = draw(cases())
    if "num_tokens" in case:
        case["num_tokens"] += 8  # those of the table count
    return case | {"table": draw(tables(case["train"]))}


@settings(max_examples=300, deadline=None)
@given(from_tables(), st.sampled_from([1, 1, 3]))
def test_the_engine_goes_on_from_any_table_as_the_reference_does(case, threads):
    assert_equal(case, threads)


@settings(max_examples=100, deadline=None)
@given(from_tables(), st.integers(0, 10))
def test_a_run_from_a_table_goes_on_where_it_was_stopped(case, done):
    case |= {"method": Classical()}  # others also need to know whom the first merges served
    assert_equal(case | {"known": reference.train(**case).merges[:done]})


@settings(max_examples=200, deadline=None)
@given(from_tables())
def test_the_longer_table_encodes_as_training_cut_it(case):
    """And a text in which no new token occurs is cut as before."""
    table, learned = case["table"], reference.train(**case)
    longer = replace(table, tokens=table.tokens | learned.tokens, merges=[*table.merges, *learned.merges])
    assert not set(map(b"".join, learned.merges)) & table.tokens
    for words in (*case["train"].values(), *case["dev"].values()):
        for word in words:
            trained = table.cut(word)
            for pair in learned.merges:
                reference.apply(pair, trained)
            assert longer.cut(word) == trained
            if not set(trained) - table.tokens - set(BYTE_TOKENS):
                assert trained == table.cut(word)
