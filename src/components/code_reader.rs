//! Code to read: text from the start, as all of it is there to search and to copy, with colours once the page is idle.

use leptos::{ev::MouseEvent, html, prelude::*, task::spawn_local};
use wasm_bindgen::JsValue;
use web_sys::HtmlElement;

use super::code_editor::{Colours, EditorSource, LineRange, colour};
use crate::{hooks::idle::when_idle, ui::copy::CopyButton};

/// The colours of a text in the page; they go when this is dropped.
struct Drawn(Colours);

impl Drop for Drawn {
    fn drop(&mut self) {
        self.0.destroy_colours();
    }
}

/// Code that is only read, with the numbers of its lines. It fills its parent, which must have a height.
#[component]
pub fn CodeReader(
    /// The code.
    code: String,
    /// What a screen reader calls it.
    #[prop(into)]
    label: String,
    /// Lines that are chosen: marked and scrolled to; a click on their numbers chooses others.
    lines: RwSignal<Option<LineRange>>,
) -> AnyView {
    let frame = NodeRef::<html::Div>::new();
    let text = NodeRef::<html::Pre>::new();
    let last = u32::try_from(code.split('\n').count()).unwrap_or(u32::MAX);
    let mut numbers = String::new();
    for line in 1..=last {
        numbers.push_str(&line.to_string());
        numbers.push('\n');
    }

    let drawn = StoredValue::new_local(None::<Drawn>);
    let source = EditorSource::in_force();
    Effect::new(move |_| {
        let Some(text) = text.get() else { return };
        let source = source.clone();
        when_idle(move || {
            let (source, text) = (source.clone(), text.clone());
            spawn_local(async move {
                match coloured(&source, &text).await {
                    // Given back, and so dropped, if the page is gone by now.
                    Ok(colours) => drop(drawn.try_set_value(Some(Drawn(colours)))),
                    Err(error) => leptos::logging::warn!("code stays without colours: {error:?}"),
                }
            });
        });
    });

    let band = NodeRef::<html::Div>::new();
    Effect::new(move |_| {
        if let (Some(frame), Some(band)) = (frame.get(), band.get()) {
            show(&frame, &band);
        }
    });
    let chosen = move || {
        lines.get().map(|LineRange { from, to }| {
            let (from, to) = (from.min(last), to.min(last));
            let top = format!("calc({} * var(--code-line-height))", from - 1);
            let height = format!("calc({} * var(--code-line-height))", to - from + 1);
            view! { <div node_ref=band class="code-reader__chosen" style:top=top style:height=height></div> }
                .into_any()
        })
    };
    let choose = move |event: MouseEvent| {
        event.prevent_default();
        let column: HtmlElement = event_target(&event);
        let bounds = column.get_bounding_client_rect();
        let share = (f64::from(event.client_y()) - bounds.top()) / bounds.height();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a line's number"
        )]
        let line = ((share * f64::from(last)).max(0.0) as u32).min(last - 1) + 1;
        lines.update(|lines| *lines = chosen_next(*lines, line, event.shift_key()));
    };
    view! {
        <div class="code-reader">
            <div class="code-reader__frame" node_ref=frame role="region" tabindex="0" aria-label=label>
                <div class="code-reader__sheet">
                    {chosen}
                    <pre class="code-reader__numbers" aria-hidden="true" on:mousedown=choose>
                        {numbers}
                    </pre>
                    <pre class="code-reader__code" node_ref=text>
                        {code.clone()}
                    </pre>
                </div>
            </div>
            <CopyButton text=Signal::stored(code) what="code" />
        </div>
    }
    .into_any()
}

async fn coloured(source: &EditorSource, text: &HtmlElement) -> Result<Colours, JsValue> {
    source.load().await?;
    colour(text).await
}

/// A click chooses its line, with Shift up to there; a click on the only chosen line takes it back.
fn chosen_next(chosen: Option<LineRange>, line: u32, shift: bool) -> Option<LineRange> {
    match chosen {
        Some(LineRange { from, .. }) if shift => Some(LineRange {
            from: from.min(line),
            to: from.max(line),
        }),
        Some(LineRange { from, to }) if from == line && to == line => None,
        _ => Some(LineRange { from: line, to: line }),
    }
}

/// Scrolls the chosen lines into the middle, unless they can be seen.
fn show(frame: &HtmlElement, band: &HtmlElement) {
    let (top, height) = (band.offset_top(), band.offset_height());
    let (above, room) = (frame.scroll_top(), frame.client_height());
    if top < above || top + height.min(room) > above + room {
        frame.set_scroll_top((top + height / 2 - room / 2).min(top).max(0));
    }
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;

    #[wasm_bindgen_test]
    fn clicks_choose_lines() {
        let range = |from, to| Some(LineRange { from, to });
        for (chosen, line, shift, expected) in [
            (None, 3, false, range(3, 3)),
            (None, 3, true, range(3, 3)),
            (range(3, 3), 3, false, None),
            (range(3, 5), 3, false, range(3, 3)),
            (range(3, 3), 5, true, range(3, 5)),
            (range(3, 5), 1, true, range(1, 3)),
            (range(3, 3), 3, true, range(3, 3)),
        ] {
            assert_eq!(chosen_next(chosen, line, shift), expected, "{chosen:?} {line}");
        }
    }
}
