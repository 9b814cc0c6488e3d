//! The web app's start: mounts [`hamlet_app::app::App`] into the page.

use hamlet_app::app::App;
use leptos::prelude::document;

fn main() {
    console_error_panic_hook::set_once();
    // The frame that the page itself came with.
    if let Some(boot) = document().get_element_by_id("boot") {
        boot.remove();
    }
    leptos::mount::mount_to_body(App);
}
