/**
 * Sends a file to a presigned address as a page of another origin does (Fetch standard, CORS protocol): it asks first, then puts, and must be
 * allowed to read the answer's ETag, by which the parts of a large file are joined.
 * @param origin of the page: `https://pod.example`
 * @throws a sentence that says what the store refuses
 */
export async function sendAsPage(url: string, bytes: Buffer, origin: string): Promise<void> {
  const signal = AbortSignal.timeout(10_000);
  const asked = await fetch(url, {
    ...{ method: 'OPTIONS', signal },
    headers: { origin, 'access-control-request-method': 'PUT', 'access-control-request-headers': 'content-type' },
  });
  const isAllowed = names(asked, 'allow-origin', origin) && names(asked, 'allow-methods', 'put');
  if (!asked.ok || !isAllowed || !names(asked, 'allow-headers', 'content-type'))
    throw new Error(`pages of ${origin} may not put files there`);
  const body = new Uint8Array(bytes);
  const answer = await fetch(url, { method: 'PUT', body, headers: { origin, 'content-type': 'text/plain' }, signal });
  if (!answer.ok) throw new Error(`a page's file was answered with ${answer.status}`);
  if (!names(answer, 'allow-origin', origin) || !names(answer, 'expose-headers', 'etag'))
    throw new Error(`pages of ${origin} may not read the ETag of what they put there`);
}

/** Whether a header of CORS has a word among its list, or allows all. */
function names({ headers }: Response, header: string, word: string): boolean {
  const list = (headers.get(`access-control-${header}`) ?? '').toLowerCase().split(/\s*,\s*/);
  return list.includes('*') || list.includes(word.toLowerCase());
}
