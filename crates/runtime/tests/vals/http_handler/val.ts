export default async (request: Request) => {
  console.log(request.method);
  return new Response(`${new URL(request.url).pathname}: ${await request.text()}`, { status: 201 });
};
