import { Secret, TOTP } from 'otpauth';
import type { PagesUnderTest } from './_pages.ts';

type Browser = ReturnType<PagesUnderTest['browser']>;

export const secondFactorPath = '/settings/security/second-factor';

/** The secret on the page that offers one. */
const secretIn = (body: string) => /<code class="secret">([^<]+)<\/code>/.exec(body)?.[1]?.replaceAll(' ', '') ?? '';

/** The recovery codes on the page that shows them. */
export const recoveryCodesIn = (body: string): string[] =>
  [...body.matchAll(/<li><code>([0-9a-z-]+)<\/code><\/li>/g)].map(([, code]) => code!);

/** Persons with an app for codes. */
export function createApps(pages: PagesUnderTest) {
  const { clock } = pages.server;

  /** The page that offers a secret, as a browser and an app see it. */
  async function offer(browser: Browser) {
    const { body } = await browser.get(secondFactorPath);
    const secret = Secret.fromBase32(secretIn(body));
    const sealed = /name="sealed" value="([^"]+)"/.exec(body)?.[1] ?? '';
    return {
      secret: secret.base32,
      sealed,
      /** The code that the app shows, `steps` later. */
      code: (steps = 0) => TOTP.generate({ secret, timestamp: clock.now.getTime() + steps * 30_000 }),
      switchOn: (code: string) => browser.post(`${secondFactorPath}/on`, { code, sealed }),
    };
  }

  return {
    offer,
    /** Switches codes on in a browser. The next code counts one step later. */
    async switchOn(browser: Browser) {
      const app = await offer(browser);
      const { body } = await app.switchOn(app.code());
      clock.now = new Date(clock.now.getTime() + 30_000);
      return { ...app, recoveryCodes: recoveryCodesIn(body) };
    },
    /** A browser that has given the right password and not the code. */
    async waiting(email: string, password: string, from?: string) {
      const browser = pages.browser(from);
      const answer = await browser.post('/sign-in', { email, password }, {}, '/sign-in');
      return { browser, answer };
    },
    giveCode: (browser: Browser, code: string, returnTo = '/settings') =>
      browser.post('/sign-in/code', { code, return_to: returnTo }, {}, '/sign-in/code'),
  };
}
