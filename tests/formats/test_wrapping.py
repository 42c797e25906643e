"""What the files of a tokenizer say around its table is kept, also when it is extended."""

import json

import pytest
import tokenizers
from tokenizers import processors

from pairity import sample, train
from pairity.bpe.roles import Roles
from pairity.errors import PairityError, PairityWarning
from pairity.tokenizer.tokenizer import Tokenizer
from small_tokenizers import NASTY, SPECIALS, changed, sample_lines, small

END, START, STOP, PAD = "<|endoftext|>", "<|im_start|>", "<|im_end|>", "<pad>"
CHATML = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
MESSAGES = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Grüße, мир!"}]


def contents(**changes: object) -> dict:
    """A tokenizer.json as others write it: added tokens after the vocabulary, with a post-processor."""
    made = small("gpt4", special_tokens=()).to_huggingface()
    made.add_special_tokens([END, START, STOP, PAD])
    made.add_tokens([tokenizers.AddedToken(name, normalized=False) for name in ("<tool>", "</tool>")])
    template = processors.TemplateProcessing(
        single=f"{END} $A", pair=f"{END} $A {END}:1 $B:1", special_tokens=[(END, made.token_to_id(END))]
    )
    made.post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=False), template])
    made.decoder = tokenizers.decoders.ByteLevel()
    made.enable_truncation(4096)
    found = json.loads(made.to_str())
    found["model"] |= {"unk_token": END, "fuse_unk": True, "ignore_merges": True}
    return found | changes


CONFIG = {
    "tokenizer_class": "PreTrainedTokenizerFast",
    "model_max_length": 4096,
    "padding_side": "left",
    "clean_up_tokenization_spaces": False,
    "additional_special_tokens": [START, STOP],
    "bos_token": END,
    "eos_token": {"__type": "AddedToken", "content": STOP, "lstrip": False, "normalized": False},
    "pad_token": PAD,
    "unk_token": None,
    "a_setting_of_theirs": {"kept": [1, 2]},
}


def write(folder, *, config: dict | None = None, **parts: object):
    folder.mkdir(exist_ok=True)
    (folder / "tokenizer.json").write_text(json.dumps(contents(**parts)))
    (folder / "tokenizer_config.json").write_text(json.dumps(CONFIG if config is None else config))
    return folder


def longer(source: object, add: int = 50) -> Tokenizer:
    texts = {language: lines[:20] for language, lines in list(sample.read("dev").items())[:4]}
    return train(texts, dev=texts, continue_from=source, add_tokens=add, progress=False)


# ---------------------------------------------------------------------- kept


def test_an_extension_keeps_all_that_the_files_say(tmp_path):
    (write(tmp_path / "old") / "chat_template.jinja").write_text(CHATML, encoding="utf-8")
    old = contents()
    more = longer(tmp_path / "old")
    more.save(tmp_path / "new")
    Tokenizer.load(tmp_path / "new").save(tmp_path / "again")
    for place in ("new", "again"):
        new = json.loads((tmp_path / place / "tokenizer.json").read_text())
        for part in set(old) - {"model"}:
            assert new[part] == old[part], part
        for part in set(old["model"]) - {"vocab", "merges"}:
            assert new["model"][part] == old["model"][part], part
        config = json.loads((tmp_path / place / "tokenizer_config.json").read_text())
        kept = {key: value for key, value in CONFIG.items() if key not in ("eos_token", "unk_token")}
        assert {key: config.get(key) for key in kept} == kept
        assert (config["eos_token"], config["chat_template"]) == (STOP, CHATML)
    assert more.roles == Roles(
        bos_token=END, eos_token=STOP, pad_token=PAD, add_bos=True, chat_template=CHATML
    ), "what the post-processor adds is known"
    assert more.vocab_size == len(old["model"]["vocab"]) + 6 + 50


