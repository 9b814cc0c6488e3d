//! Vals that mean harm, against the whole server: the real program on a real port, beside an account whose vals are
//! visited, called, saved, mailed and run all the while. Nothing escapes, each run is recorded as it ended, the
//! neighbour's work goes on, and nothing of it is left.

#[path = "../../../runtime/tests/runtime/deno.rs"]
mod deno;
#[path = "../../../runtime/tests/runtime/expected.rs"]
#[expect(
    dead_code,
    reason = "hostile vals are given no input, and a server's variables are its accounts' own"
)]
mod expected;
#[path = "../../../runtime/tests/runtime/traps.rs"]
mod traps;

mod account;
mod footprint;
mod load;
mod neighbour;
mod post;
mod program;
mod siege;

mod answers;
mod folders;
mod memory;
mod secrets;
mod storage;
mod time;
