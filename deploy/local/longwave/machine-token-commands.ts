import path from 'node:path';
import { addAccessTokenKey } from '@longwave/fleet';
import { needed, UsageError, type OperatorCommand } from './command.ts';

const dayMs = 86_400_000;
const defaultDays = '90';

/** Access tokens of machine clients, for the Audience Analytics Sink API. Their text is shown once and stored nowhere. */
export const machineTokenCommands: readonly OperatorCommand[] = [
  {
    name: 'machine-token create',
    usage: '--producer NAME --workspace WS[,WS…] [--scope audience:write,audience:read] [--days N]',
    summary: `an access token to the Audience Analytics Sink API, shown once; valid for ${defaultDays} days by default`,
    run: async (operator, options) => {
      const days = Number(options['days'] ?? defaultDays);
      if (!Number.isInteger(days) || days < 1) throw new UsageError('--days must be a whole number of days.');
      const { record, token } = await operator.issueMachineToken({
        producer: needed(options, 'producer'),
        workspaces: needed(options, 'workspace').split(','),
        ...(options['scope'] && { scopes: options['scope'].split(',') }),
        expires_at: new Date(Date.now() + days * dayMs).toISOString(),
      });
      return { token_id: record.id, ...record.attributes, token };
    },
  },
  {
    name: 'machine-token list',
    usage: '',
    summary: 'every machine token that was issued, without its text, oldest first',
    run: async (operator) => {
      const found = await operator.identityList(undefined, 'machine_tokens');
      return found.map(({ id, lifecycle_state: state, attributes }) => ({ token_id: id, state, ...attributes }));
    },
  },
  {
    name: 'machine-token revoke',
    usage: '--token MTK',
    summary: 'ends a machine token for good',
    run: (operator, options) => operator.changeIdentity(needed(options, 'token'), 'machine_token.revoke', {}),
  },
  {
    name: 'token-key add',
    usage: '',
    summary: 'a new key that signs access tokens from now on; tokens of older keys stay valid',
    run: async (_operator, _options, { dataFolder }) => ({ kid: addAccessTokenKey(path.join(dataFolder, 'secrets')) }),
  },
];
