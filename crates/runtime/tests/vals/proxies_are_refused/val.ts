const refused = (proxy: object) => {
  try {
    Deno.createHttpClient({ proxy } as Deno.CreateHttpClientOptions);
  } catch (error) {
    return (error as Error).message;
  }
};
Deno.createHttpClient({}).close();
const all = [{ url: "socks5://proxy.example:1080" }, { url: "http://proxy.example" }].map(refused);
export default [...new Set(all)];
