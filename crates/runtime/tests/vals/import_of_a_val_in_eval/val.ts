try {
  await new Function("return import('https://esm.town/v/bob/tool')")();
} catch (error) {
  (error as Error).stack = "gone";
  throw error;
}
