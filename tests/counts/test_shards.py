"""Shards: any dealing of the files, put together in any order, is the counts file of one process."""

import itertools
import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pairity
from pairity import sample
from pairity.counts import shards
from pairity.counts.counts import Counts, merge
from pairity.counts.shards import deal
from pairity.errors import PairityError
from pairity.text.inputs import TextFile, TextInput
from program import pairity as run


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Three languages in five files, one of which has blank lines only."""
    folder = tmp_path / "corpus"
    (folder / "eng_Latn").mkdir(parents=True)
    (folder / "eng_Latn" / "a.txt").write_text("to be or not to be\n" * 9)
    (folder / "eng_Latn" / "b.txt").write_text("that is the question\n")
    (folder / "eng_Latn" / "c.txt").write_text("\n\n")
    (folder / "deu_Latn.txt").write_text("Sein oder Nichtsein\n" * 3)
    (folder / "tam_Taml.jsonl").write_text('{"text": "இருப்பதா"}\n')
    return folder


def shards_of(sources: object, number: int, folder: Path, **settings: object) -> list[Path]:
    """One counts file per shard, as jobs that know nothing of one another write them."""
    paths = [folder / f"part-{shard}.parquet" for shard in range(1, number + 1)]
    for shard, path in enumerate(paths, start=1):
        pairity.count(sources, shard=(shard, number), **settings).save(path)
    return paths


def files(*sizes: int) -> tuple[TextFile, ...]:
    return tuple(TextFile(Path(f"{number}.txt"), "txt", None, size) for number, size in enumerate(sizes))


def dealt_sizes(hands: list[list[TextInput]]) -> list[list[int]]:
    return [[file.size for part in hand for file in part.files] for hand in hands]


def places(hands: list[list[TextInput]]) -> dict[tuple[str, Path], int]:
    """(language, path) -> the hand that has the file."""
    return {
        (part.language, file.path): number
        for number, hand in enumerate(hands)
        for part in hand
        for file in part.files
    }


# Dealing


def test_the_largest_file_goes_first_to_the_hand_with_the_least() -> None:
    part = TextInput("eng_Latn", "here", named=True, files=files(3, 5, 2, 4, 3))
    assert dealt_sizes(deal([part], 2)) == [[5, 3], [4, 3, 2]]


def test_a_small_language_stays_together() -> None:
    large = TextInput("eng_Latn", "here", named=True, files=files(40, 40))
    small = TextInput("tam_Taml", "there", named=True, files=files(1, 5, 3))
    assert dealt_sizes(deal([large, small], 2)) == [[40, 1, 5, 3], [40]]


def test_files_of_a_large_language_stay_together_in_stacks() -> None:
    many = TextInput("eng_Latn", "here", named=True, files=files(*[1] * 8))
    assert [sum(bool(part.files) for part in hand) for hand in deal([many], 2, together=1)] == [1, 1]
    paths = [[int(file.path.stem) for file in hand[0].files] for hand in deal([many], 2, together=1 / 2)]
    assert paths == [[0, 1, 4, 5], [2, 3, 6, 7]]


def test_the_deal_is_the_same_whatever_the_order_of_listing() -> None:
    listed = [TextInput(name, name, named=True, files=files(7, 7, 1, 0, 30, 7)) for name in "abc"]
    expected = places(deal(listed, 4))
    assert len(expected) == 18
    shuffle = random.Random(1).shuffle
    for _ in range(20):
        shuffle(listed)
        mixed = []
        for part in listed:
            some = list(part.files)
            shuffle(some)
            mixed.append(TextInput(part.language, part.origin, named=True, files=tuple(some)))
        assert places(deal(mixed, 4)) == expected


def test_every_hand_has_all_languages_in_the_order_of_the_sources() -> None:
    listed = [TextInput(name, name, named=True, files=files(1)) for name in ("b", "a", "c")]
    assert [[part.language for part in hand] for hand in deal(listed, 5)] == [["b", "a", "c"]] * 5


# Equal to one process


@pytest.mark.parametrize("number", [1, 2, 3, 9])
def test_shards_merged_are_the_file_of_one_process(corpus: Path, tmp_path: Path, number: int) -> None:
    one = tmp_path / "one.parquet"
    pairity.count(corpus, split="dev", count_words=True).save(one)
    parts = shards_of(corpus, number, tmp_path, split="dev", count_words=True)
    for order in itertools.islice(itertools.permutations(parts), 12):
        Counts.load(list(order)).save(tmp_path / "all.parquet")
        assert (tmp_path / "all.parquet").read_bytes() == one.read_bytes()


def test_the_order_of_languages_is_that_of_the_sources(corpus: Path, tmp_path: Path) -> None:
    sources = [f"tam_Taml={corpus}/tam_Taml.jsonl", f"eng_Latn={corpus}/eng_Latn"]
    parts = shards_of(sources, 3, tmp_path)
    assert list(Counts.load(parts[::-1])) == ["tam_Taml", "eng_Latn"]


def test_seven_shards_of_25_languages_are_one_process(tmp_path: Path) -> None:
    parts = shards_of(sample.FOLDER / "dev", 7, tmp_path)
    equal_in_any_order(parts, sample.FOLDER / "dev", tmp_path)


def test_seven_shards_of_real_text_are_one_process(shared: Path, tmp_path: Path) -> None:
    sources = [str(path) for path in sorted((shared / "data" / "train").glob("*.txt.gz"))[:30]]
    parts = shards_of(sources, 7, tmp_path)
    equal_in_any_order(parts, sources, tmp_path)


def equal_in_any_order(parts: list[Path], sources: object, folder: Path) -> None:
    pairity.count(sources).save(folder / "one.parquet")
    for seed in (1, 2):
        random.Random(seed).shuffle(parts)
        Counts.load(parts).save(folder / "all.parquet")
        assert (folder / "all.parquet").read_bytes() == (folder / "one.parquet").read_bytes()


# What a shard is


def test_a_shard_says_so_in_its_metadata_and_the_sum_does_not(corpus: Path, tmp_path: Path) -> None:
    parts = shards_of(corpus, 2, tmp_path)
    shards = [Counts.load(parts).shard, pairity.count(corpus).shard]
    assert shards == [None, None]
    for number, path in enumerate(parts, start=1):
        text = pq.read_metadata(path).metadata[b"pairity"].decode()
        assert f'"shard": {{"number": {number}, "of": 2, "deal": "' in text


def test_a_shard_without_a_file_is_written_and_merged(corpus: Path, tmp_path: Path) -> None:
    parts = shards_of(corpus, 9, tmp_path)
    assert pq.read_table(parts[8]).num_rows == 0
    assert pairity.count(corpus, shard=(9, 9)).notes == ("shard 9 of 9: 0 of 5 files",)


def test_shards_may_be_summed_with_other_counts(corpus: Path, tmp_path: Path) -> None:
    more = Counts.from_dicts({"swe_Latn": {"att": 2}})
    parts = [pairity.count(corpus, shard=(number, 2)) for number in (1, 2)]
    assert list(merge([more, *parts])) == ["deu_Latn", "eng_Latn", "swe_Latn", "tam_Taml"]


def test_all_shards_are_a_source_to_train_from(corpus: Path, tmp_path: Path) -> None:
    parts = shards_of(corpus, 3, tmp_path)
    assert dict(pairity.count([str(part) for part in parts])) == dict(pairity.count(corpus))
    with pytest.raises(PairityError, match="is shard 1 of 3, but 2, 3 are missing"):
        pairity.count(str(parts[0]))


# What cannot be put together


def test_a_missing_shard_is_named(corpus: Path, tmp_path: Path) -> None:
    parts = shards_of(corpus, 3, tmp_path)
    with pytest.raises(PairityError, match=r"but 2 is missing: count with --shard 2 --of 3"):
        Counts.load([parts[0], parts[2]])


def test_a_shard_given_twice_is_named(corpus: Path, tmp_path: Path) -> None:
    parts = shards_of(corpus, 2, tmp_path)
    copy = tmp_path / "copy.parquet"
    copy.write_bytes(parts[1].read_bytes())
    with pytest.raises(
        PairityError, match=r"shard 2 of 2 is given twice: .*part-2.parquet and .*copy.parquet"
    ):
        Counts.load([*parts, copy])


def test_shards_of_other_deals_are_refused(corpus: Path, tmp_path: Path) -> None:
    first = pairity.count(corpus, shard=(1, 2))
    with pytest.raises(PairityError, match=r"old \(shard 1 of 2\) and new \(shard 2 of 3\) do not belong"):
        merge([first, pairity.count(corpus, shard=(2, 3))], origins=["old", "new"])
    (corpus / "deu_Latn.txt").write_text("Sein oder Nichtsein, das ist\n")  # the file grew between two jobs
    with pytest.raises(PairityError, match=r"old \(shard 1 of 2\) and new \(shard 2 of 2\) do not belong"):
        merge([first, pairity.count(corpus, shard=(2, 2))], origins=["old", "new"])


def test_shards_dealt_by_another_rule_are_refused(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same files, dealt into as many parts by another version: some of them would be counted twice, or never."""
    first = pairity.count(corpus, shard=(1, 2))
    monkeypatch.setattr(shards, "deal", lambda inputs, hands: deal(inputs, hands)[::-1])
    with pytest.raises(PairityError, match=r"do not belong together: .* or another version"):
        merge([first, pairity.count(corpus, shard=(2, 2))], origins=["old", "new"])


