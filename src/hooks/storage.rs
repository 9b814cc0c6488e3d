//! What this browser remembers. A browser that remembers nothing (private windows, a full disk) is no failure.

use leptos::prelude::window;
use web_sys::Storage;

fn local_storage() -> Option<Storage> {
    window().local_storage().ok().flatten()
}

/// What was kept under this key.
pub fn get(key: &str) -> Option<String> {
    local_storage()?.get_item(key).ok().flatten()
}

/// Keeps a value, or forgets it; says whether that worked.
pub fn set(key: &str, value: Option<&str>) -> bool {
    let Some(storage) = local_storage() else {
        return false;
    };
    match value {
        Some(value) => storage.set_item(key, value).is_ok(),
        None => storage.remove_item(key).is_ok(),
    }
}
