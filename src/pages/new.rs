//! Writing a new val.

pub mod starters;

use hamlet_models::{NewVal, Privacy, ProblemCode, ValName};
use leptos::{ev::SubmitEvent, prelude::*, task::spawn_local};
use leptos_router::{NavigateOptions, hooks::use_navigate};
use serde::{Deserialize, Serialize};

use self::starters::{STARTERS, Starter, is_untouched, starter_of};
use crate::{
    api::{
        ApiClient,
        error::{ClientError, sentence},
    },
    components::{code_editor::CodeEditor, heading::PageHeading, loaded::loaded},
    hooks::{
        fetched::Fetched,
        params::{use_query, use_set_query},
        session::use_session,
        shortcuts::on_mod_key,
        storage,
    },
    pages::val::settings::PrivacySelect,
    paths,
    ui::{
        button::{Button, ButtonKind},
        field::TextField,
        skeleton::SkeletonBox,
    },
};

/// Where what is being written is kept.
const DRAFT_KEY: &str = "hamlet.draft.new";

/// What is being written, kept in this browser until the val is made.
#[derive(Serialize, Deserialize)]
struct Draft {
    starter: String,
    code: String,
    name: String,
    privacy: Privacy,
}

/// Writing a new val.
#[component]
pub fn NewValPage() -> AnyView {
    let session = use_session();
    let me = Fetched::new(move || session.must_be_signed_in());
    loaded(
        me,
        || view! { <SkeletonBox height="80vh" /> }.into_any(),
        |_| view! { <NewValForm /> }.into_any(),
    )
}

