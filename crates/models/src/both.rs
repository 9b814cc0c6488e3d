//! Two types whose fields lie in one JSON object.

use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, Error},
};
use serde_json::value::RawValue;

/// One JSON object read as two types, each of which passes over the other's fields.
///
/// `#[serde(flatten)]` would do for reading too, but it keeps each field in a form of its own in between, and has the
/// code that reads the flattened type a second time: too much for the web app.
pub(crate) struct Both<A, B>(pub(crate) A, pub(crate) B);

impl<'de, A: DeserializeOwned, B: DeserializeOwned> Deserialize<'de> for Both<A, B> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let object = Box::<RawValue>::deserialize(deserializer)?;
        let one = serde_json::from_str(object.get()).map_err(D::Error::custom)?;
        let other = serde_json::from_str(object.get()).map_err(D::Error::custom)?;
        Ok(Self(one, other))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::Me;

    #[test]
    fn one_object_is_read_as_two_types() {
        let me = json!({
            "id": "018f3c7e-0000-7000-8000-000000000001",
            "username": "ada",
            "bio": null,
            "profileImageUrl": null,
            "url": "/u/ada",
            "links": {"self": "/v1/users/ada"},
            "email": "ada@example.com",
            "tier": null,
        });
        let read: Me = serde_json::from_value(me.clone()).expect("from a value");
        assert_eq!(read.user.url, "/u/ada");
        assert_eq!(read.email.as_deref(), Some("ada@example.com"));
        assert!(!read.has_password);
        assert_eq!(
            serde_json::from_str::<Me>(&me.to_string()).expect("from text"),
            read
        );
        assert_eq!(
            serde_json::from_slice::<Me>(me.to_string().as_bytes()).expect("from bytes"),
            read
        );
    }

    #[test]
    fn a_field_that_either_lacks_is_missed() {
        let error = serde_json::from_str::<Me>(r#"{"email": null, "tier": null}"#).expect_err("no user");
        assert!(error.to_string().contains("missing field `id`"), "{error}");
    }
}
