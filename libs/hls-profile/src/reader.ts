import { failure, type Finding, type RuleId } from './finding.ts';
import type { AnswerHead, ReadResource, ResourceAnswer, ResourceRequest } from './presentation.ts';

/** A request whose address is as a playlist writes it. */
export interface RelativeRequest extends Omit<ResourceRequest, 'url'> {
  readonly uri: string;
  /** Address of the playlist. */
  readonly base: string;
  readonly where: string;
}

/** Why an answer is of no use, in a sentence; undefined when it is. */
function problemOf({ status, headers, body }: ResourceAnswer, { range }: ResourceRequest): string | undefined {
  if (!range)
    return status === 200
      ? undefined
      : `It answers ${status}, not 200. Look whether the file is there and may be read by everybody.`;
  if (status === 200)
    return 'It answers a byte range with the whole file (200). Let the server answer 206 with these bytes alone.';
  if (status !== 206) return `It answers ${status} to a byte range. Let the server answer 206.`;
  const { offset, length } = range;
  const [, from] = /^bytes (\d+)-/.exec(headers?.['content-range'] ?? '') ?? [];
  if (from !== undefined && Number(from) !== offset)
    return `It answers the bytes from ${from} in place of those from ${offset}. Correct the server.`;
  return body.length === length
    ? undefined
    : `It answers ${body.length} bytes in place of the ${length} from ${offset}. Correct the byte range in the playlist, or the file.`;
}

/** Reads the resources of one presentation and notes what is wrong with the answers. */
export function createReader(read: ReadResource) {
  const findings: Finding[] = [];
  const answers: AnswerHead[] = [];
  const notes = new Set<string>();
  const tell = (rule: RuleId, where: string, message: string): void =>
    void findings.push({ rule, ...failure(where, message) });

  /** The answer, or undefined with a finding. */
  async function get({ uri, base, where, kind, range }: RelativeRequest): Promise<ResourceAnswer | undefined> {
    const url = URL.parse(uri, base);
    if (!url || !/^https?:$/.test(url.protocol)) {
      tell('reachable', where, `“${uri}” is no web address. Write one that begins with https://, or a path.`);
      return undefined;
    }
    const request = { url: url.href, kind, range };
    try {
      const answer = await read(request);
      const problem = problemOf(answer, request);
      if (answer.headers) answers.push({ where, kind, headers: answer.headers });
      if (problem === undefined) return answer;
      tell('reachable', where, problem);
    } catch (error) {
      tell('reachable', where, (error as Error).message);
    }
    return undefined;
  }

  return { get, tell, note: (sentence: string) => void notes.add(sentence), findings, answers, notes };
}

export type Reader = ReturnType<typeof createReader>;
