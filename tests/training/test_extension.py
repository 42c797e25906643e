"""Roles from training on, and what is reported when a tokenizer is continued."""

import json
import re

import pytest

import pairity
from pairity import PairityError, Roles, Tokenizer, sample, train
from pairity.counts.counting import count
from pairity.training.extension import tokens_in
from pairity.training.policy import Classical, Parity
from pairity.training.run import run_of
from pairity.training.training import TrainOptions


@pytest.fixture(scope="module")
def dev() -> dict[str, list[str]]:
    return {language: lines[:40] for language, lines in list(sample.read("dev").items())[:5]}


@pytest.fixture(scope="module")
def first(dev) -> Tokenizer:
    return train(dev, dev=dev, vocab_size=600, bos_token="<s>", pad_token="<pad>", progress=False)


def untouched():
    pytest.fail("the text was read")
    yield


# ---------------------------------------------------------------------- roles


def test_tokens_with_a_role_become_special_tokens(dev):
    settings = {"dev": dev, "vocab_size": 400, "progress": False}
    tok = train(
        dev,
        **settings,
        special_tokens=["<|user|>", "</s>"],
        reserved=1,
        bos_token="<s>",
        eos_token="</s>",
        unk_token="<s>",
        add_bos=True,
        chat_template="{{ messages }}",
    )
    assert tok.special_tokens == {"<|user|>": 0, "</s>": 1, "<s>": 2, "<|reserved_0|>": 3}
    assert tok.vocab_size == 400
    assert tok.roles == Roles(
        bos_token="<s>", eos_token="</s>", unk_token="<s>", add_bos=True, chat_template="{{ messages }}"
    )
    same = train(dev, **settings, special_tokens=["<|user|>", "</s>", "<s>"], reserved=1)
    assert tok == same, "roles change nothing else"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"chat_template": "{% if %}"}, "the chat template is not a Jinja template"),
        ({"add_eos": True}, "add_eos adds the eos_token to every text, but there is none"),
        ({"bos_token": ""}, "a special token is empty"),
        ({"bos_token": "a"}, "'a' is also how tokenizer files spell an ordinary token"),
        ({"bos_token": 1}, "bos_token is 1: it must be text"),
        (
            {"add_tokens": 50},
            "add_tokens .* adds tokens to an existing tokenizer: name it with continue_from",
        ),
    ],
)
def test_roles_are_checked_before_any_work(given, message):
    with pytest.raises(PairityError, match=message):
        train({"eng": untouched()}, vocab_size=400, method=Classical(), **given)


def test_an_unknown_argument_is_named_before_any_work():
    with pytest.raises(TypeError, match="unexpected keyword argument 'vocabulary'"):
        train({"eng": untouched()}, vocabulary=400, vocab_size=400, method=Classical())
    with pytest.raises(TypeError, match=r"'special_token'\. Did you mean 'special_tokens'\?$"):
        train({"eng": untouched()}, special_token="<s>", vocab_size=400, method=Classical())
    with pytest.raises(TypeError, match=r"'languages'\. Did you mean 'choose'\?$"):
        train({"eng": untouched()}, languages=["eng"], vocab_size=400, method=Classical())


def test_help_names_all_options():
    assert set(TrainOptions.__annotations__) <= set(re.findall(r"\w+", str(train.__doc__)))


# ---------------------------------------------------------------------- extending


def test_an_extension_is_reported(dev, first):
    more = train(dev, dev=dev, continue_from=first, add_tokens=70, pad_to=64, progress=False)
    assert (len(first), len(more)) == (600, 670)
    said = more.record["extension"]
    assert said["tokens"] == {"before": 600, "after": 670}
    assert said["ids_unchanged"] == 600
    assert said["embedding_rows"] == {"before": 600, "after": 670, "padded_to": 64, "padded": 704}
    for language, lines in dev.items():
        cost = said["costs"][language]
        assert cost["before"] == first.count(lines).sum() / 40
        assert cost["after"] == more.count(lines).sum() / 40 == more.record["languages"][language]["cost"]
    assert more.roles == first.roles
    assert "extension" not in first.record


