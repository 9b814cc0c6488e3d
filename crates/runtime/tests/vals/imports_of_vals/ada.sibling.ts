export default "ada's";
