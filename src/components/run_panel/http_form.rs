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
    view! {
        {address}
        <div class="run-panel__line">
            <Select label="Method" options=methods value=form.method on_change=move |method| form.method.set(method) />
            <TextField label="Path" value=form.path code=true error=error(|problem| problem == FormProblem::Path) />
        </div>
        <details class="run-panel__more-fields" open=move || problem.get().is_some_and(|problem| matches!(problem, FormProblem::Headers | FormProblem::Body))>
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
        {sent_list(form, on_send)}
    }
    .into_any()
}

/// The requests that were sent before, newest first.
fn sent_list(form: RunForm, on_send: Callback<()>) -> AnyView {
    let item = move |request: HttpRequest| {
        let line = format!("{} {}", request.method, request.path);
        let again = request.clone();
        view! {
            <li class="run-panel__sent">
                <button type="button" class="run-panel__fill" on:click=move |_| form.fill(&request)>{line.clone()}</button>
                <button
                    type="button"
                    class="run-panel__again"
                    aria-label=format!("Send {line} again")
                    on:click=move |_| {
                        form.fill(&again);
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
