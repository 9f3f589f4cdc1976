"""Damage, drawn from a seed: bytes and texts that are nearly right."""

from __future__ import annotations

from random import Random

INTERESTING = (0, 1, 2, 0x0A, 0x22, 0x5B, 0x7F, 0x80, 0xC0, 0xFE, 0xFF)
WORDS = (0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)


def damaged(data: bytes, random: Random, most: int = 4) -> bytes:
    """The bytes with one to so many changes: bits, bytes, numbers, cuts, copies."""
    found = bytearray(data)
    for _ in range(random.randint(1, most)):
        if not found:
            return bytes(random.randbytes(random.randint(0, 8)))
        at = random.randrange(len(found))
        length = min(random.choice((1, 2, 4, 8, 60)), len(found) - at)
        match random.randrange(8):
            case 0:
                found[at] ^= 1 << random.randrange(8)
            case 1:
                found[at] = random.choice(INTERESTING)
            case 2:
                size = random.choice((1, 2, 4, 8))
                order = random.choice(("little", "big"))
                value = random.choice(WORDS) % (1 << 8 * size)
                found[at : at + size] = value.to_bytes(size, order)
            case 3:
                del found[at : at + length]
            case 4:
                found[at:at] = found[at : at + length]
            case 5:
                found[at:at] = random.randbytes(length)
            case 6:
                del found[at:]
            case _:
                other = random.randrange(len(found))
                found[at : at + length] = found[other : other + length]
    return bytes(found)


TOKENS = (
    "[", "]", "{", "}", "=", '"', "'", "[[", "]]", ",", ".", "#", "\n", "\t", "\\", "inf", "nan",
    "-1", "0", "1e400", "9" * 30, "9" * 5000, "0x", "true", '"\\u0000"', "[" * 300, "a." * 100,
    "\ufeff", "\u202e", "\x1b[2J", "=1+1", "../../etc/passwd", "/dev/zero", "*", "trace @x", "𝄞",
)  # fmt: skip


def damaged_text(text: str, random: Random, most: int = 3) -> str:
    """The text with one to so many changes: tokens, lines, copies, cuts."""
    for _ in range(random.randint(1, most)):
        lines = text.split("\n")
        at, place = random.randrange(len(lines)), random.randrange(len(text) + 1)
        match random.randrange(7):
            case 0:
                text = text[:place] + random.choice(TOKENS) + text[place:]
            case 1:
                text = text[:place] + text[place + random.choice((1, 2, 10)) :]
            case 2:
                del lines[at]
                text = "\n".join(lines)
            case 3:
                lines.insert(random.randrange(len(lines)), lines[at])
                text = "\n".join(lines)
            case 4:
                key, mark, _ = lines[at].partition("=")
                if mark:
                    lines[at] = f"{key}= {random.choice(TOKENS)}"
                text = "\n".join(lines)
            case 5:
                text = text[:place]
            case _:
                end = place + random.choice((3, 20))
                text = text[:end] + text[place:end] + text[end:]
    return text
