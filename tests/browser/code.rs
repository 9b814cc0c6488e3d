//! The editor, the comparison, the border between two parts: with the real bundle, and without it.

use hamlet_app::components::{
    code_compare::{CodeCompare, CompareMode},
    code_editor::{CodeEditor, EditorSource, LineMark, LineRange, Place},
    code_reader::CodeReader,
    split_pane::SplitPane,
};
use js_sys::{Function, Reflect};
use leptos::prelude::*;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_test::wasm_bindgen_test;
use web_sys::{HtmlElement, HtmlTextAreaElement, MouseEvent, MouseEventInit};

use crate::harness::{find, find_all, has_text, mount, press, press_with, query, send, tick, until};

/// Takes away the bundle that another test has loaded: the plain field stands in for the editor, and can be written in
/// as a person does.
pub(crate) fn without_bundle() {
    js_sys::Reflect::delete_property(&window(), &"hamletEditor".into()).expect("to delete it");
}

fn bundle() {
    provide_context(EditorSource("/editor/dist/entry.js".to_owned()));
}

async fn until_ready(root: &HtmlElement) {
    until("the editor (node editor/build.mjs makes it)", || {
        query(root, ".cm-content").is_some()
    })
    .await;
}

/// Types a text where the focus is.
fn insert(text: &str) {
    let command = js_sys::Reflect::get(&document(), &"execCommand".into()).expect("a function");
    let command: js_sys::Function = command.unchecked_into();
    command
        .call3(&document(), &"insertText".into(), &false.into(), &text.into())
        .expect("to be typed");
}

#[wasm_bindgen_test]
async fn the_plain_field_works_while_and_where_there_is_no_editor() {
    without_bundle();
    let (code, saves) = (RwSignal::new("one".to_owned()), RwSignal::new(0));
    let (root, _mounted) = mount(move || {
        provide_context(EditorSource("/nowhere/entry.js".to_owned()));
        view! { <CodeEditor code label="Code" on_save=move |()| saves.update(|saves| *saves += 1) /> }
    });
    tick().await;
    let field: HtmlTextAreaElement = find(&root, "textarea").unchecked_into();
    assert_eq!(field.value(), "one");
    assert_eq!(field.get_attribute("aria-label").as_deref(), Some("Code"));
    until("a word about it", || {
        has_text(&root, "The editor could not be loaded.")
    })
    .await;
    field.set_value("two");
    send(&field, "input");
    press_with(&field, "s", true);
    assert_eq!((code.get_untracked().as_str(), saves.get_untracked()), ("two", 1));
}

#[wasm_bindgen_test]
async fn the_editor_takes_over_what_was_typed_before_it_came() {
    without_bundle();
    let code = RwSignal::new("one".to_owned());
    let (root, _mounted) = mount(move || {
        bundle();
        view! { <CodeEditor code label="Code" /> }
    });
    let field: HtmlTextAreaElement = find(&root, "textarea").unchecked_into();
    field.focus().expect("to focus");
    field.set_value("typed early");
    send(&field, "input");
    until_ready(&root).await;
    tick().await;
    assert!(query(&root, "textarea").is_none());
    assert_eq!(find(&root, ".cm-content").inner_text(), "typed early");
    for (name, value) in [("aria-label", "Code"), ("tabindex", "0")] {
        assert_eq!(
            find(&root, ".cm-content").get_attribute(name).as_deref(),
            Some(value),
            "{name}"
        );
    }
    let focused = document().active_element().expect("focus");
    assert!(
        focused.class_list().contains("cm-content"),
        "focus goes on where it was"
    );
}

