type Unused = string;
export default function fail(): never {
  throw new Error('from bob');
}