def test_the_report_has_the_costs_that_decide(dev, first):
    by_bytes = train(dev, continue_from=first, add_tokens=5, method=Parity(on="train"), progress=False)
    for language, lines in dev.items():
        size = sum(len("".join(lines).encode()) for lines in [lines])
        assert by_bytes.record["extension"]["costs"][language]["before"] == first.count(lines).sum() / size
    classical = train(dev, continue_from=first, add_tokens=5, method=Classical(), progress=False)
    assert classical.record["extension"]["costs"] == {}, "nothing is measured without dev text"


def test_add_tokens_is_the_same_as_a_larger_size(dev, first):
    settings = {"dev": dev, "continue_from": first, "progress": False}
    assert train(dev, **settings, add_tokens=33) == train(dev, **settings, vocab_size=633)


def test_roles_may_be_given_to_what_is_continued(dev, first, tmp_path):
    settings = {"dev": dev, "add_tokens": 5, "progress": False}
    more = train(dev, **settings, continue_from=first, eos_token="<pad>", add_bos=True)
    assert more.roles == Roles(bos_token="<s>", eos_token="<pad>", pad_token="<pad>", add_bos=True)
    more.save(tmp_path)
    assert Tokenizer.load(tmp_path).roles == more.roles
    assert json.loads((tmp_path / "pairity.json").read_text())["record"]["extension"]["ids_unchanged"] == 600


def test_an_object_of_another_library_can_be_continued(dev, first):
    more = train(dev, dev=dev, add_tokens=5, continue_from=first.to_huggingface(), progress=False)
    assert more.tokens[: len(first)] == first.tokens


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"vocab_size": 600}, r"vocab_size is 600, but .* has 600 tokens: give more than 600.*--add-tokens"),
        ({"vocab_size": 300}, "continue from has 600 tokens"),
        ({"add_tokens": 0}, "add_tokens is 0: give at least 1"),
        ({"add_tokens": -5}, "add_tokens is -5: give at least 1"),
        ({"add_tokens": 1.5}, "add_tokens is 1.5: it must be a whole number"),
        ({"add_tokens": 5, "vocab_size": 700}, "how much to learn must be given only once"),
        ({"add_tokens": 5, "num_merges": 7}, "how much to learn must be given only once"),
        ({}, "how much to learn must be given exactly once"),
        (
            {"add_tokens": 5, "bos_token": "<new>"},
            "bos_token '<new>' is not a special token of this tokenizer",
        ),
        ({"add_tokens": 5, "special_tokens": ["<new>"]}, "keeps its special tokens"),
        ({"add_tokens": 5, "continue_from": 7}, r"give a tokenizer\.json"),
    ],
)
def test_an_extension_that_cannot_be_is_refused_before_any_work(first, given, message):
    with pytest.raises(PairityError, match=message):
        train({"eng": untouched()}, method=Classical(), **{"continue_from": first} | given)


def test_the_names_are_public():
    assert pairity.initial_rows is not None
    assert pairity.extend_embeddings is not None


def test_a_truncated_tokenizer_has_no_report_of_the_larger_one(dev, first):
    longer = train(dev, dev=dev, add_tokens=20, continue_from=first, progress=False)
    assert run_of(longer.record).extension is not None
    shorter = longer.truncate(len(longer) - 10)
    assert "extension" not in shorter.record
    run = run_of(shorter.record)
    assert (run.extension, run.merges) == (None, None)
    assert {(one.cost, one.served, one.states) for one in run.languages} == {(None, None, ())}
    older = dict(longer.record) | {"truncated_from": longer.vocab_size}
    assert run_of(older).extension is None


def test_counts_of_dev_text_may_be_as_large_as_counts_can_be(first):
    counts = count({"eng": {"ab": 2**62, "cd": 2**62}}, split="dev")["eng"]
    uncut = first.model.uncut
    tokens = tokens_in(uncut, counts, threads=1)
    assert tokens == pytest.approx(2**62 * (len(first.encode("ab")) + len(first.encode("cd"))))
    assert tokens > 0
