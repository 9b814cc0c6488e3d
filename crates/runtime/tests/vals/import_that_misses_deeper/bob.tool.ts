// A private val of someone else's.
import secret from "https://esm.town/v/eve/secret";
export default secret;
