"""The program around the commands: help, start-up, completion, colour."""

import os
import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

import pairity as package
from pairity import sample
from pairity.cli.program import COMMANDS, all_commands, main
from program import pairity, terminal_output

DEV = str(sample.FOLDER / "dev")


def test_the_list_of_commands():
    shown = pairity("--help")
    assert shown.returncode == 0
    listed = " ".join(shown.stdout.split())
    for name, (_, summary) in COMMANDS.items():
        assert f"{name} {summary}" in listed
    assert "_PAIRITY_COMPLETE=bash_source pairity" in listed


@pytest.mark.parametrize("name", {**COMMANDS, **all_commands()})
def test_help_of_every_command(name):
    shown = CliRunner().invoke(main, [*name.split(), "--help"], prog_name="pairity").output
    assert shown.startswith(f"Usage: pairity {name} ")
    _, summary = COMMANDS.get(name, ("", ""))
    assert summary in " ".join(shown.split()), "the list of commands and the command differ"
    examples = shown.partition("\nExamples:\n")[2].splitlines()
    assert any(f"pairity {name} " in line for line in examples)
    for word, where in (
        ("SOURCE", "what a SOURCE can be, see pairity --help"),
        ("TOKENIZER", "pairity eval --help"),
    ):
        if word in shown.partition("Examples:")[0] and (name, word) not in (
            ("eval", "TOKENIZER"),
            ("report", "TOKENIZER"),
        ):
            assert where in " ".join(shown.split()), f"{word} is not explained"
    assert "--continue" not in shown or name == "train"
    command = all_commands().get(name) or main.get_command(click.Context(main), name)
    for parameter in command.params:
        assert isinstance(parameter, click.Argument) or parameter.help, f"{parameter.name} has no help"


def test_help_loads_no_heavy_library():
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys; from pairity.cli.program import main\n"
            "main(['--help'], standalone_mode=False)\n"
            "print('loaded:', *sorted({'numpy', 'pyarrow', 'rich', 'tokenizers'} & set(sys.modules)))",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.endswith("\nloaded:\n")


def test_public_names_are_found_when_they_are_used():
    assert set(package.HOMES) == set(package.__all__)
    for name in package.__all__:
        assert getattr(package, name).__name__ == name
    with pytest.raises(AttributeError, match="no attribute 'trian'"):
        package.trian  # noqa: B018


def test_an_unknown_command_is_answered_with_a_near_one():
    done = pairity("trian")
    assert done.returncode == 2
    assert "No such command 'trian'. Did you mean 'train'?" in done.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_clicks_own_completion(shell):
    script = pairity(env=os.environ | {"_PAIRITY_COMPLETE": f"{shell}_source"})
    assert script.returncode == 0
    assert f"_PAIRITY_COMPLETE={shell}_complete" in script.stdout


def test_completion_of_a_line_that_is_not_finished():
    for line, expected in (
        ("pairity tr", "plain,train"),
        ("pairity train --train a --super", "plain,--superwords"),
    ):
        words = {"_PAIRITY_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))}
        assert pairity(env=os.environ | words).stdout.split() == [expected]


def test_data_goes_to_stdout_without_colour_and_whole(tmp_path):
    language = "a_language_with_a_very_long_name_" * 4
    words = ["count", f"{language}={DEV}/eng_Latn.txt", "-o", tmp_path / "c.parquet"]
    done = pairity(*words, env=os.environ | {"COLUMNS": "60"})
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert language in done.stdout
    assert "\x1b" not in done.stdout


def test_no_color_is_honoured_on_a_terminal(tmp_path):
    words = ["train", "--train", DEV, "--dev", DEV, "--num-merges", "20", "-o", str(tmp_path / "t")]
    env = os.environ | {"TERM": "xterm-256color", "NO_COLOR": "1"}
    output, code = terminal_output(words, env)
    assert code == 0
    assert "dev Gini" in output
    assert "\x1b[3" not in output, "a colour"
