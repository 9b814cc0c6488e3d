// What changed between two texts: side by side or in one column, down to words, long equal parts folded.
import { javascript } from "@codemirror/lang-javascript";
import { MergeView, unifiedMergeView } from "@codemirror/merge";
import { EditorState, type Extension } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { minimalSetup } from "codemirror";
import { lineNumbers } from "@codemirror/view";
import { theme } from "./theme";

export interface CompareOptions {
  parent: HTMLElement;
  before: string;
  after: string;
  beforeLabel: string;
  afterLabel: string;
  mode: "split" | "unified";
}

export interface Compare {
  destroy(): void;
}

const collapseUnchanged = { margin: 3, minSize: 6 };
/** Keeps two very different texts from stalling the page: past it, changes are shown a line at a time. */
const diffConfig = { scanLimit: 10_000, timeout: 500 };

export function createCompare(options: CompareOptions): Compare {
  const { parent, before, after } = options;
  if (options.mode === "split") {
    return new MergeView({
      parent,
      a: { doc: before, extensions: shown(options.beforeLabel) },
      b: { doc: after, extensions: shown(options.afterLabel) },
      collapseUnchanged,
      diffConfig,
      gutter: true,
      highlightChanges: true,
    });
  }
  const merge = unifiedMergeView({
    original: before,
    collapseUnchanged,
    diffConfig,
    gutter: true,
    highlightChanges: true,
    mergeControls: false,
  });
  const label = `${options.beforeLabel}, changed to ${options.afterLabel}`;
  return new EditorView({ parent, doc: after, extensions: [shown(label), merge] });
}

function shown(label: string): Extension {
  return [
    lineNumbers(),
    minimalSetup,
    javascript({ jsx: true, typescript: true }),
    theme,
    EditorState.readOnly.of(true),
    EditorView.lineWrapping,
    EditorView.contentAttributes.of({ "aria-label": label, "aria-readonly": "true", tabindex: "0" }),
  ];
}
