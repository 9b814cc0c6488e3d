export default () => {
  throw new Error('never called');
};
