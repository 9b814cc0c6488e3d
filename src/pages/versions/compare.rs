//! What changed between two versions.

use hamlet_models::{ExtendedVal, ValId, VersionNumber};
use leptos::prelude::*;

use crate::{
    api::{ApiClient, error::ClientError},
    components::{
        code_compare::{CodeCompare, CompareMode},
        loaded::loaded_part,
    },
    hooks::fetched::Fetched,
    ui::{skeleton::SkeletonBox, state::EmptyState},
};

/// The code of two versions; `None` for one that is not there.
type Both = (Option<String>, Option<String>);

/// Fetches two versions and shows what changed from one to the other.
pub(super) fn comparison(
    val: ValId,
    from: VersionNumber,
    to: VersionNumber,
    mode: Memo<CompareMode>,
) -> AnyView {
    let api = expect_context::<ApiClient>();
    let fetch = move |version| Fetched::new(move || async move { code(api.get_version(val, version).await) });
    // Both are on their way before either is waited for.
    let (before, after) = (fetch(from), fetch(to));
    let both =
        Fetched::new(
            move || async move { Ok::<Both, ClientError>((before.wait().await?, after.wait().await?)) },
        );
    let content = loaded_part(
        both,
        || view! { <SkeletonBox height="60vh" /> }.into_any(),
        move |both| match both {
            (Some(before), Some(after)) if before == after => view! {
                <EmptyState title=format!("Versions {from} and {to} have the same code") />
            }
            .into_any(),
            (Some(before), Some(after)) => view! {
                <CodeCompare
                    before=Signal::stored(before)
                    after=Signal::stored(after)
                    before_label=format!("version {from}")
                    after_label=format!("version {to}")
                    mode
                />
            }
            .into_any(),
            (before, _) => {
                let missing = if before.is_none() { from } else { to };
                view! {
                    <EmptyState title=format!("There is no version {missing}")>
                        <p>"It was deleted, or never was. Choose another below."</p>
                    </EmptyState>
                }
                .into_any()
            }
        },
    );
    view! { <div class="compare__view">{content}</div> }.into_any()
}

fn code(answer: Result<ExtendedVal, ClientError>) -> Result<Option<String>, ClientError> {
    match answer {
        Ok(version) => Ok(Some(version.code.clone().unwrap_or_default())),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error),
    }
}
