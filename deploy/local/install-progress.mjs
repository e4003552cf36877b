/** Tells the progress while npm installs. Plain JavaScript without dependencies, as everything that runs before them. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

const fits = (names, own) => names === undefined || names.includes(own);

/** The folders of all packages of a lock file that belong on this platform. */
function packageFolders(root) {
  const { packages } = JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8'));
  return Object.entries(packages)
    .filter(([folder, { link }]) => folder.includes('node_modules/') && !link)
    .filter(([, { os, cpu }]) => fits(os, process.platform) && fits(cpu, process.arch))
    .map(([folder]) => folder);
}

/**
 * Says how many packages are there until the function that it answers is called: on a terminal each second in one line that is overwritten,
 * elsewhere and with NO_COLOR a line every 15 s.
 * @param root folder of package-lock.json and node_modules
 * @param stream a terminal or not
 */
export function showInstallation(root, stream, { NO_COLOR, TERM } = process.env, everyMs = undefined) {
  const folders = packageFolders(root);
  const overwrites = stream.isTTY === true && !NO_COLOR && TERM !== 'dumb';
  const startedMs = performance.now();
  const tell = () => {
    const there = folders.filter((folder) => existsSync(path.join(root, folder, 'package.json'))).length;
    const text = `  ${Math.round((performance.now() - startedMs) / 1_000)} s: ${there} of about ${folders.length} packages`;
    stream.write(overwrites ? `\r\u001b[2K${text}` : `${text}\n`);
  };
  const timer = setInterval(tell, everyMs ?? (overwrites ? 1_000 : 15_000));
  return () => {
    clearInterval(timer);
    if (overwrites) stream.write('\r\u001b[2K');
  };
}
