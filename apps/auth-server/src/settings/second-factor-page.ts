import { transaction, type Pool } from '@longwave/postgres';
import { z } from 'zod';
import { showPage, takeForm, type PageAnswer, type PageRoute } from '../http/page-route.ts';
import { formTokenField, textField } from '../pages/form-fields.ts';
import { html } from '../pages/html.ts';
import { qrCode } from '../pages/qr-code.ts';
import { refusalNote, type Refusal } from '../pages/refusal.ts';
import type { CheckCode } from '../second-factor/check-code.ts';
import { codeField, codeInput, codeRefusalOf } from '../second-factor/code-field.ts';
import { newRecoveryCodes, shownRecoveryCode } from '../second-factor/recovery-code.ts';
import {
  findSecondFactor,
  insertSecondFactor,
  replaceRecoveryCodes,
  type SecondFactor,
} from '../second-factor/second-factor-table.ts';
import type { SecretSeal } from '../second-factor/secret-seal.ts';
import type { TellSecondFactorEvent } from '../second-factor/tell-second-factor-event.ts';
import { newTotpSecret, stepOf, totpAddress } from '../second-factor/totp.ts';
import { secretDigest } from '../secret-digest.ts';
import type { SendCommand } from '../send-command.ts';
import type { Sessions } from '../sessions/sessions.ts';
import { browserName } from '../sign-in/browser-name.ts';
import { timeText, type SignedIn } from './settings-parts.ts';

export interface SecondFactorPageDeps {
  readonly pool: Pool;
  readonly seal: SecretSeal;
  readonly checkCode: CheckCode;
  readonly tell: TellSecondFactorEvent;
  readonly sessions: Sessions;
  readonly send: SendCommand;
}

const path = '/settings/security/second-factor';

/** How long the secret of a page that was shown may be switched on. */
const offerMs = 15 * 60_000;

/** A secret that a page offers, and the same encrypted: its form brings it back, and nothing is stored before a right code. */
interface Offer {
  readonly secret: string;
  readonly sealed: string;
}

const offerPage = ({ formToken, session }: SignedIn, { secret, sealed }: Offer, refusal?: Refusal): PageAnswer => ({
  title: 'Switch on codes',
  tab: 'security',
  status: refusal?.status ?? 200,
  body: html`<h1>Switch on codes</h1>
    ${refusalNote(refusal)}
    <section class="card" aria-labelledby="app">
      <h2 id="app">1. Add the secret to your app</h2>
      <p>
        Take an app for sign-in codes (TOTP), such as the one of your password manager, and let it read this picture.
      </p>
      ${qrCode(totpAddress(secret, session.user.email), 'QR code with the secret that stands below')}
      <p>No camera? Type the secret into the app:</p>
      <code class="secret">${secret.replace(/.{4}(?=.)/g, '$& ')}</code>
    </section>
    <section class="card" aria-labelledby="first-code">
      <h2 id="first-code">2. Enter the first code</h2>
      <form method="post" action="${path}/on">
        ${formTokenField(formToken)}<input type="hidden" name="sealed" value="${sealed}" />
        ${textField({
          ...{ name: 'code', label: 'Code', autocomplete: 'one-time-code' },
          hint: 'The six digits that your app shows now. Every other browser is signed out.',
        })}
        <button class="primary">Switch on</button>
      </form>
    </section>
    <p><a href="/settings/security">Back</a></p>`,
});

const codesPage = (codes: readonly string[], setCookies: readonly string[] = []): PageAnswer => ({
  title: 'Your recovery codes',
  setCookies,
  body: html`<h1>Your recovery codes</h1>
    <section role="status">
      <p>
        Each signs you in once, when your app is not at hand. Print them or keep them where you keep passwords: they are
        not shown again.
      </p>
      <ul class="secret">
        ${codes.map((code) => html`<li><code>${shownRecoveryCode(code)}</code></li>`)}
      </ul>
    </section>
    <p><a class="button" href="/settings/security">I have kept them</a></p>`,
});

