"""The text that `cpu.compress` and its like work on, made again as the agent makes it.

Words of an invented language, drawn by Zipf's law
(agent/crates/workloads/src/cpu/corpus/text.rs), so that other programs can be given the
same bytes. `checksum` is the agent's, which reports it for `cpu.decompress`: where the two agree,
the text is the same.
"""

from __future__ import annotations

from bisect import bisect_right

MASK = (1 << 64) - 1
VOCABULARY = 12_000
ONSETS = ("", "b", "c", "d", "f", "g", "l", "m", "n", "p", "r", "s", "t", "th", "st", "pr")
NUCLEI = ("a", "e", "i", "o", "u", "ea", "e", "o")
CODAS = ("", "", "n", "r", "s", "t", "l", "nd")


class Random:
    """splitmix64."""

    def __init__(self, seed: int) -> None:
        self.state = seed

    def next(self) -> int:
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return z ^ (z >> 31)

    def unit(self) -> float:
        return (self.next() >> 11) / (1 << 53)

    def below(self, bound: int) -> int:
        return (self.next() * bound) >> 64


def vocabulary(random: Random) -> list[str]:
    """Words of one to four syllables; the frequent ones are short."""
    words: dict[str, None] = {}
    while len(words) < VOCABULARY:
        rank = len(words)
        count = 1 + (rank > 80) + random.below(2) + random.below(1 + rank // 4000)
        word = ""
        for _ in range(count):
            word += ONSETS[random.below(len(ONSETS))]
            word += NUCLEI[random.below(len(NUCLEI))]
            word += CODAS[random.below(len(CODAS))]
        words.setdefault(word)
    return list(words)


def text(length: int, seed: int = 0) -> bytes:
    """Exactly `length` bytes of text."""
    random = Random(seed)
    words = [word.encode() for word in vocabulary(random)]
    ends: list[float] = []
    total = 0.0
    for rank in range(VOCABULARY):
        total += 1.0 / (rank + 2.0)
        ends.append(total)
    made = bytearray()
    sentence = 0
    recent: list[int] = []
    while len(made) < length:
        # `and` spares the draw where the agent's `&&` does.
        if len(recent) > 8 and random.unit() < 0.2:
            word = recent[-2 - random.below(7)]
        else:
            word = min(bisect_right(ends, random.unit() * ends[-1]), VOCABULARY - 1)
        recent.append(word)
        added = words[word]
        made += added[:1].upper() + added[1:] if sentence == 0 else added
        sentence += 1
        if sentence > 4 and random.unit() < 0.08:
            sentence = 0
            made += b".\n\n" if random.unit() < 0.15 else b". "
        elif random.unit() < 0.08:
            made += b", "
        else:
            made += b" "
    return bytes(made[:length])


def checksum(data: bytes) -> int:
    """FNV-1a over 64-bit words, as the agent takes it."""
    total = 0xCBF29CE484222325
    whole = len(data) // 8 * 8
    words = [int.from_bytes(data[at : at + 8], "little") for at in range(0, whole, 8)]
    for word in (*words, int.from_bytes(data[whole:], "little"), len(data)):
        mixed = ((total ^ word) * 0x100000001B3) & MASK
        total = mixed ^ (mixed >> 32)
    return total
