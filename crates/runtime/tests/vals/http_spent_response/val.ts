const once = new Response("x");
await once.text();
export default () => once;
