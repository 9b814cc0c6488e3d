//! Files, ports and signals: Landlock.

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetError, RulesetStatus, Scope, path_beneath_rules,
};

use super::Lock;

/// What of Landlock is asked for; an older kernel gives what it has of it.
pub(super) const WANTED: ABI = ABI::V6;

/// Read and nothing else: libraries, how names are resolved, the time zone, and what a process is told of itself.
const READABLE: [&str; 20] = [
    "/lib",
    "/lib64",
    "/usr/lib",
    "/usr/lib64",
    "/nix/store",
    "/usr/share/zoneinfo",
    "/etc/localtime",
    "/etc/ld.so.cache",
    "/etc/resolv.conf",
    "/etc/hosts",
    "/etc/host.conf",
    "/etc/nsswitch.conf",
    "/etc/gai.conf",
    // Whom the system trusts, for those who tell Deno to trust them too.
    "/etc/ssl/certs",
    "/etc/pki/tls/certs",
    "/etc/pki/ca-trust/extracted",
    "/usr/share/ca-certificates",
    "/usr/local/share/ca-certificates",
    // A folder of the process itself: the link is followed now, and means this process for ever.
    "/proc/self",
    "/proc/meminfo",
];
const DEVICES: [&str; 4] = ["/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"];
/// What starts a dynamically linked program.
const LOADERS: [&str; 4] = [
    "/lib64/ld-linux-x86-64.so.2",
    "/lib/ld-linux-aarch64.so.1",
    "/lib/ld-musl-x86_64.so.1",
    "/lib/ld-musl-aarch64.so.1",
];

/// Leaves this process the files that a worker needs, no port to listen on, and no one else to send signals to.
pub(super) fn restrict(lock: &Lock) -> Result<RulesetStatus, RulesetError> {
    let read = AccessFs::ReadFile | AccessFs::ReadDir;
    let all = AccessFs::from_all(WANTED) & !BitFlags::from(AccessFs::Execute);
    let rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(WANTED))?
        .handle_access(AccessNet::BindTcp)?
        .scope(Scope::AbstractUnixSocket | Scope::Signal)?
        .create()?
        // Paths that are not there are passed over.
        .add_rules(path_beneath_rules(READABLE, read))?
        .add_rules(path_beneath_rules([&lock.bootstrap], read))?
        .add_rules(path_beneath_rules(&lock.certificates, read))?
        .add_rules(path_beneath_rules(
            LOADERS,
            AccessFs::Execute | AccessFs::ReadFile,
        ))?
        .add_rules(path_beneath_rules(
            [&lock.deno],
            AccessFs::Execute | AccessFs::ReadFile,
        ))?
        .add_rules(path_beneath_rules(
            DEVICES,
            AccessFs::ReadFile | AccessFs::WriteFile,
        ))?
        .add_rules(path_beneath_rules(
            [&lock.cache],
            if lock.cache_writable { all } else { read },
        ))?
        .add_rules(path_beneath_rules([&lock.scratch], all))?;
    Ok(rules.restrict_self()?.ruleset)
}
