//! `hamlet`: the server and its command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    hamlet_server::cli::main()
}
