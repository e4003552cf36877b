import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Plugin } from 'vite';

const packages = path.resolve(import.meta.dirname, '../../../node_modules/@fontsource-variable');

/** Puts the licences of the fonts beside the build: who has the fonts has to have them. */
export const fontLicences = (): Plugin => ({
  name: 'longwave:font-licences',
  apply: 'build',
  generateBundle() {
    const texts = ['inter', 'newsreader'].map((font) => readFileSync(path.join(packages, font, 'LICENSE'), 'utf8'));
    this.emitFile({ type: 'asset', fileName: 'licences-of-fonts.txt', source: texts.join('\n\n') });
  },
});
