export default await import("data:text/javascript,export * from 'https://esm.town/v/bob/tool'");
