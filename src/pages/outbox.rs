//! The outbox: mail that was to be sent, and is kept since there was no relay that took it.

use hamlet_models::{EmailContent, EmailFile, OutboxEmail, Page, PageQuery, Timestamp};
use leptos::prelude::*;

use crate::{
    api::ApiClient,
    components::{
        confirm::{ConfirmDelete, Doomed},
        heading::PageHeading,
        loaded::loaded,
    },
    hooks::{
        fetched::Fetched,
        params::{use_href, use_offset},
        session::use_session,
    },
    paths,
    ui::{
        button::Button,
        html_frame::HtmlFrame,
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
    let deleting = RwSignal::<Option<Doomed>>::new(None);
    let show = move |page: Page<OutboxEmail>| message_list(page, offset.get_untracked(), deleting);
    let list = loaded(
        messages,
        || view! { <SkeletonRows rows=6 height=45 /> }.into_any(),
        show,
    );
    view! {
        <PageHeading title="Outbox" />
        <p class="outbox__words">
            "Mail that your vals send goes out by this server’s relay. What that does not take is kept here and tried again for three days; without a relay, all of it is kept here."
        </p>
        {list}
        <ConfirmDelete doomed=deleting verb="Delete message" on_deleted=move |()| messages.refetch()>
            <p>"It was not sent, and nothing brings it back."</p>
        </ConfirmDelete>
    }
    .into_any()
}

fn message_list(page: Page<OutboxEmail>, offset: u64, deleting: RwSignal<Option<Doomed>>) -> AnyView {
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

fn message_row(message: OutboxEmail, deleting: RwSignal<Option<Doomed>>) -> AnyView {
    let api = expect_context::<ApiClient>();
    let (id, at) = (message.id, message.created_at.as_millis());
    let content = message.content;
    let subject = subject_of(&content);
    let to = content.to.join(", ");
    let question = format!("Delete “{subject}”?");
    let delete = move |()| deleting.set(Some(Doomed::new(question.clone(), move || api.delete_email(id))));
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
                {message_content(content, at, message.failure, message.next_attempt_at)}
                <div class="outbox__actions">
                    {run}
                    {download}
                    <Button
                        label=format!("Delete {subject}")
                        on_click=delete
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

fn message_content(
    content: EmailContent,
    at: i64,
    failure: Option<String>,
    next_attempt_at: Option<Timestamp>,
) -> AnyView {
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
    if let Some(failure) = failure {
        facts.push(fact("Not sent", failure));
    }
    if let Some(next) = next_attempt_at {
        facts.push(fact("Next try", exact(next.as_millis())));
    }
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
    let html = content
        .html
        .map(|html| view! { <HtmlFrame html title="The text as HTML" /> }.into_any());
    view! {
        <dl class="facts">{facts}</dl>
        {text}
        {html}
        {empty.then(|| view! { <p class="outbox__words">"It says nothing."</p> }.into_any())}
    }
    .into_any()
}
