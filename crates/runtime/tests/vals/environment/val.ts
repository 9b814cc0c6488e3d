const { HAMLET_RUN_ID, NPM_CONFIG_REGISTRY: _, ...rest } = Deno.env.toObject();
export default [rest, process.env.SECRET, HAMLET_RUN_ID.length, process.env.PATH ?? null, process.env.HOME ?? null];
