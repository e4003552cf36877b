import type { IdentityFiles } from './development-ca.ts';

/** A quarter of the machine's memory, at most 1 GiB: streams are archived, so the bus needs far less. */
export const redisMemoryBytes = (totalBytes: number): number => Math.min(1024 ** 3, Math.floor(totalBytes / 4));

export interface RedisConfiguration {
  readonly folder: string;
  readonly port: number;
  /** An address of the machine, or `*`. */
  readonly bind: string;
  /** Of the default user, who may do everything. One word of letters, digits, _ and -. */
  readonly password: string;
  /** Further users: `user` lines. */
  readonly users: readonly string[];
  readonly databases: number;
  /** Above it, Redis refuses what adds to its data, and evicts nothing. Without it there is no bound. */
  readonly maxMemoryBytes: number | undefined;
  /** `durable` acknowledges a command when a log on the disk has it; `fast` keeps nothing. */
  readonly mode: 'durable' | 'fast';
  /** With it, connections are TLS and no others are taken; clients need no certificate. */
  readonly tls?: IdentityFiles | undefined;
}

/** The text of redis.conf (Redis 7 or newer). Throws for a password that would be more than a word there, as in a backup that was altered. */
export function renderRedisConfiguration(wanted: RedisConfiguration): string {
  const { folder, port, bind, password, users, databases, maxMemoryBytes, mode, tls } = wanted;
  if (!/^[\w-]+$/.test(password))
    throw new Error('The password of Redis must be one word of letters, digits, _ and -.');
  const lines = [
    ...(tls === undefined
      ? [`port ${port}`]
      : [
          ...['port 0', `tls-port ${port}`, `tls-ca-cert-file "${tls.ca}"`, `tls-cert-file "${tls.cert}"`],
          ...[`tls-key-file "${tls.key}"`, 'tls-auth-clients no'],
        ]),
    ...[`bind ${bind}`, `dir "${folder}"`, `requirepass ${password}`],
    ...[`databases ${databases}`, 'save ""', 'daemonize no', 'loglevel warning'],
    ...users,
    ...(maxMemoryBytes === undefined ? [] : [`maxmemory ${maxMemoryBytes}`, 'maxmemory-policy noeviction']),
    ...(mode === 'durable' ? ['appendonly yes', 'appendfsync always'] : ['appendonly no']),
  ];
  return `${lines.join('\n')}\n`;
}
