import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { productCatalog } from '@longwave/command-catalog';
import { rowsDigestOf, type Message } from '@longwave/exchange-messages';
import { newId } from '@longwave/ids';
import { commandChanges } from '../src/accepted-command.ts';
import { revocationBody, snapshotBody } from './_exchange.ts';

const kid = newId('key');
const digest = `sha256:${'d'.repeat(64)}`;
const place = {
  ...{ workspace_id: newId('ws'), authority_id: newId('agr'), stream_id: 'show:1234', seq: 1, prev: null },
  ...{ event_id: '0b6f8f5e-3c2e-4a8e-9d51-2f6a54f0c1aa', issued_at: '2026-11-25T12:00:00Z' },
};
const subject = <T extends string>(type: T) => ({ type, source_id: 'ep-1', source_version: 1 });
const rows = [{ source_id: 'ep-1', at: '2026-11-20T00:00:00Z', downloads: 7 }];

const messages: readonly (readonly [command: string, message: Message])[] = [
  [
    'content_snapshot.accept',
    { ...place, schema: 'content-snapshot/1', subject: subject('episode'), body: { ...snapshotBody(), x: { a: 1 } } },
  ],
  [
    'content_revocation.accept',
    { ...place, schema: 'content-revocation/1', subject: subject('episode'), body: revocationBody },
  ],
  [
    'surface_capability.declare',
    {
      ...{ ...place, schema: 'surface-capability/1', subject: subject('surface') },
      body: {
        ...{ surface_id: 'web', protocols: ['progressive'], interstitials: 'none', ranges: true, max_redirects: 5 },
        ...{ ads_video: false, client_events: 'none', measurement: 'server_log', personalisation: 'per_download' },
        offline_audio: false,
      },
    },
  ],
  [
    'delivery_alias.register',
    {
      ...{ ...place, schema: 'delivery-alias/1', subject: subject('alias') },
      body: {
        ...{ alias: 'one', host: 'northern', path_slug: 'one', target: { type: 'episode', source_id: 'ep-1' } },
        route_policy: { surface_id: 'web', route: 'platform_controlled', when_unavailable: 'source' },
        ...{ state: 'active', supersedes_version: null },
      },
    },
  ],
  [
    'platform_evidence.accept',
    {
      ...{ ...place, schema: 'platform-evidence/1', subject: subject('evidence') },
      body: {
        ...{ source_label: 'North', platform: 'north', kind: 'delivery', granularity: 'day', revision: 1 },
        period: { start: '2026-11-20T00:00:00Z', end: '2026-11-21T00:00:00Z' },
        ...{ rows_digest: rowsDigestOf(rows), rows, method_note: 'Requests.', finality: 'final', x: { a: 1 } },
      },
    },
  ],
];

describe('the command of a message is one that the catalog takes', () => {
  test.each(messages)('%s', (command, message) => {
    const { changes } = productCatalog.commands[command as keyof typeof productCatalog.commands];
    expect(changes.safeParse(commandChanges(message, { kid, digest })).error).toBeUndefined();
  });

  test('authority_grant.record_rotation', () => {
    const body = {
      retire_kid: newId('key'),
      successor_kid: kid,
      overlap_until: '2026-12-01T00:00:00Z',
      cause: 'Yearly.',
    };
    const message: Message = { ...place, schema: 'authority-rotation/1', subject: subject('authority'), body };
    const { changes } = productCatalog.commands['authority_grant.record_rotation'];
    expect(changes.safeParse(commandChanges(message, { kid, digest })).error).toBeUndefined();
  });
});

test('the package needs no other Longwave library than that of the messages', () => {
  const folder = path.join(import.meta.dirname, '../src');
  const imported = readdirSync(folder).flatMap((file) =>
    [...readFileSync(path.join(folder, file), 'utf8').matchAll(/from '(@longwave\/[^']+)'/g)].map(([, name]) => name),
  );
  expect([...new Set(imported)]).toEqual(['@longwave/exchange-messages']);
});
