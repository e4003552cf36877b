/**
 * Preloaded into the server: after SIGUSR2 (answered by the line `armed`) every call that changes files is counted and
 * printed, and the process kills itself right before call number CRASH_BEFORE.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const crashBefore = Number(process.env.CRASH_BEFORE);
let count = 0;
let armed = false;
let last = '';
let repeated = 0;

function watch(owner, name) {
  const original = owner[name];
  owner[name] = function (...args) {
    if (armed) {
      repeated = name === last ? repeated + 1 : 0;
      last = name;
      // The third and later writes in a row are like the second.
      if (repeated > 1) return original.apply(this, args);
      if (++count === crashBefore) process.kill(process.pid, 'SIGKILL');
      fs.writeSync(1, `${name}\n`);
    }
    return original.apply(this, args);
  };
}

const handle = await fs.promises.open(process.execPath);
for (const name of ['writeFile', 'sync']) watch(Object.getPrototypeOf(handle), name);
await handle.close();
for (const name of ['open', 'link', 'mkdir', 'rename', 'rm', 'rmdir', 'unlink']) watch(fs.promises, name);
syncBuiltinESMExports();

process.on('SIGUSR2', () => {
  armed = true;
  fs.writeSync(1, 'armed\n');
});
