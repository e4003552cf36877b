/** Jest's global setup: a folder for files that the tests of one run share, `$TEST_RUN_FOLDER`; removed at the end. */
import { removeDataFolder, temporaryDataFolder } from '@longwave/fleet';

export default function makeRunFolder() {
  const folder = temporaryDataFolder();
  process.env.TEST_RUN_FOLDER = folder.root;
  process.once('exit', () => removeDataFolder(folder));
}
