"""GPT-2's byte-level alphabet: every byte as one printable character.

Files of the Hugging Face world spell tokens in it, ties between pairs are broken by it, and its order is the order of
the byte tokens' ids.

    >>> to_text("né".encode())
    'nÃ©'
    >>> to_text(b" a")
    'Ġa'
"""

PRINTABLE = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
OTHERS = [byte for byte in range(256) if byte not in PRINTABLE]

BYTE_ORDER: bytes = bytes([*PRINTABLE, *OTHERS])
"""The 256 bytes in the order of their ids: by the code points of their characters."""

TO_CHARACTER = {byte: chr(byte) for byte in PRINTABLE} | {byte: chr(256 + i) for i, byte in enumerate(OTHERS)}
TO_BYTE = {character: byte for byte, character in TO_CHARACTER.items()}


def to_text(token: bytes) -> str:
    """b"the cat" -> "theĠcat" """
    return "".join(TO_CHARACTER[byte] for byte in token)


def to_bytes(text: str) -> bytes:
    """ "theĠcat" -> b"the cat"; KeyError for a character outside the alphabet."""
    return bytes(TO_BYTE[character] for character in text)
