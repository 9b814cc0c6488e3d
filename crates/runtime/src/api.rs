//! The instance's own interface, as vals reach it: through a socket of their worker, not through the network.
//!
//! A connection has one request and its answer. Both are frames with their length before them: a head in JSON, then the
//! body in pieces, and an empty frame at its end. Whatever breaks off before that is no whole request and no whole answer.
//! Node's own client, whose sockets are led here, speaks HTTP: what begins with a letter is that, as no frame is so long.

use std::{convert::Infallible, io, sync::Arc};

use bytes::{Bytes, BytesMut};
use futures_util::{SinkExt, StreamExt, future::BoxFuture, stream};
use http::{HeaderName, HeaderValue, Method, Request, Response, Uri, header::HOST, uri::PathAndQuery};
use http_body::{Body as _, Frame};
use http_body_util::{BodyExt, StreamBody, combinators::UnsyncBoxBody};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use serde::{Deserialize, Serialize};
use tokio::{
    io::{AsyncRead, AsyncReadExt},
    net::{UnixListener, UnixStream, unix::OwnedWriteHalf},
    sync::mpsc,
    task::JoinSet,
};
use tokio_util::codec::{FramedRead, FramedWrite, LengthDelimitedCodec};

use crate::BoxError;

/// The body of requests and responses that pass through the runtime.
pub type Body = UnsyncBoxBody<Bytes, BoxError>;

/// Answers the requests that vals make to the instance's own address.
pub trait ApiChannel: Send + Sync {
    /// Answers one request; it carries whatever token the val sent, and no rights of its own.
    fn call(&self, request: Request<Body>) -> BoxFuture<'static, Response<Body>>;
}

/// Connections of one worker that are served at once; others wait.
const CONNECTIONS: usize = 64;
/// The largest frame that a worker may send: a head has to fit in.
const LONGEST_FRAME: usize = 256 << 10;
/// The largest piece of a body that a worker is sent at once.
const LONGEST_PIECE: usize = 64 << 10;

