//! The form of a message to try an e-mail val with.

use leptos::prelude::*;

use super::RunForm;
use crate::ui::{
    copy::CopyButton,
    field::{TextArea, TextField},
    part::part,
};

/// The val's address, and a test message.
#[component]
pub fn EmailForm(
    /// Where mail reaches it; `None` where the server takes no mail.
    address: Memo<Option<String>>,
    /// What is filled in.
    form: RunForm,
) -> AnyView {
    let address = move || {
        match address.get() {
        Some(address) => view! {
            <div class="endpoint">
                <code class="endpoint__address">{address.clone()}</code>
                <CopyButton text=Signal::stored(address) what="address" />
            </div>
        }
        .into_any(),
        None => view! {
            <p class="run-panel__note">
                "No mail reaches it: this server takes none until its mail domain is set. A test message runs it all the same."
            </p>
        }
        .into_any(),
    }
    };
    view! {
        {part(address)}
        <TextField label="From" value=form.from hint="You, if this is empty." />
        <TextField label="Subject" value=form.subject />
        <TextArea label="Text" value=form.text rows=4 />
    }
    .into_any()
}
