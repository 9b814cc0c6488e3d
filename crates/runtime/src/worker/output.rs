//! What a worker writes: the frames of its console and its outcome, and what the val writes past the console.

use std::sync::{Arc, MutexGuard, PoisonError, atomic::Ordering};

use hamlet_models::{LogLevel, LogStream, RunId};

use super::{
    Answer, Doom, Worker,
    frames::{Frame, Message, read_frame},
    pipe::with_news,
    runs::Whose,
};
use crate::live_run::LiveRun;

/// Imports at run time that may be open at once.
const OPEN_IMPORTS: u64 = 64;
/// The engine's last words begin with so many lines at most that any program might print.
const LINES_BEFORE_LAST_WORDS: usize = 3;

impl Worker {
    /// Reads all that it has written up to now: what a val printed before its answer belongs before the run's end.
    pub(crate) fn drain(self: &Arc<Self>) {
        // Most requests print nothing: one question finds that out for all three.
        let [frames, stdout, stderr] = with_news([&self.frames, &self.stdout, &self.stderr]);
        if frames {
            self.frames.pump(|line| self.on_frame(line));
        }
        if stdout {
            self.stdout.pump(|line| self.on_raw(line, LogStream::Stdout));
        }
        if stderr {
            self.stderr.pump(|line| self.on_raw(line, LogStream::Stderr));
        }
    }

    /// Gives the unfinished raw lines too, when a run is over that had the worker for itself.
    pub(crate) fn drain_whole(self: &Arc<Self>) {
        self.drain();
        self.stdout.flush(|line| self.on_raw(line, LogStream::Stdout));
        self.stderr.flush(|line| self.on_raw(line, LogStream::Stderr));
        if !self.engine_gave_up.load(Ordering::Relaxed) {
            self.give_held_lines();
        }
    }

    fn clean(&self, text: String) -> String {
        match self.modules.get() {
            Some(modules) => modules.clean(text),
            None => text,
        }
    }

    /// The run whose line came, if it is still to be heard.
    fn run_of(&self, id: RunId) -> Option<Arc<LiveRun>> {
        match self.runs().whose(id) {
            Whose::Run(run) => Some(run),
            Whose::Nobodys => {
                self.overstayed.store(true, Ordering::Relaxed);
                None
            }
            Whose::Unknown => None,
        }
    }

    pub(super) fn on_frame(self: &Arc<Self>, line: &[u8]) {
        match read_frame(&self.key, line) {
            Some(Frame::Log { run, level, message }) => {
                if let Some(run) = self.run_of(run) {
                    run.line(level, LogStream::Console, self.clean(message));
                }
            }
            Some(Frame::Cut {
                run,
                lines,
                characters,
            }) => {
                if let Some(run) = self.run_of(run) {
                    run.unsent(lines, characters);
                }
            }
            Some(Frame::Ready) => self.answer(Answer::Ready),
            Some(Frame::End(report)) => self.answer(Answer::End(report)),
            Some(Frame::Import {
                id,
                importer,
                specifier,
            }) => self.import(id, importer, specifier),
            // A line without the key is the val's own doing; one that is too long was cut to pieces, and the worker
            // itself never sends such.
            None if line.starts_with(self.key.as_bytes()) => self.kill(Doom::Unreadable),
            None => {}
        }
    }

    fn answer(&self, answer: Answer) {
        let sender = self.answer.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(sender) = sender {
            // Whoever waited may have given up.
            let _ = sender.send(answer);
        }
    }

    fn import(self: &Arc<Self>, id: u64, importer: String, specifier: String) {
        let Some(modules) = self.modules.get().cloned() else {
            return;
        };
        if self.open_imports.fetch_add(1, Ordering::Relaxed) >= OPEN_IMPORTS {
            return self.kill(Doom::Unreadable);
        }
        let worker = self.clone();
        tokio::spawn(async move {
            let (url, error) = match modules.import(&importer, &specifier).await {
                Ok(url) => (Some(url), None),
                Err(why) => (None, Some(why)),
            };
            worker.open_imports.fetch_sub(1, Ordering::Relaxed);
            // If the worker is gone, nobody waits for the answer.
            let _ = worker.tell(&Message::Import { id, url, error }).await;
        });
    }

    pub(super) fn on_raw(&self, line: &[u8], stream: LogStream) {
        if let Some(run) = self.runs().latest().filter(|run| run.is_full()) {
            // A flood is not even looked at.
            return run.line_was_cut(line.len());
        }
        let text = String::from_utf8_lossy(line);
        let level = match stream {
            LogStream::Stderr => {
                if self.engine_gave_up.load(Ordering::Relaxed) || self.is_engine_giving_up(&text) {
                    return;
                }
                let held = self.held().len();
                if (text.is_empty() || text == "#") && held < LINES_BEFORE_LAST_WORDS {
                    // It is the val's own if they don't follow.
                    return self.held().push(text.into_owned());
                }
                self.give_held_lines();
                LogLevel::Error
            }
            _ => LogLevel::Info,
        };
        self.give_raw(level, stream, text.into_owned());
    }

    fn give_raw(&self, level: LogLevel, stream: LogStream, text: String) {
        if let Some(run) = self.runs().latest() {
            run.line(level, stream, self.clean(text));
        }
    }

    fn give_held_lines(&self) {
        for line in std::mem::take(&mut *self.held()) {
            self.give_raw(LogLevel::Error, LogStream::Stderr, line);
        }
    }

    fn held(&self) -> MutexGuard<'_, Vec<String>> {
        self.held_lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the line begins what the engine writes when it has no memory left; nothing after it is the val's.
    fn is_engine_giving_up(&self, line: &str) -> bool {
        let begins = [
            "<--- Last few GCs --->",
            "# Fatal JavaScript out of memory",
            "# Fatal process out of memory",
        ];
        let gave_up = begins.iter().any(|begin| line.starts_with(begin));
        self.engine_gave_up.fetch_or(gave_up, Ordering::Relaxed);
        gave_up
    }
}
