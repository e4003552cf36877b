import { expect, test } from '@jest/globals';
import { html as markup } from './html.ts';

test('texts are escaped inside elements and attributes, markup of our own is not', () => {
  const name = `<img src=x onerror="alert('1')"> & Co`;
  const escaped = "&lt;img src=x onerror=&quot;alert('1')&quot;&gt; &amp; Co";
  expect(markup`<p title="${name}">${name}</p>${markup`<b>1</b>`}`.text).toBe(
    `<p title="${escaped}">${escaped}</p><b>1</b>`,
  );
});

test('lists stand one after the other; undefined and false are nothing, zero is a number', () => {
  expect(markup`<i>${[markup`<b></b>`, 'a<', undefined, false, 0]}</i>`.text).toBe('<i><b></b>a&lt;0</i>');
});
