// Colours for code that is only read: drawn over the page's own text, which stays as it is. Style sheets say which.
import { highlightTree, tagHighlighter } from "@lezer/highlight";
import { parser } from "@lezer/javascript";
import { syntax } from "./syntax";

/** What is further on in a text stays without: more would take longer than a reader wants to wait. */
const MOST = 200_000;

const language = parser.configure({ dialect: "ts jsx" });
const highlighter = tagHighlighter(syntax.map(({ name, tags }) => ({ tag: tags, class: `code-${name}` })));

export interface Colours {
  destroy(): void;
}

/** Colours the text in an element, and what shares the page with it as before. */
export function colour(element: HTMLElement): Colours {
  const text = element.firstChild;
  const drawn: [Highlight, StaticRange][] = [];
  // Browsers without such highlights show the text all the same.
  if (text instanceof Text && CSS.highlights) {
    const tree = language.parse(text.data.slice(0, MOST));
    highlightTree(tree, highlighter, (from, to, name) => {
      let highlight = CSS.highlights.get(name);
      if (!highlight) CSS.highlights.set(name, highlight = new Highlight());
      const range = new StaticRange({
        startContainer: text,
        startOffset: from,
        endContainer: text,
        endOffset: to,
      });
      highlight.add(range);
      drawn.push([highlight, range]);
    });
  }
  return {
    destroy() {
      for (const [highlight, range] of drawn) highlight.delete(range);
    },
  };
}
