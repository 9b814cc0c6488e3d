export const other = 1;
export default { answer: 42, list: [1, 'two', null] };
