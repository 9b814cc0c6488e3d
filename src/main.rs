//! The web app's start: mounts [`hamlet_app::app::App`] into the page.

use hamlet_app::app::App;

fn main() {
    console_error_panic_hook::set_once();
    leptos::mount::mount_to_body(App);
}
