import { dataFolder } from '@longwave/fleet/running';
import { audienceScopes, producerPattern } from '@longwave/principal';
import { needed, UsageError, type OperatorCommand } from '../command.ts';

const dayMs = 86_400_000;
const defaultDays = '90';

/** Access tokens of machine clients, for the Audience Analytics Sink API. Their text is shown once and stored nowhere. */
export const machineTokenCommands: readonly OperatorCommand[] = [
  {
    name: 'machine-token create',
    summary: 'Creates an access token for the Audience Analytics Sink API. The token is shown once.',
    options: [
      {
        name: 'producer',
        value: 'NAME',
        meaning: 'name of the program or company that sends measurements: lower-case letters, digits, “.”, “_” and “-”',
      },
      {
        name: 'workspace',
        value: 'WS[,WS…]',
        idPrefix: 'ws',
        meaning: 'IDs of the workspaces it may send and read measurements of, separated by commas',
      },
      {
        name: 'scope',
        value: 'SCOPES',
        meaning: `what the token may do (default: ${audienceScopes.join(',')})`,
        optional: true,
      },
      {
        name: 'days',
        value: 'N',
        meaning: `days until the token expires (default: ${defaultDays})`,
        optional: true,
      },
    ],
    example: 'machine-token create --producer acme --workspace ws_01jcq7v8z4n2m6k9s3x5t1r0wd --days 30',
    run: async (operator, options) => {
      const days = Number(options['days'] ?? defaultDays);
      if (!Number.isInteger(days) || days < 1) throw new UsageError('--days must be a whole number of days.');
      const producer = needed(options, 'producer');
      if (!producerPattern.test(producer))
        throw new UsageError(
          '--producer must be lower-case letters, digits, “.”, “_” and “-”, at most 64, for example acme.',
        );
      const { record, token } = await operator.issueMachineToken({
        producer,
        workspaces: needed(options, 'workspace').split(','),
        ...(options['scope'] && { scopes: options['scope'].split(',') }),
        expires_at: new Date(Date.now() + days * dayMs).toISOString(),
      });
      return { token_id: record.id, ...record.attributes, token };
    },
  },
  {
    name: 'machine-token list',
    summary: 'Lists the machine tokens that were issued, without their text, oldest first.',
    options: [],
    example: 'machine-token list',
    run: async (operator) => {
      const found = await operator.identityList(undefined, 'machine_tokens');
      return found.map(({ id, lifecycle_state: state, attributes }) => ({ token_id: id, state, ...attributes }));
    },
  },
  {
    name: 'machine-token revoke',
    summary: 'Ends a machine token. This cannot be undone.',
    options: [
      {
        name: 'token',
        value: 'MTK',
        idPrefix: 'mtk',
        meaning: 'ID of the token (mtk_…), as “machine-token list” shows it',
      },
    ],
    example: 'machine-token revoke --token mtk_01jcq7z4q8w2e6r9t1y5v3k7mp',
    run: (operator, options) => operator.changeIdentity(needed(options, 'token'), 'machine_token.revoke', {}),
  },
  {
    name: 'token-key add',
    summary: 'Adds a key that signs access tokens from now on. Tokens of older keys stay valid.',
    options: [],
    example: 'token-key add',
    run: async (_operator, _options, access) => {
      const { changeKeys, rotate } = await import('../keys/rotate.ts');
      const installation = { data: dataFolder(access.dataFolder), access };
      const [done] = await changeKeys(['access-tokens'], installation, (name) => rotate(name, installation));
      return done!.row;
    },
  },
];
