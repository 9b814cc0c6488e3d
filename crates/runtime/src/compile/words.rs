//! What the server asks of a process that compiles, as JSON.

use serde::{Deserialize, Serialize};

use super::{Form, Hosts};

/// The most bytes of code: 256,000 characters take no more.
pub(super) const CODE_MAX_BYTES: usize = 1_024_000;
/// The most bytes of an answer, which has the compiled code with its map.
pub(super) const ANSWER_MAX_BYTES: usize = 32 << 20;

/// What the server asks.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Ask<Text> {
    /// To compile a program to what Deno runs. The answer is the [`Compiled`](super::Compiled), or the error that the
    /// code has.
    Module {
        /// As its author wrote it.
        code: Text,
        /// Its public address.
        url: Text,
        /// Where vals of this instance are.
        hosts: Hosts,
        /// What it may be.
        form: Form,
    },
    /// To take the types from a program that is run elsewhere. The answer is the code, or the error that it has.
    JavaScript {
        /// As its author wrote it.
        code: Text,
        /// Its public address.
        url: Text,
        /// The origin of this instance, as whoever asked for the program reaches it.
        origin: Text,
    },
}

impl<Text: AsRef<str>> Ask<Text> {
    /// The code that it is about.
    pub(super) fn code(&self) -> &str {
        let (Self::Module { code, .. } | Self::JavaScript { code, .. }) = self;
        code.as_ref()
    }
}
