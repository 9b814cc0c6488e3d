//! One editor in the page, and what it calls back.

use std::cell::RefCell;
use std::rc::Rc;

use js_sys::{Array, Reflect};
use leptos::prelude::*;
use wasm_bindgen::prelude::*;
use web_sys::{HtmlElement, HtmlTextAreaElement};

use super::{
    LineMark, LineRange, Place,
    bundle::{self, Editor, object},
};

/// Where what happens in an editor goes.
#[derive(Clone, Copy)]
pub(super) struct Events {
    pub(super) code: RwSignal<String>,
    pub(super) lines: RwSignal<Option<LineRange>>,
    pub(super) on_save: Option<Callback<()>>,
    pub(super) on_run: Option<Callback<()>>,
}

/// An editor in the page; it leaves when this is dropped.
pub(super) struct Mounted {
    editor: Editor,
    /// The text that the editor holds.
    shown: Rc<RefCell<String>>,
    _on_change: Closure<dyn FnMut(String)>,
    _on_save: Closure<dyn FnMut()>,
    _on_run: Closure<dyn FnMut()>,
    _on_select_lines: Closure<dyn FnMut(JsValue)>,
}

impl Mounted {
    pub(super) fn new(parent: &HtmlElement, label: String, events: Events) -> Result<Self, JsValue> {
        let text = events.code.get_untracked();
        let shown = Rc::new(RefCell::new(text.clone()));
        let held = Rc::clone(&shown);
        let on_change = Closure::new(move |text: String| {
            held.borrow_mut().clone_from(&text);
            events.code.set(text);
        });
        let on_save = calling(events.on_save);
        let on_run = calling(events.on_run);
        let on_select_lines = Closure::new(move |range: JsValue| events.lines.set(read_range(&range)));
        let options = object(&[
            ("parent", parent.as_ref()),
            ("text", &text.into()),
            ("label", &label.into()),
            ("onChange", on_change.as_ref()),
            ("onSave", on_save.as_ref()),
            ("onRun", on_run.as_ref()),
            ("onSelectLines", on_select_lines.as_ref()),
        ]);
        Ok(Self {
            editor: bundle::create_editor(&options)?,
            shown,
            _on_change: on_change,
            _on_save: on_save,
            _on_run: on_run,
            _on_select_lines: on_select_lines,
        })
    }

    /// Shows a text, unless it is the one that is shown.
    pub(super) fn show(&self, text: &str) {
        if *self.shown.borrow() != text {
            text.clone_into(&mut self.shown.borrow_mut());
            self.editor.set_text(text);
        }
    }

    pub(super) fn mark(&self, marks: &[LineMark]) {
        let failures: Array = marks
            .iter()
            .map(|mark| {
                object(&[
                    ("line", &mark.place.line.into()),
                    ("column", &mark.place.column.into()),
                    ("message", &mark.message.as_str().into()),
                ])
            })
            .collect();
        self.editor.set_failures(&failures);
    }

    pub(super) fn select_lines(&self, lines: Option<LineRange>) {
        let range = lines.map_or(JsValue::NULL, |LineRange { from, to }| {
            object(&[("from", &from.into()), ("to", &to.into())]).into()
        });
        self.editor.select_lines(&range);
    }

    pub(super) fn go_to(&self, place: Place) {
        self.editor.go_to(place.line, place.column);
    }

    /// Goes on where someone has begun to write in the plain field.
    pub(super) fn take_over(&self, plain: &HtmlTextAreaElement) {
        let offset = |found: Result<Option<u32>, JsValue>| found.ok().flatten().unwrap_or(0);
        self.editor
            .take_over(offset(plain.selection_start()), offset(plain.selection_end()));
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        self.editor.destroy();
    }
}

fn calling(callback: Option<Callback<()>>) -> Closure<dyn FnMut()> {
    Closure::new(move || {
        if let Some(callback) = callback {
            callback.run(());
        }
    })
}

fn read_range(range: &JsValue) -> Option<LineRange> {
    let number = |name: &str| {
        let value = Reflect::get(range, &name.into()).ok()?.as_f64()?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a line's number"
        )]
        Some(value as u32)
    };
    Some(LineRange {
        from: number("from")?,
        to: number("to")?,
    })
}
