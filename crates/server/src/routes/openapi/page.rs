//! The OpenAPI document as a page for people: plain HTML without scripts.

use std::fmt::Write;

use serde_json::{Map, Value};
use utoipa::openapi::OpenApi;

const STYLE: &str = "\
:root{color-scheme:light dark;font:14px/1.45 system-ui;--line:light-dark(#ddd,#444)}\
body{max-width:60rem;margin:0 auto;padding:1rem}\
code,h3{font-family:ui-monospace,monospace}h2{margin-top:3rem}h3{font-size:1rem;margin:0}\
article{border:1px solid var(--line);border-radius:6px;padding:1rem;margin:1rem 0;overflow-x:auto}\
table{border-collapse:collapse}th,td{text-align:left;vertical-align:top;padding:.25rem 1rem .25rem 0}\
th{font-weight:600}tr{border-top:1px solid var(--line)}caption{text-align:left;font-weight:600;padding:.5rem 0}";

/// The page.
pub(super) fn of(document: &OpenApi) -> String {
    let document = serde_json::to_value(document).unwrap_or_default();
    let mut page = Page(String::with_capacity(64 * 1_024));
    page.head(&document);
    for tag in list(&document["tags"]) {
        page.group(tag, &document["paths"]);
    }
    page.schemas(&document["components"]["schemas"]);
    page.0.push_str("</main></body></html>\n");
    page.0
}

struct Page(String);

impl Page {
    fn head(&mut self, document: &Value) {
        let title = Text(text(&document["info"]["title"]));
        let about = Text(text(&document["info"]["description"]));
        let version = Text(text(&document["info"]["version"]));
        self.add(format_args!(
            "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
             <meta name=\"viewport\" content=\"width=device-width\"><title>{title} reference</title>\
             <style>{STYLE}</style></head><body><header><h1>{title} reference</h1>\
             <p>Version {version}. For programs: <a href=\"/v1/openapi.json\">openapi.json</a>. \
             <a href=\"/\">To the web app</a>.</p><p>{about}</p></header><nav aria-label=\"Groups\"><ul>",
        ));
        for tag in list(&document["tags"]) {
            let name = Text(text(&tag["name"]));
            self.add(format_args!("<li><a href=\"#{name}\">{name}</a></li>"));
        }
        self.0
            .push_str("<li><a href=\"#schemas\">schemas</a></li></ul></nav><main>");
    }

    fn group(&mut self, tag: &Value, paths: &Value) {
        let name = text(&tag["name"]);
        let (title, about) = (Text(name), Text(text(&tag["description"])));
        self.add(format_args!(
            "<section id=\"{title}\"><h2>{title}</h2><p>{about}</p>"
        ));
        for (path, item) in entries(paths) {
            for (method, operation) in entries(item) {
                if list(&operation["tags"]).iter().any(|tag| tag == name) {
                    self.operation(path, method, operation);
                }
            }
        }
        self.0.push_str("</section>");
    }

    fn operation(&mut self, path: &str, method: &str, operation: &Value) {
        let id = Text(text(&operation["operationId"]));
        let (method, path) = (method.to_uppercase(), Text(path));
        let summary = Text(text(&operation["summary"]));
        self.add(format_args!(
            "<article id=\"{id}\"><h3>{method} {path}</h3><p>{summary}</p>"
        ));
        if let Some(more) = operation["description"].as_str() {
            self.add(format_args!("<p>{}</p>", Text(more)));
        }
        self.parameters(list(&operation["parameters"]));
        if let Some(schema) = json_schema(&operation["requestBody"]) {
            self.add(format_args!("<p>Body: {}</p>", type_of(schema)));
        }
        self.0.push_str("<table><caption>Answers</caption>");
        for (status, response) in entries(&operation["responses"]) {
            let about = Text(text(&response["description"]));
            let body = json_schema(response).map(type_of).unwrap_or_default();
            self.add(format_args!(
                "<tr><th scope=\"row\">{}</th><td>{about}</td><td>{body}</td></tr>",
                Text(status)
            ));
        }
        self.0.push_str("</table></article>");
    }

