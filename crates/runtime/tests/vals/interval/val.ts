export default ({ lastRunAt }: { lastRunAt?: Date }) => {
  console.log(lastRunAt instanceof Date, lastRunAt?.toISOString());
  return 5;
};
