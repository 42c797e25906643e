"""Packs: no token is lost, the same documents for every tokenizer, and a killed run goes on."""

import json
import shutil
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import pairity
from pairity import sample
from pairity.lm import documents, packing
from pairity.lm.documents import Choice, pack, write_documents
from pairity.lm.packs import IdStream, Pack
from pairity.lm.texts import TextArray
from pairity.text.sampling import Draw

DEV = str(sample.FOLDER / "dev")
LANGUAGES = ["deu_Latn", "eng_Latn", "hin_Deva"]


def decoded(one: Pack, tokenizer: pairity.Tokenizer) -> list[bytes]:
    """The documents of the train text, from their ids."""
    ids = np.concatenate(one.shards)
    ends = np.flatnonzero(ids == one.tokenizer["end_id"])
    assert ends[-1] == len(ids) - 1, "every document is ended"
    return [tokenizer.decode_bytes(part[:-1]) for part in np.split(ids, ends[:-1] + 1)]


def all_lines(language: str) -> list[bytes]:
    return (sample.FOLDER / "dev" / f"{language}.txt").read_bytes().splitlines()


def test_decoding_a_pack_gives_all_documents(packs, tokenizers):
    wanted = sorted(line for language in LANGUAGES for line in all_lines(language) if line.strip())
    for name, one in packs.items():
        held = TextArray.read(one.folder.parent / "text" / "held-out.npz")
        kept = [text for _, batch in held.batches() for text in batch]
        assert sorted(decoded(one, tokenizers[name]) + kept) == wanted
        assert len(kept) > 3


def test_every_tokenizer_gets_the_same_documents_in_the_same_order(packs, tokenizers):
    one, other = (decoded(packs[name], tokenizers[name]) for name in packs)
    assert one == other
    languages = {line: language for language in LANGUAGES for line in all_lines(language)}
    changes = sum(languages[a] != languages[b] for a, b in pairwise(one))
    assert changes > len(one) / 3, "languages are mixed"
    assert packs["classical"].manifest["documents"] == packs["parity"].manifest["documents"]


def test_the_manifest_counts_bytes_and_tokens_of_every_language(packs, tokenizers):
    for name, one in packs.items():
        for language in LANGUAGES:
            mine = [line for line in decoded(one, tokenizers[name]) if line in set(all_lines(language))]
            sums = one.manifest["languages"][language]
            assert sums["documents"] == len(mine)
            assert sums["bytes"] == sum(map(len, mine))
            assert sums["tokens"] == sum(len(tokenizers[name].encode(line)) + 1 for line in mine)
        assert one.tokens == sum(sums["tokens"] for sums in one.manifest["languages"].values())


def test_held_out_text_and_parallel_text_are_there_by_language(packs, tokenizers):
    texts = packs["parity"].text("parallel")
    english = packs["parity"].languages.index("eng_Latn")
    rows = np.flatnonzero(texts.language == english)
    lines = (sample.FOLDER / "test" / "eng_Latn.txt").read_bytes().splitlines()
    decode = tokenizers["parity"].decode_bytes
    assert [decode(texts.ids[texts.offsets[row] : texts.offsets[row + 1]]) for row in rows] == lines
    assert texts.bytes[rows].tolist() == [len(line) for line in lines]
    first = texts.first(2)
    assert len(first.bytes) == 2 * len(LANGUAGES)
    chosen = np.flatnonzero(first.language == english)[1]
    assert decode(first.ids[first.offsets[chosen] : first.offsets[chosen + 1]]) == lines[1]


def test_equal_documents_are_never_both_held_out_and_trained_on(tmp_path, tokenizers):
    lines = [f"line {number % 40}" for number in range(400)]
    made = pack({"eng_Latn": lines}, tokenizers, tmp_path / "p", choice=Choice(held_out=0.3))["parity"]
    trained = set(decoded(made, tokenizers["parity"]))
    held = {
        text
        for _, batch in TextArray.read(tmp_path / "p" / "text" / "held-out.npz").batches()
        for text in batch
    }
    assert trained
    assert held
    assert not trained & held
    assert len(trained) + len(held) == 40


