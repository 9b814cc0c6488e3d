//! As much of S3 as an object store needs, in memory: what is kept can be looked at, and made old.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use axum::{
    Router,
    body::Bytes,
    extract::{DefaultBodyLimit, Query, State},
    http::{HeaderMap, Method, StatusCode, Uri, header},
    response::{IntoResponse, Response},
};
use hamlet_store::Bucket;
use time::{
    OffsetDateTime,
    format_description::well_known::{Rfc2822, Rfc3339},
};
use tokio::net::TcpListener;

/// How many keys are on a page of a list.
const PAGE: usize = 2;
/// The least that a part holds which is not the last.
const PART_MIN_BYTES: usize = 5 << 20;

/// A server of one bucket, for as long as the test's runtime lives.
#[derive(Clone)]
pub(crate) struct S3 {
    endpoint: String,
    kept: Arc<Mutex<Kept>>,
}

#[derive(Default)]
struct Kept {
    objects: BTreeMap<String, Object>,
    /// Uploads that are under way: their parts by number.
    uploads: BTreeMap<String, BTreeMap<u32, Bytes>>,
    begun: u32,
}

#[derive(Clone)]
struct Object {
    bytes: Bytes,
    modified: OffsetDateTime,
}

impl S3 {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let kept = Arc::<Mutex<Kept>>::default();
        let router = Router::new()
            .fallback(answer)
            .layer(DefaultBodyLimit::disable())
            .with_state(kept.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self {
            endpoint: format!("http://{address}"),
            kept,
        }
    }

    /// What the environment of a server says that uses it.
    pub(crate) fn variables(&self) -> [(&'static str, &str); 4] {
        [
            ("AWS_ENDPOINT", &self.endpoint),
            ("AWS_ALLOW_HTTP", "true"),
            ("AWS_ACCESS_KEY_ID", "hamlet"),
            ("AWS_SECRET_ACCESS_KEY", "sesame"),
        ]
    }

    pub(crate) fn bucket(&self) -> Bucket {
        let variables = self.variables();
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        Bucket::parse("s3://vals/hamlet", variables).expect("a bucket")
    }

    /// The keys of its objects.
    pub(crate) fn keys(&self) -> Vec<String> {
        self.kept().objects.keys().cloned().collect()
    }

    /// How many uploads are under way.
    pub(crate) fn unfinished(&self) -> usize {
        self.kept().uploads.len()
    }

    pub(crate) fn put(&self, key: &str, bytes: &'static str) {
        self.kept().put(key, bytes.into());
    }

    /// Makes everything two days older.
    pub(crate) fn age(&self) {
        for object in self.kept().objects.values_mut() {
            object.modified -= Duration::from_secs(2 * 24 * 60 * 60);
        }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().expect("no panic")
    }
}

impl Kept {
    fn put(&mut self, key: &str, bytes: Bytes) {
        let modified = OffsetDateTime::now_utc();
        self.objects.insert(key.to_owned(), Object { bytes, modified });
    }
}

type Parameters = BTreeMap<String, String>;

async fn answer(
    State(kept): State<Arc<Mutex<Kept>>>,
    method: Method,
    uri: Uri,
    Query(parameters): Query<Parameters>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let signed = headers
        .get(header::AUTHORIZATION)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|value| value.starts_with("AWS4-HMAC-SHA256 Credential=hamlet/"));
    if !signed {
        return refused(StatusCode::FORBIDDEN, "AccessDenied");
    }
    let Some(key) = uri.path().strip_prefix("/vals") else {
        return refused(StatusCode::NOT_FOUND, "NoSuchBucket");
    };
    let key = key.trim_start_matches('/');
    let mut kept = kept.lock().expect("no panic");
    let upload = parameters.get("uploadId");
    match (method.as_str(), upload) {
        ("GET", None) if key.is_empty() => list(&kept, &parameters),
        ("GET" | "HEAD", None) => read(&kept, key),
        ("PUT", None) => match headers.get("x-amz-copy-source") {
            Some(from) => copy(&mut kept, from.to_str().expect("a path"), key),
            None => {
                kept.put(key, body);
                tagged()
            }
        },
        ("DELETE", None) => {
            kept.objects.remove(key);
            StatusCode::NO_CONTENT.into_response()
        }
        ("POST", None) if parameters.contains_key("uploads") => {
            kept.begun += 1;
            let id = kept.begun.to_string();
            kept.uploads.insert(id.clone(), BTreeMap::new());
            xml(format!(
                "<InitiateMultipartUploadResult><UploadId>{id}</UploadId></InitiateMultipartUploadResult>"
            ))
        }
        ("PUT", Some(id)) => match (kept.uploads.get_mut(id), parameters.get("partNumber")) {
            (Some(parts), Some(number)) => {
                parts.insert(number.parse().expect("a number"), body);
                tagged()
            }
            _ => refused(StatusCode::NOT_FOUND, "NoSuchUpload"),
        },
        ("POST", Some(id)) => complete(&mut kept, id, key),
        ("DELETE", Some(id)) => {
            kept.uploads.remove(id);
            StatusCode::NO_CONTENT.into_response()
        }
        _ => refused(StatusCode::NOT_IMPLEMENTED, "NotImplemented"),
    }
}

