/** The owner of a failure. */
type ProblemOwner = 'client' | 'platform' | 'upstream' | 'capacity';
type RetryClass = 'never' | 'after_fix' | 'after_read' | 'after_delay' | 'poll';

interface ProblemDefinition {
  readonly status: number;
  /** Suffix of `urn:longwave:problem:`. */
  readonly type: string;
  readonly title: string;
  readonly owner: ProblemOwner;
  readonly retry: RetryClass;
}

const define = (
  status: number,
  type: string,
  title: string,
  owner: ProblemOwner,
  retry: RetryClass,
): ProblemDefinition => ({ status, type, title, owner, retry });

/** Every problem a client can meet; the slug is the wire code and never changes. */
export const problems = {
  token_missing: define(401, 'authentication-required', 'No credential was sent', 'client', 'never'),
  token_invalid: define(401, 'authentication-required', 'The credential is not valid', 'client', 'never'),
  insufficient_scope: define(
    403,
    'insufficient-scope',
    'The credential does not have the required scope',
    'client',
    'never',
  ),
  permission_denied: define(403, 'permission-denied', 'Your role does not have this permission', 'client', 'never'),
  analytics_unavailable: define(
    403,
    'permission-denied',
    'Neither plan nor role includes these analytics',
    'client',
    'never',
  ),
  not_found: define(404, 'resource-not-found', 'There is no such resource', 'client', 'never'),
  version_conflict: define(
    412,
    'version-conflict',
    'The resource has changed since you read it',
    'client',
    'after_read',
  ),
  version_guard_required: define(428, 'version-guard-required', 'A version guard is required', 'client', 'after_fix'),
  version_guard_mismatch: define(
    422,
    'validation-failed',
    'If-Match and subject.version name different versions',
    'client',
    'after_fix',
  ),
  idempotency_key_required: define(
    400,
    'idempotency-key-required',
    'An idempotency key is required',
    'client',
    'after_fix',
  ),
  idempotency_key_invalid: define(422, 'validation-failed', 'The idempotency key is malformed', 'client', 'after_fix'),
  idempotency_conflict: define(
    409,
    'idempotency-conflict',
    'The idempotency key was already used with other content',
    'client',
    'after_read',
  ),
  idempotency_key_spent: define(
    409,
    'idempotency-conflict',
    'The idempotency key named an earlier version of the subject',
    'client',
    'after_read',
  ),
  idempotency_in_progress: define(
    409,
    'idempotency-in-progress',
    'The first request with this idempotency key is still running',
    'client',
    'after_delay',
  ),
  malformed_json: define(400, 'malformed-request', 'The body is not JSON', 'client', 'after_fix'),
  validation_failed: define(422, 'validation-failed', 'A field is not valid', 'client', 'after_fix'),
  invalid_cursor: define(422, 'validation-failed', 'The cursor is not valid', 'client', 'after_fix'),
  unknown_command: define(404, 'unknown-command', 'There is no such command', 'client', 'never'),
  unknown_resource_type: define(404, 'unknown-resource-type', 'There is no such resource type', 'client', 'never'),
  policy_rejected: define(422, 'policy-rejected', 'A policy does not allow this', 'client', 'after_fix'),
  state_not_allowed: define(
    422,
    'state-not-allowed',
    'The state of the resource does not allow this',
    'client',
    'after_fix',
  ),
  value_taken: define(422, 'validation-failed', 'The value is already taken', 'client', 'after_fix'),
  link_not_found: define(422, 'validation-failed', 'The linked resource does not exist', 'client', 'after_fix'),
  episode_has_no_audio: define(422, 'state-not-allowed', 'The episode has no audio', 'client', 'after_fix'),
  production_has_no_audio: define(422, 'state-not-allowed', 'The production has no audio', 'client', 'after_fix'),
  podcast_not_ready: define(
    422,
    'state-not-allowed',
    'The podcast is not ready for publication',
    'client',
    'after_fix',
  ),
  artwork_not_acceptable: define(
    422,
    'validation-failed',
    'The artwork does not meet the requirements',
    'client',
    'after_fix',
  ),
  media_not_fetchable: define(422, 'validation-failed', 'The file cannot be fetched', 'upstream', 'after_fix'),
  feed_not_importable: define(422, 'validation-failed', 'The feed cannot be imported', 'upstream', 'after_fix'),
  feed_locked: define(422, 'policy-rejected', 'The feed is locked against moving', 'client', 'after_fix'),
  workspace_exists: define(409, 'workspace-exists', 'The account has its workspace already', 'client', 'after_read'),
  export_in_progress: define(409, 'export-in-progress', 'An export is being prepared', 'client', 'after_delay'),
  resource_gone: define(410, 'resource-gone', 'The resource has ended', 'client', 'never'),
  upload_not_received: define(422, 'validation-failed', 'The file was not uploaded', 'client', 'after_fix'),
  encoding_time_exhausted: define(
    402,
    'encoding-time-exhausted',
    'Not enough encoding time left',
    'capacity',
    'after_fix',
  ),
  lease_lost: define(409, 'lease-lost', 'The lease of this job has expired', 'client', 'never'),
  creative_not_ready: define(422, 'state-not-allowed', 'The creative has no prepared media', 'client', 'after_fix'),
  line_item_not_bookable: define(422, 'state-not-allowed', 'The line item cannot be booked yet', 'client', 'after_fix'),
  capability_not_supported: define(
    422,
    'policy-rejected',
    'This surface does not take new plans',
    'client',
    'after_fix',
  ),
  format_not_supported: define(422, 'validation-failed', 'The format is not supported yet', 'client', 'after_fix'),
  review_declined: define(422, 'policy-rejected', 'A reviewer declined this', 'client', 'after_fix'),
  review_expired: define(422, 'policy-rejected', 'The review was not completed in time', 'client', 'after_fix'),
  still_in_use: define(422, 'state-not-allowed', 'Another resource still uses this', 'client', 'after_fix'),
  object_not_found: define(404, 'object-not-found', 'There is no such object', 'upstream', 'never'),
  rate_limited: define(429, 'rate-limited', 'Too many requests', 'client', 'after_delay'),
  temporarily_unavailable: define(
    503,
    'temporarily-unavailable',
    'A dependency is not available',
    'capacity',
    'after_delay',
  ),
  bad_gateway: define(
    502,
    'temporarily-unavailable',
    'The service behind this address is not available',
    'capacity',
    'after_delay',
  ),
  provider_rejected: define(502, 'provider-rejected', 'The provider refused this', 'upstream', 'after_read'),
  provider_outcome_unknown: define(
    502,
    'provider-outcome-unknown',
    'It is not known whether the provider acted',
    'upstream',
    'poll',
  ),
  timeout: define(504, 'timeout', 'A dependency did not answer in time', 'capacity', 'after_delay'),
  method_not_allowed: define(405, 'method-not-allowed', 'The method is not allowed here', 'client', 'after_fix'),
  not_acceptable: define(406, 'not-acceptable', 'No acceptable representation', 'client', 'after_fix'),
  malformed_request: define(400, 'malformed-request', 'The request is not valid HTTP', 'client', 'after_fix'),
  request_timeout: define(408, 'request-timeout', 'The request took too long to arrive', 'client', 'after_delay'),
  expectation_failed: define(417, 'expectation-failed', 'This expectation is not supported', 'client', 'after_fix'),
  headers_too_large: define(431, 'headers-too-large', 'The headers are too large', 'client', 'after_fix'),
  payload_too_large: define(413, 'payload-too-large', 'The body is too large', 'client', 'after_fix'),
  unsupported_media_type: define(
    415,
    'unsupported-media-type',
    'The media type is not supported',
    'client',
    'after_fix',
  ),
  range_not_satisfiable: define(416, 'range-not-satisfiable', 'The range is outside the file', 'client', 'after_fix'),
  precondition_failed: define(412, 'precondition-failed', 'The file has changed', 'client', 'after_read'),
  internal_error: define(500, 'internal-error', 'Internal error', 'platform', 'poll'),
} as const satisfies Record<string, ProblemDefinition>;

export type ProblemCode = keyof typeof problems;
