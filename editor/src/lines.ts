// Lines that a link names (`#L20-29`): marked, scrolled to, and chosen by a click on their numbers.
import { RangeSetBuilder, StateEffect, StateField } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView, lineNumbers } from "@codemirror/view";

/** First and last line, counted from 1. */
export interface LineRange {
  from: number;
  to: number;
}

const setRange = StateEffect.define<LineRange | null>();
const selectedLine = Decoration.line({ class: "cm-selectedLine" });

const rangeField = StateField.define<{ range: LineRange | null; lines: DecorationSet }>({
  create: () => ({ range: null, lines: Decoration.none }),
  update(value, transaction) {
    const lines = value.lines.map(transaction.changes);
    for (const effect of transaction.effects) {
      if (!effect.is(setRange)) continue;
      const range = effect.value && clamp(effect.value, transaction.state.doc.lines);
      const builder = new RangeSetBuilder<Decoration>();
      for (let line = range?.from ?? 1; range && line <= range.to; line++) {
        const { from } = transaction.state.doc.line(line);
        builder.add(from, from, selectedLine);
      }
      return { range, lines: builder.finish() };
    }
    return { range: value.range, lines };
  },
  provide: (field) => EditorView.decorations.from(field, ({ lines }) => lines),
});

function clamp({ from, to }: LineRange, last: number): LineRange {
  const within = (line: number) => Math.min(Math.max(line, 1), last);
  const ends = [within(from), within(to)] as const;
  return { from: Math.min(...ends), to: Math.max(...ends) };
}

export function selectLines(view: EditorView, range: LineRange | null) {
  view.dispatch({ effects: setRange.of(range) });
  const shown = view.state.field(rangeField).range;
  if (!shown) return;
  const { from } = view.state.doc.line(shown.from);
  view.dispatch({ effects: EditorView.scrollIntoView(from, { y: "center" }) });
}

/** A click on a number chooses its line, with Shift up to there; a click on the only chosen line takes it back. */
export function lineSelection(onSelect: (range: LineRange | null) => void) {
  const click = (view: EditorView, position: number, shift: boolean) => {
    const line = view.state.doc.lineAt(position).number;
    const { range } = view.state.field(rangeField);
    const single = range?.from === line && range.to === line;
    const next = shift && range
      ? clamp({ from: range.from, to: line }, view.state.doc.lines)
      : single
      ? null
      : { from: line, to: line };
    view.dispatch({ effects: setRange.of(next) });
    onSelect(next);
    return true;
  };
  return [
    rangeField,
    lineNumbers({
      domEventHandlers: {
        mousedown: (view, line, event) => click(view, line.from, (event as MouseEvent).shiftKey),
      },
    }),
  ];
}
