//! Vals on real Deno workers. What a val can do is in `tests/vals`, a folder a behaviour; what takes several requests,
//! or a look at the system, is here.

mod deno;
mod expected;
mod harness;
mod traps;
mod vals;

mod compile;
mod hostile;
mod http;
mod instance;
mod limits;
mod sandbox;
mod workers;
