import { count } from "https://esm.town/v/bob/counter";
import { count as same } from "https://esm.town/v/bob/counter?v=1";
count();
export default same();
