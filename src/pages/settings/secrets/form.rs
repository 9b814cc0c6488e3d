//! A secret to set: its name, its value, and which vals get it.

use hamlet_models::{BasicVal, Secret, SecretName, SecretUpdate, ValId};
use leptos::{ev::SubmitEvent, prelude::*, task::spawn_local};

use crate::{
    api::{
        ApiClient,
        error::{ClientError, sentence},
    },
    components::{form::FormEnd, loaded::loaded_part},
    hooks::fetched::Fetched,
    ui::{
        button::{Button, ButtonKind},
        field::{Checkbox, TextArea, TextField},
        skeleton::SkeletonRows,
    },
};

/// The form for a new secret, or to change one.
#[component]
pub fn SecretForm(
    /// The one to change; none for a new one.
    secret: Option<Secret>,
    /// Those that are there already.
    known: Vec<Secret>,
    /// The vals to choose from.
    vals: Fetched<Vec<BasicVal>>,
    /// Called once it is set.
    on_done: Callback<()>,
    /// Called to leave everything as it is.
    on_cancel: Callback<()>,
) -> AnyView {
    let api = expect_context::<ApiClient>();
    let (name, value) = (RwSignal::new(String::new()), RwSignal::new(String::new()));
    let before = secret.as_ref().and_then(|secret| secret.val_ids.clone());
    let limited = RwSignal::new(before.is_some());
    let chosen = RwSignal::new(before.unwrap_or_default());
    let busy = RwSignal::new(false);
    let error = RwSignal::<Option<ClientError>>::new(None);
    let wrong_name = RwSignal::<Option<String>>::new(None);
    let wrong_value = RwSignal::<Option<String>>::new(None);
    let fixed = secret.as_ref().map(|secret| secret.name.clone());

    let title = match &fixed {
        Some(name) => view! { <p>"Change " <code>{name.to_string()}</code></p> }.into_any(),
        None => view! {
            <TextField label="Name" value=name code=true hint="As OPENAI_API_KEY." error=wrong_name autofocus=true />
        }
        .into_any(),
    };
    let (hint, verb) = match &fixed {
        Some(_) => (
            "Nobody can read the one that is set. Leave this empty to keep it.",
            "Set secret",
        ),
        None => ("It is kept encrypted, and never shown again.", "Make secret"),
    };
    let submit = move |event: SubmitEvent| {
        event.prevent_default();
        error.set(None);
        wrong_name.set(None);
        wrong_value.set(None);
        let is_new = fixed.is_none();
        let name = match fixed
            .clone()
            .map_or_else(|| new_name(&name.get_untracked(), &known), Ok)
        {
            Ok(name) => name,
            Err(wrong) => return wrong_name.set(Some(wrong)),
        };
        let value = Some(value.get_untracked()).filter(|value| !value.is_empty());
        if is_new && value.is_none() {
            return wrong_value.set(Some("A secret needs a value.".to_owned()));
        }
        let update = SecretUpdate {
            value,
            val_ids: Some(limited.get_untracked().then(|| chosen.get_untracked())),
        };
        if let Some((field, problem)) = update.problems().first() {
            let wrong = sentence(problem);
            return match *field {
                "value" => wrong_value.set(Some(wrong)),
                _ => wrong_name.set(Some(wrong)),
            };
        }
        if busy.get_untracked() {
            return;
        }
        busy.set(true);
        spawn_local(async move {
            let answer = api.set_secret(&name, &update).await;
            if busy.try_set(false).is_some() {
                return;
            }
            match answer {
                Ok(()) => on_done.run(()),
                Err(refused) => error.set(Some(refused)),
            }
        });
    };
    view! {
        <form class="form tokens__form" on:submit=submit>
            {title}
            <TextArea label="Value" value rows=3 code=true hint error=wrong_value />
            <Checkbox
                label="Only some of my vals get it"
                checked=limited
                on_change=move |only| limited.set(only)
            />
            {move || limited.get().then(|| choices(vals, chosen))}
            <FormEnd verb busy error>
                <Button kind=ButtonKind::Quiet on_click=on_cancel>"Cancel"</Button>
            </FormEnd>
        </form>
    }
    .into_any()
}

/// The name of a secret that isn't there yet, or what is wrong with it.
fn new_name(text: &str, known: &[Secret]) -> Result<SecretName, String> {
    let name = text
        .trim()
        .parse::<SecretName>()
        .map_err(|wrong| sentence(&wrong.to_string()))?;
    if let Some(problem) = name.problem() {
        return Err(sentence(problem));
    }
    if known.iter().any(|secret| secret.name == name) {
        return Err("You have a secret of this name already: change that one.".to_owned());
    }
    Ok(name)
}

/// The vals, each to choose or not.
fn choices(vals: Fetched<Vec<BasicVal>>, chosen: RwSignal<Vec<ValId>>) -> AnyView {
    let choice = move |val: BasicVal| {
        let id = val.id;
        let checked = Signal::derive(move || chosen.with(|chosen| chosen.contains(&id)));
        let change = move |on: bool| {
            chosen.update(|chosen| {
                chosen.retain(|other| *other != id);
                chosen.extend(on.then_some(id));
            });
        };
        view! { <Checkbox label=val.name.to_string() checked on_change=change /> }.into_any()
    };
    let show = move |vals: Vec<BasicVal>| {
        let choices: Vec<AnyView> = vals.into_iter().map(choice).collect();
        view! {
            <fieldset class="scopes">
                <legend>"These get it"</legend>
                {choices}
            </fieldset>
        }
        .into_any()
    };
    loaded_part(
        vals,
        || view! { <SkeletonRows rows=1 height=28 /> }.into_any(),
        show,
    )
}
