import { encodingUsage, readEncodingUsage } from '@longwave/hosting-client';
import { z } from 'zod';
import { readTool } from '../tool.ts';

/** Null is unlimited. */
const bound = z.int().nullable();

export const getAccount = readTool({
  name: 'get_account',
  title: 'Show the account',
  description:
    'Shows the account that the token acts for: its name, its plan, what the plan includes, the encoding time that is left this month, and the scopes of the token.',
  scopes: ['mcp:read'],
  input: z.strictObject({}),
  output: z.strictObject({
    id: z.string(),
    name: z.string(),
    workspace_id: z.string(),
    plan: z.strictObject({ name: z.string(), analytics: z.boolean(), history_days: bound }),
    encoding: encodingUsage,
    requests_per_minute: z.int(),
    scopes: z.array(z.string()),
  }),
  run: async ({ asker, scopes }, { management, identity }) => {
    const { accountId, workspaceId, plan } = asker;
    const [{ name }, encoding] = await Promise.all([identity.getAccount(asker), readEncodingUsage(asker, management)]);
    return {
      output: {
        id: accountId,
        name,
        workspace_id: workspaceId,
        plan: { name: plan.name, analytics: plan.includesAnalytics, history_days: plan.historyDays ?? null },
        encoding,
        requests_per_minute: plan.requestsPerMinute,
        scopes: [...scopes],
      },
    };
  },
});
