import { isLegalText, reasonSchemaOf, type CommandDefinition } from '@longwave/command-catalog';
import { jcsDigest, requireIdempotencyKey } from '@longwave/idempotency';
import { fieldErrors, fieldSentence, maxFieldErrors, Problem, shownSegment, type FieldError } from '@longwave/problems';
import { accessOf, type Actor, type CommandRequest } from './command-request.ts';
import { entityTagOf } from '../store/resource-row.ts';

/** The tag of a version, as If-Match names it. Weak tags name no version: If-Match compares strongly (RFC 9110 §13.1.1). */
export const ifMatchForm = /^"?(\d{1,9})\.([0-9a-f]{16})"?$/;

export interface ParsedRequest {
  readonly changes: Record<string, unknown>;
  readonly reason: unknown;
  readonly ifMatch: { readonly version: number; readonly digestPrefix: string } | undefined;
  /** `jcsDigest` of {subject, changes, reason}; the subject's version is the one that the sender expects, by `subject.version` or If-Match; null of a new one. */
  readonly payloadDigest: string;
  /** The same without the expected version: tells a new version under a used key from other content. */
  readonly unversionedDigest: string;
}

/** Levels of nesting: more than any declared schema has, and few enough to walk an unparsed value cheaply. */
const maxDepth = 32;

/**
 * One error for each text in a value that the store could not hold (keys count too), and for each value that is nested too deep; the walk
 * ends with as many errors as an answer shows.
 */
function illegalTexts(value: unknown, path: string, errors: FieldError[] = [], depth = 0): FieldError[] {
  if (errors.length >= maxFieldErrors) return errors;
  if (typeof value === 'string') {
    if (!isLegalText(value))
      errors.push({
        path,
        code: 'illegal_text',
        detail: 'The text holds control characters or is not well-formed Unicode.',
      });
  } else if (typeof value === 'object' && value !== null) {
    if (depth === maxDepth) errors.push({ path, code: 'too_deep', detail: `At most ${maxDepth} levels are allowed.` });
    else
      for (const [key, inner] of Object.entries(value))
        if (isLegalText(key)) illegalTexts(inner, `${path}/${shownSegment(key)}`, errors, depth + 1);
        else illegalTexts(key, path, errors);
  }
  return errors;
}

/** Throws `validation_failed` when a text in these parts of a request, or a key, is none that the store could hold. */
export function checkTexts(parts: Readonly<Record<string, unknown>>): void {
  const errors = illegalTexts(parts, '');
  if (errors.length > 0) throw invalid(errors);
}

const invalid = (errors: readonly FieldError[]) =>
  new Problem('validation_failed', errors.map((e) => `${e.path}: ${e.detail}`).join(' '), { errors });

/** A new resource has no version yet: one error for each version that the client claims to have seen. */
const guardsOfNew = (version: number | undefined, hasTag: boolean): FieldError[] => [
  ...((version ?? 0) === 0
    ? []
    : [
        {
          path: '/subject/version',
          code: 'too_big',
          detail: 'A new resource has no version: send 0, or leave it out.',
        },
      ]),
  ...(hasTag
    ? [{ path: '/headers/if-match', code: 'not_allowed', detail: 'A new resource has no version: send no If-Match.' }]
    : []),
];

