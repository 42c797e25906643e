"""The drop-in trainers: the tokenizer.json of Hugging Face's own, and an error where theirs is silent."""

import json
import re
import warnings

import pytest
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from pairity import PairityError, PairityWarning, _core, hf, sample
from pairity.hf import words
from pairity.hf.words import WordCounter

ALPHABET = pre_tokenizers.ByteLevel.alphabet()
TRAIN = [lines[:40] for lines in sample.read("dev").values()]
DEV = [lines[:20] for lines in sample.read("test").values()]
RATIO = [sum(len(line.encode()) for line in lines) / len(lines) for lines in DEV]
ENGLISH = sample.read("dev")["eng_Latn"]
MERGES = 500

byte_level = pre_tokenizers.ByteLevel


def split(name):
    pattern, _ = _core.PATTERNS[name]
    cut = pre_tokenizers.Split(Regex(pattern), "isolated")
    return pre_tokenizers.Sequence([cut, byte_level(add_prefix_space=False, use_regex=False)])


PRE_TOKENIZERS = {
    "ByteLevel": byte_level(),
    "ByteLevel without prefix": byte_level(add_prefix_space=False),
    "gpt4o": split("gpt4o"),
    "gpt4": split("gpt4"),
    "Whitespace": pre_tokenizers.Sequence([pre_tokenizers.Whitespace(), byte_level(use_regex=False)]),
    "Digits": pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), byte_level()]),
}
NORMALIZERS = {
    "none": None,
    "NFC": normalizers.NFC(),
    "NFKC and Lowercase": normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()]),
}
VARIANTS = {
    "base": {},
    "window": {"variant": "window", "window_size": 30, "alpha": 1.7},
    "hybrid": {"global_merges": 200},
    "hybrid and window": {"global_merges": 100, "variant": "window", "window_size": 20, "alpha": 1.4},
    "ratio": {"ratio": RATIO},
    "ratio and window": {"ratio": RATIO, "variant": "window", "window_size": 10, "alpha": 5.0},
}


def blank(pre_tokenizer="gpt4o", normalizer="none", **model):
    tokenizer = Tokenizer(models.BPE(**model))
    tokenizer.pre_tokenizer = PRE_TOKENIZERS.get(pre_tokenizer, pre_tokenizer)
    tokenizer.normalizer = NORMALIZERS[normalizer]
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def parity(library, tokenizer, *, train=TRAIN, dev=DEV, **settings):
    settings = {"num_merges": MERGES, "initial_alphabet": ALPHABET, "show_progress": False} | settings
    trainer = library.ParityBpeTrainer(**settings)
    dev = None if "ratio" in settings else dev
    trainer.train_from_iterator(tokenizer, train, dev_iterators=dev)
    return json.loads(tokenizer.to_str())


def assert_same(*tokenizer, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PairityWarning)
        ours, theirs = (parity(library, blank(*tokenizer), **settings) for library in (hf, trainers))
    assert ours["model"]["merges"] == theirs["model"]["merges"]
    assert ours == theirs
    return ours["model"]


@pytest.mark.parametrize("variant", VARIANTS)
def test_variants(variant):
    assert len(assert_same(**VARIANTS[variant])["merges"]) == MERGES


@pytest.mark.parametrize("normalizer", NORMALIZERS)
@pytest.mark.parametrize("pre_tokenizer", PRE_TOKENIZERS)
def test_pre_tokenizers_and_normalizers(pre_tokenizer, normalizer):
    assert_same(pre_tokenizer, normalizer, num_merges=200)


@pytest.mark.parametrize(
    "settings",
    [
        {"min_frequency": 30, "num_merges": 300},
        {"max_token_length": 0},
        {"max_token_length": 3},
        {"max_token_length": 6},
        {"total_symbols": True, "num_merges": 400, "special_tokens": ["<s>", "e", "Ġthe"]},
        {"special_tokens": ["<s>", AddedToken("</s>", lstrip=True), "<s>"]},
        {"limit_alphabet": 60, "initial_alphabet": ["a", "Ġ", "ÿ"], "special_tokens": ["Ã"]},
        {"limit_alphabet": 90, "initial_alphabet": [], "ratio": RATIO},
        {"global_merges": MERGES},
        {"num_merges": 0},
    ],
    ids=str,
)
def test_settings(settings):
    """The limits of the alphabet are such that no two characters are equally frequent there."""
    assert_same(**settings)


