//! The pages: each fetches what it shows, and knows its loading, empty and failed states.

pub mod home;
pub mod login;
pub mod settings;
pub mod user;

pub mod new;
pub mod outbox;
pub mod val;

pub mod version;
pub mod versions;

pub mod run;
pub mod runs;

pub mod not_found;
