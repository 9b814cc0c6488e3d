//! What changed between two texts of code.

use leptos::{html, prelude::*, task::spawn_local};

use crate::{
    components::code_editor::{Compare, EditorSource, create_compare, object},
    ui::button::{Button, ButtonKind},
};

/// How a comparison is laid out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CompareMode {
    /// The two side by side.
    #[default]
    Split,
    /// One column: what went, then what came.
    Unified,
}

impl CompareMode {
    /// The word for it, in an address too.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Split => "split",
            Self::Unified => "unified",
        }
    }
}

/// The view in the page; it leaves when this is dropped.
struct Mounted(Compare);

impl Drop for Mounted {
    fn drop(&mut self) {
        self.0.destroy_compare();
    }
}

/// Shows what changed between two texts, down to words, long equal parts folded. Until the editor's bundle is there,
/// and where it can't be had, the two are shown as they are. It is as high as what it shows.
#[component]
pub fn CodeCompare(
    /// The text before.
    #[prop(into)]
    before: Signal<String>,
    /// The text after.
    #[prop(into)]
    after: Signal<String>,
    /// What the text before is, as `version 3`.
    #[prop(into)]
    before_label: Signal<String>,
    /// What the text after is.
    #[prop(into)]
    after_label: Signal<String>,
    /// How it is laid out.
    #[prop(optional, into)]
    mode: Signal<CompareMode>,
) -> AnyView {
    let frame = NodeRef::<html::Div>::new();
    let mounted = StoredValue::new_local(None::<Mounted>);
    let ready = RwSignal::new(false);
    let failed = RwSignal::new(false);
    let tries = RwSignal::new(0);
    let source = EditorSource::in_force();

    // Of several that are asked for in a row, the last is the one that stays.
    let turn = StoredValue::new(0_u32);
    Effect::new(move |_| {
        tries.track();
        let Some(frame) = frame.get() else { return };
        let options = object(&[
            ("parent", frame.as_ref()),
            ("before", &before.get().into()),
            ("after", &after.get().into()),
            ("beforeLabel", &before_label.get().into()),
            ("afterLabel", &after_label.get().into()),
            ("mode", &mode.get().as_str().into()),
        ]);
        let source = source.clone();
        turn.update_value(|turn| *turn += 1);
        let this = turn.get_value();
        failed.set(false);
        spawn_local(async move {
            let loaded = source.load().await;
            if turn.try_get_value() != Some(this) {
                return;
            }
            mounted.set_value(None);
            // What is hidden can't be measured.
            frame.set_hidden(loaded.is_err());
            let compare = match loaded {
                Ok(()) => create_compare(&options).await.map(Mounted),
                Err(error) => Err(error),
            };
            if turn.try_get_value() != Some(this) {
                return;
            }
            match compare {
                Ok(compare) => {
                    mounted.set_value(Some(compare));
                    ready.set(true);
                }
                Err(error) => {
                    leptos::logging::warn!("the comparison could not be loaded: {error:?}");
                    frame.set_hidden(true);
                    ready.set(false);
                    failed.set(true);
                }
            }
        });
    });

    let plain = move || {
        (!ready.get()).then(|| {
            let text = |label: Signal<String>, text: Signal<String>| {
                view! {
                    <figure class="code-compare__plain">
                        <figcaption>{label}</figcaption>
                        <pre tabindex="0">{text}</pre>
                    </figure>
                }
                .into_any()
            };
            view! { <div class="code-compare__both">{text(before_label, before)} {text(after_label, after)}</div> }
                .into_any()
        })
    };
    let note = move || {
        failed.get().then(|| {
            view! {
                <p class="code-compare__note" role="status">
                    "The comparison could not be loaded: here are both as they are. "
                    <Button kind=ButtonKind::Quiet on_click=move |()| tries.update(|tries| *tries += 1)>
                        "Load it again"
                    </Button>
                </p>
            }
            .into_any()
        })
    };
    view! {
        <div class="code-compare">
            {note}
            <div class="code-compare__frame" node_ref=frame hidden=move || !ready.get()></div>
            {plain}
        </div>
    }
    .into_any()
}
