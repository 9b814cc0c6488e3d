//! One set of icons, 16 px; each stands beside a label, or in something that has a name.

use leptos::prelude::*;

/// Which icon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IconName {
    /// A tick.
    Check,
    /// An arrow down.
    ChevronDown,
    /// An arrow to the right.
    ChevronRight,
    /// A cross.
    Close,
    /// Two sheets.
    Copy,
    /// A pencil.
    Edit,
    /// Away from here.
    External,
    /// Two lines and a bend.
    History,
    /// A key.
    Key,
    /// Three dots.
    More,
    /// A triangle.
    Play,
    /// A cross of two lines.
    Plus,
    /// A turning arrow.
    Retry,
    /// A glass.
    Search,
    /// A square.
    Stop,
    /// A bin.
    Trash,
    /// A head and shoulders.
    User,
    /// A triangle with a mark.
    Warning,
}

impl IconName {
    /// What is drawn: strokes of 1.5 on a 16 by 16 field.
    fn path(self) -> &'static str {
        match self {
            Self::Check => "M3 8.5l3.2 3.2L13 5",
            Self::ChevronDown => "M4 6l4 4 4-4",
            Self::ChevronRight => "M6 4l4 4-4 4",
            Self::Close => "M4 4l8 8M12 4l-8 8",
            Self::Copy => {
                "M5.5 5.5v-2a1 1 0 0 1 1-1h6a1 1 0 0 1 1 1v6a1 1 0 0 1-1 1h-2M3.5 5.5h6a1 1 0 0 1 1 1v6a1 1 0 0 1-1 1h-6a1 1 0 0 1-1-1v-6a1 1 0 0 1 1-1z"
            }
            Self::Edit => "M3 13l.6-2.8 7-7a1.4 1.4 0 0 1 2 0l.2.2a1.4 1.4 0 0 1 0 2l-7 7z",
            Self::External => {
                "M9.5 3H13v3.5M13 3L7.5 8.5M11 9v3a1 1 0 0 1-1 1H4a1 1 0 0 1-1-1V6a1 1 0 0 1 1-1h3"
            }
            Self::History => "M2.5 4v3h3M2.8 7A5.5 5.5 0 1 1 3 10M8 5v3.2l2 1.3",
            Self::Key => {
                "M10 9.5a3.5 3.5 0 1 0-3.3-2.4L2.5 11.3v2.2h2.2v-1.6h1.6v-1.6l.9-.9c.8.1 1.6.1 2.8.1zM10.7 5.3h0"
            }
            Self::More => "M3.5 8h.01M8 8h.01M12.5 8h.01",
            Self::Play => "M5 3.2v9.6L12.5 8z",
            Self::Plus => "M8 3v10M3 8h10",
            Self::Retry => "M13.5 4v3h-3M13.2 7A5.5 5.5 0 1 0 13 10",
            Self::Search => "M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM10.3 10.3L13.5 13.5",
            Self::Stop => "M4.5 4.5h7v7h-7z",
            Self::Trash => {
                "M3 4.5h10M6.5 4.5v-1a1 1 0 0 1 1-1h1a1 1 0 0 1 1 1v1M4.5 4.5l.5 8a1 1 0 0 0 1 1h4a1 1 0 0 0 1-1l.5-8"
            }
            Self::User => {
                "M8 8a2.7 2.7 0 1 0 0-5.4A2.7 2.7 0 0 0 8 8zM2.8 13.5c.6-2.3 2.6-3.5 5.2-3.5s4.6 1.2 5.2 3.5"
            }
            Self::Warning => "M8 2.5l6 10.5H2zM8 6.5v3M8 11.2h.01",
        }
    }
}

/// An icon; nothing to a screen reader.
#[component]
pub fn Icon(
    /// Which one.
    name: IconName,
) -> AnyView {
    view! {
        <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
            <path d=name.path() />
        </svg>
    }
    .into_any()
}
