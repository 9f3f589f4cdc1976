//! A ring of addresses through a block, one per line, and the walk along it.

use super::super::order;

/// Words of a node: the address of the next one, and its own place in the ring.
const NEXT: usize = 0;
const PLACE: usize = 1;

/// A random ring through all lines of a block, and where the walk stands.
pub struct Chain<'a> {
    words: &'a mut [u64],
    stride: usize,
    nodes: u64,
    /// Word that the walk stands on, and its place in the ring.
    at: usize,
    place: u64,
}

impl<'a> Chain<'a> {
    /// Most nodes of a ring.
    pub const MOST: u64 = u32::MAX as u64;

    /// Bytes that building needs beside the block.
    pub fn bytes_to_build(nodes: u64) -> usize {
        nodes as usize * size_of::<u32>()
    }

    /// Writes a ring with one node every `stride` words.
    ///
    /// # Panics
    /// If the block has no room for two nodes, or for more than [`Self::MOST`].
    pub fn build(words: &'a mut [u64], stride: usize, seed: u64) -> Self {
        assert!(stride > PLACE, "a node has two words");
        let nodes = (words.len() / stride) as u64;
        assert!((2..=Self::MOST).contains(&nodes), "two nodes or more");
        let order = order::shuffled(nodes as u32, seed);
        let start = words.as_mut_ptr();
        for (place, &node) in order.iter().enumerate() {
            let next = order[(place + 1) % order.len()] as usize;
            let at = node as usize * stride;
            words[at + NEXT] = start.wrapping_add(next * stride) as u64;
            words[at + PLACE] = place as u64;
        }
        Self {
            at: order[0] as usize * stride,
            words,
            stride,
            nodes,
            place: 0,
        }
    }

    pub fn nodes(&self) -> u64 {
        self.nodes
    }

    /// Follows the ring for `steps`; returns the address reached.
    #[inline]
    pub fn walk(&mut self, steps: u64) -> u64 {
        let start = &self.words[self.at] as *const u64;
        // SAFETY: `build` wrote into every node the address of another node of this block, which
        // is borrowed for as long as `self`, and nothing writes to it afterwards.
        unsafe { super::chase(start, steps) as u64 }
    }

    /// Follows the ring for `steps` from where the last call ended, which nobody has checked yet.
    #[inline]
    pub fn walk_on(&mut self, steps: u64) -> u64 {
        let address = self.walk(steps);
        // An address outside of the block is found as such by the next use of the index.
        self.at = (address.wrapping_sub(self.words.as_ptr() as u64) / 8) as usize;
        address
    }

    /// Takes the walk's end for granted only if it is the node that `steps` lead to.
    pub fn arrive(&mut self, steps: u64, address: u64) -> Result<(), String> {
        let expected = (self.place + steps % self.nodes) % self.nodes;
        let offset = address.wrapping_sub(self.words.as_ptr() as u64) / 8;
        let place = usize::try_from(offset)
            .ok()
            .filter(|at| at.is_multiple_of(self.stride))
            .and_then(|at| self.words.get(at + PLACE));
        match place {
            Some(&place) if place == expected => {
                self.at = offset as usize;
                self.place = place;
                Ok(())
            }
            Some(&place) => Err(format!(
                "{steps} loads lead to place {expected} of the ring, the walk ended at {place}"
            )),
            None => Err(format!(
                "{steps} loads lead to place {expected} of the ring, the walk left the block"
            )),
        }
    }

    /// Reads the ring back from memory: the wrapping sum, over all nodes, of the node's place (from
    /// 1) times the number of the next line (from 1).
    pub fn checksum(&self) -> u64 {
        let start = self.words.as_ptr() as u64;
        let stride = self.stride as u64 * 8;
        self.words
            .chunks_exact(self.stride)
            .take(self.nodes as usize)
            .fold(0, |sum, node| {
                let line = node[NEXT].wrapping_sub(start) / stride;
                sum.wrapping_add((node[PLACE] + 1).wrapping_mul(line + 1))
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ring_is_one_cycle_through_every_line() {
        for stride in [2, 8, 16, 24] {
            for nodes in [2usize, 3, 5, 64, 127, 1000, 4096] {
                let mut words = vec![0; nodes * stride];
                let mut chain = Chain::build(&mut words, stride, 42);
                let mut seen = vec![false; nodes];
                for step in 0..nodes {
                    let node = chain.at / stride;
                    assert!(!seen[node], "line {node} again after {step} steps");
                    seen[node] = true;
                    let address = chain.walk(1);
                    chain.arrive(1, address).unwrap();
                }
                assert_eq!(chain.place, 0, "back at the start");
            }
        }
    }

    #[test]
    fn walks_of_any_length_arrive_where_the_order_states() {
        let mut words = vec![0; 8 * 1000];
        let mut chain = Chain::build(&mut words, 8, 1);
        let order = order::shuffled(1000, 1);
        let mut total = 0;
        for steps in [0, 1, 31, 32, 33, 999, 1000, 1001, 123_457] {
            let address = chain.walk(steps);
            chain.arrive(steps, address).unwrap();
            total += steps;
            assert_eq!(chain.at / 8, order[(total % 1000) as usize] as usize);
        }
    }

    #[test]
    fn a_walk_in_several_parts_arrives_where_one_of_their_length_does() {
        let mut words = vec![0; 8 * 100];
        let mut chain = Chain::build(&mut words, 8, 1);
        let ends: Vec<u64> = [30, 0, 45].map(|steps| chain.walk_on(steps)).into();
        assert!(ends[0] == ends[1] && ends[1] != ends[2]);
        assert!(chain.arrive(76, ends[2]).is_err());
        assert!(chain.arrive(75, ends[2]).is_ok());
        assert_eq!(chain.place, 75);
    }

    #[test]
    fn a_walk_that_was_not_taken_is_found() {
        let mut words = vec![0; 8 * 64];
        let mut chain = Chain::build(&mut words, 8, 1);
        let address = chain.walk(10);
        assert!(chain.arrive(11, address).unwrap_err().contains("place 11"));
        assert!(chain.arrive(10, address + 8).is_err());
        assert!(chain.arrive(10, 0).unwrap_err().contains("left the block"));
        assert!(chain.arrive(10, address).is_ok());
    }

    #[test]
    fn the_checksum_depends_on_the_order_alone() {
        let order = order::shuffled(300, 9);
        let expected = (0..300).fold(0u64, |sum, k| {
            sum + (k as u64 + 1) * (u64::from(order[(k + 1) % 300]) + 1)
        });
        let (mut one, mut two) = (vec![0; 8 * 300], vec![5; 8 * 300 + 3]);
        assert_eq!(Chain::build(&mut one, 8, 9).checksum(), expected);
        assert_ne!(Chain::build(&mut one, 8, 10).checksum(), expected);
        let chain = Chain::build(&mut two, 8, 9);
        assert_eq!(chain.checksum(), expected);
        chain.words[8 * 17 + NEXT] += 64;
        assert_ne!(chain.checksum(), expected, "a pointer was bent");
    }
}
