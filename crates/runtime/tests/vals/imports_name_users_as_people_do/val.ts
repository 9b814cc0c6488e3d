import { id as plain } from "https://esm.town/v/bob/tool";
const at = (user: string, name: string) => import(`https://esm.town/v/${user}/${name}`);
const ids = [
  await at("@bob", "tool"),
  await at("@BOB", "TOOL"),
  await at("Bob", "Tool.ts"),
  await import("../@Bob/tool"),
];
export default ids.map(({ id }) => id === plain);
