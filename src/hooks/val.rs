//! The val that the address names.

use hamlet_models::ExtendedVal;
use leptos::prelude::*;

use crate::{
    api::{ApiClient, error::ClientError},
    hooks::{fetched::Fetched, params::use_param},
};

/// The val of `/v/:username/:val`, as of its latest version.
pub fn use_val() -> Fetched<ExtendedVal> {
    let api = expect_context::<ApiClient>();
    let (username, name) = (use_param("username"), use_param("val"));
    Fetched::new(move || {
        let (username, name) = (username.get(), name.get());
        async move {
            // A route's part may be anything that was typed: only names go into an address of ours.
            if username.parse::<hamlet_models::Username>().is_err()
                || name.parse::<hamlet_models::ValName>().is_err()
            {
                return Err(ClientError::not_found());
            }
            api.find_val(&username, &name).await
        }
    })
}
