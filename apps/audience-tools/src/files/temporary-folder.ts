import { mkdtempSync, rmSync } from 'node:fs';
import path from 'node:path';

/** A folder of our own below `parent`, readable by nobody else, that is gone when it is disposed of or the process exits. */
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
