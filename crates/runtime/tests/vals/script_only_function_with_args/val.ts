export const twice = (word: string) => word + word;