fn read(kept: &Kept, key: &str) -> Response {
    let Some(object) = kept.objects.get(key) else {
        return refused(StatusCode::NOT_FOUND, "NoSuchKey");
    };
    let modified = object.modified.format(&Rfc2822).expect("a time");
    let modified = modified.replace("+0000", "GMT");
    let head = [
        (header::ETAG, "\"1\"".to_owned()),
        (header::LAST_MODIFIED, modified),
    ];
    (head, object.bytes.clone()).into_response()
}

fn copy(kept: &mut Kept, from: &str, key: &str) -> Response {
    let from = from.trim_start_matches('/').trim_start_matches("vals/");
    let Some(object) = kept.objects.get(from).cloned() else {
        return refused(StatusCode::NOT_FOUND, "NoSuchKey");
    };
    kept.put(key, object.bytes);
    xml("<CopyObjectResult><ETag>\"1\"</ETag></CopyObjectResult>".to_owned())
}

fn complete(kept: &mut Kept, id: &str, key: &str) -> Response {
    let Some(parts) = kept.uploads.remove(id) else {
        return refused(StatusCode::NOT_FOUND, "NoSuchUpload");
    };
    let all_but_last = parts.values().rev().skip(1);
    if all_but_last.clone().any(|part| part.len() < PART_MIN_BYTES) {
        return refused(StatusCode::BAD_REQUEST, "EntityTooSmall");
    }
    let bytes: Vec<u8> = parts.into_values().flatten().collect();
    kept.put(key, bytes.into());
    xml("<CompleteMultipartUploadResult><ETag>\"1\"</ETag></CompleteMultipartUploadResult>".to_owned())
}

fn list(kept: &Kept, parameters: &Parameters) -> Response {
    let given = |name: &str| parameters.get(name).map(String::as_str).unwrap_or_default();
    let (prefix, after) = (given("prefix"), given("continuation-token"));
    let mut rest = kept
        .objects
        .iter()
        .filter(|(key, _)| key.starts_with(prefix) && key.as_str() > after);
    let page: Vec<_> = rest.by_ref().take(PAGE).collect();
    let mut answer = "<ListBucketResult>".to_owned();
    for (key, object) in &page {
        let modified = object.modified.format(&Rfc3339).expect("a time");
        let size = object.bytes.len();
        answer += &format!(
            "<Contents><Key>{key}</Key><Size>{size}</Size><LastModified>{modified}</LastModified><ETag>\"1\"</ETag></Contents>"
        );
    }
    if let (Some(_), Some((last, _))) = (rest.next(), page.last()) {
        answer +=
            &format!("<IsTruncated>true</IsTruncated><NextContinuationToken>{last}</NextContinuationToken>");
    }
    xml(answer + "</ListBucketResult>")
}

fn tagged() -> Response {
    [(header::ETAG, "\"1\"")].into_response()
}

fn xml(text: String) -> Response {
    ([(header::CONTENT_TYPE, "application/xml")], text).into_response()
}

fn refused(status: StatusCode, code: &str) -> Response {
    (status, xml(format!("<Error><Code>{code}</Code></Error>"))).into_response()
}
