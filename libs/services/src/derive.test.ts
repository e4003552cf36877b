import { expect, test } from '@jest/globals';
import { addressVariableOf, callersOf, namesOf, routesOf, schemaOwners, soleServiceOf } from './derive.ts';
import type { Manifest } from './service-entry.ts';

const manifest: Manifest<'shop' | 'shop-admin' | 'clock'> = {
  shop: { grpc: true, http: { base: [''], api: ['/shop'] }, calls: ['clock'], secrets: [] },
  'shop-admin': { schema: 'admin', grpc: true, http: { api: ['/shop/admin'] }, calls: ['shop'], secrets: [] },
  clock: { grpc: true, http: { media: [''] }, calls: [], secrets: [] },
};

test('names and owners come in the order of the manifest', () => {
  expect(namesOf(manifest)).toEqual(['shop', 'shop-admin', 'clock']);
  expect(schemaOwners(manifest)).toEqual([['shop-admin', 'admin']]);
});

test('of two paths that fit, the longer one comes first', () => {
  expect(routesOf(manifest, 'api')).toEqual([
    { prefix: '/shop/admin', service: 'shop-admin' },
    { prefix: '/shop', service: 'shop' },
  ]);
  expect(routesOf(manifest, 'mcp')).toEqual([]);
});

test('a service has a host for itself when it answers every path there and nothing elsewhere', () => {
  expect(soleServiceOf(manifest, 'media')).toBe('clock');
  expect(soleServiceOf(manifest, 'base')).toBeUndefined();
  expect(soleServiceOf(manifest, 'api')).toBeUndefined();
  expect(soleServiceOf(manifest, 'mcp')).toBeUndefined();
});

test('the callers of a service are those that call it', () => {
  expect(callersOf(manifest, 'clock')).toEqual(['shop']);
  expect(callersOf(manifest, 'shop-admin')).toEqual([]);
});

test('the variable of an address is the name in capitals', () => {
  expect(addressVariableOf('shop-admin')).toBe('SHOP_ADMIN_ADDRESS');
});
