//! What pages are made of: plain values in, a view out. Nothing here fetches, but for the frame's own parts.

pub mod frame;
pub mod heading;
pub mod palette;
pub mod shortcuts;
pub mod top_bar;

pub mod confirm;
pub mod failure;
pub mod form;
pub mod loaded;

pub mod labels;
pub mod run_row;
pub mod status_dot;
pub mod val_heading;
pub mod val_row;

pub mod log_view;
pub mod phases;
pub mod stack;
pub mod value_tree;

pub mod code_compare;
pub mod code_editor;
pub mod code_reader;

pub mod http_answer;
pub mod run_outcome;

pub mod run_actions;
pub mod run_beside;
pub mod run_detail;
pub mod run_filters;
pub mod run_list;
pub mod run_picture;

pub mod compare_picker;
pub mod run_panel;
pub mod version_list;

pub mod readme;
pub mod save_status;
pub mod split_pane;
pub mod version_conflict;
