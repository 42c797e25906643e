"""For each new token the old tokens that it is made of, and a model that gets rows for them."""

import json

import numpy as np
import pyarrow.parquet as pq
import pytest

from pairity.errors import PairityError
from pairity.tokenizer.embedding import extend_embeddings, initial_rows, write_rows
from pairity.tokenizer.tokenizer import Tokenizer
from small_tokenizers import small


def old_and_new(kept: int = 700) -> tuple[Tokenizer, Tokenizer]:
    return small().truncate(kept), small()


def test_the_old_ids_spell_the_new_token_as_the_old_tokenizer_does():
    old, new = old_and_new()
    rows = initial_rows(old, new)
    assert list(rows) == list(range(len(old), len(new)))
    uncut = Tokenizer.from_model(old.model.uncut)
    for token_id, parts in rows.items():
        token = new.token_of(token_id)
        assert old.decode_bytes(parts) == token
        try:
            token.decode()
        except UnicodeDecodeError:
            continue  # the tokenizer cuts text before half a character, and a merge need not
        assert parts == uncut.encode(token)
    assert any(len(parts) > 2 for parts in rows.values()), "new tokens made of new tokens"


def test_tokens_that_no_merge_makes_and_new_special_tokens_have_parts():
    tokens = {i: bytes([i]) for i in range(256)}
    old = Tokenizer(tokens | {256: b"ab"}, [(97, 98, 256)], pattern=None)
    new = Tokenizer(
        tokens | {256: b"ab", 257: b"xyab"},
        [(97, 98, 256)],
        pattern=None,
        special_tokens={"<ab>": 260},
        allow_holes=True,
    )
    assert initial_rows(old, new) == {257: [120, 121, 256], 260: [60, 256, 62]}
    assert initial_rows(new, new) == {}


def test_parts_may_have_higher_ids():
    tokens = {i: bytes([i]) for i in range(256)}
    new = Tokenizer(tokens | {256: b"abc", 257: b"ab"}, [(97, 98, 257), (257, 99, 256)], pattern=None)
    assert initial_rows(Tokenizer(tokens, [], pattern=None), new) == {256: [97, 98, 99], 257: [97, 98]}


def test_a_tokenizer_that_does_not_extend_the_other_is_refused():
    old, new = old_and_new()
    with pytest.raises(
        PairityError, match=r"does not extend the old one: id 700 is .* and no token in the new"
    ):
        initial_rows(new, old)
    with pytest.raises(PairityError, match="does not extend the old one: id 0 is"):
        initial_rows(small(special_tokens=()), new)
    tokens = {i: bytes([i]) for i in range(256)}
    named = Tokenizer(tokens, [], pattern=None, special_tokens={"<a>": 256, "<b>": 256})
    with pytest.raises(PairityError, match=r"its special token '<b>'.* is gone"):
        initial_rows(named, Tokenizer(tokens, [], pattern=None, special_tokens={"<a>": 256}))


def test_rows_are_written_as_parquet_and_json(tmp_path):
    old, new = old_and_new()
    rows = initial_rows(old, new)
    assert write_rows(old, new, tmp_path / "rows.parquet") == len(rows)
    table = pq.read_table(tmp_path / "rows.parquet").to_pydict()
    assert dict(zip(table["id"], table["old_ids"], strict=True)) == rows
    assert table["bytes"] == [new.token_of(i) for i in rows]
    write_rows(old, new, tmp_path / "rows.json")
    assert {int(i): parts for i, parts in json.loads((tmp_path / "rows.json").read_text()).items()} == rows
    with pytest.raises(PairityError, match=r"written as \.parquet or \.json"):
        write_rows(old, new, tmp_path / "rows.csv")


# ---------------------------------------------------------------------- a model


class Parameter:
    """As much of torch's as is used: `data` with rows."""

    def __init__(self, data: np.ndarray) -> None:
        self.data = data

    def __len__(self) -> int:
        return len(self.data)


class Layer:
    def __init__(self, weight: Parameter, bias: Parameter | None = None) -> None:
        self.weight = weight
        self.bias = bias


class Model:
    """As much of a model of transformers as is used, with rows of four random numbers."""

    def __init__(self, rows: int, *, tied: bool, bias: bool = False) -> None:
        random = np.random.default_rng(3)
        self.input = Layer(Parameter(random.normal(size=(rows, 4))))
        output = self.input.weight if tied else Parameter(random.normal(size=(rows, 4)))
        self.output = Layer(output, Parameter(random.normal(size=rows)) if bias else None)

    def get_input_embeddings(self) -> Layer:
        return self.input

    def get_output_embeddings(self) -> Layer:
        return self.output

    def resize_token_embeddings(self, rows: int, *, mean_resizing: bool) -> None:
        assert not mean_resizing, "the rows are set here"
        parts = {id(part): part for part in (self.input.weight, self.output.weight, self.output.bias) if part}
        for part in parts.values():
            part.data = np.concatenate([part.data, np.zeros((rows - len(part.data), *part.data.shape[1:]))])


@pytest.mark.parametrize(("tied", "bias"), [(True, False), (False, False), (False, True)])
def test_a_model_gets_the_mean_of_the_old_rows(tied, bias):
    old, new = old_and_new()
    model = Model(len(old), tied=tied, bias=bias)
    parts = [part for part in (model.input.weight, model.output.weight, model.output.bias) if part]
    before = [part.data.copy() for part in parts]
    rows = extend_embeddings(model, old, new, pad_to=64)
    assert rows == initial_rows(old, new)
    for part, was in zip(parts, before, strict=True):
        assert len(part) == 1792, "1759 as a multiple of 64"
        assert np.array_equal(part.data[: len(old)], was)
        for token_id, old_ids in rows.items():
            assert np.allclose(part.data[token_id], was[old_ids].mean(axis=0))


def test_a_model_that_has_rows_to_spare_keeps_their_number():
    old, new = old_and_new()
    model = Model(2048, tied=True)
    extend_embeddings(model, old, new)
    assert len(model.input.weight) == 2048


def test_a_model_of_another_tokenizer_is_refused():
    old, new = old_and_new()
    with pytest.raises(PairityError, match="has 100 rows, but the old tokenizer has ids up to 699"):
        extend_embeddings(Model(100, tied=True), old, new)


def test_a_model_of_transformers(tmp_path):
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    old, new = old_and_new()
    config = transformers.GPT2Config(vocab_size=len(old), n_embd=8, n_layer=1, n_head=1)
    model = transformers.GPT2LMHeadModel(config)
    before = model.get_input_embeddings().weight.detach().clone()
    rows = extend_embeddings(model, old, new)
    after = model.get_input_embeddings().weight
    assert torch.equal(after[: len(old)], before)
    assert all(torch.allclose(after[i], before[parts].mean(0), atol=1e-6) for i, parts in rows.items())
    assert model.get_output_embeddings().weight is after
    assert model.config.vocab_size == len(new)
