import { accountOption, needed, type OperatorCommand } from '../command.ts';

const onCredential = (verb: 'revoke' | 'block' | 'unblock', summary: string): OperatorCommand => ({
  name: `key ${verb}`,
  summary,
  options: [
    {
      name: 'key',
      value: 'CRD',
      idPrefix: 'crd',
      meaning: 'ID of the key or token (crd_…), as “account show” lists it',
    },
  ],
  example: `key ${verb} --key crd_01jcq7v8z4n2m6k9s3x5t1r0wd`,
  run: (operator, options) => operator.changeIdentity(needed(options, 'key'), `credential.${verb}`, {}),
});

/** Credentials of REST API v1: API keys and legacy tokens. Their text is shown once and stored nowhere. */
export const credentialCommands: readonly OperatorCommand[] = [
  {
    name: 'key create',
    summary: 'Creates another API key of an account. The key is shown once.',
    options: [
      accountOption,
      { name: 'name', value: 'NAME', meaning: 'name of the key (default: “API key”)', optional: true },
    ],
    example: 'key create --account acc_01jcq7v8z4n2m6k9s3x5t1r0wd --name "Publishing script"',
    run: async (operator, options) => {
      const { issueCredential } = await import('@longwave/test-kit/clients');
      const { id, text } = await issueCredential(operator, needed(options, 'account'), {
        kind: 'api_key',
        name: options['name'] ?? 'API key',
      });
      return { key_id: id, api_key: text };
    },
  },
  onCredential('revoke', 'Ends an API key or a token. This cannot be undone.'),
  onCredential('block', 'Blocks an API key or a token: its requests are answered 503 until it is unblocked.'),
  onCredential('unblock', 'Lets a blocked API key or token work again.'),
  {
    name: 'token create',
    summary: 'Creates a legacy REST API token. The token is shown once.',
    options: [
      accountOption,
      {
        name: 'scope',
        value: 'read|read_write',
        meaning: 'what the token may do (default: read_write)',
        optional: true,
      },
      { name: 'name', value: 'NAME', meaning: 'name of the token (default: “legacy token”)', optional: true },
    ],
    example: 'token create --account acc_01jcq7v8z4n2m6k9s3x5t1r0wd --scope read --name "Statistics"',
    run: async (operator, options) => {
      const { issueCredential } = await import('@longwave/test-kit/clients');
      const { id, text } = await issueCredential(operator, needed(options, 'account'), {
        kind: 'legacy_token',
        name: options['name'] ?? 'legacy token',
        scope: options['scope'] ?? 'read_write',
      });
      return { key_id: id, token: text };
    },
  },
];
