//! The vals that the first account of an instance begins with: one of each kind, to read and to change.

use hamlet_models::{NewSchedule, NewVal, Privacy, ValKind, ValName};

/// An example as it is kept in this crate.
struct Example {
    name: &'static str,
    kind: ValKind,
    privacy: Privacy,
    code: &'static str,
    readme: &'static str,
    cron: Option<&'static str>,
}

/// From the oldest to the newest: lists show them the other way round.
const EXAMPLES: [Example; 4] = [
    Example {
        name: "mailClerk",
        kind: ValKind::Email,
        privacy: Privacy::Private,
        code: include_str!("examples/mailClerk.ts"),
        readme: include_str!("examples/mailClerk.md"),
        cron: None,
    },
    Example {
        name: "moonWatch",
        kind: ValKind::Interval,
        privacy: Privacy::Private,
        code: include_str!("examples/moonWatch.ts"),
        readme: include_str!("examples/moonWatch.md"),
        cron: Some("0 7 * * *"),
    },
    Example {
        name: "sparkline",
        kind: ValKind::Script,
        privacy: Privacy::Public,
        code: include_str!("examples/sparkline.ts"),
        readme: include_str!("examples/sparkline.md"),
        cron: None,
    },
    Example {
        name: "maze",
        kind: ValKind::Http,
        privacy: Privacy::Public,
        code: include_str!("examples/maze.ts"),
        readme: include_str!("examples/maze.md"),
        cron: None,
    },
];

/// The examples, ready to be made.
pub(crate) fn examples() -> impl Iterator<Item = NewVal> {
    EXAMPLES.iter().map(|example| NewVal {
        code: example.code.to_owned(),
        name: Some(name(example.name)),
        readme: Some(example.readme.to_owned()),
        privacy: Some(example.privacy),
        kind: Some(example.kind),
        schedule: example.cron.map(|cron| NewSchedule {
            cron: cron.to_owned(),
            timezone: "UTC".to_owned(),
            catch_up: false,
            overlap: false,
            paused: false,
        }),
    })
}

fn name(text: &str) -> ValName {
    text.parse()
        .expect("an example's name keeps the rule: a test makes every example")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_a_valid_example_of_every_kind() {
        let kinds: Vec<_> = examples()
            .inspect(|example| assert!(example.problems().is_empty(), "{:?}", example.name))
            .filter_map(|example| example.kind)
            .collect();
        assert!(ValKind::ALL.iter().all(|kind| kinds.contains(kind)));
    }

    #[test]
    fn an_example_needs_nothing_from_elsewhere() {
        for example in examples() {
            assert!(!example.code.contains("import "), "{:?}", example.name);
        }
    }
}
