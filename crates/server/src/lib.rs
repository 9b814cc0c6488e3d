//! The server of Hamlet: the `/v1` interface, the gateway to HTTP vals, the web app, and the command line.
//!
//! A request passes [`App`], which tells hosts apart and checks tokens, then the router of [`routes`].

pub mod cli;
pub mod config;

pub mod clock;
pub mod error;
pub mod extract;

pub mod auth;
pub mod present;
pub mod sealing;
pub mod state;

pub mod account_databases;

pub mod failure;
mod places;
pub mod recorder;
pub mod run_service;
pub mod scheduler;

pub mod gateway;
pub mod mail;
pub mod standard_library;
pub mod static_app;

mod app;
mod examples;
mod first_start;
pub mod listen;
pub mod routes;
pub mod server;

pub use app::App;
