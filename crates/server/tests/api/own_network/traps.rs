//! Who listens where no val may go.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    sync::{Arc, Mutex},
};

use tokio::net::{TcpListener, UdpSocket};

/// One of each range that no val reaches and that a machine may have an address of.
pub(crate) const PRIVATE: [Ipv4Addr; 9] = [
    Ipv4Addr::LOCALHOST,
    Ipv4Addr::new(127, 9, 9, 9),
    Ipv4Addr::new(10, 0, 0, 1),
    Ipv4Addr::new(100, 64, 0, 1),
    Ipv4Addr::new(169, 254, 169, 254),
    Ipv4Addr::new(172, 16, 0, 1),
    Ipv4Addr::new(192, 0, 0, 192),
    Ipv4Addr::new(192, 168, 0, 1),
    Ipv4Addr::new(198, 18, 0, 1),
];

/// Takes note of whoever comes, by TCP or UDP.
#[derive(Clone, Default)]
pub(crate) struct Traps(Arc<Mutex<Vec<String>>>);

impl Traps {
    /// At these ports of every private address.
    pub(crate) async fn set(ports: &[u16]) -> Self {
        let traps = Self::default();
        let hosts = PRIVATE.map(IpAddr::V4).into_iter();
        for host in hosts.chain([IpAddr::V6(Ipv6Addr::LOCALHOST)]) {
            for port in ports {
                traps.set_at(SocketAddr::new(host, *port)).await;
            }
        }
        traps
    }

    async fn set_at(&self, at: SocketAddr) {
        let tcp = TcpListener::bind(at).await.expect("a port");
        let traps = self.clone();
        tokio::spawn(async move {
            while tcp.accept().await.is_ok() {
                traps.caught(format!("tcp {at}"));
            }
        });
        let udp = UdpSocket::bind(at).await.expect("a port");
        let traps = self.clone();
        tokio::spawn(async move {
            while udp.recv_from(&mut [0; 16]).await.is_ok() {
                traps.caught(format!("udp {at}"));
            }
        });
    }

    fn caught(&self, who: String) {
        self.0.lock().expect("who came").push(who);
    }

    /// Who came since the last time.
    pub(crate) fn who_came(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().expect("who came"))
    }
}
