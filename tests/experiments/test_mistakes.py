"""Mistakes in the file of an experiment: each is named before any work, with the file and the key."""

import re
from pathlib import Path

import pytest

from pairity.errors import PairityError
from pairity.experiments import run

OF_THE_DATA = {
    "vocab_size is missing": ("vocab_size = [300, 340]", ""),
    "no such file or folder: {folder}/trian": ('train = "train"', 'train = "trian"'),
    "no such file or folder: {folder}/nowhere": ('away = "away"', 'away = "nowhere"'),
    "[grid]: there is no set of languages 'thirty'. Known sets:": ("[grid]", '[grid]\nlanguages = "thirty"'),
    "To list codes, add them under [languages]": ("[grid]", '[grid]\nlanguages = ["eng_Latn", "tam_Taml"]'),
    "the languages 'few' include 'tam_Tmil', which train lacks. Did you mean tam_Taml?": (
        "[grid]",
        '[languages]\nfew = ["eng_Latn", "tam_Tmil"]\n[grid]\nlanguages = "few"',
    ),
    "vocab_size is 200, but the bytes": ("[300, 340]", "200"),
    "[grid]: vocab_size is -5, but the bytes": ("[300, 340]", "-5"),
    "[evaluation]: the chart shows gini and cost: add them to metrics": (
        'dev = "dev"',
        'dev = "dev"\nchart = "window"\nevaluation = { metrics = ["fertility"] }',
    ),
    "[[run]] hybrid: global_merges is 3.5: give a number of merges": ("0.5", "3.5"),
    "global_merges is 5000, but only 44 are to be learned": ("0.5", "5000"),
    "window is 0: it must be at least 1": ("[50, 100]", "0"),
    "[grid]: unknown pre-tokenizer 'gpt5'": ("[grid]", '[grid]\npretokenizer = "gpt5"'),
    "dev_lines is 100, but dev has 10 lines": ("[grid]", "[grid]\ndev_lines = 100"),
    "there is no metric 'ginni'": ("resamples = 0", 'metrics = ["ginni"]'),
    "resamples is -1": ("resamples = 0", "resamples = -1"),
    "[evaluation]: resamples is 1: give at least 20 for 95% intervals": ("resamples = 0", "resamples = 1"),
    "the baseline 'clasical' is not a row. Did you mean 'classical'?": (
        "resamples = 0",
        'baseline = "clasical"',
    ),
    "of a tokenizer cannot be shown in a table": ("[grid]", '[grid]\npretokenizer = ["gpt4o", "a\\u0000b"]'),
    "[evaluation]: no token premium: the text has no eng (did you mean eng_Latn?). Choose another": (
        "resamples = 0",
        'reference = "eng"',
    ),
    "give parallel dev text, a ratio for each language, or on='train' to use only training bytes": (
        'dev = "dev"',
        "",
    ),
    "[[run]] hybrid: a ratio is given for 'jpn_Japn', but train has no such language": (
        "global_merges = 0.5",
        "ratios = { jpn_Japn = 130 }",
    ),
    "[[run]] hybrid: the ratio of 'jpn_Jpan' is auto (ratios), but dev has text of 'jpn_Jpan'": (
        "global_merges = 0.5",
        'ratios = { jpn_Jpan = "auto" }',
    ),
    "[grid]: sample is 2: give a share": ("[grid]", "[grid]\nsample = 2"),
    "[[run]] nothing.json: no tokenizer at 'nothing.json'": (
        "[grid]",
        '[[run]]\ntokenizer = "nothing.json"\n[grid]',
    ),
    "there is no key 'trian'. Did you mean 'train'?": ('train = "train"', 'trian = "train"'),
    "'train' is missing: write train = ": ('train = "train"', ""),
    "seed is 'one': write a whole number": ('dev = "dev"', 'dev = "dev"\nseed = "one"'),
    "train is 3: write text, or a list of texts": ('train = "train"', "train = 3"),
    "cannot be read as TOML": ("[grid]", "[grid"),
}


@pytest.mark.parametrize("match", OF_THE_DATA, ids=str)
def test_a_mistake_of_the_file_is_found_before_any_work(project: Path, match: str) -> None:
    file = project / "grid.toml"
    old, new = OF_THE_DATA[match]
    text = file.read_text(encoding="utf-8")
    assert old in text
    if "[[run]]" in new:  # tables come last
        text, new = f"{text}\n{new.removesuffix('[grid]')}", "[grid]"
    if "evaluation =" in new:
        text = text.replace("[evaluation]\nresamples = 0\n", "")
    file.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(PairityError, match=re.escape(match.format(folder=project))) as raised:
        run(file, project / "out")
    assert str(file) in str(raised.value), "the file is named"
    assert not (project / "out").exists()
