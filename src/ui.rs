//! Primitives: they know nothing of Hamlet.

pub mod button;
pub mod chip;
pub mod copy;
pub mod dialog;
pub mod field;
pub mod html_frame;
pub mod icon;
pub mod lazy;
pub mod menu;
pub mod number;
pub mod pager;
pub mod part;
pub mod select;
pub mod skeleton;
pub mod state;
pub mod tabs;
pub mod time;
