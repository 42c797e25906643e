"""Labels: every text goes to one file, whatever the number of threads, and what is unsure says so."""

import gzip
import json
import sys
from pathlib import Path

import pytest

from pairity import sample
from pairity.counts.counting import count
from pairity.errors import PairityError
from pairity.labelling import labelling
from pairity.labelling.codes import ISO_639_3, OF_SCRIPT, WHOLE, code_of, only_language_in
from pairity.labelling.identifying import IDENTIFIERS, Label, identify, labeller
from pairity.labelling.labelling import Labelled, label
from pairity.languages import is_known
from program import pairity

TEXTS = {code: sample.read("dev")[code] for code in ("ell_Grek", "tam_Taml", "jpn_Jpan", "eng_Latn")}


def mixed() -> list[str]:
    """A line of each language in turn, a blank line and one without letters."""
    return [line for lines in zip(*TEXTS.values(), strict=True) for line in lines] + ["", "1 + 1 = 2"]


def lines_of(path: Path) -> list[str]:
    return gzip.decompress(path.read_bytes()).decode().splitlines()


def test_the_script_tells_languages_that_have_one_to_themselves() -> None:
    def by_script(text: str, **settings: float) -> Label:
        return identify(text, identifier="script", **settings)

    assert by_script("ქართული ენა") == Label("kat_Geor", 1.0)
    assert by_script("日本語のテキスト").language == "jpn_Jpan"
    assert by_script("한국어 문장").language == "kor_Hang"
    assert by_script("English, or is it?") == Label("und_Latn", 1.0), "many languages are in Latin script"
    assert by_script("中文").language == "und_Hani", "Chinese or Cantonese, old or new"
    assert by_script("123 ... 😀") == Label("und_Zyyy", 0.0)
    assert by_script("ελληνικά in English text").language == "und_Latn"
    assert by_script("ελληνικά abc", confidence=0.9).language == "und_Grek"
    assert by_script("ελληνικά abc", confidence=0.7).language == "ell_Grek"


def test_every_text_goes_to_one_file_in_order(tmp_path: Path) -> None:
    source = tmp_path / "web.part-1.txt"
    source.write_text("\n".join(mixed()), encoding="utf-8")
    found = label(source, tmp_path / "out", identifier="script")
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        *(f"{code}.txt.gz" for code in ("ell_Grek", "tam_Taml", "jpn_Jpan", "und_Latn", "und_Zyyy")),
        "_labels.json",
    }
    for code in ("ell_Grek", "tam_Taml", "jpn_Jpan"):
        assert lines_of(tmp_path / "out" / f"{code}.txt.gz") == TEXTS[code]
        size = sum(len(line.encode()) for line in TEXTS[code])
        assert found[code] == Labelled(len(TEXTS[code]), size)
    assert lines_of(tmp_path / "out" / "und_Zyyy.txt.gz") == ["", "1 + 1 = 2"]
    assert sum(one.lines for one in found.values()) == len(mixed())
    counts = count(tmp_path / "out")
    assert {code: one.lines for code, one in counts.items()} == {
        code: one.lines for code, one in found.items()
    }
    about = json.loads((tmp_path / "out" / "_labels.json").read_text())
    assert about["languages"]["und_Zyyy"] == {"lines": 2, "bytes": 9}


def test_threads_blocks_and_pieces_make_no_difference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "in").mkdir()
    for number in range(3):
        part = "".join(f"{line}\n" for line in mixed()[number::3])
        (tmp_path / "in" / f"{number}.txt").write_text(part, encoding="utf-8")
    label(tmp_path / "in", tmp_path / "one", identifier="script", threads=1)
    monkeypatch.setattr("pairity.text.blocks.BLOCK_BYTES", 2000)
    monkeypatch.setattr("pairity.text.blocks.LINE_BYTES", 100)
    label(tmp_path / "in", tmp_path / "other", identifier="script", threads=3)
    monkeypatch.setattr(labelling, "PIECE", 1000)
    label(str(tmp_path / "in" / "*.txt"), tmp_path / "pieces", identifier="script", threads=2)
    files = sorted((tmp_path / "one").iterdir())
    assert len(files) == 6
    for path in files[1:]:
        assert lines_of(path) == lines_of(tmp_path / "other" / path.name)
        assert lines_of(path) == lines_of(tmp_path / "pieces" / path.name)
    assert count(tmp_path / "one")["tam_Taml"].digest() == count(tmp_path / "pieces")["tam_Taml"].digest()


