import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const periodMicros = 100_000;

/** The folder of control groups of the processor: version 2 of Linux' control groups, or version 1. */
function rootOfGroups(): { readonly root: string; readonly version: 1 | 2 } | undefined {
  const root = '/sys/fs/cgroup';
  const controllers = path.join(root, 'cgroup.subtree_control');
  if (existsSync(controllers) && readFileSync(controllers, 'utf8').split(/\s/).includes('cpu'))
    return { root, version: 2 };
  return existsSync(path.join(root, 'cpu/cpu.cfs_quota_us')) || existsSync(path.join(root, 'cpu/cgroup.procs'))
    ? { root: path.join(root, 'cpu'), version: 1 }
    : undefined;
}

/**
 * Gives each process at most `cores` of a processor, whatever else the machine has, until it ends. Undefined where this program may not
 * make control groups: not on Linux, or not as root.
 */
export function openCpuLimits(
  cores: number,
): (Disposable & { readonly limit: (name: string, pid: number) => void }) | undefined {
  const groups = rootOfGroups();
  if (!groups || process.getuid?.() !== 0) return undefined;
  const folders = new Set<string>();
  const quota = String(Math.round(cores * periodMicros));
  return {
    limit: (name, pid) => {
      const folder = path.join(groups.root, `longwave-bench-${process.pid}-${name}`);
      folders.add(folder);
      mkdirSync(folder, { recursive: true });
      const [file, text] = groups.version === 2 ? ['cpu.max', `${quota} ${periodMicros}`] : ['cpu.cfs_quota_us', quota];
      writeFileSync(path.join(folder, file), text);
      writeFileSync(path.join(folder, 'cgroup.procs'), String(pid));
    },
    // A group can be removed when its processes have ended.
    [Symbol.dispose]: () => folders.forEach((folder) => rmdirSync(folder)),
  };
}
