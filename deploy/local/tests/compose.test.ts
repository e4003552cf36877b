import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseEnv } from 'node:util';
import { afterAll, beforeAll, expect } from '@jest/globals';
import { privateLog, workspaceRoot } from '@longwave/fleet';
import { addressVariableOf, chartServices, namesOf, secretsInFiles, services } from '@longwave/services';
import { writeServerSecrets } from '../server-secrets.ts';
import { composeModel, readCompose, withComposeModel } from './_compose.ts';

const names = namesOf(services);
const owners = names.filter((name) => services[name].schema !== undefined);
const engines = ['postgres', 'redis', 'objects', 'kafka'] as const;

const secrets = mkdtempSync(path.join(tmpdir(), 'longwave-server-secrets-'));
beforeAll(() => writeServerSecrets(secrets, new Date()));
afterAll(() => rmSync(secrets, { recursive: true }));

/** `readConfiguration` of a service. The path is computed, because no project imports an app. */
async function configurationOf(name: string) {
  const file = path.join(workspaceRoot, 'apps', name, 'src/config.ts');
  return (await import(file)) as { readConfiguration: (environment: Readonly<Record<string, string>>) => object };
}

/** The variables of a container: those of the files that Node reads, and over them those of the compose file. */
function environmentOf(name: string): Record<string, string> {
  const { command, environment, secrets: mounted = [] } = composeModel().services[name]!;
  const files = (command ?? []).flatMap((each) => /^--env-file=\/run\/secrets\/(.*)$/.exec(each)?.[1] ?? []);
  const texts = files.map((target) => {
    const { source } = mounted.find((each) => path.basename(each.target) === target)!;
    return parseEnv(readFileSync(path.join(secrets, source), 'utf8')) as Record<string, string>;
  });
  return Object.assign({}, ...texts, environment) as Record<string, string>;
}

const networksOf = (name: string) => Object.keys(composeModel().services[name]!.networks ?? {});

withComposeModel('Docker Compose reads the file, also without Kafka, and says which variable is missing', () => {
  expect(readCompose().stderr).toBe('');
  expect(readCompose({ LONGWAVE_DOMAIN: '' }).stderr).toContain(
    'required variable LONGWAVE_DOMAIN is missing a value: your domain, as in .env.example',
  );
  expect(readCompose({ NODE_DIGEST: '' }).stderr).toContain('required variable NODE_DIGEST is missing a value');
});

withComposeModel(
  'every service of the manifest runs, and accepts the environment that its container gives it',
  async () => {
    const example = parseEnv(readFileSync(path.join(workspaceRoot, 'deploy/server/.env.example'), 'utf8'));
    expect(Object.keys(example)).toEqual(['LONGWAVE_DOMAIN', 'NODE_DIGEST']);
    for (const name of names) {
      const { readConfiguration } = await configurationOf(name);
      expect(readConfiguration(environmentOf(name))).toMatchObject({ HEALTH_LISTEN: '0.0.0.0:9090' });
      expect(composeModel().services[name]).toMatchObject({
        build: { args: { APP: name } },
        restart: 'unless-stopped',
      });
      expect(composeModel().services[name]!.command?.at(-1)).toBe(`apps/${name}/dist/main.js`);
    }
  },
);

withComposeModel(
  'a service that has a secret less is refused, so that accepted environments are complete',
  async () => {
    for (const name of names.filter((each) => services[each].secrets.length > 0)) {
      const { readConfiguration } = await configurationOf(name);
      const { [services[name].secrets[0]!]: _missing, ...others } = environmentOf(name);
      expect(() => readConfiguration(others)).toThrow(services[name].secrets[0]!);
    }
  },
);

withComposeModel(
  'each container mounts the secrets that the manifest names for its service, and nothing of others',
  () => {
    for (const name of names) {
      const mounted = composeModel().services[name]!.secrets!.map(({ source }) => source);
      const files = services[name].secrets.filter((secret) => secretsInFiles.includes(secret));
      const own = [
        `${name}.env`,
        `${name}.pem`,
        `${name}.key`,
        'ca.pem',
        ...(name === 'auth-server' ? ['mail.env'] : []),
      ];
      expect([name, mounted.toSorted()]).toEqual([name, [...own, ...files].toSorted()]);
      const login = parseEnv(readFileSync(path.join(secrets, `${name}.env`), 'utf8'));
      const texts = services[name].secrets.filter((secret) => !secretsInFiles.includes(secret));
      const { schema, redis, objects } = services[name];
      expect(Object.keys(login).toSorted()).toEqual(
        [
          ...(schema ? ['DATABASE_URL'] : []),
          ...(redis ? ['REDIS_URL'] : []),
          ...(objects ? ['S3_ACCESS_KEY', 'S3_SECRET_KEY'] : []),
          ...texts,
        ].toSorted(),
      );
    }
  },
);

withComposeModel('the command makes exactly the files of secrets that the containers mount', () => {
  const { services: containers, secrets: declared } = composeModel();
  const mounted = Object.values(containers).flatMap((each) => (each.secrets ?? []).map(({ source }) => source));
  expect([...new Set(mounted)].toSorted()).toEqual(Object.keys(declared).toSorted());
  expect(
    Object.values(declared)
      .map(({ file }) => path.basename(file))
      .toSorted(),
  ).toEqual(
    readdirSync(secrets)
      .filter((name) => name !== 'kept')
      .toSorted(),
  );
});

