import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import express from 'express';
import { serveProtectedResource, type OperatorPages } from './protected-resource.ts';

const api = {
  resource: 'https://api.example/v1',
  name: 'Things',
  issuer: 'https://example.com',
  scopes: ['things:read'],
  documentation: 'https://example.com/docs',
};

async function metadataWith(pages: OperatorPages): Promise<unknown> {
  const server = createServer(express().get('/', serveProtectedResource(api, pages))).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  server.close();
  return answer.json();
}

const known = {
  resource: 'https://api.example/v1',
  resource_name: 'Things',
  authorization_servers: ['https://example.com'],
  scopes_supported: ['things:read'],
  bearer_methods_supported: ['header'],
  resource_documentation: 'https://example.com/docs',
};

test.each([
  ['no page when the operator has none', {}, {}],
  ['the policy alone', { POLICY_URL: 'https://a.example/p' }, { resource_policy_uri: 'https://a.example/p' }],
  [
    'policy and terms',
    { POLICY_URL: 'https://a.example/p', TERMS_URL: 'https://a.example/t' },
    { resource_policy_uri: 'https://a.example/p', resource_tos_uri: 'https://a.example/t' },
  ],
])('the metadata of a resource name %s', async (_name, pages, named) => {
  expect(await metadataWith(pages)).toEqual({ ...known, ...named });
});
