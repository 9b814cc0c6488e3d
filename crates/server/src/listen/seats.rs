//! Who is connected: as many as there are files for, and one place never all of them.

use std::{
    collections::{HashMap, VecDeque},
    net::{IpAddr, Ipv6Addr},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use tokio::sync::Notify;

/// The connections that are served.
pub(super) struct Seats {
    in_all: usize,
    /// Those of one address.
    of_one: usize,
    taken: Mutex<Taken>,
}

#[derive(Default)]
struct Taken {
    count: usize,
    places: HashMap<IpAddr, Place>,
}

#[derive(Default)]
struct Place {
    count: usize,
    /// The earliest first; some are left by now.
    seats: VecDeque<Arc<Seat>>,
}

/// What is known of a connection.
#[derive(Default)]
struct Seat {
    /// Requests that are being answered.
    requests: AtomicUsize,
    left: AtomicBool,
    /// It has to go: another needs its place.
    leave: Notify,
}

/// Leave for a connection, until it is dropped.
pub(super) struct Admission {
    seats: Arc<Seats>,
    place: IpAddr,
    seat: Arc<Seat>,
}

/// A request that is being answered, until it is dropped.
pub(super) struct Underway(Arc<Seat>);

impl Seats {
    /// For a process that may have so many open files: half of them are for what its answers need, and one address has
    /// at most half of the others.
    pub(super) fn for_files(files: u64) -> Arc<Self> {
        let in_all = usize::try_from(files / 2).unwrap_or(usize::MAX).max(2);
        Arc::new(Self {
            in_all,
            of_one: in_all / 2,
            taken: Mutex::default(),
        })
    }

    /// Leave for a connection from there, if need be in place of one that asks nothing; none if all of them do.
    pub(super) fn admit(self: &Arc<Self>, from: IpAddr) -> Option<Admission> {
        let place = place_of(from);
        let mut taken = self.taken();
        if taken.places.get(&place).map_or(0, |place| place.count) >= self.of_one {
            taken.places.get_mut(&place)?.make_room()?;
        } else if taken.count >= self.in_all {
            let largest = taken.places.values_mut().max_by_key(|place| place.count);
            largest?.make_room()?;
        }
        let seat = Arc::<Seat>::default();
        taken.count += 1;
        let there = taken.places.entry(place).or_default();
        there.count += 1;
        there.seats.push_back(seat.clone());
        Some(Admission {
            seats: self.clone(),
            place,
            seat,
        })
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    /// Sends away who has been there the longest of those that ask nothing.
    fn make_room(&mut self) -> Option<()> {
        for _ in 0..self.seats.len() {
            let seat = self.seats.pop_front()?;
            if seat.left.load(Ordering::Relaxed) {
                continue;
            }
            if seat.requests.load(Ordering::Relaxed) == 0 {
                seat.leave.notify_one();
                return Some(());
            }
            self.seats.push_back(seat);
        }
        None
    }
}

impl Admission {
    /// Notes that a request of this connection is being answered.
    pub(super) fn begin(&self) -> Underway {
        self.seat.requests.fetch_add(1, Ordering::Relaxed);
        Underway(self.seat.clone())
    }

    /// Returns when another needs the place.
    pub(super) async fn has_to_leave(&self) {
        self.seat.leave.notified().await;
    }
}

impl Drop for Underway {
    fn drop(&mut self) {
        self.0.requests.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Drop for Admission {
    fn drop(&mut self) {
        self.seat.left.store(true, Ordering::Relaxed);
        let mut taken = self.seats.taken();
        taken.count -= 1;
        let Some(there) = taken.places.get_mut(&self.place) else {
            return;
        };
        there.count -= 1;
        if there.count == 0 {
            taken.places.remove(&self.place);
        } else if there.seats.len() > 2 * there.count + 16 {
            there.seats.retain(|seat| !seat.left.load(Ordering::Relaxed));
        }
    }
}

/// The address; of IPv6 the network, in which one machine may have any number of addresses.
pub(crate) fn place_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => address.into(),
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    fn has_to_leave(admission: &Admission) -> bool {
        admission.has_to_leave().now_or_never().is_some()
    }

    #[test]
    fn who_asks_nothing_makes_room_and_who_asks_stays() {
        let seats = Seats::for_files(16);
        let mut one: Vec<_> = (0..4)
            .map(|_| seats.admit(address("2001:db8::1")).expect("a seat"))
            .collect();
        let asking: Vec<_> = one[..2].iter().map(Admission::begin).collect();
        one.push(seats.admit(address("2001:db8::2")).expect("in place of another"));
        let sent: Vec<_> = one.iter().map(has_to_leave).collect();
        assert_eq!(sent, [false, false, true, false, false]);
        drop(one.remove(2));

        let other = seats.admit(address("192.0.2.1")).expect("of another address");
        let all: Vec<_> = one.iter().map(Admission::begin).collect();
        assert!(seats.admit(address("2001:db8::1")).is_none(), "all of them ask");
        drop((asking, all));
        assert!(seats.admit(address("2001:db8::1")).is_some());
        drop((one, other));
        let taken = seats.taken();
        assert!(taken.count == 0 && taken.places.is_empty());
    }

    #[test]
    fn where_all_seats_are_taken_who_has_the_most_makes_room() {
        let seats = Seats::for_files(16);
        let admit = |from: &str| seats.admit(address(from)).expect("a seat");
        let mut many: Vec<_> = (0..4).map(|_| admit("192.0.2.1")).collect();
        let few: Vec<_> = (2..6).map(|host| admit(&format!("192.0.2.{host}"))).collect();
        let _new = admit("192.0.2.9");
        assert!(has_to_leave(&many.remove(0)));
        assert!(!many.iter().chain(&few).any(has_to_leave));
    }
}
