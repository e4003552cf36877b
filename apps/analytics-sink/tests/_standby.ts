import { execFileSync } from 'node:child_process';
import { appendFileSync, chownSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { removeDataFolder, startEmbeddedPostgres, temporaryDataFolder } from '@longwave/fleet';
import pg from 'pg';

const password = 'test-only';

type Server = Awaited<ReturnType<typeof startEmbeddedPostgres>>;

export interface Standby extends AsyncDisposable {
  readonly primary: Server;
  /** Follows the write-ahead log of the primary. */
  readonly replica: Server;
}

/** Copies the cluster of a running server as a standby of it (PostgreSQL, 25.3.2 and 26.2.4). */
async function copyCluster(primary: Server, cluster: string): Promise<void> {
  const client = new pg.Client({ connectionString: primary.adminUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ data_directory: string }>('show data_directory');
    const source = rows[0]!.data_directory;
    await client.query(`select pg_backup_start('standby', true)`);
    mkdirSync(path.dirname(cluster), { recursive: true });
    execFileSync('cp', ['-a', source, cluster]);
    const stopped = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)');
    rmSync(path.join(cluster, 'postmaster.pid'));
    const { uid, gid } = statSync(cluster);
    const addFile = (name: string, content: string) => {
      writeFileSync(path.join(cluster, name), content);
      chownSync(path.join(cluster, name), uid, gid);
    };
    addFile('backup_label', stopped.rows[0]!.labelfile);
    addFile('standby.signal', '');
    const { hostname, port, username } = new URL(primary.adminUrl);
    const address = `host=${hostname} port=${port} user=${username} password=${password}`;
    appendFileSync(path.join(cluster, 'postgresql.auto.conf'), `primary_conninfo = '${address}'\n`);
  } finally {
    await client.end();
  }
}

/** Starts a primary and a standby of it. */
export async function startStandby(): Promise<Standby> {
  await using stack = new AsyncDisposableStack();
  const folders = [0, 1].map(() => stack.adopt(temporaryDataFolder(), removeDataFolder));
  const start = async (folder: (typeof folders)[number]) => {
    const engine = await startEmbeddedPostgres({
      ...{ folder: folder.postgres, password, mode: 'durable' },
      ...{ logFile: folder.logFile('postgres'), pidFolder: folder.pids },
    });
    return stack.adopt(engine, (it) => it.stop());
  };
  const primary = await start(folders[0]!);
  await copyCluster(primary, path.join(folders[1]!.postgres, 'cluster'));
  const replica = await start(folders[1]!);
  const running = stack.move();
  return { primary, replica, [Symbol.asyncDispose]: () => running.disposeAsync() };
}
