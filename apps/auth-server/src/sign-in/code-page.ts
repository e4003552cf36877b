import { z } from 'zod';
import { showPage, takeForm, type PageAnswer, type PageRoute, type Visit } from '../http/page-route.ts';
import { formTokenField } from '../pages/form-fields.ts';
import { html } from '../pages/html.ts';
import type { CheckCode } from '../second-factor/check-code.ts';
import { codeField, codeInput, codeRefusalOf } from '../second-factor/code-field.ts';
import type { Enter } from './enter.ts';
import { returnField, returnToOf, withReturn } from './local-path.ts';
import { refusalNote, type Refusal } from '../pages/refusal.ts';

export interface CodePageDeps {
  readonly checkCode: CheckCode;
  readonly enter: Enter;
}

const codePage = (visit: Visit, refusal?: Refusal): PageAnswer => ({
  title: 'Enter your code',
  status: refusal?.status ?? 200,
  body: html`<h1>Enter your code</h1>
    ${refusalNote(refusal)}
    <form method="post" action="/sign-in/code">
      ${formTokenField(visit.formToken)}${returnField(visit)} ${codeInput()}
      <button class="primary">Go on</button>
    </form>
    <p class="small">Neither your app nor a recovery code is at hand? Write to whoever runs this installation.</p>
    <p><a href="/sign-in">Back to signing in</a></p>`,
});

/** The second step of signing in. Without a right password before it there is nothing here. */
export function codeRoutes({ checkCode, enter }: CodePageDeps): readonly PageRoute[] {
  const again = (visit: Visit) => ({ redirect: withReturn('/sign-in', returnToOf(visit)) });

  return [
    showPage('/sign-in/code', 'anyone', async (visit) =>
      (await enter.findWaiting(visit)) ? codePage(visit) : again(visit),
    ),

    takeForm(
      '/sign-in/code',
      'anyone',
      z.object({ code: codeField, return_to: z.string().optional() }),
      async (visit, { success, data }) => {
        const waiting = await enter.findWaiting(visit);
        if (!waiting) return again(visit);
        const code = success ? data.code : '';
        const verdict = await checkCode({ user: waiting.user, code, sender: visit.sender });
        if (verdict.outcome !== 'accepted') return codePage(visit, codeRefusalOf(verdict, visit));
        return enter.afterCode(visit, waiting, returnToOf(visit));
      },
    ),
  ];
}