def test_transformers_does_the_same_before_and_after(tmp_path):
    """A tokenizer with a ChatML template, added tokens and a post-processor, extended by 50 tokens."""
    transformers = pytest.importorskip("transformers")
    made = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizers.Tokenizer.from_str(json.dumps(contents())),
        bos_token=END,
        eos_token=STOP,
        pad_token=PAD,
        additional_special_tokens=[START],
        model_max_length=4096,
        padding_side="left",
        chat_template=CHATML,
    )
    made.save_pretrained(tmp_path / "old")
    old = transformers.AutoTokenizer.from_pretrained(tmp_path / "old")
    plain = Tokenizer.load(tmp_path / "old")
    for source in (tmp_path / "old", old):
        more = longer(source)
        more.save(tmp_path / "new", force=True)
        for new in (transformers.AutoTokenizer.from_pretrained(tmp_path / "new"), more.to_transformers()):
            assert type(new) is type(old)
            assert len(new) == len(old) + 50
            for what in (
                *(
                    "bos_token",
                    "eos_token",
                    "pad_token",
                    "unk_token",
                    "all_special_tokens",
                    "all_special_ids",
                ),
                *("bos_token_id", "eos_token_id", "pad_token_id", "special_tokens_map", "model_max_length"),
                *("padding_side", "chat_template", "clean_up_tokenization_spaces", "truncation_side"),
            ):
                assert getattr(new, what) == getattr(old, what), what
            assert repr(new.added_tokens_decoder) == repr(old.added_tokens_decoder)
            for text in ("", "x", f"a{START}b<tool>c{PAD}", "Grüße"):
                ids = plain.encode(text, allowed_special="all")
                if more.encode(text, allowed_special="all") == ids:  # no new token is needed
                    assert new.encode(text) == old.encode(text) == [plain.id_of(END), *ids]
                    assert new.decode(ids, skip_special_tokens=True) == old.decode(
                        ids, skip_special_tokens=True
                    )
            assert new.encode("x")[:1] == old.encode("x")[:1] == [plain.id_of(END)]
            for further in (False, True):
                chats = [
                    tok.apply_chat_template(MESSAGES, tokenize=False, add_generation_prompt=further)
                    for tok in (old, new)
                ]
                assert chats[0] == chats[1] != ""
            for text in [*NASTY, *sample_lines()[::7]]:
                ids = new.encode(text, add_special_tokens=False)
                assert ids == more.encode(text, allowed_special="all")
                assert new.decode(ids) == text


def test_an_extension_of_a_lone_file_keeps_its_parts(tmp_path):
    file = write(tmp_path / "old") / "tokenizer.json"
    assert longer(file).roles.bos_token == END, "what is beside the file belongs to it"
    (tmp_path / "old" / "tokenizer_config.json").unlink()
    more = longer(file)
    assert more.roles == Roles(), "a lone file names no roles"
    assert json.loads(more.to_huggingface().to_str())["post_processor"] == contents()["post_processor"]


def test_added_tokens_that_are_not_special_stay_so(tmp_path):
    gguf = pytest.importorskip("gguf")
    more = longer(write(tmp_path / "old"))
    tool = more.id_of("<tool>")
    assert (
        more.truncate(more.vocab_size - 10).to_huggingface().get_added_tokens_decoder()[tool].special is False
    )
    [file] = more.export("gguf", tmp_path / "x.gguf")
    kinds = gguf.GGUFReader(file).fields["tokenizer.ggml.token_type"].contents()
    assert (kinds[tool], kinds[more.id_of(PAD)]) == (gguf.TokenType.USER_DEFINED, gguf.TokenType.CONTROL)


def test_other_roles_replace_what_was_put_around_a_text(tmp_path):
    tok = Tokenizer.load(write(tmp_path / "old", config=CONFIG | {"add_bos_token": True}))
    end, stop = tok.id_of(END), tok.id_of(STOP)
    assert tok.to_huggingface().encode("").ids == [end]
    assert tok.with_roles(pad_token=END).to_huggingface().encode("").ids == [end], "padding is another matter"
    assert tok.with_roles(bos_token=STOP).to_huggingface().encode("").ids == [stop]
    assert tok.with_roles(add_eos=True).to_huggingface().encode("").ids == [end, stop]
    padding = {
        "strategy": "BatchLongest",
        "direction": "Left",
        "pad_to_multiple_of": None,
        "pad_id": tok.id_of(PAD),
    }
    padding |= {"pad_type_id": 0, "pad_token": PAD}
    padded = Tokenizer.load(write(tmp_path / "padded", padding=padding)).with_roles(pad_token=START)
    assert padded.to_huggingface().padding | {"pad_id": tok.id_of(START), "pad_token": START} == (
        padded.to_huggingface().padding
    )
    none = tok.with_roles(add_bos=False)
    assert none.to_huggingface().encode("").ids == []
    none.save(tmp_path / "none")
    assert "add_bos_token" not in json.loads((tmp_path / "none" / "tokenizer_config.json").read_text())