def test_a_language_without_text_in_any_shard_is_refused(corpus: Path, tmp_path: Path) -> None:
    (corpus / "swe_Latn.txt").write_text("\n")
    parts = shards_of(corpus, 2, tmp_path)
    with pytest.raises(PairityError, match="no text for 'swe_Latn'"):
        Counts.load(parts)


@pytest.mark.parametrize(
    ("shard", "message"),
    [
        ((0, 3), "shard is 0: give a number from 1 to 3"),
        ((4, 3), "shard is 4: give a number from 1 to 3"),
        ((1, 0), "of is 0: give the number of shards, at least 1"),
        ((1, -1), "of is -1"),
        ((1.0, 2), r"shard is \(1.0, 2\): give its number and how many there are"),
        (3, "shard is 3: give its number and how many there are, as in"),
    ],
)
def test_numbers_that_are_no_shard(corpus: Path, shard: object, message: str) -> None:
    with pytest.raises(PairityError, match=message):
        pairity.count(corpus, shard=shard)  # type: ignore[arg-type]


def test_what_is_no_file_cannot_be_dealt() -> None:
    with pytest.raises(PairityError, match="'eng_Latn' is not a file: shards need files"):
        pairity.count({"eng_Latn": ["to be"]}, shard=(1, 2))
    with pytest.raises(PairityError, match="holds counts, but shards are made from text"):
        pairity.count(Counts.from_dicts({"eng_Latn": {"be": 1}}), shard=(1, 2))