@pytest.mark.parametrize(
    "pre_tokenizer",
    [pre_tokenizers.Whitespace(), pre_tokenizers.Metaspace(), None],
    ids=["words", "meta", "none"],
)
@pytest.mark.parametrize("limit", [None, 40])
def test_characters_instead_of_bytes(pre_tokenizer, limit):
    train = [ENGLISH, [f" {line}\x1f\u3000" for line in sample.read("dev")["deu_Latn"]]]
    settings = {"initial_alphabet": ["ж"], "special_tokens": ["[UNK]"], "limit_alphabet": limit}
    assert_same(pre_tokenizer, train=train, dev=[lines[:9] for lines in train], **settings)


def test_all_bytes_are_in_the_alphabet():
    ours, theirs = (parity(library, blank(), initial_alphabet=[]) for library in (hf, trainers))
    assert ours["model"]["merges"] == theirs["model"]["merges"]
    assert list(ours["model"]["vocab"])[:256] == sorted(ALPHABET)
    assert len(theirs["model"]["vocab"]) < len(ours["model"]["vocab"]) == 256 + MERGES


class Spaces:
    def pre_tokenize(self, text):
        text.split(lambda _, piece: piece.split(Regex(r"\s+"), "removed"))


def test_both_ways_to_cut_agree(monkeypatch):
    texts = ["", " ", "  two", "don't\r\n\tÉcole e\u0301 12345 ½ 日本語、", *ENGLISH]
    for name in ("ByteLevel", "ByteLevel without prefix", "gpt4o", "gpt4"):
        known = parity(hf, blank(name), train=[texts], dev=[texts])
        with monkeypatch.context() as patch:
            patch.setattr(words, "known_pattern", lambda steps: (None, False))
            assert parity(hf, blank(name), train=[texts], dev=[texts]) == known
    assert all(WordCounter(blank(name))._pattern for name in ("ByteLevel", "gpt4o"))
    assert not WordCounter(blank("Whitespace"))._pattern


def test_a_pre_tokenizer_written_in_python():
    tokenizer = blank(pre_tokenizers.PreTokenizer.custom(Spaces()))
    trainer = hf.ParityBpeTrainer(num_merges=50, show_progress=False)
    trainer.train_from_iterator(tokenizer, [ENGLISH], ratio=[1.0])
    assert tokenizer.get_vocab_size() > 50
    assert not any(token.isspace() for token in tokenizer.get_vocab())


def test_encodes_and_decodes():
    tokenizer = blank("gpt4o", "NFC", unk_token="<unk>")
    parity(hf, tokenizer, special_tokens=["<unk>", "<s>"])
    for lines in sample.read("test").values():
        for line in lines:
            assert tokenizer.decode(tokenizer.encode(line).ids) == tokenizer.normalizer.normalize_str(line)
    assert tokenizer.encode("<s>a").tokens == ["<s>", "a"]
    assert tokenizer.token_to_id("<s>") == 1
    assert tokenizer.model.unk_token == "<unk>"


def test_lists_of_texts():
    tokenizers = blank(), blank()
    trainer = hf.ParityBpeTrainer(num_merges=100, show_progress=False)
    trainer.train_from_iterator(tokenizers[0], TRAIN, DEV)
    trainer.train_from_iterator(
        tokenizers[1], [[lines[:9], tuple(lines[9:])] for lines in TRAIN], [[x] for x in DEV]
    )
    assert tokenizers[0].to_str() == tokenizers[1].to_str()


def test_attributes_and_repr():
    ours, theirs = (
        library.ParityBpeTrainer(7, "window", alpha=1.5, special_tokens=["<s>"], initial_alphabet=["a", "b"])
        for library in (hf, trainers)
    )
    names = [name for name in dir(theirs) if not name.startswith("_") and name != "train_from_iterator"]
    assert {name: str(getattr(ours, name)) for name in names} == {
        name: str(getattr(theirs, name)) for name in names
    }
    assert repr(ours) == repr(theirs)
    assert repr(hf.ParityBpeTrainer()) == repr(trainers.ParityBpeTrainer())
    with pytest.raises(AttributeError):
        ours.variant = "base"
    settings = {"vocab_size": 9, "special_tokens": ["<s>", AddedToken("<x>")], "initial_alphabet": ["a"]}
    ours, theirs = hf.BpeTrainer(**settings), trainers.BpeTrainer(**settings)
    names = [name for name in dir(theirs) if not name.startswith("_") and name != "get_word_count"]
    assert {name: str(getattr(ours, name)) for name in names} == {
        name: str(getattr(theirs, name)) for name in names
    }
    assert repr(ours) == repr(theirs)