def test_several_chat_templates_are_kept(tmp_path):
    several = [{"name": "default", "template": CHATML}, {"name": "tools", "template": "{{ tools }}"}]
    folder = write(tmp_path / "old", config=CONFIG | {"chat_template": several})
    tok = Tokenizer.load(folder)
    assert tok.roles.chat_template == CHATML
    tok.save(tmp_path / "new")
    again = Tokenizer.load(tmp_path / "new")
    again.export("transformers", tmp_path / "third")
    config = json.loads((tmp_path / "third" / "tokenizer_config.json").read_text())
    assert config["chat_template"] == several
    more = folder / "additional_chat_templates"
    more.mkdir()
    (more / "rag.jinja").write_text("{{ documents }}")
    (folder / "chat_template.jinja").write_text("{{ messages }}")
    assert Tokenizer.load(folder).model.templates == {"default": "{{ messages }}", "rag": "{{ documents }}"}
    transformers = pytest.importorskip("transformers")
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path / "third")
    assert theirs.chat_template == {"default": CHATML, "tools": "{{ tools }}"}
    assert again.to_transformers().chat_template == theirs.chat_template
    gguf = pytest.importorskip("gguf")
    [file] = again.export("gguf", tmp_path / "x.gguf")
    fields = gguf.GGUFReader(file).fields
    assert fields["tokenizer.chat_template"].contents() == CHATML
    assert fields["tokenizer.chat_template.tools"].contents() == "{{ tools }}"


def test_templates_that_others_left_in_the_folder_do_not_count(tmp_path):
    tok = small("gpt2").with_roles(chat_template="{{ ours }}")
    for write_there in (
        lambda place: tok.save(place, force=True),
        lambda place: tok.export("transformers", place, force=True),
    ):
        (tmp_path / "chat_template.jinja").write_text("{{ theirs }}")
        write_there(tmp_path)
        assert Tokenizer.from_huggingface(tmp_path).roles.chat_template == "{{ ours }}"
        (tmp_path / "additional_chat_templates").mkdir()
        with pytest.raises(PairityError, match=r"would use instead of .*Remove that folder"):
            write_there(tmp_path)
        (tmp_path / "additional_chat_templates").rmdir()


def test_tokens_that_only_the_config_names_are_added_as_transformers_does(tmp_path):
    """GPT-2's vocabulary has <|endoftext|>, and old files of it do not list it among the added tokens."""
    file = small("gpt2").to_huggingface()
    old = json.loads(file.to_str())
    old["added_tokens"] = []
    (tmp_path / "tokenizer.json").write_text(json.dumps(old))
    config = {"bos_token": END, "pad_token": PAD, "additional_special_tokens": ["<|user|>"]}
    (tmp_path / "special_tokens_map.json").write_text(json.dumps(config))
    tok = Tokenizer.load(tmp_path)
    assert tok == small("gpt2")
    assert tok.roles == Roles(bos_token=END, pad_token=PAD)


def test_what_llama_cpp_cannot_put_around_a_text_is_named(tmp_path):
    pytest.importorskip("gguf")
    roberta = {"type": "RobertaProcessing", "sep": [STOP, 0], "cls": [START, 0]}
    ids = {token["content"]: token["id"] for token in contents()["added_tokens"]}
    roberta |= {
        "sep": [STOP, ids[STOP]],
        "cls": [START, ids[START]],
        "trim_offsets": True,
        "add_prefix_space": False,
    }
    tok = Tokenizer.load(write(tmp_path / "old", post_processor=roberta))
    assert tok.roles.add_eos, "eos_token is what ends a text"
    assert not tok.roles.add_bos
    with pytest.warns(PairityWarning, match=r"left out: <\|im_start\|> \(<\|im_end\|> is kept\)\."):
        tok.export("gguf", tmp_path / "x.gguf")
    assert tok.to_huggingface().encode("").ids == [ids[START], ids[STOP]]


