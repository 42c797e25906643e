"""Roles are part of a tokenizer: remembered, inherited, written into every format that has a place for them."""

import hashlib
import json
import pickle
import sys
import warnings

import pytest
import tokenizers

from pairity.bpe.roles import NAMES, GivenRoles, Roles
from pairity.errors import PairityError, PairityWarning
from pairity.formats.post_processor import of_roles
from pairity.text.pretokenizers import PRESETS
from pairity.tokenizer.tokenizer import Tokenizer
from small_tokenizers import NASTY, SPECIALS, sample_lines, small

END = "<|endoftext|>"
TEMPLATE = "{% for m in messages %}<|user|>{{ m['content'] }}<|endoftext|>\n{% endfor %}"
GIVEN = {
    "bos_token": END,
    "eos_token": "<|user|>",
    "pad_token": "<pad>",
    "unk_token": END,
    "add_bos": True,
    "add_eos": True,
    "chat_template": TEMPLATE,
}
TEXTS = [*NASTY, *sample_lines()[::10]]


def with_roles(name: str = "gpt2", **changes: object) -> Tokenizer:
    return small(name).with_roles(**GIVEN | changes)


# ---------------------------------------------------------------------- remembered


def test_roles_are_remembered_by_all_that_is_made_of_a_tokenizer(tmp_path):
    tok = with_roles()
    assert tok.roles == Roles(**GIVEN)
    assert small("gpt2").roles == Roles(), "the tokenizer that they were given to has none"
    tok.save(tmp_path / "saved")
    loaded = Tokenizer.load(tmp_path / "saved")
    assert loaded.roles == tok.roles
    assert json.loads((tmp_path / "saved" / "pairity.json").read_text())["roles"] == GIVEN
    assert loaded.truncate(400).roles == tok.roles
    left, right = tok.engine_merges()[0]
    assert tok.extended([(left, right), (256, 256)]).roles == tok.roles
    assert pickle.loads(pickle.dumps(tok)).roles == tok.roles
    assert Tokenizer.load(tmp_path / "saved" / "tokenizer.json").roles == tok.roles


def test_a_folder_of_transformers_has_the_roles(tmp_path):
    tok = with_roles()
    tok.export("transformers", tmp_path)
    assert Tokenizer.from_huggingface(tmp_path).roles == tok.roles
    assert Tokenizer.load(tmp_path).roles == tok.roles


def test_what_is_given_to_save_counts_more_and_is_remembered(tmp_path):
    tok = with_roles()
    tok.save(tmp_path, pad_token=END, add_eos=False)
    assert Tokenizer.load(tmp_path).roles == Roles(**GIVEN | {"pad_token": END, "add_eos": False})
    assert tok.roles == Roles(**GIVEN), "it is not changed"


def test_roles_make_no_difference_to_ids_or_to_equality():
    tok = with_roles()
    assert tok == small("gpt2")
    assert hash(tok) == hash(small("gpt2"))
    assert tok.encode_batch(TEXTS) == small("gpt2").encode_batch(TEXTS)


GOLDEN = {
    "merges.txt": "e3d0152a66f7f985",
    "special_tokens_map.json": "90d8b03e9608d78f",
    "tokenizer.json": "26074b05c635cc71",
    "tokenizer_config.json": "cc9e7943f26a65b8",
    "vocab.json": "7d4ee5a584141f7a",
    "x.json": "32ce31c289711222",
    "x.tiktoken": "bcedc1e22d9072be",
}
"""How the SHA-256 of the files of a tokenizer without roles begins."""


def test_the_files_of_a_tokenizer_without_roles_never_change(tmp_path):
    merges = [(64, 65), (256, 66), (220, 256)]
    tok = Tokenizer.from_merges(merges, pattern=PRESETS["gpt2"], special_tokens=["<s>", "<pad>"])
    for made in (tok, tok.with_roles(), tok.with_roles(bos_token=None, add_bos=None)):
        made.save(tmp_path, force=True)
        made.export("tiktoken", tmp_path / "x.tiktoken", force=True)
        found = {name: hashlib.sha256((tmp_path / name).read_bytes()).hexdigest()[:16] for name in GOLDEN}
        assert found == GOLDEN


