use super::{translate::compile, *};

const URL: &str = "https://esm.town/v/ada/hello?v=3";

fn module(code: &str) -> Result<Compiled, RunError> {
    compile(code, URL, &Hosts::default(), Form::Module)
}

fn eval(code: &str) -> Compiled {
    compile(code, URL, &Hosts::default(), Form::Eval).expect("code that compiles")
}

fn stack_of(code: &str) -> String {
    module(code).expect_err("code that does not compile").stack
}

#[test]
fn types_enums_and_jsx_become_javascript() {
    let made = module(
        "/** @jsxImportSource https://esm.sh/preact */\nenum Q { A = 1 }\nexport default (x: number) => <b>{Q.A}</b>;",
    )
    .expect("code that compiles");
    assert!(
        made.code.contains(r#"from "https://esm.sh/preact/jsx-runtime""#),
        "{}",
        made.code
    );
    assert!(!made.code.contains(": number"), "{}", made.code);
}

#[test]
fn the_classic_pragma_calls_its_factory() {
    let made =
        module("/** @jsx h */\nimport { h } from \"npm:preact\";\nexport default <b />;").expect("code");
    assert!(made.code.contains(r#"h("b""#), "{}", made.code);
}

#[test]
fn a_fault_names_its_line_and_column() {
    assert!(
        stack_of("const a = 1;\nconst b = ;\n").ends_with(&format!("at {URL}:2:11")),
        "{}",
        stack_of("const a = 1;\nconst b = ;\n")
    );
    assert!(stack_of("let a;\nlet a;").ends_with(&format!("at {URL}:1:5")));
}

#[test]
fn a_file_of_the_host_is_refused_where_it_is_imported() {
    for code in [
        "\nimport x from \"file:///etc/passwd\" with { type: \"text\" };\nx;",
        "\nexport * from \"/etc/passwd\";",
    ] {
        let error = module(code).expect_err("refused");
        assert_eq!(error.name, "TypeError");
        assert!(error.stack.contains(&format!("{URL}:2:")), "{}", error.stack);
    }
}

#[test]
fn imports_of_vals_are_marked_and_the_rest_stays() {
    let made = module(
        "import a from \"https://esm.town/v/bob/a?v=1\";\nimport b from \"npm:b\";\nexport * from \"./c\";\na(b);",
    )
    .expect("code that compiles");
    let names: Vec<_> = made
        .imports
        .iter()
        .map(|import| import.reference.to_string())
        .collect();
    assert_eq!(names, ["bob/a?v=1", "ada/c"]);
    assert_eq!(made.positions, [(1, 15), (3, 15)]);
    assert!(made.code.contains(&import_mark(0)) && made.code.contains(&import_mark(1)));
    assert!(made.code.contains("\"npm:b\""));
}

#[test]
fn only_imports_that_may_be_vals_are_left_to_run_time() {
    let made = module(
        "import(x); import(\"npm:y\"); import(\"https://esm.town/v/a/b\"); const x = import.meta.url;",
    )
    .expect("code that compiles");
    assert_eq!(made.code.matches("__hamletImport(").count(), 2, "{}", made.code);
    let foreseen: Vec<_> = made
        .foreseen
        .iter()
        .map(|import| import.reference.to_string())
        .collect();
    assert_eq!(foreseen, ["a/b"]);
    assert!(made.code.contains("import(\"npm:y\")"));
    assert!(made.code.contains(&format!("const x = \"{URL}\"")));
}

#[test]
fn a_module_that_asks_for_more_than_its_address_is_told_before_all_else() {
    let asks = module("import './c';\nexport const { dirname } = import.meta;").expect("code that compiles");
    let describes = format!("__hamletMeta(import.meta, \"{URL}\");");
    assert!(asks.code.starts_with(&describes), "{}", asks.code);
    let knows = module("export const url = import.meta.url, { meta } = { meta: 1 };").expect("code");
    assert!(!knows.code.contains("__hamletMeta"), "{}", knows.code);
}

#[test]
fn an_expression_is_an_export_and_keeps_its_lines() {
    let made = eval("(a) => {\n  throw a;\n}");
    assert!(made.code.starts_with("export default"));
    let line = made
        .code
        .lines()
        .position(|line| line.contains("throw a"))
        .expect("the line") as u32
        + 1;
    assert_eq!(made.original(line, 1).expect("a place").0, 2);
    for module in ["const a = 1;\nexport default a;", "1), (2", "// nothing"] {
        let made = compile(module, URL, &Hosts::default(), Form::Eval);
        assert!(
            made.is_err() || !made.expect("code").code.starts_with("export default (\n"),
            "{module}"
        );
    }
    assert!(eval("{ a: 1 }").code.contains("a: 1"));
}

#[test]
fn what_is_nested_deeply_stays_small() {
    let depth = 400;
    let made = module(&format!("{}{}", "{".repeat(depth), "}".repeat(depth))).expect("code that compiles");
    assert!(made.code.len() < depth * 20, "{} bytes", made.code.len());
}

#[test]
fn code_nested_beyond_reason_is_an_outcome() {
    for (start, middle, end) in [
        ("(", "1", ")"),
        ("[", "1", "]"),
        ("!", "1", ""),
        ("1+", "1", ""),
        ("if(1)", "{}", ""),
        ("a=>", "1", ""),
    ] {
        let depth = 5_000;
        let ask = Ask::Module {
            code: format!("{}{middle}{}", start.repeat(depth), end.repeat(depth)),
            url: URL.to_owned(),
            hosts: Hosts::default(),
            form: Form::Module,
        };
        // Whatever it says, it says it.
        serve::answer(ask).expect("an answer");
    }
}
