//! The small tools that pages and components share.

pub mod arrows;
pub mod clock;
pub mod connection;
pub mod debounce;
pub mod document;
pub mod fetched;
pub mod idle;
pub mod params;
pub mod poll;
pub mod session;
pub mod shortcuts;
pub mod steps;
pub mod storage;
pub mod theme;
pub mod unsaved;
pub mod val;
