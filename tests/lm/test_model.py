"""Models on the CPU: the loss falls, resuming is exact, bits are those of a hand computation, transformers agrees."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pairity
from pairity import lm
from pairity.lm.packs import Pack, PackedTexts
from pairity.lm.recipe import ModelShape, Recipe

torch = pytest.importorskip("torch")
from pairity.lm import running, training, weights  # noqa: E402
from pairity.lm.model import Llama  # noqa: E402
from pairity.lm.scoring import bits_per_byte_by_language, score, windows  # noqa: E402

TINY = Recipe(
    size="5M", batch=4, context=32, tokens=4 * 32 * 24, precision="float32", curve=2, learning_rate=3e-3
)
SMALL = ModelShape(layers=2, width=32, heads=4, kv_heads=2, hidden=48, tied=True, vocab_size=50, context=16)


def texts_of(rows: list[list[int]]) -> PackedTexts:
    offsets = np.cumsum([0, *map(len, rows)])
    ids = np.array([token for row in rows for token in row], np.uint16)
    return PackedTexts(ids, offsets, np.zeros(len(rows), np.uint16), np.array([3 * len(row) for row in rows]))


@pytest.fixture(scope="module")
def trained(pack_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "parity-1"
    lm.train(pack_folder, folder, TINY)
    return folder


def test_the_loss_falls(trained):
    history = json.loads((trained / "lm.json").read_text())["history"]
    assert history[0]["loss"] > 6.2, "about the logarithm of 600"
    assert history[-1]["loss"] < history[0]["loss"] - 0.3
    assert [row["step"] for row in history] == list(range(1, 25))


def test_a_run_that_was_stopped_goes_on_bit_for_bit(trained, pack_folder, tmp_path):
    def stop(step: int, steps: int, what: str) -> None:
        if step == 11:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        lm.train(pack_folder, tmp_path / "m", TINY, checkpoint_seconds=0, listen=stop)
    assert not (tmp_path / "m" / "config.json").exists()
    with pytest.raises(pairity.PairityError, match="--resume"):
        lm.train(pack_folder, tmp_path / "m", TINY)
    with pytest.raises(pairity.PairityError, match="another recipe"):
        lm.train(pack_folder, tmp_path / "m", Recipe(**{**vars(TINY), "seed": 2}), resume=True)
    steps: list[int] = []
    lm.train(pack_folder, tmp_path / "m", TINY, resume=True, listen=lambda step, *_: steps.append(step))
    assert steps[0] == 11, "the ten steps before were not done again"
    assert (tmp_path / "m" / "model.safetensors").read_bytes() == (trained / "model.safetensors").read_bytes()
    about, other = (json.loads((folder / "lm.json").read_text()) for folder in (tmp_path / "m", trained))
    assert about["history"] == other["history"]
    assert about["curve"] == other["curve"]
    assert not (tmp_path / "m" / "checkpoint.safetensors").exists()


def test_a_model_that_is_there_is_not_replaced(trained, pack_folder):
    with pytest.raises(pairity.PairityError, match="--force"):
        lm.train(pack_folder, trained, TINY)


def test_bits_of_a_uniform_model():
    model = Llama(SMALL)
    with torch.no_grad():
        model.model.embed_tokens.weight.zero_()  # tied, so all logits are 0
    texts = texts_of([[1, 2, 3], [4], list(range(5, 45))])
    bits = score(model, texts, end_id=0)
    tokens = np.diff(texts.offsets) + 1
    assert bits == pytest.approx(math.log2(50) * tokens, rel=1e-6)
    assert bits_per_byte_by_language(bits, texts)[0] == pytest.approx(
        math.log2(50) * tokens.sum() / texts.bytes.sum(), rel=1e-6
    )


def test_bits_are_those_of_a_hand_computation():
    model = Llama(SMALL)
    model.begin(7)
    rows = [[1, 2, 3], [9, 9, 1, 4, 7, 8], [4]]
    found = score(model, texts_of(rows), end_id=0)
    for row, bits in zip(rows, found, strict=True):
        framed = [0, *row, 0]
        total = 0.0
        for place in range(1, len(framed)):
            logits = model(torch.tensor([framed[:place]]))[0, -1].double()
            total -= torch.log_softmax(logits, 0)[framed[place]].item() / math.log(2)
        assert bits == pytest.approx(total, rel=1e-5)


def test_long_documents_are_scored_in_windows_and_no_token_twice():
    for length in (1, 15, 16, 17, 24, 25, 100):
        counted = [place for one in windows(np.array([length]), 16) for place in range(one.counted, one.end)]
        assert counted == list(range(length))
        assert all(one.end - one.start <= 16 for one in windows(np.array([length]), 16))
        assert all(one.counted - one.start >= 8 for one in windows(np.array([length]), 16) if one.start)


@pytest.mark.parametrize(("kv_heads", "tied"), [(4, True), (2, False)])
def test_transformers_loads_the_folder_and_gives_the_same_logits(tmp_path, pack_folder, kv_heads, tied):
    transformers = pytest.importorskip("transformers")
    pack = Pack(pack_folder)
    shape = ModelShape(2, 32, 4, kv_heads, 48, tied, pack.tokenizer["vocab_size"], 16)
    model = Llama(shape)
    model.begin(5)
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(torch.randn(weight.shape, generator=torch.Generator().manual_seed(1)), alpha=0.1)
    running.save(tmp_path / "m", model, pack, {})
    theirs = transformers.LlamaForCausalLM.from_pretrained(tmp_path / "m")
    ids = torch.randint(0, shape.vocab_size, (3, 16), generator=torch.Generator().manual_seed(2))
    with torch.no_grad():
        assert torch.allclose(theirs(ids).logits, model(ids), atol=1e-4)
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / "m")
    assert tokenizer.eos_token == "<|endoftext|>"
    assert tokenizer("Hello").input_ids == pairity.Tokenizer.load(pack_folder / "tokenizer").encode("Hello")
    again = running.load(tmp_path / "m")
    assert again.shape == shape
    assert all(torch.equal(a, b) for a, b in zip(again.parameters(), model.parameters(), strict=True))


def test_parameters_are_counted_right():
    for tied in (True, False):
        shape = ModelShape(2, 32, 4, 2, 48, tied, 50, 16)
        assert shape.parameters == sum(weight.numel() for weight in Llama(shape).parameters())


def test_micro_batches_add_up_to_the_batch(pack_folder):
    pack = Pack(pack_folder)
    recipe = {**vars(TINY), "tokens": 4 * 32 * 3}
    found = []
    for size in (None, 1, 2):
        _, run = training.train(pack, Recipe(**{**recipe, "micro_batch": size}))
        found.append([row["loss"] for row in run.history])
    assert found[1] == pytest.approx(found[0], rel=1e-4)
    assert found[2] == pytest.approx(found[0], rel=1e-4)


def test_norms_and_the_embedding_are_not_decayed():
    decayed, plain = training.optimizer_of(Llama(SMALL), TINY).param_groups
    assert decayed["weight_decay"] == 0.1
    assert plain["weight_decay"] == 0
    assert {weight.dim() for weight in decayed["params"]} == {2}
    assert sum(weight.dim() == 2 for weight in plain["params"]) == 1


def test_safetensors_come_back_and_damage_is_told(tmp_path):
    tensors = {
        "a": torch.arange(6.0).view(2, 3),
        "b": torch.ones(3, dtype=torch.bfloat16),
        "c": torch.tensor(5.0),
    }
    with (tmp_path / "w").open("wb") as file:
        weights.writer(tensors, {"made": "here"})(file)
    found, metadata = weights.read(tmp_path / "w")
    assert metadata["made"] == "here"
    assert all(torch.equal(found[name], tensor) for name, tensor in tensors.items())
    data = (tmp_path / "w").read_bytes()
    for broken in (b"", data[:20], data[:-3], b"\xff" * 8 + data[8:]):
        (tmp_path / "w").write_bytes(broken)
        with pytest.raises(pairity.PairityError, match="damaged"):
            weights.read(tmp_path / "w")


def test_two_processes_learn_what_one_does(pack_folder, tmp_path):
    one = tmp_path / "one"
    recipe = Recipe(**{**vars(TINY), "tokens": 4 * 32 * 4})
    lm.train(pack_folder, one, recipe)
    program = (
        "import sys; from pairity import lm\n"
        f"lm.train({str(pack_folder)!r}, {str(tmp_path / 'two')!r}, lm.Recipe(**{vars(recipe)!r}))"
    )
    world = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29613", "OMP_NUM_THREADS": "1"}
    runs = [
        subprocess.Popen([sys.executable, "-c", program], env=os.environ | world | {"RANK": rank})
        for rank in "01"
    ]
    assert [run.wait(timeout=300) for run in runs] == [0, 0]
    losses = [
        [row["loss"] for row in json.loads((folder / "lm.json").read_text())["history"]]
        for folder in (one, tmp_path / "two")
    ]
    assert losses[1] == pytest.approx(losses[0], rel=1e-4)


def test_measuring_models(trained, packs, tmp_path):
    lm.train(packs["classical"].folder, tmp_path / "classical-1", TINY)
    scored = lm.measure_models([tmp_path / "classical-1", trained])
    assert {(one.tokenizer, one.text) for one in scored} == {
        (name, text) for name in ("classical", "parity") for text in ("held-out", "parallel")
    }
    assert all(
        0.5 < bits.sum() / one.bytes[code].sum() < 12 for one in scored for code, bits in one.bits.items()
    )


def test_what_runs_on_the_gpu_needs_torch_and_numpy_alone(pack_folder):
    program = f"""
import sys
for name in ("pyarrow", "pairity._core", "click", "rich", "tokenizers"):
    sys.modules[name] = None
from pathlib import Path
from pairity.lm import packing, training
from pairity.lm.packs import Pack
from pairity.lm.recipe import Recipe
recipe = Recipe(size="5M", batch=2, context=16, tokens=64, precision="float32")
print(training.train(Pack(Path({str(pack_folder)!r})), recipe)[1].step)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout == "2\n", done.stderr
