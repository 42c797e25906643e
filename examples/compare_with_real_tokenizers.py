# %% [markdown]
# # How fair are the tokenizers that people use?
#
# Our tokenizer next to those of GPT-4o, Llama 3, Qwen and Mistral, on the same parallel lines.
# The others come with Python packages; nothing is downloaded when this runs:
#
#     pip install "pairity[report,demo,peers]"
#     pip install --no-deps litellm llama-models dashscope mistral-common
#
# Run it as a program, or cell by cell in an editor that knows `# %%`.

# %%
import importlib.util
import os
import sys
from pathlib import Path

import pairity
from pairity import demo, sample


def inside(package: str, pattern: str) -> Path | None:
    """A file or folder that an installed package carries, without importing the package."""
    found = importlib.util.find_spec(package)
    if found is None or not found.submodule_search_locations:
        print(f"not installed, so left out: {package}", file=sys.stderr)
        return None
    files = sorted(Path(found.submodule_search_locations[0]).glob(pattern))
    return files[-1] if files else None


# %% [markdown]
# ## The tokenizers
#
# Ours is the parity tokenizer of the demo: 32,000 tokens, against vocabularies of 128,000 to 200,000.
# litellm carries OpenAI's ranks as a cache of tiktoken, so tiktoken need not download them.

# %%
words = {language: demo.word_counts(language) for language in demo.WORDFREQ_CODES}
ours = pairity.train(words, dev=sample.read("dev"), vocab_size=demo.VOCAB_SIZE)

tokenizers = {"ours (32k)": ours}
cache = inside("litellm", "litellm_core_utils/tokenizers")
if cache is not None:
    os.environ["TIKTOKEN_CACHE_DIR"] = str(cache)
    tokenizers["GPT-4o"] = "tiktoken:o200k_base"
for name, package, pattern in [
    ("Llama 3", "llama_models", "llama3/tokenizer.model"),
    ("Qwen", "dashscope", "resources/qwen.tiktoken"),
    ("Mistral Tekken", "mistral_common", "data/tekken_*.json"),
]:
    path = inside(package, pattern)
    if path is not None:
        tokenizers[name] = str(path)

# %% [markdown]
# ## The comparison
#
# The 40 test lines of the sample steered no tokenizer. GPT-4o is the baseline if it is there.

# %%
baseline = "GPT-4o" if "GPT-4o" in tokenizers else "ours (32k)"
scores = pairity.evaluate(tokenizers, sample.read("test"), baseline=baseline)
for one in scores.overview():
    cost = scores.value(one.tokenizer, "cost", one.worst_language)
    print(
        f"{one.tokenizer:16} Gini {one.gini.value:.3f}   lines/token {one.compression_rate:.4f}   "
        f"most expensive: {one.worst_language} ({cost:.1f} tokens per line)"
    )

# %% [markdown]
# ## The page

# %%
page = pairity.report(scores, "real_tokenizers.html", tokenizers=tokenizers, sentences=sample.read("test"))
print(f"written: {page}")
