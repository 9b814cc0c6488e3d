//! How much mail an account may send.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use hamlet_models::{Timestamp, UserId};

use crate::error::{ApiError, ApiResult};

/// Over how long what was sent is counted.
const WINDOW_MS: i64 = 60 * 60 * 1_000;

/// Counts the addresses that mail of each account went to within the last hour, whenever that began.
pub(super) struct Allowance {
    most: u32,
    sent: Mutex<HashMap<UserId, VecDeque<(Timestamp, u32)>>>,
}

impl Allowance {
    /// With nothing sent yet.
    pub(super) fn new(most: u32) -> Self {
        Self {
            most,
            sent: Mutex::default(),
        }
    }

    /// Counts a message to so many addresses before it is sent, so that many at once are no way around, or refuses it.
    pub(super) fn take(&self, sender: UserId, addresses: u32, now: Timestamp) -> ApiResult<()> {
        // Nothing panics while it holds this lock, so what it guards is whole even if it is poisoned.
        let mut all = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        let counts = |at: Timestamp| at.as_millis() > now.as_millis() - WINDOW_MS;
        all.retain(|_, sent| sent.back().is_some_and(|(at, _)| counts(*at)));
        let sent = all.entry(sender).or_default();
        while sent.front().is_some_and(|(at, _)| !counts(*at)) {
            sent.pop_front();
        }
        let mut total: u32 = addresses + sent.iter().map(|(_, count)| count).sum::<u32>();
        if total <= self.most {
            sent.push_back((now, addresses));
            return Ok(());
        }
        let mut wait_ms = WINDOW_MS;
        for (at, count) in sent.iter() {
            total -= count;
            if total <= self.most {
                wait_ms = at.as_millis() + WINDOW_MS - now.as_millis();
                break;
            }
        }
        Err(ApiError::TooMuchMail {
            most: self.most,
            // Up to the next second, which is what is said.
            retry_after: Duration::from_secs(u64::try_from(wait_ms).unwrap_or(0).div_ceil(1_000)),
        })
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(1_700_000_000_000 + seconds * 1_000)
    }

    /// The seconds to wait for, if it was refused.
    fn wait(answer: ApiResult<()>) -> Option<u64> {
        match answer {
            Ok(()) => None,
            Err(ApiError::TooMuchMail { retry_after, .. }) => Some(retry_after.as_secs()),
            Err(other) => panic!("{other}"),
        }
    }

    #[test]
    fn so_many_addresses_an_hour_and_no_more() {
        let allowance = Allowance::new(10);
        let (ada, eve) = (UserId(Uuid::now_v7()), UserId(Uuid::now_v7()));
        let take = |sender, count, seconds| wait(allowance.take(sender, count, at(seconds)));
        assert_eq!(take(ada, 6, 0), None);
        assert_eq!(take(ada, 4, 600), None);
        assert_eq!(take(ada, 1, 1_200), Some(2_400));
        assert_eq!(take(ada, 7, 1_200), Some(3_000), "until both are old");
        assert_eq!(take(eve, 10, 1_200), None, "each has its own");
        assert_eq!(take(ada, 6, 3_600), None, "the first is an hour old");
        assert_eq!(take(ada, 1, 3_600), Some(600), "what was refused does not count");
        assert_eq!(take(ada, 11, 10_000), Some(3_600));
        assert_eq!(take(ada, 10, 10_000), None);
    }
}
