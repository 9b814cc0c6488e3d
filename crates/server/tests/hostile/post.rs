//! Who sends mail to the vals.

use lettre::{
    AsyncTransport, Message, Tokio1Executor,
    transport::smtp::{AsyncSmtpTransport, PoolConfig},
};

use crate::{
    account::Tried,
    program::{MAIL_DOMAIN, Program},
};

/// A mail server elsewhere.
#[derive(Clone)]
pub(crate) struct Post(AsyncSmtpTransport<Tokio1Executor>);

impl Post {
    pub(crate) fn to(server: &Program) -> Self {
        let transport = AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous("127.0.0.1")
            .port(server.mail_port)
            // What is kept open would be counted as left behind.
            .pool_config(PoolConfig::new().max_size(0));
        Self(transport.build())
    }

    /// Sends a message to a val, by its user and its name.
    pub(crate) async fn send(&self, user: &str, val: &str, subject: &str) -> Tried<()> {
        let message = Message::builder()
            .from("Bob <bob@example.com>".parse().expect("an address"))
            .to(format!("{user}.{val}@{MAIL_DOMAIN}").parse().expect("an address"))
            .subject(subject)
            .body("hello".to_owned())
            .expect("a message");
        let sent = self.0.send(message).await;
        sent.map(drop).map_err(|error| error.to_string())
    }
}