CLASSICAL = {"vocab_size": 700, "initial_alphabet": ALPHABET, "show_progress": False}


class TestClassical:
    @pytest.mark.parametrize("pre_tokenizer", ["gpt4o", "Whitespace"])
    def test_the_same_tokens_up_to_ties(self, pre_tokenizer):
        lines = [line for lines in TRAIN for line in lines]
        ours, theirs = blank(pre_tokenizer), blank(pre_tokenizer)
        settings = CLASSICAL | {"special_tokens": ["<s>", "th", "Ġ"], "max_token_length": 8}
        trainer = hf.BpeTrainer(**settings)
        trainer.train_from_iterator(ours, iter(lines))
        reference = trainers.BpeTrainer(**settings)
        theirs.train_from_iterator(iter(lines), reference)
        assert ours.get_vocab_size() == theirs.get_vocab_size() == 700
        assert trainer.get_word_count() == reference.get_word_count()
        assert len(ours.get_vocab().keys() - theirs.get_vocab().keys()) < 20

    def test_without_ties_all_is_the_same(self):
        words = [word for number, word in enumerate(["ab", "cd", "abcd", "xy"], 3) for _ in range(3**number)]
        ours, theirs = blank("ByteLevel without prefix"), blank("ByteLevel without prefix")
        settings = CLASSICAL | {"vocab_size": 261, "special_tokens": ["</s>", "ab"]}
        hf.BpeTrainer(**settings).train_from_iterator(ours, words)
        theirs.train_from_iterator(words, trainers.BpeTrainer(**settings))
        assert json.loads(ours.to_str()) == json.loads(theirs.to_str())

    def test_files(self, tmp_path):
        path = tmp_path / "text.txt"
        path.write_bytes("aab\r\naab\r\n\nab\x85ab\r".encode())
        ours, theirs = blank(None), blank(None)
        settings = {"vocab_size": 7, "show_progress": False}
        hf.BpeTrainer(**settings).train(ours, [path])
        theirs.train([str(path)], trainers.BpeTrainer(**settings))
        assert ours.get_vocab() == theirs.get_vocab()
        path.write_bytes(b"\xff")
        with pytest.raises(PairityError, match=r"text\.txt is not UTF-8"):
            hf.BpeTrainer(**settings).train(ours, [path])
        with pytest.raises(PairityError, match=r"cannot read .*none\.txt: No such file"):
            hf.BpeTrainer(**settings).train(ours, [tmp_path / "none.txt"])
        with pytest.raises(PairityError, match="files is one path"):
            hf.BpeTrainer(**settings).train(ours, str(path))

    def test_warns_when_the_text_gives_out(self):
        with pytest.warns(
            PairityWarning, match="no pairs are left, so the vocabulary has 257 tokens instead of 700"
        ):
            hf.BpeTrainer(**CLASSICAL).train_from_iterator(blank(), ["ab"])

    def test_refuses(self):
        with pytest.raises(PairityError, match="special tokens and alphabet already take 256"):
            hf.BpeTrainer(vocab_size=10, show_progress=False).train_from_iterator(blank(), ["ab"])
        with pytest.raises(PairityError, match="iterator has no text"):
            hf.BpeTrainer(**CLASSICAL).train_from_iterator(blank(), ["", ""])
        with pytest.raises(PairityError, match="progress_format is 'json'"):
            hf.BpeTrainer(progress_format="json")
        tokenizer = blank()
        tokenizer.add_special_tokens(["<s>"])
        with pytest.raises(PairityError, match="'<s>', a token that the tokenizer already has"):
            hf.BpeTrainer(**CLASSICAL).train_from_iterator(tokenizer, ["a <s> b"])


