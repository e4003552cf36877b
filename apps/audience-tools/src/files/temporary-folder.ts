import { mkdtempSync, rmSync } from 'node:fs';
import path from 'node:path';

/** Makes a folder below `parent` that no other user can read; its disposal, or the exit of the process, removes it. */
export function temporaryFolder(parent: string): { readonly path: string } & Disposable {
  const folder = mkdtempSync(path.join(parent, 'longwave-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  process.once('exit', remove);
  return {
    path: folder,
    [Symbol.dispose]: () => {
      process.off('exit', remove);
      remove();
    },
  };
}
