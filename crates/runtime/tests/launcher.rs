//! The launcher by itself, for tests: in an instance it is the server's own program. By another name it stands for a
//! system that lacks a part of the lock.

use std::{collections::BTreeMap, env, env::consts::ARCH, process::ExitCode};

use nix::libc;
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, apply_filter};

fn main() -> ExitCode {
    let mut arguments = env::args_os();
    let name = arguments
        .next()
        .and_then(|path| path.into_string().ok())
        .unwrap_or_default();
    if name.ends_with("-without-landlock") {
        lose(&[libc::SYS_landlock_create_ruleset]);
    } else if name.ends_with("-without-seccomp") {
        lose(&[libc::SYS_seccomp]);
    }
    match arguments.next() {
        Some(first) if first == hamlet_runtime::COMPILE => hamlet_runtime::serve_compiler(arguments),
        _ => hamlet_runtime::launch(arguments),
    }
}

/// From now on the kernel does as if it had no such calls.
fn lose(calls: &[i64]) {
    let rules: BTreeMap<_, _> = calls.iter().map(|call| (*call, Vec::new())).collect();
    let missing = SeccompAction::Errno(libc::ENOSYS.cast_unsigned());
    let arch = ARCH.try_into().expect("an architecture that seccomp knows");
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, missing, arch).expect("a filter");
    apply_filter(&BpfProgram::try_from(filter).expect("a program")).expect("seccomp");
}
