//! What starts a val, and what came of it: a form of the val's kind, and under it the last run.

pub mod email_form;
pub mod form;
pub mod http_form;
pub mod schedule_view;

pub mod schedule_form;
pub mod schedule_words;

pub use form::{FormProblem, RunForm};
pub use schedule_view::ScheduleEdit;

use hamlet_models::{ExtendedVal, FullRun, ValKind};
use leptos::prelude::*;

use self::{email_form::EmailForm, http_form::HttpForm, schedule_view::ScheduleView};
use crate::{
    api::ApiClient,
    components::{run_outcome::RunOutcome, stack::ValFrame},
    paths,
    ui::{
        copy::CopyButton,
        field::TextField,
        icon::{Icon, IconName},
        part::part,
    },
};

/// How a run of the val stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunState {
    /// None goes on.
    Idle,
    /// One was asked for.
    Starting,
    /// One goes on.
    Going,
    /// One goes on, or did: the server can't be asked.
    Unreachable,
    /// The last one could not be started or looked at, for this reason.
    Refused(String),
}

impl RunState {
    /// Whether a run is on its way or goes on.
    pub fn is_busy(&self) -> bool {
        matches!(self, Self::Starting | Self::Going | Self::Unreachable)
    }
}

/// The form that starts a val of this kind, and the outcome of its last run.
#[component]
pub fn RunPanel(
    /// The val.
    #[prop(into)]
    val: Signal<ExtendedVal>,
    /// What is filled in.
    form: RunForm,
    /// What is wrong with that, if anything.
    problem: RwSignal<Option<FormProblem>>,
    /// The last run, if there is one.
    #[prop(into)]
    run: Signal<Option<FullRun>>,
    /// How it stands.
    #[prop(into)]
    state: Signal<RunState>,
    /// What sets a scheduled val's schedule.
    schedule: ScheduleEdit,
    /// Starts a run.
    on_run: Callback<()>,
    /// Shows the place of a frame in the editor.
    on_frame: Callback<ValFrame>,
) -> AnyView {
    let kind = Memo::new(move |_| val.with(|val| val.kind));
    let endpoint = Memo::new(move |_| val.with(|val| val.links.endpoint.clone()));
    let address = Memo::new(move |_| val.with(|val| val.links.email.clone()));
    let api = expect_context::<ApiClient>();
    let open = Memo::new(move |_| val.with(|val| api.open_address(val)));
    let planned = Memo::new(move |_| val.with(|val| val.schedule.clone()));
    let trigger = move || match kind.get() {
        ValKind::Script => run_form(script_form(form, problem), on_run),
        ValKind::Http => run_form(
            view! { <HttpForm endpoint open form problem on_send=on_run /> }.into_any(),
            on_run,
        ),
        ValKind::Interval => view! { <ScheduleView schedule=planned edit=schedule /> }.into_any(),
        ValKind::Email => run_form(view! { <EmailForm address form /> }.into_any(), on_run),
    };
    view! {
        <div class="run-panel">
            <div class="run-panel__start">{part(trigger)}</div>
            <LastRun run state on_frame />
        </div>
    }
    .into_any()
}

/// What is filled in before a run.
fn run_form(fields: AnyView, on_run: Callback<()>) -> AnyView {
    view! {
        <form
            class="run-panel__form"
            aria-label="Run"
            on:submit=move |event| {
                event.prevent_default();
                on_run.run(());
            }
        >
            {fields}
            // Without it, Enter in a field would send no form that has several.
            <button type="submit" hidden=true></button>
        </form>
    }
    .into_any()
}

#[component]
fn LastRun(run: Signal<Option<FullRun>>, state: Signal<RunState>, on_frame: Callback<ValFrame>) -> AnyView {
    let note = move || {
        let sentence = match state.get() {
            RunState::Unreachable => {
                "Can’t reach the server. The run goes on there; its outcome shows here once it can be asked."
                    .to_owned()
            }
            RunState::Refused(reason) => reason,
            RunState::Idle | RunState::Starting | RunState::Going => return None,
        };
        Some(view! { <p class="run-panel__failed" role="alert">{sentence}</p> }.into_any())
    };
    // The outcome is one view as long as the run is the same one: what is unfolded in it stays so.
    let id = Memo::new(move |_| run.with(|run| run.as_ref().map(|run| run.id)));
    let outcome = move || match id.get() {
        Some(id) => {
            let first = run.get_untracked();
            let shown = Memo::new(move |before: Option<&Option<FullRun>>| {
                let now = run.get().filter(|run| run.id == id);
                now.or_else(|| before.cloned().flatten())
                    .or_else(|| first.clone())
            });
            let run = Signal::derive(move || shown.get().expect("the run was there from the start"));
            view! {
                <RunOutcome run on_frame />
                <a class="run-panel__more" href=paths::run(id)>"All about this run"</a>
            }
            .into_any()
        }
        None if state.get() == RunState::Starting => {
            view! { <p class="run-panel__none" role="status">"Starting…"</p> }.into_any()
        }
        None => view! { <p class="run-panel__none">"No run yet. Its outcome and logs will show here."</p> }
            .into_any(),
    };
    view! {
        {note}
        {outcome}
    }
    .into_any()
}

fn script_form(form: RunForm, problem: RwSignal<Option<FormProblem>>) -> AnyView {
    view! {
        <TextField
            label="Arguments"
            value=form.args
            code=true
            hint="A JSON list for the default export, if it is a function: [1, \"two\"]"
            error=FormProblem::of(problem, FormProblem::is_args)
        />
    }
    .into_any()
}

/// The address of an HTTP val, to copy and to open.
#[component]
pub fn EndpointAddress(
    /// The address.
    #[prop(into)]
    address: String,
    /// What opens it; the address itself, unless that is only for who is signed in.
    #[prop(default = None)]
    open: Option<String>,
) -> AnyView {
    let open = open.unwrap_or_else(|| address.clone());
    view! {
        <div class="endpoint">
            <code class="endpoint__address">{address.clone()}</code>
            <CopyButton text=Signal::stored(address) what="address" />
            <a class="button button--quiet button--icon" href=open target="_blank" rel="noopener" aria-label="Open the address" title="Open the address">
                <Icon name=IconName::External />
            </a>
        </div>
    }
    .into_any()
}
