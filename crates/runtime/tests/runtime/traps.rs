//! Listeners on this machine that no val may reach. The server's tests have them too.

use std::sync::{Arc, Mutex};

use tempfile::TempDir;
use tokio::{
    io::AsyncReadExt,
    net::{TcpListener, UdpSocket, UnixListener},
};

/// The listeners, and who came nevertheless.
pub(crate) struct Traps {
    pub(crate) port: u16,
    socket: TempDir,
    caught: Arc<Mutex<Vec<String>>>,
}

impl Traps {
    pub(crate) async fn set() -> Self {
        let caught: Arc<Mutex<Vec<String>>> = Arc::default();
        let tcp = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = tcp.local_addr().expect("an address").port();
        let socket = tempfile::tempdir().expect("a folder");
        let unix = UnixListener::bind(socket.path().join("trap")).expect("a socket");
        let udp = UdpSocket::bind(("127.0.0.1", port)).await.expect("a port");
        let mut listeners = vec![tcp];
        // Not every machine has IPv6.
        listeners.extend(TcpListener::bind(("::1", port)).await.ok());
        for listener in listeners {
            let caught = caught.clone();
            tokio::spawn(async move {
                while let Ok((mut stream, _)) = listener.accept().await {
                    let mut said = [0; 200];
                    let count = stream.read(&mut said).await.unwrap_or(0);
                    catch(&caught, "TCP", &said[..count]);
                }
            });
        }
        let seen = caught.clone();
        tokio::spawn(async move {
            while unix.accept().await.is_ok() {
                catch(&seen, "a socket", b"");
            }
        });
        let seen = caught.clone();
        tokio::spawn(async move {
            let mut said = [0; 200];
            while let Ok(count) = udp.recv(&mut said).await {
                catch(&seen, "UDP", &said[..count]);
            }
        });
        Self { port, socket, caught }
    }

    /// Where the Unix socket is.
    pub(crate) fn socket(&self) -> String {
        self.socket.path().join("trap").display().to_string()
    }

    /// Who came since this was asked before.
    pub(crate) fn caught(&self) -> Vec<String> {
        std::mem::take(&mut *self.caught.lock().expect("what was caught"))
    }
}

fn catch(caught: &Mutex<Vec<String>>, how: &str, said: &[u8]) {
    let said = format!("by {how}: {}", String::from_utf8_lossy(said));
    caught.lock().expect("what was caught").push(said);
}
