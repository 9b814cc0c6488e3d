/** @jsxImportSource https://esm.town/v/bob */
export default <p class="x">{1 + 1} <b /></p>;