/** Parses a request by its command's schemas. Throws a problem about the idempotency key first, then one with all field errors. */
export function parseRequest(definition: CommandDefinition, request: CommandRequest): ParsedRequest {
  requireIdempotencyKey(request.idempotencyKey, 'Send an idempotency key for this operation.');
  const errors: FieldError[] = [
    ...illegalTexts(request.subject, '/subject'),
    ...illegalTexts(request.changes, '/changes'),
    ...illegalTexts(request.reason, '/reason'),
  ];
  const { subject } = request;
  if (subject.type !== definition.subject)
    errors.push({
      path: '/subject/type',
      code: 'wrong_subject',
      detail: `The subject of ${definition.type} is of type ${definition.subject}.`,
    });
  if (definition.from !== null && subject.id === null)
    errors.push({ path: '/subject/id', code: 'required', detail: 'Name the subject by its id.' });
  const changes = definition.changes.safeParse(request.changes ?? {}, { error: fieldSentence });
  if (!changes.success) errors.push(...fieldErrors(changes.error, '/changes'));
  const reason = reasonSchemaOf(definition).safeParse(request.reason, { error: fieldSentence });
  if (!reason.success) errors.push(...fieldErrors(reason.error, '/reason'));
  const guard = request.ifMatch === undefined ? null : ifMatchForm.exec(request.ifMatch);
  if (request.ifMatch !== undefined && !guard)
    errors.push({ path: '/headers/if-match', code: 'malformed', detail: 'Expected one strong ETag of this API.' });
  if (definition.from === null) errors.push(...guardsOfNew(subject.version, guard !== null));
  if (errors.length > 0) throw invalid(errors);
  const content = { changes: request.changes ?? {}, reason: request.reason ?? null };
  const ifMatch = guard ? { version: Number(guard[1]), digestPrefix: guard[2]! } : undefined;
  // A new resource has no version: 0 says the same as none.
  const expectedVersion = definition.from === null ? null : (subject.version ?? ifMatch?.version ?? null);
  return {
    changes: changes.data as Record<string, unknown>,
    reason: reason.data,
    ifMatch,
    payloadDigest: jcsDigest({
      ...content,
      subject: { type: subject.type, id: subject.id, version: expectedVersion },
    }),
    unversionedDigest: jcsDigest({ ...content, subject: { type: subject.type, id: subject.id } }),
  };
}

/**
 * The problem for which an actor may not send a command in a workspace; undefined when one of its roles there allows it, or the catalog
 * names the service. A workspace in which the actor has no grant is unknown to it.
 */
export function permissionProblem(
  definition: CommandDefinition,
  actor: Actor,
  workspaceId: string,
): Problem | undefined {
  const denied = () => new Problem('permission_denied', `You may not send ${definition.type}.`);
  if (actor.kind === 'service') {
    const isOperator = actor.name === 'operator' && definition.roles.length > 0;
    return isOperator || definition.machines.includes(actor.name) ? undefined : denied();
  }
  if (definition.party && actor.isParty && !actor.principal.read_only) return undefined;
  const { outcome } = accessOf(actor, workspaceId, { roles: definition.roles, isWrite: true });
  // A party sees its subject, and nothing else here.
  if (outcome === 'unknown' && actor.isParty) return denied();
  if (outcome === 'unknown') return new Problem('not_found', 'There is no such workspace.');
  return outcome === 'denied' ? denied() : undefined;
}

/** Throws unless the version that the caller saw is the current one: 412 for a stale If-Match, 409 for a stale `subject.version`. */
export function checkVersion(
  definition: CommandDefinition,
  stated: { readonly version: number | undefined; readonly ifMatch: ParsedRequest['ifMatch'] },
  current: { readonly type: string; readonly id: string; readonly version: number; readonly digest: string },
): void {
  const { version, ifMatch } = stated;
  const subject = { type: current.type, id: current.id, version: current.version };
  const etag = entityTagOf(current);
  const stale = `The current version is ${current.version}. Read it and send a new command.`;
  if (ifMatch && version !== undefined && ifMatch.version !== version)
    throw new Problem('version_guard_mismatch', 'If-Match and subject.version name different versions.');
  if (ifMatch && (ifMatch.version !== current.version || !current.digest.startsWith(ifMatch.digestPrefix)))
    throw new Problem('version_conflict', stale, { subject, etag });
  if (version !== undefined && version !== current.version)
    throw new Problem('version_conflict', stale, { subject, etag, status: 409 });
  if (definition.versionGuard === 'required' && !ifMatch && version === undefined)
    throw new Problem(
      'version_guard_required',
      `${definition.type} needs the version you saw: If-Match or subject.version.`,
    );
}
