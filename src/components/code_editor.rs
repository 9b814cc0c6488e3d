//! The code editor. Its bundle is big and comes on first use: until then, and where it can't be had, a plain field of
//! the same size holds the code and can be written in.

mod bundle;
mod lines;
mod mounted;

pub(crate) use bundle::{Colours, Compare, colour, create_compare, object};
pub use {
    bundle::EditorSource,
    lines::{LineMark, LineRange, Place, use_selected_lines},
};

use leptos::{ev::KeyboardEvent, html, prelude::*, task::spawn_local};

use self::mounted::{Events, Mounted};
use crate::{
    hooks::shortcuts::is_mod,
    ui::button::{Button, ButtonKind},
};

#[derive(Clone, Copy, PartialEq)]
enum Stage {
    Loading,
    Ready,
    Failed,
}

/// An editor of code. It fills its parent, which must have a height.
#[component]
pub fn CodeEditor(
    /// The code: what is typed is written here, and what is set here is shown.
    code: RwSignal<String>,
    /// What a screen reader calls it.
    #[prop(into)]
    label: String,
    /// Lines to mark, each with what is wrong there.
    #[prop(optional, into)]
    marks: Signal<Vec<LineMark>>,
    /// Lines that are chosen: marked and scrolled to; a click on their numbers chooses others.
    #[prop(optional)]
    lines: Option<RwSignal<Option<LineRange>>>,
    /// Set to move the cursor, and focus, to a place.
    #[prop(optional)]
    cursor: Option<RwSignal<Option<Place>>>,
    /// Called on `Mod+S`.
    #[prop(optional, into)]
    on_save: Option<Callback<()>>,
    /// Called on `Mod+Enter`.
    #[prop(optional, into)]
    on_run: Option<Callback<()>>,
) -> AnyView {
    let stage = RwSignal::new(Stage::Loading);
    let frame = NodeRef::<html::Div>::new();
    let plain = NodeRef::<html::Textarea>::new();
    let mounted = StoredValue::new_local(None::<Mounted>);
    let lines = lines.unwrap_or_else(|| RwSignal::new(None));
    let cursor = cursor.unwrap_or_else(|| RwSignal::new(None));
    let events = Events {
        code,
        lines,
        on_save,
        on_run,
    };

    let source = EditorSource::in_force();
    let label_of_editor = label.clone();
    let load = Callback::new(move |()| {
        let (source, label) = (source.clone(), label_of_editor.clone());
        stage.set(Stage::Loading);
        spawn_local(async move {
            let loaded = source.load_editor().await;
            // The page may be gone by now.
            let Some(Some(frame)) = frame.try_get_untracked() else {
                return;
            };
            // What is hidden can't be measured or take the focus.
            frame.set_hidden(loaded.is_err());
            let editor = loaded.and_then(|()| Mounted::new(&frame, label, events));
            match editor {
                Ok(editor) => {
                    let focused = plain.get_untracked().filter(is_focused);
                    if let Some(plain) = focused {
                        editor.take_over(&plain);
                    }
                    mounted.set_value(Some(editor));
                    stage.set(Stage::Ready);
                }
                Err(error) => {
                    leptos::logging::warn!("the editor could not be loaded: {error:?}");
                    frame.set_hidden(true);
                    stage.set(Stage::Failed);
                }
            }
        });
    });
    Effect::new(move |_| {
        if frame.get().is_some() {
            load.run(());
        }
    });

    let with = move |act: &dyn Fn(&Mounted)| {
        mounted.with_value(|editor| {
            if let Some(editor) = editor {
                act(editor);
            }
        });
    };
    let is_ready = move || stage.get() == Stage::Ready;
    Effect::new(move |_| is_ready().then(|| code.with(|code| with(&|editor| editor.show(code)))));
    Effect::new(move |_| is_ready().then(|| marks.with(|marks| with(&|editor| editor.mark(marks)))));
    Effect::new(move |_| is_ready().then(|| with(&|editor| editor.select_lines(lines.get()))));
    Effect::new(move |_| {
        if let Some(place) = cursor.get()
            && is_ready()
        {
            with(&|editor| editor.go_to(place));
            cursor.set(None);
        }
    });

    let fallback = move || {
        let label = label.clone();
        (!is_ready()).then(|| {
            view! {
                <textarea
                    class="code-editor__plain"
                    node_ref=plain
                    aria-label=label
                    spellcheck="false"
                    autocapitalize="none"
                    autocomplete="off"
                    wrap="off"
                    prop:value=move || code.get()
                    on:input:target=move |event| code.set(event.target().value())
                    on:keydown=move |event| command(&event, on_save, on_run)
                ></textarea>
            }
            .into_any()
        })
    };
    let note = move || {
        (stage.get() == Stage::Failed).then(|| {
            view! {
                <p class="code-editor__note" role="status">
                    "The editor could not be loaded. This plain field works too. "
                    <Button kind=ButtonKind::Quiet on_click=load>"Load it again"</Button>
                </p>
            }
            .into_any()
        })
    };
    view! {
        <div class="code-editor">
            <div class="code-editor__frame" node_ref=frame hidden=move || !is_ready()></div>
            {fallback}
            {note}
        </div>
    }
    .into_any()
}

fn is_focused(plain: &web_sys::HtmlTextAreaElement) -> bool {
    document()
        .active_element()
        .is_some_and(|active| active == ***plain)
}

/// The editor's own keys, while the plain field stands in for it.
fn command(event: &KeyboardEvent, on_save: Option<Callback<()>>, on_run: Option<Callback<()>>) {
    let act = match event.key().as_str() {
        "s" => on_save,
        "Enter" => on_run,
        _ => None,
    };
    if let Some(act) = act.filter(|_| is_mod(event)) {
        // The page has these keys too, for when focus is elsewhere.
        event.stop_propagation();
        event.prevent_default();
        act.run(());
    }
}