withComposeModel(
  'a service is in the network of each service that it calls and of each engine that it uses, in its own with its callers, and in no other',
  () => {
    const { networks } = composeModel();
    for (const name of names) {
      const { schema, redis, objects, http, reachesInternet, calls } = services[name];
      for (const called of names)
        expect([name, called, networksOf(name).includes(`to-${called}`)]).toEqual([
          name,
          called,
          calls.includes(called) || (called === name && names.some((each) => services[each].calls.includes(name))),
        ]);
      expect([name, networksOf(name).includes('postgres')]).toEqual([name, schema !== undefined]);
      expect([name, networksOf(name).includes('redis')]).toEqual([name, redis !== undefined]);
      expect([name, networksOf(name).includes('objects')]).toEqual([name, objects !== undefined]);
      const { bus } = chartServices(services).find((each) => each.name === name)!;
      expect([name, networksOf(name).includes('kafka')]).toEqual([name, bus]);
      expect([name, networksOf(name).includes('web')]).toEqual([name, http !== undefined]);
      expect([name, networksOf(name).includes('internet')]).toEqual([name, reachesInternet === true]);
      for (const called of calls) expect(environmentOf(name)[addressVariableOf(called)]).toBe(`${called}:8443`);
    }
    const open = Object.keys(networks).filter((network) => !networks[network]!.internal);
    expect(open.toSorted()).toEqual(['front', 'internet']);
    for (const engine of engines)
      expect(networksOf(engine)).toEqual(engine === 'objects' ? ['objects', 'web'] : [engine]);
  },
);

withComposeModel('PostgreSQL logs neither statements nor details of queries that fail, as that of one machine', () => {
  const { command } = composeModel().services['postgres']!;
  const given = command!.filter((_, at) => command![at - 1] === '-c');
  expect(given).toEqual(expect.arrayContaining([...privateLog]));
});

withComposeModel('Caddy alone has published ports', () => {
  const published = Object.entries(composeModel().services).flatMap(([name, { ports = [] }]) =>
    ports.map(({ published: port }) => `${name} ${port}`),
  );
  expect(published).toEqual(['caddy 80', 'caddy 443']);
});

withComposeModel(
  'containers are nobody’s, change no file of their image, may do nothing to the machine and have bounded logs',
  () => {
    for (const [name, container] of Object.entries(composeModel().services)) {
      expect([name, container]).toMatchObject([name, { cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] }]);
      expect([name, container.read_only === true]).toEqual([name, name !== 'kafka']);
      expect([name, container.user]).toEqual([
        name,
        name === 'kafka' ? undefined : name === 'folders' ? '0:0' : '10001:10001',
      ]);
      expect([name, container.cap_add ?? []]).toEqual([
        name,
        { folders: ['CHOWN'], caddy: ['NET_BIND_SERVICE'] }[name] ?? [],
      ]);
      if (name !== 'folders')
        expect([name, container.logging]).toMatchObject([name, { driver: 'local', options: { 'max-size': '50m' } }]);
    }
  },
);

withComposeModel('what runs for ever has a health check, and nothing waits for the mere start of something', () => {
  for (const [name, { restart, healthcheck, depends_on: waits = {} }] of Object.entries(composeModel().services)) {
    expect([name, healthcheck !== undefined]).toEqual([name, restart === 'unless-stopped']);
    for (const [other, { condition }] of Object.entries(waits))
      expect([name, other, condition]).toEqual([
        name,
        other,
        composeModel().services[other]!.restart === 'unless-stopped'
          ? 'service_healthy'
          : 'service_completed_successfully',
      ]);
  }
});

withComposeModel(
  'a service waits for its migrations and its engines, migrations for their roles, and Caddy for all that it reaches',
  () => {
    const waitsOf = (name: string) => Object.keys(composeModel().services[name]!.depends_on ?? {});
    for (const name of names) {
      const { schema, redis, objects } = services[name];
      const engine = [...(redis ? ['redis'] : []), ...(objects ? ['objects', 'provision'] : [])];
      expect(waitsOf(name)).toEqual(expect.arrayContaining([...(schema ? [`${name}-migration`] : []), ...engine]));
    }
    for (const name of owners) {
      const { schema } = services[name];
      const { command, secrets: mounted } = composeModel().services[`${name}-migration`]!;
      expect(waitsOf(`${name}-migration`)).toEqual(['provision']);
      expect(mounted!.map(({ source }) => source)).toEqual([`${name}-migration.env`]);
      const wanted = ['--dir', `apps/${name}/prisma`, '--schema', schema, '--service-role', `longwave_${schema}`];
      expect(command).toEqual(['--env-file=/run/secrets/login.env', 'tools/migrate.js', 'deploy', ...wanted]);
    }
    const reached = Object.keys(composeModel().services).filter((name) => networksOf(name).includes('web'));
    expect([...waitsOf('caddy'), 'caddy'].toSorted()).toEqual(reached.toSorted());
  },
);

withComposeModel(
  'every volume belongs to the user of the containers before something writes to it, and every folder lasts',
  () => {
    const { volumes, services: containers } = composeModel();
    const { command, volumes: mounted } = containers['folders']!;
    const handed = mounted!.map(({ source, target }) => [source, target]);
    expect(handed.map(([, target]) => target)).toEqual(command);
    // Kafka's image makes its folder as its own user.
    expect(handed.map(([source]) => source).toSorted()).toEqual(
      Object.keys(volumes)
        .filter((name) => name !== 'kafka')
        .toSorted(),
    );
    for (const name of names)
      for (const [variable, folder] of Object.entries(services[name].folders ?? {}))
        expect(containers[name]!.volumes).toContainEqual(
          expect.objectContaining({ type: 'volume', source: folder, target: environmentOf(name)[variable] }),
        );
  },
);