def test_a_file_that_is_no_shard_needs_rows(corpus: Path, tmp_path: Path) -> None:
    path = tmp_path / "empty.parquet"
    pq.write_table(pa.table({"language": [""], "pretoken": [b"a"], "count": [1]}).slice(0, 0), path)
    with pytest.raises(PairityError, match="is empty: it has no rows"):
        Counts.load(path, pretokenizer="gpt4o")


# The commands


def test_the_commands(corpus: Path, tmp_path: Path) -> None:
    for shard in (1, 2):
        done = run("count", corpus, "--shard", shard, "--of", 2, "-o", tmp_path / f"part-{shard}.parquet")
        assert done.returncode == 0, done.stderr
        assert f"shard {shard} of 2: " in done.stderr
    alone = run("merge", tmp_path / "part-1.parquet", "-o", tmp_path / "all.parquet")
    assert alone.returncode == 1
    assert "but 2 is missing" in alone.stderr
    assert not (tmp_path / "all.parquet").exists()
    done = run("merge", *tmp_path.glob("part-*.parquet"), "-o", tmp_path / "all.parquet")
    assert done.returncode == 0, done.stderr
    run("count", corpus, "-o", tmp_path / "one.parquet")
    assert (tmp_path / "all.parquet").read_bytes() == (tmp_path / "one.parquet").read_bytes()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--shard", "1"], "--shard is 1, but --of is missing: add the number of parts."),
        (["--of", "4"], "--of is 4, but --shard is missing: add a number from 1 to 4."),
        (["--shard", "5", "--of", "4"], "shard is 5: give a number from 1 to 4."),
        (["--shard", "1", "--of", "0"], "of is 0: give the number of shards, at least 1."),
    ],
)
def test_options_that_are_no_shard(corpus: Path, tmp_path: Path, words: list[str], message: str) -> None:
    done = run("count", corpus, *words, "-o", tmp_path / "part.parquet")
    assert done.returncode == 1
    assert done.stderr.strip().endswith(message)
    assert not (tmp_path / "part.parquet").exists()


def test_a_config_file_may_say_of(corpus: Path, tmp_path: Path) -> None:
    config = tmp_path / "cluster.toml"
    config.write_text("[count]\nof = 2\n")
    done = run("count", corpus, "--shard", 2, "--config", config, "-o", tmp_path / "part.parquet")
    assert done.returncode == 0, done.stderr
    assert "shard 2 of 2" in done.stderr