const managePage = (visit: SignedIn, { since, codesLeft }: SecondFactor, refusal?: Refusal): PageAnswer => ({
  title: 'Codes at sign-in',
  tab: 'security',
  status: refusal?.status ?? 200,
  body: html`<h1>Codes at sign-in</h1>
    ${refusalNote(refusal)}
    <section class="card" aria-labelledby="change">
      <h2 id="change">Change</h2>
      <p>
        On since ${timeText(visit.session, since)}. ${codesLeft} of your recovery codes
        ${codesLeft === 1 ? 'is' : 'are'} left; new ones replace them.
      </p>
      <form method="post" action="${path}/change">
        ${formTokenField(visit.formToken)}${codeInput()}
        <div class="actions">
          <button name="change" value="codes">Make new recovery codes</button>
          <button name="change" value="off" class="danger">Switch off</button>
        </div>
      </form>
    </section>
    <p><a href="/settings/security">Back</a></p>`,
});

/** Switching the second factor on and off, and its recovery codes. */
export function secondFactorRoutes(deps: SecondFactorPageDeps): readonly PageRoute[] {
  const { pool, seal, checkCode, tell, sessions, send } = deps;

  async function newOffer({ session, now }: SignedIn): Promise<Offer> {
    const secret = newTotpSecret();
    return { secret, sealed: await seal.seal(session.user.id, secret, new Date(now.getTime() + offerMs)) };
  }

  async function switchOn({ request, session, now }: SignedIn, secret: string, step: number): Promise<PageAnswer> {
    const { user, account, signedInAt: passwordGivenAt } = session;
    const codes = newRecoveryCodes();
    const factor = { sealed: await seal.seal(user.id, secret), step, codeDigests: codes.map(secretDigest) };
    const isNew = await transaction(pool, (tx) => insertSecondFactor(tx, user.id, factor, now));
    if (!isNew) return { redirect: path };
    await tell(user, 'second_factor_on');
    // Every session that was begun without the second factor has ended, this one too: a copy of its cookie is worth nothing.
    const [proof, name] = [{ ...session.proof, secondFactorSince: now }, browserName(request.get('user-agent'))];
    return codesPage(codes, [await sessions.open({ userId: user.id, account, passwordGivenAt, proof, name })]);
  }

  async function makeCodes({ session: { user } }: SignedIn): Promise<PageAnswer> {
    const codes = newRecoveryCodes();
    await transaction(pool, (tx) => replaceRecoveryCodes(tx, user.id, codes.map(secretDigest)));
    await tell(user, 'recovery_codes_made');
    return codesPage(codes);
  }

  return [
    showPage(path, 'password', async (visit) => {
      const factor = await findSecondFactor(pool, visit.session.user.id);
      return factor ? managePage(visit, factor) : offerPage(visit, await newOffer(visit));
    }),

    takeForm(
      `${path}/on`,
      'password',
      z.object({ code: z.string().max(64), sealed: z.string().max(2_000) }),
      async (visit, { success, data }) => {
        const { session, now } = visit;
        const secret = success ? await seal.open(session.user.id, data.sealed, now) : undefined;
        if (!success || secret === undefined) return { redirect: path };
        const step = stepOf(secret, data.code, now);
        if (step !== undefined) return switchOn(visit, secret, step);
        const message = 'This code is not the one that the secret makes now. Is the clock of your phone right?';
        return offerPage(visit, { secret, sealed: data.sealed }, { status: 422, message });
      },
    ),

    takeForm(
      `${path}/change`,
      'password',
      z.object({ code: codeField, change: z.enum(['codes', 'off']) }),
      async (visit, { success, data }) => {
        const { user } = visit.session;
        const factor = await findSecondFactor(pool, user.id);
        if (!factor || !success) return { redirect: path };
        const verdict = await checkCode({ user, code: data.code, sender: visit.sender });
        if (verdict.outcome !== 'accepted') return managePage(visit, factor, codeRefusalOf(verdict, visit));
        if (data.change === 'codes') return makeCodes(visit);
        await send('user.remove_second_factor', user.workspaceId, user.id, {});
        return { redirect: '/settings/security' };
      },
    ),
  ];
}
