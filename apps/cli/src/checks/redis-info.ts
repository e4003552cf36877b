/** Reads fields of what Redis answers to INFO; undefined for one that is not there. */
export const readInfo =
  (info: string) =>
  (field: string): string | undefined =>
    new RegExp(`^${field}:(.*?)\r?$`, 'm').exec(info)?.[1];
