//! Capabilities: what a server that runs as root may do beyond its files.

use caps::{CapSet, Capability, CapsHashSet, errors::CapsError};

/// What a worker of root's keeps: to find its way to Deno through folders of others. Landlock bounds it.
const TO_READ: [Capability; 1] = [Capability::CAP_DAC_READ_SEARCH];
/// What a process of root's keeps that fills the cache, which may be another's since an earlier start.
const TO_FETCH: [Capability; 2] = [Capability::CAP_DAC_READ_SEARCH, Capability::CAP_DAC_OVERRIDE];

/// Gives the others up, for this process and what it becomes. Who is not root has none.
pub(super) fn restrict(to_fetch: bool) -> Result<(), CapsError> {
    let kept: CapsHashSet = if to_fetch {
        TO_FETCH.into_iter().collect()
    } else {
        TO_READ.into_iter().collect()
    };
    // Root has all those of the bounding set again in a new program; only root may take from that set.
    if caps::has_cap(None, CapSet::Effective, Capability::CAP_SETPCAP)? {
        for capability in caps::read(None, CapSet::Bounding)?.difference(&kept) {
            caps::drop(None, CapSet::Bounding, *capability)?;
        }
    }
    for set in [
        CapSet::Ambient,
        CapSet::Inheritable,
        CapSet::Effective,
        CapSet::Permitted,
    ] {
        let left = &caps::read(None, set)? & &kept;
        caps::set(None, set, &left)?;
    }
    Ok(())
}

/// Whether this process has no others.
pub(super) fn are_few() -> Result<bool, CapsError> {
    let kept: CapsHashSet = TO_FETCH.into_iter().collect();
    Ok(caps::read(None, CapSet::Permitted)?.is_subset(&kept))
}