@pytest.mark.parametrize("named", [{}, {"bos_token": END}, {"eos_token": STOP}])
def test_llama_cpp_puts_around_a_text_what_a_template_does_where_no_role_says_otherwise(tmp_path, named):
    gguf = pytest.importorskip("gguf")
    ids = {token["content"]: token["id"] for token in contents()["added_tokens"]}
    template = processors.TemplateProcessing(
        single=f"{END} $A {STOP}", special_tokens=[(END, ids[END]), (STOP, ids[STOP])]
    )
    parts = {"post_processor": json.loads(template.__getstate__())}
    tok = Tokenizer.load(write(tmp_path / "old", config={"pad_token": PAD, **named}, **parts))
    tok.export("gguf", tmp_path / "x.gguf", allow_different=True)
    fields = gguf.GGUFReader(tmp_path / "x.gguf").fields
    for end, token in (("bos", END), ("eos", STOP)):
        assert fields[f"tokenizer.ggml.add_{end}_token"].contents() is True
        assert fields[f"tokenizer.ggml.{end}_token_id"].contents() == ids[token]
    assert tok.roles.named == {"pad_token": PAD, **named}, "the tokenizer itself has the roles that it had"
    assert tok.to_huggingface().encode("").ids == [ids[END], ids[STOP]]


def test_two_tokens_before_a_text_are_more_than_llama_cpp_can(tmp_path):
    gguf = pytest.importorskip("gguf")
    ids = {token["content"]: token["id"] for token in contents()["added_tokens"]}
    template = processors.TemplateProcessing(
        single=f"{END} {START} $A {STOP}", special_tokens=[(name, ids[name]) for name in (END, START, STOP)]
    )
    parts = {"post_processor": json.loads(template.__getstate__())}
    tok = Tokenizer.load(write(tmp_path / "old", config={"bos_token": END}, **parts))
    with pytest.warns(
        PairityWarning, match=r"left out: <\|endoftext\|>, <\|im_start\|> \(<\|im_end\|> is kept"
    ):
        tok.export("gguf", tmp_path / "x.gguf", allow_different=True)
    fields = gguf.GGUFReader(tmp_path / "x.gguf").fields
    assert fields["tokenizer.ggml.add_bos_token"].contents() is False
    assert fields["tokenizer.ggml.add_eos_token"].contents() is True


# ---------------------------------------------------------------------- refused


def _changed(path: str, value: object) -> dict:
    """Parts of a good tokenizer.json with one thing changed: "post_processor.type" -> "Nothing"."""
    return changed(contents(), path, value)


TEMPLATE = "post_processor.processors.1"


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("model.type", "Unigram", "is Unigram, not BPE: its ids do not come from merges"),
        ("model.type", "WordPiece", "is WordPiece, not BPE"),
        ("model.byte_fallback", True, "byte_fallback, as SentencePiece files do"),
        (
            "pre_tokenizer",
            {"type": "Metaspace", "replacement": "▁"},
            "ends with Metaspace, not with ByteLevel",
        ),
        ("pre_tokenizer", {"type": "BertPreTokenizer"}, "ends with BertPreTokenizer, not with ByteLevel"),
        ("added_tokens.4.lstrip", True, "'<tool>' sets lstrip, which cannot be kept"),
        ("added_tokens.4.single_word", True, "'<tool>' sets single_word"),
        ("added_tokens.4.special", "yes", "special of '<tool>': 'yes' is not true or false"),
        (f"{TEMPLATE}.type", "Nothing", "the post-processor Nothing cannot be kept"),
        (f"{TEMPLATE}.special_tokens", {}, "adds '<|endoftext|>', which is not an added token"),
        (f"{TEMPLATE}.special_tokens.{END}.tokens.0", "<s>", "adds '<s>', which is not an added token"),
        (f"{TEMPLATE}.special_tokens.{END}.ids.0", 7, "gives '<|endoftext|>' the id 7, but the token has"),
        (f"{TEMPLATE}.single.0.SpecialToken.id", "<s>", "adds '<s>', which is not an added token"),
        ("post_processor", [], "damaged"),
        ("post_processor", {"type": "TemplateProcessing"}, "damaged"),
        ("post_processor", {"type": "BertProcessing", "cls": [END], "sep": 5}, "damaged"),
        (f"{TEMPLATE}.special_tokens.{END}.ids", [], "damaged"),
        (f"{TEMPLATE}.pair", [{"Sequence": "C"}], "cannot read its post_processor"),
        ("truncation", {"max_length": -1}, "cannot read its truncation"),
        ("padding", 5, "cannot read its padding"),
        ("model.unk_token", 5, "cannot read its model"),
    ],
)
def test_what_cannot_be_kept_is_refused_by_name_before_any_work(tmp_path, path, value, message):
    (tmp_path / "tokenizer.json").write_text(json.dumps(_changed(path, value)))
    with pytest.raises(PairityError, match=message):
        train({"eng": untouched()}, num_merges=5, continue_from=tmp_path, progress=False)


