//! Who is connected: so many in all, and so many from one place, so that nobody keeps all others out.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Arc, Mutex, PoisonError},
};

use crate::listen::place_of;

/// Connections that are served at once.
const IN_ALL: usize = 128;
/// Those of one address, which is as many as mail servers open by themselves.
const OF_ONE: usize = 8;

/// The connections that are served.
#[derive(Default)]
pub(super) struct Connections(Mutex<HashMap<IpAddr, usize>>);

/// Leave for a connection, until it is dropped.
pub(super) struct Connection {
    connections: Arc<Connections>,
    place: IpAddr,
}

impl Connections {
    /// Leave for a connection from there, or why there is none.
    pub(super) fn admit(self: &Arc<Self>, from: IpAddr) -> Result<Connection, &'static str> {
        let place = place_of(from);
        let mut served = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if served.values().sum::<usize>() >= IN_ALL {
            return Err("Every connection is taken: try again in a minute");
        }
        let count = served.entry(place).or_default();
        if *count >= OF_ONE {
            return Err("Too many connections from your address: close one, or try again in a minute");
        }
        *count += 1;
        Ok(Connection {
            connections: self.clone(),
            place,
        })
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let mut served = self.connections.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = served.get_mut(&self.place) {
            *count -= 1;
            if *count == 0 {
                served.remove(&self.place);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    #[test]
    fn one_place_has_so_many_and_all_places_together() {
        let connections = Arc::new(Connections::default());
        let mut served: Vec<_> = (0..OF_ONE)
            .map(|_| connections.admit(address("2001:db8::1")).expect("leave"))
            .collect();
        assert!(
            connections.admit(address("2001:db8::2")).is_err(),
            "the same network"
        );
        served.extend(connections.admit(address("2001:db8:0:1::1")).ok());
        served.extend(connections.admit(address("::ffff:192.0.2.1")).ok());
        assert_eq!(served.len(), OF_ONE + 2);
        served.swap_remove(0);
        served.extend(connections.admit(address("2001:db8::2")).ok());
        let mut hosts = 2..;
        while served.len() < IN_ALL {
            let host = IpAddr::from([192, 0, 2, hosts.next().expect("a number")]);
            served.extend((0..OF_ONE).map_while(|_| connections.admit(host).ok()));
        }
        assert!(connections.admit(address("198.51.100.1")).is_err());
        served.clear();
        assert!(connections.0.lock().expect("whole").is_empty());
    }
}
