import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { namesOf, services } from '../src/index.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const names = namesOf(services);

/** The texts of files, without tests and generated code. */
const read = (...patterns: string[]): string =>
  globSync(patterns, { cwd: root, exclude: ['**/*.test.ts', '**/tests/**', '**/generated/**'] })
    .map((file) => readFileSync(path.join(root, file), 'utf8'))
    .join('\n');

/** RPC services of a library, which an app serves by calling the function. */
const sharedServices = { receiptService: 'libs/command-pipeline/src/read/receipt-service.ts' };

/** An app with the libraries that call other services for it, and those that answer for it. */
function sourceOf(name: string): string {
  const own = read(`apps/${name}/src/**/*.ts`);
  const shared = Object.entries(sharedServices).filter(([named]) => own.includes(`${named}({`));
  const app = [own, ...shared.map(([, file]) => read(file))].join('\n');
  const clients = ['hosting-client', 'podcast-analytics', 'http-kit/verify-under-lease', 'worker-kit/jobs']
    .filter((library) => app.includes(`'@longwave/${library}'`))
    .map((library) => library.split('/')[0]);
  return [app, ...clients.map((library) => read(`libs/${library}/src/**/*.ts`))].join('\n');
}

const sources = new Map<string, string>([
  ...names.map((name) => [name, sourceOf(name)] as const),
  ['operator', read('libs/test-kit/src/**/*.ts')],
]);

/** All that a pattern's first group matches, each once, sorted. */
const find = (text: string, pattern: RegExp): string[] =>
  [...new Set([...text.matchAll(pattern)].map(([, found = '']) => found))].sort();

/** Every RPC of `proto/` as “Service.Method”. */
const rpcs = read('proto/**/*.proto')
  .split(/^service /m)
  .slice(1)
  .flatMap((text) => find(text, /^ {2}rpc (\w+)/gm).map((rpc) => `${/^\w+/.exec(text)![0]}.${rpc}`));

/** Whether a program opens a client of the service and uses the method, by name or by taking the client apart. */
function isCalledIn(source: string, rpc: string): boolean {
  const [service = '', name = ''] = rpc.split('.');
  const method = name.charAt(0).toLowerCase() + name.slice(1);
  if (!source.includes(`.client(${service}Service)`)) return false;
  const parts = find(source, new RegExp(`\\{([^}]*)\\} = \\w+\\.client\\(${service}Service\\)`, 'g'));
  return new RegExp(`\\.${method}\\b`).test(source) || parts.some((part) => part.split(/\W+/).includes(method));
}

/** What carries the calls of others calls its own method by itself. */
const transport = read('libs/rpc/src/**/*.ts');
const isOfTransport = (rpc: string): boolean => {
  const [service = '', name = ''] = rpc.split('.');
  return transport.includes(`${service}Service.${name.charAt(0).toLowerCase()}${name.slice(1)};`);
};

const pages = read('docs/services/*.md').split('\n');

/** Whether the page of a service offers the RPC to the operator, who calls it by a gRPC client of their own. */
const isOfferedToOperator = (rpc: string): boolean =>
  pages.some((line) => line.includes(`\`${rpc.split('.')[1]}\``) && line.includes('operator'));

test('proto/ declares RPCs', () => expect(rpcs.length).toBeGreaterThan(20));

test.each(rpcs)(
  '%s is called by a service, the transport or an operator command, or its page offers it to the operator',
  (rpc) => {
    const callers = [...sources].filter(([, source]) => isCalledIn(source, rpc)).map(([name]) => name);
    expect([callers.length > 0, isOfTransport(rpc), isOfferedToOperator(rpc)]).toContain(true);
  },
);

test.each(names)('%s opens channels to exactly the services that its entry calls', (name) => {
  expect(find(sources.get(name)!, /openChannel\([^,()]+, '([\w-]+)'/g)).toEqual([...services[name].calls].sort());
});

test.each(names)(
  'what %s asks of other services, they serve, and every service it calls is asked something',
  (name) => {
    const served = new Map(
      services[name].calls.map((called) => [called, find(sources.get(called)!, /rpcService\(\s*(\w+)/g)]),
    );
    const asked = find(sources.get(name)!, /\.client\((\w+)\)/g);
    expect([...served.values()].flat()).toEqual(expect.arrayContaining(asked));
    for (const [, definitions] of served) expect(definitions.filter((one) => asked.includes(one))).not.toEqual([]);
  },
);