#[wasm_bindgen_test]
async fn the_editor_shows_what_is_set_and_tells_what_is_typed() {
    let code = RwSignal::new("one".to_owned());
    let (root, _mounted) = mount(move || {
        bundle();
        view! { <CodeEditor code label="Code" /> }
    });
    until_ready(&root).await;
    code.set("two\nthree".to_owned());
    tick().await;
    let content = find(&root, ".cm-content");
    assert_eq!(content.inner_text(), "two\nthree");

    content.focus().expect("to focus");
    insert("x");
    until("what was typed", || code.get_untracked() == "xtwo\nthree").await;
}

/// How many pieces of text are coloured as keywords.
fn keywords() -> u32 {
    let get = |from: &JsValue, name: &str| Reflect::get(from, &name.into()).expect("a property");
    let highlights = get(&get(&window(), "CSS"), "highlights");
    let keywords = get(&highlights, "get")
        .unchecked_into::<Function>()
        .call1(&highlights, &"code-keyword".into())
        .expect("an answer");
    if keywords.is_undefined() {
        return 0;
    }
    get(&keywords, "size").as_f64().expect("a number") as u32
}

#[wasm_bindgen_test]
async fn code_to_read_is_text_with_numbers_and_gets_colours() {
    let before = keywords();
    {
        let (root, _mounted) = mount(move || {
            bundle();
            let lines = RwSignal::new(None);
            view! { <CodeReader code="const one = 1;\nexport default one;\n".into() label="Code" lines /> }
        });
        assert_eq!(
            find(&root, ".code-reader__code").inner_text(),
            "const one = 1;\nexport default one;\n"
        );
        assert_eq!(find(&root, ".code-reader__numbers").inner_text(), "1\n2\n3\n");
        assert!(query(&root, "textarea, [contenteditable]").is_none());
        until("the colours of const, export and default", || {
            keywords() == before + 3
        })
        .await;
    }
    until("the colours to be gone with the code", || keywords() == before).await;
}

#[wasm_bindgen_test]
async fn lines_to_read_are_chosen_by_their_numbers() {
    let lines = RwSignal::new(Some(LineRange { from: 2, to: 99 }));
    let (root, _mounted) = mount(move || {
        provide_context(EditorSource("/nowhere/entry.js".to_owned()));
        view! { <CodeReader code="one\ntwo\nthree\nfour".into() label="Code" lines /> }
    });
    tick().await;
    let numbers = find(&root, ".code-reader__numbers");
    let line = f64::from(numbers.offset_height()) / 4.0;
    let marked = || {
        find_all(&root, ".code-reader__chosen")
            .iter()
            .map(|band| band.style().get_property_value("height").expect("a height"))
            .collect::<Vec<_>>()
    };
    let high = |lines: u32| format!("calc({lines} * var(--code-line-height))");
    assert_eq!(marked(), [high(3)], "from the second to the last");

    let click = |number: f64, shift: bool| {
        let init = MouseEventInit::new();
        init.set_bubbles(true);
        init.set_shift_key(shift);
        let top = numbers.get_bounding_client_rect().top();
        init.set_client_y((top + (number - 0.5) * line) as i32);
        let event = MouseEvent::new_with_mouse_event_init_dict("mousedown", &init).expect("an event");
        numbers.dispatch_event(&event).expect("to dispatch");
    };
    click(3.0, false);
    click(4.0, true);
    tick().await;
    assert_eq!(lines.get_untracked(), Some(LineRange { from: 3, to: 4 }));
    assert_eq!(marked(), [high(2)]);
    click(1.0, false);
    click(1.0, false);
    tick().await;
    assert_eq!(lines.get_untracked(), None);
    assert!(marked().is_empty());
}

