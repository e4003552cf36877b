import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

const files = ['tokens.css', 'base.css'];

/** The style of every page: tokens and what is made of them, as one file. */
export interface Look {
  readonly css: string;
  /** Address with a digest of the content, so that a browser may keep it for ever. */
  readonly path: string;
}

/** Reads the style sheets of this service. */
export function readLook(): Look {
  const css = files.map((file) => readFileSync(new URL(`../look/${file}`, import.meta.url), 'utf8')).join('\n');
  const digest = createHash('sha256').update(css).digest('hex').slice(0, 16);
  return { css, path: `/settings/assets/look-${digest}.css` };
}
