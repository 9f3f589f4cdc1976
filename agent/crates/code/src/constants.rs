//! What the generated functions consist of: read by the build script, which writes them out, and
//! by the library, which computes their result a second time.

/// Rounds of a function. A round updates each of the four lanes once.
pub const ROUNDS: usize = 16;

/// The constant of one update, different everywhere, so that no two parts of the code are alike.
pub fn constant(function: usize, round: usize, lane: usize) -> u64 {
    let place = ((function * ROUNDS + round) * 4 + lane) as u64;
    // The finaliser of splitmix64 (Steele, Lea, Flood 2014).
    let mut mixed = (place + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    // The highest bit is set, because a smaller number may have a shorter instruction.
    mixed ^ (mixed >> 31) | 1 << 63
}
