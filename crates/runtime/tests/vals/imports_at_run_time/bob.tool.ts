import help from "./help";
export default `bob's, ${help}`;
