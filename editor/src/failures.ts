// Where the last run failed: the line is tinted and underlined, and what was thrown is written under it.
import { type Diagnostic, linter } from "@codemirror/lint";
import { type EditorState, type Range, StateEffect, StateField } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView, WidgetType } from "@codemirror/view";

export interface Failure {
  /** Counted from 1. */
  line: number;
  /** Counted from 1; 0 where it isn't known. */
  column: number;
  message: string;
}

const replaceFailures = StateEffect.define<readonly Failure[]>();
const failedLine = Decoration.line({ class: "cm-failedLine" });

class Message extends WidgetType {
  constructor(readonly text: string) {
    super();
  }

  override eq(other: Message) {
    return other.text === this.text;
  }

  override toDOM() {
    const element = document.createElement("div");
    element.className = "cm-failure";
    element.textContent = this.text;
    return element;
  }
}

const failureField = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(marks, transaction) {
    marks = marks.map(transaction.changes);
    for (const effect of transaction.effects) {
      if (effect.is(replaceFailures)) marks = decorations(transaction.state, effect.value);
    }
    return marks;
  },
  provide: (field) => EditorView.decorations.from(field),
});

function decorations(state: EditorState, failures: readonly Failure[]): DecorationSet {
  const ranges: Range<Decoration>[] = [];
  for (const { line: number, column, message } of failures) {
    // The run may have been of a longer text.
    if (number < 1 || number > state.doc.lines) continue;
    const line = state.doc.line(number);
    const from = Math.min(line.from + Math.max(column - 1, 0), line.to);
    ranges.push(failedLine.range(line.from));
    ranges.push(
      Decoration.widget({ block: true, side: 1, widget: new Message(message), from }).range(line.to),
    );
  }
  return Decoration.set(ranges, true);
}

function diagnostics({ state }: EditorView): Diagnostic[] {
  const found: Diagnostic[] = [];
  state.field(failureField).between(0, state.doc.length, (position, _, { spec }) => {
    if (!(spec.widget instanceof Message)) return;
    const line = state.doc.lineAt(position);
    const from = state.doc.lineAt(Math.min(spec.from, state.doc.length)).number === line.number
      ? spec.from
      : line.from;
    found.push({ from, to: line.to, severity: "error", source: "last run", message: spec.widget.text });
  });
  return found;
}

export const failureMarks = [
  failureField,
  // Under lint as well, so that F8 goes from one to the next and the list of problems has them.
  linter(diagnostics, {
    delay: 0,
    needsRefresh: ({ transactions }) =>
      transactions.some(({ effects }) => effects.some((effect) => effect.is(replaceFailures))),
  }),
];

export function setFailures(view: EditorView, failures: readonly Failure[]) {
  view.dispatch({ effects: replaceFailures.of(failures) });
}
