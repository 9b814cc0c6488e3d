// Colours for code that is only read: drawn over the page's own text, which stays as it is. Style sheets say which.
import { highlightTree, tagHighlighter } from "@lezer/highlight";
import { parser } from "@lezer/javascript";
import { syntax } from "./syntax";

/** What is further on in a text stays without: more would take longer than a reader wants to wait. */
const MOST = 200_000;
/** How much is coloured at a time, in characters, and how long is parsed at a time, in milliseconds: the page stays quick. */
const STEP = 1_000;
const SLICE_MS = 6;

const language = parser.configure({ dialect: "ts jsx" });
const highlighter = tagHighlighter(syntax.map(({ name, tags }) => ({ tag: tags, class: `code-${name}` })));

export interface Colours {
  destroy(): void;
}

/** Colours the text in an element, and what shares the page with it as before. */
export async function colour(element: HTMLElement): Promise<Colours> {
  const text = element.firstChild;
  const drawn: [Highlight, StaticRange][] = [];
  const draw = (node: Text) => (from: number, to: number, name: string) => {
    let highlight = CSS.highlights.get(name);
    if (!highlight) CSS.highlights.set(name, highlight = new Highlight());
    const range = new StaticRange({
      startContainer: node,
      startOffset: from,
      endContainer: node,
      endOffset: to,
    });
    highlight.add(range);
    drawn.push([highlight, range]);
  };
  // Browsers without such highlights show the text all the same.
  if (text instanceof Text && CSS.highlights) {
    const tree = await parsed(text.data.slice(0, MOST));
    for (let from = 0; from < tree.length; from += STEP) {
      highlightTree(tree, highlighter, draw(text), from, Math.min(from + STEP, tree.length));
      await breath();
    }
  }
  return {
    destroy() {
      for (const [highlight, range] of drawn) highlight.delete(range);
    },
  };
}

async function parsed(text: string): Promise<ReturnType<typeof language.parse>> {
  const parse = language.startParse(text);
  for (;;) {
    await breath();
    const end = performance.now() + SLICE_MS;
    while (performance.now() < end) {
      const tree = parse.advance();
      if (tree) return tree;
    }
  }
}

/** Lets the page do what it has to. */
function breath(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}
