import { missing } from "https://esm.town/v/bob/tool";
export default missing;
