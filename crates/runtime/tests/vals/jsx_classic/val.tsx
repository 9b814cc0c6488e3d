/** @jsx h */
const h = (tag: string, _props: unknown, ...children: unknown[]) => `<${tag}>${children.join("")}</${tag}>`;
export default <p>hello <b>you</b></p>;
