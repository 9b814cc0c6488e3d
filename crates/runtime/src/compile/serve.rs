//! The process that compiles: it locks itself in, and translates what it is given.

use std::{
    ffi::OsString,
    io,
    process::{self, ExitCode},
    thread,
    time::Duration,
};

use hamlet_models::RunError;
use serde::Serialize;

use super::{
    syntax_error,
    translate::{compile, without_types},
    words::{ANSWER_MAX_BYTES, Ask, CODE_MAX_BYTES},
};
use crate::{allow_memory, help};

/// The first argument of a program that is to compile.
pub const COMPILE: &str = "compile";

/// What compiling may take, beside the stack. Code of the greatest length that has nothing unusual takes a tenth of it.
pub(super) const MEMORY_MB: u64 = 256;
/// The CPU time that compiling may take.
const CPU: Duration = Duration::from_secs(10);
/// Stack that one byte of source may need, as deeply nested code does: parser and printer go down with it. The worst
/// that was found took 1 kB in a release build.
const STACK_PER_BYTE: usize = if cfg!(debug_assertions) { 24 << 10 } else { 2 << 10 };
/// Stack that any code may need.
const STACK_AT_LEAST: usize = 4 << 20;

/// Compiles what the server asks for, until nothing more can be asked. To be called before the process has a second
/// thread.
pub fn serve_compiler(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    help(arguments, allowance(CODE_MAX_BYTES), CPU, |ask| {
        let ask: Ask<String> = serde_json::from_slice(&ask)?;
        allow_memory(allowance(ask.code().len()))?;
        answer(ask)
    })
}

/// The stack for code of this length: address space until it is used, and code that nests so deeply as to use it is an
/// attempt to break what reads it.
fn stack_bytes(code_len: usize) -> usize {
    STACK_AT_LEAST + code_len * STACK_PER_BYTE
}

/// What the process may have in all while it compiles code of this length.
fn allowance(code_len: usize) -> u64 {
    (MEMORY_MB << 20) + stack_bytes(code_len) as u64
}

/// What is asked, done on a thread with a stack that is deep enough. It ends the whole process where it takes too much.
pub(super) fn answer(ask: Ask<String>) -> io::Result<Vec<u8>> {
    let thread = thread::Builder::new().stack_size(stack_bytes(ask.code().len()));
    let made = thread.spawn(move || match ask {
        Ask::Module {
            code,
            url,
            hosts,
            form,
        } => written(&compile(&code, &url, &hosts, form), &url),
        Ask::JavaScript { code, url, origin } => written(&without_types(&code, &url, &origin), &url),
    })?;
    // It panics in many words where there is no memory; where it has none for those either, it aborts by itself.
    made.join().unwrap_or_else(|_| process::abort())
}

fn written<T: Serialize>(made: &Result<T, RunError>, url: &str) -> io::Result<Vec<u8>> {
    let json = serde_json::to_vec(made)?;
    if json.len() <= ANSWER_MAX_BYTES {
        return Ok(json);
    }
    let most = ANSWER_MAX_BYTES >> 20;
    let why = format!("the code becomes larger than {most} MB when it is compiled");
    Ok(serde_json::to_vec(&Err::<T, _>(syntax_error(url, 1, 1, &why)))?)
}
