export default () => new Response(null, { status: 204 });
