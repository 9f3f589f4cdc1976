use super::*;
use serde_json::{json, Value};

const MS: u64 = 1_000_000;

/// 1 Mbit/s, so that 125 bytes take a millisecond; 10 ms; room for 1000 bytes.
fn way(change: Value) -> Way {
    let mut way = json!({
        "rate_bps": 1e6, "delay_ns": 10 * MS, "queue": {"bytes": 1000}, "mtu_bytes": 1500,
    });
    for (key, value) in change.as_object().unwrap() {
        way[key] = value.clone();
    }
    serde_json::from_value(way).unwrap()
}

fn direction(change: Value) -> Direction<usize> {
    Direction::new(&way(change), 5, 0).unwrap()
}

/// Offers frames of 125 bytes at these times; when each that came through was due, and which.
fn carried(direction: &mut Direction<usize>, times: &[u64]) -> Vec<(u64, usize)> {
    for (number, &at) in times.iter().enumerate() {
        direction.offer(at, 125, number);
    }
    drained(direction)
}

fn drained(direction: &mut Direction<usize>) -> Vec<(u64, usize)> {
    direction.advance(u64::MAX / 2);
    let mut found = Vec::new();
    while let Some(due) = direction.due(u64::MAX / 2) {
        found.extend(std::iter::repeat_n(
            (due.at_ns, due.frame),
            1 + usize::from(due.twice),
        ));
    }
    found
}

#[test]
fn a_burst_comes_out_at_the_rate_and_the_rest_is_dropped() {
    let mut direction = direction(json!({}));
    let found = carried(&mut direction, &[0; 20]);
    // One is on the line, eight of 125 bytes fit into 1000.
    let expected: Vec<_> = (0..9).map(|n| ((n as u64 + 1 + 10) * MS, n)).collect();
    assert_eq!(found, expected);
    assert_eq!(direction.statistics.drops.queue, 11);
    assert_eq!(direction.used().queue.high_bytes, 1000);
}

#[test]
fn the_delay_holds_many_frames_at_once() {
    // One each millisecond: the line is busy all the time, and ten are on the way.
    let times: Vec<u64> = (0..100).map(|n| n * MS).collect();
    let mut direction = direction(json!({}));
    let (early, late) = times.split_at(51);
    for (number, &at) in early.iter().enumerate() {
        direction.offer(at, 125, number);
    }
    direction.advance(50 * MS);
    let mut found = Vec::new();
    while let Some(due) = direction.due(50 * MS) {
        found.push((due.at_ns, due.frame));
    }
    assert_eq!(found.len(), 40);
    // Ten whole ones, and the one that is being put on the line.
    assert_eq!(direction.used().queue.on_the_way, 11);
    for (number, &at) in late.iter().enumerate() {
        direction.offer(at, 125, early.len() + number);
    }
    found.extend(drained(&mut direction));
    assert_eq!(found.len(), 100);
    assert!(found.iter().all(|&(at, n)| at == times[n] + 11 * MS));
}

#[test]
fn a_bucket_lets_a_burst_through_and_no_more_than_the_rate_later() {
    let mut direction = direction(json!({"burst_bytes": 500, "delay_ns": 0}));
    let found: Vec<u64> = carried(&mut direction, &[0; 8])
        .iter()
        .map(|&(at, _)| at)
        .collect();
    let expected = [0, 0, 0, 0, MS, 2 * MS, 3 * MS, 4 * MS];
    assert_eq!(found, expected);
    // After a long pause the bucket is full again, and not fuller.
    let later: Vec<u64> = carried(&mut direction, &[1000 * MS; 6])
        .iter()
        .map(|&(at, _)| at - 1000 * MS)
        .collect();
    assert_eq!(later, [0, 0, 0, 0, MS, 2 * MS]);
}

#[test]
fn each_frame_pays_the_overhead_of_the_line() {
    let mut direction = direction(json!({"overhead_bytes": 125, "delay_ns": 0}));
    assert_eq!(carried(&mut direction, &[0, 0]), [(2 * MS, 0), (4 * MS, 1)]);
}

#[test]
fn a_late_caller_changes_nothing() {
    let change = json!({
        "jitter": {"model": "exponential", "mean": 3.0}, "reorder": 0.1, "duplicate": 0.05,
        "loss": {"model": "gilbert", "p": 0.05, "r": 0.3, "loss_bad": 0.5, "loss_good": 0.0},
        "queue": {"bytes": 5000, "codel": {"target_ns": 5 * MS, "interval_ns": 20 * MS}},
    });
    // Bursts of twenty every 15 ms: the queue fills and empties.
    let times: Vec<u64> = (0..2000).map(|n| n / 20 * 15 * MS).collect();
    let whole = carried(&mut direction(change.clone()), &times);
    let mut prompt = direction(change.clone());
    let mut found = Vec::new();
    let mut next = times.iter().enumerate().peekable();
    for now in (0..4000 * MS).step_by(100_000) {
        while let Some((number, &at)) = next.next_if(|(_, &at)| at <= now) {
            prompt.offer(at, 125, number);
        }
        prompt.advance(now);
        while let Some(due) = prompt.due(now) {
            found.push((due.at_ns, due.frame));
            if due.twice {
                found.push((due.at_ns, due.frame));
            }
        }
    }
    assert_eq!(found, whole);
    assert!(prompt.statistics.drops.codel > 0 && prompt.statistics.drops.loss > 0);
    assert!(prompt.statistics.ahead > 0 && prompt.statistics.duplicated > 0);
}

