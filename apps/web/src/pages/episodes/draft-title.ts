/** Characters that a title may have. */
const titleMax = 255;

/** The title of a draft that begins with a file: its name without the extension, with spaces where people write none in file names. */
export function draftTitle(filename: string): string {
  const name = filename.replace(/\.[a-z0-9]{1,5}$/i, '');
  const words = name.replaceAll(/[_\s]+/g, ' ').trim();
  return (words === '' ? filename : words).slice(0, titleMax);
}
