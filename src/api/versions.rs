//! The versions of a val.

use hamlet_models::{ExtendedVal, NewVersion, Page, PageQuery, ValId, Version, VersionNumber};

use super::{ApiClient, error::ClientError, read, request::Call};

/// What became of a save.
#[derive(Clone, Debug, PartialEq)]
pub struct Saved {
    /// The val as it is now.
    pub val: ExtendedVal,
    /// Whether there is a new version: there is none when nothing changed.
    pub created: bool,
}

impl ApiClient {
    /// Saves a version. With `expected`, only if that is the latest one: else a failure with the code
    /// `version_mismatch`, and nothing is overwritten.
    pub async fn create_version(
        self,
        val: ValId,
        version: &NewVersion,
        expected: Option<VersionNumber>,
    ) -> Result<Saved, ClientError> {
        let call = Call::post(format!("/vals/{val}/versions"))
            .json(version)
            .if_match(expected);
        let answer = self.send(call).await?;
        Ok(Saved {
            val: read(&answer)?,
            created: answer.status == 201,
        })
    }

    /// The val as of this version.
    pub async fn get_version(self, val: ValId, version: VersionNumber) -> Result<ExtendedVal, ClientError> {
        self.fetch(Call::get(format!("/vals/{val}/versions/{version}")))
            .await
    }

    /// A val's versions, newest first.
    pub async fn list_versions(self, val: ValId, page: PageQuery) -> Result<Page<Version>, ClientError> {
        self.fetch(Call::get(format!("/vals/{val}/versions")).page(page))
            .await
    }

    /// Deletes a version; its number is never given again.
    pub async fn delete_version(self, val: ValId, version: VersionNumber) -> Result<(), ClientError> {
        self.send(Call::delete(format!("/vals/{val}/versions/{version}")))
            .await
            .map(drop)
    }
}