#[wasm_bindgen_test]
async fn marks_and_chosen_lines_follow_what_is_set() {
    let code = RwSignal::new("one\ntwo\nthree".to_owned());
    let marks = RwSignal::new(Vec::new());
    let lines = RwSignal::new(Some(LineRange { from: 2, to: 3 }));
    let cursor = RwSignal::new(None);
    let (root, _mounted) = mount(move || {
        bundle();
        view! { <CodeEditor code label="Code" marks lines cursor /> }
    });
    until_ready(&root).await;
    tick().await;
    assert_eq!(find_all(&root, ".cm-selectedLine").len(), 2);
    lines.set(None);
    marks.set(vec![
        LineMark {
            place: Place { line: 2, column: 1 },
            message: "it broke here".into(),
        },
        LineMark {
            place: Place { line: 99, column: 1 },
            message: "a line that is not there".into(),
        },
    ]);
    tick().await;
    assert!(query(&root, ".cm-selectedLine").is_none());
    assert_eq!(find(&root, ".cm-failedLine").inner_text(), "two");
    assert!(has_text(&root, "it broke here") && !has_text(&root, "a line that is not there"));
    marks.set(Vec::new());
    cursor.set(Some(Place { line: 3, column: 2 }));
    tick().await;
    assert!(query(&root, ".cm-failure").is_none());
    assert_eq!(find(&root, ".cm-activeLine").inner_text(), "three");
    assert_eq!(cursor.get_untracked(), None);
}

#[wasm_bindgen_test]
async fn a_comparison_marks_words_and_folds_what_is_equal() {
    let same = |changed: &str| {
        let lines: Vec<String> = (0..40)
            .map(|line| {
                if line == 20 {
                    changed.to_owned()
                } else {
                    format!("line{line}();")
                }
            })
            .collect();
        lines.join("\n")
    };
    let (before, after) = (same("const old = 1;"), same("const fresh = 1;"));
    let mode = RwSignal::new(CompareMode::Split);
    let (root, _mounted) = mount(move || {
        bundle();
        view! { <CodeCompare before=before after=after before_label="version 1" after_label="version 2" mode /> }
    });
    until("two sides (node editor/build.mjs makes it)", || {
        find_all(&root, ".cm-content").len() == 2
    })
    .await;
    until("marked words", || {
        query(&root, ".cm-merge-b .cm-changedText").is_some()
    })
    .await;
    assert!(
        find(&root, ".cm-merge-b .cm-changedText")
            .inner_text()
            .contains("fresh")
    );
    assert!(query(&root, ".cm-collapsedLines").is_some() && !has_text(&root, "line3();"));

    mode.set(CompareMode::Unified);
    until("one side", || find_all(&root, ".cm-content").len() == 1).await;
    assert!(has_text(&root, "const old = 1;") && has_text(&root, "const fresh = 1;"));
}

#[wasm_bindgen_test]
async fn without_the_bundle_a_comparison_shows_both_as_they_are() {
    without_bundle();
    let (root, _mounted) = mount(|| {
        provide_context(EditorSource("/nowhere/entry.js".to_owned()));
        view! { <CodeCompare before="old" after="new" before_label="version 1" after_label="version 2" /> }
    });
    until("both", || {
        has_text(&root, "old") && has_text(&root, "new") && has_text(&root, "version 2")
    })
    .await;
}

#[wasm_bindgen_test]
async fn the_border_moves_by_keyboard_and_is_remembered() {
    let pane = || {
        view! { <SplitPane label="Width" key="test.split" first=().into_any() second=().into_any() share=60.0 /> }
    };
    {
        let (root, _mounted) = mount(pane);
        let border = find(&root, "[role=separator]");
        assert_eq!(border.get_attribute("aria-valuenow").as_deref(), Some("60"));
        press(&border, "ArrowLeft");
        tick().await;
        assert_eq!(border.get_attribute("aria-valuenow").as_deref(), Some("58"));
        press(&border, "End");
        press(&border, "ArrowRight");
        tick().await;
        assert_eq!(
            border.get_attribute("aria-valuenow"),
            border.get_attribute("aria-valuemax")
        );
    }
    let (root, _mounted) = mount(pane);
    let border = find(&root, "[role=separator]");
    assert_eq!(
        border.get_attribute("aria-valuenow"),
        border.get_attribute("aria-valuemax")
    );
}
