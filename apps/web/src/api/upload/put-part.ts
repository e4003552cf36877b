/** Why the object store did not take bytes. */
export class StoreFault extends Error {
  override readonly name = 'StoreFault';
  /** HTTP status; 0 when no answer came, or the browser may not see it. */
  readonly status: number;
  /** S3's code, as `NoSuchUpload`; `etag_hidden` when the browser may not read the ETag of an answer. */
  readonly code: string | undefined;

  constructor(status: number, code?: string) {
    super(`The object store answered ${status} ${code ?? ''}`);
    this.status = status;
    this.code = code;
  }
}

/** Whether a fault says that a multipart upload is over, or a part of it is lost. */
export const isGone = ({ status, code }: StoreFault): boolean =>
  status === 404 || code?.startsWith('InvalidPart') === true;

/** A connection on which nothing moved for so long is given up. */
const silenceMs = 60_000;

/** S3's code in an error document. */
const codeIn = (text: string) => /<Code>(\w+)<\/Code>/.exec(text)?.[1];

/**
 * PUTs bytes to a signed address and answers their ETag. `fetch` cannot say how much has gone.
 * @param onProgress gets the bytes that have gone
 * @throws StoreFault; the signal's reason after an abort
 */
export function putBytes(
  url: string,
  bytes: Blob,
  options: {
    readonly headers?: Readonly<Record<string, string>>;
    readonly signal: AbortSignal;
    readonly onProgress: (sent: number) => void;
  },
): Promise<string> {
  const { headers = {}, signal, onProgress } = options;
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const stop = () => request.abort();
    let timer = setTimeout(stop, silenceMs);
    const end = (settle: () => void) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
      settle();
    };
    const fail = (fault: StoreFault) => end(() => reject(signal.aborted ? signal.reason : fault));
    request.upload.onprogress = ({ loaded }) => {
      clearTimeout(timer);
      timer = setTimeout(stop, silenceMs);
      onProgress(loaded);
    };
    request.onerror = request.onabort = () => fail(new StoreFault(0));
    request.onload = () => {
      const etag = request.getResponseHeader('ETag');
      if (request.status < 200 || request.status > 299)
        fail(new StoreFault(request.status, codeIn(request.responseText)));
      else if (etag === null) fail(new StoreFault(request.status, 'etag_hidden'));
      else end(() => resolve(etag));
    };
    signal.addEventListener('abort', stop);
    request.open('PUT', url);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    if (signal.aborted) fail(new StoreFault(0));
    else request.send(bytes);
  });
}

/**
 * POSTs the document that joins the parts. S3 may answer 200 and fail afterwards, so the document of the answer counts.
 * @throws StoreFault; the signal's reason after an abort
 */
export async function postCompletion(url: string, document: string, signal: AbortSignal): Promise<void> {
  const answer = await fetch(url, { method: 'POST', body: document, signal }).catch(() => undefined);
  signal.throwIfAborted();
  if (!answer) throw new StoreFault(0);
  const text = await answer.text().catch(() => '');
  if (!answer.ok || !text.includes('CompleteMultipartUploadResult'))
    throw new StoreFault(answer.ok ? 500 : answer.status, codeIn(text));
}
