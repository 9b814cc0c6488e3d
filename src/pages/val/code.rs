//! The code of a val beside what runs it; for its owner to write, for others to read.

use hamlet_models::{ExtendedVal, ValKind};
use leptos::{prelude::*, task::spawn_local};
use leptos_router::hooks::use_navigate;

use super::{
    draft::Draft, leave::LeaveGuard, readme::ValReadme, requests::remember_requests, runner::Runner,
    schedule::use_schedule, work::Work,
};
use crate::{
    api::ApiClient,
    components::{
        code_editor::{CodeEditor, Place, use_selected_lines},
        code_reader::CodeReader,
        run_panel::{EndpointAddress, FormProblem, RunForm, RunPanel, RunState},
        save_status::{SaveState, SaveStatus},
        split_pane::SplitPane,
        stack::ValFrame,
        val_heading::{ValHeading, ValTab},
        version_conflict::VersionConflict,
    },
    hooks::{session::use_session, shortcuts::on_mod_key, unsaved::use_unsaved_guard},
    paths,
    ui::{
        button::{Button, ButtonKind},
        icon::{Icon, IconName},
        lazy::lazy,
        time::RelativeTime,
    },
};

/// A val with its code: the workspace of its owner, a page to read for everyone else.
#[component]
pub fn ValCode(
    /// The val as of its latest version.
    val: ExtendedVal,
) -> AnyView {
    let session = use_session();
    let author = val.author.clone();
    let owner = Memo::new(move |_| session.is(author.as_ref()));
    let val = StoredValue::new(val);
    (move || {
        let val = val.get_value();
        if owner.get() {
            let workspace = lazy!(workspace, |props: WorkspaceProps| Workspace(props));
            workspace(WorkspaceProps::builder().val(val).owner(owner).build())
        } else {
            view! { <Reading val owner /> }.into_any()
        }
    })
    .into_any()
}

/// What everyone but the owner sees.
#[component]
fn Reading(val: ExtendedVal, owner: Memo<bool>) -> AnyView {
    let code = val.code.clone().unwrap_or_default();
    let lines = use_selected_lines();
    let endpoint = val.links.endpoint.clone();
    let label = format!("Code of {}", val.name);
    let val = RwSignal::new(val);
    view! {
        <div class="val-page page--full">
            <ValHeading val tab=ValTab::Code owner />
            {endpoint.map(|address| view! { <EndpointAddress address /> })}
            <div class="val-page__reading">
                <CodeReader code label lines />
            </div>
            <ValReadme val owner />
        </div>
    }
    .into_any()
}

/// What the owner works in.
#[component]
fn Workspace(val: ExtendedVal, owner: Memo<bool>) -> AnyView {
    let api = expect_context::<ApiClient>();
    let id = val.id;
    let label = format!("Code of {}", val.name);
    let work = Work::open(api, val, true);
    let runner = Runner::new(api);
    let form = RunForm::new();
    let problem = RwSignal::new(None::<FormProblem>);
    remember_requests(id, form.sent);

    let unsaved = work.unsaved();
    let state = work.state();
    let kept = work.keep_draft();
    use_unsaved_guard(unsaved);
    let save = Callback::new(move |()| {
        spawn_local(async move {
            work.save().await;
        });
    });
    work.save_when_restored(save);

    spawn_local(runner.show_last(id));
    let schedule = use_schedule(api, work.val, runner);
    // A run that is asked for while a save goes on waits for that.
    let waiting = RwSignal::new(false);
    let run = Callback::new(move |()| {
        let kind = work.val.with_untracked(|val| val.kind);
        if runner.state.with_untracked(RunState::is_busy) {
            return;
        }
        if state.get_untracked() == SaveState::Saving {
            return waiting.set(true);
        }
        let new_run = match form.new_run(kind) {
            Ok(new_run) => new_run,
            Err(found) => return problem.set(Some(found)),
        };
        problem.set(None);
        form.remember(&new_run);
        spawn_local(async move {
            // What runs is what is written: a save that fails says so, and nothing older is run in its place.
            if !unsaved.get_untracked() || work.save().await {
                runner.start(id, &new_run).await;
            }
        });
    });
    Effect::new(move |_| {
        if waiting.get() && state.get() != SaveState::Saving {
            waiting.set(false);
            // What could not be saved has said so.
            if matches!(state.get_untracked(), SaveState::Saved | SaveState::Unsaved) {
                run.run(());
            }
        }
    });
    on_mod_key("s", move || save.run(()));
    on_mod_key("Enter", move || run.run(()));

    let lines = use_selected_lines();
    let cursor = RwSignal::new(None::<Place>);
    let on_frame = show_frame(work, cursor);
    let editor = view! {
        <CodeEditor
            code=work.code
            label
            marks=runner.marks(work.val.into())
            lines
            cursor
            on_save=save
            on_run=run
        />
    }
    .into_any();
    let panel = view! {
        <RunPanel val=work.val form problem run=runner.run state=runner.state schedule on_run=run on_frame />
    }
    .into_any();
    view! {
        <div class="val-page page--full">
            <ValHeading val=work.val tab=ValTab::Code owner />
            <Notices work save />
            <div class="workspace">
                <div class="workspace__bar">
                    <SaveStatus state kept on_retry=save />
                    <Actions work state runner save run />
                </div>
                <SplitPane label="Width of the editor" key="hamlet.split" first=editor second=panel />
            </div>
            <ValReadme val=work.val owner />
            <LeaveGuard unsaved kept on_save=save />
        </div>
    }
    .into_any()
}

