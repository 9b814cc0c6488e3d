import tool from "https://esm.town/v/bob/tool";
export default tool;
