// The editor for code.
import { indentWithTab } from "@codemirror/commands";
import { javascript } from "@codemirror/lang-javascript";
import { Compartment, EditorState, Prec } from "@codemirror/state";
import { EditorView, keymap } from "@codemirror/view";
import { basicSetup } from "codemirror";
import { type LineRange, lineSelection, selectLines } from "./lines";
import { type Failure, failureMarks, setFailures } from "./failures";
import { theme } from "./theme";

export interface EditorOptions {
  parent: HTMLElement;
  text: string;
  /** What a screen reader calls the editor. */
  label: string;
  onChange(text: string): void;
  onSave(): void;
  onRun(): void;
  /** Lines chosen in the gutter; null when the choice is taken back. */
  onSelectLines(range: LineRange | null): void;
}

export interface Editor {
  text(): string;
  /** Takes another text as one change that can be undone; does not call `onChange`. */
  setText(text: string): void;
  setFailures(failures: readonly Failure[]): void;
  /** Shows and marks lines, counted from 1; null takes the mark away. */
  selectLines(range: LineRange | null): void;
  /** Puts the cursor into a line and scrolls to it. */
  goTo(line: number, column: number): void;
  /** Takes over what was selected in the plain field before, by offsets into the text, and the focus. */
  takeOver(start: number, end: number): void;
  destroy(): void;
}

const HELP = "Tab indents. To leave the editor by keyboard, press Escape, then Tab.";

export function createEditor(options: EditorOptions): Editor {
  const types = new Compartment();
  let quiet = false;

  const view = new EditorView({
    parent: options.parent,
    state: EditorState.create({
      doc: options.text,
      extensions: [
        Prec.highest(keymap.of(commands(options))),
        basicSetup,
        keymap.of([indentWithTab]),
        javascript({ jsx: true, typescript: true }),
        EditorState.tabSize.of(2),
        theme,
        types.of([]),
        // The scroller is found to be reachable by keyboard by what is in it.
        EditorView.contentAttributes.of({
          "aria-label": options.label,
          "aria-description": HELP,
          tabindex: "0",
        }),
        failureMarks,
        lineSelection(options.onSelectLines),
        EditorView.updateListener.of((update) => {
          if (update.docChanged && !quiet) options.onChange(update.state.doc.toString());
        }),
      ],
    }),
  });

  const stopTypes = typesOnFirstFocus(view, types);

  return {
    text: () => view.state.doc.toString(),
    setText(text) {
      if (text === view.state.doc.toString()) return;
      quiet = true;
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
      quiet = false;
    },
    setFailures(failures) {
      setFailures(view, failures);
    },
    selectLines(range) {
      selectLines(view, range);
    },
    goTo(number, column) {
      const line = view.state.doc.line(Math.min(Math.max(number, 1), view.state.doc.lines));
      const anchor = Math.min(line.from + Math.max(column - 1, 0), line.to);
      view.dispatch({ selection: { anchor }, effects: EditorView.scrollIntoView(anchor, { y: "center" }) });
      view.focus();
    },
    takeOver(start, end) {
      const within = (offset: number) => Math.min(offset, view.state.doc.length);
      view.dispatch({ selection: { anchor: within(start), head: within(end) }, scrollIntoView: true });
      view.focus();
    },
    destroy() {
      stopTypes();
      view.destroy();
    },
  };
}

function commands({ onSave, onRun }: EditorOptions) {
  const always = (act: () => void) => () => (act(), true);
  // The page has these keys too, for when focus is elsewhere.
  const ours = { preventDefault: true, stopPropagation: true };
  return [
    { key: "Mod-s", ...ours, run: always(onSave) },
    { key: "Mod-Enter", ...ours, run: always(onRun) },
  ];
}

/** Loads the types, a big download, once someone is about to write; without them the editor works as before. */
function typesOnFirstFocus(view: EditorView, compartment: Compartment): () => void {
  let stop = () => {};
  const load = async () => {
    const { connectTypes } = await import("./types");
    const connection = await connectTypes(view.state.doc.toString());
    if (!view.dom.isConnected) return connection.close();
    stop = connection.close;
    view.dispatch({ effects: compartment.reconfigure(connection.extension) });
    connection.update(view.state.doc.toString());
  };
  const saving = (navigator as { connection?: { saveData?: boolean } }).connection?.saveData;
  if (!saving) {
    const start = () => load().catch((cause) => console.warn("types could not be loaded", cause));
    view.contentDOM.addEventListener("focus", start, { once: true });
  }
  return () => stop();
}
