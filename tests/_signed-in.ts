import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { newId } from '@longwave/ids';
import { getAccessToken, registerConnector, type Person } from '@longwave/test-kit/clients';
import type { Installation } from './_fleet.ts';

/** A token of a person for these scopes of the Management API. */
export async function managementToken(
  world: Installation,
  person: Person,
  scopes: readonly string[] = ['management:read', 'management:write'],
): Promise<string> {
  const { base, api } = world.fleet.urls;
  const clientId = await registerConnector(world);
  return getAccessToken(person, { base, clientId, resource: `${api}/management/v1`, scopes });
}

/** The first workspace that the holder of a token sees. */
export async function workspaceOf(world: Installation, token: string): Promise<string> {
  const answer = await fetch(`${world.fleet.urls.api}/management/v1/workspaces`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const { rows } = (await answer.json()) as { readonly rows: readonly { readonly id: string }[] };
  return rows[0]!.id;
}

/** The settings folder of somebody who has run `longwave login --for management`. */
export async function signedIn(world: Installation, person: Person): Promise<string> {
  const { base, api } = world.fleet.urls;
  const session = {
    ...{ issuer: base, resource: `${api}/management/v1`, scope: 'management:read management:write' },
    access_token: await managementToken(world, person),
    expires_at: new Date(Date.now() + 14 * 60_000).toISOString(),
  };
  const settings = path.join(world.folder, newId('req'));
  mkdirSync(path.join(settings, 'longwave'), { recursive: true });
  writeFileSync(path.join(settings, 'longwave/sign-in.json'), JSON.stringify({ management: session }), { mode: 0o600 });
  return settings;
}
