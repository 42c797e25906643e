"""Roles and extensions as a user types them."""

import json

import pytest

from pairity import Roles, Tokenizer, sample
from pairity.errors import PairityError
from program import pairity

DEV = str(sample.FOLDER / "dev")
TRAIN = ("train", "--train", DEV, "--dev", DEV)
TEMPLATE = "{% for m in messages %}{{ m['content'] }}</s>{% endfor %}\n"


@pytest.fixture(scope="module")
def chat(tmp_path_factory):
    """A tokenizer with roles in the folder `first`, and the file of its chat template beside it."""
    folder = tmp_path_factory.mktemp("roles")
    (folder / "chat.jinja").write_text(TEMPLATE)
    words = (
        "--bos-token",
        "<s>",
        "--eos-token",
        "</s>",
        "--pad-token",
        "<pad>",
        "--unk-token",
        "<pad>",
        "--add-bos",
    )
    template = ("--chat-template", folder / "chat.jinja")
    done = pairity(*TRAIN, "--vocab-size", 500, *words, *template, "-o", folder / "first")
    assert done.returncode == 0, done.stderr
    return folder


def test_train_keeps_roles_and_export_has_them(chat, tmp_path):
    tok = Tokenizer.load(chat / "first")
    assert tok.special_tokens == {"<s>": 0, "</s>": 1, "<pad>": 2}
    assert tok.roles == Roles(
        bos_token="<s>",
        eos_token="</s>",
        pad_token="<pad>",
        unk_token="<pad>",
        add_bos=True,
        chat_template=TEMPLATE,
    )
    done = pairity(
        "export", chat / "first", "--to", "transformers", "--no-add-bos", "--add-eos", "-o", tmp_path / "t"
    )
    assert done.returncode == 0, done.stderr
    config = json.loads((tmp_path / "t" / "tokenizer_config.json").read_text())
    assert (config["bos_token"], config["chat_template"]) == ("<s>", TEMPLATE)
    assert (config.get("add_bos_token"), config["add_eos_token"]) == (None, True)
    assert Tokenizer.load(chat / "first").roles == tok.roles


def test_inspect_shows_the_roles(chat):
    shown = pairity("inspect", chat / "first").stdout
    for line in (
        "bos token: <s>",
        "pad token: <pad>",
        "add bos: yes",
        f"chat template: {len(TEMPLATE)} characters",
    ):
        assert line in shown.splitlines()


def test_gguf_has_the_template_that_is_given(chat, tmp_path):
    gguf = pytest.importorskip("gguf")
    (tmp_path / "other.jinja").write_text("{{ messages }}")
    words = ("--to", "gguf", "--chat-template", tmp_path / "other.jinja", "-o", tmp_path / "x.gguf")
    done = pairity("export", chat / "first", *words)
    assert done.returncode == 0, done.stderr
    fields = gguf.GGUFReader(tmp_path / "x.gguf").fields
    assert fields["tokenizer.chat_template"].contents() == "{{ messages }}"
    assert fields["tokenizer.ggml.add_bos_token"].contents()


def test_roles_in_a_config_file(tmp_path):
    (tmp_path / "run.toml").write_text(
        'bos-token = "<s>"\nadd-bos = true\nvocab-size = 300\nchat-template = "'
        + str(tmp_path / "c.jinja")
        + '"\n'
    )
    (tmp_path / "c.jinja").write_text(TEMPLATE)
    done = pairity(*TRAIN, "--config", tmp_path / "run.toml", "-o", tmp_path / "t")
    assert done.returncode == 0, done.stderr
    assert Tokenizer.load(tmp_path / "t").roles == Roles(
        bos_token="<s>", add_bos=True, chat_template=TEMPLATE
    )


