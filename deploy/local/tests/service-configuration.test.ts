import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { workspaceRoot } from '@longwave/fleet/running';
import { namesOf, services, type ServiceName } from '@longwave/services';

/** What a service says of an environment. */
async function refusalOf(service: ServiceName, environment: Readonly<Record<string, string>>): Promise<string> {
  const { readConfiguration } = (await import(path.join(workspaceRoot, 'apps', service, 'src/config.ts'))) as {
    readonly readConfiguration: (environment: Readonly<Record<string, string>>) => object;
  };
  try {
    readConfiguration(environment);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error(`${service} accepts an environment without its required variables`);
}

describe.each(namesOf(services))('%s', (service) => {
  test('refuses to start with a public address of a port for the installation itself', async () => {
    const ports = ['HEALTH_LISTEN', ...(services[service].grpc ? ['GRPC_LISTEN'] : [])];
    const at = (address: string) => refusalOf(service, Object.fromEntries(ports.map((port) => [port, address])));
    for (const address of ['8.8.8.8:9000', '[2606:4700::1111]:9000', '0.0.0.0:9000', 'serving.internal:9000'])
      for (const port of ports) expect(await at(address)).toContain(`  ${port}: this port is not for the public`);
    expect(await at('10.0.0.1:9000')).not.toContain('not for the public');
  });
});

test.each(namesOf(services).filter((service) => services[service].http !== undefined))(
  '%s, which has a public port, refuses to speak the PROXY protocol where nobody is trusted',
  async (service) => {
    const fault = '  PROXY_PROTOCOL: expected TRUSTED_PROXIES too';
    expect(await refusalOf(service, { PROXY_PROTOCOL: 'on' })).toContain(fault);
    expect(await refusalOf(service, { PROXY_PROTOCOL: 'on', TRUSTED_PROXIES: '10.0.0.2' })).not.toContain(fault);
  },
);

test('each pair of the four public addresses is refused by some service when they share a host name', async () => {
  const addresses = ['BASE_URL', 'MCP_URL', 'API_URL', 'MEDIA_URL'];
  const pairs = addresses.flatMap((one, at) => addresses.slice(at + 1).map((other) => [one, other] as const));
  for (const [one, other] of pairs) {
    const environment = { [one]: 'https://pod.example', [other]: 'https://pod.example:8443' };
    const refusals = await Promise.all(namesOf(services).map((service) => refusalOf(service, environment)));
    expect(refusals.join('\n')).toContain(`${other}: shares the host name pod.example with ${one}`);
  }
});
