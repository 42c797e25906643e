"""The config file: its keys are the names of options, and what it cannot mean is named."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from pairity import Tokenizer, sample
from pairity.cli.program import main
from peer_tokenizers import write_ranks
from program import pairity

DEV = str(sample.FOLDER / "dev")


def run(config: str, folder: Path, command: str = "train", *words: str) -> tuple[int, str]:
    """The exit code and what was said, of a command with this config; it writes to `out` in the folder."""
    file = folder / "run.toml"
    file.write_text(config, encoding="utf-8")
    done = CliRunner().invoke(main, [command, "--config", str(file), "-o", str(folder / "out"), *words])
    said = str(done.exception) if done.exception and not isinstance(done.exception, SystemExit) else ""
    return done.exit_code, done.output + said


TEXT = f'train = ["{DEV}"]\ndev = "{DEV}"\n'


def test_keys_with_dashes_and_underscores_at_the_top_and_in_the_table_of_the_command(tmp_path):
    config = f"""
        min-frequency = 3
        max_token_length = 9
        vocab-size = 300
        whole_characters = true

        [train]
        {TEXT}
        vocab_size = 310
        single-digits = false
        special-token = ["<a>", "<b>"]

        [eval]
        anything = "is for another command"

        [report]
        title = 1
    """
    code, said = run(config, tmp_path)
    assert code == 0, said
    tokenizer = Tokenizer.load(tmp_path / "out")
    assert tokenizer.vocab_size == 310, "the table is nearer than the top"
    assert list(tokenizer.special_tokens) == ["<a>", "<b>"]
    record = tokenizer.record
    assert (record["min_frequency"], record["max_token_length"], record["whole_characters"]) == (3, 9, True)
    assert tokenizer.pretokenizer == "gpt4o"
    code, said = run(config, tmp_path, "train", "--vocab-size", "320", "--force")
    assert code == 0, said
    assert Tokenizer.load(tmp_path / "out").vocab_size == 320, "the command line is nearest"


def test_a_flag_that_is_false_is_not_given(tmp_path):
    assert run(f"{TEXT}num-merges = 5\nforce = false\n", tmp_path)[0] == 0
    code, said = run(f"{TEXT}num-merges = 6\nforce = false\n", tmp_path)
    assert code == 1
    assert "already holds a tokenizer" in said
    assert run(f"{TEXT}num-merges = 6\nforce = true\n", tmp_path)[0] == 0


@pytest.mark.filterwarnings("ignore:code was never served")
def test_ratios_as_a_table(tmp_path):
    (tmp_path / "code.txt").write_text("def f(x):\n    return x\n" * 50)
    config = f"""
        [train]
        train = ["{DEV}", "code={tmp_path}/code.txt"]
        dev = "{DEV}"
        num-merges = 200
        ratio = {{ code = "auto" }}
    """
    code, said = run(config, tmp_path)
    assert code == 0, said
    assert Tokenizer.load(tmp_path / "out").record["method"]["ratios"] == {"code": "auto"}


def test_the_arguments_of_other_commands(tmp_path):
    done = pairity("count", "--config", "c.toml", "-o", "c.parquet", cwd=tmp_path)
    assert "there is no c.toml" in done.stderr
    (tmp_path / "c.toml").write_text(
        f'threads = 1\n[count]\nsources = ["{DEV}/eng_Latn.txt"]\nsplit = "dev"\n'
    )
    done = pairity("count", "--config", "c.toml", "-o", "c.parquet", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "eng_Latn" in done.stdout


MISTAKES = {
    "misspelt": ("vocabsize = 3", "train has no option 'vocabsize'. Did you mean 'vocab-size'?"),
    "misspelt in the table": ("[train]\nwindo = 3", "[train]: train has no option 'windo'. Did you mean 'window'?"),
    "misspelt table": ("[trian]\nwindow = 3", "train has no option 'trian'. Did you mean 'train'?"),
    "nothing near": ("zzzz = 3", "train has no option 'zzzz'. pairity train --help lists them all"),
    "with dashes": ('"--window" = 3', "write 'window' instead of '--window', without the dashes"),
    "a name inside the program": ('train_sources = ["a"]', "train has no option 'train_sources'"),
    "a short name": ('o = "a"', "train has no option 'o'"),
    "a config in a config": ('config = "a.toml"', "train has no option 'config'"),
    "of another command": ("resamples = 5", "'resamples' is an option of eval, not of train: put it in"),
    "twice": ("vocab-size = 3\nvocab_size = 4", "'vocab_size' is given twice, with a dash and with an underscore"),
    "several": ("vocab-size = [400]", "'vocab-size' takes one value, not several"),
    "a list in a list": ('skip = [["a"]]', "'skip' takes one value, not several"),
    "a table for a number": ("[vocab-size]\na = 1", "'vocab-size' takes one value, not several"),
    "not a whole number": ("vocab-size = 400.5", "run.toml: Invalid value for '--vocab-size': '400.5' is not"),
    "no choice": ('unit = "lines"\nvocab-size = 400', "run.toml: Invalid value for '--unit': 'lines' is not one of"),
    "no number of merges": ('global-merges = "half"\nvocab-size = 400', "run.toml: --global-merges is 'half'"),
    "too small": ("vocab-size = 100", "run.toml: vocab_size is 100, but the bytes"),
    "true for a number": ("vocab-size = true", "'vocab-size' is true, but it needs a value"),
    "text for a flag": ('resume = "yes"', "'resume' is 'yes': write true or false"),
    "a number for a flag": ("force = 1", "'force' is 1: write true or false"),
    "not TOML": ("vocab-size 3", "cannot be read as TOML"),
    "an option and a table of one name": (
        'train = "a"\n[train]\n',
        "(at line 2, column 7). If a command has an option with its own name, put that option in its table",
    ),
    "the same with a list": ('train = ["a"]\n[train]\n', "an option with its own name, put that option in its table"),
    "idle": ('method = "classical"\nnum-merges = 5\nalpha = 2.0', "not use --alpha"),
}  # fmt: skip


@pytest.mark.parametrize("case", MISTAKES)
def test_a_mistake_is_named_with_what_to_write(tmp_path, case):
    config, message = MISTAKES[case]
    code, said = run(config if "[train]" in config else f"{TEXT}{config}\n", tmp_path)
    assert code > 0
    assert message in said
    assert not (tmp_path / "out").exists()


def test_sizes_that_cannot_be_are_of_the_file(tmp_path):
    ranks = f"{write_ranks(tmp_path / 'a.tiktoken')}@gpt2"
    _, said = run("sizes = [-5]\n", tmp_path, "eval", "--data", DEV, "--", ranks)
    assert "run.toml: sizes has -5: give vocabulary sizes as whole numbers" in said


def test_a_mistake_on_the_command_line_is_not_the_files(tmp_path):
    for words in (["--vocab-size", "100"], ["--vocab-size", "many"]):
        code, said = run(f"{TEXT}vocab-size = 400\n", tmp_path, "train", *words)
        assert code > 0
        assert words[1] in said
        assert "run.toml" not in said


def test_an_option_that_the_command_lacks_belongs_into_a_table(tmp_path):
    code, said = run("vocab-size = 300\n", tmp_path, "eval", "--data", DEV, "--", "nowhere")
    assert code == 1
    assert "'vocab-size' is an option of train, not of eval" in said
    code, said = run("[train]\nvocab-size = 300\n", tmp_path, "eval", "--data", DEV, "--", "nowhere")
    assert "no tokenizer at 'nowhere'" in said
