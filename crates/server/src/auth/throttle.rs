//! Slows down who guesses passwords.

use std::{
    net::{IpAddr, Ipv6Addr},
    time::Duration,
};

use moka::{ops::compute::Op, sync::Cache};

use crate::error::{ApiError, ApiResult};

/// Counts attempts per name and address; a counted attempt is forgotten with its window or by a success.
#[derive(Clone)]
pub struct Throttle {
    attempts: Cache<(String, IpAddr), u32>,
}

impl Throttle {
    /// How many attempts a name and address have in a window.
    pub const MOST: u32 = 10;
    /// How long an attempt counts, from the last one that was let through.
    pub const WINDOW: Duration = Duration::from_secs(15 * 60);

    /// With no attempt counted yet.
    pub fn new() -> Self {
        Self {
            attempts: Cache::builder()
                .max_capacity(100_000)
                .time_to_live(Self::WINDOW)
                .build(),
        }
    }

    /// Counts an attempt before it is made, so that many at once are no way around, or refuses it.
    pub fn attempt(&self, name: &str, address: IpAddr) -> ApiResult<()> {
        let entry = self.attempts.entry(key(name, address)).and_compute_with(|count| {
            match count.map_or(0, moka::Entry::into_value) {
                // Left as it is: its window goes on to its end.
                count if count >= Self::MOST => Op::Nop,
                count => Op::Put(count + 1),
            }
        });
        match entry {
            moka::ops::compute::CompResult::Unchanged(_) => Err(ApiError::TooManyRequests {
                retry_after: Self::WINDOW,
            }),
            _ => Ok(()),
        }
    }

    /// Forgets the attempts of who turned out to know.
    pub fn succeeded(&self, name: &str, address: IpAddr) {
        self.attempts.invalidate(&key(name, address));
    }
}

impl Default for Throttle {
    fn default() -> Self {
        Self::new()
    }
}

fn key(name: &str, address: IpAddr) -> (String, IpAddr) {
    // One customer of a network provider has all of a /64.
    let address = match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX))),
        address => address,
    };
    // A name that no account can have needs no more of it than tells it from the others.
    (
        name.chars().take(64).flat_map(char::to_lowercase).collect(),
        address,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    #[test]
    fn a_name_and_address_have_so_many_attempts() {
        let throttle = Throttle::new();
        let here = address("192.0.2.1");
        for _ in 0..Throttle::MOST {
            assert!(throttle.attempt("Ada", here).is_ok());
        }
        assert!(matches!(
            throttle.attempt("ada", here),
            Err(ApiError::TooManyRequests { .. })
        ));
        assert!(throttle.attempt("eve", here).is_ok(), "another name");
        assert!(
            throttle.attempt("ada", address("192.0.2.2")).is_ok(),
            "another address"
        );
        throttle.succeeded("ADA", here);
        assert!(throttle.attempt("ada", here).is_ok(), "after a success");
    }

    #[test]
    fn a_whole_network_is_one_address() {
        let throttle = Throttle::new();
        for host in 0..Throttle::MOST {
            assert!(
                throttle
                    .attempt("ada", address(&format!("2001:db8::{host:x}")))
                    .is_ok()
            );
        }
        assert!(throttle.attempt("ada", address("2001:db8::ffff")).is_err());
        assert!(throttle.attempt("ada", address("2001:db8:0:1::1")).is_ok());
    }
}
