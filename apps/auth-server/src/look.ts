import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const sheets = ['tokens.css', 'base.css'];

/** The font of our words, in the parts that browsers load by the characters of a page; the ranges are those of `apps/web/src/look/fonts.css`. */
const fonts = [
  { file: createRequire(import.meta.url).resolve('@fontsource-variable/inter/files/inter-latin-wght-normal.woff2') },
  {
    file: createRequire(import.meta.url).resolve('@fontsource-variable/inter/files/inter-latin-ext-wght-normal.woff2'),
    range: 'U+100-130, U+132-151, U+154-15F, U+162-177, U+179-17C, U+17F-24F, U+1E00-1EFF',
  },
] as const;

/** A file that every page may load. Its address has a digest of the content, so that a browser may keep it for ever. */
interface LookFile {
  readonly path: string;
  /** Media type. */
  readonly type: string;
  readonly content: Buffer;
}

/** The style of every page: tokens and what is made of them, as one file, and the fonts that it names. */
export interface Look {
  /** Address of the style sheet. */
  readonly path: string;
  readonly files: readonly LookFile[];
}

function lookFile(name: string, ending: string, type: string, content: Buffer): LookFile {
  const digest = createHash('sha256').update(content).digest('hex').slice(0, 16);
  return { path: `/settings/assets/${name}-${digest}.${ending}`, type, content };
}

/** Reads the style sheets of this service, and the font that the console has too. */
export function readLook(): Look {
  const served = fonts.map(({ file }) => lookFile('inter', 'woff2', 'font/woff2', readFileSync(file)));
  const faces = served.map(({ path }, index) => {
    const { range } = { range: undefined, ...fonts[index] };
    const rules = ["font-family: 'Inter'", 'font-weight: 400 650', 'font-display: swap', `src: url('${path}')`];
    return `@font-face { ${[...rules, ...(range ? [`unicode-range: ${range}`] : [])].join('; ')} }`;
  });
  const css = sheets.map((file) => readFileSync(new URL(`../look/${file}`, import.meta.url), 'utf8'));
  const sheet = lookFile('look', 'css', 'text/css; charset=utf-8', Buffer.from([...faces, ...css].join('\n')));
  return { path: sheet.path, files: [sheet, ...served] };
}
