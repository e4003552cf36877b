import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { Plugin } from 'vite';

/** Fonts and pictures are compressed already. */
const isText = (file: string) => /\.(css|js|svg)$/.test(file);

/** Stores beside each text file of the build how it is sent: `.br` and `.gz`, as small as they get. */
export function compressFiles(): Plugin {
  let folder = '';
  return {
    name: 'longwave:compress-files',
    apply: 'build',
    configResolved: ({ root, build }) => {
      folder = path.resolve(root, build.outDir, build.assetsDir);
    },
    closeBundle: () => {
      for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
        const file = path.join(folder, name);
        if (!isText(file) || !statSync(file).isFile()) continue;
        const content = readFileSync(file);
        const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };
        writeFileSync(`${file}.br`, brotliCompressSync(content, { params }));
        writeFileSync(`${file}.gz`, gzipSync(content, { level: constants.Z_BEST_COMPRESSION }));
      }
    },
  };
}
