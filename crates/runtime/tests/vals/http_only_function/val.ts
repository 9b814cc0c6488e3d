export const note = 1;
export function handle() {
  return new Response("handled");
}
