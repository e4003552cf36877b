import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { namesOf, services, type ServiceEntry } from '../src/index.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const names = namesOf(services);

test('every service is an app that is built from a main.ts, and every such app is a service', () => {
  const built = readdirSync(path.join(root, 'apps')).filter((app) => {
    const file = path.join(root, 'apps', app, 'package.json');
    if (!existsSync(file) || !existsSync(path.join(root, 'apps', app, 'src/main.ts'))) return false;
    const { nx } = JSON.parse(readFileSync(file, 'utf8')) as { nx: { targets: Readonly<Record<string, unknown>> } };
    return 'build' in nx.targets;
  });
  expect(built).toEqual([...names].sort());
});

test('a service owns a schema exactly when its app has tables and migrations that make them, and no two own the same', () => {
  const owners = names.filter((name) => services[name].schema !== undefined);
  const ownersOf = (pattern: string) =>
    names.filter((name) => globSync(`apps/${name}/prisma/${pattern}`, { cwd: root }).length > 0);
  expect({ tables: owners, migrations: owners }).toEqual({
    tables: ownersOf('schema.prisma'),
    migrations: ownersOf('migrations/*/migration.sql'),
  });
  expect(new Set(owners.map((name) => services[name].schema)).size).toBe(owners.length);
});

test.each(names)('%s calls services that answer, and never itself', (name) => {
  for (const called of services[name].calls) {
    expect(called).not.toBe(name);
    expect(services[called].grpc).toBe(true);
  }
});

test.each(names)('every file that %s reads is in the repository, or what the build of an app makes', (name) => {
  const files = Object.values<string>(services[name].files ?? {}).filter((file) => !/^apps\/[\w-]+\/dist$/.test(file));
  for (const file of files) expect(existsSync(path.join(root, file))).toBe(true);
});

test.each(names)('%s reaches the internet exactly when its configuration names addresses outside', (name) => {
  const source = readFileSync(path.join(root, 'apps', name, 'src/config.ts'), 'utf8');
  expect(/\bfetchConfig\b|\bMAIL_URL\b|\bWEBSUB_HUB\b/.test(source)).toBe(services[name].reachesInternet ?? false);
});

test.each(names)('the lasting folders of %s are among its folders', (name) => {
  expect(Object.keys(services[name].folders ?? {})).toEqual(
    expect.arrayContaining([...(services[name].lastingFolders ?? [])]),
  );
});

test.each(names)(
  '%s is on the maps of README.md and docs/ARCHITECTURE.md, has a page and a line in the picture of npm start',
  (name) => {
    const has = (file: string, line: string) =>
      existsSync(path.join(root, file)) && new RegExp(line, 'm').test(readFileSync(path.join(root, file), 'utf8'));
    const places = {
      'README.md': `^(?:apps/| {5}) +${name} {2,}\\S`,
      'docs/ARCHITECTURE.md': `^\\| .*\`apps/${name}\`.* \\|`,
      [`docs/services/${name}.md`]: `^# ${name}$`,
      'docs/images/npm-start.txt': `^✓ ${name} +[\\d.]+ m?s   ready$`,
    };
    expect(Object.keys(places).filter((file) => !has(file, places[file]!))).toEqual([]);
  },
);

/** The names in code style of a table cell, sorted. */
const wordsOf = (cell: string) => [...new Set(cell.match(/`[^`]+`/g) ?? [])].map((word) => word.slice(1, -1)).sort();

/** Prefixes that may be written, or, when everything else may be, those that may not. */
function writtenPrefixes({ objects = {} }: ServiceEntry): readonly string[] {
  const others = objects['']?.includes('write') ?? false;
  return Object.keys(objects).filter((prefix) => prefix !== '' && objects[prefix]!.includes('write') !== others);
}

test.each(names)('docs/engines.md states the login and the rights of %s', (name) => {
  const lines = readFileSync(path.join(root, 'docs/engines.md'), 'utf8').split('\n');
  const row = lines.find((line) => line.startsWith(`| ${name} `));
  expect(row ?? 'its row is missing').toContain('|');
  const [, , database = '', own = '', bus = '', objects = ''] = row!.split('|');
  const { schema, redis: { keys = [], channels = [], publishes = [], follows = [] } = {}, ...entry } = services[name];
  expect(wordsOf(database)).toEqual(schema === undefined ? [] : [schema, `longwave_${schema}`].sort());
  expect(wordsOf(own)).toEqual([...new Set([...keys, ...channels])].sort());
  expect(wordsOf(bus)).toEqual([...new Set([...publishes, ...follows.map(([topic]) => topic)])].sort());
  expect(wordsOf(objects)).toEqual([...writtenPrefixes(services[name])].sort());
  expect(objects.includes('no key')).toBe(entry.objects === undefined);
});

/** Paths of `{base_url}` that belong to no page of the web application, which has all others. */
const reserved = [
  ...['/api', '/api-docs', '/management', '/oauth', '/.well-known'],
  ...['/sign-in', '/sign-up', '/sign-out', '/settings', '/assets'],
];

test.each(names)('%s answers only reserved paths of {base_url}, or all that nobody else answers', (name) => {
  const prefixes = services[name].http?.base ?? [];
  const isReserved = (prefix: string) => reserved.some((each) => prefix === each || prefix.startsWith(`${each}/`));
  expect(prefixes.filter((prefix) => prefix !== '' && !isReserved(prefix))).toEqual([]);
});
