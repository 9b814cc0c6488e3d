// What the parts of code are called, and which parts they are: for the editor and for code that is only read.
import { type Tag, tags } from "@lezer/highlight";

export interface Part {
  name: string;
  tags: readonly Tag[];
  /** As the app's own custom properties say. */
  color: string;
}

export const syntax: readonly Part[] = [
  {
    name: "keyword",
    tags: [tags.keyword, tags.operatorKeyword, tags.modifier, tags.self, tags.null, tags.bool],
    color: "var(--code-keyword)",
  },
  {
    name: "string",
    tags: [tags.string, tags.special(tags.string), tags.regexp, tags.character],
    color: "var(--code-string)",
  },
  { name: "number", tags: [tags.number, tags.atom], color: "var(--code-number)" },
  { name: "comment", tags: [tags.comment, tags.meta], color: "var(--code-comment)" },
  {
    name: "type",
    tags: [tags.typeName, tags.className, tags.namespace, tags.tagName],
    color: "var(--code-type)",
  },
  {
    name: "function",
    tags: [
      tags.function(tags.variableName),
      tags.function(tags.propertyName),
      tags.definition(tags.function(tags.variableName)),
    ],
    color: "var(--code-function)",
  },
  { name: "property", tags: [tags.propertyName, tags.attributeName], color: "var(--text)" },
  { name: "sign", tags: [tags.punctuation, tags.operator, tags.bracket], color: "var(--text-muted)" },
  { name: "invalid", tags: [tags.invalid], color: "var(--error)" },
];
