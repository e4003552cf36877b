import { readFileSync } from 'node:fs';
import path from 'node:path';
import { minify, type Plugin } from 'vite';

/**
 * The script that sets the chosen theme before anything is painted: a file of its own, because it must not wait for modules, and the
 * policy of the pages lets no script stand inside them.
 */
export function themeScript(): Plugin {
  const file = path.join(import.meta.dirname, '../src/look/theme-script.js');
  return {
    name: 'longwave:theme-script',
    async buildStart() {
      if (this.meta.watchMode || this.environment.mode === 'dev') return;
      const { code } = await minify('theme.js', readFileSync(file, 'utf8'), { mangle: true, compress: true });
      this.emitFile({ type: 'asset', name: 'theme.js', source: code });
    },
    transformIndexHtml: {
      order: 'post',
      handler: (html, { bundle }) => {
        const built = Object.values(bundle ?? {}).find(({ fileName }) => /\/theme-[\w-]+\.js$/.test(fileName));
        const src = built ? `/${built.fileName}` : '/src/look/theme-script.js';
        return { html, tags: [{ tag: 'script', attrs: { src }, injectTo: 'head-prepend' }] };
      },
    },
  };
}
