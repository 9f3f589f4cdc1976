//! Ways for the agents: the A* search (P. E. Hart, N. J. Nilsson, B. Raphael, IEEE Transactions on
//! Systems Science and Cybernetics 4, 1968) on squares with costs, in eight directions.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Cost of a step straight and across over ground of cost 1.
const STRAIGHT: u32 = 10;
const ACROSS: u32 = 14;

/// Squares with the cost of stepping onto each; 0 cannot be entered.
#[derive(Debug, Clone)]
pub struct Grid {
    pub size: usize,
    pub costs: Vec<u8>,
}

/// The memory of a search, kept for the next one.
#[derive(Debug, Default)]
pub struct Finder {
    /// Best cost so far and the square before, valid if stamped with this search's number.
    best: Vec<u32>,
    before: Vec<u32>,
    stamps: Vec<u32>,
    search: u32,
    open: BinaryHeap<Reverse<(u32, u32, u32)>>,
}

impl Finder {
    /// The cheapest way and its cost, or none. The way begins after `start` and ends with `goal`.
    pub fn find(&mut self, grid: &Grid, start: u32, goal: u32) -> Option<(u32, Vec<u32>)> {
        self.stamps.resize(grid.costs.len(), 0);
        self.best.resize(grid.costs.len(), 0);
        self.before.resize(grid.costs.len(), 0);
        self.search += 1;
        self.open.clear();
        self.reach(grid, start, start, 0, goal);
        while let Some(Reverse((_, cost, here))) = self.open.pop() {
            if cost > self.best[here as usize] {
                continue;
            }
            if here == goal {
                return Some((cost, self.way(start, goal)));
            }
            self.expand(grid, here, cost, goal);
        }
        None
    }

    fn expand(&mut self, grid: &Grid, here: u32, cost: u32, goal: u32) {
        let size = grid.size as i32;
        let (x, y) = (here as i32 % size, here as i32 / size);
        for (dx, dy) in [
            (-1, -1),
            (0, -1),
            (1, -1),
            (-1, 0),
            (1, 0),
            (-1, 1),
            (0, 1),
            (1, 1),
        ] {
            let (nx, ny) = (x + dx, y + dy);
            if nx < 0 || ny < 0 || nx >= size || ny >= size {
                continue;
            }
            let next = (ny * size + nx) as u32;
            let ground = u32::from(grid.costs[next as usize]);
            // No cutting of corners: both squares beside a step across must be free.
            let beside = |x: i32, y: i32| grid.costs[(y * size + x) as usize] == 0;
            if ground == 0 || (dx != 0 && dy != 0 && (beside(nx, y) || beside(x, ny))) {
                continue;
            }
            let step = if dx != 0 && dy != 0 { ACROSS } else { STRAIGHT };
            self.reach(grid, here, next, cost + step * ground, goal);
        }
    }

    fn reach(&mut self, grid: &Grid, from: u32, to: u32, cost: u32, goal: u32) {
        let at = to as usize;
        if self.stamps[at] == self.search && self.best[at] <= cost {
            return;
        }
        self.stamps[at] = self.search;
        self.best[at] = cost;
        self.before[at] = from;
        // Equal estimates are broken by cost and place, so the way is always the same.
        let estimate = cost + least(grid.size as u32, to, goal);
        self.open.push(Reverse((estimate, cost, to)));
    }

    fn way(&self, start: u32, goal: u32) -> Vec<u32> {
        let mut way = Vec::new();
        let mut at = goal;
        while at != start {
            way.push(at);
            at = self.before[at as usize];
        }
        way.reverse();
        way
    }
}

/// The cost over free ground of cost 1: never more than the true one.
fn least(size: u32, from: u32, to: u32) -> u32 {
    let across = (from % size).abs_diff(to % size);
    let down = (from / size).abs_diff(to / size);
    ACROSS * across.min(down) + STRAIGHT * (across.max(down) - across.min(down))
}

#[cfg(test)]
mod tests {
    use super::*;
    use pentathlon_harness::Random;

    /// Bellman's equations solved by repetition: slow, and nothing like the search.
    fn slow(grid: &Grid, start: u32, goal: u32) -> Option<u32> {
        let size = grid.size as i32;
        let mut costs = vec![u32::MAX; grid.costs.len()];
        costs[start as usize] = 0;
        loop {
            let mut changed = false;
            for here in 0..costs.len() {
                if costs[here] == u32::MAX {
                    continue;
                }
                let (x, y) = (here as i32 % size, here as i32 / size);
                for dy in -1..=1 {
                    for dx in -1..=1 {
                        let (nx, ny) = (x + dx, y + dy);
                        if (dx, dy) == (0, 0) || nx < 0 || ny < 0 || nx >= size || ny >= size {
                            continue;
                        }
                        let free = |x: i32, y: i32| grid.costs[(y * size + x) as usize] > 0;
                        let diagonal = dx != 0 && dy != 0;
                        if !free(nx, ny) || diagonal && !(free(nx, y) && free(x, ny)) {
                            continue;
                        }
                        let next = (ny * size + nx) as usize;
                        let step = if diagonal { 14 } else { 10 };
                        let cost = costs[here] + step * u32::from(grid.costs[next]);
                        if cost < costs[next] {
                            costs[next] = cost;
                            changed = true;
                        }
                    }
                }
            }
            if !changed {
                return Some(costs[goal as usize]).filter(|&cost| cost != u32::MAX);
            }
        }
    }

    #[test]
    fn the_way_found_is_the_cheapest_and_connected() {
        let mut random = Random::new(8);
        let mut finder = Finder::default();
        let mut found = 0;
        for _ in 0..60 {
            let size = 12;
            let costs = (0..size * size)
                .map(|_| {
                    if random.unit() < 0.3 {
                        0
                    } else {
                        1 + random.below(5) as u8
                    }
                })
                .collect();
            let grid = Grid { size, costs };
            let (start, goal) = (0, (size * size - 1) as u32);
            let result = finder.find(&grid, start, goal);
            assert_eq!(
                result.as_ref().map(|r| r.0),
                slow(&grid, start, goal).filter(|_| { grid.costs[goal as usize] > 0 })
            );
            if let Some((_, way)) = result {
                found += 1;
                let mut last = start;
                for square in way {
                    let (x, y) = (square % 12, square / 12);
                    assert!(x.abs_diff(last % 12) <= 1 && y.abs_diff(last / 12) <= 1);
                    assert!(grid.costs[square as usize] > 0);
                    last = square;
                }
                assert_eq!(last, goal);
            }
        }
        assert!((5..60).contains(&found), "{found}");
    }

    #[test]
    fn walls_are_not_cut_at_corners() {
        // Two free squares that touch only at a corner.
        let grid = Grid {
            size: 2,
            costs: vec![1, 0, 0, 1],
        };
        assert_eq!(Finder::default().find(&grid, 0, 3), None);
    }
}
