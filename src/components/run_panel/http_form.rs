//! The form of a request to an HTTP val.

use hamlet_models::HttpRequest;
use leptos::prelude::*;

use super::{EndpointAddress, FormProblem, RunForm};
use crate::ui::{
    field::{TextArea, TextField},
    select::Select,
};

const METHODS: [&str; 7] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];

/// The address, and a request to send to it.
#[component]
pub fn HttpForm(
    /// Where the val answers.
    endpoint: Memo<Option<String>>,
    /// What opens that address, if it isn't the address itself.
    open: Memo<Option<String>>,
    /// What is filled in.
    form: RunForm,
    /// What is wrong with that.
    problem: RwSignal<Option<FormProblem>>,
    /// Sends it.
    on_send: Callback<()>,
) -> AnyView {
    let methods = METHODS
        .map(|method| (method.to_owned(), method.to_owned()))
        .to_vec();
    let address = move || {
        endpoint
            .get()
            .map(|address| view! { <EndpointAddress address open=open.get() /> })
    };
    let error = |about| FormProblem::of(problem, about);
    // It opens for what is wrong or filled in there, and closes only by hand.
    let unfolded = RwSignal::new(!form.is_plain());
    Effect::new(move |_| {
        let within = |problem| matches!(problem, FormProblem::Headers | FormProblem::Body);
        if problem.get().is_some_and(within) {
            unfolded.set(true);
        }
    });
    let fill = Callback::new(move |request: HttpRequest| {
        form.fill(&request);
        if !form.is_plain() {
            unfolded.set(true);
        }
    });
    view! {
        {address}
        <div class="run-panel__line">
            <Select label="Method" options=methods value=form.method on_change=move |method| form.method.set(method) />
            <TextField label="Path" value=form.path code=true error=error(|problem| problem == FormProblem::Path) />
        </div>
        <details
            class="run-panel__more-fields"
            prop:open=unfolded
            on:toggle:target=move |event| unfolded.set(event.target().open())
        >
            <summary>"Headers and body"</summary>
            <TextArea
                label="Headers"
                value=form.headers
                rows=2
                code=true
                hint="One a line, as Content-Type: application/json"
                error=error(|problem| problem == FormProblem::Headers)
            />
            <TextArea
                label="Body"
                value=form.body
                rows=4
                code=true
                error=error(|problem| problem == FormProblem::Body)
            />
        </details>
        {sent_list(form, fill, on_send)}
    }
    .into_any()
}

/// The requests that were sent before, newest first.
fn sent_list(form: RunForm, fill: Callback<HttpRequest>, on_send: Callback<()>) -> AnyView {
    let item = move |request: HttpRequest| {
        let line = format!("{} {}", request.method, request.path);
        let again = request.clone();
        view! {
            <li class="run-panel__sent">
                <button type="button" class="run-panel__fill" on:click=move |_| fill.run(request.clone())>{line.clone()}</button>
                <button
                    type="button"
                    class="run-panel__again"
                    aria-label=format!("Send {line} again")
                    on:click=move |_| {
                        fill.run(again.clone());
                        on_send.run(());
                    }
                >
                    "Send again"
                </button>
            </li>
        }
        .into_any()
    };
    let list = move || form.sent.get().into_iter().map(item).collect::<Vec<_>>();
    view! {
        <details class="run-panel__history" hidden=move || form.sent.with(Vec::is_empty)>
            <summary>{move || format!("Sent before ({})", form.sent.with(Vec::len))}</summary>
            <ul role="list">{list}</ul>
            <button type="button" class="run-panel__again" on:click=move |_| form.sent.set(Vec::new())>
                "Forget all of them"
            </button>
        </details>
    }
    .into_any()
}
