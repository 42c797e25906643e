"""GPT-2's byte-level alphabet: every byte as one printable character.

Token files of the Hugging Face world write tokens in it, ties between pairs are decided in it, and
its order is the order of the byte tokens' ids.

    >>> to_text("né".encode())
    'nÃ©'
    >>> to_text(b" a")
    'Ġa'
"""

_PRINTABLE = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
_OTHERS = [byte for byte in range(256) if byte not in _PRINTABLE]

BYTE_ORDER: bytes = bytes([*_PRINTABLE, *_OTHERS])
"""The 256 bytes in the order of their ids: by the code points of their characters."""

_TO_CHARACTER = {byte: chr(byte) for byte in _PRINTABLE} | {
    byte: chr(256 + i) for i, byte in enumerate(_OTHERS)
}
_TO_BYTE = {character: byte for byte, character in _TO_CHARACTER.items()}


def to_text(token: bytes) -> str:
    """b"the cat" -> "theĠcat" """
    return "".join(_TO_CHARACTER[byte] for byte in token)


def to_bytes(text: str) -> bytes:
    """ "theĠcat" -> b"the cat"; KeyError for a character outside the alphabet."""
    return bytes(_TO_BYTE[character] for character in text)