def test_continue_reports_and_embed_writes(chat, tmp_path):
    words = ("--continue", chat / "first", "--add-tokens", 20, "--pad-to", 64)
    done = pairity(*TRAIN, *words, "-o", tmp_path / "longer")
    assert done.returncode == 0, done.stderr
    assert "all 500 old ids still stand for the same bytes" in done.stdout
    assert "embedding rows to add: 20 (500 before, 520 now, or 576 as a multiple of 64)" in done.stdout
    costs = Tokenizer.load(tmp_path / "longer").record["extension"]["costs"]["tam_Taml"]
    row = next(line.split() for line in done.stdout.splitlines()[-35:] if "tam_Taml" in line)
    assert row[:3] == ["tam_Taml", f"{costs['before']:.2f}", f"{costs['after']:.2f}"]
    assert "embedding rows to add: 20" in pairity("inspect", tmp_path / "longer").stdout
    assert Tokenizer.load(tmp_path / "longer").roles == Tokenizer.load(chat / "first").roles

    rows = pairity("embed", chat / "first", tmp_path / "longer", "-o", tmp_path / "rows.json")
    assert rows.returncode == 0, rows.stderr
    assert rows.stdout.startswith("20 new tokens\n")
    assert list(map(int, json.loads((tmp_path / "rows.json").read_text()))) == list(range(500, 520))
    backwards = pairity("embed", tmp_path / "longer", chat / "first", "-o", tmp_path / "back.json")
    assert backwards.returncode == 1
    assert "error: the new tokenizer does not extend the old one" in backwards.stderr
    assert not (tmp_path / "back.json").exists()
    named = pairity("embed", chat / "first", tmp_path / "longer", "-o", tmp_path / "rows.txt")
    assert "written as .parquet or .json" in named.stderr


BAD = {
    "no special token": ("gguf", "--pad-token <x>", "pad_token '<x>' is not a special token"),
    "no place for a template": ("tiktoken", "--chat-template CHAT", "cannot store chat_template"),
    "no place for a role": ("merges", "--bos-token <s>", "merges.txt cannot store bos_token"),
    "a role that is not added": ("hf", "--eos-token </s>", "Also give add_eos=True (--add-eos)"),
    "no template": (
        "transformers",
        "--chat-template BAD",
        "bad.jinja: the chat template is not a Jinja template: line 1",
    ),
    "no such file": ("transformers", "--chat-template nowhere.jinja", "there is no nowhere.jinja"),
}


@pytest.mark.parametrize("case", BAD)
def test_an_export_that_cannot_be_says_why_and_writes_nothing(chat, tmp_path, case):
    to, words, message = BAD[case]
    (tmp_path / "bad.jinja").write_text("{% for m in messages %}")
    files = {"CHAT": chat / "chat.jinja", "BAD": tmp_path / "bad.jinja"}
    given = (files.get(word, word) for word in words.split())
    done = pairity("export", chat / "first", "--to", to, *given, "-o", tmp_path / "out")
    assert done.returncode == 1
    assert done.stderr.startswith("error: ")
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert [file.name for file in tmp_path.iterdir()] == ["bad.jinja"]


def test_what_is_left_out_is_told_once_the_files_are_there(chat, tmp_path):
    (tmp_path / "x.tiktoken").write_text("")
    for name, said in (("x.tiktoken", ["error"]), ("y.tiktoken", ["warning"])):
        done = pairity("export", chat / "first", "--to", "tiktoken", "-o", tmp_path / name)
        assert [line.split(":")[0] for line in done.stderr.splitlines()] == said, done.stderr
    tok = Tokenizer.load(chat / "first")
    with pytest.raises(
        PairityError, match="already"
    ):  # nothing was written: a warning would be an error here
        tok.export("tiktoken", tmp_path / "x.tiktoken")


BAD_TRAINING = {
    "smaller than what is there": (
        ("--continue", "FIRST", "--vocab-size", "500"),
        "continue from has 500 tokens: give more",
    ),
    "no size to report": (
        ("--continue", "FIRST", "--add-tokens", "5", "--pad-to", "0"),
        "pad_to is 0: give at least 1",
    ),
    "nothing to add": (("--continue", "FIRST", "--add-tokens", "0"), "add_tokens is 0: give at least 1"),
    "nothing to add to": (("--add-tokens", "5"), "name it with continue_from (--continue)"),
    "two goals": (
        ("--continue", "FIRST", "--add-tokens", "5", "--num-merges", "5"),
        "how much to learn must be given only once",
    ),
    "a new special token": (
        ("--continue", "FIRST", "--add-tokens", "5", "--eos-token", "<x>"),
        "not a special token",
    ),
    "no bos to add": (("--vocab-size", "500", "--add-bos"), "(--bos-token)"),
}


@pytest.mark.parametrize("case", BAD_TRAINING)
def test_a_training_that_cannot_be_says_why_and_writes_nothing(chat, tmp_path, case):
    words, message = BAD_TRAINING[case]
    done = pairity(
        *TRAIN, *(chat / "first" if word == "FIRST" else word for word in words), "-o", tmp_path / "out"
    )
    assert done.returncode == 1
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []
