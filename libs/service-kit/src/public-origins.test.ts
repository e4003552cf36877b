import { expect, test } from '@jest/globals';
import { publicOriginFaults } from './public-origins.ts';

const variablesOf = (environment: Record<string, string>) => publicOriginFaults(environment).map(([name]) => name);

test('public addresses with a host name each are apart', () => {
  const environment = {
    ...{ BASE_URL: 'https://pod.example', MCP_URL: 'https://mcp.pod.example', API_URL: 'https://api.pod.example' },
    ...{ MEDIA_URL: 'https://media.pod.example', S3_PUBLIC_ENDPOINT: 'https://objects.pod.example' },
  };
  expect(publicOriginFaults(environment)).toEqual([]);
});

test.each([
  ['the same address', 'https://pod.example', 'https://pod.example'],
  ['the same origin, written in another way', 'https://pod.example', 'https://POD.example:443/media/'],
  ['another port of the same name, which gets the same cookies', 'https://pod.example', 'https://pod.example:8443'],
  ['the same name without TLS', 'https://pod.example', 'http://pod.example'],
  ['the same port of this machine', 'http://localhost:8080', 'http://localhost:8080/media'],
])('%s is refused, and the sentence names both', (_case, BASE_URL, MEDIA_URL) => {
  const [[variable, fault] = []] = publicOriginFaults({ BASE_URL, MEDIA_URL });
  expect(variable).toBe('MEDIA_URL');
  expect(fault).toMatch(/^shares the host name .* with BASE_URL: give each public address a host name of its own/);
});

test('on one machine different ports are enough', () => {
  for (const host of ['localhost', '127.0.0.1', '[::1]'])
    expect(variablesOf({ BASE_URL: `http://${host}:8080`, MEDIA_URL: `http://${host}:8083` })).toEqual([]);
});

test('each pair is named, and what is no address is left to other checks', () => {
  const same = 'https://pod.example';
  expect(variablesOf({ BASE_URL: same, API_URL: same, MEDIA_URL: same })).toEqual([
    'API_URL',
    'MEDIA_URL',
    'MEDIA_URL',
  ]);
  expect(variablesOf({ BASE_URL: same, API_URL: 'pod.example' })).toEqual([]);
});
