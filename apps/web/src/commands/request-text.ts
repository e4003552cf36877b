import type { Draft } from './form-value.ts';

/**
 * The request that a form sends, for a program: without a credential, which the program adds.
 * @param subject `id` is null, and `version` undefined, for a command that makes its subject
 */
export function requestText(
  workspace: string,
  command: string,
  subject: { readonly type: string; readonly id: string | null; readonly version?: number | undefined },
  changes: Draft,
): string {
  const body = JSON.stringify({ subject, changes }).replaceAll("'", String.raw`'\''`);
  return [
    `curl "$API_URL/management/v1/workspaces/${workspace}/commands/${command}"`,
    `-H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -H "Idempotency-Key: $KEY"`,
    `-d '${body}'`,
  ].join(' \\\n  ');
}
