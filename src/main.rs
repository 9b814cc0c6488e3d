//! The web app's start: mounts [`hamlet_app::app::App`] into the page.

use hamlet_app::app::App;

fn main() {
    console_error_panic_hook::set_once();
    hamlet_app::hooks::theme::apply_saved_theme();
    leptos::mount::mount_to_body(App);
}
