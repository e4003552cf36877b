const references: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** A text as it may stand in HTML, also inside double quotes. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"]/g, (c) => references[c] ?? c);
