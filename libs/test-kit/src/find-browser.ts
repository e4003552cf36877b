import { existsSync } from 'node:fs';
import path from 'node:path';

/** A browser on PATH; the packaged one of Debian is `chromium`. */
export function findBrowser(): string {
  const folders = (process.env['PATH'] ?? '').split(path.delimiter);
  const found = folders
    .flatMap((folder) => ['chromium', 'chromium-browser', 'google-chrome'].map((name) => path.join(folder, name)))
    .find((file) => existsSync(file));
  if (!found) throw new Error('A browser is needed on PATH: install the package chromium.');
  return found;
}
