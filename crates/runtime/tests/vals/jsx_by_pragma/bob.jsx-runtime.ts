type Props = { class?: string; children?: unknown };
export const jsx = (tag: string, { class: name, children }: Props) => [
  tag, name ?? null, Array.isArray(children) ? children : children === undefined ? [] : [children],
];
export const jsxs = jsx;