def test_without_roles_nothing_is_said_of_them(tmp_path):
    small("gpt2").save(tmp_path)
    settings = json.loads((tmp_path / "pairity.json").read_text())
    assert not {"roles", "transformers"} & set(settings)
    config = json.loads((tmp_path / "tokenizer_config.json").read_text())
    assert not [key for key in config if "bos" in key or "eos" in key or key == "chat_template"]
    assert json.loads((tmp_path / "tokenizer.json").read_text())["post_processor"] is None


# ---------------------------------------------------------------------- written


@pytest.mark.parametrize(("add_bos", "add_eos"), [(True, True), (True, False), (False, True), (False, False)])
def test_tokenizer_json_adds_what_the_roles_ask_for(add_bos, add_eos):
    tok = with_roles(add_bos=add_bos, add_eos=add_eos)
    theirs = tok.to_huggingface()
    before = [tok.id_of(END)] if add_bos else []
    after = [tok.id_of("<|user|>")] if add_eos else []
    for text in TEXTS:
        ids = tok.encode(text)
        assert theirs.encode(text).ids == [*before, *ids, *after]
        assert theirs.encode(text, add_special_tokens=False).ids == ids
    pair = theirs.encode("one", "two")
    one, two = tok.encode("one"), tok.encode("two")
    assert pair.ids == [*before, *one, *after, *before, *two, *after]
    assert pair.type_ids == [0] * len([*before, *one, *after]) + [1] * len([*before, *two, *after])


def test_the_post_processor_is_that_of_hugging_faces_library():
    tok = with_roles()
    theirs = tokenizers.processors.TemplateProcessing(
        single=f"{END} $A <|user|>",
        pair=f"{END} $A <|user|> {END}:1 $B:1 <|user|>:1",
        special_tokens=[(END, 0), ("<|user|>", 2)],
    )
    assert of_roles(tok.roles, tok.special_tokens) == json.loads(theirs.__getstate__())


def test_transformers_has_the_roles(tmp_path):
    transformers = pytest.importorskip("transformers")
    tok = with_roles()
    tok.save(tmp_path)
    for theirs in (transformers.AutoTokenizer.from_pretrained(tmp_path), tok.to_transformers()):
        for role in ("bos_token", "eos_token", "pad_token", "unk_token"):
            assert getattr(theirs, role) == GIVEN[role]
            assert getattr(theirs, f"{role}_id") == tok.id_of(GIVEN[role])
        assert set(theirs.all_special_tokens) == set(SPECIALS)
        ids = tok.encode("Hello, мир")
        assert theirs("Hello, мир")["input_ids"] == [0, *ids, 2]
        assert theirs("Hello, мир", add_special_tokens=False)["input_ids"] == ids
        chat = theirs.apply_chat_template([{"role": "user", "content": "Hi"}], tokenize=False)
        assert chat == "<|user|>Hi<|endoftext|>\n"
        assert Tokenizer.from_huggingface(theirs).roles == tok.roles


def test_gguf_has_ids_flags_and_template(tmp_path):
    gguf = pytest.importorskip("gguf")
    [file] = with_roles().export("gguf", tmp_path / "x.gguf")
    fields = gguf.GGUFReader(file).fields
    found = {key.removeprefix("tokenizer."): field.contents() for key, field in fields.items() if "_" in key}
    expected = {
        "ggml.bos_token_id": 0,
        "ggml.eos_token_id": 2,
        "ggml.padding_token_id": 1,
        "ggml.unknown_token_id": 0,
        "ggml.add_bos_token": True,
        "ggml.add_eos_token": True,
        "chat_template": TEMPLATE,
    }
    assert {key: found.get(key) for key in expected} == expected


# ---------------------------------------------------------------------- refused


