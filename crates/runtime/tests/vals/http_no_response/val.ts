export default () => ({ status: 200 });
