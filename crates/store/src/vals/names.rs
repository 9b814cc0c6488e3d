//! Readable names for vals that came without one.

use hamlet_models::ValName;

const ADJECTIVES: [&str; 48] = [
    "amber", "ample", "basil", "brave", "brief", "bright", "brisk", "calm", "clear", "clever", "cosy",
    "crisp", "daring", "deep", "eager", "early", "easy", "fair", "fine", "fond", "frank", "fresh", "gentle",
    "glad", "golden", "grand", "green", "happy", "honest", "humble", "keen", "kind", "lively", "lucid",
    "lucky", "mellow", "merry", "neat", "noble", "patient", "plain", "proud", "quick", "quiet", "rapid",
    "silver", "steady", "warm",
];

const NOUNS: [&str; 48] = [
    "acorn", "anchor", "apple", "arrow", "badger", "beacon", "birch", "bridge", "brook", "candle", "canyon",
    "cedar", "cliff", "cloud", "comet", "coral", "crane", "delta", "ember", "falcon", "fern", "field",
    "finch", "forest", "garden", "harbor", "hazel", "heron", "island", "lantern", "maple", "meadow",
    "meteor", "orchard", "otter", "pebble", "pine", "planet", "prairie", "raven", "river", "sparrow",
    "spruce", "stone", "thistle", "valley", "violet", "willow",
];

/// How many names are tried before giving up: by then a number of ten digits has been.
pub(crate) const TRIES: u32 = 6;

/// The name to try at this attempt: an adjective and a noun, later with a number, which gets longer so quickly that
/// the third attempt hits also where the owner has tens of thousands of vals.
pub(crate) fn made_up_name(seed: u64, attempt: u32) -> ValName {
    let pick = |words: &[&'static str], from: u64| words[(from % words.len() as u64) as usize];
    let noun = pick(&NOUNS, seed / ADJECTIVES.len() as u64);
    let mut name = pick(&ADJECTIVES, seed).to_owned();
    name.push_str(&noun[..1].to_uppercase());
    name.push_str(&noun[1..]);
    if attempt > 0 {
        let number = (seed >> 16) % 100_u64.pow(attempt);
        name.push_str(&(number + 2).to_string());
    }
    name.parse().expect("short ASCII words and digits make a name")
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_pair_of_words_makes_a_name_with_any_number() {
        for seed in 0..(ADJECTIVES.len() * NOUNS.len()) as u64 {
            for attempt in [0, 1, TRIES - 1] {
                assert!(made_up_name(seed, attempt).as_str().len() < 30);
            }
        }
        assert_eq!(made_up_name(0, 0).as_str(), "amberAcorn");
    }

    #[test]
    fn later_attempts_are_other_names() {
        let names: HashSet<_> = (0..TRIES)
            .map(|attempt| made_up_name(u64::MAX / 3, attempt))
            .collect();
        assert_eq!(names.len() as u32, TRIES, "{names:?}");
    }
}
