//! The palette: vals, pages and actions by a few letters.

mod entry;

use std::time::Duration;

use hamlet_models::{BasicVal, Me, PageQuery, Privacy, ValFilter};
use leptos::{ev::KeyboardEvent, html, prelude::*};
use leptos_router::hooks::use_navigate;

use self::entry::{Act, Entry, commands};
use crate::{
    api::ApiClient,
    hooks::{debounce::debounced, fetched::Fetched, session::use_session, theme::Theme},
    paths,
    ui::dialog::Dialog,
};

/// How long typing must rest before the server is asked.
const REST: Duration = Duration::from_millis(120);
/// How many vals are shown.
const SHOWN: u64 = 8;

/// The palette, over the page while it is open.
#[component]
pub fn Palette(
    /// Whether it is open.
    open: RwSignal<bool>,
    /// Opens the list of shortcuts.
    shortcuts: RwSignal<bool>,
) -> AnyView {
    view! {
        <Dialog open title="Search" class="palette">
            <PaletteBox open shortcuts />
        </Dialog>
    }
    .into_any()
}

/// The field and what it finds; made anew each time the palette opens.
#[component]
fn PaletteBox(open: RwSignal<bool>, shortcuts: RwSignal<bool>) -> AnyView {
    let session = use_session();
    let theme = expect_context::<Theme>();
    let text = RwSignal::new(String::new());
    let vals = found_vals(text);
    let entries = Memo::new(move |_| {
        let wanted = text.get().trim().to_lowercase();
        let vals = vals.value().unwrap_or_default();
        let named = vals.iter().map(Entry::of_val);
        let named = named.filter(|entry| entry.matches(&wanted));
        named
            .chain(commands(session.me().as_ref(), &wanted))
            .collect::<Vec<_>>()
    });
    let chosen = RwSignal::new(0_usize);
    Effect::new(move |_| {
        text.track();
        chosen.set(0);
    });

    let navigate = use_navigate();
    let take = Callback::new(move |entry: Entry| {
        open.set(false);
        match entry.act {
            Act::Go(path) => navigate(&path, Default::default()),
            Act::Theme(scheme) => theme.set(scheme),
            Act::Shortcuts => shortcuts.set(true),
            Act::SignOut => {
                let navigate = navigate.clone();
                session.sign_out(Callback::new(move |()| {
                    navigate(&paths::home(), Default::default())
                }));
            }
        }
    });
    let on_key = move |event: KeyboardEvent| {
        let count = entries.with_untracked(Vec::len);
        let here = chosen.get_untracked();
        match event.key().as_str() {
            "ArrowDown" if count > 0 => chosen.set((here + 1) % count),
            "ArrowUp" if count > 0 => chosen.set((here + count - 1) % count),
            "Enter" => {
                if let Some(entry) = entries.with_untracked(|entries| entries.get(here).cloned()) {
                    take.run(entry);
                }
            }
            _ => return,
        }
        event.prevent_default();
    };

    let list = NodeRef::<html::Ul>::new();
    Effect::new(move |_| {
        let index = chosen.get();
        let option = list
            .get()
            .and_then(|list| list.children().item(u32::try_from(index).unwrap_or(0)));
        if let Some(option) = option {
            option.scroll_into_view_with_scroll_into_view_options(&nearest());
        }
    });
    let options = move || {
        let entries = entries.get();
        entries
            .into_iter()
            .enumerate()
            .map(|(index, entry)| option(index, entry, chosen, take))
            .collect::<Vec<_>>()
    };
    let nothing = move || entries.with(Vec::is_empty).then_some("Nothing found");
    view! {
        <input
            class="palette__input"
            type="text"
            role="combobox"
            aria-label="Search vals, pages and actions"
            aria-expanded="true"
            aria-autocomplete="list"
            aria-controls="palette-list"
            aria-activedescendant=move || {
                entries.with(|entries| !entries.is_empty()).then(|| format!("palette-{}", chosen.get()))
            }
            placeholder="Vals, pages, actions"
            autocomplete="off"
            autocapitalize="none"
            spellcheck="false"
            autofocus
            prop:value=text
            on:input=move |event| text.set(event_target_value(&event))
            on:keydown=on_key
        />
        <ul id="palette-list" class="palette__list" role="listbox" aria-label="Found" node_ref=list>
            {options}
        </ul>
        <p class="palette__nothing" role="status">{nothing}</p>
    }
    .into_any()
}

fn option(index: usize, entry: Entry, chosen: RwSignal<usize>, take: Callback<Entry>) -> AnyView {
    let (title, note) = (entry.title.clone(), entry.note.clone());
    view! {
        <li
            id=format!("palette-{index}")
            class="palette__option"
            role="option"
            aria-selected=move || (chosen.get() == index).to_string()
            on:pointermove=move |_| {
                if chosen.get_untracked() != index {
                    chosen.set(index);
                }
            }
            on:click=move |_| take.run(entry.clone())
        >
            <span class="palette__title">{title}</span>
            <span class="palette__note">{note}</span>
        </li>
    }
    .into_any()
}

fn nearest() -> web_sys::ScrollIntoViewOptions {
    let options = web_sys::ScrollIntoViewOptions::new();
    options.set_block(web_sys::ScrollLogicalPosition::Nearest);
    options
}

/// The vals that a text finds by their name: one's own first, then public ones.
fn found_vals(text: RwSignal<String>) -> Fetched<Vec<BasicVal>> {
    let api = expect_context::<ApiClient>();
    let session = use_session();
    let settled = debounced(text.into(), REST);
    Fetched::new(move || {
        let query = Some(settled.get().trim().to_owned()).filter(|query| !query.is_empty());
        let me = session.me();
        async move { Ok(find_vals(api, me, query).await) }
    })
}

async fn find_vals(api: ApiClient, me: Option<Me>, query: Option<String>) -> Vec<BasicVal> {
    let page = PageQuery {
        offset: 0,
        limit: SHOWN,
    };
    let mut found = Vec::new();
    // What can't be asked for is left out: pages and actions work without a server.
    if let Some(me) = me {
        let filter = ValFilter {
            query: query.clone(),
            ..ValFilter::default()
        };
        found = api
            .list_user_vals(me.user.id, &filter, page)
            .await
            .map_or(Vec::new(), |vals| vals.data);
    }
    if found.is_empty() || query.is_some() {
        let filter = ValFilter {
            query,
            privacy: Some(Privacy::Public),
            ..ValFilter::default()
        };
        let public = api
            .list_vals(&filter, SHOWN)
            .await
            .map_or(Vec::new(), |vals| vals.data);
        let new = public.into_iter().map(|val| val.val);
        let new: Vec<_> = new
            .filter(|val| found.iter().all(|known| known.id != val.id))
            .collect();
        found.extend(new);
    }
    found
}
