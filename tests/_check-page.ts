import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { CDPSession, Page } from 'playwright-core';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const widths = [360, 768, 1440];
/** Where pictures of the pages go, for people to look at; nowhere without the variable. */
const pictures = process.env['SCREENSHOT_FOLDER'];

/** Runs scripts beside those of the page, in a world that its Content Security Policy does not bind. */
async function openWorld(page: Page): Promise<{ run: <T>(script: string) => Promise<T> } & AsyncDisposable> {
  const devtools: CDPSession = await page.context().newCDPSession(page);
  const { frameTree } = await devtools.send('Page.getFrameTree');
  const { executionContextId: contextId } = await devtools.send('Page.createIsolatedWorld', {
    frameId: frameTree.frame.id,
    worldName: 'checks',
  });
  return {
    run: async <T>(expression: string) => {
      const options = { expression, contextId, awaitPromise: true, returnByValue: true };
      const { result, exceptionDetails } = await devtools.send('Runtime.evaluate', options);
      if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
      return result.value as T;
    },
    [Symbol.asyncDispose]: async () => devtools.detach(),
  };
}

/**
 * In the page, scrolled to its end: what does not fit. Letters count from about the height of capitals to the base line. A text that ends in an
 * ellipsis on purpose is not cut; what a screen reader alone reads, and messages that go away by themselves, are not looked at;
 * nor is what lies behind a dialog.
 */
const measure = `(async () => {
  await document.fonts.ready;
  scrollTo({ top: document.documentElement.scrollHeight, behavior: 'instant' });
  await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  const findings = [];
  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth) findings.push('scrolls sideways by ' + (root.scrollWidth - root.clientWidth) + ' px');
  const headings = Array.from(document.querySelectorAll('h1'), (heading) => heading.textContent);
  if (headings.length !== 1) findings.push('h1: ' + JSON.stringify(headings));

  const ancestorsOf = function* (element) {
    for (let at = element; at; at = at.parentElement) yield [at, getComputedStyle(at)];
  };
  const boxes = [];
  const top = document.querySelector('dialog:modal') ?? document.body;
  const walker = document.createTreeWalker(top, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const text = node.textContent.trim();
    const element = node.parentElement;
    if (text === '' || !element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    let fixed;
    let isAside = false;
    const clips = [];
    for (const [at, style] of ancestorsOf(element)) {
      if (style.clipPath !== 'none' || at.ariaLive === 'polite') isAside = true;
      if (style.position === 'sticky' && at.tagName !== 'HEADER') isAside = true;
      if (style.position === 'fixed') fixed = at;
      if (/hidden|clip/.test(style.overflowX) && style.textOverflow !== 'ellipsis') clips.push(at.getBoundingClientRect());
    }
    if (isAside) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const { left, right, top, bottom, height } of range.getClientRects()) {
      if (right - left < 1 || height < 1) continue;
      const box = { text, fixed, left, right, top: top + height * 0.22, bottom: bottom - height * 0.22 };
      if (bottom < 0 && fixed) continue;
      for (const clip of clips)
        if (left < clip.left - 1 || right > clip.right + 1 || box.top < clip.top - 1 || box.bottom > clip.bottom + 1)
          findings.push('cut: ' + JSON.stringify(text));
      if (left < -1 || right > root.clientWidth + 1) findings.push('outside of the window: ' + JSON.stringify(text));
      boxes.push(box);
    }
  }
  boxes.forEach((one, at) => {
    for (const other of boxes.slice(at + 1))
      if (
        one.text !== other.text &&
        Math.min(one.right, other.right) - Math.max(one.left, other.left) > 1 &&
        Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > 1
      )
        findings.push('one over the other: ' + JSON.stringify([one.text, other.text]));
  });
  scrollTo({ top: 0, behavior: 'instant' });
  return [...new Set(findings)];
})()`;

/** Rules look at structure, which is the same in light and dark, and at colours and sizes, which are not. A frame is a page of its own. */
const axeOptions = {
  light: { preload: false, iframes: false, resultTypes: ['violations'] },
  dark: { preload: false, iframes: false, resultTypes: ['violations'], runOnly: ['color-contrast', 'target-size'] },
};

const runAxe = (
  scheme: keyof typeof axeOptions,
) => `new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))).then(() =>
  Promise.all(document.getAnimations().map(({ finished }) => finished))).then(() =>
  axe.run(${JSON.stringify(axeOptions[scheme])})).then(({ violations }) =>
  violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html, failureSummary }) => html + ' ' + failureSummary).join('; ')))`;

/**
 * What is wrong with how a page is made: findings of axe in light and dark; at 360, 768 and 1440 px more or less than one `h1`, a page that
 * scrolls sideways, texts that are cut or lie over each other.
 */
export async function findingsOfPage(page: Page): Promise<readonly string[]> {
  const before = page.viewportSize();
  await using world = await openWorld(page);
  const findings: string[] = [];
  await world.run(axe);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    const found = await world.run<readonly string[]>(runAxe(colorScheme));
    findings.push(...found.map((finding) => `${colorScheme}: ${finding}`));
  }
  await page.emulateMedia({ colorScheme: null });
  for (const width of widths) {
    await page.setViewportSize({ width, height: 800 });
    const found = await world.run<readonly string[]>(measure);
    findings.push(...found.map((finding) => `${width} px: ${finding}`));
  }
  if (before) await page.setViewportSize(before);
  return findings;
}

/** Keeps a picture of what the window shows, as `name.webp`, when `SCREENSHOT_FOLDER` names a folder. */
export async function keepPicture(page: Page, name: string): Promise<void> {
  if (pictures === undefined) return;
  const devtools = await page.context().newCDPSession(page);
  const { data } = await devtools.send('Page.captureScreenshot', { format: 'webp', quality: 80 });
  await devtools.detach();
  mkdirSync(pictures, { recursive: true });
  writeFileSync(path.join(pictures, `${name}.webp`), data, 'base64');
}
