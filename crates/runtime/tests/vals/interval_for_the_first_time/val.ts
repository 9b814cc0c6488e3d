export const tick = ({ lastRunAt }: { lastRunAt?: Date }) => console.log(lastRunAt);
export const note = 1;
