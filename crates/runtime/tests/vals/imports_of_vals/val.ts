import tool, { name } from "https://esm.town/v/bob/tool";
import { name as again } from "http://hamlet.test/v/@bob/tool?v=2";
import { name as old } from "https://esm.town/v/bob/tool?v=1";
import sibling from "./sibling.ts";
export * from "../bob/tool?v=1";
export default [tool(2), name, again, old, sibling];