#[test]
fn what_goes_ahead_skips_the_delay_and_the_share_is_kept() {
    let mut direction = direction(json!({"reorder": 0.25}));
    let times: Vec<u64> = (0..20_000).map(|n| n * 2 * MS).collect();
    let found = carried(&mut direction, &times);
    let ahead = found.iter().filter(|&&(at, n)| at == times[n] + MS).count();
    let behind = found
        .iter()
        .filter(|&&(at, n)| at == times[n] + 11 * MS)
        .count();
    assert_eq!(ahead + behind, 20_000);
    assert!((4700..5300).contains(&ahead), "{ahead}");
    assert!(found.windows(2).any(|pair| pair[0].1 > pair[1].1));
}

#[test]
fn jitter_overtakes_unless_the_order_is_kept() {
    let jitter = json!({"model": "uniform", "minimum": -5.0, "maximum": 5.0});
    let times: Vec<u64> = (0..5000).map(|n| n * 2 * MS).collect();
    let free = carried(&mut direction(json!({"jitter": jitter})), &times);
    assert!(free.windows(2).any(|pair| pair[0].1 > pair[1].1));
    let delays = free.iter().map(|&(at, n)| at - times[n]);
    assert!(delays.clone().min() < Some(7 * MS) && delays.max() > Some(15 * MS));
    let kept = json!({"jitter": jitter, "keep_order": true});
    let kept = carried(&mut direction(kept), &times);
    assert!(kept.windows(2).all(|pair| pair[0].1 < pair[1].1));
}

#[test]
fn duplicates_come_with_their_original() {
    let times: Vec<u64> = (0..10_000).map(|n| n * 2 * MS).collect();
    let mut direction = direction(json!({"duplicate": 0.1}));
    let found = carried(&mut direction, &times);
    let twice = found.windows(2).filter(|pair| pair[0] == pair[1]).count();
    assert_eq!(twice as u64, direction.statistics.duplicated);
    assert!((800..1200).contains(&twice), "{twice}");
}

#[test]
fn nothing_crosses_a_line_that_is_cut() {
    let mut direction = direction(json!({}));
    for number in 0..3 {
        direction.offer(0, 125, number);
    }
    direction.advance(2 * MS);
    direction.cut(true);
    assert!(direction.offer(2 * MS, 125, 3).is_some());
    assert_eq!(drained(&mut direction), []);
    assert_eq!(direction.statistics.drops.cut, 4);
    direction.cut(false);
    assert_eq!(carried(&mut direction, &[100 * MS]), [(111 * MS, 0)]);
}

#[test]
fn frames_beyond_the_mtu_do_not_pass() {
    let mut direction = direction(json!({"mtu_bytes": 100}));
    assert!(direction.offer(0, 115, 0).is_some());
    assert!(direction.offer(0, 114, 1).is_none());
    assert_eq!(direction.statistics.drops.mtu, 1);
}

#[test]
fn the_next_time_is_a_bound_that_is_reached() {
    let mut direction = direction(json!({}));
    assert_eq!(direction.next_ns(), None);
    direction.offer(0, 125, 0);
    direction.offer(0, 125, 1);
    // Whoever sleeps until the bound, advances, and asks again, misses nothing.
    let mut found = Vec::new();
    while let Some(next) = direction.next_ns() {
        direction.advance(next);
        while let Some(due) = direction.due(next) {
            assert_eq!(due.at_ns, next);
            found.push(due.frame);
        }
    }
    assert_eq!(found, [0, 1]);
}

#[test]
fn a_seed_decides_and_the_directions_differ() {
    let loss = json!({"loss": {"model": "random", "share": 0.5}});
    let times: Vec<u64> = (0..64).map(|n| n * 2 * MS).collect();
    let take = |seed, which| {
        let mut direction = Direction::new(&way(loss.clone()), seed, which).unwrap();
        carried(&mut direction, &times)
    };
    assert_eq!(take(1, 0), take(1, 0));
    assert_ne!(take(1, 0), take(2, 0));
    assert_ne!(take(1, 0), take(1, 1));
}

#[test]
fn numbers_that_cannot_be_are_refused_by_name() {
    for (change, name) in [
        (json!({"reorder": 1.5}), "reorder"),
        (json!({"duplicate": -0.1}), "duplicate"),
        (json!({"loss": {"model": "random", "share": 2.0}}), "share"),
        (json!({"rate_bps": 0.0}), "rate_bps"),
        (json!({"mtu_bytes": 10}), "mtu_bytes"),
        (json!({"jitter": {"quantiles": [3.0, 1.0]}}), "quantiles"),
        (
            json!({"jitter": {"model": "normal", "mean": 0.0, "sd": -1.0}}),
            "normal",
        ),
    ] {
        let made = Direction::<usize>::new(&way(change), 0, 0);
        let error = made.err().unwrap_or_else(|| panic!("{name} was taken"));
        assert!(error.contains(name), "{error}");
    }
}
