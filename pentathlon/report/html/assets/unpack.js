"use strict";
/* What the page carries compressed: texts by id, as DEFLATE (RFC 1951) in a zlib stream (RFC 1950),
   in base64. Decoded here and at once, so that a page is complete when it has been read: browsers
   do it in the background only. */
const unpack = (id) => {
  const packed = Uint8Array.from(atob(document.getElementById(id).textContent), (c) => c.charCodeAt(0));
  let at = 2, held = 0, count = 0; // behind the two bytes of the zlib header
  const bits = (n) => {
    while (count < n) { held |= packed[at++] << count; count += 8; }
    const value = held & ((1 << n) - 1);
    held >>>= n; count -= n;
    return value;
  };
  let made = new Uint8Array(packed.length * 4), size = 0;
  const room = (more) => {
    if (size + more <= made.length) return;
    const larger = new Uint8Array(Math.max(made.length * 2, size + more));
    larger.set(made); made = larger;
  };
  /* Canonical codes (3.2.2): how many there are of each length, and their symbols in order. */
  const code = (lengths) => {
    const counts = new Uint16Array(16), places = new Uint16Array(17), symbols = new Uint16Array(lengths.length);
    for (const length of lengths) counts[length]++;
    counts[0] = 0;
    for (let length = 1; length < 16; length++) places[length + 1] = places[length] + counts[length];
    lengths.forEach((length, symbol) => { if (length) symbols[places[length]++] = symbol; });
    return { counts, symbols };
  };
  const decode = ({ counts, symbols }) => {
    let value = 0, first = 0, place = 0;
    for (let length = 1; length < 16; length++) {
      value |= bits(1);
      if (value - first < counts[length]) return symbols[place + value - first];
      place += counts[length];
      first = (first + counts[length]) << 1;
      value <<= 1;
    }
    throw new Error("the page is damaged");
  };
  /* Lengths and distances (3.2.5): a base and how many bits come on top. */
  const LENGTHS = [3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258];
  const DISTANCES = Array.from({ length: 30 }, (_, i) => i < 4 ? i + 1 : ((2 + (i & 1)) << ((i >> 1) - 1)) + 1);
  const lengthBits = (i) => i < 8 || i === 28 ? 0 : (i >> 2) - 1;
  const distanceBits = (i) => i < 4 ? 0 : (i >> 1) - 1;
  const ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
  const fixed = [
    code(Array.from({ length: 288 }, (_, i) => i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8)),
    code(new Array(30).fill(5)),
  ];
  const described = () => {
    const literals = bits(5) + 257, distances = bits(5) + 1, own = bits(4) + 4;
    const first = new Array(19).fill(0);
    for (let i = 0; i < own; i++) first[ORDER[i]] = bits(3);
    const lengths = [], description = code(first);
    while (lengths.length < literals + distances) {
      const symbol = decode(description);
      if (symbol < 16) lengths.push(symbol);
      else {
        const [value, times] = symbol === 16 ? [lengths.at(-1), 3 + bits(2)] : [0, symbol === 17 ? 3 + bits(3) : 11 + bits(7)];
        for (let i = 0; i < times; i++) lengths.push(value);
      }
    }
    return [code(lengths.slice(0, literals)), code(lengths.slice(literals))];
  };
  for (let last = 0; !last;) {
    last = bits(1);
    const kind = bits(2);
    if (kind === 0) {
      held = count = 0;
      const length = packed[at] | packed[at + 1] << 8;
      room(length);
      made.set(packed.subarray(at + 4, at + 4 + length), size);
      at += 4 + length; size += length;
      continue;
    }
    const [literals, distances] = kind === 1 ? fixed : described();
    for (let symbol; (symbol = decode(literals)) !== 256;) {
      room(258);
      if (symbol < 256) { made[size++] = symbol; continue; }
      const length = LENGTHS[symbol - 257] + bits(lengthBits(symbol - 257));
      const far = decode(distances), back = DISTANCES[far] + bits(distanceBits(far));
      for (let i = 0; i < length; i++, size++) made[size] = made[size - back];
    }
  }
  return new TextDecoder().decode(made.subarray(0, size));
};
