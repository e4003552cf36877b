/** For the person, beside the result. */
export const tell = (line: string): void => console.error(line);
