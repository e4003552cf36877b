import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { credentialKinds } from '@longwave/principal';
import { parsePlans } from '../plans.ts';
import {
  judgeCredential,
  type Api,
  type Carrier,
  type CredentialKind,
  type IssuedCredential,
} from './judge-credential.ts';

const plans = parsePlans(readFileSync(new URL('../../data/plans.json', import.meta.url), 'utf8'));
const now = new Date('2026-11-21T12:00:00.000Z');

/** The rules on credentials, as data. */
interface JudgementCase {
  readonly name: string;
  readonly kind: CredentialKind;
  readonly plan?: string;
  readonly subscription?: IssuedCredential['account']['subscription'];
  readonly state?: string;
  readonly account_state?: string;
  readonly expires_at?: string;
  /** Plans of the owners of the organizations that the account is a member of. */
  readonly owner_plans?: readonly string[];
  /** Absent: REST API v1. */
  readonly api?: Api;
  /** Absent: in a header. */
  readonly carrier?: Carrier;
  /** The person whom it stands for: the owner, a member or neither; absent for what stands for the account. */
  readonly person?: 'owner' | 'member' | 'stranger';
  readonly outcome: string;
}

const cases = JSON.parse(
  readFileSync(new URL('../../cases/judgement.json', import.meta.url), 'utf8'),
) as readonly JudgementCase[];

const judge = (each: JudgementCase) =>
  judgeCredential(
    {
      id: 'crd_1',
      state: each.state ?? 'active',
      kind: each.kind,
      scope: 'read_write',
      ...(each.expires_at && { expires_at: each.expires_at }),
      ...(each.person && { userId: each.person === 'owner' ? 'usr_1' : 'usr_2' }),
      ...(each.person === 'member' && { memberPermissions: ['edit'] as const }),
      account: {
        hasWorkspace: true,
        id: 'acc_1',
        owner_user_id: 'usr_1',
        workspaceId: 'ws_1',
        state: each.account_state ?? 'active',
        plan: each.plan ?? 'scale',
        subscription: each.subscription ?? { state: 'active' },
      },
    },
    { api: each.api ?? 'rest', carrier: each.carrier ?? 'header' },
    each.owner_plans ?? [],
    plans,
    now,
  );

describe('a credential (the clock says 2026-11-21T12:00:00Z)', () => {
  test.each(cases.map((each) => [each.name, each] as const))('%s', (_name, each) => {
    const verdict = judge(each);
    expect(verdict.accepted ? 'accepted' : verdict.refusal).toBe(each.outcome);
  });

  test('that was never issued is an unknown user', () => {
    expect(judgeCredential(undefined, { api: 'rest', carrier: 'header' }, [], plans, now)).toEqual({
      accepted: false,
      refusal: 'unknown_user',
    });
  });

  test("of a member counts by the rate limits of the plan that lets it in, and keeps the account's own plan", () => {
    const verdict = judge({ name: '', kind: 'legacy_token', plan: 'launch', owner_plans: ['scale'], outcome: '' });
    expect(verdict).toMatchObject({ plan: plans.get('launch'), rates: plans.get('scale') });
  });
});

describe('the matrix of credentials: every kind, API and carrier', () => {
  /** Everything that is not named here is an unknown user. */
  const known: Readonly<Record<string, string>> = {
    'api_key rest header': 'accepted',
    'legacy_token rest header': 'accepted',
    'oauth_access_token rest header': 'accepted',
    'mcp_access_token rest header': 'mcp_credential',
    'mcp_access_token mcp header': 'accepted',
    'mcp_personal_token mcp header': 'accepted',
    'management_access_token management header': 'accepted',
    'browser_session rest cookie': 'accepted',
    'browser_session management cookie': 'accepted',
  };
  const cells = credentialKinds.flatMap((kind) =>
    (['rest', 'mcp', 'management'] as const).flatMap((api) =>
      (['header', 'cookie'] as const).map((carrier) => ({ kind, api, carrier })),
    ),
  );
  test.each(cells)('$kind at $api by $carrier', (cell) => {
    const verdict = judge({ ...cell, name: '', outcome: '' });
    const outcome = known[`${cell.kind} ${cell.api} ${cell.carrier}`] ?? 'unknown_user';
    expect(verdict.accepted ? 'accepted' : verdict.refusal).toBe(outcome);
  });

  test.each(cells)('$kind of a person who is no member at $api by $carrier is unknown', (cell) => {
    expect(judge({ ...cell, person: 'stranger', name: '', outcome: '' })).toEqual({
      accepted: false,
      refusal: 'unknown_user',
    });
  });
});
