//! System calls: seccomp.

use std::{collections::BTreeMap, env::consts::ARCH, process};

use nix::libc;
use seccompiler::{
    BpfProgram, Error, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, apply_filter,
};

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// What no worker has need for: other processes, the kernel's keys and modules, mounts, clocks, memory that outlives a
/// process, and rings through which calls would pass by these filters.
const REFUSED: &[i64] = &[
    libc::SYS_acct,
    libc::SYS_add_key,
    libc::SYS_adjtimex,
    libc::SYS_bpf,
    libc::SYS_chroot,
    libc::SYS_clock_adjtime,
    libc::SYS_clock_settime,
    libc::SYS_delete_module,
    libc::SYS_fanotify_init,
    libc::SYS_finit_module,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    libc::SYS_init_module,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_io_uring_setup,
    libc::SYS_ioprio_set,
    libc::SYS_kcmp,
    libc::SYS_kexec_load,
    libc::SYS_keyctl,
    libc::SYS_kill,
    libc::SYS_migrate_pages,
    libc::SYS_mount,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_move_pages,
    libc::SYS_mq_open,
    libc::SYS_msgget,
    libc::SYS_name_to_handle_at,
    libc::SYS_open_by_handle_at,
    libc::SYS_open_tree,
    libc::SYS_perf_event_open,
    libc::SYS_personality,
    libc::SYS_pidfd_getfd,
    libc::SYS_pidfd_open,
    libc::SYS_pidfd_send_signal,
    libc::SYS_pivot_root,
    libc::SYS_process_madvise,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_ptrace,
    libc::SYS_quotactl,
    libc::SYS_reboot,
    libc::SYS_request_key,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_tgsigqueueinfo,
    libc::SYS_semget,
    libc::SYS_setdomainname,
    libc::SYS_sethostname,
    libc::SYS_setns,
    // A worker that left its process group would not be ended with it.
    libc::SYS_setpgid,
    libc::SYS_setpriority,
    libc::SYS_setsid,
    libc::SYS_settimeofday,
    libc::SYS_shmget,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_syslog,
    libc::SYS_tkill,
    // By a name, which Landlock knows of since Linux 6.2. An open file's length can still be changed.
    libc::SYS_truncate,
    libc::SYS_umount2,
    libc::SYS_unshare,
    libc::SYS_userfaultfd,
    libc::SYS_vhangup,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_fork,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_kexec_file_load,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_modify_ldt,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_vfork,
];
/// Calls that may be about this process alone, whose number is their first argument, as 0.
const OF_ITSELF: &[i64] = &[
    libc::SYS_prlimit64,
    libc::SYS_sched_setattr,
    libc::SYS_sched_setaffinity,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setscheduler,
];
/// Opening a file, and the place of the flags: to empty what is only read is a way to write that Landlock knows of since
/// Linux 6.2.
const OPENING: &[(i64, u8)] = &[
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_open, 1),
    (libc::SYS_openat, 2),
];
/// What has the kernel send a signal to another process when something happens to a file, by `fcntl` and by `ioctl`.
/// Landlock knows of signals since Linux 6.12.
const SIGNALS_OF_FILES: &[(i64, u64)] = &[
    (libc::SYS_fcntl, F_SETOWN),
    (libc::SYS_fcntl, F_SETOWN_EX),
    (libc::SYS_ioctl, FIOSETOWN),
    (libc::SYS_ioctl, SIOCSPGRP),
];
const F_SETOWN: u64 = 8;
const F_SETOWN_EX: u64 = 15;
const FIOSETOWN: u64 = 0x8901;
const SIOCSPGRP: u64 = 0x8902;
/// Where the numbers begin under which processors of this kind know every call a second time, and the refused ones
/// whose second number is another one: `ptrace`, `rt_sigqueueinfo`, `kexec_load`, `rt_tgsigqueueinfo`,
/// `process_vm_readv` and `process_vm_writev`.
#[cfg(target_arch = "x86_64")]
const X32: Option<(i64, [i64; 6])> = Some((0x4000_0000, [521, 524, 528, 536, 539, 540]));
#[cfg(not(target_arch = "x86_64"))]
const X32: Option<(i64, [i64; 6])> = None;