#[component]
fn NewValForm() -> AnyView {
    let api = expect_context::<ApiClient>();
    let query = use_query("starter");
    let set_query = use_set_query();
    // A link to a starter means that one; a draft is what else was being written.
    let asked = query.get_untracked();
    let draft = storage::get(DRAFT_KEY)
        .and_then(|draft| serde_json::from_str::<Draft>(&draft).ok())
        .filter(|draft| asked.is_none() || asked.as_deref() == Some(draft.starter.as_str()));
    let first = starter_of(
        draft
            .as_ref()
            .map(|draft| draft.starter.as_str())
            .or(asked.as_deref()),
    );
    let restored = draft.as_ref().is_some_and(|draft| !is_untouched(&draft.code));
    let starter = RwSignal::new(first);
    let code = RwSignal::new(
        draft
            .as_ref()
            .map_or_else(|| first.code.to_owned(), |draft| draft.code.clone()),
    );
    let name = RwSignal::new(draft.as_ref().map(|draft| draft.name.clone()).unwrap_or_default());
    let privacy = RwSignal::new(draft.map(|draft| draft.privacy).unwrap_or_default());
    let (busy, made) = (RwSignal::new(false), RwSignal::new(false));
    let error = RwSignal::new(None::<ClientError>);
    let wrong_name = RwSignal::new(None::<String>);

    Effect::new(move |_| {
        if made.get() {
            return;
        }
        let draft = Draft {
            starter: starter.get().key.to_owned(),
            code: code.get(),
            name: name.get(),
            privacy: privacy.get(),
        };
        let worth = !is_untouched(&draft.code) || !draft.name.is_empty();
        let draft = worth.then(|| serde_json::to_string(&draft).ok()).flatten();
        storage::set(DRAFT_KEY, draft.as_deref());
    });

    let choose = Callback::new(move |chosen: Starter| {
        // What someone wrote stays when the kind changes.
        if code.with_untracked(|code| is_untouched(code)) {
            code.set(chosen.code.to_owned());
        }
        starter.set(chosen);
        set_query("starter", Some(chosen.key));
    });
    Effect::new(move |before: Option<Option<String>>| {
        let asked = query.get();
        let other = before.is_some_and(|before| before != asked)
            && asked
                .as_deref()
                .is_some_and(|asked| asked != starter.get_untracked().key);
        if other {
            choose.run(starter_of(asked.as_deref()));
        }
        asked
    });

    let navigate = use_navigate();
    let create = Callback::new(move |()| {
        let typed = name.get_untracked().trim().to_owned();
        let parsed = (!typed.is_empty()).then(|| typed.parse::<ValName>()).transpose();
        let parsed = match parsed {
            Ok(parsed) => parsed,
            Err(problem) => return wrong_name.set(Some(sentence(&problem.to_string()))),
        };
        wrong_name.set(None);
        error.set(None);
        if busy.get_untracked() {
            return;
        }
        let val = NewVal {
            name: parsed,
            privacy: Some(privacy.get_untracked()),
            kind: Some(starter.get_untracked().kind),
            ..NewVal::of_code(code.get_untracked())
        };
        busy.set(true);
        let navigate = navigate.clone();
        spawn_local(async move {
            let answer = api.create_val(&val).await;
            if busy.try_set(false).is_some() {
                return;
            }
            match answer {
                Ok(val) => {
                    made.set(true);
                    storage::set(DRAFT_KEY, None);
                    let author = val.author.as_ref().map(|author| author.username.to_string());
                    let page = paths::val(&author.unwrap_or_default(), val.name.as_str());
                    navigate(
                        &page,
                        NavigateOptions {
                            replace: true,
                            ..NavigateOptions::default()
                        },
                    );
                }
                Err(refused) => error.set(Some(refused)),
            }
        });
    });
    on_mod_key("s", move || create.run(()));

    let discard = Callback::new(move |()| {
        code.set(starter.get_untracked().code.to_owned());
        name.set(String::new());
    });
    let untouched = Memo::new(move |_| code.with(|code| is_untouched(code)));
    let status = move || match error.get() {
        Some(error) => view! { <p class="new-val__failed" role="alert">{not_made(&error)}</p> }.into_any(),
        None if untouched.get() => view! { <p class="new-val__status">"Not saved yet"</p> }.into_any(),
        None => view! { <p class="new-val__status">"Not saved yet; kept in this browser"</p> }.into_any(),
    };
    let name_error = Signal::derive(move || {
        let taken = |error: &ClientError| {
            let is_name = error.code() == Some(ProblemCode::NameTaken);
            error.field("name").or_else(|| is_name.then(|| error.sentence()))
        };
        wrong_name
            .get()
            .or_else(|| error.with(|error| error.as_ref().and_then(taken)))
    });
    let submit = move |event: SubmitEvent| {
        event.prevent_default();
        create.run(());
    };
    view! {
        <form class="new-val page--full" on:submit=submit>
            <PageHeading title="New val" />
            <StarterChoice starter on_choose=choose />
            <div class="new-val__fields">
                <TextField
                    label="Name"
                    value=name
                    code=true
                    hint="Left empty, a readable one is made up."
                    error=name_error
                />
                <PrivacySelect privacy />
            </div>
            <div class="workspace__bar">
                {status}
                <div class="workspace__actions">
                    {move || {
                        (!untouched.get())
                            .then(|| {
                                let word = if restored { "Discard the draft" } else { "Start over" };
                                view! { <Button on_click=discard>{word}</Button> }
                            })
                    }}
                    <Button kind=ButtonKind::Primary submit=true busy>"Create"</Button>
                </div>
            </div>
            <div class="new-val__editor">
                <CodeEditor code label="Code of the new val" on_save=create />
            </div>
        </form>
    }
    .into_any()
}

/// The kinds as cards; each fills the editor with a program that runs, as long as nobody has written in it.
#[component]
fn StarterChoice(starter: RwSignal<Starter>, on_choose: Callback<Starter>) -> AnyView {
    let card = move |each: Starter| {
        view! {
            <label class="starter">
                <input
                    type="radio"
                    name="starter"
                    value=each.key
                    prop:checked=move || starter.get() == each
                    on:change=move |_| on_choose.run(each)
                />
                <span class="starter__title">{each.title}</span>
                <span class="starter__summary">{each.summary}</span>
            </label>
        }
        .into_any()
    };
    view! {
        <fieldset class="starters">
            <legend>"What starts it"</legend>
            {STARTERS.map(card).into_iter().collect::<Vec<_>>()}
        </fieldset>
    }
    .into_any()
}

fn not_made(error: &ClientError) -> String {
    match error {
        ClientError::Offline => {
            "Can’t reach the server: what you wrote is kept in this browser. Create it again.".to_owned()
        }
        error if error.is_signed_out() => {
            "You are signed out. What you wrote is kept in this browser: sign in and come back.".to_owned()
        }
        error => format!("Not created. {}", error.sentence()),
    }
}