def untouched():
    pytest.fail("the text was read")
    yield


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"pad_token": "<nope>"}, "names the pad_token '<nope>', but tokenizer.json has no such token. Add"),
        ({"additional_special_tokens": ["<nope>"]}, "names the additional_special_tokens '<nope>'"),
        ({"image_token": "<image>"}, "names the image_token '<image>'"),
        ({"auto_map": {"AutoTokenizer": ["x.Y", None]}}, r"its own Python code \(auto_map\)"),
        ({"added_tokens_decoder": {"3": {"content": PAD}}}, "gives '<pad>' the id 3, but tokenizer.json"),
        ({"added_tokens_decoder": {"x": {"content": PAD}}}, r"tokenizer_config\.json is damaged"),
        ({"added_tokens_decoder": [1]}, r"tokenizer_config\.json is damaged"),
        ({"bos_token": {"text": "<s>"}}, r"tokenizer_config\.json is damaged"),
        ({"bos_token": {"content": 3}}, "3 is not a string"),
        ({"chat_template": 3}, "the chat template 'default': 3 is not a string"),
        ({"chat_template": [{"name": "default"}]}, r"tokenizer_config\.json is damaged"),
        ({"additional_special_tokens": [4]}, "4 is not an object"),
        ({"additional_special_tokens": 4}, r"tokenizer_config\.json is damaged"),
        ({"other": float("nan")}, r"tokenizer_config\.json is damaged"),
        ({"other": "\ud800"}, r"tokenizer_config\.json is damaged"),
    ],
)
def test_a_config_that_cannot_be_kept_is_refused(tmp_path, change, message):
    write(tmp_path, config=CONFIG | change)
    with pytest.raises(PairityError, match=message):
        Tokenizer.load(tmp_path)


def test_a_template_file_that_is_no_text_is_refused(tmp_path):
    (write(tmp_path) / "chat_template.jinja").write_bytes(b"\xff\xfe")
    with pytest.raises(PairityError, match=r"chat_template\.jinja is not a Jinja template: it is not UTF-8"):
        Tokenizer.load(tmp_path)


@pytest.mark.parametrize("given", [{"add_bos": False}, {"bos_token": END, "add_bos": False}])
def test_a_token_that_is_not_to_be_added_is_not_added(tmp_path, given):
    """Without tokenizer_config.json nothing says which role the token of the post-processor has."""
    (tmp_path / "tokenizer.json").write_text(json.dumps(contents()))
    tok = Tokenizer.load(tmp_path / "tokenizer.json")
    assert tok.to_huggingface().encode("a").tokens == [END, "a"], "kept where nobody says otherwise"
    assert tok.with_roles(pad_token=PAD).to_huggingface().encode("a").tokens == [END, "a"]
    assert tok.with_roles(**given).to_huggingface().encode("a").tokens == ["a"]


def test_added_tokens_that_are_not_special_are_read_as_tokens(tmp_path):
    theirs = small(merges=50).to_huggingface()
    theirs.add_tokens([tokenizers.AddedToken("FooBar", normalized=False)])
    theirs.save(str(tmp_path / "tokenizer.json"))
    ours = Tokenizer.load(tmp_path)
    text = "a FooBar b"
    assert ours.encode(text) == theirs.encode(text).ids
    assert ours.count([text], disallowed_special=()).tolist() == [len(theirs.encode(text).ids)]
    assert ours.id_of("FooBar") in ours.encode(text, allowed_special={SPECIALS[0]})