/// Serves one worker's socket until it is aborted, and its connections with it; `authority` is the instance's own.
pub(crate) async fn serve(listener: UnixListener, api: Arc<dyn ApiChannel>, authority: HeaderValue) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept(), if connections.len() < CONNECTIONS => {
                let Ok((stream, _)) = accepted else { return };
                connections.spawn(serve_stream(stream, api.clone(), authority.clone()));
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

/// What a worker asks, but for the body.
#[derive(Deserialize)]
struct Asked {
    method: String,
    /// With the query.
    path: String,
    headers: Vec<(String, String)>,
}

/// What it is answered, but for the body.
#[derive(Serialize)]
struct Answered {
    status: u16,
    reason: &'static str,
    headers: Vec<(String, String)>,
    /// Whether the body is one frame that comes at once.
    whole: bool,
}

/// Answers what comes on a connection. What goes wrong with it is the worker's to notice, by its end.
async fn serve_stream(
    stream: UnixStream,
    api: Arc<dyn ApiChannel>,
    authority: HeaderValue,
) -> Result<(), BoxError> {
    let (mut reader, writer) = stream.into_split();
    let mut first = [0];
    reader.read_exact(&mut first).await?;
    let reader = (&first[..]).chain(reader);
    if first[0].is_ascii_alphabetic() {
        let service = service_fn(|request: Request<Incoming>| {
            let answer = api.call(as_to_instance(request, &authority));
            async { Ok::<_, Infallible>(answer.await) }
        });
        let stream = TokioIo::new(tokio::io::join(reader, writer));
        return Ok(http1::Builder::new().serve_connection(stream, service).await?);
    }
    Ok(serve_one(reader, writer, api, authority).await?)
}

/// The request as it would have come over the network.
fn as_to_instance(request: Request<Incoming>, authority: &HeaderValue) -> Request<Body> {
    let mut request = request.map(|body| body.map_err(BoxError::from).boxed_unsync());
    let path = request.uri().path_and_query().cloned();
    *request.uri_mut() = Uri::from(path.unwrap_or_else(|| PathAndQuery::from_static("/")));
    request.headers_mut().insert(HOST, authority.clone());
    request
}

/// Answers the one request that frames make.
async fn serve_one(
    reader: impl AsyncRead + Unpin,
    writer: OwnedWriteHalf,
    api: Arc<dyn ApiChannel>,
    authority: HeaderValue,
) -> io::Result<()> {
    let codec = LengthDelimitedCodec::builder()
        .max_frame_length(LONGEST_FRAME)
        .new_codec();
    let mut sent = FramedRead::new(reader, codec);
    let head = sent.next().await.ok_or(io::ErrorKind::UnexpectedEof)??;
    let asked: Asked = serde_json::from_slice(&head)?;
    let (pieces, body) = mpsc::channel(1);
    let request = asked.into_request(authority, body).map_err(io::Error::other)?;
    tokio::select! {
        () = pass_on(sent, pieces) => Ok(()),
        done = answer(api.call(request), writer) => done,
    }
}

/// Passes on the pieces of a body, and returns when the worker has closed the connection.
async fn pass_on(
    mut sent: FramedRead<impl AsyncRead + Unpin, LengthDelimitedCodec>,
    pieces: mpsc::Sender<BytesMut>,
) {
    while let Some(Ok(piece)) = sent.next().await {
        // Not every answer waits for the whole of a body.
        let _ = pieces.send(piece).await;
    }
}

async fn answer(response: impl Future<Output = Response<Body>>, writer: OwnedWriteHalf) -> io::Result<()> {
    let (parts, mut body) = response.await.into_parts();
    let length = body.size_hint().exact();
    let headers = parts.headers.iter();
    let head = Answered {
        status: parts.status.as_u16(),
        reason: parts.status.canonical_reason().unwrap_or_default(),
        headers: headers
            .map(|(name, value)| (name.to_string(), text_of(value)))
            .collect(),
        whole: length.is_some_and(|length| length <= LONGEST_PIECE as u64),
    };
    let mut answered = FramedWrite::new(writer, LengthDelimitedCodec::new());
    answered.send(Bytes::from(serde_json::to_vec(&head)?)).await?;
    while let Some(frame) = body.frame().await {
        let Ok(mut data) = frame.map_err(io::Error::other)?.into_data() else {
            continue;
        };
        while !data.is_empty() {
            let piece = data.split_to(data.len().min(LONGEST_PIECE));
            answered.send(piece).await?;
        }
    }
    answered.send(Bytes::new()).await
}

impl Asked {
    /// The request as it would have come over the network.
    fn into_request(
        self,
        authority: HeaderValue,
        pieces: mpsc::Receiver<BytesMut>,
    ) -> Result<Request<Body>, BoxError> {
        let mut request = Request::new(body_of(pieces));
        *request.method_mut() = Method::from_bytes(self.method.as_bytes())?;
        *request.uri_mut() = Uri::from(PathAndQuery::try_from(self.path)?);
        for (name, value) in self.headers {
            let name = HeaderName::from_bytes(name.as_bytes())?;
            request.headers_mut().append(name, value_of(&value)?);
        }
        request.headers_mut().insert(HOST, authority);
        Ok(request)
    }
}

/// The body whose pieces these are, up to an empty one.
fn body_of(pieces: mpsc::Receiver<BytesMut>) -> Body {
    let frames = stream::unfold(Some(pieces), async |pieces| {
        let mut pieces = pieces?;
        match pieces.recv().await {
            Some(piece) if piece.is_empty() => None,
            Some(piece) => Some((Ok(Frame::data(piece.freeze())), Some(pieces))),
            None => Some((Err("the request was broken off".into()), None)),
        }
    });
    StreamBody::new(frames).boxed_unsync()
}

/// A header's bytes as a worker has them: a character each.
fn text_of(value: &HeaderValue) -> String {
    value.as_bytes().iter().copied().map(char::from).collect()
}

fn value_of(text: &str) -> Result<HeaderValue, BoxError> {
    let bytes: Vec<u8> = text.chars().map(u8::try_from).collect::<Result<_, _>>()?;
    Ok(HeaderValue::from_bytes(&bytes)?)
}
