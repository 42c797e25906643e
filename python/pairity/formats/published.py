"""Published files of ranks: their patterns and special tokens, which are not in the files.

A file is recognised by its name, or by the name that the user writes after an at sign. It gets the special tokens only
if it has as many ranks as the published file: with another size, it is somebody's own file, with other ids.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pairity.text.pretokenizers import CL100K, PRESETS, TIKTOKEN_GPT2, pattern_of

END_OF_TEXT = "<|endoftext|>"
END_OF_PROMPT = "<|endofprompt|>"


def numbered(name: str, first: int, after: int) -> list[str]:
    """numbered("<|extra_{}|>", 0, 2) -> ["<|extra_0|>", "<|extra_1|>"]"""
    return [name.format(number) for number in range(first, after)]


def from_id(first: int, names: list[str]) -> dict[str, int]:
    return {name: token_id for token_id, name in enumerate(names, start=first)}


@dataclass(frozen=True)
class Published:
    pattern: str
    ranks: int
    special_tokens: Mapping[str, int] = field(default_factory=dict)


O200K = {END_OF_TEXT: 199_999, END_OF_PROMPT: 200_018}
HARMONY = O200K | from_id(
    199_998,
    [
        "<|startoftext|>",
        END_OF_TEXT,
        *numbered("<|reserved_{}|>", 200_000, 200_002),
        "<|return|>",
        "<|constrain|>",
        *numbered("<|reserved_{}|>", 200_004, 200_005),
        *["<|channel|>", "<|start|>", "<|end|>", "<|message|>"],
        *numbered("<|reserved_{}|>", 200_009, 200_012),
        "<|call|>",
        *numbered("<|reserved_{}|>", 200_013, 201_088),
    ],
)

LLAMA3 = [
    "<|begin_of_text|>",
    "<|end_of_text|>",
    *numbered("<|reserved_special_token_{}|>", 0, 2),
    "<|finetune_right_pad_id|>",
    "<|step_id|>",
    "<|start_header_id|>",
    "<|end_header_id|>",
    "<|eom_id|>",
    "<|eot_id|>",
    "<|python_tag|>",
    "<|image|>",
    *numbered("<|reserved_special_token_{}|>", 2, 246),
]

LLAMA4 = [
    *["<|begin_of_text|>", "<|end_of_text|>", "<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>"],
    *["<|header_start|>", "<|header_end|>", "<|eom|>", "<|eot|>", "<|step|>"],
    *numbered("<|text_post_train_reserved_special_token_{}|>", 0, 6),
    *["<|python_start|>", "<|python_end|>", "<|finetune_right_pad|>"],
    *numbered("<|text_post_train_reserved_special_token_{}|>", 8, 69),
    *["<|image_start|>", "<|image_end|>"],
    *numbered("<|vision_reserved_special_token_{}|>", 0, 2),
    *["<|tile_x_separator|>", "<|tile_y_separator|>"],
    *numbered("<|vision_reserved_special_token_{}|>", 2, 6),
    *["<|image|>", "<|vision_reserved_special_token_6|>", "<|patch|>"],
    *numbered("<|vision_reserved_special_token_{}|>", 7, 1048),
    *numbered("<|reasoning_reserved_special_token_{}|>", 0, 8),
    *["<|reasoning_thinking_start|>", "<|reasoning_thinking_end|>"],
    *numbered("<|reserved_special_token_{}|>", 0, 904),
]

QWEN = [END_OF_TEXT, "<|im_start|>", "<|im_end|>", *numbered("<|extra_{}|>", 0, 205)]

TEKKEN = [
    *["<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]"],
    *["[TOOL_RESULTS]", "[/TOOL_RESULTS]", "[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]", "[IMG_END]"],
    *["[PREFIX]", "[MIDDLE]", "[SUFFIX]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[TOOL_CONTENT]"],
]
"""The special tokens of a tekken.json that does not list them."""

GPT4O, GPT2 = (str(PRESETS[name]) for name in ("gpt4o", "gpt2"))

PUBLISHED = {
    "o200k_harmony": Published(GPT4O, 199_998, HARMONY),
    "o200k": Published(GPT4O, 199_998, O200K),
    "cl100k": Published(
        CL100K,
        100_256,
        {END_OF_TEXT: 100_257, END_OF_PROMPT: 100_276}
        | from_id(100_258, ["<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>"]),
    ),
    "p50k_edit": Published(
        TIKTOKEN_GPT2,
        50_280,
        {END_OF_TEXT: 50_256} | from_id(50_281, ["<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>"]),
    ),
    "p50k": Published(TIKTOKEN_GPT2, 50_280, {END_OF_TEXT: 50_256}),
    "r50k": Published(TIKTOKEN_GPT2, 50_256, {END_OF_TEXT: 50_256}),
    "gpt2": Published(TIKTOKEN_GPT2, 50_256, {END_OF_TEXT: 50_256}),
    "llama3": Published(str(PRESETS["gpt4"]), 128_000, from_id(128_000, LLAMA3)),
    "llama4": Published(GPT4O, 200_000, from_id(200_000, LLAMA4)),
    "qwen": Published(str(pattern_of("gpt4", digits=True)), 151_643, from_id(151_643, QWEN)),
    # Of Whisper, whose special tokens differ from model to model, so the file does not determine them.
    "multilingual": Published(GPT2, 50_257),
}
"""Part of the name of a file or its folder -> what belongs to it. The first that fits counts."""


def in_place(place: str) -> str | None:
    """The name of the published file that a path looks like: "llama3/tokenizer.model" -> "llama3" """
    return next((name for name in PUBLISHED if name in place.lower()), None)