/// Shows the place that a frame names: in the editor, if it is of the version that is there.
fn show_frame(work: Work, cursor: RwSignal<Option<Place>>) -> Callback<ValFrame> {
    let navigate = use_navigate();
    Callback::new(move |frame: ValFrame| {
        let is_here = work.val.with_untracked(|val| {
            val.name.key() == frame.val.key() && frame.version.is_none_or(|version| version == val.version)
        });
        if is_here {
            cursor.set(Some(Place {
                line: frame.line,
                column: frame.column,
            }));
            return;
        }
        let (username, val) = (frame.username.as_str(), frame.val.as_str());
        let page = match frame.version {
            Some(version) => paths::version(username, val, version),
            None => paths::val(username, val),
        };
        navigate(&format!("{page}#L{}", frame.line), Default::default());
    })
}

/// A draft that was found, a newer version that was met, and what the save is to be warned of.
#[component]
fn Notices(work: Work, save: Callback<()>) -> AnyView {
    let restored = move || {
        let draft = work.restored.get()?;
        let newest = work.val.with(|val| val.version);
        Some(restored_notice(work, &draft, newest))
    };
    let conflict = move || {
        let theirs = work.newer.get()?;
        let keep = Callback::new(move |()| {
            work.keep_mine();
            save.run(());
        });
        let take = Callback::new(move |()| work.take_theirs());
        let base = work.base.get_untracked();
        Some(view! { <VersionConflict base theirs mine=work.code on_keep=keep on_take=take /> })
    };
    let warned = move || work.val.with(|val| warning_notice(&val.warnings));
    view! {
        {restored}
        {conflict}
        {warned}
    }
    .into_any()
}

fn warning_notice(warnings: &[String]) -> Option<AnyView> {
    let sentences: Vec<AnyView> = warnings
        .iter()
        .map(|warning| view! { <p>{warning.clone()}</p> }.into_any())
        .collect();
    let notice = view! {
        <div class="notice notice--warning" role="status">
            <Icon name=IconName::Warning />
            <div class="notice__body">{sentences}</div>
        </div>
    };
    (!warnings.is_empty()).then(|| notice.into_any())
}

fn restored_notice(work: Work, draft: &Draft, newest: u32) -> AnyView {
    let older = (draft.base != newest).then(|| {
        format!(
            " They began on version {}; version {newest} is newer.",
            draft.base
        )
    });
    view! {
        <div class="notice" role="status">
            <Icon name=IconName::History />
            <div class="notice__body">
                <p>
                    "Your unsaved changes are back, kept "
                    <RelativeTime at=draft.at />
                    "."
                    {older}
                </p>
                <div class="notice__actions">
                    <Button on_click=move |()| work.restored.set(None)>"Keep them"</Button>
                    <Button on_click=move |()| work.discard()>"Discard them"</Button>
                </div>
            </div>
        </div>
    }
    .into_any()
}

/// Save, run and cancel; on a narrow screen they stick to the bottom edge.
#[component]
fn Actions(
    work: Work,
    state: Signal<SaveState>,
    runner: Runner,
    save: Callback<()>,
    run: Callback<()>,
) -> AnyView {
    let unsaved = work.unsaved();
    let busy = Memo::new(move |_| runner.state.with(RunState::is_busy));
    let kind = Memo::new(move |_| work.val.with(|val| val.kind));
    let verb = move || match (kind.get(), unsaved.get()) {
        (ValKind::Http | ValKind::Email, true) => "Save and send",
        (_, true) => "Save and run",
        (ValKind::Http, false) => "Send",
        (ValKind::Email, false) => "Send test message",
        (ValKind::Interval, false) => "Run now",
        (_, false) => "Run",
    };
    let saving = Signal::derive(move || state.get() == SaveState::Saving);
    let id = work.val.with_untracked(|val| val.id);
    let cancel = move || {
        let can = busy.get() && runner.run.with(Option::is_some);
        can.then(|| {
            view! {
                <Button on_click=move |()| spawn_local(runner.cancel(id))>
                    <Icon name=IconName::Stop />
                    "Cancel the run"
                </Button>
            }
        })
    };
    view! {
        <div class="workspace__actions">
            {cancel}
            <Button on_click=save busy=saving>"Save"</Button>
            <Button kind=ButtonKind::Primary on_click=run busy>
                <Icon name=IconName::Play />
                {verb}
            </Button>
        </div>
    }
    .into_any()
}
