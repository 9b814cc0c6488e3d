//! The primitives.

use hamlet_app::ui::{
    button::Button,
    dialog::Dialog,
    field::TextField,
    menu::Menu,
    pager::Pager,
    part::part,
    time::{RelativeTime, duration, exact, relative},
};
use leptos::prelude::*;
use wasm_bindgen_test::wasm_bindgen_test;

use crate::harness::{
    button, field, fill, find, find_all, has_text, mount, mount_at, press, query, tick, until,
};

#[wasm_bindgen_test]
async fn a_link_that_is_made_anew_in_its_place_keeps_focus() {
    let number = RwSignal::new(1);
    let (root, _mounted) = mount(move || {
        part(move || {
            let number = number.get();
            view! { <a href=format!("#{number}")>{number}</a> }
        })
    });
    let link = find(&root, "a");
    link.focus().expect("to focus");
    number.set(2);
    until("the second", || has_text(&root, "2")).await;
    assert_eq!(find(&root, "a").get_attribute("href").as_deref(), Some("#2"));
    assert_eq!(
        document().active_element().as_ref(),
        Some(find(&root, "a").as_ref())
    );
}

#[wasm_bindgen_test]
async fn a_busy_button_can_not_be_pressed_and_keeps_focus() {
    let busy = RwSignal::new(false);
    let presses = RwSignal::new(0);
    let (root, _mounted) = mount(move || {
        view! {
            <Button
                busy
                on_click=move |()| {
                    presses.update(|presses| *presses += 1);
                    busy.set(true);
                }
            >
                "Save"
            </Button>
        }
    });
    let save = button(&root, "Save");
    save.focus().expect("to focus");
    save.click();
    tick().await;
    save.click();
    assert_eq!(presses.get_untracked(), 1);
    assert_eq!(save.get_attribute("aria-disabled").as_deref(), Some("true"));
    assert_eq!(document().active_element().as_ref(), Some(save.as_ref()));
}

#[wasm_bindgen_test]
async fn a_field_says_what_is_wrong_in_place_of_its_hint() {
    let (value, error) = (RwSignal::new(String::new()), RwSignal::new(None));
    let (root, _mounted) =
        mount(move || view! { <TextField label="Name" value hint="A short one." error /> });
    assert!(has_text(&root, "A short one."));
    fill(&root, "Name", "1a");
    error.set(Some("Begins with a letter.".to_owned()));
    tick().await;
    assert_eq!(value.get_untracked(), "1a");
    assert!(has_text(&root, "Begins with a letter.") && !has_text(&root, "A short one."));
    let input = field(&root, "Name");
    assert_eq!(input.get_attribute("aria-invalid").as_deref(), Some("true"));
    let note = input.get_attribute("aria-describedby").expect("a note");
    assert_eq!(
        find(&root, &format!("#{note}")).inner_text(),
        "Begins with a letter."
    );
}

#[wasm_bindgen_test]
async fn a_dialog_holds_nothing_until_it_opens_and_closes_by_its_own_button() {
    let open = RwSignal::new(false);
    let (root, _mounted) = mount(move || {
        view! {
            <Dialog open title="Sure?">
                <form method="dialog">
                    <button>"Yes"</button>
                </form>
            </Dialog>
        }
    });
    assert!(query(&root, "form").is_none());
    open.set(true);
    until("the dialog", || find(&root, "dialog").has_attribute("open")).await;
    button(&root, "Yes").click();
    until("it to close", || !open.get_untracked()).await;
    assert!(query(&root, "form").is_none());
}

#[wasm_bindgen_test]
async fn a_menu_is_walked_by_arrows_and_folds_on_escape() {
    let (root, _mounted) = mount(|| {
        view! {
            <Menu label="More" button=|| "More">
                <a class="menu__item" href="#one">"One"</a>
                <a class="menu__item" href="#two">"Two"</a>
            </Menu>
        }
    });
    let toggle = button(&root, "More");
    let items = find_all(&root, ".menu__item");
    let list = find(&root, ".menu__list");
    assert!(list.hidden());
    toggle.click();
    tick().await;
    assert!(!list.hidden());
    assert_eq!(toggle.get_attribute("aria-expanded").as_deref(), Some("true"));
    for (key, expected) in [
        ("ArrowDown", 0),
        ("ArrowDown", 1),
        ("ArrowDown", 0),
        ("ArrowUp", 1),
    ] {
        press(&toggle, key);
        until(key, || {
            document().active_element().as_ref() == Some(items[expected].as_ref())
        })
        .await;
    }
    press(&items[1], "Escape");
    tick().await;
    assert!(list.hidden());
    assert_eq!(document().active_element().as_ref(), Some(toggle.as_ref()));
}

#[wasm_bindgen_test]
async fn a_pager_leads_only_where_there_is_something() {
    let href = |(offset,): (u64,)| format!("?offset={offset}");
    let (root, _mounted) = mount_at("/", move || {
        view! { <Pager what="vals" offset=20 limit=20 shown=5 more=false href /> }
    });
    assert!(has_text(&root, "21 to 25"));
    assert_eq!(
        find(&root, "a[rel=prev]").get_attribute("href").as_deref(),
        Some("?offset=0")
    );
    assert!(query(&root, "a[rel=next]").is_none());

    let (root, _mounted) = mount_at("/", move || {
        view! { <Pager what="vals" offset=0 limit=20 shown=5 more=false href /> }
    });
    assert_eq!(root.inner_text().trim(), "");
}

#[wasm_bindgen_test]
fn times_and_durations_are_exact_words() {
    let now = 1_769_860_800_000;
    for (before, words) in [
        (0, "now"),
        (1_000, "1 s ago"),
        (59_999, "59 s ago"),
        (60_000, "1 min ago"),
        (3_599_999, "59 min ago"),
        (3_600_000, "1 h ago"),
        (86_400_000, "1 day ago"),
        (2 * 86_400_000, "2 days ago"),
        (-120_000, "in 2 min"),
    ] {
        assert_eq!(relative(now - before, now), words);
    }
    assert!(relative(now - 31 * 86_400_000, now).starts_with("on 20"));
    assert!(exact(now + 7).contains(".007 UTC"), "{}", exact(now + 7));
    for (ms, words) in [
        (0.42, "0.4 ms"),
        (132.4, "132 ms"),
        (999.6, "1.00 s"),
        (4_210.0, "4.21 s"),
        (59_960.0, "1 min 0 s"),
        (125_000.0, "2 min 5 s"),
        (119_999.0, "2 min 0 s"),
    ] {
        assert_eq!(duration(ms), words, "{ms}");
    }
}

#[wasm_bindgen_test]
fn a_relative_time_carries_the_exact_one() {
    let (root, _mounted) = mount(|| view! { <RelativeTime at=0 /> });
    let time = find(&root, "time");
    assert_eq!(
        time.get_attribute("datetime").as_deref(),
        Some("1970-01-01T00:00:00.000Z")
    );
    assert!(time.title().starts_with("19"), "{}", time.title());
}
