//! The outbox: mail that was to be sent, and is kept since this instance has no relay.

use hamlet_models::{EmailContent, EmailFile, OutboxEmail, Page, PageQuery};
use leptos::{prelude::*, task::spawn_local};

use crate::{
    api::{ApiClient, error::ClientError},
    components::{confirm::Confirm, heading::PageHeading, loaded::loaded},
    hooks::{
        fetched::Fetched,
        params::{use_href, use_offset},
        session::use_session,
    },
    paths,
    ui::{
        button::Button,
        number::bytes,
        pager::Pager,
        skeleton::SkeletonRows,
        state::EmptyState,
        time::{RelativeTime, exact},
    },
};

/// How many messages a page shows.
const LIMIT: u64 = 50;

/// The messages, newest first.
#[component]
pub fn OutboxPage() -> AnyView {
    let api = expect_context::<ApiClient>();
    let session = use_session();
    let offset = use_offset();
    let messages = Fetched::new(move || {
        let page = PageQuery {
            offset: offset.get(),
            limit: LIMIT,
        };
        async move {
            session.must_be_signed_in().await?;
            api.list_outbox(page).await
        }
    });
    let deleting = RwSignal::<Option<OutboxEmail>>::new(None);
    let show = move |page: Page<OutboxEmail>| message_list(page, offset.get_untracked(), deleting);
    let list = loaded(
        messages,
        || view! { <SkeletonRows rows=6 height=45 /> }.into_any(),
        show,
    );
    view! {
        <PageHeading title="Outbox" />
        <p class="outbox__words">
            "Mail that your vals send goes out by this server’s relay. As long as it has none, their mail is kept here."
        </p>
        {list}
        <DeleteMessage deleting on_deleted=move |()| messages.refetch() />
    }
    .into_any()
}

fn message_list(page: Page<OutboxEmail>, offset: u64, deleting: RwSignal<Option<OutboxEmail>>) -> AnyView {
    let (shown, more) = (page.data.len(), page.links.next.is_some());
    if shown == 0 && offset == 0 {
        return view! {
            <EmptyState title="The outbox is empty">
                "A val sends mail with " <code>"email()"</code> " of " <code>"https://esm.town/v/std/email"</code> "."
            </EmptyState>
        }
        .into_any();
    }
    let href = use_href();
    let rows: Vec<AnyView> = page
        .data
        .into_iter()
        .map(|message| message_row(message, deleting))
        .collect();
    view! {
        <ul class="rows outbox" role="list" aria-label="Messages">
            {rows}
        </ul>
        <Pager
            what="messages"
            offset
            limit=LIMIT
            shown
            more
            href=move |offset: u64| href(&[("offset", (offset > 0).then(|| offset.to_string()).as_deref())])
        />
    }
    .into_any()
}

fn message_row(message: OutboxEmail, deleting: RwSignal<Option<OutboxEmail>>) -> AnyView {
    let api = expect_context::<ApiClient>();
    let (id, at, gone) = (message.id, message.created_at.as_millis(), message.clone());
    let content = message.content;
    let subject = subject_of(&content);
    let to = content.to.join(", ");
    let run = message
        .run_id
        .map(|run| view! { <a class="button" href=paths::run(run)>"The run that sent it"</a> }.into_any());
    let download = api.email_address(id).map(|address| {
        view! { <a class="button" href=address download="message.eml">"Download"</a> }.into_any()
    });
    view! {
        <li>
            <details class="outbox__message">
                <summary>
                    <span class="outbox__subject">{subject.clone()}</span>
                    <span class="outbox__to">"to " {to}</span>
                    <span class="outbox__time"><RelativeTime at /></span>
                </summary>
                {message_content(content, at)}
                <div class="outbox__actions">
                    {run}
                    {download}
                    <Button
                        label=format!("Delete {subject}")
                        on_click=move |()| deleting.set(Some(gone.clone()))
                    >
                        "Delete"
                    </Button>
                </div>
            </details>
        </li>
    }
    .into_any()
}

fn subject_of(content: &EmailContent) -> String {
    match content.subject.trim() {
        "" => "No subject".to_owned(),
        subject => subject.to_owned(),
    }
}

fn message_content(content: EmailContent, at: i64) -> AnyView {
    let fact = |name: &'static str, value: String| {
        view! {
            <div class="facts__fact">
                <dt>{name}</dt>
                <dd>{value}</dd>
            </div>
        }
        .into_any()
    };
    let mut facts = vec![fact("From", content.from), fact("To", content.to.join(", "))];
    for (name, list) in [("Cc", content.cc), ("Bcc", content.bcc)] {
        if !list.is_empty() {
            facts.push(fact(name, list.join(", ")));
        }
    }
    facts.push(fact("At", exact(at)));
    if !content.attachments.is_empty() {
        let file =
            |file: &EmailFile| format!("{} ({}, {})", file.filename, file.media_type, bytes(file.size));
        let files: Vec<String> = content.attachments.iter().map(file).collect();
        facts.push(fact("Files", files.join(", ")));
    }
    let empty = content.text.is_none() && content.html.is_none();
    let text = content.text.map(|text| {
        view! { <pre class="outbox__text" tabindex="0" aria-label="The text">{text}</pre> }.into_any()
    });
    let html = content.html.map(rendered);
    view! {
        <dl class="facts">{facts}</dl>
        {text}
        {html}
        {empty.then(|| view! { <p class="outbox__words">"It says nothing."</p> }.into_any())}
    }
    .into_any()
}

/// A text of someone's making, in a frame that may do nothing at all.
fn rendered(html: String) -> AnyView {
    view! {
        <iframe class="outbox__html" sandbox="" srcdoc=html title="The text as HTML, without styles"></iframe>
    }
    .into_any()
}

/// Asks before a message is deleted.
#[component]
fn DeleteMessage(deleting: RwSignal<Option<OutboxEmail>>, #[prop(into)] on_deleted: Callback<()>) -> AnyView {
    let api = expect_context::<ApiClient>();
    let (open, busy) = (RwSignal::new(false), RwSignal::new(false));
    let error = RwSignal::<Option<ClientError>>::new(None);
    Effect::new(move |_| {
        if deleting.with(Option::is_some) {
            error.set(None);
            open.set(true);
        }
    });
    Effect::new(move |_| {
        if !open.get() {
            deleting.set(None);
        }
    });
    let title = Signal::derive(move || {
        let subject = deleting.with(|message| message.as_ref().map(|message| subject_of(&message.content)));
        subject
            .map(|subject| format!("Delete “{subject}”?"))
            .unwrap_or_default()
    });
    let delete = Callback::new(move |()| {
        let Some(message) = deleting.get_untracked() else {
            return;
        };
        busy.set(true);
        spawn_local(async move {
            let answer = api.delete_email(message.id).await;
            if busy.try_set(false).is_some() {
                return;
            }
            match answer {
                Err(refused) if !refused.is_not_found() => error.set(Some(refused)),
                _ => {
                    open.set(false);
                    on_deleted.run(());
                }
            }
        });
    });
    view! {
        <Confirm open title verb="Delete message" busy error on_confirm=delete>
            <p>"It was not sent, and nothing brings it back."</p>
        </Confirm>
    }
    .into_any()
}
