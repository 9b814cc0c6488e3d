//! The editor's bundle: loaded once, on first use, and called through the functions that it leaves in a global.

use js_sys::{Function, Object, Promise, Reflect};
use leptos::prelude::{document, use_context, window};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::HtmlElement;

/// Where the bundle's entry is; given as context by who serves it elsewhere than the app does.
#[derive(Clone)]
pub struct EditorSource(pub String);

impl EditorSource {
    /// The address in force here.
    pub(crate) fn in_force() -> Self {
        use_context().unwrap_or_else(|| Self("/editor/entry.js".to_owned()))
    }

    /// Loads the editor unless it is there already.
    pub(super) async fn load_editor(&self) -> Result<(), JsValue> {
        self.load().await?;
        load_editor().await
    }

    /// Loads the bundle's entry, which loads its parts as they are asked for, unless it is there already.
    pub(crate) async fn load(&self) -> Result<(), JsValue> {
        let is_loaded =
            || Reflect::get(&window(), &"hamletEditor".into()).is_ok_and(|editor| editor.is_object());
        if is_loaded() {
            return Ok(());
        }
        let element = document().create_element("script")?;
        element.set_attribute("type", "module")?;
        // A browser remembers that a module could not be loaded: each try has an address of its own.
        let failed_before = document().query_selector("script[data-editor]")?.is_some();
        let source = if failed_before {
            format!("{}?{}", self.0, js_sys::Date::now())
        } else {
            self.0.clone()
        };
        element.set_attribute("data-editor", "")?;
        element.set_attribute("src", &source)?;
        let loading = Promise::new(&mut |resolve: Function, reject: Function| {
            for (event, listener) in [("load", &resolve), ("error", &reject)] {
                element
                    .add_event_listener_with_callback(event, listener)
                    .expect("a new element takes listeners");
            }
        });
        document()
            .head()
            .ok_or("a page without a head")?
            .append_child(&element)?;
        JsFuture::from(loading).await?;
        if is_loaded() {
            Ok(())
        } else {
            Err("the editor's bundle holds no editor".into())
        }
    }
}

#[wasm_bindgen]
extern "C" {
    /// An editor in the page.
    pub(super) type Editor;

    #[wasm_bindgen(catch, js_namespace = hamletEditor, js_name = loadEditor)]
    async fn load_editor() -> Result<(), JsValue>;

    #[wasm_bindgen(catch, js_namespace = hamletEditor, js_name = createEditor)]
    pub(super) fn create_editor(options: &Object) -> Result<Editor, JsValue>;

    #[wasm_bindgen(method, js_name = setText)]
    pub(super) fn set_text(this: &Editor, text: &str);

    #[wasm_bindgen(method, js_name = setFailures)]
    pub(super) fn set_failures(this: &Editor, failures: &js_sys::Array);

    #[wasm_bindgen(method, js_name = selectLines)]
    pub(super) fn select_lines(this: &Editor, range: &JsValue);

    #[wasm_bindgen(method, js_name = goTo)]
    pub(super) fn go_to(this: &Editor, line: u32, column: u32);

    #[wasm_bindgen(method, js_name = takeOver)]
    pub(super) fn take_over(this: &Editor, start: u32, end: u32);

    #[wasm_bindgen(method)]
    pub(super) fn destroy(this: &Editor);

    /// A view of what changed between two texts.
    pub(crate) type Compare;

    #[wasm_bindgen(catch, js_namespace = hamletEditor, js_name = createCompare)]
    pub(crate) async fn create_compare(options: &Object) -> Result<Compare, JsValue>;

    #[wasm_bindgen(method, js_name = destroy)]
    pub(crate) fn destroy_compare(this: &Compare);

    /// The colours of a text in the page.
    pub(crate) type Colours;

    #[wasm_bindgen(catch, js_namespace = hamletEditor)]
    pub(crate) async fn colour(element: &HtmlElement) -> Result<Colours, JsValue>;

    #[wasm_bindgen(method, js_name = destroy)]
    pub(crate) fn destroy_colours(this: &Colours);
}

/// A JavaScript object of these fields.
pub(crate) fn object(fields: &[(&str, &JsValue)]) -> Object {
    let object = Object::new();
    for (name, value) in fields {
        Reflect::set(&object, &(*name).into(), value).expect("a new object takes every field");
    }
    object
}