def test_records_stay_whole(tmp_path: Path) -> None:
    texts = ["ελληνικά\nσε δύο γραμμές", 'தமிழ் "மேற்கோள்"']
    source = tmp_path / "web.jsonl"
    source.write_text("".join(json.dumps({"id": 1, "body": text}) + "\n" for text in texts))
    label([source], tmp_path / "out", identifier="script", text_column="body")
    (line,) = lines_of(tmp_path / "out" / "ell_Grek.jsonl.gz")
    assert json.loads(line) == {"text": texts[0]}
    assert [one.lines for one in count(tmp_path / "out").values()] == [1, 1]


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"identifier": "oracle"}, "identifier is 'oracle': choose one of cld2, script"),
        ({"confidence": 1.5}, "confidence is 1.5: give a share"),
        ({"confidence": float("nan")}, "confidence is nan"),
        ({"unsure": "not sure"}, "unsure is 'not sure'"),
    ],
)
def test_settings_that_mean_nothing_are_refused(settings: dict, match: str) -> None:
    with pytest.raises(PairityError, match=match):
        labeller(**({"identifier": "script", "confidence": 0.6, "unsure": "und"} | settings))


def test_what_cannot_be_labelled_leaves_nothing_behind(tmp_path: Path) -> None:
    good, bad, empty = (tmp_path / name for name in ("good.txt", "bad.txt", "empty.txt"))
    good.write_text("ελληνικά\n", encoding="utf-8")
    bad.write_bytes("ελληνικά\n".encode() * 5 + b"\xff\n")
    empty.touch()
    there = tmp_path / "there"
    there.mkdir()
    (there / "mine.txt").touch()
    count({"a": ["x"]}).save(tmp_path / "counts.parquet")
    before = {path.name for path in tmp_path.iterdir()}
    for sources, output, match in (
        ([good, bad], "out", r"bad.txt, line 6: not UTF-8"),
        ([empty], "out", "there is no text to label"),
        ([good, good], "out", "good.txt is given twice"),
        ([good, there / ".." / good.name], "out", "good.txt is given twice"),
        ([good], "there", "there already exists: choose another name"),
        ([], "out", "no SOURCE given"),
        ([tmp_path / "none.txt"], "out", "no such file or folder"),
        ([tmp_path / "counts.parquet"], "out", "holds counts, but text is needed here"),
    ):
        with pytest.raises(PairityError, match=match):
            label(sources, tmp_path / output, identifier="script")
        assert {path.name for path in tmp_path.iterdir()} == before
    label([good, bad], tmp_path / "out", identifier="script", errors="replace")


def test_the_command_prints_what_went_where(tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("\n".join(mixed()), encoding="utf-8")
    words = ("label", tmp_path / "in.txt", "--identifier", "script", "-o", tmp_path / "out")
    done = pairity(*words)
    assert done.returncode == 0, done.stderr
    assert "tam_Taml  Tamil" in done.stdout
    assert "next: pairity count" in done.stdout
    assert "already exists" in pairity(*words).stderr


def test_codes_are_those_of_the_table() -> None:
    assert code_of("sr", "Latn") == "srp_Latn"
    assert code_of("ku", "Arab") == "ckb_Arab"
    assert code_of("zh-Hant", "Hani") == "zho_Hant"
    assert code_of("un", "Latn") is None
    assert code_of("xx-Olck", "Olck") is None
    assert all(is_known(code) for code in (*WHOLE.values(), *OF_SCRIPT.values()))
    assert all(len(code) == 3 for code in ISO_639_3.values())
    assert only_language_in("Geor") == "kat_Geor"
    assert only_language_in("Latn") is None
    assert only_language_in("Zzzz") is None


def test_without_its_package_cld2_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pycld2", None)
    with pytest.raises(PairityError, match=r"pip install 'pairity\[label\]'"):
        IDENTIFIERS["cld2"]()


class TestCld2:
    @pytest.fixture(autouse=True)
    def needs_cld2(self) -> None:
        pytest.importorskip("pycld2")

    def test_it_finds_the_languages_of_the_sample(self) -> None:
        look = labeller("cld2", 0.6, "und")
        for code, lines in TEXTS.items():
            found = [look(line).language for line in lines]
            assert found.count(code) > 0.8 * len(found)

    def test_it_is_unsure_of_what_it_does_not_know(self) -> None:
        assert identify("ok 7").language == "und_Latn"
        assert identify("").language == "und_Zyyy"
        assert identify("ქართ").language == "kat_Geor", "too short for it, and the script is enough"
        half = "The nearest railway station is over there, behind the old town hall. "
        both = half + "Der nächste Bahnhof liegt dort drüben, hinter dem alten Rathaus der Stadt."
        assert identify(half).language == "eng_Latn"
        assert identify(both, confidence=0.9).language == "und_Latn"

    def test_control_characters_do_no_harm(self) -> None:
        assert (
            identify("The\x00 nearest railway\x07 station is over there, behind it.").language == "eng_Latn"
        )

    def test_every_name_has_a_code(self) -> None:
        import pycld2

        names = dict(pycld2.LANGUAGES)
        found = [names[name] for name in pycld2.DETECTED_LANGUAGES if not name.startswith("X_")]
        assert [name for name in found if code_of(name, "Latn") is None] == []
