import { expect } from '@jest/globals';
import { until } from '@longwave/test-kit';
import { createRestClient, issueCredential, signUp, type Person, type RestClient } from '@longwave/test-kit/clients';
import type { Locator, Page } from 'playwright-core';
import { findingsOfPage, keepPicture } from './_check-page.ts';
import type { Installation } from './_fleet.ts';

/** A person with an account of its own, and what a program of that person uses. */
export interface Podcaster extends Person {
  readonly rest: RestClient;
}

/** Signs somebody up. Once a file: an installation sends few mails an hour to those who ask from one machine. */
export async function newPodcaster(world: Installation, name: string): Promise<Podcaster> {
  const person = await signUp(world, name);
  const { text } = await issueCredential(world.operator, person.accountId, { kind: 'api_key', name: 'program' });
  return { ...person, rest: createRestClient(world.fleet.urls.base, text) };
}

/** Demands of the page that it is well made, and keeps a picture of it. */
export async function lookAt(page: Page, name: string): Promise<void> {
  await keepPicture(page, name);
  expect(await findingsOfPage(page)).toEqual([]);
}

/** The heading of a page of the console. */
export const heading = (page: Page, name: string): Locator => page.getByRole('heading', { level: 1, name });

/** Whether an element has the focus. */
export const hasFocus = async (page: Page, element: Locator): Promise<boolean> =>
  (await element.and(page.locator(':focus')).count()) === 1;

/** Presses Tab until an element has the focus, as somebody without a mouse does. */
export async function tabTo(page: Page, element: Locator): Promise<void> {
  await element.waitFor({ state: 'attached' });
  for (let presses = 0; presses < 80; presses += 1) {
    if (await hasFocus(page, element)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`Tab does not lead to ${String(element)}`);
}

/** Chooses a file with the keyboard: Enter on the button opens the dialog of the system. */
export async function chooseByKeyboard(page: Page, button: Locator, file: string): Promise<void> {
  // The dialog is caught from the first Tab on: the browser has to know of it before Enter.
  const [chooser] = await Promise.all([
    page.waitForEvent('filechooser'),
    tabTo(page, button).then(() => page.keyboard.press('Enter')),
  ]);
  await chooser.setFiles(file);
}

/** Drops a file of the disk onto an element, as a hand does. */
export async function dropFile(page: Page, onto: Locator, file: string): Promise<void> {
  const { x, y, width, height } = (await onto.boundingBox())!;
  const at = { x: x + width / 2, y: y + height / 2 };
  const data = { items: [], files: [file], dragOperationsMask: 1 };
  const devtools = await page.context().newCDPSession(page);
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
    await devtools.send('Input.dispatchDragEvent', { type, ...at, data });
  await devtools.detach();
}

/** The values that a bar of progress has until `ended` is there, each once, in order. */
export async function progressUntil(page: Page, name: string, ended: Locator): Promise<readonly number[]> {
  const seen: number[] = [];
  const bar = page.getByRole('progressbar', { name });
  await until(`the end of ${name}`, async () => {
    const values = await bar.evaluateAll((bars) => (bars as readonly { value: number }[]).map(({ value }) => value));
    for (const value of values) if (value !== seen.at(-1)) seen.push(value);
    return (await ended.count()) > 0;
  });
  return seen;
}
