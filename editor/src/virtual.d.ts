declare module "virtual:libraries" {
  /** Declaration files by their path. */
  const libraries: Record<string, string>;
  export default libraries;
}
