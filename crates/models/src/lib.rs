//! What crosses the wire of Hamlet, and the rules that make a value valid.
//!
//! No input or output happens here, and every type compiles for the server and for the browser, so that one rule
//! serves the address, the wire and the form. Field names and shapes follow the `/v1` contract.

mod both;
mod id;
mod timestamp;

mod name;
mod page;
mod problem;

mod blob;
mod email;
mod instance;
mod run;
mod run_input;
mod schedule;
mod scope;
mod secret;
mod session;
mod sqlite;
mod token;
mod user;
mod val;
mod version;

pub use blob::{Blob, BlobFilter, BlobKey};
pub use email::{
    EmailAddress, EmailAddresses, EmailAttachment, EmailContent, EmailFile, NewEmail, OutboxEmail, SentEmail,
};
pub use id::{EmailId, RunId, TokenId, UserId, ValId};
pub use instance::{
    EmailLimits, Instance, InstanceLimits, Limits, Markdown, RenderedMarkdown, SqlCallLimits,
};
pub use name::{InvalidName, SecretName, TokenName, Username, ValName};
pub use page::{Page, PageLinks, PageQuery};
pub use problem::{Problem, ProblemCode, ProblemDetail};
pub use run::{
    BaseRun, Eval, EvalArgs, FullRun, HttpRequest, HttpResponse, LogLevel, LogLine, LogStream, NewRun,
    RunError, RunFilter, RunPhases, RunRequest, RunStatus, TestEmail, Trigger, Truncated,
};
pub use run_input::{KeptRequest, RunInput};
pub use schedule::{NewSchedule, Schedule};
pub use scope::{InvalidScope, Scope, ScopeAction, ScopeResource, Scopes};
pub use secret::{LEADING_VARIABLES, SECRET_MAX_BYTES, Secret, SecretUpdate};
pub use session::NewSession;
pub use sqlite::{NewSqlBatch, NewSqlExecution, SqlArgs, SqlMode, SqlResult, SqlStatement};
pub use timestamp::{InvalidTimestamp, Timestamp};
pub use token::{CreatedToken, NewToken, Token};
pub use user::{Author, Me, MeUpdate, PasswordChange, User, UserLinks};
pub use val::{
    BasicVal, CODE_MAX_CHARS, ExtendedVal, LastRun, NewVal, Privacy, PutVal, README_MAX_CHARS, ValFilter,
    ValKind, ValLinks, ValUpdate, withheld_scopes,
};
pub use version::{MESSAGE_MAX_CHARS, NewVersion, Version, VersionNumber};
