import { randomUUID } from 'node:crypto';
import type { Person } from '@longwave/test-kit/clients';

/** Makes every credential that the settings offer, in the account in which the person works; answers their texts. */
export async function makeCredentials({ browser }: Pick<Person, 'browser'>) {
  const make = async (form: string, fields: Readonly<Record<string, string>>) => {
    const { body } = await browser.post(
      `/settings/api/${form}`,
      { once: randomUUID(), ...fields },
      {},
      '/settings/api',
    );
    return /(?:lw_key|svc_pat|svc_mcp)_[\w-]{43}/.exec(body)![0];
  };
  return {
    apiKey: await make('key', {}),
    legacyToken: await make('token', { name: 'Legacy', scope: 'read_write' }),
    agentToken: await make('agent', { agent: 'Agent' }),
  };
}
