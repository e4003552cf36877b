const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** CSS pixels of the frame; chapters take more height. */
const frame = { width: 640, height: 120 };

/** The address of an episode's player, behind that of its page. */
export const embedUrl = (pageUrl: string): string => `${pageUrl}/embed`;

/** HTML that shows the player of an episode in a page of one's own. */
export function embedCode(pageUrl: string, title: string): string {
  const name = title.replace(/[&<>"]/g, (character) => escapes[character]!);
  return `<iframe src="${embedUrl(pageUrl)}" title="${name}" width="${frame.width}" height="${frame.height}" loading="lazy" style="border:0"></iframe>`;
}
