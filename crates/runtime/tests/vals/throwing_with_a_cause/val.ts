export default () => {
  throw new Error('outer', { cause: new TypeError('inner') });
};