def test_many_shards_hold_the_same_documents_as_one(tmp_path, tokenizers, packs):
    settings = {"languages": LANGUAGES, "choice": Choice(held_out=5, seed=3, shard_bytes=4000)}
    made = pack(DEV, {"parity": tokenizers["parity"]}, tmp_path / "p", **settings)["parity"]
    assert len(made.shards) > 3
    assert sorted(decoded(made, tokenizers["parity"])) == sorted(
        decoded(packs["parity"], tokenizers["parity"])
    )


def test_a_killed_run_goes_on_after_the_last_whole_shard(tmp_path, tokenizers, monkeypatch):
    choice = Choice(held_out=5, shard_bytes=4000)
    folder = write_documents(DEV, tmp_path / "p" / "text", languages=LANGUAGES, choice=choice)
    packed = documents.packed_by("parity", tokenizers["parity"], None, None)
    whole = packing.write_pack(folder, tmp_path / "whole", packed)
    calls = []

    def dies(texts):
        calls.append(len(texts))
        if len(calls) == 3:
            raise KeyboardInterrupt
        return packed.encode(texts)

    dying = packing.Packed(**packed.describe(), encode=dies, files=packed.files)
    with pytest.raises(KeyboardInterrupt):
        packing.write_pack(folder, tmp_path / "killed", dying)
    with pytest.raises(pairity.PairityError, match="is not a pack"):
        Pack(tmp_path / "killed")
    before = len(calls)
    again = packing.write_pack(folder, tmp_path / "killed", dying)
    assert again.manifest == whole.manifest
    assert len(calls) == before + len(whole.shards) + 1 - 2, (
        "two shards were there; the rest and the held-out text"
    )
    packing.write_pack(folder, tmp_path / "killed", dying)
    assert len(calls) == before + len(whole.shards) - 1, "a finished pack is left as it is"


def test_languages_are_chosen_by_name_or_by_set(tmp_path, tokenizers):
    lines = {code: [f"{code} {n}" for n in range(99)] for code in ("eng_Latn", "tam_Taml", "xyz_Latn")}
    given = {"parity": tokenizers["parity"]}
    with pytest.warns(pairity.PairityWarning, match="paper-30 is used without"):
        made = pack(lines, given, tmp_path / "p", languages="paper-30", choice=Choice(held_out=9))
    assert made["parity"].languages == ["eng_Latn", "tam_Taml"]
    with pytest.raises(pairity.PairityError, match=r"the text has no language 'eng'\. Did you mean eng_Latn"):
        pack(lines, given, tmp_path / "q", languages=["eng"], choice=Choice(held_out=9))


def test_notes_on_the_drawing_are_told_and_too_little_of_it_names_the_options(tmp_path, tokenizers):
    lines = {"eng_Latn": [f"line {n}" for n in range(99)]}
    with pytest.warns(
        pairity.PairityWarning, match="the budget is 1GB, which is at least as much as there is"
    ):
        pack(lines, tokenizers, tmp_path / "p", choice=Choice(draw=Draw(budget="1GB"), held_out=9))
    with pytest.raises(pairity.PairityError, match=r"too few documents.*--budget, --sample, --max-bytes"):
        pack(lines, tokenizers, tmp_path / "q", choice=Choice(draw=Draw(budget=9), held_out=9))


def test_other_text_in_the_same_folder_is_refused(tmp_path, tokenizers):
    lines = {"eng_Latn": [f"line {n}" for n in range(99)]}
    pack(lines, tokenizers, tmp_path / "p", choice=Choice(held_out=9))
    with pytest.raises(pairity.PairityError, match="other text or settings"):
        pack(lines, tokenizers, tmp_path / "p", choice=Choice(held_out=8))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"end_token": "<none>"}, "has no special token"),
        ({"choice": Choice(held_out=1_000_000)}, "none is left to train on"),
        ({"languages": ["xyz_Latn"]}, "xyz_Latn"),
    ],
)
def test_what_cannot_be_packed_is_told_in_a_sentence(tmp_path, tokenizers, change, message):
    with pytest.raises(pairity.PairityError, match=message):
        pack(DEV, tokenizers, tmp_path / "p", **{"languages": LANGUAGES, **change})
    assert not [*tmp_path.rglob("pack.json"), *tmp_path.rglob("*.unfinished")]


