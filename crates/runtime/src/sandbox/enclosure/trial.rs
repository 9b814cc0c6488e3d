//! Whether an enclosure holds: tried by the process that is in it.

use std::{
    env, fs, io,
    net::UdpSocket,
    os::unix::net::UnixDatagram,
    path::Path,
    process::{Command, Stdio},
};

use nix::{
    libc::EAFNOSUPPORT,
    sys::{prctl, resource::getrlimit, signal::kill},
    unistd::Pid,
};
use serde::{Deserialize, Serialize};

use super::Enclosure;
use crate::sandbox::{
    probe::{is_denied, refused},
    rights,
};

/// A part of what an enclosure keeps from, as it was tried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trial {
    /// Which part, for a person.
    pub part: String,
    /// Whether it holds.
    pub holds: bool,
    /// What was tried and what came of it.
    pub proof: String,
}

impl Enclosure {
    /// Tries everything from inside, once its files are closed; `beside` is a file in its folder that it has not open.
    pub fn try_out(&self, beside: &Path) -> Vec<Trial> {
        let parts: [(&str, Vec<(bool, String)>); 6] = [
            (
                "files",
                vec![
                    refused("reading /etc/passwd", fs::read("/etc/passwd"), is_denied),
                    refused("reading another account's file", fs::read(beside), is_denied),
                    refused(
                        "making a file",
                        fs::write(beside.with_extension("new"), ""),
                        is_denied,
                    ),
                ],
            ),
            (
                "network",
                vec![
                    refused("an IPv4 socket", UdpSocket::bind("127.0.0.1:0"), has_no_family),
                    refused("a Unix socket", UnixDatagram::unbound(), has_no_family),
                ],
            ),
            (
                "programs",
                vec![refused("starting a program", start_a_program(), is_denied)],
            ),
            ("signals", {
                let sent = kill(Pid::parent(), None).map_err(io::Error::from);
                vec![refused("a signal to the server", sent, is_denied)]
            }),
            (
                "memory and files' sizes",
                vec![self.take_too_much(), self.limits()],
            ),
            ("privileges", vec![privileges()]),
        ];
        parts
            .into_iter()
            .map(|(part, tried)| {
                let holds = tried.iter().all(|(holds, _)| *holds);
                let said: Vec<String> = tried.into_iter().map(|(_, said)| said).collect();
                let said = said.join("; ");
                let proof = match self.missing() {
                    Some(why) if !holds => format!("{said} ({why})"),
                    _ => said,
                };
                let part = part.to_owned();
                Trial { part, holds, proof }
            })
            .collect()
    }

    fn take_too_much(&self) -> (bool, String) {
        let most = usize::try_from(self.memory_bytes).unwrap_or(usize::MAX);
        let taken = Vec::<u8>::new().try_reserve_exact(most).map_err(io::Error::other);
        let what = format!("taking {} MB of memory", self.memory_bytes >> 20);
        refused(&what, taken, |_| true)
    }

    fn limits(&self) -> (bool, String) {
        let within = self
            .limits
            .iter()
            .all(|(resource, most)| getrlimit(*resource).is_ok_and(|(_, hard)| hard <= *most));
        let said = if within {
            "all limits are set"
        } else {
            "a limit is not set"
        };
        (within, said.to_owned())
    }
}

fn start_a_program() -> io::Result<()> {
    let mut itself = Command::new(env::current_exe()?);
    // What it would print is not to be taken for what is found.
    itself
        .arg("--version")
        .stdin(Stdio::inherit())
        .stdout(io::stderr());
    itself.status().map(drop)
}

fn privileges() -> (bool, String) {
    let holds = prctl::get_no_new_privs() == Ok(true) && rights::are_few().unwrap_or(false);
    let said = if holds {
        "no_new_privs is set, and no capability is left that matters"
    } else {
        "no_new_privs is not set, or capabilities are left"
    };
    (holds, said.to_owned())
}

fn has_no_family(error: &io::Error) -> bool {
    error.raw_os_error() == Some(EAFNOSUPPORT)
}
