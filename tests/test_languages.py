"""The table of languages: the paper's sets, the names of FLORES-200, and codes that are easily confused."""

import doctest

import pytest

from pairity import languages
from pairity.languages import (
    LANGUAGES_30,
    LANGUAGES_60,
    all_languages,
    by_name,
    canonical,
    is_known,
    language,
    meant,
    other_names,
    same_language,
)

THE_30 = [
    "eng_Latn",
    "deu_Latn",
    "fra_Latn",
    "ita_Latn",
    "rus_Cyrl",
    "spa_Latn",
    "jpn_Jpan",
    "pol_Latn",
    "por_Latn",
    "vie_Latn",
    "tur_Latn",
    "nld_Latn",
    "ind_Latn",
    "arb_Arab",
    "ces_Latn",
    "pes_Arab",
    "ell_Grek",
    "zho_Hans",
    "hin_Deva",
    "kor_Hang",
    "tha_Thai",
    "heb_Hebr",
    "ben_Beng",
    "tam_Taml",
    "kat_Geor",
    "mar_Deva",
    "tgl_Latn",
    "tel_Telu",
    "nob_Latn",
    "azj_Latn",
]


def test_the_paper_sets() -> None:
    assert list(LANGUAGES_30) == THE_30
    assert len(LANGUAGES_60) == len(set(LANGUAGES_60)) == 60
    assert set(LANGUAGES_30) < set(LANGUAGES_60)
    assert "haw_Latn" in LANGUAGES_60


def test_every_entry_is_complete_and_its_script_fits_its_code() -> None:
    for entry in all_languages():
        assert all([entry.name, entry.family, entry.script, entry.script_family]), entry
        assert entry.resource_level in {"high", "medium", "low", "unknown"}, entry
        assert not entry.in_30 or entry.in_60, entry
        fallback = language(f"zzz_{entry.script_code}")
        assert (fallback.script, fallback.script_family) == (entry.script, entry.script_family), entry


def test_resource_levels_of_the_30_are_the_papers() -> None:
    levels = {code: language(code).resource_level for code in LANGUAGES_30}
    assert [code for code in LANGUAGES_30 if levels[code] == "high"] == [
        *THE_30[:6],
        "nld_Latn",
    ]
    low = {"tam_Taml", "kat_Geor", "tgl_Latn", "tel_Telu", "azj_Latn"}
    assert {code for code in LANGUAGES_30 if levels[code] == "low"} == low


def test_names_cover_flores(shared) -> None:  # type: ignore[no-untyped-def]
    codes = {path.name.split(".")[0] for path in (shared / "data" / "flores200" / "dev").iterdir()}
    assert len(codes) == 204
    assert all(is_known(code) and language(code).name != code for code in codes)


def test_unknown_codes_fall_back_without_a_guess() -> None:
    found = language("xyz_Cyrl")
    assert (found.name, found.script, found.resource_level, found.family) == (
        "xyz_Cyrl",
        "Cyrillic",
        "unknown",
        "unknown",
    )
    assert not is_known("xyz_Cyrl")
    for code in ("code", "math", "xyz_Zzzz", ""):
        assert language(code).script == "unknown"
        assert not language(code).in_30


def test_filipino_is_one_language_and_no_code_is_renamed() -> None:
    assert language("fil_Latn").code == "fil_Latn"
    assert language("fil_Latn").name == language("tgl_Latn").name == "Filipino"
    assert canonical("fil_Latn") == canonical("tgl_Latn") == "tgl_Latn"
    assert same_language("fil_Latn", "tgl_Latn")
    assert not same_language("fil_Latn", "ceb_Latn")
    assert other_names("fil_Latn", ["eng_Latn", "fil_Latn", "tgl_Latn"]) == ["tgl_Latn"]
    assert other_names("tgl_Latn", ["fil_Latn"]) == ["fil_Latn"]
    assert "fil_Latn" not in LANGUAGES_30


def test_no_alias_is_a_code_of_its_own() -> None:
    codes = {entry.code for entry in all_languages()}
    aliases = [alias for entry in all_languages() for alias in entry.aliases]
    assert len(aliases) == len(set(aliases))
    assert not codes & set(aliases)


@pytest.mark.parametrize(
    ("code", "expected"),
    [("arb_Arab", True), ("heb_Hebr", True), ("urd_Arab", True), ("arb_Latn", False), ("eng_Latn", False)],
)
def test_right_to_left(code: str, expected: bool) -> None:
    assert language(code).right_to_left is expected


def test_names_of_morphscore_files() -> None:
    names = "armenian basque kurdish persian slovenian zulu greek Mandarin"
    assert [by_name(name) for name in names.split()] == [
        "hye_Armn",
        "eus_Latn",
        "kmr_Latn",
        "pes_Arab",
        "slv_Latn",
        "zul_Latn",
        "ell_Grek",
        "zho_Hans",
    ]
    assert by_name("klingon") is None


def test_a_script_alone_makes_no_two_languages_alike() -> None:
    assert meant("fra_Latn", ["deu_Latn", "por_Latn", "zho_Hant"]) == []
    assert meant("fra_Latn", ["deu_Latn", "french", "fra"]) == ["french", "fra"]
    assert meant("zho_Hans", ["eng_Latn", "zho_Hant"]) == ["zho_Hant"]
    assert meant("fr", ["eng_Latn", "fra_Latn"]) == ["fra_Latn"]


def test_examples_in_docstrings() -> None:
    assert doctest.testmod(languages).failed == 0