def test_text_that_cannot_be_read_is_not_an_output_that_cannot_be_written(tmp_path, tokenizers):
    class OnTheWeb:
        times = 0

        def __iter__(self):
            self.times += 1
            yield from (f"line {n}" for n in range(99))
            if self.times > 1:  # the first time, lines are only counted
                raise TimeoutError("the server does not answer")

    with pytest.raises(pairity.PairityError, match="'eng_Latn' cannot be read: the server does not answer"):
        pack({"eng_Latn": OnTheWeb()}, tokenizers, tmp_path / "p", choice=Choice(held_out=9))


def test_bad_choices_are_refused():
    for wrong in ({"held_out": 0}, {"held_out": -1}, {"shard_bytes": 0}):
        with pytest.raises(pairity.PairityError):
            Choice(**wrong)


def test_drawing_with_a_temperature(tmp_path, tokenizers):
    text = {
        "eng_Latn": [f"the line number {n}" for n in range(2000)],
        "deu_Latn": [f"Zeile {n}" for n in range(50)],
    }
    choice = Choice(draw=Draw(balance="temperature", temperature=3.0), held_out=5)
    lines = {language: tmp_path / f"{language}.txt" for language in text}
    for language, path in lines.items():
        path.write_text("\n".join(text[language]) + "\n")
    made = pack([str(path) for path in lines.values()], tokenizers, tmp_path / "p", choice=choice)["parity"]
    sums = made.manifest["languages"]
    assert sums["deu_Latn"]["documents"] > 30
    assert sums["eng_Latn"]["documents"] < 800


def test_a_stream_reads_every_token_once_per_epoch(packs):
    one = packs["parity"]
    stream = IdStream(one, seed=1)
    epoch = stream.read(0, one.tokens)
    assert sorted(epoch.tolist()) == sorted(np.concatenate(one.shards).tolist())
    assert epoch.tolist() != np.concatenate(one.shards).tolist()
    assert stream.read(one.tokens, one.tokens).tolist() != epoch.tolist(), "another epoch, another order"
    assert IdStream(one, seed=2).read(0, one.tokens).tolist() != epoch.tolist()
    pieces = [IdStream(one, seed=1).read(at, min(97, one.tokens - at)) for at in range(0, one.tokens, 97)]
    assert np.concatenate(pieces).tolist() == epoch.tolist(), "a position is all that resuming needs"


def test_ids_above_65535_are_written_with_32_bits():
    ids, offsets = np.array([70_000, 5], np.uint32), np.array([0, 1, 2], np.int64)
    assert packing.with_ends(ids, offsets, 9, np.uint32).tolist() == [70_000, 9, 5, 9]
    packed = packing.Packed("a", "", 70_001, "<e>", 0, lambda texts: (ids, offsets), {})
    assert packed.dtype is np.uint32


def test_a_damaged_pack_is_told(tmp_path, pack_folder):
    copy = tmp_path / "copy"
    shutil.copytree(pack_folder, copy)
    contents = json.loads((copy / "pack.json").read_text())
    (copy / "pack.json").write_text(json.dumps(contents | {"format": 7}))
    with pytest.raises(pairity.PairityError, match="damaged"):
        Pack(copy)
    (copy / "pack.json").write_text(json.dumps(contents))
    np.save(copy / contents["shards"][0]["file"], np.zeros(3, np.uint16))
    with pytest.raises(pairity.PairityError, match="damaged"):
        _ = Pack(copy).shards
    with pytest.raises(pairity.PairityError, match="is not a pack"):
        Pack(Path(tmp_path))
