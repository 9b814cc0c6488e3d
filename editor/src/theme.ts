// The look, made of the app's own custom properties, so that light and dark follow the page.
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { Prec } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { syntax } from "./syntax";

const frame = EditorView.theme({
  "&": { height: "100%", color: "var(--text)", backgroundColor: "var(--bg)", fontSize: "var(--size-13)" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--font-code)", lineHeight: "var(--code-line-height)", overflow: "auto" },
  ".cm-content": { caretColor: "var(--text)", padding: "var(--space-2) 0" },
  ".cm-cursor, .cm-dropCursor": { borderLeftColor: "var(--text)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground, .cm-content ::selection":
    { backgroundColor: "var(--code-selection)" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "transparent" },
  "&.cm-focused .cm-activeLine": { backgroundColor: "var(--bg-sunken)" },
  ".cm-gutters": { color: "var(--text-muted)", backgroundColor: "var(--bg)", border: "none" },
  ".cm-lineNumbers .cm-gutterElement": {
    cursor: "pointer",
    padding: "0 var(--space-2)",
    minWidth: "var(--space-8)",
  },
  ".cm-foldPlaceholder": {
    color: "var(--text-muted)",
    backgroundColor: "var(--bg-raised)",
    border: "1px solid var(--line)",
  },
  ".cm-selectionMatch": { backgroundColor: "var(--code-match)" },
  ".cm-searchMatch": { backgroundColor: "var(--code-match)", outline: "1px solid var(--line-control)" },
  ".cm-searchMatch-selected": { backgroundColor: "var(--code-selection)" },
  "&.cm-focused .cm-matchingBracket, &.cm-focused .cm-nonmatchingBracket": {
    backgroundColor: "var(--code-match)",
    outline: "1px solid var(--line-control)",
  },
  ".cm-selectedLine": { backgroundColor: "var(--bg-selected)" },
  ".cm-failedLine": { backgroundColor: "var(--error-bg)" },
  // Lint draws its underlines with images in data: addresses, which a strict Content-Security-Policy refuses.
  ".cm-lintRange-error, .cm-lintRange-warning, .cm-lintRange-info": { backgroundImage: "none" },
  ".cm-lintRange-error": { textDecoration: "underline wavy var(--error)" },
  ".cm-lintRange-warning, .cm-lintRange-info": { textDecoration: "underline dotted var(--warning)" },
  ".cm-failure": {
    color: "var(--error)",
    backgroundColor: "var(--error-bg)",
    borderLeft: "3px solid var(--error)",
    padding: "0 var(--space-2)",
    whiteSpace: "pre-wrap",
    overflowWrap: "anywhere",
  },
  ".cm-panels": { color: "var(--text)", backgroundColor: "var(--bg-raised)" },
  ".cm-panels-bottom": { borderTop: "1px solid var(--line)" },
  ".cm-panel input, .cm-panel button, .cm-textfield, .cm-button": {
    color: "var(--text)",
    background: "var(--bg)",
    border: "1px solid var(--line-control)",
    borderRadius: "var(--radius)",
    fontSize: "var(--size-13)",
  },
  ".cm-tooltip": {
    color: "var(--text)",
    backgroundColor: "var(--bg-raised)",
    border: "1px solid var(--line-control)",
    borderRadius: "var(--radius)",
    boxShadow: "var(--shadow-float)",
  },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": {
    color: "var(--text-on-accent)",
    backgroundColor: "var(--accent)",
  },
  ".cm-typeHint": {
    maxWidth: "60ch",
    maxHeight: "20em",
    overflow: "auto",
    padding: "var(--space-2)",
    whiteSpace: "pre-wrap",
  },
  ".cm-typeHint__docs": { fontFamily: "var(--font-text)", paddingTop: "var(--space-2)" },
  ".cm-changedLine, &.cm-merge-b .cm-changedLine": { backgroundColor: "var(--diff-added)" },
  "&.cm-merge-a .cm-changedLine, .cm-deletedChunk": { backgroundColor: "var(--diff-removed)" },
  "&.cm-merge-b .cm-changedText, .cm-inlineChangedLine .cm-changedText, .cm-insertedLine .cm-changedText": {
    background: "var(--diff-added-word)",
  },
  "&.cm-merge-a .cm-changedText, .cm-deletedChunk .cm-deletedText": {
    background: "var(--diff-removed-word)",
  },
  ".cm-insertedLine, .cm-deletedLine, .cm-deletedLine del": { textDecoration: "none" },
  ".cm-changedLineGutter, &.cm-merge-b .cm-changedLineGutter": { background: "var(--ok)" },
  ".cm-deletedLineGutter, &.cm-merge-a .cm-changedLineGutter": { background: "var(--error)" },
  // The sign that merge puts there is in few fonts.
  ".cm-collapsedLines:before, .cm-collapsedLines:after": { content: '"⋯"' },
  ".cm-collapsedLines": { color: "var(--text-muted)", background: "var(--bg-raised)" },
});

const colours = HighlightStyle.define(syntax.map(({ name, tags, color }) => ({
  tag: tags,
  color,
  ...(name === "comment" && { fontStyle: "italic" }),
})));

export const theme = [Prec.high(frame), Prec.high(syntaxHighlighting(colours))];
