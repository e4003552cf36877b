import { mkdir, readdir, rm } from 'node:fs/promises';
import path from 'node:path';

const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};

/** An empty folder of this process inside `root`; folders that processes of this machine left when they were killed are removed. */
export async function openWorkFolder(root: string): Promise<string> {
  await mkdir(root, { recursive: true, mode: 0o700 });
  for (const name of await readdir(root)) {
    const pid = Number(/^worker-(\d+)$/.exec(name)?.[1]);
    if (pid && (pid === process.pid || !isAlive(pid)))
      await rm(path.join(root, name), { recursive: true, force: true });
  }
  const folder = path.join(root, `worker-${process.pid}`);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  return folder;
}