@pytest.mark.parametrize("to", ["tiktoken", "merges", "hf"])
@pytest.mark.parametrize("option", GIVEN)
def test_what_a_format_has_no_place_for_is_refused(tmp_path, to, option):
    tok = small("gpt2")
    if option in ("add_bos", "add_eos"):
        tok, message = (
            tok.with_roles(bos_token=END, eos_token=END),
            rf"cannot store {option}.*transformers",
        )
        if to == "hf":
            return
    else:
        message = rf"cannot store (the )?{option}.*--{option.replace('_', '-')}"
    with pytest.raises(PairityError, match=message):
        tok.export(to, tmp_path / "x.y", **{option: GIVEN[option]})
    assert not list(tmp_path.iterdir())


def test_hugging_faces_file_holds_a_token_that_is_added(tmp_path):
    [file] = small("gpt2").export("hf", tmp_path / "x.json", bos_token=END, add_bos=True)
    assert tokenizers.Tokenizer.from_file(str(file)).encode("").ids == [0]


@pytest.mark.parametrize("to", ["tiktoken", "merges", "hf"])
def test_roles_that_a_tokenizer_has_and_a_format_has_not_are_named(tmp_path, to):
    with pytest.warns(PairityWarning, match="cannot store .*pad_token '<pad>'.*the chat template"):
        with_roles().export(to, tmp_path / "x.y")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        small("gpt2").export(to, tmp_path / "again.y")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"pad_token": "<nope>"}, "pad_token '<nope>' is not a special token .* which has '<|endoftext|>'"),
        ({"bos_token": "the"}, "bos_token 'the' is not a special token"),
        ({"bos_token": 3}, "bos_token is 3: it must be text"),
        ({"add_bos": True}, r"add_bos adds the bos_token .* there is none: .*--bos-token"),
        ({"add_eos": True, "bos_token": END}, "add_eos adds the eos_token"),
        ({"bos_token": END, "add_bos": "yes"}, "add_bos is 'yes': it must be True or False"),
        ({"chat_template": "{% for m in messages %}"}, "not a Jinja template: line 1: Unexpected end"),
        ({"chat_template": "a\n{{ m[ }}"}, "not a Jinja template: line 2"),
        ({"chat_template": "{% generate %}{% endgenerate %}"}, "unknown tag 'generate'"),
        ({"chat_template": " \n"}, "the chat template is empty"),
        ({"chat_template": 7}, "chat_template is 7: it must be text"),
    ],
)
def test_roles_that_cannot_be_are_refused(tmp_path, given, message):
    for attempt in (small().with_roles, lambda **roles: small().save(tmp_path / "x", **roles)):
        with pytest.raises(PairityError, match=message):
            attempt(**given)
    assert not list(tmp_path.iterdir())


def test_the_arguments_are_the_fields_of_roles():
    assert tuple(GivenRoles.__annotations__) == NAMES == tuple(GIVEN)


def test_a_misspelled_role_is_no_role():
    with pytest.raises(TypeError, match="unexpected keyword argument 'bos'"):
        small().with_roles(bos="<s>")


def test_templates_are_read_as_transformers_reads_them():
    template = (
        "{% for m in messages %}{% generation %}{{ m|tojson }}{% endgeneration %}{% break %}{% endfor %}"
    )
    assert small().with_roles(chat_template=template).roles.chat_template == template


def test_without_jinja_a_template_says_what_to_install(monkeypatch, tmp_path):
    small("gpt2").save(tmp_path, chat_template=TEMPLATE)
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(PairityError, match=r"needs the package jinja2.*pip install 'pairity\[report\]'"):
        small().with_roles(chat_template=TEMPLATE)
    assert Tokenizer.load(tmp_path).roles.chat_template == TEMPLATE, "what was checked once is only read"


@pytest.mark.parametrize(
    ("roles", "message"),
    [
        ([], "is not an object"),
        ({"mask_token": "<m>"}, "'mask_token' is not a role"),
        ({"pad_token": "<nope>"}, "pad_token '<nope>' is not a special token"),
        ({"pad_token": 1}, "pad_token is 1"),
    ],
)
def test_damaged_roles_in_a_folder_are_refused(roles, message):
    from pairity.formats import folder

    tok = small()
    settings = folder.settings_of(tok.model) | {"roles": roles}
    with pytest.raises(PairityError, match=message):
        folder.restore(json.loads(tok.to_huggingface().to_str()), settings, None)
