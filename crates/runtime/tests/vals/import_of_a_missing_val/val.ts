import type { T } from "https://esm.town/v/bob/types";
import fine from "https://esm.town/v/bob/fine";
import gone from "https://esm.town/v/bob/gone?v=3";
export default [fine, gone] as T;
