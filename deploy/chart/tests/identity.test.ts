import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { developmentCa, openSecrets } from '@longwave/fleet';
import { chartServices, secretsInFiles, services, type SecretVariable } from '@longwave/services';
import { all, find, names, podOf, render, valuesFiles, withHelm, type PodSpec } from './_chart.ts';

interface Certificate {
  readonly spec: {
    readonly secretName: string;
    readonly commonName: string;
    readonly dnsNames: readonly string[];
    readonly ipAddresses: readonly string[];
    readonly uris: readonly string[];
    readonly usages: readonly string[];
    readonly isCA?: boolean;
    readonly privateKey: { readonly algorithm: string; readonly size: number };
    readonly issuerRef: { readonly name: string; readonly kind: string };
  };
}

/** A temporary folder for as long as `use` runs. */
async function inFolder<T>(use: (folder: string) => T | Promise<T>): Promise<T> {
  const folder = mkdtempSync(path.join(tmpdir(), 'longwave-chart-'));
  try {
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

withHelm('a certificate of the chart has the names that the development authority gives the same service', async () => {
  const manifests = render('values-small.yaml', { mutualTls: { operator: true } });
  await inFolder(async (folder) => {
    const made = await developmentCa(folder, [...names, 'operator'], new Date());
    for (const name of [...names, 'operator'] as const) {
      const { spec } = find<Certificate>(manifests, 'Certificate', `longwave-${name}`);
      const issued = [
        ...spec.dnsNames.map((each) => `DNS:${each}`),
        ...spec.uris.map((each) => `URI:${each}`),
        ...spec.ipAddresses.map((each) => `IP Address:${each}`),
      ].join(', ');
      const { subjectAltName, subject, publicKey } = new X509Certificate(readFileSync(made[name].cert));
      expect([issued, `CN=${spec.commonName}`]).toEqual([subjectAltName, subject]);
      expect(publicKey.asymmetricKeyType).toBe('ec');
      expect(spec).toMatchObject({
        usages: ['digital signature', 'server auth', 'client auth'],
        privateKey: { algorithm: 'ECDSA', size: 256 },
        issuerRef: { name: 'longwave-ca', kind: 'Issuer' },
      });
      expect(spec.isCA).toBeUndefined();
    }
  });
});

/** Every entry of a Secret that the pods of a service can read: Secret and key, or Secret alone for a whole one. */
function secretsOf({ containers, volumes }: PodSpec): readonly string[] {
  const mounted = volumes.flatMap(({ secret }) =>
    secret ? (secret.items?.map(({ key }) => `${secret.secretName}/${key}`) ?? [secret.secretName]) : [],
  );
  const read = containers[0].env.flatMap(({ valueFrom }) =>
    valueFrom?.secretKeyRef ? [`${valueFrom.secretKeyRef.name}/${valueFrom.secretKeyRef.key}`] : [],
  );
  return [...mounted, ...read].sort();
}

for (const file of valuesFiles) {
  withHelm(
    `each service reads its own certificate, its own logins and the keys of its entry, and no more, with ${file}`,
    () => {
      for (const name of names) {
        const { schema, redis, objects, secrets } = services[name];
        const { bus } = chartServices(services).find((each) => each.name === name)!;
        const logins = [
          ...(schema === undefined ? [] : ['DATABASE_URL']),
          ...(redis ? ['REDIS_URL'] : []),
          ...(bus && file === 'values-large.yaml' ? ['KAFKA_USERNAME', 'KAFKA_PASSWORD'] : []),
          ...(objects ? ['S3_ACCESS_KEY', 'S3_SECRET_KEY'] : []),
          ...(name === 'auth-server' ? ['MAIL_URL'] : []),
        ];
        const wanted = [
          `longwave-${name}-tls`,
          ...secrets.map((each) => `longwave-keys/${each}`),
          ...logins.map((each) => `longwave-${name}/${each}`),
        ].sort();
        expect([name, secretsOf(podOf(render(file), name))]).toEqual([name, wanted]);
      }
    },
  );

  withHelm(`no manifest contains a secret: every one is named, with ${file}`, () => {
    expect(all(render(file), 'Secret')).toEqual([]);
    const secret = /_(KEY|KEYS|SECRET|SECRETS|TOKEN|PASSWORD)$|_URL$/;
    const isPublic = (name: string) => /^(BASE|MCP|API|MEDIA)_URL$/.test(name);
    for (const name of names)
      for (const { name: variable, value } of podOf(render(file), name).containers[0].env)
        if (secret.test(variable) && !isPublic(variable) && value !== undefined)
          expect([variable, value]).toEqual([variable, expect.stringMatching(/^\/run\/longwave\//)]);
  });
}

test('the secrets that are files are those whose variable is a path on one machine too', () =>
  inFolder((folder) => {
    const { variables } = openSecrets(folder, services);
    const paths = Object.entries(variables).filter(([, value]) => path.isAbsolute(value));
    expect(paths.map(([variable]) => variable as SecretVariable).sort()).toEqual(secretsInFiles.toSorted());
  }));
