/** A text without what steers a terminal: control characters but the tab, and those that turn the direction of writing, as `\\u001b`. */
export const escapeControls = (text: string): string =>
  text.replaceAll(
    /(?!\t)[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu,
    (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