def test_says_who_ran_out():
    settings = {"train": [["ab"], ENGLISH], "dev": [["ab " * 500], ["ab"]], "num_merges": 30}
    with pytest.warns(
        PairityWarning, match=r"train_iterators\[0\] ran out of pairs \(the first after 1 merges\)"
    ):
        parity(hf, blank(), **settings)
    with pytest.warns(PairityWarning, match="1 merges were learned instead of 500"):
        parity(hf, blank(), train=[["ab"]], dev=[["ab"]])


def test_a_window_without_pairs_ends():
    with pytest.warns(PairityWarning, match="training stopped early"):
        parity(
            hf,
            blank(),
            train=[["ab"], ["cd"]],
            dev=[["ab"], ["cd"]],
            variant="window",
            window_size=2,
            alpha=1.0,
        )


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"variant": "best"}, "variant is 'best': choose 'base' or 'window'"),
        ({"variant": "window", "window_size": 0}, "window_size is 0"),
        ({"variant": "window", "alpha": float("nan")}, "alpha is nan"),
        ({"num_merges": -1}, "num_merges is -1: it must be a whole number, 0 or more"),
        ({"limit_alphabet": 2.5}, "limit_alphabet is 2.5"),
        ({"continuing_subword_prefix": "##"}, "continuing_subword_prefix is '##', which is not supported"),
        ({"end_of_word_suffix": "</w>"}, "end_of_word_suffix is '</w>', which is not supported"),
        ({"initial_alphabet": ["ab"]}, "initial_alphabet contains 'ab': give single characters"),
        ({"special_tokens": "<s>"}, "special_tokens must be a list: ['<s>']"),
        ({"special_tokens": [3]}, "special_tokens must be str or AddedToken, but 3 is int"),
        ({"special_tokens": [""]}, "a special token is empty"),
        ({"ratio": [1.0]}, "train_iterators has 2 languages, but ratio has 1"),
        ({"ratio": [1.0, 0.0]}, "ratio[1] is 0.0: it must be a positive number"),
        ({"total_symbols": True, "num_merges": 9}, "special tokens and alphabet already take 256"),
        ({"limit_alphabet": 9}, "limit_alphabet is 9, but initial_alphabet has 256 characters"),
        ({"train": []}, "train_iterators is empty"),
        ({"dev": None}, "nothing says how to balance the languages"),
        ({"dev": []}, "train_iterators has 2 languages, but dev_iterators has 0"),
        ({"train": [["a"], [" ", ""]]}, None),
        ({"train": [["a"], []]}, "train_iterators[1] has no text"),
        ({"dev": [["a"], [""]]}, "dev_iterators[1] has no text"),
        ({"dev": [["a", "b"], ["a"]]}, "have 2 texts, but dev_iterators[1] has 1. Align them text by text"),
        ({"train": [["a"], "text"]}, "train_iterators[1] is a single text"),
        ({"train": [["a"], [3]]}, "train_iterators[1] yields int: texts are str"),
        ({"train": [["a"], [[b"a"]]]}, "train_iterators[1] yields a list with bytes in it"),
        ({"train": [["a"], ["\ud800"]]}, "train_iterators[1] yields a text with a lone surrogate"),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
def test_refuses(settings, message):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PairityWarning)
        if message is None:
            parity(hf, blank(), **{"train": [["ab"]] * 2, "dev": [["ab"]] * 2} | settings)
            return
        with pytest.raises(PairityError, match=re.escape(message)):
            parity(hf, blank(), **{"train": [["ab"]] * 2, "dev": [["ab"]] * 2} | settings)


def test_refuses_what_it_cannot_train():
    trainer = hf.ParityBpeTrainer(show_progress=False)
    with pytest.raises(PairityError, match="dev_iterators and ratio are both given"):
        trainer.train_from_iterator(blank(), [["ab"]], [["ab"]], [1.0])
    with pytest.raises(PairityError, match="the model of the tokenizer is WordPiece"):
        trainer.train_from_iterator(Tokenizer(models.WordPiece()), [["ab"]], [["ab"]])
    with pytest.raises(PairityError, match=r"give a tokenizers\.Tokenizer to train, not str"):
        trainer.train_from_iterator("gpt2", [["ab"]], [["ab"]])
    with pytest.raises(
        PairityError, match=r"different characters, but the engine supports only 256\. Add ByteLevel"
    ):
        trainer.train_from_iterator(blank(pre_tokenizers.Whitespace()), TRAIN, DEV)
