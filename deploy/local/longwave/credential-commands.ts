import { issueCredential } from '../job/operator.ts';
import { needed, type OperatorCommand } from './command.ts';

const onCredential = (verb: 'revoke' | 'block' | 'unblock', summary: string): OperatorCommand => ({
  name: `key ${verb}`,
  usage: '--key CRD',
  summary,
  run: (operator, options) => operator.changeIdentity(needed(options, 'key'), `credential.${verb}`, {}),
});

/** Credentials of REST API v1: API keys and legacy tokens. Their text is shown once and stored nowhere. */
export const credentialCommands: readonly OperatorCommand[] = [
  {
    name: 'key create',
    usage: '--account ACC [--name NAME]',
    summary: 'a further API key, shown once',
    run: async (operator, options) => {
      const { id, text } = await issueCredential(operator, needed(options, 'account'), {
        kind: 'api_key',
        name: options['name'] ?? 'API key',
      });
      return { key_id: id, api_key: text };
    },
  },
  onCredential('revoke', 'ends an API key or a token for good'),
  onCredential('block', 'answers its requests with 503 until it is unblocked'),
  onCredential('unblock', 'lets a blocked client in again'),
  {
    name: 'token create',
    usage: '--account ACC [--scope read|read_write] [--name NAME]',
    summary: 'a legacy REST API token, shown once',
    run: async (operator, options) => {
      const { id, text } = await issueCredential(operator, needed(options, 'account'), {
        kind: 'legacy_token',
        name: options['name'] ?? 'legacy token',
        scope: options['scope'] ?? 'read_write',
      });
      return { key_id: id, token: text };
    },
  },
];
