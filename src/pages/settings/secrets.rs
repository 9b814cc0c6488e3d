//! The user's secrets: environment variables whose values are written and never read back.

pub mod form;

use hamlet_models::{BasicVal, Page, PageQuery, Secret, UserId, ValFilter};
use leptos::prelude::*;

use self::form::SecretForm;
use crate::{
    api::ApiClient,
    components::{
        confirm::{ConfirmDelete, Doomed},
        loaded::loaded_part,
    },
    hooks::fetched::Fetched,
    ui::{button::Button, number, part::part, skeleton::SkeletonRows, state::EmptyState, time::RelativeTime},
};

/// As many as one answer holds.
const ALL: PageQuery = PageQuery {
    offset: 0,
    limit: PageQuery::MAX_LIMIT,
};

/// What is done in the section.
#[derive(Clone, PartialEq)]
enum Task {
    /// Reading the list.
    Read,
    /// Writing a new secret.
    Add,
    /// Changing this one.
    Change(Secret),
}

/// The secrets by name, and a form to set one.
#[component]
pub fn SecretsSection(
    /// Whose they are.
    user: UserId,
) -> AnyView {
    let api = expect_context::<ApiClient>();
    let secrets = Fetched::new(move || api.list_secrets(ALL));
    // For the names of those that a secret is limited to.
    let vals = Fetched::new(move || async move {
        let vals = api.list_user_vals(user, &ValFilter::default(), ALL).await?;
        Ok(vals.data)
    });
    let task = RwSignal::new(Task::Read);
    let deleting = RwSignal::<Option<Doomed>>::new(None);

    let on_done = Callback::new(move |()| {
        task.set(Task::Read);
        secrets.refetch();
    });
    let on_cancel = Callback::new(move |()| task.set(Task::Read));
    let form = move |secret: Option<Secret>| {
        let known = secrets.value().map(|secrets| secrets.data).unwrap_or_default();
        view! { <SecretForm secret known vals on_done on_cancel /> }.into_any()
    };
    let above = move || match task.get() {
        Task::Add => untrack(|| form(None)),
        Task::Change(secret) => untrack(|| form(Some(secret))),
        Task::Read => {
            view! { <Button on_click=move |()| task.set(Task::Add)>"New secret"</Button> }.into_any()
        }
    };
    let show = move |secrets: Page<Secret>| secret_list(secrets, vals, task, deleting);
    view! {
        <div class="tokens">
            {part(above)}
            {loaded_part(secrets, || view! { <SkeletonRows rows=2 height=56 /> }.into_any(), show)}
            <ConfirmDelete doomed=deleting verb="Delete secret" on_deleted=move |()| secrets.refetch()>
                <p>"Vals that read it find nothing from their next run on. Its value can’t be brought back."</p>
            </ConfirmDelete>
        </div>
    }
    .into_any()
}

fn secret_list(
    secrets: Page<Secret>,
    vals: Fetched<Vec<BasicVal>>,
    task: RwSignal<Task>,
    deleting: RwSignal<Option<Doomed>>,
) -> AnyView {
    if secrets.data.is_empty() {
        return view! {
            <EmptyState title="No secrets">"A val reads them as " <code>"Deno.env.get(\"NAME\")"</code> "."</EmptyState>
        }
        .into_any();
    }
    let more = secrets.links.next.is_some().then(|| {
        let words = format!(
            "The first {} by name; the rest can be had through the API.",
            secrets.data.len()
        );
        view! { <p class="settings__note">{words}</p> }.into_any()
    });
    let rows: Vec<AnyView> = secrets
        .data
        .into_iter()
        .map(|secret| secret_row(secret, vals, task, deleting))
        .collect();
    view! {
        <ul class="rows" role="list" aria-label="Secrets">
            {rows}
        </ul>
        {more}
    }
    .into_any()
}

fn secret_row(
    secret: Secret,
    vals: Fetched<Vec<BasicVal>>,
    task: RwSignal<Task>,
    deleting: RwSignal<Option<Doomed>>,
) -> AnyView {
    let api = expect_context::<ApiClient>();
    let name = secret.name.to_string();
    let (changed, gone) = (secret.clone(), secret.name.clone());
    let delete = move |()| {
        let gone = gone.clone();
        let question = format!("Delete {gone}?");
        deleting.set(Some(Doomed::new(question, move || {
            let gone = gone.clone();
            async move { api.delete_secret(&gone).await }
        })));
    };
    let updated = secret.updated_at.as_millis();
    let scope = move || who_gets(&secret, &vals.value().unwrap_or_default());
    view! {
        <li class="row token">
            <div class="token__words">
                <code class="token__name">{name.clone()}</code>
                <span class="token__scopes">{part(scope)}</span>
                <span class="token__times">"set " <RelativeTime at=updated /></span>
            </div>
            <Button
                label=format!("Change {name}")
                on_click=move |()| task.set(Task::Change(changed.clone()))
            >
                "Change"
            </Button>
            <Button
                label=format!("Delete {name}")
                on_click=delete
            >
                "Delete"
            </Button>
        </li>
    }
    .into_any()
}

/// Which vals get a secret, in words: by name as far as those are known.
fn who_gets(secret: &Secret, vals: &[BasicVal]) -> String {
    let Some(ids) = &secret.val_ids else {
        return "For every val of yours".to_owned();
    };
    let names: Vec<&str> = vals
        .iter()
        .filter(|val| ids.contains(&val.id))
        .map(|val| val.name.as_str())
        .collect();
    match (ids.len(), names.len()) {
        (0, _) => "For no val".to_owned(),
        (all, known) if all == known => format!("For {}", names.join(", ")),
        (all, _) => format!("For {}", number::plural(all as u64, "val", "vals")),
    }
}