/// What sockets a process may open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sockets {
    /// Those that a worker needs.
    UnixAndIpv4,
    /// None at all.
    None,
}

/// Leaves this process threads but no processes, and these sockets.
pub(super) fn restrict(sockets: Sockets) -> Result<(), Error> {
    // A call without rules is refused whatever its arguments.
    let mut refused: Rules = REFUSED.iter().map(|call| (*call, Vec::new())).collect();
    for call in OF_ITSELF {
        refused.insert(*call, vec![rule(&[(0, SeccompCmpOp::Ne, 0)])?]);
    }
    // What ends a process from within names it; it keeps its number in the program that it becomes.
    let own = u64::from(process::id());
    refused.insert(libc::SYS_tgkill, vec![rule(&[(0, SeccompCmpOp::Ne, own)])?]);
    for (call, place) in OPENING {
        let mask = SeccompCmpOp::MaskedEq(flag(libc::O_ACCMODE | libc::O_TRUNC));
        refused.insert(*call, vec![rule(&[(*place, mask, flag(libc::O_TRUNC))])?]);
    }
    for (call, command) in SIGNALS_OF_FILES {
        let rule = rule(&[(1, SeccompCmpOp::Eq, *command)])?;
        refused.entry(*call).or_default().push(rule);
    }
    if let Some((x32, others)) = X32 {
        refused.extend(others.map(|call| (call | x32, Vec::new())));
    }
    let thread = flag(libc::CLONE_THREAD);
    let no_thread = rule(&[(0, SeccompCmpOp::MaskedEq(thread), 0)])?;
    refused.insert(libc::SYS_clone, vec![no_thread]);
    apply(refused, libc::EPERM)?;

    // Their flags lie in memory, where a filter can't look; who is told that there is no such call uses the older one.
    let unseen = [libc::SYS_clone3, libc::SYS_openat2].map(|call| (call, Vec::new()));
    apply(Rules::from(unseen), libc::ENOSYS)?;

    if sockets == Sockets::None {
        return apply(Rules::from([(libc::SYS_socket, Vec::new())]), libc::EAFNOSUPPORT);
    }
    let families = [libc::AF_UNIX, libc::AF_INET].map(|family| (0, SeccompCmpOp::Ne, flag(family)));
    let raw = (1, SeccompCmpOp::MaskedEq(0xf), flag(libc::SOCK_RAW));
    let socket = vec![rule(&families)?, rule(&[raw])?];
    apply(Rules::from([(libc::SYS_socket, socket)]), libc::EAFNOSUPPORT)
}

/// The arguments, by their places, that make a call one to refuse.
fn rule(arguments: &[(u8, SeccompCmpOp, u64)]) -> Result<SeccompRule, Error> {
    let conditions: Result<Vec<_>, _> = arguments
        .iter()
        .map(|(place, compare, value)| {
            SeccompCondition::new(*place, SeccompCmpArgLen::Dword, compare.clone(), *value)
        })
        .collect();
    Ok(SeccompRule::new(conditions?)?)
}

fn flag(flag: i32) -> u64 {
    u64::from(flag.cast_unsigned())
}

fn apply(mut rules: Rules, error: i32) -> Result<(), Error> {
    if let Some((x32, _)) = X32 {
        let again: Vec<_> = rules
            .iter()
            .map(|(call, rules)| (call | x32, rules.clone()))
            .collect();
        rules.extend(again);
    }
    let refuse = SeccompAction::Errno(error.cast_unsigned());
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, ARCH.try_into()?)?;
    apply_filter(&BpfProgram::try_from(filter)?)
}
