//! A load generator that costs little itself: fixed request bytes on keep-alive connections.

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    task::JoinSet,
};

/// What a turn of load measured.
pub(crate) struct Load {
    /// Answers a second.
    pub(crate) rate: f64,
    /// Times of single answers, sorted.
    pub(crate) latencies: Vec<Duration>,
}

/// Sends `request` over and over on that many connections for that long; any answer but 2xx is an error.
pub(crate) async fn load(to: SocketAddr, request: &str, connections: usize, time: Duration) -> Result<Load> {
    let start = Instant::now();
    let mut tasks = JoinSet::new();
    for _ in 0..connections {
        let request = request.to_owned();
        tasks.spawn(async move {
            let mut connection = Connection::open(to).await?;
            let mut latencies = Vec::with_capacity(1 << 16);
            while start.elapsed() < time {
                let sent = Instant::now();
                let answer = connection.send(request.as_bytes()).await?;
                if !(200..300).contains(&answer.status) {
                    bail!(
                        "status {}: {}",
                        answer.status,
                        String::from_utf8_lossy(answer.body)
                    );
                }
                latencies.push(sent.elapsed());
            }
            Ok(latencies)
        });
    }
    let mut latencies = Vec::new();
    while let Some(done) = tasks.join_next().await {
        latencies.extend(done??);
    }
    let elapsed = start.elapsed();
    latencies.sort_unstable();
    Ok(Load {
        rate: latencies.len() as f64 / elapsed.as_secs_f64(),
        latencies,
    })
}

/// One keep-alive connection.
pub(crate) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

/// An answer; its body lies in the connection's buffer.
pub(crate) struct Answer<'a> {
    /// The status.
    pub(crate) status: u16,
    /// The body; chunks are left as they came, since a load only waits for their end.
    pub(crate) body: &'a [u8],
    /// Whether the body came in chunks.
    chunked: bool,
}

impl Answer<'_> {
    /// The body without the sizes of its chunks.
    fn whole_body(&self) -> Result<Vec<u8>> {
        if !self.chunked {
            return Ok(self.body.to_vec());
        }
        let (mut rest, mut whole) = (self.body, Vec::new());
        loop {
            let httparse::Status::Complete((start, size)) =
                httparse::parse_chunk_size(rest).map_err(|_| anyhow::anyhow!("a chunk without a size"))?
            else {
                bail!("an answer that breaks off in a chunk's size");
            };
            let size = usize::try_from(size)?;
            if size == 0 {
                return Ok(whole);
            }
            whole.extend_from_slice(rest.get(start..start + size).context("a chunk that breaks off")?);
            rest = rest.get(start + size + 2..).context("a chunk without an end")?;
        }
    }
}

impl Connection {
    /// Connects.
    pub(crate) async fn open(to: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(to)
            .await
            .with_context(|| format!("can't connect to {to}"))?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            buffer: Vec::with_capacity(64 * 1024),
        })
    }

    /// Sends the bytes of one request and reads its answer whole.
    pub(crate) async fn send(&mut self, request: &[u8]) -> Result<Answer<'_>> {
        self.stream.write_all(request).await?;
        self.buffer.clear();
        loop {
            if self.stream.read_buf(&mut self.buffer).await? == 0 {
                bail!("the connection ended in the middle of an answer");
            }
            let mut headers = [httparse::EMPTY_HEADER; 64];
            let mut head = httparse::Response::new(&mut headers);
            let httparse::Status::Complete(start) = head.parse(&self.buffer)? else {
                continue;
            };
            let status = head.code.context("an answer without a status")?;
            let header = |name: &str| {
                head.headers
                    .iter()
                    .find(|header| header.name.eq_ignore_ascii_case(name))
            };
            let chunked = header("transfer-encoding").is_some();
            let done = if let Some(length) = header("content-length") {
                let length: usize = std::str::from_utf8(length.value)?.parse()?;
                self.buffer.len() >= start + length
            } else if chunked {
                self.buffer[start..].ends_with(b"0\r\n\r\n")
            } else {
                true
            };
            if done {
                return Ok(Answer {
                    status,
                    body: &self.buffer[start..],
                    chunked,
                });
            }
        }
    }
}

/// A GET of `path`, with more header lines (each ended by CR LF).
pub(crate) fn get(host: &str, path: &str, headers: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nhost: {host}\r\n{headers}\r\n")
}

/// A POST of JSON to `path`, with more header lines (each ended by CR LF).
pub(crate) fn post(host: &str, path: &str, headers: &str, json: &str) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n{headers}\r\n{json}",
        json.len()
    )
}

/// Sends one request on a connection of its own and reads the answer as JSON.
pub(crate) async fn json(to: SocketAddr, request: &str) -> Result<serde_json::Value> {
    let mut connection = Connection::open(to).await?;
    let answer = connection.send(request.as_bytes()).await?;
    if !(200..300).contains(&answer.status) {
        bail!(
            "status {}: {}",
            answer.status,
            String::from_utf8_lossy(answer.body)
        );
    }
    serde_json::from_slice(&answer.whole_body()?).context("an answer that is no JSON")
}
