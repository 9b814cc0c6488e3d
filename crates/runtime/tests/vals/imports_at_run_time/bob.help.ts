export default 'with help';