    fn parameters(&mut self, parameters: &[Value]) {
        if parameters.is_empty() {
            return;
        }
        self.0.push_str("<table><caption>Parameters</caption>");
        for parameter in parameters {
            let (name, place) = (Text(text(&parameter["name"])), Text(text(&parameter["in"])));
            let (kind, about) = (
                type_of(&parameter["schema"]),
                Text(text(&parameter["description"])),
            );
            self.add(format_args!(
                "<tr><th scope=\"row\"><code>{name}</code></th><td>{place}</td><td>{kind}</td><td>{about}</td></tr>"
            ));
        }
        self.0.push_str("</table>");
    }

    fn schemas(&mut self, schemas: &Value) {
        self.0.push_str("<section id=\"schemas\"><h2>schemas</h2>");
        for (name, schema) in entries(schemas) {
            let (title, about) = (Text(name), Text(text(&schema["description"])));
            self.add(format_args!(
                "<article id=\"schema-{title}\"><h3>{title}</h3><p>{about}</p>"
            ));
            let parts = list(&schema["allOf"]);
            for part in std::iter::once(schema).chain(parts) {
                self.fields(part);
            }
            self.0.push_str("</article>");
        }
        self.0.push_str("</section>");
    }

    fn fields(&mut self, schema: &Value) {
        if schema["$ref"].is_string() {
            self.add(format_args!("<p>Everything of {}, and:</p>", type_of(schema)));
        }
        let choices: Vec<&str> = list(&schema["enum"]).iter().filter_map(Value::as_str).collect();
        if !choices.is_empty() {
            self.add(format_args!(
                "<p>One of <code>{}</code></p>",
                Text(&choices.join(", "))
            ));
        }
        if schema["properties"].is_object() {
            self.0.push_str("<table>");
            for (name, property) in entries(&schema["properties"]) {
                let (name, about) = (Text(name), Text(text(&property["description"])));
                let kind = type_of(property);
                self.add(format_args!(
                    "<tr><th scope=\"row\"><code>{name}</code></th><td>{kind}</td><td>{about}</td></tr>"
                ));
            }
            self.0.push_str("</table>");
        }
    }

    fn add(&mut self, html: std::fmt::Arguments<'_>) {
        self.0.write_fmt(html).expect("a string takes everything");
    }
}

/// A type in words, as HTML, with a link to where it is described.
fn type_of(schema: &Value) -> String {
    if let Some(name) = schema["$ref"]
        .as_str()
        .and_then(|reference| reference.rsplit('/').next())
    {
        let name = Text(name);
        return format!("<a href=\"#schema-{name}\">{name}</a>");
    }
    let either = list(&schema["oneOf"]).iter().chain(list(&schema["anyOf"]));
    let mut kinds: Vec<String> = either.map(type_of).filter(|kind| !kind.is_empty()).collect();
    match &schema["type"] {
        Value::String(kind) if kind == "array" => {
            kinds.push(format!("list of {}", type_of(&schema["items"])))
        }
        Value::String(kind) => kinds.push(Text(kind).to_string()),
        Value::Array(several) => kinds.extend(several.iter().map(|kind| Text(text(kind)).to_string())),
        _ => {}
    }
    kinds.join(" or ")
}

fn json_schema(body: &Value) -> Option<&Value> {
    entries(&body["content"])
        .map(|(_, content)| &content["schema"])
        .next()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn entries(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    value
        .as_object()
        .into_iter()
        .flat_map(Map::iter)
        .map(|(name, value)| (name.as_str(), value))
}

/// Text that is safe inside HTML and its attributes; `code` between backticks is set as such.
struct Text<'a>(&'a str);

impl std::fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut in_code = false;
        for character in self.0.chars() {
            match character {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '`' => {
                    f.write_str(if in_code { "</code>" } else { "<code>" })?;
                    in_code = !in_code;
                }
                other => f.write_char(other)?,
            }
        }
        if in_code { f.write_str("</code>") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_can_not_become_markup() {
        assert_eq!(Text("a<b> & \"c\"").to_string(), "a&lt;b&gt; &amp; &quot;c&quot;");
        assert_eq!(Text("send `x<y`").to_string(), "send <code>x&lt;y</code>");
        assert_eq!(Text("one ` alone").to_string(), "one <code> alone</code>");
    }
}
