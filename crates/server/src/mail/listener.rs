//! Takes mail by SMTP. What is said on the wire is the work of `mailin`; here is who may be written to, and that a
//! message is on disk before its sender is told that it was taken.

mod connections;
mod envelope;
mod extensions;
mod session;
mod tls;

pub(crate) use envelope::{INCOMING_MAX_BYTES, INCOMING_MAX_VALS};

use std::{net::SocketAddr, sync::Arc, time::Duration};

use hamlet_store::Store;
use tokio::{net::TcpListener, sync::watch, time::sleep};
use tokio_rustls::TlsAcceptor;
use tokio_util::task::TaskTracker;

use crate::config::MailConfig;
use connections::Connections;

/// How long to wait when no connection can be taken.
const BREATH: Duration = Duration::from_millis(100);

/// Where mail is taken.
pub struct MailListener {
    listener: TcpListener,
    post: Arc<Post>,
}

/// What every session needs.
struct Post {
    store: Store,
    domain: String,
    tls: TlsAcceptor,
}

impl MailListener {
    /// Listens as the settings say; `None` if no mail is taken.
    pub async fn bind(config: &MailConfig, store: Store) -> anyhow::Result<Option<Self>> {
        let Some(domain) = config.domain.clone() else {
            return Ok(None);
        };
        let tls = tls::acceptor(config, &domain)?;
        let listener = TcpListener::bind(config.listen).await?;
        Ok(Some(Self {
            listener,
            post: Arc::new(Post { store, domain, tls }),
        }))
    }

    /// Where it listens.
    pub fn address(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Takes mail until `end` turns true; sessions that go on then are cut off, and their senders try again later.
    pub async fn serve(self, mut end: watch::Receiver<bool>) {
        let (sessions, connections) = (TaskTracker::new(), Arc::new(Connections::default()));
        let mut ended = end.clone();
        loop {
            let accepted = tokio::select! {
                accepted = self.listener.accept() => accepted,
                _ = ended.wait_for(|end| *end) => break,
            };
            match accepted {
                Ok((stream, peer)) => {
                    let (post, mut end) = (self.post.clone(), end.clone());
                    let connection = connections.admit(peer.ip());
                    sessions.spawn(async move {
                        let session = async {
                            match connection {
                                // It is held until the session is over.
                                Ok(_connection) => session::serve(stream, peer.ip(), post).await,
                                Err(why) => session::refuse(stream, why).await,
                            }
                        };
                        tokio::select! {
                            result = session => {
                                if let Err(error) = result {
                                    tracing::debug!(%error, "a mail session ended early");
                                }
                            }
                            _ = end.wait_for(|end| *end) => {}
                        }
                    });
                }
                Err(error) => {
                    tracing::error!(%error, "can't take mail connections");
                    sleep(BREATH).await;
                }
            }
        }
        let _ = end.wait_for(|end| *end).await;
        sessions.close();
        sessions.wait().await;
    }
}
