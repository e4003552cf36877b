import { expect, test } from '@jest/globals';
import { problems } from './problems.ts';

/** code → [status, type, retry class], written out here so that no edit of the table passes unseen. */
const promised: Readonly<Record<string, readonly [number, string, string]>> = {
  token_missing: [401, 'authentication-required', 'never'],
  token_invalid: [401, 'authentication-required', 'never'],
  insufficient_scope: [403, 'insufficient-scope', 'never'],
  permission_denied: [403, 'permission-denied', 'never'],
  not_found: [404, 'resource-not-found', 'never'],
  version_conflict: [412, 'version-conflict', 'after_read'],
  version_guard_required: [428, 'version-guard-required', 'after_fix'],
  version_guard_mismatch: [422, 'validation-failed', 'after_fix'],
  idempotency_key_required: [400, 'idempotency-key-required', 'after_fix'],
  idempotency_key_invalid: [422, 'validation-failed', 'after_fix'],
  idempotency_conflict: [409, 'idempotency-conflict', 'after_read'],
  idempotency_in_progress: [409, 'idempotency-in-progress', 'after_delay'],
  malformed_json: [400, 'malformed-request', 'after_fix'],
  validation_failed: [422, 'validation-failed', 'after_fix'],
  invalid_cursor: [422, 'validation-failed', 'after_fix'],
  unknown_command: [404, 'unknown-command', 'never'],
  unknown_resource_type: [404, 'unknown-resource-type', 'never'],
  policy_rejected: [422, 'policy-rejected', 'after_fix'],
  state_not_allowed: [422, 'state-not-allowed', 'after_fix'],
  rate_limited: [429, 'rate-limited', 'after_delay'],
  temporarily_unavailable: [503, 'temporarily-unavailable', 'after_delay'],
  timeout: [504, 'timeout', 'after_delay'],
  internal_error: [500, 'internal-error', 'poll'],
  method_not_allowed: [405, 'method-not-allowed', 'after_fix'],
  not_acceptable: [406, 'not-acceptable', 'after_fix'],
  malformed_request: [400, 'malformed-request', 'after_fix'],
  request_timeout: [408, 'request-timeout', 'after_delay'],
  expectation_failed: [417, 'expectation-failed', 'after_fix'],
  headers_too_large: [431, 'headers-too-large', 'after_fix'],
  payload_too_large: [413, 'payload-too-large', 'after_fix'],
  unsupported_media_type: [415, 'unsupported-media-type', 'after_fix'],
  review_waiting: [409, 'review-waiting', 'after_read'],
};

test.each(Object.entries(promised))(
  '%s has the status, type and retry class that clients were promised',
  (code, row) => {
    const { status, type, retry } = problems[code as keyof typeof problems];
    expect([status, type, retry]).toEqual(row);
  },
);

test.each(Object.entries(problems))(
  '%s is a word of the wire, its type a URN suffix, its status an error',
  (code, row) => {
    expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/);
    expect(row.type).toMatch(/^[a-z]+(-[a-z]+)*$/);
    expect(row.status).toBeGreaterThanOrEqual(400);
    expect(row.status).toBeLessThan(600);
  },
);

test('whoever owns a failure and its status agree: only ours are 5xx', () => {
  for (const [code, { owner, status }] of Object.entries(problems))
    if (status >= 500) expect({ code, owner }).not.toEqual({ code, owner: 'client' });
});
