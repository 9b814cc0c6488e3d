// The two enums that the page's side of the types needs of TypeScript, with their values there.
export default {
  DiagnosticCategory: { Warning: 0, Error: 1, Suggestion: 2, Message: 3 },
  ScriptElementKind: { warning: "warning" },
};
