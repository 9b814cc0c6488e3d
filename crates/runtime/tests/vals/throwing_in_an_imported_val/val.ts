import fail from "https://esm.town/v/bob/fail";
export default () => fail();
