//! The name server.

use std::{
    collections::HashMap,
    net::Ipv4Addr,
    sync::{Arc, Mutex},
};

use hickory_proto::{
    op::{Message, ResponseCode},
    rr::{
        Name, RData, Record, RecordType,
        rdata::{A, CNAME},
    },
};
use tokio::net::UdpSocket;

use super::PUBLIC;

/// Knows the names that the test gave it, for no longer than a moment, and no others.
#[derive(Clone, Default)]
pub(crate) struct Names(Arc<Mutex<HashMap<String, Known>>>);

#[derive(Default)]
struct Known {
    /// What it leads to, one after the other, and from the beginning again.
    turns: Vec<Vec<Ipv4Addr>>,
    alias: Option<String>,
    asked: usize,
}

impl Names {
    pub(super) async fn start() -> Self {
        let names = Self::default();
        let socket = UdpSocket::bind("127.0.0.1:53").await.expect("the port of names");
        tokio::spawn(names.clone().answer_all(socket));
        names
    }

    /// From now on this name is a host of the network.
    pub(crate) fn host(&self, name: &str) {
        self.turn(name, &[&[PUBLIC]]);
    }

    /// From now on this name leads to the first of these, when next asked to the second, and so on, over and over.
    pub(crate) fn turn(&self, name: &str, turns: &[&[Ipv4Addr]]) {
        let known = Known {
            turns: turns.iter().map(|addresses| addresses.to_vec()).collect(),
            ..Known::default()
        };
        self.known().insert(name.to_owned(), known);
    }

    /// From now on this name is another one's, which leads to this address.
    pub(crate) fn alias(&self, name: &str, other: &str, address: Ipv4Addr) {
        let known = Known {
            turns: vec![vec![address]],
            alias: Some(other.to_owned()),
            asked: 0,
        };
        self.known().insert(name.to_owned(), known);
    }

    /// Whether there is such a name.
    pub(super) fn knows(&self, name: &str) -> bool {
        self.known().contains_key(name)
    }

    fn known(&self) -> std::sync::MutexGuard<'_, HashMap<String, Known>> {
        self.0.lock().expect("names")
    }

    async fn answer_all(self, socket: UdpSocket) {
        let mut question = [0; 4096];
        loop {
            let (length, asker) = socket.recv_from(&mut question).await.expect("a question");
            let question = Message::from_vec(&question[..length]).expect("a question");
            let answer = self.answer(question).to_vec().expect("an answer");
            // Who asked may have gone by now.
            let _ = socket.send_to(&answer, asker).await;
        }
    }

    fn answer(&self, question: Message) -> Message {
        let mut answer = Message::response(question.metadata.id, question.metadata.op_code);
        for query in &question.queries {
            let name = query.name().to_ascii().trim_end_matches('.').to_ascii_lowercase();
            match self.known().get_mut(&name) {
                Some(known) if query.query_type() == RecordType::A => {
                    answer.add_answers(known.take_turn(query.name()));
                }
                // It has nothing else.
                Some(_) => {}
                None => answer.metadata.response_code = ResponseCode::NXDomain,
            }
        }
        answer.add_queries(question.queries);
        answer
    }
}

impl Known {
    fn take_turn(&mut self, name: &Name) -> Vec<Record> {
        let addresses = &self.turns[self.asked % self.turns.len()];
        self.asked += 1;
        let record = |name: &Name, data| Record::from_rdata(name.clone(), 0, data);
        let other = self
            .alias
            .as_ref()
            .map(|other| Name::from_ascii(format!("{other}.")).expect("a name"));
        let alias = other
            .iter()
            .map(|other| record(name, RData::CNAME(CNAME(other.clone()))));
        let leads = addresses
            .iter()
            .map(|address| record(other.as_ref().unwrap_or(name), RData::A(A(*address))));
        alias.chain(leads).collect()
    }
}
