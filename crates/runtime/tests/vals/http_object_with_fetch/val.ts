class App {
  #answer = "from fetch";
  fetch(_: Request) {
    return new Response(this.#answer);
  }
}
export const app = new App();
